// Package sleep waits, for no longer than it is wanted.
//
// It imports nothing of ours.
package sleep

import (
	"context"
	"time"
)

// For waits until a time has passed, or ctx has ended: then its error is what is returned.
func For(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
