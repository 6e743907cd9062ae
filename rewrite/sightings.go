package rewrite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/helenus-db/helenus/capture/store"
	"github.com/helenus-db/helenus/internal/sleep"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// Who writes past Helenus need not be connected when a change is approved: a job may come at night. So every minute, whether there are changes or not, we look
// who is connected, and remember for a month, over restarts, of each kind of connection when it was seen first and last (docs/decisions/058). Every other look
// adds to what is remembered, too.

// Sighting are connections of one kind that do not come through a helenus, as they were seen over time.
type Sighting struct {
	Address string    `json:"address"` // without port
	User    string    `json:"user,omitempty"`
	Driver  string    `json:"driver,omitempty"`
	Most    int       `json:"most"` // connections at a time
	First   time.Time `json:"first"`
	Last    time.Time `json:"last"`
	Looks   int64     `json:"looks"` // how many looks saw it
}

// Sightings are all that are remembered.
type Sightings struct {
	Since time.Time  `json:"since"` // when somebody first looked
	Last  time.Time  `json:"last"`  // the latest look; zero: none yet
	Looks int64      `json:"looks"` // how many could see everybody's connections or some
	Why   string     `json:"unseen,omitempty"`
	Seen  []Sighting `json:"seen"` // the latest first
}

// KindSightings is the kind, and the id, of the document that holds them.
const KindSightings = "sightings"

const (
	sightingsEvery = time.Minute
	sightingsBlind = time.Hour        // where nobody's connections can be seen, at most: what is asked in vain is asked ever more rarely
	sightingsSaved = 10 * time.Minute // what a crash may lose of when somebody was seen last; who is new is saved at once
	sightingsKept  = 30 * 24 * time.Hour
	mostSightings  = 1000
)

// sightings remember.
type sightings struct {
	mu    sync.Mutex
	all   Sightings // but for Seen
	kinds map[Peer]*Sighting
	fresh bool // somebody is new since it was saved
	saved time.Time
}

// add takes a look into account.
func (s *sightings) add(found *Others, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all.Since.IsZero() {
		s.all.Since = now
	}
	s.all.Last, s.all.Why = now, found.Unseen
	s.all.Looks++
	if s.kinds == nil {
		s.kinds = map[Peer]*Sighting{}
	}
	for _, p := range found.Clients {
		kind := Peer{Address: p.Address, User: p.User, Driver: p.Driver}
		have := s.kinds[kind]
		if have == nil {
			have = &Sighting{Address: p.Address, User: p.User, Driver: p.Driver, First: now}
			s.kinds[kind], s.fresh = have, true
		}
		have.Last, have.Most = now, max(have.Most, p.Count)
		have.Looks++
	}
	maps.DeleteFunc(s.kinds, func(_ Peer, x *Sighting) bool { return now.Sub(x.Last) > sightingsKept })
	for len(s.kinds) > mostSightings {
		oldest := slices.MinFunc(slices.Collect(maps.Keys(s.kinds)), func(a, b Peer) int { return s.kinds[a].Last.Compare(s.kinds[b].Last) })
		delete(s.kinds, oldest)
	}
}

// list is what is remembered, the latest first.
func (s *sightings) list() Sightings {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.all
	out.Seen = []Sighting{}
	for _, x := range s.kinds {
		out.Seen = append(out.Seen, *x)
	}
	slices.SortFunc(out.Seen, func(a, b Sighting) int {
		return cmp.Or(b.Last.Compare(a.Last), cmp.Compare(a.Address, b.Address), cmp.Compare(a.User, b.User), cmp.Compare(a.Driver, b.Driver))
	})
	return out
}

// due tells whether it is to be saved, and takes it for saved.
func (s *sightings) due(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.fresh && now.Sub(s.saved) < sightingsSaved {
		return false
	}
	s.fresh, s.saved = false, now
	return true
}

// restore takes up what was saved.
func (s *sightings) restore(saved *Sightings) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kinds = map[Peer]*Sighting{}
	for _, x := range saved.Seen {
		s.kinds[Peer{Address: x.Address, User: x.User, Driver: x.Driver}] = &x
	}
	s.all = *saved
	s.all.Seen = nil
}

// Sightings are who was seen to be connected past Helenus.
func (e *Engine) Sightings() Sightings { return e.sightings.list() }

// remembering has every look at who else is connected be remembered.
func (e *Engine) remembering(look func(context.Context, string) Others) func(context.Context, string) Others {
	if look == nil {
		return nil
	}
	return func(ctx context.Context, own string) Others {
		found := look(ctx, own)
		if ctx.Err() == nil {
			e.sightings.add(&found, e.options.Now())
		}
		return found
	}
}

// restoreSightings takes up what an earlier process saw. What can not be read is seen again.
func (e *Engine) restoreSightings(ctx context.Context) {
	var saved Sightings
	switch err := e.options.Store.Load(ctx, KindSightings, KindSightings, &saved); {
	case err == nil:
		e.sightings.restore(&saved)
	case !errors.Is(err, store.ErrNotFound):
		e.log.Warn("who was seen to be connected past helenus could not be read; it is begun anew", "err", err)
	}
}

// sample looks from time to time who is connected, and saves what is remembered.
func (e *Engine) sample(ctx context.Context) {
	if e.options.Others == nil {
		return
	}
	wait := sightingsEvery
	for {
		if own, err := migrate.Owner(ctx, e.options.Store); err == nil {
			looking, cancel := context.WithTimeout(ctx, othersPatience)
			if found := e.options.Others(looking, own); found.Unseen != "" && len(found.Clients)+len(found.Helenus) == 0 {
				wait = min(2*wait, sightingsBlind)
			} else {
				wait = sightingsEvery
			}
			cancel()
		}
		if e.keepsSightings() && e.sightings.due(e.options.Now()) {
			e.saveSightings(ctx)
		}
		if err := sleep.For(ctx, wait); err != nil {
			if e.keepsSightings() {
				e.saveSightings(ctx)
			}
			return
		}
	}
}

// keepsSightings: all members of a fleet look, and see the same; one of them stores it.
func (e *Engine) keepsSightings() bool {
	return e.options.Members == nil || e.options.Members.Leads()
}

// saveSightings saves what is remembered, also at the end.
func (e *Engine) saveSightings(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), othersPatience)
	defer cancel()
	all := e.sightings.list()
	if err := e.options.Store.Save(ctx, KindSightings, KindSightings, &all); err != nil {
		e.log.Debug("who was seen to be connected past helenus could not be saved; it is tried again", "err", err)
		e.sightings.mu.Lock()
		e.sightings.fresh = true
		e.sightings.mu.Unlock()
	}
}

// Text says who was seen, in one line; "" if nobody was.
func (s *Sightings) Text() string {
	if len(s.Seen) == 0 {
		return ""
	}
	const most = 5
	var parts []string
	for i, x := range s.Seen {
		if i == most {
			parts = append(parts, fmt.Sprintf("%d more (helenus check)", len(s.Seen)-most))
			break
		}
		parts = append(parts, fmt.Sprintf("user %s with driver %s from %s, last at %s", orNone(x.User), orNone(x.Driver), x.Address, x.Last.UTC().Format("2006-01-02 15:04")))
	}
	return fmt.Sprintf("Connected to Cassandra past Helenus since %s: %s. Whatever they write to the table is missing in answers until a sweep finds it.",
		s.Since.UTC().Format("2006-01-02"), strings.Join(parts, "; "))
}
