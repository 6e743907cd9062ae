package options

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
)

// Config says how to make and rank options. The zero Config allows no secondary index.
type Config struct {
	Indexes int // secondary indexes that a table may have
	// ColumnGrowth is how many columns more a merged table may have than one of its queries needs; beyond that a merge is
	// made with a warning, or with RefuseColumns not at all. 0: 10, below 0: none.
	ColumnGrowth  int
	RefuseColumns bool
	// RowGrowth is the share of rows more than both tables have that a merge over 1:n or n:m may make; 0: no such merges.
	RowGrowth float64
	Score     Score   // nil: Simple
	Costs     Costs   // zero: DefaultCosts
	Limits    Limits  // zeros: DefaultLimits
	Given     []Given // designs to rank beside the options
	Steps     bool    // keep what each step made
}

// Limits bound the enumeration. What they cut off is said in Report.Cut.
type Limits struct {
	Variants int // tables of one query
	Options  int // schemas of each step: before merging, for each group of queries, and after
	Schemas  int // schemas looked at while merging one group of queries
	LookUps  int // options that one option becomes by different look-ups
}

// DefaultLimits keep twelve queries of four filter fields to seconds.
var DefaultLimits = Limits{Variants: 1024, Options: 2048, Schemas: 20000, LookUps: 4}

// Option is a schema that answers each query by one request.
type Option struct {
	Name    string // "option 17"; of a design that was given, its name
	Rank    int    // from 1
	Score   float64
	Metrics Metrics
	Tables  []*Table
	Writes  []WriteCost // in the order of the workload
	// Warnings are of merges beyond the threshold, and of writes that do not find their rows.
	Warnings []string
	Given    bool

	given []*model.Table // of a design that was given
	key   string         // the same for the same tables
}

// Report is what the method found.
type Report struct {
	Name, Mix   string
	Indexes     int
	Score       string
	Queries     []*Query
	Unsupported []Remark
	Remarks     []Remark
	Cut         []string
	Fields      int       // of all entities
	Combined    float64   // schemas before merging: the product of the numbers of variants
	Looked      float64   // those of them that were merged
	Merged      float64   // different schemas after merging
	Options     []*Option // ranked
	Groups      []Group   // with Config.Steps
}

// Group is queries whose tables could merge with each other's, and with no others': options are combined of what the groups
// become.
type Group struct {
	Queries []string
	Steps   []Step
	Schemas [][]*Table // different ones, after merging
}

// Step is a schema before merging and what it became.
type Step struct {
	Before []*Table
	After  [][]*Table
}

type finder struct {
	universe
	work   *workload.Workload
	config Config
	report *Report
	writes []*workload.Statement
	trees  map[[2]string]model.Tree
	merged map[[2]*Table]*Table
}

