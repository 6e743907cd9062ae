package diagram_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/diagram"
	"github.com/helenus-db/helenus/advisor/diagram/picture"
	"github.com/helenus-db/helenus/advisor/diagram/svg"
	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/advisor/solve/coin"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/feed"
	"github.com/helenus-db/helenus/capture/report"
	"github.com/helenus-db/helenus/capture/schema"
)

func TestMain(m *testing.M) {
	coin.ServeIfWorker()
	os.Exit(m.Run())
}

func load(t rapid.TB, name string) *workload.Workload {
	t.Helper()
	w, err := workload.Load("../../examples/designs/" + name + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// planned is the schema of a workload's tables with the ways of its queries.
func planned(t rapid.TB, w *workload.Workload) *diagram.Schema {
	t.Helper()
	s, err := diagram.Tables(w.Name, w.Tables)
	if err != nil {
		t.Fatal(err)
	}
	reads := *w
	reads.Statements = slices.DeleteFunc(slices.Clone(w.Statements), (*workload.Statement).IsWrite)
	d, err := design.Choose(context.Background(), &reads, design.Options{Solver: solve.New(solve.Config{}), OnlyExisting: true})
	if err != nil {
		t.Fatal(err)
	}
	plans := map[int]*plan.Plan{}
	for _, x := range d.Statements {
		plans[slices.IndexFunc(w.Statements, func(y *workload.Statement) bool { return y.ID == x.Statement.ID })] = x.Plan
	}
	s.Access(w, plans, func(t *model.Table) (string, string) { return t.Keyspace, t.Name })
	return s
}

// TestAccessPatternsD5: one arrow for each step of a query between tables, and one for each way into the first.
func TestAccessPatternsD5(t *testing.T) {
	s := planned(t, load(t, "hotel"))
	var got []string
	for _, a := range s.Arrows {
		from := "outside"
		if a.From >= 0 {
			from = s.Tables[a.From].Name
		}
		got = append(got, fmt.Sprintf("%s %s %s>%s", s.Queries[a.Query].Number, s.Queries[a.Query].Name, from, s.Tables[a.To].Name))
	}
	want := []string{
		"Q1 guest-reservations outside>reservations", "Q2 hotels-of-city outside>hotels",
		"Q3 arrivals outside>hotels", "Q3 arrivals hotels>rooms", "Q3 arrivals rooms>reservations", "Q3 arrivals reservations>guests",
		"Q4 guest-by-id outside>guests", "Q5 room-availability reservations>reservations",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	golden(t, "D-5.svg", drawn(t, s.Picture(picture.Physical), svg.Auto))
	p := s.Picture(picture.Logical)
	labels := 0
	for _, l := range p.Links {
		numbers := l.Label
		if numbers == "" {
			numbers = p.Boxes[l.From].Name
		}
		labels += len(strings.Split(numbers, ", "))
	}
	if labels != len(s.Arrows) {
		t.Errorf("%d labels on links for %d arrows", labels, len(s.Arrows))
	}
}

// TestStepsD5: each step of a workflow is in the picture once.
func TestStepsD5(t *testing.T) {
	w := load(t, "hotel")
	var got []string
	for _, s := range diagram.Steps(w) {
		got = append(got, w.Statements[s.From].ID+">"+w.Statements[s.To].ID)
	}
	want := []string{"guest-reservations>room-availability", "guest-reservations>book", "guest-reservations>cancel", "guest-reservations>move-booking", "guest-reservations>extend"}
	if !slices.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
	p := diagram.Workflow(w)
	entries := 0
	for _, l := range p.Links {
		if p.Boxes[l.From].Shape == picture.Entry {
			entries++
		}
	}
	if len(p.Links)-entries != len(want) || entries != len(w.Statements)-len(want) {
		t.Errorf("%d links, %d of them entries", len(p.Links), entries)
	}
	golden(t, "hotel-workflow.svg", drawn(t, p, svg.Auto))
}

// TestCirclesAreEntered: everything can be reached from outside, also where all queries lead to each other.
func TestCirclesAreEntered(t *testing.T) {
	for _, name := range []string{"twissandra", "rubis", "hotel", "eac"} {
		w := load(t, name)
		p := diagram.Workflow(w)
		reached := map[int]bool{}
		for more := true; more; {
			more = false
			for _, l := range p.Links {
				if (p.Boxes[l.From].Shape == picture.Entry || reached[l.From]) && !reached[l.To] {
					reached[l.To], more = true, true
				}
			}
		}
		for i, b := range p.Boxes {
			if b.Shape == picture.Screen && !reached[i] {
				t.Errorf("%s: nothing leads to %s", name, b.Name)
			}
		}
	}
}

// TestConceptualD9: entities, attributes, keys, relationships, cardinalities; weak entities and those related to themselves.
func TestConceptualD9(t *testing.T) {
	w, err := workload.Read("model.yaml", []byte(`
name: 'school & <friends>'
model:
  entities:
  - {name: Employee, count: 10, key: [id], alternate: [[email]], attributes: [{name: id, type: uuid}, {name: email, type: text}]}
  - {name: Building, count: 5, key: [code], attributes: [{name: code, type: text}]}
  - {name: Room, count: 50, key: [number], owner: building, attributes: [{name: number, type: int}, {name: seats, type: int}]}
  - {name: Course, count: 20, key: [id], attributes: [{name: id, type: uuid}]}
  relationships:
  - {name: manages, from: Employee, to: Employee, kind: "n:1", forward: manager, backward: reports, optional: true}
  - {name: in, from: Room, to: Building, kind: "n:1", forward: building, backward: rooms}
  - {name: teaches, from: Employee, to: Course, kind: "m:n", forward: courses, backward: teachers}
  - {name: heads, from: Employee, to: Building, kind: "1:1", forward: building, backward: head}
  - {name: given, from: Room, to: Course, kind: "1:n", forward: courses, backward: room}
  - {name: took, from: Employee, to: Course, kind: "m:n", forward: taken, backward: takers, attributes: [{name: grade, type: int}]}
statements: []
`))
	if err != nil {
		t.Fatal(err)
	}
	p := diagram.ER(w.Name, w.Graph)
	ends := map[string]string{}
	for _, l := range p.Links {
		ends[l.Label] = fmt.Sprintf("%s %s %s %s %t", p.Boxes[l.From].Name, l.Start, l.Finish, p.Boxes[l.To].Name, l.Double)
	}
	for label, want := range map[string]string{
		"manages": "Employee 0..1 n Employee false", "in": "Building 1 n Room true", "teaches": "Employee n n Course false",
		"heads": "Employee 0..1 1 Building false", "given": "Room 1 n Course false", "took_Employee": "Employee 1 n took true", "took_Course": "Course 1 n took true",
	} {
		if ends[label] != want {
			t.Errorf("%s: got %q, want %q", label, ends[label], want)
		}
	}
	for _, b := range p.Boxes {
		if weak := b.Name == "Room" || b.Name == "took"; weak != (b.Shape == picture.Weak) {
			t.Errorf("%s is %s", b.Name, b.Shape)
		}
	}
	golden(t, "D-9.svg", drawn(t, p, svg.Auto))
	golden(t, "D-9.mmd", []byte(mermaidOf(t, p)))
}

// TestAllExamples draws every example in every way that it can be, twice with the same bytes, and reads physical diagrams again.
func TestAllExamples(t *testing.T) {
	files, err := filepath.Glob("../../examples/designs/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			w, err := workload.Load(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range []*picture.Picture{diagram.ER(w.Name, w.Graph), diagram.Workflow(w)} {
				if !bytes.Equal(drawn(t, p, svg.Auto), drawn(t, p, svg.Auto)) {
					t.Error("two drawings of one picture differ")
				}
				quoting(t, mermaidOf(t, p))
			}
			schemas := map[string][]*model.Table{"": w.Tables}
			for name, tables := range w.Schemas {
				schemas[name] = tables
			}
			for name, tables := range schemas {
				s, err := diagram.Tables(name, tables)
				if err != nil {
					t.Fatal(err)
				}
				p := s.Picture(picture.Physical)
				quoting(t, mermaidOf(t, p))
				if text := strings.Join(read(t, drawn(t, p, svg.Auto)), ";\n"); len(tables) > 0 {
					sameTables(t, parsed(t, text), s)
				}
			}
		})
	}
}

