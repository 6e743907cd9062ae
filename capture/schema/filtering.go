package schema

import (
	"slices"
	"strings"

	"github.com/helenus-db/helenus/capture/cql"
)

// Filtering says what a server makes of a SELECT with and without ALLOW FILTERING.
type Filtering string

// The verdicts.
const (
	FilteringNotNeeded Filtering = "not needed"
	FilteringNeeded    Filtering = "needed"
	FilteringRefused   Filtering = "refused" // the statement is refused with ALLOW FILTERING too
)

// restriction is what WHERE says of one column, or of several as a row, all relations on them taken together.
type restriction struct {
	columns                  []*Column
	equal, in, slice         bool
	contains, element, lower bool
	upper, like              bool
	relations                []*cql.Relation
}

// restrictions are all restrictions of a WHERE clause by the part that their columns play.
type restrictions struct {
	table      *Table
	partition  []restriction
	token      bool
	clustering []restriction // by position
	others     []restriction
	custom     int // expr(index, value)
	customOn   []*Index
}

// VerdictOf says whether a server needs ALLOW FILTERING for a SELECT on a table, and if it refuses it, why. It follows
// StatementRestrictions of Cassandra 5.0:
//
//   - each column may be restricted in one way only, by relations that its type allows;
//
//   - a partition key that is neither given whole by = and IN, nor by token(), nor left out, is filtered;
//
//   - so are clustering columns after a gap or after a range, and all of them when no partition is named;
//
//   - so are other columns, unless indexes of one group (all of SAI, or one older index) serve every filtered restriction.
//
//   - LIKE needs a SASI index, and one that looks into values for a pattern that begins with %;
//
//   - DISTINCT, GROUP BY, PER PARTITION LIMIT and what may be selected: see grouped.
//
// What it does not judge: functions and casts in values, aggregates that users have made, and the types of literals.
func VerdictOf(t *Table, s *cql.Select) (verdict Filtering, reason string) {
	r := restrictions{table: t}
	for i := range s.Where {
		if reason := r.add(&s.Where[i]); reason != "" {
			return FilteringRefused, reason
		}
	}
	ann, reason := r.order(s)
	if reason != "" {
		return FilteringRefused, reason
	}
	return r.verdict(s, ann)
}

// add takes in one relation, or says why it is refused.
func (r *restrictions) add(w *cql.Relation) string {
	switch w.Op {
	case cql.OpExpr:
		for i := range r.table.Indexes {
			if r.table.Indexes[i].Name == w.Index && r.table.Indexes[i].Kind == "CUSTOM" {
				r.custom++
				r.customOn = append(r.customOn, &r.table.Indexes[i])
				return ""
			}
		}
		return "expr names no custom index"
	case cql.OpNE, cql.OpIsNotNull:
		return "the operator is not supported in WHERE"
	}
	columns := make([]*Column, len(w.Columns))
	for i, name := range w.Columns {
		if columns[i] = r.table.Column(name); columns[i] == nil {
			return "no such column"
		}
	}
	if w.Token {
		return r.addToken(w, columns)
	}
	if w.Tuple || len(columns) > 1 {
		for i, c := range columns {
			if c.Kind != Clustering || i > 0 && c.Position != columns[i-1].Position+1 {
				return "only clustering columns in their order may stand in a row"
			}
		}
		if w.Op == cql.OpContains || w.Op == cql.OpContainsKey {
			return "the operator does not go with a row"
		}
	} else if reason := fits(columns[0], w); reason != "" {
		return reason
	}
	if list, ok := w.Value.(*cql.Tuple); ok && w.Op == cql.OpIn && len(list.Elements) == 1 { // the server takes it for =
		if _, any := list.Elements[0].(*cql.Marker); !any { // which may stand for any number, in a normalised text
			one := *w
			one.Op = cql.OpEQ
			w = &one
		}
	}
	return r.merge(w, columns)
}

func (r *restrictions) addToken(w *cql.Relation, columns []*Column) string {
	key := r.table.PartitionKey()
	if len(columns) != len(key) {
		return "token() needs all columns of the partition key"
	}
	for i := range key {
		if columns[i].Name != key[i].Name {
			return "token() needs the partition key in its order"
		}
	}
	if w.Op == cql.OpIn {
		return "token() does not go with IN"
	}
	for i := range r.partition {
		if len(r.partition[i].columns) == len(key) && r.partition[i].relations[0].Token {
			return r.partition[i].join(w)
		}
	}
	r.token = true
	n := restriction{columns: columns}
	r.partition = append(r.partition, n)
	return r.partition[len(r.partition)-1].join(w)
}

