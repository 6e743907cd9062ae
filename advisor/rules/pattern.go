package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
)

// Likely says whether a pattern nests, or duplicates, data.
type Likely string

// The values of the matrix.
const (
	No    Likely = "no"
	Maybe Likely = "maybe"
	Yes   Likely = "yes"
)

// allows tells whether what was found agrees with what was expected.
func (l Likely) allows(found bool) bool { return l == Maybe || found == (l == Yes) }

// Pattern is one of the nine mapping patterns.
type Pattern struct {
	ID, Name             string
	Nesting, Duplication Likely
	Key                  string // how the primary key is made
	Remark               string
}

// Patterns are the nine, with the matrix of nesting and duplication.
var Patterns = []Pattern{
	{"P1", "entity, by key", Maybe, No, "the key", "Nests only if the key has several attributes of which some are the partition key."},
	{"P2", "entity, by other attributes", Maybe, Maybe, "what is asked by, then the key", "Duplicates only if an attribute that is asked by has several values: there is a row for each."},
	{"P3", "1:1 relationship, by key", Maybe, No, "the key of either entity", "Both entities become one."},
	{"P4", "1:1 relationship, by other attributes", Maybe, Maybe, "what is asked by, then the key of either entity", "Both entities become one."},
	{"P5", "1:n relationship, by key", Yes, Maybe, "what is asked by, then the key of the n side", "What the 1 side has besides its key is static if, and only if, the partition key has all of its key. The other way round (n:1) it is like 1:1 with the 1 side's attributes in every row."},
	{"P6", "1:n relationship, by other attributes", Yes, Maybe, "what is asked by, then the key of the n side", "Attributes of the 1 side are in every row of the n side. The other way round (n:1) partitions nest what has the same values."},
	{"P7", "m:n relationship, by key", Yes, Yes, "what is asked by, then the keys of both entities", "What the entity asked by has besides its key is static if, and only if, the partition key has all of its key."},
	{"P8", "m:n relationship, by other attributes", Yes, Yes, "what is asked by, then the keys of both entities", "Potentially the most expensive duplication."},
	{"P9", "hierarchy, one table of the supertype", No, No, "the key of the supertype", "The column for the subtype is a text if an instance is of one at most, else a set. The other ways, a table for each type and one for each subtype, are alternatives that are not worked out."},
}

// PatternOf returns the pattern of an id.
func PatternOf(id string) Pattern {
	for _, p := range Patterns {
		if p.ID == id {
			return p
		}
	}
	return Pattern{}
}

// Match is the pattern that a table follows.
type Match struct {
	Pattern   string // P1 to P9
	Direction string // of relationships, as seen from what is asked by: 1:1, 1:n, n:1 or m:n
	From      string // the entity that is asked by
	Rows      []string
	// Path holds the names of the relationships if there are several: they are taken for one.
	Path []string
	// OneRow: what is asked by holds the keys of all that rows stand for, so that a partition is one row and nests nothing,
	// whatever its pattern.
	OneRow bool
	// Nesting and Duplication are what the table does; the matrix says what the pattern may do.
	Nesting, Duplication bool
	Duplicated           []string // fields
	Static               []string // fields
	Remarks              []string
}

// Expected is the row of the matrix that holds for a match: that of its pattern, but for n:1, which nests only if it is
// not asked by key, and for partitions of one row.
func (m *Match) Expected() (nesting, duplication Likely) {
	p := PatternOf(m.Pattern)
	if m.OneRow || m.Direction == string(model.ManyToOne) && m.Pattern == "P5" {
		return No, p.Duplication
	}
	return p.Nesting, p.Duplication
}

// Agrees tells whether the table does what its pattern says.
func (m *Match) Agrees() bool {
	nesting, duplication := m.Expected()
	return nesting.allows(m.Nesting) && duplication.allows(m.Duplication)
}

// String says which pattern it is.
func (m *Match) String() string {
	text := fmt.Sprintf("%s %s", m.Pattern, PatternOf(m.Pattern).Name)
	if m.Direction == string(model.ManyToOne) {
		text += ", taken from the n side (n:1)"
	}
	if len(m.Path) > 0 {
		text += fmt.Sprintf(", of %s taken for one relationship", strings.Join(m.Path, ", "))
	}
	return text
}

