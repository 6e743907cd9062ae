package exectest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"sync"

	"github.com/helenus-db/helenus/capture/store"
)

// Store keeps documents in memory as *store.Store keeps them in a file. Its zero value is empty.
type Store struct {
	// Loading is called before each Load; an error is its answer.
	Loading Hook[func(kind, id string) error]
	// Before is called before each Save; an error is its answer, and nothing is saved.
	Before Hook[func(kind, id string) error]

	mu        sync.Mutex
	documents map[store.Key]json.RawMessage
	versions  map[store.Key]int64
	trail     []store.Entry
	epoch     int64
	beats     map[string]json.RawMessage
	counters  map[string]int64
}

// Save implements migrate.Store.
func (s *Store) Save(ctx context.Context, kind, id string, v any) error {
	return s.Decide(ctx, kind, id, v)
}

// Decide implements migrate.Store.
func (s *Store) Decide(_ context.Context, kind, id string, v any, entries ...store.Entry) error {
	if before, ok := s.Before.Get(); ok {
		if err := before(kind, id); err != nil {
			return err
		}
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(store.Key{Kind: kind, ID: id}, raw, entries)
	return nil
}

// put stores a document; s.mu is held.
func (s *Store) put(key store.Key, raw json.RawMessage, entries []store.Entry) {
	if s.documents == nil {
		s.documents, s.versions = map[store.Key]json.RawMessage{}, map[store.Key]int64{}
	}
	s.documents[key] = raw
	s.versions[key]++
	s.epoch++
	s.trail = append(s.trail, entries...)
}

// Replace implements change.Store.
func (s *Store) Replace(_ context.Context, kind, id string, version int64, v any, entries ...store.Entry) (int64, error) {
	if before, ok := s.Before.Get(); ok {
		if err := before(kind, id); err != nil {
			return 0, err
		}
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := store.Key{Kind: kind, ID: id}
	if s.versions[key] != version {
		return 0, store.ErrConflict
	}
	s.put(key, raw, entries)
	return version + 1, nil
}

// Remove implements change.Store.
func (s *Store) Remove(_ context.Context, kind, id string, version int64, entries ...store.Entry) error {
	if before, ok := s.Before.Get(); ok {
		if err := before(kind, id); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := store.Key{Kind: kind, ID: id}
	if s.versions[key] != version {
		return store.ErrConflict
	}
	delete(s.documents, key)
	delete(s.versions, key)
	s.epoch++
	s.trail = append(s.trail, entries...)
	return nil
}

// Trail is the audit trail, the oldest line first.
func (s *Store) Trail() []store.Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.trail)
}

// Load implements migrate.Store.
func (s *Store) Load(_ context.Context, kind, id string, v any) error {
	if loading, ok := s.Loading.Get(); ok {
		if err := loading(kind, id); err != nil {
			return err
		}
	}
	s.mu.Lock()
	raw, ok := s.documents[store.Key{Kind: kind, ID: id}]
	s.mu.Unlock()
	if !ok {
		return fmt.Errorf("%w: %s %s", store.ErrNotFound, kind, id)
	}
	return json.Unmarshal(raw, v)
}

// Delete forgets a document; one that is not there is no error.
func (s *Store) Delete(_ context.Context, kind, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.documents, store.Key{Kind: kind, ID: id})
	delete(s.versions, store.Key{Kind: kind, ID: id})
	return nil
}

// List implements migrate.Store.
func (s *Store) List(_ context.Context, kind string) ([]store.Document, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []store.Document
	for key, raw := range s.documents {
		if key.Kind == kind {
			out = append(out, store.Document{Kind: kind, ID: key.ID, Version: s.versions[key], Raw: raw})
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].ID < out[j].ID })
	return out, nil
}
