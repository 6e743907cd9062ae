package lint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/rules"
	"github.com/helenus-db/helenus/capture/schema"
)

// Lint looks at everything, and tries a fix for each finding. The same input gives the same report.
func Lint(in *Input) *Report {
	r := &Report{Name: in.Name, Tables: len(in.sortedTables()), Statements: []Classified{}, Findings: in.allFindings(), Unsupported: slices.Clone(in.Unsupported)}
	if r.Unsupported == nil {
		r.Unsupported = []rules.Unsupported{}
	}
	for i := range r.Findings {
		in.addFix(&r.Findings[i])
	}
	in.shareTables(r.Findings)
	for i := range in.Questions {
		c := in.classifyQuestion(&in.Questions[i])
		for _, f := range r.Findings {
			if f.Statement == c.Statement && !slices.Contains(c.Rules, f.Rule) {
				c.Rules = append(c.Rules, f.Rule)
			}
		}
		r.Statements = append(r.Statements, c)
	}
	r.Statements = append(r.Statements, in.Writes...)
	return r
}

// allFindings looks at everything. The worst come first.
func (in *Input) allFindings() []Finding {
	return in.findingsOf(func(*Question) bool { return true }, func(*schema.Table) bool { return true })
}

// findingsOf looks at some questions and tables, and at all attributes. The worst come first.
func (in *Input) findingsOf(asked func(*Question) bool, looked func(*schema.Table) bool) []Finding {
	in.countReaders()
	out := []Finding{}
	for i := range in.Questions {
		if asked(&in.Questions[i]) {
			out = append(out, in.checkQuestion(&in.Questions[i])...)
		}
	}
	for _, t := range in.sortedTables() {
		if looked(t) {
			out = append(out, in.checkTable(t)...)
		}
	}
	out = append(out, in.checkAttributes()...)
	slices.SortStableFunc(out, func(a, b Finding) int {
		return cmp.Or(a.Severity.rank()-b.Severity.rank(), cmp.Compare(ruleNumber(a.Rule), ruleNumber(b.Rule)), cmp.Compare(a.Table, b.Table), cmp.Compare(a.Statement, b.Statement))
	})
	return out
}

// ruleNumber is that of a rule's id.
func ruleNumber(id string) (n int) {
	_, _ = fmt.Sscanf(id, "L%d", &n) // 0 if it has none
	return n
}

// sortedTables lists all tables, by keyspace and name.
func (in *Input) sortedTables() []*schema.Table {
	var out []*schema.Table
	for i := range in.Schema.Keyspaces {
		k := &in.Schema.Keyspaces[i]
		for j := range k.Tables {
			out = append(out, &k.Tables[j])
		}
	}
	return out
}

func refOf(t *schema.Table) Reference { return Reference{t.Keyspace, t.Name} }

// classifyQuestion gives a question its one class.
func (in *Input) classifyQuestion(q *Question) Classified {
	c := Classified{Statement: q.ID, Text: q.Text, Access: q.Access, Tables: []string{}}
	add := func(ref Reference) {
		if name := ref.String(); !slices.Contains(c.Tables, name) {
			c.Tables = append(c.Tables, name)
		}
	}
	for i := range q.Reads {
		add(q.Reads[i].On())
	}
	for _, ref := range q.Tables {
		add(ref)
	}
	if len(q.Reads) == 1 {
		c.Class = schema.Classify(q.Reads[0].Select, in.Schema, q.Reads[0].Keyspace).Class
	}
	if c.Access == "" {
		c.Access = rules.AccessOf(c.Class)
	}
	return c
}

// newFinding makes a finding on a table.
func (in *Input) newFinding(rule string, on Reference, columns []string, format string, args ...any) Finding {
	x := RuleOf(rule)
	return Finding{Rule: rule, Name: x.Name, Severity: x.Severity, Table: on.String(), Columns: columns, Reason: fmt.Sprintf(format, args...), on: on}
}

// checkTable looks at one table.
func (in *Input) checkTable(t *schema.Table) []Finding {
	on := refOf(t)
	fact := in.factOf(on)
	var out []Finding
	var missing []string
	for _, k := range fact.Key {
		if c := t.Column(k.Name); c == nil || c.Kind != schema.PartitionKey && c.Kind != schema.Clustering {
			missing = append(missing, k.Name)
		}
	}
	if len(missing) > 0 {
		f := in.newFinding(KeyMissing, on, missing, "a row stands for %s, and the primary key (%s) lacks %s of its key: of two that agree in the rest the later write replaces the earlier one",
			fact.Of, joinNames(t.PrimaryKey()), strings.Join(missing, ", "))
		if in.Partial {
			f.Severity, f.Reason = Warning, f.Reason+" (if the key is what it was concluded to be: see helenus model)"
		}
		out = append(out, f)
	}
	out = append(out, in.checkSize(t, fact)...)
	if in.readers[on] == 0 && !slices.Contains(in.Support, on) && len(in.Questions) > 0 && (!in.Partial || in.Touched[on]) {
		f := in.newFinding(UnusedTable, on, nil, "no statement reads it")
		if in.Partial {
			f.Severity, f.Reason = Note, "statements that were seen write it, and none reads it"
		}
		out = append(out, f)
	}
	if other := in.duplicateOf(t); other != nil {
		out = append(out, in.newFinding(DuplicateTable, on, nil, "it has the primary key of %s, and no column that this has not", refOf(other)))
	}
	var repeated []string
	for _, name := range fact.Statics {
		if c := t.Column(name); c != nil && c.Kind == schema.Regular && len(t.ClusteringKey()) > 0 {
			repeated = append(repeated, name)
		}
	}
	if len(repeated) > 0 {
		out = append(out, in.newFinding(NotStatic, on, repeated, "the partition key (%s) determines %s: it is stored once for each row of the partition", joinNames(t.PartitionKey()), strings.Join(repeated, ", ")))
	}
	return out
}

