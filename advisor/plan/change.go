package plan

import (
	"cmp"
	"slices"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
)

// Self is the entity of a write, in Named.By; other numbers are those of its connections.
const Self = -1

// Change is one way in which a write meets rows of a table: the statement names some entities of the table's tree, and the
// rest of the rows is found out by queries, asked before the write is applied to any table. What a write changes of a table
// are the rows of all its changes, each row once, as its key tells.
//
//   - An update or delete meets the table at each occurrence of its entity. The parts are asked for each entity that it
//     speaks of, see Find.
//   - An insert adds rows in which the new entity stands at one occurrence or at several at once; in the others stand
//     entities that were there before. Each edge of an occurrence where it stands leads to what it is connected to; where it
//     is not, there are no rows.
//   - CONNECT adds the rows in which the pair stands at one edge or at several at once. The other edges are between
//     entities that were connected before, and still are. It removes the rows in which an end that has one partner at most
//     stands at an edge, with whoever was its partner (Gone). A row that is removed and added is added alone.
//   - DISCONNECT removes the rows in which the pair stands at an edge, whatever stands at the others.
type Change struct {
	// Named are entities of the table's tree that the statement gives the keys of. The same may be named twice, where a
	// relationship leads from an entity to itself: such rows are there only if the keys are the same.
	Named []Named
	// Known is what the statement says of the rows, in all of the table's tree. Where it says two things of one field, there
	// are rows only if they are the same.
	Known []Known
	// Parts are what the queries ask; each by the keys of those of its entities that are named. One answer of each,
	// together with what the statement says, is a row; a part without an answer means that there is none.
	Parts []*workload.Query
	// Not are entities that must not be what they are named by here: a row where one is, is none. Of CONNECT, see excludeOldPairs.
	Not []Named
	// Gone is the edge at which somebody else stands from now on: these rows go. Of CONNECT; nil: rows are added.
	Gone *model.Relationship
	also bool // the pair may stand at fewer edges too: that it stands at so many is as good as never
}

// Named says that an entity of a table's tree is the one of the write (Self), or that of a connection.
type Named struct {
	Entity *model.Entity
	By     int
}

// Is returns what the entity is named by, if it is.
func (c *Change) Is(e *model.Entity) (by int, named bool) {
	for _, n := range c.Named {
		if n.Entity == e {
			return n.By, true
		}
	}
	return 0, false
}

// entitiesNamed returns the entities that are named by one thing.
func (c *Change) entitiesNamed(by int) []*model.Entity {
	var list []*model.Entity
	for _, n := range c.Named {
		if n.By == by {
			list = append(list, n.Entity)
		}
	}
	return list
}

// isNamed reports whether the change names e as that.
func (c *Change) isNamed(e *model.Entity, by int) bool {
	return slices.Contains(c.Named, Named{e, by})
}

// Changes returns the ways in which a write meets a table; none: it does not modify it. Existing tables are written by the
// application, which knows how: their changes have no parts.
func Changes(w *workload.Write, t *model.Table) []Change {
	list := changesWithoutParts(w, t)
	if !t.Existing {
		for i := range list {
			if list[i].Gone != nil {
				list[i].settleGone(w, t)
				continue
			}
			list[i].Known = list[i].knownFields(w, t)
			list[i].Parts = partQueries(w, t, &list[i])
		}
	}
	return list
}

// changesWithoutParts returns changes without their parts.
func changesWithoutParts(w *workload.Write, t *model.Table) []Change {
	var list []Change
	switch w.Kind {
	case workload.Update, workload.Delete:
		for _, at := range Targets(w, t) {
			if modifiesAt(at, t) {
				list = append(list, Change{Named: []Named{{at.Entity, Self}}})
			}
		}
	case workload.Insert:
		if t.Existing && !hasRowEach(t, w.Entity) {
			return nil // it holds the entity because of a relationship
		}
		list = insertChanges(w, t)
	case workload.Connect, workload.Disconnect:
		if w.Kind == workload.Disconnect && t.Base != nil {
			return nil
		}
		list = connectChanges(w, t)
	}
	return list
}

