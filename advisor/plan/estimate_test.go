package plan_test

import (
	"math"
	"testing"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
)

// library has 1,000 books of 10 genres, a fifth of them without a year, of 50 years.
func library() *model.Entity {
	id := &model.Attribute{Name: "id", Type: "uuid"}
	isbn := &model.Attribute{Name: "isbn", Type: "text"}
	return &model.Entity{Name: "book", Count: 1000, Key: []*model.Attribute{id}, Alternate: [][]*model.Attribute{{isbn}}, Attributes: []*model.Attribute{
		id, isbn, {Name: "genre", Type: "text", Distinct: 10}, {Name: "year", Type: "int", Distinct: 50, Null: 0.2}, {Name: "title", Type: "text", Distinct: 900}}}
}

func TestRows(t *testing.T) {
	book := library()
	tree := model.Tree{Entities: []*model.Entity{book}}
	on := func(attribute string, op workload.Op, items float64) workload.Predicate {
		return workload.Predicate{Field: book.Field(attribute), Op: op, Value: "?", Items: items}
	}
	for name, c := range map[string]struct {
		where []workload.Predicate
		want  float64
	}{
		"nothing asked":           {nil, 1000},
		"equality":                {[]workload.Predicate{on("genre", "=", 0)}, 100},
		"key":                     {[]workload.Predicate{on("id", "=", 0)}, 1},
		"alternate key":           {[]workload.Predicate{on("isbn", "=", 0)}, 1},
		"key and more":            {[]workload.Predicate{on("id", "=", 0), on("genre", "=", 0)}, 1},
		"range":                   {[]workload.Predicate{on("title", ">", 0)}, 100},
		"both ends of one":        {[]workload.Predicate{on("title", ">", 0), on("title", "<=", 0)}, 100},
		"prefix":                  {[]workload.Predicate{on("title", workload.Like, 0)}, 100},
		"all but one value":       {[]workload.Predicate{on("genre", workload.NotEqual, 0)}, 900},
		"all but two":             {[]workload.Predicate{on("genre", workload.NotEqual, 0), on("genre", workload.NotEqual, 0)}, 810},
		"three of ten":            {[]workload.Predicate{on("genre", workload.In, 3)}, 300},
		"more than there are":     {[]workload.Predicate{on("genre", workload.In, 30)}, 1000},
		"four keys":               {[]workload.Predicate{on("id", workload.In, 4)}, 4},
		"without those missing":   {[]workload.Predicate{on("year", "=", 0)}, 16},
		"a range without missing": {[]workload.Predicate{on("year", ">", 0)}, 80},
		"not one, nor missing":    {[]workload.Predicate{on("year", workload.NotEqual, 0)}, 784},
		"an equality and a range": {[]workload.Predicate{on("genre", "=", 0), on("genre", ">", 0)}, 100},
		"something that is there": {[]workload.Predicate{on("title", "=", 0), on("genre", "=", 0), on("year", "=", 0)}, 1},
		"as many, of a few each":  {[]workload.Predicate{on("title", workload.In, 5), on("genre", "=", 0), on("year", "=", 0)}, 5},
	} {
		t.Run("N-32 "+name, func(t *testing.T) {
			if got := plan.Rows(tree, c.where); math.Abs(got-c.want) > 1e-9*c.want {
				t.Errorf("%g rows, want %g", got, c.want)
			}
		})
	}
}

// TestClientSteps: what is left after groups, distinct rows and limits of each.
func TestClientSteps(t *testing.T) {
	book := library()
	x := &model.Table{Tree: model.Tree{Entities: []*model.Entity{book}}, Partition: []model.Field{book.Field("genre")}, Clustering: []model.Field{book.Field("id")}, Values: []model.Field{book.Field("year"), book.Field("title")}}
	ask := func(change func(q *workload.Query)) *plan.Plan {
		q := &workload.Query{Tree: x.Tree, Where: []workload.Predicate{{Field: book.Field("genre"), Op: workload.Equal, Value: "?"}}}
		change(q)
		s, err := plan.NewSpace(q, []*model.Table{x}, nil)
		if err != nil {
			t.Fatal(err)
		}
		p, _ := s.Cheapest(func(*plan.Arc) float64 { return 1 }, func(*model.Table) bool { return true })
		if p == nil {
			t.Fatalf("no plan for %s", q)
		}
		return p
	}
	years := model.Distinct(100, 50)
	for name, c := range map[string]struct {
		change func(q *workload.Query)
		left   float64
	}{
		"a group of each year": {func(q *workload.Query) {
			q.Select, q.GroupBy, q.Aggregates = []model.Field{book.Field("year")}, []model.Field{book.Field("year")}, []workload.Aggregate{{Func: "count"}}
		}, years},
		"one count": {func(q *workload.Query) { q.Aggregates = []workload.Aggregate{{Func: "count"}} }, 1},
		"each year": {func(q *workload.Query) { q.Select, q.Distinct = []model.Field{book.Field("year")}, true }, years},
		"one of each year": {func(q *workload.Query) {
			q.Select, q.Per, q.PerLimit = []model.Field{book.Field("title")}, []model.Field{book.Field("year")}, 1
		}, years},
		"three of them": {func(q *workload.Query) {
			q.Select, q.Distinct, q.Limit = []model.Field{book.Field("year")}, true, 3
		}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			p := ask(c.change)
			last := p.Steps[len(p.Steps)-1]
			if math.Abs(last.Left-c.left) > 1e-9*c.left {
				t.Errorf("%g rows left, want %g\n%s", last.Left, c.left, p)
			}
			for _, s := range p.Steps {
				if s.Rows <= 0 || s.Left <= 0 {
					t.Errorf("%s: %g rows, %g left", s.String(), s.Rows, s.Left)
				}
			}
		})
	}
}
