// Package feed finds feeds: result columns whose values the application later binds in another statement. It is given hashed
// executions (Miner.Add, by capture/window), looks for values that travel, and says which pairs are more than
// coincidence (Miner.Feeds). It imports capture/decoy, capture/trace and capture/value.
//
// The method is that of docs/design/mapping.md 2.5. Drivers multiplex many threads over few connections, so "the statement
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
//	for each echo chosen, what feeds the variable that it comes from is looked for among the observations that it explains: one
//	  answer may be followed by several statements, and the later ones are as well explained by the earlier ones' variables
//
// Whether there is a feed and how much it explains are two numbers. Confidence is the certainty of a test: with decoys as null control the
// excess is normally distributed if there is none, and the false discovery rate is bounded by Bonferroni's correction. Share is
// an estimate, from hits and decoys together: at many threads nearly all values were somewhere a moment ago, and a feed that
// explains half of them is no less certain for that.
//
// D3 then says of each finding what the application does there, by the latest answers of the producer, which are remembered for it
// (answers.go): which rows of an answer are followed (usage.go: all, the first ones, those that a column chooses, some), and which echoes mean
// something (echo.go):
//
//	check              the producer has at most one row, nothing of it is bound elsewhere, and the consumer follows at least five times as
//	                   often when there was one as when there was none, or the other way round (six standard deviations); both must occur
//	read-modify-write  the consumer writes to the very row that the producer read (every column of its key agrees, nine times of ten)
//	                   and sets columns that were read, mostly to other values; not what is added to (counters, lists)
//
//	sibling            both are reads, of two tables, and what explains the consumer's value best is that the producer was asked for it just before
//	faint              no echo: a feed by all but its share, which is of 0.5 to 3 % of a read
//
// Without IF in the consumer either of the first two is a race: what was read may have changed by the time of the write.
//
// Where the link is thin: the false-discovery run of decoys against decoys is made by the tests only; feeds between two processes are not seen. Of columns whose values are not compared (float, double,
// decimal, boolean, blob) a write is believed to change them. A row that is always there, or never, tells no check. An echo is searched for
// within the second that provenance lasts: who saves a form a minute after it was read is not seen to. Of an INSERT the key is believed to be what the
// producer's WHERE names, if it never found a second row.
package feed

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Shape says how the values of one execution of the producer are used (docs/design/mapping.md 2.5, D3).
type Shape string

// The shapes.
const (
	NPlusOne   Shape = "n+1"        // several executions of the consumer, one after the other
	FanOut     Shape = "fan-out"    // several, overlapping in time
	InList     Shape = "in-list"    // several values in one bound list
	Single     Shape = "single"     // one value, one execution
	Pagination Shape = "pagination" // same table, range on the fed column: one query read on, not a join

	// Shapes of echoes.
	Check           Shape = "check"             // whether the producer found a row decides whether the consumer follows
	ReadModifyWrite Shape = "read-modify-write" // the consumer changes the row that the producer read
	Sibling         Shape = "sibling"           // reads of two tables that are asked for the same value, which came from outside
	// Faint is a feed that accounts for too little of the consumer's executions to be believed: a person may know. It is no echo, and stands among them since it is no feed either.
	Faint Shape = "faint"
)

// End is one end of a feed: a result column of the producer or a bind variable of the consumer. An echo has two bind variables.
type End struct {
	Fingerprint string `json:"fingerprint"`
	Index       int    `json:"index"` // of the result column or bind variable, from 0; the variables of IN (?, ?, ?) are one
	Keyspace    string `json:"keyspace"`
	Table       string `json:"table"`
	Column      string `json:"column"`          // for a bound list the column's own name, not Cassandra's in(column)
	Bound       bool   `json:"bound,omitempty"` // of From: it is a bind variable
}

