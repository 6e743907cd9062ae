package main

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/internal/cassandra"
	"github.com/helenus-db/helenus/internal/cassandra/authority"
	"github.com/helenus-db/helenus/internal/cassandra/cassandratest"
	"github.com/helenus-db/helenus/internal/long"
	"github.com/helenus-db/helenus/rewrite/calibrate"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// TestConfigCheckReadsTheFiles and says which one is wrong, before anything runs.
func TestConfigCheckReadsTheFiles(t *testing.T) {
	a, err := authority.New(t.TempDir(), "ca")
	if err != nil {
		t.Fatal(err)
	}
	one, err := a.Issue(authority.Leaf{Name: "one"})
	if err != nil {
		t.Fatal(err)
	}
	two, err := a.Issue(authority.Leaf{Name: "two"})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"sound":          {[]string{"--listen-tls-cert", one.Certificate, "--listen-tls-key", one.Key, "--listen-tls-client-ca", a.File, "--cassandra-tls", "--cassandra-tls-ca", a.File}, 0, `listen-tls-min: "1.2"`},
		"mismatch":       {[]string{"--listen-tls-cert", one.Certificate, "--listen-tls-key", two.Key}, exitUsage, "the key is not that of the certificate"},
		"not there":      {[]string{"--cassandra-tls", "--cassandra-tls-ca", "/nonexistent"}, exitUsage, "TLS to Cassandra (cassandra-tls-...): /nonexistent: it can not be read"},
		"not verified":   {[]string{"--cassandra-tls", "--cassandra-tls-verify", "none"}, 0, "Cassandra's certificate is not verified"},
		"does not match": {[]string{"--cassandra-tls-ca", a.File}, exitUsage, "has no effect unless cassandra-tls is true"},
	} {
		if code, out := command(t, nil, append([]string{"config", "check"}, c.args...)...); code != c.code || !strings.Contains(out, c.says) {
			t.Errorf("%s: exit code %d: %s, want %q", name, code, out, c.says)
		}
	}
	p := newProcess(t, freeAddress(t))
	if code, out := command(t, nil, append(p.args, "--listen-tls-cert", one.Certificate, "--listen-tls-key", two.Key)...); code != exitUsage || !strings.Contains(out, "made together") {
		t.Errorf("run: exit code %d: %s", code, out)
	}
}

// The statements of docs/secure-cluster.md's step 3: for relaying and counting, and for advice on a keyspace and its changes.
const (
	learning = "CREATE ROLE helenus WITH PASSWORD = 'secret' AND LOGIN = true"
	advising = "GRANT SELECT ON KEYSPACE %s TO helenus"
	making   = "CREATE KEYSPACE helenus_data_%s WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"
	changing = "GRANT ALL PERMISSIONS ON KEYSPACE helenus_data_%s TO helenus"
)

