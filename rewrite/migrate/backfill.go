package migrate

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/capture/store"
	"github.com/helenus-db/helenus/internal/guard"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/kind"
)

// checkpoint is how far a backfill came: the parts of the ring that are not done yet. What is missing from it is done.
type checkpoint struct {
	Total int          `json:"total"` // parts at the beginning
	Left  []exec.Range `json:"left"`
	Rows  int64        `json:"rows"` // entries written by the parts that are done
}

// whole is the checkpoint at the beginning.
func (m *Manager) whole() *checkpoint {
	return &checkpoint{Total: m.settings.Ranges, Left: exec.Ring(m.settings.Ranges)}
}

func (m *Manager) loadCheckpoint(ctx context.Context, id string) (*checkpoint, error) {
	found := &checkpoint{}
	err := m.Store.Load(ctx, KindBackfill, id, found)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return m.whole(), nil
	case err != nil:
		return nil, fmt.Errorf("read the checkpoint of migration %s: %w", id, err)
	}
	return found, nil
}

// backfill is the work of Backfill: what the rows of the base need in tables of ours, part by part of the ring. Parts already
// done are in the checkpoint. A part that fails for lack of time is cut in two, and tried again.
func (m *Manager) backfill(ctx context.Context, r *run) error {
	d := r.derived()
	if d == nil {
		return nil
	}
	have := r.get()
	id := have.ID
	c, err := m.loadCheckpoint(ctx, id)
	if err != nil {
		return err
	}
	job := &job{m: m, r: r, d: d, c: c, id: id, pace: pace{rate: m.settings.Rate}, moved: have.Moved}
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
		select {
		case queue <- p:
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
	// moved tells that some replicas of the base may not have all its rows: all are asked.
	moved bool

	mu  sync.Mutex
	c   *checkpoint
	err error
}

func (j *job) fail(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err == nil {
		j.err = err
	}
}

// do fills one part, and marks it done. A part that times out is cut in two, as it may hold too much.
func (j *job) do(ctx context.Context, p exec.Range) error {
	how := kind.Filling{Read: j.m.settings.Read, Write: j.m.settings.Write, InFlight: j.m.settings.InFlight}
	if j.moved {
		how.Read = gocql.All
	}
	rows, err := j.d.Fill(ctx, p, how, j.pace.wait)
	if err != nil {
		if ctx.Err() == nil && exec.Down(err) && !exec.Unreachable(err) {
			j.split(ctx, p)
		}
		return fmt.Errorf("backfill %s: %w", &j.d.Tables()[0], err)
	}
	return j.done(ctx, p, rows)
}

// split cuts a part of the checkpoint in two. If that can not be saved, the whole part is tried again.
func (j *job) split(ctx context.Context, p exec.Range) {
	a, b, ok := p.Split()
	if !ok {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	var left []exec.Range
	for _, have := range j.c.Left {
		if have == p {
			left = append(left, a, b)
			j.c.Total++
			continue
		}
		left = append(left, have)
	}
	j.c.Left = left
	if err := j.m.Store.Save(ctx, KindBackfill, j.id, j.c); err != nil {
		j.m.Log.Warn("a checkpoint could not be saved", "change_id", j.id, "err", err)
	}
}

// done takes a part out of the checkpoint and saves it. Its entries are acknowledged by now.
func (j *job) done(ctx context.Context, p exec.Range, rows int64) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	var left []exec.Range
	for _, have := range j.c.Left {
		if have != p {
			left = append(left, have)
		}
	}
	j.c.Left = left
	j.c.Rows += rows
	if err := j.m.Store.Save(ctx, KindBackfill, j.id, j.c); err != nil {
		return fmt.Errorf("save the checkpoint of migration %s: %w", j.id, err)
	}
	j.r.mu.Lock()
	j.r.m.Entries = j.c.Rows
	j.r.mu.Unlock()
	j.m.progress(j.r, "token ranges", int64(j.c.Total-len(left)), int64(j.c.Total))
	return nil
}

// pace limits a rate: each caller waits for its turn.
type pace struct {
	rate int
	mu   sync.Mutex
	next time.Time
}

func (p *pace) wait(ctx context.Context) error {
	if p.rate <= 0 {
		return nil
	}
	p.mu.Lock()
	now := time.Now()
	if p.next.Before(now) {
		p.next = now
	}
	d := p.next.Sub(now)
	p.next = p.next.Add(time.Second / time.Duration(p.rate))
	p.mu.Unlock()
	if d < time.Millisecond {
		return nil
	}
	return sleep(ctx, d)
}
