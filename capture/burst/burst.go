// Package burst finds writes that belong together: copies of one thing in several tables, issued by one process within a
// few milliseconds or in one BATCH (docs/design/mapping.md 2.4). It is given hashed executions (Miner.Add, by capture/window).
// It imports capture/decoy, capture/trace and capture/value.
//
//	on a write w, for each other write u of its process, 60 ms earlier at the most or in the same BATCH, that shares a value with it, of
//	variables that have more than a few values:
//	    w was accompanied by u's statement, and u by w's (once each, however many there are)
//	    for each variable p of w and q of u with equal values:  p of w equals q of u (once each)
//	the same with a bind vector that w's statement had at least a second before, in place of w's: the decoys
//
// A pair is accepted if one is accompanied by the other in at least 80 of 100 cases and the decoys are in at most 20, where only what has at least
// k values in common counts, for some k: keys that many have (a popular product) are met by chance, all of a row's values are not. Two
// columns are the same if their values were equal in 90 of 100 cases of either statement; in one direction only, "there is such a
// row": one of a fan-out.
//
// Several writes that belong together by accepted pairs, or by their BATCH, are a burst; bursts of the same statements are a template, with how
// many writes of each there are and in which order they are said (template.go). Bursts are put together from single writes, not from
// pairs of statements: a log that is written with this and with that does not make one of both.
//
// Memory: the latest 256 writes of each of 8 processes, and 30 former ones for each of 64 statements, and 4,096 pairs of statements.
//
// Where it is thin: bursts at the edge of a window are seen in part, so a few of every hundred lack a write, and copies that are really missing
// are not told from them; what is written before a pair is accepted belongs to no burst.
package burst

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/helenus-db/helenus/capture/decoy"
	"github.com/helenus-db/helenus/capture/trace"
	"github.com/helenus-db/helenus/capture/value"
)

const (
	window     = int64(60 * time.Millisecond)
	maxRecent  = 256
	maxClients = 8
	maxPairs   = 4_096
	maxValues  = 32 // of one write
	maxEqual   = 64 // of one pair
	reservoir  = 32
	maxVectors = 64    // statements of one process that have decoys
	maxFew     = 64    // different values of a variable that says nothing
	maxKnown   = 1_024 // statements of whose variables that is known
)

// Thresholds of acceptance.
const (
	least      = 30 // writes
	accompany  = 0.8
	coincident = 0.2
	same       = 0.9
	maxLevel   = 8 // values in common that are told apart
)

// Pair says how often writes of one statement are accompanied by writes of another. All counts are of sampled exchanges.
type Pair struct {
	From        string  `json:"from"` // fingerprints
	To          string  `json:"to"`
	Writes      int     `json:"writes"`      // of From
	Accompanied int     `json:"accompanied"` // of these, by at least one of To
	Decoys      int     `json:"decoys"`      // would have been by coincidence, of Tried
	Tried       int     `json:"tried"`
	Batched     int     `json:"batched"` // of Accompanied, in one BATCH
	Before      int     `json:"before"`  // of the others, answered before the first of To was said
	After       int     `json:"after"`   // said when the first of To had been answered; what remains were under way at the same time
	Mean        float64 `json:"mean"`    // writes of To that share a value with one of From, if there are any
	Equal       []Equal `json:"equal"`
}

// Equal says how often a variable of From was bound to the same value as one of To.
type Equal struct {
	From  int     `json:"from"` // places
	To    int     `json:"to"`
	Share float64 `json:"share"` // of Accompanied
	Mean  float64 `json:"mean"`  // writes of To that are equal in it with one of From, if any is
	Same  bool    `json:"same"`  // it is so in both directions
}

// write is a write that is remembered for a moment.
type write struct {
	e      *trace.Execution
	of     *statement
	at     int64
	values []value.Value
	met    []met // what it was accompanied by
	decoy  bool

	links   []*write // what it may belong together with
	group   *group
	settled bool
}

// met is a statement that accompanied a write, with the variables that were equal.
type met struct {
	statement string
	n         int
	most      int // values in common with one of them
	batched   bool
	equal     []equals
	first     *trace.Execution // of them, by time
}

type equal struct{ from, to int }

// equals is how many of the other statement's writes have the same value in it.
type equals struct {
	equal
	times int
}

// tally counts writes with the same value as any of the other statement's, and these.
type tally struct{ writes, others int }

type pairKey struct{ from, to string }

type pair struct {
	levels, chance          [maxLevel]int // writes and decoys with at least so many values in common, from 1 on
	accompanied, batched, n int
	before, after           int
	equal                   map[equal]tally

	judged int // accompanied, when same was worked out
	same   []equal
}

type statement struct {
	writes, tried int
	seen          int              // writes, settled or not
	variables     map[uint16]*some // by place; nil of a statement that is one too many
}

// some are the different values of a variable, as long as they are few.
type some struct {
	values map[uint64]bool
	many   bool
}

