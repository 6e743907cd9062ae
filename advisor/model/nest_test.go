package model_test

import (
	"math"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/model"
)

// shop is a graph of shops, their clerks, and the towns that those live in; and of goods, which many shops have.
func shop() *model.Graph {
	entity := func(name string, count float64, attributes ...*model.Attribute) *model.Entity {
		return &model.Entity{Name: name, Count: count, Key: attributes[:1], Attributes: attributes}
	}
	id := func() *model.Attribute { return &model.Attribute{Name: "id", Type: "uuid"} }
	s := entity("Shop", 10, id(), &model.Attribute{Name: "name", Type: "text", Size: 10})
	c := entity("Clerk", 50, id(), &model.Attribute{Name: "name", Type: "text", Size: 20}, &model.Attribute{Name: "age", Type: "int", Null: 0.5},
		&model.Attribute{Name: "seen", Type: "counter"}, &model.Attribute{Name: "tags", Type: "list<text>", Null: 0.1})
	town := entity("Town", 5, id(), &model.Attribute{Name: "name", Type: "text"})
	ware := entity("Ware", 100, id(), &model.Attribute{Name: "name", Type: "text"})
	return &model.Graph{Entities: []*model.Entity{s, c, town, ware}, Relationships: []*model.Relationship{
		{Name: "works", From: c, To: s, Kind: model.ManyToOne, Forward: "shop", Backward: "clerks"},
		{Name: "lives", From: c, To: town, Kind: model.ManyToOne, Forward: "town", Backward: "people"},
		{Name: "sells", From: s, To: ware, Kind: model.ManyToMany, Forward: "wares", Backward: "shops", Degree: 20}}}
}

// nested is [Shop.id][][name] with clerks, each with name and town, and the ids of its wares.
func nested(g *model.Graph) *model.Table {
	s, c, town, ware := g.Entities[0], g.Entities[1], g.Entities[2], g.Entities[3]
	works, lives, sells := g.Relationships[0], g.Relationships[1], g.Relationships[2]
	return &model.Table{Name: "shops", Tree: model.Tree{Entities: []*model.Entity{s}}, Partition: s.KeyFields(), Values: []model.Field{s.Field("name")}, Nests: []*model.Nest{
		{Edge: works, Tree: model.Tree{Entities: []*model.Entity{c, town}, Edges: []*model.Relationship{lives}}, Key: c.Field("id"), Values: []model.Field{c.Field("name"), town.Field("name"), c.Field("age")}},
		{Edge: sells, Tree: model.Tree{Entities: []*model.Entity{ware}}, Key: ware.Field("id")}}}
}

func TestNests(t *testing.T) {
	g := shop()
	x := nested(g)
	if err := x.Validate(); err != nil {
		t.Fatal(err)
	}
	cql := x.CQL("", "shops")
	for _, column := range []string{"clerks set<uuid>,", "clerks_name map<uuid, text>,", "clerks_name_2 map<uuid, text>,", "clerks_age map<uuid, int>,", "wares set<uuid>,", "PRIMARY KEY ((id))"} {
		if !strings.Contains(cql, column) {
			t.Errorf("B-7: %s lacks %s", cql, column)
		}
	}
	if got, want := x.String(), "[id][][name]{clerks: id -> name, Town.name, age}{wares: id}"; got != want {
		t.Errorf("B-7: written %s, want %s", got, want)
	}
	// 10 rows; 50 clerks, each in the set, with two names of 20 bytes, and half of them with an age of 4; 200 wares.
	want := 10*(16+16+10) + 50*(24+2*(24+20)+(24+4)*0.5) + 200*24.
	if got := x.Bytes(); math.Abs(got-want) > 1e-9 || x.Entries() != 10 {
		t.Errorf("B-7: %g bytes of %g rows, want %g of 10", got, x.Entries(), want)
	}
	spread := x.Spread(x.Nests[0])
	if spread.Validate() != nil || spread.Entries() != 50 || spread.String() != "[Shop.id][Clerk.id][Clerk.name, Town.name, age]" {
		t.Errorf("B-7: the elements are as rows of %s: %v", spread, spread.Validate())
	}
	other := nested(g)
	other.Nests[0], other.Nests[1] = other.Nests[1], other.Nests[0]
	fewer := nested(g)
	fewer.Nests = fewer.Nests[:1]
	if x.ID() != other.ID() || x.ID() == fewer.ID() || x.ID() == x.Plain().ID() {
		t.Error("B-7: IDs do not tell what is nested, or ask for an order")
	}
}

// TestNestsInFiles: a table with collections reads back from its document.
func TestNestsInFiles(t *testing.T) {
	g := shop()
	x := nested(g)
	d := model.NewTableDocument(x)
	back, err := d.Candidate("f.yaml", g)
	if err != nil || back.ID() != x.ID() {
		t.Fatalf("B-7: %v %v, want %v", back, err, x)
	}
	if _, err := d.Table("f.yaml", g); err == nil {
		t.Error("B-7: an application's own table with collections")
	}
	d.Nests[0].Of.Text = "Shop.nobody"
	if _, err := d.Candidate("f.yaml", g); err == nil || !strings.Contains(err.Error(), "Shop.nobody") {
		t.Errorf("B-7: %v", err)
	}
}

func TestWrongNests(t *testing.T) {
	g := shop()
	clerk, town := g.Entities[1], g.Entities[2]
	for name, spoil := range map[string]func(x *model.Table){
		"to one": func(x *model.Table) {
			x.Tree = model.Tree{Entities: []*model.Entity{clerk}}
			x.Partition, x.Values = clerk.KeyFields(), nil
			x.Nests = []*model.Nest{{Edge: g.Relationships[1], Tree: model.Tree{Entities: []*model.Entity{town}}, Key: town.Field("id")}}
		},
		"not of the rows":   func(x *model.Table) { x.Nests[0].Edge = g.Relationships[1] },
		"twice":             func(x *model.Table) { x.Nests = append(x.Nests, x.Nests[0]) },
		"a nullable key":    func(x *model.Table) { x.Nests[0].Key = clerk.Field("age") },
		"not a key":         func(x *model.Table) { x.Nests[0].Key, x.Nests[0].Values = clerk.Field("name"), nil },
		"a counter":         func(x *model.Table) { x.Nests[0].Values = []model.Field{clerk.Field("seen")} },
		"something else's":  func(x *model.Table) { x.Nests[1].Values = []model.Field{clerk.Field("name")} },
		"the key twice":     func(x *model.Table) { x.Nests[0].Values = clerk.KeyFields() },
		"the application's": func(x *model.Table) { x.Existing = true },
	} {
		x := nested(g)
		if spoil(x); x.Validate() == nil {
			t.Errorf("B-7: %s is let through: %s", name, x)
		}
	}
}
