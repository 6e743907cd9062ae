package model

import (
	"fmt"
	"sync"
)

// occurrences are the entities and relationships that trees hold besides the graph's own, where they meet an entity more
// than once: a comment's author and its receiver are two occurrences of User, an employee and the manager two of
// Employee. To all algorithms an occurrence is an entity like any other, with the counts, keys and attributes of the
// first; only who reads or writes data asks which entity set it is one of (Entity.Base).
type occurrences struct {
	mu    sync.Mutex
	ends  map[occurrence]*Entity
	edges map[between]*Relationship
}

type occurrence struct {
	of  *Entity
	nth int
}

type between struct {
	of       *Relationship
	from, to *Entity
}

// Base returns the entity of the graph that e is an occurrence of: e itself mostly.
func (e *Entity) Base() *Entity {
	if e.Of != nil {
		return e.Of
	}
	return e
}

// Base returns the relationship of the graph that r is an occurrence of.
func (r *Relationship) Base() *Relationship {
	if r.Of != nil {
		return r.Of
	}
	return r
}

// Occurrence returns the nth occurrence of an entity, from 1, which is the entity itself; the same pointer each time. The
// name of a further one is that of the entity and its number: User#2.
func (g *Graph) Occurrence(e *Entity, nth int) *Entity {
	e = e.Base()
	if nth <= 1 {
		return e
	}
	g.further.mu.Lock()
	defer g.further.mu.Unlock()
	key := occurrence{e, nth}
	if g.further.ends[key] == nil {
		if g.further.ends == nil {
			g.further.ends = map[occurrence]*Entity{}
		}
		further := *e
		further.Of, further.Nth, further.Name = e, nth, fmt.Sprintf("%s#%d", e.Name, nth)
		g.further.ends[key] = &further
	}
	return g.further.ends[key]
}

// Between returns the occurrence of a relationship between occurrences of its ends, the same pointer each time: r itself
// if they are the entities themselves, unless r leads from an entity to itself.
func (g *Graph) Between(r *Relationship, from, to *Entity) *Relationship {
	r = r.Base()
	if from == r.From && to == r.To && from != to {
		return r
	}
	g.further.mu.Lock()
	defer g.further.mu.Unlock()
	key := between{r, from, to}
	if g.further.edges[key] == nil {
		if g.further.edges == nil {
			g.further.edges = map[between]*Relationship{}
		}
		further := *r
		further.Of, further.From, further.To = r, from, to
		further.Name = fmt.Sprintf("%s(%s,%s)", r.Name, from.Name, to.Name)
		g.further.edges[key] = &further
	}
	return g.further.edges[key]
}
