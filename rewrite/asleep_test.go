package rewrite

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/helenus-db/helenus/rewrite/exec"
)

// TestSuspendedBeforeItsWrite: a machine is suspended once an entry was put, and before its write goes on. The others of a fleet may have taken the entry for that of a lost write meanwhile; or it
// expires before its row, whose life begins with the write. It is put again, though by the runtime's clock no time has passed.
func TestSuspendedBeforeItsWrite(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		first []([]byte)
		slept time.Duration
		puts  int64
	}{
		"for days":                   {setGuest, nil, 12 * 24 * time.Hour, 2},
		"for a while":                {setGuest, nil, 30 * time.Minute, 1},
		"for a while, and expires":   {setUntil, [][]byte{num(60)}, 30 * time.Minute, 2},
		"for seconds, and expires":   {setUntil, [][]byte{num(60)}, 30 * time.Second, 1},
		"for longer than it expires": {setUntil, [][]byte{num(60)}, 2 * time.Hour, 2},
	} {
		t.Run(name, func(t *testing.T) {
			serving(t, func(t *testing.T, w *world) {
				var slept, puts atomic.Int64
				w.engine.options.Elapsed = func() time.Duration { return w.engine.options.Uptime() + time.Duration(slept.Load()) }
				w.db.Before.Set(func(_ context.Context, q exec.Query) error {
					if strings.HasPrefix(q.Text, "INSERT INTO hotel.stays_by_guest ") && puts.Add(1) == 1 {
						slept.Store(int64(c.slept))
					}
					return nil
				})
				w.send(c.text, stamped(time.Now().UnixMicro()), slices.Concat(c.first, [][]byte{str("zoe")}, emptiedKey)...)
				if puts.Load() != c.puts || !w.served("zoe") {
					t.Errorf("the entry was put %d times", puts.Load())
				}
			})
		})
	}
}
