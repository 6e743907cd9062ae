package drivers

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/internal/cassandra"
	"github.com/helenus-db/helenus/internal/cassandra/authority"
	"github.com/helenus-db/helenus/internal/cassandra/cassandratest"
)

// race: the tests run with the race detector, so helenus does too.
var race bool

// The environment of a run. HELENUS_TEST_DRIVERS: "all" runs every language and check (make test-drivers), a list
// of languages those with every check; without it the short lists run. HELENUS_DRIVERS_DIRECT: the programs speak to
// Cassandra itself. HELENUS_DRIVERS_CHECKS: only these checks.
const (
	which  = "HELENUS_TEST_DRIVERS"
	direct = "HELENUS_DRIVERS_DIRECT"
	only   = "HELENUS_DRIVERS_CHECKS"
)

var (
	every = []string{"connect", "prepared", "batch", "paging", "collections", "udt", "vector", "lwt", "tracing", "warnings", "errors", "use",
		"large", "concurrent", "payload", "speculative", "describe", "metadata", "token-aware", "events",
		"schema-under-load", "node-restart", "first-node-restart", "drained"}
	inCI     = []string{"connect", "prepared", "batch", "paging", "tracing", "warnings", "errors", "token-aware"}
	brief    = []string{"connect", "prepared", "paging", "large", "use", "errors"}
	versions = map[string][]int{"gocql": {3, 4}, "apache": {3, 4, 5}, "python": {3, 4, 5}, "java": {3, 4, 5}, "node": {3, 4}}
	squeezed = map[string][]string{"gocql": {"snappy"}, "apache": {"lz4", "snappy"}, "python": {"lz4", "snappy"}, "java": {"lz4", "snappy"}}
)

// patient are nodes that do not give up because the machine is busy: three of them, cold, share two processors with us.
var patient = map[string]any{"read_request_timeout": "15s", "range_request_timeout": "15s", "write_request_timeout": "15s",
	"counter_write_request_timeout": "15s", "cas_contention_timeout": "15s", "request_timeout": "15s"}

// languages returns whom to test, and whether with everything.
func languages(t *testing.T) (names []string, all bool) {
	t.Helper()
	cassandratest.ContactPoints(t) // or skips
	switch value := os.Getenv(which); value {
	case "":
		return Short, false
	case "all":
		return Languages, true
	default:
		return strings.Split(value, ","), true
	}
}

// stage is a cluster, what is known of it, and the helenus in front.
type stage struct {
	t       *testing.T
	cluster *cassandra.Cluster
	binary  string
	user    string // and password; "" for none
	names   []string
	command map[string][]string
	tls     *tls.Config    // of the cluster; nil for none
	session *gocql.Session // to the cluster, past helenus
	owners  []owner        // by token
	matrix  map[string]map[string]string
	rows    []string
}

type owner struct {
	token         int64
	host, address string
	contact       string
}

func newStage(t *testing.T, names []string, opt cassandra.Options) *stage {
	t.Helper()
	ctx := context.Background()
	s := &stage{t: t, names: names, tls: opt.TLS, command: map[string][]string{}, matrix: map[string]map[string]string{}}
	scratch := t.TempDir()
	for _, name := range names {
		command, err := Command(ctx, name, scratch)
		if err != nil {
			t.Fatal(err)
		}
		s.command[name] = command
	}
	var err error
	if s.binary, err = Build(ctx, scratch, race); err != nil {
		t.Fatal(err)
	}
	opt.Progress = func(line string) { t.Log(line) }
	if s.cluster, err = cassandra.Start(ctx, opt); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.cluster.Stop(); err != nil {
			t.Error(err)
		}
	})
	s.session = s.direct(s.cluster.Node(0))
	t.Cleanup(func() { s.session.Close() }) // which may be a later one
	t.Cleanup(func() { t.Log("what works:\n" + s.table()) })
	return s
}

// direct opens a session on one node alone, past helenus.
func (s *stage) direct(n *cassandra.Node) *gocql.Session {
	s.t.Helper()
	cfg := cassandratest.Config(s.t, n.Addr())
	cfg.Timeout, cfg.MaxWaitSchemaAgreement = 2*time.Minute, 5*time.Minute // with programs of five languages at work
	cfg.Authenticator = gocql.PasswordAuthenticator{Username: cassandra.FirstUser, Password: cassandra.FirstPassword}
	if s.tls != nil {
		cfg.SslOpts = &gocql.SslOptions{Config: s.tls, EnableHostVerification: true}
	}
	session, err := cfg.CreateSession()
	if err != nil {
		s.t.Fatal(err)
	}
	return session
}

