package sequence

import (
	"context"
	"encoding/gob"
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/helenus-db/helenus/advisor/solve"
)

func TestReal(t *testing.T) {
	f, err := os.Open(os.Getenv("REAL"))
	if err != nil {
		t.Fatal(err)
	}
	p := &Problem{}
	if err := gob.NewDecoder(f).Decode(p); err != nil {
		t.Fatal(err)
	}
	arcs, roles, loads := 0, 0, 0
	for i := range p.Demands {
		arcs += len(p.Demands[i].Arcs)
		if i < 5 || len(p.Demands[i].Arcs) > 8000 {
			fmt.Println(p.Demands[i].Name, len(p.Demands[i].Arcs), p.Demands[i].States, p.Demands[i].Needed, p.Demands[i].Weights[:3])
		}
	}
	_ = roles
	for n := range p.Loads {
		loads += len(p.Loads[n].Arcs)
	}
	fmt.Println("steps", len(p.Steps), "tables", len(p.Tables), "demands", len(p.Demands), "arcs", arcs, "loads", loads, "space", p.Steps[0].Space)
	if os.Getenv("T44") != "" {
		p = p.Stretch(44)
	}
	began := time.Now()
	last := time.Now()
	r, err := Solve(context.Background(), p, Options{Solver: solve.New(solve.Config{}), Pruned: os.Getenv("EXACT") == "", Ties: os.Getenv("TIES") != "", Progress: func(x Progress) {
		if time.Since(last) > time.Second {
			last = time.Now()
			fmt.Printf("   %.1fs cost %.6g bound %.6g gap %.3g\n", x.Elapsed.Seconds(), x.Cost, x.Bound, (x.Cost-x.Bound)/x.Cost)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	fmt.Printf("took %v cost %.8g bound %.8g gap %.3g proven %v fewest %v stopped %q engine %s kept %d locals %d %+v sys %d MB\n", time.Since(began), r.Cost, r.Bound, (r.Cost-r.Bound)/r.Cost, r.Proven, r.Fewest, r.Stopped, r.Engine, len(r.Kept), r.Locals, r.Stats, m.Sys>>20)
	for s := range r.Open {
		created, dropped := 0, 0
		for n, is := range r.Open[s] {
			if s > 0 && is && !r.Open[s-1][n] {
				created++
			}
			if s > 0 && !is && r.Open[s-1][n] {
				dropped++
			}
		}
		fmt.Print(" +", created, "-", dropped)
	}
	fmt.Println()
}

// Stretch makes a horizon of n steps of the same pattern.
func (p *Problem) Stretch(n int) *Problem {
	q := *p
	q.Steps, q.Tables, q.Demands = nil, append([]Table(nil), p.Tables...), append([]Demand(nil), p.Demands...)
	at := func(t int) int { return t * len(p.Steps) / n }
	if os.Getenv("REPEAT") != "" {
		at = func(t int) int { return t % len(p.Steps) }
	}
	sample := func(l []float64) (o []float64) {
		for t := range n {
			o = append(o, l[at(t)])
		}
		return o
	}
	for t := range n {
		q.Steps = append(q.Steps, p.Steps[at(t)])
	}
	for i := range q.Tables {
		q.Tables[i].Upkeep, q.Tables[i].Birth = sample(q.Tables[i].Upkeep), sample(q.Tables[i].Birth)
		if n > 1 && at(1) == 0 {
			q.Tables[i].Birth[1] = q.Tables[i].Birth[len(q.Steps)-1]
		}
	}
	for i := range q.Demands {
		q.Demands[i].Weights = sample(q.Demands[i].Weights)
	}
	return &q
}
