package workload_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/workload"
)

func TestParameterNames(t *testing.T) {
	g := load(t, "nose-hotel.yaml").Graph
	for _, c := range []struct {
		text string
		want string
	}{
		{"SELECT Room.RoomRate FROM Room WHERE Room.RoomID = ? AND Room.RoomRate >= ? AND Room.RoomRate < 7", "Room.RoomID = 1, Room.RoomRate >= 1"},
		{"SELECT Room.RoomRate FROM Room WHERE Room.RoomRate != ? AND Room.RoomRate != ? AND Room.RoomID = ?a AND Room.RoomRate > ?a", "Room.RoomRate != 1, Room.RoomRate != #2 1, ?a 1"},
		{"SELECT Room.RoomRate FROM Room WHERE Room.RoomID IN (?, 4, ?) AND Room.RoomRate IN ? ", "Room.RoomID IN 2, Room.RoomRate IN 0"},
		{"SELECT Room.RoomRate FROM Room WHERE Room.RoomID IN ?some ITEMS 4 AND Room.RoomRate IN (?x, ?y)", "?some 0, ?x 1, ?y 1"},
		{"SELECT Room.RoomRate FROM Room WHERE Room.RoomID = ? GIVEN Room.RoomRate", "Room.RoomID = 1, GIVEN Room.RoomRate 1"},
		{"UPDATE Room FROM Room SET RoomRate = RoomRate + ? WHERE Room.RoomID = ?", "ADD Room.RoomRate 1, Room.RoomID = 1"},
		{"CONNECT Guest(?) TO Reservations(?)", "Guest.GuestID = 1, Reservations.ResID 1"},
	} {
		s, err := workload.Parse(g, c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		var list []workload.Parameter
		if s.Query != nil {
			list = s.Query.Parameters()
		} else {
			list = s.Write.Parameters()
		}
		var got []string
		for _, p := range list {
			got = append(got, p.Name+" "+string(rune('0'+p.Items)))
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s: %s, want %s", c.text, text, c.want)
		}
	}
}

func TestListOfValues(t *testing.T) {
	for value, want := range map[string][]string{"(?, 'a, b', -3)": {"?", "'a, b'", "-3"}, "?": {"?"}, "('it''s')": {"'it''s'"}} {
		if got := (workload.Predicate{Op: workload.In, Value: value}).List(); !slices.Equal(got, want) {
			t.Errorf("%s: %q", value, got)
		}
	}
}
