//go:build unix

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// claim takes the directory of a member for as long as what is returned is open, or the process lives. A file's state locks itself; of members that share one, two in one
// directory would write over each other's history, and commands would ask the one that began last. Where locks can not be had there is none: the relay is worth more.
func claim(dir string) (io.Closer, error) {
	f, err := os.OpenFile(filepath.Join(dir, "member.lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, nil //nolint:nilerr,nilnil // what is kept there says so itself
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); errors.Is(err, syscall.EWOULDBLOCK) {
		_ = f.Close()
		return nil, fmt.Errorf("another member of the fleet runs with state-dir %s: each has one of its own; or take over from it: run --take-over", dir)
	}
	return f, nil
}
