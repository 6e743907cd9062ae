package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gocql/gocql"
)

// load is one kind of operation through one process.
type load struct {
	name string
	from *helenus
	ops  int // of a round
	do   func(ctx context.Context, i int) error
}

// The loads' names; each is a series of microseconds of processor time per operation, one figure a round.
const (
	plainReadWith, plainReadWithout   = "plain read, with changes", "plain read, without"
	plainWriteWith, plainWriteWithout = "plain write, with changes", "plain write, without"
	otherColumn                       = "other column, with changes"
	insertStamped, updateStamped      = "insert, client timestamps", "update, client timestamps"
	insertUnstamped, updateUnstamped  = "insert, no timestamps", "update, no timestamps"
	servedRead                        = "served read"
)

// series are the figures of rounds, by load.
type series map[string][]float64

// median of a load's figures; 0 if it has none.
func (s series) median(name string) float64 { return median(slices.Clone(s[name])) }

// ratio is the median of one load's figures to another's of the same round.
func (s series) ratio(name, to string) float64 {
	var all []float64
	for i, v := range s[name] {
		all = append(all, v/s[to][i])
	}
	return median(all)
}

func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	slices.SortFunc(v, cmp.Compare[float64])
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

// through runs an operation that is numbered by the round's own index.
func through(s *gocql.Session, o func(i int) operation) func(context.Context, int) error {
	return func(ctx context.Context, i int) error { return run(ctx, s, o(i)) }
}

// numbered runs an operation that never comes twice.
func (w *world) numbered(s *gocql.Session, o func(n int) operation) func(context.Context, int) error {
	return func(ctx context.Context, _ int) error { return run(ctx, s, o(int(w.next.Add(1)))) }
}

// onBoth are the loads that the mock can answer as well as Cassandra.
func (w *world) onBoth() []load {
	return []load{
		{plainReadWithout, w.without, w.plainOps, through(w.without.stamped, w.plainRead)},
		{plainReadWith, w.with, w.plainOps, through(w.with.stamped, w.plainRead)},
		{plainWriteWithout, w.without, w.plainOps, through(w.without.stamped, w.plainInsert)},
		{plainWriteWith, w.with, w.plainOps, through(w.with.stamped, w.plainInsert)},
		{otherColumn, w.with, w.plainOps, through(w.with.stamped, w.wideAmount)},
		{servedRead, w.with, w.readOps, through(w.with.stamped, func(i int) operation { return staysOf(wealthy(i)) })},
	}
}

// keeping are the writes that a look-up must follow, each to a row of its own and with a value that nobody had.
func (w *world) keeping() []load {
	insert := func(n int) operation { return stay(freshRoom+n, fmt.Sprintf("new %d", n), n) }
	update := func(n int) operation { return move(n%w.rows, fmt.Sprintf("moved %d", n)) }
	return []load{
		{insertStamped, w.with, w.writeOps, w.numbered(w.with.stamped, insert)},
		{updateStamped, w.with, w.writeOps, w.numbered(w.with.stamped, update)},
		{insertUnstamped, w.with, w.writeOps, w.numbered(w.with.unstamped, insert)},
		{updateUnstamped, w.with, w.writeOps, w.numbered(w.with.unstamped, update)},
	}
}

// calm is how long no request may come before what follows operations is taken for done.
const calm = 100 * time.Millisecond

// round runs a load once and returns its processor time per operation, microseconds.
func (w *world) round(ctx context.Context, l load) (float64, error) {
	if _, err := w.relay.rest(ctx, calm); err != nil {
		return 0, err
	}
	before, err := l.from.CPU()
	if err != nil {
		return 0, err
	}
	if err := each(ctx, l.ops, func(i int) error { return l.do(ctx, i) }); err != nil {
		return 0, fmt.Errorf("%s: %w", l.name, err)
	}
	if _, err := w.relay.rest(ctx, calm); err != nil {
		return 0, fmt.Errorf("%s: %w", l.name, err)
	}
	after, err := l.from.CPU()
	return float64((after - before).Nanoseconds()) / 1000 / float64(l.ops), err
}

