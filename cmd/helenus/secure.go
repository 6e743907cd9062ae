package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/internal/config"
	"github.com/helenus-db/helenus/proxy/certs"
)

// dialTimeout is how long connecting to a Cassandra node may take, and again its TLS handshake.
const dialTimeout = 5 * time.Second

// secured is the TLS of both sides, as the settings say.
type secured struct {
	front *certs.Front // nil: clients do not speak TLS
	back  *certs.Back  // nil: nor does Cassandra
	// member is what our own connections say of whose they are; "" before the state was read
	member string
}

// secure loads the files that the settings name.
func secure(s *config.Settings, log *slog.Logger) (secured, error) {
	var t secured
	var err error
	if s.ListenTLSCert != "" {
		if t.front, err = certs.Listen(certs.Listening{Certificate: s.ListenTLSCert, Key: s.ListenTLSKey, ClientCA: s.ListenTLSClientCA,
			Common: certs.Common{Minimum: certs.Version(s.ListenTLSMin), Log: log}}); err != nil {
			return t, fmt.Errorf("TLS for clients (listen-tls-...): %w", err)
		}
	}
	if s.CassandraTLS {
		if t.back, err = certs.Dial(certs.Dialling{CA: s.CassandraTLSCA, Certificate: s.CassandraTLSCert, Key: s.CassandraTLSKey,
			ServerName: s.CassandraTLSServerName, Verify: certs.Verify(s.CassandraTLSVerify),
			Common: certs.Common{Minimum: certs.Version(s.CassandraTLSMin), Log: log}}); err != nil {
			return t, fmt.Errorf("TLS to Cassandra (cassandra-tls-...): %w", err)
		}
	}
	return t, nil
}

// listening and dialling are as proxy.Options take them.
func (t secured) listening() *tls.Config {
	if t.front == nil {
		return nil
	}
	return t.front.Config()
}

func (t secured) dialling() func(host string) *tls.Config {
	if t.back == nil {
		return nil
	}
	return t.back.For
}

// dialer connects Helenus's own sessions.
func (t secured) dialer() sessionDialer {
	return sessionDialer{certs.Dialer{TLS: t.dialling(), Timeout: dialTimeout}, t.member}
}

// sessionDialer is a gocql.HostDialer. gocql resolves names itself, and knows the nodes' addresses besides: where a node was
// given by name, the name is what its certificate must bear.
type sessionDialer struct {
	certs.Dialer
	member string
}

func (d sessionDialer) DialHost(ctx context.Context, h *gocql.HostInfo) (*gocql.DialedHost, error) {
	name, _, err := net.SplitHostPort(h.HostnameAndPort())
	if err != nil {
		return nil, err
	}
	c, err := d.DialAs(ctx, h.ConnectAddressAndPort(), name)
	if err != nil {
		return nil, err
	}
	if d.member != "" {
		c = &memberConn{Conn: c, member: d.member}
	}
	return &gocql.DialedHost{Conn: c, DisableCoalesce: d.TLS != nil}, nil // TLS has no writev
}

func (t secured) metrics() certs.Metrics {
	var m certs.Metrics
	if t.front != nil {
		m = append(m, t.front)
	}
	if t.back != nil {
		m = append(m, t.back)
	}
	return m
}
