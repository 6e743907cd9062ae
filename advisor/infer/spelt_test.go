package infer_test

import (
	"fmt"
	"testing"

	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/advisor/infer/infertest"
	"github.com/helenus-db/helenus/capture/schema"
)

// A document's id is a UUID where it is kept, and its text, or a UUID of another type, where it is referred to. Texts that are none, or only in part, hold no such key.
func TestKeysInAnotherType(t *testing.T) {
	for _, c := range []struct {
		key, as, class string
		want           string
	}{
		{"uuid", "text", "uuid", "T2.b2 -> T1"}, {"timeuuid", "uuid", "", ""}, {"uuid", "set<uuid>", "uuid", ""}, {"uuid", "text", "text", ""}, {"timeuuid", "uuid", "uuid", "T2.b2 -> T1"}, {"text", "uuid", "uuid", "T2.b2 -> T1"},
	} {
		rows := &infertest.Rows{Keyspace: "ks"}
		for i := range 200 {
			rows.Add("t1", "a1", fmt.Sprint("document ", i))
		}
		for i := range 600 {
			rows.Add("t2", "b1", fmt.Sprint("event ", i), "b2", fmt.Sprint("document ", i*7%200))
		}
		rows.Are("t1", "a1", "uuid")
		rows.Are("t2", "b2", c.class)
		if c.class == "" { // nothing was seen of it
			rows = &infertest.Rows{Keyspace: "ks"}
			rows.Add("t1", "a1", "document")
			rows.Are("t1", "a1", "uuid")
		}
		snapshot := (&infertest.Traffic{Keyspace: "ks", Seconds: 10}).Snapshot()
		snapshot.Profiles = rows.Document()
		m, err := infer.Infer(snapshot, single("ks", infertest.Table("ks", "t1", "a1 "+c.key, "", "a2 text"), infertest.Table("ks", "t2", "b1 bigint", "", "b2 "+c.as)), []schema.Stats{
			infertest.Measured("ks", "t1", 200, 200, "a1 200 16", "a2 150 20"), infertest.Measured("ks", "t2", 600, 600, "b1 600 8", "b2 200 36"),
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := related(m); got != c.want || c.class == "" && len(m.Questions) > 0 {
			t.Errorf("%+v: relationships %s, questions %+v", c, got, m.Questions)
		}
	}
}

// A state, a number of stars and what else has few values in many rows is nobody's key, and nobody is asked about it. A reference is asked about all the same, also one to few.
func TestStatesAreNotAskedAbout(t *testing.T) {
	for _, c := range []struct {
		name, cqlType string
		different     int
		asked         bool
	}{{"state", "text", 3, false}, {"stars", "int", 5, false}, {"creator", "uuid", 400, true}, {"grp", "int", 30, true}} {
		s := single("ks",
			infertest.Table("ks", "notes", "note_id bigint", "", "body text", c.name+" "+c.cqlType),
			infertest.Table("ks", "people", "person_id "+c.cqlType, "", "name text"))
		m, err := infer.Infer((&infertest.Traffic{Keyspace: "ks", Seconds: 10}).Snapshot(), s, []schema.Stats{
			infertest.Measured("ks", "notes", 3000, 3000, "note_id 3000 8", "body 2900 20", fmt.Sprintf("%s %d 8", c.name, c.different)), infertest.Measured("ks", "people", 60, 60, "person_id 60 16", "name 50 20"),
		})
		if c.cqlType == "uuid" {
			m, err = infer.Infer((&infertest.Traffic{Keyspace: "ks", Seconds: 10}).Snapshot(), s, []schema.Stats{
				infertest.Measured("ks", "notes", 3000, 3000, "note_id 3000 8", "body 2900 20", fmt.Sprintf("%s %d 16", c.name, c.different)), infertest.Measured("ks", "people", 900, 900, "person_id 900 16", "name 850 20"),
			})
		}
		if err != nil {
			t.Fatal(err)
		}
		asked := false
		for _, q := range m.Questions {
			asked = asked || q.Subject == "ks.notes."+c.name
		}
		if asked != c.asked {
			t.Errorf("%s: asked %v: %+v", c.name, asked, m.Questions)
		}
	}
}

// Where all keys were seen, a few values none of which is among them are others'.
func TestFewValuesThatAreNoKeys(t *testing.T) {
	for _, among := range []bool{false, true} {
		rows := &infertest.Rows{Keyspace: "ks"}
		for i := range 8 {
			rows.Add("projections", "name", fmt.Sprint("projection ", i))
		}
		for i := range 100 {
			of := "opened"
			if among {
				of = fmt.Sprint("projection ", i%4)
			}
			rows.Add("events", "id", fmt.Sprint("event ", i), "kind", of)
		}
		snapshot := (&infertest.Traffic{Keyspace: "ks", Seconds: 10}).Snapshot()
		snapshot.Profiles = rows.Document()
		m, err := infer.Infer(snapshot, single("ks", infertest.Table("ks", "projections", "name text", "", "position bigint"), infertest.Table("ks", "events", "id uuid", "", "kind text")), []schema.Stats{
			infertest.Measured("ks", "projections", 8, 8, "name 8 12", "position 8 8"), infertest.Measured("ks", "events", 100, 100, "id 100 16", "kind 4 8"),
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := len(m.Questions) > 0; got != among {
			t.Errorf("among the keys %v: %+v", among, m.Questions)
		}
	}
}
