package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/bench/product"
	"github.com/helenus-db/helenus/internal/cassandra"
)

// world is a Cassandra, and one helenus before it.
type world struct {
	settings
	dir     string
	cluster *cassandra.Cluster
	direct  *gocql.Session // straight to Cassandra
	through *gocql.Session
	helenus *product.Process
	random  *rand.Rand
	shapes  []*shape
}

// start starts both, and fills the tables.
func start(ctx context.Context, s settings) (_ *world, err error) {
	w := &world{settings: s, shapes: shapes(s.sizes), random: rand.New(rand.NewPCG(s.seed, 1))} //nolint:gosec // repeatable
	defer func() {
		if err != nil {
			err = errors.Join(err, w.stop(err))
		}
	}()
	if w.dir, err = os.MkdirTemp("", "helenus-gains-"); err != nil {
		return nil, err
	}
	w.cluster, err = cassandra.Start(ctx, cassandra.Options{Dir: filepath.Join(w.dir, "cassandra"), Heap: s.heap, Progress: func(line string) { s.say("%s", line) }, Extra: map[string]any{
		"read_request_timeout": "60s", "range_request_timeout": "60s", "write_request_timeout": "60s", "request_timeout": "60s", "native_transport_timeout": "60s",
	}})
	if err != nil {
		return nil, err
	}
	point := w.cluster.ContactPoints()[0]
	if w.direct, err = product.Connect(point, true); err != nil {
		return nil, err
	}
	if err := w.fill(ctx); err != nil {
		return nil, err
	}
	if w.helenus, err = product.New("helenus", s.helenus, w.dir, point, "--keyspaces", keyspace, "--advise-every", "1h", "--min-executions", fmt.Sprint(s.learned/2), "--sample-values=false",
		"--settle", "200ms", "--backfill-rate", "0", "--backfill-ranges", "16", "--shadow-reads", "10", "--shadow-for", "1s", "--shadow-probes", "10"); err != nil {
		return nil, err
	}
	if err := w.helenus.Start(); err != nil {
		return nil, err
	}
	if err := w.helenus.Await(ctx); err != nil {
		return nil, err
	}
	w.through, err = product.Connect(w.helenus.Listen, true)
	return w, err
}

// stop ends everything. What is left of a run that failed are the logs.
func (w *world) stop(failed error) (err error) {
	for _, s := range []*gocql.Session{w.through, w.direct} {
		if s != nil {
			s.Close()
		}
	}
	if w.helenus != nil {
		w.helenus.Stop()
	}
	if w.cluster != nil {
		err = w.cluster.Stop()
	}
	if failed != nil {
		w.say("logs and state are left in %s", w.dir)
		return err
	}
	return errors.Join(err, os.RemoveAll(w.dir))
}

// loaders is how many rows are written at a time.
const loaders = 16

// fill makes the tables, and writes their rows.
func (w *world) fill(ctx context.Context) error {
	texts := []string{"CREATE KEYSPACE " + keyspace + " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"}
	rows := 0
	for _, s := range w.shapes {
		texts = append(texts, s.create()...)
		rows += s.rows
	}
	for _, text := range texts {
		if err := w.direct.Query(text).WithContext(ctx).Exec(); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	w.say("filling %d tables, %d rows", len(w.shapes), rows)
	for _, s := range w.shapes {
		var work sync.WaitGroup
		var next atomic.Int64
		failed := make(chan error, loaders)
		for range loaders {
			work.Go(func() {
				for i := int(next.Add(1)) - 1; i < s.rows && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
					text, values := s.insert(i)
					if err := w.direct.Query(text, values...).WithContext(ctx).Exec(); err != nil {
						failed <- fmt.Errorf("%s: %w", text, err)
						return
					}
				}
			})
		}
		work.Wait()
		if len(failed) > 0 {
			return <-failed
		}
	}
	return ctx.Err()
}

// target is a read that a change is wanted for, and what became of it.
type target struct {
	shape   *shape
	column  *column
	advice  *advice // nil: none
	state   string  // of the change
	reason  string
	before  []float64 // as written, straight to Cassandra, while the change serves: ms
	after   []float64 // through helenus
	learned []float64 // as written, through helenus, before
}

func (t *target) name() string { return t.shape.table() + "." + t.column.name }

// targets are all reads.
func (w *world) targets() (out []*target) {
	for _, s := range w.shapes {
		for i := range s.columns {
			out = append(out, &target{shape: s, column: &s.columns[i]})
		}
	}
	return out
}

// ask reads once, and says how long that took, ms.
func (w *world) ask(ctx context.Context, by *gocql.Session, t *target) (float64, error) {
	text, value := t.shape.read(t.column, w.random)
	began := time.Now()
	n := by.Query(text, value).WithContext(ctx).Iter()
	rows := n.NumRows()
	err := n.Close()
	took := float64(time.Since(began).Microseconds()) / 1000
	switch want := t.column.rows; {
	case err != nil:
		return 0, fmt.Errorf("%s: %w", text, err)
	case t.column.form == "limit" && rows != min(3, want) || t.column.form != "limit" && rows < want:
		return 0, fmt.Errorf("%s: %d rows, not %d", text, rows, want)
	}
	return took, nil
}

