//go:build !linux

package tcp

import (
	"net"
	"time"
)

func giveUpAfter(*net.TCPConn, time.Duration) error { return nil }
