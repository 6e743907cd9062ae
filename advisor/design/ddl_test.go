package design_test

import (
	"strings"
	"testing"
	"time"

	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/internal/cassandra/cassandratest"
)

// involved has what a definition can have: reserved words and capitals as names, descending and static columns, buckets of
// both kinds, a column called bucket, an index of either kind, a quote in a name, and more readers than a comment takes.
func involved(t testing.TB) *design.Design {
	t.Helper()
	w, err := workload.Read("involved.yaml", []byte(`
name: involved
model:
  entities:
  - {name: User, count: 100, key: [id], attributes: [{name: id, type: uuid}, {name: select, type: text}, {name: bucket, type: int}]}
  - {name: Order, count: 1000, key: [id], attributes: [{name: id, type: timeuuid}, {name: placedAt, type: timestamp}, {name: total, type: decimal}, {name: "it's", type: boolean}, {name: notes, type: "list<text>"}]}
  relationships:
  - {name: placed, from: Order, to: User, kind: "n:1", forward: user, backward: orders}
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
	placed, _ := model.NewTree(nil, w.Graph.Relationships...)
	user := model.Tree{Entities: w.Graph.Entities[:1]}
	d := &design.Design{Name: "involved"}
	for name, table := range map[string]*model.Table{
		"orders": {Tree: placed, Partition: []model.Field{field("User.id")}, Clustering: []model.Field{field("Order.placedAt"), field("Order.id")},
			Values: []model.Field{field("User.select"), field("Order.total"), field("Order.it's")}, Desc: []model.Field{field("Order.placedAt")}, Static: []model.Field{field("User.select")},
			Indexes: []model.Index{{Name: "by_total", Field: field("Order.total"), SAI: true}, {Name: "Plain", Field: field("Order.it's")}}},
		"by_day": {Tree: placed, Clustering: []model.Field{field("Order.placedAt"), field("Order.id")}, Values: []model.Field{field("User.bucket")},
			Bucket: &model.Bucket{Of: field("Order.placedAt"), Width: 86400, Count: 30}},
		"nested": {Tree: user, Partition: []model.Field{field("User.id")}, Values: []model.Field{field("User.select")},
			Nests: []*model.Nest{{Edge: placed.Edges[0], Tree: model.Tree{Entities: w.Graph.Entities[1:2]}, Key: field("Order.id"), Values: []model.Field{field("Order.it's"), field("Order.total"), field("Order.notes")}}}},
		"users": {Tree: user, Clustering: []model.Field{field("User.id")}, Values: []model.Field{field("User.select")}, Bucket: &model.Bucket{Of: field("User.id"), Count: 16}},
	} {
		d.Tables = append(d.Tables, &design.Table{Table: table, Name: name, CQL: table.CQL("", name), Statements: strings.Split(strings.Repeat("statement ", 60), " ")})
	}
	return d
}

func TestDDL(t *testing.T) {
	got := map[string]string{}
	for _, x := range involved(t).Tables {
		got[x.Name] = strings.Join(x.DDL(), "\n")
	}
	for name, want := range map[string][]string{
		"orders": {"CREATE TABLE orders (\n  user_id uuid,\n  placed_at timestamp,\n  order_id timeuuid,\n  \"select\" text STATIC,\n  total decimal,\n  it_s boolean,\n  PRIMARY KEY ((user_id), placed_at, order_id)\n) " +
			"WITH CLUSTERING ORDER BY (placed_at DESC, order_id ASC)\n  AND comment = 'Order.user; serves statement", "...'\nCREATE INDEX by_total ON orders (total) USING 'sai'\nCREATE INDEX \"Plain\" ON orders (it_s)"},
		"by_day": {"  bucket_ bigint,\n", "PRIMARY KEY ((bucket_), placed_at, id)\n) WITH comment"},
		"nested": {"  orders set<timeuuid>,\n  orders_it_s map<timeuuid, boolean>,\n  orders_total map<timeuuid, decimal>,\n  orders_notes map<timeuuid, frozen<list<text>>>,\n  PRIMARY KEY ((id))\n"},
		"users":  {"  bucket int,\n", "PRIMARY KEY ((bucket), id)"},
	} {
		for _, part := range want {
			if !strings.Contains(got[name], part) {
				t.Errorf("%s lacks\n%s\nit is\n%s", name, part, got[name])
			}
		}
	}
}

// TestDDLOnCassandra has a real Cassandra 5.0 make the tables of designs.
func TestDDLOnCassandra(t *testing.T) {
	session, _ := cassandratest.Keyspace(t)
	designs := []*design.Design{involved(t)}
	for _, c := range []struct {
		file, mix string
		cost      cost.Model
	}{{"nose-hotel.yaml", "", nil}, {"hotel.yaml", "", requests{}}, {"eac.yaml", "", nil}, {"rubis.yaml", "bidding", requests{}}, {"tpch.yaml", "", requests{}}} {
		w := load(t, c.file)
		w.Tables = nil
		if c.mix != "" {
			if err := w.SetMix(c.mix); err != nil {
				t.Fatal(err)
			}
		}
		designs = append(designs, choose(t, w, design.Options{Cost: c.cost, Limits: solve.Limits{Gap: 0.5, Wall: 3 * time.Second}}))
	}
	for _, d := range designs {
		made := 0
		for _, x := range d.Tables {
			for _, statement := range x.DDL() {
				if err := session.Query(statement).Exec(); err != nil {
					t.Errorf("%s: %v\n%s", d.Name, err, statement)
				}
				made++
			}
		}
		if made == 0 {
			t.Errorf("%s: no tables", d.Name)
		}
		for _, x := range d.Tables {
			if err := session.Query("DROP TABLE IF EXISTS " + model.Quote(x.Name)).Exec(); err != nil {
				t.Fatal(err)
			}
		}
	}
}
