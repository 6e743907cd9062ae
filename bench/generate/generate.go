// Package generate makes random workloads after the experiment of seed 003, section 9.2 (N-61): a Watts-Strogatz graph of
// entities, a random direction for each edge, random attributes, and statements over random walks through the graph.
// The same shape and seed make the same workload.
//
// Watts and Strogatz: put n entities on a ring, connect each with its next Degree/2, then move the far end of each edge
// with probability Rewire to an entity drawn at random. What comes out has short ways and clusters, as real models do.
//
// The paper does not say how statements are drawn; its authors' program for the experiment does (nose-cli, bin/random_rubis,
// and nose, lib/nose/random.rb), and Scale has its numbers: nearly all queries are over one entity, a tenth over two and a
// thirtieth over three; the first predicate is an equality on the first entity, any others are ranges; each selects three
// fields; a tenth are ordered; queries weigh ten times what writes do. Here the number of different values of an attribute is
// drawn too, where theirs is the entity's count. Dense has what this package made before that was found, and what RUBiS and
// EAC have more of: walks as often over three entities as over one, equalities on several of them, writes that find their
// entities by way of others, and counts spread over two orders of magnitude.
//
// Varied makes small workloads of the whole language, which the paper's are not, for tests that run what was planned.
//
// Statements are written in the language and parsed, so that what is generated is what a person could have written. It
// imports advisor/model and advisor/workload.
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
	// Plain, if set, makes statements as NoSE's authors drew them; then Walk, Conditions, Range and Order are not read.
	Plain *Plain
}

// Plain are the numbers of the experiment of NoSE's authors.
type Plain struct {
	Long     int       // queries over three entities
	Pairs    float64   // share of the others that are over two
	Ranges   []float64 // shares of queries that have one range at least, two at least ...
	Selected int       // fields
	Ordered  float64   // share of queries
	Weight   float64   // of a query; that of a write is 1
}

// Scale returns the shape of the paper's workload of a scale factor: of 7 entities, 30 queries, 3 updates and 5 inserts at
// 1, "similar to RUBiS", to 28, 120, 12 and 20 at 4.
func Scale(factor int) Shape {
	return Shape{
		Entities: 7 * factor, Queries: 30 * factor, Updates: 3 * factor, Inserts: 5 * factor,
		Attributes: 4, Count: 10_000, Degree: 2, Rewire: 0.5,
		Plain: &Plain{Long: factor, Pairs: 0.1, Ranges: []float64{0.25, 0.05}, Selected: 3, Ordered: 0.1, Weight: 10},
	}
}

// Dense returns the shape of a workload of as many statements, of which most join: harder than the paper's.
func Dense(factor int) Shape {
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
			s.ID, s.Weight = fmt.Sprintf("%s-%d", kind.name, i+1), m.weight(s, kind.most)
			w.Statements = append(w.Statements, s)
		}
	}
	return w
}

type maker struct {
	shape   Shape
	random  *rand.Rand
	queries int // made so far
}

func (m *maker) weight(s *workload.Statement, most int) float64 {
	switch p := m.shape.Plain; {
	case p == nil:
		return float64(1 + m.random.IntN(most))
	case s.Query != nil:
		return p.Weight
	}
	return 1
}

// count draws an entity's: about the mean, or over two orders of magnitude.
func (m *maker) count() float64 {
	if m.shape.Plain != nil {
		return math.Round(m.shape.Count * (1 + 0.01*m.random.NormFloat64()))
	}
	return math.Round(m.shape.Count * math.Pow(10, 2*m.random.Float64()-1))
}

func (m *maker) graph() *model.Graph {
	g := &model.Graph{}
	for i := range m.shape.Entities {
		name := fmt.Sprintf("E%d", i)
		count := m.count()
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
	e := m.start(g)
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

// start draws the entity that a walk begins at: those with more edges more often, in the experiment.
func (m *maker) start(g *model.Graph) *model.Entity {
	if m.shape.Plain == nil || len(g.Relationships) == 0 {
		return pick(m, g.Entities)
	}
	r := pick(m, g.Relationships)
	return []*model.Entity{r.From, r.To}[m.random.IntN(2)]
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
	m.queries++
	if m.shape.Plain != nil {
		return m.plainQuery(g, m.shape.Plain)
	}
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

// plainQuery is a query of the experiment.
func (m *maker) plainQuery(g *model.Graph, p *Plain) string {
	length := 1
	if m.random.Float64() < p.Pairs {
		length = 2
	}
	if m.queries <= p.Long {
		length = 3
	}
	path, entities := m.walk(g, length)
	f := model.Field{Entity: entities[0], Attribute: pick(m, entities[0].Attributes)}
	where, taken := " WHERE "+f.String()+" = ?", []model.Field{f}
	for share, i := m.random.Float64(), 0; i < len(p.Ranges) && share < p.Ranges[i]; i++ {
		if f, ok := m.field(entities, taken, false); ok {
			where, taken = where+" AND "+f.String()+" > ?", append(taken, f)
		}
	}
	var selected []model.Field
	var names []string
	for range p.Selected {
		if f, ok := m.field(entities, selected, true); ok {
			selected, names = append(selected, f), append(names, f.String())
		}
	}
	text := "SELECT " + strings.Join(names, ", ") + " FROM " + path + where
	if m.random.Float64() < p.Ordered {
		if f, ok := m.field(entities, taken, false); ok {
			text += " ORDER BY " + f.String()
		}
	}
	return text
}

// finds draws what an update finds its entity by.
func (m *maker) finds(g *model.Graph) (path string, entities []*model.Entity, where string) {
	if m.shape.Plain != nil {
		e := m.start(g)
		return e.Name, []*model.Entity{e}, " WHERE " + model.Field{Entity: e, Attribute: pick(m, e.Attributes)}.String() + " = ?"
	}
	path, entities = m.walk(g, 1+m.random.IntN(max(1, m.shape.Walk-1)))
	return path, entities, ""
}

func (m *maker) update(g *model.Graph) string {
	path, entities, where := m.finds(g)
	var set []model.Field
	var names []string
	for range 2 {
		if f, ok := m.field(entities[:1], set, false); ok {
			set, names = append(set, f), append(names, f.Attribute.Name+" = ?")
		}
	}
	if where == "" {
		where, _ = m.where(entities, 0)
	}
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
