package generate

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
)

// Varied makes a small workload of the whole language, for tests that run it: two to four entities of a few dozen rows, with
// values that often meet, keys of one and of two parts, values that are missing; relationships of every kind, optional ones,
// and such that lead from an entity to itself; queries over chains and branches with every comparison, order, limit, group
// and aggregate; and every kind of write. Each parameter has a name of its own where the language keeps names.
//
// The writes keep the model's word. Where every entity of one end has a partner at the other (Relationship.Optional is
// false), an inserted one is connected, no partner is deleted, and nothing is disconnected; attributes that all have (Null is 0) are set:
// plans rely on it.
func Varied(seed uint64) *workload.Workload {
	v := &varied{maker: maker{random: rand.New(rand.NewPCG(seed, 62))}} // #nosec G404 -- the same seed, the same workload
	v.draw()
	w := &workload.Workload{Name: fmt.Sprintf("varied-%d", seed), Graph: v.graph}
	add := func(kind, text string) {
		s, err := workload.Parse(v.graph, text)
		if err != nil {
			panic(fmt.Sprintf("generate: %s: %v", text, err)) // a fault of this package
		}
		s.ID, s.Weight = fmt.Sprintf("%s-%d", kind, len(w.Statements)+1), float64(1+v.random.IntN(10))
		w.Statements = append(w.Statements, s)
	}
	for range 2 + v.random.IntN(3) {
		add("query", v.query().String())
	}
	for range 2 + v.random.IntN(3) {
		if write := v.write(); write != nil {
			add("write", write.String())
		}
	}
	return w
}

// varied draws workloads of the whole language.
type varied struct {
	maker
	graph *model.Graph
	named int // parameters so far
}

func (v *varied) chance(p float64) bool { return v.random.Float64() < p }

// some draws some of a list, in any order.
func some[T any](v *varied, list []T, p float64) []T {
	var drawn []T
	for _, i := range v.random.Perm(len(list)) {
		if v.chance(p) {
			drawn = append(drawn, list[i])
		}
	}
	return drawn
}

// draw makes the graph: a tree of relationships over all entities, and up to two more anywhere.
func (v *varied) draw() {
	v.graph = &model.Graph{}
	for i := range 2 + v.random.IntN(3) {
		v.graph.Entities = append(v.graph.Entities, v.entity(string(rune('A'+i))))
	}
	entities := v.graph.Entities
	for i := range len(entities) - 1 + v.random.IntN(3) {
		from, to := pick(&v.maker, entities), pick(&v.maker, entities)
		if i < len(entities)-1 {
			from, to = entities[i+1], entities[v.random.IntN(i+1)]
		}
		if v.chance(0.5) {
			from, to = to, from
		}
		v.graph.Relationships = append(v.graph.Relationships, v.relationship(fmt.Sprintf("r%d", i), from, to))
	}
}

func (v *varied) entity(name string) *model.Entity {
	e := &model.Entity{Name: name, Count: float64(4 + v.random.IntN(30))}
	kind := pick(&v.maker, []string{"uuid", "uuid", "int", "text", "bigint"})
	for i := range 1 + v.random.IntN(7)/6 {
		e.Key = append(e.Key, &model.Attribute{Name: fmt.Sprintf("id%d", i), Type: kind})
	}
	e.Attributes = slices.Clone(e.Key)
	for i := range 1 + v.random.IntN(4) {
		a := &model.Attribute{Name: string(rune('p' + i)), Distinct: float64(2 + v.random.IntN(6))}
		a.Type = pick(&v.maker, []string{"int", "int", "int", "text", "text", "text", "bigint", "timestamp", "date", "double", "boolean", "uuid"})
		if a.Type == "boolean" {
			a.Distinct = 2
		}
		if v.chance(0.15) {
			a.Null = 0.3
		}
		e.Attributes = append(e.Attributes, a)
	}
	return e
}

func (v *varied) relationship(name string, from, to *model.Entity) *model.Relationship {
	r := &model.Relationship{Name: name, From: from, To: to, Forward: name, Backward: name + "b", Optional: v.chance(0.4)}
	switch r.Kind = pick(&v.maker, []model.Kind{model.ManyToOne, model.ManyToOne, model.ManyToOne, model.OneToMany, model.ManyToMany, model.OneToOne}); r.Kind {
	case model.OneToOne:
		// An equal number on both sides would say that each of To has a partner as well, which no insert could keep.
		r.Optional = r.Optional || from.Count >= to.Count
		if r.Optional {
			r.Degree = 0.5 * min(1, to.Count/from.Count)
		}
	case model.ManyToOne:
		if r.Optional {
			r.Degree = 0.7
		}
	case model.OneToMany:
		if r.Optional {
			r.Degree = 0.7 * to.Count / from.Count
		}
	case model.ManyToMany:
		r.Degree = min(2, to.Count/2)
	}
	return r
}

