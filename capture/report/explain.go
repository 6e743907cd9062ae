package report

import (
	"fmt"
	"strings"

	"github.com/helenus-db/helenus/capture/feed"
	"github.com/helenus-db/helenus/capture/schema"
)

// Why says in words what makes a statement slow or dear, the weightiest first. It is empty if nothing stands out.
func Why(s *Statement) []string {
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	n := float64(max(s.Count, 1))
	share := func(k uint64) float64 { return 100 * float64(k) / n }

	switch a := s.Access; {
	case a.Class == schema.Scan && a.Token:
		say("reads a token range of the table: as dear as the range is wide")
	case a.Class == schema.Scan:
		say("reads the whole table: no whole partition key is given, so every node works for each execution")
	case a.Class == schema.IndexRead && len(a.Partition) == 0:
		say("goes through index %s without a partition key: the coordinator asks node after node", orSome(a.UsesIndex))
	case a.Class == schema.MultiPartition:
		say("asks for several partitions in one request (IN): one coordinator collects them all, and the slowest decides")
	}
	if s.Access.Filtering {
		say("reads rows that it throws away (ALLOW FILTERING on %s)", orSome(strings.Join(s.Access.Columns(), ", ")))
	}
	if w := s.Warnings.Of("tombstones"); w > 0 {
		say("reads many deleted rows: Cassandra warned of tombstones in %.1f %% of the executions", share(w))
	}
	if m := s.ResponseBytes.Mean(); m > 64<<10 {
		say("has large answers: %.0f kB on average, %.0f kB at p99", m/1e3, s.ResponseBytes.P99()/1e3)
	}
	if m := s.Rows.Mean(); m > 1000 {
		say("returns many rows: %.0f on average, %.0f at p99", m, s.Rows.P99())
	}
	if p := share(s.MorePages); p > 10 {
		say("is read in pages: %.0f %% of the answers were not the last page", p)
	}
	if s.Conditional {
		say("is a lightweight transaction: replicas agree in several rounds")
		if all := s.Applied + s.NotApplied; all > 0 && s.NotApplied*10 > all {
			say("is often in vain: the condition of %.0f %% was false, which may be contention", 100*float64(s.NotApplied)/float64(all))
		}
	}
	for _, level := range []string{"ALL", "EACH_QUORUM", "SERIAL", "LOCAL_SERIAL"} {
		if k := s.Consistency.Of(level); share(k) > 10 {
			say("asks for consistency %s in %.0f %% of the executions", level, share(k))
		}
	}
	for _, w := range [...][2]string{
		{"batch_size", "is a batch larger than Cassandra's threshold"}, {"batch_partitions", "is an unlogged batch over many partitions"},
		{"aggregation", "aggregates over more than one partition"}, {"read_size", "reads more bytes than Cassandra's threshold"},
	} {
		if k := s.Warnings.Of(w[0]); k > 0 {
			say("%s (%d warnings)", w[1], k)
		}
	}
	var timeouts uint64
	for _, code := range s.ErrorCodes {
		switch code.Name {
		case "read_timeout", "write_timeout", "unavailable", "overloaded":
			timeouts += code.Count
		}
	}
	if timeouts > 0 {
		say("failed %d times for want of time or replicas (%.2f %%)", timeouts, share(timeouts))
	}
	if s.Retried > 0 {
		say("was said again %d times after it had failed", s.Retried)
	}
	if p := share(s.Speculative); p > 1 {
		say("was said again while it was under way in about %.0f %% of the executions: speculative execution, or the same row wanted twice", p)
	}
	if p50, p99 := s.Latency.P50(), s.Latency.P99(); s.Latency.Count >= 100 && p99 > 10*p50 && p99 > 10_000 {
		say("is mostly fast (p50 %.1f ms) and sometimes slow (p99 %.0f ms): large or hot partitions, or pauses of a node", p50/1e3, p99/1e3)
	}
	return out
}

func orSome(s string) string {
	if s == "" {
		return "some columns"
	}
	return s
}

// Flows are the feeds into a statement, whose values it binds, and out of it, whose answers are bound elsewhere.
func Flows(feeds []feed.Feed, fingerprint string) (in, out []feed.Feed) {
	for _, f := range feeds {
		if f.To.Fingerprint == fingerprint {
			in = append(in, f)
		}
		if f.From.Fingerprint == fingerprint {
			out = append(out, f)
		}
	}
	return in, out
}
