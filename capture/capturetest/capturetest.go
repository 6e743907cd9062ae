// Package capturetest puts a proxy before a real Cassandra for a test, so that a recorder hears what drivers say. It imports proxy, and only tests
// import it.
package capturetest

import (
	"context"
	"testing"
	"time"

	"github.com/helenus-db/helenus/proxy"
)

// wait is how long a proxy may take until it is ready; the machine may be busy.
const wait = time.Minute

// Proxy starts a proxy before a contact point and returns its address. It ends with the test.
func Proxy(t testing.TB, contact string, recorder proxy.Recorder) (address string) {
	t.Helper()
	server, err := proxy.New(proxy.Options{ContactPoints: []string{contact}, Listen: "127.0.0.1:0", Recorder: recorder})
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	for deadline := time.Now().Add(wait); !server.Ready(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the proxy is not ready after %v", wait)
		}
	}
	return server.Addrs()[0]
}
