package timeline

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/helenus-db/helenus/advisor/choice"
	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/neutral"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/solve"
)

func TestProbe(t *testing.T) {
	w, err := neutral.Load("/work/shared/workloads/tpch-cycles.yaml")
	if err != nil {
		t.Fatal(err)
	}
	once := os.Getenv("ONCE") != ""
	mname := os.Getenv("COST")
	if mname == "" {
		mname = "cassandra"
	}
	m, _ := cost.ByName(mname)
	began := time.Now()
	s, err := design.NewStudy(context.Background(), w, design.Options{Solver: solve.New(solve.Config{}), Cost: m, Once: once, Allow: func(t *model.Table) bool { return len(t.Nests) == 0 && len(t.Indexes) == 0 }})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("study", time.Since(began), len(s.Candidates()), len(s.Demands()), len(s.Cut()))
	arcs := 0
	for _, d := range s.Demands() {
		arcs += len(d.Space.Arcs)
	}
	fmt.Println("arcs", arcs)
	began = time.Now()
	number := map[*model.Table]int{}
	for i, c := range s.Candidates() {
		number[c] = i
	}
	for depth := 1; depth <= 3; depth++ {
		began = time.Now()
		l := &loader{tables: s.Candidates(), number: number, price: func(*model.Table) float64 { return 1 }, depth: depth, byTree: map[string][]plan.Source{}}
		none := 0
		most := 0
		for _, c := range s.Candidates() {
			x := l.load(c)
			if len(x.Arcs) == 0 {
				none++
			}
			most = max(most, len(x.Arcs))
			if l.arcs > 5e6 {
				fmt.Println("stop at", c)
				break
			}
		}
		fmt.Println("loads depth", depth, time.Since(began), len(l.byTree), "arcs", l.arcs, "none", none, "most", most)
		if l.arcs > 1e6 {
			break
		}
	}
	_ = choice.None
}