// TestSecureCluster puts the program before a Cassandra that demands TLS, certificates and passwords.
func TestSecureCluster(t *testing.T) {
	cassandratest.ContactPoints(t)
	long.Only(t, "a cluster of its own; make demo-production shows the same")
	options, ca, err := cassandra.Secure(cassandra.Options{}, t.TempDir(), cassandra.Security{Mutual: true})
	if err != nil {
		t.Fatal(err)
	}
	cluster, err := cassandra.Start(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cluster.Stop(); err != nil {
			t.Error(err)
		}
	})
	connect := func(at string, config *tls.Config, user, password string) (*gocql.Session, error) {
		cfg := cassandratest.Config(t, at)
		cfg.SslOpts = &gocql.SslOptions{Config: config, EnableHostVerification: true}
		cfg.Authenticator = gocql.PasswordAuthenticator{Username: user, Password: password}
		cfg.Logger = quiet{}
		return cfg.CreateSession()
	}
	direct, err := connect(cluster.ContactPoints()[0], options.TLS, cassandra.FirstUser, cassandra.FirstPassword)
	if err != nil {
		t.Fatal(err)
	}
	defer direct.Close()
	orders := newShop(t, direct)
	for _, text := range []string{
		learning, fmt.Sprintf(advising, orders.keyspace),
		"CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE TABLE shop.orders (id int PRIMARY KEY, customer text)",
		"CREATE ROLE app WITH PASSWORD = 'a' AND LOGIN = true",
		"GRANT SELECT ON KEYSPACE shop TO app", "GRANT MODIFY ON KEYSPACE shop TO app",
		"GRANT SELECT ON KEYSPACE " + orders.keyspace + " TO app", "GRANT MODIFY ON KEYSPACE " + orders.keyspace + " TO app",
	} {
		must(t, direct, text)
	}

	// Whoever may not make keyspaces is told so by what works in scratch ones, and nothing is made.
	t.Run("no permission to make keyspaces", func(t *testing.T) {
		trusted, err := ca.Client("app")
		if err != nil {
			t.Fatal(err)
		}
		point := cluster.ContactPoints()[0]
		_, err = calibrate.Measure(t.Context(), calibrate.Options{Force: true, Quick: true, Budget: time.Second,
			Connect: func(string) (*gocql.Session, error) { return connect(point, trusted, "app", "a") }})
		if err == nil || !strings.Contains(err.Error(), "has no CREATE permission") || !strings.Contains(err.Error(), "GRANT CREATE ON ALL KEYSPACES") {
			t.Errorf("%v", err)
		}
		var name string
		for iter := direct.Query("SELECT keyspace_name FROM system_schema.keyspaces").Iter(); iter.Scan(&name); {
			if strings.HasPrefix(name, calibrate.DefaultPrefix) {
				t.Errorf("keyspace %s was made", name)
			}
		}
	})

	// What works in scratch keyspaces (N-62) takes the same flags as run, and needs CREATE on all keyspaces and no more.
	t.Run("scratch keyspaces", func(t *testing.T) {
		leaf, err := ca.Issue(authority.Leaf{Name: "prover"})
		if err != nil {
			t.Fatal(err)
		}
		must(t, direct, "CREATE ROLE prover WITH PASSWORD = 'p' AND LOGIN = true")
		must(t, direct, "GRANT CREATE ON ALL KEYSPACES TO prover")
		t.Setenv("HELENUS_PASSWORD", "p")
		reach := []string{"--contact-point", cluster.ContactPoints()[0], "--username", "prover", "--cassandra-tls", "--cassandra-tls-ca", ca.File,
			"--cassandra-tls-cert", leaf.Certificate, "--cassandra-tls-key", leaf.Key}
		// It has looked round the cluster when it says this, and measures nothing.
		_, err, code := executed(t, "calibrate", append([]string{"--replication", "3", "--out", filepath.Join(t.TempDir(), "cost.yaml")}, reach...)...)
		if code != exitUsage || !strings.Contains(err.Error(), "has 1 node(s)") {
			t.Errorf("calibrate: exit code %d: %v", code, err)
		}
	})

	shown, err := ca.Issue(authority.Leaf{Name: "helenus", Hosts: []string{"127.0.0.1"}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "helenus.yaml")
	if err := os.WriteFile(file, []byte(strings.NewReplacer("CERT", shown.Certificate, "KEY", shown.Key, "CA", ca.File).Replace(`
username: helenus
listen-tls-cert: CERT
listen-tls-key: KEY
listen-tls-client-ca: CA
cassandra-tls: true
cassandra-tls-ca: CA
cassandra-tls-cert: CERT
cassandra-tls-key: KEY
`)), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HELENUS_PASSWORD", "secret")
	p := orders.process(cluster.ContactPoints()[0], "--config", file, "--keyspaces", orders.keyspace+",shop")
	p.start()
	p.awaitReady()

	trusted, err := ca.Client("app")
	if err != nil {
		t.Fatal(err)
	}
	nameless, err := ca.Client("")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		config   *tls.Config
		password string
	}{"no certificate": {nameless, "a"}, "wrong password": {trusted, "b"}} {
		if session, err := connect(p.listen, c.config, "app", c.password); err == nil {
			session.Close()
			t.Errorf("%s: let in", name)
		}
	}
	session, err := connect(p.listen, trusted, "app", "a")
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	if err := session.Query("INSERT INTO shop.orders (id, customer) VALUES (?, ?)", 1, "Ann").Exec(); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		var customer string
		if err := session.Query("SELECT customer FROM shop.orders WHERE id = ?", 1).Scan(&customer); err != nil || customer != "Ann" {
			t.Fatalf("%q, %v", customer, err)
		}
	}
	await(t, "the statement is counted", func() bool {
		_, out := command(t, p, "statements")
		return strings.Contains(out, "shop.orders")
	})
	response, err := http.Get("http://" + p.admin + "/metrics") //nolint:noctx // a test
	if err != nil {
		t.Fatal(err)
	}
	metrics, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err != nil || !strings.Contains(string(metrics), `helenus_tls_certificate_expiry_timestamp_seconds{kind="own",side="client"}`) {
		t.Errorf("the certificate's end is not among the metrics: %v", err)
	}

	// A new certificate is shown to who comes now; who is there stays.
	next, err := ca.Issue(authority.Leaf{Name: "helenus", Hosts: []string{"127.0.0.1"}})
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.LoadX509KeyPair(next.Certificate, next.Key)
	if err != nil {
		t.Fatal(err)
	}
	await(t, "the new certificate is shown", func() bool {
		c, err := (&tls.Dialer{NetDialer: &net.Dialer{Timeout: time.Second}, Config: trusted}).DialContext(t.Context(), "tcp", p.listen)
		if err != nil { // a busy machine, for once
			return false
		}
		defer func() { _ = c.Close() }()
		return c.(*tls.Conn).ConnectionState().PeerCertificates[0].SerialNumber.Cmp(pair.Leaf.SerialNumber) == 0
	})
	var customer string
	if err := session.Query("SELECT customer FROM shop.orders WHERE id = ?", 1).Scan(&customer); err != nil {
		t.Error(err)
	}

	// A change, with the permissions of step 3 and no more. Helenus owns the table that it makes.
	orders.ask(session, 60)
	advice := p.advice()
	if err := p.approve(advice.ID); err == nil || !strings.Contains(err.Error(), "GRANT ALL PERMISSIONS ON KEYSPACE "+advice.Rewrite.TableKeyspace+" TO helenus;") {
		t.Errorf("approved without the right to make a keyspace: %v", err)
	}
	must(t, direct, fmt.Sprintf(making, orders.keyspace))
	must(t, direct, fmt.Sprintf(changing, orders.keyspace))
	time.Sleep(5 * time.Second) // for two seconds (permissions_validity) Cassandra believes what it knew of a role, and longer under load
	if err := p.approve(advice.ID); err != nil {
		t.Fatal(err)
	}
	await(t, "the change serves", func() bool { // the application's reads are compared, though they will not be served
		orders.ask(session, 10)
		return p.migration(advice.ID).State == migrate.Serving
	})
	must(t, session, "UPDATE "+orders.table()+" SET customer = 'new' WHERE day = 1 AND number = 1")
	orders.same(session)
	if missing, rows := orders.missing(advice.Rewrite.FullTable()); missing != 0 {
		t.Errorf("%d of %d rows have no look-up entry", missing, rows)
	}
	for _, order := range []string{"rollback", "drop"} { // which needs --yes where there is no terminal
		if code, out := command(t, p, order, "--yes", advice.ID); code != 0 {
			t.Errorf("%s: exit code %d: %s", order, code, out)
		}
	}
	if err := direct.Query("SELECT * FROM " + advice.Rewrite.FullTable()).Exec(); err == nil {
		t.Error("the look-up table is still there")
	}
	if code := p.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

type quiet struct{}

func (quiet) Print(...any)          {}
func (quiet) Printf(string, ...any) {}
func (quiet) Println(...any)        {}
