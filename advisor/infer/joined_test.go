package infer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/advisor/infer/infertest"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/capture/schema"
)

// Texts that are joined of keys which are texts hold these keys: of several the one that tells most apart. That is said of what other columns hold, all of it, and not
// of words that happen to be keys.
func TestJoinedKeys(t *testing.T) {
	tenant, user := func(i int) string { return fmt.Sprint("tenant ", i%60) }, func(i int) string { return fmt.Sprint("user ", i%400) }
	for _, c := range []struct {
		name  string
		users int                  // of 400, of which rows were seen
		parts func(i int) []string // of the texts
		want  string               // relationships
		keyed bool                 // the table of the texts is keyed by them
	}{
		{"tenant and user", 400, func(i int) []string { return []string{tenant(i * 7), user(i)} }, "T3.c2 -> T2", false},
		{"tenant and something", 400, func(i int) []string { return []string{tenant(i), fmt.Sprint("word ", i)} }, "T3.c2 -> T1", false},
		{"a kind and a user", 400, func(i int) []string { return []string{"user", user(i)} }, "T3.c2 -> T2", false},
		{"a third of the users seen", 140, func(i int) []string { return []string{"user", user(i)} }, "T3.c2 -> T2", false},
		{"paths", 400, func(i int) []string { return []string{"home", fmt.Sprint("directory ", i), fmt.Sprint("file ", i)} }, "", false},
		{"half of the words are users' names", 400, func(i int) []string {
			return []string{fmt.Sprint("word ", i), []string{user(i), fmt.Sprint("word ", i)}[i%2]}
		}, "", false},
		{"few words, all of them users' names", 400, func(i int) []string { return []string{user(i % 20), fmt.Sprint("word ", i)} }, "", false},
		{"a key of its own, several of a user", 400, func(i int) []string { return []string{tenant(i), user(i / 3)} }, "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			rows := &infertest.Rows{Keyspace: "ks"}
			for i := range 400 {
				rows.Add("t1", "a1", tenant(i))
				if i < c.users {
					rows.Add("t2", "b1", user(i), "b2", fmt.Sprint("name ", i))
				}
			}
			third := infertest.Table("ks", "t3", "c1 uuid", "", "c2 text")
			texts := map[string]bool{}
			if c.keyed {
				third = infertest.Table("ks", "t3", "c2 text", "", "c1 uuid")
			}
			for i := range 900 {
				rows.Joined("t3", "c2", c.parts(i), "c1", fmt.Sprint("note ", i))
				texts[strings.Join(c.parts(i), "|")] = true
			}
			s := single("ks", infertest.Table("ks", "t1", "a1 text", "", "a2 text"), infertest.Table("ks", "t2", "b1 text", "", "b2 text"), third)
			snapshot := (&infertest.Traffic{Keyspace: "ks", Seconds: 10}).Snapshot()
			snapshot.Profiles = rows.Document()
			m, err := infer.Infer(snapshot, s, []schema.Stats{
				infertest.Measured("ks", "t1", 60, 60, "a1 60 12", "a2 60 20"), infertest.Measured("ks", "t2", 400, 400, "b1 400 12", "b2 400 20"),
				infertest.Measured("ks", "t3", 900, 900, "c1 900 16", fmt.Sprintf("c2 %d 20", len(texts))),
			})
			if err != nil {
				t.Fatal(err)
			}
			if got := related(m); got != c.want {
				t.Errorf("relationships %q, want %q", got, c.want)
			}
			for _, r := range m.Graph.Relationships {
				if r.Kind != model.ManyToOne {
					t.Errorf("%s is of kind %v", r.Name, r.Kind)
				}
			}
			if len(m.Entities) != 3 {
				t.Errorf("%d entities", len(m.Entities))
			}
		})
	}
}
