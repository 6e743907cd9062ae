package rules

import (
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/capture/schema"
)

// determined returns the entities of a table that its partition key determines: those whose key it has, be it by copies of its
// attributes, and what these lead to over to-one relationships.
func determined(t *model.Table) []*model.Entity {
	var out []*model.Entity
	for _, e := range t.Tree.Entities {
		about := model.Table{Tree: t.Tree.Determined(e), Partition: t.Partition}
		if len(t.Partition) == 0 || !about.Identifies() {
			continue
		}
		for _, d := range about.Tree.Entities {
			if !slices.Contains(out, d) {
				out = append(out, d)
			}
		}
	}
	return out
}

// Statics returns the values that the partition key determines: those of entities whose whole key it has, and of what these
// determine. There are none without a clustering key, or where a partition is one row.
func Statics(t *model.Table) []model.Field {
	if len(t.Clustering) == 0 || t.Bucket != nil {
		return nil
	}
	once := determined(t)
	if len(once) == len(t.Tree.Entities) {
		return nil
	}
	var out []model.Field
	for _, f := range t.Values {
		if slices.Contains(once, f.Entity) {
			out = append(out, f)
		}
	}
	return out
}

// Nests tells whether partitions of a table may have several rows.
func Nests(t *model.Table) bool {
	if len(t.Nests) > 0 {
		return true
	}
	if len(t.Clustering) == 0 {
		return false
	}
	return t.Bucket != nil || len(determined(t)) < len(t.Tree.Entities)
}

// Duplicated returns the fields that a table holds the same value of more than once for one entity: those of entities that are in
// several rows, but for static ones, and those of an entity with a row for each of several values. What is repeated because
// different entities happen to have the same value is not among them.
func Duplicated(t *model.Table) []model.Field {
	manifold := map[*model.Entity]bool{}
	for _, e := range t.Tree.Entities {
		manifold[e] = !determines(t.Tree, e)
	}
	split := false // a set-valued attribute is in the key
	for _, f := range t.Key() {
		if _, ok := Element(f.Attribute.Type); ok && t.Types[f] != "" {
			split = true
		}
	}
	var out []model.Field
	for _, f := range t.Fields() {
		if !manifold[f.Entity] && !split {
			continue
		}
		if (slices.Contains(t.Static, f) || slices.Contains(t.Partition, f)) && named(t, f.Entity) {
			continue // once, with the partition
		}
		out = append(out, f)
	}
	return out
}

// named tells whether there is one partition for each instance of an entity: the partition key has its key, and nothing that it
// does not determine.
func named(t *model.Table, e *model.Entity) bool {
	of := t.Tree.Determined(e)
	return slices.Contains(determined(t), e) && !slices.ContainsFunc(t.Partition, func(f model.Field) bool { return !of.Has(f.Entity) })
}

// determines tells whether an entity determines all of a tree: it is in one row then.
func determines(tree model.Tree, e *model.Entity) bool {
	return len(tree.Determined(e).Entities) == len(tree.Entities)
}

// Front is one way to make the front of a primary key of the attributes that are compared for equality (MR2).
type Front struct {
	Partition, Clustering []model.Field
	Name                  string
}

// mostFronts bounds Fronts: five attributes have 325 ways.
const mostFronts = 400

// Fronts lists the ways: each of them is a partition key of some of the attributes, followed by the others in some order. With
// the first, all of the partition key, every one must be known; with another, those of the partition key, and of the
// others a prefix. cut tells that there are more.
func Fronts(of *model.Entity, equal []model.Field) (fronts []Front, cut bool) {
	n := len(equal)
	if n == 0 || n > 16 {
		return nil, n > 16
	}
	var masks []int
	for mask := 1; mask < 1<<n; mask++ {
		masks = append(masks, mask)
	}
	ones := func(m int) (k int) {
		for ; m > 0; m &= m - 1 {
			k++
		}
		return k
	}
	slices.SortStableFunc(masks, func(a, b int) int { return ones(b) - ones(a) })
	for _, mask := range masks {
		var partition, rest []model.Field
		for i, f := range equal {
			if mask&(1<<i) != 0 {
				partition = append(partition, f)
			} else {
				rest = append(rest, f)
			}
		}
		cut = permute(rest, func(order []model.Field) bool {
			fronts = append(fronts, Front{partition, order, Plural(of.Name) + "_by_" + joined(partition)})
			return len(fronts) < mostFronts
		})
		if cut {
			break
		}
	}
	return fronts, cut
}

// permute calls yield with each order of the list, until it returns false; cut tells that it did.
func permute(list []model.Field, yield func([]model.Field) bool) (cut bool) {
	var walk func(done, rest []model.Field) bool
	walk = func(done, rest []model.Field) bool {
		if len(rest) == 0 {
			return yield(slices.Clone(done))
		}
		for i := range rest {
			if !walk(append(done, rest[i]), slices.Delete(slices.Clone(rest), i, i+1)) {
				return false
			}
		}
		return true
	}
	return !walk(nil, list)
}

func joined(fields []model.Field) string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = model.Identifier(f.Attribute.Name)
	}
	return strings.Join(names, "_")
}

// Name names a table after what its rows stand for and what they are asked by: videos_by_user_id. A table of one entity that
// is asked by its key is just named after it.
func Name(t *model.Table, searched []model.Field) string {
	roots := Identity(t)
	name := Plural(roots[len(roots)-1].Base().Name)
	if len(t.Tree.Entities) == 1 && sameFields(searched, roots[0].KeyFields()) || len(searched) == 0 {
		return name[:min(len(name), schema.MaxName)]
	}
	columns := make([]string, len(searched))
	for i, f := range searched {
		columns[i] = t.ColumnName(f)
	}
	return Fit(name, "_by_"+strings.Join(columns, "_"))
}

// Fit is the name of a table in two parts. Where Cassandra takes none that long both are cut: the first alone could be the name of the table that the
// new one is made of, but for capitals.
func Fit(name, suffix string) string {
	if len(name)+len(suffix) > schema.MaxName {
		suffix = suffix[:min(len(suffix), schema.MaxName/2)]
		name = name[:min(len(name), schema.MaxName-len(suffix))]
	}
	return name + suffix
}

// sameFields tells whether two lists hold the same.
func sameFields(a, b []model.Field) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(f model.Field) bool { return !slices.Contains(b, f) })
}

// Plural makes the plural of an entity's name, as an identifier.
func Plural(name string) string {
	name = model.Identifier(name)
	vowel := func(i int) bool { return i >= 0 && strings.ContainsRune("aeiou", rune(name[i])) }
	switch n := len(name); {
	case strings.HasSuffix(name, "s"):
		return name
	case strings.HasSuffix(name, "y") && !vowel(n-2):
		return name[:n-1] + "ies"
	case strings.HasSuffix(name, "x"), strings.HasSuffix(name, "ch"), strings.HasSuffix(name, "sh"):
		return name + "es"
	}
	return name + "s"
}
