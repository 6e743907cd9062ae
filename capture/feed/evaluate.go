package feed

import (
	"cmp"
	"math"
	"sort"

	"github.com/helenus-db/helenus/capture/trace"
)

// hit is a source found for a value: which execution of it, and how long before, in microseconds.
type hit struct {
	source source
	seq    uint32
	lag    uint32
}

// observation is one value bound, with the sources found for it and for its decoy.
type observation struct {
	t0, t1 int64
	value  uint64
	seq    uint32 // execution of the consumer
	n, nd  uint8
	hits   [maxSources]hit
	decoys [maxSources]hit
}

// parameter is what is known of one bind variable.
type parameter struct {
	observations []observation
	next         int // where the next one goes once full
	total        int
	few          []counted // the first distinct values, as long as they are few
	many         bool      // there were more
	fresh        bool      // feeds is what the observations say
	bound        bool      // since Wanting was asked last
	found        []finding // without the observations that they explain
	feeds        []Feed
	inherited    []Feed // by way of echoes
	echoes       []Feed
}

type counted struct {
	value uint64
	n     int
}

// constantDistinct is the number of distinct values below which a variable with one dominant value is a constant.
const constantDistinct = 8

func (p *parameter) profile(value uint64) {
	p.fresh, p.bound = false, true
	p.total++
	if p.many {
		return
	}
	for i := range p.few {
		if p.few[i].value == value {
			p.few[i].n++
			return
		}
	}
	if len(p.few) == constantDistinct-1 {
		p.many, p.few = true, nil
		return
	}
	p.few = append(p.few, counted{value, 1})
}

// constant reports whether the variable is bound to the same value more often than not (dummy = 1).
func (p *parameter) constant() bool {
	for _, c := range p.few {
		if !p.many && 2*c.n > p.total {
			return true
		}
	}
	return false
}

// observe keeps an observation, in the oldest one's place if the quota is used up.
func (p *parameter) observe(o *observation, quota int) {
	if len(p.observations) > quota { // the quota has shrunk: keep the latest
		latest := p.ordered()
		p.observations, p.next = append([]observation(nil), latest[len(latest)-quota:]...), 0
	}
	if len(p.observations) < quota {
		if p.next != 0 { // the quota has grown
			p.observations, p.next = p.ordered(), 0
		}
		p.observations = append(p.observations, *o)
		return
	}
	p.observations[p.next] = *o
	p.next = (p.next + 1) % len(p.observations)
}

// ordered returns a copy of the observations, oldest first.
func (p *parameter) ordered() []observation {
	out := make([]observation, 0, len(p.observations))
	out = append(out, p.observations[p.next:]...)
	return append(out, p.observations[:p.next]...)
}

// parameter returns a variable's record, nil if there are too many.
func (m *Miner) parameter(at source) *parameter {
	p := m.parameters[at]
	if p == nil && len(m.parameters) < maxParameters {
		p = &parameter{}
		m.parameters[at] = p
	}
	return p
}

// quota is how many observations each variable may keep.
func (m *Miner) quota() int {
	return min(max(maxObserved/len(m.parameters), minPerParam), maxPerParam)
}

// edges are the lag limits that are tried, in microseconds. Traffic decides which of them separates feeds from
// coincidence best.
var edges = [...]uint32{2_000, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 1_000_000}

// tally counts, for one source, hits and decoy hits up to each edge.
type tally struct {
	hits, decoys [len(edges)]int
}

// thresholds of a finding. Those of a half are lower in proportion to what can be seen there.
type thresholds struct {
	excess int     // at least this many hits above the decoys
	share  float64 // and this share of the observations
	ratio  float64 // hits for every decoy hit
	z      float64 // excess in standard deviations
}

type bar struct{ whole, half, before thresholds }

