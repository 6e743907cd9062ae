package migrate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/internal/guard"
	"github.com/helenus-db/helenus/rewrite/condition"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/kind"
)

// longestRetry is the longest between two attempts of what can not be done now: what stood in the way may be over right after one.
const longestRetry = 15 * time.Second

// drive does the work of one state after the other until the context ends.
func (m *Manager) drive(ctx context.Context, r *run) {
	wait, best := m.settings.Retry, int64(0)
	for ctx.Err() == nil {
		r.mu.Lock()
		state, turns := r.m.State, r.turns
		work, cancel := context.WithCancel(ctx)
		r.cancel = cancel
		r.mu.Unlock()
		p := phases[state]
		if state == Dropped { // nothing follows; if it is approved again that is another run
			cancel()
			return
		}
		if err := m.claim(work, r); err != nil && ctx.Err() == nil {
			m.Log.Warn("the owner of a table of ours could not be named; it is tried again with the next state", "change_id", r.id, "err", err)
		}
		if p.work == nil {
			cancel()
			select {
			case <-ctx.Done():
			case <-r.wake:
			}
			continue
		}
		err := p.work(m, work, r)
		cancel()
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			wait, best = m.settings.Retry, 0
			if err = m.persist(ctx, func() error { return m.advance(ctx, r, turns, p.next, "entered "+string(p.next), nil) }); err == nil {
				continue
			}
		}
		if r.turned(turns) {
			continue // an order came meanwhile, or it went on and only could not be stored
		}
		var halt *stop
		var ownership *ErrOwnership
		switch {
		case errors.As(err, &halt):
			err = m.advance(ctx, r, turns, halt.to, halt.reason, func(x *Change) {
				x.Reason, x.Broken = halt.reason, x.Broken || halt.broken
			})
		case errors.As(err, &ownership), !exec.Down(err):
			reason := err.Error()
			err = m.advance(ctx, r, turns, Failed, reason, func(x *Change) { x.Reason = reason })
		}
		if err == nil || errors.As(err, new(*ErrPending)) {
			continue
		}
		if done := r.get().Progress.Done; done > best { // it was not in vain: what stood in the way was not there all the time
			wait, best = m.settings.Retry, done
		}
		r.throttle(err.Error())
		m.Log.Warn("a change waits", "change_id", r.get().ID, "state", state, "err", err)
		r.rest(ctx, m.Wait, wait)
		wait = min(2*wait, longestRetry)
	}
}

// rest waits before another attempt, until an order comes at most.
func (r *run) rest(ctx context.Context, wait func(context.Context, time.Duration) error, d time.Duration) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	over := make(chan struct{})
	guard.Go(guard.Migrations, func() { defer close(over); _ = wait(ctx, d) }, nil)
	select {
	case <-r.wake:
	case <-over:
	}
}

