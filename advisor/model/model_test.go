package model_test

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/advisor/model"
)

const auction = `
entities:
- {name: User, count: 100000, key: [id], attributes: [{name: id, type: uuid}, {name: name, type: text, size: 20}, {name: admin, type: boolean}]}
- {name: Item, count: 1000000, key: [id], attributes: [{name: id, type: uuid}, {name: price, type: double, distinct: 500}]}
- {name: Comment, count: 100000, key: [id], attributes: [{name: id, type: uuid}, {name: text, type: text, size: 200}]}
- {name: Category, count: 50, key: [id], attributes: [{name: id, type: uuid}, {name: SortOrder, type: int}]}
relationships:
- {name: sells, from: Item, to: User, kind: "n:1", forward: seller, backward: items}
- {name: receives, from: Comment, to: User, kind: "n:1", forward: receiver, backward: comments}
- {name: lists, from: Item, to: Category, kind: "m:n", forward: categories, backward: items, degree: 2}
`

func graph(t testing.TB) *model.Graph {
	t.Helper()
	var d model.Document
	if err := model.DecodeYAML("auction.yaml", []byte(auction), &d); err != nil {
		t.Fatal(err)
	}
	g, err := d.Graph("auction.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func fields(t testing.TB, g *model.Graph, names string) []model.Field {
	t.Helper()
	var list []model.Field
	for _, name := range strings.Fields(names) {
		f, err := g.Field(name)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, f)
	}
	return list
}

func TestEntries(t *testing.T) {
	g := graph(t)
	for _, c := range []struct {
		name, partition, clustering string
		rows                        float64
	}{
		{"one entity", "User.id", "", 100000},
		{"a path of to-one edges", "User.id", "Item.id", 1000000},
		{"two to-many branches: not the largest count", "User.id", "Item.id Comment.id", 1000000},
		{"many to many", "Category.id", "Item.id", 2000000},
		{"many to many and on", "Category.id", "Item.id User.id", 2000000},
	} {
		t.Run(c.name, func(t *testing.T) {
			table, err := model.NewTable(g, fields(t, g, c.partition), fields(t, g, c.clustering), nil)
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(table.Entries()-c.rows) > 1 {
				t.Errorf("%g rows, want %g", table.Entries(), c.rows)
			}
		})
	}
}

