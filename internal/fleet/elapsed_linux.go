package fleet

import (
	"time"

	"golang.org/x/sys/unix"
)

var began = time.Now()

// Elapsed is the time that has passed in the world since some beginning, also while the machine was suspended: the clock that the runtime calls monotonic stands still then, and a lease by it
// would hold when the machine wakes, however long the others have gone on without it.
func Elapsed() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &t) != nil { // which every Linux has since 2.6.39
		return time.Since(began)
	}
	return time.Duration(t.Nano())
}
