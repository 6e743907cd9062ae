//go:build !linux

package tcp

import "net"

// sparing is not for this system.
type sparing struct{}

func newSparing(*net.TCPConn, func() int64) *sparing { return nil }

func (*sparing) follow(func() []byte, func(int, int64) error, func()) error {
	panic("tcp: not for this system")
}
