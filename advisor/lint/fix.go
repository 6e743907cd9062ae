package lint

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/rules"
	"github.com/helenus-db/helenus/advisor/trial"
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/schema"
)

// addFix proposes a fix for a finding, tries it, and keeps it if it holds.
func (in *Input) addFix(f *Finding) {
	fix, err := in.proposeFix(f)
	if err == nil {
		err = in.checkFix(f, fix)
	}
	if err == nil {
		err = in.tryFix(f, fix)
	}
	if err != nil {
		f.NoFix = err.Error()
		return
	}
	f.Fix = fix
}

// proposeFix makes a fix. The error says why there is none.
func (in *Input) proposeFix(f *Finding) (*Fix, error) {
	t := in.Schema.Table(f.on.Keyspace, f.on.Table)
	if in.factOf(f.on).Unmeasured {
		return nil, fmt.Errorf("%s has not been measured yet: how many rows a partition would have is not known (helenus tables says when it is)", f.on)
	}
	switch f.Rule {
	case KeyMissing:
		if in.Partial {
			return nil, fmt.Errorf("the key is a conclusion from what was seen: whether rows that agree in (%s) are different things is the application's to say", joinNames(t.PrimaryKey()))
		}
		return in.keyedTable(t)
	case NoTable, MultiTable:
		return in.mappedTable(f)
	case AttributeNotStored:
		return in.storeAttributes(f)
	case SeveralPartitions:
		return onePartition(f, t)
	case TwoInequalities:
		return oneRange(f)
	case PartitionUnbounded, OnePartition:
		return in.bucketedTable(t)
	case UnusedTable, DuplicateTable:
		if in.Partial {
			return nil, fmt.Errorf("what was seen is not all that there is: dropping it is for who knows all that reads and writes %s", f.on)
		}
	}
	switch f.Rule {
	case UnusedTable:
		return &Fix{CQL: []string{"DROP TABLE " + quotedName(f.on)}, Says: "Drop it, and stop writing to it, if nothing reads it elsewhere."}, nil
	case DuplicateTable:
		o := in.duplicateOf(t)
		return &Fix{CQL: []string{"DROP TABLE " + quotedName(f.on)}, Says: "Read " + refOf(o).String() + " instead, and drop it.", replaces: map[Reference]Reference{f.on: refOf(o)}}, nil
	case NotStatic:
		return in.staticTable(f, t)
	}
	return in.remadeTable(f, t)
}

// checkFix applies a fix and looks again. The error says what is still wrong.
func (in *Input) checkFix(f *Finding, fix *Fix) error {
	after, err := in.applyFix(f, fix)
	if err != nil {
		return fmt.Errorf("the fix that was made could not be carried out: %w", err)
	}
	before := map[string]bool{}
	for _, x := range slices.Concat(in.findingsOfQuestion(f.question), in.findingsOfTable(f.on)) {
		before[x.Rule] = true
	}
	again := after.findingsOfTables(fix)
	if f.question != nil {
		for i := range after.Questions {
			if q := &after.Questions[i]; q.ID == f.question.ID {
				again = append(again, after.checkQuestion(q)...)
			}
		}
	}
	lost := in.lostAttributes()
	for _, name := range after.lostAttributes() {
		switch {
		case f.Rule == AttributeNotStored && slices.Contains(f.Columns, name):
			return fmt.Errorf("the fix that was tried still does not store %s", name)
		case !slices.Contains(lost, name):
			return fmt.Errorf("no other table stores %s", name)
		}
	}
	for _, x := range again {
		if x.Rule == f.Rule || x.Severity == Error && !before[x.Rule] {
			return fmt.Errorf("the fix that was tried leaves %s (%s): %s", x.Rule, x.Name, x.Reason)
		}
	}
	return nil
}

// lostAttributes lists the attributes that no table stores.
func (in *Input) lostAttributes() (names []string) {
	for _, f := range in.checkAttributes() {
		names = append(names, f.Columns...)
	}
	return names
}

func (in *Input) findingsOfQuestion(q *Question) []Finding {
	if q == nil {
		return nil
	}
	return in.checkQuestion(q)
}