// dependent is the end of which each entity has a partner, unless the relationship is optional; nil for m:n.
func dependent(r *model.Relationship) *model.Entity {
	switch r.Kind {
	case model.ManyToOne, model.OneToOne:
		return r.From
	case model.OneToMany:
		return r.To
	}
	return nil
}

// grow adds an entity to a tree, anywhere.
func (v *varied) grow(t model.Tree) model.Tree {
	at := pick(&v.maker, t.Entities)
	ways := v.graph.Ways(at)
	if len(ways) == 0 {
		return t
	}
	way := pick(&v.maker, ways)
	to := v.graph.Occurrence(way.To(), 1)
	for nth := 2; t.Has(to); nth++ {
		to = v.graph.Occurrence(to, nth)
	}
	grown, err := model.NewTree(t.Entities[0], append(slices.Clone(t.Edges), way.Between(v.graph, at, to))...)
	if err != nil {
		panic(fmt.Sprintf("generate: %v", err)) // a fault of this package
	}
	return grown
}

// tree draws a tree of up to so many entities: mostly of one or two.
func (v *varied) tree(start *model.Entity, most int) model.Tree {
	t := model.Tree{Entities: []*model.Entity{start}}
	for len(t.Entities) < most && v.chance(0.55) {
		t = v.grow(t)
	}
	return t
}

func fieldsOf(entities ...*model.Entity) []model.Field {
	var list []model.Field
	for _, e := range entities {
		for _, a := range e.Attributes {
			list = append(list, model.Field{Entity: e, Attribute: a})
		}
	}
	return list
}

func (v *varied) parameter() string {
	v.named++
	return fmt.Sprintf("?p%d", v.named)
}

// condition draws a comparison that the field's type allows. A range has sometimes two ends.
func (v *varied) condition(f model.Field) []workload.Predicate {
	is := func(op workload.Op) workload.Predicate {
		return workload.Predicate{Field: f, Op: op, Value: v.parameter()}
	}
	ordered := f.Attribute.Type != "boolean" && f.Attribute.Type != "uuid"
	switch at := v.random.IntN(12); {
	case at == 0:
		return []workload.Predicate{is(workload.NotEqual)}
	case at == 1 && f.Attribute.Type == "text":
		return []workload.Predicate{is(workload.Like)}
	case at <= 2:
		in := is(workload.In)
		in.Items = float64(2 + v.random.IntN(3))
		return []workload.Predicate{in}
	case at <= 4 && ordered:
		list := []workload.Predicate{is(pick(&v.maker, []workload.Op{workload.Greater, workload.GreaterOrEqual}))}
		if v.chance(0.4) {
			list = append(list, is(pick(&v.maker, []workload.Op{workload.Less, workload.LessOrEqual})))
		}
		return list
	case at == 5 && ordered:
		return []workload.Predicate{is(pick(&v.maker, []workload.Op{workload.Less, workload.LessOrEqual}))}
	}
	return []workload.Predicate{is(workload.Equal)}
}

func (v *varied) query() *workload.Query {
	q := &workload.Query{Tree: v.tree(pick(&v.maker, v.graph.Entities), 4)}
	all := fieldsOf(q.Tree.Entities...)
	if v.chance(0.9) {
		q.Where = append(q.Where, workload.Predicate{Field: pick(&v.maker, all), Op: workload.Equal, Value: v.parameter()})
	}
	for range v.random.IntN(3) {
		if f := pick(&v.maker, all); !slices.ContainsFunc(q.Where, func(p workload.Predicate) bool { return p.Field == f }) {
			q.Where = append(q.Where, v.condition(f)...)
		}
	}
	drawn := func(from []model.Field) []model.Field {
		return model.AppendNew(some(v, from, 0.3), pick(&v.maker, from))
	}
	from := all
	switch {
	case v.chance(0.2):
		v.group(q, all, drawn)
		from = q.GroupBy
	case v.chance(0.2):
		q.Select = drawn(all)
		q.Distinct, from = true, q.Select
	default:
		q.Select = drawn(all)
	}
	if len(from) == 0 {
		return q
	}
	if v.chance(0.45) {
		for i, f := range drawn(from) {
			if i < 3 {
				q.OrderBy = append(q.OrderBy, workload.Order{Field: f, Desc: v.chance(0.4)})
			}
		}
	}
	if v.chance(0.3) {
		q.Limit = 1 + v.random.IntN(5)
	}
	if v.chance(0.1) {
		q.PerLimit, q.Per = 1+v.random.IntN(2), drawn(from)
	}
	return q
}

