package rewrite

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/helenus-db/helenus/rewrite/exec"
)

// TestSuspendedBeforeItsWrite: a machine is suspended once an entry was put, and before its write goes on. The others of a fleet may have taken the entry for that of a lost write meanwhile:
// it is put again, though by the runtime's clock no time has passed.
func TestSuspendedBeforeItsWrite(t *testing.T) {
	serving(t, func(t *testing.T, w *world) {
		var slept, puts atomic.Int64
		w.engine.options.Elapsed = func() time.Duration { return w.engine.options.Uptime() + time.Duration(slept.Load()) }
		w.db.Before.Set(func(_ context.Context, q exec.Query) error {
			if strings.HasPrefix(q.Text, "INSERT INTO hotel.stays_by_guest ") && puts.Add(1) == 1 {
				slept.Store(int64(12 * 24 * time.Hour))
			}
			return nil
		})
		w.send(setGuest, stamped(time.Now().UnixMicro()), append([][]byte{str("zoe")}, emptiedKey...)...)
		if puts.Load() != 2 || !w.served("zoe") {
			t.Errorf("the entry was put %d times", puts.Load())
		}
	})
}
