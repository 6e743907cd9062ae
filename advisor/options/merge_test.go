package options

import (
	"slices"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/model"
)

// pets has relationships of every kind.
const pets = `name: pets
model:
  entities:
  - {name: Person, count: 100, key: [pid], attributes: [{name: pid, type: uuid}, {name: name, type: text}, {name: born, type: date}]}
  - {name: Passport, count: 100, key: [nr], attributes: [{name: nr, type: text}, {name: issued, type: date}, {name: until, type: date}]}
  - {name: Pet, count: 300, key: [tag], attributes: [{name: tag, type: text}, {name: kind, type: text}, {name: fur, type: text}]}
  - {name: Club, count: 10, key: [cid], attributes: [{name: cid, type: uuid}, {name: town, type: text}]}
  - {name: Star, count: 10, key: [sid], attributes: [{name: sid, type: uuid}, {name: size, type: int}]}
  relationships:
  - {name: holder, from: Passport, to: Person, kind: "1:1", forward: person, backward: passport}
  - {name: owner, from: Pet, to: Person, kind: "n:1", forward: owner, backward: pets}
  - {name: member, from: Person, to: Club, kind: "m:n", forward: clubs, backward: members}
statements:
- {id: w, text: "UPDATE Pet SET fur = ? WHERE Pet.tag = ?", weight: 1}
`

// table makes one of names: key, indexes separated by ";", other columns.
func (f *finder) table(t *testing.T, tree string, key, indexes, rest string) *Table {
	t.Helper()
	fields := func(names string) []model.Field {
		var list []model.Field
		for _, n := range strings.Fields(names) {
			x, err := f.work.Graph.Field(n)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, x)
		}
		return list
	}
	var entities []*model.Entity
	for _, n := range strings.Fields(tree) {
		entities = append(entities, f.work.Graph.Entity(n))
	}
	joined, err := f.work.Graph.Connect(entities)
	if err != nil {
		t.Fatal(err)
	}
	x := &Table{u: &f.universe, Tree: joined, key: f.set(fields(key)...), rest: f.set(fields(rest)...)}
	for part := range strings.SplitSeq(indexes, ";") {
		x.indexes = append(x.indexes, f.set(fields(part)...))
	}
	x.setNames()
	x.least = x.Columns()
	return x
}

