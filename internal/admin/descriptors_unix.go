//go:build unix

package admin

import "syscall"

// descriptors is how many files this process may have open; 0 if nobody says.
func descriptors() uint64 {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return uint64(limit.Cur) //nolint:unconvert,gosec // its type differs between systems
}
