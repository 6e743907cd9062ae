// Package check says what of a cluster stands in the way of learning from it, or of serving from look-ups on it: one function for each thing
// that is looked at, over what was read of the cluster (Facts). It reads nothing itself, and imports nothing of ours but how CQL writes names and people read numbers.
package check

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/helenus-db/helenus/capture/cql/lexer"
	"github.com/helenus-db/helenus/internal/words"
)

// Level is how much a finding stands in the way.
type Level string

// The levels.
const (
	Blocks Level = "blocks" // something that Helenus does can not be done
	Warns  Level = "warns"  // it can be done, and a person should know
	Fine   Level = "fine"   // looked at, and nothing stands in the way
)

// Finding is one thing that was looked at.
type Finding struct {
	Check string `json:"check"` // what was looked at
	Level Level  `json:"level"`
	Says  string `json:"says"`
	Do    string `json:"do,omitempty"` // what helps: CQL, a setting, a line of code
}

// Facts are what was read of a cluster.
type Facts struct {
	Role       string     // Helenus's own; "" if it does not log in
	Nodes      []Node     // at least one
	Rights     Rights     // of Role
	Unreadable []string   // system tables that Role may not read
	Named      []string   // keyspaces that the settings name; none: all
	Keyspaces  []Keyspace // the application's, of those that are named
	State      *State     // nil: it is kept in a file
	Clients    []Client   // connections that do not come through a helenus
	Owners     []string   // states of the helenus processes that are connected
	Seen       []Seen     // connections that came past a helenus in the last month, as the running process remembers them
	Forgotten  string     // why nobody remembers, "" if somebody does
	Unseen     string     // why there may be more connections, "" if there are not
	Wants      Wants      // what the settings ask for
}

// Wants are settings of Helenus that a cluster may not agree with.
type Wants struct {
	Permissions time.Duration // permissions-validity
	Entries     int           // max-entries
	Topology    string
}

// Node is one node.
type Node struct {
	Address, Version, Partitioner, DC string
	Offset                            time.Duration     // of its clock from that of this machine
	Doubt                             time.Duration     // how far Offset may be off
	Settings                          map[string]string // system_views.settings; nil if it can not be read
	Failed                            string            // why it was not asked, "" if it was
}

// Rights are what a role may do.
type Rights struct {
	Unchecked bool // the cluster checks no permissions
	Super     bool
	Grants    []Grant
	Failed    string // why they could not be listed
}

// Grant is one permission on one resource, as LIST PERMISSIONS says them: "<keyspace shop>".
type Grant struct{ Resource, Permission string }

// Keyspace is one of the application's.
type Keyspace struct {
	Name        string
	Replication map[string]string
	Tables      int
	Data        Data
}

// Data is the keyspace of ours that look-up tables over a keyspace lie in.
type Data struct {
	Name        string
	Replication map[string]string // nil: it is not there
	Make        string            // CQL that makes it
	Follow      string            // CQL that has it replicated as the application's
}

// State is the keyspace that the members of a fleet keep their state in.
type State struct {
	Name string
	Make string // CQL that makes it; "": it is there
	Bare bool   // it is there, without its tables

	Replication map[string]string // nil: it is not there
}

// Client are connections of one kind.
type Client struct {
	User, Driver, Address string
	Count                 int
}

// Seen are connections of one kind, as they were seen over time.
type Seen struct {
	Client
	First, Last time.Time
	Looks       int64 // how many looks, one a minute, saw them
}

// All looks at everything, what blocks first.
func All(f *Facts) []Finding {
	var all []Finding
	for _, look := range []func(*Facts) []Finding{nodes, versions, partitioner, named, rights, fleetState, systemTables, guardrails, cdc, validity, replication, clocks, others, drivers} {
		all = append(all, look(f)...)
	}
	rank := map[Level]int{Blocks: 0, Warns: 1, Fine: 2}
	slices.SortStableFunc(all, func(a, b Finding) int { return cmp.Compare(rank[a.Level], rank[b.Level]) })
	return all
}