// Feed is one accepted feed, or echo, with its evidence. All counts are of sampled exchanges. An echo is two statements that are
// asked for the same value, the second after the first was answered, because of what the first found, or for the same thing (a sibling); it is no join.
type Feed struct {
	From End `json:"from"`
	To   End `json:"to"`

	Executions int `json:"executions"` // values bound by the consumer that were looked at
	Hits       int `json:"hits"`       // of these, how many the producer had returned shortly before
	Decoys     int `json:"decoys"`     // how many it would have been by coincidence
	// Share is the share of Executions whose value came from the producer: of what stronger sources left, (hits - decoys) / (left - decoys).
	// The shares of all sources of a variable add up to 1 at most.
	Share float64 `json:"share,omitempty"`

	Producers    int     `json:"producers"`     // executions of the producer that were followed by the consumer
	Followed     float64 `json:"followed"`      // share of the producer's executions that were followed, 0..1
	PerExecution float64 `json:"per_execution"` // mean number of distinct values followed per followed execution

	LagP50 float64 `json:"lag_p50"` // microseconds from the producer's answer to the consumer's request
	LagP99 float64 `json:"lag_p99"`

	Shape       Shape `json:"shape"`
	SupportRead bool  `json:"support_read,omitempty"` // the consumer is a write: the producer's read serves it

	// Which rows of an answer are followed, of answers that are at all; empty if that is not known, and for echoes.
	Use          Use     `json:"use,omitempty"`
	By           string  `json:"by,omitempty"`            // the producer's column that tells which, if Use is UseBy
	RowsFollowed float64 `json:"rows_followed,omitempty"` // share of the different values, of the first 32 rows, 0..1
	Repeated     float64 `json:"repeated,omitempty"`      // share of the consumer's executions that ask for what was fetched for the same answer already, 0..1

	Outcome *Outcome `json:"outcome,omitempty"` // of a check
	Change  *Change  `json:"change,omitempty"`  // the consumer changes the very row that was read
	// Race: the consumer writes to what was read without IF, so what was read may not be so any more.
	Race bool `json:"race,omitempty"`

	// Confidence that the producer is a source at all, however small its share: 1 - the chance of as many hits by coincidence, times the sources that were tried.
	Confidence float64 `json:"confidence"`

	Last   time.Time `json:"last,omitzero"` // when it was last seen; kept by who knows what time it is
	LastAt int64     `json:"-"`             // the same on the clock of the executions
}

// Statistics counts what the miner did since it was made.
type Statistics struct {
	Dropped    uint64 `json:"dropped"`    // executions and values thrown away because there was no room
	Duplicates uint64 `json:"duplicates"` // retries and speculative executions left out
	Parameters int    `json:"parameters"` // bind variables with observations
}

// Merge returns the feeds of both findings. Where both know one, that which was seen later is right; of two seen at one time, the
// one that rests on more. So any number of findings may be merged, in any order.
func Merge(a, b []Feed) []Feed {
	out := append(append([]Feed(nil), a...), b...)
	sortFeeds(out)
	n := 0
	for i := range out {
		if n > 0 && out[n-1].From == out[i].From && out[n-1].To == out[i].To {
			if out[n-1].compare(&out[i]) < 0 {
				out[n-1] = out[i]
			}
			continue
		}
		out[n] = out[i]
		n++
	}
	return out[:n]
}

// compare tells which of two findings of one feed is right: the greater.
func (f *Feed) compare(g *Feed) int {
	return cmp.Or(f.Last.Compare(g.Last), cmp.Compare(f.Executions, g.Executions), cmp.Compare(f.Hits, g.Hits), cmp.Compare(g.Decoys, f.Decoys),
		cmp.Compare(f.Producers, g.Producers), cmp.Compare(f.Followed, g.Followed), cmp.Compare(f.PerExecution, g.PerExecution),
		cmp.Compare(f.Share, g.Share), cmp.Compare(f.LagP50, g.LagP50), cmp.Compare(f.LagP99, g.LagP99), cmp.Compare(f.Shape, g.Shape),
		cmp.Compare(f.RowsFollowed, g.RowsFollowed), cmp.Compare(f.Repeated, g.Repeated), cmp.Compare(f.details(), g.details()))
}

// details is the rest of a finding, to compare it by.
func (f *Feed) details() string {
	out := fmt.Sprint(f.Use, f.By, f.Race)
	if f.Outcome != nil {
		out += fmt.Sprint(*f.Outcome)
	}
	if f.Change != nil {
		out += fmt.Sprint(*f.Change)
	}
	return out
}

// Since returns the feeds that were seen at a time or after it.
func Since(feeds []Feed, oldest time.Time) []Feed {
	var out []Feed
	for _, f := range feeds {
		if f.Last.IsZero() || !f.Last.Before(oldest) {
			out = append(out, f)
		}
	}
	return out
}

func sortFeeds(feeds []Feed) {
	end := func(a, b *End) int {
		return cmp.Or(cmp.Compare(a.Fingerprint, b.Fingerprint), cmp.Compare(a.Index, b.Index), compareBool(a.Bound, b.Bound))
	}
	rest := func(a, b *End) int {
		return cmp.Or(cmp.Compare(a.Keyspace, b.Keyspace), cmp.Compare(a.Table, b.Table), cmp.Compare(a.Column, b.Column))
	}
	slices.SortStableFunc(feeds, func(a, b Feed) int {
		return cmp.Or(end(&a.From, &b.From), end(&a.To, &b.To), rest(&a.From, &b.From), rest(&a.To, &b.To))
	})
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}
