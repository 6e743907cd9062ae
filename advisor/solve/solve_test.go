package solve

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// misbehave is how a test makes the child, which is this test binary, fail.
const misbehave = "HELENUS_SOLVE_TEST"

// Misbehave is for TestMain, which is in a package of its own: the engine imports this one.
func Misbehave() {
	if mode := modes[os.Getenv(misbehave)]; mode != nil {
		mode()
	}
}

// Exact is the engine, for what is tested in this process.
var Exact Engine

var modes = map[string]func(){
	"crash": func() {
		_ = syscall.Kill(os.Getpid(), syscall.SIGSEGV)
		time.Sleep(time.Minute)
	},
	"exit": func() {
		fmt.Fprintln(os.Stderr, "the last words")
		os.Exit(7)
	},
	"other": func() { // a solver of another release
		_ = gob.NewEncoder(os.Stdout).Encode(reply{Greeting: "helenus-solver protocol 0"})
		time.Sleep(time.Hour)
	},
	"libraries": func() { // as the dynamic linker puts it
		fmt.Fprintln(os.Stderr, "error while loading shared libraries: libCbc.so.3")
		os.Exit(127)
	},
	"middle": func() {
		_ = gob.NewEncoder(os.Stdout).Encode(reply{Greeting: Protocol})
		fmt.Fprintln(os.Stderr, "the last words")
		os.Exit(7)
	},
	"hang": func() { time.Sleep(time.Hour) },
	"print": func() {
		fmt.Println(strings.Repeat("PASS\n", 10000))
		time.Sleep(time.Hour)
	},
	"stall": func() { // a solver stuck in one long linear program, after its incumbent
		encoder, p := gob.NewEncoder(os.Stdout), cover()
		_ = encoder.Encode(reply{Greeting: Protocol})
		_ = encoder.Encode(reply{Incumbent: NewSolution(p, Unproven, []float64{1, 0, 0}, p.Floor(), EngineHeuristic)})
		time.Sleep(time.Hour)
	},
	"assert": dying("ClpNonLinearCost.cpp:1064: Assertion `lowerValue <= upperValue' failed."), // an engine that holds the problem impossible
	"touch":  dying("SIGSEGV: segmentation violation"),                                         // or touches memory that is not its own
	"found": func() { // an engine that finds something, and dies of an assertion whatever it may do
		encoder := gob.NewEncoder(os.Stdout)
		_ = encoder.Encode(reply{Greeting: Protocol})
		r, err := decodeRequest(gob.NewDecoder(os.Stdin))
		if err == nil && !r.Preprocess {
			_ = encoder.Encode(reply{Incumbent: NewSolution(&r.Problem, Unproven, []float64{0, 1, 1}, r.Problem.Floor(), EngineHeuristic)})
		}
		fmt.Fprintln(os.Stderr, "ClpNonLinearCost.cpp:1064: Assertion `lowerValue <= upperValue' failed.", err)
		os.Exit(2)
	},
	"nested": func() {
		_, err := New(Config{}).Solve(context.Background(), cover(), Limits{})
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	},
}

// dying is an engine that dies with such words, unless it may preprocess the problem.
func dying(words string) func() {
	return func() {
		encoder := gob.NewEncoder(os.Stdout)
		_ = encoder.Encode(reply{Greeting: Protocol})
		r, err := decodeRequest(gob.NewDecoder(os.Stdin))
		if err != nil || !r.Preprocess {
			fmt.Fprintln(os.Stderr, words, err)
			os.Exit(2)
		}
		_ = encoder.Encode(reply{Solution: NewSolution(&r.Problem, Optimal, []float64{0, 1, 1}, 4, EngineCBC)})
		os.Exit(0)
	}
}

func inf(sign int) float64 { return math.Inf(sign) }

func binary(name string, cost float64) Column { return Column{name, cost, 0, 1, true} }

