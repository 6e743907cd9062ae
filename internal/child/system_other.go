//go:build !linux

package child

import (
	"errors"
	"syscall"
)

var errElsewhere = errors.New("child: processes that end with their parent need Linux (its parent death signal); run this in a Linux machine or container")

func dieWithParent() (*syscall.SysProcAttr, error) { return nil, errElsewhere }

// Nice does nothing here: no child was started.
func (p *Process) Nice(int) {}

// Resident is not known here.
func (p *Process) Resident() (int64, error) { return 0, errElsewhere }

// Watched says what keeps a child from being bounded here.
func Watched() error { return errElsewhere }
