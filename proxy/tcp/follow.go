package tcp

import (
	"io"
	"net"
)

// Follow reads from r until that fails, or took does, and returns why; never nil. Every read goes where space says (not
// empty), and took is told how many bytes came, and when by the clock. An end of the stream is io.EOF. Before it waits it says rest, if it
// asks for space anew after the wait: what waits needs none.
//
// From a TCP connection on Linux it takes what came at once with one system call, where Read in a loop needs two: the second
// finds nothing (follow_linux.go). Nobody else may read from that, or set its read deadline, meanwhile. Its Close returns when took has: took may not
// close it, nor wait for who does.
func Follow(r io.Reader, clock func() int64, space func() []byte, took func(n int, now int64) error, rest func()) error {
	if c, ok := r.(*net.TCPConn); ok {
		if s := newSparing(c, clock); s != nil {
			return s.follow(space, took, rest)
		}
	}
	for {
		n, err := r.Read(space())
		if n > 0 {
			if bad := took(n, clock()); bad != nil {
				return bad
			}
		}
		if err != nil {
			return err
		}
	}
}
