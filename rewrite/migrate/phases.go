package migrate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/match"
	"github.com/helenus-db/helenus/rewrite/verify"
)

// drive does the work of one state after the other until the context ends.
func (m *Manager) drive(ctx context.Context, r *run) {
	wait := m.settings.Retry
	for ctx.Err() == nil {
		r.mu.Lock()
		state := r.m.State
		work, cancel := context.WithCancel(ctx)
		r.cancel = cancel
		r.mu.Unlock()
		p := phases[state]
		if state == Dropped { // nothing follows; if it is approved again that is another run
			cancel()
			return
		}
		if err := m.claim(work, r); err != nil && ctx.Err() == nil {
			m.Log.Warn("the owner of a look-up table could not be named; it is tried again with the next state", "migration", r.id, "err", err)
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
			wait = m.settings.Retry
			if err = m.transition(ctx, r, state, p.next, "", "entered "+string(p.next), nil); err == nil {
				continue
			}
		}
		if r.get().State != state {
			continue // an order came meanwhile
		}
		var halt *stop
		var ownership *ErrOwnership
		switch {
		case errors.As(err, &halt):
			err = m.transition(ctx, r, state, halt.to, "", halt.reason, func(x *Migration) {
				x.Reason, x.Broken = halt.reason, x.Broken || halt.broken
			})
		case errors.As(err, &ownership), !exec.Down(err):
			reason := err.Error()
			err = m.transition(ctx, r, state, Failed, "", reason, func(x *Migration) { x.Reason = reason })
		}
		if err == nil {
			continue
		}
		r.throttle(err.Error())
		m.Log.Warn("a migration waits", "migration", r.get().ID, "state", state, "err", err)
		select {
		case <-ctx.Done():
		case <-r.wake:
		case <-time.After(wait):
		}
		wait = min(2*wait, time.Minute)
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
		return &stop{to: Failed, reason: "C2: the order of answers can only be kept with " + murmur3}
	}
	have := r.get()
	if table, err := m.owned(ctx, r); err != nil {
		return err
	} else if table == nil {
		if _, err := m.Session.Query(ctx, exec.Query{Text: r.lookup.Create(mark(have.ID, have.Owner)), Consistency: gocql.Quorum}); err != nil {
			return fmt.Errorf("create %s: %w", r.lookup.LookUpName(), err)
		}
	}
	if err := m.Session.Agree(ctx); err != nil {
		return fmt.Errorf("wait until all nodes know %s: %w", r.lookup.LookUpName(), err)
	}
	table, err := m.owned(ctx, r)
	if err == nil && table == nil {
		err = fmt.Errorf("%s was created but is not there yet: %w", r.lookup.LookUpName(), exec.ErrNoConnection)
	}
	if err != nil {
		return err
	}
	// A node writes a new table into its system tables a moment before it knows it. Who comes just then (a process that
	// was killed while it created the table, and started again) would begin to write entries too early.
	one := exec.FromInt64(0)
	if _, err := m.Session.Query(ctx, exec.Query{Text: r.lookup.ScanEntries(), Values: [][]byte{one, one}, Consistency: gocql.One}); err != nil {
		return fmt.Errorf("%s was created but can not be read yet (%v): %w", r.lookup.LookUpName(), err, exec.ErrNoConnection) //nolint:errorlint // not what it is: it may succeed later
	}
	return m.update(ctx, r, func(x *Migration) { x.TableID = table.id })
}

// validate is the work of Created, and the first check of create: that the advice still fits.
func (m *Manager) validate(_ context.Context, r *run) error {
	s := m.Schema()
	if s == nil {
		return fmt.Errorf("the schema is not known: %w", exec.ErrNoConnection)
	}
	have := r.get()
	if _, refusal := check(have.LookUp, s.Table(have.LookUp.Keyspace, have.LookUp.Base)); refusal != nil {
		return &stop{to: Failed, reason: refusal.Error()}
	}
	return nil
}

// settle is the work of DualWrite: its mode was published when the state was entered.
func (m *Manager) settle(ctx context.Context, r *run) error {
	m.progress(r, "", 0, 0)
	if err := m.barrier(ctx, r); err != nil {
		return err
	}
	if err := sleep(ctx, m.settings.Settle); err != nil {
		return err
	}
	return m.update(ctx, r, func(x *Migration) {
		if x.T0 == 0 {
			x.T0 = m.Maintainer.Stamp()
		}
	})
}

// barrierPatience is after how long a migration says that it waits for requests.
const barrierPatience = 30 * time.Second

