package model

import (
	"fmt"
	"math"
	"sort"
	"strings"
)

// RangeSelectivity is the fraction of values that a range condition is taken to let through: nothing is known about
// bounds before a statement runs.
const RangeSelectivity = 0.1

// Tree is a connected, acyclic part of a graph in which each entity occurs once. Trees are not changed once built.
type Tree struct {
	Entities []*Entity
	Edges    []*Relationship
}

// NewTree returns the tree of an entity and edges, in any order. The entity may be nil if there are edges. It is an
// error if they are not connected or close a circle.
func NewTree(e *Entity, edges ...*Relationship) (Tree, error) {
	if e == nil {
		if len(edges) == 0 {
			return Tree{}, fmt.Errorf("a tree needs an entity")
		}
		e = edges[0].From
	}
	t := Tree{Entities: []*Entity{e}}
	left := append([]*Relationship(nil), edges...)
	for len(left) > 0 {
		grown := false
		for i, r := range left {
			from, to := t.Has(r.From), t.Has(r.To)
			if from && to {
				return Tree{}, fmt.Errorf("relationship %s closes a circle over %s and %s: only acyclic query graphs can be modelled", r.Name, r.From.Name, r.To.Name)
			}
			if !from && !to {
				continue
			}
			if from {
				t.Entities = append(t.Entities, r.To)
			} else {
				t.Entities = append(t.Entities, r.From)
			}
			t.Edges = append(t.Edges, r)
			left = append(left[:i], left[i+1:]...)
			grown = true
			break
		}
		if !grown {
			return Tree{}, fmt.Errorf("relationship %s is not connected to %s", left[0].Name, e.Name)
		}
	}
	return t, nil
}

// Has tells whether e is in the tree.
func (t Tree) Has(e *Entity) bool {
	for _, x := range t.Entities {
		if x == e {
			return true
		}
	}
	return false
}

// HasEdge tells whether r is in the tree.
func (t Tree) HasEdge(r *Relationship) bool {
	for _, x := range t.Edges {
		if x == r {
			return true
		}
	}
	return false
}

// Key names the tree by its whole content: equal trees have equal keys.
func (t Tree) Key() string {
	var names []string
	for _, r := range t.Edges {
		names = append(names, r.Name)
	}
	sort.Strings(names)
	entities := make([]string, len(t.Entities))
	for i, e := range t.Entities {
		entities[i] = e.Name
	}
	sort.Strings(entities)
	return strings.Join(entities, ",") + "/" + strings.Join(names, ",")
}

// repeats tells whether the tree holds further occurrences.
func (t Tree) repeats() bool {
	for _, e := range t.Entities {
		if e.Of != nil {
			return true
		}
	}
	return false
}

// Code names the tree and what label says of its entities, whatever numbers their occurrences have: trees that are the same
// but for those have the same code. It is the smallest of the codes of the tree rooted at each entity, where the code of a
// rooted tree is the entity's, and those of the parts that hang on it, sorted (Aho, Hopcroft and Ullman).
func (t Tree) Code(label func(*Entity) string) string {
	var code func(e *Entity, came *Relationship) string
	code = func(e *Entity, came *Relationship) string {
		var parts []string
		for _, r := range t.Edges {
			if to := r.Other(e); r != came && to != nil {
				parts = append(parts, fmt.Sprintf("%s %t %s", r.Base().Name, e == r.From, code(to, r)))
			}
		}
		sort.Strings(parts)
		return "(" + e.Base().Name + label(e) + strings.Join(parts, "") + ")"
	}
	least := ""
	for i, e := range t.Entities {
		if c := code(e, nil); i == 0 || c < least {
			least = c
		}
	}
	return least
}

// Cut takes the edge out and returns the part with its end a, and the other.
func (t Tree) Cut(edge *Relationship, a *Entity) (with, without Tree) {
	with = t.Reach(a, func(r *Relationship, _ *Entity) bool { return r != edge })
	without = t.Reach(edge.Other(a), func(r *Relationship, _ *Entity) bool { return r != edge })
	return with, without
}