var (
	accepted = bar{
		whole:  thresholds{excess: 30, share: 0.03, ratio: 2, z: 6},
		half:   thresholds{excess: 15, share: 0.03, ratio: 2, z: 6 / math.Sqrt2},
		before: thresholds{excess: 30, share: 0.03, ratio: 1, z: 6}, // before anything was explained away
	}
	// worthAsking is that of what is no coincidence, but too little of a variable's values to be told from what shows now and then for another reason: a person knows.
	worthAsking = bar{
		whole:  thresholds{excess: 30, share: 0.005, ratio: 4, z: 6},
		half:   thresholds{excess: 10, share: 0.005, ratio: 3, z: 6 / math.Sqrt2},
		before: thresholds{excess: 30, share: 0.005, ratio: 1, z: 6},
	}
)

// pass applies the thresholds to h hits and d decoy hits in na observations, n at the start.
func (t thresholds) pass(h, d, na, n int) bool {
	excess := float64(h - d)
	if na == 0 || excess < math.Max(float64(t.excess), t.share*float64(n)) || float64(h)/float64(d+1) < t.ratio {
		return false
	}
	return deviations(h, d, na) >= t.z
}

// deviations is the excess of h hits over d decoy hits in na observations, in standard deviations.
func deviations(h, d, na int) float64 {
	q := float64(d+1) / float64(na+1)
	return float64(h-d) / math.Sqrt(float64(na)*q*(1-q)+float64(h)*(1-float64(h)/float64(na))+1)
}

// certainty is 1 - the chance that a source with h hits and d decoy hits is none at all, however little it explains: the upper tail of the normal
// distribution, times the tests that were made to find it (Bonferroni), which is no less than the share of false ones among what is
// accepted (the false discovery rate).
func certainty(h, d, na, tests int) float64 {
	return 1 - min(1, float64(max(tests, 1))*math.Erfc(deviations(h, d, na)/math.Sqrt2)/2)
}

// shareOf is the share of na observations that a source with h hits and d decoy hits explains. Of those that it does not, it hits as many
// by chance as it does of the decoys: h = s na + (1 - s) d.
func shareOf(h, d, na int) float64 {
	return min(1, float64(max(h-d, 0))/float64(max(na-d, 1)))
}

// finding is a source that explains observations up to a lag.
type finding struct {
	source    source
	edge      uint32
	hits      int
	decoys    int
	share     float64 // of all observations that it explains, those left out that are explained by chance
	certainty float64
	explained []observation
}

// explain finds the sources of a variable, the strongest first; each explains away its observations before the next.
//
// Shares add up: of what the stronger left, a source explains shareOf.
//
// What is left when the strongest are gone is no fair sample any more: if the values that came from elsewhere are the small
// numbers, say, then the rest meets other small numbers more often than decoys do, which are drawn from all. So a source
// has to show an excess both in what is left and in the whole, where real values and decoys are distributed alike.
func (m *Miner) explain(observations []observation, wanted func(source) bool) []finding {
	w := m.weigh(observations)
	found, _ := w.explain(observations, 1, &accepted, wanted)
	return found
}

// weighed are the observations of a variable, with what each source is in all of them.
type weighed struct {
	observations []observation
	middle       int64 // of their time
	all          map[source]*[3]tally
	sizes        [3]int
	before       func(a, b source) int
}

func (m *Miner) weigh(observations []observation) (w weighed) {
	w.before = m.compare
	if w.observations = observations; len(observations) > 0 {
		w.middle = observations[len(observations)/2].t0
		w.all, w.sizes = count(observations, w.middle)
	}
	return w
}

