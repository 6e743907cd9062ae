package nose

import (
	"math"
	"slices"
	"strconv"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
)

// Arithmetic counts as NoSE's code does.
type Arithmetic struct{}

// Reads estimates the reads of a query.
func (Arithmetic) Reads(q *workload.Query) plan.Estimator { return &estimator{query: q} }

// Shares is false: each table pays for its own support queries.
func (Arithmetic) Shares() bool { return false }

// TableBytes is the number of rows times the size of all fields.
func (Arithmetic) TableBytes(t *model.Table) float64 { return entries(t) * entryBytes(t) }

// rangeShare is the share of rows that a range lets through.
const rangeShare = 0.1

// Distinct is the number of values that NoSE's code takes a field to have.
func Distinct(f model.Field) float64 {
	if f.Attribute.Effective > 0 {
		return f.Attribute.Effective
	}
	return f.Distinct()
}

// entries is the number of rows of a table: the count of its largest entity.
func entries(t *model.Table) float64 {
	most := 0.0
	for _, e := range t.Tree.Entities {
		most = max(most, e.Count)
	}
	return most
}

// partitions is the number of partitions of a table: the product of its partition key's values.
func partitions(t *model.Table) float64 {
	n := 1.0
	for _, f := range t.Partition {
		n *= Distinct(f)
	}
	if t.Bucket != nil {
		n *= max(1, t.Bucket.Count)
	}
	return n
}

func entryBytes(t *model.Table) float64 {
	sum := 0.0
	for _, f := range t.Fields() {
		sum += Size(f)
	}
	return sum
}

// Size is the size of a value, bytes: as the model says, else as NoSE's code takes a type's values to be.
func Size(f model.Field) float64 {
	if f.Attribute.Size > 0 {
		return f.Attribute.Size
	}
	switch f.Attribute.Type {
	case "boolean":
		return 1
	case "uuid", "timeuuid":
		return 16
	case "text", "varchar", "ascii":
		return 10
	}
	return 8
}

// estimator estimates the reads of one query.
type estimator struct{ query *workload.Query }

// Estimate fills in the estimates of an arc's steps, and returns the rows after them.
func (e *estimator) Estimate(r *plan.Read, steps []plan.Step) float64 {
	read := &steps[0]
	requests := max(1, r.Each)
	if !r.First() {
		requests *= r.From.Rows
	}
	served := map[model.Field]bool{} // whose conditions the lookup answers
	rows := e.lookup(r, read, requests, served)
	rest := e.rest(r, served)
	resolved := rest == 1
	for i := range steps {
		resolved = resolved && (i == 0 || steps[i].Verify || steps[i].Kind == plan.Limit)
	}
	limit := float64(e.query.Limit)
	switch {
	case limit == 0 || !resolved:
	case r.Answers && r.First():
		rows = min(limit, rows)
	case r.Answers:
		if rows = limit; byID(r.Table) {
			requests = limit
		}
	case r.First() && e.rowsAreAnswers(r):
		rows = min(limit, rows)
	}
	read.Requests, read.Rows, read.Left = requests, rows, rows
	read.Bytes = rows * e.width(r, read, resolved)
	if read.Kind == plan.Scan {
		read.Scanned = entries(r.Table)
	}
	left := rows * rest
	for i := 1; i < len(steps); i++ {
		switch s := &steps[i]; {
		case s.Verify:
			s.Requests, s.Rows, s.Left, s.Bytes = rows, rows, rows, rows*entryBytes(s.Table)
		default:
			s.Rows = left
			left = e.after(s, left)
			s.Left = left
		}
	}
	return round(left)
}

// lookup returns the rows that a table returns to some requests, before a limit, and notes which fields' conditions it
// answers.
func (e *estimator) lookup(r *plan.Read, s *plan.Step, requests float64, served map[model.Field]bool) float64 {
	switch s.Kind {
	case plan.IndexGet, plan.Scan:
		rows := entries(r.Table) * requests
		for _, b := range s.Partition {
			served[b.Field] = true
			rows /= Distinct(b.Field)
		}
		for _, b := range s.Where {
			if !served[b.Field] {
				served[b.Field] = true
				rows *= e.share(b)
			}
		}
		return rows
	}
	rows := entries(r.Table) / partitions(r.Table) * requests
	least := requests
	for _, b := range s.Partition {
		served[b.Field] = true
		if e.open(r, b.Field) {
			least /= Distinct(b.Field)
		}
	}
	// After the first lookup, their plans look up by the key of one entity, and bind clustering columns to parameters
	// only. Where ours bind others too, each get finds what it asks for, unless a condition is in its way.
	if !r.First() && !keyed(r.Table) {
		rows = max(rows, least)
	}
	bound := 1.0
	named := namer{table: r.Table}
	for _, b := range s.Partition {
		named.bind(s.As.Column(b.Field))
	}
	for _, b := range s.Clustering {
		column := s.As.Column(b.Field)
		if b.Op != workload.Equal || e.open(r, b.Field) {
			continue
		}
		// A condition that was checked before lets all rows at hand through: bound again it finds no fewer for them. Else the
		// entity is the same in all rows.
		if served[b.Field] = true; !e.compares(b.Field) && !named.has(column.Entity) {
			bound *= Distinct(b.Field)
		}
		named.bind(column)
	}
	if bound > 1 {
		rows = min(rows, max(rows/bound, least))
	}
	// All equalities on clustering columns must come first: else a range after some of them is left to a filter.
	open := 0
	for _, column := range r.Table.Clustering {
		if e.open(r, s.As.Field(column)) {
			open++
		}
	}
	prefix := 0
	for _, b := range s.Clustering {
		switch {
		case served[b.Field]:
			continue
		case b.Op == workload.Equal:
			prefix++
			rows /= Distinct(b.Field)
		case prefix < open && b.Op != workload.In:
			continue
		default:
			rows *= e.share(b)
		}
		served[b.Field] = true
	}
	return rows
}