// row builds a row from coefficients by column; zeros are left out.
func row(name string, lower, upper float64, coefficients ...float64) Row {
	r := Row{Name: name, Lower: lower, Upper: upper}
	for j, a := range coefficients {
		if a != 0 {
			r.Terms = append(r.Terms, Term{j, a})
		}
	}
	return r
}

// cover: three sets over three elements; the two that cost 2 cover all, the one that covers all costs 5.
func cover() *Problem {
	return &Problem{
		Columns: []Column{binary("all", 5), binary("ab", 2), binary("bc", 2)},
		Rows:    []Row{row("a", 1, inf(1), 1, 1, 0), row("b", 1, inf(1), 1, 1, 1), row("c", 1, inf(1), 1, 0, 1)},
	}
}

func solved(t *testing.T, p *Problem, limits Limits) *Solution {
	t.Helper()
	s, err := New(Config{}).Solve(context.Background(), p, limits)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func wantProven(t *testing.T, s *Solution, want Status) {
	t.Helper()
	if s.Status != want {
		t.Fatalf("status %v, want %v (%+v)", s.Status, want, s)
	}
}

func TestSolve(t *testing.T) {
	free := Column{Name: "free", Cost: 1, Lower: inf(-1), Upper: inf(1)}
	for _, c := range []struct {
		name    string
		problem Problem
		status  Status
		values  []float64
	}{
		{"set cover", *cover(), Optimal, []float64{0, 1, 1}},
		{"nothing at all", Problem{}, Optimal, []float64{}},
		{"no rows", Problem{Columns: []Column{{"x", -2, 0, 3.5, true}, {"y", 1, -1, 2, false}, {"z", 0, -4, 4, false}}}, Optimal, []float64{3, -1, 0}},
		{"no rows, unbounded", Problem{Columns: []Column{free}}, Unbounded, nil},
		{"no integer in the bounds", Problem{Columns: []Column{{"x", 1, 0.2, 0.8, true}}}, Infeasible, nil},
		{"no integer in the bounds, with a row", Problem{Columns: []Column{{"x", 1, 0.2, 0.8, true}}, Rows: []Row{row("", 0, 1, 1)}}, Infeasible, nil},
		{"empty row that holds", Problem{Columns: []Column{binary("x", 1)}, Rows: []Row{row("e", -1, 0), row("", 1, 1, 1)}}, Optimal, []float64{1}},
		{"empty row that cannot", Problem{Columns: []Column{binary("x", 1)}, Rows: []Row{row("e", 1, 2), row("", 1, 1, 1)}}, Infeasible, nil},
		{"row of zero coefficients", Problem{Columns: []Column{binary("x", -1)}, Rows: []Row{{Terms: []Term{{0, 0}}, Lower: 0, Upper: inf(1)}}}, Optimal, []float64{1}},
		{"free row", Problem{Columns: []Column{binary("x", -1)}, Rows: []Row{row("", inf(-1), inf(1), 3)}}, Optimal, []float64{1}},
		{"ranged row", Problem{Columns: []Column{{"x", 1, 0, 10, true}}, Rows: []Row{row("", 3, 5, 2)}}, Optimal, []float64{2}},
		{"ranged row from above", Problem{Columns: []Column{{"x", -1, 0, 10, true}}, Rows: []Row{row("", 3, 5, 2)}}, Optimal, []float64{2}},
		{"infeasible by bounds", Problem{Columns: []Column{binary("x", 1), binary("y", 1)}, Rows: []Row{row("", 3, inf(1), 1, 1)}}, Infeasible, nil},
		{"infeasible linear program", Problem{Columns: []Column{{"x", 1, 0, 9, false}, {"y", 1, 0, 9, false}},
			Rows: []Row{row("", 4, 4, 1, 1), row("", 6, 6, 1, -1)}}, Infeasible, nil},
		{"infeasible only with integers", Problem{Columns: []Column{binary("x", 1), binary("y", 1), binary("z", 1)},
			Rows: []Row{row("", 1, 1, 1, 1), row("", 1, 1, 0, 1, 1), row("", 1, 1, 1, 0, 1)}}, Infeasible, nil},
		{"unbounded", Problem{Columns: []Column{{"x", -1, 0, inf(1), true}, {"y", 0, 0, inf(1), true}}, Rows: []Row{row("", 0, inf(1), 1, -1)}}, Unbounded, nil},
		{"unbounded linear program", Problem{Columns: []Column{{"x", -1, 0, inf(1), false}, {"y", 0, 0, inf(1), false}}, Rows: []Row{row("", 0, inf(1), 1, -1)}}, Unbounded, nil},
		{"linear program", Problem{Columns: []Column{{"a", 2, 0, inf(1), false}, {"b", 3, 0, inf(1), false}},
			Rows: []Row{row("", 4, inf(1), 1, 1), row("", 6, inf(1), 1, 3)}}, Optimal, []float64{3, 1}},
		{"tiny costs", Problem{Columns: []Column{binary("x", 3e-9), binary("y", 2e-9), binary("z", 2.5e-9)}, Rows: []Row{row("", 2, 2, 1, 1, 1)}}, Optimal, []float64{0, 1, 1}},
		{"huge costs", Problem{Columns: []Column{binary("x", 3e15), binary("y", 2e15), binary("z", 2.5e15)}, Rows: []Row{row("", 2, 2, 1, 1, 1)}}, Optimal, []float64{0, 1, 1}},
		{"near ties", Problem{Columns: []Column{binary("x", 1000.000002), binary("y", 1000.000001), binary("z", 1000.000003)}, Rows: []Row{row("", 1, 1, 1, 1, 1)}}, Optimal, []float64{0, 1, 0}},
		{"feasible, whatever probing says", Problem{Columns: []Column{{"a", -1, 0, 1, true}, {"b", -1, 0, 1, false}, {"c", 0, 0, 1, false}},
			Rows: []Row{row("", 0, inf(1), 1, 0, 1), row("", -2, -2, 0, -2, 1)}}, Optimal, []float64{1, 1, 0}},
		{"narrowed without end", Problem{Columns: []Column{{"a", 0, 0, 1, false}, binary("b", 0), {"c", 0, 0, 1, false}},
			Rows: []Row{row("", 0, 0, 1, 1, -1), row("", inf(-1), 0, -1, 0, 3)}}, Optimal, []float64{0, 0, 0}},
		{"all fixed", Problem{Columns: []Column{{"x", 1, 1, 1, true}, {"y", 1, 2, 2, false}}, Rows: []Row{row("", 3, 3, 1, 1)}}, Optimal, []float64{1, 2}},
		{"big M", Problem{Columns: []Column{binary("use", 1), {"amount", 0.125, 0, inf(1), false}},
			Rows: []Row{row("", inf(-1), 0, -1e4, 1), row("", 0.5, inf(1), 0, 1)}}, Optimal, []float64{1, 0.5}},
		// A ten-millionth of "use" would do, which to CBC's preprocessing is zero, and then nothing fits: it is off.
		{"M beyond the tolerance", Problem{Columns: []Column{binary("use", 1), {"amount", 0.125, 0, inf(1), false}},
			Rows: []Row{row("", inf(-1), 0, -1e7, 1), row("", 0.5, inf(1), 0, 1)}}, Optimal, []float64{1, 0.5}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := solved(t, &c.problem, Limits{})
			if c.status == Optimal && solveTrivial(&c.problem) != nil {
				if s.Status != Optimal {
					t.Fatalf("status %v", s.Status)
				}
			} else {
				wantProven(t, s, c.status)
			}
			if len(s.Values) != len(c.values) {
				t.Fatalf("values %v, want %v", s.Values, c.values)
			}
			for j, v := range c.values {
				if math.Abs(s.Values[j]-v) > 1e-6 || c.problem.Columns[j].Integer && s.Values[j] != v {
					t.Fatalf("values %v, want %v", s.Values, c.values)
				}
			}
			if s.Status == Optimal && (s.Gap != 0 || s.Bound != s.Objective || s.Limit != "") {
				t.Fatalf("optimal, but %+v", s)
			}
		})
	}
}

