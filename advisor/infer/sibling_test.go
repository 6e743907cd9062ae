package infer_test

import (
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/advisor/infer/infertest"
	"github.com/helenus-db/helenus/capture/feed"
	"github.com/helenus-db/helenus/capture/schema"
)

// A table of counters holds what is asked for with the same id just before, under names that say nothing and with integers that are in everything. Without that nothing
// is concluded.
func TestCountersBesideTheirEntity(t *testing.T) {
	s := single("ks",
		infertest.Table("ks", "t1", "a1 bigint", "", "a2 text"),
		infertest.Table("ks", "t2", "b1 bigint", "", "b2 text"),
		infertest.Table("ks", "t3", "c1 bigint", "", "c2 counter"))
	s.Keyspaces[0].Tables[2].Counter = true
	for _, together := range []bool{true, false} {
		traffic := &infertest.Traffic{Keyspace: "ks", Seconds: 100}
		thing := traffic.Say("SELECT a2 FROM t1 WHERE a1 = ?", 1000, 900, 1)
		traffic.Say("SELECT b2 FROM t2 WHERE b1 = ?", 1000, 900, 1)
		counts := traffic.Say("SELECT c2 FROM t3 WHERE c1 = ?", 900, 900, 1)
		snapshot := traffic.Snapshot()
		if together {
			snapshot.Echoes = []feed.Feed{{
				From: feed.End{Fingerprint: thing, Keyspace: "ks", Table: "t1", Column: "a1", Bound: true}, To: feed.End{Fingerprint: counts, Keyspace: "ks", Table: "t3", Column: "c1"},
				Executions: 900, Hits: 850, Shape: feed.Sibling, Confidence: 1,
			}}
		}
		m, err := infer.Infer(snapshot, s, []schema.Stats{
			infertest.Measured("ks", "t1", 3000, 3000, "a1 3000 8", "a2 3000 20"),
			infertest.Measured("ks", "t2", 4000, 4000, "b1 4000 8", "b2 4000 20"),
			infertest.Measured("ks", "t3", 2900, 2900, "c1 2900 8", "c2 500 8"),
		})
		if err != nil {
			t.Fatal(err)
		}
		e := entity(m, "T1")
		if e == nil || together != (strings.Join(e.Tables, " ") == "ks.t1 ks.t3") || len(m.Entities) != 3 && !together {
			t.Errorf("asked for together %v: %+v", together, m.Entities)
		}
	}
}