// insertChanges goes over all sets of occurrences in which a new entity can stand, and what it can be connected to there.
func insertChanges(w *workload.Write, t *model.Table) []Change {
	var at []*model.Entity
	for _, e := range t.Tree.Entities {
		if e.Base() == w.Entity.Base() {
			at = append(at, e)
		}
	}
	var list []Change
	for _, chosen := range subsets(at) {
		start := Change{}
		for _, e := range chosen {
			start.Named = append(start.Named, Named{e, Self})
		}
		ways := []Change{start}
		for _, e := range chosen {
			for _, r := range t.Tree.Edges {
				if t.Existing || r.Other(e) == nil {
					continue
				}
				var next []Change
				for _, way := range ways {
					for i, c := range w.Connections {
						if sameDirection(c.Edge, w.Entity, r, e) {
							more := Change{Named: slices.Clone(way.Named)}
							if to := (Named{r.Other(e), i}); !slices.Contains(more.Named, to) {
								more.Named = append(more.Named, to)
							}
							next = append(next, more)
						}
					}
				}
				ways = next
			}
		}
		list = append(list, ways...)
	}
	return list
}

// connectChanges goes over the edges at which the pair of a CONNECT or DISCONNECT can stand, and for CONNECT over sets of them.
func connectChanges(w *workload.Write, t *model.Table) []Change {
	if len(w.Connections) == 0 {
		return nil
	}
	c := w.Connections[0]
	at := pairEdges(w, t.Tree)
	sets := subsets(at)
	if w.Kind == workload.Disconnect || t.Existing {
		sets = nil
		for _, r := range at {
			sets = append(sets, []*model.Relationship{r})
		}
	}
	var list []Change
	var kept [][]*model.Relationship
	for _, chosen := range sets {
		change := Change{also: slices.ContainsFunc(kept, func(less []*model.Relationship) bool { return containsAll(less, chosen) })}
		for _, r := range chosen {
			self, other := r.From, r.To
			if c.Edge.From != w.Entity {
				self, other = other, self
			}
			for _, n := range []Named{{self, Self}, {other, 0}} {
				if !slices.Contains(change.Named, n) {
					change.Named = append(change.Named, n)
				}
			}
		}
		if w.Kind == workload.Disconnect || change.excludeOldPairs(w, t, chosen) {
			list, kept = append(list, change), append(kept, chosen)
		}
	}
	if w.Kind == workload.Connect {
		list = append(list, replacedRows(w, t)...)
	}
	return list
}

// containsAll reports whether all of a list are in another.
func containsAll[T comparable](less, more []T) bool {
	return !slices.ContainsFunc(less, func(x T) bool { return !slices.Contains(more, x) })
}

// sameDirection reports whether an edge of a table leads from e as the edge of a statement leads from its entity.
func sameDirection(stated *model.Relationship, from *model.Entity, r *model.Relationship, e *model.Entity) bool {
	return r.Base() == stated.Base() && (r.From == e) == (stated.From == from)
}

// mostOccurrences bounds how many occurrences at once a new entity or pair is thought to stand at.
const mostOccurrences = 6

// subsets returns all sets of the elements but the empty one: those of one first.
func subsets[T any](list []T) [][]T {
	var sets [][]T
	for size := 1; size <= min(len(list), mostOccurrences); size++ {
		var choose func(from int, chosen []T)
		choose = func(from int, chosen []T) {
			if len(chosen) == size {
				sets = append(sets, slices.Clone(chosen))
				return
			}
			for i := from; i < len(list); i++ {
				choose(i+1, append(chosen, list[i]))
			}
		}
		choose(0, nil)
	}
	return sets
}

// isWritten reports whether the write makes or takes away an edge of a change.
func (c *Change) isWritten(w *workload.Write, r *model.Relationship) bool {
	switch w.Kind {
	case workload.Insert:
		return c.isNamed(r.From, Self) || c.isNamed(r.To, Self)
	case workload.Connect, workload.Disconnect:
		stated := w.Connections[0].Edge
		return sameDirection(stated, w.Entity, r, r.From) && c.isNamed(r.From, Self) && c.isNamed(r.To, 0) ||
			sameDirection(stated, w.Entity, r, r.To) && c.isNamed(r.To, Self) && c.isNamed(r.From, 0)
	}
	return false
}

