package data

import (
	"fmt"
	"math"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
)

// Options say what world is made of a model.
type Options struct {
	Seed uint64
	// Scale multiplies the counts of entities; 0: 1. Numbers of different values and degrees stay as the model has them.
	Scale float64
	// Counts are numbers of entities, by name, that are not scaled (a shop has as many regions however many customers).
	Counts map[string]int
	// Skew is the exponent of the power law (Zipf) by which values that several entities have, and the partners of those that
	// have several, are spread; 0: values evenly, partners exponentially. Where the model has a greatest degree, that says how.
	Skew float64
	// Missing is the share of entities without a partner, over relationships that are optional and have no mean degree; 0: a tenth.
	// A negative one: none.
	Missing float64
	// Workload, if there is one, is whose literals are among the values of the attributes that they are compared with.
	Workload *workload.Workload
}

// World is the data of a model. It is not changed once made, and may be used by many at once.
type World struct {
	graph     *model.Graph
	options   Options
	entities  map[*model.Entity]*entity
	relations map[*model.Relationship]relation
	literals  map[*model.Attribute][]any
}

// entity is what there is of one.
type entity struct {
	*model.Entity
	seed    uint64
	count   uint64
	columns map[*model.Attribute]*column
}

// ModelError tells of a part of a model that no world can be made of.
type ModelError struct {
	What   string // entity, attribute or relationship
	Reason string
}

func (e *ModelError) Error() string {
	return fmt.Sprintf("no data can be made for %s: %s", e.What, e.Reason)
}

// New makes the world of a model. The error is a *ModelError.
func New(g *model.Graph, o Options) (*World, error) {
	if o.Scale == 0 {
		o.Scale = 1
	}
	if o.Missing == 0 {
		o.Missing = 0.1
	}
	o.Missing = max(0, o.Missing)
	if !(o.Scale > 0 && o.Scale <= 1e9) || !(o.Skew >= 0 && o.Skew <= 20) || !(o.Missing <= 1) {
		return nil, fmt.Errorf("data: scale %g, skew %g or missing %g can not be", o.Scale, o.Skew, o.Missing)
	}
	w := &World{graph: g, options: o, entities: map[*model.Entity]*entity{}, relations: map[*model.Relationship]relation{}}
	var err error
	if w.literals, err = literals(o.Workload); err != nil {
		return nil, err
	}
	for _, e := range g.Entities {
		count := math.Max(1, math.Round(e.Count*o.Scale))
		if n, ok := o.Counts[e.Name]; ok {
			count = math.Max(1, float64(n))
		}
		if count > 1<<48 {
			return nil, &ModelError{"entity " + e.Name, fmt.Sprintf("%g of them are too many", count)}
		}
		w.entities[e] = &entity{Entity: e, seed: hash(o.Seed, "entity "+e.Name), count: uint64(count), columns: map[*model.Attribute]*column{}}
	}
	k := &keys{World: w, done: map[*model.Entity]bool{}}
	for _, e := range g.Entities {
		if err := k.settle(e, nil); err != nil {
			return nil, err
		}
	}
	for _, r := range g.Relationships {
		if w.relations[r] == nil {
			w.relations[r] = w.relate(r, false)
		}
	}
	if err := k.plan(); err != nil {
		return nil, err
	}
	return w, nil
}

// Graph is the model.
func (w *World) Graph() *model.Graph { return w.graph }

// Count is the number of entities, of an occurrence those of the entity.
func (w *World) Count(e *model.Entity) int { return int(w.entities[e.Base()].count) }

// relate makes a relationship; total: every entity of the many side has a partner.
func (w *World) relate(r *model.Relationship, total bool) relation {
	seed := hash(w.options.Seed, "relationship "+r.Name)
	from, to := w.entities[r.From].count, w.entities[r.To].count
	pairs := func(sides uint64) uint64 {
		n := float64(sides)
		switch {
		case r.Degree > 0:
			n = float64(from) * r.Degree
		case r.Optional && r.Kind != model.ManyToMany:
			n *= 1 - w.options.Missing
		}
		return uint64(math.Round(n))
	}
	if r.Kind == model.ManyToMany {
		n := min(max(1, pairs(max(from, to))), from*to)
		return newMesh(seed, w.spread(mix(seed, 3), n, from, r.Most), w.spread(mix(seed, 4), n, to, r.MostBack))
	}
	t := &tree{up: true}
	children, parents, most := from, to, r.MostBack
	if r.Kind == model.OneToMany {
		t.up, children, parents, most = false, to, from, r.Most
	}
	n := children
	if r.Kind == model.OneToOne {
		n = min(from, to)
	}
	if !total && r.Optional {
		n = min(n, pairs(n))
	}
	t.spread = spread{slots: n, bins: parents, form: single}
	if r.Kind != model.OneToOne {
		t.spread = w.spread(mix(seed, 3), n, parents, most)
	}
	t.children, t.parents = newPermutation(mix(seed, 1), children), newPermutation(mix(seed, 2), parents)
	return t
}

// spread is that of pairs over one side, of which the greatest degree may be known.
func (w *World) spread(seed, slots, bins uint64, most float64) spread {
	switch {
	case most > 0:
		return newFalling(slots, bins, most)
	case w.options.Skew > 0:
		return newPower(slots, bins, w.options.Skew)
	}
	return spread{slots: slots, bins: bins, form: uneven, seed: seed}
}

// Value is the value of an attribute of entity number i, nil if it has none. Numbers from Count on are those of entities that
// are not there, but could be: what is a key is theirs alone.
func (w *World) Value(e *model.Entity, i int, a *model.Attribute) any {
	return w.entities[e.Base()].columns[a].value(uint64(i))
}

// Values is Value for one field, found once.
func (w *World) Values(f model.Field) func(i int) any {
	c := w.entities[f.Entity.Base()].columns[f.Attribute]
	return func(i int) any { return c.value(uint64(i)) }
}

// Sample is one of the values that a field has: n tells them apart, modulo their number.
func (w *World) Sample(f model.Field, n uint64) any {
	return w.entities[f.Entity.Base()].columns[f.Attribute].sample(n)
}

// Distinct is how many different values a field has, without null, where nothing is missing.
func (w *World) Distinct(f model.Field) int {
	return int(w.entities[f.Entity.Base()].columns[f.Attribute].different())
}
