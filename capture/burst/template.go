package burst

import (
	"cmp"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/capture/trace"
)

const (
	maxLinks     = 64    // other writes that one shares a value or a BATCH with
	maxMembers   = 32    // statements of one burst
	maxTemplates = 1_024 // different sets of statements
	maxOrders    = 24    // of one set
)

// Template is several statements whose writes go together, with how many of each and in which order. All counts are of sampled exchanges.
type Template struct {
	Writes  []Member `json:"writes"` // in their most frequent order of first appearance
	Count   int      `json:"count"`  // bursts of just these statements
	Batched int      `json:"batched"`
	// Of the bursts that are not one BATCH, the share in this order, and the share in which each statement was first said when that before
	// it had been answered: then the application keeps to the order, else it may be chance.
	Ordered float64 `json:"ordered"`
	Waited  float64 `json:"waited"`
}

// Member is one statement of a template.
type Member struct {
	Fingerprint string  `json:"fingerprint"`
	Keyspace    string  `json:"keyspace"`
	Table       string  `json:"table"`
	Mean        float64 `json:"mean"` // writes of it in one burst, 1 or more
	Most        int     `json:"most"`
}

// group is a burst as it is put together. It is counted when all its writes have settled.
type group struct {
	open    int // writes that have not settled
	members []member
	batch   uint64
	mixed   bool // not all is in one batch
	full    bool
}

type member struct {
	statement  *trace.Statement
	n          int
	start, end int64 // of the first
}

// template counts the bursts of one set of statements.
type template struct {
	statements             []*trace.Statement // by fingerprint
	total, most            []int
	count, batched, waited int
	orders                 map[string]int // indices into statements, in order of first appearance
}

// link notes that two writes may belong together. Which do is known when they settle.
func link(u, w *write) {
	if len(u.links) < maxLinks && len(w.links) < maxLinks {
		u.links, w.links = append(u.links, w), append(w.links, u)
	}
}

// gather puts a write that settles, and what belongs to it, into one burst, and counts the burst if that was its last write.
func (m *Miner) gather(w *write) {
	if w.group == nil {
		w.group = &group{batch: w.e.Batch}
		w.group.add(w)
	}
	queue := []*write{w}
	for i := 0; i < len(queue); i++ {
		x := queue[i]
		for _, u := range x.links {
			if u.group == nil && m.together(x, u) {
				u.group = w.group
				u.group.add(u)
				queue = append(queue, u)
			}
		}
	}
	g := w.group
	w.links, w.met, w.group = nil, nil, nil // or the writes would hold each other for ever
	w.settled = true
	if g.open--; g.open == 0 {
		m.finish(g)
	}
}

// together tells whether two writes belong to one burst: they are in one BATCH, or their statements go together and most of the columns that are the same
// in these have the same values.
func (m *Miner) together(x, u *write) bool {
	if u.settled || u.decoy {
		return false
	}
	if x.e.Batch != 0 && x.e.Batch == u.e.Batch {
		return true
	}
	a, b := x.e.Statement.Fingerprint, u.e.Statement.Fingerprint
	forth, back := pairKey{a, b}, pairKey{b, a}
	p, q := m.pairs[forth], m.pairs[back]
	if a == b || p == nil || q == nil || !m.accepted(forth, p) && !m.accepted(back, q) {
		return false
	}
	columns := p.identities(q)
	n := 0
	for _, c := range columns {
		if x.equals(c.from, u, c.to) {
			n++
		}
	}
	return len(columns) > 0 && n > len(columns)/2
}

// identities are the columns that are the same in both directions. They are worked out again when there is a tenth more to go by.
func (p *pair) identities(back *pair) []equal {
	if p.judged > 0 && p.accompanied < p.judged+p.judged/10+1 {
		return p.same
	}
	p.judged, p.same = p.accompanied, nil
	for q, n := range p.equal {
		if float64(n.writes) >= same*float64(p.accompanied) && float64(back.equal[equal{q.to, q.from}].writes) >= same*float64(back.accompanied) {
			p.same = append(p.same, q)
		}
	}
	return p.same
}

func (w *write) equals(place int, u *write, other int) bool {
	for i := range w.values {
		for k := range u.values {
			a, b := &w.values[i], &u.values[k]
			if int(a.Index) == place && int(b.Index) == other && a.Hash == b.Hash && a.Class == b.Class {
				return true
			}
		}
	}
	return false
}

func (g *group) add(w *write) {
	g.open++
	g.mixed = g.mixed || w.e.Batch == 0 || w.e.Batch != g.batch
	for i := range g.members {
		if x := &g.members[i]; x.statement.Fingerprint == w.e.Statement.Fingerprint {
			if x.n++; w.e.Start < x.start {
				x.start, x.end = w.e.Start, w.e.End
			}
			return
		}
	}
	if len(g.members) == maxMembers {
		g.full = true
		return
	}
	g.members = append(g.members, member{w.e.Statement, 1, w.e.Start, w.e.End})
}