// explain finds what explains those observations that are left of all, so many of them as a share says, and returns what is left then.
func (w *weighed) explain(alive []observation, left float64, by *bar, wanted func(source) bool) ([]finding, []observation) {
	n, all := len(w.observations), w.all
	eligible := func(s source, e int) bool {
		t := all[s]
		return t != nil && wanted(s) && by.before.pass(t[0].hits[e], t[0].decoys[e], n, n)
	}
	var found []finding
	tallies, sizes := all, w.sizes
	if len(alive) < n {
		tallies, sizes = count(alive, w.middle)
	}
	for range 64 { // each round explains at least 30 observations; more sources than this is no workload
		best, ok := strongest(tallies, sizes, n, by, eligible, w.before)
		if !ok {
			break
		}
		rest := make([]observation, 0, len(alive)-best.hits)
		for i := range alive {
			if alive[i].within(best.source, best.edge) {
				best.explained = append(best.explained, alive[i])
			} else {
				rest = append(rest, alive[i])
			}
		}
		best.certainty = certainty(best.hits, best.decoys, len(alive), len(all)*len(edges))
		best.share = left * shareOf(best.hits, best.decoys, len(alive))
		left -= best.share
		found = append(found, best)
		alive = rest
		tallies, sizes = count(alive, w.middle)
	}
	return found, alive
}

// count tallies every source: in all observations, in those before the middle of the time, and in those after.
func count(observations []observation, middle int64) (tallies map[source]*[3]tally, sizes [3]int) {
	tallies = map[source]*[3]tally{}
	enter := func(hits []hit, half int, decoy bool) {
		for _, x := range hits {
			t := tallies[x.source]
			if t == nil {
				t = &[3]tally{}
				tallies[x.source] = t
			}
			for e := len(edges) - 1; e >= 0 && x.lag <= edges[e]; e-- {
				if decoy {
					t[0].decoys[e]++
					t[half].decoys[e]++
				} else {
					t[0].hits[e]++
					t[half].hits[e]++
				}
			}
		}
	}
	for i := range observations {
		o := &observations[i]
		half := 1
		if o.t0 >= middle {
			half = 2
		}
		sizes[0]++
		sizes[half]++
		enter(o.hits[:o.n], half, false)
		enter(o.decoys[:o.nd], half, true)
	}
	return tallies, sizes
}

// strongest returns the eligible source and lag with the largest excess that passes in the whole and in both halves.
func strongest(tallies map[source]*[3]tally, sizes [3]int, n int, by *bar, eligible func(s source, edge int) bool, before func(a, b source) int) (best finding, ok bool) {
	excess := 0
	for s, t := range tallies {
		for e := range edges {
			h, d := t[0].hits[e], t[0].decoys[e]
			if x := h - d; x < excess || x == excess && !goesBefore(s, edges[e], best, before) {
				continue
			}
			if by.whole.pass(h, d, sizes[0], n) && eligible(s, e) &&
				by.half.pass(t[1].hits[e], t[1].decoys[e], sizes[1], n/2) &&
				by.half.pass(t[2].hits[e], t[2].decoys[e], sizes[2], n/2) {
				excess, ok = h-d, true
				best = finding{source: s, edge: edges[e], hits: h, decoys: d}
			}
		}
	}
	return best, ok
}

// goesBefore orders findings of equal excess: an echo first (the value was known before), then by source, then the shorter lag.
func goesBefore(s source, edge uint32, f finding, before func(a, b source) int) bool {
	if s.echo() != f.source.echo() {
		return s.echo()
	}
	if s != f.source {
		return before(s, f.source) < 0
	}
	return edge < f.edge
}

// compare orders sources by their statements' names: numbers are given as statements come, which is otherwise after each start.
func (m *Miner) compare(a, b source) int {
	return cmp.Or(cmp.Compare(m.fingerprint(a), m.fingerprint(b)), cmp.Compare(a.index(), b.index()), cmp.Compare(a, b))
}

func (m *Miner) fingerprint(s source) string {
	if n := int(s.statement()); n < len(m.statements) && m.statements[n].statement != nil {
		return m.statements[n].statement.Fingerprint
	}
	return ""
}

// from returns the hit on a source within a lag.
func (o *observation) from(s source, edge uint32) (hit, bool) {
	for _, h := range o.hits[:o.n] {
		if h.source == s && h.lag <= edge {
			return h, true
		}
	}
	return hit{}, false
}

func (o *observation) within(s source, edge uint32) bool {
	_, ok := o.from(s, edge)
	return ok
}

