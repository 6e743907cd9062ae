package writers

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/helenus-db/helenus/advisor/safety"
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/feed"
	"github.com/helenus-db/helenus/capture/profile"
	"github.com/helenus-db/helenus/capture/schema"
)

// Input is what is known. Schema and Snapshot are required.
type Input struct {
	Schema     *schema.Schema
	Snapshot   *capture.Snapshot
	Statistics []schema.Stats
	// Principal is the column (keyspace.table.column) whose values are the writers; "": guessed. Applications: nobody is,
	// but the applications that say the statements.
	Principal string
	Owners    map[string]string // by fingerprint, or its first digits: the column that names the sender, or *
	Facts     []Fact            // confirmed
	Nodes     int               // of the cluster; 0: not known
}

// Applications is a Principal.
const Applications = "applications"

// Fact says that in a table some columns determine another.
type Fact struct {
	Keyspace, Table string
	From            []string
	To              string
}

// Report is what was made.
type Report struct {
	Principal string // the column whose values are the writers, "" if they are applications
	Guessed   bool
	Tables    []*safety.Table // by keyspace and name; those that are not written, too
	Unread    []Unread        // writes that are in none
}

// Unread is a write that could not be understood. Whoever says it is not among the writers.
type Unread struct {
	Fingerprint, Text, Reason string
}

// InputError is a wish that can not be met.
type InputError struct{ Reason string }

func (e *InputError) Error() string { return e.Reason }

type maker struct {
	Input
	templates []*template
	domains   domains
	users     column // the principals' key
	known     bool   // there is one
	profiles  map[column]profile.Table
	seconds   float64
	writes    float64 // of all statements that were read, a second
}

// Make makes the tables.
func Make(in Input) (*Report, error) {
	m := &maker{Input: in, domains: domains{map[column]column{}}, profiles: map[column]profile.Table{}}
	m.seconds = max(0.001, in.Snapshot.To.Sub(in.Snapshot.From).Seconds())
	r := &Report{}
	for i := range in.Snapshot.Statements {
		st := &in.Snapshot.Statements[i]
		if st.Count == 0 {
			continue
		}
		w, reason := readTemplate(st, in.Schema)
		switch {
		case w != nil:
			m.templates = append(m.templates, w)
			m.writes += float64(st.Count) / m.seconds
		case reason != "":
			r.Unread = append(r.Unread, Unread{st.Fingerprint, st.Text, reason})
		}
	}
	m.domains.joinFeeds(in.Snapshot.Feeds)
	m.domains.joinFeeds(in.Snapshot.Echoes)
	if in.Snapshot.Profiles != nil {
		for _, e := range in.Snapshot.Profiles.Joined().Epochs {
			for _, t := range e.Tables {
				at := column{t.Keyspace, t.Name, ""}
				if _, later := m.profiles[at]; !later { // the latest epoch is the first
					m.profiles[at] = t
				}
			}
		}
	}
	if err := m.choosePrincipal(); err != nil {
		return nil, err
	}
	if err := m.checkOwners(); err != nil {
		return nil, err
	}
	m.markModifying()
	if m.known {
		r.Principal, r.Guessed = m.users.String(), in.Principal == ""
	}
	for k := range in.Schema.Keyspaces {
		for i := range in.Schema.Keyspaces[k].Tables {
			r.Tables = append(r.Tables, m.tableOf(&in.Schema.Keyspaces[k].Tables[i], r.Guessed))
		}
	}
	return r, nil
}

func (m *maker) choosePrincipal() error {
	switch m.Principal {
	case "":
		m.users, m.known = m.guessPrincipal()
		return nil
	case Applications:
		return nil
	}
	parts := strings.Split(m.Principal, ".")
	if len(parts) != 3 {
		return &InputError{fmt.Sprintf("principal: %q is neither keyspace.table.column nor %s", m.Principal, Applications)}
	}
	m.users, m.known = column{parts[0], parts[1], parts[2]}, true
	if t := m.Schema.Table(parts[0], parts[1]); t == nil || t.Column(parts[2]) == nil {
		return &InputError{fmt.Sprintf("principal: there is no column %s", m.Principal)}
	}
	return nil
}

func (m *maker) checkOwners() error {
	for id, name := range m.Owners {
		n := 0
		for _, w := range m.templates {
			if len(id) >= 4 && strings.HasPrefix(w.statement.Fingerprint, id) {
				n++
				if name != "*" && !slices.Contains(w.allColumns(), name) {
					return &InputError{fmt.Sprintf("owner: statement %s has no value for a column %s; it has %s", id, name, strings.Join(w.allColumns(), ", "))}
				}
			}
		}
		if n != 1 {
			return &InputError{fmt.Sprintf("owner: %d writes have a fingerprint that begins with %q: give as many digits as make it one, four at least", n, id)}
		}
	}
	for _, f := range m.Facts {
		t := m.Schema.Table(f.Keyspace, f.Table)
		for _, name := range append(slices.Clone(f.From), f.To) {
			if t == nil || t.Column(name) == nil {
				return &InputError{fmt.Sprintf("fact: there is no column %s.%s.%s", f.Keyspace, f.Table, name)}
			}
		}
	}
	return nil
}

