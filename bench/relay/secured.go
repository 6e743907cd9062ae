package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	"github.com/helenus-db/helenus/internal/cassandra/authority"
)

// secured is the TLS of the processes: one certificate for whoever listens, and its authority for whoever dials. A process
// is told the files by tlsVariable: certificate, key and authority, a line each.
type secured struct {
	files          string
	server, client *tls.Config
}

const tlsVariable = "HELENUS_BENCH_TLS"

// issue makes the files, in dir.
func issue(dir string) (*secured, error) {
	ca, err := authority.New(dir, "authority")
	if err != nil {
		return nil, err
	}
	pair, err := ca.Issue(authority.Leaf{Name: "bench", Hosts: []string{"127.0.0.1"}})
	if err != nil {
		return nil, err
	}
	return load(pair.Certificate + "\n" + pair.Key + "\n" + ca.File)
}

func load(files string) (*secured, error) {
	list := strings.Split(files, "\n")
	if len(list) != 3 {
		return nil, fmt.Errorf("%s does not name three files", tlsVariable)
	}
	pair, err := tls.LoadX509KeyPair(list[0], list[1])
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(list[2])
	if err != nil {
		return nil, err
	}
	known := x509.NewCertPool()
	if !known.AppendCertsFromPEM(text) {
		return nil, errors.New(list[2] + " holds no certificate")
	}
	return &secured{
		files:  files,
		server: &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}, DynamicRecordSizingDisabled: true},
		client: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: known, ServerName: "127.0.0.1", DynamicRecordSizingDisabled: true},
	}, nil
}

// dial connects to the backend that the bench itself started.
func (s *secured) dial(target string) (net.Conn, error) {
	if s == nil {
		return net.Dial("tcp", target) // #nosec G704 -- see above
	}
	return tls.Dial("tcp", target, s.client)
}

// secured is the busy load with TLS on both sides of the relays. No splice(2) passes bytes that must be decrypted and
// encrypted: what Helenus is compared with copies them through the process, too.
func (b *bench) secured() ([]row, error) {
	dir, err := os.MkdirTemp("", "helenus-bench-tls-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	tls, err := issue(dir)
	if err != nil {
		return nil, err
	}
	backend, err := b.spawn("backend", "", tls)
	if err != nil {
		return nil, err
	}
	defer backend.stop()
	s := shape{4, 8, 16, false, false, tls}
	ways := make([]*way, 2)
	for i, role := range []string{"splice", "helenus"} {
		p, err := b.spawn(role, backend.addr, tls)
		if err != nil {
			return nil, err
		}
		defer p.stop()
		ways[i] = &way{name: role, process: p, address: p.addr}
	}
	if err := warm(ways[1], s); err != nil {
		return nil, err
	}
	c, err := compare(s, b.turns, b.requests(20_000), ways...)
	if err != nil {
		return nil, err
	}
	return []row{{What: "CPU per request, TLS on both sides, 8 x 16", Splice: c.of(0, cpu), Helenus: c.of(1, cpu), Unit: "us",
		Measured: c.ratio(1, 0, cpu), Ratio: true, Note: "the splice, too, decrypts and encrypts"}}, nil
}
