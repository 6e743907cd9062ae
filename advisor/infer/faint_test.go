package infer_test

import (
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/correction"
	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/advisor/infer/infertest"
	"github.com/helenus-db/helenus/capture/feed"
	"github.com/helenus-db/helenus/capture/schema"
)

// A feed that accounts for little of a statement is asked about, and a join if a person says so; nothing else is made of it.
func TestFaintFeedsAreAskedAbout(t *testing.T) {
	s := single("ks", infertest.Table("ks", "groups", "group_id uuid", "", "label text", "founder uuid"), infertest.Table("ks", "members", "member_id uuid", "", "name text"))
	stats := []schema.Stats{infertest.Measured("ks", "groups", 200, 200, "group_id 200 16", "label 200 9", "founder 190 16"), infertest.Measured("ks", "members", 3000, 3000, "member_id 3000 16", "name 2900 9")}
	traffic := &infertest.Traffic{Keyspace: "ks", Seconds: 100}
	group := traffic.Say("SELECT label, founder FROM groups WHERE group_id = ?", 1000, 900, 1)
	member := traffic.Say("SELECT name FROM members WHERE member_id = ?", 40_000, 900, 1)
	snapshot := traffic.Snapshot()
	snapshot.Echoes = []feed.Feed{{
		From: feed.End{Fingerprint: group, Keyspace: "ks", Table: "groups", Column: "founder"}, To: feed.End{Fingerprint: member, Keyspace: "ks", Table: "members", Column: "member_id"},
		Executions: 4000, Hits: 80, Share: 0.02, Producers: 80, Followed: 0.8, PerExecution: 1, Shape: feed.Faint, Confidence: 1,
	}}
	holds := correction.Correction{Relationship: "ks.groups.founder", To: "ks.members"}
	m, err := infer.WithCorrections(snapshot, s, stats, correction.List{holds})
	if err != nil {
		t.Fatal(err)
	}
	conserved(t, m, snapshot)
	if len(m.Questions) != 1 || m.Questions[0].Kind != infer.IsJoin || len(m.Questions[0].Candidates) != 2 || len(m.Joins) != 0 || m.Questions[0].Rate < 7.9 || m.Questions[0].Rate > 8.1 {
		t.Fatalf("questions %+v, joins %+v", m.Questions, m.Joins)
	}
	q := &m.Questions[0]
	for i := range q.Candidates {
		told, err := infer.WithCorrections(snapshot, s, stats, append(correction.List{holds}, q.Answered(&q.Candidates[i])...))
		if err != nil {
			t.Fatal(err)
		}
		conserved(t, told, snapshot)
		yes := q.Candidates[i].Answer != infer.None
		if got := strings.Contains(texts(told), "Member.name FROM Member.groups"); got != yes || len(told.Questions) != 0 {
			t.Errorf("%s: %s; questions %+v", q.Candidates[i].Text, texts(told), told.Questions)
		}
		for k := range told.Corrections {
			if !told.Corrections[k].InForce {
				t.Errorf("%s is not in force: %s", told.Corrections[k].Text, told.Corrections[k].Why)
			}
		}
	}
}
