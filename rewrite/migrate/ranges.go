package migrate

import (
	"context"
	"errors"

	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/kind"
)

// Some statements can not be answered as they were written: they meet more tombstones than Cassandra reads past, or take longer
// than it waits. What the base would have answered is then found part by part of the ring, as verification reads it, if the kind knows how
// (kind.Scanner).

// maxUnanswered bounds the requests that wait to be compared by token ranges.
const maxUnanswered = 16

// unanswered is a read of the application that failed.
type unanswered struct {
	read kind.Read
	q    kind.Request
}

// Unanswered notes that a read of the application failed as it was written: it is compared by token ranges. It does not block.
func (m *Manager) Unanswered(id string, read kind.Read, q kind.Request) {
	r, err := m.find(id)
	if err != nil {
		return
	}
	r.mu.Lock()
	r.failed++
	if len(r.unanswered) < maxUnanswered && r.m.State == Shadow {
		r.unanswered = append(r.unanswered, unanswered{read, q})
	}
	r.mu.Unlock()
	select {
	case r.samples <- struct{}{}:
	default:
	}
}

// compareUnanswered compares what failed since it was last called.
func (m *Manager) compareUnanswered(ctx context.Context, r *run) error {
	r.mu.Lock()
	list := r.unanswered
	r.unanswered = nil
	r.mu.Unlock()
	for _, u := range list {
		if u.read.Of() != r.fitted() {
			continue // the base has changed since
		}
		if err := m.compareRanges(ctx, r, u.read, []kind.Request{u.q}); err != nil {
			return err
		}
	}
	return nil
}

// candidate is a request that is being compared.
type candidate struct {
	q       kind.Request
	planned proxy.Rows // the change's answer, before the scan
	still   int        // how often both stood still, and differed
}

// compareRanges compares the change's answers to requests, which are answered alike but for what they ask for, with what the base
// holds. As with any comparison, only a difference that stays while the change's answer stands still counts.
func (m *Manager) compareRanges(ctx context.Context, r *run, read kind.Read, requests []kind.Request) error {
	scanner, ok := read.(kind.Scanner)
	if !ok {
		return nil
	}
	r.mu.Lock()
	turns := r.turns
	r.mu.Unlock()
	var list []*candidate
	for _, q := range requests {
		planned, err := read.Answer(ctx, q)
		if errors.Is(err, kind.ErrUnsuited) {
			continue // it would run as it was written
		} else if err != nil {
			return err
		}
		list = append(list, &candidate{q: q, planned: planned})
	}
	for try := 0; len(list) > 0 && try <= 4*m.settings.ReadSamples; try++ {
		asked := make([]kind.Request, len(list))
		for i, c := range list {
			asked[i] = c.q
		}
		found, err := scanner.Scan(ctx, asked, exec.Ring(m.settings.Ranges), m.settings.Read)
		if err != nil {
			return err
		}
		var left []*candidate
		for i, c := range list {
			rows := found[i]
			planned, err := read.Answer(ctx, c.q)
			switch {
			case errors.Is(err, kind.ErrUnsuited):
				continue
			case err != nil:
				return err
			case exec.Equal(rows, planned) || exec.Equal(rows, c.planned):
				r.compared(try > 0, &r.m.ByRanges)
				continue
			case exec.Equal(planned, c.planned):
				c.still++
			}
			if c.still > m.settings.ReadSamples {
				return m.mismatch(ctx, r, turns, read, c.q, planned, rows)
			}
			c.planned = planned
			left = append(left, c)
		}
		if list = left; len(list) > 0 {
			if err := m.Wait(ctx, m.settings.SampleDelay); err != nil {
				return err
			}
		}
	}
	return nil
}
