package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/profile"
	"github.com/helenus-db/helenus/capture/schema"
)

// Table is how a table was used.
type Table struct {
	Keyspace   string   `json:"keyspace"`
	Name       string   `json:"name"`
	Own        bool     `json:"own,omitempty"` // Helenus made it
	Statements int      `json:"statements"`    // different ones
	Reads      uint64   `json:"reads"`         // executions; those in batches too
	Writes     uint64   `json:"writes"`
	Errors     uint64   `json:"errors"`
	Scans      uint64   `json:"scans"`      // of the reads, those without a whole partition key
	RowsRead   uint64   `json:"rows_read"`  // in answers
	BytesRead  uint64   `json:"bytes_read"` // in answers
	Micros     uint64   `json:"micros"`     // sum of latencies of statements on this table alone
	Unsure     int      `json:"unsure"`     // statements of which it is not known which columns they use
	Columns    []Column `json:"columns"`    // in the table's order
	Unread     []string `json:"unread"`     // columns that nobody read while the table was; only if Unsure is 0
	Remarks    []string `json:"remarks"`    // what is large or hot, as far as is known
	Partitions float64  `json:"partitions"` // estimates, 0 if not measured
	Rows       float64  `json:"rows"`
	RowBytes   float64  `json:"row_bytes"`
	Hottest    float64  `json:"hottest"` // share of the executions looked at that the hottest partition had, 0 if not known
	Longest    uint64   `json:"longest"` // most rows that were seen of one partition in one answer
}

// Column is how a column was used, in executions.
type Column struct {
	Name     string            `json:"name"`
	Kind     schema.ColumnKind `json:"kind"`
	Read     uint64            `json:"read"`     // it was in the answer
	Written  uint64            `json:"written"`  // it was given a value, or deleted
	Filtered uint64            `json:"filtered"` // rows were found, or left out, by it
}

// Bounds above which a partition is called large.
const (
	largeRows  = 100_000
	largeBytes = 100 << 20
)

// A partition is called hot if it has so large a share, and so many times its fair one, of so many executions that were looked at.
const (
	hotShare      = 0.1
	hotTimes      = 10
	hotExecutions = 200
)

// Tables says how the tables of a schema were used, those with the most time first. Statements on tables that are not in
// the schema are left out. stats and profiles may be nil.
func Tables(s *capture.Snapshot, sc *schema.Schema, stats []schema.Stats, profiles *profile.Document) []Table {
	out := []Table{}
	if sc == nil {
		return out
	}
	index := map[cql.TableRef]*usage{}
	for i := range sc.Keyspaces {
		for j := range sc.Keyspaces[i].Tables {
			t := &sc.Keyspaces[i].Tables[j]
			u := &usage{table: t, columns: map[string]*Column{}, Table: Table{Keyspace: t.Keyspace, Name: t.Name, Unread: []string{}, Remarks: []string{}}}
			u.Columns = make([]Column, len(t.Columns))
			for k, c := range t.Columns {
				u.Columns[k] = Column{Name: c.Name, Kind: c.Kind}
				u.columns[c.Name] = &u.Columns[k]
			}
			index[cql.TableRef{Keyspace: t.Keyspace, Table: t.Name}] = u
		}
	}
	for i := range s.Statements {
		st := &s.Statements[i]
		if u := index[cql.TableRef{Keyspace: st.Keyspace, Table: st.Table}]; u != nil && st.Kind != cql.KindBatch.String() {
			u.add(st, sc)
		}
	}
	for _, u := range index {
		u.judge(stats, profiles)
		out = append(out, u.Table)
	}
	slices.SortFunc(out, func(a, b Table) int {
		switch {
		case a.Micros > b.Micros:
			return -1
		case a.Micros < b.Micros:
			return 1
		}
		return strings.Compare(a.Keyspace+"."+a.Name, b.Keyspace+"."+b.Name)
	})
	return out
}

// usage is a table while statements are added to it.
type usage struct {
	Table
	table   *schema.Table
	columns map[string]*Column
	largest float64 // rows that one partition had in an answer, at p99
	warned  uint64  // of tombstones
}