// rounds runs loads by turns, one round of each uncounted first, so that whatever else the machine does hits all alike.
func (w *world) rounds(ctx context.Context, what string, loads []load) (series, error) {
	w.say("processor time, %s: %d rounds of %d loads", what, w.turns, len(loads))
	s := series{}
	for turn := -1; turn < w.turns; turn++ {
		for k := range loads {
			l := loads[(k+max(turn, 0))%len(loads)] // none is always first
			us, err := w.round(ctx, l)
			if err != nil {
				return nil, err
			}
			if turn >= 0 {
				s[l.name] = append(s[l.name], us)
			}
		}
	}
	return s, nil
}

// processor measures the loads on Cassandra, and those that can be on the mock.
func (w *world) processor(ctx context.Context) (real, mock series, err error) {
	if err := w.answersAreServed(ctx); err != nil {
		return nil, nil, err
	}
	if real, err = w.rounds(ctx, "on Cassandra", slices.Concat(w.onBoth(), w.keeping())); err != nil {
		return nil, nil, err
	}
	w.relay.set(recording)
	defer w.relay.set(passing)
	for _, l := range w.onBoth() {
		if _, err := w.round(ctx, l); err != nil {
			return nil, nil, err
		}
	}
	w.relay.set(replaying)
	mock, err = w.rounds(ctx, "on the mock", w.onBoth())
	return real, mock, err
}

// answersAreServed checks that what is measured as a served read is one: answered from the look-up, and as Cassandra answers it.
func (w *world) answersAreServed(ctx context.Context) error {
	before, err := w.with.served(ctx)
	if err != nil {
		return err
	}
	for i := range heavy {
		o := staysOf(wealthy(i))
		want, err := w.direct.Query(o.text, o.values...).WithContext(ctx).Iter().SliceMap()
		if err != nil {
			return err
		}
		got, err := w.with.stamped.Query(o.text, o.values...).WithContext(ctx).Iter().SliceMap()
		if err != nil {
			return err
		}
		if len(want) != w.heavyStays || fmt.Sprint(got) != fmt.Sprint(want) {
			return fmt.Errorf("%s is answered %v; Cassandra itself says %v", wealthy(i), got, want)
		}
	}
	after, err := w.with.served(ctx)
	if err == nil && after-before < heavy-1 { // one in a thousand runs as written, to be compared
		err = fmt.Errorf("only %.0f of %d reads were answered from the look-up: %s", after-before, heavy, w.with.unserved(ctx))
	}
	return err
}

// throughput measures inserts that set all columns of wide, through the process with changes and to Cassandra alone (by the same relay),
// and returns the rates, operations a second, of each round. An insert is done when all that follows it is.
func (w *world) throughput(ctx context.Context) (with, direct []float64, err error) {
	w.say("throughput of inserts with %d looked-up columns: %d rounds", w.lookedUp, w.turns)
	insert := func(n int) operation { return w.wideInsert(freshRoom+n, freshRoom+n) }
	rate := func(s *gocql.Session) (float64, error) {
		if _, err := w.relay.rest(ctx, calm); err != nil {
			return 0, err
		}
		begun := time.Now()
		do := w.numbered(s, insert)
		if err := each(ctx, w.writeOps, func(i int) error { return do(ctx, i) }); err != nil {
			return 0, err
		}
		answered := time.Now()
		last, err := w.relay.rest(ctx, calm)
		if last.Before(answered) {
			last = answered
		}
		return float64(w.writeOps) / last.Sub(begun).Seconds(), err
	}
	for turn := -1; turn < w.turns; turn++ {
		a, err := rate(w.with.stamped)
		if err != nil {
			return nil, nil, err
		}
		b, err := rate(w.near)
		if err != nil {
			return nil, nil, err
		}
		if turn >= 0 {
			with, direct = append(with, a), append(direct, b)
		}
	}
	return with, direct, nil
}

