//go:build unix

package main

import (
	"runtime"
	"syscall"
)

// peaks is the greatest memory that this process and its greatest child have had, in megabytes of 10^6 bytes.
func peaks() (own, child float64) {
	unit := 1024.0 // Linux and BSD count kilobytes
	if runtime.GOOS == "darwin" {
		unit = 1
	}
	for who, to := range map[int]*float64{syscall.RUSAGE_SELF: &own, syscall.RUSAGE_CHILDREN: &child} {
		var u syscall.Rusage
		if syscall.Getrusage(who, &u) == nil {
			*to = float64(u.Maxrss) * unit / 1e6
		}
	}
	return own, child
}
