package proxy_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/helenus-db/helenus/internal/cassandra/authority"
	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/proxy/certs"
	"github.com/helenus-db/helenus/proxy/fleet"
	"github.com/helenus-db/helenus/proxy/proxytest"
	"github.com/helenus-db/helenus/proxy/wire"
)

func newAuthority(t testing.TB) *authority.Authority {
	t.Helper()
	a, err := authority.New(t.TempDir(), "ca")
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// server, and client, are configurations by an authority's certificates.
func serverTLS(t testing.TB, a *authority.Authority, mutual bool) *tls.Config {
	t.Helper()
	c, err := a.Server("server", mutual, "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func clientTLS(t testing.TB, a *authority.Authority, name string) *tls.Config {
	t.Helper()
	c, err := a.Client(name)
	if err != nil {
		t.Fatal(err)
	}
	c.ServerName = "127.0.0.1"
	return c
}

func startMockTLS(t testing.TB, config *tls.Config, h proxytest.Handler) *proxytest.Server {
	t.Helper()
	m, err := proxytest.StartTLS(config, h)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

// dialTLS connects by TLS without saying anything of CQL.
func dialTLS(t testing.TB, s *proxy.Server, version byte, config *tls.Config) *proxytest.Client {
	t.Helper()
	c, err := proxytest.DialTLS(s.Addrs()[0], version, config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func connectTLS(t testing.TB, s *proxy.Server, version byte, config *tls.Config) *proxytest.Client {
	t.Helper()
	c := dialTLS(t, s, version, config)
	if err := c.Startup(); err != nil {
		t.Fatal(err)
	}
	return c
}

func always(c *tls.Config) func(string) *tls.Config {
	return func(string) *tls.Config { return c }
}

// TestEitherSide speaks TLS or not: requests and answers of every size come through, in every version.
func TestEitherSide(t *testing.T) {
	a := newAuthority(t)
	for _, front := range []bool{false, true} {
		for _, back := range []bool{false, true} {
			t.Run(fmt.Sprintf("front %v, back %v", front, back), func(t *testing.T) {
				echo := func(r *proxytest.Request) {
					if r.Header.Opcode == wire.OpExecute {
						r.Reply(wire.OpResult, append(wire.AppendInt(nil, wire.ResultVoid), r.Body...))
						return
					}
					proxytest.Default(r)
				}
				var m *proxytest.Server
				var o proxy.Options
				if back {
					m = startMockTLS(t, serverTLS(t, a, true), echo)
					o.Back = always(clientTLS(t, a, "helenus"))
				} else {
					m = startMock(t, echo)
				}
				if front {
					o.Front = serverTLS(t, a, true)
				}
				s := startProxy(t, m, o)
				await(t, s.Ready)
				for _, version := range []byte{3, 4, 5} {
					var c *proxytest.Client
					if front {
						c = connectTLS(t, s, version, clientTLS(t, a, "app"))
					} else {
						c = connect(t, s, version)
					}
					for _, size := range []int{1, 5_000, 20_000, 300_000} {
						body := proxytest.ExecuteBody(version, []byte("id"), bytes.Repeat([]byte{'v'}, size))
						h, answer := call(t, c, wire.OpExecute, body)
						if h.Opcode != wire.OpResult || !bytes.Equal(answer[4:], body) {
							t.Fatalf("v%d, %d bytes: %+v", version, size, h)
						}
					}
				}
				for _, c := range m.Conns() {
					if (c.TLS() != nil) != back {
						t.Errorf("a connection of %q to Cassandra: TLS %v", c.Driver(), c.TLS() != nil)
					}
				}
			})
		}
	}
}

// seeing is a Recorder that keeps the clients it saw.
type seeing struct {
	tally
	mu      sync.Mutex
	clients []*proxy.Client
}

func (s *seeing) Sampling(c *proxy.Client) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clients = append(s.clients, c)
	return false
}

// TestClientsAreKnown: what the handshake found out about a client is told to the hooks.
func TestClientsAreKnown(t *testing.T) {
	a := newAuthority(t)
	r := &seeing{}
	s := startProxy(t, startMock(t, nil), proxy.Options{Front: serverTLS(t, a, true), Recorder: r})
	c := connectTLS(t, s, 4, clientTLS(t, a, "app"))
	call(t, c, wire.OpQuery, proxytest.QueryBody(4, "SELECT a FROM t"))
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.clients) == 0 || r.clients[0].TLS == nil {
		t.Fatalf("%+v", r.clients)
	}
	if k := *r.clients[0].TLS; k.Version != "TLS 1.3" || !strings.HasPrefix(k.Cipher, "TLS_") || k.Peer != "CN=app" || k.Resumed {
		t.Errorf("%+v", k)
	}
}

// TestWhoMayNotEnter: those that do not pass the TLS handshake cost Cassandra no connection, and are counted.
func TestWhoMayNotEnter(t *testing.T) {
	a, stranger := newAuthority(t), newAuthority(t)
	m := startMock(t, nil)
	front := serverTLS(t, a, true)
	front.MinVersion = tls.VersionTLS13
	s := startProxy(t, m, proxy.Options{Front: front})
	await(t, s.Ready)
	old := clientTLS(t, a, "app")
	old.MaxVersion = tls.VersionTLS12
	fake := clientTLS(t, stranger, "app")
	fake.RootCAs = a.Pool()
	for name, config := range map[string]*tls.Config{"no certificate": clientTLS(t, a, ""), "a stranger's": fake, "an old version": old} {
		c, err := proxytest.DialTLS(s.Addrs()[0], 4, config)
		if err == nil { // version 1.3: the refusal comes after the client's part of the handshake
			err = c.Startup()
			c.Close()
		}
		if err == nil {
			t.Errorf("%s gets in", name)
		}
	}
	await(t, func() bool { return s.Stats().Untrusted == 3 })

	// One that speaks CQL is answered in CQL.
	for _, version := range []byte{3, 4, 5} {
		c, err := proxytest.Dial(s.Addrs()[0], version)
		if err != nil {
			t.Fatal(err)
		}
		h, body, err := c.Hello()
		if err != nil || h.Opcode != wire.OpError || h.Version != version|wire.ResponseBit || !strings.Contains(string(body), "speaks TLS only") {
			t.Errorf("v%d: %+v %q %v", version, h, body, err)
		}
		c.Close()
	}
	await(t, func() bool { return s.Stats().WithoutTLS == 3 })

	// Another member that asks whether this one answers is none of these.
	down := make(chan bool, 1)
	watching, stop := context.WithTimeout(t.Context(), 5*time.Second)
	defer stop()
	fleet.Watch(watching, []netip.AddrPort{netip.MustParseAddrPort(s.Addrs()[0])}, func(netip.AddrPort, bool) { down <- true })
	if n := s.Stats().WithoutTLS; n != 3 || len(down) > 0 {
		t.Errorf("%d clients lack TLS; the member is thought to be down: %t", n, len(down) > 0)
	}

	if n := len(m.Conns()); n != 1 { // the control connection
		t.Errorf("Cassandra has %d connections, though nobody got in", n)
	}
}

// TestWhoStallsBeforeTLS: those that stall are cut off, whatever they said, and meanwhile others come and go.
func TestWhoStallsBeforeTLS(t *testing.T) {
	a, m := newAuthority(t), startMock(t, nil)
	s := startProxy(t, m, proxy.Options{Front: serverTLS(t, a, true), HandshakeTimeout: 500 * time.Millisecond})
	await(t, s.Ready)
	var stalled []net.Conn
	for _, said := range [][]byte{nil, {0x16}, {0x16, 3, 1, 0x40, 0}, {4, 0}} {
		c, err := net.Dial("tcp", s.Addrs()[0])
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := c.Write(said); err != nil {
			t.Fatal(err)
		}
		stalled = append(stalled, c)
	}
	_, late := inTime(t, func() (*proxytest.Client, error) {
		c, err := proxytest.DialTLS(s.Addrs()[0], 4, clientTLS(t, a, "app"))
		if err != nil {
			return nil, err
		}
		return c, c.Startup()
	})
	for _, c := range stalled {
		_ = c.SetReadDeadline(time.Now().Add(proxytest.Patience))
		var timeout net.Error
		if _, err := io.ReadAll(c); errors.As(err, &timeout) && timeout.Timeout() {
			t.Error("one that stalls stays")
		}
	}
	await(t, func() bool { return s.Stats().Connections == 1 && s.Stats().Unfinished == 4+late })
	await(t, func() bool { return len(m.Conns()) == 2 }) // the control connection, and the one that got in
}

// TestUnexpectedTLS: a client that speaks TLS to a plain listener is counted, and its library knows what to say.
func TestUnexpectedTLS(t *testing.T) {
	s := startProxy(t, startMock(t, nil), proxy.Options{})
	_, err := proxytest.DialTLS(s.Addrs()[0], 4, clientTLS(t, newAuthority(t), ""))
	var record tls.RecordHeaderError
	if !errors.As(err, &record) {
		t.Errorf("the client heard %v", err)
	}
	await(t, func() bool { return s.Stats().WithTLS == 1 && s.Stats().Connections == 0 })
}

// TestCassandraWithoutTLS, or with another CA: clients are cut, and nothing is sent in the clear.
func TestCassandraWithoutTLS(t *testing.T) {
	a, stranger := newAuthority(t), newAuthority(t)
	plain := startMock(t, nil)
	for name, m := range map[string]*proxytest.Server{"plain": plain, "stranger": startMockTLS(t, serverTLS(t, stranger, false), nil)} {
		s := startProxy(t, m, proxy.Options{Back: always(clientTLS(t, a, "")), DialTimeout: time.Second})
		if c, err := proxytest.Connect(s.Addrs()[0], 4); err == nil { // cut may it be as early as when it dials
			t.Errorf("%s: a client got through", name)
			c.Close()
		}
		await(t, func() bool { return s.Stats().Unreachable == 1 })
		if s.Ready() {
			t.Errorf("%s: it is ready", name)
		}
	}
}

// TestCertificatesChangeUnderConnections: those that stand go on, new ones see the new certificate.
func TestCertificatesChangeUnderConnections(t *testing.T) {
	a := newAuthority(t)
	first, err := a.Issue(authority.Leaf{Name: "helenus", Hosts: []string{"127.0.0.1"}})
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	now := time.Now()
	pass := func() {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(time.Second)
	}
	front, err := certs.Listen(certs.Listening{Certificate: first.Certificate, Key: first.Key, Common: certs.Common{Now: func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return now
	}}})
	if err != nil {
		t.Fatal(err)
	}
	s := startProxy(t, startMock(t, nil), proxy.Options{Front: front.Config()})
	config := clientTLS(t, a, "")
	serial := func(c *proxytest.Client) string {
		return c.Conn.(*tls.Conn).ConnectionState().PeerCertificates[0].SerialNumber.String()
	}
	standing := connectTLS(t, s, 5, config)
	if _, err := a.Issue(authority.Leaf{Name: "helenus", Hosts: []string{"127.0.0.1"}}); err != nil { // the same files
		t.Fatal(err)
	}
	pass()
	next := connectTLS(t, s, 4, config)
	if serial(next) == serial(standing) {
		t.Error("the new certificate is not shown")
	}
	if err := os.WriteFile(first.Certificate, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	pass()
	if last := connectTLS(t, s, 3, config); serial(last) != serial(next) {
		t.Error("an unsound file is in use")
	}
	for _, c := range []*proxytest.Client{standing, next} {
		call(t, c, wire.OpExecute, proxytest.ExecuteBody(c.Version, []byte("id")))
	}
	if filepath.Base(first.Certificate) != "helenus.pem" || front.Status().Failed != 1 {
		t.Errorf("%+v", front.Status())
	}
}

// TestGoodbyes go out over TLS too: the error that ends a connection, the answers that Cassandra's end leaves, and the end
// of TLS itself.
func TestGoodbyes(t *testing.T) {
	a := newAuthority(t)
	m := startMock(t, func(r *proxytest.Request) {
		proxytest.Default(r)
		if r.Header.Opcode == wire.OpBatch {
			r.Conn.Close()
		}
	})
	s := startProxy(t, m, proxy.Options{Front: serverTLS(t, a, false), MaxFrame: 1 << 20})
	c := connectTLS(t, s, 4, clientTLS(t, a, ""))
	if _, err := c.Conn.Write(append(c.Frame(1, wire.OpExecute, 0, nil)[:5], 0x10, 0, 0, 0)); err != nil {
		t.Fatal(err)
	}
	h, body, err := c.Read()
	if err != nil || h.Opcode != wire.OpError || !strings.Contains(string(body), "too big") {
		t.Errorf("%+v %q %v", h, body, err)
	}
	if _, _, err := c.Read(); !errors.Is(err, io.EOF) { // an end without TLS's own would be ErrUnexpectedEOF
		t.Errorf("the connection ends by %v", err)
	}
	c = connectTLS(t, s, 4, clientTLS(t, a, ""))
	call(t, c, wire.OpBatch, []byte{0, 0, 0, 0, 1, 0})
	if _, _, err := c.Read(); !errors.Is(err, io.EOF) {
		t.Errorf("the connection ends by %v", err)
	}
}

// TestMechanismsPassThrough: whatever a client and Cassandra say to each other to authenticate, in however many rounds,
// comes unchanged, in every version, over TLS or not.
func TestMechanismsPassThrough(t *testing.T) {
	const rounds = 3
	challenge := func(round int) []byte { return bytes.Repeat([]byte{byte(round), 0xff, 0}, 1+1000*round) }
	token := func(round int) []byte { return bytes.Repeat([]byte{0, byte(round), 0xfe}, 1+2000*round) }
	a := newAuthority(t)
	for _, secure := range []bool{false, true} {
		for _, version := range []byte{3, 4, 5} {
			h := proxytest.Authenticate("com.example.Kerberos", func(round int, said []byte) ([]byte, bool, string) {
				if !bytes.Equal(said, token(round)) {
					return nil, false, fmt.Sprintf("round %d: %x", round, said)
				}
				return challenge(round), round == rounds, ""
			}, nil)
			var o proxy.Options
			if secure {
				o.Front = serverTLS(t, a, false)
			}
			s := startProxy(t, startMock(t, h), o)
			var c *proxytest.Client
			if secure {
				c = dialTLS(t, s, version, clientTLS(t, a, ""))
			} else {
				var err error
				if c, err = proxytest.Dial(s.Addrs()[0], version); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(c.Close)
			}
			head, body, err := c.Hello()
			if err != nil || head.Opcode != wire.OpAuthenticate || !strings.HasSuffix(string(body), "com.example.Kerberos") {
				t.Fatalf("%+v %q %v", head, body, err)
			}
			for round := range rounds + 1 {
				want := wire.OpAuthChallenge
				if round == rounds {
					want = wire.OpAuthSuccess
				}
				head, body := call(t, c, wire.OpAuthResponse, wire.AppendBytes(nil, token(round)))
				if head.Opcode != want || !bytes.Equal(body, wire.AppendBytes(nil, challenge(round))) {
					t.Fatalf("v%d round %d: %+v %q", version, round, head, body)
				}
			}
			if head, _ := call(t, c, wire.OpExecute, proxytest.ExecuteBody(version, []byte("id"))); head.Opcode != wire.OpResult {
				t.Errorf("v%d: %+v", version, head)
			}
		}
	}
}

// TestControlHasCredentialsOfItsOwn, TLS included, and clients have theirs.
func TestControlHasCredentialsOfItsOwn(t *testing.T) {
	a := newAuthority(t)
	m := startMockTLS(t, serverTLS(t, a, true), proxytest.Authenticate(proxytest.PasswordClass, func(_ int, said []byte) ([]byte, bool, string) {
		for _, who := range []string{"\x00helenus\x00h", "\x00app\x00a"} {
			if string(said) == who {
				return nil, true, ""
			}
		}
		return nil, false, "who?"
	}, nil))
	s := startProxy(t, m, proxy.Options{Back: always(clientTLS(t, a, "helenus")), Username: "helenus", Password: "h"})
	await(t, s.Ready)
	for token, want := range map[string]byte{"\x00app\x00a": wire.OpAuthSuccess, "\x00app\x00x": wire.OpError} {
		c, err := proxytest.Dial(s.Addrs()[0], 4)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, _, err := c.Hello(); err != nil {
			t.Fatal(err)
		}
		if h, _ := call(t, c, wire.OpAuthResponse, wire.AppendBytes(nil, []byte(token))); h.Opcode != want {
			t.Errorf("%q: %+v", token, h)
		}
	}
}
