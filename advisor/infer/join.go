package infer

import (
	"fmt"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
)

// crossProduct is why two lists below one entity are no path: together they would be all pairs of their rows.
const crossProduct = "a second list below the same entity: together they would be a cross product"

// join unifies a consumer's query with the path, or says why that can not be done. What the consumer asks for by the value that is fed is the
// occurrence of the entity that delivered it; from there on its entities are those of the path as far as one determines the other, and
// occurrences of their own elsewhere: the sender of a message and its recipient are two people.
func (p *path) join(s *said, e *edge) string {
	q := s.query
	main := e.feeds[0]
	bound := s.source.fields[main.To.Column]
	producer := p.names[e.from]
	at := producer[p.delivered(e, main.From.Column)]
	if at == nil || !p.asked.tree.Has(at) {
		return fmt.Sprintf("the path does not lead over %s", bound.Entity.Base().Name)
	}
	if s.source.schema.Counter || p.parts[0].said.source.schema.Counter {
		return "counters can not be copied to another table"
	}
	fed := map[model.Field]bool{bound: true}
	for i := range e.feeds {
		if e.composite {
			fed[s.source.fields[e.feeds[i].To.Column]] = true
		}
	}
	for _, c := range e.asked {
		fed[s.source.fields[c]] = true
	}
	if bound.Entity == s.source.entity && bound.IsKey() { // what else is bound of the primary key says where the row is, and chooses none
		for _, c := range q.where {
			if column := s.source.schema.Column(c.column); column != nil && column.Position >= 0 && c.Op == workload.Equal && !c.list {
				fed[c.Field] = true
			}
		}
	}
	many := len(q.tree.Determined(bound.Entity).Entities) < len(q.tree.Entities)
	if many && p.many[at] { // before its LIMIT is looked at: in a path of its own it is the only one
		return crossProduct
	}
	if reason := p.cuts(q, fed, many); reason != "" {
		return reason
	}
	ren, edges := p.rename(q.tree, bound.Entity, at)
	tree, err := p.asked.tree.Union(model.Tree{Entities: []*model.Entity{at}, Edges: edges})
	if err != nil {
		return err.Error()
	}
	where := append([]condition(nil), p.asked.where...)
	for _, c := range q.where {
		if fed[c.Field] && c.Op == workload.Equal {
			continue
		}
		if c.list {
			return "it also asks for a list of values (IN)"
		}
		c.Field = ren.field(c.Field)
		known := false
		for _, w := range where {
			known = known || w.Field == c.Field && w.Op == c.Op
		}
		if !known {
			where = append(where, c)
		}
	}
	next := p.asked
	next.tree, next.where, next.returned = tree, where, 0
	next.inOrder = p.asked.inOrder && (!many || q.inOrder)
	next.selected = append([]model.Field(nil), p.asked.selected...)
	for _, f := range q.selected {
		next.selected = append(next.selected, ren.field(f))
	}
	next.selected = unique(next.selected)
	if many && next.inOrder { // within a row of the producer, the consumer's come in their order
		next.order = append([]workload.Order(nil), p.asked.order...)
		for _, o := range q.lies {
			next.order = append(next.order, workload.Order{Field: ren.field(o.Field), Desc: o.Desc})
		}
	}
	if q.limited && many {
		next.perLimit, next.per = max(1, q.limit), []model.Field{{Entity: at, Attribute: bound.Attribute}}
		next.selected = unique(append(next.selected, next.per...))
	}
	p.asked = next
	p.names[e.to] = ren
	p.last = ren[s.source.entity]
	if many {
		p.many[at] = true
	}
	return ""
}

// delivered is the entity, as the producer calls it, whose key a column of its answers is.
func (p *path) delivered(e *edge, column string) *model.Entity {
	for _, x := range p.parts {
		if x.said.statement.Fingerprint == e.feeds[0].From.Fingerprint {
			return x.said.source.fields[column].Entity
		}
	}
	return nil
}

// rename finds which entities of the path those of a tree are, of which one is given, and the edges between them.
func (p *path) rename(tree model.Tree, from, at *model.Entity) (renaming, []*model.Relationship) {
	ren := renaming{from: at}
	taken := map[*model.Entity]bool{at: true}
	var edges []*model.Relationship
	for list := []*model.Entity{from}; len(list) > 0; list = list[1:] {
		u := list[0]
		for _, r := range tree.Edges {
			x := r.Other(u)
			if x == nil || ren[x] != nil {
				continue
			}
			y := p.partner(r, u, ren[u])
			for n := 1; y == nil || taken[y]; n++ {
				if free := p.graph.Occurrence(x, n); !p.asked.tree.Has(free) && !taken[free] {
					y = free
				}
			}
			ren[x], taken[y] = y, true
			list = append(list, x)
			if r.From == u {
				edges = append(edges, p.graph.Between(r, ren[u], y))
			} else {
				edges = append(edges, p.graph.Between(r, y, ren[u]))
			}
		}
	}
	return ren, edges
}

// partner is the entity of the path that an entity of it determines over an edge, nil if the path does not lead there.
func (p *path) partner(r *model.Relationship, u, at *model.Entity) *model.Entity {
	if !r.ToOne(u) {
		return nil
	}
	for _, x := range p.asked.tree.Edges {
		if x.Base() == r.Base() && (r.From == u && x.From == at || r.To == u && x.To == at) {
			return x.Other(at)
		}
	}
	return nil
}

// cuts says why a join would not leave out the rows that the statements leave out, "" if it does. A LIMIT of the producer is one of the join
// if each of its rows is one there, in the same order; one of the consumer is one for each row of its producer, and a join has such a limit once.
func (p *path) cuts(q *asked, fed map[model.Field]bool, many bool) string {
	more := false
	for _, c := range q.where {
		more = more || !fed[c.Field]
	}
	switch {
	case p.asked.each || q.each:
		return "PER PARTITION LIMIT: a join has no such limit"
	case q.limited && many && (!q.inOrder || !p.asked.inOrder):
		return "its LIMIT keeps the first rows for each row of its producer, in an order that a table of the join would not have"
	case p.asked.perLimit > 0 && (many || more):
		return "a LIMIT for each row counts rows, and a join below it has more or fewer"
	case p.asked.limited && (many || more):
		return "its producer's LIMIT counts rows of the producer, and a join has more or fewer"
	case p.asked.limited && !p.asked.inOrder:
		return "its producer's LIMIT keeps the first rows in an order that a table of the join would not have"
	}
	return ""
}