// create is the work of Approved.
func (m *Manager) create(ctx context.Context, r *run) error {
	if err := m.validate(ctx, r); err != nil {
		return err
	}
	a, err := m.Session.Query(ctx, exec.Query{Text: "SELECT partitioner FROM system.local", Consistency: gocql.One})
	if err != nil {
		return fmt.Errorf("read the partitioner: %w", err)
	}
	const murmur3 = "org.apache.cassandra.dht.Murmur3Partitioner"
	if len(a.Rows) != 1 || len(a.Rows[0]) != 1 || string(a.Rows[0][0]) != murmur3 {
		return &stop{to: Failed, reason: condition.Order.Refuse("the order of answers can only be kept with %s", murmur3).Error()}
	}
	have := r.get()
	tables := r.tables()
	if len(tables) == 0 {
		return nil
	}
	name := tables[0].String()
	if err := m.patiently(ctx, r, WaitsForNodes, func(ctx context.Context) error { return m.replicate(ctx, &have.Rewrite) }); err != nil {
		return err
	}
	if table, err := m.owned(ctx, r); err != nil {
		return err
	} else if table != nil {
		if err := m.dropFormer(ctx, &tables[0]); err != nil {
			return err
		}
	}
	for i := range tables {
		text := tables[i].Create(signature(have.ID, have.Owner))
		if err := m.patiently(ctx, r, WaitsForNodes, func(ctx context.Context) error {
			_, err := m.Session.Query(ctx, exec.Query{Text: text, Consistency: gocql.Quorum})
			return err
		}); err != nil {
			return fmt.Errorf("create %s: %w", name, err)
		}
	}
	if err := m.patiently(ctx, r, WaitsForNodes, m.Session.Agree); err != nil {
		return fmt.Errorf("wait until all nodes know %s: %w", name, err)
	}
	table, err := m.owned(ctx, r)
	if err == nil && table == nil {
		err = fmt.Errorf("%s was created but is not there yet: %w", name, exec.ErrNoConnection)
	}
	if err != nil {
		return err
	}
	if _, others, err := m.besides(ctx, r); err != nil || others != nil {
		return cmp.Or(err, others)
	}
	// A node writes a new table into its system tables a moment before it knows it. Who comes just then (a process that
	// was killed while it created the table, and started again) would begin to write entries too early.
	for i := range tables {
		if _, err := m.Session.Query(ctx, tables[i].Probe); err != nil {
			return fmt.Errorf("%s was created but can not be read yet (%v): %w", name, err, exec.ErrNoConnection) //nolint:errorlint // not what it is: it may succeed later
		}
	}
	return m.record(ctx, r, func(x *Change) { x.TableID = table.id })
}

// dropFormer removes a table of ours that has another form than today's, so that it is made and filled anew.
func (m *Manager) dropFormer(ctx context.Context, t *kind.Table) error {
	if t.Mark == "" {
		return nil
	}
	a, err := m.Session.Query(ctx, exec.Query{Text: "SELECT column_name FROM system_schema.columns WHERE keyspace_name = ? AND table_name = ?",
		Values: [][]byte{[]byte(t.Keyspace), []byte(t.Name)}, Consistency: gocql.One})
	if err != nil {
		return fmt.Errorf("read the columns of %s: %w", t, err)
	}
	for _, row := range a.Rows {
		if string(row[0]) == t.Mark {
			return nil
		}
	}
	if _, err := m.Session.Query(ctx, exec.Query{Text: t.Drop(), Consistency: gocql.Quorum}); err != nil {
		return fmt.Errorf("drop %s, whose form is an earlier version's: %w", t, err)
	}
	if err := m.Session.Agree(ctx); err != nil {
		return fmt.Errorf("wait until all nodes know that %s is gone: %w", t, err)
	}
	return nil
}

// WaitsForNodes is why a change waits when a change of the schema is not known everywhere.
const WaitsForNodes = "not all nodes know a change of the schema yet: is a node down? (nodetool describecluster)"

// patience is after how long a change says what it waits for.
const patience = time.Second

// patiently does something that may take long, and says after a moment what it waits for.
func (m *Manager) patiently(ctx context.Context, r *run, reason string, do func(context.Context) error) error {
	watching, end := context.WithCancel(ctx)
	watched := make(chan bool, 1)
	guard.Go(guard.Migrations, func() {
		late := false
		defer func() { watched <- late }()
		if late = m.Wait(watching, patience) == nil; late {
			r.throttle(reason)
		}
	}, nil)
	err := do(ctx)
	end()
	if late := <-watched; late && err == nil {
		r.throttle("")
	}
	return err
}

// validate is the work of Created, and the first check of create: that the change still fits. What the base has become since it was approved, and may become while
// it serves, was followed (Look).
func (m *Manager) validate(_ context.Context, r *run) error {
	s := m.Schema()
	if s == nil {
		return fmt.Errorf("the schema is not known: %w", exec.ErrNoConnection)
	}
	have := r.get()
	if f := r.fit(&have, s); f.broken != "" || f.silent != "" {
		return &stop{to: Failed, reason: f.broken + f.silent}
	}
	return nil
}