// partQueries returns the queries of a change: what is left of the table's tree without the edges that the write makes or takes
// away, as far as something is missing there.
func partQueries(w *workload.Write, t *model.Table, c *Change) []*workload.Query {
	var list []*workload.Query
	have := fields{}
	for _, k := range c.Known {
		have.add(k.Field)
	}
	done := map[*model.Entity]bool{}
	order := slices.Clone(c.Named)                                                                    // what is connected first
	slices.SortStableFunc(order, func(a, b Named) int { return cmp.Compare(uint(a.By), uint(b.By)) }) // #nosec G115 -- Self comes last
	for _, n := range order {
		if done[n.Entity] || w.Kind == workload.Insert && c.isNamed(n.Entity, Self) {
			continue
		}
		part := t.Tree.Reach(n.Entity, func(r *model.Relationship, _ *model.Entity) bool { return !c.isWritten(w, r) })
		q := &workload.Query{}
		asked := 0
		for _, e := range part.Entities {
			if _, named := c.Is(e); named {
				done[e] = true
				asked++
				q.Where = append(q.Where, byKey(e)...)
			}
		}
		q.Select = missingFields(w, t, c, part, have)
		if asked > 1 { // whether those are related to each other is a question of its own
			q.Select = model.AppendNew(q.Select, n.Entity.KeyFields()...)
		}
		if len(q.Select) == 0 {
			continue
		}
		if q.Tree = part; w.Kind == workload.Update || w.Kind == workload.Delete || c.Gone != nil {
			entities := []*model.Entity{n.Entity}
			for _, f := range q.Select {
				entities = append(entities, f.Entity)
			}
			q.Tree = rootedAt(part.Span(entities), n.Entity)
		}
		q.Known = knownBesides(have, part, q.Where)
		list = append(list, q)
	}
	return list
}

// missingFields returns the fields of a part of the table's tree that must be found out: those that its rows need and that the
// statement does not bring. Where rows are put, and nothing else reports whether there is something at the end of an edge that
// need not have anything there, that is asked too.
func missingFields(w *workload.Write, t *model.Table, c *Change, part model.Tree, have fields) []model.Field {
	var list []model.Field
	for _, f := range wantedFields(w, t, c) {
		if part.Has(f.Entity) && !have[f] {
			list = model.AppendNew(list, f)
		}
	}
	if w.Kind == workload.Delete || w.Kind == workload.Disconnect || c.Gone != nil {
		return list // deleting what is not there does no harm
	}
	if len(list) > 0 && w.Kind != workload.Update {
		return list // the query is over all of the part
	}
	for _, r := range part.Edges {
		for _, e := range []*model.Entity{r.From, r.To} {
			beyond := part.Reach(r.Other(e), func(x *model.Relationship, _ *model.Entity) bool { return x != r })
			if beyond.Has(c.Named[0].Entity) || exactlyOne(r, e) {
				continue
			}
			if !slices.ContainsFunc(list, func(f model.Field) bool { return beyond.Has(f.Entity) }) {
				list = append(list, presenceField(t, beyond, r.Other(e)))
			}
		}
	}
	return list
}

// presenceField returns a field by which one learns that there is something in a part of a table's tree: one that the table holds,
// if it can be.
func presenceField(t *model.Table, part model.Tree, e *model.Entity) model.Field {
	for _, f := range t.Fields() {
		if part.Has(f.Entity) {
			return f
		}
	}
	return e.KeyFields()[0]
}

// wantedFields returns the fields of the table's rows that the write has to know: for a delete the key, for a put all, for an
// update in place the key and what is added to. A bucket is as much a part of the key as what it is of.
func wantedFields(w *workload.Write, t *model.Table, c *Change) []model.Field {
	list := placeFields(t)
	moving := movesRows(w, t)
	if w.Kind == workload.Insert || w.Kind == workload.Connect && c.Gone == nil || moving {
		list = model.AppendNew(t.Fields(), list...)
	}
	for _, n := range c.Not {
		list = model.AppendNew(list, n.Entity.KeyFields()...)
	}
	if w.Kind != workload.Update {
		return list
	}
	set := c.setFields(w, w.Set)
	if !moving { // a look-up table gets the new key; no other key changes
		list = slices.DeleteFunc(list, func(f model.Field) bool { return slices.Contains(set, f) })
		for _, f := range c.setFields(w, w.Increments) {
			if t.Has(f) {
				list = model.AppendNew(list, f)
			}
		}
		return list
	}
	for _, e := range t.Tree.Entities { // a row may hold the entity at each of them: all get the new values
		if e.Base() == w.Entity.Base() && !c.isNamed(e, Self) {
			list = model.AppendNew(list, e.KeyFields()...)
		}
	}
	return list
}

// setFields returns fields of the write's entity as those of the occurrence at which an update meets the table.
func (c *Change) setFields(w *workload.Write, list []model.Field) []model.Field {
	return atEntity(list, w.Entity, c.Named[0].Entity)
}

// Known is a field of a table's rows that a statement brings the value of, as it is before the statement.
type Known struct {
	Field model.Field
	// Value is what stands in the statement: "?", "?name" or a literal. Empty: the key of an entity that Find has found; of
	// an insert null, as the statement does not set the attribute.
	Value string
	Name  string // of the parameter, if Value is "?"
	// Nth is which of the values of that parameter, where several connections over one relationship share its name.
	Nth int
}

