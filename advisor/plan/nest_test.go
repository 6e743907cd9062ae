package plan_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
)

// touched is a write with what it does to a world: the entities that it speaks of, by number, before and after it.
type touched struct {
	*workload.Write
	after         *world
	before, since map[*model.Entity]int // Write.Entity's and, of a connection, its partner's; -1: there is none
	edge          *model.Relationship   // of CONNECT and DISCONNECT
}

// free reports whether a pair may be related besides those that are.
func (w *world) free(r *model.Relationship, from, to int) bool {
	for _, l := range w.links[r] {
		if l == [2]int{from, to} || l[0] == from && r.ToOne(r.From) || l[1] == to && r.ToOne(r.To) {
			return false
		}
	}
	return true
}

// touch draws a write to one entity or pair; nil if there is nothing to do.
func (m *maker) touch() *touched {
	e := pick(m, m.graph.Entities)
	n := m.IntN(int(e.Count))
	c := &touched{Write: &workload.Write{Entity: e, Tree: model.Tree{Entities: []*model.Entity{e}}}, after: m.world.clone(),
		before: map[*model.Entity]int{e: n}, since: map[*model.Entity]int{e: n}}
	for _, k := range e.KeyFields() {
		c.Where = append(c.Where, workload.Predicate{Field: k, Op: workload.Equal, Value: "?"})
	}
	switch c.Kind = pick(m, []workload.WriteKind{workload.Update, workload.Delete, workload.Insert, workload.Connect, workload.Disconnect}); c.Kind {
	case workload.Update:
		for _, a := range some(m, e.Attributes[len(e.Key):], 0.6) {
			c.Set = append(c.Set, model.Field{Entity: e, Attribute: a})
			if c.after.rows[e][n][a] = "n" + strconv.Itoa(m.IntN(3)); a.Name == "alt" {
				c.after.rows[e][n][a] = "another"
			}
		}
		if len(c.Set) == 0 {
			return nil
		}
	case workload.Delete:
		c.since[e] = -1
		c.after.rows[e] = slices.Delete(c.after.rows[e], n, n+1)
		for r, links := range c.after.links {
			var kept [][2]int
			for _, l := range links {
				if r.From == e && l[0] == n || r.To == e && l[1] == n {
					continue
				}
				if r.From == e && l[0] > n {
					l[0]--
				}
				if r.To == e && l[1] > n {
					l[1]--
				}
				kept = append(kept, l)
			}
			c.after.links[r] = kept
		}
	case workload.Insert:
		c.before[e], c.since[e] = -1, len(c.after.rows[e])
		row := map[*model.Attribute]string{}
		for _, a := range e.Attributes {
			row[a] = "new"
			c.Set = append(c.Set, model.Field{Entity: e, Attribute: a})
		}
		c.after.rows[e] = append(c.after.rows[e], row)
		for _, r := range m.graph.Edges(e) {
			if r.From == r.To || m.chance(0.4) {
				continue
			}
			other := r.Other(e)
			pair := [2]int{c.since[e], m.IntN(int(other.Count))}
			if r.To == e {
				pair = [2]int{pair[1], pair[0]}
			}
			if c.after.free(r, pair[0], pair[1]) && !slices.ContainsFunc(c.Connections, func(x workload.Connection) bool { return x.Entity == other }) {
				c.after.links[r] = append(c.after.links[r], pair)
				c.Connections = append(c.Connections, workload.Connection{Edge: r, Entity: other})
			}
		}
	default:
		edges := slices.DeleteFunc(m.graph.Edges(e), func(r *model.Relationship) bool { return r.From == r.To })
		if len(edges) == 0 {
			return nil
		}
		r := pick(m, edges)
		other := r.Other(e)
		pair := [2]int{n, m.IntN(int(other.Count))}
		if r.To == e {
			pair = [2]int{pair[1], pair[0]}
		}
		if links := c.after.links[r]; c.Kind == workload.Disconnect {
			if len(links) == 0 {
				return nil
			}
			pair = pick(m, links)
			c.after.links[r] = slices.DeleteFunc(links, func(l [2]int) bool { return l == pair })
		} else {
			c.after.relate(r, pair)
		}
		c.edge = r
		c.before = map[*model.Entity]int{r.From: pair[0], r.To: pair[1]}
		c.since = maps.Clone(c.before)
		c.Connections = []workload.Connection{{Edge: r, Entity: other}}
	}
	return c
}

// replaces reports whether a row of the join goes because of a CONNECT: an end of the pair that has one partner at most stands at
// its edge in it.
func (c *touched) replaces(tree model.Tree, r related) bool {
	return c.Kind == workload.Connect && slices.ContainsFunc(tree.Edges, func(x *model.Relationship) bool {
		one := [2]bool{x.Kind == model.OneToOne || x.Kind == model.ManyToOne, x.Kind == model.OneToOne || x.Kind == model.OneToMany}
		return x.Base() == c.edge && (one[0] && r[x.From] == c.before[c.edge.From] || one[1] && r[x.To] == c.before[c.edge.To])
	})
}

