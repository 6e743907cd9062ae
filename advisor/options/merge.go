package options

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
)

// Condition is one of the five conditions of merging.
type Condition string

// The conditions (seed 000, Table III).
const (
	RowKey         Condition = "row key"
	SecondaryIndex Condition = "secondary index"
	Relationship   Condition = "entity-relationship"
	ColumnCount    Condition = "column count"
	RowCount       Condition = "row count"
)

// Verdict is what the conditions say of merging two tables.
type Verdict struct {
	Failed   []Condition
	Warnings []string
	Merged   *Table // nil if the relationships make no table of both
}

// Allowed reports whether all conditions hold.
func (v Verdict) Allowed() bool { return len(v.Failed) == 0 }

// judgeMerge applies the five conditions. All must hold; Column Count only warns unless it is to refuse.
func (f *finder) judgeMerge(a, b *Table) Verdict {
	var v Verdict
	fail := func(c Condition) { v.Failed = append(v.Failed, c) }
	if !a.key.empty() && !b.key.empty() {
		fail(RowKey)
	}
	tree, joined := f.joinTrees(a.Tree, b.Tree)
	if !joined {
		fail(Relationship)
		return v
	}
	c := a.mergeWith(b, tree)
	v.Merged = c
	if len(c.indexes) > f.config.Indexes { // those built from the key's fields are gone already
		fail(SecondaryIndex)
	}
	growth := c.Columns() - c.least
	few := growth <= f.config.ColumnGrowth
	if !few {
		v.Warnings = append(v.Warnings, fmt.Sprintf("merged table (%s) has %d columns more than one of its queries needs", c, growth))
		if f.config.RefuseColumns {
			fail(ColumnCount)
		}
	}
	// Over 1:n or n:m, the relationship condition asks for the two others, or for a table that is a part of the other.
	subset := (a.all.in(b.all) || b.all.in(a.all)) && a.Tree.Key() == b.Tree.Key()
	oneToOne := !slices.ContainsFunc(tree.Edges, func(r *model.Relationship) bool { return r.Kind != model.OneToOne })
	rows := subset || oneToOne || f.fewRows(a, b, c)
	if !oneToOne && !subset && (!few || !rows) {
		fail(Relationship)
	}
	if !rows {
		fail(RowCount)
	}
	return v
}

// mergeWith is the merge of two tables (B-28): of the union of the columns, those that are normal but in the key or an index,
// too, are gone, and indexes that are the key, too.
func (t *Table) mergeWith(o *Table, tree model.Tree) *Table {
	c := &Table{u: t.u, Tree: tree, Purpose: Read, key: t.key.or(o.key), ranges: t.ranges.or(o.ranges), split: t.split.or(o.split), queries: t.queries.or(o.queries), least: min(t.least, o.least)}
	if t.Purpose == LookUp && o.Purpose == LookUp {
		c.Purpose = LookUp
	}
	c.For = joinWords(t.For, o.For)
	var looked set
	for _, x := range slices.Concat(t.indexes, o.indexes) {
		looked = looked.or(x)
		if x != c.key {
			c.indexes = append(c.indexes, x)
		}
	}
	c.rest = t.rest.or(o.rest).minus(looked).minus(c.key)
	c.setNames()
	return c
}

func joinWords(a, b string) string {
	words := strings.Fields(a + " " + b)
	slices.Sort(words)
	return strings.Join(slices.Compact(words), " ")
}

// joinTrees is the tree of a merged table; not if there is none, or several. What no relationship connects has none: the seed
// would merge it if the column sets intersect, which those of unrelated entities never do, a column being an entity's field.
func (f *finder) joinTrees(a, b model.Tree) (model.Tree, bool) {
	if a.Key() == b.Key() {
		return a, true
	}
	key := [2]string{a.Key(), b.Key()}
	if t, ok := f.trees[key]; ok {
		return t, len(t.Entities) > 0
	}
	t, err := a.Union(b)
	if err != nil {
		t = model.Tree{}
		if len(a.Entities) == 1 && len(b.Entities) == 1 {
			if t, err = f.work.Graph.Connect([]*model.Entity{a.Entities[0], b.Entities[0]}); err != nil {
				t = model.Tree{}
			}
		}
	}
	f.trees[key] = t
	return t, len(t.Entities) > 0
}