func (in *Input) findingsOfTable(on Reference) []Finding {
	if t := in.Schema.Table(on.Keyspace, on.Table); t != nil {
		in.countReaders()
		return in.checkTable(t)
	}
	return nil
}

// findingsOfTables looks at the tables that a fix has made.
func (in *Input) findingsOfTables(fix *Fix) []Finding {
	var out []Finding
	for on := range fix.facts {
		out = append(out, in.findingsOfTable(on)...)
	}
	return out
}

// applyFix returns the input as it is after a fix.
func (in *Input) applyFix(f *Finding, fix *Fix) (*Input, error) {
	after := *in
	var err error
	if after.Schema, err = Define(in.Schema, f.on.Keyspace, fix.definitions()...); err != nil {
		return nil, err
	}
	after.Facts = maps.Clone(in.Facts)
	if after.Facts == nil {
		after.Facts = map[Reference]*Fact{}
	}
	maps.Copy(after.Facts, fix.facts)
	after.Attributes = slices.Clone(in.Attributes)
	for i := range after.Attributes {
		a := &after.Attributes[i]
		for _, p := range a.Places {
			if to, ok := fix.replaces[p.Table]; ok {
				a.Places = append(slices.Clone(a.Places), Place{to, p.Column})
			}
		}
	}
	after.Questions = slices.Clone(in.Questions)
	for i := range after.Questions {
		q := &after.Questions[i]
		if f.question != nil && q.ID == f.question.ID && fix.question != nil {
			*q = *fix.question
			continue
		}
		q.Reads = slices.Clone(q.Reads)
		for j := range q.Reads {
			if to, ok := fix.replaces[q.Reads[j].On()]; ok {
				q.Reads[j] = redirectRead(q.Reads[j], to, in.bucketOf(fix, to))
			}
		}
	}
	return &after, nil
}

// bucketOf is the name of the bucket's column that statements have to name in a table of a fix, "" if there is none.
func (in *Input) bucketOf(fix *Fix, on Reference) string {
	if fact := fix.facts[on]; fact != nil && fact.Bucketed {
		return bucketColumn
	}
	return ""
}

const bucketColumn = "helenus_bucket"

// redirectRead is a read on another table.
func redirectRead(r Read, to Reference, bucket string) Read {
	s := *r.Select
	s.Table = cql.TableRef{Keyspace: to.Keyspace, Table: to.Table}
	if bucket != "" {
		s.Where = append(slices.Clone(s.Where), cql.Relation{Columns: []string{bucket}, Op: cql.OpEQ, Value: &cql.Marker{}})
	}
	r.Select = &s
	return r
}

// keyedTable adds what is missing of the key to the primary key.
func (in *Input) keyedTable(t *schema.Table) (*Fix, error) {
	made := *t
	made.Name = in.freeName(refOf(t), t.Name, "_keyed")
	made.Columns = slices.Clone(t.Columns)
	n := len(t.ClusteringKey())
	var unique []string
	var lacks []schema.Column
	for _, k := range in.factOf(refOf(t)).Key {
		c := made.Column(k.Name)
		if c == nil {
			lacks = append(lacks, schema.Column{Name: k.Name, Type: k.Type, Kind: schema.Regular, Position: -1})
			made.Columns = append(made.Columns, schema.Column{Name: k.Name, Type: k.Type})
			c = &made.Columns[len(made.Columns)-1]
		}
		if unique = append(unique, k.Name); c.Kind == schema.PartitionKey || c.Kind == schema.Clustering {
			continue
		}
		c.Kind, c.Position = schema.Clustering, n
		n++
	}
	says := "Make the table with the whole key, copy the rows, and read and write it instead."
	if len(lacks) > 0 {
		says = fmt.Sprintf("Make the table with the whole key, fill it from the tables that have %s (this one can not tell its rows apart), and read and write it instead.", joinNames(lacks))
	}
	fix, err := in.replacementTable(t, &made, says+" Where rows were lost, answers then have more.", nil, func(f *Fact) { f.Partitions = 0 })
	if err == nil {
		fix.unique, fix.lacks = unique, lacks
	}
	return fix, err
}