// know takes in what is bound. That two writes share a value of a variable that has few (a state, a country) says nothing.
func (s *statement) know(values []value.Value) {
	s.seen++
	if s.variables == nil {
		return
	}
	for i := range values {
		v := &values[i]
		x := s.variables[v.Index]
		if x == nil {
			x = &some{values: map[uint64]bool{}}
			s.variables[v.Index] = x
		}
		if x.many {
			continue
		}
		if x.values[v.Hash] = true; len(x.values) > maxFew {
			x.many, x.values = true, nil
		}
	}
}

// tells reports whether equal values of a variable say anything.
func (s *statement) tells(place uint16) bool {
	x := s.variables[place]
	return x == nil || x.many || s.seen < 2*maxFew
}

// client is what is remembered of one process.
type client struct {
	last    int64
	recent  []*write
	vectors map[string]*decoy.Reservoir[[]value.Value] // what was written, by statement
}

// Miner looks for pairs. It is for one goroutine.
type Miner struct {
	random     *rand.Rand
	clients    map[uint64]*client
	statements map[string]*statement
	pairs      map[pairKey]*pair
	templates  map[string]*template // by fingerprints
}

// New returns a miner that has seen nothing. seed is that of the choice of decoys.
func New(seed uint64) *Miner {
	return &Miner{random: rand.New(rand.NewPCG(seed, 2)), clients: map[uint64]*client{}, statements: map[string]*statement{}, pairs: map[pairKey]*pair{}, templates: map[string]*template{}}
}

// Add takes in an execution; of reads there is nothing to learn.
func (m *Miner) Add(e *trace.Execution) {
	if !e.Statement.Write || e.Failed {
		return
	}
	c := m.client(e.Process, e.Start)
	for len(c.recent) > 0 && (c.recent[0].at < e.Start-window || len(c.recent) >= maxRecent) {
		m.settle(c.recent[0])
		c.recent = c.recent[1:]
	}
	w := &write{e: e, of: m.statement(e.Statement.Fingerprint), at: e.Start}
	for i := range e.Binds {
		if v := &e.Binds[i]; v.Class != value.None && !v.Null && len(w.values) < maxValues {
			w.values = append(w.values, *v)
		}
	}
	w.of.know(w.values)
	for _, u := range c.recent {
		compare(u, w)
	}
	if old := m.former(c, w); old != nil {
		d := &write{e: e, of: w.of, at: e.Start, values: old, decoy: true}
		for _, u := range c.recent {
			if !u.decoy {
				oneWay(d, u)
			}
		}
		c.recent = append(c.recent, d)
	}
	c.recent = append(c.recent, w)
}

// compare notes what two writes have in common, for either. A decoy learns from writes, nobody from a decoy.
func compare(u, w *write) {
	shared := oneWay(u, w)
	if !u.decoy {
		oneWay(w, u)
		if shared || u.e.Batch != 0 && u.e.Batch == w.e.Batch {
			link(u, w)
		}
	}
}

func oneWay(w, u *write) (shared bool) {
	var pairs []equal
	telling := false
	for i := range w.values {
		for k := range u.values {
			a, b := &w.values[i], &u.values[k]
			if a.Hash == b.Hash && a.Class == b.Class {
				pairs = append(pairs, equal{int(a.Index), int(b.Index)})
				telling = telling || w.of.tells(a.Index) && u.of.tells(b.Index)
			}
		}
	}
	if !telling {
		return false
	}
	name := u.e.Statement.Fingerprint
	i := slices.IndexFunc(w.met, func(m met) bool { return m.statement == name })
	if i < 0 {
		i = len(w.met)
		w.met = append(w.met, met{statement: name, first: u.e})
	}
	if u.e.Start < w.met[i].first.Start {
		w.met[i].first = u.e
	}
	w.met[i].n++
	w.met[i].most = max(w.met[i].most, len(pairs))
	w.met[i].batched = w.met[i].batched || w.e.Batch != 0 && w.e.Batch == u.e.Batch
	x := &w.met[i]
	for k, p := range pairs {
		n := slices.IndexFunc(x.equal, func(e equals) bool { return e.equal == p })
		if n < 0 {
			n = len(x.equal)
			x.equal = append(x.equal, equals{equal: p})
		}
		if !slices.Contains(pairs[:k], p) { // values of a list are one's
			x.equal[n].times++
		}
	}
	return true
}

// settle counts what a write was accompanied by, when its time is over.
func (m *Miner) settle(w *write) {
	m.count(w)
	if !w.decoy {
		m.gather(w)
	}
}

func (m *Miner) count(w *write) {
	name := w.e.Statement.Fingerprint
	if w.decoy {
		w.of.tried++
	} else {
		w.of.writes++
	}
	for _, x := range w.met {
		key := pairKey{name, x.statement}
		p := m.pairs[key]
		if p == nil {
			if len(m.pairs) >= maxPairs {
				continue
			}
			p = &pair{equal: map[equal]tally{}}
			m.pairs[key] = p
		}
		for k := range min(x.most, maxLevel) {
			if w.decoy {
				p.chance[k]++
			} else {
				p.levels[k]++
			}
		}
		if w.decoy {
			continue
		}
		p.accompanied++
		p.n += x.n
		switch {
		case x.batched:
			p.batched++
		case w.e.End <= x.first.Start:
			p.before++
		case x.first.End <= w.e.Start:
			p.after++
		}
		for _, q := range x.equal {
			if t, known := p.equal[q.equal]; known || len(p.equal) < maxEqual {
				p.equal[q.equal] = tally{t.writes + 1, t.others + q.times}
			}
		}
	}
}

