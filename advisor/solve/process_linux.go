package solve

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"syscall"
)

// processAttributes: the child is killed when this process ends, however it ends, and a Ctrl-C at the terminal is for the
// parent to act on.
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}

// lowerPriority lets the data path go first (it has three shares of a busy processor for one of ours). A failure costs nothing but that. A
// worker of a process that has made more way for others makes as much.
func lowerPriority(pid int) {
	const nice = 5
	if own, err := syscall.Getpriority(syscall.PRIO_PROCESS, 0); err == nil && 20-own > nice { // the system call says 20 less what is nice
		return
	}
	_ = syscall.Setpriority(syscall.PRIO_PGRP, pid, nice)
}

// limitMemory bounds this process's private writable memory (RLIMIT_DATA) at what it has now plus the given bytes. Not
// the address space: the Go runtime and the race detector reserve far more of that than they use. Should the machine
// itself run out, the worker is the first to go.
func limitMemory(bytes int64) error {
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)
	if bytes <= 0 {
		return nil
	}
	now, err := dataSize()
	if err != nil {
		return err
	}
	limit := now + uint64(bytes)
	return syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: limit, Max: limit})
}

// dataSize reads VmData, in bytes.
func dataSize() (uint64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	_, rest, found := bytes.Cut(status, []byte("VmData:"))
	fields := bytes.Fields(rest)
	if !found || len(fields) == 0 {
		return 0, fmt.Errorf("no VmData in /proc/self/status")
	}
	kilobytes, err := strconv.ParseUint(string(fields[0]), 10, 64)
	return kilobytes << 10, err
}

// divertOutput gives f's descriptor a new number and points the old one at standard error.
func divertOutput(f *os.File) (*os.File, error) {
	clean, err := syscall.Dup(int(f.Fd())) // #nosec G115 -- a descriptor fits an int
	if err != nil {
		return nil, err
	}
	syscall.CloseOnExec(clean)
	if err := syscall.Dup3(2, int(f.Fd()), 0); err != nil { // #nosec G115
		_ = syscall.Close(clean)
		return nil, err
	}
	return os.NewFile(uintptr(clean), f.Name()), nil // #nosec G115
}
