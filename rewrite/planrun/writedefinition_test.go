package planrun_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/rewrite/planrun"
)

// What a conceptual write does to data, by definition.

// told is a write with the values of its parameters, by name.
type told struct {
	*workload.Write
	values map[string][]any
}

// tell draws parameters: of connections, partners that are there; of a new key, mostly one that is free.
func (w *world) tell(write *workload.Write, g *model.Graph) *told {
	t := &told{write, map[string][]any{}}
	a := w.ask(&workload.Query{Tree: write.Tree, Where: write.Where})
	names := workload.Names(write.Where)
	for i, p := range write.Where {
		name := p.Value
		if name == "?" {
			name = names[i]
		}
		t.values[name] = a.values[i]
	}
	for _, f := range write.Set {
		v := any(nil)
		switch a := f.Attribute; {
		case f.IsKey():
			v = sample(a.Type, w.random.IntN(12))
		case !w.chance(a.Null):
			v = w.draw(a.Type)
		}
		t.values[workload.SetName(f)] = []any{v}
	}
	for _, f := range write.Increments {
		t.values[workload.AddName(f)] = []any{int64(w.random.IntN(5) - 2)}
	}
	draw := func(e *model.Entity, name func(*model.Attribute) string) {
		row := pick(w, w.rows[e.Base()])
		for _, k := range e.Key {
			t.values[name(k)] = append(t.values[name(k)], row[k])
		}
	}
	for i, c := range write.Connections {
		draw(c.Entity, func(k *model.Attribute) string { return workload.ConnectionName(write, i, k) })
	}
	if write.Kind == workload.Connect || write.Kind == workload.Disconnect {
		draw(write.Entity, func(k *model.Attribute) string {
			return workload.KeyName(model.Field{Entity: write.Entity, Attribute: k})
		})
	}
	for _, f := range write.Given {
		t.values[workload.GivenName(f)] = []any{w.fact(t, g, f)}
	}
	return t
}

// fact is the value of a field of GIVEN: of what the statement names first, or of what that determines.
func (w *world) fact(t *told, g *model.Graph, f model.Field) any {
	tree, err := g.Connect([]*model.Entity{t.Entity, f.Entity})
	if err != nil {
		panic(err)
	}
	for _, r := range w.join(tree) {
		if !slices.ContainsFunc(t.Entity.KeyFields(), func(k model.Field) bool {
			return order(w.value(r, k), t.values[workload.KeyName(k)][0]) != 0
		}) {
			return w.value(r, f)
		}
	}
	return w.draw(f.Attribute.Type) // there is nothing of which it could be wrong
}

func (t *told) parameters(b testing.TB) planrun.Parameters {
	types := map[string]string{}
	for _, p := range t.Parameters() {
		types[p.Name] = p.Field.Attribute.Type
	}
	with := planrun.Parameters{}
	for name, values := range t.values {
		with[name] = [][]byte{}
		for _, v := range values {
			cell, err := planrun.Encode(types[name], v)
			if err != nil {
				b.Fatal(err)
			}
			with[name] = append(with[name], cell)
		}
	}
	return with
}

func (w *world) clone() *world {
	c := &world{w.random, map[*model.Entity][]map[*model.Attribute]any{}, map[*model.Relationship][][2]int{}}
	for e, rows := range w.rows {
		for _, r := range rows {
			c.rows[e] = append(c.rows[e], maps.Clone(r))
		}
	}
	for r, pairs := range w.links {
		c.links[r] = slices.Clone(pairs)
	}
	return c
}

// find returns the number of the entity with a key, -1 if there is none.
func (w *world) find(e *model.Entity, key func(*model.Attribute) any) int {
	return slices.IndexFunc(w.rows[e.Base()], func(row map[*model.Attribute]any) bool {
		return !slices.ContainsFunc(e.Key, func(k *model.Attribute) bool { return order(row[k], key(k)) != 0 })
	})
}

