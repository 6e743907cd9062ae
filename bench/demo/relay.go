package main

import (
	"fmt"
	"io"
	"net"
)

// startRelay starts a relay to an address that copies bytes and knows nothing of what they say, until it is closed. It is what Helenus is held against, as a busy
// machine lets whoever stands between wait for a processor.
func startRelay(to string) (net.Listener, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start a relay to %s: %w", to, err)
	}
	go func() {
		for {
			front, err := l.Accept()
			if err != nil {
				return // it is closed
			}
			go pass(front, to)
		}
	}()
	return l, nil
}

// pass relays one connection until either side ends it.
func pass(front net.Conn, to string) {
	defer func() { _ = front.Close() }()
	back, err := net.Dial("tcp", to)
	if err != nil {
		return // who dialled sees it end
	}
	go func() {
		_, _ = io.Copy(back, front)
		_ = back.Close()
	}()
	_, _ = io.Copy(front, back)
}
