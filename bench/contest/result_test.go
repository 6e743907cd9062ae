package contest_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/bench/contest"
	"github.com/helenus-db/helenus/internal/chart"
)

var update = flag.Bool("update", false, "write golden files")

// measured is a result as a run makes it, of made-up figures.
func measured(t *testing.T) *contest.Result {
	t.Helper()
	var log []string
	c := &clock{time.Unix(0, 0)}
	l := loop(c, &log)
	tally, err := l.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, q := range l.Requests {
		for _, s := range q.Statements {
			s.Weights = map[string]float64{"read": 1 + 2*float64(i), "write": 1}
			s.Query, s.Write = nil, &workload.Write{}
			if i == 1 {
				delete(s.Weights, "write")
			}
			*s = *parsed(t, s)
		}
	}
	r := &contest.Result{
		Workload: "two", Command: "make two", Started: time.Date(2026, 11, 22, 3, 0, 0, 0, time.UTC), Seconds: 90, Scale: 0.5, Seed: 7,
		Entities: map[string]float64{"users": 1000, "regions": 5}, CostModel: "cassandra, calibrated",
		Machine: contest.Machine{Processors: 2, Memory: 24e9, System: "linux/amd64", Go: "go1.26", Cassandra: "5.0.8", Heap: "2g", Load: 0.31},
		Left:    map[string]string{"q31": "over slow no table answers it"}, Notes: []string{"A note."},
		Entries: []*contest.Side{
			{Name: "fast", Mix: "write", Rows: 1234567, Bytes: 2.5e6, Said: 5e6, Seconds: 3, Tables: []*contest.TableSize{{Name: "users", Table: "[id][][name]", Rows: 1000, Bytes: 2500}}},
			{Name: "slow", Rows: 10, Bytes: 300, Said: 12000, Seconds: 1, Missing: []string{"q31"}},
		},
		Prediction: &contest.Prediction{Model: "As calibrated", Designs: []contest.Foretold{{Name: "slow", Said: 7, Measured: 8, Work: 9}, {Name: "fast", Said: 2, Measured: 2, Work: 3}},
			Statements: []contest.Foretold{{Name: "a", Plan: "get users\nsort by name", Said: 3, Measured: 4, Count: 50}, {Name: "b", Said: 2, Measured: 2, Count: 50}}},
		Growth: []contest.Growth{{Scale: 1, Seconds: 0.1, Least: 0.05, Most: 0.2, Runs: 5}, {Scale: 2, Seconds: 0.5, Least: 0.4, Most: 0.9, Runs: 5}},
	}
	r.Prediction.Judge()
	r.Enter(l.Requests, []string{"read", "write"}, tally, func(entry, statement string) (contest.Said, bool) {
		return contest.Said{Work: 2, Latency: 1}, entry == "fast"
	})
	r.Mixes = []contest.Mix{
		r.Weigh("write", "fast", []string{"fast", "slow"}, nil),
		r.Weigh("read", "fast", []string{"fast", "slow", "slow*"}, []contest.Substitute{{Name: "slow*", Of: "fast", Requests: map[string]string{"only": "both"}}}),
	}
	return r
}

// parsed gives a made-up statement a text.
func parsed(t *testing.T, s *workload.Statement) *workload.Statement {
	t.Helper()
	p, err := workload.Parse(hotel(t).Graph, "SELECT Hotel.HotelCity FROM Hotel WHERE Hotel.HotelID = ?")
	if err != nil {
		t.Fatal(err)
	}
	p.ID, p.Group, p.Weights = s.ID, s.Group, s.Weights
	return p
}

