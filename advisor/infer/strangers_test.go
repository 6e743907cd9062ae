package infer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/advisor/infer/infertest"
	"github.com/helenus-db/helenus/capture/schema"
)

// Schemas that strangers write, with rows of them, under names that say nothing. Of a hotel's stay the property is found, but not the room: rooms are numbered alike in
// all properties, and a chain has more of them than rows are kept of it.
func TestStrangers(t *testing.T) {
	id := func(of string, i int) string { return fmt.Sprint(of, " ", i) }
	for _, c := range []struct {
		name     string
		tables   []schema.Table
		stats    []schema.Stats
		rows     func(r *infertest.Rows)
		related  string
		entities string // tables of each
	}{
		{"a hotel's rooms are of a property of a chain", []schema.Table{
			infertest.Table("ks", "t1", "a1 uuid", "", "a2 text"),
			infertest.Table("ks", "t2", "b1 uuid", "b2 int", "b3 text"),
			infertest.Table("ks", "t3", "c1 uuid", "c2 int, c3 int", "c4 int"),
			infertest.Table("ks", "t4", "d1 uuid", "", "d2 uuid", "d3 int", "d4 int", "d5 uuid"),
			infertest.Table("ks", "t5", "e1 uuid", "", "e2 text"),
		}, []schema.Stats{
			infertest.Measured("ks", "t1", 60, 60, "a1 60 16", "a2 60 12"), infertest.Measured("ks", "t2", 240, 60, "b1 60 16", "b2 70 4", "b3 240 12"),
			infertest.Measured("ks", "t3", 1200, 60, "c1 60 16", "c2 70 4", "c3 5 4", "c4 4 4"), infertest.Measured("ks", "t4", 900, 900, "d1 900 16", "d2 60 16", "d3 70 4", "d4 5 4", "d5 300 16"),
			infertest.Measured("ks", "t5", 300, 300, "e1 300 16", "e2 300 12"),
		}, func(r *infertest.Rows) {
			property := func(i int) string { return fmt.Sprint(i/4 + i%4*3) } // of chain i/4
			for i := range 240 {
				r.Add("t2", "b1", id("chain", i/4), "b2", property(i), "b3", id("name", i))
				for k := range 5 {
					r.Add("t3", "c1", id("chain", i/4), "c2", property(i), "c3", fmt.Sprint(k), "c4", fmt.Sprint((i+k)%4))
				}
			}
			for i := range 300 {
				r.Add("t1", "a1", id("chain", i%60), "a2", id("title", i%60))
				r.Add("t5", "e1", id("guest", i), "e2", id("person", i))
			}
			for i := range 900 {
				at := i * 7 % 240
				r.Add("t4", "d1", id("stay", i), "d2", id("chain", at/4), "d3", property(at), "d4", fmt.Sprint(i%5), "d5", id("guest", i%300))
			}
		}, "T2.b1 -> T1, T3.c1 -> T1, T3.t2 -> T2, T4.d2 -> T1, T4.d5 -> T5, T4.t2 -> T2", "t1; t2; t3; t4; t5"},
		{"devices by their site, readings by the day", []schema.Table{
			infertest.Table("ks", "t1", "a1 uuid", "", "a2 uuid", "a3 text"),
			infertest.Table("ks", "t2", "b1 uuid", "b2 uuid", "b3 text"),
			infertest.Table("ks", "t3", "c1 uuid, c2 date", "c3 timestamp", "c4 double"),
			infertest.Table("ks", "t4", "d1 uuid", "", "d2 text"),
		}, []schema.Stats{
			infertest.Measured("ks", "t1", 500, 500, "a1 500 16", "a2 40 16", "a3 9 8"), infertest.Measured("ks", "t2", 500, 40, "b1 40 16", "b2 500 16", "b3 9 8"),
			infertest.Measured("ks", "t3", 90000, 9000, "c1 500 16", "c2 18 4", "c3 80000 8"), infertest.Measured("ks", "t4", 40, 40, "d1 40 16", "d2 40 9"),
		}, func(r *infertest.Rows) {
			for i := range 500 {
				r.Add("t1", "a1", id("device", i), "a2", id("site", i%40), "a3", id("model", i%9))
				r.Add("t2", "b1", id("site", i%40), "b2", id("device", i), "b3", id("model", i%9))
				r.Add("t4", "d1", id("site", i%40), "d2", id("town", i%40))
				for k := range 3 {
					r.Add("t3", "c1", id("device", i), "c2", id("day", k), "c3", id("time", 3*i+k))
				}
			}
		}, "T1.a2 -> T4, T3.c1 -> T1", "t1 t2; t3; t4"},
		{"accounts and their events by version", []schema.Table{
			infertest.Table("ks", "t1", "a1 uuid", "a2 int", "a3 text", "a4 timestamp"),
			infertest.Table("ks", "t2", "b1 uuid", "", "b2 int", "b3 text"),
		}, []schema.Stats{
			infertest.Measured("ks", "t1", 4000, 400, "a1 400 16", "a2 10 4", "a3 6 9", "a4 4000 8"), infertest.Measured("ks", "t2", 400, 400, "b1 400 16", "b2 10 4", "b3 400 40"),
		}, func(r *infertest.Rows) {
			for i := range 400 {
				r.Add("t2", "b1", id("account", i), "b2", "9", "b3", id("state", i))
				for k := range 5 {
					r.Add("t1", "a1", id("account", i), "a2", fmt.Sprint(k), "a3", id("kind", k%3), "a4", id("time", 5*i+k))
				}
			}
		}, "T1.a1 -> T2", "t1; t2"},
		{"last read of a room by a member", []schema.Table{
			infertest.Table("ks", "t1", "a1 uuid", "a2 timeuuid", "a3 uuid", "a4 text"),
			infertest.Table("ks", "t2", "b1 uuid", "b2 uuid", "b3 timeuuid"),
			infertest.Table("ks", "t3", "c1 uuid", "", "c2 text"),
			infertest.Table("ks", "t4", "d1 uuid", "", "d2 text"),
		}, []schema.Stats{
			infertest.Measured("ks", "t1", 3000, 100, "a1 100 16", "a2 3000 16", "a3 300 16", "a4 3000 60"), infertest.Measured("ks", "t2", 900, 300, "b1 300 16", "b2 100 16", "b3 800 16"),
			infertest.Measured("ks", "t3", 300, 300, "c1 300 16", "c2 300 9"), infertest.Measured("ks", "t4", 100, 100, "d1 100 16", "d2 100 9"),
		}, func(r *infertest.Rows) {
			for i := range 3000 {
				r.Add("t1", "a1", id("room", i%100), "a2", id("message", i), "a3", id("user", i%300), "a4", id("text", i))
			}
			for i := range 900 {
				r.Add("t2", "b1", id("user", i%300), "b2", id("room", i*7%100), "b3", id("message", i*7%100+100*(i%29)))
				r.Add("t3", "c1", id("user", i%300), "c2", id("nick", i%300))
				r.Add("t4", "d1", id("room", i%100), "d2", id("topic", i%100))
			}
		}, "T1.a1 -> T4, T1.a3 -> T3, T2.b1 -> T3, T2.b2 -> T4, T2.b3 -> T1", "t1; t2; t3; t4"},
	} {
		t.Run(c.name, func(t *testing.T) {
			rows := &infertest.Rows{Keyspace: "ks"}
			c.rows(rows)
			snapshot := (&infertest.Traffic{Keyspace: "ks", Seconds: 10}).Snapshot()
			snapshot.Profiles = rows.Document()
			m, err := infer.Infer(snapshot, single("ks", c.tables...), c.stats)
			if err != nil {
				t.Fatal(err)
			}
			if got := related(m); got != c.related {
				t.Errorf("relationships %s\nwant          %s", got, c.related)
			}
			var all []string
			for i := range m.Entities {
				all = append(all, strings.ReplaceAll(strings.Join(m.Entities[i].Tables, " "), "ks.", ""))
			}
			if got := strings.Join(all, "; "); got != c.entities {
				t.Errorf("entities %s, want %s", got, c.entities)
			}
		})
	}
}
