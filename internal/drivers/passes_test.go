package drivers

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/helenus-db/helenus/internal/cassandra"
	"github.com/helenus-db/helenus/internal/cassandra/authority"
)

// The checks of the passes; internal/drivers says what each is.
var (
	every = []string{"connect", "prepared", "batch", "paging", "collections", "udt", "vector", "lwt", "tracing", "warnings", "errors", "use",
		"large", "concurrent", "payload", "speculative", "describe", "metadata", "token-aware", "events",
		"schema-under-load", "node-restart", "first-node-restart", "drained", "taken-over"}
	ofFleet  = []string{"connect", "prepared", "paging", "token-aware", "schema-under-load", "member-lost", "member-back", "drained", "taken-over"}
	inCI     = []string{"connect", "prepared", "batch", "paging", "tracing", "warnings", "errors", "token-aware"}
	brief    = []string{"connect", "prepared", "paging", "large", "use", "errors"}
	versions = map[string][]int{"gocql": {3, 4}, "apache": {3, 4, 5}, "python": {3, 4, 5}, "java": {3, 4, 5}, "node": {3, 4}}
	squeezed = map[string][]string{"gocql": {"snappy"}, "apache": {"lz4", "snappy"}, "python": {"lz4", "snappy"}, "java": {"lz4", "snappy"}}
)

// TestThreeNodes is the whole list on a cluster of three nodes of Cassandra 5.0.
func TestThreeNodes(t *testing.T) {
	names, all := languages(t)
	s := newStage(t, names, cassandra.Options{Nodes: 3, Heap: "400m", Extra: patient})
	s.learn()
	checks := every
	if !all {
		checks = inCI
	}
	s.run(pass{name: "mirror", checks: checks, helenus: []string{"--topology", "mirror"}, hosts: 3, programs: names, disturb: s.disturb, killed: s.killed})
	if !all {
		return
	}
	s.fleet(ofFleet)
	s.cqlsh("mirror")
	s.run(pass{name: "single", checks: brief, helenus: []string{"--topology", "single"}, hosts: 1, programs: names,
		keyspaces: "_single"}) // of its own: here the proxy sees to it that a new table is everywhere before the driver goes on
	for v := 3; v <= 5; v++ {
		s.run(pass{name: fmt.Sprintf("v%d", v), checks: append([]string{"batch", "collections", "warnings", "concurrent"}, brief...),
			flags: []string{"--protocol", strconv.Itoa(v)}, listeners: 3, programs: s.who(func(n string) bool { return slices.Contains(versions[n], v) }), disturb: s.disturb})
	}
	for c, version := range map[string]string{"lz4": "0", "snappy": "4"} { // version 5 has no snappy: who asks for it is refused (Java), or goes without
		s.run(pass{name: c, checks: append([]string{"concurrent"}, brief...), flags: []string{"--compression", c, "--protocol", version}, listeners: 3,
			programs: s.who(func(n string) bool { return slices.Contains(squeezed[n], c) }), disturb: s.disturb})
	}
}

// fleet is a pass through three members, which show one another as the nodes. One of them is killed under load.
func (s *stage) fleet(checks []string) {
	s.t.Helper()
	if os.Getenv(direct) != "" {
		return // there is none
	}
	s.run(pass{name: "fleet", checks: checks, hosts: 3, fleet: true, programs: s.names, disturb: s.disturb,
		own: map[string][]string{"gocql": {"--described"}}}) // note 3 of the package comment
}

func (s *stage) who(fits func(string) bool) []string {
	return slices.DeleteFunc(slices.Clone(s.names), func(n string) bool { return !fits(n) })
}

// TestOneNodeOf41 is everything that one node of Cassandra 4.1 can do, which asks for a password and is killed under load.
func TestOneNodeOf41(t *testing.T) {
	names, all := languages(t)
	if !all {
		return // internal/cassandra's own tests start 4.1 in CI
	}
	s := newStage(t, names, cassandra.Options{Version: "4.1.10", Durable: true, Extra: map[string]any{
		"authenticator": "PasswordAuthenticator", "authorizer": "CassandraAuthorizer", "role_manager": "CassandraRoleManager",
	}})
	s.user = "app"
	s.exec("CREATE ROLE app WITH PASSWORD = 'app' AND LOGIN = true AND SUPERUSER = true")
	own := []string{"--username", cassandra.FirstUser, "--password", cassandra.FirstPassword}
	s.learn()
	checks := slices.DeleteFunc(slices.Clone(every), func(c string) bool { return c == "vector" || c == "node-restart" }) // which it lacks
	s.run(pass{name: "4.1, password", checks: append([]string{"wrong-password"}, checks...), hosts: 1, programs: names, helenus: own, disturb: s.disturb, killed: s.killed,
		without: map[string][]string{"gocql": {"speculative"}, "apache": {"speculative"}}})
}

