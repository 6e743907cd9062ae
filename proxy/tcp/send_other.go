//go:build !linux

package tcp

import "net"

// direct is not for this system.
type direct struct{}

func newDirect(*net.TCPConn) *direct { return nil }

func (*direct) write([]byte) (int, error) {
	panic("tcp: not for this system")
}
