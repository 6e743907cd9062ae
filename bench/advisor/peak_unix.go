//go:build unix

package main

import (
	"runtime"
	"syscall"
)

// used is the greatest memory that this process and its greatest child have had, in megabytes of 10^6 bytes, and the processor time that
// it and all its children have taken, in seconds.
func used() (own, child, processor float64) {
	unit := 1024.0 // Linux and BSD count kilobytes
	if runtime.GOOS == "darwin" {
		unit = 1
	}
	for who, to := range map[int]*float64{syscall.RUSAGE_SELF: &own, syscall.RUSAGE_CHILDREN: &child} {
		var u syscall.Rusage
		if syscall.Getrusage(who, &u) == nil {
			*to = float64(u.Maxrss) * unit / 1e6
			processor += float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
		}
	}
	return own, child, processor
}