// find evaluates every variable that was bound since it was evaluated last.
func (m *Miner) find() (feeds, echoes []Feed) {
	changed := false
	for at, p := range m.parameters {
		if !p.fresh {
			m.evaluate(at, p)
			changed = true
		}
	}
	for at, p := range m.parameters {
		if changed {
			m.inherit(at, p)
		}
		feeds, echoes = append(append(feeds, p.feeds...), p.inherited...), append(echoes, p.echoes...)
	}
	sortFeeds(feeds)
	return feeds, settled(echoes, feeds)
}

func (m *Miner) evaluate(at source, p *parameter) {
	p.fresh, p.found, p.feeds, p.echoes = true, nil, nil, nil
	if p.constant() {
		return
	}
	observations := p.ordered()
	w := m.weigh(observations)
	found, left := w.explain(observations, 1, &accepted, anySource)
	for _, f := range found {
		if !f.source.echo() {
			p.feeds = append(p.feeds, m.feed(f, at, p, observations))
		}
	}
	p.echoes = append(m.echoes(at, p, observations, found), m.faint(at, p, &w, left, found)...)
	for _, f := range found {
		f.explained = nil
		p.found = append(p.found, f)
	}
}

func anySource(source) bool { return true }

// faint finds what explains a little of what nothing else explains, of reads.
func (m *Miner) faint(at source, p *parameter, w *weighed, left []observation, found []finding) (out []Feed) {
	if m.statements[at.statement()].statement.Write {
		return nil
	}
	share := 1.0
	known := map[source]bool{}
	for _, f := range found {
		share, known[f.source] = share-f.share, true
	}
	more, _ := w.explain(left, share, &worthAsking, anySource)
	for _, f := range more {
		if f.source.echo() || known[f.source] || f.source.statement() == at.statement() {
			continue
		}
		if feed := m.describe(f, at, p); feed.Shape != Pagination {
			feed.Shape = Faint
			out = append(out, feed)
		}
	}
	return out
}

// feed describes a finding that is a feed, with all that the application does there.
func (m *Miner) feed(f finding, at source, p *parameter, observations []observation) Feed {
	feed := m.describe(f, at, p)
	m.usage(&feed, f, observations)
	if feed.Change = m.change(f, at, observations); feed.Change != nil {
		feed.Race = !m.statements[at.statement()].statement.Conditional
	}
	return feed
}

// inherit follows a variable's echoes to their roots. One answer that is followed by several statements, one after the other, explains
// the second no better than the first one's variable does, which is bound to the same values later. But what was bound there came from somewhere:
// from the sources of that variable, so these are looked for among the observations that the echo explains.
func (m *Miner) inherit(at source, p *parameter) {
	p.inherited = nil
	known := map[source]bool{}
	for _, f := range p.found {
		known[f.source] = true
	}
	var observations []observation
	for _, echo := range p.found {
		if !echo.source.echo() {
			continue
		}
		roots := map[source]bool{}
		m.roots(echo.source, roots, map[source]bool{at: true})
		for s := range roots {
			if known[s] || s.statement() == at.statement() {
				delete(roots, s)
			}
		}
		if len(roots) == 0 {
			continue
		}
		if observations == nil {
			observations = p.ordered()
		}
		var explained []observation
		for i := range observations {
			if observations[i].within(echo.source, echo.edge) {
				explained = append(explained, observations[i])
			}
		}
		for _, f := range m.explain(explained, func(s source) bool { return roots[s] }) {
			known[f.source] = true
			f.share *= echo.share
			f.certainty = min(f.certainty, echo.certainty)
			p.inherited = append(p.inherited, m.feed(f, at, p, observations))
		}
	}
}

// roots collects the result columns that feed a variable, by way of echoes too.
func (m *Miner) roots(variable source, into, seen map[source]bool) {
	p := m.parameters[variable]
	if p == nil || seen[variable] {
		return
	}
	seen[variable] = true
	for _, f := range p.found {
		if f.source.echo() {
			m.roots(f.source, into, seen)
		} else {
			into[f.source] = true
		}
	}
}