// settle is the work of DualWrite: its mode was published when the state was entered.
func (m *Manager) settle(ctx context.Context, r *run) error {
	r.mu.Lock()
	turns := r.turns
	r.mu.Unlock()
	m.progress(r, "", 0, 0)
	have := r.get()
	refill := have.Refill
	if err := m.replicate(ctx, &have.Rewrite); err != nil {
		return err
	}
	if refill && !have.Keeps {
		if err := m.emptied(ctx, r); err != nil {
			return err
		}
	}
	if refill {
		if err := m.persist(ctx, func() error { return m.Store.Save(ctx, KindBackfill, r.id, m.whole()) }); err != nil {
			return fmt.Errorf("save the checkpoint of change %s: %w", r.id, err)
		}
	}
	if err := m.barrier(ctx, r); err != nil {
		return err
	}
	if err := m.Wait(ctx, m.settings.Settle); err != nil {
		return err
	}
	return m.record(ctx, r, func(x *Change) {
		if r.turns != turns { // an order came meanwhile, perhaps to empty it once more
			return
		}
		if x.T0 == 0 || refill {
			x.T0 = m.Now().UnixMicro()
		}
		if refill {
			x.Refill, x.Keeps, x.Entries, x.Filled = false, false, 0, false
		}
	})
}

// WaitsForRequests is why a change waits when requests do not end.
const WaitsForRequests = "requests from before are still under way: a client does not read its answers, or a statement takes very long"

// barrier is the work of RollingBack, and the beginning of others: it waits until nothing is under way that was sent by
// earlier rules.
func (m *Manager) barrier(ctx context.Context, r *run) error {
	if err := m.patiently(ctx, r, WaitsForRequests, m.Traffic.Barrier); err != nil {
		return fmt.Errorf("wait for the requests under way: %w", err)
	}
	r.throttle("")
	return nil
}

// verify is the work of Verify: passes until one is clean.
func (m *Manager) verify(ctx context.Context, r *run) error {
	r.mu.Lock()
	turns := r.turns
	r.mu.Unlock()
	if err := m.quiet(ctx, r); err != nil {
		return err
	}
	if r.verified() == nil { // there is nothing to compare before reads are
		return m.record(ctx, r, func(x *Change) { x.Unfollowed = x.Unfollowed && r.turns != turns })
	}
	for pass := 0; pass < m.settings.Passes; pass++ {
		missed := m.Missed(r.id)
		missing, err := m.pass(ctx, r)
		if err != nil {
			return err
		}
		if m.Missed(r.id) != missed {
			pass = -1
			r.throttle("entries could not be written meanwhile; it is verified again")
			if err := m.quiet(ctx, r); err != nil {
				return err
			}
			if err := m.Wait(ctx, m.settings.Settle); err != nil {
				return err
			}
			continue
		}
		if missing == 0 {
			r.mu.Lock()
			r.missed = &missed
			r.mu.Unlock()
			if err := m.relyOn(ctx, r, turns); err != nil {
				return err
			}
			return m.record(ctx, r, func(x *Change) {
				x.Refilled = false
				x.Unfollowed = x.Unfollowed && r.turns != turns
			})
		}
	}
	if r.derived() == nil { // nobody but the application can mend it
		have := r.get()
		return &stop{to: Failed, reason: fmt.Sprintf("%s (after %d passes; as %v)", r.lost(have.Last.Missing), m.settings.Passes, have.Last.Sample)}
	}
	reason := fmt.Sprintf("after %d passes there are still rows without entry, as %v", m.settings.Passes, r.get().Last.Sample)
	if !r.get().Refilled {
		return m.refill(ctx, r, reason, func(x *Change) { x.Refilled = true })
	}
	return &stop{to: Failed, reason: reason + "; filling it anew did not help"}
}

