package verify

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/enumerate"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/advisor/workload"
)

// Design is a set of tables with plans for the statements of a workload.
type Design struct {
	Name   string // ours, the schema's, or random:NUMBER
	Tables []*model.Table
	Reads  []Read
	Writes []Write
	// Missing are the statements for which there is no plan over the tables, and why: of hand-made schemas only.
	Missing []Missing
}

// Read is a query with plans that answer it over the design's tables. The first is what the design would run.
type Read struct {
	Statement *workload.Statement
	Plans     []*plan.Plan
}

// Write is a write with the maintenance of each table that it changes.
type Write struct {
	Statement *workload.Statement
	Plans     []*plan.WritePlan
}

// Missing is a statement without a plan.
type Missing struct {
	Statement string `json:"statement"`
	Reason    string `json:"reason"`
}

// mostPlans is how many plans of one query are run: the design's own and others over the same tables.
const mostPlans = 6

// ours is what the optimiser chooses for the workload, as if there were no tables yet.
func ours(ctx context.Context, w *workload.Workload, limit time.Duration, rng *rand.Rand) (*Design, error) {
	fresh := *w
	fresh.Tables = nil
	chosen, err := design.Choose(ctx, &fresh, design.Options{Solver: solve.New(solve.Config{}), Limits: solve.Limits{Nodes: 50, Wall: limit, Gap: 0.05}})
	if err != nil {
		return nil, err
	}
	d := &Design{Name: "ours"}
	for _, t := range chosen.Tables {
		d.Tables = append(d.Tables, t.Table)
	}
	for _, s := range chosen.Statements {
		if s.Plan == nil {
			d.Writes = append(d.Writes, Write{s.Statement, s.Writes})
			continue
		}
		plans, err := others(s.Plan, d.Tables, rng)
		if err != nil {
			return nil, err
		}
		d.Reads = append(d.Reads, Read{s.Statement, plans})
	}
	return d, nil
}

// others returns a plan of a query with more plans over the same tables.
func others(first *plan.Plan, tables []*model.Table, rng *rand.Rand) ([]*plan.Plan, error) {
	space, err := plan.NewSpace(first.Query, tables, nil)
	if err != nil {
		return nil, err
	}
	return fill([]*plan.Plan{first}, space, rng), nil
}

// fill adds plans of a space, drawn at random, none twice.
func fill(plans []*plan.Plan, space *plan.Space, rng *rand.Rand) []*plan.Plan {
	known := map[string]bool{}
	for _, p := range plans {
		known[p.String()] = true
	}
	for range 3 * mostPlans {
		if len(plans) == mostPlans {
			break
		}
		if p := drawn(space, rng, nil); p != nil && !known[p.String()] {
			known[p.String()] = true
			plans = append(plans, p)
		}
	}
	return plans
}

// drawn is the cheapest plan by prices that are drawn at random; tables of liked cost next to nothing more.
func drawn(space *plan.Space, rng *rand.Rand, liked map[*model.Table]bool) *plan.Plan {
	prices := make([]float64, len(space.Arcs))
	for i, a := range space.Arcs {
		if prices[i] = rng.ExpFloat64(); liked[a.Table] {
			prices[i] *= 0.05
		}
	}
	p, _ := space.Cheapest(func(a *plan.Arc) float64 { return prices[a.Number] }, func(*model.Table) bool { return true })
	return p
}

// cheapest is the plan that our cost model likes best among the first of a space.
func cheapest(space *plan.Space) *plan.Plan {
	var best *plan.Plan
	least := 0.0
	for _, p := range space.Plans(200) {
		if work := cost.Plan(cost.Default(), p).Work; best == nil || work < least {
			best, least = p, work
		}
	}
	return best
}

// given plans a workload over tables that somebody made. What has no plan is left out, and told of.
func given(name string, w *workload.Workload, tables []*model.Table, rng *rand.Rand) (*Design, error) {
	d := &Design{Name: name}
	for _, t := range tables {
		own := *t
		own.Existing, own.Kept = false, true // so that its writes are the design's
		d.Tables = append(d.Tables, &own)
	}
	for _, s := range w.Statements {
		if s.Query != nil {
			space, err := plan.NewSpace(s.Query, d.Tables, nil)
			if err != nil {
				return nil, err
			}
			first := cheapest(space)
			if first == nil {
				d.Missing = append(d.Missing, Missing{s.ID, "no plan over these tables: " + s.String()})
				continue
			}
			d.Reads = append(d.Reads, Read{s, fill([]*plan.Plan{first}, space, rng)})
			continue
		}
		write, missing, err := maintain(s, d.Tables, cheapest)
		switch {
		case err != nil:
			return nil, err
		case missing != "":
			d.Missing = append(d.Missing, Missing{s.ID, missing})
		default:
			d.Writes = append(d.Writes, write)
		}
	}
	return d, nil
}

