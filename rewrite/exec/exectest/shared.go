package exectest

import (
	"context"
	"encoding/json"
	"maps"

	"github.com/helenus-db/helenus/capture/store"
)

// What several processes share of a Store is told here: that something is new, and what members say of themselves (internal/fleet).

// Epoch is how many documents were stored or removed.
func (s *Store) Epoch(context.Context) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.epoch, nil
}

// Versions are those of all documents of a kind.
func (s *Store) Versions(_ context.Context, kind string) (map[string]int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]int64{}
	for k, v := range s.versions {
		if k.Kind == kind {
			out[k.ID] = v
		}
	}
	return out, nil
}

// Document reads one; nil if there is none.
func (s *Store) Document(_ context.Context, kind, id string) (*store.Document, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := store.Key{Kind: kind, ID: id}
	if raw, ok := s.documents[k]; ok {
		return &store.Document{Kind: kind, ID: id, Version: s.versions[k], Raw: raw}, nil
	}
	return nil, nil //nolint:nilnil // there is none
}

// Beat stores what a member says, unless a larger counter is stored.
func (s *Store) Beat(_ context.Context, member string, counter int64, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.beats == nil {
		s.beats, s.counters = map[string]json.RawMessage{}, map[string]int64{}
	}
	if s.counters[member] <= counter {
		s.beats[member], s.counters[member] = raw, counter
	}
	return nil
}

// Beats are those of all members.
func (s *Store) Beats(context.Context) (map[string]json.RawMessage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.beats), nil
}

// Silence forgets the beats of a member up to a counter.
func (s *Store) Silence(_ context.Context, member string, counter int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.counters[member] <= counter {
		delete(s.beats, member)
	}
	return nil
}

// Raise has nothing to do: documents in memory have no form.
func (s *Store) Raise(context.Context, int) error { return nil }
