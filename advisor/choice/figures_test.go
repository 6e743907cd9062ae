package choice

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/helenus-db/helenus/advisor/solve"
)

// figure7 is the question of seed 003's figures 7 to 9: one query, tables CF1 to CF5 and the paths CF1; CF2, CF5; CF3, CF4,
// CF5. Keeping table j costs upkeep[j].
func figure7(weight float64, upkeep ...float64) *Problem {
	const hotels, rooms = 2, 3
	p := &Problem{Demands: []Demand{{Name: "rooms", Weight: weight, States: 4, Arcs: []Arc{
		{From: Source, To: Sink, Price: 1, Table: 0}, {From: Source, To: rooms, Price: 1, Table: 1}, {From: Source, To: hotels, Price: 1, Table: 2},
		{From: hotels, To: rooms, Price: 10, Table: 3}, {From: rooms, To: Sink, Price: 80, Table: 4},
	}}}}
	for j, cost := range upkeep {
		p.Tables = append(p.Tables, Table{Name: fmt.Sprintf("CF%d", j+1), Upkeep: cost, Size: 1})
	}
	return p
}

// solutions are all values of 0 and 1 that satisfy a program's rows, with what each costs.
func solutions(p *program) (list [][]float64, costs []float64) {
	n := len(p.problem.Columns)
	for bits := range 1 << n {
		values, cost := make([]float64, n), 0.0
		for i := range values {
			values[i] = float64(bits >> i & 1)
			cost += values[i] * p.problem.Columns[i].Cost
		}
		if !slices.ContainsFunc(p.problem.Rows, func(r solve.Row) bool {
			sum := 0.0
			for _, t := range r.Terms {
				sum += t.Coefficient * values[t.Column]
			}
			return sum < r.Lower-1e-9 || sum > r.Upper+1e-9
		}) {
			list, costs = append(list, values), append(costs, cost)
		}
	}
	return list, costs
}

// TestFigure9 is N-26 and N-27 for the program that is built: a column for each table and each use of one; used only if it
// is built; and exactly the figure's three values of d11 to d15.
func TestFigure9(t *testing.T) {
	in, err := compileProblem(figure7(10, 1, 1, 1, 1, 1))
	if err != nil {
		t.Fatal(err)
	}
	p := newProgram(in)
	if len(p.problem.Columns) != 10 {
		t.Fatalf("N-26: %d columns, want |Q||P| + |P| = 10", len(p.problem.Columns))
	}
	list, costs := solutions(p)
	found := map[string]bool{}
	for i, values := range list {
		uses := make([]float64, 5)
		for k, a := range in.demands[0].Edges {
			uses[in.demands[0].Roles[a.Role].Table] = values[p.arcs[0]+k]
		}
		built, paid := make([]bool, 5), 0.0
		for j := range uses {
			built[j] = values[p.column[j]] == 1
			if paid += values[p.column[j]]; uses[j] == 1 && !built[j] {
				t.Errorf("N-26: CF%d is used and not built", j+1)
			}
		}
		found[fmt.Sprint(uses)] = true
		// N-26: the objective is what the uses cost, ten times a second, and the tables; never below the cheapest path.
		price := 10 * (uses[0] + uses[1] + uses[2] + 10*uses[3] + 80*uses[4])
		if math.Abs(costs[i]-price-paid) > 1e-9 || costs[i] < in.problem.Cost(built)-1e-9 {
			t.Errorf("N-26: %v costs %g, want %g; the cheapest way with these tables %g", values, costs[i], price+paid, in.problem.Cost(built))
		}
	}
	if want := map[string]bool{"[0 0 1 1 1]": true, "[0 1 0 0 1]": true, "[1 0 0 0 0]": true}; fmt.Sprint(found) != fmt.Sprint(want) {
		t.Errorf("N-27: %v, want %v", found, want)
	}
}

// TestFigure13 is N-45: a table's upkeep is in the objective if it is built, and its support query, weighted as its
// update, has to be answered then and only then.
func TestFigure13(t *testing.T) {
	const changes = 3.0
	p := figure7(10, changes*8, 0, 0, 0, changes*1)
	p.Tables = append(p.Tables, Table{Name: "CF6", Size: 1})
	p.Demands = append(p.Demands, Demand{Name: "support of CF1", Weight: changes, States: 2, Needed: []int{0},
		Arcs: []Arc{{From: Source, To: Sink, Price: 2, Table: 5}}})
	in, err := compileProblem(p)
	if err != nil {
		t.Fatal(err)
	}
	list, costs := solutions(newProgram(in))
	least := map[string]float64{} // by the tables built
	built := newProgram(in)
	for i, values := range list {
		open := make([]bool, len(p.Tables))
		for j := range open {
			open[j] = values[built.column[j]] == 1
		}
		if open[0] && !open[5] {
			t.Errorf("N-45: CF1 is built and its support query is not answered: %v", values)
		}
		key := fmt.Sprint(open)
		if was, ok := least[key]; !ok || costs[i] < was {
			least[key] = costs[i]
		}
		if want := p.Cost(open); costs[i] < want-1e-9 {
			t.Errorf("N-45: %v costs %g, want at least %g", open, costs[i], want)
		}
	}
	for tables, want := range map[string]float64{
		"[true false false false false true]":  10 + changes*8 + changes*2, // CF1, CF6
		"[false true false false true false]":  10*81 + changes,            // CF2, CF5
		"[false false true true true false]":   10*91 + changes,            // CF3, CF4, CF5
		"[false false true true false false]":  math.Inf(1),
		"[true false false false false false]": math.Inf(1),
	} {
		got, ok := least[tables]
		if !ok {
			got = math.Inf(1)
		}
		if got != want && math.Abs(got-want) > 1e-9 {
			t.Errorf("N-45: tables %s cost %g, want %g", tables, got, want)
		}
	}
}
