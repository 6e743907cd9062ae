package infer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/advisor/infer/infertest"
	"github.com/helenus-db/helenus/capture/schema"
)

// A text that is made of a key holds it: in a table's primary key, each once, it is a copy; elsewhere a reference. Texts that are made of other ids are neither, and
// a copy by a made key is not asked in place of the table that it is of.
func TestMadeKeys(t *testing.T) {
	s := single("ks",
		infertest.Table("ks", "t1", "a1 uuid", "", "a2 text", "a3 int"),
		infertest.Table("ks", "t2", "b1 text", "", "b2 text"),
		infertest.Table("ks", "t3", "c1 uuid", "", "c2 text", "c3 text"))
	rows := &infertest.Rows{Keyspace: "ks"}
	for i := range 300 {
		id := fmt.Sprint("id ", i)
		rows.Add("t1", "a1", id, "a2", fmt.Sprint("title ", i))
		rows.Made("t2", "b1", "uuid", "thing:", id)
		rows.Add("t2", "b2", fmt.Sprint("title ", i))
		rows.Add("t3", "c1", fmt.Sprint("event ", i))
		rows.Made("t3", "c2", "uuid", "thing#", fmt.Sprint("id ", i%90))
		rows.Made("t3", "c3", "uuid", "session#", fmt.Sprint("session ", i))
	}
	snapshot := (&infertest.Traffic{Keyspace: "ks", Seconds: 10}).Snapshot()
	snapshot.Profiles = rows.Document()
	m, err := infer.Infer(snapshot, s, []schema.Stats{
		infertest.Measured("ks", "t1", 300, 300, "a1 300 16", "a2 300 20", "a3 200 4"),
		infertest.Measured("ks", "t2", 300, 300, "b1 300 30", "b2 300 20"),
		infertest.Measured("ks", "t3", 300, 300, "c1 300 16", "c2 90 30", "c3 300 30"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if e := entity(m, "T1"); e == nil || strings.Join(e.Tables, " ") != "ks.t1 ks.t2" || len(m.Entities) != 2 {
		t.Errorf("entities %+v", m.Entities)
	}
	if got := related(m); got != "T3.c2 -> T1" {
		t.Errorf("relationships %s", got)
	}
	for _, x := range m.Tables {
		if x.Name == "t2" {
			t.Error("whoever has the id is to ask t2, by a text that is made of it")
		}
	}
	for _, h := range m.Holders("ks", "t1") {
		if h.Columns["b1"] != "" || h.Columns["b2"] != "a2" {
			t.Errorf("%s holds %v", h.Name, h.Columns)
		}
	}
}
