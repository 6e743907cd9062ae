package recommend

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/cql"
)

// paying is a write that a look-up costs something.
type paying struct {
	asked     *workload.Statement
	statement *capture.Statement
	effect    plan.Effect
	requests  plan.Requests // of ours, per execution
}

// payingWrites lists the writes that set or take away the column of a look-up.
func (k *maker) payingWrites(o *offer) (list []paying) {
	if list, known := k.paying[o.table]; known {
		return list
	}
	defer func() { k.paying[o.table] = list }()
	seen := map[string]bool{}
	for _, s := range k.singles.Statements {
		if s.Write == nil || seen[s.Sources[0]] {
			continue
		}
		st := k.Snapshot.Statement(s.Sources[0])
		effect, does := o.effectOf(s, st)
		if !does {
			continue
		}
		seen[s.Sources[0]] = true
		list = append(list, paying{s, st, effect, plan.Upkeep(effect, stampedShare(st))})
	}
	return list
}

// effectOf is what a write does to the column of a look-up, if anything.
func (o *offer) effectOf(s *workload.Statement, st *capture.Statement) (plan.Effect, bool) {
	if st.Kind != cql.KindInsert.String() && st.Table != "" && (st.Table != o.schema.Name || st.Keyspace != o.schema.Keyspace) {
		return 0, false // of another table, as most are
	}
	parsed, err := st.Parse()
	if err != nil {
		return 0, false
	}
	switch x := parsed.(type) {
	case *cql.Insert:
		return plan.Sets, plan.Modifies(s.Write, o.table)
	case *cql.Update:
		ref := x.Table.In(st.Keyspace)
		sets := slices.ContainsFunc(x.Assignments, func(a cql.Assignment) bool { return a.Column == o.column })
		return plan.Replaces, ref.Keyspace == o.schema.Keyspace && ref.Table == o.schema.Name && sets
	case *cql.Delete:
		ref := x.Table.In(st.Keyspace)
		clears := len(x.Columns) == 0
		for _, c := range x.Columns {
			clears = clears || c.Column == o.column
		}
		return plan.Clears, ref.Keyspace == o.schema.Keyspace && ref.Table == o.schema.Name && clears
	}
	return 0, false
}

// stampedShare is the share of a statement's executions that carry a timestamp of the client's and no condition.
func stampedShare(st *capture.Statement) float64 {
	switch {
	case st.Conditional || st.Count == 0:
		return 0
	case strings.Contains(st.Text, "USING TIMESTAMP") || strings.Contains(st.Text, "AND TIMESTAMP"):
		return 1
	}
	return min(1, float64(st.Stamped)/float64(st.Count))
}

// upkeepOf is the work of one execution of a write for a look-up.
func (o *offer) upkeepOf(m *cost.Cassandra, p *paying) float64 {
	read := plan.Step{Kind: plan.Get, Table: o.table.Base, Fields: o.table.Partition, Requests: 1, Rows: 1, Bytes: o.table.Partition[0].Size()}
	put := plan.Step{Kind: plan.Put, Table: o.table, Requests: 1, Rows: 1, Bytes: o.table.RowBytes()}
	remove := put
	remove.Kind = plan.Remove
	r := p.requests
	removes := min(p.effect.Leaves(), r.LaterWrites)
	return (r.Reads+r.LaterReads)*m.Step(&read, false).Work + (r.Writes+r.LaterWrites-removes)*m.Step(&put, false).Work + removes*m.Step(&remove, false).Work
}

const (
	// passing is what one tombstone costs a read that passes it, milliseconds: 8,000 took 5 to 6 (docs/design/cassandra.md).
	passing = 0.0007
	// queued is from how many tombstones in the partition of a value on a look-up is a queue: Cassandra warns of so many.
	queued = 1000
	// kinds is up to how many different values a column tells kinds of rows: their number does not grow with the table's.
	kinds = 32
	// crowded is how many rows of one value are too many to be followed, as max-entries has it by default.
	crowded = 1000
)

// tombstonesPassed is how many of them a read of one value passes in the mean: those that writes left there since they may be compacted away.
func (k *maker) tombstonesPassed(o *offer) float64 {
	left := 0.0
	for _, p := range k.payingWrites(o) {
		left += p.asked.Weight * p.effect.Leaves()
	}
	return left * plan.GraceSeconds / k.distinctValues(o)
}

// distinctValues is how many different values the column of a look-up has.
func (k *maker) distinctValues(o *offer) float64 {
	if st := k.statsOf(o.schema.Keyspace, o.schema.Name); st != nil {
		if c := st.Column(o.column); c != nil && c.Distinct >= 1 {
			return c.Distinct
		}
	}
	return o.table.Partition[0].Distinct()
}

// whyQueue says why a column is no key of a look-up: its partitions would be queues, or grow without bound. "": it may be.
func (k *maker) whyQueue(o *offer) string {
	st := k.statsOf(o.schema.Keyspace, o.schema.Name)
	values := k.distinctValues(o)
	if left := k.tombstonesPassed(o); left > queued {
		return fmt.Sprintf("a look-up table by %s would be a queue: %s has about %.0f different values, and so many rows change theirs that a read would pass about %.0f tombstones (in the %s that they stay at the least; up to %d are no matter)",
			o.column, o.column, values, left, seconds(plan.GraceSeconds), queued)
	}
	if st != nil && values <= kinds && st.RowsPer(o.column) > crowded {
		return fmt.Sprintf("%s has about %.0f different values only: a look-up table by it would hold all %.0f rows in as many partitions, which grow without bound; a table with a bucket in its key is the application's to make",
			o.column, values, st.Rows)
	}
	return ""
}
