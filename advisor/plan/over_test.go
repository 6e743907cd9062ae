package plan_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
)

// TestHolds: where one support query is said to hold another, the rows of the smaller one's join are, each as often, those of the
// larger one's. Where one asks for less of fewer entities it is said in some cases only.
func TestHolds(t *testing.T) {
	held, not := 0, 0
	for seed := range worlds(t, 400) {
		m := newMaker(seed)
		if !m.world.lawful(m.graph) {
			continue
		}
		var small model.Tree
		for range 1 + m.IntN(2) {
			small = m.grow(small)
		}
		large := small
		for range m.IntN(3) {
			large = m.grow(large)
		}
		less, more := &workload.Query{Tree: small, Select: some(m, fieldsIn(small), 0.4)}, &workload.Query{Tree: large}
		more.Select = model.AppendNew(slices.Clone(less.Select), some(m, fieldsIn(large), 0.4)...)
		if len(less.Select) == 0 || len(more.Select) == len(less.Select) {
			continue
		}
		for _, k := range small.Entities[0].KeyFields() {
			less.Where = append(less.Where, workload.Predicate{Field: k, Op: workload.Equal, Value: "?"})
		}
		if more.Where = less.Where; !plan.AnswerHolds(more, less) {
			not++
			continue
		}
		held++
		count := map[string]int{}
		for _, r := range m.world.join(large) {
			count[places(r, small)]++
		}
		for _, r := range m.world.join(small) {
			if at := places(r, small); count[at] != 1 {
				t.Fatalf("seed %d: %s is said to hold %s, but a row of that is there %d times", seed, more, less, count[at])
			}
		}
		if plan.AnswerHolds(less, more) || plan.AnswerHolds(less, less) {
			t.Errorf("%s holds no more than itself", less)
		}
		other := *more
		if other.Where = nil; plan.AnswerHolds(&other, less) {
			t.Errorf("%s asks by something else than %s", &other, less)
		}
	}
	if held < 20 || not < 20 {
		t.Errorf("%d were held, %d not", held, not)
	}
}

// places names the rows of a tree's entities that a row of a join is of.
func places(r related, tree model.Tree) string {
	text := ""
	for _, e := range tree.Entities {
		text += fmt.Sprintf("%s %d,", e.Name, r[e])
	}
	return text
}

// TestFewerConditions: a read by fewer of a query's equalities finds no fewer rows.
func TestFewerConditions(t *testing.T) {
	compared := 0
	for seed := range worlds(t, 60) {
		m := newMaker(seed)
		q := m.query()
		if len(q.Where) == 0 || len(q.Where) > 6 {
			continue
		}
		id := q.Tree.Entities[0].KeyFields()
		estimated := func(by []workload.Predicate) float64 {
			own := *q.Query
			own.GroupBy, own.Aggregates, own.OrderBy, own.Per, own.Limit, own.Distinct = nil, nil, nil, nil, 0, false
			own.Select = id
			table := &model.Table{Tree: q.Tree, Clustering: nil}
			for _, p := range by {
				table.Partition = model.AppendNew(table.Partition, p.Field)
			}
			table.Values = nil
			for _, f := range fieldsIn(q.Tree) {
				if !slices.Contains(table.Partition, f) && f.IsKey() {
					table.Clustering = append(table.Clustering, f)
				} else if !slices.Contains(table.Partition, f) {
					table.Values = append(table.Values, f)
				}
			}
			s, err := plan.NewSpace(&own, []*model.Table{table}, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range s.Arcs {
				if a.From == plan.SourceState && a.Steps[0].Kind == plan.Get {
					return a.Steps[0].Rows
				}
			}
			return math.NaN()
		}
		var equal []workload.Predicate
		for _, p := range q.Where {
			if p.Op == workload.Equal {
				equal = append(equal, p)
			}
		}
		for n := 1; n < len(equal); n++ {
			fewer, all := estimated(equal[:n]), estimated(equal[:n+1])
			if math.IsNaN(fewer) || math.IsNaN(all) {
				continue
			}
			if compared++; fewer < all*(1-1e-9) {
				t.Errorf("seed %d: %s: by %d of its equalities %g rows, by one more %g", seed, q, n, fewer, all)
			}
		}
	}
	if compared < 3 {
		t.Errorf("only %d reads were compared", compared)
	}
}
