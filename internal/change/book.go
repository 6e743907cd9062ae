package change

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/helenus-db/helenus/capture/store"
)

// Kind is the kind of a record's document in the store.
const Kind = "change"

// Form is the form of records that this program reads and writes. (capture/store knows it, too: it brings what earlier versions wrote into it.)
const Form = 1

// Record is a change and all that is known of it.
type Record struct {
	ID    string    `json:"id"`
	Form  int       `json:"form"`
	State State     `json:"state"`
	Since time.Time `json:"since"`             // when it came into the state
	Until time.Time `json:"until,omitzero"`    // of a snoozed one: when it is proposed again
	Part  string    `json:"part,omitempty"`    // of the calendar with this id
	Last  Decision  `json:"decision,omitzero"` // the last one about its proposal

	// What whoever advises, carries out, and follows a calendar know of it: nobody else reads it.
	Advice   json.RawMessage `json:"advice,omitempty"`
	Work     json.RawMessage `json:"work,omitempty"`
	Calendar json.RawMessage `json:"calendar,omitempty"`

	version int64 // as stored; 0: it is not
}

// Decision is what was decided about a proposal. That advice comes and goes is one, too: nobody's.
type Decision struct {
	At     time.Time `json:"at"`
	Actor  string    `json:"actor,omitempty"` // "" for Helenus itself
	Reason string    `json:"reason,omitempty"`
}

// Admission says whether what a record proposes may be carried out, notes in the record who decided so, and returns the reason for the audit
// trail. It is asked in the transaction in which the change begins.
type Admission func(r *Record) (store.Entry, error)

// Empty reports whether nothing is known of a change any more.
func (r *Record) Empty() bool { return r.Advice == nil && r.Work == nil && r.Calendar == nil }

// Move brings a change into a state, if the table has that.
func (r *Record) Move(o Order, to State, now time.Time) error {
	if !Allowed(o, r.State, to) {
		return &MoveError{r.ID, o, r.State, to}
	}
	if to != Snoozed {
		r.Until = time.Time{}
	}
	r.State, r.Since = to, now
	return nil
}

// Store keeps records; *store.Store does, in SQLite. See the package comment for what is asked of another.
type Store interface {
	List(ctx context.Context, kind string) ([]store.Document, error)
	// Replace stores a document along with lines of the audit trail, all or nothing, if the version that is stored is the one given, 0 if none
	// is, and returns the new version; else it is store.ErrConflict.
	Replace(ctx context.Context, kind, id string, version int64, v any, entries ...store.Entry) (int64, error)
	// Remove removes one under the same condition.
	Remove(ctx context.Context, kind, id string, version int64, entries ...store.Entry) error
}

// Shared is a Store that other processes change, too: it tells what has changed without its being read.
type Shared interface {
	Store
	// Versions are those of all documents of a kind, by id.
	Versions(ctx context.Context, kind string) (map[string]int64, error)
	// Document reads one; nil if there is none.
	Document(ctx context.Context, kind, id string) (*store.Document, error)
}

// Book is all changes, as they are stored. It is safe for concurrent use.
type Book struct {
	store Store // nil: nothing is kept

	changing sync.Mutex // held while something is stored or read: one after the other
	mu       sync.Mutex // of what follows; never held while the store is waited for
	loaded   bool
	records  map[string]*Record // what is in the map is never changed
}

// Open returns the changes of a store; nil: there are none, and nothing is kept.
func Open(s Store) *Book { return &Book{store: s, records: map[string]*Record{}} }

// Load reads all changes, again if they were read before.
func (b *Book) Load(ctx context.Context) error {
	b.changing.Lock()
	defer b.changing.Unlock()
	b.mu.Lock()
	b.loaded = false
	b.mu.Unlock()
	return b.load(ctx)
}

// Sync reads those that others have changed since they were read, or stored here.
func (b *Book) Sync(ctx context.Context) error {
	shared, ok := b.store.(Shared)
	if !ok {
		return nil
	}
	b.changing.Lock()
	defer b.changing.Unlock()
	if err := b.load(ctx); err != nil {
		return err
	}
	versions, err := shared.Versions(ctx, Kind)
	if err != nil {
		return fmt.Errorf("look which changes are new: %w", err)
	}
	known := b.Known()
	for id, version := range versions {
		if have, ok := known[id]; ok && have.version == version {
			continue
		}
		d, err := shared.Document(ctx, Kind, id)
		if err != nil {
			return fmt.Errorf("read change %s: %w", id, err)
		}
		if d == nil {
			continue // forgotten just now: the next time says so
		}
		r, err := decode(d)
		if err != nil {
			return err
		}
		b.hold(r)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for id, r := range b.records {
		if _, there := versions[id]; !there && r.version > 0 && known[id].version == r.version {
			delete(b.records, id)
		}
	}
	return nil
}

// hold makes a record the one that is known of its id.
func (b *Book) hold(r *Record) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.records[r.ID] = r
}

// held is the record that is known of an id; nil if none is.
func (b *Book) held(id string) *Record {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.records[id]
}

// Record is what is known of one change.
func (b *Book) Record(id string) (r Record, ok bool) {
	if have := b.held(id); have != nil {
		return *have, true
	}
	return r, false
}

