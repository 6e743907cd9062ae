package design

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/helenus-db/helenus/advisor/choice"
	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/advisor/workload"
)

func TestZZ(t *testing.T) {
	files := []string{"eac", "hotel", "nose-hotel"}
	if f := os.Getenv("ZZ"); f != "" {
		files = []string{f}
	}
	for _, name := range files {
		w, err := workload.Load("../../examples/designs/" + name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		ctx := context.Background()
		o := Options{Solver: solve.New(solve.Config{}), Progress: func(p choice.Progress) { if os.Getenv("ZZ") != "" {fmt.Println("   ", p.Cost, p.Bound, p.Elapsed) }}}
		t0 := time.Now()
		s, err := NewStudy(ctx, w, o)
		if err != nil {
			fmt.Println(name, err)
			continue
		}
		t1 := time.Now()
		d, err := s.Design(ctx)
		if err != nil {
			fmt.Println(name, err)
			continue
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		fmt.Printf("%s: cost %g bound %g proven %v fewest %v stopped %q engine %s %+v prepare %v phases %v; sys %d MB\n", name, d.After, d.Bound, d.Proven, d.Fewest, d.Stopped, d.Engine, s.result.Stats, t1.Sub(t0), d.Phases, m.Sys>>20)
	}
}

func TestYY(t *testing.T) {
	name := os.Getenv("ZZ")
	w, err := workload.Load("../../examples/designs/" + name + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewStudy(context.Background(), w, Options{Solver: solve.New(solve.Config{})})
	if err != nil {
		t.Fatal(err)
	}
	choice.Experiment(s.problem())
}

func TestLP(t *testing.T) {
	name := os.Getenv("ZZ")
	w, err := workload.Load("../../examples/designs/" + name + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewStudy(context.Background(), w, Options{Solver: solve.New(solve.Config{})})
	if err != nil {
		t.Fatal(err)
	}
	choice.LP(s.problem(), func(p *choice.Program) {
		t0 := time.Now()
		r, err := solve.New(solve.Config{}).Relax(context.Background(), p.Problem().(*solve.Problem))
		fmt.Println(err, time.Since(t0))
		fmt.Println(r.Objective)
	})
	for _, d := range s.demands {
		way, work := d.space.CheapestWay(s.priceOf(d), everything)
		_, none := d.space.CheapestWay(s.priceOf(d), s.chosen(make(selection, len(s.candidates))))
		fmt.Println(d.name, d.needed == nil, s.weights[d.statement]*d.times, "arcs", len(d.space.Arcs), "states", d.space.States, "cheapest", work, "existing", none, len(way), len(d.needed), d.space.Query)
	}
}
