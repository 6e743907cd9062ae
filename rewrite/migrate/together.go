package migrate

import (
	"cmp"
	"context"
	crand "crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/helenus-db/helenus/capture/store"
	"github.com/helenus-db/helenus/internal/change"
	"github.com/helenus-db/helenus/internal/guard"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/kind"
)

// Members of a fleet fill the tables of a change together. The leader, who drives the change, takes part as the others do, and goes on when all is done.
//
//	checkpoint   one document, replaced by compare and set: the parts that are not done, of each who has claimed it and how often he said that he is at it (beat)
//	claim        a part that nobody has claimed, or whose owner was not seen to beat for lease, on the claimer's own monotonic clock
//	beat         every third of lease, all claims of a member at once
//	done         the part is taken out, by whoever filled it, whoever has it claimed by then
//	time-out     what could not be read or stored is tried again before work ends (transient.go); a part that could not be filled is given up, and the worker takes another
//
// Clocks are not compared, and no lease guards a write: a part that is filled twice, because its owner was only slow, is as if it was filled once, and counted once. A member that is
// stopped holds up its parts alone, and for lease. Who leads next begins with what is not claimed, at once.

const (
	lease   = 10 * time.Second
	helpers = 8 // members that fill at a time: a replacement by compare and set is dear, and Cassandra is the bound by then
)

// fill is how one part is filled.
type fill func(ctx context.Context, p exec.Range, next func(context.Context) error) (rows int64, err error)

// sight is what was seen of a claim.
type sight struct {
	owner string
	beat  int64
	since time.Time
}

// crew is a member's part in filling.
type crew struct {
	m      *Manager
	id     string // of the change
	fill   fill
	seen   func(*checkpoint) // is told how it stands
	waits  func(why string)  // is told what fails, and is tried again
	pace   pace
	going  func() bool // it is still to be filled
	worker string      // no other's name, at random: claims of an earlier life of the process are waited out like any other's

	failures atomic.Int32 // to fill a part, of all workers, since one was filled

	mu    sync.Mutex
	mine  map[exec.Range]bool  // claimed, or being so
	sight map[exec.Range]sight // of others
}

func (m *Manager) crew(r *run, f fill) *crew {
	return &crew{m: m, id: r.id, fill: f, seen: func(*checkpoint) {}, waits: func(string) {}, going: func() bool { return true }, worker: crand.Text(), pace: m.paced(r, m.settings.Rate), mine: map[exec.Range]bool{}, sight: map[exec.Range]sight{}}
}

// errFilled says that nothing is left to be done, errBusy that others do it.
var (
	errFilled = errors.New("all is filled")
	errBusy   = errors.New("others fill what is left")
)

// change replaces the checkpoint by what do makes of it, unless that is false. There is none any more: errFilled. What fails and may pass is done again, from the checkpoint as it
// is by then: the last attempt may have been carried out though nobody said so, so do makes nothing of what is as it was to be.
func (c *crew) change(ctx context.Context, do func(*checkpoint) bool) error {
	return c.m.persist(ctx, func() error { return c.replace(ctx, do) })
}

// replace is change, tried until nobody else was first.
func (c *crew) replace(ctx context.Context, do func(*checkpoint) bool) error {
	for try := 1; ; try++ {
		stored, err := c.read(ctx)
		if err != nil {
			return fmt.Errorf("read the checkpoint of change %s: %w", c.id, err)
		}
		if stored == nil {
			return errFilled
		}
		now := &checkpoint{}
		if err := json.Unmarshal(stored.Raw, now); err != nil {
			return fmt.Errorf("read the checkpoint of change %s: %w", c.id, err)
		}
		c.look(now)
		if !do(now) {
			c.seen(now)
			return nil
		}
		_, err = c.m.Store.Replace(ctx, KindBackfill, c.id, stored.Version, now)
		if err == nil {
			c.seen(now)
		}
		if !errors.Is(err, store.ErrConflict) {
			return err
		}
		if err := c.m.Wait(ctx, time.Duration(min(try, 20))*10*time.Millisecond); err != nil {
			return err
		}
	}
}

// read reads the checkpoint of this change, and of no other if that can be: each is as long as the ring has parts. nil: there is none.
func (c *crew) read(ctx context.Context) (*store.Document, error) {
	if shared, ok := c.m.Store.(change.Shared); ok {
		return shared.Document(ctx, KindBackfill, c.id)
	}
	list, err := c.m.Store.List(ctx, KindBackfill)
	i := slices.IndexFunc(list, func(d store.Document) bool { return d.ID == c.id })
	if err != nil || i < 0 {
		return nil, err
	}
	return &list[i], nil
}

