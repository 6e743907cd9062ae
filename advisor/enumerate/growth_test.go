package enumerate_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/enumerate"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
)

// chain makes n entities in a row, each with so many attributes; star makes the first one the middle of all others.
func chain(n, attributes int) *model.Graph {
	return shaped(n, attributes, func(i int) int { return i - 1 })
}
func star(n, attributes int) *model.Graph { return shaped(n, attributes, func(int) int { return 0 }) }

func shaped(n, attributes int, to func(i int) int) *model.Graph {
	g := &model.Graph{}
	for i := range n {
		e := &model.Entity{Name: fmt.Sprintf("E%d", i), Count: 1000}
		id := &model.Attribute{Name: e.Name + "id", Type: "uuid"}
		e.Key, e.Attributes = []*model.Attribute{id}, []*model.Attribute{id}
		for a := range attributes {
			e.Attributes = append(e.Attributes, &model.Attribute{Name: fmt.Sprintf("%sa%d", e.Name, a), Type: "int", Distinct: 10})
		}
		g.Entities = append(g.Entities, e)
		if i > 0 {
			other := g.Entities[to(i)]
			g.Relationships = append(g.Relationships, &model.Relationship{Name: fmt.Sprintf("r%d", i), From: other, To: e, Kind: model.OneToMany,
				Forward: fmt.Sprintf("e%d", i), Backward: "back"})
		}
	}
	return g
}

// over makes a query over the whole graph with an equality on one attribute of each of some entities.
func over(g *model.Graph, compared int) *workload.Query {
	tree, err := model.NewTree(g.Entities[0], g.Relationships...)
	if err != nil {
		panic(err)
	}
	q := &workload.Query{Tree: tree}
	for i, e := range g.Entities {
		q.Select = append(q.Select, model.Field{Entity: e, Attribute: e.Attributes[2]})
		if i < compared {
			q.Where = append(q.Where, workload.Predicate{Field: model.Field{Entity: e, Attribute: e.Attributes[1]}, Op: workload.Equal, Value: "?"})
		}
	}
	return q
}

func candidates(queries ...*workload.Query) *enumerate.Pool {
	w := &workload.Workload{}
	for i, q := range queries {
		w.Statements = append(w.Statements, &workload.Statement{ID: fmt.Sprint(i), Weight: 1, Query: q})
	}
	return enumerate.Workload(w, enumerate.Options{Most: 1 << 20})
}

// TestGrowth: candidates of chains, stars and of many conditions grow by polynomials (N-18 and N-44 are exponential). Each
// doubling may multiply them by no more than 2 to the power allowed.
func TestGrowth(t *testing.T) {
	for _, c := range []struct {
		name  string
		query func(n int) *workload.Query
		sizes []int
		power float64
		most  int // at the last size
	}{
		{"N-18 chain, one condition", func(n int) *workload.Query { return over(chain(n, 2), 1) }, []int{4, 8, 16}, 3, 1200},
		{"N-18 chain, two conditions", func(n int) *workload.Query { return over(chain(n, 2), 2) }, []int{4, 8, 16}, 3, 2500},
		{"N-18 star, one condition", func(n int) *workload.Query { return over(star(n, 2), 1) }, []int{4, 8, 16}, 3, 1500},
		{"N-18 star, all compared", func(n int) *workload.Query { return over(star(n, 2), n) }, []int{4, 8}, 4, 11000},
		{"N-18 chain, all compared", func(n int) *workload.Query { return over(chain(n, 2), n) }, []int{4, 8}, 4.5, 33000},
		{"N-18 conditions on one entity", func(n int) *workload.Query {
			g := chain(1, n+1)
			q := &workload.Query{Tree: model.Tree{Entities: g.Entities}, Select: []model.Field{{Entity: g.Entities[0], Attribute: g.Entities[0].Attributes[n+1]}}}
			for i := range n {
				q.Where = append(q.Where, workload.Predicate{Field: model.Field{Entity: g.Entities[0], Attribute: g.Entities[0].Attributes[i+1]}, Op: workload.Equal, Value: "?"})
			}
			return q
		}, []int{5, 10, 20}, 2, 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := 0
			for i, n := range c.sizes {
				p := candidates(c.query(n))
				t.Logf("%d: %d candidates, cut off: %q", n, len(p.Tables), p.Truncated)
				if i > 0 {
					limit := float64(before)
					for range int(c.power * 2) {
						limit *= 1.4143
					}
					if float64(len(p.Tables)) > limit {
						t.Errorf("%d candidates at %d, %d at half of that: more than a power of %g", len(p.Tables), n, before, c.power)
					}
				}
				before = len(p.Tables)
				if n > 8 && len(p.Truncated) == 0 {
					t.Errorf("nothing is said to be cut off at %d", n)
				}
			}
			if before > c.most {
				t.Errorf("%d candidates, want at most %d", before, c.most)
			}
		})
	}
}