// TestConditionsB22toB28 merges two tables under the five conditions.
func TestConditionsB22toB28(t *testing.T) {
	type tab struct{ tree, key, indexes, rest string }
	wide := "Pet.kind Pet.fur"
	for _, c := range []struct {
		name   string
		config Config
		a, b   tab
		failed []Condition
		merged string // if allowed
		warns  bool
	}{
		{"B-22 two row keys", Config{Indexes: 2}, tab{"Pet", "Pet.tag", "", "Pet.fur"}, tab{"Pet", "Pet.kind", "", "Pet.fur"}, []Condition{RowKey}, "", false},
		{"B-23 the index that is the key", Config{Indexes: 1}, tab{"Pet", "Pet.tag", "Pet.kind Pet.fur", ""}, tab{"Pet", "", "Pet.tag", "Pet.fur"}, nil, "key Pet.tag | index Pet.fur_Pet.kind | -", false},
		{"B-23 two indexes, one allowed", Config{Indexes: 1}, tab{"Pet", "Pet.tag", "Pet.kind", ""}, tab{"Pet", "", "Pet.fur", ""}, []Condition{SecondaryIndex}, "", false},
		{"B-23 two indexes, two allowed", Config{Indexes: 2}, tab{"Pet", "Pet.tag", "Pet.kind", ""}, tab{"Pet", "", "Pet.fur", ""}, nil, "key Pet.tag | index Pet.fur; Pet.kind | -", false},
		{"B-23 the same index twice counts once", Config{Indexes: 1}, tab{"Pet", "", "Pet.kind", "Pet.fur"}, tab{"Pet", "", "Pet.kind", "Pet.tag"}, nil, "key - | index Pet.kind | Pet.fur, Pet.tag", false},
		{"B-24 one entity", Config{Indexes: 1}, tab{"Pet", "Pet.tag", "", "Pet.kind"}, tab{"Pet", "", "Pet.kind", "Pet.fur"}, nil, "key Pet.tag | index Pet.kind | Pet.fur", false},
		{"B-24 direct 1:1", Config{Indexes: 1}, tab{"Person", "Person.pid", "", "Person.name"}, tab{"Passport", "", "Passport.nr", "Passport.until"}, nil, "key Person.pid | index Passport.nr | Passport.until, Person.name", false},
		{"B-24 B-26 1:n that no query joins", Config{Indexes: 1}, tab{"Person", "Person.pid", "", "Person.name"}, tab{"Pet", "", "Pet.tag", "Pet.fur"}, []Condition{Relationship, RowCount}, "", false},
		{"B-26 a join over 1:n with another", Config{Indexes: 1}, tab{"Person Pet", "Person.pid", "", "Pet.tag Pet.kind"}, tab{"Person Pet", "", "Person.pid", "Pet.tag Pet.fur"}, []Condition{Relationship, RowCount}, "", false},
		{"B-26 the same, rows may grow", Config{Indexes: 1, RowGrowth: 0.1}, tab{"Person Pet", "Person.pid", "", "Pet.tag Pet.kind"}, tab{"Person Pet", "", "Person.pid", "Pet.tag Pet.fur"}, nil, "key Person.pid | index - | Pet.fur, Pet.kind, Pet.tag", false},
		{"B-26 three times the rows of one, none more than the other", Config{Indexes: 1, RowGrowth: 0.1}, tab{"Person", "Person.pid", "", "Person.name"}, tab{"Pet", "", "Pet.tag", "Pet.fur"}, nil, "key Person.pid | index Pet.tag | Person.name, Pet.fur", false},
		{"B-26 n:m makes more rows", Config{Indexes: 1, RowGrowth: 0.1}, tab{"Person Pet", "Person.pid", "", "Pet.tag"}, tab{"Person Club", "", "Club.cid", "Person.pid"}, nil, "key Person.pid | index Club.cid | Pet.tag", false},
		{"B-24 1:n, a subset of the same join", Config{Indexes: 1}, tab{"Person Pet", "Person.pid", "", "Pet.tag Pet.kind"}, tab{"Person Pet", "", "Person.pid", "Pet.tag"}, nil, "key Person.pid | index - | Pet.kind, Pet.tag", false},
		{"B-24 1:n, a subset of another join's columns", Config{Indexes: 1}, tab{"Person Pet", "Person.pid", "", "Person.name Pet.tag"}, tab{"Person", "", "Person.pid", "Person.name"}, []Condition{Relationship, RowCount}, "", false},
		{"B-24 not related", Config{Indexes: 1}, tab{"Pet", "Pet.tag", "", "Pet.kind"}, tab{"Star", "", "Star.sid", "Star.size"}, []Condition{Relationship}, "", false},
		{"B-25 more columns: a warning", Config{Indexes: 1, ColumnGrowth: 1}, tab{"Pet", "Pet.tag", "", ""}, tab{"Pet", "", "Pet.tag", wide}, nil, "key Pet.tag | index - | Pet.fur, Pet.kind", true},
		{"B-25 more columns: refused", Config{Indexes: 1, ColumnGrowth: 1, RefuseColumns: true}, tab{"Pet", "Pet.tag", "", ""}, tab{"Pet", "", "Pet.tag", wide}, []Condition{ColumnCount}, "", true},
		{"B-25 at the threshold", Config{Indexes: 1, ColumnGrowth: 2, RefuseColumns: true}, tab{"Pet", "Pet.tag", "", ""}, tab{"Pet", "", "Pet.tag", wide}, nil, "key Pet.tag | index - | Pet.fur, Pet.kind", false},
		{"B-27 B-22 B-23 several at once", Config{}, tab{"Pet", "Pet.tag", "Pet.kind", ""}, tab{"Pet", "Pet.fur", "", ""}, []Condition{RowKey, SecondaryIndex}, "", false},
		{"B-28 an index's field is no other column", Config{Indexes: 2}, tab{"Pet", "Pet.tag", "", "Pet.kind Pet.fur"}, tab{"Pet", "", "Pet.kind", "Pet.tag"}, nil, "key Pet.tag | index Pet.kind | Pet.fur", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := newFinder(read(t, pets), c.config)
			if err != nil {
				t.Fatal(err)
			}
			a, b := f.table(t, c.a.tree, c.a.key, c.a.indexes, c.a.rest), f.table(t, c.b.tree, c.b.key, c.b.indexes, c.b.rest)
			for range 2 { // in both orders
				v := f.judgeMerge(a, b)
				if !slices.Equal(v.Failed, c.failed) || (len(v.Warnings) > 0) != c.warns {
					t.Errorf("failed %v, want %v; warnings %q", v.Failed, c.failed, v.Warnings)
				}
				if v.Allowed() && v.Merged.String() != c.merged {
					t.Errorf("merged to %s\nwant %s", v.Merged, c.merged)
				}
				a, b = b, a
			}
		})
	}
}

// TestDropB21B29 (B-21): q1's table is a strict subset of q3's; without any write both stay. B-29: what became the same is there once.
func TestDropB21B29(t *testing.T) {
	r := find(t, read(t, customer+q1+q3+q4), Config{Indexes: 1})
	want := "key customer.fname | index - | customer.address, customer.lname"
	if r.Combined != 4 || r.Merged != 2 {
		t.Errorf("%g combinations, %g merged, want 4 and 2: by key, and by index", r.Combined, r.Merged)
	}
	if got := schema(r.Options[0].Tables); got != want {
		t.Errorf("the best option is\n%s\nwant\n%s", got, want)
	}
	r = find(t, read(t, customer+q1+q3), Config{Indexes: 0})
	if got := len(r.Options[0].Tables); got != 2 {
		t.Errorf("without writes there are %d tables, want both", got)
	}
	r = find(t, read(t, customer+q1+q3+q4), Config{Indexes: 0})
	if got := schema(r.Options[0].Tables); got != want {
		t.Errorf("without indexes:\n%s\nwant\n%s", got, want)
	}
}
