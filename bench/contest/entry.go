package contest

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"

	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
)

// Entry is a design that takes part: tables and a plan for each statement.
type Entry struct {
	Name       string
	Mix        string                       // that it was designed for; "" for a schema made by hand
	Tables     []*model.Table               // each its own, named
	Statements map[string]*design.Statement // by ID
	Missing    map[string]string            // statements without a plan, and why
	Bytes      float64                      // of the tables, estimated
	Proven     bool
}

// Scale multiplies the counts of a workload's entities, and what is known of their keys' values with them; other attributes
// keep the number of different values that they say they have. No count falls below 1.
func Scale(w *workload.Workload, by float64) {
	for _, e := range w.Graph.Entities {
		before := e.Count
		e.Count = max(1, float64(int64(e.Count*by+0.5)))
		for _, a := range e.Attributes {
			if a.Distinct == before && before > 2 {
				a.Distinct = e.Count
			}
			a.Distinct = min(a.Distinct, e.Count)
			if a.Effective == before && before > 2 {
				a.Effective = e.Count
			}
		}
	}
}

// Made plans a workload over a schema that somebody made; see Over.
func Made(ctx context.Context, w *workload.Workload, name, schema string, o design.Options) (*Entry, error) {
	list, ok := w.Schemas[schema]
	if !ok {
		return nil, &model.NameError{What: "schema of the workload", Name: schema, Known: slices.Sorted(maps.Keys(w.Schemas))}
	}
	tables := make([]*model.Table, len(list))
	for i, t := range list {
		own := *t
		tables[i] = &own
	}
	return Over(ctx, w, name, tables, o)
}

// Over plans a workload over tables, with the best plans that there are over them. Statements without a plan are Missing; a
// table is scanned only where nothing else finds what a write has to change. The tables become Kept.
func Over(ctx context.Context, w *workload.Workload, name string, tables []*model.Table, o design.Options) (*Entry, error) {
	for _, t := range tables {
		t.Kept = true
	}
	o.Candidates, o.OnlyExisting = tables, true
	left := *w
	missing := map[string]string{}
	for {
		d, err := design.Choose(ctx, &left, o)
		if err == nil {
			e := newEntry(name, "", d)
			e.Missing, e.Tables, e.Bytes = missing, tables, 0
			for _, t := range tables {
				e.Bytes += cost.Arithmetic(o.Cost).TableBytes(t)
			}
			return e, nil
		}
		var none *design.UnanswerableError
		if !errors.As(err, &none) {
			return nil, fmt.Errorf("planning over the tables of %s: %w", name, err)
		}
		if len(none.AllowScans(ctx, w, o)) > 0 {
			continue
		}
		missing[none.Statement] = fmt.Sprintf("over the tables of %s nothing answers %s", name, none.Query)
		left.Statements = slices.DeleteFunc(slices.Clone(left.Statements), func(s *workload.Statement) bool { return s.ID == none.Statement })
	}
}

// Ours designs for a mix.
func Ours(ctx context.Context, w *workload.Workload, name, mix string, o design.Options) (*Entry, error) {
	if mix != "" {
		if err := w.SetMix(mix); err != nil {
			return nil, err
		}
	}
	d, err := design.Choose(ctx, w, o)
	if err != nil {
		return nil, fmt.Errorf("designing %s: %w", name, err)
	}
	for _, t := range d.Tables {
		t.Table.Name = t.Name
	}
	return newEntry(name, mix, d), nil
}

func newEntry(name, mix string, d *design.Design) *Entry {
	e := &Entry{Name: name, Mix: mix, Statements: map[string]*design.Statement{}, Bytes: d.Bytes(), Proven: d.Proven}
	for _, t := range d.Tables {
		e.Tables = append(e.Tables, t.Table)
	}
	for _, s := range d.Statements {
		e.Statements[s.Statement.ID] = s
	}
	return e
}

// Also plans further statements over the entry's tables. A statement without a plan is an error.
func (e *Entry) Also(ctx context.Context, g *model.Graph, more []*workload.Statement, o design.Options) error {
	further, err := Over(ctx, &workload.Workload{Name: e.Name, Graph: g, Statements: more}, e.Name, e.Tables, o)
	if err != nil {
		return err
	}
	for id, reason := range further.Missing {
		return fmt.Errorf("%s has no plan: %s", id, reason)
	}
	maps.Copy(e.Statements, further.Statements)
	return nil
}

// Without removes statements from a workload.
func Without(w *workload.Workload, ids map[string]string) {
	w.Statements = slices.DeleteFunc(w.Statements, func(s *workload.Statement) bool { _, out := ids[s.ID]; return out })
}

// Said is what a cost model says of a statement's plan.
func (e *Entry) Said(m cost.Model, id string) (Said, bool) {
	s := e.Statements[id]
	if s == nil {
		return Said{}, false
	}
	c := priced(m, s)
	return Said{c.Work, c.Latency}, true
}

// priced is what a statement costs by a model, which need not be the one that it was planned by.
func priced(m cost.Model, s *design.Statement) cost.Cost {
	if s.Plan != nil {
		return cost.Plan(m, s.Plan)
	}
	return priceWrites(m, s.Writes)
}

// priceWrites prices a write over all tables that it changes, as they are written together: what several need to know is asked
// once, all questions at once, then all rows go that have to, then all come. Its work is what Write says of each, its latency is not
// their sum, where a model says (Together).
func priceWrites(m cost.Model, plans []*plan.WritePlan) cost.Cost {
	var asked, removed, put []cost.Cost
	met := map[string]bool{}
	for _, w := range plans {
		for _, p := range w.Support {
			if key := p.Query.Key() + "\n" + p.String(); !met[key] {
				met[key] = true
				asked = append(asked, cost.Plan(m, p))
			}
		}
		for i := range w.Steps {
			if c := m.Step(&w.Steps[i], i == 0); w.Steps[i].Kind == plan.Remove {
				removed = append(removed, c)
			} else {
				put = append(put, c)
			}
		}
	}
	return cost.Together(m, asked).Plus(cost.Together(m, removed)).Plus(cost.Together(m, put))
}

// Half allows about that share of all candidates, by a seed: what is best among those is a design that somebody might have
// come to.
func Half(share float64, seed uint64) func(*model.Table) bool {
	return func(t *model.Table) bool {
		h := fnv.New64a()
		_, _ = fmt.Fprintf(h, "%d %s", seed, t.ID())
		return float64(h.Sum64()>>11)/(1<<53) < share
	}
}