// fits says why a relation does not go with the type of its column.
func fits(c *Column, w *cql.Relation) string {
	collection := collectionOf(c.Type)
	frozen := strings.HasPrefix(c.Type, "frozen<")
	switch {
	case w.Element != nil:
		if collection != "map" || frozen || w.Op != cql.OpEQ {
			return "only an element of a map may be compared, and only by ="
		}
	case w.Op == cql.OpContainsKey:
		if collection != "map" {
			return "only a map has keys"
		}
	case w.Op == cql.OpContains:
		if collection == "" {
			return "only a collection contains values"
		}
	case collection != "" && !frozen:
		return "a collection may not be compared as a whole"
	case w.Op == cql.OpLike && c.Type != "text" && c.Type != "ascii" && c.Type != "varchar":
		return "LIKE is for text only"
	case c.Type == "duration" && w.Op != cql.OpEQ && w.Op != cql.OpIn:
		return "durations have no order"
	case w.Op == cql.OpIn && (c.Kind == Regular || c.Kind == Static) && collection != "":
		return "IN does not go with collections"
	}
	return ""
}

// collectionOf returns list, set or map, "" for a type that is no collection.
func collectionOf(typ string) string {
	typ = strings.TrimPrefix(typ, "frozen<")
	for _, c := range [...]string{"list", "set", "map"} {
		if strings.HasPrefix(typ, c+"<") {
			return c
		}
	}
	return ""
}

// merge adds a relation to what is known of its columns.
func (r *restrictions) merge(w *cql.Relation, columns []*Column) string {
	list := &r.others
	switch columns[0].Kind {
	case PartitionKey:
		list = &r.partition
	case Clustering:
		list = &r.clustering
	}
	var same *restriction
	for i := range *list {
		x := &(*list)[i]
		if x.relations[0].Token || !x.overlaps(columns) {
			continue
		}
		if x.columns[0].Name != columns[0].Name || (len(x.columns) > 1) != (len(columns) > 1) && !x.slice {
			return "a column may not be restricted alone and in a row"
		}
		same = x
	}
	if same != nil {
		if len(columns) > len(same.columns) {
			same.columns = columns
		}
		return same.join(w)
	}
	n := restriction{columns: columns}
	reason := n.join(w)
	at := len(*list)
	if columns[0].Kind != Regular && columns[0].Kind != Static {
		for at > 0 && (*list)[at-1].columns[0].Position > columns[0].Position {
			at--
		}
	}
	*list = append(*list, restriction{})
	copy((*list)[at+1:], (*list)[at:])
	(*list)[at] = n
	return reason
}

func (x *restriction) overlaps(columns []*Column) bool {
	for _, c := range columns {
		for _, d := range x.columns {
			if c.Name == d.Name {
				return true
			}
		}
	}
	return false
}

// join takes another relation into a restriction, or says why both may not stand together.
func (x *restriction) join(w *cql.Relation) string {
	before := x.equal || x.in || x.like
	other := x.slice || x.contains || x.element
	x.relations = append(x.relations, w)
	switch w.Op {
	case cql.OpEQ:
		if w.Element != nil {
			x.element = true
			if before || x.slice {
				return "two kinds of restriction on a column"
			}
			return ""
		}
		if before || other {
			return "a column that is equal to something may not be restricted again"
		}
		x.equal = true
	case cql.OpIn:
		if before || other {
			return "a column that is in a list may not be restricted again"
		}
		x.in = true
	case cql.OpContains, cql.OpContainsKey:
		if before || x.slice {
			return "two kinds of restriction on a column"
		}
		x.contains = true
	case cql.OpLike:
		if before || other {
			return "a column that is LIKE something may not be restricted again"
		}
		x.like = true
	default:
		if before || x.contains || x.element {
			return "a range may not stand beside another restriction of its column"
		}
		x.slice = true
		lower := w.Op == cql.OpGT || w.Op == cql.OpGE
		if lower && x.lower || !lower && x.upper {
			return "two bounds on one side"
		}
		x.lower, x.upper = x.lower || lower, x.upper || !lower
	}
	return ""
}

