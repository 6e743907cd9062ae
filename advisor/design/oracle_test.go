package design_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/enumerate"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/bench/generate"
)

// oracle is NoSE's arithmetic once more, written from its description (docs/design/nose.md, sections 1 to 3 and 6)
// and sharing no code with package nose: it takes the steps of a plan and says what they cost.
type oracle struct {
	model string // request_count, entity_count, field_size or cassandra
	query *workload.Query
}

func cardinality(f model.Field) float64 {
	switch {
	case f.Attribute.Effective > 0:
		return f.Attribute.Effective
	case f.Attribute.Distinct > 0:
		return f.Attribute.Distinct
	case f.Attribute.Type == "boolean":
		return 2
	}
	return f.Entity.Count
}

func fieldSize(f model.Field) float64 {
	if f.Attribute.Size > 0 {
		return f.Attribute.Size
	}
	if size, ok := map[string]float64{"uuid": 16, "text": 10, "boolean": 1}[f.Attribute.Type]; ok {
		return size
	}
	return 8
}

func sizeOf(fields []model.Field) (sum float64) {
	for _, f := range fields {
		sum += fieldSize(f)
	}
	return sum
}

func largest(t *model.Table) (most float64) {
	for _, e := range t.Tree.Entities {
		most = max(most, e.Count)
	}
	return most
}

// condition finds the query's equality (or range) on a field that has not been applied.
func (o *oracle) condition(f model.Field, equality bool, applied map[model.Field]bool) bool {
	for _, p := range o.query.Where {
		if p.Field == f && (p.Op == workload.Equal) == equality && !applied[f] {
			return true
		}
	}
	return false
}

// plan returns what a plan costs and the rows of its last step.
func (o *oracle) plan(p *plan.Plan) (total, rows float64) {
	o.query = p.Query
	applied := map[model.Field]bool{}
	for i := range p.Steps {
		s := &p.Steps[i]
		switch s.Kind {
		case plan.Get, plan.Scan:
			parts := rows
			if i == 0 {
				parts = 1
			}
			rows = o.lookup(s, parts, applied)
			last := true // nothing but field fetching is left
			for j := range p.Steps[i+1:] {
				last = last && p.Steps[i+1+j].Table == nil
			}
			resolved := i+1 == len(p.Steps) || p.Steps[i+1].Kind == plan.Limit
			limit := float64(p.Query.Limit)
			switch {
			case limit > 0 && i == 0 && !last && o.onlyFieldsLeft(p.Steps[1:], applied):
				rows = min(limit, rows)
			case limit > 0 && last && resolved && i == 0:
				rows = min(limit, rows)
			case limit > 0 && last && resolved:
				rows = limit
				if len(s.Table.Tree.Entities) == 1 && s.Table.Partition[0].IsKey() {
					parts = limit
				}
			}
			total += o.read(s, i == 0, parts, rows, last && resolved)
		case plan.Filter:
			for _, b := range s.Where {
				if applied[b.Field] {
					continue
				}
				applied[b.Field] = true
				if b.Op == workload.Equal {
					rows /= cardinality(b.Field)
				} else {
					rows *= 0.1
				}
			}
		case plan.Sort:
			total++
		case plan.Limit:
			rows = min(rows, float64(s.Limit))
		}
	}
	return total, rows
}

// onlyFieldsLeft reports whether, after the first lookup, all conditions hold, the order is right, and one more lookup fetches
// what is missing.
func (o *oracle) onlyFieldsLeft(steps []plan.Step, applied map[model.Field]bool) bool {
	reads := 0
	for i := range steps {
		if steps[i].Table != nil {
			reads++
		}
		if steps[i].Kind == plan.Sort {
			return false
		}
	}
	for _, p := range o.query.Where {
		if !applied[p.Field] {
			return false
		}
	}
	return reads == 1
}

// lookup returns the rows of a read that sends so many gets.
func (o *oracle) lookup(s *plan.Step, parts float64, applied map[model.Field]bool) float64 {
	if s.Kind == plan.Scan {
		rows := largest(s.Table) * parts
		for _, b := range s.Where {
			applied[b.Field] = true
			rows /= cardinality(b.Field)
		}
		return rows
	}
	rows := largest(s.Table) * parts
	for _, f := range s.Table.Partition {
		rows /= cardinality(f)
	}
	// Columns that only our plans bind: by fields at hand. Each get then finds a row at least. A condition that was checked
	// before is bound again too, but finds no fewer rows.
	narrowed := rows
	for _, b := range s.Clustering {
		if b.Op == workload.Equal && !o.condition(b.Field, true, applied) && !o.condition(b.Field, true, nil) {
			narrowed /= cardinality(b.Field)
		}
	}
	if narrowed < rows {
		rows = min(rows, max(narrowed, parts))
	}
	for _, b := range s.Partition {
		applied[b.Field] = true
	}
	// The clustering prefix: all equalities that are left on the table's clustering columns, then the range.
	all := 0
	for _, f := range s.Table.Clustering {
		if o.condition(f, true, applied) {
			all++
		}
	}
	done := 0
	for _, b := range s.Clustering {
		switch {
		case b.Op == workload.Equal && o.condition(b.Field, true, applied):
			rows /= cardinality(b.Field)
			applied[b.Field] = true
			done++
		case b.Op != workload.Equal && done == all && !applied[b.Field]:
			rows *= 0.1
			applied[b.Field] = true
		}
	}
	return rows
}

