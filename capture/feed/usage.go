package feed

import (
	"math"
	"sort"

	"github.com/helenus-db/helenus/capture/trace"
)

// Use says which of an answer's rows are followed, of those answers of which any is (docs/design/mapping.md 2.5, D3).
type Use string

// The uses.
const (
	UseAll   Use = "all"    // every row
	UseFirst Use = "first"  // the first ones: a LIMIT in the application
	UseBy    Use = "subset" // those that one of the answer's columns chooses: a predicate in the application
	UseSome  Use = "some"   // some, and it is not to be seen why
)

// Thresholds of usage.
const (
	leastAnswers  = 20   // answers with followed rows
	leastExamples = 30   // rows followed, and as many not followed, to tell a predicate from
	wholeShare    = 0.95 // of the rows: all
	prefixShare   = 0.9  // of the answers that were followed in part
	maxChoices    = 16   // different values of a column by which rows are chosen
	predicted     = 0.95 // of the rows, by a predicate
	explains      = 0.25 // of the rows that guessing gets wrong, a predicate may get wrong
)

// example is a row that might have been followed.
type example struct {
	a        *answer
	row      uint16
	followed bool
}

// usage works out which rows of the producer's answers are followed. It says nothing if too few answers are remembered.
func (m *Miner) usage(feed *Feed, f finding, observations []observation) {
	type fetch struct {
		seq   uint32
		value uint64
	}
	fetches, consumers := map[fetch]int{}, map[[2]uint64]bool{}
	for i := range observations {
		o := &observations[i]
		h, ok := o.from(f.source, f.edge)
		if !ok {
			continue
		}
		if who := [2]uint64{uint64(h.seq)<<32 | uint64(o.seq), o.value}; !consumers[who] {
			consumers[who] = true
			fetches[fetch{h.seq, o.value}]++
		}
	}
	if len(consumers) > 0 {
		feed.Repeated = 1 - float64(len(fetches))/float64(len(consumers))
	}
	of := m.answers[f.source.statement()]
	if of == nil {
		return
	}
	var examples []example
	var used, values, followed, partial, prefixes int
	var chance float64 // prefixes that would be by chance
	for i := range of.list {
		a := &of.list[i]
		list := a.values(f.source.index())
		n, prefix := 0, true
		for k := range list {
			if fetches[fetch{a.seq, list[k].hash}] > 0 {
				prefix = prefix && n == k
				n++
			}
		}
		if n == 0 {
			continue
		}
		used, values, followed = used+1, values+len(list), followed+n
		for k := range list {
			examples = append(examples, example{a, list[k].row, fetches[fetch{a.seq, list[k].hash}] > 0})
		}
		if n < len(list) {
			partial++
			chance += 1 / choose(len(list), n)
			if prefix {
				prefixes++
			}
		}
	}
	if used < leastAnswers {
		return
	}
	feed.RowsFollowed = float64(followed) / float64(values)
	switch {
	case feed.RowsFollowed >= wholeShare:
		feed.Use = UseAll
	case partial >= leastAnswers && float64(prefixes) >= prefixShare*float64(partial) && chance <= float64(partial)/2:
		feed.Use = UseFirst
	default:
		feed.Use = UseSome
		if c := predictor(examples, m.statements[f.source.statement()].statement, f.source.index()); c >= 0 {
			feed.Use, feed.By = UseBy, m.statements[f.source.statement()].statement.Results[c].Name
		}
	}
}

// choose is the number of ways to take k of n.
func choose(n, k int) float64 {
	out := 1.0
	for i := range k {
		out *= float64(n-i) / float64(k-i)
	}
	return out
}

// predictor returns the column, other than the fed one, that tells best which rows are followed; -1 if none tells it well.
func predictor(examples []example, st *trace.Statement, fed int) int {
	yes := 0
	for _, x := range examples {
		if x.followed {
			yes++
		}
	}
	no := len(examples) - yes
	if yes < leastExamples || no < leastExamples {
		return -1
	}
	best, fewest := -1, min(explains*float64(min(yes, no)), (1-predicted)*float64(len(examples)))
	for c := range st.Results {
		if c == fed || st.Results[c].Name == st.Results[fed].Name {
			continue
		}
		if wrong := float64(mistakes(examples, c)); wrong < fewest || wrong == fewest && best < 0 {
			best, fewest = c, wrong
		}
	}
	return best
}

// mistakes is how many rows are taken for followed, or not, wrongly, by the best rule on one column: a set of its values if they are few, or
// a limit if it is a number.
func mistakes(examples []example, column int) int {
	type choice struct {
		null bool
		hash uint64
	}
	type point struct {
		number   int64
		followed bool
	}
	counts := map[choice]*[2]int{}
	var points []point
	nulls := [2]int{}
	numeric := true
	for _, x := range examples {
		c, ok := x.a.at(x.row, column)
		if !ok {
			return math.MaxInt // a collection, or not looked at
		}
		side := 0
		if x.followed {
			side = 1
		}
		if k := (choice{c.null, c.hash}); len(counts) <= maxChoices || counts[k] != nil {
			if counts[k] == nil {
				counts[k] = &[2]int{}
			}
			counts[k][side]++
		}
		switch {
		case c.null:
			nulls[side]++
		case c.numeric:
			points = append(points, point{c.number, x.followed})
		default:
			numeric = false
		}
	}
	wrong := math.MaxInt
	if len(counts) <= maxChoices {
		wrong = 0
		for _, n := range counts {
			wrong += min(n[0], n[1])
		}
	}
	if !numeric {
		return wrong
	}
	sort.Slice(points, func(i, j int) bool { return points[i].number < points[j].number })
	var below, all [2]int
	for _, p := range points {
		if p.followed {
			all[1]++
		} else {
			all[0]++
		}
	}
	for i, p := range points {
		if i > 0 && p.number != points[i-1].number { // followed are those below, or those from here on
			lower := below[0] + all[1] - below[1]
			upper := below[1] + all[0] - below[0]
			wrong = min(wrong, min(lower, upper)+min(nulls[0], nulls[1]))
		}
		if p.followed {
			below[1]++
		} else {
			below[0]++
		}
	}
	return wrong
}
