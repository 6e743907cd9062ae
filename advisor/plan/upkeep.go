package plan

import (
	"fmt"
	"strings"
)

// What a verified look-up costs the cluster, besides the statement of the application itself: the one place that advice and
// documentation take it from. The protocol that makes it so is that of package rewrite/maintain.

// Requests are those of ours that one statement of the application brings about in Cassandra.
type Requests struct {
	Reads  float64 `json:"reads"`  // of the row as it was, before the statement, beside the write of its entry
	Writes float64 `json:"writes"` // of entries, before the statement
	// After the client has its answer:
	LaterReads  float64 `json:"later_reads"`
	LaterWrites float64 `json:"later_writes"`
}

// Sum is how many they are.
func (r Requests) Sum() float64 { return r.Reads + r.Writes + r.LaterReads + r.LaterWrites }

// Plus adds requests.
func (r Requests) Plus(o Requests) Requests {
	return Requests{r.Reads + o.Reads, r.Writes + o.Writes, r.LaterReads + o.LaterReads, r.LaterWrites + o.LaterWrites}
}

// Times multiplies them.
func (r Requests) Times(n float64) Requests {
	return Requests{r.Reads * n, r.Writes * n, r.LaterReads * n, r.LaterWrites * n}
}

// String says what they are, with the application's own among them.
func (r Requests) String() string {
	return fmt.Sprintf("%s before it, %s after its answer: %.2g requests in Cassandra in place of 1",
		requestsText(r.Reads, r.Writes), requestsText(r.LaterReads, r.LaterWrites), 1+r.Sum())
}

func requestsText(reads, writes float64) string {
	var parts []string
	for _, x := range []struct {
		n    float64
		what string
	}{{reads, "read"}, {writes, "write"}} {
		switch {
		case x.n == 1:
			parts = append(parts, "1 "+x.what)
		case x.n > 0:
			parts = append(parts, fmt.Sprintf("%.2g %ss", x.n, x.what))
		}
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, " and ")
}

// Effect is what a statement does to the column that a look-up is keyed by.
type Effect int

// The effects.
const (
	Sets     Effect = iota // a value, in a row that had none: INSERT
	Replaces               // one value for another: UPDATE
	Repeats                // the value that is there already
	Clears                 // the value, or the row: DELETE
)

// upkeep is what each effect costs: of a statement that carries its client's timestamp, which most drivers give, and of one that does
// not, or has a condition.
var upkeep = map[Effect]struct{ stamped, unstamped Requests }{
	Sets:     {Requests{1, 1, 0, 0}, Requests{1, 1, 1, 1}},
	Replaces: {Requests{1, 1, 0, 1}, Requests{1, 1, 1, 2}},
	Repeats:  {Requests{1, 1, 0, 1}, Requests{1, 1, 1, 1}},
	Clears:   {Requests{1, 0, 0, 1}, Requests{1, 0, 1, 1}},
}

// Upkeep is what a statement brings about, a share of whose executions carries a timestamp and no condition.
func Upkeep(e Effect, stamped float64) Requests {
	u := upkeep[e]
	return u.stamped.Times(stamped).Plus(u.unstamped.Times(1 - stamped))
}

// Leaves is how many tombstones a statement leaves in the partition of the value that was: each read of it passes them until they are
// compacted away.
func (e Effect) Leaves() float64 {
	if e == Replaces || e == Clears {
		return 1
	}
	return 0
}

// GraceSeconds is gc_grace_seconds of a look-up table: how long its tombstones stay at the least. It is longer than hints are made
// for (max_hint_window, 3 h) and never 0, or hints would not be delivered and entries would miss on a replica. An entry that comes back is only
// surplus, as each is checked against its row, so ten days as for other tables are not needed.
const GraceSeconds = 6 * 3600

// LookUpOptions are the options of a look-up table but for its comment and order, as CREATE TABLE has them. Compaction is the
// cluster's default: what is read is one partition, and its tombstones go whenever a compaction meets them.
const LookUpOptions = "gc_grace_seconds = 21600"
