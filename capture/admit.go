package capture

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/heavy"
	"github.com/helenus-db/helenus/internal/guard"
	"github.com/helenus-db/helenus/proxy"
)

// Who has a record of its own. The registry holds at most Options.Fingerprints records, and at most half of Options.Memory
// in them (the other half is for the cache of texts, the sketch, and a snapshot while it is made). While there is room,
// every statement that is said gets one. Then the heavy ones keep theirs:
//
// A statement weighs the work it made: one for each execution and one for each millisecond that it took, fading by half in
// an hour. A record's weight is counted; that of a statement without a record (a stranger) is estimated by a count-min sketch
// (package heavy), never too low. A stranger gets a record once its estimate is above the floor, which is the weight of the
// heaviest that was forgotten when room was made last. It begins with that estimate as its weight, as in the space-saving
// algorithm (Metwally and others), so that it is not at once the lightest again.
//
// Room is made for many at a time: the lightest sixteenth is forgotten. What they counted is added to "other", to the last
// number, and their weight goes to the sketch, so one that comes back is known. A stranger's own executions are counted
// in "other" too. So at rest the sum over all records, other and unknown is the number of exchanges that were reported.

const (
	forgetPart = 16
	halfLife   = time.Hour
	// maxKept is the longest normalised text that gets a record, bytes.
	maxKept = 32 << 10
)

// admitRecord returns the record of a statement, a stranger's if there is no room for it.
func (r *Registry) admitRecord(print cql.Print, keyspace, text string, statement cql.Statement, complete func(*description)) *record {
	weight := float64(r.sketch.Weight(heavy.Key(print)))
	r.mu.Lock()
	defer r.mu.Unlock()
	if x := r.records[print]; x != nil {
		return x
	}
	if len(text) > maxKept || r.isFull() && weight <= r.floor {
		return r.newStranger(print)
	}
	if r.isFull() && r.snapshotting.TryLock() {
		r.forgetLightest()
		r.snapshotting.Unlock()
	}
	if r.isFull() {
		return r.newStranger(print) // a snapshot is being made, or a few long texts take all there is
	}
	a := describeStatement(print, keyspace, text, statement)
	if complete != nil {
		complete(a)
	}
	x := r.newRecord(print, a)
	x.weight = weight
	r.addBytes(x, recordBytes+a.memoryBytes())
	r.records[print] = x
	return x
}

// isFull reports whether there is no room for another record. Registry.mu is held.
func (r *Registry) isFull() bool {
	return len(r.records) >= r.options.Fingerprints || r.used.Load()+recordBytes+countersBytes > r.budget
}

// addBytes is record.addBytes for who holds Registry.mu.
func (r *Registry) addBytes(x *record, n int64) {
	x.bytes.Add(n)
	r.used.Add(n)
}

func (r *Registry) newRecord(print cql.Print, a *description) *record {
	r.births++
	x := &record{registry: r, print: print, born: r.births, first: r.now().UnixNano()}
	x.description.Store(a)
	return x
}

// newStranger is the record of a statement for which there is no room: a sign to other.
func (r *Registry) newStranger(print cql.Print) *record {
	x := &record{registry: r, print: print}
	x.description.Store(r.other.description.Load())
	x.gone.Store(true)
	return x
}

// stillCounts reports whether x need not be looked for: it counts for itself, or it would still be a stranger.
func (r *Registry) stillCounts(x *record) bool {
	return !x.gone.Load() || float64(r.sketch.Weight(heavy.Key(x.print))) <= r.floorNow()
}

func (r *Registry) floorNow() float64 {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.floor
}

// countForgotten counts exchanges of a record that is gone: where its statement is counted now, or as other.
func (r *Registry) countForgotten(x *record, es []proxy.Exchange) {
	if heir := x.heir.Load(); heir != nil && !heir.gone.Load() {
		heir.Done(es)
		return
	}
	work := uint64(len(es))
	for i := range es {
		if !es[i].InBatch {
			work += nonNegative(es[i].End-es[i].Start) / uint64(time.Millisecond)
		}
	}
	p := es[0].Prepared
	if w := r.sketch.Add(heavy.Key(x.print), uint32(min(work, math.MaxUint16))); float64(w) > r.floorNow() && p != nil { //nolint:gosec // bounded
		if heir := recordOf(r.Statement(p.Keyspace, p.Text)); heir != nil && !heir.gone.Load() && heir.print == x.print {
			heir.Prepared(p)
			x.heir.Store(heir)
			heir.Done(es)
			return
		}
	}
	r.other.countExchanges(es)
	r.other.showExchanges(es)
}

// makeRoom makes room in the background, if nobody does.
func (r *Registry) makeRoom() {
	if !r.shrinking.CompareAndSwap(false, true) {
		return
	}
	guard.In(&r.work, guard.Recorder, func() {
		defer r.shrinking.Store(false)
		r.snapshotting.Lock()
		defer r.snapshotting.Unlock()
		r.mu.Lock()
		defer r.mu.Unlock()
		for r.used.Load() > r.budget && len(r.records) > 0 {
			r.forgetLightest()
		}
	})
}

// forgetLightest forgets a sixteenth of the records, one at least. Registry.mu and snapshotting are held.
func (r *Registry) forgetLightest() {
	now := r.now()
	if r.fadeWeights(now) {
		r.sketch.Halve()
	}
	list := make([]*record, 0, len(r.records))
	for _, x := range r.records {
		work := x.workDone()
		x.weight += work - x.weighed
		x.weighed = work
		list = append(list, x)
	}
	slices.SortFunc(list, func(a, b *record) int {
		switch {
		case a.weight < b.weight:
			return -1
		case a.weight > b.weight:
			return 1
		}
		return strings.Compare(string(a.print[:]), string(b.print[:])) // so that the same input forgets the same
	})
	list = list[:len(list)/forgetPart+1]
	r.floor = list[len(list)-1].weight
	for _, x := range list {
		r.forgetRecord(x)
	}
}

// fadeWeights lets all weights fade by the time that went by since it was done last, and reports whether the sketch's should.
func (r *Registry) fadeWeights(now time.Time) (halve bool) {
	past := now.Sub(r.faded)
	if past <= 0 { // the clock was set back
		if past < -halfLife {
			r.faded = now
		}
		return false
	}
	if past < halfLife {
		return false
	}
	factor := math.Exp2(-float64(past / halfLife))
	for _, x := range r.records {
		x.weight *= factor
	}
	r.floor *= factor
	r.faded = r.faded.Add(past.Truncate(halfLife))
	return true
}

// forgetRecord takes a record out and adds what it counted to other. Registry.mu is held.
func (r *Registry) forgetRecord(x *record) {
	delete(r.records, x.print)
	r.sketch.Raise(heavy.Key(x.print), uint32(min(x.weight, math.MaxUint32)))
	x.gone.Store(true)
	for _, c := range x.allStripes() {
		if c != nil {
			x.moveToOther(c)
		}
	}
	x.description.Store(r.other.description.Load())
	x.shape.Store(nil)
	r.used.Add(-x.bytes.Swap(0)) // also if it never counted
	r.forgotten.Add(1)
}
