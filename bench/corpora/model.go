package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// entity is an entity of a gold model with its instances, which are numbers. One whose key is two relationships and that has
// nothing else is no entity but an m:n relationship, kept like one: pairs.
type entity struct {
	name       string
	count      int
	key        []string // attributes and relationships
	attributes []*attribute
	edges      []*relation
	pairs      bool
}

type attribute struct {
	name     string
	cqlType  string
	distinct int       // different values; 0: as many as there are instances
	of       []*entity // it holds a key of one of these: of which, another attribute says
	within   string    // it numbers what a partner has: the lines of an order
	beginsAt int       // the number of the first one's, of integers
	cut      string    // it is another attribute, cut to pieces of so many: the day of a time
}

// relation is a relationship n:1 that an entity has.
type relation struct {
	name     string // role of to
	back     string // role of of, as seen from to
	of, to   *entity
	within   string  // relation of both ends that has the same partner for both: a tenant; "ticket.tenant", the ticket's
	target   []int   // by instance of of
	inverse  [][]int // by instance of to
	optional float64 // share of instances without a partner
}

// world is a gold model with its data.
type world struct {
	entities []*entity
	random   *rand.Rand
}

// newWorld reads a model, a line for each entity:
//
//	Name count member ...
//	member = [*]attribute:type[+first][<attribute][/distinct][@role][=Entity|Entity] | [*]role->Entity.back[@within][?share without]
//
// with * for what the key is made of, and draws whom each instance is related to: partners are as popular as Zipf's law with
// exponent 0.8 says.
func newWorld(text string, seed uint64) *world {
	w := &world{random: rand.New(rand.NewPCG(seed, 31))} // #nosec G404 -- the same seed, the same data
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for _, line := range lines {
		f := strings.Fields(line)
		n, err := strconv.Atoi(f[1])
		if err != nil {
			panic(fmt.Sprintf("corpora: %q: %v", line, err)) // a mistake in a corpus
		}
		w.entities = append(w.entities, &entity{name: f[0], count: n})
	}
	for i, line := range lines {
		for _, m := range strings.Fields(line)[2:] {
			w.member(w.entities[i], m)
		}
	}
	for _, e := range w.entities {
		e.pairs = len(e.attributes) == 0 && len(e.edges) == 2 && len(e.key) == 2
		for _, r := range e.edges {
			w.draw(r)
		}
	}
	return w
}

func (w *world) member(e *entity, text string) {
	text, key := strings.CutPrefix(text, "*")
	name, to, isRelation := strings.Cut(text, "->")
	if isRelation {
		to, share, _ := strings.Cut(to, "?")
		to, within, _ := strings.Cut(to, "@")
		target, back, _ := strings.Cut(to, ".")
		r := &relation{name: name, back: back, of: e, to: w.entity(target), within: within}
		r.optional, _ = strconv.ParseFloat(share, 64)
		e.edges = append(e.edges, r)
	} else {
		var kind string
		name, kind, _ = strings.Cut(text, ":")
		kind, of, anyOf := strings.Cut(kind, "=")
		kind, within, _ := strings.Cut(kind, "@")
		kind, distinct, _ := strings.Cut(kind, "/")
		kind, cut, _ := strings.Cut(kind, "<")
		kind, first, _ := strings.Cut(kind, "+")
		a := &attribute{name: name, cqlType: kind, within: within, cut: cut}
		a.beginsAt, _ = strconv.Atoi(first)
		for o := range strings.SplitSeq(of, "|") {
			if anyOf {
				a.of = append(a.of, w.entity(o))
			}
		}
		a.distinct, _ = strconv.Atoi(distinct)
		e.attributes = append(e.attributes, a)
	}
	if key {
		e.key = append(e.key, name)
	}
}

func (w *world) entity(name string) *entity {
	for _, e := range w.entities {
		if e.name == name {
			return e
		}
	}
	panic("corpora: no entity " + name) // a mistake in a corpus
}

// draw relates instances. Pairs are different ones.
func (w *world) draw(r *relation) {
	n := r.to.count
	order := w.random.Perm(n)
	r.target, r.inverse = make([]int, r.of.count), make([][]int, n)
	seen := map[[2]int]bool{}
	for i := range r.target {
		if w.random.Float64() < r.optional {
			r.target[i] = -1
			continue
		}
		for range 50 {
			t := order[zipf(w.random, n, 0.8)]
			if r.within != "" {
				list := r.among(i)
				if len(list) == 0 {
					list = order
				}
				t = list[zipf(w.random, len(list), 0.8)]
			}
			r.target[i] = t
			if len(r.of.key) != 2 || len(r.of.edges) < 2 || r != r.of.edges[1] || r.of.edge(r.of.key[1]) != r {
				break
			}
			if pair := [2]int{r.of.edges[0].target[i], t}; !seen[pair] {
				seen[pair] = true
				break
			}
		}
		r.inverse[r.target[i]] = append(r.inverse[r.target[i]], i)
	}
}