// maintain plans a write over tables; missing says what support query has no plan.
func maintain(s *workload.Statement, tables []*model.Table, choose func(*plan.Space) *plan.Plan) (w Write, missing string, err error) {
	w.Statement = s
	for _, t := range tables {
		if !plan.Modifies(s.Write, t) {
			continue
		}
		p := &plan.WritePlan{Write: s.Write, Table: t, Steps: plan.WriteSteps(s.Write, t)}
		for _, support := range plan.SupportQueries(s.Write, t) {
			space, err := plan.NewSpace(support.Query, tables, nil)
			if err != nil {
				return w, "", err
			}
			found := choose(space)
			if found == nil {
				return w, fmt.Sprintf("what table %s needs to know can not be asked of these tables: %s", t.Name, support.Query), nil
			}
			p.Support = append(p.Support, found)
		}
		w.Plans = append(w.Plans, p)
	}
	return w, "", nil
}

// errTooMany says that a random design grew without an end.
var errTooMany = errors.New("more tables than are worth making")

// mostTables is the greatest number of tables of a random design.
const mostTables = 40

// random draws a feasible design: a random plan of each query over all candidates, then random plans of what the tables of
// those need when they are written, and so on until nothing new comes.
func random(name string, w *workload.Workload, rng *rand.Rand) (*Design, error) {
	pool := enumerate.Workload(w, enumerate.Options{Most: 600, Indexes: rng.IntN(2) == 0, PartitionBytes: []float64{0, 500}[rng.IntN(2)]})
	candidates := slices.DeleteFunc(pool.Tables, func(t *model.Table) bool { return t.Base != nil })
	chosen := map[*model.Table]bool{}
	d := &Design{Name: name}
	spaces := map[string]*plan.Space{}
	choose := func(q *workload.Query) (*plan.Plan, error) {
		space := spaces[q.Key()]
		if space == nil {
			var err error
			if space, err = plan.NewSpace(q, candidates, nil); err != nil {
				return nil, err
			}
			spaces[q.Key()] = space
		}
		p := drawn(space, rng, chosen)
		if p == nil {
			return nil, fmt.Errorf("no plan over %d candidates answers %s", len(candidates), q)
		}
		for _, t := range p.Tables() {
			if !chosen[t] {
				chosen[t] = true
				d.Tables = append(d.Tables, t)
			}
		}
		return p, nil
	}
	for _, s := range w.Statements {
		if s.Query == nil {
			continue
		}
		if _, err := choose(s.Query); err != nil {
			return nil, fmt.Errorf("statement %s: %w", s.ID, err)
		}
	}
	for n := 0; n < len(d.Tables); n++ {
		if n == mostTables {
			return nil, errTooMany
		}
		for _, s := range w.Statements {
			if s.Write == nil || !plan.Modifies(s.Write, d.Tables[n]) {
				continue
			}
			for _, support := range plan.SupportQueries(s.Write, d.Tables[n]) {
				if _, err := choose(support.Query); err != nil {
					return nil, fmt.Errorf("statement %s: %w", s.ID, err)
				}
			}
		}
	}
	return d, d.plan(w, rng)
}

// plan draws plans over the chosen tables alone.
func (d *Design) plan(w *workload.Workload, rng *rand.Rand) error {
	for i, t := range d.Tables { // a candidate belongs to no design
		own := *t
		d.Tables[i] = &own
	}
	for _, s := range w.Statements {
		if s.Query != nil {
			space, err := plan.NewSpace(s.Query, d.Tables, nil)
			if err != nil {
				return err
			}
			plans := fill(nil, space, rng)
			if len(plans) == 0 {
				return fmt.Errorf("statement %s: no plan over the tables that its plan was drawn from", s.ID)
			}
			d.Reads = append(d.Reads, Read{s, plans})
			continue
		}
		write, missing, err := maintain(s, d.Tables, func(space *plan.Space) *plan.Plan { return drawn(space, rng, nil) })
		if err != nil {
			return err
		}
		if missing != "" {
			return fmt.Errorf("statement %s: %s", s.ID, missing)
		}
		d.Writes = append(d.Writes, write)
	}
	return nil
}

// name gives each table a name that no other has in the keyspace.
func (d *Design) name(keyspace, prefix string) {
	for i, t := range d.Tables {
		t.Keyspace, t.Name = keyspace, fmt.Sprintf("%s_%d", prefix, i+1)
		for n := range t.Indexes {
			if n == 0 {
				t.Indexes = slices.Clone(t.Indexes) // the candidate's
			}
			t.Indexes[n].Name = fmt.Sprintf("%s_i%d", t.Name, n+1)
		}
	}
}

// text writes tables, one a line.
func text(tables []*model.Table) string {
	lines := make([]string, len(tables))
	for i, t := range tables {
		lines[i] = fmt.Sprintf("%s = %s over %s", t.Name, t, t.Tree.Path())
	}
	return strings.Join(lines, "\n")
}