func (u *usage) add(st *capture.Statement, sc *schema.Schema) {
	u.Statements++
	u.Errors += st.Errors
	u.Micros += st.Latency.Sum
	parsed, err := st.Parse()
	if err != nil {
		u.Unsure++
		return
	}
	switch x := parsed.(type) {
	case *cql.Select:
		u.Reads += st.Count
		u.RowsRead += st.Rows.Sum
		u.BytesRead += st.ResponseBytes.Sum
		u.warned += st.Warnings.Of("tombstones")
		a := schema.Classify(parsed, sc, st.Keyspace)
		switch a.Class {
		case schema.Scan, schema.IndexRead:
			u.Scans += st.Count
		case schema.Partition:
			u.largest = max(u.largest, st.Rows.P99())
		}
		u.each(a.Projection, func(c *Column) { c.Read += st.Count })
		if len(x.Columns) == 0 { // *
			for i := range u.Columns {
				u.Columns[i].Read += st.Count
			}
		}
		u.filter(x.Where, st.Count)
	case *cql.Insert:
		u.Writes += st.Count
		u.each(x.Columns, func(c *Column) { c.Written += st.Count })
		if x.JSON != nil {
			u.Unsure++
		}
	case *cql.Update:
		u.Writes += st.Count
		for _, one := range x.Assignments {
			u.each([]string{one.Column}, func(c *Column) { c.Written += st.Count })
		}
		for _, one := range x.Conditions {
			u.each([]string{one.Column}, func(c *Column) { c.Read += st.Count })
		}
		u.filter(x.Where, st.Count)
	case *cql.Delete:
		u.Writes += st.Count
		for _, one := range x.Columns {
			u.each([]string{one.Column}, func(c *Column) { c.Written += st.Count })
		}
		for _, one := range x.Conditions {
			u.each([]string{one.Column}, func(c *Column) { c.Read += st.Count })
		}
		u.filter(x.Where, st.Count)
	}
}

func (u *usage) filter(where []cql.Relation, n uint64) {
	for _, w := range where {
		u.each(w.Columns, func(c *Column) { c.Filtered += n })
	}
}

func (u *usage) each(names []string, do func(c *Column)) {
	for _, name := range names {
		if c := u.columns[name]; c != nil {
			do(c)
		}
	}
}

// judge says what stands out.
func (u *usage) judge(stats []schema.Stats, profiles *profile.Document) {
	remark := func(format string, args ...any) { u.Remarks = append(u.Remarks, fmt.Sprintf(format, args...)) }
	if u.Unsure == 0 && u.Reads > 0 {
		for _, c := range u.Columns {
			if c.Read == 0 && c.Filtered == 0 && (c.Kind == schema.Regular || c.Kind == schema.Static) {
				u.Unread = append(u.Unread, c.Name)
			}
		}
	}
	for i := range stats {
		if x := &stats[i]; x.Keyspace == u.Keyspace && x.Table == u.Name {
			u.Partitions, u.Rows, u.RowBytes = x.Partitions, x.Rows, x.MeanRowBytes
		}
	}
	if u.Partitions > 0 {
		rows := u.Rows / u.Partitions
		if rows > largeRows || rows*u.RowBytes > largeBytes {
			remark("large partitions: %.0f rows and %.0f MB on average", rows, rows*u.RowBytes/1e6)
		}
		if u.Partitions < 10 && u.Rows > largeRows {
			remark("few partitions: %.0f for %.0f rows, so few nodes do all the work", u.Partitions, u.Rows)
		}
	}
	u.look(profiles, remark)
	if u.largest > largeRows {
		remark("large partitions: an answer of one partition had %.0f rows at p99", u.largest)
	}
	if u.Scans > 0 && u.Reads > 0 {
		remark("%.3g %% of its reads give no whole partition key", 100*float64(u.Scans)/float64(u.Reads))
	}
	if u.warned > 0 {
		remark("Cassandra warned %d times of tombstones", u.warned)
	}
	if u.Own = u.table.Own(); u.Own {
		remark("a table of Helenus: it reads and writes it by itself (helenus changes)")
	} else if u.Statements == 0 {
		remark("nobody used it")
	} else if u.Reads == 0 && u.Writes > 0 {
		remark("it is written and never read")
	}
}

// look says what windows have shown of the table's partitions. Each epoch has seen other executions; what most were seen of is
// believed.
func (u *usage) look(profiles *profile.Document, remark func(string, ...any)) {
	if profiles == nil {
		return
	}
	var most uint64
	var partitions float64
	for i := range profiles.Epochs {
		for _, t := range profiles.Epochs[i].Tables {
			if t.Keyspace != u.Keyspace || t.Name != u.Name {
				continue
			}
			for _, one := range t.Longest {
				u.Longest = max(u.Longest, one.Size)
			}
			if n := t.Reads + t.Writes; n > most {
				most, partitions, u.Hottest = n, t.Partitions, t.HotShare
			}
		}
	}
	if most >= hotExecutions && partitions > 1 && u.Hottest >= hotShare && u.Hottest*partitions >= hotTimes {
		remark("hot partition: one of %.0f has %.0f %% of the executions", partitions, 100*u.Hottest)
	}
	if u.Longest > largeRows {
		remark("large partitions: an answer from one had %d rows", u.Longest)
	}
}