// sai reports whether an index is storage-attached.
func (x *Index) sai() bool {
	c := x.Class()
	return c == "StorageAttachedIndex" || strings.EqualFold(c, "sai")
}

// served reports whether any index serves one of the restrictions.
func (r *restrictions) served(list []restriction) bool {
	for i := range list {
		for j := range r.table.Indexes {
			if !(list[i].relations[0].Token) && r.table.Indexes[j].serves(&list[i]) {
				return true
			}
		}
	}
	return false
}

// partitionFiltered reports whether the partition key is restricted, but not so that it names partitions.
func (r *restrictions) partitionFiltered() bool {
	given := 0
	for i := range r.partition {
		x := &r.partition[i]
		if x.relations[0].Token {
			continue
		}
		if x.slice || x.contains {
			return true
		}
		given++
	}
	return given > 0 && given < len(r.table.PartitionKey())
}

// clusteringFiltered reports whether the clustering columns are restricted otherwise than as a slice of a partition.
func (r *restrictions) clusteringFiltered() bool {
	next := 0
	for i := range r.clustering {
		x := &r.clustering[i]
		if x.contains || x.like || x.columns[0].Position != next {
			return true
		}
		if !x.slice {
			next = x.columns[len(x.columns)-1].Position + 1
		}
	}
	return false
}

// rowsFiltered reports whether a range on several columns would have to be filtered: it does not continue the slice of the
// partition, or an index is on one of its columns.
func (r *restrictions) rowsFiltered() bool {
	next := 0
	for i := range r.clustering {
		x := &r.clustering[i]
		if len(x.columns) > 1 && x.slice && (x.columns[0].Position != next || r.served(r.clustering[i:i+1])) {
			return true
		}
		if !x.slice && x.columns[0].Position == next {
			next = x.columns[len(x.columns)-1].Position + 1
		}
	}
	return false
}

func (r *restrictions) verdict(s *cql.Select, ann *Index) (Filtering, string) {
	indexed := r.custom > 0 || ann != nil || r.served(r.clustering) || r.served(r.partition) || r.served(r.others)
	for _, list := range [][]restriction{r.partition, r.clustering, r.others} {
		for i := range list {
			if list[i].like && !r.served(list[i:i+1]) {
				return FilteringRefused, "LIKE needs an index that knows it"
			}
			if list[i].like && !r.likely(&list[i]) {
				return FilteringRefused, "LIKE needs an index that knows such a pattern"
			}
		}
	}
	keyRange, uses, needed := false, false, false
	var filtered []restriction
	switch {
	case r.token && len(r.partition) == 1:
		keyRange = true
	case len(r.partition) == 0:
		keyRange, uses = true, indexed
	case r.partitionFiltered():
		keyRange, uses = true, indexed
		needed = !indexed
	}
	if r.partitionFiltered() || uses {
		for _, x := range r.partition {
			if !x.relations[0].Token {
				filtered = append(filtered, x)
			}
		}
	}
	if r.clusteringFiltered() {
		uses = uses || indexed
		needed = needed || !indexed
	}
	for i := range r.clustering { // a range ends what a slice may say, index or not
		if i > 0 && r.clustering[i-1].slice {
			needed = true
		}
	}
	if keyRange && r.served(r.clustering) {
		uses = true
	}
	rows := uses || r.clusteringFiltered()
	if rows {
		filtered = append(filtered, r.clustering...)
	}
	if len(r.others) > 0 {
		uses = uses || indexed
		needed = needed || !indexed
		filtered = append(filtered, r.others...)
	}
	uses = uses || r.custom > 0 || ann != nil
	if reason := r.refusedBesides(s, uses, keyRange, ann); reason != "" {
		return FilteringRefused, reason
	}
	if reason := r.grouped(s, keyRange); reason != "" {
		return FilteringRefused, reason
	}
	if ann != nil && (len(s.GroupBy) > 0 || aggregated(s)) {
		return FilteringRefused, "ANN does not go with aggregates"
	}
	if rows && r.rowsFiltered() {
		return FilteringRefused, "a range of rows of columns may not be filtered"
	}
	if (keyRange || uses) && r.unserved(filtered, ann) {
		needed = true
	}
	switch {
	case needed && ann != nil && !r.indexed(filtered):
		return FilteringRefused, "ANN needs an index on every column that is restricted"
	case needed:
		return FilteringNeeded, ""
	}
	return FilteringNotNeeded, ""
}