// staticTable makes what the partition key determines static.
func (in *Input) staticTable(f *Finding, t *schema.Table) (*Fix, error) {
	made := *t
	made.Name = in.freeName(refOf(t), t.Name, "_static")
	made.Columns = slices.Clone(t.Columns)
	for i := range made.Columns {
		if slices.Contains(f.Columns, made.Columns[i].Name) {
			made.Columns[i].Kind = schema.Static
		}
	}
	for _, w := range in.writesOn(refOf(t)) {
		if _, ok := w.(*cql.Insert); !ok {
			return nil, fmt.Errorf("%s would mean something else: a static column is of the partition, and stays when its last row goes", w)
		}
	}
	fix, err := in.replacementTable(t, &made, "Make the table with these columns static, copy the rows, and read and write it instead. A partition that has no rows any longer then still is a row for who reads it.", nil, nil)
	if err == nil {
		fix.settled = f.Columns
	}
	return fix, err
}

// bucketedTable adds a bucket to the partition key.
func (in *Input) bucketedTable(t *schema.Table) (*Fix, error) {
	fact := in.factOf(refOf(t))
	partitions := max(1, fact.partitionCount(t))
	rows := fact.Rows / partitions
	bucket := &trial.Bucket{Column: bucketColumn, Count: int(max(2, math.Ceil(max(rows/rules.MostRows, rows*fact.RowBytes/rules.MostPartition))))}
	for _, c := range t.PrimaryKey() {
		bucket.By = append(bucket.By, c.Name)
	}
	made := *t
	made.Name = in.freeName(refOf(t), t.Name, "_bucketed")
	made.Columns = append(slices.Clone(t.Columns), schema.Column{Name: bucketColumn, Type: "int", Kind: schema.PartitionKey, Position: len(t.PartitionKey())})
	says := fmt.Sprintf("Make the table with a bucket, a hash of (%s) modulo %d that the writer computes, copy the rows, read and write it instead, and ask for each bucket from 0 to %d, at once.", strings.Join(bucket.By, ", "), bucket.Count, bucket.Count-1)
	return in.replacementTable(t, &made, says, bucket, func(f *Fact) { f.Partitions, f.Bucketed = partitions*float64(bucket.Count), true })
}

// replacementTable makes a table to be used instead of another.
func (in *Input) replacementTable(t, made *schema.Table, says string, bucket *trial.Bucket, change func(*Fact)) (*Fix, error) {
	if t.Counter {
		return nil, fmt.Errorf("%s counts: counters can not be copied to another table", t.Name)
	}
	sortColumns(made)
	on, to := refOf(t), refOf(made)
	fact := *in.factOf(on)
	if change != nil {
		change(&fact)
	}
	fix := &Fix{
		CQL: []string{createText(made)}, last: []string{"DROP TABLE " + quotedName(on)}, of: on, to: to, bucket: bucket,
		Says:     says + fmt.Sprintf(" %s can be dropped once its rows were copied and nothing reads or writes it any more.", on),
		replaces: map[Reference]Reference{on: to}, facts: map[Reference]*Fact{to: &fact},
	}
	for _, x := range t.Indexes { // they are the server's to name
		if x.Class() == "" && x.On == "values" {
			fix.CQL = slices.Insert(fix.CQL, 1, fmt.Sprintf("CREATE INDEX ON %s (%s)", quotedName(to), model.Quote(x.Column)))
		}
	}
	const most = 5
	for i := range in.Questions {
		for _, r := range in.Questions[i].Reads {
			if r.On() != on {
				continue
			}
			way := trial.Way{Select: redirectRead(r, to, in.bucketOf(fix, to)).Select}
			if len(r.Select.Columns) == 0 {
				way.Select.Columns = allColumns(t)
			}
			if bucket != nil {
				if slices.ContainsFunc(r.Select.Columns, func(x cql.Selector) bool { _, ok := x.Expr.(*cql.ColumnRef); return !ok }) || len(r.Select.GroupBy) > 0 || r.Select.PerPartitionLimit != nil || r.Select.Distinct {
					return nil, fmt.Errorf("%s is about whole partitions, and with buckets the client would have to add up", r.Select)
				}
				way.Each, way.Buckets = bucket.Column, bucket.Count
				mergeInClient(&way, r.Select, t)
			}
			var err error
			if way.Select, err = parseSelect(way.Select.String()); err != nil {
				return nil, err
			}
			fix.asks = append(fix.asks, trial.Ask{Old: withKeyspace(r.Select, r.Keyspace), New: way})
			if len(fix.Statements) < most {
				fix.Statements = append(fix.Statements, way.Select.String())
				if bucket != nil && (way.Limit != nil || len(way.Order) > 0) {
					fix.Says += fmt.Sprintf(" Of statement %d,%s.", len(fix.Statements), mergeText(&way))
				}
			}
		}
	}
	return fix, nil
}

