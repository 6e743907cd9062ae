// Package guard keeps a panic to the part of the program that it happens in. Applications' requests go through this process, so no defect of
// what learns, advises or migrates may end it: every goroutine is started here, or defers Recover itself (a test of package house
// sees to that). A panic is logged with its stack, counted by part, and handed to whoever knows what must not be relied on any more.
//
// It imports nothing of ours. What it can not catch: fatal errors of the runtime (memory, concurrent map writes, deadlock of all), and panics of
// goroutines that libraries start; what a library is given is checked before.
package guard

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"
)

// Part is a part of the program that may fail by itself.
type Part uint8

// The parts.
const (
	Relay       Part = iota // a client's connection, or what the proxy does beside
	Recorder                // what counts statements, on the relay's goroutine
	Rewriter                // what is asked of each request while changes are in force, on the relay's goroutine
	Reads                   // a read that is served
	Writes                  // a write whose entries are written
	Comparisons             // a read that is compared
	Schema
	Statistics
	Windows // values looked at
	SlowLog
	Advice
	History
	Migrations
	Maintainer
	Backfill
	Verification
	Calendars
	Gain   // what changes are worth
	Others // who else is connected to the cluster
	State
	API
	Session // Helenus's own connections to Cassandra
	Webhooks
	Fleet // what members say of themselves, and who leads
	parts
)

var names = [parts]string{"relay", "recorder", "rewriter", "reads", "writes", "comparisons", "schema", "statistics", "windows", "slow-log",
	"advice", "history", "migrations", "maintainer", "backfill", "verification", "calendars", "gain", "others", "state", "api", "session", "webhooks", "fleet"}

// String is the part's name in the log and in metrics.
func (p Part) String() string { return names[p] }

// Panic is the error that a panic becomes.
type Panic struct {
	Part  Part
	Value any
	Stack []byte
}

func (e *Panic) Error() string {
	return fmt.Sprintf("%s panicked: %v; this is a defect, please report it with the log", e.Part, e.Value)
}

var (
	counts [parts]atomic.Int64
	logger atomic.Pointer[slog.Logger]
)

// LogTo says where panics are logged from now on: before, and for nil, to slog's default.
func LogTo(l *slog.Logger) { logger.Store(l) }

// Count is how often a part has panicked.
func Count(p Part) int64 { return counts[p].Load() }

func caught(p Part, value any) *Panic {
	if e, ok := value.(*Panic); ok {
		return e // of a Group: it was counted where it happened
	}
	e := &Panic{p, value, debug.Stack()}
	counts[p].Add(1)
	l := logger.Load()
	if l == nil {
		l = slog.Default()
	}
	l.Error("a part panicked; requests are forwarded all the same", "part", p.String(), "panic", fmt.Sprint(value), "stack", string(e.Stack))
	return e
}

// Recover is to be deferred: it ends a panic. then, which may be nil, is told.
func Recover(p Part, then func(error)) {
	if v := recover(); v != nil {
		if e := caught(p, v); then != nil {
			then(e)
		}
	}
}

// RecoverTo is Recover that makes the panic the error of who defers it.
func RecoverTo(p Part, err *error) {
	if v := recover(); v != nil {
		*err = caught(p, v)
	}
}

// Do calls f. Its panic is an error.
func Do(p Part, f func() error) (err error) {
	defer RecoverTo(p, &err)
	return f()
}

// Go calls f on a goroutine of its own. If it panics then, which may be nil, is called there.
func Go(p Part, f func(), then func(error)) {
	go func() {
		defer Recover(p, then)
		f()
	}()
}

// GoDeep is Go for what comes with every request and calls deep into a driver: its stack is made as large at once as that needs. Growing it by
// halves, with all that is on it copied each time, was a tenth of what a write with an entry cost.
func GoDeep(p Part, f func(), then func(error)) {
	go func() {
		defer Recover(p, then)
		Deepen()
		f()
	}()
}

// InDeep is GoDeep for a goroutine that others wait for.
func InDeep(wait *sync.WaitGroup, p Part, f func()) {
	wait.Add(1)
	GoDeep(p, func() {
		defer wait.Done()
		f()
	}, nil)
}

// Deepen grows the caller's stack to 16 kB, the largest that the runtime keeps a stock of for each processor.
func Deepen() { deep(0) }

//go:noinline
func deep(i int) byte {
	var room [9 << 10]byte // which has no room on less
	return room[i]
}

// In is Go for a goroutine that others wait for.
func In(wait *sync.WaitGroup, p Part, f func()) {
	wait.Add(1)
	Go(p, func() {
		defer wait.Done()
		f()
	}, nil)
}

// Group is goroutines that work on one thing, which is nothing without each of them: the panic of one is the panic of who waits.
type Group struct{ errgroup.Group }

// Go starts one of them, once fewer than SetLimit allows are at work.
func (g *Group) Go(p Part, f func()) {
	g.Group.Go(func() error { return Do(p, func() error { f(); return nil }) })
}

// Wait waits for all.
func (g *Group) Wait() {
	if err := g.Group.Wait(); err != nil {
		panic(err)
	}
}

// Each calls do with the numbers below count, at most limit at a time, and waits for all.
func Each(p Part, limit, count int, do func(i int)) {
	var g Group
	g.SetLimit(limit)
	for i := range count {
		g.Go(p, func() { do(i) })
	}
	g.Wait()
}

// Backoff between restarts of a loop: the first, and the longest. A loop that ran for longer than that begins with the first again.
const (
	firstRestart = time.Second
	lastRestart  = time.Minute
)

// Clock is the time that a Loop lives in; the zero Clock is the machine's.
type Clock struct {
	Now   func() time.Time
	After func(time.Duration) <-chan time.Time
}

func (c Clock) orMachine() Clock {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.After == nil {
		c.After = time.After
	}
	return c
}

// Loop calls f until it returns, or ctx ends, and again, after a while, when it panicked. then, which may be nil, is called
// before that.
func Loop(ctx context.Context, p Part, clock Clock, f func(context.Context), then func(error)) {
	clock = clock.orMachine()
	wait := firstRestart
	for {
		begun := clock.Now()
		err := Do(p, func() error { f(ctx); return nil })
		if err == nil {
			return
		}
		if then != nil {
			_ = Do(p, func() error { then(err); return nil }) // it is logged
		}
		if clock.Now().Sub(begun) > lastRestart {
			wait = firstRestart
		}
		select {
		case <-ctx.Done():
			return
		case <-clock.After(wait):
		}
		wait = min(2*wait, lastRestart)
	}
}

var desc = prometheus.NewDesc("helenus_panics_total",
	"Panics that were caught, by the part of the program that they happened in: each is a defect; the log has its stack.", []string{"part"}, nil)

type collector struct{}

// Metrics counts panics by part.
func Metrics() prometheus.Collector { return collector{} }

func (collector) Describe(c chan<- *prometheus.Desc) { c <- desc }

func (collector) Collect(c chan<- prometheus.Metric) {
	for p := range parts {
		c <- prometheus.MustNewConstMetric(desc, prometheus.CounterValue, float64(Count(p)), p.String())
	}
}