func (o *oracle) read(s *plan.Step, first bool, parts, rows float64, answered bool) float64 {
	if s.Kind == plan.Scan {
		first = false
		if o.model != "field_size" {
			rows = largest(s.Table) // what is looked at
		}
	}
	switch o.model {
	case "request_count":
		if first {
			return 1
		}
		return rows
	case "entity_count":
		return rows
	case "field_size":
		width := 0.0
		for _, f := range s.Table.Fields() {
			if !answered || slices.Contains(o.query.Select, f) {
				width += fieldSize(f)
			}
		}
		return rows * width
	}
	return 0.0078395645 + parts*0.0013692786 + rows*1.17093638386496e-05
}

// write returns what keeping one table true costs: support queries, each for itself, then as many rows as the product of
// what they find.
func (o *oracle) write(w *plan.WritePlan) (total float64) {
	rows := 1.0
	for _, p := range w.Support {
		c, n := o.plan(p)
		total += c
		rows *= n
	}
	if len(w.Support) == 0 && w.Write.Kind != workload.Insert {
		rows = largest(w.Table)
		for _, p := range w.Write.Where {
			if p.Op == workload.Equal {
				rows /= cardinality(p.Field)
			} else {
				rows *= 0.1
			}
		}
	}
	for i := range w.Steps {
		each := map[string]float64{"request_count": rows, "entity_count": rows, "field_size": sizeOf(w.Table.Fields()), "cassandra": rows * 0.013329108}[o.model]
		if w.Steps[i].Kind == plan.Remove && o.model == "cassandra" {
			each = rows * 0.0013287903
		}
		total += each
	}
	return total
}

var noseModels = []string{"request_count", "entity_count", "field_size", "cassandra"}

// agree designs over given tables alone and compares with the oracle, statement by statement and in all.
func agree(t *testing.T, w *workload.Workload, tables []*model.Table, name string) {
	t.Helper()
	m, err := cost.ByName("nose:" + name)
	if err != nil {
		t.Fatal(err)
	}
	d := choose(t, w, design.Options{Cost: m, Candidates: tables, OnlyExisting: true})
	sum := 0.0
	for _, s := range d.Statements {
		o := &oracle{model: name}
		total := 0.0
		if s.Plan != nil {
			total, _ = o.plan(s.Plan)
		}
		for _, x := range s.Writes {
			total += o.write(x)
		}
		if math.Abs(total-s.Cost.Work) > 1e-6*(1+total) {
			text := ""
			if s.Plan != nil {
				text = s.Plan.String()
			}
			for _, x := range s.Writes {
				text += "\nkeep " + x.Table.Name + x.Table.String()
				for _, p := range x.Support {
					text += "\n  " + p.Query.String() + "\n" + p.String()
				}
			}
			t.Errorf("%s, %s: the design says %g, the oracle %g: %s\n%s", w.Name, s.Statement.ID, s.Cost.Work, total, s.Statement, text)
		}
		sum += s.Statement.Weight * total
	}
	if math.Abs(sum-d.After) > 1e-6*(1+sum) {
		t.Errorf("%s, nose:%s: the design costs %.9g, the oracle says %.9g", w.Name, name, d.After, sum)
	}
}

func keptCopies(tables []*model.Table) []*model.Table {
	list := make([]*model.Table, len(tables))
	for i, x := range tables {
		own := *x
		own.Kept = true
		list[i] = &own
	}
	return list
}

// TestArithmeticOfGivenSchemas: N-35. The total over a given schema is what NoSE's arithmetic gives its plans.
func TestArithmeticOfGivenSchemas(t *testing.T) {
	for _, schema := range []string{"rubis_expert", "rubis_baseline"} {
		for _, name := range noseModels {
			t.Run(schema+" "+name, func(t *testing.T) {
				w := load(t, "rubis.yaml")
				if err := w.SetMix("bidding"); err != nil {
					t.Fatal(err)
				}
				tables := keptCopies(w.Schemas[schema])
				w.Statements = slices.DeleteFunc(w.Statements, func(s *workload.Statement) bool {
					return schema == "rubis_baseline" && s.ID == "q31" // no table says who wrote a comment
				})
				for _, x := range tables { // what a changed end_date needs can only be found by a scan
					x.ScanAllowed = x.Name == "user_items_sold" && schema == "rubis_expert" || x.Name == "items_by_category" || x.Name == "items_by_region"
				}
				agree(t, w, tables, name)
			})
		}
	}
}

// TestArithmeticOfRandomSchemas: the same over the designs of random workloads with some more of their candidates.
func TestArithmeticOfRandomSchemas(t *testing.T) {
	shape := generate.Dense(1)
	shape.Entities, shape.Queries, shape.Updates, shape.Inserts = 4, 6, 2, 2
	for seed := range uint64(trials(4)) { //nolint:gosec // few
		w := generate.Workload(shape, seed)
		name := noseModels[seed%4]
		m, err := cost.ByName("nose:" + name)
		if err != nil {
			t.Fatal(err)
		}
		d := choose(t, w, design.Options{Cost: m, Limits: solve.Limits{Gap: 0.2, Wall: 5 * time.Second}})
		var tables []*model.Table
		for _, x := range d.Tables {
			own := *x.Table
			own.Kept, own.Name = true, x.Name
			tables = append(tables, &own)
		}
		agree(t, w, tables, name)
		// Some more of the candidates, as long as what keeps them true can be found out.
		random := rand.New(rand.NewPCG(seed, 1))
		more := enumerate.Workload(w, enumerate.Options{Arithmetic: cost.Arithmetic(m)}).Tables
		for range 3 {
			own := *more[random.IntN(len(more))]
			own.Kept, own.Name = true, "more"
			wider := append(slices.Clone(tables), &own)
			_, err := design.Choose(context.Background(), w, design.Options{Cost: m, Candidates: wider, OnlyExisting: true, Solver: solver()})
			if none := (*design.UnanswerableError)(nil); errors.As(err, &none) {
				continue
			}
			agree(t, w, wider, name)
		}
	}
}