// freeName is a name that no table has, from the one wished for.
func (in *Input) freeName(on Reference, name, suffix string) string {
	name = rules.Fit(name, suffix)
	used := func() bool {
		return in.Schema.Table(on.Keyspace, name) != nil || in.taken[Reference{on.Keyspace, name}] != nil
	}
	for n, first := 2, name; used(); n++ {
		name = rules.Fit(first, fmt.Sprintf("_%d", n))
	}
	return name
}

// onePartition asks for one partition instead of several.
func onePartition(f *Finding, t *schema.Table) (*Fix, error) {
	old := f.read.Select
	way := trial.Way{Select: cql.Clone(old).(*cql.Select)} //nolint:forcetypeassert // of its own kind
	for i := range way.Select.Where {
		w := &way.Select.Where[i]
		if c := t.Column(w.Columns[0]); w.Op == cql.OpIn && len(w.Columns) == 1 && c != nil && c.Kind == schema.PartitionKey {
			if way.Each != "" {
				return nil, fmt.Errorf("it names partitions by two lists, of %s and of %s", way.Each, c.Name)
			}
			way.Each, w.Op, w.Value = c.Name, cql.OpEQ, &cql.Marker{}
		}
	}
	if slices.ContainsFunc(old.Columns, func(x cql.Selector) bool { _, ok := x.Expr.(*cql.ColumnRef); return !ok }) || len(old.GroupBy) > 0 {
		return nil, fmt.Errorf("it computes one answer of several partitions: sent for each, the client would have to do that")
	}
	if len(old.Columns) == 0 && len(old.OrderBy) > 0 {
		way.Select.Columns = allColumns(t)
	}
	if len(old.Columns) > 0 || len(old.OrderBy) > 0 {
		mergeInClient(&way, old, t)
	}
	way.Order, way.Limit = old.OrderBy, old.Limit
	return f.rewriteFix(fmt.Sprintf("Send it once for each value of %s (once for one that is named twice), at once, instead of naming them all in one;%s.", way.Each, mergeText(&way)), way)
}

// oneRange drops the second range.
func oneRange(f *Finding) (*Fix, error) {
	second, old := f.Columns[1], f.read.Select
	if slices.ContainsFunc(old.Columns, func(x cql.Selector) bool { _, ok := x.Expr.(*cql.ColumnRef); return !ok }) || len(old.GroupBy) > 0 || old.PerPartitionLimit != nil || old.Distinct {
		return nil, fmt.Errorf("it computes something of its rows, which the client would have to do")
	}
	way := trial.Way{Select: cql.Clone(old).(*cql.Select), Limit: old.Limit} //nolint:forcetypeassert // of its own kind
	s := way.Select
	s.Limit, s.AllowFiltering = nil, false
	s.Where = slices.DeleteFunc(s.Where, func(w cql.Relation) bool {
		drop := len(w.Columns) == 1 && w.Columns[0] == second
		if drop {
			way.Where = append(way.Where, w)
		}
		return drop
	})
	if len(s.Columns) > 0 && !slices.ContainsFunc(s.Columns, func(x cql.Selector) bool { c, ok := x.Expr.(*cql.ColumnRef); return ok && c.Name == second }) {
		s.Columns = append(s.Columns, cql.Selector{Expr: &cql.ColumnRef{Name: second}})
	}
	says := "Ask by the first range, and leave rows out in the client by " + second
	if way.Limit != nil {
		says += "; of what stays keep the first " + way.Limit.String() + " (LIMIT), and read on page by page until there are so many"
	}
	return f.rewriteFix(says+".", way)
}