// problems generates small problems over 0/1 and small integer columns, with a brute-force optimum.
func problems(t *rapid.T) *Problem {
	n := rapid.IntRange(1, 8).Draw(t, "columns")
	p := &Problem{}
	for range n {
		upper := rapid.SampledFrom([]float64{1, 1, 1, 2}).Draw(t, "upper")
		p.Columns = append(p.Columns, Column{"", float64(rapid.IntRange(-9, 20).Draw(t, "cost")) / 4, 0, upper, true})
	}
	for range rapid.IntRange(0, 6).Draw(t, "rows") {
		coefficients := rapid.SliceOfN(rapid.SampledFrom([]float64{0, 0, 1, 1, -1, 2, 3, -2}), n, n).Draw(t, "row")
		bound := float64(rapid.IntRange(-2, 4).Draw(t, "bound"))
		switch rapid.IntRange(0, 3).Draw(t, "sense") {
		case 0:
			p.Rows = append(p.Rows, row("", bound, inf(1), coefficients...))
		case 1:
			p.Rows = append(p.Rows, row("", inf(-1), bound, coefficients...))
		case 2:
			p.Rows = append(p.Rows, row("", bound, bound, coefficients...))
		default:
			p.Rows = append(p.Rows, row("", bound-2, bound+1, coefficients...))
		}
	}
	return p
}