// namer finds out which entities of a table's rows are the same in all of them: those of which the key is bound, and what
// they determine.
type namer struct {
	table *model.Table
	bound []model.Field
	one   []*model.Entity
}

func (n *namer) bind(column model.Field) {
	n.bound = append(n.bound, column)
	for _, k := range column.Entity.KeyFields() {
		if !touches([]model.Field{k}, n.bound) {
			return
		}
	}
	n.one = append(n.one, n.table.Tree.Determined(column.Entity).Entities...)
}

func (n *namer) has(e *model.Entity) bool {
	for _, x := range n.one {
		if x == e {
			return true
		}
	}
	return false
}

// keyed tells whether a table's partition key is the key of an entity.
func keyed(t *model.Table) bool {
	if len(t.Partition) == 0 {
		return false
	}
	key := t.Partition[0].Entity.KeyFields()
	if len(key) != len(t.Partition) {
		return false
	}
	for _, k := range key {
		if !touches([]model.Field{k}, t.Partition) {
			return false
		}
	}
	return true
}

// compares tells whether the query has an equality on f.
func (e *estimator) compares(f model.Field) bool {
	return slices.ContainsFunc(e.query.Where, func(p workload.Predicate) bool { return p.Field == f && p.Op == workload.Equal })
}

// open tells whether the query has an equality on f that has not been applied before a read.
func (e *estimator) open(r *plan.Read, f model.Field) bool {
	for n, p := range e.query.Where {
		if p.Field == f && p.Op == workload.Equal && r.From.Applied&(1<<n) == 0 {
			return true
		}
	}
	return false
}

// rest is the share of a lookup's rows that satisfies what the lookup does not answer, of what the arc applies.
func (e *estimator) rest(r *plan.Read, served map[model.Field]bool) float64 {
	share := 1.0
	seen := map[model.Field]bool{}
	for n, p := range e.query.Where {
		if bit := uint64(1) << n; r.To.Applied&bit == 0 || r.From.Applied&bit != 0 || served[p.Field] || seen[p.Field] {
			continue
		}
		if p.Op != workload.NotEqual {
			seen[p.Field] = true
		}
		share *= predicateShare(p)
	}
	return share
}

// share is the share of rows that a binding lets through.
func (e *estimator) share(b plan.Binding) float64 {
	for _, p := range e.query.Where {
		if p.Field == b.Field && p.Op == b.Op {
			return predicateShare(p)
		}
	}
	return 1 / Distinct(b.Field)
}

func predicateShare(p workload.Predicate) float64 {
	d := Distinct(p.Field)
	switch p.Op {
	case workload.Equal:
		return 1 / d
	case workload.In:
		return min(1, max(1, p.Items)/d)
	case workload.NotEqual:
		return 1 - 1/d
	}
	return rangeShare
}

// rowsAreAnswers tells whether each row that the first read returns is an answer, in the order asked for, of which later
// reads only fetch more fields: then those are read for as many as the limit lets through.
func (e *estimator) rowsAreAnswers(r *plan.Read) bool {
	return r.Sorted && bits(r.Served.Joined) == len(e.query.Tree.Entities) && bits(r.To.Applied) == len(e.query.Where)
}

func bits(mask uint64) int {
	n := 0
	for ; mask != 0; mask &= mask - 1 {
		n++
	}
	return n
}

// byID tells whether a table holds one entity by its key.
func byID(t *model.Table) bool {
	if len(t.Tree.Entities) != 1 {
		return false
	}
	for _, k := range t.Tree.Entities[0].KeyFields() {
		for _, f := range t.Partition {
			if f == k {
				return true
			}
		}
	}
	return false
}

// width is the size of what is read of a row: all fields of the table, or those selected if nothing is left to be done.
func (e *estimator) width(r *plan.Read, s *plan.Step, resolved bool) float64 {
	if !r.Answers || !resolved {
		return entryBytes(r.Table)
	}
	sum := 0.0
	for _, f := range e.query.Select {
		if column := s.As.Column(f); !column.IsZero() && r.Table.Has(column) {
			sum += Size(f)
		}
	}
	return sum
}

// after is how many rows are left of some by a step in the client.
func (e *estimator) after(s *plan.Step, rows float64) float64 {
	of := func(fields []model.Field) float64 {
		n := 1.0
		for _, f := range fields {
			n *= Distinct(f)
		}
		return n
	}
	switch s.Kind {
	case plan.Limit:
		return min(rows, float64(s.Limit))
	case plan.LimitEach:
		return min(rows, float64(s.Limit)*of(s.Fields))
	case plan.Distinct:
		return min(rows, of(s.Fields))
	case plan.Group:
		if len(s.Group) == 0 {
			return 1
		}
		return min(rows, of(s.Group))
	}
	return rows
}

// round keeps 12 digits, so that states do not differ by the order of multiplications.
func round(rows float64) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(rows, 'e', 12, 64), 64)
	if err != nil || math.IsInf(r, 0) {
		return rows
	}
	return r
}