// missedSince has a change be verified once more, before it is compared or served, if entries were missed after the pass that found none missing: nothing rested on them until just now, so
// nobody ordered that. From now on whoever misses one does.
func (m *Manager) missedSince(ctx context.Context, r *run) error {
	r.mu.Lock()
	then := r.missed
	r.mu.Unlock()
	if then == nil || m.Missed(r.id) == *then {
		return nil
	}
	if err := m.Reverify(ctx, r.id, "an entry could not be written just after all were found"); err != nil {
		return err
	}
	return ctx.Err() // which that has ended
}

// relyOn has all members rely on the entries of a change before one of them compares or answers by it: those that knew that nothing rests on them let writes go on without. What
// they missed until then they have ordered to be verified before they acknowledge that.
func (m *Manager) relyOn(ctx context.Context, r *run, turns int) error {
	if !m.Shared {
		return nil
	}
	if err := m.record(ctx, r, func(x *Change) { x.Relied = r.turns == turns }); err != nil {
		return err
	}
	m.publish()
	return m.barrier(ctx, r)
}

// quiet waits until nothing is under way that was not followed: what passed without rules, or under others (a change that
// was suspended is verified, too), and what a write that could not be followed has left inside Cassandra.
func (m *Manager) quiet(ctx context.Context, r *run) error {
	for {
		if err := m.unblocked(ctx, r); err != nil {
			return err
		}
		if err := m.barrier(ctx, r); err != nil {
			return err
		}
		if m.Blocked() == "" { // else another member said so with its acknowledgement
			break
		}
	}
	if !r.get().Unfollowed {
		return nil
	}
	r.mu.Lock()
	pause := r.doubts.pause(m.settings.Settle)
	r.mu.Unlock()
	r.throttle(fmt.Sprintf("%v are left to writes that could not be followed", pause))
	return m.Wait(ctx, pause)
}

// unblocked waits until what passes can be followed, by all members.
func (m *Manager) unblocked(ctx context.Context, r *run) error {
	for why := m.Blocked(); why != ""; why = m.Blocked() {
		if !r.get().Unfollowed {
			if err := m.record(ctx, r, func(x *Change) { x.Unfollowed = true }); err != nil {
				return err
			}
		}
		r.throttle(why)
		if err := m.Wait(ctx, m.settings.Retry); err != nil {
			return err
		}
	}
	return nil
}

// pass runs one pass, and returns how many rows without entry it found, also if it could not end.
func (m *Manager) pass(ctx context.Context, r *run) (missing int64, err error) {
	v := r.verified()
	if v == nil {
		return 0, nil
	}
	p := m.paced(r, 0)
	found, err := v.Pass(ctx, p.wait, func(done, total int) {
		m.progress(r, "token ranges", int64(done), int64(total))
	})
	if err == nil || ctx.Err() != nil { // ended, or given up for a doubt; one that could not read anything costs nothing
		r.mu.Lock()
		r.doubts.scanned = true
		r.mu.Unlock()
	}
	if err != nil {
		return found.Missing, fmt.Errorf("verify the %s over %s.%s: %w", r.noun(), r.rewrite.Keyspace, r.rewrite.Base, err)
	}
	m.memorise(ctx, r.runner)
	return found.Missing, m.record(ctx, r, func(x *Change) {
		x.Passes++
		x.Last = found
		x.Repaired += found.Repaired
		if found.Missing == 0 {
			x.Clean = m.Now()
		} else {
			x.note(m.Now(), "", fmt.Sprintf("a pass found %d of %d rows without entry and repaired %d", found.Missing, found.Rows, found.Repaired))
		}
	})
}

// serve is the work of Serving: a pass soon, for what was still on its way when it was verified, and then now and then. A row found
// without entry means that reads were wrong: they are turned back until somebody has looked.
func (m *Manager) serve(ctx context.Context, r *run) error {
	for wait := m.settings.SweepFirst; ; wait = m.settings.SweepEvery {
		if err := m.Wait(ctx, wait); err != nil {
			return err
		}
		missing, err := m.pass(ctx, r)
		if missing > 0 && !m.expected(ctx, r, missing) {
			return &stop{to: Suspended, reason: r.lost(missing)}
		}
		if err != nil {
			return err
		}
	}
}