func hotel(t *testing.T) *workload.Workload {
	t.Helper()
	w, err := workload.Load("../../examples/designs/figure7.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestWeighted(t *testing.T) {
	r := measured(t)
	write, read := r.Mixes[0], r.Mixes[1]
	if write.Means["fast"] != 2 || write.Means["slow"] != 8 || write.Factors["slow"] != 4 || write.Factors["fast"] != 1 {
		t.Errorf("mix of one request: %+v", write)
	}
	if want := (1*2.0 + 3*1) / 4; read.Means["fast"] != want {
		t.Errorf("mix of both: %+v, want %g", read, want)
	}
	if _, ok := read.Means["slow"]; ok {
		t.Error("a design that does not answer a request of a mix has a mean there")
	}
	if want := (1*2.0 + 3*2) / 4; read.Means["slow*"] != want {
		t.Errorf("a request that stands for another: %g, want %g", read.Means["slow*"], want)
	}
}

func TestReport(t *testing.T) {
	r := measured(t)
	var text bytes.Buffer
	if err := r.Markdown(&text, "Two designs", contest.Section{Title: "Charts", Text: "As in the paper.", Charts: []string{"two.svg"}}); err != nil {
		t.Fatal(err)
	}
	golden(t, "report.md", text.Bytes())
	text.Reset()
	if err := r.JSON(&text); err != nil {
		t.Fatal(err)
	}
	var back contest.Result
	if err := json.Unmarshal(text.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	if f := back.Requests[0].Took["slow"]; f.Mean != 8 || f.Count != 50 {
		t.Errorf("read back: %+v", f)
	}
	if s := back.Requests[1]; s.Statement != "a" || s.Said["fast"].Latency != 1 || len(s.Said) != 1 {
		t.Errorf("read back: %+v", s)
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file) //nolint:gosec // ours
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not as it was (go test -update writes it anew):\n%s", file, got)
	}
}

func TestCharts(t *testing.T) {
	r := measured(t)
	names := []string{"fast", "slow"}
	requests, err := r.RequestsChart("write", names, names)
	if err != nil {
		t.Fatal(err)
	}
	mixes, err := r.MixesChart([]string{"slow"}, []string{"slow"})
	if err != nil {
		t.Fatal(err)
	}
	growth, err := r.GrowthChart()
	if err != nil {
		t.Fatal(err)
	}
	charts, err := r.Prediction.Charts()
	if err != nil || len(charts) != 2 {
		t.Fatalf("%d charts: %v", len(charts), err)
	}
	var svg bytes.Buffer
	if err := chart.SVG(&svg, 2, append(charts, requests, mixes, growth)...); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"weighted", "both", "designed for the mix", "predicted, ms", "scale factor"} {
		if !strings.Contains(svg.String(), want) {
			t.Errorf("no %q in the charts", want)
		}
	}
}

func TestKendallTau(t *testing.T) {
	pairs := func(list ...float64) (all []contest.Foretold) {
		for i := 0; i < len(list); i += 2 {
			all = append(all, contest.Foretold{Said: list[i], Measured: list[i+1]})
		}
		return all
	}
	for _, c := range []struct {
		all  []contest.Foretold
		want float64
	}{
		{pairs(1, 10, 2, 20, 3, 30), 1},
		{pairs(1, 30, 2, 20, 3, 10), -1},
		{pairs(1, 10, 2, 30, 3, 20), 1.0 / 3},
		{pairs(1, 10, 1, 20, 2, 30), 2 / math.Sqrt(6)}, // one pair tied in one of the two: tau-b
		{pairs(1, 10, 1, 20), 0},
		{nil, 0},
	} {
		if got := contest.KendallTau(c.all); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v: %g, want %g", c.all, got, c.want)
		}
	}
}

// TestKendallTauOrder: whatever keeps the order keeps tau, and what reverses one side changes its sign.
func TestKendallTauOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.IntRange(1, 9), 4, 30).Draw(t, "values")
		var all, grown, turned []contest.Foretold
		for i := 0; i+1 < len(values); i += 2 {
			a, b := float64(values[i]), float64(values[i+1])
			all = append(all, contest.Foretold{Said: a, Measured: b})
			grown = append(grown, contest.Foretold{Said: a * a, Measured: math.Exp(b)})
			turned = append(turned, contest.Foretold{Said: 10 - a, Measured: b})
		}
		tau := contest.KendallTau(all)
		if tau < -1 || tau > 1 || contest.KendallTau(grown) != tau || contest.KendallTau(turned) != -tau {
			t.Fatalf("%g, grown %g, turned %g", tau, contest.KendallTau(grown), contest.KendallTau(turned))
		}
	})
}

func TestJudge(t *testing.T) {
	p := contest.Prediction{Statements: []contest.Foretold{{Said: 1, Measured: 2}, {Said: 3, Measured: 2}, {Said: 11, Measured: 10}, {Said: 1, Measured: 0}}}
	if p.Judge(); p.MedianError != 0.5 || p.P90Error != 0.5 {
		t.Errorf("%+v", p)
	}
}
