package planrun

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
)

// step compiles one step, after which some fields are still needed.
func (c *compiler) step(s *plan.Step, i int, needed map[model.Field]bool) (operation, error) {
	switch s.Kind {
	case plan.Get, plan.IndexGet, plan.Scan:
		return c.read(s, i, needed)
	case plan.Filter:
		for _, b := range s.Where {
			if !c.known[b.Field] {
				return nil, fmt.Errorf("%s is not read, so it can not be compared", b.Field)
			}
		}
		list, err := c.conditions(s.Where)
		return filter(list), err
	case plan.Unnest:
		return c.unnest(s, i, needed)
	case plan.Sort:
		list := make(sorter, len(s.Order))
		for i, o := range s.Order {
			slot, err := c.at(o.Field)
			if err != nil {
				return nil, err
			}
			list[i] = sortedBy{slot, typeOf(o.Field.Attribute.Type), o.Desc}
		}
		return list, nil
	case plan.Limit:
		return limit(s.Limit), nil
	case plan.LimitEach:
		by, err := c.alike(s.Fields)
		return &limitEach{by, s.Limit}, err
	case plan.Distinct:
		by, err := c.alike(s.Fields)
		for i, slot := range c.aggregates { // there are some only once rows are grouped
			by = append(by, alike{slot, typeOf(aggregateType(c.query.Aggregates[i]))})
		}
		return distinct(by), err
	case plan.Group:
		return c.group(s, false)
	}
	return nil, errors.New("a query has no such step")
}

func (c *compiler) alike(fields []model.Field) ([]alike, error) {
	list := make([]alike, len(fields))
	for i, f := range fields {
		slot, err := c.at(f)
		if err != nil {
			return nil, err
		}
		list[i] = alike{slot, typeOf(f.Attribute.Type)}
	}
	return list, nil
}

// group compiles what is grouped by, and the aggregates, of rows that are at hand.
// Where the server groups, its answer has them.
func (c *compiler) group(s *plan.Step, serves bool) (*grouping, error) {
	by, err := c.alike(s.Group)
	if err != nil {
		return nil, err
	}
	if !slices.Equal(s.Aggregates, c.query.Aggregates) {
		return nil, errors.New("its aggregates are not those of the query")
	}
	g := &grouping{by: by}
	slots := c.aggregate()
	for i, a := range s.Aggregates {
		x := aggregate{function: a.Func, source: -1, slot: slots[i]}
		if !a.Field.IsZero() {
			if !serves {
				if x.source, err = c.at(a.Field); err != nil {
					return nil, err
				}
			}
			x.type_ = typeOf(a.Field.Attribute.Type)
		}
		if err := summable(a); err != nil {
			return nil, err
		}
		g.aggregates = append(g.aggregates, x)
	}
	return g, nil
}

// summable refuses aggregates that are not defined.
func summable(a workload.Aggregate) error {
	switch a.Func {
	case "sum", "avg":
		switch typeOf(a.Field.Attribute.Type).kind {
		case whole, floating, decimal, varint:
			return nil
		}
		return fmt.Errorf("%s: there is no sum of values of type %s", a, a.Field.Attribute.Type)
	case "count", "min", "max":
		return nil
	}
	return fmt.Errorf("%s: there is no such aggregate", a)
}

// reader compiles a step that reads a table.
type reader struct {
	*compiler
	step  *plan.Step
	read  *read
	where []string
	bound map[model.Field]bool // by an equality that the server checks
}

func (c *compiler) read(s *plan.Step, i int, needed map[model.Field]bool) (*read, error) {
	t := s.Table
	if t == nil || t.Name == "" {
		return nil, errors.New("its table has no name: name the design's tables")
	}
	r := reader{compiler: c, step: s, bound: map[model.Field]bool{},
		read: &read{number: i + 1, kind: s.Kind, table: tableName(t), marker: -1, single: true}}
	var err error
	switch s.Kind {
	case plan.Get:
		if len(s.Partition) != len(t.Partition) {
			return nil, fmt.Errorf("%d of the %d columns of its partition key are bound", len(s.Partition), len(t.Partition))
		}
		if err = r.partition(); err == nil {
			err = r.clustering()
		}
	case plan.IndexGet:
		if err = r.partition(); err == nil {
			err = r.restrict(s.Where, false)
		}
	case plan.Scan:
		if i > 0 {
			return nil, errors.New("it scans after another step")
		}
		err = r.restrict(s.Where, true)
	}
	if err != nil {
		return nil, err
	}
	return r.finish(needed)
}