// markModifying marks the writes that change what was read just before.
func (m *maker) markModifying() {
	for i := range m.Snapshot.Echoes {
		f := &m.Snapshot.Echoes[i]
		if f.Shape != feed.ReadModifyWrite {
			continue
		}
		for _, w := range m.templates {
			if w.statement.Fingerprint == f.To.Fingerprint && (w.class == safety.Overwrite || w.class == safety.Append) {
				w.class = safety.Modify
			}
		}
	}
}

// tableOf makes one table.
func (m *maker) tableOf(t *schema.Table, guessed bool) *safety.Table {
	out := &safety.Table{Name: t.Keyspace + "." + t.Name}
	for _, c := range t.Columns {
		switch c.Kind {
		case schema.Static:
			out.Static = append(out.Static, c.Name)
		case schema.Regular:
			out.Values = append(out.Values, c.Name)
		}
	}
	for _, c := range t.PartitionKey() {
		out.Partition = append(out.Partition, c.Name)
	}
	for _, c := range t.ClusteringKey() {
		out.Clustering = append(out.Clustering, c.Name)
	}
	m.keyFacts(t, out)
	named := false
	for _, w := range m.templates {
		if w.table != t {
			continue
		}
		s := m.senderOf(w)
		if s.inferred != "" && !slices.Contains(out.If, s.inferred) {
			out.If = append(out.If, s.inferred)
		}
		named = named || s.named
		for _, owner := range s.owners {
			out.Writes = append(out.Writes, m.writeTemplate(w, owner))
		}
		out.Senders = append(out.Senders, fmt.Sprintf("%.8s by %s%s: %s", w.statement.Fingerprint, s.text, callersText(w.statement), w.statement.Text))
	}
	if named && guessed {
		out.If = append([]string{"the writers are the values of " + m.users.String() + " (guessed)"}, out.If...)
	}
	m.findShard(t, out)
	m.measureLoad(t, out)
	return out
}

// keyFacts are that the key determines what else names a writer: probable, or confirmed.
func (m *maker) keyFacts(t *schema.Table, out *safety.Table) {
	key := slices.Concat(out.Partition, out.Clustering)
	for _, name := range slices.Concat(out.Static, out.Values) {
		if m.known && m.holdsPrincipal(t, name) {
			from := key
			if slices.Contains(out.Static, name) {
				from = out.Partition
			}
			out.Facts = append(out.Facts, safety.Fact{Name: name, From: from, To: name, Probable: true})
		}
	}
	for _, f := range m.Facts {
		if f.Keyspace == t.Keyspace && f.Table == t.Name {
			out.Facts = append(slices.DeleteFunc(out.Facts, func(g safety.Fact) bool { return g.To == f.To && slices.Equal(g.From, f.From) }),
				safety.Fact{Name: f.To, From: f.From, To: f.To})
		}
	}
}

// writeTemplate makes the template of one sender.
func (m *maker) writeTemplate(w *template, owner safety.Term) safety.TableWrite {
	x := safety.TableWrite{ID: fmt.Sprintf("%.8s", w.statement.Fingerprint), Text: w.statement.Text, Owner: owner, Key: map[string]safety.Term{},
		Delete: w.deletes, Class: w.class, Rate: float64(w.statement.Count) / m.seconds}
	for _, name := range w.key {
		x.Key[name] = safety.Var(name)
	}
	if !w.whole {
		x.Sets = w.sets
	}
	return x
}

// sender is who sends a template.
type sender struct {
	owners   []safety.Term
	text     string
	inferred string // what must hold for it to be so, "" if it was said
	named    bool   // a column of the principals names it
}

// senderOf finds who sends a template.
func (m *maker) senderOf(w *template) sender {
	for id, name := range m.Owners {
		switch {
		case !strings.HasPrefix(w.statement.Fingerprint, id):
		case name == "*":
			return sender{owners: []safety.Term{safety.Anyone()}, text: "anyone, as was said"}
		default:
			return sender{owners: []safety.Term{safety.Var(name)}, text: "its " + name + ", as was said"}
		}
	}
	id := fmt.Sprintf("%.8s", w.statement.Fingerprint)
	if names := m.principalColumns(w, w.allColumns()); len(names) > 0 {
		name, sure := m.bestColumn(w, names)
		switch mate := m.fanOutSource(w, name); {
		case mate != nil:
			return sender{owners: []safety.Term{safety.Var("sender of " + id)}, named: true,
				text: fmt.Sprintf("who sends %.8s, which it goes with several times", mate.statement.Fingerprint)}
		case !sure:
			return sender{owners: []safety.Term{safety.Anyone()}, text: "anyone: " + strings.Join(names, " or ") + " may name the writer", named: true}
		}
		return sender{owners: []safety.Term{safety.Var(name)}, text: "its " + name, named: true, inferred: fmt.Sprintf("statement %s is sent by the one that its %s names", id, name)}
	}
	if names := m.principalColumns(w, slices.Concat(columnNames(w.table, schema.Static), columnNames(w.table, schema.Regular))); len(names) == 1 {
		return sender{owners: []safety.Term{safety.Var(names[0])}, text: "the " + names[0] + " of its row", named: true,
			inferred: fmt.Sprintf("statement %s is sent by the one that %s of the row names", id, names[0])}
	}
	return applicationSenders(w.statement)
}