// bruteForce tries every point; all columns are integer and bounded.
func bruteForce(p *Problem) (best float64, feasible bool) {
	best = inf(1)
	values := make([]float64, len(p.Columns))
	var try func(j int)
	try = func(j int) {
		if j == len(values) {
			if p.Check(values) == nil {
				best, feasible = min(best, p.Objective(values)), true
			}
			return
		}
		for v := p.Columns[j].Lower; v <= p.Columns[j].Upper; v++ {
			values[j] = v
			try(j + 1)
		}
	}
	try(0)
	return best, feasible
}

func checkAgainstBruteForce(t *rapid.T, p *Problem, s *Solution, err error) {
	if err != nil {
		t.Fatal(err)
	}
	best, feasible := bruteForce(p)
	if s.Values != nil && p.Check(s.Values) != nil {
		t.Fatalf("infeasible values %v", s.Values)
	}
	switch {
	case !feasible:
		if s.Status != Infeasible {
			t.Fatalf("%+v, but there is no solution", s)
		}
	case s.Status != Optimal || math.Abs(s.Objective-best) > 1e-9:
		t.Fatalf("%+v, but the optimum is %v", s, best)
	}
}

// TestProcessAgainstBruteForce: in a process each, for on one random problem in ten thousand CBC ends its own by an assertion, and is asked again.
func TestProcessAgainstBruteForce(t *testing.T) {
	solver := New(Config{})
	rapid.Check(t, func(t *rapid.T) {
		p := problems(t)
		if rapid.Bool().Draw(t, "start") {
			p.Start = rapid.SliceOfN(rapid.SampledFrom([]float64{0, 1}), len(p.Columns), len(p.Columns)).Draw(t, "values")
		}
		s, err := solver.Solve(context.Background(), p, Limits{})
		checkAgainstBruteForce(t, p, s, err)
	})
}

