package drivers

import (
	"cmp"
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
	s.session = s.direct(s.cluster.Node(0).Addr())
	t.Cleanup(func() { s.session.Close() }) // which may be a later one
	t.Cleanup(func() { t.Log("what works:\n" + s.table()) })
	return s
}

// direct opens a session on one node alone, past helenus, or on one member of a fleet.
func (s *stage) direct(contact string) *gocql.Session {
	s.t.Helper()
	cfg := cassandratest.Config(s.t, contact)
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
		s.owners = append(s.owners, s.tokens(n.Addr())...)
	}
	slices.SortFunc(s.owners, byToken)
}

// tokens asks a node, or a member of a fleet, who it is.
func (s *stage) tokens(contact string) (list []owner) {
	s.t.Helper()
	session := s.direct(contact)
	defer session.Close()
	var id gocql.UUID
	var address net.IP
	var tokens []string
	if err := session.Query("SELECT host_id, rpc_address, tokens FROM system.local").Scan(&id, &address, &tokens); err != nil {
		s.t.Fatal(err)
	}
	for _, text := range tokens {
		token, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			s.t.Fatal(err)
		}
		list = append(list, owner{token: token, host: id.String(), address: address.String(), contact: contact})
	}
	return list
}

func byToken(a, b owner) int { return cmp.Compare(a.token, b.token) }

// ownerOf returns who holds the only replica of a token; zero if that is none.
func ownerOf(owners []owner, text string) owner {
	token, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return owner{}
	}
	for _, o := range owners {
		if token <= o.token {
			return o
		}
	}
	return owners[0]
}

