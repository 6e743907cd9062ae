package main

import (
	"context"
	crypto "crypto/tls"
	"io"
	"net"
	"runtime/debug"
	"time"

	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/window"
	"github.com/helenus-db/helenus/proxy"
)

// splice is the least relay: io.Copy each way, which Linux does by splice(2), without the bytes entering the process,
// unless there is TLS.
func splice(l net.Listener, target string, tls *secured) error {
	for {
		front, err := l.Accept()
		if err != nil {
			return err
		}
		go func() {
			defer front.Close()
			back, err := tls.dial(target)
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
func (unruled) Unsure(string) proxy.Rule       { return nil }
func (unruled) Opaque(*proxy.Client) func()    { return func() {} }

// relaying is what `helenus run` wires on the data path: the server, and a registry that counts and samples.
type relaying struct {
	server   *proxy.Server
	registry *capture.Registry // nil: nobody counts
}

// schedules are when the roles of Helenus look at values: by default as `helenus run` does.
var schedules = map[string]window.Options{
	"helenus":           {},
	"helenus-unsampled": {Off: true},
	"helenus-sampling":  {Warm: 1 << 62}, // always
	// The default's share in a twentieth of its time, so that each round of a bench meets windows: 100 ms in 2 s, and a
	// budget that is a twentieth of the default's.
	"helenus-windows": {Window: 100 * time.Millisecond, Period: 2 * time.Second, Warm: 1, Budget: 1000},
}

// bare is the role of a Helenus that counts nothing.
const bare = "helenus-bare"

func startHelenus(target, role string, tls *secured) (*relaying, error) {
	r := &relaying{}
	o := proxy.Options{ContactPoints: []string{target}, Listen: "127.0.0.1:0", Rewriter: unruled{}, MaxConnections: 10_000}
	if tls != nil {
		o.Front, o.Back = tls.server, func(string) *crypto.Config { return tls.client }
	}
	if role != bare {
		r.registry = capture.New(capture.Options{Windows: schedules[role]})
		o.Recorder = r.registry
	}
	var err error
	if r.server, err = proxy.New(o); err != nil {
		return nil, err
	}
	return r, r.server.Start(context.Background())
}

// sampling tells whether a value window is open.
func (r *relaying) sampling() bool { return r.registry != nil && r.registry.Sampling(nil) }

// garbage lets what is not used any more go back, so that the next row starts alike.
func garbage() { debug.FreeOSMemory() }