// advice is what is read of a recommendation.
type advice struct {
	ID         string `json:"id"`
	Keyspace   string `json:"keyspace"`
	Table      string `json:"table"`
	Column     string `json:"column"`
	State      string `json:"state"`
	Eligible   bool   `json:"eligible"`
	Statements []struct {
		Before float64 `json:"predicted_before_ms"`
		After  float64 `json:"predicted_after_ms"`
	} `json:"statements"`
}

// learn has Cassandra and helenus see each read, and takes the advice.
func (w *world) learn(ctx context.Context, all []*target) error {
	w.say("warming Cassandra up, and reading %d times each of %d statements through helenus", w.learned, len(all))
	for range w.warm {
		for _, t := range all {
			if _, err := w.ask(ctx, w.direct, t); err != nil {
				return err
			}
		}
	}
	for range w.learned {
		for _, t := range all {
			took, err := w.ask(ctx, w.through, t)
			if err != nil {
				return err
			}
			t.learned = append(t.learned, took)
		}
	}
	text, err := w.helenus.CLI(ctx, "recommendations", "--now", "--json")
	if err != nil {
		return err
	}
	var said struct {
		Recommendations []advice `json:"recommendations"`
	}
	if err := json.Unmarshal(text, &said); err != nil {
		return fmt.Errorf("helenus recommendations: %w", err)
	}
	for _, t := range all {
		i := slices.IndexFunc(said.Recommendations, func(a advice) bool {
			return a.Eligible && a.State == "open" && a.Keyspace+"."+a.Table+"."+a.Column == t.name() && len(a.Statements) == 1
		})
		if i >= 0 {
			t.advice = &said.Recommendations[i]
		}
	}
	return nil
}

// carryOut approves all that is advised, and waits until each serves, or does not.
func (w *world) carryOut(ctx context.Context, all []*target) error {
	w.say("approving %d changes", len(advised(all)))
	for _, t := range advised(all) {
		if _, err := w.helenus.CLI(ctx, "approve", t.advice.ID, "--detach"); err != nil {
			return err
		}
	}
	open := 0
	return w.helenus.Until(ctx, "all changes serve or have ended", w.patience, func() (bool, error) {
		list, err := w.helenus.Changes(ctx)
		if err != nil {
			return false, err
		}
		left := 0
		for _, t := range advised(all) {
			if i := slices.IndexFunc(list, func(c product.Change) bool { return c.ID == t.advice.ID }); i >= 0 {
				t.state, t.reason = list[i].State, list[i].Reason
			}
			if !slices.Contains([]string{"serving", "failed", "suspended", "rolled-back"}, t.state) {
				left++
				if _, err := w.ask(ctx, w.through, t); err != nil { // it is compared by what the application reads
					return false, err
				}
			}
		}
		if left != open {
			open = left
			w.say("%d are under way", open)
		}
		return left == 0, nil
	})
}

func advised(all []*target) []*target {
	return slices.DeleteFunc(slices.Clone(all), func(t *target) bool { return t.advice == nil })
}

// rest waits until the machine is idle, for as long as is set at most: fresh tables are compacted, and each change is verified once more soon after it serves, which what was promised knows nothing of.
func (w *world) rest(ctx context.Context, _ []*target) error {
	const (
		idle = 0.9 // of the processors' time
		look = 2 * time.Second
	)
	if w.quiet == 0 {
		return nil
	}
	w.say("waiting until the machine is at rest")
	share := 0.0
	for began := time.Now(); time.Since(began) < w.quiet; {
		before, total, err := product.Idle()
		if err != nil {
			return nil //nolint:nilerr // elsewhere than on Linux nobody says; what is measured is what it is
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(look):
		}
		now, later, err := product.Idle()
		if err != nil {
			return err
		}
		if share = float64(now-before) / float64(later-total); share > idle {
			return nil
		}
	}
	w.say("it is not: %.0f %% of its processors' time are idle", 100*share)
	return nil
}

// compare measures reads of what serves, each in turn both ways.
func (w *world) compare(ctx context.Context, all []*target) error {
	serving := slices.DeleteFunc(advised(all), func(t *target) bool { return t.state != "serving" })
	w.say("measuring %d reads both ways, %d times", len(serving), w.turns)
	for turn := range w.turns + 2 {
		for _, t := range serving {
			before, err := w.ask(ctx, w.direct, t)
			if err != nil {
				return err
			}
			after, err := w.ask(ctx, w.through, t)
			if err != nil {
				return err
			}
			if turn >= 2 { // the first prepare the statements
				t.before, t.after = append(t.before, before), append(t.after, after)
			}
		}
	}
	return nil
}

// served is, by change, how many reads it answered.
func (w *world) served(ctx context.Context) (map[string]float64, error) {
	_, text, err := w.helenus.Get(ctx, "/metrics")
	if err != nil {
		return nil, err
	}
	by := map[string]float64{}
	for line := range strings.SplitSeq(text, "\n") {
		if !strings.HasPrefix(line, "helenus_change_reads_total{") || !strings.Contains(line, `result="served"`) {
			continue
		}
		_, rest, _ := strings.Cut(line, `change_id="`)
		id, _, _ := strings.Cut(rest, `"`)
		var n float64
		if _, err := fmt.Sscan(line[strings.LastIndexByte(line, ' ')+1:], &n); err != nil {
			return nil, fmt.Errorf("metrics say %q: %w", line, err)
		}
		by[id] += n
	}
	return by, nil
}