func (s *stage) exec(format string, args ...any) {
	s.t.Helper()
	if err := s.session.Query(fmt.Sprintf(format, args...)).Exec(); err != nil {
		s.t.Fatalf(format+": %v", append(args, err)...)
	}
}

// learn asks each node who it is.
func (s *stage) learn() {
	s.t.Helper()
	s.owners = nil
	for _, n := range s.cluster.Nodes() {
		session := s.direct(n)
		var o owner
		var id gocql.UUID
		var address net.IP
		var tokens []string
		if err := session.Query("SELECT host_id, rpc_address, tokens FROM system.local").Scan(&id, &address, &tokens); err != nil {
			s.t.Fatal(err)
		}
		session.Close()
		o.host, o.address, o.contact = id.String(), address.String(), n.Addr()
		for _, text := range tokens {
			var err error
			if o.token, err = strconv.ParseInt(text, 10, 64); err != nil {
				s.t.Fatal(err)
			}
			s.owners = append(s.owners, o)
		}
	}
	slices.SortFunc(s.owners, func(a, b owner) int {
		if a.token < b.token {
			return -1
		}
		return 1
	})
}

// ownerOf returns who holds the only replica of a token.
func (s *stage) ownerOf(text string) owner {
	token, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		s.t.Error(err)
	}
	for _, o := range s.owners {
		if token <= o.token {
			return o
		}
	}
	return s.owners[0]
}

// pass is one run of some programs in one configuration.
type pass struct {
	name      string               // column in the table, after the program's name
	checks    []string             // run by each program
	flags     []string             // of the programs
	helenus   []string             // flags of helenus
	shown     *authority.Authority // issues the certificate that helenus shows to clients; nil: they speak no TLS
	hosts     int                  // that drivers must see; 0: not checked
	listeners int                  // of helenus, where they are more than the hosts
	programs  []string
	disturb   func(h *Helenus, keyspace func(program string) string, check string) error
	killed    func(check string) string // host id of the node that a check's disturbance ends
	keyspaces string                    // what their names end with; passes that share them find the tables there
	without   map[string][]string       // by program: checks that its driver fails without helenus too; the package comment says why
}

// keyspace names the keyspace of a program.
func (p *pass) keyspace(program string) string { return program + "_checks" + p.keyspaces }

// of returns the checks that a program runs: without helenus all, so that what its driver fails by itself is seen.
func (p *pass) of(program string) []string {
	if os.Getenv(direct) != "" {
		return p.checks
	}
	return slices.DeleteFunc(slices.Clone(p.checks), func(c string) bool { return slices.Contains(p.without[program], c) })
}

