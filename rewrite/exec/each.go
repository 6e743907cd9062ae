package exec

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/helenus-db/helenus/internal/guard"
)

// each does a thing n times, up to parallel of them at once, and returns when all that were begun are done. The first
// error cancels the others and is returned. A single one is done by the caller's own goroutine.
func each(ctx context.Context, n, parallel int, do func(ctx context.Context, i int) error) error {
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
		wait.Go(guard.Reads, work)
	}
	work()
	wait.Wait()
	return first
}

// gather sends requests, up to parallel of them at once, and returns their answers in order. If there are more rows than
// most, or 0 for any number, in all, it is ErrTooManyRows. It is what plans read by, and the rows that a look-up names.
func gather(ctx context.Context, s Session, requests []Query, parallel, most int) ([]Answer, error) {
	answers := make([]Answer, len(requests))
	var rows atomic.Int64
	err := each(ctx, len(requests), parallel, func(ctx context.Context, i int) error {
		answer, err := s.Query(ctx, requests[i])
		if err != nil {
			return err
		}
		answers[i] = answer
		if n := rows.Add(int64(len(answer.Rows))); most > 0 && n > int64(most) {
			return ErrTooManyRows
		}
		return nil
	})
	return answers, err
}