// TestBudget: what does not fit is left out level by level, the light statements' first, and said so.
func TestBudget(t *testing.T) {
	w := load(t, "nose-hotel.yaml")
	whole := enumerate.Workload(w, enumerate.Options{})
	if n := len(whole.Tables); n <= 100 || n >= enumerate.DefaultMost {
		t.Fatalf("%d candidates", n)
	}
	cut := enumerate.Workload(w, enumerate.Options{Most: 100})
	if len(cut.Tables) != 100 || !strings.Contains(strings.Join(cut.Truncated, "\n"), "cut off at 100 tables") {
		t.Errorf("%d tables, cut off: %q", len(cut.Tables), cut.Truncated)
	}
	for _, s := range w.Statements { // every query can be answered nevertheless
		if s.Query == nil {
			continue
		}
		space, err := plan.NewSpace(s.Query, cut.Tables, plan.Means{})
		if err != nil || len(space.Arcs) == 0 {
			t.Errorf("%s can not be answered: %v", s.ID, err)
		}
	}
}

// TestWidestMakeRoom: where not all tables have room, those over more than six entities are left out, if that is enough, and if everything can be answered without them.
func TestWidestMakeRoom(t *testing.T) {
	g := chain(8, 2)
	w := &workload.Workload{Graph: g, Statements: []*workload.Statement{{ID: "all", Weight: 1, Query: over(g, 1)}}}
	narrow := func(x *model.Table) bool { return len(x.Tree.Entities) <= 6 }
	enough := len(enumerate.Workload(w, enumerate.Options{Allow: narrow}).Tables)
	all := len(enumerate.Workload(w, enumerate.Options{}).Tables)
	if enough >= all {
		t.Fatalf("%d tables, of which %d are narrow", all, enough)
	}
	for most, want := range map[int]bool{enough - 1: false, enough + 1: true, all + 1: false} {
		cut := enumerate.Workload(w, enumerate.Options{Most: most})
		wide := slices.ContainsFunc(cut.Tables, func(x *model.Table) bool { return !narrow(x) })
		said := strings.Contains(strings.Join(cut.Truncated, "\n"), "over more than 6 entities are left out")
		if wide == want || said != want {
			t.Errorf("with room for %d, of %d narrow ones and %d in all: wide ones %t, said %t", most, enough, all, wide, said)
		}
		if space, err := plan.NewSpace(w.Statements[0].Query, cut.Tables, nil); err != nil || len(space.Arcs) == 0 {
			t.Errorf("with room for %d it can not be answered: %v", most, err)
		}
	}
	wide := func(x *model.Table) bool { return !narrow(x) }
	if cut := enumerate.Workload(w, enumerate.Options{Most: 1, Allow: wide}); len(cut.Tables) != 1 || narrow(cut.Tables[0]) {
		t.Errorf("where nothing narrow is allowed there is %v", cut.Tables)
	}
}

// TestOrderOfStatements: the pool does not depend on the order in which statements are written.
func TestOrderOfStatements(t *testing.T) {
	for _, name := range []string{"eac.yaml", "nose-hotel.yaml"} {
		one, two := load(t, name), load(t, name)
		for i, j := 0, len(two.Statements)-1; i < j; i, j = i+1, j-1 {
			two.Statements[i], two.Statements[j] = two.Statements[j], two.Statements[i]
		}
		a, b := enumerate.Workload(one, enumerate.Options{Most: 150}), enumerate.Workload(two, enumerate.Options{Most: 150})
		if len(a.Tables) != len(b.Tables) {
			t.Fatalf("%s: %d and %d tables", name, len(a.Tables), len(b.Tables))
		}
		for i := range a.Tables {
			if a.Tables[i].ID() != b.Tables[i].ID() {
				t.Fatalf("%s: table %d is %s, or %s", name, i, a.Tables[i].ID(), b.Tables[i].ID())
			}
		}
	}
}