// quoting checks each line of a Mermaid text: nothing that a name holds is outside of quotes, or ends them.
func quoting(t rapid.TB, text string) {
	t.Helper()
	const inside = `"(?:[^"#\n]|#\d+;)*"`
	forms := []*regexp.Regexp{
		regexp.MustCompile(`^---$|^title: ` + inside + `$|^(erDiagram|flowchart TB)$|^%% .*$|^  \}$`),
		regexp.MustCompile(`^  e\d+\[` + inside + `\] \{$|^    [a-zA-Z]\w* [a-zA-Z]\w*( PK| UK| PK,FK)?( "[^"]*")?$`),
		regexp.MustCompile(`^  e\d+ [|}][|o](--|\.\.)[|o][|{] e\d+ : ` + inside + `$`),
		regexp.MustCompile(`^  b\d+(\[` + inside + `\]|\(\[` + inside + `\]\)):::\w+$|^  b\d+ (-->|-\.->)(\|` + inside + `\|)? b\d+$|^  classDef \w+ [\w:#,-]+$`),
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		if !slices.ContainsFunc(forms, func(r *regexp.Regexp) bool { return r.MatchString(line) }) {
			t.Fatalf("%q is no line of Mermaid's", line)
		}
	}
}

// TestLive draws a cluster's schema with the queries that were seen.
func TestLive(t *testing.T) {
	column := func(name string, kind schema.ColumnKind, position int, typ string) schema.Column {
		return schema.Column{Name: name, Kind: kind, Position: position, Type: typ}
	}
	cluster := &schema.Schema{Keyspaces: []schema.Keyspace{{
		Name: "shop", Types: []schema.UserType{{Name: "address", Fields: []schema.Field{{Name: "city", Type: "text"}}}},
		Functions: []schema.Function{{Name: "f", Arguments: []string{"int"}}},
		Tables: []schema.Table{
			{Keyspace: "shop", Name: "orders", DefaultTTL: 60, Views: []string{"v"}, Triggers: []string{"audit"},
				Columns: []schema.Column{column("customer", schema.PartitionKey, 0, "uuid"), column("at", schema.Clustering, 0, "timestamp"), column("vip", schema.Static, -1, "boolean"), column("to", schema.Regular, -1, "frozen<address>")},
				Indexes: []schema.Index{{Name: "i", Column: "to", On: "full", Options: map[string]string{"class_name": "org.StorageAttachedIndex"}}}},
			{Keyspace: "shop", Name: "customers", Columns: []schema.Column{column("id", schema.PartitionKey, 0, "uuid")}},
		},
	}}}
	s, err := diagram.Live("live", cluster)
	if err != nil {
		t.Fatal(err)
	}
	said := func(fingerprint, kind, table string, count uint64) report.Statement {
		return report.Statement{Statement: capture.Statement{Fingerprint: fingerprint, Kind: kind, Text: "SELECT ...", Count: count}, Access: schema.Access{Keyspace: "shop", Table: table}}
	}
	s.Observed([]report.Statement{said("aaaaaaaaaa", "select", "customers", 5), said("bbbbbbbbbb", "select", "orders", 9), said("cccccccccc", "insert", "orders", 99), said("dddddddddd", "select", "orders", 1), said("eeee", "select", "gone", 9)},
		[]feed.Feed{{From: feed.End{Keyspace: "shop", Table: "customers"}, To: feed.End{Fingerprint: "bbbbbbbbbb"}}}, 2)
	want := []diagram.Arrow{{Query: 0, From: 1, To: 0}, {Query: 1, From: -1, To: 1}}
	if !slices.Equal(s.Arrows, want) || len(s.Queries) != 2 || s.Queries[0].Name != "bbbbbbbb" {
		t.Errorf("arrows %v of %v", s.Arrows, s.Queries)
	}
	listed := strings.Join(s.Unshown, "; ")
	for _, want := range []string{"materialised view v", "trigger audit", "60 seconds", "StorageAttachedIndex", "on its full", "function shop.f(int)", "1 queries that were said less often"} {
		if !strings.Contains(listed, want) {
			t.Errorf("%q is not listed: %s", want, listed)
		}
	}
	cluster.Keyspaces[0].Tables[1].Columns[0].Type = "no type >"
	if _, err := diagram.Live("live", cluster); err == nil || !strings.Contains(err.Error(), "shop.customers") {
		t.Errorf("a type that is none: %v", err)
	}
}

