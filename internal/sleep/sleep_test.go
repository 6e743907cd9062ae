package sleep_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/helenus-db/helenus/internal/sleep"
)

func TestFor(t *testing.T) {
	for name, c := range map[string]struct {
		wanted, want time.Duration // for how long it is wanted at all, and how long it takes
		err          error
	}{
		"to its end":        {time.Hour, time.Minute, nil},
		"cut short":         {time.Second, time.Second, context.DeadlineExceeded},
		"never wanted":      {0, 0, context.DeadlineExceeded},
		"for just the time": {time.Minute + 1, time.Minute, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), c.wanted)
				defer cancel()
				began := time.Now()
				if err := sleep.For(ctx, time.Minute); !errors.Is(err, c.err) || time.Since(began) != c.want {
					t.Errorf("%v after %s, not %v after %s", err, time.Since(began), c.err, c.want)
				}
			})
		})
	}
}
