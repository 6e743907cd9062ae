package migrate

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestLockShows: who looks waits as long as the holder shows nothing, sees what it shows while it waits for others, and what is so once it has ended.
func TestLockShows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l lock
		m := Change{ID: "before"}
		look := func() <-chan string {
			seen := make(chan string, 1)
			go func() { seen <- l.look(func() Change { return m }).ID }()
			synctest.Wait()
			return seen
		}
		must := func(seen <-chan string, want string) {
			t.Helper()
			select {
			case got := <-seen:
				if got != want {
					t.Errorf("sees %q, not %q", got, want)
				}
			default:
				t.Errorf("waits, and should see %q", want)
			}
		}
		must(look(), "before")

		began := time.Now()
		l.Lock()
		waiting := look()
		if len(waiting) != 0 {
			t.Error("saw what is being changed")
		}
		l.show(&Change{ID: "as it was"})
		synctest.Wait()
		must(waiting, "as it was")
		must(look(), "as it was")

		l.show(nil)
		m.ID = "after"
		waiting = look()
		if len(waiting) != 0 {
			t.Error("saw what is being changed")
		}
		l.Unlock()
		synctest.Wait()
		must(waiting, "after")
		if d := time.Since(began); d != 0 {
			t.Errorf("slept %v, which hangs a bubble if somebody waits for a mutex meanwhile", d)
		}
	})
}

// TestLockExcludes: one holds it at a time, and freeing what nobody holds is a fault.
func TestLockExcludes(t *testing.T) {
	var l lock
	var wait sync.WaitGroup
	n := 0
	for range 8 {
		wait.Go(func() {
			for range 1000 {
				l.Lock()
				n++
				l.show(&Change{})
				l.Unlock()
				l.look(func() Change { _ = n; return Change{} })
			}
		})
	}
	wait.Wait()
	if n != 8000 {
		t.Errorf("%d, not 8000: several held it at once", n)
	}
	defer func() {
		if recover() == nil {
			t.Error("freed what nobody held")
		}
	}()
	l.Unlock()
}
