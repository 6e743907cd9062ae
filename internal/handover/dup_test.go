//go:build linux

package handover

import (
	"os"
	"syscall"
)

func dup(f *os.File) (int, error) { return syscall.Dup(int(f.Fd())) }
