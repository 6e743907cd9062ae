package rewrite

import (
	"context"
	"testing"
	"time"

	"github.com/helenus-db/helenus/rewrite/migrate"
)

// TestWritesLeftBehind: a write that nobody has followed is on its way inside Cassandra when verification could begin: of a process that was killed, or of one that was resumed. Nothing is
// served before it has arrived.
func TestWritesLeftBehind(t *testing.T) {
	for name, begin := range map[string]func(w *world, t *testing.T){
		"by a process that was killed": func(w *world, _ *testing.T) {
			w.stop()
			w.boot(quick())
		},
		"while it was suspended": func(w *world, t *testing.T) {
			must(t, w.engine.manager.Suspend(context.Background(), "m1", "for the test", false))
			must(t, w.engine.Resume(context.Background(), "m1", "ann"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			serving(t, func(t *testing.T, w *world) {
				begin(w, t)
				time.Sleep(quick().Settle - time.Second)
				w.past("left", "guest1")
				w.await(migrate.Serving)
				if !w.served("guest1") { // compares with the base, too
					t.Error("not served")
				}
			})
		})
	}
}
