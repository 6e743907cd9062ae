package schema

import (
	"strings"

	"github.com/helenus-db/helenus/capture/cql"
)

// serves reports whether an index finds what a restriction wants: all of it for one column, and for several the part that one
// of them plays.
func (x *Index) serves(r *restriction) bool {
	for _, c := range r.columns {
		if x.Column != c.Name {
			continue
		}
		any := r.contains || r.element // of what a collection is asked, the index need only find a part
		for _, w := range r.relations {
			if x.servesRelation(c, w) == any {
				return any
			}
		}
		return !any
	}
	return false
}

func (x *Index) servesRelation(c *Column, w *cql.Relation) bool {
	collection := collectionOf(c.Type) != "" && !strings.HasPrefix(c.Type, "frozen<")
	switch {
	case w.Element != nil:
		return x.On == "entries"
	case w.Op == cql.OpContains:
		return x.On == "values" && collection
	case w.Op == cql.OpContainsKey:
		return x.On == "keys"
	case w.Op == cql.OpEQ, w.Op == cql.OpIn && len(w.Columns) > 1:
		return (x.On == "values" || x.On == "full") && !collection
	case w.Op == cql.OpLT, w.Op == cql.OpLE, w.Op == cql.OpGT, w.Op == cql.OpGE, w.Op == cql.OpBetween:
		return x.On == "values" && (x.sai() || x.Class() == "SASIIndex") && !literalType[c.Type]
	case w.Op == cql.OpLike:
		return x.Class() == "SASIIndex"
	}
	return false
}

// literalType are the types that storage-attached and SASI indexes find by equality only, LIKE aside.
var literalType = map[string]bool{"ascii": true, "text": true, "varchar": true, "boolean": true}

// likely reports whether an index knows the pattern of a LIKE: what begins with % needs one that looks into values, and one that is all % says nothing.
// Of a pattern that is bound nobody can say.
func (r *restrictions) likely(x *restriction) bool {
	l, ok := x.relations[0].Value.(*cql.Literal)
	if !ok || l.Kind != cql.LiteralString {
		return true
	}
	if strings.Trim(l.Text, "%") == "" {
		return false
	}
	for i := range r.table.Indexes {
		y := &r.table.Indexes[i]
		if y.Column == x.columns[0].Name && y.Class() == "SASIIndex" && (!strings.HasPrefix(l.Text, "%") || strings.EqualFold(y.Options["mode"], "CONTAINS")) {
			return true
		}
	}
	return false
}