// group makes the query one of aggregates, mostly of groups.
func (v *varied) group(q *workload.Query, all []model.Field, drawn func([]model.Field) []model.Field) {
	if v.chance(0.8) {
		q.GroupBy = drawn(all)
		q.Select = some(v, q.GroupBy, 0.7)
	}
	for range 1 + v.random.IntN(2) {
		a := workload.Aggregate{Func: "count"}
		if v.chance(0.7) {
			a.Field = pick(&v.maker, all)
			switch functions := []string{"count", "min", "max", "sum", "avg"}; a.Field.Attribute.Type {
			case "int", "bigint", "double":
				a.Func = pick(&v.maker, functions)
			case "boolean", "uuid":
			default:
				a.Func = pick(&v.maker, functions[:3])
			}
		}
		if !slices.Contains(q.Aggregates, a) {
			q.Aggregates = append(q.Aggregates, a)
		}
	}
}

// write draws one, nil if what was drawn is not allowed in this model.
func (v *varied) write() *workload.Write {
	e := pick(&v.maker, v.graph.Entities)
	switch at := v.random.IntN(20); {
	case at < 7:
		return v.update(e)
	case at < 13:
		return v.insert(e)
	case at < 16:
		return v.remove(e)
	case at < 18:
		return v.connect(workload.Connect)
	}
	return v.connect(workload.Disconnect)
}

// find draws what an update or a delete finds its entities by: mostly the key, else any condition.
func (v *varied) find(w *workload.Write) {
	w.Tree = v.tree(w.Entity, 3)
	if v.chance(0.5) {
		w.Tree = model.Tree{Entities: w.Tree.Entities[:1]}
		for _, f := range w.Entity.KeyFields() {
			w.Where = append(w.Where, workload.Predicate{Field: f, Op: workload.Equal, Value: v.parameter()})
		}
		return
	}
	all := fieldsOf(w.Tree.Entities...)
	f := pick(&v.maker, all)
	w.Where = append(w.Where, workload.Predicate{Field: f, Op: workload.Equal, Value: v.parameter()})
	if other := pick(&v.maker, all); other != f && v.chance(0.3) {
		w.Where = append(w.Where, v.condition(other)...)
	}
}

func (v *varied) update(e *model.Entity) *workload.Write {
	w := &workload.Write{Kind: workload.Update, Entity: e}
	for i, f := range some(v, fieldsOf(e)[len(e.Key):], 0.6) {
		kind := f.Attribute.Type
		switch {
		case i == 2:
		case (kind == "int" || kind == "bigint") && v.chance(0.25):
			w.Increments = append(w.Increments, f)
		default:
			w.Set = append(w.Set, f)
		}
	}
	if len(w.Set)+len(w.Increments) == 0 {
		return nil
	}
	v.find(w)
	return w
}

// insert sets the key and what else the new entity must have, and connects it; and some of what it may have.
func (v *varied) insert(e *model.Entity) *workload.Write {
	w := &workload.Write{Kind: workload.Insert, Entity: e, Tree: model.Tree{Entities: []*model.Entity{e}}, Set: e.KeyFields()}
	for _, f := range fieldsOf(e)[len(e.Key):] {
		if f.Attribute.Null == 0 || v.chance(0.6) {
			w.Set = append(w.Set, f)
		}
	}
	for _, r := range v.graph.Relationships {
		switch must := !r.Optional && dependent(r) == e; {
		case r.From == r.To || r.Kind == model.OneToOne:
			if must {
				return nil // it would need a partner that has none yet
			}
			continue
		case r.Other(e) == nil, !must && !v.chance(0.5), r.Kind != model.ManyToMany && dependent(r) != e:
			continue
		}
		to := r.Other(e)
		if slices.ContainsFunc(w.Connections, func(c workload.Connection) bool { return c.Entity.Base() == to }) {
			to = v.graph.Occurrence(to, 2+len(w.Connections))
		}
		edge := r
		if to != r.Other(e) {
			if edge = v.graph.Between(r, to, e); r.From == e {
				edge = v.graph.Between(r, e, to)
			}
		}
		w.Connections = append(w.Connections, workload.Connection{Edge: edge, Entity: to})
	}
	return w
}

func (v *varied) remove(e *model.Entity) *workload.Write {
	for _, r := range v.graph.Relationships {
		if d := dependent(r); d != nil && !r.Optional && (r.From == r.To && d == e || r.Other(d) == e) {
			return nil // others could not be without it
		}
	}
	w := &workload.Write{Kind: workload.Delete, Entity: e}
	v.find(w)
	return w
}

func (v *varied) connect(kind workload.WriteKind) *workload.Write {
	if len(v.graph.Relationships) == 0 {
		return nil
	}
	r := pick(&v.maker, v.graph.Relationships)
	if !r.Optional && r.Kind != model.ManyToMany {
		return nil
	}
	e, to, edge := r.From, r.To, r
	if e == to {
		to = v.graph.Occurrence(e, 2)
		edge = v.graph.Between(r, e, to)
	} else if v.chance(0.5) {
		e, to = to, e
	}
	return &workload.Write{Kind: kind, Entity: e, Tree: model.Tree{Entities: []*model.Entity{e}}, Connections: []workload.Connection{{Edge: edge, Entity: to}}}
}