// Reach returns the part of the tree that is reached from e over edges that follow allows. follow is given the edge and
// the end it would be left from.
func (t Tree) Reach(e *Entity, follow func(r *Relationship, from *Entity) bool) Tree {
	reached := Tree{Entities: []*Entity{e}}
	for i := 0; i < len(reached.Entities); i++ {
		from := reached.Entities[i]
		for _, r := range t.Edges {
			to := r.Other(from)
			if to == nil || reached.Has(to) || !follow(r, from) {
				continue
			}
			reached.Entities = append(reached.Entities, to)
			reached.Edges = append(reached.Edges, r)
		}
	}
	return reached
}

// Determined returns the part of the tree of which an entity of e determines one each: e and what is reached over to-one
// edges.
func (t Tree) Determined(e *Entity) Tree {
	return t.Reach(e, func(r *Relationship, from *Entity) bool { return r.ToOne(from) })
}

// Union returns the tree of both; they must share an entity and must not make a circle.
func (t Tree) Union(u Tree) (Tree, error) {
	edges := append([]*Relationship(nil), t.Edges...)
	for _, r := range u.Edges {
		if !t.HasEdge(r) {
			edges = append(edges, r)
		}
	}
	var first *Entity
	if len(t.Entities) > 0 {
		first = t.Entities[0]
	} else if len(u.Entities) > 0 {
		first = u.Entities[0]
	}
	whole, err := NewTree(first, edges...)
	if err != nil {
		return Tree{}, err
	}
	for _, e := range u.Entities {
		if !whole.Has(e) {
			return Tree{}, fmt.Errorf("%s is not connected to %s", e.Name, t.Path())
		}
	}
	return whole, nil
}

// Span returns the smallest part of the tree that holds all given entities.
func (t Tree) Span(entities []*Entity) Tree {
	keep := t
	for pruned := true; pruned; {
		pruned = false
		for _, e := range keep.Entities {
			if len(keep.Entities) == 1 || contains(entities, e) || keep.degree(e) > 1 {
				continue
			}
			keep = keep.without(e)
			pruned = true
			break
		}
	}
	return keep
}

func (t Tree) degree(e *Entity) int {
	n := 0
	for _, r := range t.Edges {
		if r.Other(e) != nil {
			n++
		}
	}
	return n
}

func (t Tree) without(e *Entity) Tree {
	var s Tree
	for _, x := range t.Entities {
		if x != e {
			s.Entities = append(s.Entities, x)
		}
	}
	for _, r := range t.Edges {
		if r.Other(e) == nil {
			s.Edges = append(s.Edges, r)
		}
	}
	return s
}

func contains(entities []*Entity, e *Entity) bool {
	for _, x := range entities {
		if x == e {
			return true
		}
	}
	return false
}

// Rows estimates the number of rows of the join over the tree.
func (t Tree) Rows() float64 {
	rows := 1.0
	for _, e := range t.Entities {
		rows *= max(1, e.Count)
	}
	for _, r := range t.Edges {
		rows *= r.Pairs() / (max(1, r.From.Count) * max(1, r.To.Count))
	}
	return rows
}

// present estimates how many rows of a part of the tree have a row in the whole.
func (t Tree) present(part Tree) float64 {
	rows := part.Rows()
	for _, r := range t.Edges {
		if !part.HasEdge(r) {
			for _, e := range part.Entities {
				rows *= t.partnered(e, r)
			}
		}
	}
	return rows
}

// partnered estimates the share of the entities of e that have a row in what hangs on r: 1 if r is none of e's edges.
func (t Tree) partnered(e *Entity, r *Relationship) float64 {
	to := r.Other(e)
	if to == nil {
		return 1
	}
	pairs := r.Pairs()
	for _, next := range t.Edges {
		if next != r {
			pairs *= t.partnered(to, next)
		}
	}
	count := max(1, e.Count)
	if r.ToOne(e) {
		return min(1, pairs/count)
	}
	if r.Reached > 0 && e == r.To && pairs == r.Pairs() {
		return r.among(e) / count
	}
	return Distinct(pairs, r.among(e)) / count
}

// Distinct estimates how many different values are among rows drawn from a domain.
func Distinct(rows, domain float64) float64 {
	if rows <= 1 || domain <= 1 {
		return min(max(rows, 0), max(domain, 1))
	}
	// domain * (1 - (1-1/domain)^rows), so that small fractions keep their digits
	return min(rows, -domain*math.Expm1(rows*math.Log1p(-1/domain)))
}