func TestTable(t *testing.T) {
	g := graph(t)
	table, err := model.NewTable(g, fields(t, g, "Category.id"), fields(t, g, "Item.price Item.id"), fields(t, g, "Category.SortOrder"))
	if err != nil {
		t.Fatal(err)
	}
	t.Run("N-2 notation", func(t *testing.T) {
		if got := table.String(); got != "[Category.id][price, Item.id][SortOrder]" {
			t.Error(got)
		}
	})
	t.Run("CQL", func(t *testing.T) {
		want := `CREATE TABLE "Shop"."table" (
  category_id uuid,
  price double,
  item_id uuid,
  sort_order int,
  PRIMARY KEY ((category_id), price, item_id)
)`
		if diff := cmp.Diff(want, table.CQL("Shop", "table")); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("a key that does not tell rows apart", func(t *testing.T) {
		if _, err := model.NewTable(g, fields(t, g, "Category.id"), fields(t, g, "Item.price"), nil); err == nil {
			t.Error("accepted")
		}
	})
	t.Run("no way, no partition key, a field twice", func(t *testing.T) {
		if _, err := model.NewTable(g, nil, fields(t, g, "Item.id"), nil); err == nil {
			t.Error("no partition key accepted")
		}
		if _, err := model.NewTable(g, fields(t, g, "Item.id Item.id"), nil, nil); err == nil {
			t.Error("a field twice accepted")
		}
	})
	t.Run("reserved words are quoted", func(t *testing.T) {
		for name, want := range map[string]string{"order": `"order"`, "orders": "orders", "Name": `"Name"`, `a"b`: `"a""b"`, "": `""`} {
			if got := model.Quote(name); got != want {
				t.Errorf("%q: %s, want %s", name, got, want)
			}
		}
	})
}

func TestIdentifier(t *testing.T) {
	for name, want := range map[string]string{"HotelCity": "hotel_city", "POIID": "poiid", "POIName": "poi_name", "guest_id": "guest_id", "PosX": "pos_x", "a b": "a_b"} {
		if got := model.Identifier(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestTree(t *testing.T) {
	g := graph(t)
	whole, err := model.NewTree(nil, g.Relationships...)
	if err != nil {
		t.Fatal(err)
	}
	if got := len(whole.Determined(g.Entity("Item")).Entities); got != 2 {
		t.Errorf("an item determines %d entities, want itself and its seller", got)
	}
	with, without := whole.Cut(g.Relationship("sells"), g.Entity("User"))
	if !with.Has(g.Entity("Comment")) || !without.Has(g.Entity("Category")) || with.Has(g.Entity("Item")) {
		t.Errorf("cut into %s and %s", with.Path(), without.Path())
	}
	if _, err := model.NewTree(nil, append(g.Relationships, &model.Relationship{Name: "circle", From: g.Entity("Comment"), To: g.Entity("Category"), Kind: model.ManyToOne})...); err == nil {
		t.Error("N-5: a circle is accepted")
	}
}

func TestDistinct(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.Float64Range(0, 1e7).Draw(t, "rows")
		domain := rapid.Float64Range(1, 1e7).Draw(t, "domain")
		got := model.Distinct(rows, domain)
		if got < 0 || got > rows+1e-6 || got > domain*(1+1e-9) || math.IsNaN(got) {
			t.Fatalf("%g of %g rows over %g", got, rows, domain)
		}
	})
}

func TestSaveAndLoad(t *testing.T) {
	var b bytes.Buffer
	if err := model.Save(&b, graph(t)); err != nil {
		t.Fatal(err)
	}
	var d model.Document
	if err := model.DecodeYAML("saved", b.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	back, err := d.Graph("saved")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(graph(t), back, cmpopts.IgnoreUnexported(model.Graph{}), cmp.Comparer(func(a, b *model.Entity) bool {
		return a.Name == b.Name && a.Count == b.Count && len(a.Key) == len(b.Key)
	})); diff != "" {
		t.Error(diff)
	}
}

func TestErrorsNameThePlace(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"unknown key", "entities:\n- {name: A, cuont: 3}\n", `f.yaml:2:13: unknown field "cuont"; nearest is "count"`},
		{"unknown key attribute", "entities:\n- name: A\n  count: 1\n  key: [idd]\n  attributes: [{name: id, type: uuid}]\n", `f.yaml:4:9: no attribute of A is called "idd"; nearest is "id"`},
		{"no key", "entities:\n- name: A\n  count: 1\n  key: []\n  attributes: [{name: id, type: uuid}]\n", `f.yaml:2:9: entity A has no key`},
		{"unknown entity", strings.Replace(auction, "to: User, kind: \"n:1\", forward: seller", "to: Usr, kind: \"n:1\", forward: seller", 1), `f.yaml:8:33: no entity is called "Usr"; nearest is "User"`},
		{"self reference", auction + "- {name: x, from: User, to: User, kind: \"m:n\", forward: friends, backward: friends}\n", `relationship x leads from User to itself`},
		{"kind", strings.Replace(auction, "m:n", "n:m", 1), `kind "n:m" is none of`},
		{"count", strings.Replace(auction, "count: 50,", "count: .nan,", 1), "is not a number of entities"},
		{"anchor", "entities: &a []\nrelationships: *a\n", "anchors"},
		{"not YAML", "entities: [", "f.yaml"},
		{"empty", "", "the file is empty"},
		{"list for a name", "entities:\n- {name: [a], count: 1}\n", "f.yaml"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var d model.Document
			err := model.DecodeYAML("f.yaml", []byte(c.text), &d)
			if err == nil {
				_, err = d.Graph("f.yaml")
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error %v, want %q", err, c.want)
			}
			var file *model.FileError
			if !errors.As(err, &file) {
				t.Errorf("%T is no *FileError", err)
			}
		})
	}
}
