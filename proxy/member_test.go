package proxy_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/proxy/proxytest"
	"github.com/helenus-db/helenus/proxy/wire"
)

// TestMember: every connection to Cassandra says whose it is, once, whatever the client says of that itself; all else of a STARTUP is the
// client's, and without Member its bytes are.
func TestMember(t *testing.T) {
	for _, member := range []string{"", "0123456789abcdef0123456789abcdef"} {
		for _, version := range []byte{3, 4, 5} {
			var mu sync.Mutex
			said := map[string][][2]string{} // by driver
			began := make(chan struct{}, 64)
			m := startMock(t, func(r *proxytest.Request) {
				if r.Header.Opcode == wire.OpStartup {
					var all [][2]string
					in := wire.NewReader(r.Body)
					in.StringMap(func(key, value []byte) { all = append(all, [2]string{string(key), string(value)}) })
					if in.Bad() || len(in.Rest()) > 0 {
						t.Errorf("a STARTUP that can not be read: %x", r.Body)
					}
					mu.Lock()
					said[r.Conn.Driver()] = all
					mu.Unlock()
					began <- struct{}{}
				}
				proxytest.Default(r)
			})
			s := startProxy(t, m, proxy.Options{Member: member})
			options := []string{"CQL_VERSION", "3.0.0", "DRIVER_NAME", "app", "helenus_member", "somebody", "THROW_ON_OVERLOAD", ""}
			c, err := proxytest.Dial(s.Addrs()[0], version)
			if err != nil {
				t.Fatal(err)
			}
			if h, _, err := c.Call(wire.OpStartup, startupBody(options...)); err != nil || h.Opcode != wire.OpReady {
				t.Fatalf("version %d: %v, %v", version, h, err)
			}
			c.Close()
			want := [][2]string{{"CQL_VERSION", "3.0.0"}, {"DRIVER_NAME", "app"}, {"helenus_member", "somebody"}, {"THROW_ON_OVERLOAD", ""}}
			own := [][2]string{{"CQL_VERSION", "3.0.0"}, {"DRIVER_NAME", "Helenus"}}
			if member != "" {
				want = append(append(want[:2:2], want[3]), [2]string{wire.MemberOption, member})
				own = append(own, [2]string{wire.MemberOption, member})
			}
			// The control connection begins beside the relay, whenever it comes to it.
			for range 2 {
				select {
				case <-began:
				case <-time.After(time.Minute):
					t.Fatalf("version %d, member %q: no STARTUP of the client and of the control connection within a minute", version, member)
				}
			}
			mu.Lock()
			slices.SortFunc(said["Helenus"], func(a, b [2]string) int { return strings.Compare(a[0], b[0]) }) // the library says them in any order
			if diff := cmp.Diff(map[string][][2]string{"app": want, "Helenus": own}, said); diff != "" {
				t.Errorf("version %d, member %q: %s", version, member, diff)
			}
			mu.Unlock()
		}
	}
}
