package choice

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/advisor/solve"
)

// limitsOf draws up to two limits over a problem's tables.
func limitsOf(t *rapid.T, p *Problem) (list []Limit) {
	for range rapid.IntRange(0, 2).Draw(t, "limits") {
		l := Limit{Most: float64(rapid.IntRange(1, 8).Draw(t, "most"))}
		for n := range p.Tables {
			if of := rapid.IntRange(0, 4).Draw(t, "of"); of > 0 {
				l.Takes = append(l.Takes, Take{n, float64(of)})
			}
		}
		list = append(list, l)
	}
	return list
}

// within is what a choice costs, +Inf if it breaks a limit.
func within(p *Problem, limits []Limit, open []bool) float64 {
	for _, l := range limits {
		sum := 0.0
		for _, x := range l.Takes {
			if open[x.Table] {
				sum += x.Of
			}
		}
		if sum > l.Most {
			return math.Inf(1)
		}
	}
	return p.priceByPaths(open)
}

// TestLimits: a program with any limits comes to the least of all choices that keep them, from any start; its relaxation bounds that, and keeps of each table between nothing and all of it.
func TestLimits(t *testing.T) {
	met, tight := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		p := problems(t, 5)
		limits := limitsOf(t, p)
		least := p.leastOf(func(open []bool) float64 { return within(p, limits, open) })
		q, err := NewProgram(p, limits)
		var none *UnsatisfiableError
		if errors.As(err, &none) || errors.Is(err, errTight) {
			if !math.IsInf(least, 1) {
				t.Fatalf("%v, and the least is %g", err, least)
			}
			return
		}
		if r, err := q.Relax(context.Background(), engine{}); err == nil {
			if r.Bound > least+1e-6*(1+least) || len(r.Kept) != len(p.Tables) {
				t.Fatalf("at least %g, and the least is %g", r.Bound, least)
			}
			for n, v := range r.Kept {
				if v < -1e-9 || v > 1+1e-9 || p.Tables[n].Fixed && v != 1 {
					t.Fatalf("of table %d %g is kept", n, v)
				}
			}
			if r.Bound > least-1e-6*(1+least) {
				tight++
			}
		} else if !math.IsInf(least, 1) {
			t.Fatalf("no relaxation: %v, and the least is %g", err, least)
		}
		var start []bool
		if rapid.Bool().Draw(t, "started") {
			start = rapid.SliceOfN(rapid.Bool(), len(p.Tables), len(p.Tables)).Draw(t, "start")
		}
		a, err := q.Solve(context.Background(), engine{}, solve.Limits{}, start, false)
		if err != nil {
			t.Fatal(err)
		}
		if math.IsInf(least, 1) {
			if a.Open != nil {
				t.Fatalf("%+v, and there is no choice", a)
			}
			return
		}
		if met++; !a.Optimal || !about(within(p, limits, a.Open), least) || !about(a.Bound, least) || a.Failure != nil || a.Limit != "" || a.Engine == "" {
			t.Fatalf("%+v, which costs %g, and the least is %g", a, within(p, limits, a.Open), least)
		}
	})
	if met < 30 || tight < 10 {
		t.Errorf("%d programs with an answer, %d with as good a relaxation", met, tight)
	}
}

// TestHold: of the choices that cost no more than the least, a program that counts tables finds one that counts least, also where the least is nothing.
func TestHold(t *testing.T) {
	free, met := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		p := problems(t, 5)
		if rapid.Bool().Draw(t, "for nothing") { // with tables enough
			p.Space = 0
			for n := range p.Tables {
				p.Tables[n].Upkeep = 0
			}
			for i := range p.Demands {
				p.Demands[i].Arcs = append(p.Demands[i].Arcs, Arc{From: Source, To: Sink, Table: rapid.IntRange(0, len(p.Tables)-1).Draw(t, "over")})
			}
		}
		least := p.leastOf(p.priceByPaths)
		q, err := NewProgram(p, nil)
		if err != nil || math.IsInf(least, 1) {
			return
		}
		counts := make([]float64, len(p.Tables))
		for n := range counts {
			counts[n] = float64(rapid.IntRange(1, 3).Draw(t, "count"))
		}
		count := func(open []bool) (sum float64) {
			for n, is := range open {
				if is {
					sum += counts[n]
				}
			}
			return sum
		}
		fewest := p.leastOf(func(open []bool) float64 {
			if p.priceByPaths(open) > least {
				return math.Inf(1)
			}
			return count(open)
		})
		q.Hold(least*(1+1e-9), counts)
		a, err := q.Solve(context.Background(), engine{}, solve.Limits{}, nil, false)
		if err != nil || !a.Optimal {
			t.Fatalf("%+v, %v", a, err)
		}
		if c := p.priceByPaths(a.Open); !about(c, least) || count(a.Open) != fewest {
			t.Fatalf("%v costs %g and counts %g; the least is %g, and counts %g", a.Open, c, count(a.Open), least, fewest)
		}
		if met++; least == 0 {
			free++
		}
	})
	if met < 30 || free == 0 {
		t.Errorf("%d choices were held, %d of them at nothing", met, free)
	}
}

// TestProgramStart: a choice that is made a program's start keeps its rows, and costs there what it costs; a program is as large as was said beforehand, and in fewer rows where demands have shortcuts.
func TestProgramStart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := problems(t, 5)
		in, err := compileProblem(p)
		if err != nil {
			return
		}
		plain, compact := newProgram(in), &program{in: in, compact: true}
		compact.build()
		columns, rows := in.programSize()
		if len(plain.problem.Columns) != columns || len(plain.problem.Rows) > rows || len(compact.problem.Rows) > len(plain.problem.Rows) {
			t.Fatalf("%d and %d, compact %d, and said were %d and %d", len(plain.problem.Columns), len(plain.problem.Rows), len(compact.problem.Rows), columns, rows)
		}
		for open := range p.choices() {
			cost := p.priceByPaths(open)
			if math.IsInf(cost, 1) || slices.ContainsFunc(in.status, func(s int8) bool { return s == closed }) {
				continue
			}
			for _, q := range []*program{plain, compact} {
				q.setStart(open)
				if err := q.problem.Check(q.problem.Start); err != nil {
					t.Fatalf("%v: %v", open, err)
				}
				if got := q.problem.Objective(q.problem.Start) + in.openUpkeep(); !about(got, cost) || !slices.Equal(q.choiceOf(q.problem.Start), open) {
					t.Fatalf("%v costs %g, in the program %g by %v", open, cost, got, q.choiceOf(q.problem.Start))
				}
			}
		}
	})
}

// TestRelaxFails: without a solver of linear programs there is no relaxation, and its reason is told.
func TestRelaxFails(t *testing.T) {
	q, err := NewProgram(figure7(10, 1, 1, 1, 1, 1), nil)
	if err != nil {
		t.Fatal(err)
	}
	missing := solve.New(solve.Config{Path: "/nowhere"})
	if _, err := q.Relax(context.Background(), missing); !errors.Is(err, solve.ErrNoSimplex) {
		t.Errorf("%v", err)
	}
	if q.Columns() != 10 || q.Rows() == 0 { // N-26: |Q||P| + |P|
		t.Errorf("%d columns, %d rows", q.Columns(), q.Rows())
	}
	a, err := q.Solve(context.Background(), dying{}, solve.Limits{}, nil, false)
	if err != nil || a.Open != nil || !math.IsInf(a.Bound, -1) || !errors.Is(a.Failure, solve.ErrMemory) {
		t.Errorf("%+v, %v", a, err)
	}
}
