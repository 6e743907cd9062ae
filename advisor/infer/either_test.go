package infer_test

import (
	"fmt"
	"testing"

	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/advisor/infer/infertest"
	"github.com/helenus-db/helenus/capture/feed"
	"github.com/helenus-db/helenus/capture/schema"
)

// A reference to now this and now that, of one type, is no relationship, though it is one of the two that is read by it; a person is asked. One to a single thing is
// one, though others are of the same type.
func TestReferenceToOneOfTwo(t *testing.T) {
	for _, c := range []struct {
		name string
		both bool
		want string
	}{{"one of two", true, ""}, {"one", false, "T1.c2 -> T2"}} {
		t.Run(c.name, func(t *testing.T) {
			s := single("ks",
				infertest.Table("ks", "t1", "c1 uuid", "", "c2 uuid", "c3 text"),
				infertest.Table("ks", "t2", "a1 uuid", "", "a2 text"),
				infertest.Table("ks", "t3", "b1 uuid", "", "b2 text"))
			rows := &infertest.Rows{Keyspace: "ks"}
			for i := range 300 {
				document, team := fmt.Sprint("document ", i), fmt.Sprint("team ", i%40)
				rows.Add("t2", "a1", document)
				rows.Add("t3", "b1", team)
				about := document
				if c.both && i%2 == 0 {
					about = team
				}
				rows.Add("t1", "c1", fmt.Sprint("note ", i), "c2", about)
			}
			traffic := &infertest.Traffic{Keyspace: "ks", Seconds: 100}
			note := traffic.Say("SELECT c2 FROM t1 WHERE c1 = ?", 1000, 900, 1)
			document := traffic.Say("SELECT a2 FROM t2 WHERE a1 = ?", 500, 900, 1)
			traffic.Feed(note, "t1", "c2", document, "t2", "a1", feed.Feed{Executions: 500, Hits: 500, Share: 1, Producers: 500, Followed: 0.5, PerExecution: 1, Shape: feed.Single, Confidence: 1})
			snapshot := traffic.Snapshot()
			snapshot.Profiles = rows.Document()
			m, err := infer.Infer(snapshot, s, []schema.Stats{
				infertest.Measured("ks", "t1", 300, 300, "c1 300 16", "c2 170 16", "c3 200 20"),
				infertest.Measured("ks", "t2", 300, 300, "a1 300 16", "a2 200 20"),
				infertest.Measured("ks", "t3", 40, 40, "b1 40 16", "b2 40 20"),
			})
			if err != nil {
				t.Fatal(err)
			}
			conserved(t, m, snapshot)
			if got := related(m); got != c.want {
				t.Errorf("relationships %s", got)
			}
			if asked := len(m.Questions) == 1 && m.Questions[0].Candidates[0].Answer == infer.None && m.Questions[0].Candidates[0].Used; asked != c.both {
				t.Errorf("questions %+v", m.Questions)
			}
		})
	}
}