// counts are requests inside Cassandra for one operation.
type counts struct {
	insert, update, same, remove requests
}

// count counts the requests of each kind of write, through a session: medians of several rows, each left until all has come to rest.
func (w *world) count(ctx context.Context, s *gocql.Session) (c counts, err error) {
	w.say("requests inside Cassandra: %d writes of each kind", w.counted)
	var insert, update, same, remove []requests
	one := func(into *[]requests, o operation) error {
		// Longer than between operations of a load: what follows may come after a pause.
		if _, err := w.relay.rest(ctx, w.quiet); err != nil {
			return err
		}
		before, err := w.relay.count()
		if err != nil {
			return err
		}
		if err := run(ctx, s, o); err != nil {
			return err
		}
		if _, err := w.relay.rest(ctx, w.quiet); err != nil {
			return err
		}
		after, err := w.relay.count()
		*into = append(*into, after.since(before))
		return err
	}
	for i := range w.counted + 1 {
		n := int(w.next.Add(1))
		value := fmt.Sprintf("counted %d", n)
		for _, step := range []struct {
			into *[]requests
			o    operation
		}{
			{&insert, stay(freshRoom+n, fmt.Sprintf("first %d", n), n)}, {&update, move(freshRoom+n, value)},
			{&same, move(freshRoom+n, value)}, {&remove, leave(freshRoom + n)},
		} {
			if err := one(step.into, step.o); err != nil {
				return c, err
			}
		}
		if i == 0 { // the first of each is where statements are prepared
			insert, update, same, remove = nil, nil, nil, nil
		}
	}
	return counts{middle(insert), middle(update), middle(same), middle(remove)}, nil
}

// middle is the request count in the middle, by its total.
func middle(list []requests) requests {
	slices.SortFunc(list, func(a, b requests) int { return cmp.Compare(a.all(), b.all()) })
	return list[len(list)/2]
}

// again is how long a process took after kill -9, seconds from its start.
type again struct {
	port   float64 // until a client is welcomed
	ready  float64 // until /readyz says so
	serves float64 // until a read is answered from the look-up
}

// restart rolls all changes back but the one of stays, so that it is one table's rows that are served, and kills and starts the process.
func (w *world) restart(ctx context.Context) (list []again, err error) {
	w.say("kill -9 while %d rows are served: %d times", w.rows, w.kills)
	for _, id := range w.others {
		if _, err := w.with.CLI(ctx, "rollback", id); err != nil {
			return nil, err
		}
	}
	err = w.with.Until(ctx, "the other changes are rolled back", time.Minute, func() (bool, error) { return w.with.InState(ctx, "rolled-back", w.others) })
	for range w.kills {
		if err != nil {
			return nil, err
		}
		var a again
		if a, err = w.once(ctx); err == nil {
			list = append(list, a)
		}
	}
	return list, err
}

func (w *world) once(ctx context.Context) (a again, err error) {
	h := w.with
	for i := range 20 {
		if err := run(ctx, h.stamped, staysOf(guest(i))); err != nil {
			return a, err
		}
	}
	h.Kill()
	h.disconnect()
	begun := time.Now()
	if err := h.Start(); err != nil {
		return a, err
	}
	const most = time.Minute
	if err := h.Until(ctx, "a client is welcomed", most, func() (bool, error) { return h.connect() == nil, nil }); err != nil {
		return a, err
	}
	a.port = time.Since(begun).Seconds()
	if err := h.Until(ctx, "it is ready", most, func() (bool, error) { return h.Ready(ctx), nil }); err != nil {
		return a, err
	}
	a.ready = time.Since(begun).Seconds()
	err = h.Until(ctx, "a read is served", 5*most, func() (bool, error) {
		if err := run(ctx, h.stamped, staysOf(wealthy(0))); err != nil {
			return false, err
		}
		n, err := h.served(ctx)
		return n > 0, err
	})
	if err != nil {
		err = fmt.Errorf("%w: %s", err, h.unserved(ctx))
	}
	a.serves = time.Since(begun).Seconds()
	return a, err
}
