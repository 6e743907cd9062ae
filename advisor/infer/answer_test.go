package infer_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/correction"
	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/advisor/infer/infertest"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/capture/feed"
	"github.com/helenus-db/helenus/capture/schema"
)

// Counters beside what they count, under names that say nothing: it is asked, of tables that are as many, and an answer is in force.
func TestCountersAreAsked(t *testing.T) {
	s := single("ks",
		infertest.Table("ks", "t1", "c1 int", "", "c2 text"),
		infertest.Table("ks", "t2", "c3 int", "", "c4 counter"),
		infertest.Table("ks", "t3", "c5 int", "", "c6 text"))
	traffic := &infertest.Traffic{Keyspace: "ks", Seconds: 100}
	traffic.Say("SELECT c4 FROM t2 WHERE c3 = ?", 200, 900, 1)
	about := func(list correction.List) (m *infer.Model, q *infer.Question) {
		m, err := infer.WithCorrections(traffic.Snapshot(), s, []schema.Stats{
			infertest.Measured("ks", "t1", 3000, 3000, "c1 3000 4", "c2 2900 20"), infertest.Measured("ks", "t2", 2990, 2990, "c3 2990 4", "c4 900 8"),
			infertest.Measured("ks", "t3", 700, 700, "c5 700 4", "c6 700 20"),
		}, list)
		if err != nil {
			t.Fatal(err)
		}
		for i := range m.Questions {
			if x := &m.Questions[i]; x.Kind == infer.SameEntity {
				q = x
			}
		}
		return m, q
	}
	m, q := about(nil)
	if q == nil || q.Subject != "ks.t2" || len(q.Candidates) != 2 || q.Rate != 2 || len(m.Entities) != 3 {
		t.Fatalf("question %+v, %d entities", q, len(m.Entities))
	}
	for _, tt := range []struct {
		answer   string
		entities int
	}{{"ks.t1", 2}, {infer.None, 3}} {
		i := slices.IndexFunc(q.Candidates, func(c infer.Candidate) bool { return c.Answer == tt.answer })
		m, again := about(q.Answered(&q.Candidates[i]))
		if again != nil || len(m.Entities) != tt.entities || !m.Corrections[0].InForce {
			t.Errorf("%s: asked again: %+v; %d entities; %+v", tt.answer, again, len(m.Entities), m.Corrections[0])
		}
	}
}

// A table that is likely to be a copy is taken for one, and it is asked: who says that it is none makes an entity of it, who says that it is one is not asked again.
// What is proven is not asked.
func TestCopiesThatAreLikelyAreAsked(t *testing.T) {
	s := single("ks",
		infertest.Table("ks", "people", "person uuid", "", "name text"),
		infertest.Table("ks", "clubs", "club uuid", "", "title text"),
		infertest.Table("ks", "members", "club uuid", "person uuid"),
		infertest.Table("ks", "joined", "person uuid", "club uuid"),
		infertest.Table("ks", "people_by_name", "name text", "person uuid"))
	traffic := &infertest.Traffic{Keyspace: "ks", Seconds: 100}
	traffic.Say("SELECT club FROM joined WHERE person = ?", 300, 900, 4)
	stats := []schema.Stats{
		infertest.Measured("ks", "people", 1000, 1000, "person 1000 16", "name 900 20"), infertest.Measured("ks", "clubs", 50, 50, "club 50 16", "title 50 20"),
		infertest.Measured("ks", "members", 4000, 50, "club 50 16", "person 1000 16"), infertest.Measured("ks", "joined", 4000, 1000, "club 50 16", "person 1000 16"),
		infertest.Measured("ks", "people_by_name", 1000, 900, "person 1000 16", "name 900 20"),
	}
	about := func(list correction.List) (m *infer.Model, asked []infer.Question) {
		m, err := infer.WithCorrections(traffic.Snapshot(), s, stats, list)
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range m.Questions {
			if q.Kind == infer.IsCopy {
				asked = append(asked, q)
			}
		}
		return m, asked
	}
	manyToMany := func(m *infer.Model) (n int) {
		for i := range m.Relationships {
			if m.Relationships[i].Kind == model.ManyToMany {
				n++
			}
		}
		return n
	}
	m, asked := about(nil)
	if len(asked) != 1 || manyToMany(m) != 1 {
		t.Fatalf("asked %+v; %d relationships m:n", asked, manyToMany(m))
	}
	q := asked[0]
	other := map[string]string{"ks.joined": "ks.members", "ks.members": "ks.joined"}[q.Subject]
	if len(q.Candidates) != 2 || q.Candidates[0].Answer != other || !q.Candidates[0].Used || q.Candidates[0].Certainty < infer.Probable || q.Candidates[0].Certainty >= infer.Proven || q.Candidates[1].Used {
		t.Fatalf("%+v", q)
	}
	for i, relationships := range []int{1, 2} {
		m, again := about(q.Answered(&q.Candidates[i]))
		if len(again) > 0 || manyToMany(m) != relationships || !m.Corrections[0].InForce {
			t.Errorf("%s: asked again: %+v; %d relationships m:n, want %d; %+v", q.Candidates[i].Answer, again, manyToMany(m), relationships, m.Corrections[0])
		}
	}
}

