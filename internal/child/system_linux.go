package child

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"syscall"
)

// dieWithParent returns the attributes of a child that the kernel kills when the thread that started it dies.
func dieWithParent() (*syscall.SysProcAttr, error) {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}, nil
}

// Nice makes way for others: the child, with what it starts from now on, takes what is left of a busy processor. A failure costs nothing but that.
func (p *Process) Nice(n int) { _ = syscall.Setpriority(syscall.PRIO_PGRP, p.Pid(), n) }

// Resident is how many bytes of memory the child takes now.
func (p *Process) Resident() (int64, error) { return resident(strconv.Itoa(p.Pid())) }

// Watched says what keeps a child from being bounded here; nil: nothing.
func Watched() error {
	_, err := resident("self")
	return err
}

func resident(pid string) (int64, error) {
	path := "/proc/" + pid + "/statm"
	text, err := os.ReadFile(path) // #nosec G304 -- of a process
	if err != nil {
		return 0, fmt.Errorf("child: the memory of a process can not be read: %w", err)
	}
	fields := bytes.Fields(text) // pages: size, resident, ...
	if len(fields) < 2 {
		return 0, fmt.Errorf("child: %s says %q", path, text)
	}
	pages, err := strconv.ParseInt(string(fields[1]), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("child: %s: %w", path, err)
	}
	return pages * int64(os.Getpagesize()), nil
}