// WaitsForRequests is why a migration waits when requests do not end.
const WaitsForRequests = "requests from before are still under way: a client does not read its answers, or a statement takes very long"

// barrier is the work of RollingBack, and the beginning of others: it waits until nothing is under way that was sent by
// earlier rules.
func (m *Manager) barrier(ctx context.Context, r *run) error {
	for {
		patient, cancel := context.WithTimeout(ctx, barrierPatience)
		err := m.Traffic.Barrier(patient)
		cancel()
		switch {
		case err == nil:
			r.throttle("")
			return nil
		case ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded):
			return fmt.Errorf("wait for the requests under way: %w", err)
		}
		r.throttle(WaitsForRequests)
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// verify is the work of Verify: passes until one is clean.
func (m *Manager) verify(ctx context.Context, r *run) error {
	// A migration that was suspended comes here: nothing that passed without rules may still be under way.
	if err := m.barrier(ctx, r); err != nil {
		return err
	}
	for pass := 0; pass < m.settings.Passes; pass++ {
		missing, err := m.pass(ctx, r)
		if err != nil {
			return err
		}
		if missing == 0 {
			return m.update(ctx, r, func(x *Migration) { x.Compared, x.Explained, x.Mismatch = 0, 0, "" })
		}
	}
	return &stop{to: Failed, reason: fmt.Sprintf("after %d passes there are still rows without entry, as %v", m.settings.Passes, r.get().Last.Sample)}
}

// pass runs one pass, and returns how many rows without entry it found, also if it could not end.
func (m *Manager) pass(ctx context.Context, r *run) (missing int64, err error) {
	found, err := m.checker.Pass(ctx, r.lookup, r.get().T0, func(done, total int) {
		m.progress(r, "token ranges", int64(done), int64(total))
	})
	if err != nil {
		return found.Missing, fmt.Errorf("verify %s: %w", r.lookup.LookUpName(), err)
	}
	return found.Missing, m.update(ctx, r, func(x *Migration) {
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

// shadow is the work of Shadow: our own sample first, then as many of the application's reads as were asked for. What was
// compared for the same look-up before it was dropped counts: comparing is of the rewriting, which has not changed; that the
// table is true is what verifying is for.
func (m *Manager) shadow(ctx context.Context, r *run) error {
	if err := m.sample(ctx, r); err != nil {
		return err
	}
	for {
		have := r.get()
		compared, entered := have.Earlier+have.Compared, have.Progress.Started
		m.progress(r, "reads compared", compared, m.settings.ShadowReads)
		if compared >= m.settings.ShadowReads || (compared >= m.settings.ShadowLeast && m.Now().Sub(entered) >= m.settings.ShadowFor) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-r.samples:
		case <-time.After(time.Minute):
		}
	}
}

// sample asks for values of the look-up by ourselves, both ways.
func (m *Manager) sample(ctx context.Context, r *run) error {
	reads := r.lookup.Alone()
	if len(reads) == 0 {
		return nil // the statements bind more than the one value: only the application knows what it asks
	}
	const places = 8
	each := max(m.settings.ShadowSelf/places, 1)
	for i := range places {
		token := math.MinInt64 + int64(i)*(math.MaxInt64/places*2)
		a, err := m.Session.Query(ctx, exec.Query{Text: r.lookup.Sample(), Consistency: gocql.One,
			Values: [][]byte{exec.FromInt64(token), exec.FromInt32(int32(each))}}) // #nosec G115 -- a small setting
		if err != nil {
			return fmt.Errorf("sample the values of %s: %w", r.lookup.LookUpName(), err)
		}
		for _, row := range a.Rows {
			for _, read := range reads {
				q := exec.Request{Values: match.Values{Values: []proxy.Value{{Bytes: row[0]}}}, Consistency: m.settings.Read}
				if err := m.Compare(ctx, r.get().ID, read, q, nil); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// Compare compares what Cassandra answered to a read (nil: ask) with what the look-up answers. A difference counts only if
// it is seen again and again while Cassandra's own answer stands still before and after; it suspends the migration. Rows
// that change under the eyes prove nothing: then the read is not counted at all. An error means that it could not be
// compared.
func (m *Manager) Compare(ctx context.Context, id string, read *match.Read, q exec.Request, original proxy.Rows) error {
	r, err := m.find(id)
	if err != nil {
		return err
	}
	if original == nil {
		// The plan first: what has too many rows for it is not to be read whole either.
		if _, err := m.Reader.Read(ctx, read, q); errors.Is(err, exec.ErrUnsuited) {
			return nil
		} else if err != nil {
			return err
		}
		if original, err = m.Reader.Original(ctx, read, q); err != nil {
			return err
		}
	}
	var planned proxy.Rows
	for try, still := 0, 0; ; try++ {
		if planned, err = m.Reader.Read(ctx, read, q); errors.Is(err, exec.ErrUnsuited) {
			return nil // it would run as it was written
		} else if err != nil {
			return err
		}
		if exec.Equal(original, planned) {
			r.compared(try > 0)
			return nil
		}
		again, err := m.Reader.Original(ctx, read, q)
		if err != nil {
			return err
		}
		if exec.Equal(again, planned) { // it was only behind
			r.compared(true)
			return nil
		}
		if exec.Equal(original, again) {
			still++
		}
		if still > m.settings.ReadSamples {
			break
		}
		if try > 4*m.settings.ReadSamples {
			return nil
		}
		if err := sleep(ctx, m.settings.SampleDelay); err != nil {
			return err
		}
		if original, err = m.Reader.Original(ctx, read, q); err != nil {
			return err
		}
	}
	value, _ := q.Values.Get(read.Column)
	text := fmt.Sprintf("the look-up answers otherwise for %s = 0x%x: %d rows (digest %x) instead of %d (digest %x)", read.LookUp.By.Name,
		value.Bytes, len(planned), exec.Digest(planned), len(original), exec.Digest(original))
	r.mu.Lock()
	r.m.Mismatch = text
	r.mu.Unlock()
	return m.suspend(ctx, r, text, false)
}

// compared counts one comparison that agreed.
func (r *run) compared(explained bool) {
	r.mu.Lock()
	r.m.Compared++
	if explained {
		r.m.Explained++
	}
	r.mu.Unlock()
	select {
	case r.samples <- struct{}{}:
	default:
	}
}

// serve is the work of Serving: a pass soon, since somebody may have written while this process was not there, and then
// now and then. A row found without entry means that reads were wrong: they are
// turned back until somebody has looked.
func (m *Manager) serve(ctx context.Context, r *run) error {
	for wait := m.settings.SweepFirst; ; wait = m.settings.SweepEvery {
		if err := sleep(ctx, wait); err != nil {
			return err
		}
		missing, err := m.pass(ctx, r)
		if missing > 0 {
			return &stop{to: Suspended, reason: lost(missing)}
		}
		if err != nil {
			return err
		}
	}
}

func lost(rows int64) string {
	return fmt.Sprintf("a sweep found %d rows without entry: something writes past the proxy, or an entry was lost", rows)
}

// Verify compares base and look-up now, in both directions, as the sweep of a serving migration does by itself.
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
		return &ErrState{id, "verify", have.State, "its look-up is gone or no longer fits; roll it back"}
	}
	missing, err := m.pass(ctx, r)
	m.Log.Info("verified on order", "migration", id, "actor", actor, "missing", missing, "err", err)
	if have := r.get(); missing > 0 && have.State == Serving {
		return errors.Join(err, m.suspend(context.WithoutCancel(ctx), r, lost(missing), false))
	}
	return err
}

// Drop removes the look-up table of a migration that was rolled back.
func (m *Manager) Drop(ctx context.Context, id, actor string) error {
	r, err := m.find(id)
	if err != nil {
		return err
	}
	have := r.get()
	if have.State != RolledBack {
		return &ErrState{id, "drop", have.State, "roll it back first"}
	}
	if r.lookup == nil {
		return fmt.Errorf("migration %s can not be dropped: %s; remove the table %s.%s by hand", id, have.Reason, have.LookUp.Keyspace, have.LookUp.Table)
	}
	table, err := m.owned(ctx, r)
	if err != nil {
		return err
	}
	if table != nil {
		if _, err := m.Session.Query(ctx, exec.Query{Text: r.lookup.Drop(), Consistency: gocql.Quorum}); err != nil {
			return fmt.Errorf("drop %s: %w", r.lookup.LookUpName(), err)
		}
	}
	return m.transition(ctx, r, RolledBack, Dropped, actor, "table dropped", nil)
}

// CheckOnce runs one verification pass over a migration now, whatever its state. What is missing is repaired.
func (m *Manager) CheckOnce(ctx context.Context, id string) (verify.Result, error) {
	r, err := m.find(id)
	if err != nil {
		return verify.Result{}, err
	}
	return m.checker.Pass(ctx, r.lookup, r.get().T0, nil)
}