// knownFields returns the fields of the table's tree whose values the statement brings, each once; but the key of an entity that
// is named twice twice.
func (c *Change) knownFields(w *workload.Write, t *model.Table) []Known {
	var list []Known
	met := fields{}
	add := func(k Known) {
		if !met[k.Field] {
			met.add(k.Field)
			list = append(list, k)
		}
	}
	at := func(e *model.Entity, f model.Field) model.Field {
		return model.Field{Entity: e, Attribute: f.Attribute}
	}
	found := Find(w) != nil
	names := workload.Names(w.Where)
	for _, n := range c.Named {
		for _, f := range n.Entity.KeyFields() {
			switch {
			case n.By != Self:
				k := Known{Field: f, Value: "?", Name: workload.ConnectionName(w, n.By, f.Attribute)}
				for _, before := range w.Connections[:n.By] {
					if before.Edge.Role(w.Entity) == w.Connections[n.By].Edge.Role(w.Entity) {
						k.Nth++
					}
				}
				list = append(list, k)
			case w.Kind == workload.Connect || w.Kind == workload.Disconnect:
				list = append(list, Known{Field: f, Value: "?", Name: workload.KeyName(at(w.Entity, f))})
			case found:
				add(Known{Field: f})
			}
		}
		if n.By == Self && w.Kind == workload.Insert {
			for _, a := range n.Entity.Attributes {
				k := Known{Field: model.Field{Entity: n.Entity, Attribute: a}}
				if own := at(w.Entity, k.Field); slices.Contains(w.Set, own) {
					k.Value, k.Name = "?", workload.SetName(own)
				}
				list = append(list, k)
			}
		}
		if n.By == Self && (w.Kind == workload.Update || w.Kind == workload.Delete) {
			for i, p := range w.Where {
				switch f := p.Field; {
				case p.Op != workload.Equal:
				case f.Entity == w.Entity:
					add(Known{Field: at(n.Entity, f), Value: p.Value, Name: names[i]})
				case n.Entity == w.Entity && determinesEntity(w, t.Tree, f.Entity): // else the table's are others
					add(Known{Field: f, Value: p.Value, Name: names[i]})
				}
			}
		}
		for _, f := range w.Given {
			if e := c.givenEntity(w, t, n, f.Entity); e != nil {
				add(Known{Field: at(e, f), Value: "?", Name: workload.GivenName(f)})
			}
		}
	}
	return list
}

// givenEntity returns which entity of the table's tree GIVEN speaks of, as far as that is told by one that is named: that one, or
// what it determines.
func (c *Change) givenEntity(w *workload.Write, t *model.Table, n Named, e *model.Entity) *model.Entity {
	ends := 0
	for i, x := range w.Connections {
		if x.Entity != e {
			continue
		}
		if ends++; n.By == i {
			return n.Entity
		}
	}
	switch {
	case e == w.Entity:
		if n.By == Self {
			return n.Entity
		}
	case ends == 0 && t.Tree.Determined(n.Entity).Has(e):
		return e
	}
	return nil
}

// namedFields returns the fields that an update or delete names the values of.
func namedFields(w *workload.Write) []model.Field {
	var list []model.Field
	for _, p := range w.Where {
		if p.Op == workload.Equal {
			list = append(list, p.Field)
		}
	}
	return list
}

// determinesEntity reports whether the entity of a write has one e at most, in the statement's tree, and the same in another.
func determinesEntity(w *workload.Write, tree model.Tree, e *model.Entity) bool {
	way := w.Tree.Span([]*model.Entity{w.Entity, e})
	for _, r := range way.Edges {
		if !tree.HasEdge(r) {
			return false
		}
	}
	return tree.Has(e) && way.Determined(w.Entity).Has(e)
}

// Find returns the query for the entities that an update or delete speaks of, nil if it names one by its key. What it says
// besides the key by equalities, of the entity or of what that determines, is taken for true, as GIVEN is: an application
// that names all of a table's primary key knows it. Other conditions are to be checked.
func Find(w *workload.Write) *workload.Query {
	if w.Kind != workload.Update && w.Kind != workload.Delete {
		return nil
	}
	facts := namedFields(w)
	named := len(facts) == len(w.Where)
	for _, k := range w.Entity.KeyFields() {
		named = named && slices.Contains(facts, k)
	}
	for _, f := range facts {
		named = named && determinesEntity(w, w.Tree, f.Entity)
	}
	if named {
		return nil
	}
	return &workload.Query{Tree: w.Tree, Select: w.Entity.KeyFields(), Where: w.Where}
}
