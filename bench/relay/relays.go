package main

import (
	"context"
	"io"
	"net"
	"runtime/debug"

	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/window"
	"github.com/helenus-db/helenus/proxy"
)

// splice is the least relay: io.Copy each way, which Linux does by splice(2), without the bytes entering the process.
func splice(l net.Listener, target string) error {
	for {
		front, err := l.Accept()
		if err != nil {
			return err
		}
		go func() {
			defer front.Close()
			back, err := net.Dial("tcp", target) // #nosec G704 -- the backend that the bench itself started
			if err != nil {
				return
			}
			defer back.Close()
			go func() { _, _ = io.Copy(back, front); front.Close(); back.Close() }()
			_, _ = io.Copy(front, back)
		}()
	}
}

// unruled is a Rewriter without rules, which is what the engine is until somebody approves of one.
type unruled struct{}

func (unruled) Epoch() uint64                  { return 0 }
func (unruled) Rule(string, string) proxy.Rule { return nil }
func (unruled) Take(*proxy.Request) bool       { return false }
func (unruled) Opaque(*proxy.Client) func()    { return func() {} }

// relaying is what `helenus run` wires on the data path: the server, and a registry that counts and samples at its
// defaults. always keeps its value window open.
type relaying struct {
	server   *proxy.Server
	registry *capture.Registry
}

func startHelenus(target string, always bool) (*relaying, error) {
	var windows window.Options
	if always {
		windows.Warm = 1 << 62
	}
	r := &relaying{registry: capture.New(capture.Options{Windows: windows})}
	var err error
	r.server, err = proxy.New(proxy.Options{ContactPoints: []string{target}, Listen: "127.0.0.1:0", Recorder: r.registry, Rewriter: unruled{}})
	if err != nil {
		return nil, err
	}
	return r, r.server.Start(context.Background())
}

// garbage lets what is not used any more go back, so that the next row starts alike.
func garbage() { debug.FreeOSMemory() }