// finish counts a burst. One that has more statements than are remembered is none that somebody thought of.
func (m *Miner) finish(g *group) {
	if len(g.members) < 2 || g.full {
		return
	}
	slices.SortFunc(g.members, func(a, b member) int { return cmp.Compare(a.statement.Fingerprint, b.statement.Fingerprint) })
	var key strings.Builder
	for i := range g.members {
		key.WriteString(g.members[i].statement.Fingerprint)
		key.WriteByte(0)
	}
	t := m.templates[key.String()]
	if t == nil {
		if len(m.templates) >= maxTemplates {
			return
		}
		t = &template{total: make([]int, len(g.members)), most: make([]int, len(g.members)), orders: map[string]int{}}
		for i := range g.members {
			t.statements = append(t.statements, g.members[i].statement)
		}
		m.templates[key.String()] = t
	}
	t.count++
	for i := range g.members {
		t.total[i] += g.members[i].n
		t.most[i] = max(t.most[i], g.members[i].n)
	}
	if !g.mixed {
		t.batched++
		return
	}
	order := make([]byte, len(g.members))
	for i := range order {
		order[i] = byte(i)
	}
	slices.SortStableFunc(order, func(a, b byte) int { return cmp.Compare(g.members[a].start, g.members[b].start) })
	waited := true
	for i := 1; i < len(order); i++ {
		waited = waited && g.members[order[i-1]].end <= g.members[order[i]].start
	}
	if waited {
		t.waited++
	}
	if _, ok := t.orders[string(order)]; ok || len(t.orders) < maxOrders {
		t.orders[string(order)]++
	}
}

// Templates returns the sets of statements that were seen together often enough, by their statements. Not so a part of another that is seen ten
// times as often: these are bursts at the edge of a window, or from before all their pairs were known.
func (m *Miner) Templates() []Template {
	var out []Template
	for _, t := range m.templates {
		if t.count >= least && !m.partial(t) {
			out = append(out, t.describe())
		}
	}
	slices.SortFunc(out, Template.compare)
	return out
}

func (m *Miner) partial(t *template) bool {
	for _, o := range m.templates {
		if o.count >= 10*t.count && len(o.statements) > len(t.statements) && !slices.ContainsFunc(t.statements, func(s *trace.Statement) bool {
			return !slices.ContainsFunc(o.statements, func(x *trace.Statement) bool { return x.Fingerprint == s.Fingerprint })
		}) {
			return true
		}
	}
	return false
}

func (t *template) describe() Template {
	out := Template{Count: t.count, Batched: t.batched}
	usual, most := "", 0
	for order, n := range t.orders {
		if n > most || n == most && order < usual {
			usual, most = order, n
		}
	}
	if single := t.count - t.batched; single > 0 {
		out.Ordered, out.Waited = float64(most)/float64(single), float64(t.waited)/float64(single)
	}
	for i := range t.statements {
		at := i
		if usual != "" {
			at = int(usual[i])
		}
		st := t.statements[at]
		out.Writes = append(out.Writes, Member{st.Fingerprint, st.Keyspace, st.Table, float64(t.total[at]) / float64(t.count), t.most[at]})
	}
	return out
}

// name is the same for templates of the same statements.
func (t Template) name() string {
	var list []string
	for _, w := range t.Writes {
		list = append(list, w.Fingerprint)
	}
	slices.Sort(list)
	return strings.Join(list, "\x00")
}

func (t Template) compare(o Template) int { return cmp.Compare(t.name(), o.name()) }

// MergeTemplates is Merge for templates.
func MergeTemplates(a, b []Template) []Template {
	out := append(slices.Clone(a), b...)
	slices.SortFunc(out, func(p, q Template) int {
		return cmp.Or(p.compare(q), cmp.Compare(q.Count, p.Count), cmp.Compare(q.Batched, p.Batched), cmp.Compare(q.Ordered, p.Ordered), cmp.Compare(q.Waited, p.Waited),
			slices.CompareFunc(p.Writes, q.Writes, func(v, w Member) int {
				return cmp.Or(cmp.Compare(v.Fingerprint, w.Fingerprint), cmp.Compare(w.Mean, v.Mean), cmp.Compare(w.Most, v.Most),
					cmp.Compare(v.Keyspace, w.Keyspace), cmp.Compare(v.Table, w.Table))
			}))
	})
	return slices.CompactFunc(out, func(p, q Template) bool { return p.compare(q) == 0 })
}
