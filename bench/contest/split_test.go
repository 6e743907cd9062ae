package contest

import (
	"math"
	"testing"
	"time"
)

// TestStaged (N-62): what traces of Cassandra 5.0.8 say, taken down as it wrote them.
func TestStaged(t *testing.T) {
	for name, c := range map[string]struct {
		whole  int // microseconds, as all here
		events map[int]string
		want   stages
	}{
		"get of one file": {5856, map[int]string{
			588: "Executing single-partition query on t", 666: "Acquiring sstable references", 730: "Merging memtable contents",
			838: "Key cache hit for sstable 1, size = 0", 3441: "Read 1 live rows and 0 tombstone cells",
		}, stages{whole: 5.856, replica: 2.853, sstables: 1}},
		"slice of memory": {7106, map[int]string{
			2356: "Executing single-partition query on t", 2536: "Acquiring sstable references",
			2988: "Skipped 0/0 non-slice-intersecting sstables, included 0 due to tombstones",
			4696: "Merged data from memtables and 0 sstables", 4799: "Read 19 live rows and 1 tombstone cells",
		}, stages{whole: 7.106, replica: 2.443, tombstones: 1}},
		"put": {7093, map[int]string{
			3529: "Determining replicas for mutation", 4661: "Appending to commitlog", 4946: "Adding to t memtable",
		}, stages{whole: 7.093, replica: 2.432}},
		"filtering scan": {6833, map[int]string{
			748: "Computing ranges to query", 1041: "Submitting range requests on 2 ranges with a concurrency of 2 (4608.0 rows per range expected)",
			1880: "Executing seq scan across 1 sstables for (min(-9223372036854775808), min(-9223372036854775808)]",
			4570: "Submitted 1 concurrent range requests", 5542: "Read 99 live rows and 17 tombstone cells",
		}, stages{whole: 6.833, replica: 3.662, sstables: 1, tombstones: 17}},
		"index": {10736, map[int]string{
			3130: "Index mean cardinalities are t_c_idx:99. Scanning with t_c_idx.", 6173: "Executing read on k.t using index t_c_idx",
			6472: "Executing single-partition query on t.t_c_idx", 6707: "Read 0 live rows and 0 tombstone cells",
		}, stages{whole: 10.736, replica: 0.534}},
		"nothing asked of a replica": {3014, nil, stages{whole: 3.014}},
	} {
		var events []event
		for at, activity := range c.events {
			events = append(events, event{activity, time.Duration(at) * time.Microsecond})
		}
		got := staged(events, time.Duration(c.whole)*time.Microsecond)
		if math.Abs(got.replica-c.want.replica) > 1e-9 {
			t.Errorf("%s: %g ms of the replica, want %g", name, got.replica, c.want.replica)
		}
		if got.replica = c.want.replica; got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// TestSplitAddsUp: what only some requests were traced for is shared out over what was waited for all, and the parts are the whole.
func TestSplitAddsUp(t *testing.T) {
	s := Split{Count: 2, Mean: 40, Client: 8, Requests: 20} // sums
	s.finish([]stages{{trip: 1, whole: 0.7, replica: 0.2, sstables: 1}, {trip: 3, whole: 2.3, replica: 0.8, sstables: 2, tombstones: 5}})
	want := Split{Count: 2, Mean: 20, Client: 4, Way: 4, Coordinator: 8, Replica: 4, Requests: 10, SSTables: 15, Tombstones: 25, Traced: 2}
	if math.Abs(s.Way-want.Way) > 1e-9 || math.Abs(s.Coordinator-want.Coordinator) > 1e-9 || math.Abs(s.Replica-want.Replica) > 1e-9 {
		t.Errorf("%+v, want %+v", s, want)
	}
	if s.Way, s.Coordinator, s.Replica = want.Way, want.Coordinator, want.Replica; s != want {
		t.Errorf("%+v, want %+v", s, want)
	}
	untraced := Split{Count: 1, Mean: 3, Client: 3}
	if untraced.finish(nil); untraced.Way != 0 || untraced.Mean != 3 {
		t.Errorf("%+v", untraced)
	}
}