// run runs a pass through a helenus of its own.
func (s *stage) run(p pass) {
	s.t.Helper()
	if list := os.Getenv(only); list != "" {
		p.checks = slices.DeleteFunc(slices.Clone(p.checks), func(c string) bool { return !slices.Contains(strings.Split(list, ","), c) })
	}
	s.t.Run(p.name, func(t *testing.T) {
		if len(p.checks) == 0 {
			return // none of this pass was asked for
		}
		ctx, cancel := context.WithTimeout(context.Background(), 40*time.Minute) // every check, on a busy machine
		defer cancel()
		var h *Helenus
		points := s.cluster.ContactPoints()[:1]
		if os.Getenv(direct) == "" {
			var err error
			if h, err = Through(s.binary, t.TempDir(), s.cluster.ContactPoints(), max(p.hosts, p.listeners, 1), p.helenus...); err != nil {
				t.Fatal(err)
			}
			if p.shown != nil {
				var hosts []string
				for _, listener := range h.Listen {
					host, _, _ := net.SplitHostPort(listener) // as addresses joined it
					hosts = append(hosts, host)
				}
				pair, err := p.shown.Issue(authority.Leaf{Name: "helenus " + p.name, Hosts: hosts})
				if err != nil {
					t.Fatal(err)
				}
				h.Add("--listen-tls-cert", pair.Certificate, "--listen-tls-key", pair.Key)
			}
			if err := h.Start(ctx); err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := h.Stop(); err != nil {
					t.Error(err)
				}
				if t.Failed() {
					t.Logf("end of the log of helenus:\n%s", h.Log())
				}
			}()
			points = h.Listen[:1]
		}
		commands := map[string][]string{}
		for _, name := range p.programs {
			// Most passes share a keyspace and its tables, as each change of the schema costs seconds on three nodes.
			s.exec("CREATE KEYSPACE IF NOT EXISTS %s WITH replication = {'class': 'SimpleStrategy', 'replication_factor': %d}", p.keyspace(name), len(s.cluster.Nodes()))
			s.exec("CREATE KEYSPACE IF NOT EXISTS %s_one WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}", p.keyspace(name))
			commands[name] = append(append(slices.Clone(s.command[name]), "--points", points[0], "--keyspace", p.keyspace(name),
				"--checks", strings.Join(p.of(name), ",")), p.flags...)
			if p.shown != nil {
				commands[name] = append(commands[name], "--ca", p.shown.File)
			}
			if s.user != "" {
				commands[name] = append(commands[name], "--username", s.user, "--password", s.user)
			}
		}
		begin := time.Now()
		programs, err := RunAll(ctx, commands, func(program *Program, line Line) { s.judge(t, p, h, program, line) }, func(check string) error {
			start := time.Now()
			err := p.disturb(h, p.keyspace, check)
			t.Logf("%-8s %-20s %5.1f s", "disturb", check, time.Since(start).Seconds())
			return err
		})
		if err != nil {
			t.Error(err)
		}
		for _, program := range programs {
			s.silent(t, p, program)
		}
		t.Logf("%.0f s", time.Since(begin).Seconds())
	})
}

// judge looks at one result of one program, as it comes.
func (s *stage) judge(t *testing.T, p pass, h *Helenus, program *Program, line Line) {
	fault := ""
	if !line.OK {
		fault = line.Detail
	}
	switch {
	case fault != "":
	case line.Check == "connect" && h != nil && p.hosts > 0:
		fault = s.strangers(line.Hosts, h, p.hosts)
	case line.Check == "token-aware":
		fault = s.misses(t, program.Name, line)
	case p.killed != nil:
		fault = accused(line, p.killed(line.Check))
	}
	result := "ok"
	if fault != "" {
		result = "FAULT"
		t.Errorf("%-8s %-20s %5.1f s  FAULT: %s", program.Name, line.Check, line.Took.Seconds(), fault)
	} else {
		t.Logf("%-8s %-20s %5.1f s  %s %v %d down %d up", program.Name, line.Check, line.Took.Seconds(), line.Detail, line.Hosts, len(line.Down), len(line.Up))
	}
	s.note(line.Check, program.Name+" "+p.name, result)
}

// silent looks for checks that a program, which has ended, said nothing of.
func (s *stage) silent(t *testing.T, p pass, program *Program) {
	for _, check := range p.of(program.Name) {
		if !slices.ContainsFunc(program.Lines, func(l Line) bool { return l.Check == check }) {
			t.Errorf("%s: %s: the program ended without a word on it; its standard error: %s", program.Name, check, program.Errors())
			s.note(check, program.Name+" "+p.name, "FAULT")
		}
	}
}

// strangers says which hosts a driver knows that are no listener of helenus.
func (s *stage) strangers(hosts []string, h *Helenus, want int) string {
	expect := slices.Sorted(slices.Values(h.Listen[:want]))
	slices.Sort(hosts)
	slices.Sort(expect)
	if slices.Equal(hosts, expect) {
		return ""
	}
	return fmt.Sprintf("the driver knows the hosts %v, want the listeners %v", hosts, expect)
}

// misses says whether too few keyed reads went to the node that owns the key.
func (s *stage) misses(t *testing.T, program string, line Line) string {
	reads, traces := 0, 0
	for _, r := range line.Reads {
		if s.ownerOf(r[0]).host == r[1] {
			reads++
		}
	}
	for _, r := range line.Traces {
		if s.ownerOf(r[0]).address == strings.TrimPrefix(strings.Split(r[1], ":")[0], "/") {
			traces++
		}
	}
	result := fmt.Sprintf("%d of %d reads by key went to the replica, by the driver; %d of %d by Cassandra's traces", reads, len(line.Reads), traces, len(line.Traces))
	if len(line.Reads) < 1000 || reads*100 < len(line.Reads)*99 || len(line.Traces) < 20 || traces < len(line.Traces) {
		return result
	}
	t.Logf("%s: %s", program, result)
	return ""
}