// MatchQuery finds the pattern of a table that a query is asked of.
func MatchQuery(q *workload.Query, t *model.Table) Match {
	var equal []model.Field
	for _, p := range q.Where {
		if p.Op == workload.Equal || p.Op == workload.In {
			equal = model.AppendNew(equal, p.Field)
		}
	}
	return match(t, equal)
}

// MatchTable finds the pattern of a table by its partition key.
func MatchTable(t *model.Table) Match { return match(t, t.Partition) }

func match(t *model.Table, by []model.Field) Match {
	if len(by) == 0 {
		by = t.Partition
	}
	ranges := len(by) == 0 // nothing but a bucket names the partition
	if ranges {
		by = t.Clustering[:1]
	}
	roots := Identity(t)
	from, whole := entry(t, by, roots)
	whole = whole && !ranges
	m := Match{From: from.Name, Nesting: Nests(t), Static: model.Names(t.Static), Duplicated: model.Names(Duplicated(t))}
	m.Duplication = len(m.Duplicated) > 0
	m.OneRow = t.Bucket == nil && len(determined(t)) == len(t.Tree.Entities)
	for _, e := range roots {
		m.Rows = append(m.Rows, e.Name)
	}
	if len(t.Tree.Edges) > 1 {
		for _, r := range t.Tree.Edges {
			m.Path = append(m.Path, r.Name)
		}
	}
	way := 0 // 0 for by key, 1 for by other attributes
	if !whole {
		way = 1
	}
	switch {
	case len(t.Tree.Edges) == 0:
		m.Pattern = []string{"P1", "P2"}[way]
		m.hierarchy(from, whole)
	case oneToOne(t.Tree):
		m.Pattern, m.Direction = []string{"P3", "P4"}[way], string(model.OneToOne)
	case len(roots) > 1 || isLink(roots[0], t.Tree) && roots[0] != from:
		m.Pattern, m.Direction = []string{"P7", "P8"}[way], string(model.ManyToMany)
	case determines(t.Tree, from):
		m.Pattern, m.Direction = []string{"P5", "P6"}[way], string(model.ManyToOne)
	default:
		m.Pattern, m.Direction = []string{"P5", "P6"}[way], string(model.OneToMany)
	}
	return m
}

// entry returns the entity that a table is asked by, and whether that is by its key: the one of which the whole key is given; else
// that of the first field. Where there are several, one that rows do not stand for.
func entry(t *model.Table, by []model.Field, roots []*model.Entity) (e *model.Entity, whole bool) {
	var keyed []*model.Entity
	for _, x := range t.Tree.Entities {
		given := func(f model.Field) bool { return slices.Contains(by, f) }
		if slices.ContainsFunc(by, func(f model.Field) bool { return f.Entity == x }) && !slices.ContainsFunc(x.KeyFields(), func(f model.Field) bool { return !given(f) }) {
			keyed = append(keyed, x)
		}
	}
	for _, x := range keyed {
		if !slices.Contains(roots, x) {
			return x, true
		}
	}
	if len(keyed) > 0 {
		return keyed[0], true
	}
	for _, f := range by {
		if !slices.Contains(roots, f.Entity) {
			return f.Entity, false
		}
	}
	return by[0].Entity, false
}

func oneToOne(tree model.Tree) bool {
	return !slices.ContainsFunc(tree.Edges, func(r *model.Relationship) bool { return r.Kind != model.OneToOne })
}

// isLink tells whether an entity stands for an m:n relationship between others of the tree: its key is those of two of them.
func isLink(e *model.Entity, tree model.Tree) bool {
	ends := map[*model.Relationship]bool{}
	for _, k := range e.Key {
		if k.Copied == nil {
			return false
		}
		if slices.ContainsFunc(tree.Edges, func(r *model.Relationship) bool { return r.Base() == k.Copied.Edge }) {
			ends[k.Copied.Edge] = true
		}
	}
	return len(ends) > 1
}
