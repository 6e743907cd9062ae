package design

import (
	"math"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
)

// TestFigure9 proves that the program of figure 7's plan space has exactly the three solutions of figure 9.
func TestFigure9(t *testing.T) {
	w, err := workload.Load("../../examples/designs/nose-hotel.yaml")
	if err != nil {
		t.Fatal(err)
	}
	w.Statements = []*workload.Statement{w.Statement("fig7")}
	var pool []*model.Table
	for _, c := range []struct{ paths, partition, clustering, values string }{
		{"Room.Hotel Room.Amenity", "Hotel.HotelCity", "Amenity.AmenityID Room.RoomRate Room.RoomID", ""},
		{"Room.Hotel Room.Amenity", "Hotel.HotelCity", "Amenity.AmenityID Room.RoomID", ""},
		{"", "Hotel.HotelCity", "Hotel.HotelID", ""},
		{"Room.Hotel Room.Amenity", "Hotel.HotelID", "Amenity.AmenityID Room.RoomID", ""},
		{"", "Room.RoomID", "", "Room.RoomRate"},
	} {
		d := model.TableDocument{Name: model.Placed{Text: "t"}}
		for _, list := range []struct {
			text string
			to   *[]model.Placed
		}{{c.paths, &d.Paths}, {c.partition, &d.Partition}, {c.clustering, &d.Clustering}, {c.values, &d.Values}} {
			for _, name := range strings.Fields(list.text) {
				*list.to = append(*list.to, model.Placed{Text: name})
			}
		}
		made, err := d.Table("test", w.Graph)
		if err != nil {
			t.Fatal(err)
		}
		made.Existing = false
		pool = append(pool, made)
	}
	task, err := newTask(w, cost.NewConstants(cost.Parameters{}), pool, 0)
	if err != nil {
		t.Fatal(err)
	}
	program := newProgram(task, task.reduce(math.Inf(1), nil))
	arcs := program.arcs[0]
	solutions := map[[5]float64]int{}
	for mask := range 1 << len(arcs) {
		values := make([]float64, len(program.problem.Columns))
		for n := range pool {
			values[n] = 1
		}
		var used [5]float64 // delta_11 to delta_15
		for i, column := range arcs {
			if mask&(1<<i) == 0 {
				continue
			}
			values[column] = 1
			for n, table := range pool {
				if task.demands[0].space.Arcs[i].Table == table {
					used[n]++
				}
			}
		}
		if program.problem.Check(values) != nil {
			continue
		}
		solutions[used]++
		if used[3] > used[2] || used[4] > used[1]+used[3] || used[0]+used[1]+used[2] != 1 || used[0]+used[1]+used[3] != 1 || used[0]+used[4] != 1 {
			t.Errorf("N-27: %v breaks a row of figure 9", used)
		}
		for n, table := range pool { // delta_1j <= delta_j
			column := task.number[table]
			values[column] = 0
			if err := program.problem.Check(values); (err != nil) != (used[n] == 1) {
				t.Errorf("N-27: %v without table %d: %v", used, n+1, err)
			}
			values[column] = 1
		}
	}
	for _, want := range [][5]float64{{1, 0, 0, 0, 0}, {0, 1, 0, 0, 1}, {0, 0, 1, 1, 1}} {
		if solutions[want] != 1 {
			t.Errorf("N-27: solution %v occurs %d times, want once", want, solutions[want])
		}
	}
	if len(solutions) != 3 {
		t.Errorf("N-27: %d solutions, want 3: %v", len(solutions), solutions)
	}
	if columns := len(program.problem.Columns); columns != len(pool)+len(arcs) {
		t.Errorf("N-26: %d columns, want one for each of %d tables and %d arcs", columns, len(pool), len(arcs))
	}
}

// TestReduction compares programs with and without what the reduction leaves out.
func TestReduction(t *testing.T) {
	w, err := workload.Load("../../examples/designs/eac.yaml")
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Solver: panicky{}, Allow: func(x *model.Table) bool {
		return len(x.Tree.Entities) < 4 || x.Partition[0].Attribute.Name == "ServerID"
	}}
	task, _, err := prepare(w, &o)
	if err != nil {
		t.Fatal(err)
	}
	incumbent, known, ok := task.greedy()
	if !ok {
		t.Fatal("the search found nothing")
	}
	sum := func(r *reduction) (n int) {
		for _, arcs := range r.arcs {
			for _, keep := range arcs {
				if keep {
					n++
				}
			}
		}
		return n
	}
	r := task.reduce(known, incumbent)
	if whole := task.reduce(math.Inf(1), nil); sum(r) >= sum(whole) {
		t.Errorf("%d arcs of %d are left", sum(r), sum(whole))
	}
	if r.bound > known*(1+1e-9) {
		t.Errorf("the lower bound %g is above a choice that costs %g", r.bound, known)
	}
	program := newProgram(task, r)
	program.start(incumbent)
	if err := program.problem.Check(program.problem.Start); err != nil {
		t.Errorf("the incumbent is not a solution of the reduced program: %v", err)
	}
	if got := program.problem.Objective(program.problem.Start); math.Abs(got-known) > 1e-6*known {
		t.Errorf("the incumbent costs %g in the program, %g by its plans", got, known)
	}
}