// accused says whether a driver took another node than the killed one for dead.
func accused(line Line, killed string) string {
	for _, host := range line.Down {
		if killed != "" && host != killed {
			return fmt.Sprintf("the driver was told that %v are down; only %s was", line.Down, killed)
		}
	}
	return ""
}

func (s *stage) note(check, column, result string) {
	if s.matrix[check] == nil {
		s.matrix[check] = map[string]string{}
		s.rows = append(s.rows, check)
	}
	s.matrix[check][column] = result
}

// table renders what was found, one line a check.
func (s *stage) table() string {
	var text strings.Builder
	for _, check := range s.rows {
		var columns []string
		for column, result := range s.matrix[check] {
			columns = append(columns, column+": "+result)
		}
		slices.Sort(columns)
		fmt.Fprintf(&text, "%-20s %s\n", check, strings.Join(columns, ", "))
	}
	return text.String()
}

// disturb does what the checks of a three-node cluster wait for.
func (s *stage) disturb(h *Helenus, keyspace func(string) string, check string) error {
	ctx := context.Background()
	restart := func(n *cassandra.Node) error {
		if err := n.Kill(); err != nil {
			return err
		}
		time.Sleep(2 * time.Second) // so that somebody notices
		return n.Start(ctx)
	}
	switch check {
	case "events":
		for _, name := range s.names {
			s.exec("CREATE TABLE %s.seen (id int PRIMARY KEY)", keyspace(name))
		}
		return nil
	case "schema-under-load":
		s.exec("CREATE TABLE %s.born (id int PRIMARY KEY)", keyspace(s.names[0])) // one for all: each takes seconds, where the nodes are busy
		for _, name := range s.names {
			s.exec("ALTER TABLE %s.load ADD z_added text", keyspace(name))
		}
		s.exec("DROP TABLE %s.born", keyspace(s.names[0]))
		return nil
	case "node-restart":
		return restart(s.cluster.Node(1))
	case "first-node-restart":
		s.session.Close()
		err := restart(s.cluster.Node(0))
		if err == nil {
			s.session = s.direct(s.cluster.Node(0))
		}
		return err
	case "drained":
		if h == nil {
			return nil
		}
		if err := h.Stop(); err != nil {
			return err
		}
		time.Sleep(500 * time.Millisecond)
		return h.Start(ctx)
	}
	return fmt.Errorf("nobody knows how to disturb for %q", check)
}

func (s *stage) killed(check string) string {
	node := map[string]int{"node-restart": 1, "first-node-restart": 0}
	if i, ok := node[check]; ok {
		contact := s.cluster.Node(i).Addr()
		for _, o := range s.owners {
			if o.contact == contact {
				return o.host
			}
		}
	}
	return ""
}

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

// TestTLS: a node of 5.0 that speaks TLS and asks for a password, behind a helenus that shows a certificate of its own.
func TestTLS(t *testing.T) {
	names, all := languages(t)
	if !all {
		return // cmd/helenus and proxy test TLS in CI, with one driver
	}
	opt, ca, err := cassandra.Secure(cassandra.Options{}, t.TempDir(), cassandra.Security{})
	if err != nil {
		t.Fatal(err)
	}
	s := newStage(t, names, opt)
	s.user = "app"
	s.exec("CREATE ROLE app WITH PASSWORD = 'app' AND LOGIN = true AND SUPERUSER = true")
	s.run(pass{name: "TLS", checks: append([]string{"wrong-password", "batch", "concurrent"}, brief...), hosts: 1, programs: names, shown: ca,
		helenus: []string{"--username", cassandra.FirstUser, "--password", cassandra.FirstPassword, "--cassandra-tls", "--cassandra-tls-ca", ca.File}})
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
		disturb: func(*Helenus, func(string) string, string) error {
			_, err := s.cluster.Add(context.Background())
			s.learn()
			return err
		}})
}
