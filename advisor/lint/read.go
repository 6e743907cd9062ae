package lint

import (
	"slices"
	"strings"

	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/schema"
)

// checkQuestion looks at what an application asks.
func (in *Input) checkQuestion(q *Question) []Finding {
	var out []Finding
	if q.Lost != "" {
		f := in.newFinding(NoTable, Reference{}, nil, "%s", q.Lost)
		f.Table = ""
		out = append(out, f)
	}
	tables := slices.Clone(q.Tables)
	for i := range q.Reads {
		if on := q.Reads[i].On(); !slices.Contains(tables, on) {
			tables = append(tables, on)
		}
	}
	if len(tables) > 1 {
		names := make([]string, len(tables))
		for i, t := range tables {
			names[i] = t.String()
		}
		f := in.newFinding(MultiTable, tables[0], nil, "it is answered from %s, one after the other", strings.Join(names, ", "))
		f.Table = strings.Join(names, ", ")
		out = append(out, f)
	}
	for i := range q.Reads {
		r := &q.Reads[i]
		for _, f := range in.checkRead(r, i > 0) {
			f.read = r
			out = append(out, f)
		}
	}
	for i := range out {
		out[i].Statement, out[i].Text, out[i].question = q.ID, q.Text, q
	}
	return out
}

// restriction is how a column is restricted.
type restriction uint8

const (
	equal restriction = 1 << iota
	list
	byRange
	covered // by a range over a row of columns that begins before it
)

// restrictionsOf says how each column of a table is restricted.
func restrictionsOf(s *cql.Select) map[string]restriction {
	by := map[string]restriction{}
	for _, w := range s.Where {
		if w.Token || w.Element != nil {
			continue
		}
		for i, c := range w.Columns {
			switch w.Op {
			case cql.OpEQ:
				by[c] |= equal
			case cql.OpIn:
				by[c] |= list
			case cql.OpLT, cql.OpLE, cql.OpGT, cql.OpGE, cql.OpBetween, cql.OpLike:
				if i > 0 {
					by[c] |= covered // (a, b) > (?, ?) is one range
				} else {
					by[c] |= byRange
				}
			}
		}
	}
	return by
}

// smallTable is up to how many rows a table may be read as a whole.
const smallTable = 100

// checkRead looks at one SELECT. fed tells that the values it asks by come from an earlier one.
func (in *Input) checkRead(r *Read, fed bool) []Finding {
	on := r.On()
	t := in.Schema.Table(on.Keyspace, on.Table)
	if t == nil {
		return nil
	}
	a := schema.Analyse(r.Select, in.Schema, r.Keyspace)
	by := restrictionsOf(r.Select)
	if a.AllowFiltering == schema.FilteringRefused && !r.Client {
		return []Finding{in.newFinding(StatementNotAccepted, on, nil, "Cassandra does not take it: %s", a.Refused)}
	}
	var ranged []string
	for _, c := range t.PartitionKey() {
		if by[c.Name]&byRange != 0 {
			ranged = append(ranged, c.Name)
		}
	}
	switch {
	case len(ranged) > 0:
		return []Finding{in.newFinding(PartitionKeyRange, on, ranged, "%s is compared by order, and is part of the partition key (%s)", strings.Join(ranged, ", "), joinNames(t.PartitionKey()))}
	case a.Class == schema.Scan:
		if rows := in.factOf(on).Rows; rows > 0 && rows <= smallTable {
			return nil // a table of so few rows is read as a whole as fast as in part
		}
		if len(r.Select.Where) == 0 && r.Select.Limit != nil {
			f := in.newFinding(TableScan, on, nil, "it reads partitions in the order of their tokens until there are as many rows as its LIMIT says: which rows these are is chance")
			f.Severity = Note
			return []Finding{f}
		}
		f := in.newFinding(TableScan, on, nil, "it reads every partition of the table")
		if missing := notGiven(t, by); len(r.Select.Where) > 0 && !a.Token {
			f = in.newFinding(TableScan, on, missing, "it asks by %s, and a partition is found by all of (%s): every row of the table is read", strings.Join(restrictedColumns(r.Select), ", "), joinNames(t.PartitionKey()))
		}
		if in.factOf(on).Unmeasured {
			f.Severity = Warning // it may have a handful of rows
		}
		return []Finding{f}
	case a.Class == schema.IndexRead:
		return []Finding{in.newFinding(IndexRead, on, restrictedColumns(r.Select), "it finds its rows by index %s: every node is asked", a.UsesIndex)}
	}
	var out []Finding
	if a.Class == schema.MultiPartition && !fed {
		out = append(out, in.newFinding(SeveralPartitions, on, nil, "IN names several partitions of (%s)", joinNames(t.PartitionKey())))
	}
	out = append(out, in.checkClustering(t, on, r.Select, by)...)
	return append(out, in.checkOrder(t, on, r.Select, by)...)
}

