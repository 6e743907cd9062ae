package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/helenus-db/helenus/bench/contest"
	"github.com/helenus-db/helenus/internal/cassandra/cassandratest"
)

func smoke(t *testing.T) options {
	t.Helper()
	o := options{workloads: "rubis,eac", files: "../../examples/designs", seed: 1, study: time.Second, command: "go test", out: t.TempDir()}
	o.small()
	o.point = cassandratest.ContactPoints(t)[0]
	return o
}

// TestSmoke (N-56, N-57, N-58, N-59, N-60, N-62): the whole benchmark on next to no data: every request of every mix over every design,
// where its time goes, the report, its charts, and nothing left behind.
func TestSmoke(t *testing.T) {
	o := smoke(t)
	var out bytes.Buffer
	if err := run(t.Context(), o, &out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	for name, charts := range map[string][]string{"rubis": {"requests", "mixes", "advisor", "prediction"}, "eac": {"requests"}} {
		data, err := os.ReadFile(filepath.Join(o.out, name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		var r contest.Result
		if err := json.Unmarshal(data, &r); err != nil {
			t.Fatal(err)
		}
		if r.Incomplete != "" || r.Failures != 0 || r.Machine.Cassandra == "" {
			t.Errorf("%s: %+v", name, r)
		}
		for _, m := range r.Mixes {
			if len(m.Means) < 2 || m.Means[m.Ours] <= 0 {
				t.Errorf("%s: mix %q: %v", name, m.Name, m.Means)
			}
		}
		for _, row := range r.Requests {
			for entry, f := range row.Took {
				if f.Count == 0 || f.Mean <= 0 || f.Requests < 1 {
					t.Errorf("%s: %s %s over the tables of %s: %+v", name, row.Request, row.Statement, entry, f)
				}
			}
		}
		if least := map[string]int{"rubis": 16 * 3, "eac": 9 * 2}[name]; len(r.Splits) < least {
			t.Errorf("%s: %d requests over designs were traced, of %d at least", name, len(r.Splits), least)
		}
		for _, s := range r.Splits {
			if parts := s.Client + s.Way + s.Coordinator + s.Replica; s.Count != 1 || s.Requests < 1 || s.Traced < 1 ||
				s.Lost < s.Traced && (s.Coordinator <= 0 || math.Abs(parts-s.Mean) > 1e-6) {
				t.Errorf("%s: traced: %+v", name, s)
			}
		}
		for _, e := range r.Entries {
			if e.Rows == 0 {
				t.Errorf("%s: nothing in the tables of %s", name, e.Name)
			}
		}
		if p := r.Prediction; name == "rubis" && (p == nil || len(p.Designs) != 3 || len(p.Statements) < 35) {
			t.Errorf("prediction: %+v", p)
		}
		text, err := os.ReadFile(filepath.Join(o.out, name+".md"))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "### By traces") || !strings.Contains(string(text), "**, weighted") {
			t.Errorf("%s: the report does not say where the time goes", name)
		}
		for _, c := range charts {
			file := name + "-" + c + ".svg"
			if _, err := os.Stat(filepath.Join(o.out, file)); err != nil || !strings.Contains(string(text), file) {
				t.Errorf("chart %s: %v", file, err)
			}
		}
	}
	none(t, o.point, prefix)
}

// TestInterrupted: Ctrl-C while it measures: what was measured is in the report, which says that there is more, and no
// keyspace is left behind.
func TestInterrupted(t *testing.T) {
	o := smoke(t)
	o.workloads, o.measure, o.most = "eac", time.Hour, 1<<30
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out := &watched{when: "measuring", then: func() { time.AfterFunc(2*time.Second, cancel) }}
	if err := run(ctx, o, out); !errors.Is(err, context.Canceled) {
		t.Fatalf("%v\n%s", err, out.String())
	}
	text, err := os.ReadFile(filepath.Join(o.out, "eac.md"))
	if err != nil || !strings.Contains(string(text), "Not complete") {
		t.Errorf("the report: %v\n%s", err, text)
	}
	none(t, o.point, prefix)
}

// watched calls a function when something is said.
type watched struct {
	bytes.Buffer
	when string
	then func()
}

func (w *watched) Write(p []byte) (int, error) {
	if w.then != nil && bytes.Contains(p, []byte(w.when)) {
		w.then()
		w.then = nil
	}
	return w.Buffer.Write(p)
}

func TestMisuse(t *testing.T) {
	for _, o := range []options{
		{workloads: "rubis,tpch", scale: 1, eacScale: 1, studyScale: 1, most: 1},
		{workloads: "rubis", scale: -1, eacScale: 1, studyScale: 1, most: 1},
	} {
		var misuse *usageError
		if err := run(t.Context(), o, &bytes.Buffer{}); !errors.As(err, &misuse) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