// column is the column of a field of the query.
func (r *reader) column(f model.Field) (model.Field, string, error) {
	column := r.step.As.Column(f)
	if !r.step.Table.Has(column) {
		return column, "", fmt.Errorf("it has no column for %s", f)
	}
	return column, model.Quote(r.step.Table.ColumnName(column)), nil
}

// source compiles where a bound value comes from.
func (r *reader) source(b plan.Binding, to string) (source, error) {
	x := source{slot: -1}
	var err error
	if x.convert, err = conversion(b.Field.Attribute.Type, to); err != nil {
		return x, err
	}
	if b.Value != "" {
		x.operand, err = r.operand(b)
		return x, err
	}
	if b.Op != workload.Equal {
		return x, fmt.Errorf("%s is bound to rows at hand by %s", b.Field, b.Op)
	}
	if x.slot, err = r.at(b.Field); err == nil && !slices.Contains(r.read.fed, x.slot) {
		r.read.fed = append(r.read.fed, x.slot)
	}
	return x, err
}

// partition binds the partition key, and the bucket.
func (r *reader) partition() error {
	t := r.step.Table
	if r.step.Kind == plan.IndexGet && len(r.step.Partition) == 0 {
		return nil // the index is asked on every node
	}
	for i, b := range r.step.Partition {
		column, name, err := r.column(b.Field)
		if err != nil {
			return err
		}
		if i >= len(t.Partition) || column != t.Partition[i] || b.Op != workload.Equal && b.Op != workload.In {
			return fmt.Errorf("its partition key is not bound by %s %s", b.Field, b.Op)
		}
		x, err := r.source(b, t.ColumnType(column))
		if err != nil {
			return err
		}
		if x.several = b.Op == workload.In; x.several {
			r.read.single = false
		}
		r.binds(b, x)
		r.read.keys = append(r.read.keys, x)
		r.where = append(r.where, name+" = ?")
	}
	r.read.routed = true
	if t.Bucket == nil {
		return nil
	}
	if r.step.Kind != plan.Get {
		return errors.New("an index is asked in one partition of a table with buckets")
	}
	r.where = append(r.where, model.Quote(t.BucketColumn())+" = ?")
	return r.buckets()
}

// buckets compiles what tells the buckets.
func (r *reader) buckets() error {
	made := &buckets{of: r.step.Table.Bucket}
	for _, b := range r.step.Bucket {
		if r.step.As.Column(b.Field) != made.of.Of {
			return fmt.Errorf("its buckets are not of %s", b.Field)
		}
		x, err := r.source(b, made.of.Of.Attribute.Type)
		if err != nil {
			return err
		}
		switch b.Op {
		case workload.Equal, workload.In:
			x.several = b.Op == workload.In
			made.points = append(made.points, x)
		case workload.Greater, workload.GreaterOrEqual:
			made.from = append(made.from, x)
		case workload.Less, workload.LessOrEqual:
			made.to = append(made.to, x)
		default:
			return fmt.Errorf("%s %s tells no bucket", b.Field, b.Op)
		}
	}
	point := len(made.points) > 0 && !made.points[0].several
	r.read.single = r.read.single && (point || made.of.Buckets() == 1)
	r.read.bucket = made
	return nil
}

// clustering binds a prefix of the clustering columns: equalities, then a range.
func (r *reader) clustering() error {
	t := r.step.Table
	at := 0
	for i, b := range r.step.Clustering {
		column, name, err := r.column(b.Field)
		if err != nil {
			return err
		}
		isRange := i > 0 && column == r.step.As.Column(r.step.Clustering[i-1].Field)
		if !isRange {
			if at >= len(t.Clustering) || t.Clustering[at] != column {
				return fmt.Errorf("its clustering column %s is bound out of order", b.Field)
			}
			at++
		}
		x, err := r.source(b, t.ColumnType(column))
		if err != nil {
			return err
		}
		switch b.Op {
		case workload.In:
			x.list = true
			r.where = append(r.where, name+" IN ?")
		case workload.Like:
			r.read.like, x.like, x.ascii = true, true, strings.EqualFold(t.ColumnType(column), "ascii")
			if typeOf(t.ColumnType(column)).kind != text {
				return fmt.Errorf("%s is no text, so it has no prefix", b.Field)
			}
			r.where = append(r.where, name+" >= ?", name+" < ?")
		case workload.NotEqual:
			return fmt.Errorf("its clustering column %s is bound by !=", b.Field)
		default:
			r.where = append(r.where, name+" "+string(b.Op)+" ?")
		}
		r.binds(b, x)
		r.read.rest = append(r.read.rest, x)
	}
	return nil
}

