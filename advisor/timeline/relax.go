package timeline

import (
	"context"
	"encoding/binary"
	"math"

	"github.com/helenus-db/helenus/advisor/choice"
	"github.com/helenus-db/helenus/advisor/sequence"
	"github.com/helenus-db/helenus/internal/guard"
)

// relaxation is what the linear relaxation of runs says, window by window: a calendar costs at least what its windows do, each as if what it begins with
// were there for nothing. So time grows with the number of windows, and windows that are alike, as those of cycles are, are looked at once.
type relaxation struct {
	bound float64 // no calendar costs less that changes where weights do
	some  []bool  // by table of the problem: a run keeps some of it
	moves []bool  // by table: a run keeps more of it than another of its window
}

// support is how much of a table a run has to keep for it to count.
const support = 0.01

func relaxWindows(ctx context.Context, p *sequence.Problem, r choice.Relaxer) (*relaxation, error) {
	x := &relaxation{some: make([]bool, len(p.Tables)), moves: make([]bool, len(p.Tables))}
	place := map[string]int{} // of a window among those that differ
	var windows []*sequence.Problem
	var times []int // how often each is there
	runs := len(p.Steps)
	count := (runs + windowRuns - 1) / windowRuns
	for i := range count {
		q := p.Window(i*runs/count, (i+1)*runs/count)
		key := windowKey(q)
		at, known := place[key]
		if !known {
			at = len(windows)
			place[key], windows, times = at, append(windows, q), append(times, 0)
		}
		times[at]++
	}
	found, errs := make([]*sequence.Relaxed, len(windows)), make([]error, len(windows))
	guard.Each(guard.Advice, sideBySide, len(windows), func(i int) { found[i], errs[i] = sequence.Relax(ctx, windows[i], r) })
	for i, err := range errs {
		if err != nil {
			return nil, err
		}
		x.bound += float64(times[i]) * max(0, found[i].Bound)
		for _, kept := range found[i].Kept {
			for n, v := range kept {
				x.some[n] = x.some[n] || v > support
				x.moves[n] = x.moves[n] || math.Abs(v-found[i].Kept[0][n]) > support
			}
		}
	}
	return x, nil
}

// windowRuns is how many runs a window has at most: seed 004's cycles of 12 steps are one.
const windowRuns = 4

// windowKey tells windows of one problem apart.
func windowKey(p *sequence.Problem) string {
	var b []byte
	put := func(list []float64) {
		for _, v := range list {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		}
	}
	for n := range p.Tables {
		x := &p.Tables[n]
		if put(x.Upkeep); x.There {
			b = append(b, 1)
		}
		put(x.Birth)
	}
	for i := range p.Demands {
		put(p.Demands[i].Weights)
	}
	return string(b)
}
