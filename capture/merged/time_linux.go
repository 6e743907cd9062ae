package merged

import (
	"syscall"
	"time"
)

// processorTime is what the present thread has used of a processor: on a busy machine much less than went by.
func processorTime() time.Duration {
	const ofThread = 1 // RUSAGE_THREAD
	var u syscall.Rusage
	if syscall.Getrusage(ofThread, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
