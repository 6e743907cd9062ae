package given_test

import (
	"bytes"
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/given"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/advisor/solve/coin"
	"github.com/helenus-db/helenus/advisor/workload"
)

func TestMain(m *testing.M) {
	coin.ServeIfWorker()
	os.Exit(m.Run())
}

// users and items have names and ids alike, as RUBiS has.
func graph(t testing.TB) *model.Graph {
	t.Helper()
	w, err := workload.Read("auction.yaml", []byte(`
name: auction
model:
  entities:
  - {name: users, count: 2000, key: [id], attributes: [{name: id, type: uuid}, {name: name, type: text}, {name: rating, type: int}]}
  - {name: items, count: 20000, key: [id], attributes: [{name: id, type: uuid}, {name: name, type: text}, {name: endDate, type: timestamp}]}
  relationships:
  - {name: seller, from: items, to: users, kind: "n:1", forward: seller, backward: items_sold}
statements: []
`))
	if err != nil {
		t.Fatal(err)
	}
	return w.Graph
}

func TestForms(t *testing.T) {
	const bySeller = "[users.id][endDate, items.id][name]"
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"ours": {"tables:\n- {keyspace: k, name: by_seller, partition: [users.id], clustering: [items.endDate, items.id], values: [items.name]}\n", []string{bySeller}},
		"neutral": {"source: x.rb\ncolumn_families:\n- {name: by_seller, partition: [users.id], clustering: [items.endDate, items.id], values: [items.name], path: users.items_sold, entities: [users, items], nose_entries: 20000}\n" +
			"- {name: users, partition: [users.id], clustering: [], values: [users.rating], path: users}\n", []string{bySeller, "[id][][rating]"}},
		"CQL": {"-- a remark\nCREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};\nUSE k;\n" +
			"CREATE TABLE by_seller (user_id uuid, end_date timestamp, item_id uuid, items_name text, PRIMARY KEY (user_id, end_date, item_id)) WITH CLUSTERING ORDER BY (end_date DESC, item_id ASC);\n" +
			"CREATE TABLE items (id uuid PRIMARY KEY, name text);\nCREATE INDEX i ON items (name) USING 'sai'", []string{"[users.id][endDate desc, items.id][name]", "[id][][name]"}},
	} {
		t.Run(name, func(t *testing.T) {
			tables, err := given.Read("file", []byte(c.text), graph(t))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, x := range tables {
				got = append(got, x.String())
				if x.Existing || x.Name == "" {
					t.Errorf("%s: existing %v, name %q", x, x.Existing, x.Name)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if name == "CQL" {
				if desc := tables[0].Desc; len(desc) != 1 || desc[0].String() != "items.endDate" || tables[0].Keyspace != "k" {
					t.Errorf("descending %v, keyspace %q", desc, tables[0].Keyspace)
				}
				if x := tables[1].Indexes; len(x) != 1 || !x[0].SAI || x[0].Field.String() != "items.name" {
					t.Errorf("indexes %+v", x)
				}
			}
		})
	}
}

func TestRefused(t *testing.T) {
	for text, want := range map[string]string{
		"tables: []\n": "file: there are no tables in it",
		"tables:\n- {name: t, partition: [user.id]}\n":                                       `file:2:25: no entity is called "user"; nearest is "users"`,
		"tables:\n- {name: t, partitoin: [users.id]}\n":                                      `nearest is "partition"`,
		"CREATE TABLE t (id uuid PRIMARY KEY)":                                               "column id could be users.id or items.id: name it users_id or items_id",
		"CREATE TABLE t (userid uuid PRIMARY KEY)":                                           `file:1:1: table t: column userid is no attribute of the model; nearest is "users_id"`,
		"CREATE TABLE users (id uuid PRIMARY KEY, user_id uuid)":                             "would both be users.id",
		"CREATE TABLE t (\n  rating int,\n  PRIMARY KEY rating)":                             "file:3:15: found name, expected '('",
		"CREATE TABLE users (id uuid PRIMARY KEY); CREATE TABLE users (id uuid PRIMARY KEY)": "file: table users is there twice",
		"CREATE TABLE users (rating int PRIMARY KEY)":                                        "rows can share a primary key",
		"DROP TABLE t":          "file:1:1: only CREATE TABLE, CREATE INDEX, CREATE KEYSPACE and USE are read",
		"CREATE INDEX ON t (x)": "no table t has been created before",
		"CREATE TABLE t (end_date timestamp PRIMARY KEY, rating int) WITH comment = 'users; mine'": `column end_date is no attribute of the model`,
	} {
		_, err := given.Read("file", []byte(text), graph(t))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\ngot  %v\nwant %s", text, err, want)
		}
	}
}

func TestNotation(t *testing.T) {
	for text, want := range map[string]string{
		"[users.id][endDate, items.id][items.name]": "[users.id][endDate, items.id][name]",
		" [rating][users.id][] ":                    "[rating][id][]",
		"[id][][]":                                  "id could be users.id or items.id: write which",
		"[rating]":                                  "write [partition][clustering][values]",
		"[][rating][]":                              "has no partition key",
		"[ratign][users.id][]":                      `no attribute is called "ratign"; nearest is "rating"`,
		"[user.id][][]":                             `no entity is called "user"; nearest is "users"`,
		"[rating][][]":                              "rows can share a primary key",
	} {
		x, err := given.Notation(graph(t), text)
		if err == nil && x.String() != want || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v, want %s", text, x, err, want)
		}
	}
}

// TestOwnDefinitions: what a design writes as CQL is read back as the same tables.
func TestOwnDefinitions(t *testing.T) {
	for _, name := range []string{"eac", "hotel"} {
		w, err := workload.Load("../../examples/designs/" + name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		w.Tables = nil
		if name == "hotel" { // of the sample, what is quick to plan
			w.Statements = slices.DeleteFunc(w.Statements, func(s *workload.Statement) bool { return s.ID == "arrivals" })
		}
		d, err := design.Choose(context.Background(), w, design.Options{Solver: solve.New(solve.Config{})})
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := d.Schema(&b); err != nil {
			t.Fatal(err)
		}
		tables, err := given.Read("schema.cql", b.Bytes(), w.Graph)
		if err != nil {
			t.Fatalf("%v\n%s", err, b.String())
		}
		for i, x := range d.Tables {
			if got := tables[i]; got.ID() != x.Table.ID() || got.Name != x.Name {
				t.Errorf("%s: %s became %s", name, x.Table.ID(), got.ID())
			}
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("tables:\n- {name: t, partition: [users.id]}\n")
	f.Add("CREATE TABLE t (user_id uuid PRIMARY KEY, rating int STATIC) WITH comment = 'users.items_sold, items; x'; CREATE INDEX ON t (rating)")
	g := graph(f)
	f.Fuzz(func(t *testing.T, text string) {
		tables, err := given.Read("file", []byte(text), g)
		if err != nil {
			return
		}
		for _, x := range tables {
			x.Existing = true // which need not identify their rows
			if err := x.Validate(); err != nil {
				t.Errorf("%q: %v", text, err)
			}
		}
	})
}
