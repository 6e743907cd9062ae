package migrate

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/capture/store"
	"github.com/helenus-db/helenus/internal/guard"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/kind"
)

// checkpoint is how far a backfill came: the parts of the ring that are not done yet. What is missing from it is done.
type checkpoint struct {
	Total int    `json:"total"` // parts at the beginning
	Left  []part `json:"left"`
	Rows  int64  `json:"rows"` // entries written by the parts that are done
	// By is who has written them, in a fleet.
	By map[string]int64 `json:"by,omitempty"`
}

// part is a part of the ring. In a fleet it may be claimed; see together.go.
type part struct {
	exec.Range
	Owner string `json:"owner,omitempty"`
	Beat  int64  `json:"beat,omitempty"`
}

// whole is the checkpoint at the beginning.
func (m *Manager) whole() *checkpoint {
	c := &checkpoint{Total: m.settings.Ranges}
	for _, p := range exec.Ring(m.settings.Ranges) {
		c.Left = append(c.Left, part{Range: p})
	}
	return c
}

func (m *Manager) loadCheckpoint(ctx context.Context, id string) (*checkpoint, error) {
	found := &checkpoint{}
	err := m.persist(ctx, func() error { return m.Store.Load(ctx, KindBackfill, id, found) })
	switch {
	case errors.Is(err, store.ErrNotFound):
		return m.whole(), nil
	case err != nil:
		return nil, fmt.Errorf("read the checkpoint of change %s: %w", id, err)
	}
	return found, nil
}

// backfill is the work of Backfill: what the rows of the base need in tables of ours, part by part of the ring. Parts already
// done are in the checkpoint. A part that fails for lack of time is cut in two, and tried again, at once and, if that does not help, after a rest of all (drive).
func (m *Manager) backfill(ctx context.Context, r *run) error {
	d := r.derived()
	if d == nil {
		return nil
	}
	if r.get().Fill == FillBulk {
		return m.filledElsewhere(ctx, r)
	}
	if m.Shared {
		return m.fillTogether(ctx, r, d)
	}
	have := r.get()
	id := have.ID
	c, err := m.loadCheckpoint(ctx, id)
	if err != nil {
		return err
	}
	job := &job{m: m, r: r, d: d, c: c, id: id, pace: m.paced(r, m.settings.Rate), how: m.filling()}
	m.progress(r, "token ranges", int64(c.Total-len(c.Left)), int64(c.Total))
	todo := c.Left
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	queue := make(chan exec.Range)
	var wait sync.WaitGroup
	for range m.settings.Workers {
		guard.In(&wait, guard.Backfill, func() {
			for p := range queue {
				if err := guard.Do(guard.Backfill, func() error { return job.do(ctx, p) }); err != nil {
					job.fail(err)
					cancel()
				}
			}
		})
	}
feed:
	for _, p := range todo {
		if r.get().Filled { // by somebody else, meanwhile
			break
		}
		select {
		case queue <- p.Range:
		case <-ctx.Done():
			break feed
		}
	}
	close(queue)
	wait.Wait()
	job.mu.Lock()
	defer job.mu.Unlock()
	if job.err == nil {
		job.err = ctx.Err()
	}
	return job.err
}

type job struct {
	m    *Manager
	r    *run
	d    kind.Derived
	id   string
	pace pace
	how  kind.Filling

	mu  sync.Mutex
	c   *checkpoint
	err error
}

// filling is how the tables of a change are filled. All replicas of the base are asked: a row of before may be on one alone, as it was written at ONE, at LOCAL_QUORUM in another data centre, or
// as the keyspace was replicated otherwise then; and whatever asks that one finds it, today at ONE, or tomorrow at any level, as that read brought it to the others. Rows that are written from now on have their entries before. (docs/decisions/065)
func (m *Manager) filling() kind.Filling {
	return kind.Filling{Read: gocql.All, Write: m.settings.Write, InFlight: m.settings.InFlight}
}

func (j *job) fail(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err == nil {
		j.err = err
	}
}

// do fills one part, and marks it done. What fails and may pass is tried again; a part that times out is cut in two first, as it may hold too much.
func (j *job) do(ctx context.Context, p exec.Range) error {
	for failures, todo := 0, []exec.Range{p}; len(todo) > 0; {
		rows, err := j.d.Fill(ctx, todo[0], j.how, j.pace.wait)
		if err == nil {
			if err := j.done(ctx, todo[0], rows); err != nil {
				return err
			}
			failures, todo = 0, todo[1:]
			continue
		}
		if ctx.Err() == nil && exec.Down(err) && !exec.Unreachable(err) {
			todo = append(j.split(ctx, todo[0]), todo[1:]...)
		}
		err = fmt.Errorf("backfill %s: %w", &j.d.Tables()[0], err)
		if failures++; failures == attempts || !transient(ctx, err) {
			return err
		}
		j.r.throttle(err.Error())
		j.m.Log.Warn("a token range could not be filled; it is filled again", "change_id", j.id, "err", err)
		if j.m.Wait(ctx, resting(failures)) != nil {
			return err
		}
	}
	return nil
}

// split cuts a part of the checkpoint in two, which it returns. If that can not be saved, the whole part is tried again by who comes next.
func (j *job) split(ctx context.Context, p exec.Range) []exec.Range {
	a, b, ok := p.Split()
	if !ok {
		return []exec.Range{p}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	var left []part
	for _, have := range j.c.Left {
		if have.Range == p {
			left = append(left, part{Range: a}, part{Range: b})
			j.c.Total++
			continue
		}
		left = append(left, have)
	}
	j.c.Left = left
	if err := j.m.Store.Save(ctx, KindBackfill, j.id, j.c); err != nil {
		j.m.Log.Warn("a checkpoint could not be saved", "change_id", j.id, "err", err)
	}
	return []exec.Range{a, b}
}

// done takes a part out of the checkpoint and saves it. Its entries are acknowledged by now.
func (j *job) done(ctx context.Context, p exec.Range, rows int64) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	var left []part
	for _, have := range j.c.Left {
		if have.Range != p {
			left = append(left, have)
		}
	}
	j.c.Left = left
	j.c.Rows += rows
	if err := j.m.persist(ctx, func() error { return j.m.Store.Save(ctx, KindBackfill, j.id, j.c) }); err != nil {
		return fmt.Errorf("save the checkpoint of change %s: %w", j.id, err)
	}
	j.r.mu.Lock()
	j.r.m.Entries = j.c.Rows
	j.r.mu.Unlock()
	j.m.progress(j.r, "token ranges", int64(j.c.Total-len(left)), int64(j.c.Total))
	return nil
}
