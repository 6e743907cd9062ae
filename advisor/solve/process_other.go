//go:build !linux

package solve

import (
	"os"
	"syscall"
)

// processAttributes: no parent death signal here; a child whose parent is killed ends with its solve.
func processAttributes() *syscall.SysProcAttr { return nil }

func lowerPriority(int) {}

// limitMemory does nothing here: only Linux bounds what a process may write to.
func limitMemory(int64) error { return nil }

// divertOutput returns f itself: a library that prints spoils the replies, and the solve fails with an error.
func divertOutput(f *os.File) (*os.File, error) { return f, nil }