func fine(check, format string, args ...any) []Finding {
	return []Finding{{Check: check, Level: Fine, Says: fmt.Sprintf(format, args...)}}
}

func nodes(f *Facts) (out []Finding) {
	for _, n := range f.Nodes {
		if n.Failed != "" {
			out = append(out, Finding{"nodes", Warns, fmt.Sprintf("node %s could not be asked: %s", n.Address, n.Failed), "start it, or let this machine reach it, and check again"})
		}
	}
	return out
}

// asked are the nodes that were.
func (f *Facts) asked() []Node {
	return slices.DeleteFunc(slices.Clone(f.Nodes), func(n Node) bool { return n.Failed != "" })
}

func versions(f *Facts) (out []Finding) {
	found := map[string]bool{}
	var list []string
	for _, n := range f.asked() {
		if !found[n.Version] {
			list = append(list, n.Version)
		}
		found[n.Version] = true
	}
	slices.Sort(list)
	for _, v := range list {
		if major, minor := number(v); major < 4 || major == 4 && minor < 1 {
			out = append(out, Finding{"version", Blocks, fmt.Sprintf("Cassandra %s: nobody can see there who else is connected, and Helenus is tried with 4.1 and 5.0", v), "upgrade to 4.1 or later"})
		}
	}
	if len(list) > 1 {
		out = append(out, Finding{"version", Warns, "nodes of several versions: " + strings.Join(list, ", "), "finish the upgrade before a change is approved"})
	}
	if out == nil {
		return fine("version", "Cassandra %s", strings.Join(list, ", "))
	}
	return out
}

func number(version string) (major, minor int) {
	parts := strings.SplitN(version, ".", 3)
	major, _ = strconv.Atoi(parts[0])
	if len(parts) > 1 {
		minor, _ = strconv.Atoi(strings.TrimFunc(parts[1], func(r rune) bool { return r < '0' || r > '9' }))
	}
	return major, minor
}

func partitioner(f *Facts) []Finding {
	for _, n := range f.asked() {
		if !strings.HasSuffix(n.Partitioner, "Murmur3Partitioner") {
			return []Finding{{"partitioner", Blocks, fmt.Sprintf("%s: Helenus puts rows in the order of Murmur3 tokens only, so nothing can be served", n.Partitioner), "none: a cluster keeps its partitioner for life"}}
		}
	}
	return fine("partitioner", "Murmur3Partitioner")
}

// named are the keyspaces that the settings name and the cluster does not have: a slip of the pen, and nothing would ever be advised.
func named(f *Facts) (out []Finding) {
	for _, k := range f.Named {
		if !slices.ContainsFunc(f.Keyspaces, func(has Keyspace) bool { return has.Name == k }) {
			out = append(out, Finding{"keyspaces", Blocks, fmt.Sprintf("keyspace %s, which the setting keyspaces names, is not there", k), "name it as SELECT keyspace_name FROM system_schema.keyspaces does, in the same case"})
		}
	}
	return out
}

// may tells whether the role has a permission on a keyspace as a whole. ALTER on all its tables is none to alter the keyspace.
func (r *Rights) may(permission, keyspace string) bool {
	return r.Unchecked || r.Super || slices.ContainsFunc(r.Grants, func(g Grant) bool {
		return g.Permission == permission && (g.Resource == "<all keyspaces>" || g.Resource == "<keyspace "+keyspace+">" || g.Resource == "<all tables in "+keyspace+">" && permission != "ALTER")
	})
}

// lacks are those of the permissions that the role does not have.
func (r *Rights) lacks(keyspace string, permissions ...string) string {
	return strings.Join(slices.DeleteFunc(permissions, func(p string) bool { return r.may(p, keyspace) }), ", ")
}

