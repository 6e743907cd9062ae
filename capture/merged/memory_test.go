package merged

import (
	"context"
	"errors"
	"sync"
	"time"
)

// memory is a Store in memory that can fail.
type memory struct {
	mu    sync.Mutex
	rows  map[string]map[string][]byte // by kind and key
	fails bool
	bytes map[string]int // that were put, by kind
}

func newMemory() *memory {
	return &memory{rows: map[string]map[string][]byte{}, bytes: map[string]int{}}
}

var errDown = errors.New("no node answers")

func (s *memory) Put(_ context.Context, row Row, _ time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fails {
		return errDown
	}
	if s.rows[row.Kind] == nil {
		s.rows[row.Kind] = map[string][]byte{}
	}
	s.rows[row.Kind][row.Key] = row.Body
	s.bytes[row.Kind] += len(row.Body)
	return nil
}

func (s *memory) Agree(ctx context.Context, row Row, keep time.Duration) (Row, error) {
	s.mu.Lock()
	was, known := s.rows[row.Kind][row.Key]
	fails := s.fails
	s.mu.Unlock()
	switch {
	case fails:
		return Row{}, errDown
	case known:
		return Row{row.Kind, row.Key, was}, nil
	}
	return row, s.Put(ctx, row, keep)
}

func (s *memory) All(_ context.Context, kind string) (out []Row, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fails {
		return nil, errDown
	}
	for key, body := range s.rows[kind] {
		out = append(out, Row{kind, key, body})
	}
	return out, nil
}

func (s *memory) Drop(_ context.Context, kind, key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fails {
		return errDown
	}
	delete(s.rows[kind], key)
	return nil
}

func (s *memory) count(kind string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.rows[kind])
}
