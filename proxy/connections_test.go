package proxy_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/proxy/proxytest"
	"github.com/helenus-db/helenus/proxy/wire"
)

// asking is a mock that asks for an authenticator and takes the password "right".
func asking(class string) proxytest.Handler {
	return func(r *proxytest.Request) {
		switch r.Header.Opcode {
		case wire.OpStartup:
			r.Reply(wire.OpAuthenticate, wire.AppendString(nil, class))
		case wire.OpAuthResponse:
			if strings.HasSuffix(string(r.Body), "right") {
				r.Reply(wire.OpAuthSuccess, wire.AppendInt(nil, -1))
			} else {
				r.Reply(wire.OpError, wire.AppendError(nil, wire.ErrCredentials, "wrong"))
			}
		default:
			proxytest.Default(r)
		}
	}
}

const passwords = "org.apache.cassandra.auth.PasswordAuthenticator"

func TestTheRoleIsSeenAndThePasswordIsNot(t *testing.T) {
	token := func(s string) []byte { return wire.AppendBytes(nil, []byte(s)) }
	for _, tt := range []struct {
		name, class string
		responses   [][]byte
		want        string
	}{
		{"as drivers do", passwords, [][]byte{token("\x00ann\x00right")}, "ann"},
		{"short class name", "PasswordAuthenticator", [][]byte{token("\x00ann\x00right")}, "ann"},
		{"another identity", passwords, [][]byte{token("eve\x00ann\x00right")}, "ann"},
		{"second attempt", passwords, [][]byte{token("\x00eve\x00wrong"), token("\x00ann\x00right")}, "ann"},
		{"wrong password", passwords, [][]byte{token("\x00ann\x00wrong")}, ""},
		{"another authenticator", "com.example.TokenAuthenticator", [][]byte{token("\x00ann\x00right")}, ""},
		{"name that ends alike", "com.example.MyPasswordAuthenticator", [][]byte{token("\x00ann\x00right")}, ""},
		{"no token", passwords, [][]byte{[]byte("right")}, ""},
		{"one field", passwords, [][]byte{token("right")}, ""},
		{"two fields", passwords, [][]byte{token("\x00right")}, ""},
		{"four fields", passwords, [][]byte{token("\x00ann\x00secret\x00right")}, ""},
		{"longer than it says", passwords, [][]byte{append(token("\x00ann\x00"), "right"...)}, ""},
		{"null", passwords, [][]byte{wire.AppendBytes(nil, nil)}, ""},
		{"no text", passwords, [][]byte{token("\x00\xff\xfe\x00right")}, "\uFFFD"},
		{"long", passwords, [][]byte{token("\x00" + strings.Repeat("x", 1000) + "\x00right")}, strings.Repeat("x", 256)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := startProxy(t, startMock(t, asking(tt.class)), proxy.Options{})
			c, err := proxytest.Dial(s.Addrs()[0], 4)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if h, _, err := c.Call(wire.OpStartup, wire.AppendShort(nil, 0)); err != nil || h.Opcode != wire.OpAuthenticate {
				t.Fatal(h, err)
			}
			for _, b := range tt.responses {
				if _, _, err := c.Call(wire.OpAuthResponse, b); err != nil {
					t.Fatal(err)
				}
			}
			list := s.Connections()
			if len(list) != 1 || list[0].Role != tt.want || !list[0].Authenticated {
				t.Errorf("listed %+v, want role %q", list, tt.want)
			}
			b, err := json.Marshal(list)
			if err != nil || strings.Contains(string(b), "right") || strings.Contains(string(b), "wrong") {
				t.Errorf("%s %v", b, err)
			}
		})
	}
}

func TestConnections(t *testing.T) {
	release := make(chan struct{})
	m := startMock(t, func(r *proxytest.Request) {
		switch r.Text() {
		case "waits":
			go func() {
				<-release
				proxytest.Default(r)
			}()
		case "fails":
			r.Reply(wire.OpError, wire.AppendError(nil, 0x2200, "no"))
		default:
			proxytest.Default(r)
		}
	})
	s := startProxy(t, m, proxy.Options{})
	if list := s.Connections(); len(list) != 0 {
		t.Errorf("listed %+v", list)
	}
	began := time.Now()
	c, err := proxytest.Connect(s.Addrs()[0], 5, "APPLICATION_NAME", "shop", "APPLICATION_VERSION", "1.2",
		"driver_name", "scripted", "DRIVER_VERSION", strings.Repeat("9", 300), "CLIENT_ID", "i7")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	other := connect(t, s, 3)
	call(t, c, wire.OpQuery, proxytest.QueryBody(5, "USE things"))
	if _, _, err := c.Call(wire.OpQuery, proxytest.QueryBody(5, "fails")); err != nil {
		t.Fatal(err)
	}
	for i := range int16(2) {
		if err := c.Send(i, wire.OpQuery, 0, proxytest.QueryBody(5, "waits")); err != nil {
			t.Fatal(err)
		}
	}
	await(t, func() bool { x := s.Connections()[0]; return x.InFlight == 2 && x.Requests == 3 }) // what is answered is counted a moment later
	list := s.Connections()
	if len(list) != 2 || list[1].ID <= list[0].ID || list[1].Version != 3 || list[1].Address != other.Conn.LocalAddr().String() {
		t.Fatalf("listed %+v", list)
	}
	x := list[0]
	if x.Since.Before(began.Add(-time.Second)) || x.Since.After(time.Now()) || x.Idle < 0 || x.BytesUp == 0 || x.BytesDown == 0 {
		t.Errorf("listed %+v", x)
	}
	x.ID, x.Since, x.Idle, x.BytesUp, x.BytesDown = 0, time.Time{}, 0, 0, 0
	want := proxy.ConnectionInfo{Address: c.Conn.LocalAddr().String(), Listen: s.Addrs()[0], Node: m.Addr, Application: "shop",
		ApplicationVersion: "1.2", Driver: "scripted", DriverVersion: strings.Repeat("9", 256), Instance: "i7", Version: 5,
		Keyspace: "things", InFlight: 2, Requests: 3, Errors: 1}
	if x != want {
		t.Errorf("listed %+v\nwant   %+v", x, want)
	}
	close(release)
	await(t, func() bool { x := s.Connections()[0]; return x.InFlight == 0 && x.Requests == 5 })
	c.Close()
	await(t, func() bool { return len(s.Connections()) == 1 })
}

// TestConnectionsOfADriver looks at a real driver's, on a real Cassandra.
func TestConnectionsOfADriver(t *testing.T) {
	s := startProxy(t, nil, proxy.Options{ContactPoints: realCassandra(t)})
	await(t, s.Ready)
	cluster := gocql.NewCluster(s.Addrs()[0])
	cluster.Timeout, cluster.ConnectTimeout = 20*time.Second, 20*time.Second
	session, err := cluster.CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	// Its name is not looked at: gocql reads it from the build's list of modules, which a test's binary does not have.
	await(t, func() bool { // the pool's connections come after the session
		return !slices.ContainsFunc(s.Connections(), func(x proxy.ConnectionInfo) bool {
			return x.Version < 4 || x.Node == "" || x.Requests == 0
		})
	})
	if len(s.Connections()) < 2 {
		t.Errorf("listed %+v", s.Connections())
	}
}
