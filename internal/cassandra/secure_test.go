package cassandra

import (
	"crypto/tls"
	"net"
	"testing"
	"time"

	"github.com/gocql/gocql"
)

// TestSecure: a node that demands everything answers who has everything, and nobody else.
func TestSecure(t *testing.T) {
	needCassandra(t)
	opt, ca, err := Secure(Options{}, t.TempDir(), Security{Mutual: true})
	if err != nil {
		t.Fatal(err)
	}
	cluster, err := Start(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := cluster.Stop(); err != nil {
			t.Error(err)
		}
	}()
	named, err := ca.Client("somebody")
	if err != nil {
		t.Fatal(err)
	}
	nameless, err := ca.Client("")
	if err != nil {
		t.Fatal(err)
	}
	right := gocql.PasswordAuthenticator{Username: FirstUser, Password: FirstPassword}
	for name, c := range map[string]struct {
		tls  *tls.Config
		auth gocql.Authenticator
		ok   bool
	}{
		"everything":     {named, right, true},
		"no certificate": {nameless, right, false},
		"no TLS":         {nil, right, false},
		"wrong password": {named, gocql.PasswordAuthenticator{Username: FirstUser, Password: "x"}, false},
	} {
		host, _, _ := net.SplitHostPort(cluster.ContactPoints()[0])
		cfg := gocql.NewCluster(host)
		cfg.Port = int(cluster.Node(0).addr.Port())
		cfg.ProtoVersion = 4
		cfg.DisableInitialHostLookup = true
		cfg.Timeout, cfg.ConnectTimeout = 10*time.Second, 10*time.Second
		cfg.Logger = silent{}
		cfg.ReconnectionPolicy = &gocql.ConstantReconnectionPolicy{MaxRetries: 1, Interval: time.Millisecond} // it outlives the session
		cfg.Authenticator = c.auth
		if c.tls != nil {
			cfg.SslOpts = &gocql.SslOptions{Config: c.tls, EnableHostVerification: true}
		}
		session, err := cfg.CreateSession()
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			session.Close()
		}
	}
}
