package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/proxy/proxytest"
	"github.com/helenus-db/helenus/proxy/wire"
)

func TestPrintConnections(t *testing.T) {
	since := time.Now().Add(-90*time.Minute - 300*time.Millisecond)
	all := []proxy.ConnectionInfo{
		{ID: 1, Address: "10.0.0.1:1", Listen: "l:1", Since: since, Idle: 30},
		{ID: 2, Address: "10.0.0.2:2", Listen: "l:1", Node: "n:1", Application: "shop", ApplicationVersion: "1.2", Driver: "gocql",
			Version: 5, Compression: "lz4", Authenticated: true, Role: "ann", TLS: &proxy.TLSInfo{Version: "TLS 1.3", Subject: "CN=shop"},
			Keyspace: "hotel", InFlight: 3, Requests: 1000, Errors: 1, BytesUp: 5000, BytesDown: 2_000_000, Since: since, Idle: 0.04},
		{ID: 3, Address: "10.0.0.3:3", Listen: "l:1", Node: "n:1", Driver: "\x1b[31mred", Version: 4, Authenticated: true, Since: since, Idle: 7200},
		{ID: 4, Address: "10.0.0.4:4", Listen: "l:1", Node: "n:2", Since: since, Idle: 29.5},
	}
	var b strings.Builder
	if err := printConnections(&b, all, 3); err != nil {
		t.Fatal(err)
	}
	const want = `ID  CLIENT      LISTENER  NODE  APPLICATION  DRIVER  PROTOCOL  ROLE  TLS              KEYSPACE  IN FLIGHT  REQUESTS  ERRORS  IN    OUT   AGE      IDLE
 2  10.0.0.2:2  l:1       n:1   shop 1.2     gocql   v5 lz4    ann   TLS 1.3 CN=shop  hotel             3      1000       1  5 kB  2 MB  1h30m0s  0s
 4  10.0.0.4:4  l:1       n:2   -            -       -         -     -                -                 0         0       0  0 B   0 B   1h30m0s  29.5s
 1  10.0.0.1:1  l:1       -     -            -       -         -     -                -                 0         0       0  0 B   0 B   1h30m0s  30s
3 of 4 connections; --limit 0 lists all
`
	if b.String() != want {
		t.Errorf("printed\n%s\nwant\n%s", b.String(), want)
	}
	b.Reset()
	if err := printConnections(&b, all, 0); err != nil || strings.Contains(b.String(), "\x1b") || !strings.Contains(b.String(), `\x1b[31mred`) {
		t.Errorf("printed\n%s", b.String())
	}
	b.Reset()
	if err := printConnections(&b, nil, 0); err != nil || b.String() != "No client connections.\n" {
		t.Errorf("printed %q", b.String())
	}
}

// TestWhatOneSees runs the program before a scripted Cassandra: the list of connections, the metrics, readiness, and the log of
// slow requests.
func TestWhatOneSees(t *testing.T) {
	m, err := proxytest.Start(func(r *proxytest.Request) {
		if strings.Contains(r.Text(), "secret") {
			time.Sleep(30 * time.Millisecond)
		}
		proxytest.Default(r)
	})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	p := newProcess(t, m.Addr, "--slow-request", "20ms", "--topology", "single")
	p.start()
	get := func(path string) string {
		t.Helper()
		answer, err := http.Get("http://" + p.admin + path)
		if err != nil {
			return ""
		}
		defer func() { _ = answer.Body.Close() }()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	await(t, "the proxy is connected", func() bool { return strings.Contains(get("/metrics"), "helenus_proxy_ready 1") })
	c, err := proxytest.Connect(p.listen, 4, "DRIVER_NAME", "scripted", "DRIVER_VERSION", "7")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, _, err := c.Call(wire.OpQuery, proxytest.QueryBody(4, "SELECT * FROM k.t WHERE a = 'secret' AND b = ?", []byte("bound"))); err != nil {
		t.Fatal(err)
	}
	var list []proxy.ConnectionInfo
	code, out := command(t, p, "connections", "--json")
	if err := json.Unmarshal([]byte(out), &list); code != 0 || err != nil || len(list) == 0 {
		t.Fatalf("connections: %d %s", code, out)
	}
	code, out = command(t, p, "connections", "--client", c.Conn.LocalAddr().String(), "--node", m.Addr)
	if code != 0 || strings.Count(out, "\n") != 2 || !strings.Contains(out, "scripted 7") {
		t.Errorf("connections: %d\n%s", code, out)
	}
	for _, c := range []struct {
		flags []string
		want  int
	}{{[]string{"--limit", "1"}, 1}, {[]string{"--client", c.Conn.LocalAddr().String()}, 1}, {[]string{"--node", "192.0.2.1"}, 0}} {
		code, out := command(t, p, append([]string{"connections", "--json"}, c.flags...)...)
		if err := json.Unmarshal([]byte(out), &list); code != 0 || err != nil || len(list) != c.want {
			t.Errorf("connections %v: %d, %d of them, %v\n%s", c.flags, code, len(list), err, out)
		}
	}
	if code, out = command(t, p, "connections", "--node", "192.0.2.1"); code != 0 || !strings.Contains(out, "No client connections") {
		t.Errorf("connections: %d\n%s", code, out)
	}
	for _, want := range []string{
		fmt.Sprintf(`helenus_proxy_requests_total{class="query",listen="%s",node="%s"}`, p.listen, m.Addr),
		"helenus_proxy_added_seconds_bucket{direction=\"request\"", "helenus_slow_requests_total 1",
	} {
		await(t, want, func() bool { return strings.Contains(get("/metrics"), want) })
	}
	if got := get("/readyz"); !strings.Contains(got, `"detail": "1 node, 1 listener, `) && !strings.Contains(got, `"detail":"1 node, 1 listener, `) {
		t.Errorf("/readyz: %s", got)
	}
	if code := p.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	log := p.output.String()
	if strings.Contains(log, "secret") || strings.Contains(log, "bound") {
		t.Errorf("a value is in the log: %s", log)
	}
	if !strings.Contains(log, `msg="slow request"`) || !strings.Contains(log, `statement="SELECT * FROM k.t WHERE a = ? AND b = ?"`) ||
		!strings.Contains(log, `driver="scripted 7"`) || !strings.Contains(log, "node="+m.Addr) {
		t.Error("the slow request is not in the log as it should be")
	}
}