// warehouse is a facility location problem: hard enough to need a tree.
func warehouse(sites, customers int) *Problem {
	p := &Problem{}
	seed := uint32(12345)
	next := func(n int) float64 { seed = seed*1664525 + 1013904223; return float64(int(seed>>8) % n) }
	for i := range sites {
		p.Columns = append(p.Columns, binary(fmt.Sprintf("open %d", i), 200+next(200)))
	}
	for c := range customers {
		served := Row{Name: fmt.Sprintf("serve %d", c), Lower: 1, Upper: 1}
		for i := range sites {
			at := len(p.Columns)
			p.Columns = append(p.Columns, binary(fmt.Sprintf("%d from %d", c, i), 5+next(100)))
			served.Terms = append(served.Terms, Term{at, 1})
			p.Rows = append(p.Rows, Row{Name: fmt.Sprintf("if open %d %d", c, i), Lower: inf(-1), Upper: 0, Terms: []Term{{at, 1}, {i, -1}}})
		}
		p.Rows = append(p.Rows, served)
	}
	for i := range sites { // capacity makes it hard
		r := Row{Name: fmt.Sprintf("capacity %d", i), Lower: inf(-1), Upper: 0, Terms: []Term{{i, -float64(customers) / 4}}}
		for c := range customers {
			r.Terms = append(r.Terms, Term{sites + c*sites + i, 1 + next(3)/2})
		}
		p.Rows = append(p.Rows, r)
	}
	return p
}

// size is the greater one where HELENUS_TEST_ROUNDS asks for it: under the race detector large problems take minutes.
func size(large, small int) int {
	if os.Getenv("HELENUS_TEST_ROUNDS") != "" {
		return large
	}
	return small
}

func TestLimits(t *testing.T) {
	p := warehouse(size(10, 8), size(25, 16))
	for _, c := range []struct {
		limit  string
		limits Limits
	}{
		{LimitGap, Limits{Gap: 0.2}},
		{LimitNodes, Limits{Nodes: 5}},
		{LimitIterations, Limits{Iterations: 100}},
		{LimitWall, Limits{Wall: time.Millisecond}},
		{LimitWall, Limits{Wall: 300 * time.Millisecond}},
	} {
		t.Run(fmt.Sprintf("%s %+v", c.limit, c.limits), func(t *testing.T) {
			s := solved(t, p, c.limits)
			if s.Status != Stopped || s.Limit != c.limit {
				t.Fatalf("status %v, limit %q (%v .. %v)", s.Status, s.Limit, s.Bound, s.Objective)
			}
			if s.Values == nil && c.limits.Wall == 0 {
				t.Fatal("no values")
			}
			if s.Values != nil && (s.Bound >= s.Objective || s.Gap <= 0 || s.Gap != (s.Objective-s.Bound)/s.Objective) {
				t.Fatalf("%v .. %v, gap %v", s.Bound, s.Objective, s.Gap)
			}
			if c.limits.Gap > 0 && s.Gap > c.limits.Gap {
				t.Fatalf("stopped on a gap of %v", s.Gap)
			}
		})
	}
}

// TestBare: branching alone proves the same, and with a gap says no more than it looked for: its bound holds.
func TestBare(t *testing.T) {
	for n := 5; n < 9; n++ {
		p := warehouse(n, 2*n)
		best := solved(t, p, Limits{})
		p.Bare = true
		if s := solved(t, p, Limits{}); s.Status != Optimal || math.Abs(s.Objective-best.Objective) > 1e-6*best.Objective {
			t.Errorf("%d sites: %v, %v, not %v", n, s.Status, s.Objective, best.Objective)
		}
		for _, gap := range []float64{0.01, 0.1, 0.5} {
			p.Start = nil
			if gap < 0.5 {
				p.Start = solved(t, p, Limits{Gap: 0.9}).Values
			}
			s := solved(t, p, Limits{Gap: gap})
			if s.Status == Optimal && s.Objective > best.Objective*(1+1e-6) || s.Bound > best.Objective*(1+1e-6) || s.Objective < best.Objective*(1-1e-6) {
				t.Errorf("%d sites within %g: %v, %v .. %v, not %v", n, gap, s.Status, s.Bound, s.Objective, best.Objective)
			}
		}
		p.Start = nil
	}
}

