//go:build !linux

package child

import (
	"errors"
	"syscall"
)

func dieWithParent() (*syscall.SysProcAttr, error) {
	return nil, errors.New("child: processes that end with their parent need Linux (its parent death signal); run this in a Linux machine or container")
}
