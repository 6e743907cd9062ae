package migrate

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/helenus-db/helenus/capture/store"
	"github.com/helenus-db/helenus/internal/change"
	"github.com/helenus-db/helenus/internal/guard"
	"github.com/helenus-db/helenus/rewrite/exec"
)

// A time-out of the state, or of Cassandra, says that something could not be done just now. What a worker holds then, a part that it has filled or a pass that it has ended,
// costs more to do again than to wait for: so it tries again by itself, attempts times, before its work ends and is begun anew after a rest (drive).

const (
	attempts  = 6
	firstRest = 100 * time.Millisecond // doubled up to lastRest: attempts take 3 s together, besides what each takes to fail
	lastRest  = 2 * time.Second
)

// resting is how long to rest after as many failures, one after the other.
func resting(failures int) time.Duration {
	return min(firstRest<<min(failures-1, 10), lastRest)
}

// transient tells whether what failed may succeed in a moment, if nothing else is done but to wait: not what ended, what was decided otherwise meanwhile, and what would fail again.
func transient(ctx context.Context, err error) bool {
	if err == nil || ctx.Err() != nil || !exec.Down(err) {
		return false
	}
	for _, final := range []error{errFilled, errBusy, errElsewhere, store.ErrConflict, store.ErrNotFound, exec.ErrTooManyRows} {
		if errors.Is(err, final) {
			return false
		}
	}
	return !is[*stop](err) && !is[*ErrPending](err) && !is[*ErrOwnership](err) && !is[*ErrState](err) && !is[*change.MoveError](err) && !is[*guard.Panic](err) &&
		!is[*json.SyntaxError](err) && !is[*json.UnmarshalTypeError](err)
}

// is tells whether an error is, or wraps, one of a type.
func is[E error](err error) bool {
	var e E
	return errors.As(err, &e)
}

// persist does something, and does it again as long as it fails for what may pass, attempts times at most.
func (m *Manager) persist(ctx context.Context, do func() error) error {
	for failures := 1; ; failures++ {
		err := do()
		if failures == attempts || !transient(ctx, err) {
			return err
		}
		if m.Wait(ctx, resting(failures)) != nil {
			return err
		}
	}
}
