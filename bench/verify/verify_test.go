package verify

import (
	"context"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/helenus-db/helenus/internal/cassandra"
	"github.com/helenus-db/helenus/internal/cassandra/cassandratest"
	"github.com/helenus-db/helenus/rewrite/exec"
)

// randoms is how many random workloads a test compares; HELENUS_TEST_WORKLOADS says more.
func randoms(t *testing.T, n int) int {
	text := os.Getenv("HELENUS_TEST_WORKLOADS")
	if text == "" {
		return n
	}
	more, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("HELENUS_TEST_WORKLOADS: %v", err)
	}
	return more
}

// options are those of a small run on the tests' Cassandra.
func options(t *testing.T, from, random int, names ...string) Options {
	for n := range random {
		names = append(names, randomPrefix+strconv.Itoa(from+n))
	}
	return Options{Cluster: cassandratest.Config(t, cassandratest.ContactPoints(t)[0]), Seed: 1, Names: names, Random: 1, Rows: 100,
		Draws: 6, Updates: 60, Every: 10, Choose: time.Second, Wait: time.Minute}
}

// TestVerify: RUBiS, EAC, hotel and random workloads, over our designs, hand-made and random ones, on a real Cassandra: answers
// are bags or orders as the statement says (N-5), whichever plan answers (N-21, N-22, N-62), and updates keep every table true.
func TestVerify(t *testing.T) {
	r, err := Run(t.Context(), options(t, 1, randoms(t, 20), "../../examples/designs/rubis.yaml", "../../examples/designs/eac.yaml", "../../examples/designs/hotel.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := r.Text(&b); err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + b.String())
	if !r.Clean() {
		t.Errorf("%d differences", len(r.Differences))
	}
	for _, what := range []string{"INSERT", "UPDATE", "DELETE", "CONNECT", "DISCONNECT", "plans: join", "plans: multi-get", "plans: buckets", "plans: static columns",
		"plans: descending", "plans: sort", "plans: group", "plans: distinct", "plans: limit", "plans: filter"} {
		if r.Met[what] == 0 {
			t.Errorf("nothing has met: %s", what)
		}
	}
	for _, kind := range []string{Ours, "random", "expert", "baseline", existing} {
		if r.ByDesign[kind] == 0 {
			t.Errorf("no design is %s", kind)
		}
	}
	if r.Updates < 10*r.Designs || r.Filled < r.Answers/2 {
		t.Errorf("%d updates of %d designs, %d answers of %d have rows", r.Updates, r.Designs, r.Filled, r.Answers)
	}
}

// spoiled is a session that leaves something out.
type spoiled struct {
	*exec.Pool
	query func(q exec.Query) (skip bool)
	rows  func(rows [][][]byte) [][][]byte
}

func (s spoiled) Query(ctx context.Context, q exec.Query) (exec.Answer, error) {
	if s.query(q) {
		return exec.Answer{}, nil
	}
	answer, err := s.Pool.Query(ctx, q)
	answer.Rows = s.rows(answer.Rows)
	return answer, err
}

// Batch sends one by one what Query would.
func (s spoiled) Batch(ctx context.Context, writes []exec.Query) error {
	for _, q := range writes {
		if _, err := s.Query(ctx, q); err != nil {
			return err
		}
	}
	return nil
}

// TestFindsFaults: an executor that forgets deletes, and one that loses rows, are found out; of the former, the update is named.
func TestFindsFaults(t *testing.T) {
	same := func(rows [][][]byte) [][][]byte { return rows }
	for name, c := range map[string]struct {
		query func(exec.Query) bool
		rows  func([][][]byte) [][][]byte
		kind  string
	}{
		"forgets deletes": {func(q exec.Query) bool { return strings.HasPrefix(q.Text, "DELETE") }, same, "table"},
		"loses a row":     {func(exec.Query) bool { return false }, func(rows [][][]byte) [][][]byte { return rows[:max(0, len(rows)-1)] }, "answer"},
	} {
		t.Run(name, func(t *testing.T) {
			o := options(t, 1, 6)
			o.Designs = []string{Ours}
			o.spoil = func(s exec.Session) exec.Session { return spoiled{s.(*exec.Pool), c.query, c.rows} }
			r, err := Run(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			found := 0
			for _, d := range r.Differences {
				if d.Kind != c.kind {
					continue
				}
				found++
				if c.kind == "table" && (!strings.Contains(d.Reason, "after update ") || len(d.Extra) == 0 || strings.Contains(d.Reason, "one by one") || d.Table == "") {
					t.Errorf("not reduced: %+v", d)
				}
				if d.Statement == "" || d.Text == "" || d.Plan == "" || !strings.Contains(d.Again, "--seed 1 --designs ours") {
					t.Errorf("not told: %+v", d)
				}
			}
			if found == 0 {
				t.Error("nothing was found")
			}
		})
	}
}

// TestCassandraDies: killed in the middle and started again, it is waited for; the design that was interrupted is begun anew, and
// no keyspace stays behind. One that does not come back is given up with a message.
func TestCassandraDies(t *testing.T) {
	cassandratest.ContactPoints(t) // only where integration tests are wanted
	cluster, err := cassandra.Start(t.Context(), cassandra.Options{Durable: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cluster.Stop(); err != nil {
			t.Error(err)
		}
	})
	node := cluster.Node(0)
	o := options(t, 1, 3)
	o.Cluster = cassandratest.Config(t, node.Addr())
	o.Cluster.Logger = quiet{}
	o.Cluster.Timeout = 5 * time.Second
	var killed, waited atomic.Bool
	back := make(chan error, 1)
	o.Progress = func(p Progress) {
		if p.Waiting != "" {
			waited.Store(true)
		}
		if p.Done == 1 && p.Updates > 0 && !killed.Swap(true) {
			back <- node.Kill()
			go func() { back <- node.Start(context.WithoutCancel(t.Context())) }()
		}
	}
	r, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := <-back; err != nil {
			t.Error(err)
		}
	}
	if !killed.Load() || !waited.Load() || r.Restarts == 0 || !r.Clean() || r.Designs+len(r.Skipped) != 6 {
		t.Errorf("killed %t, waited %t: %+v", killed.Load(), waited.Load(), r)
	}
	session, err := o.Cluster.CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	for names := session.Query("SELECT keyspace_name FROM system_schema.keyspaces").Iter().Scanner(); names.Next(); {
		var name string
		if err := names.Scan(&name); err != nil || strings.HasPrefix(name, prefix) {
			t.Errorf("left behind: %q, %v", name, err)
		}
	}
	session.Close()

	o.Wait = time.Second
	killed.Store(false)
	o.Progress = func(p Progress) {
		if p.Updates > 0 && !killed.Swap(true) {
			back <- node.Kill()
		}
	}
	began := time.Now()
	if _, err = Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "has not come back within 1s") || !strings.Contains(err.Error(), "the next run removes them") {
		t.Errorf("%v", err)
	}
	t.Logf("%v: %v", time.Since(began), err)
}