// spoken are the entities that an update or delete speaks of.
func (w *world) spoken(t *told) []int {
	names := workload.Names(t.Where)
	var list []int
rows:
	for _, r := range w.join(t.Tree) {
		for i, p := range t.Where {
			name := p.Value
			if name == "?" {
				name = names[i]
			}
			if !satisfies(p.Op, w.value(r, p.Field), t.values[name]) {
				continue rows
			}
		}
		if n := r[t.Entity]; !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	return list
}

// apply changes the data; false: the statement takes for true what is not, or the data would break the model's word.
func (w *world) apply(t *told, g *model.Graph) bool {
	e := t.Entity.Base()
	end := func(n int) int {
		nth := 0
		role := func(n int) string { return t.Connections[n].Edge.Role(t.Entity) }
		for i := range n {
			if role(i) == role(n) {
				nth++
			}
		}
		return w.find(t.Connections[n].Entity, func(k *model.Attribute) any {
			return t.values[workload.ConnectionName(t.Write, n, k)][nth]
		})
	}
	self := func() int {
		return w.find(e, func(k *model.Attribute) any {
			return t.values[workload.KeyName(model.Field{Entity: t.Entity, Attribute: k})][0]
		})
	}
	link := func(self, n int) (*model.Relationship, [2]int) {
		if edge := t.Connections[n].Edge; edge.From == t.Entity {
			return edge.Base(), [2]int{self, end(n)}
		}
		return t.Connections[n].Edge.Base(), [2]int{end(n), self}
	}
	switch t.Kind {
	case workload.Insert:
		row := map[*model.Attribute]any{}
		for _, f := range t.Set {
			row[f.Attribute] = t.values[workload.SetName(f)][0]
		}
		for i := range t.Connections {
			r, pair := link(len(w.rows[e]), i)
			w.links[r] = append(w.links[r], pair)
		}
		w.rows[e] = append(w.rows[e], row)
	case workload.Update:
		list := w.spoken(t)
		if plan.Find(t.Write) == nil && len(list) != 1 {
			return false
		}
		for _, n := range list {
			row := w.rows[e][n]
			for _, f := range t.Set {
				row[f.Attribute] = t.values[workload.SetName(f)][0]
			}
			for _, f := range t.Increments {
				if v := row[f.Attribute]; v != nil {
					row[f.Attribute] = v.(int64) + t.values[workload.AddName(f)][0].(int64)
				}
			}
		}
	case workload.Delete:
		list := w.spoken(t)
		if plan.Find(t.Write) == nil && len(list) != 1 && len(t.Where) > len(e.Key) {
			return false
		}
		w.remove(e, list)
	case workload.Connect, workload.Disconnect:
		r, pair := link(self(), 0)
		if t.Kind == workload.Disconnect && !slices.Contains(w.links[r], pair) {
			return false
		}
		one := [2]bool{r.Kind == model.OneToOne || r.Kind == model.ManyToOne, r.Kind == model.OneToOne || r.Kind == model.OneToMany}
		w.links[r] = slices.DeleteFunc(w.links[r], func(x [2]int) bool {
			return x == pair || t.Kind == workload.Connect && (one[0] && x[0] == pair[0] || one[1] && x[1] == pair[1])
		})
		if t.Kind == workload.Connect { // whoever may have one partner leaves the one that it had
			w.links[r] = append(w.links[r], pair)
		}
	}
	return w.lawful(g)
}

func (w *world) remove(e *model.Entity, gone []int) {
	number := make([]int, len(w.rows[e]))
	var rows []map[*model.Attribute]any
	for i, row := range w.rows[e] {
		if number[i] = len(rows); slices.Contains(gone, i) {
			number[i] = -1
			continue
		}
		rows = append(rows, row)
	}
	w.rows[e] = rows
	for r, pairs := range w.links {
		w.links[r] = nil
		for _, p := range pairs {
			if r.From == e {
				p[0] = number[p[0]]
			}
			if r.To == e {
				p[1] = number[p[1]]
			}
			if p[0] >= 0 && p[1] >= 0 {
				w.links[r] = append(w.links[r], p)
			}
		}
	}
}

// lawful tells whether the data keep the model's word: keys tell apart, relationships are of their kind.
func (w *world) lawful(g *model.Graph) bool {
	for _, e := range g.Entities {
		if len(w.rows[e]) == 0 {
			return false // nothing is left to draw from
		}
		seen := map[string]bool{}
		for _, row := range w.rows[e] {
			id := ""
			for _, k := range e.Key {
				id += fmt.Sprintf("%#v|", row[k])
			}
			if seen[id] {
				return false
			}
			seen[id] = true
			for _, a := range e.Attributes {
				if row[a] == nil && a.Null == 0 {
					return false
				}
			}
		}
	}
	for _, r := range g.Relationships {
		from, to := map[int]int{}, map[int]int{}
		for i, p := range w.links[r] {
			if slices.Contains(w.links[r][:i], p) {
				return false
			}
			from[p[0]]++
			to[p[1]]++
		}
		toOne := func(n map[int]int, rows int, must bool) bool {
			for i := range rows {
				if n[i] > 1 || must && n[i] == 0 {
					return false
				}
			}
			return true
		}
		forward, back := r.Kind == model.OneToOne || r.Kind == model.ManyToOne, r.Kind == model.OneToOne || r.Kind == model.OneToMany
		if forward && !toOne(from, len(w.rows[r.From]), !r.Optional) ||
			back && !toOne(to, len(w.rows[r.To]), !r.Optional && (r.Kind != model.OneToOne || r.From.Count == r.To.Count)) {
			return false
		}
	}
	return true
}
