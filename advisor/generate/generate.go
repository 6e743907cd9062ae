// Package generate makes random workloads after the experiment of seed 003, section 9.2 (N-61): a Watts-Strogatz graph of
// entities, a random direction for each edge, random attributes, and statements over random walks through the graph.
// The same shape and seed make the same workload.
//
// Watts and Strogatz: put n entities on a ring, connect each with its next Degree/2, then move the far end of each edge
// with probability Rewire to an entity drawn at random. What comes out has short ways and clusters, as real models do.
//
// The paper does not say how predicates are drawn. Here a query has one equality at least, and ranges and an order now
// and then, as RUBiS has; counts spread over two orders of magnitude. Statements are written in the language and parsed,
// so that what is generated is what a person could have written. It imports advisor/model and advisor/workload.
package generate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
)

// Shape says how large and how involved a workload is.
type Shape struct {
	Entities, Queries, Updates, Inserts int
	// Attributes is the mean number of attributes of an entity besides its key.
	Attributes int
	// Count is the geometric mean of the entities' counts.
	Count float64
	// Degree is the number of neighbours on the ring, even; Rewire the probability with which an edge's end is moved.
	Degree int
	Rewire float64
	// Walk is the greatest number of entities of a statement, Conditions the greatest number of its predicates.
	Walk, Conditions int
	// Range and Order are the shares of queries that have a range and an order.
	Range, Order float64
}

// Scale returns the shape of the paper's workload of a scale factor: of 7 entities, 30 queries, 3 updates and 5 inserts at
// 1, "similar to RUBiS", to 28, 120, 12 and 20 at 4.
func Scale(factor int) Shape {
	return Shape{
		Entities: 7 * factor, Queries: 30 * factor, Updates: 3 * factor, Inserts: 5 * factor,
		Attributes: 5, Count: 10_000, Degree: 2, Rewire: 0.5, Walk: 3, Conditions: 2, Range: 0.2, Order: 0.2,
	}
}

// Workload makes the workload of a shape and a seed. It panics if the shape cannot be: fewer than one entity.
func Workload(shape Shape, seed uint64) *workload.Workload {
	if shape.Entities < 1 {
		panic(fmt.Sprintf("generate: a workload of %d entities", shape.Entities))
	}
	m := &maker{shape: shape, random: rand.New(rand.NewPCG(seed, 61))} // #nosec G404 -- the same seed, the same workload
	w := &workload.Workload{Name: fmt.Sprintf("random-%d-%d", shape.Entities, seed), Graph: m.graph()}
	for _, kind := range []struct {
		name   string
		number int
		text   func(*model.Graph) string
		most   int // of its weight
	}{
		{"query", shape.Queries, m.query, 20},
		{"update", shape.Updates, m.update, 5},
		{"insert", shape.Inserts, m.insert, 5},
	} {
		for i := range kind.number {
			text := kind.text(w.Graph)
			s, err := workload.Parse(w.Graph, text)
			if err != nil {
				panic(fmt.Sprintf("generate: %s: %v", text, err)) // a fault of this package
			}
			s.ID, s.Weight = fmt.Sprintf("%s-%d", kind.name, i+1), float64(1+m.random.IntN(kind.most))
			w.Statements = append(w.Statements, s)
		}
	}
	return w
}

type maker struct {
	shape  Shape
	random *rand.Rand
}

func (m *maker) graph() *model.Graph {
	g := &model.Graph{}
	for i := range m.shape.Entities {
		name := fmt.Sprintf("E%d", i)
		count := math.Round(m.shape.Count * math.Pow(10, 2*m.random.Float64()-1))
		key := &model.Attribute{Name: name + "ID", Type: "uuid"}
		e := &model.Entity{Name: name, Count: max(1, count), Key: []*model.Attribute{key}, Attributes: []*model.Attribute{key}}
		for a := range max(1, m.shape.Attributes-1+m.random.IntN(3)) {
			e.Attributes = append(e.Attributes, m.attribute(fmt.Sprintf("%sF%d", name, a), e.Count))
		}
		g.Entities = append(g.Entities, e)
	}
	for _, ends := range m.edges() {
		from, to := g.Entities[ends[0]], g.Entities[ends[1]]
		if m.random.IntN(2) == 0 {
			from, to = to, from
		}
		g.Relationships = append(g.Relationships, &model.Relationship{
			Name: from.Name + "_" + to.Name, From: from, To: to, Kind: model.ManyToOne,
			Forward: "to" + to.Name, Backward: "of" + from.Name,
		})
	}
	return g
}

