package contest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/helenus-db/helenus/advisor/workload"
)

// Parameters are the values of a statement's parameters, as rewrite/exec takes them.
type Parameters = map[string][][]byte

// Program runs one statement over the tables of one entry. It fills in all of the sample but times.
type Program interface {
	Run(ctx context.Context, with Parameters) (Sample, error)
}

// Runner is an entry ready to run: programs by the statements' IDs. What it has no program for it is not asked.
type Runner struct {
	Name string
	// Keyspace is where its tables are: runners of one keyspace never meet the same parameters, others always do.
	Keyspace string
	Programs map[string]Program
}

// answers tells whether it has programs for all statements of a request.
func (r *Runner) answers(q *Request) bool {
	for _, s := range q.Statements {
		if r.Programs[s.ID] == nil {
			return false
		}
	}
	return true
}

// Loop sends requests to runners, one at a time, without think time.
type Loop struct {
	Requests []*Request
	Runners  []*Runner
	Seed     uint64
	// Draw draws the parameters of the statements of a request, in their order. The nth draw of a request is the same
	// whatever was drawn for others.
	Draw func(r *rand.Rand, q *Request) ([]Parameters, error)
	// WarmUp is how often each request is sent at first without being counted, unless that would take too long.
	WarmUp int
	// Most is how often a request is counted at most; For is the time for all, of which each request gets the same share
	// if it needs it.
	Most int
	For  time.Duration
	// Awaken, if set, is asked when a statement fails: it waits until Cassandra answers again, and the request is sent anew
	// to all runners. Its error ends the loop.
	Awaken func(ctx context.Context, err error) error
	// Processor, if set, says what Cassandra and this process have used of the processors so far (see Processors).
	Processor func() (server, client time.Duration)
	// Now is the clock; nil: time.Now.
	Now func() time.Time
	// Progress, if set, is told how much of the time is over, 0 to 1, and how many requests were counted.
	Progress func(done float64, count int)
}

// warmShare is which part of a request's time warming up takes at most.
const warmShare = 8

// repeats is how often a request is sent anew after Cassandra failed, before the loop gives up.
const repeats = 5

// Tally is what a loop has measured.
type Tally struct {
	// Requests and Statements by runner, then by the request's name, or by that and the statement's ID.
	Requests   map[string]map[string]*Series
	Statements map[string]map[Step]*Series
	Failures   int // requests that were sent anew
}

// Step is a statement of a request.
type Step struct{ Request, Statement string }

type turn struct {
	request *Request
	random  *rand.Rand
	runners []*Runner
	spent   time.Duration
	enough  time.Duration // spent, to be warm even if it was not sent often
	warmed  int
	counted int
}

// Run measures until the time is over, every request was counted often enough, or the context ends. The tally holds what
// was measured also if there is an error.
func (l *Loop) Run(ctx context.Context) (*Tally, error) {
	tally := &Tally{map[string]map[string]*Series{}, map[string]map[Step]*Series{}, 0}
	for _, r := range l.Runners {
		tally.Requests[r.Name], tally.Statements[r.Name] = map[string]*Series{}, map[Step]*Series{}
	}
	var turns []*turn
	for i, q := range l.Requests {
		t := &turn{request: q, random: rand.New(rand.NewPCG(l.Seed, uint64(i)))} //nolint:gosec // a seeded choice is what is wanted
		for _, r := range l.Runners {
			if r.answers(q) {
				t.runners = append(t.runners, r)
			}
		}
		if len(t.runners) > 0 {
			turns = append(turns, t)
		}
	}
	for _, t := range turns {
		t.enough = l.For / time.Duration(warmShare*len(turns))
	}
	total, count := time.Duration(0), 0
	for {
		t := l.next(turns, total >= l.For)
		if t == nil {
			return tally, nil
		}
		took, err := l.send(ctx, t, tally)
		if err != nil {
			return tally, err
		}
		t.spent += took
		total += took
		count++
		if l.Progress != nil {
			l.Progress(min(1, float64(total)/float64(l.For)), count)
		}
	}
}

// next is the turn that has had least time among those which may still be sent; once the time is over, among those of which
// the report has no figure yet. nil: there is none.
func (l *Loop) next(turns []*turn, over bool) *turn {
	var least *turn
	for _, t := range turns {
		if t.counted < l.Most && (!over || t.counted == 0) && (least == nil || t.spent < least.spent) {
			least = t
		}
	}
	return least
}

// send sends a request to all its runners, in an order of its own, and enters what they took.
func (l *Loop) send(ctx context.Context, t *turn, tally *Tally) (took time.Duration, err error) {
	order := t.random.Perm(len(t.runners))
	with := make([][]Parameters, len(t.runners))
	var drawn [][]Parameters
	met := map[string]int{}
	for i, r := range t.runners {
		nth := met[r.Keyspace]
		met[r.Keyspace]++
		if nth == len(drawn) {
			draw, err := l.Draw(t.random, t.request)
			if err != nil {
				return 0, fmt.Errorf("drawing parameters for %s: %w", t.request.Name, err)
			}
			drawn = append(drawn, draw)
		}
		with[i] = drawn[nth]
	}
	results := make([][]Sample, len(t.runners))
	for attempt := 0; ; attempt++ {
		begun := l.now()
		if err = l.sendOnce(ctx, t, order, with, results); err == nil {
			took = l.now().Sub(begun)
			break
		}
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		if l.Awaken == nil || attempt == repeats {
			return 0, err
		}
		if err = l.Awaken(ctx, err); err != nil {
			return 0, err
		}
		tally.Failures++
	}
	if t.warmed < l.WarmUp && t.spent < t.enough {
		t.warmed++
		return took, nil
	}
	t.counted++
	for i, r := range t.runners {
		var sum Sample
		for k, s := range t.request.Statements {
			sum.add(results[i][k])
			series(tally.Statements[r.Name], Step{t.request.Name, s.ID}).Add(results[i][k])
		}
		series(tally.Requests[r.Name], t.request.Name).Add(sum)
	}
	return took, nil
}

func series[K comparable](m map[K]*Series, k K) *Series {
	if m[k] == nil {
		m[k] = &Series{}
	}
	return m[k]
}

func (l *Loop) sendOnce(ctx context.Context, t *turn, order []int, with [][]Parameters, results [][]Sample) error {
	for _, i := range order {
		results[i] = results[i][:0]
		for k, s := range t.request.Statements {
			server, client := l.processor()
			begun := l.now()
			sample, err := t.runners[i].Programs[s.ID].Run(ctx, with[i][k])
			if err != nil {
				return &StatementError{t.runners[i].Name, s, err}
			}
			sample.Time = l.now().Sub(begun)
			serverAfter, clientAfter := l.processor()
			sample.Server, sample.Client = max(0, serverAfter-server), clientAfter-client
			results[i] = append(results[i], sample)
		}
	}
	return nil
}

func (l *Loop) processor() (server, client time.Duration) {
	if l.Processor == nil {
		return 0, 0
	}
	return l.Processor()
}

func (l *Loop) now() time.Time {
	if l.Now != nil {
		return l.Now()
	}
	return time.Now()
}

// StatementError says which statement failed over whose tables.
type StatementError struct {
	Runner    string
	Statement *workload.Statement
	Err       error
}

func (e *StatementError) Error() string {
	return fmt.Sprintf("statement %s over the tables of %s: %v", e.Statement.ID, e.Runner, e.Err)
}

func (e *StatementError) Unwrap() error { return e.Err }
