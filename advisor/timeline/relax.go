package timeline

import (
	"context"
	"encoding/binary"
	"math"
	"sync"

	"github.com/helenus-db/helenus/advisor/choice"
	"github.com/helenus-db/helenus/advisor/sequence"
)

// relaxed is what the linear relaxation of runs says, window by window: a calendar costs at least what its windows do, each as if what it begins with
// were there for nothing. So time grows with the number of windows, and windows that are alike, as those of cycles are, are looked at once.
type relaxed struct {
	bound float64 // no calendar costs less that changes where weights do
	some  []bool  // by table of the problem: a run keeps some of it
}

// support is how much of a table a run has to keep for it to count.
const support = 0.01

func relax(ctx context.Context, p *sequence.Problem, r choice.Relaxer) (*relaxed, error) {
	x := &relaxed{some: make([]bool, len(p.Tables))}
	type window struct {
		found *sequence.Relaxed
		err   error
	}
	met := map[string]*window{}
	var windows []*window
	runs := len(p.Steps)
	count := (runs + windowRuns - 1) / windowRuns
	var wait sync.WaitGroup
	slots := make(chan struct{}, sideBySide)
	for i := range count {
		q := p.Window(i*runs/count, (i+1)*runs/count)
		key := windowKey(q)
		w := met[key]
		if w == nil {
			w = &window{}
			met[key] = w
			wait.Go(func() {
				slots <- struct{}{}
				defer func() { <-slots }()
				w.found, w.err = sequence.Relax(ctx, q, r)
			})
		}
		windows = append(windows, w)
	}
	wait.Wait()
	for _, w := range windows {
		if w.err != nil {
			return nil, w.err
		}
		x.bound += max(0, w.found.Bound)
		for _, kept := range w.found.Kept {
			for n, v := range kept {
				x.some[n] = x.some[n] || v > support
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
