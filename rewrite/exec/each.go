package exec

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/helenus-db/helenus/internal/guard"
)

// Each does a thing n times, up to parallel of them at once, and returns when all that were begun are done. The first
// error cancels the others and is returned. A single one is done by the caller's own goroutine.
func Each(ctx context.Context, n, parallel int, do func(ctx context.Context, i int) error) error {
	if n == 0 {
		return nil
	}
	if n == 1 {
		return do(ctx, 0)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		wait  guard.Group
		once  sync.Once
		first error
		next  atomic.Int64
	)
	work := func() {
		for {
			i := int(next.Add(1)) - 1
			if i >= n {
				return
			}
			err := context.Cause(ctx)
			if err == nil {
				err = do(ctx, i)
			}
			if err != nil {
				once.Do(func() { first = err; cancel() })
				return
			}
		}
	}
	for range min(max(parallel, 1), n) - 1 {
		wait.Go(guard.Reads, func() { guard.Deepen(); work() })
	}
	work()
	wait.Wait()
	return first
}
