package workload_test

import (
	"slices"
	"testing"

	"github.com/helenus-db/helenus/advisor/workload"
)

// TestBreaches: what writes leave out that the model says is there.
func TestBreaches(t *testing.T) {
	g := parseGraph(t, `
entities:
- {name: Club, count: 10, key: [id], attributes: [{name: id, type: int}, {name: city, type: text, size: 8, absent: 0.5}]}
- {name: Member, count: 100, key: [id], attributes: [{name: id, type: int}, {name: name, type: text, size: 8}]}
- {name: Card, count: 100, key: [id], attributes: [{name: id, type: int}]}
- {name: Locker, count: 20, key: [id], attributes: [{name: id, type: int}]}
relationships:
- {name: belongs, from: Member, to: Club, kind: "n:1", forward: club, backward: members}
- {name: rents, from: Locker, to: Member, kind: "n:1", forward: tenant, backward: lockers, optional: true}
- {name: holds, from: Card, to: Member, kind: "1:1", forward: holder, backward: card}
- {name: friends, from: Member, to: Club, kind: "m:n", forward: visits, backward: visitors, degree: 2}
`)
	for _, c := range []struct {
		text string
		want []string
	}{
		{"INSERT INTO Club SET id = ?", nil}, // its city may be missing
		{"INSERT INTO Member SET id = ?, name = ? AND CONNECT TO club(?)", nil},
		{"INSERT INTO Member SET id = ? AND CONNECT TO club(?)", []string{"always: it inserts a Member without the name that each has"}},
		{"INSERT INTO Member SET id = ?, name = ? AND CONNECT TO visits(?)", []string{"always: it inserts a Member without the Club that each has (belongs)"}},
		{"INSERT INTO Locker SET id = ?", nil}, // nobody need rent it
		{"DELETE FROM Member WHERE Member.id = ?", []string{"it would leave a Card without the Member that each has (holds)"}},
		{"DELETE FROM Club WHERE Club.id = ?", []string{"it would leave a Member without the Club that each has (belongs)"}},
		{"DELETE FROM Card WHERE Card.id = ?", nil},
		{"DISCONNECT Member(?) FROM club(?)", []string{"always: it leaves a Member without the Club that each has (belongs)"}},
		{"DISCONNECT Club(?) FROM members(?)", []string{"always: it leaves a Member without the Club that each has (belongs)"}},
		{"DISCONNECT Member(?) FROM visits(?)", nil},
		{"DISCONNECT Locker(?) FROM tenant(?)", nil},
		{"CONNECT Card(?) TO holder(?)", []string{"it would leave a Card without the Member that each has (holds)"}}, // who had another card
		{"CONNECT Member(?) TO card(?)", []string{"it would leave a Card without the Member that each has (holds)"}},
		{"CONNECT Member(?) TO club(?)", nil}, // the club has others
		{"CONNECT Locker(?) TO tenant(?)", nil},
		{"UPDATE Member SET name = ? WHERE Member.id = ?", nil},
	} {
		s, err := workload.Parse(g, c.text)
		if err != nil {
			t.Fatalf("%s: %v", c.text, err)
		}
		var got []string
		for _, b := range s.Write.Breaches(g) {
			if b.Query == nil {
				b.Reason = "always: " + b.Reason
			}
			got = append(got, b.Reason)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.text, got, c.want)
		}
	}
}

// TestRobbed: of a CONNECT that takes a partner away one learns whose by asking with its own parameters, whichever end it begins at.
func TestRobbed(t *testing.T) {
	g := parseGraph(t, `
entities:
- {name: Member, count: 100, key: [id], attributes: [{name: id, type: int}]}
- {name: Card, count: 100, key: [series, number], attributes: [{name: series, type: int}, {name: number, type: int}]}
relationships:
- {name: holds, from: Card, to: Member, kind: "1:1", forward: holder, backward: card}
`)
	for text, names := range map[string][3]string{ // of the partner's key, and the two parts of the other's
		"CONNECT Card(?, ?) TO holder(?)": {"holder.id", "Card.series =", "Card.number ="},
		"CONNECT Member(?) TO card(?, ?)": {"Member.id =", "card.series", "card.number"},
	} {
		s, err := workload.Parse(g, text)
		if err != nil {
			t.Fatal(err)
		}
		list := s.Write.Breaches(g)
		if len(list) != 2 {
			t.Fatalf("%s: %d breaches, want one for each attribute of the key", text, len(list))
		}
		for i, b := range list {
			where := b.Query.Where
			by := workload.Names(where)
			if len(where) != 2 || where[0].Op != workload.Equal || where[1].Op != workload.NotEqual || where[0].Field.Entity == where[1].Field.Entity ||
				b.With[by[0]] != names[0] || b.With[by[1]] != names[1+i] {
				t.Errorf("%s: %s with %v", text, b.Query, b.With)
			}
		}
	}
}
