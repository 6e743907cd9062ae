package timeline

import (
	"context"
	"sync"

	"github.com/helenus-db/helenus/advisor/solve"
)

// counting is a solver that counts how often it is asked, and ends a context when that is so often.
type counting struct {
	*solve.Process
	mutex  sync.Mutex
	asked  int
	last   int // 0: none
	cancel context.CancelFunc
}

func (c *counting) Solve(ctx context.Context, p *solve.Problem, l solve.Limits) (*solve.Solution, error) {
	c.ask()
	return c.Process.Solve(ctx, p, l)
}

func (c *counting) Relax(ctx context.Context, p *solve.Problem) (*solve.Relaxation, error) {
	c.ask()
	return c.Process.Relax(ctx, p)
}

func (c *counting) ask() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.asked++; c.asked == c.last {
		c.cancel()
	}
}
