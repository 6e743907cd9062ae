package enumerate_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
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

// varied makes a random workload of two queries, an update and an insert, with what the generator does not draw: branches,
// relationships 1:1 and m:n, optional ends, IN, !=, LIKE, and orders by several fields up and down.
func varied(t *testing.T, seed uint64) *workload.Workload {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 6))
	shape := generate.Shape{Entities: 3, Queries: 2, Updates: 1, Inserts: 1, Attributes: 2, Count: 1000, Degree: 2, Walk: 2, Conditions: 2, Range: 0.5, Order: 0.6}
	switch seed % 4 {
	case 0:
		shape.Conditions = 3
	case 1:
		shape.Walk, shape.Conditions, shape.Order = 3, 1, 0.2
	}
	w := generate.Workload(shape, seed)
	for _, e := range w.Graph.Relationships {
		switch r.IntN(6) {
		case 0:
			e.Kind = model.ManyToMany
		case 1:
			e.Optional = true
		}
	}
	for _, s := range w.Statements {
		q := s.Query
		if q == nil {
			continue
		}
		for i := range q.Where {
			switch p := &q.Where[i]; {
			case i > 0 && r.IntN(8) == 0:
				p.Op = workload.NotEqual
			case p.Op == workload.Equal && r.IntN(8) == 0:
				p.Op, p.Items = workload.In, 3
			}
		}
		if len(q.OrderBy) > 0 && r.IntN(4) > 0 {
			q.OrderBy[0].Desc = r.IntN(2) == 0
			for _, f := range q.Select {
				if f != q.OrderBy[0].Field && q.Tree.Has(f.Entity) {
					q.OrderBy = append(q.OrderBy, workload.Order{Field: f, Desc: q.OrderBy[0].Desc == (r.IntN(4) == 0)})
					break
				}
			}
		}
		if seed%4 == 1 { // nothing is asked of what is joined besides
			e := q.Tree.Entities[0]
			q.Where, q.OrderBy = []workload.Predicate{{Field: model.Field{Entity: e, Attribute: e.Attributes[1]}, Op: workload.Equal, Value: "?"}}, nil
		}
		again, err := workload.Parse(w.Graph, s.String())
		if err != nil {
			t.Fatalf("seed %d: %s: %v", seed, s, err)
		}
		s.Query = again.Query
	}
	return w
}

// TestEachRule: without a rule no design is better, under any cost model and space limit; the rule leaves something out;
// and a wrong one in its place is noticed. HELENUS_TEST_ENUMERATE says how many workloads are tried for each.
func TestEachRule(t *testing.T) {
	models := cost.Names()
	const few = 5
	most, limits := 60, []float64{0.8, 0} // tables, and the space that the best may take next
	tried := rounds(t, few)
	if tried > few {
		most, limits = 200, []float64{0.999, 0.6, 0}
	}
	for number, rule := range enumerate.RuleNames() {
		t.Run(rule, func(t *testing.T) {
			drawn, cases, pruned, left, noticed, aside := 0, 0, 0, 0, 0, 0
			for seed := uint64(0); cases < tried && drawn < 10*tried; seed++ {
				name := models[(int(seed)+number)%len(models)] //nolint:gosec // few
				if rule == "own" {
					name = "cassandra" // the others share no support queries
				}
				m, err := cost.ByName(name)
				if err != nil {
					t.Fatal(err)
				}
				c := newTrial(t, varied(t, seed), m, rule)
				if len(c.all) > most {
					continue
				}
				drawn++
				if len(c.all) > len(c.with) {
					pruned++
					left += len(c.all) - len(c.with)
				} else if len(c.wrong) == len(c.with) {
					continue
				}
				cases++
				wrong, set := c.run(t, seed, limits)
				if wrong {
					noticed++
				}
				if set {
					aside++
				}
			}
			t.Logf("something was left out in %d of %d workloads, %d tables in all; a wrong rule was noticed in %d of %d; %d set aside", pruned, drawn, left, noticed, cases, aside)
			if pruned*6 < drawn || pruned == 0 {
				t.Errorf("the rule left something out in %d of %d workloads only", pruned, drawn)
			}
			if noticed == 0 {
				t.Error("a wrong rule was not noticed")
			}
			if aside*2 > cases {
				t.Errorf("%d of %d workloads were set aside", aside, cases)
			}
		})
	}
}