// Find makes the options of a workload and ranks them. The error is that of ctx, a *TooLargeError, or a wrong Config.
func Find(ctx context.Context, w *workload.Workload, c Config) (*Report, error) {
	f, err := newFinder(w, c)
	if err != nil {
		return nil, err
	}
	schemas, err := f.mergedSchemas(ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range schemas {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for _, whole := range f.addLookUps(s) {
			f.report.Options = append(f.report.Options, f.measureOption(whole))
		}
	}
	f.report.Options = distinctOptions(f.report.Options)
	f.rankOptions()
	f.addAdvice()
	return f.report, nil
}

// newFinder reads the workload and makes the table variants.
func newFinder(w *workload.Workload, c Config) (*finder, error) {
	if c.Indexes < 0 || !(c.RowGrowth >= 0) {
		return nil, fmt.Errorf("%d indexes, a row growth of %g: neither may be below 0", c.Indexes, c.RowGrowth)
	}
	f := &finder{work: w, config: c.withDefaults(), trees: map[[2]string]model.Tree{}, merged: map[[2]*Table]*Table{}}
	f.number = map[model.Field]int{}
	f.report = &Report{Name: w.Name, Mix: w.Mix, Indexes: c.Indexes, Combined: 1, Looked: 1, Merged: 1}
	for _, e := range w.Graph.Entities {
		f.report.Fields += len(e.Attributes)
	}
	f.readStatements()
	if n := len(f.report.Queries); n > maxFields {
		return nil, &TooLargeError{"queries", n}
	}
	f.numberWrites()
	if n := len(f.fields); n > maxFields {
		return nil, &TooLargeError{"fields", n}
	}
	for _, q := range f.report.Queries {
		f.makeVariants(q)
		f.report.Combined *= float64(len(q.Variants))
	}
	return f, nil
}

func (c Config) withDefaults() Config {
	set := func(v *int, usual int) {
		if *v == 0 {
			*v = usual
		}
	}
	set(&c.ColumnGrowth, 10)
	c.ColumnGrowth = max(c.ColumnGrowth, 0)
	set(&c.Limits.Variants, DefaultLimits.Variants)
	set(&c.Limits.Options, DefaultLimits.Options)
	set(&c.Limits.Schemas, DefaultLimits.Schemas)
	set(&c.Limits.LookUps, DefaultLimits.LookUps)
	if c.Costs == (Costs{}) {
		c.Costs = DefaultCosts
	}
	if c.Score == nil {
		c.Score = Simple{}
	}
	return c
}

// numberWrites gives the fields of writes, and all keys, their numbers, before the number of fields is judged.
func (f *finder) numberWrites() {
	for _, e := range f.work.Graph.Entities {
		f.set(e.KeyFields()...)
	}
	for _, s := range f.writes {
		f.set(s.Write.Set...)
		for _, p := range s.Write.Where {
			f.set(canonical(s.Write.Tree, p.Field), p.Field)
		}
	}
	for _, q := range f.report.Queries {
		for _, e := range q.Tree.Entities {
			f.set(canonicalAll(q.Tree, e.KeyFields())...)
		}
	}
}

// distinctOptions removes schemas that are there twice (step 1d).
func distinctOptions(list []*Option) []*Option {
	seen := map[string]bool{}
	return slices.DeleteFunc(list, func(o *Option) bool {
		o.key = tables(o.Tables).key()
		was := seen[o.key]
		seen[o.key] = true
		return was
	})
}

// queryGroups parts the queries: tables of different groups never merge, since what the conditions ask of relationships and
// subsets does not depend on the assignment of filters.
func (f *finder) queryGroups() [][]*Query {
	var groups [][]*Query
	for _, q := range f.report.Queries {
		joined := []*Query{q}
		groups = slices.DeleteFunc(groups, func(g []*Query) bool {
			if !slices.ContainsFunc(g, func(o *Query) bool { return f.mayMerge(q, o) }) {
				return false
			}
			joined = append(joined, g...)
			return true
		})
		slices.SortFunc(joined, func(a, b *Query) int { return a.number - b.number })
		groups = append(groups, joined)
	}
	slices.SortFunc(groups, func(a, b []*Query) int { return a[0].number - b[0].number })
	return groups
}

// mayMerge reports whether tables of two queries, or what they become, could be merged or dropped for each other.
func (f *finder) mayMerge(a, b *Query) bool {
	if f.config.RowGrowth > 0 {
		return slices.ContainsFunc(a.Tree.Entities, func(e *model.Entity) bool { return b.Tree.Has(e) }) || f.joinsPlainly(a, b)
	}
	if a.Tree.Key() == b.Tree.Key() {
		return a.all.in(b.all) || b.all.in(a.all) || !manyRows(a.Tree)
	}
	return f.joinsPlainly(a, b)
}

func (f *finder) joinsPlainly(a, b *Query) bool {
	tree, ok := f.joinTrees(a.Tree, b.Tree)
	return ok && !manyRows(tree)
}

// manyRows reports whether a table over the tree computes a join over 1:n or n:m.
func manyRows(t model.Tree) bool {
	return slices.ContainsFunc(t.Edges, func(r *model.Relationship) bool { return r.Kind != model.OneToOne })
}

// mergedSchemas are the different schemas after merging (steps 1b to 1d).
func (f *finder) mergedSchemas(ctx context.Context) ([]tables, error) {
	var parts [][]tables
	for _, g := range f.queryGroups() {
		part, err := f.mergeGroup(ctx, g)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
		f.report.Merged *= float64(len(part))
	}
	sizes := make([]int, len(parts))
	for i, p := range parts {
		sizes[i] = len(p)
	}
	var list []tables
	whole := eachTuple(sizes, f.config.Limits.Options, func(at []int) bool {
		var all []*Table
		for i, j := range at {
			all = append(all, parts[i][j]...)
		}
		list = append(list, sortTables(all))
		return ctx.Err() == nil
	})
	if !whole {
		f.noteCut("of %.6g merged schemas, the %d combined of the best of each group of queries are ranked", f.report.Merged, len(list))
	}
	return list, ctx.Err()
}

// mergeGroup merges the combinations of the variants of some queries, and returns the different results, the best by the simple
// score first.
func (f *finder) mergeGroup(ctx context.Context, queries []*Query) ([]tables, error) {
	group := Group{}
	sizes := make([]int, len(queries))
	all := 1.0
	for i, q := range queries {
		group.Queries = append(group.Queries, q.ID)
		sizes[i] = len(q.Variants)
		all *= float64(sizes[i])
	}
	found := map[string]tables{}
	budget, looked, unfinished := f.config.Limits.Schemas, 0, 0
	whole := eachTuple(sizes, f.config.Limits.Options, func(at []int) bool {
		before := make([]*Table, len(queries))
		for i, j := range at {
			before[i] = queries[i].Variants[j]
		}
		after, complete := f.mergeFixpoints(before, &budget)
		looked++
		if !complete {
			unfinished++
		}
		for _, t := range after {
			found[t.key()] = t
		}
		if f.config.Steps {
			s := Step{Before: before}
			for _, t := range after {
				s.After = append(s.After, t)
			}
			group.Steps = append(group.Steps, s)
		}
		return ctx.Err() == nil
	})
	f.report.Looked *= float64(looked)
	if !whole {
		f.noteCut("of %.6g combinations of table variants of the queries %v, %d were merged, those with the fewest indexed fields", all, group.Queries, looked)
	}
	if unfinished > 0 {
		f.noteCut("of the combinations for %v, %d were not merged in every order: %d schemas were looked at", group.Queries, unfinished, f.config.Limits.Schemas)
	}
	var list []tables
	for _, key := range slices.Sorted(maps.Keys(found)) {
		list = append(list, found[key])
	}
	slices.SortStableFunc(list, func(a, b tables) int { return compareParts(a, b, f.report.Fields) })
	if f.config.Steps {
		for _, t := range list {
			group.Schemas = append(group.Schemas, t)
		}
		f.report.Groups = append(f.report.Groups, group)
	}
	return list, ctx.Err()
}

// eachTuple calls each with one index below each size, in the order of their sum, at most that many times; each may end it.
// It reports whether those were all.
func eachTuple(sizes []int, most int, each func([]int) bool) (whole bool) {
	sum := 0
	for _, n := range sizes {
		if n == 0 {
			return true
		}
		sum += n - 1
	}
	at := make([]int, len(sizes))
	rest := make([]int, len(sizes)+1) // the greatest sum of those from there on
	for i := len(sizes) - 1; i >= 0; i-- {
		rest[i] = rest[i+1] + sizes[i] - 1
	}
	n := 0
	var from func(i, left int) bool
	from = func(i, left int) bool {
		if i == len(sizes) {
			if n == most {
				return false
			}
			n++
			return each(at)
		}
		for at[i] = max(0, left-rest[i+1]); at[i] <= min(left, sizes[i]-1); at[i]++ {
			if !from(i+1, left-at[i]) {
				return false
			}
		}
		return true
	}
	for s := 0; s <= sum; s++ {
		if !from(0, s) {
			return false
		}
	}
	return true
}