func TestStartIsAFloor(t *testing.T) {
	p := warehouse(size(10, 8), size(25, 16))
	good := solved(t, p, Limits{Nodes: 50})
	p.Start = good.Values
	s := solved(t, p, Limits{Nodes: 1})
	if s.Objective > good.Objective {
		t.Fatalf("objective %v with a start of %v", s.Objective, good.Objective)
	}
	p.Start = make([]float64, len(p.Columns)) // serves nobody
	if s := solved(t, p, Limits{Nodes: 1}); s.Values == nil {
		t.Fatalf("an infeasible start: %+v", s)
	}
}

func TestSameAnswerTwice(t *testing.T) {
	p := warehouse(size(8, 6), size(15, 10))
	var first *Solution
	for range 2 {
		s := solved(t, p, Limits{Nodes: 50, Iterations: 2000, Gap: 0.001})
		if first == nil {
			first = s
		}
		if fmt.Sprint(*s) != fmt.Sprint(*first) {
			t.Fatalf("%+v, then %+v", first, s)
		}
	}
}

func TestAtOnce(t *testing.T) {
	p := cover()
	solver := New(Config{})
	answers := make(chan error)
	for range 4 {
		go func() {
			s, err := solver.Solve(context.Background(), p, Limits{})
			if err == nil && s.Objective != 4 {
				err = fmt.Errorf("objective %v", s.Objective)
			}
			answers <- err
		}()
	}
	for range 4 {
		if err := <-answers; err != nil {
			t.Error(err)
		}
	}
}

func TestChildFails(t *testing.T) {
	for _, c := range []struct {
		how, text string
	}{
		{"crash", "segmentation"},
		{"exit", "the last words"},
		{"print", "did not greet"},
		{"nested", "may not start another"},
		{"other", `speaks "helenus-solver protocol 0", and this program "` + Protocol + `": take the helenus-solver that came with this program`},
		{"libraries", "lacks libraries (error while loading shared libraries: libCbc.so.3): install COIN-OR"},
	} {
		t.Run(c.how, func(t *testing.T) { withoutSolver(t, New(Config{Env: []string{misbehave + "=" + c.how}}), c.text) })
	}
	t.Run("dies in the middle", func(t *testing.T) {
		_, err := New(Config{Env: []string{misbehave + "=middle"}}).Solve(context.Background(), cover(), Limits{})
		var worker *WorkerError
		if !errors.As(err, &worker) || !strings.Contains(err.Error(), "the last words") {
			t.Fatalf("error %v", err)
		}
	})
	for how, want := range map[string]float64{"hang": inf(1), "stall": 5} {
		t.Run("past the wall: "+how, func(t *testing.T) {
			s, err := New(Config{Env: []string{misbehave + "=" + how}}).Solve(context.Background(), cover(), Limits{Wall: time.Millisecond})
			if err != nil || s.Status != Stopped || s.Limit != LimitWall || s.Objective != want {
				t.Fatalf("%+v, %v", s, err)
			}
		})
	}
}

// TestCrashIsAskedAgain: a child that dies of the engine's assertion, or of memory that it touched, is followed by one that preprocesses, within the wall that is left.
func TestCrashIsAskedAgain(t *testing.T) {
	for _, how := range []string{"assert", "touch"} {
		w := New(Config{Env: []string{misbehave + "=" + how}})
		for _, limits := range []Limits{{}, {Wall: time.Minute}} {
			s, err := w.Solve(context.Background(), cover(), limits)
			if err != nil || s.Status != Optimal || s.Objective != 4 {
				t.Errorf("%s, %v: %+v, %v: want the optimum of the second child", how, limits, s, err)
			}
		}
	}
}

// TestFoundBeforeDeath: what a child had found before it died is not lost.
func TestFoundBeforeDeath(t *testing.T) {
	_, err := New(Config{Env: []string{misbehave + "=found"}}).Solve(context.Background(), cover(), Limits{})
	var fault *WorkerError
	if !errors.As(err, &fault) || fault.Found == nil || fault.Found.Objective != 4 || fault.Found.Status != Stopped {
		t.Errorf("%v: %+v, want what the first child told of", err, fault)
	}
}