// Who says that a table is a copy does not take back what was seen of its columns.
func TestWhatIsSaidKeepsWhatWasSeen(t *testing.T) {
	s := single("ks",
		infertest.Table("ks", "items", "item_id uuid", "", "title text", "seller uuid"),
		infertest.Table("ks", "shelf", "vendor uuid", "item_id uuid", "headline text", "badge text"))
	traffic := &infertest.Traffic{Keyspace: "ks", Seconds: 100}
	a := traffic.Say("INSERT INTO items (item_id, title, seller) VALUES (?, ?, ?)", 100, 900, 0)
	b := traffic.Say("INSERT INTO shelf (vendor, item_id, headline, badge) VALUES (?, ?, ?, ?)", 100, 900, 0)
	traffic.Together(a, b, [2]int{0, 1}, [2]int{1, 2}, [2]int{2, 0})
	for _, said := range []string{"", "- copy: ks.shelf\n  of: ks.items"} {
		m, err := infer.WithCorrections(traffic.Snapshot(), s, nil, lines(t, said))
		if err != nil {
			t.Fatal(err)
		}
		if len(m.Entities) != 1 || strings.Join(m.Entities[0].Attributes, " ") != "item_id seller title badge" {
			t.Errorf("said %q: %+v", said, m.Entities)
		}
	}
}

// A log-in delivers a tenant's and a member's id, always both: what is asked for by them is the member, and not all members of the tenant.
func TestMemberBeforeTenant(t *testing.T) {
	s := single("ks",
		infertest.Table("ks", "logins", "login text", "", "tenant_id uuid", "member_id uuid"),
		infertest.Table("ks", "members", "tenant_id uuid", "member_id uuid", "name text"),
		infertest.Table("ks", "tenants", "tenant_id uuid", "", "company text"))
	traffic := &infertest.Traffic{Keyspace: "ks", Seconds: 100}
	login := traffic.Say("SELECT tenant_id, member_id FROM logins WHERE login = ?", 200, 900, 1)
	member := traffic.Say("SELECT name FROM members WHERE tenant_id = ? AND member_id = ?", 200, 900, 1)
	for i, column := range []string{"tenant_id", "member_id"} {
		f := feed.Feed{Executions: 200, Hits: 200, Share: 1, Producers: 200, Followed: 1, PerExecution: 1, Shape: feed.Single, Confidence: 1}
		f.From.Index, f.To.Index = i, i
		traffic.Feed(login, "logins", column, member, "members", column, f)
	}
	m := inferred(t, traffic, s,
		infertest.Measured("ks", "logins", 900, 900, "login 900 20", "tenant_id 40 16", "member_id 900 16"),
		infertest.Measured("ks", "members", 900, 40, "tenant_id 40 16", "member_id 900 16", "name 880 20"),
		infertest.Measured("ks", "tenants", 40, 40, "tenant_id 40 16", "company 40 20"))
	if got := texts(m); strings.Count(got, "SELECT") != 1 || strings.Contains(got, "#") {
		t.Errorf("workload\n%s", got)
	}
}

// A listing under names that say nothing: by which of the small integers it lists is told by the rows that are in both.
func TestRowsNameColumnsOfCopies(t *testing.T) {
	s := single("ks",
		infertest.Table("ks", "items", "item_id uuid", "", "c2 int", "c3 int"),
		infertest.Table("ks", "t1", "d1 int", "item_id uuid", "d3 text"))
	traffic := &infertest.Traffic{Keyspace: "ks", Seconds: 100}
	traffic.Say("SELECT item_id, d3 FROM t1 WHERE d1 = ?", 1000, 900, 3)
	rows := &infertest.Rows{Keyspace: "ks"}
	for i := range 120 {
		id, state, place := fmt.Sprint("item ", i), fmt.Sprint("number ", i*7%11), fmt.Sprint("number ", i*5%13)
		rows.Add("items", "item_id", id, "c2", state, "c3", place)
		rows.Add("t1", "item_id", id, "d1", place, "d3", "text")
	}
	snapshot := traffic.Snapshot()
	snapshot.Profiles = rows.Document()
	m, err := infer.Infer(snapshot, s, []schema.Stats{
		infertest.Measured("ks", "items", 120, 120, "item_id 120 16", "c2 11 4", "c3 13 4"), infertest.Measured("ks", "t1", 120, 13, "item_id 120 16", "d1 13 4", "d3 1 10"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if d := m.Field("ks", "t1", "d1"); len(m.Entities) != 1 || d.IsZero() || d != m.Field("ks", "items", "c3") {
		t.Errorf("%d entities, t1.d1 is %s", len(m.Entities), d)
	}
}
