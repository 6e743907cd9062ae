package guard

import (
	"errors"
	"sync"
	"testing"
)

// down calls itself so often, as a driver does down to the socket.
//
//go:noinline
func down(n int) int {
	var room [200]byte
	room[n%len(room)] = byte(n)
	if n == 0 {
		return int(room[0])
	}
	return down(n-1) + int(room[n%len(room)])
}

// BenchmarkDeep: what a goroutine costs that calls deep, with and without a stack for that from the start.
func BenchmarkDeep(b *testing.B) {
	for name, start := range map[string]func(Part, func(), func(error)){"as it grows": Go, "at once": GoDeep} {
		b.Run(name, func(b *testing.B) {
			var wait sync.WaitGroup
			for b.Loop() {
				wait.Add(1)
				start(Writes, func() { defer wait.Done(); down(25) }, nil)
				wait.Wait()
			}
		})
	}
}

func TestDeepPanics(t *testing.T) {
	told := make(chan error)
	GoDeep(Writes, func() { panic("so deep") }, func(err error) { told <- err })
	err := <-told
	if p := (*Panic)(nil); !errors.As(err, &p) || p.Value != "so deep" {
		t.Errorf("%v", err)
	}
	var wait sync.WaitGroup
	InDeep(&wait, Writes, func() { panic("and again") })
	wait.Wait()
}