// among lists those that have the partner within which an instance is related.
func (r *relation) among(i int) []int {
	of, path := r.of, strings.Split(r.within, ".")
	for _, name := range path[:len(path)-1] {
		i, of = of.edge(name).target[i], of.edge(name).to
	}
	return r.to.edge(path[len(path)-1]).inverse[of.edge(path[len(path)-1]).target[i]]
}

// zipf draws a rank of n by Zipf's law: the inverse of the continuous distribution.
func zipf(random *rand.Rand, n int, exponent float64) int {
	u := random.Float64()
	a := 1 - exponent
	x := math.Pow(u*(math.Pow(float64(n)+1, a)-1)+1, 1/a)
	return min(max(int(x)-1, 0), n-1)
}

func (e *entity) edge(name string) *relation {
	for _, r := range e.edges {
		if r.name == name {
			return r
		}
	}
	return nil
}

func (e *entity) attribute(name string) *attribute {
	for _, a := range e.attributes {
		if a.name == name {
			return a
		}
	}
	return nil
}

// backwards is the relation that leads to e under a role.
func (w *world) backwards(e *entity, role string) *relation {
	for _, o := range w.entities {
		for _, r := range o.edges {
			if r.to == e && r.back == role {
				return r
			}
		}
	}
	panic("corpora: no role " + role + " of " + e.name) // a mistake in a corpus
}

// datum is a value: that of an attribute of an instance, as often as it has different ones.
type datum struct {
	of   *entity
	at   *attribute
	n    int
	form string   // as column.form
	more *[]datum // of a collection: what else is in it
}

// keys are the paths to all parts of an entity's key: those of a partner's, too.
func (e *entity) keys() (out []string) {
	for _, k := range e.key {
		r := e.edge(k)
		if r == nil || len(r.to.key) == 1 {
			out = append(out, k)
			continue
		}
		for _, part := range r.to.keys() {
			out = append(out, k+"."+part)
		}
	}
	return out
}

// whole is the form of a text with all parts of a partner's key, joined.
const whole = "whole"

// held is what a column of an entity's table has of an instance.
func (e *entity) held(i int, c column) (datum, bool) {
	v, ok := e.value(i, c.path)
	if c.form == whole && ok {
		r := e.edge(c.path)
		v = datum{of: r.to, at: &attribute{name: "key", cqlType: "text"}, n: r.target[i]}
	}
	return made(v, c.form), ok
}

// value follows a path from an instance: attribute, role (the partner's key) or role.attribute. false: there is none.
func (e *entity) value(i int, path string) (datum, bool) {
	first, rest, more := strings.Cut(path, ".")
	if r := e.edge(first); r != nil {
		if i >= len(r.target) || r.target[i] < 0 {
			return datum{}, false
		}
		if !more {
			rest = r.to.key[0]
		}
		return r.to.value(r.target[i], rest)
	}
	a := e.attribute(first)
	if a == nil {
		panic("corpora: no path " + path + " from " + e.name) // a mistake in a corpus
	}
	if a.cut != "" {
		v, ok := e.value(i, a.cut)
		return datum{of: e, at: a, n: v.n / a.distinct}, ok
	}
	if a.distinct > 0 {
		x := uint64(i)*0x9E3779B97F4A7C15 + uint64(len(a.name))<<7
		x = (x ^ x>>31) * 0xBF58476D1CE4E5B9
		return datum{of: e, at: a, n: int((x ^ x>>29) % uint64(a.distinct))}, true // #nosec G115
	}
	if a.within != "" {
		r := e.edge(a.within)
		return datum{of: e, at: a, n: slices.Index(r.inverse[r.target[i]], i)}, true
	}
	if len(a.of) > 0 { // a key of one of several entities
		to := a.of[i%len(a.of)]
		return to.value(int(mix(uint64(i))%uint64(to.count)), to.key[0]) // #nosec G115
	}
	return datum{of: e, at: a, n: i + a.beginsAt}, true
}

// attributeOf is the attribute that a path leads to.
func (e *entity) attributeOf(path string) (*entity, *attribute) {
	first, rest, more := strings.Cut(path, ".")
	if r := e.edge(first); r != nil {
		if !more {
			rest = r.to.key[0]
		}
		return r.to.attributeOf(rest)
	}
	a := e.attribute(first)
	if a == nil {
		panic("corpora: no path " + path + " from " + e.name) // a mistake in a corpus
	}
	return e, a
}

// add makes a new instance, related to the partners given, to others at random, and returns its number.
func (w *world) add(e *entity, partners map[string]int) int {
	i := e.count
	e.count++
	for _, r := range e.edges {
		t, given := partners[r.name]
		if !given {
			t = zipf(w.random, r.to.count, 0.8)
			if r.within != "" {
				if list := r.among(i); len(list) > 0 {
					t = list[w.random.IntN(len(list))]
				}
			}
		}
		r.target = append(r.target, t)
		for len(r.inverse) <= t {
			r.inverse = append(r.inverse, nil)
		}
		r.inverse[t] = append(r.inverse[t], i)
	}
	for _, o := range w.entities {
		for _, r := range o.edges {
			for r.to == e && len(r.inverse) < e.count {
				r.inverse = append(r.inverse, nil)
			}
		}
	}
	return i
}