// pass is one run of some programs in one configuration.
type pass struct {
	name      string               // column in the table, after the program's name
	checks    []string             // run by each program
	flags     []string             // of the programs
	own       map[string][]string  // likewise, by program
	helenus   []string             // flags of helenus
	shown     *authority.Authority // issues the certificate that helenus shows to clients; nil: they speak no TLS
	hosts     int                  // that drivers must see; 0: not checked
	listeners int                  // of helenus, where they are more than the hosts
	fleet     bool                 // as many helenus as hosts, which show one another
	mutual    bool                 // clients must show a certificate
	programs  []string
	disturb   func(f Front, keyspace func(program string) string, check string) error
	killed    func(check string) string // host id of the node, or the member, that a check's disturbance ends
	owners    []owner                   // of the members' tokens; nil: the nodes' count
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
		var f Front
		points := s.cluster.ContactPoints()[:1]
		if os.Getenv(direct) == "" {
			f = s.front(ctx, t, &p)
			points = f.Listen()[:1]
		}
		commands := map[string][]string{}
		for _, name := range p.programs {
			// Most passes share a keyspace and its tables, as each change of the schema costs seconds on three nodes.
			s.exec("CREATE KEYSPACE IF NOT EXISTS %s WITH replication = {'class': 'SimpleStrategy', 'replication_factor': %d}", p.keyspace(name), len(s.cluster.Nodes()))
			s.exec("CREATE KEYSPACE IF NOT EXISTS %s_one WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}", p.keyspace(name))
			commands[name] = append(append(slices.Clone(s.command[name]), "--points", points[0], "--keyspace", p.keyspace(name),
				"--checks", strings.Join(p.of(name), ",")), append(slices.Clone(p.flags), p.own[name]...)...)
			if p.shown != nil {
				commands[name] = append(commands[name], "--ca", p.shown.File)
			}
			if p.mutual {
				pair, err := p.shown.Issue(authority.Leaf{Name: name})
				if err != nil {
					t.Fatal(err)
				}
				commands[name] = append(commands[name], "--cert", pair.Certificate, "--key", pair.Key)
			}
			if s.user != "" {
				commands[name] = append(commands[name], "--username", s.user, "--password", s.user)
			}
		}
		begin := time.Now()
		programs, err := RunAll(ctx, commands, func(program *Program, line Line) { s.judge(t, p, f, program, line) }, func(check string) error {
			start := time.Now()
			err := p.disturb(f, p.keyspace, check)
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

// front starts what a pass's programs connect to. It ends with the test.
func (s *stage) front(ctx context.Context, t *testing.T, p *pass) Front {
	t.Helper()
	start := Through
	if p.fleet {
		start = Fleet
	}
	f, err := start(s.binary, t.TempDir(), s.cluster.ContactPoints(), max(p.hosts, p.listeners, 1), p.helenus...)
	if err != nil {
		t.Fatal(err)
	}
	for i, h := range f {
		if p.shown != nil {
			var hosts []string
			for _, listener := range h.Listen {
				host, _, _ := net.SplitHostPort(listener) // as addresses joined it
				hosts = append(hosts, host)
			}
			pair, err := p.shown.Issue(authority.Leaf{Name: fmt.Sprintf("helenus %s %d", p.name, i), Hosts: hosts})
			if err != nil {
				t.Fatal(err)
			}
			h.Add("--listen-tls-cert", pair.Certificate, "--listen-tls-key", pair.Key)
			if p.mutual {
				h.Add("--listen-tls-client-ca", p.shown.File)
			}
		}
		if err := h.Start(ctx); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := h.Stop(); err != nil {
				t.Error(err)
			}
			if t.Failed() {
				t.Logf("end of the log of helenus %d:\n%s", i, h.Log())
			}
		})
	}
	if p.fleet { // which of them shows which tokens
		for _, h := range f {
			p.owners = append(p.owners, s.tokens(h.Listen[0])...)
		}
		slices.SortFunc(p.owners, byToken)
	}
	return f
}

// judge looks at one result of one program, as it comes.
func (s *stage) judge(t *testing.T, p pass, f Front, program *Program, line Line) {
	fault := ""
	if !line.OK {
		fault = line.Detail
	}
	switch {
	case fault != "":
	case line.Check == "connect" && f != nil && p.hosts > 0:
		fault = s.strangers(line.Hosts, f.Listen()[:p.hosts])
	case line.Check == "token-aware":
		fault = s.misses(t, program.Name, line, p.owners)
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
func (s *stage) strangers(hosts, listeners []string) string {
	expect := slices.Sorted(slices.Values(listeners))
	slices.Sort(hosts)
	if slices.Equal(hosts, expect) {
		return ""
	}
	return fmt.Sprintf("the driver knows the hosts %v, want the listeners %v", hosts, expect)
}

// misses says whether too few keyed reads went to the node that owns the key, or, if members of a fleet show the tokens, to the member
// that does: then Cassandra's traces say nothing, but of 1,000 reads each member must have got some.
func (s *stage) misses(t *testing.T, program string, line Line, members []owner) string {
	reads, traces, by := 0, 0, map[string]int{}
	owners := s.owners
	if members != nil {
		owners, traces = members, len(line.Traces)
	}
	for _, r := range line.Reads {
		by[r[1]]++
		if ownerOf(owners, r[0]).host == r[1] {
			reads++
		}
	}
	for _, r := range line.Traces {
		if members == nil && ownerOf(owners, r[0]).address == strings.TrimPrefix(strings.Split(r[1], ":")[0], "/") {
			traces++
		}
	}
	result := fmt.Sprintf("%d of %d reads by key went to the replica, by the driver; %d of %d by Cassandra's traces", reads, len(line.Reads), traces, len(line.Traces))
	if members != nil {
		result = fmt.Sprintf("%d of %d reads by key went to the member that shows the token, by the driver: %v", reads, len(line.Reads), by)
	}
	for _, o := range members {
		if by[o.host] == 0 {
			return result + "; none to " + o.contact
		}
	}
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
func (s *stage) disturb(f Front, keyspace func(string) string, check string) error {
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
			s.exec("CREATE TABLE IF NOT EXISTS %s.seen (id int PRIMARY KEY)", keyspace(name))
		}
		return nil
	case "schema-under-load":
		s.exec("CREATE TABLE IF NOT EXISTS %s.born (id int PRIMARY KEY)", keyspace(s.names[0])) // one for all: each takes seconds, where the nodes are busy
		for _, name := range s.names {
			s.exec("ALTER TABLE %s.load ADD IF NOT EXISTS z_added text", keyspace(name))
		}
		s.exec("DROP TABLE IF EXISTS %s.born", keyspace(s.names[0]))
		return nil
	case "node-restart":
		return restart(s.cluster.Node(1))
	case "first-node-restart":
		s.session.Close()
		err := restart(s.cluster.Node(0))
		if err == nil {
			s.session = s.direct(s.cluster.Node(0).Addr())
		}
		return err
	case "drained":
		for _, h := range f {
			if err := h.Stop(); err != nil {
				return err
			}
			time.Sleep(500 * time.Millisecond)
			if err := h.Start(ctx); err != nil {
				return err
			}
		}
		return nil
	case "taken-over":
		for range 3 {
			for _, h := range f {
				if err := h.TakeOver(ctx); err != nil {
					return err
				}
			}
		}
		return nil
	case "member-lost":
		f[1].Kill()
		return nil
	case "member-back":
		return f[1].Start(ctx)
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
