package design_test

import (
	"slices"
	"testing"

	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
)

// rooms are called by a number in their hotel, beds by one in their room.
const rooms = `
name: rooms
model:
  entities:
    - {name: Hotel, count: 100, key: [hotel_id], attributes: [{name: hotel_id, type: uuid}, {name: city, type: text, distinct: 20}]}
    - {name: Room, count: 3000, key: [number], owner: hotel, attributes: [{name: number, type: int, distinct: 90}, {name: floor, type: int, distinct: 9}]}
    - {name: Bed, count: 6000, key: [bed], owner: room, attributes: [{name: bed, type: int, distinct: 4}, {name: width, type: int, distinct: 9}]}
  relationships:
    - {name: rooms, from: Room, to: Hotel, kind: "n:1", forward: hotel, backward: rooms}
    - {name: beds, from: Bed, to: Room, kind: "n:1", forward: room, backward: beds}
statements:
  - {id: rooms, weight: 10, text: "SELECT Room.number, Room.floor, Hotel.city FROM Hotel.rooms WHERE Hotel.hotel_id = ?"}
  - {id: beds, weight: 10, text: "SELECT Bed.bed, Bed.width, Room.floor FROM Hotel.rooms.beds WHERE Hotel.city = ?"}
  - {id: wide, weight: 10, text: "SELECT Bed.bed, Room.number, Hotel.hotel_id FROM Hotel.rooms.beds WHERE Hotel.hotel_id = ? AND Bed.width = ?"}
  - {id: paint, weight: 1, text: "UPDATE Room SET floor = ? WHERE Room.hotel_id = ? AND Room.number = ?"}
  - {id: move, weight: 1, text: "UPDATE Bed SET width = ? WHERE Bed.hotel_id = ? AND Bed.number = ? AND Bed.bed = ?"}
`

// The key of what is called within something else has that one's key in it: where a table has both, one column is enough to tell rows apart.
func TestNoValueTwiceInAKey(t *testing.T) {
	w, err := workload.Read("rooms", []byte(rooms))
	if err != nil {
		t.Fatal(err)
	}
	for _, statements := range []int{3, 5} { // without writes, and with
		own := *w
		own.Statements = w.Statements[:statements]
		d, err := design.Choose(t.Context(), &own, design.Options{Solver: solver()})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range d.Tables {
			key := x.Table.Key()
			for _, f := range key {
				c := f.Attribute.Copied
				if c == nil {
					continue
				}
				for _, r := range x.Table.Tree.Edges {
					if owner := r.Other(f.Entity); owner != nil && r.Base() == c.Edge && slices.Contains(key, model.Field{Entity: owner, Attribute: c.Of}) {
						t.Errorf("%d statements: %s has %s, and %s.%s, which it is a copy of, in its key\n%s", statements, x.Table, f, owner.Name, c.Of.Name, x.CQL)
					}
				}
			}
		}
	}
}