// look notes how others' claims stand.
func (c *crew) look(now *checkpoint) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.sight
	c.sight = map[exec.Range]sight{}
	for _, p := range now.Left {
		if p.Owner == "" || c.mine[p.Range] && p.Owner == c.worker {
			continue
		}
		s := before[p.Range]
		if s.owner != p.Owner || s.beat != p.Beat {
			s = sight{p.Owner, p.Beat, c.m.Now()}
		}
		c.sight[p.Range] = s
	}
}

// claim takes a part to be filled: errFilled, errBusy. A part is noted as claimed before that is stored, so that no two workers of a member are at one, and a claim whose answer
// was lost is found again.
func (c *crew) claim(ctx context.Context) (taken exec.Range, err error) {
	why := errFilled
	noted := false // taken is, and a try before this one may have stored it
	err = c.change(ctx, func(now *checkpoint) bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		if noted && slices.ContainsFunc(now.Left, func(p part) bool { return p.Range == taken && p.Owner == c.worker }) {
			why = nil
			return false
		}
		if noted {
			delete(c.mine, taken)
			noted = false
		}
		if len(now.Left) == 0 {
			why = errFilled
			return false
		}
		why = errBusy
		free := func(p part) bool {
			s, other := c.sight[p.Range]
			return !c.mine[p.Range] && (p.Owner == "" || p.Owner == c.worker || other && c.m.Now().Sub(s.since) >= lease)
		}
		owners := map[string]bool{c.worker: true} // of those that were not heard of for long none is at work
		for _, p := range now.Left {
			if p.Owner != "" && !free(p) {
				owners[p.Owner] = true
			}
		}
		c.pace.divide(len(owners))
		if len(owners) > helpers {
			return false
		}
		at := slices.IndexFunc(now.Left, free)
		if at < 0 {
			return false
		}
		p := &now.Left[at]
		p.Owner, p.Beat = c.worker, p.Beat+1
		taken, noted, why = p.Range, true, nil
		c.mine[taken] = true
		return true
	})
	if err = cmp.Or(err, why); err != nil && noted {
		c.forget(taken)
	}
	return taken, err
}

// beat says that this member is at its parts.
func (c *crew) beat(ctx context.Context) error {
	return c.change(ctx, func(now *checkpoint) (any bool) {
		c.mu.Lock()
		defer c.mu.Unlock()
		for i := range now.Left {
			if p := &now.Left[i]; p.Owner == c.worker && c.mine[p.Range] {
				p.Beat++
				any = true
			}
		}
		return any
	})
}

// done takes a part out, and counts its rows, unless another has done so.
func (c *crew) done(ctx context.Context, done exec.Range, rows int64) error {
	return c.change(ctx, func(now *checkpoint) bool {
		at := slices.IndexFunc(now.Left, func(p part) bool { return p.Range == done })
		if at < 0 {
			return false
		}
		now.Left = slices.Delete(now.Left, at, at+1)
		now.Rows += rows
		if now.By == nil {
			now.By = map[string]int64{}
		}
		now.By[c.worker] += rows
		return true
	})
}

// release gives a part up, in two halves if it is to be split.
func (c *crew) release(ctx context.Context, given exec.Range, split bool) error {
	return c.change(ctx, func(now *checkpoint) bool {
		at := slices.IndexFunc(now.Left, func(p part) bool { return p.Range == given && p.Owner == c.worker })
		if at < 0 {
			return false
		}
		now.Left[at].Owner = ""
		if a, b, ok := given.Split(); ok && split {
			now.Left[at].Range = a
			now.Left = slices.Insert(now.Left, at+1, part{Range: b})
			now.Total++
		}
		return true
	})
}

// forget takes a part off the list of those that this member is at.
func (c *crew) forget(p exec.Range) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.mine, p)
}

// work fills parts until none is left, by whomever.
func (c *crew) work(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var beating, wait sync.WaitGroup
	over, end := context.WithCancel(ctx)
	guard.In(&beating, guard.Backfill, func() {
		for c.m.Wait(over, lease/3) == nil {
			if err := c.beat(over); err != nil && !errors.Is(err, errFilled) && over.Err() == nil {
				c.m.Log.Warn("it can not be said that token ranges are being filled; another member may fill them, too", "change_id", c.id, "err", err)
			}
		}
	})
	for range c.m.settings.Workers {
		guard.In(&wait, guard.Backfill, func() {
			if err := guard.Do(guard.Backfill, func() error { return c.fillParts(ctx) }); err != nil {
				cancel(err)
			}
		})
	}
	wait.Wait()
	end()
	beating.Wait()
	return context.Cause(ctx)
}