// rewriteFix makes a fix of another statement on the same tables.
func (f *Finding) rewriteFix(says string, way trial.Way) (*Fix, error) {
	way.Select = withKeyspace(way.Select, f.read.Keyspace)
	s, err := parseSelect(way.Select.String()) // its markers are counted anew
	if err != nil {
		return nil, err
	}
	way.Select = s
	return &Fix{
		CQL: []string{}, Statements: []string{s.String()}, Says: says, question: f.questionWith(s), of: f.on,
		asks: []trial.Ask{{Old: withKeyspace(f.read.Select, f.read.Keyspace), New: way}},
	}, nil
}

// questionWith is the question of a finding with another read in the place of the finding's.
func (f *Finding) questionWith(s *cql.Select) *Question {
	q := *f.question
	q.Reads = slices.Clone(q.Reads)
	for i := range q.Reads {
		if q.Reads[i].Select == f.read.Select {
			q.Reads[i].Select = s
		}
	}
	return &q
}

// mappedTable is the table that the mapping rules make of a whole question.
func (in *Input) mappedTable(f *Finding) (*Fix, error) {
	x := f.question.Mapped
	if x == nil {
		return nil, fmt.Errorf("what the statements ask for as one is not known")
	}
	if in.Partial {
		return nil, fmt.Errorf("what its rows stand for, and which rows they leave out, is a conclusion from what was seen: helenus recommendations weighs what it is sure of")
	}
	on := Reference{in.keyspaceOf(f), ""}
	trace := *x
	trace.Name = in.freeName(on, x.Name, "")
	on.Table = trace.Name
	read, err := parseSelect(trace.CQL(on.Keyspace))
	if err != nil {
		return nil, err
	}
	if err := TryMapping(&trace, on.Keyspace); err != nil {
		return nil, err
	}
	q := *f.question
	q.Reads, q.Tables, q.Lost, q.Access = []Read{{Keyspace: on.Keyspace, Select: read}}, nil, "", trace.Access
	says := "Make the table that the mapping rules make of the query, write to it wherever its columns are written, and read it."
	return &Fix{
		CQL: []string{trace.Table.CQL(on.Keyspace, trace.Name)}, Statements: []string{read.String()}, Says: says + clientText(&trace),
		question: &q, facts: map[Reference]*Fact{on: factOf(trace.Table)},
	}, nil
}

// clientText says what a table leaves to the client.
func clientText(t *rules.Trace) string {
	if len(t.Left) == 0 {
		return ""
	}
	return " Then " + strings.Join(t.Left, "; ") + "."
}

// keyspaceOf is where tables of a fix are made: that of the table concerned, else the first there is.
func (in *Input) keyspaceOf(f *Finding) string {
	if f.on.Keyspace != "" || len(in.Schema.Keyspaces) == 0 {
		return f.on.Keyspace
	}
	return in.Schema.Keyspaces[0].Name
}

// storeAttributes adds columns for attributes, or makes the table of their entity.
func (in *Input) storeAttributes(f *Finding) (*Fix, error) {
	fix := &Fix{Says: "Add what is missing to the table of the entity."}
	for i := range in.Attributes {
		a := &in.Attributes[i]
		switch {
		case !slices.Contains(f.Columns, a.Name):
		case a.Home == nil:
			return nil, fmt.Errorf("no table of its entity can be named")
		case in.Schema.Table(a.Owner.Keyspace, a.Owner.Table) == nil:
			return &Fix{CQL: []string{a.Create}, Says: "Make a table for the entity."}, nil
		default:
			fix.CQL = append(fix.CQL, fmt.Sprintf("ALTER TABLE %s ADD %s %s", quotedName(a.Owner), model.Quote(a.Home.Name), a.Home.Type))
		}
	}
	return fix, nil
}

func parseSelect(text string) (*cql.Select, error) {
	st, err := cql.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", text, err)
	}
	s, ok := st.(*cql.Select)
	if !ok {
		return nil, fmt.Errorf("%s is no SELECT", text)
	}
	return s, nil
}
