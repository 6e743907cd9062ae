package infer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/advisor/infer/infertest"
	"github.com/helenus-db/helenus/capture/schema"
)

// A tenant's id is in the key of what belongs to members, who have one tenant each: by the rows it tells nothing apart. Where it is not always the member's it does.
func TestTenantIsNoPartOfAKey(t *testing.T) {
	for _, c := range []struct {
		name   string
		strays int // settings of a member under another tenant
		groups int // members looked at
		want   string
	}{
		{"determined", 0, 60, "c2 c3"},
		{"not always the member's", 6, 60, "c1 c2 c3"},
		{"too few to tell", 0, 6, "c1 c2 c3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := single("ks",
				infertest.Table("ks", "t1", "a1 uuid", "a2 uuid", "a3 text"),
				infertest.Table("ks", "t2", "c1 uuid,c2 uuid", "c3 text", "c4 text"),
				infertest.Table("ks", "t3", "b1 uuid", "", "b2 text"))
			rows := &infertest.Rows{Keyspace: "ks"}
			for i := range 200 {
				tenant, member := fmt.Sprint("tenant ", i%20), fmt.Sprint("member ", i)
				rows.Add("t3", "b1", tenant)
				if i >= c.groups {
					rows.Add("t1", "a2", member)
					rows.Add("t2", "c2", member)
					continue
				}
				rows.Add("t1", "a1", tenant, "a2", member)
				for _, setting := range []string{"theme", "language"} {
					rows.Add("t2", "c1", tenant, "c2", member, "c3", setting)
				}
				if i < c.strays {
					rows.Add("t2", "c1", fmt.Sprint("tenant ", (i+7)%20), "c2", member, "c3", "theme")
				}
			}
			snapshot := (&infertest.Traffic{Keyspace: "ks", Seconds: 10}).Snapshot()
			snapshot.Profiles = rows.Document()
			m, err := infer.Infer(snapshot, s, []schema.Stats{
				infertest.Measured("ks", "t1", 200, 20, "a1 20 16", "a2 200 16", "a3 190 20"),
				infertest.Measured("ks", "t3", 20, 20, "b1 20 16", "b2 20 20"),
				infertest.Measured("ks", "t2", 400, 200, "c1 20 16", "c2 200 16", "c3 2 10", "c4 300 20"),
			})
			if err != nil {
				t.Fatal(err)
			}
			if e := entity(m, "T2"); e == nil || strings.Join(e.Key, " ") != c.want {
				t.Errorf("entities %+v", m.Entities)
			}
		})
	}
}
