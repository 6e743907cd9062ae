package calendar

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/capture/cycle"
	"github.com/helenus-db/helenus/capture/store"
	"github.com/helenus-db/helenus/internal/change"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// Migrations carry look-ups out. *rewrite.Engine does.
type Migrations interface {
	Approve(ctx context.Context, id string, lu plan.Rewrite, actor string) (migrate.Change, error)
	Rollback(ctx context.Context, id, actor string) error
	Drop(ctx context.Context, id, actor string) error
	Migrations() []migrate.Change
}

// version is that of what the record of a change has of its calendar.
const version = 1

// maxWithdrawn is how many calendars that are over are kept, the latest.
const maxWithdrawn = 10

// Options of a Keeper. Migrations, Changes and Recent are required.
type Options struct {
	Migrations Migrations
	Changes    *change.Book
	// Recent reads how often statements were executed from a time on, for Cycle.Holds.
	Recent func(ctx context.Context, from time.Time) (*cycle.Record, error)
	// Allowed refuses what can not be carried out now; nil: nothing is refused.
	Allowed func(ctx context.Context, p *plan.Calendar) error
	Clock   func() time.Time // nil: time.Now
	// Wait waits for the next tick; false if the context ended. nil: Every, by the machine's clock.
	Wait  func(ctx context.Context) bool
	Every time.Duration // between ticks, by Clock; 0: 2 s
	Log   *slog.Logger  // nil: nothing is logged
}

// Keeper carries calendars out. It is safe for concurrent use, and a prometheus.Collector.
type Keeper struct {
	o Options

	work sync.Mutex // one tick or order at a time

	mu        sync.RWMutex
	calendars map[string]*Calendar // as saved; what is in the map is never changed
	raw       map[string][]byte    // likewise, as their records have them
	failing   string               // why the last tick could not do all its work; "" if it could
	created   uint64               // migrations ordered and tables dropped in this process
	dropped   uint64
}