// expected reports whether rows that a sweep found without entry are what writes around us leave for the moment until a CDC agent tells of them: where
// one is at work on every node, whoever put them there knows of such writes (docs/decisions/059). The rows have their entries by now.
func (m *Manager) expected(ctx context.Context, r *run, missing int64) bool {
	if m.Covered == nil || !m.Covered() {
		return false
	}
	if _, err := m.Note(ctx, r.id, fmt.Sprintf("a sweep found and repaired %d rows without entry, and it goes on serving: CDC agents tell of writes around Helenus", missing)); err != nil {
		m.Log.Warn("a note could not be stored", "change_id", r.id, "err", err)
	}
	return true
}

// Verify compares the base and the tables of a change now, in both directions, as the sweep of a serving change does by itself.
func (m *Manager) Verify(ctx context.Context, id, actor string) error {
	r, err := m.find(id)
	if err != nil {
		return err
	}
	have := r.get()
	switch have.State {
	case Shadow, Serving, Suspended:
	default:
		return &ErrState{id, "verify", have.State, "it can be verified once its table is filled, until it is rolled back"}
	}
	if have.Broken {
		return &ErrState{id, "verify", have.State, "its " + r.noun() + " is gone or no longer fits; roll it back"}
	}
	missing, err := m.pass(ctx, r)
	m.Log.Info("verified on order", "change_id", id, "actor", actor, "missing", missing, "err", err)
	if have := r.get(); missing > 0 && have.State == Serving && !m.expected(ctx, r, missing) {
		return errors.Join(err, m.suspend(context.WithoutCancel(ctx), r, r.lost(missing), false))
	}
	if err == nil {
		err = m.askAgain(ctx, r)
	}
	return err
}

// Drop removes the tables of a change that was rolled back.
func (m *Manager) Drop(ctx context.Context, id, actor string) error {
	r, err := m.find(id)
	if err != nil {
		return err
	}
	have := r.get()
	if have.State != RolledBack {
		return &ErrState{id, "drop", have.State, undroppable(have.State)}
	}
	if r.fitted() == nil && have.Rewrite.Table != "" { // this version does not know its tables
		t := kind.Table{Keyspace: have.Rewrite.Home(), Name: have.Rewrite.Table}
		switch table, err := m.look(ctx, &t); {
		case err != nil:
			return err
		case table != nil:
			return fmt.Errorf("the table of change %s can not be dropped: %s; remove the table %s by hand, then drop the change", id, have.Reason, &t)
		}
	}
	table, err := m.owned(ctx, r)
	if err != nil {
		return err
	}
	own, _, err := m.besides(ctx, r)
	if err != nil {
		return err
	}
	text := "dropped"
	if table != nil {
		text = "table dropped"
		own = append(own, r.tables()[0]) // the one that tells whose they are last
	}
	for _, t := range own {
		if _, err := m.Session.Query(ctx, exec.Query{Text: t.Drop(), Consistency: gocql.Quorum}); err != nil {
			return fmt.Errorf("drop %s: %w", &t, err)
		}
	}
	return m.transition(ctx, r, RolledBack, Dropped, order{actor, "drop"}, text, nil)
}

// CheckOnce runs one verification pass over a change now, whatever its state. What is missing is repaired.
func (m *Manager) CheckOnce(ctx context.Context, id string) (kind.Findings, error) {
	r, err := m.find(id)
	if err != nil || r.verified() == nil {
		return kind.Findings{}, err
	}
	return r.verified().Pass(ctx, func(context.Context) error { return nil }, func(int, int) {})
}

// undroppable says why a table can not be dropped in a state.
func undroppable(s State) string {
	switch s {
	case RollingBack:
		return "drop it once it is rolled-back, in a moment; `helenus changes` tells"
	case Dropped:
		return "its table is gone already"
	}
	return "roll it back first (helenus rollback)"
}
