package contest_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/bench/contest"
)

// clock is advanced by what runs.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

// fake takes its time by the clock, and remembers who asked for what.
type fake struct {
	name  string
	takes time.Duration
	clock *clock
	log   *[]string
	fails *int // so many times more
}

var errDown = errors.New("no connections")

func (f *fake) Run(_ context.Context, with contest.Parameters) (contest.Sample, error) {
	f.clock.at = f.clock.at.Add(f.takes)
	if f.fails != nil && *f.fails > 0 {
		*f.fails--
		return contest.Sample{}, errDown
	}
	*f.log = append(*f.log, f.name+" "+string(with["x"][0]))
	return contest.Sample{Requests: 2, Rows: 3, Bytes: 5}, nil
}

func request(name string, ids ...string) *contest.Request {
	q := &contest.Request{Name: name}
	for _, id := range ids {
		q.Statements = append(q.Statements, &workload.Statement{ID: id, Group: name, Weight: 1})
	}
	return q
}

func draw(r *rand.Rand, q *contest.Request) ([]contest.Parameters, error) {
	list := make([]contest.Parameters, len(q.Statements))
	for i, s := range q.Statements {
		list[i] = contest.Parameters{"x": {[]byte(s.ID + string(rune('a'+r.IntN(26))))}}
	}
	return list, nil
}

// two runners, of which the second is slower, and has no program for one of the requests.
func loop(c *clock, log *[]string) *contest.Loop {
	fast := &contest.Runner{Name: "fast", Keyspace: "a", Programs: map[string]contest.Program{}}
	slow := &contest.Runner{Name: "slow", Keyspace: "b", Programs: map[string]contest.Program{}}
	for _, id := range []string{"a", "b", "c"} {
		fast.Programs[id] = &fake{"fast", time.Millisecond, c, log, nil}
		if id != "c" {
			slow.Programs[id] = &fake{"slow", 4 * time.Millisecond, c, log, nil}
		}
	}
	return &contest.Loop{
		Requests: []*contest.Request{request("both", "a", "b"), request("only", "c")}, Runners: []*contest.Runner{fast, slow},
		Seed: 7, Draw: draw, WarmUp: 2, Most: 50, For: time.Second, Now: c.now,
	}
}

func TestLoop(t *testing.T) {
	var log []string
	c := &clock{time.Unix(0, 0)}
	l := loop(c, &log)
	last := 0.0
	l.Progress = func(done float64, _ int) { last = done }
	tally, err := l.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		runner, request string
		mean            float64
	}{{"fast", "both", 2}, {"slow", "both", 8}, {"fast", "only", 1}} {
		f := tally.Requests[x.runner][x.request].Figures()
		if f.Mean != x.mean || f.P50 != x.mean || f.P99 != x.mean || f.Error != 0 || f.Count != 50 {
			t.Errorf("%s by %s: %+v", x.request, x.runner, f)
		}
	}
	if tally.Requests["slow"]["only"] != nil {
		t.Error("a runner was asked for what it has no program for")
	}
	if f := tally.Statements["slow"][contest.Step{Request: "both", Statement: "b"}].Figures(); f.Mean != 4 || f.Requests != 2 || f.Rows != 3 || f.Bytes != 5 {
		t.Errorf("statement: %+v", f)
	}
	if last == 0 {
		t.Error("no progress was told of")
	}
	// Each request goes to both with the same parameters, and to each of them first about as often.
	first, n := 0, 0
	for i := 0; i+1 < len(log); {
		if log[i][5] == 'c' {
			i++
			continue
		}
		n++
		if log[i][:4] == "fast" {
			first++
		}
		if got, want := []string{log[i][5:], log[i+1][5:]}, []string{log[i+2][5:], log[i+3][5:]}; !slices.Equal(got, want) {
			t.Fatalf("%v, then %v", got, want)
		}
		i += 4
	}
	if n != 52 || first < n/4 || first > 3*n/4 {
		t.Errorf("of %d requests to both %d went to the fast one first", n, first)
	}
	var again []string
	c.at = time.Unix(0, 0)
	if _, err := loop(c, &again).Run(t.Context()); err != nil || !slices.Equal(log, again) {
		t.Error("the same seed sends something else")
	}
}