// speaks reports whether a row of the join over a tree is one of those that the write speaks of.
func (c *touched) speaks(tree model.Tree, r related, of map[*model.Entity]int) bool {
	if c.edge == nil {
		return slices.ContainsFunc(tree.Entities, func(e *model.Entity) bool { return e.Base() == c.Entity && r[e] == of[c.Entity] })
	}
	return slices.ContainsFunc(tree.Edges, func(x *model.Relationship) bool {
		return x.Base() == c.edge && r[x.From] == of[c.edge.From] && r[x.To] == of[c.edge.To]
	})
}

// entries are what a table holds: rows by key, and elements by the keys of row and element.
type entries map[*model.Nest]map[string]string

func facetsOf(t *model.Table) map[*model.Nest]*model.Table {
	list := map[*model.Nest]*model.Table{nil: t.Plain()}
	for _, n := range t.Nests {
		list[n] = t.Spread(n)
	}
	return list
}

// hold returns the entries of a table of those rows of the join that are wanted.
func (w *world) hold(t *model.Table, wanted func(model.Tree, related) bool) entries {
	held := entries{}
	for n, x := range facetsOf(t) {
		held[n] = map[string]string{}
		for _, r := range w.join(x.Tree) {
			var key, values []string
			for _, f := range x.Key() {
				key = append(key, w.value(r, f))
			}
			if t.Bucket != nil && !t.Bucket.Of.IsZero() {
				key = append(key, strconv.Itoa(bucket(t.Bucket, w.value(r, t.Bucket.Of))))
			}
			for _, f := range x.Values {
				values = append(values, w.value(r, f))
			}
			if wanted(x.Tree, r) && !slices.Contains(key, null) {
				held[n][strings.Join(key, "|")] = strings.Join(values, "|")
			}
		}
	}
	return held
}

// TestWritesToCollections does what the steps of random writes say to the rows and elements of random tables, and finds the
// tables as they are by definition. A row that is deleted takes its elements along.
func TestWritesToCollections(t *testing.T) {
	met := map[string]int{}
	for seed := range worlds(t, 600) {
		m := newMaker(seed)
		for range 12 {
			q := m.query()
			x := m.table(q)
			x.Indexes, x.ScanAllowed, x.Static = nil, false, nil
			c := m.touch()
			if c == nil || x.Validate() != nil || x.Bucket != nil { // what a bucket is of may be no column
				continue
			}
			content := m.world.hold(x, func(model.Tree, related) bool { return true })
			steps := plan.WriteSteps(c.Write, x)
			if plan.Modifies(c.Write, x) != (len(steps) > 0) {
				t.Fatalf("seed %d: modifies %v, with steps %v", seed, plan.Modifies(c.Write, x), steps)
			}
			rows := m.world.hold(x, func(tree model.Tree, r related) bool {
				return c.replaces(tree, r) || c.Kind != workload.Connect && c.speaks(tree, r, c.before)
			})
			fresh := c.after.hold(x, func(tree model.Tree, r related) bool { return c.speaks(tree, r, c.since) })
			gone := map[*model.Nest]bool{}
			for _, f := range plan.Facets(x) { // also where the estimate is none
				gone[f.Nest] = slices.ContainsFunc(f.Changes(c.Write), func(change plan.Change) bool { return change.Gone != nil })
			}
			for _, s := range steps {
				var n *model.Nest
				if len(s.Nests) > 0 {
					n = s.Nests[0]
				}
				met[fmt.Sprintf("%s %s %v", c.Kind, s.Kind, n != nil)]++
				if s.Kind == plan.Remove {
					gone[n] = true
				}
			}
			for _, n := range append([]*model.Nest{nil}, x.Nests...) {
				if !gone[n] {
					continue
				}
				for k := range rows[n] {
					if _, put := fresh[n][k]; put && c.Kind == workload.Connect { // put alone
						continue
					}
					delete(content[n], k)
					for nest := range content {
						if n == nil && nest != nil {
							maps.DeleteFunc(content[nest], func(element, _ string) bool { return strings.HasPrefix(element, k+"|") })
						}
					}
				}
			}
			for _, s := range steps {
				if s.Kind == plan.Put {
					var n *model.Nest
					if len(s.Nests) > 0 {
						n = s.Nests[0]
					}
					maps.Copy(content[n], fresh[n])
				}
			}
			want := c.after.hold(x, func(model.Tree, related) bool { return true })
			for n := range want {
				if !maps.Equal(content[n], want[n]) {
					t.Fatalf("seed %d: %s of %s %v %v, steps %v\n%s over %s nests %d\n%q\nwant\n%q", seed, c.Kind, c.Entity.Name, c.Set, c.Connections, steps, x, x.Whole().Path(), len(x.Nests), content[n], want[n])
				}
			}
		}
	}
	t.Log(met)
	for _, what := range []string{"UPDATE put true", "DELETE delete true", "INSERT put true", "CONNECT put true", "CONNECT delete false", "CONNECT delete true", "DISCONNECT delete true"} {
		if met[what] == 0 {
			t.Errorf("no write has met: %s", what)
		}
	}
}
