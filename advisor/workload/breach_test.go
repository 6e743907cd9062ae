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
