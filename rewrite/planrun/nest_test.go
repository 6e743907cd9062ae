package planrun_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/planrun"
)

// clerked is a model of shops and clerks, with the tables of a design: shops with their clerks in a collection, and which shop
// a clerk works in.
func clerked(t testing.TB, keyspace string) (*workload.Workload, []*model.Table) {
	t.Helper()
	w, err := workload.Read("shop.yaml", []byte(`
name: shop
model:
  entities:
  - {name: Shop, count: 10, key: [id], attributes: [{name: id, type: int}, {name: name, type: text}, {name: town, type: text}]}
  - {name: Clerk, count: 50, key: [id], attributes: [{name: id, type: int}, {name: name, type: text}, {name: age, type: int, absent: 0.2}]}
  relationships:
  - {name: works, from: Clerk, to: Shop, kind: "n:1", forward: shop, backward: clerks}
statements: []
`))
	if err != nil {
		t.Fatal(err)
	}
	field := func(name string) model.Field {
		f, err := w.Graph.Field(name)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	s, c, works := w.Graph.Entities[0], w.Graph.Entities[1], w.Graph.Relationships[0]
	both, err := model.NewTree(c, works)
	if err != nil {
		t.Fatal(err)
	}
	nested := &model.Table{Keyspace: keyspace, Name: "shops", Tree: model.Tree{Entities: []*model.Entity{s}}, Partition: []model.Field{field("Shop.town")}, Clustering: s.KeyFields(), Values: []model.Field{field("Shop.name")},
		Nests: []*model.Nest{{Edge: works, Tree: model.Tree{Entities: []*model.Entity{c}}, Key: field("Clerk.id"), Values: []model.Field{field("Clerk.name"), field("Clerk.age")}}}}
	tables := []*model.Table{nested,
		{Keyspace: keyspace, Name: "places", Tree: both, Partition: c.KeyFields(), Values: []model.Field{field("Shop.id"), field("Shop.town"), field("Clerk.name"), field("Clerk.age")}},
		{Keyspace: keyspace, Name: "towns", Tree: nested.Tree, Partition: s.KeyFields(), Values: []model.Field{field("Shop.town"), field("Shop.name")}},
		{Keyspace: keyspace, Name: "staff", Tree: both, Partition: s.KeyFields(), Clustering: c.KeyFields(), Values: []model.Field{field("Clerk.name"), field("Clerk.age")}}}
	for _, x := range tables {
		if err := x.Validate(); err != nil {
			t.Fatal(err)
		}
	}
	return w, tables
}

// valuesOf gives a statement's values, in the order of its parameters.
func valuesOf(t testing.TB, list []workload.Parameter, values []any) planrun.Parameters {
	t.Helper()
	with := planrun.Parameters{}
	if len(list) != len(values) {
		t.Fatalf("%d values for %v", len(values), list)
	}
	for i, p := range list {
		var cell []byte
		switch v := values[i].(type) {
		case int:
			cell = exec.FromInt32(int32(v))
		case string:
			cell = []byte(v)
		}
		with[p.Name] = [][]byte{cell}
	}
	return with
}

// change runs a write on all tables.
func change(t testing.TB, db exec.Session, w *workload.Workload, tables []*model.Table, text string, values ...any) {
	t.Helper()
	s, err := workload.Parse(w.Graph, text)
	if err != nil {
		t.Fatal(err)
	}
	var plans []*plan.WritePlan
	for _, x := range tables {
		plans = append(plans, &plan.WritePlan{Write: s.Write, Table: x, Steps: plan.WriteSteps(s.Write, x)})
	}
	program, err := planrun.CompileWrite(s.Write, plans)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if err := program.Run(context.Background(), db, valuesOf(t, program.Parameters(), values), planrun.RunOptions{}); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

// answered runs a query over one table.
func answered(t testing.TB, db exec.Session, w *workload.Workload, table *model.Table, text string, values ...any) []string {
	t.Helper()
	s, err := workload.Parse(w.Graph, text)
	if err != nil {
		t.Fatal(err)
	}
	space, err := plan.NewSpace(s.Query, []*model.Table{table}, nil)
	if err != nil {
		t.Fatal(err)
	}
	plans := space.Plans(1)
	if len(plans) == 0 {
		t.Fatalf("no plan for %s over %s", text, table)
	}
	program, err := planrun.Compile(plans[0])
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	rows, err := program.Run(context.Background(), db, valuesOf(t, s.Query.Parameters(), values), planrun.RunOptions{})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	var lines []string
	for _, row := range rows.Cells {
		var line []string
		for i, cell := range row {
			v, err := planrun.Decode(rows.Columns[i].Type, cell)
			if err != nil {
				t.Fatal(err)
			}
			line = append(line, fmt.Sprint(v))
		}
		lines = append(lines, strings.Join(line, " "))
	}
	slices.Sort(lines)
	return lines
}

// TestCollectionsInCQL: B-7. What is sent for elements: by key, never a whole collection.
func TestCollectionsInCQL(t *testing.T) {
	w, tables := clerked(t, "k")
	var sent []string
	db := fakeSession{query: func(q exec.Query) (exec.Answer, error) {
		switch {
		case strings.HasPrefix(q.Text, "SELECT") && strings.Contains(q.Text, "places"):
			return exec.Answer{Rows: [][][]byte{{exec.FromInt32(1), []byte("Rome")}}}, nil
		case strings.HasPrefix(q.Text, "SELECT") && strings.Contains(q.Text, "towns"):
			return exec.Answer{Rows: [][][]byte{{[]byte("Rome")}}}, nil
		case strings.Contains(q.Text, "shops"):
			sent = append(sent, q.Text)
		}
		return exec.Answer{}, nil
	}}
	change(t, db, w, tables, "INSERT INTO Clerk SET id = ?, name = ? AND CONNECT TO shop(?)", 7, "Ada", 1)
	change(t, db, w, tables, "UPDATE Clerk SET age = ? WHERE Clerk.id = ?", 30, 7)
	change(t, db, w, tables, "DELETE FROM Clerk WHERE Clerk.id = ?", 7)
	want := []string{
		"UPDATE k.shops SET clerks = clerks + ?, clerks_name[?] = ?, clerks_age[?] = ? WHERE town = ? AND id = ?",
		"UPDATE k.shops SET clerks = clerks + ?, clerks_age[?] = ? WHERE town = ? AND id = ?",
		"DELETE clerks[?], clerks_name[?], clerks_age[?] FROM k.shops WHERE town = ? AND id = ?"}
	if !slices.Equal(sent, want) {
		t.Errorf("B-7: sent\n%s\nwant\n%s", strings.Join(sent, "\n"), strings.Join(want, "\n"))
	}
}

// TestUnnest: B-7. Rows are made of elements: a value without an entry is null, an empty collection makes none.
func TestUnnest(t *testing.T) {
	w, tables := clerked(t, "k")
	list := func(cells ...[]byte) []byte {
		b := exec.FromInt32(int32(len(cells)))
		for _, c := range cells {
			b = append(append(b, exec.FromInt32(int32(len(c)))...), c...)
		}
		return b
	}
	pairs := func(cells ...[]byte) []byte {
		b := list(cells...)
		copy(b, exec.FromInt32(int32(len(cells)/2)))
		return b
	}
	one, two := exec.FromInt32(1), exec.FromInt32(2)
	row := [][]byte{[]byte("Spar"), list(one, two), pairs(one, []byte("Ada"), two, []byte("Bob")), pairs(two, exec.FromInt32(40))}
	text := ""
	db := fakeSession{query: func(q exec.Query) (exec.Answer, error) {
		text = q.Text
		return exec.Answer{Rows: [][][]byte{row, {[]byte("Coop"), nil, nil, nil}}}, nil
	}}
	got := answered(t, db, w, tables[0], "SELECT Shop.name, Clerk.name, Clerk.age FROM Shop.clerks WHERE Shop.town = ?", "Rome")
	if want := []string{"Spar Ada <nil>", "Spar Bob 40"}; !slices.Equal(got, want) {
		t.Errorf("B-7: %q, want %q", got, want)
	}
	if want := "SELECT name, clerks, clerks_name, clerks_age FROM k.shops WHERE town = ?"; text != want {
		t.Errorf("B-7: asked %s, want %s", text, want)
	}
	row[1] = row[1][:7]
	s, _ := workload.Parse(w.Graph, "SELECT Clerk.name FROM Shop.clerks WHERE Shop.town = ?")
	space, _ := plan.NewSpace(s.Query, tables[:1], nil)
	program, err := planrun.Compile(space.Plans(1)[0])
	if err != nil {
		t.Fatal(err)
	}
	row = row[1:3]
	if _, err := program.Run(context.Background(), db, planrun.Parameters{"Shop.town =": {[]byte("Rome")}}, planrun.RunOptions{}); err == nil {
		t.Error("B-7: a collection that is cut short is let through")
	}
}

// TestCollectionsOnCassandra writes and reads a table with collections on a real Cassandra.
func TestCollectionsOnCassandra(t *testing.T) {
	db := open(t)
	w, tables := clerked(t, db.keyspace)
	for _, x := range tables {
		db.do(t, x.CQL(x.Keyspace, x.Name))
	}
	do := func(text string, values ...any) { t.Helper(); change(t, db, w, tables, text, values...) }
	expect := func(what string, town string, want ...string) {
		t.Helper()
		got := answered(t, db, w, tables[0], "SELECT Shop.name, Clerk.id, Clerk.name, Clerk.age FROM Shop.clerks WHERE Shop.town = ?", town)
		if !slices.Equal(got, want) {
			t.Errorf("B-7: %s: %q, want %q", what, got, want)
		}
	}
	do("INSERT INTO Shop SET id = ?, name = ?, town = ?", 1, "Spar", "Rome")
	do("INSERT INTO Shop SET id = ?, name = ?, town = ?", 2, "Coop", "Rome")
	expect("nobody works there", "Rome")
	do("INSERT INTO Clerk SET id = ?, name = ? AND CONNECT TO shop(?)", 7, "Ada", 1)
	do("INSERT INTO Clerk SET id = ?, name = ?, age = ? AND CONNECT TO shop(?)", 8, "Bob", 40, 1)
	expect("two clerks", "Rome", "Spar 7 Ada <nil>", "Spar 8 Bob 40")
	do("UPDATE Clerk SET age = ? WHERE Clerk.id = ?", 30, 7)
	do("UPDATE Clerk SET age = ? WHERE Clerk.id = ?", nil, 8)
	expect("other ages", "Rome", "Spar 7 Ada 30", "Spar 8 Bob <nil>")
	do("UPDATE Shop SET town = ? WHERE Shop.id = ?", "Oslo", 1)
	expect("a shop that moved", "Rome")
	expect("with its clerks", "Oslo", "Spar 7 Ada 30", "Spar 8 Bob <nil>")
	do("DISCONNECT Clerk(?) FROM shop(?)", 8, 1)
	expect("one left", "Oslo", "Spar 7 Ada 30")
	do("DELETE FROM Shop WHERE Shop.id = ?", 1)
	expect("closed", "Oslo")
	do("DELETE FROM Clerk WHERE Clerk.id = ?", 7)
	expect("nobody is left behind", "Oslo")
}