// fewRows is the Row Count condition: by default no table over 1:n or n:m is merged with one that has other columns; with
// RowGrowth, a merge may have that share of rows more than both tables had.
func (f *finder) fewRows(a, b, c *Table) bool {
	return f.config.RowGrowth > 0 && c.Tree.Rows() <= (1+f.config.RowGrowth)*max(a.Tree.Rows(), b.Tree.Rows())
}

// isNeedless reports whether b makes a needless: a is a strict subset of it (B-21).
func (f *finder) isNeedless(a, b *Table) bool {
	if a.Purpose == Helper || b.Purpose == Helper || a.key != b.key || a.split != b.split || a.Tree.Key() != b.Tree.Key() {
		return false
	}
	if a.id == b.id {
		return true
	}
	if len(f.writes) == 0 || a.all == b.all || !a.all.in(b.all) {
		return false
	}
	for _, x := range a.indexes {
		if !slices.Contains(b.indexes, x) {
			return false
		}
	}
	return !f.config.RefuseColumns || b.Columns()-a.least <= f.config.ColumnGrowth
}

// withQueriesOf is b, having taken over a's queries.
func (t *Table) withQueriesOf(a *Table) *Table {
	c := *t
	c.queries, c.least = t.queries.or(a.queries), min(t.least, a.least)
	if t.Purpose != Read && a.Purpose == Read {
		c.Purpose = Read
	}
	c.For = joinWords(t.For, a.For)
	return &c
}

// tables is a schema: different tables, sorted by name.
type tables []*Table

func sortTables(list []*Table) tables {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b *Table) int { return strings.Compare(a.id, b.id) })
	return list
}

func (t tables) key() string {
	var b strings.Builder
	for _, x := range t {
		b.WriteString(x.id)
		b.WriteByte('\n')
	}
	return b.String()
}

// dropNeedless drops what is needless, until nothing is.
func (f *finder) dropNeedless(list []*Table) tables {
	for {
		dropped := false
	again:
		for i, a := range list {
			for j, b := range list {
				if i != j && f.isNeedless(a, b) {
					next := slices.Delete(slices.Clone(list), i, i+1)
					if j > i {
						j--
					}
					next[j] = b.withQueriesOf(a)
					list, dropped = next, true
					break again
				}
			}
		}
		if !dropped {
			return sortTables(list)
		}
	}
}

// mergeFixpoints finds all fix-points: schemas that no further merge can be made in, over every order of merging (B-20). Beyond the
// budget of schemas looked at, it goes on with the first merge alone, so that what it returns are fix-points always.
func (f *finder) mergeFixpoints(list []*Table, budget *int) (fixed []tables, whole bool) {
	whole = true
	seen := map[string]bool{}
	var visit func(t tables)
	visit = func(t tables) {
		key := t.key()
		if seen[key] {
			return
		}
		seen[key] = true
		*budget--
		merged := false
		for i, a := range t {
			for _, b := range t[i+1:] {
				if merged && *budget <= 0 {
					whole = false
					return
				}
				c := f.mergeTables(a, b)
				if c == nil {
					continue
				}
				merged = true
				next := slices.DeleteFunc(slices.Clone(t), func(x *Table) bool { return x == a || x == b })
				visit(f.dropNeedless(append(next, c)))
			}
		}
		if !merged {
			fixed = append(fixed, t)
		}
	}
	visit(f.dropNeedless(list))
	return fixed, whole
}

// mergeTables returns the merged table, nil if it may not be. Schemas share tables, so what it finds is kept.
func (f *finder) mergeTables(a, b *Table) *Table {
	if a.Purpose == Helper || b.Purpose == Helper || !a.key.empty() && !b.key.empty() {
		return nil
	}
	pair := [2]*Table{a, b}
	if c, ok := f.merged[pair]; ok {
		return c
	}
	var c *Table
	if v := f.judgeMerge(a, b); v.Allowed() {
		c = v.Merged
	}
	if len(f.merged) >= maxMerged {
		clear(f.merged)
	}
	f.merged[pair] = c
	return c
}

// maxMerged bounds how many merges are kept: some 10 MB.
const maxMerged = 100000
