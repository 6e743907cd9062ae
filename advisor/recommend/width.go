package recommend

import (
	"fmt"
	"slices"
	"sort"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/capture/schema"
)

// statsOf is what was measured of a table, nil if it was not.
func (k *maker) statsOf(keyspace, table string) *schema.Stats {
	for i := range k.Statistics {
		if st := &k.Statistics[i]; st.Keyspace == keyspace && st.Table == table {
			return st
		}
	}
	return nil
}

// whyUnmeasured says why nothing can be advised on a table yet, "" if it can: what a read costs depends on how much is there.
func (k *maker) whyUnmeasured(keyspace, table string) string {
	switch st := k.statsOf(keyspace, table); {
	case k.Schema.View(keyspace, table) != nil:
		return table + " is a materialised view, which the database keeps: nothing is proposed for reads of one"
	case st == nil:
		return fmt.Sprintf("%s was not measured yet: advice is given once it is known how many rows it has", table)
	case st.Rows == 0:
		return fmt.Sprintf("%s was empty when it was measured: advice is given once there are rows, and they were measured", table)
	}
	return ""
}

// unmeasuredOf is whyUnmeasured of the tables of a join.
func (k *maker) unmeasuredOf(j *joined) string {
	for _, u := range j.reads {
		if why := k.whyUnmeasured(u.access.Keyspace, u.access.Table); why != "" {
			return why
		}
	}
	return ""
}

// rowsAValue words how many rows the reads of a look-up find, and how that is known, in order of trust: what executions
// returned, and what was measured of the column.
func (k *maker) rowsAValue(o *offer, users []*read) (facts []string) {
	if st := k.statsOf(o.schema.Keyspace, o.schema.Name); st != nil {
		how := fmt.Sprintf("estimated from %d rows", st.Sampled)
		if st.Exact {
			how = "counted"
		}
		facts = append(facts, fmt.Sprintf("%s has about %.0f rows, %.1f for each value of %s (%s)", o.schema.Name, st.Rows, st.RowsPer(o.column), o.column, how))
	}
	for _, u := range users {
		if rows := u.asked.Query.Returned; rows > 0 {
			seen := u.statement.Rows
			facts = append(facts, fmt.Sprintf("%s returned %.1f rows in the mean of %d answers, 99 in 100 of them at most %.0f",
				shortFingerprint(u.statement.Fingerprint), rows, seen.Count, seen.P99()))
		}
	}
	return facts
}

// shortFingerprint is the beginning of a fingerprint.
func shortFingerprint(fingerprint string) string { return fingerprint[:min(8, len(fingerprint))] }

// widest is up to how many rows it is worked out whether a look-up is cheaper: beyond the default of max-entries nothing is followed.
const widest = 1 << 16

// cheaperUpTo is the number of rows of one value up to which a look-up is the cheaper way for all of its reads, at least 1.
func (k *maker) cheaperUpTo(o *offer, users []*read) int {
	cheaper := func(rows int) bool {
		for _, u := range users {
			wide := *u
			asked, q := *u.asked, *u.asked.Query
			q.Where = nil // the one value: what else is asked is filtered out of its rows
			for _, p := range u.asked.Query.Where {
				if p.Op == workload.Equal && slices.Contains(o.table.Partition, p.Field) {
					q.Where = append(q.Where, p)
				}
			}
			q.Returned, q.Limit = float64(rows), 0
			asked.Query, wide.asked = &q, &asked
			_, through := k.planThrough(o, &wide, k.costs)
			now, price := k.planOver(&q, k.costs, o.table.Base)
			if now == nil || through.Work > price.Work {
				return false
			}
		}
		return true
	}
	return max(1, sort.Search(widest, func(n int) bool { return !cheaper(n + 1) }))
}

// promiseOf is what a recommendation expects of its reads and writes, which is held against what is measured once it serves.
func promiseOf(r *Recommendation) (p plan.Promise) {
	before, after := 0.0, 0.0
	for i := range r.Statements {
		s := &r.Statements[i]
		before, after = before+s.PerSecond*s.PredictedBeforeMs, after+s.PerSecond*s.PredictedAfterMs
	}
	if after > 0 {
		p.Reads = before / after
	}
	for i := range r.Writes {
		p.Writes = r.WriteCostRatio
		p.Paying = append(p.Paying, r.Writes[i].Fingerprint)
	}
	return p
}
