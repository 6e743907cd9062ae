package enumerate

import (
	"math"
	"slices"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
)

// What NoSE has no candidates for: buckets, indexes and static columns.

const (
	largePartition = 100e6            // bytes
	assumedSpan    = 365 * 24 * 3600. // seconds over which times are taken to spread: nothing is known about it
	maxBuckets     = 1024             // what is larger is no table for one query
)

// withBuckets returns the table with its partitions split into buckets that are no larger than allowed; nil if they are not
// larger now. Buckets are of time if the rows are sorted by it: then a range and an order of time need few buckets. Else
// they are of the first id in the clustering key.
func withBuckets(t *model.Table, largest float64) *model.Table {
	partitions := 1.0
	if len(t.Partition) > 0 {
		partitions = t.Partitions()
	}
	count := math.Ceil(t.Bytes() / max(1, partitions) / largest)
	if count <= 1 || count > maxBuckets || len(t.Clustering) == 0 {
		return nil
	}
	b := *t
	if first := t.Clustering[0]; first.Attribute.Type == "timestamp" || first.Attribute.Type == "date" {
		b.Bucket = &model.Bucket{Of: first, Width: math.Ceil(assumedSpan / count), Count: count}
		return &b
	}
	for _, f := range t.Clustering {
		if f.IsKey() {
			b.Bucket = &model.Bucket{Of: f, Count: count}
			return &b
		}
	}
	return nil
}

// withIndexes returns the table by id of an entity with storage-attached indexes on the fields that the query compares by
// equality; nil if it is another table or there are none.
func (x part) withIndexes(t *model.Table) *model.Table {
	if x.entry == nil || len(x.tree.Entities) > 1 || x.checked || len(t.Clustering) > 0 {
		return nil
	}
	b := *t
	for _, f := range x.ask.equal {
		if slices.Contains(t.Values, f) {
			b.Indexes = append(b.Indexes, model.Index{
				Name: model.Identifier(f.Entity.Base().Name) + "_" + model.Identifier(f.Attribute.Name) + "_idx", Field: f, SAI: true})
		}
	}
	if len(b.Indexes) == 0 {
		return nil
	}
	return &b
}

// staticFields is rule statics: what the partition key determines, if no write takes rows away: a partition without rows but
// with static values would be read as a row.
func (e *enumeration) staticFields(t *model.Table) []model.Field {
	if len(t.Clustering) == 0 || t.Existing || t.Base != nil || t.Bucket != nil {
		return t.Static
	}
	var determined []*model.Entity
	for _, x := range t.Tree.Entities {
		if holdsKey(x, t.Partition) {
			determined = append(determined, t.Tree.Determined(x).Entities...)
		}
	}
	if !slices.ContainsFunc(t.Tree.Entities, func(x *model.Entity) bool { return !slices.Contains(determined, x) }) {
		return nil // a partition is one row
	}
	var list []model.Field
	for _, f := range t.Values {
		if slices.Contains(determined, f.Entity) {
			list = append(list, f)
		}
	}
	if len(list) == 0 {
		return nil
	}
	for _, w := range e.written {
		if !e.writes.Modifies(w, t) {
			continue
		}
		moved := slices.ContainsFunc(w.Set, t.InKey)
		if w.Kind == workload.Delete || w.Kind == workload.Disconnect || w.Kind == workload.Connect || w.Kind == workload.Update && moved {
			return nil
		}
	}
	return list
}
