package contest

import (
	"time"

	"golang.org/x/sys/unix"
)

// processorTime is what a process has used of the processors so far, all its threads together; 0 if the process is not
// known (pid 0) or gone. It is the process's CPU clock, of nanoseconds, which any process may read.
func processorTime(pid int) time.Duration {
	if pid <= 0 {
		return 0
	}
	// The kernel's name for it: the complement of the id, and below it which clock of the process (2: as scheduled).
	const scheduled = 2
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|scheduled), &t); err != nil { //nolint:gosec // process ids are below 2^22
		return 0
	}
	return time.Duration(t.Nano())
}
