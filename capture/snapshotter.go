package capture

import (
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/helenus-db/helenus/capture/histogram"
	"github.com/helenus-db/helenus/proxy"
)

// snapshotter makes the snapshots of many records, one after the other. It is for one goroutine.
type snapshotter struct {
	registry *Registry
	callers  []Caller
	before   []Statement // the snapshots of the last time
	sums     sums
	buckets  histogram.Arena
	shares   []Share   // room for those of many snapshots
	tallied  []Tallied // likewise

	records    []*record              // that are being fetched
	histograms []*histogram.Histogram // likewise
	fetched    uint64                 // means nothing: what is read must be used
}

// wave is how many records are fetched at a time: what their snapshots are made of and the snapshots fit into a processor's own cache.
const wave = 32

// prefetch reads what the snapshots of some records will be made from, one kind after the other: the processor has many reads under way at
// once if none has to wait for another, as it must at every step from a record to its counters, to their octaves, to the buckets. What was not
// executed since the last time looks as it did then, so that snapshot is read.
func (p *snapshotter) prefetch(list []*record, some []int, out []Statement) {
	p.records, p.histograms = p.records[:0], p.histograms[:0]
	for _, i := range some {
		p.fetched += uint64(list[i].last.Load())
		if list[i].base.Load() != nil {
			p.records = append(p.records, list[i])
		}
	}
	for _, i := range some {
		if s := list[i].shape.Load(); s != nil {
			p.fetched += uint64(len(s.shown[0]))
		}
		p.fetched += uint64(len(list[i].description.Load().text))
		touchParts(&out[i])
	}
	for _, r := range p.records {
		c := r.base.Load()
		if c == nil {
			continue // it was forgotten this instant
		}
		if n := c.executionCount(); r.place > 0 && r.counted == n {
			p.fetched += readParts(&p.before[r.place-1])
			continue
		}
		p.fetched += c.failed.Load() + c.warned.Load() + c.consistency[0].Load() + c.consistency[len(c.consistency)-1].Load()
		p.histograms = append(p.histograms, &c.latency, &c.request, &c.response, &c.rows)
	}
	p.fetched += p.buckets.Fetch(p.histograms)
}

// readParts reads every part of a snapshot.
func readParts(s *Statement) uint64 {
	return uint64(len(s.Kind)) + s.Count + s.Latency.Count + s.RequestBytes.Count + s.Rows.Count + s.Paged + s.RewrittenLatency.Count +
		uint64(len(s.Callers)) + uint64(s.Described.Nanosecond()) + s.Born
}

// touchParts writes to every part of an empty statement, so that it is fetched, too.
func touchParts(s *Statement) {
	s.Kind, s.Count, s.Latency.Count, s.RequestBytes.Count, s.Rows.Count = "", 0, 0, 0, 0
	s.Paged, s.RewrittenLatency.Count, s.Callers, s.Described, s.Born = 0, 0, nil, time.Time{}, 0
}

// snapshotRecord adds the stripes up into s, which is empty and stays so if the statement was never executed. What was not executed since the last
// time looks as it did then: an exchange counts in every number before it counts as one (counters.add).
func (p *snapshotter) snapshotRecord(r *record, s *Statement) {
	stripes := r.allStripes()
	var n uint64
	for _, c := range stripes {
		if c != nil {
			n += c.executionCount()
		}
	}
	if n == 0 {
		r.place = 0
		return
	}
	if r.place > 0 && r.counted == n {
		*s = p.before[r.place-1]
	} else {
		p.sums.reset()
		for _, c := range stripes {
			if c != nil {
				p.sums.addCounters(c)
			}
		}
		p.fillStatement(s)
		r.counted = s.Count
	}
	a := r.description.Load()
	s.Fingerprint, s.Keyspace, s.Table, s.Kind, s.Text = a.fingerprint, a.keyspace, a.table, a.kind.String(), a.text
	s.Conditional, s.Born = a.conditional, r.born
	s.First = time.Unix(0, r.first).UTC()
	s.Last = r.registry.started.Add(time.Duration(r.last.Load())).UTC()
	if s.Last.Before(s.First) {
		s.Last = s.First
	}
	if p := r.shape.Load(); p != nil {
		s.Variables, s.Results, s.Described = p.shown[0], p.shown[1], s.Last
	}
}

// sums is stripes added up.
type sums struct {
	count                            uint64
	n                                [12]uint64
	errors                           [len(proxy.ErrorNames)]uint64
	warnings                         [len(proxy.WarningNames)]uint64
	consistency                      [len(consistencyNames)]uint64
	serials                          [len(serialNames)]uint64
	callers                          [stripes * callers]callerStats
	known                            int
	parts                            int
	latency, request, response, rows [stripes]*histogram.Histogram
	own                              []*histogram.Histogram // of the stripes that have it
}

// callerStats is what one caller did.
type callerStats struct {
	caller                uint32
	count, failed, micros uint64
}

