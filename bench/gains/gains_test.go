package main

import (
	"math"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/helenus-db/helenus/internal/cassandra/cassandratest"
	"github.com/helenus-db/helenus/internal/long"
)

// TestSmoke goes through one table's changes on a Cassandra of its own, for minutes, as what is measured has to be learned first: of `make test-long`.
func TestSmoke(t *testing.T) {
	long.Only(t, "minutes")
	cassandratest.ContactPoints(t) // skips where no Cassandra can run
	folder := t.TempDir()
	program := filepath.Join(folder, "helenus")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../../cmd/helenus").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(folder, "helenus-solver"), "../../cmd/helenus-solver").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	r, err := measure(t.Context(), settings{helenus: program, heap: "512m", out: folder, command: "the test", reportOnly: true, seed: 1, sizes: []int{12000}, warm: 2, learned: 8, turns: 4, patience: 5 * time.Minute, say: t.Logf})
	if err != nil {
		t.Fatal(err)
	}
	if r.Reads != 3 || r.Serving == 0 || r.Serving != r.Advised {
		t.Errorf("%d of %d reads are advised on, %d served", r.Advised, r.Reads, r.Serving)
	}
	for _, x := range r.Rows {
		if x.State == "serving" && (x.Before <= 0 || x.After <= 0 || x.SaidBefore <= x.SaidAfter || x.SaidAfter <= 0 || x.Served != 1) {
			t.Errorf("%+v", x)
		}
	}
}

// TestJudged: changes that do not serve count for nothing but themselves; what is foretold in another order or too high shows.
func TestJudged(t *testing.T) {
	list := shapes(whole)
	one := func(i int, state string, saidBefore, saidAfter, before, after float64) *target {
		x := &target{shape: list[i], column: &list[i].columns[0], state: state, learned: []float64{before}}
		if state != "" {
			x.advice = &advice{ID: strings.Repeat("r", i+1)}
			x.advice.Statements = append(x.advice.Statements, struct {
				Before float64 `json:"predicted_before_ms"`
				After  float64 `json:"predicted_after_ms"`
			}{saidBefore, saidAfter})
		}
		if state == "serving" {
			x.before, x.after = []float64{before, before, 9 * before}, []float64{after}
		}
		return x
	}
	r := judged([]*target{
		one(0, "serving", 11, 1, 11, 1), one(1, "serving", 22, 2, 27, 2), one(2, "serving", 7, 2, 5, 6), one(3, "failed", 50, 1, 0, 0), one(4, "", 0, 0, 3, 0),
	}, map[string]float64{"r": 4, "rr": 3}, 4)
	if r.Reads != 5 || r.Advised != 4 || r.Serving != 3 || r.Slower != 1 {
		t.Errorf("%+v", r)
	}
	if r.Gains.Tau != 1 || math.Abs(r.Gains.Error-0.2) > 1e-9 {
		t.Errorf("gains: %+v", r.Gains)
	}
	if want := 11.0/13.5 - 1; math.Abs(r.Faster.Bias) > 1e-9 || math.Abs(r.Faster.Error+want) > 1e-9 {
		t.Errorf("times faster: %+v", r.Faster)
	}
	if math.Abs(r.After.Tau-2/math.Sqrt(6)) > 1e-9 {
		t.Errorf("after: %+v", r.After)
	}
	if r.Rows[0].Served != 1 || r.Rows[1].Served != 0.75 {
		t.Errorf("%+v", r.Rows)
	}
	if r.wanted = 4; strings.Join(r.missed(), "; ") != "changes carried out; advice that made its reads slower" {
		t.Errorf("missed: %v", r.missed())
	}
	text := r.markdown()
	for _, want := range []string{"| changes carried out | >= 40 | 3 (of 5 reads, 4 advised on) |", "not advised", "| failed |", "75 %"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

// TestShapes: every value that is read is there, as often as it is said.
func TestShapes(t *testing.T) {
	for _, s := range shapes(whole) {
		for _, c := range s.columns {
			count := map[string]int{}
			for i := range s.rows {
				count[c.value(i)]++
			}
			for v, n := range count {
				if n < c.rows || n > c.rows+1 {
					t.Fatalf("%s.%s: %s has %d rows, not %d", s.table(), c.name, v, n, c.rows)
				}
			}
			if len(count) != c.distinct {
				t.Errorf("%s.%s: %d values, not %d", s.table(), c.name, len(count), c.distinct)
			}
		}
	}
}