// trial is a workload's candidates with a rule, with and without it, and with a wrong one.
type trial struct {
	workload         *workload.Workload
	cost             cost.Model
	with, all, wrong []*model.Table
}

func newTrial(t *testing.T, w *workload.Workload, m cost.Model, rule string) *trial {
	t.Helper()
	o := enumerate.Options{Arithmetic: cost.Arithmetic(m), Most: 1 << 20}
	c := &trial{workload: w, cost: m, with: enumerate.Workload(w, o).Tables, wrong: enumerate.Wrong(w, o, rule).Tables}
	known := map[string]bool{}
	for _, x := range c.with {
		known[x.ID()] = true
	}
	c.all = slices.Clone(c.with)
	for _, x := range enumerate.Without(w, o, rule).Tables {
		if !known[x.ID()] {
			c.all = append(c.all, x)
		}
	}
	return c
}

// run compares optima under ever less space. It reports whether the wrong rule was noticed, and whether the workload was set
// aside because what is better without the rule is so by plans that the rules do not speak of.
func (c *trial) run(t *testing.T, seed uint64, limits []float64) (noticed, aside bool) {
	t.Helper()
	slack := 1e-6
	if !strings.HasPrefix(c.cost.Name(), "nose:") {
		slack = 1e-3 // see TestNoWorseThanNoSE
	}
	noticed = slices.ContainsFunc(c.wrong, func(x *model.Table) bool { return x.Validate() != nil })
	limit := 0.0
	for _, tighter := range limits {
		theirs, err := quick(c.workload, c.cost, c.all, limit)
		if err != nil {
			break
		}
		ours, err := quick(c.workload, c.cost, c.with, limit)
		var space *design.SpaceError
		if errors.Is(err, context.DeadlineExceeded) || errors.As(err, &space) && !space.Proven {
			break
		}
		if err != nil && beyond(theirs) {
			return noticed, true
		}
		if err != nil {
			t.Errorf("seed %d, %s, space %g: %v, but without the rule %g", seed, c.cost.Name(), limit, err, theirs.After)
			break
		}
		if ours.Bound > theirs.After*(1+slack)+1e-9 {
			if beyond(theirs) {
				return noticed, true
			}
			p := enumerate.NewPool(nil, c.with...)
			t.Errorf("seed %d, %s, space %g: %g, without the rule %g by\n%s\nand ours\n%s\nfor\n%s", seed, c.cost.Name(), limit, ours.After, theirs.After, describe(theirs, p), describe(ours, p), statements(c.workload))
		}
		if !noticed {
			lacking, err := quick(c.workload, c.cost, c.wrong, limit)
			noticed = err != nil || lacking.Bound > ours.After*(1+slack)+1e-9
		}
		size := 0.0
		for _, x := range theirs.Tables {
			size += x.Bytes
		}
		limit = size * tighter
	}
	return noticed, false
}

// beyond reports whether a design's plans bind more than the rules speak of: in a later read, what was found besides a key,
// what was checked before, or what is known besides the conditions.
func beyond(d *design.Design) bool {
	more := func(p *plan.Plan) bool {
		var checked []model.Field
		for i := range p.Steps {
			var now []model.Field
			for _, b := range slices.Concat(p.Steps[i].Partition, p.Steps[i].Clustering) {
				asked := slices.ContainsFunc(p.Query.Where, func(c workload.Predicate) bool { return c.Field == b.Field })
				if b.Value == "" && !b.Field.IsKey() || b.Value != "" && (!asked || slices.Contains(checked, b.Field)) {
					return true
				}
				now = append(now, b.Field)
			}
			for _, c := range p.Steps[i].Where {
				now = append(now, c.Field)
			}
			checked = append(checked, now...)
		}
		return false
	}
	for _, s := range d.Statements {
		if s.Plan != nil && more(s.Plan) || slices.ContainsFunc(s.Writes, func(w *plan.WritePlan) bool { return slices.ContainsFunc(w.Support, more) }) {
			return true
		}
	}
	return false
}

// quick is best within a second.
func quick(w *workload.Workload, m cost.Model, tables []*model.Table, limit float64) (*design.Design, error) {
	return design.Choose(context.Background(), w, design.Options{Cost: m, Solver: solve.New(solve.Config{}), Limits: solve.Limits{Nodes: 100, Wall: time.Second, Gap: 1e-7},
		Candidates: tables, NoEnumeration: true, SpaceLimit: limit, Branching: 20_000_000})
}