func rights(f *Facts) (out []Finding) {
	switch r := &f.Rights; {
	case r.Unchecked:
		return fine("permissions", "the cluster checks none")
	case r.Super:
		return []Finding{{"permissions", Warns, fmt.Sprintf("%s is a superuser, which is more than Helenus needs", f.Role), "make a role as docs/secure-cluster.md says, step 3"}}
	case r.Failed != "":
		return []Finding{{"permissions", Warns, fmt.Sprintf("what %s may do can not be listed: %s", f.Role, r.Failed), "LIST ALL PERMISSIONS OF " + name(f.Role)}}
	}
	for _, k := range f.Keyspaces {
		if !f.Rights.may("SELECT", k.Name) {
			out = append(out, Finding{"permissions", Blocks, fmt.Sprintf("%s has no SELECT on keyspace %s, which it needs to measure its tables and to fill look-ups", f.Role, k.Name),
				fmt.Sprintf("GRANT SELECT ON KEYSPACE %s TO %s;", name(k.Name), name(f.Role))})
		}
		out = append(out, f.home(&k)...)
	}
	if out == nil {
		return fine("permissions", "%s has SELECT on %s, and may make look-up tables beside them", f.Role, words.Plural(len(f.Keyspaces), "keyspace", "keyspaces"))
	}
	return out
}

// home says what is missing to make tables over a keyspace: the keyspace that they lie in, or rights on it. Before a change is approved is early enough.
func (f *Facts) home(k *Keyspace) []Finding {
	grant := fmt.Sprintf("GRANT ALL PERMISSIONS ON KEYSPACE %s TO %s;", name(k.Data.Name), name(f.Role))
	if k.Data.Replication == nil {
		if f.Rights.may("CREATE", "") {
			return nil
		}
		return []Finding{{"permissions", Warns, fmt.Sprintf("keyspace %s, which look-up tables over %s lie in, is not there, and %s may make none", k.Data.Name, k.Name, f.Role), k.Data.Make + "; " + grant}}
	}
	lacks := f.Rights.lacks(k.Data.Name, "CREATE", "ALTER", "DROP", "SELECT", "MODIFY")
	if lacks == "" {
		return nil
	}
	return []Finding{{"permissions", Warns, fmt.Sprintf("%s has no %s on keyspace %s, which look-up tables over %s lie in", f.Role, lacks, k.Data.Name, k.Name), grant}}
}

// fleetState says what is missing for a member of a fleet to start: it takes no traffic before it has read the state.
func fleetState(f *Facts) []Finding {
	s := f.State
	if s == nil {
		return nil
	}
	grant := fmt.Sprintf("GRANT ALL PERMISSIONS ON KEYSPACE %s TO %s;", name(s.Name), name(f.Role))
	made := s.Make == ""
	needs := []string{"SELECT", "MODIFY"}
	if s.Bare {
		needs = append(needs, "CREATE")
	}
	lacks := f.Rights.lacks(s.Name, needs...)
	switch {
	case !made && !f.Rights.may("CREATE", ""):
		return []Finding{{"state", Blocks, fmt.Sprintf("keyspace %s, in which members of a fleet keep their state, is not there, and %s may make none", s.Name, f.Role), s.Make + "; " + grant}}
	case !made:
		return fine("state", "the first member makes keyspace %s for the state", s.Name)
	case lacks != "":
		return []Finding{{"state", Blocks, fmt.Sprintf("%s has no %s on keyspace %s, in which members of a fleet keep their state", f.Role, lacks, s.Name), grant}}
	}
	return fine("state", "the state of the fleet is kept in keyspace %s", s.Name)
}

