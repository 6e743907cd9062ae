package options

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/helenus-db/helenus/advisor/model"
)

// Metrics are what schemas are compared by. Lower is better in all of them.
type Metrics struct {
	Tables, Indexes, Columns int     // columns as the seed counts them (Table.Columns)
	AvgIndexes               float64 // index columns per table
	AvgDuplication           float64 // columns per field of the entities

	WriteRequests float64 // metric 1: requests per write, weighted by how often it runs; 0 if there are no writes
	WriteMean     float64 // the same without weights
	Storage       float64 // metric 2a: bytes of stored fields per byte of the entities' fields, each field once per table
	// JoinRows is the greatest number of rows that precomputed joins may add, metric 2b. All options share it, so that no
	// score needs it.
	JoinRows float64
	Read     float64 // metric 3a: cost of a read's look-up, weighted; in the units of Costs
	Surplus  float64 // metric 3b: cost of the bytes that a read gets and did not ask for, weighted; the same units
}

// Costs are metrics 3a and 3b: guesses, or what a benchmark of the store says (bench/rank measures them); only their ratios matter.
type Costs struct {
	Key   float64 `json:"key"`   // of reading by a row key
	Index float64 `json:"index"` // of reading by a secondary index
	Byte  float64 `json:"byte"`  // of one more byte of a row
}

// DefaultCosts are guesses for a Cassandra without a benchmark: an index asks many nodes, a kilobyte is cheap.
var DefaultCosts = Costs{Key: 1, Index: 10, Byte: 0.0002}

// Score rates an option; lower is better. Own ones may be written.
type Score interface {
	Name() string
	Of(m Metrics) float64
}

// Simple is the seed's own score: index columns per table, plus columns per field.
//
// The seed calls options with a higher score better, though both terms are said to be better when lower. Ascending order is
// what makes its own example the best of 128 (B-44).
type Simple struct{}

// Name is "simple".
func (Simple) Name() string { return "simple" }

// Of is the score.
func (Simple) Of(m Metrics) float64 { return m.AvgIndexes + m.AvgDuplication }

// Weighted is the sum of the metrics, each times its weight.
type Weighted struct{ Writes, Storage, Read, Surplus float64 }

// EvenWeights weigh each metric the same.
var EvenWeights = Weighted{1, 1, 1, 1}

// Name is "weighted".
func (Weighted) Name() string { return "weighted" }

// Of is the score.
func (w Weighted) Of(m Metrics) float64 {
	return w.Writes*m.WriteRequests + w.Storage*m.Storage + w.Read*m.Read + w.Surplus*m.Surplus
}

// measureOption measures a schema.
func (f *finder) measureOption(list tables) *Option {
	o := &Option{Tables: list}
	m := f.countMetrics(list)
	for _, s := range f.writes {
		o.Writes = append(o.Writes, f.writeCost(s, list))
	}
	f.writeMeans(&m, o)
	m.Storage = f.storageRatio(list)
	weights := 0.0
	for _, q := range f.report.Queries {
		if cost, surplus, ok := f.readCost(q, list); ok {
			w := f.weightOf(q.Weight)
			weights += w
			m.Read += w * cost
			m.Surplus += w * surplus
		}
	}
	if weights > 0 {
		m.Read /= weights
		m.Surplus /= weights
	}
	m.JoinRows = joinRows(list)
	o.Metrics = m
	for _, t := range list {
		if n := t.Columns() - t.least; t.Purpose == Read && n > f.config.ColumnGrowth {
			o.Warnings = append(o.Warnings, fmt.Sprintf("table (%s) has %d columns more than one of its queries needs", t, n))
		}
	}
	return o
}

// weightOf is 1 for all statements if none has one.
func (f *finder) weightOf(w float64) float64 {
	for _, s := range f.work.Statements {
		if s.Weight > 0 {
			return w
		}
	}
	return 1
}

func (f *finder) countMetrics(list []*Table) Metrics {
	m := Metrics{Tables: len(list)}
	for _, t := range list {
		m.Indexes += len(t.indexes)
		m.Columns += t.Columns()
	}
	if m.Tables > 0 {
		m.AvgIndexes = float64(m.Indexes) / float64(m.Tables)
		m.AvgDuplication = float64(m.Columns) / float64(max(1, f.report.Fields))
	}
	return m
}