// TestLoopShares: each request gets the same time, and if that is over, once at least.
func TestLoopShares(t *testing.T) {
	var log []string
	c := &clock{time.Unix(0, 0)}
	l := loop(c, &log)
	l.Most, l.For = 1<<30, 2*time.Second
	tally, err := l.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	both, only := tally.Requests["fast"]["both"].Figures().Count, tally.Requests["fast"]["only"].Figures().Count
	if only < 9*both || only > 11*both {
		t.Errorf("%d requests of 10 ms and %d of 1 ms", both, only)
	}
	log = nil
	l = loop(c, &log)
	l.For = time.Nanosecond
	if tally, err = l.Run(t.Context()); err != nil || tally.Requests["slow"]["both"].Figures().Count != 1 {
		t.Errorf("%v: not everything was counted once", err)
	}
}

// TestLoopApart: runners that share tables do not meet the same rows.
func TestLoopApart(t *testing.T) {
	var log []string
	l := loop(&clock{time.Unix(0, 0)}, &log)
	l.Runners[1].Keyspace, l.WarmUp, l.Most = "a", 0, 20
	if _, err := l.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	same := 0
	for i := range log {
		if i >= 2 && log[i][:4] != log[i-2][:4] && log[i][5:] == log[i-2][5:] {
			same++
		}
	}
	if same > 10 {
		t.Errorf("runners met the same parameters %d times", same)
	}
}

// TestLoopFaults: a request that fails is sent anew to all once Cassandra is awake, and is an error if it stays down.
func TestLoopFaults(t *testing.T) {
	var log []string
	c := &clock{time.Unix(0, 0)}
	l := loop(c, &log)
	fails := 3
	l.Runners[1].Programs["b"] = &fake{"slow", time.Millisecond, c, &log, &fails}
	awoken := 0
	l.Awaken = func(_ context.Context, err error) error {
		var statement *contest.StatementError
		if !errors.Is(err, errDown) || !errors.As(err, &statement) || statement.Runner != "slow" || statement.Statement.ID != "b" {
			t.Errorf("woken by %v", err)
		}
		awoken++
		return nil
	}
	tally, err := l.Run(t.Context())
	if err != nil || awoken != 3 || tally.Failures != 3 {
		t.Errorf("%v: woken %d times, %d failures", err, awoken, tally.Failures)
	}
	if f := tally.Requests["fast"]["both"].Figures(); f.Count != 50 || f.Mean != 2 {
		t.Errorf("attempts that failed were counted: %+v", f)
	}

	l, fails = loop(c, &log), 1<<30
	l.Runners[1].Programs["b"] = &fake{"slow", time.Millisecond, c, &log, &fails}
	l.Awaken = func(context.Context, error) error { return nil }
	if _, err = l.Run(t.Context()); !errors.Is(err, errDown) {
		t.Errorf("it went on: %v", err)
	}
	l.Awaken = func(context.Context, error) error { return errors.New("it stays down") }
	if _, err = l.Run(t.Context()); err == nil || err.Error() != "it stays down" {
		t.Errorf("it went on: %v", err)
	}
	l = loop(c, &log)
	ctx, cancel := context.WithCancel(t.Context())
	l.Progress = func(_ float64, count int) {
		if count == 60 {
			cancel()
		}
	}
	l.Runners[0].Programs["a"] = &cancelled{l.Runners[0].Programs["a"]}
	if tally, err = l.Run(ctx); !errors.Is(err, context.Canceled) || tally.Requests["fast"]["only"].Figures().Count == 0 {
		t.Errorf("interrupted: %v", err)
	}
}

// cancelled minds the context, as a driver does.
type cancelled struct{ contest.Program }

func (p *cancelled) Run(ctx context.Context, with contest.Parameters) (contest.Sample, error) {
	if err := ctx.Err(); err != nil {
		return contest.Sample{}, err
	}
	return p.Program.Run(ctx, with)
}
