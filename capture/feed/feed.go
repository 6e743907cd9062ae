// Package feed finds feeds: result columns whose values the application later binds in another statement. It sees sampled
// exchanges (Miner.Observe), looks for values that travel, and says which pairs are more than coincidence (Miner.Feeds).
// It imports proxy (the hook types) and capture/histogram.
//
// The method is that of design/mapping.md 2.5. Drivers multiplex many threads over few connections, so "the statement
// before" means nothing; two statements are linked because a value was in an answer that had been handed to the client
// (D1: provenance by value, causality by delivered response) and was bound by a request shortly after. With dense integer keys
// that happens by chance all the time. So each observation is made twice, with the value bound and with a decoy: a value
// that the same variable was bound at least a second earlier. Chance hits both alike, and only the excess counts (D2).
//
//	provenance: value -> the latest few {time, source}
//	  source = a result column (delivered at time), or a bind variable (asked at time): an echo
//	on an answer:  every cell value that the request itself did not bind is entered as delivered
//	on a request:  for every bound value, the sources within the last second, and those of its decoy, are noted as an
//	               observation; then the values are entered as asked
//	now and then, for each variable, with alive = its observations:
//	  repeat: of all sources and lag limits take the one with the largest excess of hits over decoy hits that passes the
//	          thresholds, in the whole and in both halves of the time; drop the observations it explains from alive
//	  the result columns chosen are feeds; the echoes chosen are only explanations ("was known before")
//
// Values do not leave the decoder: they are compared as SipHash-2-4 of their canonical bytes under a random key that lives in
// this process's memory only, and which is changed every day (2.7).
//
// Where the link is thin: the proxy hands out no values of a batch's children, so reads that feed batches are not seen; windows are global, not staggered by process; the false-discovery run of decoys against decoys is
// made by the tests only; text is hashed byte for byte, without Unicode normalisation; user-defined types, tuples, maps,
// vectors and decimals are not looked into; feeds between two processes are not seen; a QUERY whose variables Cassandra
// has not described is not mined.
package feed

import "sort"

// Shape says how the values of one execution of the producer are used (design/mapping.md 2.5, D3).
type Shape string

// The shapes.
const (
	NPlusOne   Shape = "n+1"        // several executions of the consumer, one after the other
	FanOut     Shape = "fan-out"    // several, overlapping in time
	InList     Shape = "in-list"    // several values in one bound list
	Single     Shape = "single"     // one value, one execution
	Pagination Shape = "pagination" // same table, range on the fed column: one query read on, not a join
)

// End is one end of a feed: a result column of the producer or a bind variable of the consumer.
type End struct {
	Fingerprint string `json:"fingerprint"`
	Index       int    `json:"index"` // of the result column or bind variable, from 0; the variables of IN (?, ?, ?) are one
	Keyspace    string `json:"keyspace"`
	Table       string `json:"table"`
	Column      string `json:"column"` // for a bound list the column's own name, not Cassandra's in(column)
}

// Feed is one accepted feed, with its evidence. All counts are of sampled exchanges.
type Feed struct {
	From End `json:"from"`
	To   End `json:"to"`

	Executions int `json:"executions"` // values bound by the consumer that were looked at
	Hits       int `json:"hits"`       // of these, how many the producer had returned shortly before
	Decoys     int `json:"decoys"`     // how many it would have been by coincidence

	Producers    int     `json:"producers"`     // executions of the producer that were followed by the consumer
	Followed     float64 `json:"followed"`      // share of the producer's executions that were followed, 0..1
	PerExecution float64 `json:"per_execution"` // mean number of distinct values followed per followed execution

	LagP50 float64 `json:"lag_p50"` // microseconds from the producer's answer to the consumer's request
	LagP99 float64 `json:"lag_p99"`

	Shape       Shape   `json:"shape"`
	SupportRead bool    `json:"support_read,omitempty"` // the consumer is a write: the producer's read serves it
	Confidence  float64 `json:"confidence"`             // 0..1: lower 95 % bound of the share of hits that are no coincidence
}

// Statistics counts what the miner did since it was made.
type Statistics struct {
	Observed   uint64 `json:"observed"`   // exchanges taken in
	Dropped    uint64 `json:"dropped"`    // exchanges thrown away because the miner was behind or out of room
	Duplicates uint64 `json:"duplicates"` // retries and speculative executions left out
	Parameters int    `json:"parameters"` // bind variables with observations
}

// Merge returns the feeds of both findings; where both know one, the later finding is right.
func Merge(early, late []Feed) []Feed {
	type key struct{ from, to End }
	known := make(map[key]bool, len(late))
	out := append([]Feed(nil), late...)
	for _, f := range late {
		known[key{f.From, f.To}] = true
	}
	for _, f := range early {
		if !known[key{f.From, f.To}] {
			out = append(out, f)
		}
	}
	sortFeeds(out)
	return out
}

func sortFeeds(feeds []Feed) {
	sort.Slice(feeds, func(i, j int) bool {
		a, b := feeds[i], feeds[j]
		switch {
		case a.From.Fingerprint != b.From.Fingerprint:
			return a.From.Fingerprint < b.From.Fingerprint
		case a.From.Index != b.From.Index:
			return a.From.Index < b.From.Index
		case a.To.Fingerprint != b.To.Fingerprint:
			return a.To.Fingerprint < b.To.Fingerprint
		}
		return a.To.Index < b.To.Index
	})
}