// TestThreeNodesOf41: what happens to nodes of a ring of 4.1 while drivers are at work.
func TestThreeNodesOf41(t *testing.T) {
	names, all := languages(t)
	if !all {
		return // it is 5.0's that CI has the time for
	}
	s := newStage(t, names, cassandra.Options{Version: "4.1.10", Nodes: 3, Heap: "400m", Extra: patient})
	s.learn()
	s.run(pass{name: "4.1, three nodes", checks: []string{"connect", "prepared", "token-aware", "schema-under-load", "node-restart", "first-node-restart", "drained"},
		helenus: []string{"--topology", "mirror"}, hosts: 3, programs: names, disturb: s.disturb, killed: s.killed})
}

// TestTakenOverMirror: one helenus with a listener for each node of a ring of two is replaced under load, with both of its listeners. (Through a fleet, another
// member answers meanwhile; here nobody does.)
func TestTakenOverMirror(t *testing.T) {
	names, all := languages(t)
	if !all {
		return // cmd/helenus replaces a process under load in CI, with clients that come and go
	}
	s := newStage(t, names, cassandra.Options{Nodes: 2, Heap: "400m", Extra: patient})
	s.learn()
	s.run(pass{name: "mirror, taken over", checks: []string{"connect", "prepared", "token-aware", "taken-over"}, helenus: []string{"--topology", "mirror"}, hosts: 2, programs: names,
		disturb: s.disturb, killed: s.killed})
}

// TestTLS: a node of 5.0 that speaks TLS and asks for a certificate and a password, behind a helenus that shows a certificate of its own, and then
// one that asks clients for theirs.
func TestTLS(t *testing.T) {
	names, all := languages(t)
	if !all {
		return // cmd/helenus and proxy test TLS in CI, with one driver
	}
	opt, ca, err := cassandra.Secure(cassandra.Options{Extra: patient}, t.TempDir(), cassandra.Security{Mutual: true})
	if err != nil {
		t.Fatal(err)
	}
	s := newStage(t, names, opt)
	s.user = "app"
	s.exec("CREATE ROLE app WITH PASSWORD = 'app' AND LOGIN = true AND SUPERUSER = true")
	own, err := ca.Issue(authority.Leaf{Name: "own"}) // Cassandra asks for one, too
	if err != nil {
		t.Fatal(err)
	}
	helenus := []string{"--username", cassandra.FirstUser, "--password", cassandra.FirstPassword, "--cassandra-tls", "--cassandra-tls-ca", ca.File,
		"--cassandra-tls-cert", own.Certificate, "--cassandra-tls-key", own.Key}
	checks := append([]string{"wrong-password", "batch", "concurrent"}, brief...)
	s.run(pass{name: "TLS", checks: checks, hosts: 1, programs: names, shown: ca, helenus: helenus})
	s.run(pass{name: "mutual TLS", checks: append([]string{"no-certificate"}, checks...), hosts: 1, programs: names, shown: ca, mutual: true, helenus: helenus})
}

// TestNodeAdded lets a node join a ring of one under load.
func TestNodeAdded(t *testing.T) {
	names, all := languages(t)
	if !all {
		return // the ring's own tests add nodes in CI; here it costs a minute
	}
	s := newStage(t, names, cassandra.Options{})
	s.learn()
	s.run(pass{name: "joined", checks: []string{"connect", "node-added", "token-aware"}, helenus: []string{"--topology", "mirror"}, hosts: 1, listeners: 2, programs: names, without: map[string][]string{"node": {"token-aware"}},
		disturb: func(Front, func(string) string, string) error {
			_, err := s.cluster.Add(context.Background())
			s.learn()
			return err
		}})
}
