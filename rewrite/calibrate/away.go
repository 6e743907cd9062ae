package calibrate

import (
	"context"
	"errors"

	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/scratch"
)

// Down tells whether an error only says that Cassandra could not do it now, or could not be reached.
func Down(err error) bool {
	for _, own := range []any{new(*scratch.AtWorkError), new(*scratch.LeftBehindError), new(*LostError), new(*SettingError)} {
		if errors.As(err, own) {
			return false
		}
	}
	return !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) && exec.Down(err)
}
