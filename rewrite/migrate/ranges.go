package migrate

import (
	"context"
	"errors"
	"fmt"

	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/match"
)

// Some statements can not be answered as they were written: they meet more tombstones than Cassandra reads past, or take longer
// than it waits. What the base would have answered is then found part by part of the ring, as verification reads it: Cassandra
// evaluates all conditions but that on the looked-up column, and rows are told apart here by its value. One scan serves many values.

// maxUnanswered bounds the requests that wait to be compared by token ranges.
const maxUnanswered = 16

// unanswered is a read of the application that failed.
type unanswered struct {
	read *match.Read
	q    exec.Request
}

// Unanswered notes that a read of the application failed as it was written: it is compared by token ranges. It does not block.
func (m *Manager) Unanswered(id string, read *match.Read, q exec.Request) {
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
		if u.read.LookUp != r.lookup() {
			continue // the base has changed since
		}
		if err := m.compareRanges(ctx, r, u.read, []exec.Request{u.q}); err != nil {
			return err
		}
	}
	return nil
}

// candidate is a request that is being compared.
type candidate struct {
	q       exec.Request
	value   string
	limit   int
	planned proxy.Rows // the look-up's answer, before the scan
	still   int        // how often both stood still, and differed
}

// compareRanges compares the look-up's answers to requests, which differ in the value of the column only, with what the base
// holds. As with any comparison, only a difference that stays while the look-up's answer stands still counts.
func (m *Manager) compareRanges(ctx context.Context, r *run, read *match.Read, requests []exec.Request) error {
	var list []*candidate
	for _, q := range requests {
		planned, err := m.Reader.Read(ctx, read, q)
		if errors.Is(err, exec.ErrUnsuited) {
			continue // it would run as it was written
		} else if err != nil {
			return err
		}
		value, _ := q.Values.Get(read.Column)
		limit, _ := read.Limit(func(x match.Marker) ([]byte, bool, bool) {
			v, ok := q.Values.Get(x)
			return v.Bytes, !v.Unset, ok
		})
		list = append(list, &candidate{q: q, value: string(value.Bytes), limit: limit, planned: planned})
	}
	for try := 0; len(list) > 0 && try <= 4*m.settings.ReadSamples; try++ {
		found, err := m.scanned(ctx, read, list)
		if err != nil {
			return err
		}
		var left []*candidate
		for _, c := range list {
			rows := found[c.value]
			rows = rows[:min(len(rows), c.limit)]
			planned, err := m.Reader.Read(ctx, read, c.q)
			switch {
			case errors.Is(err, exec.ErrUnsuited):
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
				return m.mismatch(ctx, r, read, c.q, planned, rows)
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

// scanned reads the base part by part for the rows of the values asked for.
func (m *Manager) scanned(ctx context.Context, read *match.Read, list []*candidate) (map[string]proxy.Rows, error) {
	found := make(map[string]proxy.Rows, len(list))
	for _, c := range list {
		found[c.value] = proxy.Rows{}
	}
	var others [][]byte
	for _, x := range read.Others {
		v, _ := list[0].q.Values.Get(x)
		others = append(others, v.Bytes)
	}
	for _, part := range exec.Ring(m.settings.Ranges) {
		rows, err := m.part(ctx, read, others, part, found, maxSplits)
		if err != nil {
			return nil, fmt.Errorf("compare with %s by token ranges: %w", read.LookUp.BaseName(), err)
		}
		for _, row := range rows {
			value := string(row[len(row)-1])
			found[value] = append(found[value], row[:len(row)-1])
		}
	}
	return found, nil
}

// maxSplits is how often a part of the ring is halved that can not be read.
const maxSplits = 12

// part reads one part of the ring, and keeps the rows of the values that are wanted. What is too much for one read is halved.
func (m *Manager) part(ctx context.Context, read *match.Read, others [][]byte, part exec.Range, wanted map[string]proxy.Rows, splits int) (proxy.Rows, error) {
	var rows proxy.Rows
	q := exec.Query{Text: read.Scan, Values: append(append([][]byte(nil), others...), exec.FromInt64(part.First), exec.FromInt64(part.Last)),
		Consistency: m.settings.Read, PageSize: 1000}
	err := m.Session.Scan(ctx, q, func(cells [][]byte) error {
		if value := cells[len(cells)-1]; value != nil {
			if _, ok := wanted[string(value)]; ok {
				rows = append(rows, cells)
			}
		}
		return nil
	})
	if err == nil {
		return rows, nil
	}
	a, b, ok := part.Split()
	if !ok || splits == 0 || ctx.Err() != nil || !exec.Down(err) || exec.Unreachable(err) {
		return nil, err
	}
	first, err := m.part(ctx, read, others, a, wanted, splits-1)
	if err != nil {
		return nil, err
	}
	second, err := m.part(ctx, read, others, b, wanted, splits-1)
	return append(first, second...), err
}