// attribute draws a type as NoSE's generator does: 45 % integers, 35 % strings, 10 % dates and 10 % floats.
func (m *maker) attribute(name string, count float64) *model.Attribute {
	a := &model.Attribute{Name: name}
	switch p := m.random.Float64(); {
	case p < 0.45:
		a.Type, a.Distinct = "int", min(count, float64(2+m.random.IntN(99)))
	case p < 0.8:
		a.Type, a.Size, a.Distinct = "text", float64(5+m.random.IntN(30)), math.Ceil(count*m.random.Float64())
	case p < 0.9:
		a.Type, a.Distinct = "timestamp", math.Ceil(count*m.random.Float64())
	default:
		a.Type, a.Distinct = "double", math.Ceil(count*m.random.Float64())
	}
	a.Distinct = max(1, a.Distinct)
	return a
}

// edges draws a Watts-Strogatz graph. An edge that would be there twice stays as it is.
func (m *maker) edges() [][2]int {
	n := m.shape.Entities
	var edges [][2]int
	has := func(a, b int) bool {
		return slices.Contains(edges, [2]int{a, b}) || slices.Contains(edges, [2]int{b, a})
	}
	for step := 1; step <= m.shape.Degree/2; step++ {
		for i := range n {
			if j := (i + step) % n; i != j && !has(i, j) {
				edges = append(edges, [2]int{i, j})
			}
		}
	}
	for i := range edges {
		if m.random.Float64() >= m.shape.Rewire {
			continue
		}
		if to := m.random.IntN(n); to != edges[i][0] && !has(edges[i][0], to) {
			edges[i][1] = to
		}
	}
	return edges
}

// walk draws a path: each entity once, as long as it can go on, to a length drawn between 1 and Walk.
func (m *maker) walk(g *model.Graph, length int) (path string, entities []*model.Entity) {
	e := pick(m, g.Entities)
	path, entities = e.Name, []*model.Entity{e}
	for len(entities) < length {
		var next []*model.Relationship
		for _, r := range g.Edges(e) {
			if !slices.Contains(entities, r.Other(e)) {
				next = append(next, r)
			}
		}
		if len(next) == 0 {
			break
		}
		r := pick(m, next)
		path += "." + r.Role(e)
		e = r.Other(e)
		entities = append(entities, e)
	}
	return path, entities
}

func pick[T any](m *maker, list []T) T { return list[m.random.IntN(len(list))] }

// field draws one that is not among taken; false if there is none left where it looked.
func (m *maker) field(entities []*model.Entity, taken []model.Field, keys bool) (model.Field, bool) {
	for range 20 {
		e := pick(m, entities)
		f := model.Field{Entity: e, Attribute: pick(m, e.Attributes)}
		if (keys || !f.IsKey()) && !slices.Contains(taken, f) {
			return f, true
		}
	}
	return model.Field{}, false
}

// where draws predicates: an equality, then others, of which one may be a range.
func (m *maker) where(entities []*model.Entity, ranges float64) (text string, taken []model.Field) {
	for i := range 1 + m.random.IntN(max(1, m.shape.Conditions)) {
		f, ok := m.field(entities, taken, true)
		if !ok {
			break
		}
		op := "="
		if i > 0 && !f.IsKey() && m.random.Float64() < ranges {
			op, ranges = ">", 0
		}
		text += []string{" WHERE ", " AND "}[min(i, 1)] + f.String() + " " + op + " ?"
		taken = append(taken, f)
	}
	return text, taken
}

func (m *maker) query(g *model.Graph) string {
	path, entities := m.walk(g, 1+m.random.IntN(m.shape.Walk))
	where, taken := m.where(entities, m.shape.Range)
	var selected []model.Field
	var names []string
	for range 2 {
		if f, ok := m.field(entities[:1], selected, true); ok {
			selected, names = append(selected, f), append(names, f.String())
		}
	}
	text := "SELECT " + strings.Join(names, ", ") + " FROM " + path + where
	if m.random.Float64() < m.shape.Order {
		if f, ok := m.field(entities, taken, false); ok {
			text += " ORDER BY " + f.String()
		}
	}
	return text
}

func (m *maker) update(g *model.Graph) string {
	path, entities := m.walk(g, 1+m.random.IntN(max(1, m.shape.Walk-1)))
	var set []model.Field
	var names []string
	for range 2 {
		if f, ok := m.field(entities[:1], set, false); ok {
			set, names = append(set, f), append(names, f.Attribute.Name+" = ?")
		}
	}
	where, _ := m.where(entities, 0)
	return "UPDATE " + entities[0].Name + " FROM " + path + " SET " + strings.Join(names, ", ") + where
}

// insert sets all attributes and connects to up to two neighbours.
func (m *maker) insert(g *model.Graph) string {
	e := pick(m, g.Entities)
	names := make([]string, len(e.Attributes))
	for i, a := range e.Attributes {
		names[i] = a.Name + " = ?"
	}
	text := "INSERT INTO " + e.Name + " SET " + strings.Join(names, ", ")
	edges := g.Edges(e)
	for i, at := range m.random.Perm(len(edges)) {
		if i == 2 {
			break
		}
		text += []string{" AND CONNECT TO ", ", "}[min(i, 1)] + edges[at].Role(e) + "(?)"
	}
	return text
}
