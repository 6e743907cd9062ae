//go:build !linux

package proxy_test

import (
	"errors"
	"net"
)

func deafen(net.Conn) error { return errors.New("a socket can be made deaf on Linux only") }
