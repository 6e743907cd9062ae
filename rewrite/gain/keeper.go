package gain

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/helenus-db/helenus/capture/store"
)

// KindGain is the kind of document in a Store.
const KindGain = "gain"

// Store keeps records over restarts; *store.Store is one.
type Store interface {
	Save(ctx context.Context, kind, id string, v any) error
	List(ctx context.Context, kind string) ([]store.Document, error)
}

// Keeper has the meters of all changes, by id.
type Keeper struct {
	store    Store
	settings Settings

	mu     sync.Mutex
	meters map[string]*Meter
	saved  map[string]Record
	next   time.Time // to save at
}

// NewKeeper returns a Keeper of nothing.
func NewKeeper(s Store, settings Settings) *Keeper {
	return &Keeper{store: s, settings: settings.Defaults(), meters: map[string]*Meter{}, saved: map[string]Record{}}
}

// Every is how often Weigh is to be called.
func (k *Keeper) Every() time.Duration { return k.settings.Every }

// Restore reads what was saved. What can not be read is begun anew: it is no reason not to start.
func (k *Keeper) Restore(ctx context.Context) error {
	list, err := k.store.List(ctx, KindGain)
	if err != nil {
		return fmt.Errorf("read what changes were worth: %w", err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, d := range list {
		var r Record
		if json.Unmarshal(d.Raw, &r) == nil {
			k.meters[d.ID], k.saved[d.ID] = NewMeter(k.settings, r), r
		}
	}
	return nil
}

// Learn reads what was saved of changes that this process knows nothing of: another one may have begun to measure them.
func (k *Keeper) Learn(ctx context.Context, ids []string) error {
	k.mu.Lock()
	known := !slices.ContainsFunc(ids, func(id string) bool { _, ok := k.saved[id]; return !ok })
	k.mu.Unlock()
	if known {
		return nil
	}
	list, err := k.store.List(ctx, KindGain)
	if err != nil {
		return fmt.Errorf("read what changes were worth: %w", err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, d := range list {
		var r Record
		if _, ok := k.saved[d.ID]; ok || json.Unmarshal(d.Raw, &r) != nil {
			continue
		}
		k.saved[d.ID] = r
		if m := k.meters[d.ID]; m != nil {
			m.restart(r)
		} else {
			k.meters[d.ID] = NewMeter(k.settings, r)
		}
	}
	for _, id := range ids { // of which nothing was saved
		if _, ok := k.saved[id]; !ok {
			k.saved[id] = Record{}
		}
	}
	return nil
}

// Begin measures a change from now on, and saves what was before.
func (k *Keeper) Begin(ctx context.Context, id string, p Promise, b Before) error {
	r := Record{Promise: p, Before: b}
	k.mu.Lock()
	if m := k.meters[id]; m != nil {
		m.restart(r)
	} else {
		k.meters[id] = NewMeter(k.settings, r)
	}
	k.saved[id] = r
	k.mu.Unlock()
	if err := k.store.Save(ctx, KindGain, id, r); err != nil {
		return fmt.Errorf("save what statements took before change %s: %w", id, err)
	}
	return nil
}

// restart forgets what was measured: the change is another of the same id.
func (m *Meter) restart(r Record) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.record, m.quiet, m.window.began = r, time.Time{}, time.Time{}
	m.trial.Store(false)
	done := m.counted() // no histogram may be emptied while others count
	m.past = done
}

// Meter is that of a change: the same for the same id.
func (k *Keeper) Meter(id string) *Meter {
	k.mu.Lock()
	defer k.mu.Unlock()
	m := k.meters[id]
	if m == nil {
		m = NewMeter(k.settings, Record{})
		k.meters[id] = m
	}
	return m
}

// Save saves what changed, if it is time, or else if now.
func (k *Keeper) Save(ctx context.Context, now time.Time, atOnce bool) error {
	k.mu.Lock()
	if now.Before(k.next) && !atOnce {
		k.mu.Unlock()
		return nil
	}
	k.next = now.Add(k.settings.SaveEvery)
	changed := map[string]Record{}
	for id, m := range k.meters {
		if r := m.Record(); !reflect.DeepEqual(r, k.saved[id]) {
			changed[id] = r
		}
	}
	k.mu.Unlock()
	for id, r := range changed {
		if err := k.store.Save(ctx, KindGain, id, r); err != nil {
			return fmt.Errorf("save what change %s is worth: %w", id, err)
		}
		k.mu.Lock()
		k.saved[id] = r
		k.mu.Unlock()
	}
	return nil
}