// countReaders counts the questions that read each table.
func (in *Input) countReaders() {
	in.readers = map[Reference]int{}
	for i := range in.Questions {
		q := &in.Questions[i]
		for j := range q.Reads {
			in.readers[q.Reads[j].On()]++
		}
		for _, on := range q.Tables {
			in.readers[on]++
		}
	}
}

// factOf is what is known of a table, never nil.
func (in *Input) factOf(on Reference) *Fact {
	if f := in.Facts[on]; f != nil {
		return f
	}
	return &Fact{}
}

// someRows is how many rows a partition has of which it is worth a note that it grows.
const someRows = 100

// partitionCount is how many there are, 0 if that is not known.
func (f *Fact) partitionCount(t *schema.Table) float64 {
	if f.Partitions > 0 {
		return f.Partitions
	}
	n := 1.0
	for _, c := range t.PartitionKey() {
		d := f.Distinct[c.Name]
		if d <= 0 {
			return 0
		}
		n *= d
	}
	return min(n, max(1, f.Rows))
}

// checkSize looks at how large partitions are, and whether they stay like that.
func (in *Input) checkSize(t *schema.Table, f *Fact) []Finding {
	partitions := f.partitionCount(t)
	if partitions == 0 || f.Rows == 0 || len(t.ClusteringKey()) == 0 {
		return nil
	}
	rows := f.Rows / partitions
	bytes := rows * f.RowBytes
	on, key := refOf(t), columnNames(t.PartitionKey())
	if partitions <= 1 && f.Rows > rules.FewRows {
		return []Finding{in.newFinding(OnePartition, on, key, "its %.0f rows are one partition: %s has one value", f.Rows, strings.Join(key, ", "))}
	}
	if rows > rules.MostRows || bytes > rules.MostPartition {
		return []Finding{in.newFinding(PartitionUnbounded, on, key, "a partition has about %.0f rows and %.0f MB in the mean; it should stay below %d rows and %.0f MB", rows, bytes/1e6, int(rules.MostRows), rules.MostPartition/1e6)}
	}
	named := f.Bucketed || f.Named == nil
	for _, c := range t.PartitionKey() {
		named = named || f.Named[c.Name] || slices.Contains([]string{"date", "timestamp", "timeuuid"}, c.Type)
	}
	if !named && rows >= someRows {
		out := in.newFinding(PartitionUnbounded, on, key, "partitions are named by %s, which is no entity's key: they have about %.0f rows in the mean, and more as the table grows, unless there are more values of it as time passes", strings.Join(key, ", "), rows)
		out.Severity = Note
		return []Finding{out}
	}
	return nil
}

// duplicateOf returns another table with the same primary key in the same order that holds all that t does; of two that are equal the
// later one is the copy.
func (in *Input) duplicateOf(t *schema.Table) *schema.Table {
	for _, o := range in.sortedTables() {
		if o == t || o.Keyspace != t.Keyspace || o.Counter != t.Counter || o.DefaultTTL != t.DefaultTTL {
			continue
		}
		if of := in.factOf(refOf(t)).Of; in.factOf(refOf(o)).Of != of || of == "" && in.Partial {
			continue // of live tables the same key says nothing: it has to be that of the same things
		}
		if sameKey(t, o) && hasColumns(o, t) && (!hasColumns(t, o) || o.Name < t.Name) {
			return o
		}
	}
	return nil
}

func sameKey(a, b *schema.Table) bool {
	if len(a.PartitionKey()) != len(b.PartitionKey()) {
		return false
	}
	return slices.EqualFunc(a.PrimaryKey(), b.PrimaryKey(), func(x, y schema.Column) bool {
		return x.Name == y.Name && x.Type == y.Type && x.Descending == y.Descending
	})
}

// hasColumns reports whether a has every column of b, of the same type.
func hasColumns(a, b *schema.Table) bool {
	for _, c := range b.Columns {
		if own := a.Column(c.Name); own == nil || own.Type != c.Type {
			return false
		}
	}
	return len(b.Indexes) == 0
}

// checkAttributes looks for what no table stores: one finding for each entity.
func (in *Input) checkAttributes() []Finding {
	var out []Finding
	at := map[string]int{} // by entity
	for i := range in.Attributes {
		a := &in.Attributes[i]
		if in.isStored(a) {
			continue
		}
		entity, _, _ := strings.Cut(a.Name, ".")
		n, ok := at[entity]
		if !ok {
			n = len(out)
			at[entity] = n
			out = append(out, in.newFinding(AttributeNotStored, a.Owner, nil, ""))
		}
		out[n].Columns = append(out[n].Columns, a.Name)
		out[n].Reason = "no table stores " + strings.Join(out[n].Columns, ", ")
	}
	return out
}

func (in *Input) isStored(a *Attribute) bool {
	places := a.Places
	if a.Home != nil {
		places = append(slices.Clone(places), Place{a.Owner, a.Home.Name})
	}
	for _, p := range places {
		if t := in.Schema.Table(p.Table.Keyspace, p.Table.Table); t != nil && t.Column(p.Column) != nil {
			return true
		}
	}
	return false
}

func columnNames(columns []schema.Column) []string {
	out := make([]string, len(columns))
	for i, c := range columns {
		out[i] = c.Name
	}
	return out
}

func joinNames(columns []schema.Column) string { return strings.Join(columnNames(columns), ", ") }