// fillParts is the work of one worker.
func (c *crew) fillParts(ctx context.Context) error {
	for c.going() {
		p, err := c.claim(ctx)
		switch {
		case errors.Is(err, errFilled):
			return nil
		case errors.Is(err, errBusy):
			if err := c.m.Wait(ctx, lease/10); err != nil {
				return err
			}
			continue
		case err != nil:
			return err
		}
		err = c.fillPart(ctx, p)
		c.forget(p)
		switch {
		case err == nil:
			c.failures.Store(0)
		case errors.Is(err, errFilled):
		default:
			failures := int(c.failures.Add(1))
			if failures >= attempts*c.m.settings.Workers || !transient(ctx, err) {
				return err
			}
			c.waits(err.Error())
			c.m.Log.Warn("a token range could not be filled; it is filled again", "change_id", c.id, "err", err)
			if c.m.Wait(ctx, resting(1+failures/c.m.settings.Workers)) != nil {
				return err
			}
		}
	}
	return nil
}

// fillPart fills a part that is claimed. One that can not be filled is given up, in halves if it may hold too much.
func (c *crew) fillPart(ctx context.Context, p exec.Range) error {
	rows, err := c.fill(ctx, p, c.pace.wait)
	if err == nil {
		return c.done(ctx, p, rows)
	}
	giving, end := context.WithTimeout(context.WithoutCancel(ctx), lease) // it is given up also if the process ends
	defer end()
	if bad := c.release(giving, p, ctx.Err() == nil && exec.Down(err) && !exec.Unreachable(err)); bad != nil && !errors.Is(bad, errFilled) {
		c.m.Log.Warn("a token range could not be given up; it is filled by another when this member was not heard of for a while", "change_id", c.id, "err", bad)
	}
	return err
}

// fillTogether is backfill in a fleet, at the leader.
func (m *Manager) fillTogether(ctx context.Context, r *run, d kind.Derived) error {
	id := r.get().ID
	if err := m.persist(ctx, func() error {
		_, err := m.Store.Replace(ctx, KindBackfill, id, 0, m.whole())
		return err
	}); err != nil && !errors.Is(err, store.ErrConflict) {
		return fmt.Errorf("save the checkpoint of change %s: %w", id, err)
	}
	c := m.crew(r, m.fillWith(r, d))
	c.waits = r.throttle
	c.seen = func(now *checkpoint) {
		r.mu.Lock()
		r.m.Entries = now.Rows
		r.mu.Unlock()
		m.progress(r, "token ranges", int64(now.Total-len(now.Left)), int64(now.Total))
	}
	return c.work(ctx)
}

// fillWith is how a change fills a part.
func (m *Manager) fillWith(r *run, d kind.Derived) fill {
	return func(ctx context.Context, p exec.Range, next func(context.Context) error) (int64, error) {
		rows, err := d.Fill(ctx, p, m.filling(), func(ctx context.Context) error {
			if err := next(ctx); err != nil {
				return err
			}
			if o := r.pace.Load(); o.state != Backfill { // whoever waited long for his turn may find it rolled back
				return errFilled
			}
			return nil
		})
		if err != nil {
			return rows, fmt.Errorf("backfill %s: %w", &d.Tables()[0], err)
		}
		return rows, nil
	}
}

// help fills, as long as another member drives them, the tables of changes that are being filled.
func (m *Manager) help(ctx context.Context) {
	for m.Wait(ctx, m.settings.Retry) == nil {
		m.mu.Lock()
		leads, runs := m.ctx != nil, m.sorted()
		m.mu.Unlock()
		for _, r := range runs {
			d := r.derived()
			filling := func() bool { return r.get().State == Backfill && r.derived() == d }
			if leads || d == nil || !filling() {
				continue
			}
			c := m.crew(r, m.fillWith(r, d))
			c.going = filling
			if err := c.work(ctx); err != nil && ctx.Err() == nil {
				m.Log.Warn("this member can not help to fill a table now; others do", "change_id", r.id, "err", err)
			}
		}
	}
}
