package planrun

import (
	"context"
	"sync/atomic"

	"github.com/helenus-db/helenus/rewrite/exec"
)

// gather sends requests, up to parallel of them at once, and returns their answers in order. If there are more rows than
// most, or 0 for any number, in all, it is exec.ErrTooManyRows. It is what plans read by.
func gather(ctx context.Context, s exec.Session, requests []exec.Query, parallel, most int) ([]exec.Answer, error) {
	answers := make([]exec.Answer, len(requests))
	var rows atomic.Int64
	err := exec.Each(ctx, len(requests), parallel, func(ctx context.Context, i int) error {
		answer, err := s.Query(ctx, requests[i])
		if err != nil {
			return err
		}
		answers[i] = answer
		if n := rows.Add(int64(len(answer.Rows))); most > 0 && n > int64(most) {
			return exec.ErrTooManyRows
		}
		return nil
	})
	return answers, err
}