// indexed reports whether every column of some restrictions has an index, whatever it finds.
func (r *restrictions) indexed(list []restriction) bool {
	for i := range list {
		for _, c := range list[i].columns {
			if !slices.ContainsFunc(r.table.Indexes, func(x Index) bool { return x.Column == c.Name }) {
				return false
			}
		}
	}
	return true
}

// unserved reports whether no group of indexes serves all of the filtered restrictions.
func (r *restrictions) unserved(filtered []restriction, ann *Index) bool {
	if len(filtered)+r.custom == 0 {
		return len(r.clustering) > 0 && ann == nil
	}
	group := func(member func(*Index) bool, several bool) bool {
		contains := 0
		for i := range filtered {
			by := map[string]bool{}
			for j := range r.table.Indexes {
				if x := &r.table.Indexes[j]; member(x) && x.serves(&filtered[i]) {
					by[x.Column] = true
				}
			}
			if len(by) < len(filtered[i].columns) {
				return false
			}
			if filtered[i].contains || filtered[i].element {
				contains += len(filtered[i].relations)
			}
		}
		return several || contains <= 1
	}
	if r.custom == 0 && group((*Index).sai, true) {
		return false
	}
	if ann != nil {
		return true
	}
	for i := range r.table.Indexes {
		x := &r.table.Indexes[i]
		if x.sai() {
			continue
		}
		custom := len(r.customOn) == 0 || len(r.customOn) == 1 && r.customOn[0] == x
		if custom && group(func(y *Index) bool { return y == x }, false) {
			return false
		}
	}
	return true
}

// refusedBesides says why a statement is refused for how its clauses go together.
func (r *restrictions) refusedBesides(s *cql.Select, uses, keyRange bool, ann *Index) string {
	in := false
	for i := range r.partition {
		in = in || r.partition[i].in
	}
	if uses && in && (!r.token || !r.partitionFiltered()) {
		return "an index does not go with IN on the partition key"
	}
	if len(s.OrderBy) > 0 && ann == nil {
		if uses {
			return "ORDER BY does not go with an index"
		}
		if keyRange {
			return "ORDER BY needs the partition key by = or IN"
		}
	}
	return ""
}

// order checks ORDER BY: clustering columns in their order, all one way; those given by = may be left out.
func (r *restrictions) order(s *cql.Select) (ann *Index, reason string) {
	next, reversed := 0, false
	clustering := r.table.ClusteringKey()
	for i, o := range s.OrderBy {
		c := r.table.Column(o.Column)
		if c == nil {
			return nil, "no such column"
		}
		if o.ANN != nil {
			if reason := nearest(s, &o); reason != "" {
				return nil, reason
			}
			for j := range r.table.Indexes {
				if x := &r.table.Indexes[j]; x.sai() && x.Column == o.Column {
					return x, ""
				}
			}
			return nil, "ANN needs a storage-attached index"
		}
		if c.Kind != Clustering {
			return nil, "only clustering columns have an order"
		}
		for next < len(clustering) && clustering[next].Name != c.Name && r.equals(clustering[next].Name) {
			next++
		}
		if next >= len(clustering) || clustering[next].Name != c.Name {
			return nil, "ORDER BY follows the order of the clustering columns"
		}
		next++
		turned := o.Descending != c.Descending
		if i > 0 && turned != reversed {
			return nil, "ORDER BY turns all columns round or none"
		}
		reversed = turned
	}
	return nil, ""
}

// nearest says why the neighbours of a vector are not to be had.
func nearest(s *cql.Select, o *cql.Ordering) string {
	limit, _ := s.Limit.(*cql.Literal)
	switch {
	case s.Limit == nil || limit != nil && (len(limit.Text) > 4 || len(limit.Text) == 4 && limit.Text > "1000"):
		return "ANN needs a LIMIT of at most 1000"
	case s.PerPartitionLimit != nil:
		return "ANN does not go with PER PARTITION LIMIT"
	case o.Descending || len(s.OrderBy) > 1:
		return "ANN is the only order, and not a descending one"
	}
	return ""
}

func (r *restrictions) equals(column string) bool {
	for i := range r.clustering {
		for _, c := range r.clustering[i].columns {
			if c.Name == column {
				return r.clustering[i].equal
			}
		}
	}
	return false
}