func columnNames(t *schema.Table, kind schema.ColumnKind) (list []string) {
	for _, c := range t.Columns {
		if c.Kind == kind {
			list = append(list, c.Name)
		}
	}
	return list
}

// echoMargin is how much more often one column's values must have been known before than another's to be taken for the writer's.
const echoMargin = 0.2

// bestColumn is the column that names the writer, of several that may.
func (m *maker) bestColumn(w *template, names []string) (name string, sure bool) {
	if len(names) == 1 {
		return names[0], true
	}
	sort.SliceStable(names, func(i, j int) bool { return m.echoShare(w, names[i]) > m.echoShare(w, names[j]) })
	return names[0], m.echoShare(w, names[0])-m.echoShare(w, names[1]) >= echoMargin
}

// fanOutSource is a write that goes with several of w at once, the values of whose writer's column are not those of this one: then it
// is its sender who sends w. nil: there is none.
func (m *maker) fanOutSource(w *template, name string) *template {
	for i := range m.Snapshot.Bursts {
		p := &m.Snapshot.Bursts[i]
		if p.To != w.statement.Fingerprint || p.From == p.To || p.Mean < 1.2 || p.Accompanied*2 < p.Writes {
			continue
		}
		for _, mate := range m.templates {
			own := m.principalColumns(mate, mate.allColumns())
			if mate.statement.Fingerprint != p.From || len(own) == 0 {
				continue
			}
			at, of := placeOf(mate.statement, own[0]), placeOf(w.statement, name)
			if !slices.ContainsFunc(p.Equal, func(e burstEqual) bool { return e.From == at && e.To == of && e.Share >= 0.8 }) {
				return mate
			}
		}
	}
	return nil
}

// applicationSenders is the applications that say a statement, each one writer.
func applicationSenders(st *capture.Statement) sender {
	s := sender{text: "whoever runs it"}
	var list []string
	for _, c := range st.Callers {
		name := cmp.Or(c.Application, c.Role)
		if c.Rest || name == "" {
			return sender{owners: []safety.Term{safety.Anyone()}, text: "anyone"}
		}
		if !slices.Contains(list, name) {
			list = append(list, name)
			s.owners = append(s.owners, safety.Const(name))
		}
	}
	if len(list) == 0 {
		return sender{owners: []safety.Term{safety.Anyone()}, text: "anyone"}
	}
	slices.Sort(list)
	s.text = "the application " + strings.Join(list, ", ")
	s.inferred = fmt.Sprintf("one process of %s at a time sends statement %.8s", strings.Join(list, ", or of "), st.Fingerprint)
	return s
}

// callersText says who said a statement, most executions first.
func callersText(st *capture.Statement) string {
	if len(st.Callers) == 0 || st.Count == 0 {
		return ""
	}
	var parts []string
	for _, c := range st.Callers {
		name := strings.Trim(c.Role+"/"+c.Application, "/")
		if name == "" {
			name = "others"
		}
		parts = append(parts, fmt.Sprintf("%s %.0f %%", name, 100*float64(c.Count)/float64(st.Count)))
	}
	return " (said by " + strings.Join(parts[:min(3, len(parts))], ", ") + ")"
}

// Names are the tables, for messages.
func (r *Report) Names() []string {
	set := map[string]bool{}
	for _, t := range r.Tables {
		set[t.Name] = true
	}
	return slices.Sorted(maps.Keys(set))
}

// Head writes what stands above the findings.
func (r *Report) Head(w io.Writer, note string) error {
	var b strings.Builder
	switch {
	case r.Principal == "":
		b.WriteString("writers: the applications that say the statements\n")
	case r.Guessed:
		fmt.Fprintf(&b, "writers: the values of %s (guessed; --principal says otherwise)\n", r.Principal)
	default:
		fmt.Fprintf(&b, "writers: the values of %s\n", r.Principal)
	}
	for _, u := range r.Unread {
		fmt.Fprintf(&b, "not checked: %.8s, %s: %s\n", u.Fingerprint, u.Reason, u.Text)
	}
	if note != "" {
		fmt.Fprintf(&b, "note: %s\n", note)
	}
	b.WriteByte('\n')
	_, err := io.WriteString(w, b.String())
	return err
}

// ParseFact reads "keyspace.table: a, b -> c".
func ParseFact(text string) (Fact, bool) {
	table, rest, ok := strings.Cut(text, ":")
	from, to, arrow := strings.Cut(rest, "->")
	keyspace, name, dot := strings.Cut(strings.TrimSpace(table), ".")
	f := Fact{Keyspace: keyspace, Table: name, To: strings.TrimSpace(to)}
	for part := range strings.SplitSeq(from, ",") {
		f.From = append(f.From, strings.TrimSpace(part))
	}
	return f, ok && arrow && dot && keyspace != "" && name != "" && f.To != "" && !slices.Contains(f.From, "")
}