// restrict has the server filter, or find by indexes. CQL takes one equality of a column, or a lower and an upper bound;
// what is more is left to the client.
func (r *reader) restrict(where []plan.Binding, filters bool) error {
	taken := map[string]bool{} // column and sort of bound
	var left []plan.Binding
	for _, b := range where {
		column, name, err := r.column(b.Field)
		if err != nil {
			return err
		}
		if b.Op == workload.In || b.Op == workload.Like || b.Op == workload.NotEqual {
			return fmt.Errorf("a server does not find by %s %s", b.Field, b.Op)
		}
		equal := name + " ="
		bound := name + " " + string(b.Op[0])
		if taken[equal] || taken[bound] || b.Op == workload.Equal && (taken[name+" <"] || taken[name+" >"]) {
			left = append(left, b)
			continue
		}
		taken[bound] = true
		x, err := r.source(b, r.step.Table.ColumnType(column))
		if err != nil {
			return err
		}
		r.binds(b, x)
		r.where = append(r.where, name+" "+string(b.Op)+" ?")
		r.read.rest = append(r.read.rest, x)
	}
	if len(left) > 0 && !filters {
		return fmt.Errorf("an index is asked by %s twice", left[0].Field)
	}
	var err error
	r.read.left, err = r.conditions(left)
	return err
}

// binds notes that the rows found have the value that a column is bound to.
func (r *reader) binds(b plan.Binding, x source) {
	if b.Op == workload.Equal && (x.slot >= 0 || x.operand < r.program.where) {
		r.bound[b.Field] = true
	}
}

// finish chooses the columns and writes the text. Columns are read that something needs later and that are not at hand
// yet; base rows are read for what their look-up table may have wrong.
//
// Of a table with static columns a clustering column is read, always: where it is null, a partition has static values and
// no row; and where all that is read is static, Cassandra answers one row for a partition, or refuses. Such a table's rows
// are grouped by the client, as the server would count partitions without rows too.
func (r *reader) finish(needed map[model.Field]bool) (*read, error) {
	s, made := r.step, r.read
	wanted := map[model.Field]bool{}
	serves := s.Grouped && len(made.left) == 0 && len(s.Table.Static) == 0 && !slices.ContainsFunc(s.Aggregates, r.converted)
	if !s.Grouped {
		maps.Copy(wanted, needed)
	}
	for _, f := range s.Group {
		wanted[f] = true
	}
	for _, a := range s.Aggregates {
		if !serves && !a.Field.IsZero() {
			wanted[a.Field] = true
		}
	}
	for _, x := range made.left {
		wanted[r.query.Where[x.operand].Field] = true
	}
	if s.Verify {
		for _, b := range s.Where {
			wanted[b.Field] = true
		}
	}
	for f := range r.bound {
		r.know(f)
	}
	var names []string
	for _, f := range r.inOrder() {
		if !wanted[f] || r.bound[f] || r.known[f] && !s.Verify {
			continue
		}
		column, name, err := r.column(f)
		if err != nil {
			return nil, err
		}
		convert, err := conversion(s.Table.ColumnType(column), f.Attribute.Type)
		if err != nil {
			return nil, err
		}
		if len(s.Table.Static) > 0 && slices.Contains(s.Table.Clustering, column) {
			made.marker = len(names)
		}
		made.targets, names = append(made.targets, target{r.slot(f), convert}), append(names, name)
		r.know(f)
	}
	r.collections(needed, &names)
	if err := r.verify(); err != nil {
		return nil, err
	}
	if s.Grouped {
		if err := r.groups(serves, &names); err != nil {
			return nil, err
		}
	}
	if len(s.Table.Static) > 0 && made.marker < 0 {
		made.marker = len(names)
		names = append(names, model.Quote(s.Table.ColumnName(s.Table.Clustering[0])))
	}
	if len(names) == 0 { // only how many rows there are matters
		name := s.Table.BucketColumn()
		if key := s.Table.Key(); len(key) > 0 {
			name = s.Table.ColumnName(key[len(key)-1])
		}
		names = append(names, model.Quote(name))
	}
	made.columns = len(names)
	r.text(names, serves)
	return made, nil
}

