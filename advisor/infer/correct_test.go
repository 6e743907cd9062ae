package infer_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/correction"
	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/advisor/infer/infertest"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/capture/feed"
	"github.com/helenus-db/helenus/capture/schema"
)

func lines(t *testing.T, text string) correction.List {
	t.Helper()
	list, err := correction.Parse("corrections", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// shop is an application whose names say nothing.
func shop() (*infertest.Traffic, *schema.Schema, []schema.Stats) {
	s := single("ks",
		infertest.Table("ks", "people", "nr uuid", "", "mail text", "born date"),
		infertest.Table("ks", "people_by_mail", "mail text", "", "nr uuid"),
		infertest.Table("ks", "sales", "sale uuid", "", "who uuid", "total int"),
		infertest.Table("ks", "archive", "person uuid", "", "mail text"))
	traffic := &infertest.Traffic{Keyspace: "ks", Seconds: 100}
	sales := traffic.Say("SELECT who, total FROM sales WHERE sale = ?", 200, 900, 1)
	people := traffic.Say("SELECT mail FROM people WHERE nr = ?", 200, 900, 1)
	traffic.Say("INSERT INTO sales (sale, who, total) VALUES (?, ?, ?)", 100, 900, 0)
	traffic.Feed(sales, "sales", "who", people, "people", "nr", feed.Feed{Executions: 200, Hits: 60, Decoys: 10, Producers: 15, Followed: 1, PerExecution: 1, Shape: feed.Single, Confidence: 0.3})
	return traffic, s, []schema.Stats{
		infertest.Measured("ks", "people", 100, 100, "nr 100 16", "mail 100 20"), infertest.Measured("ks", "sales", 5000, 5000, "sale 5000 16", "who 4000 16", "total 300 4"),
	}
}

func corrected(t *testing.T, text string) *infer.Model {
	t.Helper()
	traffic, s, stats := shop()
	m, err := infer.WithCorrections(traffic.Snapshot(), s, stats, lines(t, text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// What a person said holds, whatever speaks against it; and what speaks against it is told.
func TestCorrectionsHold(t *testing.T) {
	tests := []struct {
		name, line string
		holds      func(*infer.Model) bool
		against    string // "": nothing
	}{
		{"a relationship that the sizes speak against", "- relationship: ks.sales.who\n  to: ks.people",
			func(m *infer.Model) bool {
				return len(m.Relationships) == 1 && m.Relationships[0].To == "Person" && m.Relationships[0].Confidence >= infer.Proven
			}, "4000 different values, but only 100 keys"},
		{"the same, as two columns", "- same: [ks.sales.who, ks.people.nr]", func(m *infer.Model) bool { return len(m.Relationships) == 1 }, "4000 different values"},
		{"a table that is renamed", "- rename: ks.sales\n  to: Purchase", func(m *infer.Model) bool { return entity(m, "Purchase") != nil && entity(m, "Sale") == nil }, ""},
		{"a role", "- relationship: ks.sales.who\n  to: ks.people\n- rename: ks.sales.who\n  to: buyer", func(m *infer.Model) bool { return m.Relationships[0].Forward == "buyer" }, "4000"},
		{"an attribute", "- rename: ks.sales.total\n  to: amount", func(m *infer.Model) bool { return m.Field("ks", "sales", "total").Attribute.Name == "amount" }, ""},
		{"a key", "- entity: ks.sales\n  name: Deal\n  key: [sale]", func(m *infer.Model) bool { return entity(m, "Deal") != nil }, ""},
		{"tables that are one", "- same: [ks.people, ks.archive]\n- same: [ks.people.nr, ks.archive.person]",
			func(m *infer.Model) bool {
				return strings.Contains(strings.Join(entity(m, "Person").Tables, " "), "ks.archive")
			}, ""},
		{"tables that are not one", "- different: [ks.people, ks.people_by_mail]", func(m *infer.Model) bool { return len(entity(m, "Person").Tables) == 1 }, ""},
		{"a table that is no copy", "- copy: ks.people_by_mail\n  of: none", func(m *infer.Model) bool { return len(entity(m, "Person").Tables) == 1 }, ""},
		{"a join that few saw", "- join: accept\n  from: ks.sales.who\n  to: ks.people.nr", func(m *infer.Model) bool { return m.Joins[0].Accepted }, "confidence 0.30"},
		{"a join that is none", "- join: reject\n  from: ks.sales.who\n  to: ks.people.nr\n  because: two lists", func(m *infer.Model) bool {
			return !m.Joins[0].Accepted && m.Joins[0].Reason == "a person said that it is no join: two lists"
		}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := corrected(t, tt.line)
			var text bytes.Buffer
			if err := m.Describe().Text(&text); err != nil {
				t.Fatal(err)
			}
			if !tt.holds(m) {
				t.Errorf("it does not hold:\n%s", text.String())
			}
			against := ""
			for i := range m.Corrections {
				if c := &m.Corrections[i]; c.Contradicted() {
					against += c.Contradiction()
				}
				if !m.Corrections[i].InForce {
					t.Errorf("%s is not in force: %s", m.Corrections[i].Text, m.Corrections[i].Why)
				}
			}
			if tt.against == "" && against != "" || !strings.Contains(against, tt.against) {
				t.Errorf("contradicted by %q, want %q", against, tt.against)
			}
			if tt.against != "" && !strings.Contains(text.String(), "CONTRADICTED, in force, though") {
				t.Errorf("not told:\n%s", text.String())
			}
		})
	}
}

// A correction that can not be in force says why, and changes nothing else.
func TestCorrectionsThatAreNotInForce(t *testing.T) {
	for _, tt := range []struct{ line, why string }{
		{"- rename: ks.gone\n  to: X", "there is no table ks.gone"},
		{"- relationship: ks.sales.buyer\n  to: ks.people", "table ks.sales has no column buyer"},
		{"- relationship: ks.sales.total\n  to: ks.people", "ks.sales.total is of type int, nr of ks.people is uuid"},
		{"- same: [ks.sales.total, ks.people.nr]", "ks.sales.total is of type int, ks.people.nr of uuid"},
		{"- same: [ks.people, ks.sales]", "column sale of ks.sales is not one of ks.people"},
		{"- same: [ks.sales.total, ks.people.born]", "is of type int, ks.people.born of date"},
		{"- join: accept\n  from: ks.people.mail\n  to: ks.people_by_mail.mail", "no value was seen to travel that way"},
		{"- weight: abcdef0123\n  times: 2", "no such statement was seen"},
		{"- rename: ks.sales\n  to: People\n- rename: ks.people\n  to: People", "another"},
	} {
		m := corrected(t, tt.line)
		whys := ""
		for i := range m.Corrections {
			if c := &m.Corrections[i]; !c.InForce {
				whys += c.Why
			}
		}
		if !strings.Contains(whys, tt.why) {
			t.Errorf("%s\nnot in force because %q, want %q", tt.line, whys, tt.why)
		}
		if len(m.Entities) < 3 || len(m.Workload.Statements) != 3 {
			t.Errorf("%s\n%d entities, %d statements", tt.line, len(m.Entities), len(m.Workload.Statements))
		}
	}
}

func TestWeights(t *testing.T) {
	traffic, s, stats := shop()
	snapshot := traffic.Snapshot()
	of := func(list correction.List) map[string]float64 {
		m, err := infer.WithCorrections(snapshot, s, stats, list)
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]float64{}
		for _, u := range m.Uses {
			out[u.Fingerprint] += u.PerExecution * m.Workload.Statement(u.Statement).Weight
		}
		return out
	}
	before := of(nil)
	for i := range snapshot.Statements {
		f := snapshot.Statements[i].Fingerprint
		if w := of(lines(t, "- weight: "+f[:8]+"\n  times: 0.1")); !near(w[f], before[f]/10) {
			t.Errorf("a tenth of %g is %g", before[f], w[f])
		}
		if w := of(lines(t, "- weight: "+f+"\n  per_second: 7")); !near(w[f], 7) {
			t.Errorf("7 became %g", w[f])
		}
		if w := of(lines(t, "- weight: "+f+"\n  times: 0")); w[f] != 0 || len(w) != len(before)-1 {
			t.Errorf("0 became %g", w[f])
		}
	}
}

func near(a, b float64) bool { return a > 0.999*b && a < 1.001*b }

// A model file is what a design takes, and importing what was exported changes nothing, byte for byte.
func TestModelFile(t *testing.T) {
	traffic, s, stats := shop()
	snapshot := traffic.Snapshot()
	ctx := context.Background()
	said := lines(t, "- relationship: ks.sales.who\n  to: ks.people\n  because: asked the team\n- weight: "+snapshot.Statements[0].Fingerprint[:8]+"\n  times: 0.5\n")
	c, err := infer.Compare(ctx, snapshot, s, stats, said, "")
	if err != nil {
		t.Fatal(err)
	}
	w, err := workload.Read("f", []byte(c.File))
	if err != nil || len(w.Corrections) != 2 || len(w.Statements) == 0 || len(w.Tables) == 0 {
		t.Fatalf("%v\n%s", err, c.File)
	}
	var again strings.Builder
	if err := workload.Save(&again, w); err != nil || again.String() != c.File {
		t.Errorf("%v; what is read is written otherwise:\n%s\nwas\n%s", err, again.String(), c.File)
	}
	back, err := infer.Compare(ctx, snapshot, s, stats, nil, c.File)
	if err != nil {
		t.Fatal(err)
	}
	if len(back.Changes) == 0 || len(back.Unused) != 0 {
		t.Errorf("changes %v, not taken %v", back.Changes, back.Unused)
	}
	third, err := infer.Compare(ctx, snapshot, s, stats, back.Corrections, c.File)
	if err != nil || third.File != c.File || len(third.Changes)+len(third.Since) != 0 {
		t.Errorf("%v, %v, %v\n%s", err, third.Changes, third.Since, third.File)
	}
}

// What an edited file says besides its corrections is not taken, and not passed over silently.
func TestEditedFile(t *testing.T) {
	traffic, s, stats := shop()
	snapshot := traffic.Snapshot()
	c, err := infer.Compare(context.Background(), snapshot, s, stats, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	compare := func(file string) (*infer.Comparison, error) {
		return infer.Compare(context.Background(), snapshot, s, stats, nil, file)
	}
	edited, err := compare(strings.Replace(c.File, "weight: 2\n", "weight: 200\n", 1))
	if err != nil || len(edited.Unused) != 1 || edited.Unused[0].What != "weight" || len(edited.Changes) != 0 {
		t.Errorf("%v, %+v", err, edited)
	}
	more := *traffic // traffic moved on, and nobody edited anything but corrections
	more.Say("SELECT * FROM ks.people WHERE nr = ?", 5000, 1000, 1)
	moved, err := infer.Compare(context.Background(), more.Snapshot(), s, stats, nil, "# a comment\n"+c.File+"corrections:\n- rename: ks.sales\n  to: Deal\n")
	if err != nil || len(moved.Unused) != 0 || len(moved.Since) == 0 {
		t.Errorf("%v; that traffic moved is no editing: %v, since %v", err, moved.Unused, moved.Since)
	}
	renamed, err := compare(c.File + "corrections:\n- rename: ks.sales\n  to: Deal\n")
	if err != nil || len(renamed.Changes) == 0 || len(renamed.Unused) != 0 {
		t.Errorf("%v; what a correction changes was not edited: %v", err, renamed.Unused)
	}
	pinned, err := compare(c.File + "corrections:\n- pin: ks.people\n- pin: ks.sales.who\n- pin: ks.people_by_mail\n")
	if err != nil {
		t.Fatal(err)
	}
	got, _ := pinned.Corrections.YAML()
	const want = `- entity: ks.people
  name: Person
  key: [nr]
  because: pinned
- relationship: ks.sales.who
  to: none
  because: pinned
- same: [ks.people, ks.people_by_mail]
  because: pinned
`
	if string(got) != want || len(pinned.Notes) != 3 {
		t.Errorf("%v\n%s", pinned.Notes, got)
	}
	for _, tt := range []struct{ lines, want string }{
		{"- rename: ks.peoples\n  to: X", "there is no table ks.peoples; nearest is ks.people"},
		{"- relationship: ks.sales.whom\n  to: ks.people", "table ks.sales has no column whom; nearest is who"},
		{"- same: [ks.people, ks.archive]\n- different: [ks.people, ks.archive]", "said to be different"},
		{"- same: oops", "corrections"},
		{"- pin: ks.people\n- entity: ks.people\n  name: Other", "contradicts"},
	} {
		_, err := compare(c.File + "corrections:\n" + tt.lines + "\n")
		var invalid *infer.InvalidError
		if tt.want == "corrections" {
			tt.want = "model file:"
		}
		if !errors.As(err, &invalid) || !strings.Contains(invalid.Text, tt.want) || !strings.Contains(invalid.Text, "model file") {
			t.Errorf("%s\n%v, want %q", tt.lines, err, tt.want)
		}
	}
}
