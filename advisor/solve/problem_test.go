package solve

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

func TestValidate(t *testing.T) {
	nan := math.NaN()
	good := binary("good", 1)
	for _, c := range []struct {
		name    string
		problem Problem
		part    string
		index   int
		words   string
	}{
		{"cost", Problem{Columns: []Column{good, {"x", nan, 0, 1, true}}}, "column", 1, `column 1 ("x"): cost NaN`},
		{"infinite cost", Problem{Columns: []Column{{"x", inf(1), 0, 1, true}}}, "column", 0, "cost +Inf"},
		{"lower", Problem{Columns: []Column{{"x", 0, nan, 1, true}}}, "column", 0, "lower bound NaN"},
		{"upper", Problem{Columns: []Column{{"x", 0, 0, nan, true}}}, "column", 0, "upper bound NaN"},
		{"lower at the wrong end", Problem{Columns: []Column{{"x", 0, inf(1), inf(1), true}}}, "column", 0, "lower bound +Inf"},
		{"upper at the wrong end", Problem{Columns: []Column{{"x", 0, inf(-1), inf(-1), true}}}, "column", 0, "upper bound -Inf"},
		{"too large", Problem{Columns: []Column{{"x", 0, 0, 1e21, true}}}, "column", 0, "upper bound 1e+21"},
		{"crossed", Problem{Columns: []Column{{"x", 0, 2, 1, true}}}, "column", 0, "lower bound 2 is above upper bound 1"},
		{"same name", Problem{Columns: []Column{good, binary("y", 1), good}}, "column", 2, "number 0 has the same name"},
		{"row bounds", Problem{Columns: []Column{good}, Rows: []Row{row("r", nan, 1, 1)}}, "row", 0, `row 0 ("r"): lower bound NaN`},
		{"row crossed", Problem{Columns: []Column{good}, Rows: []Row{row("", 2, 1, 1)}}, "row", 0, "row 0: lower bound 2"},
		{"row name", Problem{Columns: []Column{good}, Rows: []Row{row("r", 0, 1, 1), row("r", 0, 1, 1)}}, "row", 1, "number 0 has the same name"},
		{"negative column", Problem{Columns: []Column{good}, Rows: []Row{{Terms: []Term{{-1, 1}}}}}, "row", 0, "a term names column -1"},
		{"no such column", Problem{Columns: []Column{good}, Rows: []Row{{Terms: []Term{{1, 1}}}}}, "row", 0, "there are 1 columns"},
		{"coefficient", Problem{Columns: []Column{good}, Rows: []Row{{Terms: []Term{{0, nan}}}}}, "row", 0, `coefficient NaN of column 0 ("good")`},
		{"twice", Problem{Columns: []Column{good}, Rows: []Row{{}, {Terms: []Term{{0, 1}, {0, 2}}}}}, "row", 1, `two terms name column 0 ("good")`},
		{"short start", Problem{Columns: []Column{good}, Start: []float64{}}, "start", 0, "0 values for 1 columns"},
		{"start", Problem{Columns: []Column{good}, Start: []float64{nan}}, "start", 0, "value NaN"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var invalid *InvalidError
			if err := c.problem.Validate(); !errors.As(err, &invalid) || invalid.Part != c.part || invalid.Index != c.index || !strings.Contains(err.Error(), c.words) {
				t.Fatalf("error %v", err)
			}
			for _, s := range []Solver{New(Config{Path: "/nowhere"}), Heuristic{}} { // refused before any child is started
				if _, err := s.Solve(context.Background(), &c.problem, Limits{}); !errors.As(err, &invalid) {
					t.Fatalf("%T: %v", s, err)
				}
			}
			if _, err := New(Config{Path: "/nowhere"}).Relax(context.Background(), &c.problem); !errors.As(err, &invalid) {
				t.Fatalf("relax: %v", err)
			}
		})
	}
	if err := warehouse(3, 4).Validate(); err != nil {
		t.Fatal(err)
	}
}

func TestLimitsAreChecked(t *testing.T) {
	for _, l := range []Limits{{Nodes: -1}, {Nodes: math.MaxInt}, {Gap: -0.1}, {Gap: 1}, {Gap: math.NaN()}, {Wall: -time.Second}} {
		for _, s := range []Solver{New(Config{Path: "/nowhere"}), Heuristic{}} {
			if _, err := s.Solve(context.Background(), cover(), l); err == nil || !strings.Contains(err.Error(), "limits not valid") {
				t.Errorf("%+v: %v", l, err)
			}
		}
	}
}

func TestCheck(t *testing.T) {
	p := &Problem{
		Columns: []Column{binary("x", 1), {"y", 1, 0, 5, false}},
		Rows:    []Row{row("sum", 1, 3, 1, 1), row("large", inf(-1), 1e9, 1e9, 0)},
	}
	for _, c := range []struct {
		values []float64
		words  string
	}{
		{[]float64{1, 2}, ""},
		{[]float64{1 - 1e-8, 2 + 1e-8}, ""},
		{[]float64{1}, "1 values for 2 columns"},
		{[]float64{1, 6}, `column 1 ("y") is 6 and must lie in [0, 5]`},
		{[]float64{0.5, 1}, `column 0 ("x") is 0.5 and must be an integer`},
		{[]float64{1, 2.5}, `row 0 ("sum") is 3.5 and must lie in [1, 3]`},
		{[]float64{1, math.NaN()}, `column 1 ("y") is NaN`},
	} {
		err := p.Check(c.values)
		if (err == nil) != (c.words == "") || err != nil && !strings.Contains(err.Error(), c.words) {
			t.Errorf("%v: %v", c.values, err)
		}
	}
	var infeasible *InfeasibleError
	if err := p.Check([]float64{0, 0}); !errors.As(err, &infeasible) || infeasible.Part != "row" || infeasible.Value != 0 {
		t.Errorf("%v", err)
	}
}

func TestStatusNames(t *testing.T) {
	for s, want := range map[Status]string{Optimal: "optimal", Stopped: "stopped", Infeasible: "infeasible", Unbounded: "unbounded", Unproven: "unproven", 0: "status 0", 6: "status 6"} {
		if s.String() != want {
			t.Errorf("%d is %q", int(s), s)
		}
	}
}