// TestInferred draws a model that was inferred.
func TestInferred(t *testing.T) {
	d := &infer.Description{
		Entities:      []infer.Entity{{Name: "Hotel", Key: []string{"id"}, Attributes: []string{"id", "city"}}, {Name: "Room", Key: []string{"id"}, Attributes: []string{"id"}}},
		Relationships: []infer.Relationship{{Name: "of", From: "Room", To: "Hotel", Kind: model.ManyToOne, Forward: "hotel", Backward: "rooms", Confidence: 0.8}, {Name: "lost", From: "Room", To: "Moon"}},
		Workload:      []infer.Conceptual{{ID: "a", Text: "SELECT Hotel.id FROM Hotel WHERE Hotel.city = ?"}, {ID: "b", Text: "SELECT Room.id FROM Room.hotel WHERE Hotel.id = ?"}, {ID: "c", Text: "SELECT nonsense"}},
	}
	w, missing := diagram.Inferred("live", d, true)
	if len(missing) != 2 || len(w.Statements) != 2 || len(diagram.Steps(w)) != 1 {
		t.Errorf("missing %q, %d statements, steps %v", missing, len(w.Statements), diagram.Steps(w))
	}
	p := diagram.ER(w.Name, w.Graph)
	diagram.Sure(p, d)
	diagram.Unshown(p, missing)
	if !p.Links[0].Broken || len(p.Lists) != 3 {
		t.Errorf("%+v", p)
	}
}