// load reads them if they were not yet; b.changing is held.
func (b *Book) load(ctx context.Context) error {
	b.mu.Lock()
	loaded := b.loaded
	b.mu.Unlock()
	if loaded || b.store == nil {
		return nil
	}
	documents, err := b.store.List(ctx, Kind)
	if err != nil {
		return fmt.Errorf("read the changes: %w", err)
	}
	records := map[string]*Record{} // all or none
	for i := range documents {
		r, err := decode(&documents[i])
		if err != nil {
			return err
		}
		records[r.ID] = r
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.records, b.loaded = records, true
	return nil
}

func decode(d *store.Document) (*Record, error) {
	r := &Record{}
	if err := json.Unmarshal(d.Raw, r); err != nil {
		return nil, fmt.Errorf("change %s in the store can not be read: %w", d.ID, err)
	}
	if r.Form != Form {
		return nil, fmt.Errorf("%w: change %s in the store has form %d, this Helenus reads form %d: use the one that wrote it", store.ErrNewer, d.ID, r.Form, Form)
	}
	if r.ID != d.ID || !slices.Contains(States, r.State) {
		return nil, fmt.Errorf("change %s in the store says that it is %q, and %q", d.ID, r.ID, r.State)
	}
	r.version = d.Version
	return r, nil
}

// All are all changes, by id.
func (b *Book) All(ctx context.Context) ([]Record, error) {
	b.changing.Lock()
	err := b.load(ctx)
	b.changing.Unlock()
	if err != nil {
		return nil, err
	}
	out := slices.Collect(maps.Values(b.Known()))
	slices.SortFunc(out, func(x, y Record) int { return strings.Compare(x.ID, y.ID) })
	return out, nil
}

// Known are the changes that were read, by id: what can be told without asking the store.
func (b *Book) Known() map[string]Record {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := make(map[string]Record, len(b.records))
	for id, r := range b.records {
		out[id] = *r
	}
	return out
}

// Part encodes what one of the owners knows of a change.
func Part(v any) (json.RawMessage, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode a part of a change: %w", err)
	}
	return raw, nil
}

// attempts is how often a change is tried again because somebody else's version was stored meanwhile.
const attempts = 5

// Change has do change one record, one that is new and in state None if there is none of the id, and stores it with the lines of the audit trail that do
// returns, all or nothing. A record that is Empty afterwards is forgotten. On an error of do nothing happens. do may be called more than once, each
// time with the record as it is stored by then; it must not use the Book.
func (b *Book) Change(ctx context.Context, id string, do func(r *Record) ([]store.Entry, error)) (Record, error) {
	b.changing.Lock()
	defer b.changing.Unlock()
	if err := b.load(ctx); err != nil {
		return Record{}, err
	}
	for try := 1; ; try++ {
		r := Record{ID: id, Form: Form}
		if have := b.held(id); have != nil {
			r = *have
		}
		trail, err := do(&r)
		if err != nil {
			return Record{}, err
		}
		if err = b.put(ctx, &r, trail); err == nil {
			return r, nil
		}
		if !errors.Is(err, store.ErrConflict) || try == attempts {
			return Record{}, err
		}
		if err := b.again(ctx, id); err != nil {
			return Record{}, err
		}
	}
}

// put stores a record, or forgets it; b.changing is held.
func (b *Book) put(ctx context.Context, r *Record, trail []store.Entry) error {
	switch {
	case r.Empty() && r.version == 0 && len(trail) == 0:
		return nil
	case r.Empty():
		if b.store != nil {
			if err := b.store.Remove(ctx, Kind, r.ID, r.version, trail...); err != nil {
				return fmt.Errorf("forget change %s: %w", r.ID, err)
			}
		}
		b.mu.Lock()
		delete(b.records, r.ID)
		b.mu.Unlock()
		return nil
	}
	r.version++ // without a store
	if b.store != nil {
		version, err := b.store.Replace(ctx, Kind, r.ID, r.version-1, r, trail...)
		if err != nil {
			return fmt.Errorf("save change %s: %w", r.ID, err)
		}
		r.version = version
	}
	kept := *r
	b.hold(&kept)
	return nil
}

// again reads one record that is not as it was when it was read. If it is not stored at all, the state was lost: what is known of it is stored anew.
func (b *Book) again(ctx context.Context, id string) error {
	documents, err := b.store.List(ctx, Kind)
	if err != nil {
		return fmt.Errorf("read change %s: %w", id, err)
	}
	for i := range documents {
		if documents[i].ID == id {
			r, err := decode(&documents[i])
			if err == nil {
				b.hold(r)
			}
			return err
		}
	}
	if have := b.held(id); have != nil {
		fresh := *have
		fresh.version = 0
		b.hold(&fresh)
	}
	return nil
}

// Renew stores all that is known in a store that was lost, and holds nothing of it. What can not be stored is told, and the rest is.
func (b *Book) Renew(ctx context.Context) error {
	var failed []error
	for _, id := range slices.Sorted(maps.Keys(b.Known())) {
		_, err := b.Change(ctx, id, func(*Record) ([]store.Entry, error) { return nil, nil })
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}
