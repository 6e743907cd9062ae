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

// admit returns the record of a statement, a stranger's if there is no room for it.
func (r *Registry) admit(print cql.Print, keyspace, text string, statement cql.Statement, complete func(*about)) *record {
	weight := float64(r.sketch.Weight(heavy.Key(print)))
	r.mu.Lock()
	defer r.mu.Unlock()
	if x := r.records[print]; x != nil {
		return x
	}
	if len(text) > maxKept || r.full() && weight <= r.floor {
		return r.stranger(print)
	}
	if r.full() && r.picture.TryLock() {
		r.forgetLightest()
		r.picture.Unlock()
	}
	if r.full() {
		return r.stranger(print) // a snapshot is being made, or a few long texts take all there is
	}
	a := describe(print, keyspace, text, statement)
	if complete != nil {
		complete(a)
	}
	x := r.newRecord(print, a)
	x.weight = weight
	r.grown(x, recordBytes+a.bytes())
	r.records[print] = x
	return x
}

// full tells whether there is no room for another record. Registry.mu is held.
func (r *Registry) full() bool {
	return len(r.records) >= r.options.Fingerprints || r.used.Load()+recordBytes+countersBytes > r.budget
}

// grown is record.grow for who holds Registry.mu.
func (r *Registry) grown(x *record, n int64) {
	x.bytes.Add(n)
	r.used.Add(n)
}

func (r *Registry) newRecord(print cql.Print, a *about) *record {
	r.births++
	x := &record{registry: r, print: print, born: r.births, first: r.now().UnixNano()}
	x.about.Store(a)
	return x
}

// stranger is the record of a statement for which there is no room: a sign to other.
func (r *Registry) stranger(print cql.Print) *record {
	x := &record{registry: r, print: print}
	x.about.Store(r.other.about.Load())
	x.gone.Store(true)
	return x
}

// known tells whether x need not be looked for: it counts for itself, or it would still be a stranger.
func (r *Registry) known(x *record) bool {
	return !x.gone.Load() || float64(r.sketch.Weight(heavy.Key(x.print))) <= r.floorNow()
}

func (r *Registry) floorNow() float64 {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.floor
}

// astray counts exchanges of a record that is gone: where its statement is counted now, or as other.
func (r *Registry) astray(x *record, es []proxy.Exchange) {
	if heir := x.heir.Load(); heir != nil && !heir.gone.Load() {
		heir.Done(es)
		return
	}
	work := uint64(len(es))
	for i := range es {
		if !es[i].InBatch {
			work += natural(es[i].End-es[i].Start) / uint64(time.Millisecond)
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
	r.other.count(es)
	r.other.observe(es)
}

// shrink makes room in the background, if nobody does.
func (r *Registry) shrink() {
	if !r.shrinking.CompareAndSwap(false, true) {
		return
	}
	guard.In(&r.work, guard.Recorder, func() {
		defer r.shrinking.Store(false)
		r.picture.Lock()
		defer r.picture.Unlock()
		r.mu.Lock()
		defer r.mu.Unlock()
		for r.used.Load() > r.budget && len(r.records) > 0 {
			r.forgetLightest()
		}
	})
}

// forgetLightest forgets a sixteenth of the records, one at least. Registry.mu and picture are held.
func (r *Registry) forgetLightest() {
	now := r.now()
	if r.fade(now) {
		r.sketch.Halve()
	}
	list := make([]*record, 0, len(r.records))
	for _, x := range r.records {
		work := x.work()
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
		r.forget(x)
	}
}

// fade lets all weights fade by the time that went by since it was done last, and tells whether the sketch's should.
func (r *Registry) fade(now time.Time) (halve bool) {
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

// forget takes a record out and adds what it counted to other. Registry.mu is held.
func (r *Registry) forget(x *record) {
	delete(r.records, x.print)
	r.sketch.Raise(heavy.Key(x.print), uint32(min(x.weight, math.MaxUint32)))
	x.gone.Store(true)
	for _, c := range x.all() {
		if c != nil {
			x.leave(c)
		}
	}
	x.about.Store(r.other.about.Load())
	x.shape.Store(nil)
	r.used.Add(-x.bytes.Swap(0)) // also if it never counted
	r.forgotten.Add(1)
}