// inOrder are the step's fields, those that the query selects first and in its order, so that a row of an answer may be
// one of the query's.
func (r *reader) inOrder() []model.Field {
	var list []model.Field
	for _, f := range r.query.Select {
		if slices.Contains(r.step.Fields, f) {
			list = append(list, f)
		}
	}
	return model.AppendNew(list, r.step.Fields...)
}

// verify compiles what base rows are checked for.
func (r *reader) verify() error {
	if !r.step.Verify {
		return nil
	}
	for _, b := range r.step.Where {
		if !r.known[b.Field] {
			return fmt.Errorf("%s is not read, so it can not be checked", b.Field)
		}
		x := check{condition: condition{slot: r.slot(b.Field), op: b.Op, type_: typeOf(b.Field.Attribute.Type)}, fed: b.Value == ""}
		if !x.fed {
			var err error
			if x.operand, err = r.operand(b); err != nil {
				return err
			}
		}
		r.read.checks = append(r.read.checks, x)
	}
	return nil
}

// groups compiles a read that groups, on the server if it can check all conditions.
func (r *reader) groups(serves bool, names *[]string) error {
	made := r.read
	if !made.single || len(made.fed) > 0 {
		return errors.New("the server groups the rows of one request alone")
	}
	g, err := r.group(&plan.Step{Group: r.step.Group, Aggregates: r.step.Aggregates}, serves)
	if err != nil || !serves {
		made.grouping = g
		return err
	}
	made.grouping = g
	for i := range g.aggregates {
		a, of := &g.aggregates[i], r.step.Aggregates[i].Field
		made.served = append(made.served, server{a, len(*names)})
		column := "*"
		if !of.IsZero() {
			if _, column, err = r.column(of); err != nil {
				return err
			}
		}
		*names = append(*names, selected(a.function, column, a.type_)...)
	}
	return nil
}

// converted tells whether the column of an aggregate's field has another type.
func (r *reader) converted(a workload.Aggregate) bool {
	if a.Field.IsZero() {
		return false
	}
	convert, err := conversion(r.step.Table.ColumnType(r.step.As.Column(a.Field)), a.Field.Attribute.Type)
	return err != nil || convert != nil
}

// text writes the statement.
func (r *reader) text(names []string, serves bool) {
	s, made := r.step, r.read
	var b strings.Builder
	if s.Kind != plan.Scan && len(s.Table.Clustering) > 0 && s.Reverse {
		first := s.Table.Clustering[0]
		b.WriteString(" ORDER BY " + model.Quote(s.Table.ColumnName(first)))
		if !slices.Contains(s.Table.Desc, first) {
			b.WriteString(" DESC")
		}
	}
	if len(made.left) == 0 && serves == s.Grouped { // else the client has something to do first
		if s.PerPartition > 0 {
			fmt.Fprintf(&b, " PER PARTITION LIMIT %d", s.PerPartition)
		}
		if s.Limit > 0 {
			fmt.Fprintf(&b, " LIMIT %d", s.Limit)
		}
	}
	made.limit = s.Limit
	if s.Kind == plan.Scan && len(r.where) > 0 {
		b.WriteString(" ALLOW FILTERING")
	}
	write := func(where []string) string {
		text := "SELECT " + strings.Join(names, ", ") + " FROM " + made.table
		if len(where) > 0 {
			text += " WHERE " + strings.Join(where, " AND ")
		}
		if serves && len(s.Group) > 0 {
			text += " GROUP BY " + strings.Join(r.groupBy(), ", ")
		}
		return text + b.String()
	}
	made.text = write(r.where)
	if made.like {
		made.unbounded = write(r.where[:len(r.where)-1])
	}
}

// groupBy are the columns that CQL groups by: of the clustering key those that are not bound, else the last of the
// partition key.
func (r *reader) groupBy() []string {
	t := r.step.Table
	var list []string
	for _, column := range t.Clustering {
		if f := r.step.As.Field(column); slices.Contains(r.step.Group, f) && !r.bound[f] {
			list = append(list, model.Quote(t.ColumnName(column)))
		}
	}
	switch {
	case len(list) > 0:
	case t.Bucket != nil:
		list = []string{model.Quote(t.BucketColumn())}
	default:
		list = []string{model.Quote(t.ColumnName(t.Partition[len(t.Partition)-1]))}
	}
	return list
}