func (f *finder) writeMeans(m *Metrics, o *Option) {
	weights := 0.0
	for i, c := range o.Writes {
		w := f.weightOf(f.writes[i].Weight)
		weights += w
		m.WriteRequests += w * float64(c.Reads+c.Writes)
		m.WriteMean += float64(c.Reads+c.Writes) / float64(len(o.Writes))
		if c.Warning != "" {
			o.Warnings = append(o.Warnings, c.Statement+": "+c.Warning)
		}
	}
	if weights > 0 {
		m.WriteRequests /= weights
	}
}

func (f *finder) storageRatio(list []*Table) float64 {
	stored := 0.0
	for _, t := range list {
		for _, x := range t.Physical().Fields() {
			stored += x.Size()
		}
	}
	return stored / max(1, f.entityBytes())
}

// entityBytes is the bytes of all fields of all entities, each once.
func (f *finder) entityBytes() float64 {
	bytes := 0.0
	for _, e := range f.work.Graph.Entities {
		for _, a := range e.Attributes {
			bytes += model.Field{Entity: e, Attribute: a}.Size()
		}
	}
	return bytes
}

// readCost is that of the table that answers a query best, and of the bytes it reads in vain.
func (f *finder) readCost(q *Query, list []*Table) (cost, surplus float64, ok bool) {
	cost = math.Inf(1)
	for _, t := range list {
		if t.Purpose == Helper || !t.Answers(q) {
			continue
		}
		byKey, indexes, _ := t.accessBy(q.filter)
		here := f.config.Costs.Index * float64(indexes)
		if byKey {
			here += f.config.Costs.Key
		}
		bytes := 0.0
		for _, i := range t.all.minus(q.all).members() {
			bytes += f.fields[i].Size()
		}
		if bytes *= f.config.Costs.Byte; here+bytes < cost+surplus || !ok {
			cost, surplus, ok = here, bytes, true
		}
	}
	return cost, surplus, ok
}

// joinRows bounds what the joins add: for each relationship of each different join, n rows for each entity of the one side
// and m for each of the other, n and m being how many partners those have.
func joinRows(list []*Table) float64 {
	seen, rows := map[string]bool{}, 0.0
	for _, t := range list {
		key := t.Tree.Key()
		if seen[key] || t.Purpose == Helper {
			continue
		}
		seen[key] = true
		for _, r := range t.Tree.Edges {
			if r.Kind != model.OneToOne {
				rows += 2 * r.Pairs() // n * |A| + m * |B|, where n * |A| and m * |B| are the related pairs
			}
		}
	}
	return rows
}

// rankOptions sorts by score, then by indexes (B-51), tables, columns and names, and numbers the options. Designs that were given come
// after options of their score.
func (f *finder) rankOptions() {
	f.report.Score = f.config.Score.Name()
	list := f.report.Options
	slices.SortFunc(list, func(a, b *Option) int { return cmp.Compare(a.key, b.key) })
	for i, o := range list {
		o.Name = fmt.Sprintf("option %d", i+1)
	}
	for _, g := range f.config.Given {
		list = append(list, f.measureGiven(g))
	}
	for _, o := range list {
		o.Score = f.config.Score.Of(o.Metrics)
	}
	slices.SortStableFunc(list, compareOptions)
	for i, o := range list {
		o.Rank = i + 1
	}
	f.report.Options = list
}

// compareOptions orders options. Scores are rounded, since sums of fractions differ by the order of adding.
func compareOptions(a, b *Option) int {
	score := func(o *Option) float64 { return math.Round(o.Score * 1e9) }
	last := func(o *Option) int {
		if o.Given {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(score(a), score(b)), last(a)-last(b), cmp.Compare(a.Metrics.Indexes, b.Metrics.Indexes), cmp.Compare(a.Metrics.Tables, b.Metrics.Tables), cmp.Compare(a.Metrics.Columns, b.Metrics.Columns))
}

// compareParts orders what groups of queries become by the simple score, as if each were all.
func compareParts(a, b tables, fields int) int {
	score := func(t tables) (s float64, indexes int) {
		columns := 0
		for _, x := range t {
			indexes += len(x.indexes)
			columns += x.Columns()
		}
		return float64(indexes)/float64(max(1, len(t))) + float64(columns)/float64(max(1, fields)), indexes
	}
	x, m := score(a)
	y, n := score(b)
	return cmp.Or(cmp.Compare(x, y), cmp.Compare(m, n))
}