// name writes an identifier as CQL.
func name(s string) string {
	if lexer.Plain(s) {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}

// uses say what is lost where a system table can not be read.
var uses = map[string]string{
	"system_views.clients":       "who else is connected, and whether it writes past Helenus, can not be seen",
	"system_views.settings":      "guardrails and the validity of permissions can not be seen",
	"system.prepared_statements": "statements that were prepared before Helenus was there are counted together, and while a change is in force clients must prepare them again",
}

func systemTables(f *Facts) (out []Finding) {
	for _, table := range f.Unreadable {
		do := ""
		if f.Role != "" {
			do = fmt.Sprintf("GRANT SELECT ON %s TO %s;", table, name(f.Role))
		}
		out = append(out, Finding{"system tables", Warns, fmt.Sprintf("%s can not be read: %s", table, uses[table]), do})
	}
	if out == nil {
		return fine("system tables", "all that Helenus looks at can be read")
	}
	return out
}

func replication(f *Facts) (out []Finding) {
	dcs := map[string]bool{}
	for _, n := range f.asked() {
		dcs[n.DC] = true
	}
	for _, k := range f.Keyspaces {
		class := k.Replication["class"]
		if strings.HasSuffix(class, "SimpleStrategy") && len(dcs) > 1 {
			out = append(out, Finding{"replication", Warns, fmt.Sprintf("keyspace %s has SimpleStrategy in a cluster of %d data centres; look-up tables over it are replicated alike", k.Name, len(dcs)),
				"ALTER KEYSPACE " + name(k.Name) + " WITH replication = {'class': 'NetworkTopologyStrategy', ...}; then repair"})
		}
		if k.Replication["replication_factor"] == "1" && len(f.Nodes) > 1 {
			out = append(out, Finding{"replication", Warns, fmt.Sprintf("keyspace %s has one replica of each row: while a node is down, a part of its rows, and of its look-ups' entries, can be neither read nor written", k.Name),
				"raise the replication factor, then repair"})
		}
		if d := &k.Data; d.Replication != nil && !maps.Equal(d.Replication, k.Replication) {
			out = append(out, Finding{"replication", Warns, fmt.Sprintf("keyspace %s is not replicated as %s is, whose look-up tables lie in it: Helenus alters it as soon as a change in it is approved or in force", d.Name, k.Name), d.Follow + ";"})
		}
	}
	if s := f.State; s != nil && s.Replication != nil && len(f.Nodes) > 1 && copies(s.Replication) < min(3, len(f.Nodes)) {
		out = append(out, Finding{"replication", Warns, fmt.Sprintf("keyspace %s, in which members of a fleet keep their state, has %s: decisions want the majority of its copies, so while a node is down changes may stand still and answer nothing",
			s.Name, words.Plural(copies(s.Replication), "copy", "copies")), "ALTER KEYSPACE " + name(s.Name) + " WITH replication = {'class': 'NetworkTopologyStrategy', ...: 3 of each data centre}; then nodetool repair " + name(s.Name)})
	}
	if out == nil {
		return fine("replication", "keyspaces of look-up tables are replicated as those of their bases")
	}
	return out
}

// copies is how many of each row a replication makes, in all data centres.
func copies(replication map[string]string) (n int) {
	for key, text := range replication {
		if key == "class" {
			continue
		}
		count, _, _ := strings.Cut(text, "/") // transient replicas
		if c, err := strconv.Atoi(count); err == nil {
			n += c
		}
	}
	return n
}

// far is how far two clocks may be apart without a word.
const far = 50 * time.Millisecond

func clocks(f *Facts) []Finding {
	list := f.asked()
	if len(list) == 0 {
		return nil
	}
	slices.SortFunc(list, func(a, b Node) int { return cmp.Compare(a.Offset, b.Offset) })
	first, last := list[0], list[len(list)-1]
	apart := last.Offset - first.Offset
	if apart-first.Doubt-last.Doubt > far {
		return []Finding{{"clocks", Warns, fmt.Sprintf("the clock of %s is %v ahead of that of %s: of two writes to one row the later may be the one without effect, with Helenus as without", last.Address,
			apart.Round(time.Millisecond), first.Address), "let chrony or ntpd keep the nodes' clocks"}}
	}
	for _, n := range []Node{first, last} {
		if max(n.Offset, -n.Offset)-n.Doubt > far {
			return []Finding{{"clocks", Warns, fmt.Sprintf("the clock of %s is %v off that of this machine", n.Address, n.Offset.Round(time.Millisecond)), "let chrony or ntpd keep both clocks; what Helenus writes does not rest on them"}}
		}
	}
	return fine("clocks", "%s within %v", words.Plural(len(list), "node", "nodes"), (apart + first.Doubt + last.Doubt).Round(time.Millisecond))
}

func others(f *Facts) (out []Finding) {
	if len(f.Owners) > 1 {
		out = append(out, Finding{"other writers", Blocks, fmt.Sprintf("%d processes of helenus with states of their own are connected (%s): what is written through one is not seen by the other, so no change is approved",
			len(f.Owners), strings.Join(f.Owners, ", ")), "stop all but one, or give them one state"})
	}
	for _, c := range f.Clients {
		out = append(out, Finding{"other writers", Warns, fmt.Sprintf("user %s with driver %s is connected from %s past Helenus (%d connections): what it writes to a base of a look-up is missing in answers until a sweep finds it",
			orNone(c.User), orNone(c.Driver), c.Address, c.Count), "send it through Helenus, unless it only reads"})
	}
	for _, s := range f.Seen {
		if slices.ContainsFunc(f.Clients, func(c Client) bool { return c.User == s.User && c.Driver == s.Driver && c.Address == s.Address }) {
			continue // it is connected now, and said above
		}
		out = append(out, Finding{"other writers", Warns, fmt.Sprintf("user %s with driver %s was connected from %s past Helenus, last at %s (in %d looks since %s): what it writes to a base of a look-up is missing in answers until a sweep finds it",
			orNone(s.User), orNone(s.Driver), s.Address, s.Last.UTC().Format("2006-01-02 15:04"), s.Looks, s.First.UTC().Format("2006-01-02")), "send it through Helenus, unless it only reads"})
	}
	if f.Unseen != "" {
		out = append(out, Finding{"other writers", Warns, "there may be more: " + f.Unseen, ""})
	}
	if out == nil {
		if f.Forgotten != "" {
			return fine("other writers", "none is connected now; who was before is not known: %s", f.Forgotten)
		}
		return fine("other writers", "none is connected now, and none was in the last month as far as the running process has looked")
	}
	return out
}

func orNone(s string) string {
	if s == "" {
		return "(none)"
	}
	return s
}

// routing says, of drivers that do not choose nodes by token unless they are told, how they are.
var routing = []struct{ driver, do string }{
	{"gocql", "cluster.PoolConfig.HostSelectionPolicy = gocql.TokenAwareHostPolicy(gocql.RoundRobinHostPolicy())"},
	{"apache/cassandra-gocql-driver", "cluster.PoolConfig.HostSelectionPolicy = gocql.TokenAwareHostPolicy(gocql.RoundRobinHostPolicy())"},
	{"php", "$cluster->withTokenAwareRouting(true)"},
	{"ruby", "Cassandra.cluster(load_balancing_policy: Cassandra::LoadBalancing::Policies::TokenAware.new(...))"},
}

func drivers(f *Facts) (out []Finding) {
	if len(f.Nodes) < 2 {
		return fine("routing", "one node: there is nothing to choose")
	}
	seen := map[string]bool{}
	for _, c := range f.Clients {
		for _, r := range routing {
			if strings.Contains(strings.ToLower(c.Driver), r.driver) && !seen[c.Driver] {
				seen[c.Driver] = true
				out = append(out, Finding{"routing", Warns, fmt.Sprintf("%s chooses nodes in turn unless it is told otherwise: every request takes one hop more", c.Driver), r.do})
			}
		}
	}
	if f.Wants.Topology == "single" {
		out = append(out, Finding{"routing", Warns, fmt.Sprintf("topology: single shows drivers one node of %d, so none of them can choose by token", len(f.Nodes)), "topology: mirror"})
	}
	if out == nil {
		return fine("routing", "drivers that are connected choose nodes by token")
	}
	return out
}
