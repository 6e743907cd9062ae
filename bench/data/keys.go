package data

import (
	"fmt"
	"slices"

	"github.com/helenus-db/helenus/advisor/model"
)

// column computes an attribute: which of its different values a number has, then the value.
type column struct {
	entity  *entity
	seed    uint64
	null    uint64 // a hash below this has no value
	of      uint64 // how many different values
	most    uint64 // how many its type has
	make    func(uint64) any
	numbers from
	// counted: the number, or the rank among the parent's children, divided by each, modulo of if it wraps
	each   uint64
	wraps  bool
	owner  *tree
	offset bool // ranks begin elsewhere for each parent
	// drawn
	spread spread
	order  permutation
	// copied
	relation relation
	forward  bool
	source   *column
}

// from says where the number of a value comes from.
type from byte

const (
	undecided from = iota
	counted        // the number of the entity
	ranked         // the rank among the owner's
	drawn          // a spread
	copied         // another's attribute
)

func (c *column) value(i uint64) any {
	if c.null > 0 && mix(c.seed, i)>>1 < c.null {
		return nil
	}
	switch c.numbers {
	case copied:
		if i < c.entity.count && c.relation.degree(c.forward, i) > 0 {
			return c.source.value(c.relation.partner(c.forward, i, 0))
		}
		return nil
	case ranked:
		if i >= c.entity.count {
			return c.make(c.of + i)
		}
		n := c.owner.rank(i) / c.each
		if c.wraps || c.offset {
			if c.offset {
				n += mix(c.seed, c.owner.spread.bin(c.owner.children.at(i))) % c.of
			}
			n %= c.of
		}
		return c.make(n)
	case counted:
		n := i / c.each
		if c.wraps {
			n %= c.of
		}
		return c.make(n)
	}
	if i >= c.entity.count {
		return c.sample(mix(c.seed, ^i))
	}
	return c.make(c.spread.bin(c.order.at(i)))
}

func (c *column) sample(n uint64) any {
	if c.numbers == copied {
		return c.source.sample(n)
	}
	return c.make(n % c.of)
}

func (c *column) different() uint64 {
	if c.numbers == copied {
		return c.source.different()
	}
	return c.of
}

// keys plans columns so that keys are unique.
type keys struct {
	*World
	done map[*model.Entity]bool
}

// covers are the relationships by which a key holds the whole key of another entity, in the order of the key.
func covers(key []*model.Attribute) []*model.Relationship {
	var edges []*model.Relationship
	for _, a := range key {
		if a.Copied == nil || slices.Contains(edges, a.Copied.Edge) {
			continue
		}
		whole := true
		for _, k := range owner(a.Copied).Key {
			whole = whole && slices.ContainsFunc(key, func(b *model.Attribute) bool {
				return b.Copied != nil && b.Copied.Edge == a.Copied.Edge && b.Copied.Of == k
			})
		}
		if whole {
			edges = append(edges, a.Copied.Edge)
		}
	}
	return edges
}

// owner is whom a copy is of.
func owner(c *model.Copy) *model.Entity {
	if slices.Contains(c.Edge.To.Attributes, c.Of) {
		return c.Edge.To
	}
	return c.Edge.From
}

func own(key []*model.Attribute) []*model.Attribute {
	return slices.DeleteFunc(slices.Clone(key), func(a *model.Attribute) bool { return a.Copied != nil })
}

// settle makes the relationships that keys depend on, and as many entities as their keys allow; owners first.
func (k *keys) settle(e *model.Entity, within []*model.Entity) error {
	if k.done[e] {
		return nil
	}
	if slices.Contains(within, e) {
		return &ModelError{"entity " + e.Name, "its key is a copy of its own"}
	}
	edges := covers(e.Key)
	for _, r := range edges {
		if err := k.settle(end(r, e), append(within, e)); err != nil {
			return err
		}
	}
	k.done[e] = true
	x := k.entities[e]
	for _, r := range edges {
		if toOne(r, e) != (r.From == e) && r.From != r.To || r.Kind == model.ManyToMany {
			return &ModelError{"entity " + e.Name, fmt.Sprintf("its key is a copy by way of %s, which is %s", r.Name, r.Kind)}
		}
	}
	switch {
	case len(own(e.Key)) > 0:
		for _, r := range edges {
			k.relations[r] = k.relate(r, true)
		}
	case len(edges) == 1:
		x.count = min(x.count, k.entities[end(edges[0], e)].count)
		n := x.count
		t := &tree{up: edges[0].From == e, spread: spread{slots: n, bins: k.entities[end(edges[0], e)].count, form: single}}
		t.children, t.parents = newPermutation(mix(x.seed, 1), n), newPermutation(mix(x.seed, 2), t.spread.bins)
		k.relations[edges[0]] = t
	case len(edges) == 2:
		a, b := k.entities[end(edges[0], e)].count, k.entities[end(edges[1], e)].count
		if a < x.count/b+1 {
			x.count = min(x.count, a*b)
		}
		most := func(r *model.Relationship) float64 {
			if r.From == e {
				return r.MostBack
			}
			return r.Most
		}
		m := newMesh(x.seed, k.spread(mix(x.seed, 3), x.count, a, most(edges[0])), k.spread(mix(x.seed, 4), x.count, b, most(edges[1])))
		numbers := newPermutation(mix(x.seed, 5), x.count)
		for i, r := range edges {
			k.relations[r] = &leg{mesh: m, numbers: numbers, second: i == 1, up: r.From == e}
		}
	case len(edges) > 2:
		return &ModelError{"entity " + e.Name, "its key is made of more than two others' and nothing else"}
	}
	return nil
}