// checkClustering looks at conditions within a partition.
func (in *Input) checkClustering(t *schema.Table, on Reference, s *cql.Select, by map[string]restriction) []Finding {
	var out []Finding
	rangedBy, gap := "", ""
	for _, c := range t.ClusteringKey() {
		w := by[c.Name]
		switch {
		case w&covered != 0:
		case w == 0:
			if gap == "" {
				gap = c.Name
			}
		case gap != "" && rangedBy == "":
			out = append(out, in.newFinding(ClusteringGap, on, []string{c.Name}, "%s is given, and clustering column %s before it is not", c.Name, gap))
			return out
		case rangedBy != "" && w&byRange != 0:
			out = append(out, in.newFinding(TwoInequalities, on, []string{rangedBy, c.Name}, "%s and %s are both compared by order", rangedBy, c.Name))
			return out
		case rangedBy != "":
			out = append(out, in.newFinding(InequalityFirst, on, []string{rangedBy, c.Name}, "%s is compared by order and comes before %s, which is compared for equality", rangedBy, c.Name))
			return out
		case w&byRange != 0:
			rangedBy = c.Name
		}
	}
	var others []string
	for _, c := range t.Columns {
		if (c.Kind == schema.Regular || c.Kind == schema.Static) && by[c.Name] != 0 && !indexServes(t, s, c.Name) {
			others = append(others, c.Name)
		}
	}
	if len(others) > 0 {
		out = append(out, in.newFinding(FilteringNeeded, on, others, "%s is not in the primary key: rows of the partition are read and left out", strings.Join(others, ", ")))
	}
	return out
}

// indexServes reports whether an index serves all conditions on a column: within a partition, too, its rows are found by it.
func indexServes(t *schema.Table, s *cql.Select, column string) bool {
	for i := range s.Where {
		if w := &s.Where[i]; slices.Contains(w.Columns, column) && schema.IndexFor(t, w) == nil {
			return false
		}
	}
	return true
}

// checkOrder looks at ORDER BY.
func (in *Input) checkOrder(t *schema.Table, on Reference, s *cql.Select, by map[string]restriction) []Finding {
	var asked []cql.Ordering
	for _, o := range s.OrderBy {
		if o.ANN != nil {
			return nil
		}
		if by[o.Column] != equal {
			asked = append(asked, o)
		}
	}
	if len(asked) == 0 {
		return nil
	}
	var columns []string
	for _, o := range asked {
		columns = append(columns, o.Column)
	}
	forward, reverse, n := true, true, 0
	for _, c := range t.ClusteringKey() {
		if n == len(asked) {
			break
		}
		if by[c.Name] == equal {
			continue
		}
		if c.Name != asked[n].Column {
			forward, reverse = false, false
			break
		}
		forward = forward && c.Descending == asked[n].Descending
		reverse = reverse && c.Descending != asked[n].Descending
		n++
	}
	switch {
	case n < len(asked) || !forward && !reverse:
		return []Finding{in.newFinding(OrderNotKept, on, columns, "it is to be sorted by %s, and rows lie by (%s)", orderText(asked), clusteringText(t))}
	case !forward:
		return []Finding{in.newFinding(OrderReversed, on, columns, "it is sorted by %s, and rows lie the other way round (%s)", orderText(asked), clusteringText(t))}
	}
	return nil
}

func orderText(list []cql.Ordering) string {
	out := make([]string, len(list))
	for i, o := range list {
		out[i] = o.Column + map[bool]string{true: " DESC", false: " ASC"}[o.Descending]
	}
	return strings.Join(out, ", ")
}

func clusteringText(t *schema.Table) string {
	var out []string
	for _, c := range t.ClusteringKey() {
		out = append(out, c.Name+map[bool]string{true: " DESC", false: " ASC"}[c.Descending])
	}
	return strings.Join(out, ", ")
}

// notGiven lists the columns of the partition key that a statement does not give.
func notGiven(t *schema.Table, by map[string]restriction) []string {
	var out []string
	for _, c := range t.PartitionKey() {
		if by[c.Name]&(equal|list) == 0 {
			out = append(out, c.Name)
		}
	}
	return out
}

// restrictedColumns lists the columns that a statement asks by, in its order.
func restrictedColumns(s *cql.Select) []string {
	var out []string
	for _, w := range s.Where {
		for _, c := range w.Columns {
			if !slices.Contains(out, c) {
				out = append(out, c)
			}
		}
	}
	return out
}
