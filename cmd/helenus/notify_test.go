package main

import (
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestTheServiceManagerIsTold: READY=1 when it listens, whether Cassandra is there or not, WATCHDOG=1 for as long as it goes on, STOPPING=1 at its end.
func TestTheServiceManagerIsTold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notify")
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = socket.Close() }()
	t.Setenv("NOTIFY_SOCKET", path)
	t.Setenv("WATCHDOG_USEC", "300000")
	hears := func(want string) {
		t.Helper()
		buffer := make([]byte, 4096)
		for end := time.Now().Add(20 * time.Second); ; {
			_ = socket.SetReadDeadline(end)
			n, err := socket.Read(buffer)
			if err != nil {
				t.Fatalf("never heard %s: %v", want, err)
			}
			if strings.Contains(string(buffer[:n]), want) {
				return
			}
		}
	}
	p := newProcess(t, freeAddress(t)) // nobody is there
	p.start()
	hears("READY=1")
	begin := time.Now()
	for range 4 {
		hears("WATCHDOG=1")
	}
	if took := time.Since(begin); took > 5*time.Second { // 0.4 s on a machine that has nothing else to do
		t.Errorf("four times in %v, where each 300 ms are a limit", took)
	}
	if code := func() int { defer hears("STOPPING=1"); return p.stop() }(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