// end is where r leads to from e.
func end(r *model.Relationship, e *model.Entity) *model.Entity {
	if r.From == e {
		return r.To
	}
	return r.From
}

// toOne tells whether the direction in which one has one partner at most is forward; of 1:1, from e.
func toOne(r *model.Relationship, e *model.Entity) bool {
	return r.Kind == model.ManyToOne || r.Kind == model.OneToOne && r.From == e
}

// plan decides where the values of all entities come from.
func (k *keys) plan() error {
	for _, e := range k.graph.Entities {
		x := k.entities[e]
		for _, a := range e.Attributes {
			c, err := k.column(x, a)
			if err != nil {
				return err
			}
			x.columns[a] = c
		}
	}
	for _, e := range k.graph.Entities {
		for _, a := range e.Attributes {
			if a.Copied != nil {
				c := k.entities[e].columns[a]
				c.numbers, c.null = copied, 0
				c.relation, c.forward = k.relations[a.Copied.Edge], toOne(a.Copied.Edge, e)
				c.source = k.entities[owner(a.Copied)].columns[a.Copied.Of]
			}
		}
	}
	for _, e := range k.graph.Entities {
		x := k.entities[e]
		if err := k.key(x); err != nil {
			return err
		}
		for _, a := range e.Attributes {
			c := x.columns[a]
			for at, steps := c, 0; at.numbers == copied; at, steps = at.source, steps+1 {
				if steps > len(k.graph.Entities) {
					return &ModelError{"attribute " + e.Name + "." + a.Name, "it is a copy of itself"}
				}
			}
			if c.numbers == undecided {
				k.draw(c)
			}
		}
	}
	return nil
}

// key has the values of keys counted.
func (k *keys) key(x *entity) error {
	for _, a := range x.Key {
		x.columns[a].null = 0
	}
	edges, mine := covers(x.Key), own(x.Key)
	switch {
	case len(mine) == 0:
	case len(edges) == 1:
		t := k.relations[edges[0]].(*tree)
		if slices.ContainsFunc(mine, func(a *model.Attribute) bool { return x.columns[a].of >= x.count }) {
			if err := k.count(x, mine, x.count, nil); err != nil {
				return err
			}
		} else if err := k.count(x, mine, t.spread.most(), t); err != nil {
			return err
		}
	default:
		if err := k.count(x, mine, x.count, nil); err != nil {
			return err
		}
	}
	for _, key := range x.Alternate {
		if slices.ContainsFunc(key, func(a *model.Attribute) bool {
			c := x.columns[a]
			return c.numbers == counted && c.each == 1 && !c.wraps
		}) {
			continue
		}
		free := slices.DeleteFunc(slices.Clone(key), func(a *model.Attribute) bool { return x.columns[a].numbers != undecided })
		if len(free) == 0 {
			return &ModelError{"entity " + x.Name, "an alternate key has only attributes of other keys, or copies"}
		}
		if err := k.count(x, free, x.count, nil); err != nil {
			return err
		}
	}
	return nil
}

// count makes attributes tell so many numbers apart: one alone, if one has enough values, else as the digits of the number. The
// last of the digits does not wrap.
func (k *keys) count(x *entity, list []*model.Attribute, size uint64, owner *tree) error {
	set := func(c *column, each uint64) {
		c.numbers, c.each, c.wraps, c.owner = counted, each, false, owner
		if owner != nil {
			c.numbers = ranked
		}
	}
	last := list[0]
	for _, a := range list {
		if c := x.columns[a]; c.of >= size {
			if set(c, 1); owner != nil {
				c.offset = true
			}
			return nil
		}
		if x.columns[a].most > x.columns[last].most {
			last = a
		}
	}
	each := uint64(1)
	for _, a := range list {
		if c := x.columns[a]; a != last && each < size {
			set(c, each)
			c.wraps, each = true, each*c.of
		}
	}
	c := x.columns[last]
	set(c, each)
	c.of = (size-1)/each + 1
	if c.of > c.most {
		return &ModelError{"entity " + x.Name, fmt.Sprintf("a key does not tell %d of them apart: %s is %s", size, last.Name, last.Type)}
	}
	return nil
}

// draw spreads values over the entities.
func (k *keys) draw(c *column) {
	c.numbers = drawn
	c.order = newPermutation(mix(c.seed, 1), c.entity.count)
	c.spread = spread{slots: c.entity.count, bins: c.of}
	if c.of < c.entity.count {
		c.spread = newPower(c.entity.count, c.of, k.options.Skew)
	}
}
