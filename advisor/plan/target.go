package plan

import (
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
)

// Targets returns a write as each occurrence of its entity in a table's tree sees it: with the occurrence in the entity's
// place, and connections over the edges that the occurrence has there. A table of comments with author and receiver is
// written for a user once as the one, once as the other. The tree that the statement asks over stays. Where an entity
// occurs once, that is the write itself. None: the table does not hold the entity.
func Targets(w *workload.Write, t *model.Table) []*workload.Write {
	var list []*workload.Write
	for _, e := range t.Tree.Entities {
		if e.Base() == w.Entity.Base() {
			list = append(list, perConnection(atOccurrence(w, t, e))...)
		}
	}
	return list
}

// perConnection returns a CONNECT or DISCONNECT once for each of the edges that its relationship is in a tree which has it more than
// once: what is connected over one of them meets all that is over the others.
func perConnection(w *workload.Write) []*workload.Write {
	if len(w.Connections) < 2 || w.Kind != workload.Connect && w.Kind != workload.Disconnect {
		return []*workload.Write{w}
	}
	var list []*workload.Write
	for i := range w.Connections {
		one := *w
		one.Connections = w.Connections[i : i+1]
		list = append(list, &one)
	}
	return list
}

// atOccurrence is the write with e, an occurrence of its entity, in that one's place.
func atOccurrence(w *workload.Write, t *model.Table, e *model.Entity) *workload.Write {
	var connections []workload.Connection
	same := e == w.Entity
	for _, c := range w.Connections {
		found := false
		for _, r := range t.Tree.Edges {
			other := r.Other(e)
			if other == nil || !sameDirection(c.Edge, w.Entity, r, e) {
				continue
			}
			found = true
			same = same && r == c.Edge && other == c.Entity
			connections = append(connections, workload.Connection{Edge: r, Entity: other})
		}
		if !found {
			connections = append(connections, c)
		}
	}
	if same {
		return w
	}
	at := *w
	at.Entity, at.Connections = e, connections
	at.Where = nil
	for _, p := range w.Where {
		switch {
		case p.Field.Entity == w.Entity:
			p.Field.Entity = e
		case p.Field.Entity.Base() == w.Entity.Base(): // another one of the statement's tree
			continue
		}
		at.Where = append(at.Where, p)
	}
	at.Set, at.Increments, at.Given = atEntity(w.Set, w.Entity, e), atEntity(w.Increments, w.Entity, e), atEntity(w.Given, w.Entity, e)
	return &at
}

// atEntity returns fields with those of one occurrence as those of another.
func atEntity(fields []model.Field, from, to *model.Entity) []model.Field {
	var list []model.Field
	for _, f := range fields {
		if f.Entity == from {
			f.Entity = to
		}
		list = append(list, f)
	}
	return list
}