// describe makes a Feed of a finding.
func (m *Miner) describe(f finding, at source, p *parameter) Feed {
	producer, consumer := m.statements[f.source.statement()], m.statements[at.statement()]
	feed := Feed{
		From:       End{Fingerprint: producer.statement.Fingerprint, Index: f.source.index()},
		To:         End{Fingerprint: consumer.statement.Fingerprint, Index: at.index()},
		Executions: len(p.observations), Hits: f.hits, Decoys: f.decoys,
		SupportRead: consumer.statement.Write,
		Share:       f.share,
		Confidence:  f.certainty,
	}
	cs, i := producer.statement.Results, f.source.index()
	if feed.From.Bound = f.source.echo(); feed.From.Bound {
		cs, i = producer.statement.Variables, trace.Variable(producer.statement, i)
	}
	if i >= 0 && i < len(cs) {
		feed.From.Keyspace, feed.From.Table, feed.From.Column = cs[i].Keyspace, cs[i].Table, trace.ColumnOf(cs[i].Name)
	}
	v := trace.Variable(consumer.statement, at.index())
	if v >= 0 {
		c := consumer.statement.Variables[v]
		feed.To.Keyspace, feed.To.Table, feed.To.Column = c.Keyspace, c.Table, trace.ColumnOf(c.Name)
	}
	use(&feed, f)
	if !feed.From.Bound && paging(&feed, consumer.statement, v) {
		feed.Shape = Pagination
	}
	return feed
}

// paging: the fed variable bounds a range on the very table and column that the value came from.
func paging(f *Feed, consumer *trace.Statement, index int) bool {
	return index >= 0 && index < len(consumer.Ranges) && consumer.Ranges[index] &&
		f.From.Table == f.To.Table && f.From.Keyspace == f.To.Keyspace && f.From.Column == f.To.Column
}

// use measures how the values of each execution of the producer were followed, and says which shape that is.
func use(feed *Feed, f finding) {
	groups := map[uint32][]observation{} // by execution of the producer
	lags := make([]float64, 0, len(f.explained))
	low, high := uint32(math.MaxUint32), uint32(0)
	for _, o := range f.explained {
		h, _ := o.from(f.source, f.edge)
		groups[h.seq] = append(groups[h.seq], o)
		lags = append(lags, float64(h.lag))
		feed.LastAt = max(feed.LastAt, o.t0)
		low, high = min(low, h.seq), max(high, h.seq)
	}
	sort.Float64s(lags)
	if n := len(lags); n > 0 {
		feed.LagP50, feed.LagP99 = lags[n/2], lags[n*99/100]
	}

	var distinct, lists, several, neighbours, overlaps int
	for _, g := range groups {
		values := map[uint64]bool{}
		consumers := map[uint32]int{}
		for _, o := range g {
			values[o.value] = true
			consumers[o.seq]++
		}
		distinct += len(values)
		inList := false
		for _, n := range consumers {
			inList = inList || n > 1
		}
		switch {
		case inList:
			lists++
		case len(consumers) > 1:
			several++
			sort.Slice(g, func(i, j int) bool { return g[i].t0 < g[j].t0 })
			for i := 1; i < len(g); i++ {
				neighbours++
				if g[i].t0 < g[i-1].t1 {
					overlaps++
				}
			}
		}
	}
	feed.Producers = len(groups)
	if len(groups) > 0 {
		feed.PerExecution = float64(distinct) / float64(len(groups))
		// Executions are numbered; within the span that the observations cover, what share was followed?
		feed.Followed = min(1, float64(len(groups))/float64(high-low+1))
	}
	switch {
	case 5*lists >= len(groups) && lists >= several:
		feed.Shape = InList
	case 5*several < len(groups):
		feed.Shape = Single
	case 10*overlaps < neighbours:
		feed.Shape = NPlusOne
	default:
		feed.Shape = FanOut
	}
}
