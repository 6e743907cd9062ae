package writers

import (
	"fmt"
	"strings"

	"github.com/helenus-db/helenus/advisor/safety"
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/burst"
	"github.com/helenus-db/helenus/capture/schema"
)

type burstEqual = burst.Equal

// placeOf is the place of the bind variable of a column, -1 if there is none.
func placeOf(st *capture.Statement, name string) int {
	place := -1
	for i, v := range st.Variables {
		if i == 0 || v.Name != st.Variables[i-1].Name {
			place++
		}
		if v.Name == name {
			return place
		}
	}
	return -1
}

// shardNames are what columns are called that were made up to spread writers (S-21).
var shardNames = []string{"shard", "bucket", "slot", "salt", "stripe"}

// findShard finds the column that spreads writers, and over how many groups.
func (m *maker) findShard(t *schema.Table, out *safety.Table) {
	for _, name := range out.Partition {
		for _, word := range shardNames {
			if !strings.Contains(strings.ToLower(name), word) {
				continue
			}
			if n := m.distinctValues(t, name); n > 1 {
				out.Shard, out.Shards = name, n
			}
		}
	}
}

// distinctValues is how many values a column has, 0 if nobody knows.
func (m *maker) distinctValues(t *schema.Table, name string) float64 {
	for i := range m.Statistics {
		if s := &m.Statistics[i]; s.Keyspace == t.Keyspace && s.Table == t.Name {
			if c := s.Column(name); c != nil {
				return c.Distinct
			}
		}
	}
	if m.Snapshot.Profiles != nil {
		for _, e := range m.Snapshot.Profiles.Epochs {
			for i := range e.Columns {
				if c := &e.Columns[i]; c.Keyspace == t.Keyspace && c.Table == t.Name && c.Name == name {
					return c.Distinct
				}
			}
		}
	}
	return 0
}

// measureLoad is what was measured of a table's writes.
func (m *maker) measureLoad(t *schema.Table, out *safety.Table) {
	l := &safety.Load{Overlaps: -1}
	writes, refused, timeouts := 0.0, uint64(0), uint64(0)
	slowest := 0.0
	for _, w := range m.templates {
		if w.table != t {
			continue
		}
		st := w.statement
		writes += float64(st.Count) / m.seconds
		if w.class != safety.LWT && w.class != safety.Counter {
			continue
		}
		slowest = max(slowest, st.Latency.Mean()/1e6)
		if w.class == safety.LWT {
			if !w.unless { // IF NOT EXISTS is refused where all is well
				refused += st.NotApplied
			}
			for _, code := range st.ErrorCodes {
				if strings.Contains(code.Name, "timeout") || strings.Contains(code.Name, "cas") {
					timeouts += code.Count
				}
			}
		}
	}
	l.Service, l.Failures = slowest, int(refused+timeouts) //nolint:gosec // counts
	p, sampled := m.profiles[column{t.Keyspace, t.Name, ""}]
	for i := range m.Statistics {
		if s := &m.Statistics[i]; s.Keyspace == t.Keyspace && s.Table == t.Name && s.Partitions > 0 {
			out.Partitions, out.Bytes = s.Partitions, s.Rows*s.MeanRowBytes
			l.Bytes = out.Bytes / s.Partitions
		}
	}
	switch {
	case sampled && p.HotShare > 0:
		l.Rate = writes * p.HotShare
		l.Share = m.nodeLoads(t.Keyspace, l.Rate)
	case out.Partitions > 0:
		l.Rate = writes / out.Partitions
	default:
		l.Rate = writes // it may all be one partition
	}
	note := func(format string, args ...any) { out.Remarks = append(out.Remarks, fmt.Sprintf(format, args...)) }
	if writes > 0 {
		note("%.3g writes a second in all, about %.3g to the busiest partition", writes, l.Rate)
	}
	if l.Share >= 2 {
		note("each replica of that partition takes %.3g times what a node would if all writes were spread evenly", l.Share)
	}
	if sampled && p.Writes > 0 {
		l.Overlaps = int(p.Met.Partition) //nolint:gosec // a count
		l.RowOverlaps = int(p.Met.Row)    //nolint:gosec // a count
		note("of %d writes that were looked at, %d pairs were under way at once on one partition, %d on one row; at most %d at once", p.Writes, p.Met.Partition, p.Met.Row, p.Met.Most)
		if len(p.Heaviest) > 0 {
			l.Bytes = max(l.Bytes, float64(p.Heaviest[0].Size))
		}
	}
	if refused+timeouts > 0 {
		note("%d lightweight transactions were refused, %d timed out", refused, timeouts)
	}
	out.Load = l
}

// nodeLoads puts writes to one partition in loads of a node that takes its even part of all writes; 0: the cluster is not known.
func (m *maker) nodeLoads(keyspace string, rate float64) float64 {
	k := m.Schema.Keyspace(keyspace)
	if k == nil || m.writes == 0 {
		return 0
	}
	_, replicas := k.Replicas()
	if replicas == 0 {
		return 0
	}
	return rate * float64(m.Nodes) / (m.writes * float64(replicas))
}
