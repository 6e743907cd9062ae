package capture

import (
	"sync/atomic"

	"github.com/helenus-db/helenus/proxy"
)

// A driver says a request again in two cases, and nothing in the protocol tells so: it retries what failed, and it executes
// speculatively what takes long, on another connection. What can be known is that the same bytes (statement, values,
// parameters, all but the timestamp: Exchange.Hash) came again from the same process, namely
//
//   - within retryWithin of their having failed: retried, or an application that tries again by itself;
//   - while they were under way: a speculative execution, or an application that asks for the same row in two threads. To
//     see that takes a look into a table that all connections write, so only one hash in twinsOf is looked at, and each
//     find counts for as many: the two requests of a pair have one hash, so the estimate is right in the mean.
//
// Both tables forget by being overwritten: a repetition may be missed, and, once in 2^31 looks, invented.
type repeats struct {
	lastFailure atomic.Int64 // End of the exchange that failed last
	failures    [repeatPlaces]atomic.Uint64
	twins       [repeatPlaces]atomic.Uint64
}

type repetition uint8

const (
	first repetition = iota
	retried
	twin
)

const (
	repeatPlaces = 1024
	retryWithin  = int64(5e9)
	twinsOf      = 16

	// An entry is 31 bits of the hash above 33 bits of a time in microseconds, which come round after 2.4 hours.
	timeBits = 33
	timeMask = 1<<timeBits - 1
)

func packEntry(hash uint64, at int64) uint64 {
	return hash>>timeBits<<timeBits | uint64(at/1000)&timeMask
}

// sinceEntry is the time in microseconds from an entry's to at, negative if the entry's is later.
func sinceEntry(entry uint64, at int64) int64 {
	d := (uint64(at/1000) - entry) & timeMask
	if d > timeMask/2 {
		return int64(d) - timeMask - 1
	}
	return int64(d)
}

// countRepeats tells how many of some exchanges are retries and how many are twins, and remembers them. They ended at one moment, and all of
// them failed or none.
func (r *repeats) countRepeats(xs []proxy.Exchange) (again, twins uint64) {
	all := xs[0].Failed || r.mayBeRetry(&xs[0])
	for i := range xs {
		if x := &xs[i]; all || x.Hash%twinsOf == 0 {
			switch r.classifyRepeat(x) {
			case retried:
				again++
			case twin:
				twins++
			}
		}
	}
	return again, twins
}

// mayBeRetry reports whether a request failed so lately that x may be its retry.
func (r *repeats) mayBeRetry(x *proxy.Exchange) bool { return x.End-r.lastFailure.Load() < retryWithin }

// classifyRepeat reports whether x repeats an earlier request, and remembers it.
func (r *repeats) classifyRepeat(x *proxy.Exchange) repetition {
	if x.Hash == 0 || x.InBatch {
		return first
	}
	found := first
	failing := r.mayBeRetry(x)
	sampled := x.Hash%twinsOf == 0
	if !failing && !sampled && !x.Failed {
		return first
	}
	hash := x.Hash
	if x.Client != nil {
		hash ^= x.Client.Mark >> 32 * 0x9E3779B97F4A7C15 // of this process only
	}
	place := hash / twinsOf % repeatPlaces
	same := func(entry uint64) bool { return entry != 0 && entry>>timeBits == hash>>timeBits }
	if sampled {
		t := &r.twins[place]
		if e := t.Load(); same(e) && sinceEntry(e, x.Start) < 0 {
			found = twin
		}
		t.Store(packEntry(hash, x.End))
	}
	if failing {
		if e := r.failures[place].Load(); same(e) {
			if after := sinceEntry(e, x.Start); after >= 0 && after*1000 < retryWithin {
				found = retried
			}
		}
	}
	if x.Failed && retryable(x.ErrorCode) {
		r.failures[place].Store(packEntry(hash, x.End))
		r.lastFailure.Store(x.End)
	}
	return found
}

// retryable reports whether drivers may say a request again that failed so.
func retryable(code int32) bool {
	switch proxy.ErrorNames[proxy.ErrorPlace(code)] {
	case "server", "unavailable", "overloaded", "bootstrapping", "truncate", "write_timeout", "read_timeout", "read_failure", "write_failure", "cas_write_unknown":
		return true
	}
	return false
}
