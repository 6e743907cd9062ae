package contest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/planrun"
)

// Tracer says where the time of requests goes. It sends them one at a time, and the CQL requests of each one after the other, so that times
// add up; Cassandra traces the CQL requests (system_traces), which costs time of its own: it comes after what is measured.
type Tracer struct {
	Requests []*Request
	Entries  []*Entry
	Seed     uint64
	Draw     func(r *rand.Rand, q *Request) ([]Parameters, error) // as Loop.Draw
	Times    int                                                  // executions of each request over each entry
}

const (
	// tracedMost is how many CQL requests of one execution are traced: of more, every nth.
	tracedMost = 40
	// traceWait is how long traces are waited for, which Cassandra writes after it has answered, if it does.
	traceWait = 10 * time.Second
)

// Trace traces, and returns what was found so far also if there is an error.
func (a *Arena) Trace(ctx context.Context, t *Tracer) (splits []Split, err error) {
	session, err := Connect(a.Point)
	if err != nil {
		return nil, err
	}
	w := &watched{session: session, pool: exec.NewPool(func() (*gocql.Session, error) { return session, nil })}
	defer w.pool.Close()
	runners := make([]*Runner, len(t.Entries))
	for i, e := range t.Entries {
		if runners[i], err = e.Runner(w, planrun.RunOptions{Parallel: 1}); err != nil {
			return nil, err
		}
	}
	for i, q := range t.Requests {
		random := rand.New(rand.NewPCG(t.Seed, uint64(i))) //nolint:gosec // a seeded choice is what is wanted
		for _, r := range runners {
			if !r.answers(q) {
				continue
			}
			s, err := w.split(ctx, t, random, r, q)
			if err != nil {
				return splits, fmt.Errorf("tracing %s over the tables of %s: %w", q.Name, r.Name, err)
			}
			splits = append(splits, s)
		}
	}
	return splits, nil
}

// split executes a request several times, the first of which is not counted: it prepares statements, and tells how many there are.
func (w *watched) split(ctx context.Context, t *Tracer, random *rand.Rand, r *Runner, q *Request) (Split, error) {
	s := Split{Request: q.Name, Entry: r.Name}
	w.every, w.traced = 0, nil
	for n := range t.Times + 1 {
		draw, err := t.Draw(random, q)
		if err != nil {
			return s, err
		}
		w.sent, w.waited = 0, 0
		begun := time.Now()
		for i, x := range q.Statements {
			if _, err := r.Programs[x.ID].Run(ctx, draw[i]); err != nil {
				return s, &StatementError{r.Name, x, err}
			}
		}
		took := time.Since(begun)
		if n == 0 {
			w.every = (w.sent + tracedMost - 1) / tracedMost
			continue
		}
		s.Count++
		s.Mean += milliseconds(took)
		s.Client += milliseconds(took - w.waited)
		s.Requests += float64(w.sent)
	}
	all := make([]stages, 0, len(w.traced))
	deadline := time.Now().Add(traceWait)
	for _, x := range w.traced {
		var one stages
		one.trip = milliseconds(x.took)
		for _, id := range x.ids {
			events, whole, err := w.read(ctx, id, deadline)
			if errors.Is(err, errNoTrace) {
				s.Lost++
				one.trip = 0
				break
			}
			if err != nil {
				return s, err
			}
			one.add(staged(events, whole))
		}
		if one.trip > 0 {
			all = append(all, one)
		}
	}
	s.finish(all)
	return s, nil
}

// watched is a session whose requests are clocked, and some of them traced. It is for one goroutine: it sends one request after the other.
type watched struct {
	session *gocql.Session
	pool    *exec.Pool // over the same
	every   int        // the first of so many requests is traced; 0: none
	sent    int
	waited  time.Duration // for answers
	traced  []traced
}

// traced is a request that was traced: one trace for each page of its answer.
type traced struct {
	took time.Duration // as the client sees it
	ids  [][]byte
}

// Trace implements gocql.Tracer.
func (w *watched) Trace(id []byte) {
	last := &w.traced[len(w.traced)-1]
	last.ids = append(last.ids, append([]byte(nil), id...))
}

func (w *watched) do(send func() error) error {
	trace := w.every > 0 && w.sent%w.every == 0
	w.sent++
	if trace {
		w.traced = append(w.traced, traced{})
		w.session.SetTrace(w)
		defer w.session.SetTrace(nil)
	}
	begun := time.Now()
	err := send()
	took := time.Since(begun)
	w.waited += took
	if trace {
		w.traced[len(w.traced)-1].took = took
	}
	return err
}

// Query implements exec.Session.
func (w *watched) Query(ctx context.Context, q exec.Query) (answer exec.Answer, err error) {
	err = w.do(func() error {
		answer, err = w.pool.Query(ctx, q)
		return err
	})
	return answer, err
}

// Scan implements exec.Session.
func (w *watched) Scan(ctx context.Context, q exec.Query, row func(cells [][]byte) error) error {
	return w.do(func() error { return w.pool.Scan(ctx, q, row) })
}

// Agree implements exec.Session.
func (w *watched) Agree(ctx context.Context) error { return w.pool.Agree(ctx) }

var errNoTrace = errors.New("the trace did not come")

// read waits for a trace. whole is from its beginning to its end.
func (w *watched) read(ctx context.Context, id []byte, deadline time.Time) (events []event, whole time.Duration, err error) {
	for { // its duration is written last
		var micros *int
		err := w.session.Query("SELECT duration FROM system_traces.sessions WHERE session_id = ?", id).WithContext(ctx).Consistency(gocql.One).Scan(&micros)
		if err == nil && micros != nil {
			whole = time.Duration(*micros) * time.Microsecond
			break
		}
		if err != nil && !errors.Is(err, gocql.ErrNotFound) {
			return nil, 0, fmt.Errorf("reading a trace: %w", err)
		}
		if time.Now().After(deadline) {
			return nil, 0, errNoTrace
		}
		select {
		case <-ctx.Done():
			return nil, 0, ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
	iter := w.session.Query("SELECT activity, source_elapsed FROM system_traces.events WHERE session_id = ?", id).WithContext(ctx).Consistency(gocql.One).Iter()
	var e event
	micros := 0
	for iter.Scan(&e.activity, &micros) {
		e.at = time.Duration(micros) * time.Microsecond
		events = append(events, e)
	}
	if err := iter.Close(); err != nil {
		return nil, 0, fmt.Errorf("reading a trace: %w", err)
	}
	return events, whole, nil
}