// withoutSolver: what is no solver is refused with words that say why, and the heuristic answers instead, whether one has looked before or not.
func withoutSolver(t *testing.T, w *Process, why string) {
	t.Helper()
	for range 2 {
		s, err := w.Solve(context.Background(), cover(), Limits{})
		if err != nil || s.Status != Unproven || s.Engine != EngineHeuristic || s.Objective != 4 {
			t.Errorf("%+v, %v: want the heuristic's", s, err)
		}
		var missing *MissingError
		if _, err := w.Relax(context.Background(), cover()); !errors.Is(err, ErrNoSimplex) || !errors.As(err, &missing) {
			t.Errorf("relaxed: %v", err)
		}
		if err := w.Ready(); !errors.As(err, &missing) || !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(why)) {
			t.Errorf("ready: %v, want %q", err, why)
		}
	}
}

// TestFind: the solver is looked for where the setting says, in the environment, beside the program, and in PATH, in that order.
func TestFind(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path, setting := t.TempDir(), filepath.Join(t.TempDir(), "other")
	inPath, beside := filepath.Join(path, program), filepath.Join(filepath.Dir(self), program)
	t.Setenv("PATH", path)
	t.Setenv(Variable, "")
	withoutSolver(t, New(Config{}), "helenus-solver is neither in "+filepath.Dir(self)+" nor in PATH")
	withoutSolver(t, New(Config{Path: setting}), setting+" which the setting solver names can not be run")
	found := New(Config{})
	for _, name := range []string{inPath, beside, setting} {
		if err := os.Symlink(self, name); err != nil {
			t.Fatal(err)
		}
		if name == beside {
			t.Cleanup(func() { _ = os.Remove(beside) })
		}
		if got, missing := findProgram(""); missing != nil || name != setting && got != name {
			t.Errorf("found %s, %v; want %s", got, missing, name)
		}
	}
	if got, missing := findProgram(setting); missing != nil || got != setting {
		t.Errorf("found %s, %v; want %s", got, missing, setting)
	}
	t.Setenv(Variable, setting)
	if got, missing := findProgram(""); missing != nil || got != setting {
		t.Errorf("found %s, %v; want %s of the environment", got, missing, setting)
	}
	if err := found.Ready(); err != nil {
		t.Errorf("what was installed since is not found: %v", err)
	}
}

func TestCancelKillsTheChild(t *testing.T) {
	for _, how := range []string{"hang", ""} {
		ctx, cancel := context.WithCancel(context.Background())
		timer := time.AfterFunc(200*time.Millisecond, cancel)
		s, err := New(Config{Env: []string{misbehave + "=" + how}}).Solve(ctx, warehouse(25, 80), Limits{})
		timer.Stop()
		cancel()
		switch {
		case s == nil && errors.Is(err, context.Canceled): // before there was any solution
		case how == "" && err == nil && s.Status == Stopped && s.Limit == LimitCancelled && s.Bound < s.Objective: // the incumbent
		default:
			t.Fatalf("%q: %+v, %v", how, s, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := New(Config{}).Solve(ctx, cover(), Limits{}); !errors.Is(err, context.Canceled) {
		t.Fatalf("cancelled before: %v", err)
	}
}

func TestMemoryLimit(t *testing.T) {
	p := warehouse(40, 200)
	bounds := []int64{4 << 20, 40 << 20} // not enough for the problem itself; not enough for CBC
	for _, bound := range bounds {
		if _, err := New(Config{Memory: bound}).Solve(context.Background(), p, Limits{Nodes: 1}); !errors.Is(err, ErrMemory) {
			t.Errorf("%d bytes: error %v", bound, err)
		}
	}
	if s, err := New(Config{Memory: -1}).Solve(context.Background(), cover(), Limits{}); err != nil || s.Objective != 4 {
		t.Errorf("no bound: %+v, %v", s, err)
	}
}
