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
