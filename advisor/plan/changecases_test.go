package plan_test

import (
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
)

const office = `
name: office
model:
  entities:
  - {name: Room, count: 100, key: [id], attributes: [{name: id, type: int}, {name: rate, type: int}, {name: note, type: text, absent: 0.5}]}
  - {name: Desk, count: 300, key: [id], attributes: [{name: id, type: int}, {name: size, type: int}]}
  - {name: Person, count: 200, key: [id], attributes: [{name: id, type: int}, {name: name, type: text}]}
  - {name: Team, count: 20, key: [id], attributes: [{name: id, type: int}, {name: name, type: text}]}
  relationships:
  - {name: stands, from: Desk, to: Room, kind: "n:1", forward: room, backward: desks, optional: true}
  - {name: stood, from: Desk, to: Room, kind: "n:1", forward: before, backward: left}
  - {name: sits, from: Person, to: Desk, kind: "m:n", forward: desks, backward: people, degree: 2}
  - {name: leads, from: Person, to: Person, kind: "n:1", forward: boss, backward: staff, optional: true}
  - {name: belongs, from: Person, to: Team, kind: "n:1", forward: team, backward: people}
`

// TestChanges says what a write asks and does where that is not plain. Each was found by random writes, and wrong once.
func TestChanges(t *testing.T) {
	w, err := workload.Read("office.yaml", []byte(office))
	if err != nil {
		t.Fatal(err)
	}
	g := w.Graph
	made := func(paths, text string) *model.Table {
		d := model.TableDocument{Name: model.Placed{Text: "t"}}
		for _, p := range strings.Split(paths, ",") {
			if p != "" {
				d.Paths = append(d.Paths, model.Placed{Text: strings.TrimSpace(p)})
			}
		}
		for i, list := range strings.Split(text, "|") {
			for _, name := range strings.Fields(list) {
				to := []*[]model.Placed{&d.Partition, &d.Clustering, &d.Values}[i]
				*to = append(*to, model.Placed{Text: name})
			}
		}
		x, err := d.Table("test", g)
		if err != nil {
			t.Fatal(err)
		}
		x.Existing = false
		if err := x.Validate(); err != nil {
			t.Fatal(err)
		}
		return x
	}
	bucketed := func(x *model.Table, of model.Field) *model.Table {
		x.Bucket = &model.Bucket{Of: of, Count: 8}
		return x
	}
	size := g.Entity("Desk").Field("size")
	for _, c := range []struct{ name, write, paths, table, want string }{
		{"a row that may not be there is asked for", "UPDATE Desk SET size = ? WHERE Desk.id = ?", "Desk.room", "Desk.id||Desk.size Room.rate",
			"Desk:self[SELECT Room.rate FROM Desk.room WHERE Desk.id = ?] put id size"},
		{"one that must be there is not", "UPDATE Desk SET size = ? WHERE Desk.id = ?", "Desk.before", "Desk.id||Desk.size Room.rate", "Desk:self[] put id size"},
		{"who is asked by may not be all there are", "UPDATE Desk FROM Desk.people SET size = ? WHERE Person.id = ?", "Desk.people", "Person.id|Desk.id|Desk.size",
			"find SELECT Desk.id FROM Desk.people WHERE Person.id = ?; Desk:self[SELECT Person.id FROM Desk.people WHERE Desk.id = ?] put id id size"},
		{"what the key determines is known", "DELETE FROM Desk.room WHERE Desk.id = ? AND Room.id = ?", "Desk.room", "Room.id|Desk.id|", "Desk:self[] delete id id"},
		{"but not over another relationship", "DELETE FROM Desk.room WHERE Desk.id = ? AND Room.id = ?", "Desk.before", "Room.id|Desk.id|",
			"Desk:self[SELECT Room.id FROM Desk.before WHERE Desk.id = ?] delete id id"},
		{"a condition besides the key is checked", "DELETE FROM Desk WHERE Desk.id = ? AND Desk.size > ?", "", "Desk.id||",
			"find SELECT Desk.id FROM Desk WHERE Desk.id = ? AND Desk.size > ?; Desk:self[] delete id"},
		{"a new one has a boss and is none", "INSERT INTO Person SET id = ?, name = ? AND CONNECT TO boss(?), team(?)", "Person.boss AS Person#2", "Person#2.id|Person.id|Person.name",
			"Person:self Person#2:0[] put id id name"},
		{"a new one is its own colleague", "INSERT INTO Person SET id = ?, name = ? AND CONNECT TO team(?)", "Person.team.people AS Person#2", "Person.id|Person#2.id|",
			"Person:self Team:0[SELECT Person#2.id FROM Team.people AS Person#2 WHERE Team.id = ?] " +
				"Person#2:self Team:0[SELECT Person.id FROM Team.people WHERE Team.id = ?] Person:self Person#2:self Team:0[] put id id"},
		{"a pair at either edge, and at both", "CONNECT Person(?) TO team(?)", "Person.team.people AS Person#2", "Person.id|Person#2.id|",
			"Person:self Team:0[SELECT Person#2.id FROM Team.people AS Person#2 WHERE Team.id = ?] not Person#2:self " +
				"Person#2:self Team:0[SELECT Person.id FROM Team.people WHERE Team.id = ?] not Person:self Person:self Team:0 Person#2:self[] " +
				"gone Person:self[SELECT Person#2.id FROM Person.team.people AS Person#2 WHERE Person.id = ?] " +
				"gone Person#2:self[SELECT Person.id FROM Person AS Person#2.team.people AS Person#1 WHERE Person#2.id = ?] delete id id put id id"},
		{"whom a desk stood with is asked", "CONNECT Desk(?) TO room(?)", "Desk.room", "Room.id|Desk.id|",
			"Desk:self Room:0[] gone Desk:self[SELECT Room.id FROM Desk.room WHERE Desk.id = ?] delete id id put id id"},
		{"the other way round too", "CONNECT Room(?) TO desks(?)", "Desk.room", "Room.id|Desk.id|",
			"Room:self Desk:0[] gone Desk:0[SELECT Room.id FROM Desk.room WHERE Desk.id = ?] delete id id put id id"},
		{"what stays in its place is put over", "CONNECT Desk(?) TO room(?)", "Desk.room", "Desk.id||Desk.size Room.rate",
			"Desk:self Room:0[SELECT Room.rate FROM Room WHERE Room.id = ?; SELECT Desk.size FROM Desk WHERE Desk.id = ?] " +
				"gone Desk:self[SELECT Desk.size FROM Desk WHERE Desk.id = ?] put id size rate"},
		{"who has many loses none", "CONNECT Person(?) TO desks(?)", "Person.desks", "Desk.id|Person.id|", "Person:self Desk:0[] put id id"},
		{"what is known of the new partner says nothing of the old", "CONNECT Desk(?) TO room(?) GIVEN Desk.size, Room.rate", "Desk.room", "Room.rate|Desk.size Desk.id|",
			"Desk:self Room:0[] gone Desk:self[SELECT Room.rate FROM Desk.room WHERE Desk.id = ?] delete rate size id put rate size id"},
		{"a row that holds the entity twice moves once", "UPDATE Person SET name = ? WHERE Person.id = ?", "Person.team.people AS Person#2", "Person.name|Person.id Person#2.id|",
			"Person:self[SELECT Person.name, Person#2.id FROM Person.team.people AS Person#2 WHERE Person.id = ?] delete name id id put name id id"},
		{"a bucket is part of the key", "UPDATE Desk SET size = ? WHERE Desk.id = ?", "", "bucket Desk.id||",
			"Desk:self[SELECT Desk.size FROM Desk WHERE Desk.id = ?] delete id put id"},
		{"a bucket has to be known", "DELETE FROM Desk WHERE Desk.id = ?", "", "bucket Desk.id||", "Desk:self[SELECT Desk.size FROM Desk WHERE Desk.id = ?] delete id"},
	} {
		t.Run("N-37 N-38 N-39 "+c.name, func(t *testing.T) {
			text, isBucketed := strings.CutPrefix(c.table, "bucket ")
			x := made(c.paths, text)
			if isBucketed {
				x = bucketed(x, size)
			}
			write := parse(t, g, c.write).Write
			var parts []string
			if find := plan.Find(write); find != nil {
				parts = append(parts, "find "+find.String()+";")
			}
			for _, change := range plan.Changes(write, x) {
				var names, asked []string
				for _, n := range change.Named {
					by := "self"
					if n.By != plan.Self {
						by = string(rune('0' + n.By))
					}
					names = append(names, n.Entity.Name+":"+by)
				}
				for _, q := range change.Parts {
					known := *q
					known.Known = nil
					asked = append(asked, known.String())
				}
				text := strings.Join(names, " ") + "[" + strings.Join(asked, "; ") + "]"
				if change.Gone != nil {
					text = "gone " + text
				}
				for _, n := range change.Not {
					text += " not " + n.Entity.Name + ":" + map[int]string{plan.Self: "self", 0: "0"}[n.By]
				}
				parts = append(parts, text)
			}
			for _, s := range plan.WriteSteps(write, x) {
				parts = append(parts, string(s.Kind))
				for _, f := range s.Fields {
					parts = append(parts, f.Attribute.Name)
				}
			}
			if got := strings.Join(parts, " "); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// TestNothingJoinsByNothing: an index is not asked for what rows at hand may not have.
func TestNothingJoinsByNothing(t *testing.T) {
	w, err := workload.Read("office.yaml", []byte(office))
	if err != nil {
		t.Fatal(err)
	}
	one, other := table(t, w.Graph, "", "Room.id||Room.note"), table(t, w.Graph, "Room.left", "Room.id|Desk.id|Room.note Desk.size")
	other.Indexes = []model.Index{{Name: "i", Field: w.Graph.Entity("Room").Field("note"), SAI: true}}
	plans := space(t, parse(t, w.Graph, "SELECT Desk.size, Room.note FROM Room.left WHERE Room.id = ?").Query, one, other)
	if len(plans) == 0 {
		t.Error("no plan")
	}
	for _, p := range plans {
		for i := range p.Steps {
			for _, b := range p.Steps[i].Where {
				if b.Value == "" && b.Field.Attribute.Null > 0 {
					t.Errorf("%s", p)
				}
			}
		}
	}
}

// TestKnownOfAnother: what is known of a desk's room says nothing of the room where it stood before.
func TestKnownOfAnother(t *testing.T) {
	w, err := workload.Read("office.yaml", []byte(office))
	if err != nil {
		t.Fatal(err)
	}
	q := parse(t, w.Graph, "SELECT Desk.size, Room.id FROM Desk.room WHERE Desk.id = ? GIVEN Room.rate").Query
	stood := table(t, w.Graph, "Desk.before", "Desk.id|Room.rate Room.id|Desk.size")
	stands := table(t, w.Graph, "Desk.room", "Desk.id|Room.id|")
	for _, p := range space(t, q, stood, stands) {
		for i := range p.Steps {
			for _, b := range p.Steps[i].Clustering {
				if p.Steps[i].Table == stood && b.Field.Attribute.Name == "rate" {
					t.Errorf("%s", p)
				}
			}
		}
	}
}