// reset empties it. The lists are written over.
func (t *sums) reset() {
	t.count, t.n, t.errors, t.warnings, t.consistency, t.serials = 0, [12]uint64{}, [len(proxy.ErrorNames)]uint64{}, [len(proxy.WarningNames)]uint64{},
		[len(consistencyNames)]uint64{}, [len(serialNames)]uint64{}
	t.known, t.parts, t.own = 0, 0, t.own[:0]
}

func (t *sums) addCounters(c *counters) {
	i := t.parts
	t.latency[i], t.request[i], t.response[i], t.rows[i] = &c.latency, &c.request, &c.response, &c.rows
	t.parts++
	if own := c.own.Load(); own != nil {
		t.own = append(t.own, own)
	}
	for i := range c.byCaller {
		b := &c.byCaller[i]
		caller := b.caller.Load()
		if caller == 0 && i < callers-1 {
			continue
		}
		n := b.count.Load()
		if n == 0 {
			continue
		}
		t.count += n
		one := t.statsOf(caller)
		one.count += n
		one.failed += b.failed.Load()
		one.micros += b.micros.Load()
	}
	for i, n := range [...]*atomic.Uint64{&c.failed, &c.inBatch, &c.paged, &c.morePages, &c.serial, &c.warned, &c.rewritten, &c.applied, &c.notApplied, &c.retried, &c.speculative, &c.stamped} {
		t.n[i] += n.Load()
	}
	if c.failed.Load() > 0 {
		for i := range t.errors {
			t.errors[i] += c.errors[i].Load()
		}
	}
	if c.warned.Load() > 0 {
		for i := range t.warnings {
			t.warnings[i] += c.warnings[i].Load()
		}
	}
	for i := range t.consistency {
		t.consistency[i] += c.consistency[i].Load()
	}
	for i := range t.serials {
		t.serials[i] += c.serials[i].Load()
	}
}

func (t *sums) statsOf(n uint32) *callerStats {
	for i := range t.callers[:t.known] {
		if t.callers[i].caller == n {
			return &t.callers[i]
		}
	}
	one := &t.callers[t.known]
	*one = callerStats{caller: n}
	t.known++
	return one
}

// fillStatement writes the sums into a snapshot.
func (p *snapshotter) fillStatement(s *Statement) {
	t := &p.sums
	s.Count = t.count
	for i, n := range s.plainCounters() {
		*n = t.n[i]
	}
	if room := len(t.errors) + len(t.warnings) + len(t.consistency) + len(t.serials); cap(p.tallied)-len(p.tallied) < room {
		p.tallied = make([]Tallied, 0, max(1024, room))
	}
	s.ErrorCodes, s.Warnings = p.tallyNamed(t.errors[:], proxy.ErrorNames[:], errorsByName), p.tallyNamed(t.warnings[:], proxy.WarningNames[:], warningsByName)
	s.Consistency, s.SerialConsistency = p.tallyNamed(t.consistency[:], consistencyNames[:], consistencyByName), p.tallyNamed(t.serials[:], serialNames[:], serialsByName)
	n := t.parts
	s.Latency, s.RequestBytes = p.buckets.Collect(t.latency[:n]...), p.buckets.Collect(t.request[:n]...)
	s.ResponseBytes, s.Rows = p.buckets.Collect(t.response[:n]...), p.buckets.Collect(t.rows[:n]...)
	s.RewrittenLatency = histogram.Distribution{}
	if len(t.own) > 0 {
		s.RewrittenLatency = p.buckets.Collect(t.own...)
	}
	if cap(p.shares)-len(p.shares) < t.known {
		p.shares = make([]Share, 0, max(1024, t.known))
	}
	from := len(p.shares)
	for _, one := range t.callers[:t.known] {
		if int(one.caller) >= len(p.callers) { // one that came meanwhile
			p.callers = p.registry.callers.allCallers()
		}
		p.shares = append(p.shares, Share{Caller: p.callers[one.caller], Count: one.count, Errors: one.failed, Micros: one.micros})
	}
	s.Callers = p.shares[from:len(p.shares):len(p.shares)]
	sortShares(s.Callers)
}

// tallyNamed lists the counts that are not 0 of names in an order; sorted says which of them comes when by name.
func (p *snapshotter) tallyNamed(counts []uint64, names []string, sorted []int) Tally {
	from := len(p.tallied)
	for _, i := range sorted {
		if counts[i] != 0 {
			p.tallied = append(p.tallied, Tallied{names[i], counts[i]})
		}
	}
	if from == len(p.tallied) {
		return nil
	}
	return Tally(p.tallied[from:len(p.tallied):len(p.tallied)])
}

// byName returns the places of names in the order of the names.
func byName(names []string) []int {
	out := make([]int, len(names))
	for i := range out {
		out[i] = i
	}
	slices.SortFunc(out, func(a, b int) int { return strings.Compare(names[a], names[b]) })
	return out
}

var (
	errorsByName      = byName(proxy.ErrorNames[:])
	warningsByName    = byName(proxy.WarningNames[:])
	consistencyByName = byName(consistencyNames[:])
	serialsByName     = byName(serialNames[:])
)
