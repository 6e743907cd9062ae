package sequence

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/helenus-db/helenus/advisor/choice"
	"github.com/helenus-db/helenus/advisor/solve"
)

func solved(c *choice.Problem) []bool {
	r, err := choice.Solve(context.Background(), c, choice.Options{Limits: solve.Limits{Gap: 0.01}})
	if err != nil {
		panic(err)
	}
	return r.Open
}

func env(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

func TestScale(t *testing.T) {
	steps := env("STEPS", 12)
	weights := cycles
	if os.Getenv("EVOLUTION") != "" {
		weights = evolution(steps)
	}
	began := time.Now()
	p := synthetic(uint64(env("SEED", 1)), shape{queries: 24, entities: 8, variants: env("VARIANTS", 8), shared: 6, steps: steps, weights: weights, share: 0.8})
	arcs, loads := 0, 0
	for i := range p.Demands {
		arcs += len(p.Demands[i].Arcs)
	}
	for n := range p.Loads {
		loads += len(p.Loads[n].Arcs)
	}
	fmt.Println("steps", len(p.Steps), "tables", len(p.Tables), "demands", len(p.Demands), "arcs", arcs, "loads", loads, "space", p.Steps[0].Space, "made in", time.Since(began))
	began = time.Now()
	last, used := time.Now(), cpu()
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
	fmt.Printf("took %v cpu %v cost %.8g bound %.8g gap %.3g proven %v fewest %v stopped %q engine %s kept %d locals %d %+v sys %d MB\n", time.Since(began), cpu()-used, r.Cost, r.Bound, (r.Cost-r.Bound)/r.Cost, r.Proven, r.Fewest, r.Stopped, r.Engine, len(r.Kept), r.Locals, r.Stats, m.Sys>>20)
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

func env2(name string, otherwise float64) float64 {
	if n, err := strconv.ParseFloat(os.Getenv(name), 64); err == nil {
		return n
	}
	return otherwise
}

func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano())
}