// former returns the values of a write of the same statement that is at least a second older, if one is known, and remembers these.
func (m *Miner) former(c *client, w *write) []value.Value {
	r := c.vectors[w.e.Statement.Fingerprint]
	if r == nil {
		if len(c.vectors) >= maxVectors {
			return nil
		}
		r = decoy.New[[]value.Value](reservoir)
		c.vectors[w.e.Statement.Fingerprint] = r
	}
	old, _ := r.Former(w.at, m.random)
	r.Keep(w.at, w.values, m.random)
	return old
}

func (m *Miner) statement(name string) *statement {
	s := m.statements[name]
	if s == nil {
		s = &statement{}
		if len(m.statements) < maxKnown {
			s.variables = map[uint16]*some{}
		}
		m.statements[name] = s
	}
	return s
}

func (m *Miner) client(process uint64, now int64) *client {
	c := m.clients[process]
	if c == nil {
		if len(m.clients) >= maxClients {
			var oldest uint64
			at := int64(0)
			for p, o := range m.clients {
				if at == 0 || o.last < at || o.last == at && p < oldest {
					oldest, at = p, o.last
				}
			}
			for _, w := range m.clients[oldest].recent {
				m.settle(w)
			}
			delete(m.clients, oldest)
		}
		c = &client{vectors: map[string]*decoy.Reservoir[[]value.Value]{}}
		m.clients[process] = c
	}
	c.last = max(c.last, now)
	return c
}

// Pairs returns the accepted pairs, by From and To.
func (m *Miner) Pairs() []Pair {
	var out []Pair
	for key, p := range m.pairs {
		if key.from <= key.to && m.accepted(key, p) {
			out = append(out, m.describe(key, p))
		} else if key.from > key.to && m.accepted(key, p) && m.pairs[pairKey{key.to, key.from}] != nil && !m.accepted(pairKey{key.to, key.from}, m.pairs[pairKey{key.to, key.from}]) {
			out = append(out, m.describe(key, p)) // one way only
		}
	}
	slices.SortFunc(out, Pair.compare)
	return out
}

func (m *Miner) accepted(key pairKey, p *pair) bool {
	return m.level(key, p) > 0
}

// level is the least number of values in common by which a pair is accepted, 0 if it is not.
func (m *Miner) level(key pairKey, p *pair) int {
	s := m.statements[key.from]
	if s.writes < least || s.tried < least || key.from == key.to {
		return 0
	}
	for k := range p.levels {
		if float64(p.levels[k]) >= accompany*float64(s.writes) && float64(p.chance[k]) <= coincident*float64(s.tried) {
			return k + 1
		}
	}
	return 0
}

func (m *Miner) describe(key pairKey, p *pair) Pair {
	s := m.statements[key.from]
	out := Pair{From: key.from, To: key.to, Writes: s.writes, Tried: s.tried, Accompanied: p.accompanied, Decoys: p.chance[max(m.level(key, p), 1)-1], Batched: p.batched,
		Before: p.before, After: p.after, Mean: float64(p.n) / float64(p.accompanied)}
	back := m.pairs[pairKey{key.to, key.from}]
	for q, n := range p.equal {
		e := Equal{From: q.from, To: q.to, Share: float64(n.writes) / float64(p.accompanied), Mean: float64(n.others) / float64(n.writes)}
		if e.Share < accompany/2 {
			continue
		}
		if back != nil && back.accompanied > 0 {
			e.Same = e.Share >= same && float64(back.equal[equal{q.to, q.from}].writes) >= same*float64(back.accompanied)
		}
		out.Equal = append(out.Equal, e)
	}
	slices.SortFunc(out.Equal, func(a, b Equal) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	return out
}

func (p Pair) compare(q Pair) int {
	return cmp.Or(cmp.Compare(p.From, q.From), cmp.Compare(p.To, q.To))
}

// Merge returns the pairs of both findings; where both know one, that which rests on more is right. So any number may be merged, in any
// order.
func Merge(a, b []Pair) []Pair {
	out := append(slices.Clone(a), b...)
	slices.SortFunc(out, func(p, q Pair) int {
		return cmp.Or(p.compare(q), cmp.Compare(q.Writes, p.Writes), cmp.Compare(q.Accompanied, p.Accompanied), cmp.Compare(p.Decoys, q.Decoys),
			cmp.Compare(q.Tried, p.Tried), cmp.Compare(q.Mean, p.Mean), cmp.Compare(q.Batched, p.Batched), cmp.Compare(q.Before, p.Before), cmp.Compare(q.After, p.After))
	})
	return slices.CompactFunc(out, func(p, q Pair) bool { return p.From == q.From && p.To == q.To })
}
