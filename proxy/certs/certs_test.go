package certs_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"github.com/helenus-db/helenus/internal/cassandra/authority"
	"github.com/helenus-db/helenus/proxy/certs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// clock is moved by the test.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func newClock() *clock { return &clock{t: time.Now()} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

func newAuthority(t *testing.T, name string) *authority.Authority {
	t.Helper()
	a, err := authority.New(t.TempDir(), name)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func issue(t *testing.T, a *authority.Authority, l authority.Leaf) authority.Pair {
	t.Helper()
	p, err := a.Issue(l)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func text(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func file(t *testing.T, name string, content ...[]byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, bytes.Join(content, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestWrongFilesAreNamed: each error says which file, what is wrong, and what to do, and can be told by a program.
func TestWrongFilesAreNamed(t *testing.T) {
	a := newAuthority(t, "ca")
	good, other := issue(t, a, authority.Leaf{Name: "good"}), issue(t, a, authority.Leaf{Name: "other"})
	old := issue(t, a, authority.Leaf{Name: "old", From: time.Now().Add(-48 * time.Hour), To: time.Now().Add(-time.Hour)})
	young := issue(t, a, authority.Leaf{Name: "young", From: time.Now().Add(time.Hour)})
	encrypted := file(t, "encrypted.key", pem.EncodeToMemory(&pem.Block{Type: "ENCRYPTED PRIVATE KEY", Bytes: []byte{1}}))
	legacy := file(t, "legacy.key", pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: []byte{1},
		Headers: map[string]string{"Proc-Type": "4,ENCRYPTED", "DEK-Info": "AES-256-CBC,00"}}))
	damaged := file(t, "damaged.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte{1}}))
	damagedKey := file(t, "damaged.key", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte{1}}))
	swapped := file(t, "swapped.pem", text(t, a.File), text(t, good.Certificate))
	keystore := file(t, "keystore.jks", []byte("\xfe\xed\xfe\xed\x00\x00"))
	empty := file(t, "empty.pem")
	for name, c := range map[string]struct {
		certificate, key, ca string
		reason               error
		says                 []string
	}{
		"mismatch":                 {good.Certificate, other.Key, "", certs.ErrMismatch, []string{good.Certificate, other.Key, "made together"}},
		"expired":                  {old.Certificate, old.Key, "", certs.ErrExpired, []string{old.Certificate, "renew"}},
		"not yet":                  {young.Certificate, young.Key, "", certs.ErrNotYet, []string{young.Certificate, "clock"}},
		"wrong order":              {swapped, good.Key, "", certs.ErrOrder, []string{swapped, "place 2", "must be the first"}},
		"no certificate file":      {"/nonexistent.pem", good.Key, "", certs.ErrUnreadable, []string{"/nonexistent.pem", "check the path"}},
		"no key file":              {good.Certificate, "/nonexistent.key", "", certs.ErrUnreadable, []string{"/nonexistent.key"}},
		"no CA file":               {good.Certificate, good.Key, "/nonexistent.ca", certs.ErrUnreadable, []string{"/nonexistent.ca"}},
		"encrypted":                {good.Certificate, encrypted, "", certs.ErrEncrypted, []string{encrypted, "openssl pkey -in " + encrypted}},
		"encrypted of old":         {good.Certificate, legacy, "", certs.ErrEncrypted, []string{legacy}},
		"certificate and key turn": {good.Key, good.Certificate, "", certs.ErrContent, []string{good.Key, "it holds PRIVATE KEY"}},
		"certificate as key":       {good.Certificate, good.Certificate, "", certs.ErrContent, []string{"it holds CERTIFICATE"}},
		"key as CA":                {good.Certificate, good.Key, good.Key, certs.ErrContent, []string{"no CA certificate", "it holds PRIVATE KEY"}},
		"keystore":                 {keystore, good.Key, "", certs.ErrContent, []string{"not PEM but binary", "keytool -importkeystore"}},
		"empty":                    {empty, good.Key, "", certs.ErrContent, []string{"it is empty"}},
		"damaged":                  {damaged, good.Key, "", certs.ErrContent, []string{damaged, "number 1 is damaged"}},
		"damaged key":              {good.Certificate, damagedKey, "", certs.ErrContent, []string{damagedKey, "damaged"}},
		"expired CA":               {good.Certificate, good.Key, old.Certificate, certs.ErrExpired, []string{old.Certificate, "renew"}},
	} {
		_, front := certs.Listen(certs.Listening{Certificate: c.certificate, Key: c.key, ClientCA: c.ca})
		_, back := certs.Dial(certs.Dialling{Certificate: c.certificate, Key: c.key, CA: c.ca})
		for side, err := range map[string]error{"listening": front, "dialling": back} {
			var typed *certs.FileError
			if !errors.As(err, &typed) || !errors.Is(err, c.reason) {
				t.Errorf("%s, %s: %v", name, side, err)
				continue
			}
			for _, want := range c.says {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%s, %s: %q lacks %q", name, side, err, want)
				}
			}
		}
	}
}

func TestWrongOptions(t *testing.T) {
	a := newAuthority(t, "ca")
	p := issue(t, a, authority.Leaf{Name: "p"})
	for name, f := range map[string]func() error{
		"no key":      func() error { _, err := certs.Listen(certs.Listening{Certificate: p.Certificate}); return err },
		"key alone":   func() error { _, err := certs.Dial(certs.Dialling{Key: p.Key}); return err },
		"bad verify":  func() error { _, err := certs.Dial(certs.Dialling{Verify: "some"}); return err },
		"old version": func() error { _, err := certs.Dial(certs.Dialling{Common: certs.Common{Minimum: "1.1"}}); return err },
		"old version2": func() error {
			_, err := certs.Listen(certs.Listening{Certificate: p.Certificate, Key: p.Key, Common: certs.Common{Minimum: "1.0"}})
			return err
		},
	} {
		if f() == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

// TestKeysOfEveryKind: what openssl writes, of old and of today, is read.
func TestKeysOfEveryKind(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	certificate := file(t, "c.pem", []byte("some words before\n"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	eight, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for kind, b := range map[string][]byte{"RSA PRIVATE KEY": x509.MarshalPKCS1PrivateKey(key), "PRIVATE KEY": eight} {
		secret := file(t, "k.pem", pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: b}))
		if _, err := certs.Listen(certs.Listening{Certificate: certificate, Key: secret}); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

// handshake joins a client and a server and returns what each saw.
func handshake(t *testing.T, server, client *tls.Config) (s, c tls.ConnectionState, err error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	type end struct {
		state tls.ConnectionState
		err   error
	}
	ended := make(chan end, 1)
	go func() {
		conn, err := l.Accept()
		if err != nil {
			ended <- end{err: err}
			return
		}
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
		secured := tls.Server(conn, server)
		err = secured.Handshake()
		if err == nil {
			_, err = secured.Write([]byte("x"))
		}
		ended <- end{secured.ConnectionState(), err}
	}()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	secured := tls.Client(conn, client)
	_, cErr := secured.Read(make([]byte, 1)) // in version 1.3 the tickets, and a refusal, come now
	conn.Close()
	e := <-ended
	return e.state, secured.ConnectionState(), errors.Join(e.err, cErr)
}

func listen(t *testing.T, o certs.Listening) *certs.Front {
	t.Helper()
	f, err := certs.Listen(o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func dial(t *testing.T, o certs.Dialling) *certs.Back {
	t.Helper()
	b, err := certs.Dial(o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestWhoIsTrusted(t *testing.T) {
	a, stranger := newAuthority(t, "ca"), newAuthority(t, "stranger")
	server := issue(t, a, authority.Leaf{Name: "server", Hosts: []string{"db.example", "127.0.0.1"}})
	client, fake := issue(t, a, authority.Leaf{Name: "client"}), issue(t, stranger, authority.Leaf{Name: "client"})
	front := certs.Listening{Certificate: server.Certificate, Key: server.Key}
	mutual := front
	mutual.ClientCA = a.File
	newest := front
	newest.Minimum = certs.TLS13
	for name, c := range map[string]struct {
		front certs.Listening
		back  certs.Dialling
		host  string
		limit uint16 // highest version of the client
		fails string
	}{
		"by address":               {front, certs.Dialling{CA: a.File}, "127.0.0.1", 0, ""},
		"by name":                  {front, certs.Dialling{CA: a.File}, "db.example", 0, ""},
		"another address":          {front, certs.Dialling{CA: a.File}, "127.0.0.2", 0, "127.0.0.2"},
		"another name":             {front, certs.Dialling{CA: a.File}, "other.example", 0, "other.example"},
		"name set":                 {front, certs.Dialling{CA: a.File, ServerName: "db.example"}, "127.0.0.2", 0, ""},
		"name set wrongly":         {front, certs.Dialling{CA: a.File, ServerName: "other.example"}, "127.0.0.1", 0, "other.example"},
		"chain":                    {front, certs.Dialling{CA: a.File, Verify: certs.Chain}, "127.0.0.2", 0, ""},
		"chain of a stranger":      {front, certs.Dialling{CA: stranger.File, Verify: certs.Chain}, "127.0.0.1", 0, "unknown authority"},
		"stranger":                 {front, certs.Dialling{CA: stranger.File}, "127.0.0.1", 0, "unknown authority"},
		"the machine's CAs":        {front, certs.Dialling{}, "127.0.0.1", 0, "unknown authority"},
		"none":                     {front, certs.Dialling{Verify: certs.None}, "127.0.0.2", 0, ""},
		"mutual":                   {mutual, certs.Dialling{CA: a.File, Certificate: client.Certificate, Key: client.Key}, "127.0.0.1", 0, ""},
		"mutual, none shown":       {mutual, certs.Dialling{CA: a.File}, "127.0.0.1", 0, "certificate required"},
		"mutual, 1.2, none shown":  {mutual, certs.Dialling{CA: a.File}, "127.0.0.1", tls.VersionTLS12, "didn't provide a certificate"},
		"mutual, stranger's shown": {mutual, certs.Dialling{CA: a.File, Certificate: fake.Certificate, Key: fake.Key}, "127.0.0.1", 0, "unknown certificate authority"},
		"version 1.2":              {front, certs.Dialling{CA: a.File}, "127.0.0.1", tls.VersionTLS12, ""},
		"version 1.1":              {front, certs.Dialling{CA: a.File}, "127.0.0.1", tls.VersionTLS11, "protocol version"},
		"server wants 1.3":         {newest, certs.Dialling{CA: a.File}, "127.0.0.1", tls.VersionTLS12, "protocol version"},
	} {
		config := dial(t, c.back).For(c.host)
		if c.limit != 0 {
			config.MaxVersion, config.MinVersion = c.limit, tls.VersionTLS10
		}
		_, _, err := handshake(t, listen(t, c.front).Config(), config)
		if c.fails == "" && err != nil || c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)) {
			t.Errorf("%s: %v, want %q", name, err, c.fails)
		}
	}
	config := dial(t, certs.Dialling{CA: a.File, Common: certs.Common{Minimum: certs.TLS13}}).For("127.0.0.1")
	old, err := a.Server("old", false, "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	old.MaxVersion = tls.VersionTLS12
	if _, _, err := handshake(t, old, config); err == nil {
		t.Error("the dialling side takes an older version than its minimum")
	}
}

func TestResumption(t *testing.T) {
	a := newAuthority(t, "ca")
	server := issue(t, a, authority.Leaf{Name: "server", Hosts: []string{"127.0.0.1"}})
	client := issue(t, a, authority.Leaf{Name: "client"})
	now := newClock()
	front := listen(t, certs.Listening{Certificate: server.Certificate, Key: server.Key, ClientCA: a.File, Common: certs.Common{Now: now.now}})
	back := dial(t, certs.Dialling{CA: a.File, Certificate: client.Certificate, Key: client.Key, Common: certs.Common{Now: now.now}})
	config := front.Config() // as a server has it: one for its life
	for i, want := range []bool{false, true, true} {
		s, c, err := handshake(t, config, back.For("127.0.0.1"))
		if err != nil || s.DidResume != want || c.DidResume != want {
			t.Errorf("handshake %d: resumed %v, %v: %v", i, s.DidResume, c.DidResume, err)
		}
		if want && (len(s.PeerCertificates) == 0 || s.PeerCertificates[0].Subject.CommonName != "client") {
			t.Error("a resumed client has no name")
		}
	}
	// The CA is taken away: a session that it had vouched for is not taken up.
	before := back.For("127.0.0.1")
	replace(t, a.File, text(t, newAuthority(t, "stranger").File))
	now.pass(time.Second)
	if _, _, err := handshake(t, config, before); err == nil || !strings.Contains(err.Error(), "unknown authority") {
		t.Errorf("whom nobody vouches for any more came back: %v", err)
	}
}

// replace puts another file in the place of one, as tools for certificates do.
func replace(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path+".new", content, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// lines is a log.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *lines) count(s string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.b.String(), s)
}

func TestReload(t *testing.T) {
	a := newAuthority(t, "ca")
	first := issue(t, a, authority.Leaf{Name: "server", Hosts: []string{"127.0.0.1"}, To: time.Now().Add(time.Hour)})
	trust := dial(t, certs.Dialling{CA: a.File})
	now, log := newClock(), &lines{}
	front := listen(t, certs.Listening{Certificate: first.Certificate, Key: first.Key,
		Common: certs.Common{Now: now.now, Log: slog.New(slog.NewTextHandler(log, nil))}})
	config := front.Config()
	serial := func() string {
		t.Helper()
		client := trust.For("127.0.0.1")
		client.ClientSessionCache = nil
		_, c, err := handshake(t, config, client)
		if err != nil {
			t.Fatal(err)
		}
		return c.PeerCertificates[0].SerialNumber.String()
	}
	begin := serial()
	key, certificate := text(t, first.Key), text(t, first.Certificate)

	second := issue(t, newSame(t, a), authority.Leaf{Name: "server", Hosts: []string{"127.0.0.1"}, To: time.Now().Add(2 * time.Hour)})
	newKey, newCertificate := text(t, second.Key), text(t, second.Certificate)
	replace(t, first.Certificate, newCertificate)
	if serial() != begin {
		t.Error("the files are looked at more than once a second")
	}
	now.pass(time.Second)
	if serial() != begin {
		t.Error("a certificate without its key was taken")
	}
	now.pass(time.Second)
	serial()
	if s := front.Status(); s.Failed != 1 || !strings.Contains(s.Problem, "another key") || log.count("level=ERROR") != 1 {
		t.Errorf("%+v, said %d times", s, log.count("level=ERROR"))
	}
	replace(t, first.Key, newKey)
	now.pass(time.Second)
	if serial() == begin {
		t.Error("the new certificate is not in use")
	}
	if s := front.Status(); s.Problem != "" || s.Failed != 1 || time.Until(s.Expires) < 90*time.Minute || log.count("level=INFO") != 1 {
		t.Errorf("%+v", s)
	}

	// Gone, then the first again.
	if err := os.Remove(first.Key); err != nil {
		t.Fatal(err)
	}
	now.pass(time.Second)
	if s := front.Status(); s.Failed != 2 || !strings.Contains(s.Problem, "can not be read") {
		t.Errorf("%+v", s)
	}
	replace(t, first.Key, key)
	replace(t, first.Certificate, certificate)
	now.pass(time.Second)
	if serial() != begin {
		t.Error("the first certificate is not in use again")
	}

	registry := prometheus.NewRegistry()
	if err := registry.Register(certs.Metrics{front, trust}); err != nil {
		t.Fatal(err)
	}
	found, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var n int
	for _, f := range found {
		n += len(f.Metric)
	}
	if n != 2+2+2 {
		t.Errorf("%d metrics: %v", n, found)
	}
}

// newSame is the same authority, writing elsewhere.
func newSame(t *testing.T, a *authority.Authority) *authority.Authority {
	t.Helper()
	other := *a
	other.Dir = t.TempDir()
	return &other
}

// TestReloadOfTrust: another CA, and another certificate of our own, serve the next connection to Cassandra.
func TestReloadOfTrust(t *testing.T) {
	a, b := newAuthority(t, "a"), newAuthority(t, "b")
	ofA, err := a.Server("server", true, "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	ofB, err := b.Server("server", true, "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	own := issue(t, a, authority.Leaf{Name: "client"})
	now := newClock()
	back := dial(t, certs.Dialling{CA: a.File, Certificate: own.Certificate, Key: own.Key, Common: certs.Common{Now: now.now}})
	if _, _, err := handshake(t, ofA, back.For("127.0.0.1")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := handshake(t, ofB, back.For("127.0.0.1")); err == nil {
		t.Fatal("a stranger is trusted")
	}
	next := issue(t, b, authority.Leaf{Name: "client"})
	replace(t, a.File, text(t, b.File))
	replace(t, own.Key, text(t, next.Key))
	replace(t, own.Certificate, text(t, next.Certificate))
	now.pass(time.Second)
	if _, _, err := handshake(t, ofB, back.For("127.0.0.1")); err != nil {
		t.Error(err)
	}
	if _, _, err := handshake(t, ofA, back.For("127.0.0.1")); err == nil {
		t.Error("who was trusted before still is")
	}
}

// TestConcurrentUse: handshakes and reloads at once, for the race detector.
func TestConcurrentUse(t *testing.T) {
	a := newAuthority(t, "ca")
	p := issue(t, a, authority.Leaf{Name: "server", Hosts: []string{"127.0.0.1"}})
	now := newClock()
	front := listen(t, certs.Listening{Certificate: p.Certificate, Key: p.Key, ClientCA: a.File, Common: certs.Common{Now: now.now}})
	back := dial(t, certs.Dialling{CA: a.File, Certificate: p.Certificate, Key: p.Key, Verify: certs.Chain, Common: certs.Common{Now: now.now}})
	config := front.Config()
	var work sync.WaitGroup
	for range 4 {
		work.Go(func() {
			for range 20 {
				now.pass(time.Second)
				if _, _, err := handshake(t, config, back.For("127.0.0.1")); err != nil {
					t.Error(err)
				}
				front.Status()
			}
		})
	}
	for range 20 {
		replace(t, a.File, text(t, a.File))
	}
	work.Wait()
}

// TestDialExplains what Cassandra's end may be, other than what was expected.
func TestDialExplains(t *testing.T) {
	a, stranger := newAuthority(t, "ca"), newAuthority(t, "stranger")
	mutual, err := a.Server("mutual", true, "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	mutual.MaxVersion = tls.VersionTLS12 // so that the refusal comes within the handshake
	named, err := a.Server("named", false, "db.example")
	if err != nil {
		t.Fatal(err)
	}
	old := mutual.Clone()
	old.ClientAuth, old.MinVersion, old.MaxVersion = tls.NoClientCert, tls.VersionTLS10, tls.VersionTLS11
	answer := func(b []byte) func(net.Conn) {
		return func(c net.Conn) {
			_, _ = io.ReadFull(c, make([]byte, 9))
			_, _ = c.Write(b)
		}
	}
	secured := func(config *tls.Config) func(net.Conn) {
		return func(c net.Conn) { _ = tls.Server(c, config).Handshake() }
	}
	for name, c := range map[string]struct {
		serve func(net.Conn)
		says  string
	}{
		"plain":              {answer([]byte{0x85, 0, 0, 0, 0, 0, 0, 0, 0}), "it answers without TLS"},
		"silent":             {func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }, "it does not answer the TLS handshake"},
		"closes":             {func(c net.Conn) { _, _ = io.ReadFull(c, make([]byte, 9)) }, "it closed the connection during the TLS handshake"},
		"wants certificate":  {secured(mutual), "Cassandra asks for a certificate"},
		"without the name":   {secured(named), "cassandra-tls-server-name"},
		"old":                {secured(old), "cassandra-tls-min"},
		"unknown to us":      {secured(func() *tls.Config { s, _ := stranger.Server("s", false, "127.0.0.1"); return s }()), "cassandra-tls-ca"},
		"unsound everywhere": {answer(nil), "closed the connection"},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				conn, err := l.Accept()
				if err != nil {
					return
				}
				c.serve(conn)
				conn.Close()
			}()
			d := certs.Dialer{TLS: dial(t, certs.Dialling{CA: a.File}).For, Timeout: 300 * time.Millisecond}
			_, err = d.Dial(context.Background(), l.Addr().String())
			if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), l.Addr().String()) {
				t.Errorf("%v, want %q", err, c.says)
			}
			l.Close()
			<-ended
		})
	}
}

func FuzzFiles(f *testing.F) {
	f.Add([]byte("-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n"), []byte("-----BEGIN PRIVATE KEY-----\nAA==\n-----END PRIVATE KEY-----\n"))
	f.Add([]byte{0x30, 0x82}, []byte{})
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, certificate, key []byte) {
		c, k := filepath.Join(dir, "c"), filepath.Join(dir, "k")
		if os.WriteFile(c, certificate, 0o600) != nil || os.WriteFile(k, key, 0o600) != nil {
			t.Fatal("no room")
		}
		var typed *certs.FileError
		if _, err := certs.Listen(certs.Listening{Certificate: c, Key: k}); err != nil && !errors.As(err, &typed) {
			t.Errorf("%v", err)
		}
	})
}