// New returns a Keeper without calendars.
func New(o Options) (*Keeper, error) {
	if o.Migrations == nil || o.Changes == nil || o.Recent == nil {
		return nil, errors.New("calendar: Migrations, Changes and Recent are required")
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Every <= 0 {
		o.Every = 2 * time.Second
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Wait == nil {
		o.Wait = func(ctx context.Context) bool {
			select {
			case <-ctx.Done():
				return false
			case <-time.After(o.Every):
				return true
			}
		}
	}
	return &Keeper{o: o, calendars: map[string]*Calendar{}, raw: map[string][]byte{}}, nil
}

// Restore reads the calendars from the store. It is called before Run and before any order, and again when another process may have changed them.
func (k *Keeper) Restore(ctx context.Context) error {
	records, err := k.o.Changes.All(ctx)
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	calendars, raw := map[string]*Calendar{}, map[string][]byte{} // all or none
	for i := range records {
		if records[i].Calendar == nil {
			continue
		}
		c, err := kept(&records[i])
		if err != nil {
			return err
		}
		calendars[c.ID] = c
		raw[c.ID] = records[i].Calendar
	}
	maps.Copy(k.calendars, calendars)
	maps.Copy(k.raw, raw)
	return nil
}

// Run ticks until the context ends.
func (k *Keeper) Run(ctx context.Context) {
	for {
		k.Tick(ctx)
		if !k.o.Wait(ctx) {
			return
		}
	}
}

// Calendars lists all, by id.
func (k *Keeper) Calendars() []Calendar {
	k.mu.RLock()
	defer k.mu.RUnlock()
	out := make([]Calendar, 0, len(k.calendars))
	for _, c := range k.calendars {
		out = append(out, *c)
		out[len(out)-1].ChangeID = c.ID
	}
	slices.SortFunc(out, func(a, b Calendar) int { return strings.Compare(a.ID, b.ID) })
	return out
}

// ErrUnknown says that there is no calendar of an id.
var ErrUnknown = errors.New("no such calendar")

// StateError says that an order does not fit the state of a calendar.
type StateError struct {
	ID, Order string
	State     State
	Need      string
}

// Error implements error.
func (e *StateError) Error() string {
	return fmt.Sprintf("can not %s calendar %s: it is %s; %s", e.Order, e.ID, e.State, e.Need)
}

// Busy says that a look-up, or the place of a calendar, is taken.
type Busy struct{ By, Why string }

// Error implements error.
func (e *Busy) Error() string { return e.Why }

// Calendar returns one.
func (k *Keeper) Calendar(id string) (Calendar, error) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	if c := k.calendars[id]; c != nil {
		told := *c
		told.ChangeID = id
		return told, nil
	}
	return Calendar{}, fmt.Errorf("%w: %s; `helenus changes` lists them", ErrUnknown, id)
}

// Holds tells which calendar that is not over has a look-up among its own; "" if none has.
func (k *Keeper) Holds(lu *plan.Rewrite) string {
	for _, c := range k.Calendars() {
		for n := range c.Plan.Seasons {
			if x := &c.Plan.Seasons[n].Rewrite; c.State != Withdrawn && same(x, lu) {
				return c.ID
			}
		}
	}
	return ""
}

func same(a, b *plan.Rewrite) bool {
	return a.Keyspace == b.Keyspace && (a.FullTable() == b.FullTable() || a.Base == b.Base && a.Column == b.Column)
}

// Of finds the calendar, and the place in it, of a season's id.
func (k *Keeper) Of(season string) (calendar string, n int, ok bool) {
	for _, c := range k.Calendars() {
		for n := range c.Seasons {
			if c.Seasons[n].ID == season {
				return c.ID, n, true
			}
		}
	}
	return "", 0, false
}

// Approve takes a calendar on. One at a time: it is refused (*Busy) while another one is not over, and if a migration has one of its
// look-ups already. admit says, in the transaction in which it begins, that what is proposed may be carried out; nil: nothing is proposed.
func (k *Keeper) Approve(ctx context.Context, id string, p plan.Calendar, c cycle.Cycle, l Limits, actor string, admit change.Admission) (Calendar, error) {
	k.work.Lock()
	defer k.work.Unlock()
	now := k.o.Clock()
	if err := check(&p, &c); err != nil {
		return Calendar{}, err
	}
	if k.o.Allowed != nil {
		if err := k.o.Allowed(ctx, &p); err != nil {
			return Calendar{}, err
		}
	}
	if err := l.Check(now); err != nil {
		return Calendar{}, err
	}
	for _, other := range k.Calendars() {
		if other.State != Withdrawn {
			return Calendar{}, &Busy{other.ID, fmt.Sprintf("calendar %s is %s: one is carried out at a time; withdraw it first (`helenus rollback %s`)", other.ID, other.State, other.ID)}
		}
	}
	for _, m := range k.o.Migrations.Migrations() {
		for n := range p.Seasons {
			if m.State != migrate.Dropped && same(&m.Rewrite, &p.Seasons[n].Rewrite) {
				return Calendar{}, &Busy{m.ID, fmt.Sprintf("change %s (%s) has the look-up of %s.%s by %s already: roll it back and drop it first", m.ID, m.State,
					m.Rewrite.Keyspace, m.Rewrite.Base, m.Rewrite.Column)}
			}
		}
	}
	x := &Calendar{Version: version, ID: id, Plan: p, Cycle: c, Limits: l, State: Following, Actor: actor, Approved: now, Begun: []time.Time{}}
	for n := range p.Seasons {
		x.Seasons = append(x.Seasons, Season{ID: fmt.Sprintf("%s.%d", id, n+1), Stage: Out, Since: now})
	}
	x.note(now, actor, "approved")
	begun := x.entry(string(change.Begin), "").By(ctx, actor)
	if admit != nil {
		begun.Action = string(change.Approve)
	}
	if err := k.store(ctx, x, admit, begun); err != nil {
		return Calendar{}, err
	}
	k.o.Log.Info("calendar", "change_id", id, "state", x.State, "order", begun.Action, "actor", begun.Actor, "from", begun.From)
	return k.Calendar(id)
}

// check tells what a calendar can not be carried out for.
func check(p *plan.Calendar, c *cycle.Cycle) error {
	if c.Period != cycle.Day && c.Period != cycle.Week {
		return fmt.Errorf("a calendar needs a cycle that repeats, not a %s", c.Period)
	}
	if len(p.Seasons) == 0 || len(c.Steps) < 2 {
		return errors.New("a calendar needs tables, and two steps at least")
	}
	for n := range p.Seasons {
		if len(p.Seasons[n].Steps) != len(c.Steps) {
			return fmt.Errorf("the calendar says of %d steps whether %s is there: the cycle has %d", len(p.Seasons[n].Steps), p.Seasons[n].Rewrite.Table, len(c.Steps))
		}
	}
	return nil
}

// entry is the line of the audit trail about what was noted last.
func (c *Calendar) entry(action string, before State) store.Entry {
	last := &c.Events[len(c.Events)-1]
	return store.Entry{At: last.Time, Action: action, Target: c.ID, Reason: last.Text, Before: string(before), After: string(c.State)}
}

// ownActions are what a calendar does by itself that brings it into a state, and as whom.
var ownActions = map[State][2]string{Paused: {"pause", store.Guard}, Withdrawing: {"withdraw", store.Guard}, Withdrawn: {"end", store.Self}}

// save keeps a changed calendar, and who wants it so, and makes it the valid one; on an error the old one stays valid.
func (k *Keeper) save(ctx context.Context, c *Calendar, entries ...store.Entry) error {
	if have, err := k.Calendar(c.ID); err == nil && have.State != c.State && entries == nil { // by itself
		own := ownActions[c.State]
		entries = append(entries, c.entry(own[0], have.State).By(ctx, own[1]))
	}
	return k.store(ctx, c, nil, entries...)
}

// store is save in which what was proposed may have to be admitted.
func (k *Keeper) store(ctx context.Context, c *Calendar, admit change.Admission, entries ...store.Entry) error {
	k.mu.RLock()
	have := k.raw[c.ID]
	k.mu.RUnlock()
	kept, err := k.o.Changes.Change(ctx, c.ID, func(r *change.Record) ([]store.Entry, error) {
		if have != nil && r.Calendar != nil && !bytes.Equal(have, r.Calendar) {
			return nil, errElsewhere
		}
		if admit != nil {
			if _, err := admit(r); err != nil {
				return nil, err
			}
		}
		return entries, carry(r, c, k.o.Clock())
	})
	if errors.Is(err, errElsewhere) {
		return errors.Join(err, k.Restore(ctx))
	}
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.raw[c.ID] = kept.Calendar
	k.calendars[c.ID] = c.clone() // whoever saves it may go on changing his own
	return nil
}

// errElsewhere says that another process was first.
var errElsewhere = errors.New("another process has changed the calendar meanwhile: look at it, and try again")

// carry puts a calendar, as it is now, into its change's record.
func carry(r *change.Record, c *Calendar, now time.Time) (err error) {
	if to := stateOf[c.State]; r.State != to && (c.State != Withdrawn || !r.State.Proposal()) { // what is proposed again is not over again
		r.State, r.Since, r.Until = to, now, time.Time{}
	}
	stored := *c
	stored.State, stored.ChangeID = "", "" // the record has them
	r.Calendar, err = change.Part(&stored)
	return err
}

// kept is the calendar of a change as its record has it. One that is proposed anew since it was over, is over still.
func kept(r *change.Record) (*Calendar, error) {
	c := &Calendar{}
	if err := json.Unmarshal(r.Calendar, c); err != nil {
		return nil, fmt.Errorf("the calendar of change %s can not be read from the store: %w", r.ID, err)
	}
	if c.Version != version {
		return nil, fmt.Errorf("%w: the calendar of change %s in the store has version %d, this Helenus reads version %d: use the one that wrote it", store.ErrNewer, r.ID, c.Version, version)
	}
	c.ID, c.State = r.ID, Withdrawn
	for state, of := range stateOf {
		if of == r.State {
			c.State = state
		}
	}
	return c, nil
}

// actions are the orders as the audit trail calls them.
var actions = map[string]string{"pause": "pause", "resume": "resume", "withdraw": "withdraw", approveChange: "approve"}

const approveChange = "approve a change of"

// order changes the state of a calendar on a person's order.
func (k *Keeper) order(ctx context.Context, id, order, need, actor string, from []State, change func(c *Calendar, now time.Time)) (Calendar, error) {
	k.work.Lock()
	defer k.work.Unlock()
	have, err := k.Calendar(id)
	if err != nil {
		return Calendar{}, err
	}
	if !slices.Contains(from, have.State) {
		return Calendar{}, &StateError{id, order, have.State, need}
	}
	c := have.clone()
	change(c, k.o.Clock())
	entry := c.entry(actions[order], have.State).By(ctx, actor)
	if err := k.save(ctx, c, entry); err != nil {
		return Calendar{}, err
	}
	k.o.Log.Info("calendar", "change_id", id, "state", c.State, "order", order, "actor", entry.Actor, "from", entry.From)
	return *c, nil
}

// Pause keeps further changes from beginning; what serves goes on serving.
func (k *Keeper) Pause(ctx context.Context, id, reason, actor string) (Calendar, error) {
	return k.order(ctx, id, "pause", "only one that is followed can be paused", actor, []State{Following}, func(c *Calendar, now time.Time) {
		c.State, c.Reason = Paused, "paused by "+actor
		if reason != "" {
			c.Reason += ": " + reason
		}
		c.note(now, actor, "%s", c.Reason)
	})
}

// Resume lets changes begin again.
func (k *Keeper) Resume(ctx context.Context, id, actor string) (Calendar, error) {
	return k.order(ctx, id, "resume", "only one that is paused can be resumed", actor, []State{Paused}, func(c *Calendar, now time.Time) {
		c.State, c.Reason = Following, ""
		c.note(now, actor, "resumed")
	})
}

// Withdraw ends a calendar: no further change begins, what does not serve yet is rolled back and dropped, and so, if remove
// is given, is what serves.
func (k *Keeper) Withdraw(ctx context.Context, id string, remove bool, reason, actor string) (Calendar, error) {
	return k.order(ctx, id, "withdraw", "it is over", actor, []State{Following, Paused, Withdrawing}, func(c *Calendar, now time.Time) {
		c.Limits.Drop = c.Limits.Drop || remove
		why := "withdrawn by " + actor
		if reason != "" {
			why += ": " + reason
		}
		c.withdraw(now, actor, why)
	})
}

func (c *Calendar) withdraw(now time.Time, actor, why string) {
	c.State, c.Reason = Withdrawing, why
	c.note(now, actor, "%s", why)
}

// Grant approves the next change of one season by itself, whenever it is due. Which that is, is returned: to create its table,
// or to drop it. One that is approved and has not begun can not be approved once more: that would look like one of the change after it.
func (k *Keeper) Grant(ctx context.Context, season, actor string) (c Calendar, create bool, err error) {
	id, n, ok := k.Of(season)
	if !ok {
		return Calendar{}, false, fmt.Errorf("%w: %s", ErrUnknown, season)
	}
	if have, err := k.Calendar(id); err == nil {
		s := &have.Seasons[n]
		switch {
		case !have.Limits.Each:
			return Calendar{}, false, &StateError{id, approveChange, have.State, "it was approved as a whole, so no change waits for an approval of its own"}
		case s.Granted != nil && *s.Granted == s.Creates() && have.State != Withdrawing && have.State != Withdrawn:
			return Calendar{}, false, &StateError{id, approveChange, have.State,
				fmt.Sprintf("the next one of %s, to %s %s, is approved already", season, verb(*s.Granted), have.Plan.Seasons[n].Rewrite.Table)}
		}
	}
	c, err = k.order(ctx, id, approveChange, "changes begin while it is followed", actor, []State{Following, Paused}, func(c *Calendar, now time.Time) {
		s := &c.Seasons[n]
		create = s.Creates()
		grant := create
		s.Granted = &grant
		c.note(now, actor, "%s: the next change is approved: %s %s", season, verb(create), c.Plan.Seasons[n].Rewrite.Table)
	})
	return c, create, err
}

// Creates tells whether the next change of a season makes its table; else it drops it.
func (s *Season) Creates() bool { return s.Stage == Out || s.Stage == Going }

func verb(create bool) string {
	if create {
		return "create"
	}
	return "drop"
}
