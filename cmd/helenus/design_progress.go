package main

import (
	"fmt"
	"io"
	"math"
	"sync"
	"time"

	"github.com/helenus-db/helenus/advisor/choice"
)

// A design that takes longer than patience says how far it is, every so often.
const (
	patience = 3 * time.Second
	often    = 2 * time.Second
)

// progress tells people who wait for a design how far it is. tell is called by whoever solves.
type progress struct {
	limit time.Duration // of a solve
	began time.Time

	mutex       sync.Mutex
	first, last choice.Progress
	solving     time.Time // when the solve began; zero before
}

// tell takes what a solve says. A solve that starts anew is one more: of a what-if, say.
func (p *progress) tell(x choice.Progress) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.solving.IsZero() || x.Elapsed < p.last.Elapsed {
		p.first, p.solving = x, time.Now().Add(-x.Elapsed)
	}
	if math.IsInf(gapOf(p.first), 1) {
		p.first = x
	}
	p.last = x
}

// gapOf is how much less another choice might cost, of 1; +Inf if that is not known yet.
func gapOf(x choice.Progress) float64 {
	switch {
	case math.IsInf(x.Cost, 0) || math.IsInf(x.Bound, 0):
		return math.Inf(1)
	case x.Cost <= x.Bound || x.Cost <= 0:
		return 0
	}
	return (x.Cost - x.Bound) / x.Cost
}

// line says how far it is: nothing of costs before the solve has begun. What is left is guessed from how fast the gap has
// closed since it was first known, and is no more than the limit on the solve.
func (p *progress) line(now time.Time) string {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	text := fmt.Sprintf("%v: ", now.Sub(p.began).Round(time.Second))
	gap, before := gapOf(p.last), gapOf(p.first)
	switch {
	case p.solving.IsZero():
		return text + "looking for tables and plans"
	case math.IsInf(p.last.Cost, 1):
		return text + "looking for a first design"
	case math.IsInf(gap, 1):
		text += fmt.Sprintf("a design that costs %.5g", p.last.Cost)
	default:
		text += fmt.Sprintf("a design that costs %.5g, none costs less than %.5g (gap %.2g %%)", p.last.Cost, p.last.Bound, 100*gap)
	}
	left := max(0, p.limit-now.Sub(p.solving))
	if closed := before - gap; closed > 0 && !math.IsInf(before, 1) {
		guess := time.Duration(float64(now.Sub(p.solving)-p.first.Elapsed) * gap / closed)
		if p.limit == 0 || guess < left {
			return text + fmt.Sprintf(", about %v left", max(time.Second, guess.Round(time.Second)))
		}
	}
	if p.limit > 0 {
		text += fmt.Sprintf(", at most %v left", left.Round(time.Second))
	}
	return text
}

// show writes lines until stop is called, which waits for the last one.
func (p *progress) show(w io.Writer) (stop func()) {
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		wait := time.NewTimer(patience)
		defer wait.Stop()
		for {
			select {
			case <-end:
				return
			case now := <-wait.C:
				_, _ = fmt.Fprintln(w, p.line(now)) // to people; nobody may be there
				wait.Reset(often)
			}
		}
	}()
	return func() {
		close(end)
		<-ended
	}
}
