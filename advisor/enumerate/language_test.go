package enumerate_test

import (
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/enumerate"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
)

// texts makes a workload of statements over a model, each of weight 1.
func texts(t *testing.T, w *workload.Workload, statements ...string) *workload.Workload {
	t.Helper()
	made := &workload.Workload{Graph: w.Graph}
	for _, text := range statements {
		s, err := workload.Parse(w.Graph, text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		s.ID, s.Weight = text, 1
		made.Statements = append(made.Statements, s)
	}
	return made
}

// TestLanguage: what the language has beyond the paper's gets the tables that it needs, and a plan.
func TestLanguage(t *testing.T) {
	hotel := load(t, "nose-hotel.yaml")
	for _, c := range []struct {
		name       string
		options    enumerate.Options
		statements []string
		want       []string
		not        []string
	}{
		{name: "no equality: one constant partition", statements: []string{"SELECT Hotel.HotelName FROM Hotel"},
			want: []string{"[bucket][HotelID][HotelName]", "[bucket][HotelID][]", "[HotelID][][HotelName]"}},
		{name: "no equality, a range", statements: []string{"SELECT Room.RoomID FROM Room WHERE Room.RoomRate > ?"},
			want: []string{"[bucket][RoomRate, RoomID][]"}},
		{name: "too large for one partition: buckets", options: enumerate.Options{PartitionBytes: 1e6}, statements: []string{"SELECT Reservation.ResEndDate FROM Reservation"},
			want: []string{"[bucket(Reservation.ResID % "}},
		{name: "too large, in order of time: buckets of time", options: enumerate.Options{PartitionBytes: 1e6},
			statements: []string{"SELECT Reservation.ResID FROM Reservation WHERE Reservation.ResStartDate > ?"}, want: []string{"[bucket(Reservation.ResStartDate / "}},
		{name: "order, descending", statements: []string{"SELECT Room.RoomNumber FROM Room WHERE Room.RoomFloor = ? ORDER BY Room.RoomRate DESC"},
			want: []string{"[RoomFloor][RoomRate, RoomID][RoomNumber]"}, not: []string{"desc"}},
		{name: "order, mixed", statements: []string{"SELECT Room.RoomID FROM Room WHERE Room.RoomFloor = ? ORDER BY Room.RoomRate, Room.RoomNumber DESC"},
			want: []string{"[RoomFloor][RoomRate, RoomNumber desc, RoomID][]"}},
		{name: "IN is an equality", statements: []string{"SELECT Hotel.HotelName FROM Hotel WHERE Hotel.HotelCity IN (?, ?)"},
			want: []string{"[HotelCity][HotelID][HotelName]"}},
		{name: "LIKE is a range", statements: []string{"SELECT Hotel.HotelPhone FROM Hotel WHERE Hotel.HotelCity = ? AND Hotel.HotelName LIKE ?"},
			want: []string{"[HotelCity][HotelName, HotelID][HotelPhone]"}},
		{name: "!= is a filter", statements: []string{"SELECT Hotel.HotelPhone FROM Hotel WHERE Hotel.HotelCity = ? AND Hotel.HotelName != ?"},
			want: []string{"[HotelCity][HotelID][HotelName, HotelPhone]"}, not: []string{"\n[HotelCity][HotelName"}},
		{name: "groups come together", statements: []string{"SELECT Room.RoomFloor, count(*), max(Room.RoomRate) FROM Room.Hotel WHERE Hotel.HotelID = ? GROUP BY Room.RoomFloor"},
			want: []string{"[HotelID][RoomFloor, RoomID][RoomRate]"}},
		{name: "one table for a query and one that asks for more", statements: []string{
			"SELECT Room.RoomRate FROM Room WHERE Room.RoomID = ?", "SELECT Hotel.HotelName FROM Room.Hotel WHERE Room.RoomID = ?"},
			want: []string{"[RoomID][][HotelName, RoomRate]"}},
		{name: "one key for a query and one with an equality more", statements: []string{
			"SELECT Room.RoomID FROM Room WHERE Room.RoomFloor = ? ORDER BY Room.RoomNumber", "SELECT Room.RoomID FROM Room WHERE Room.RoomFloor = ? AND Room.RoomNumber = ? AND Room.RoomRate > ?"},
			want: []string{"[RoomFloor][RoomNumber, RoomRate, RoomID][]"}},
		{name: "statics", statements: []string{"SELECT Hotel.HotelName, Room.RoomNumber FROM Room.Hotel WHERE Hotel.HotelID = ?"},
			want: []string{"[HotelID][RoomID][HotelName static, RoomNumber]"}},
		{name: "no statics where rows go away", statements: []string{"SELECT Hotel.HotelName, Room.RoomNumber FROM Room.Hotel WHERE Hotel.HotelID = ?", "DELETE FROM Room WHERE Room.RoomID = ?"},
			want: []string{"[HotelID][RoomID][HotelName, RoomNumber]"}, not: []string{"static"}},
		{name: "indexes", options: enumerate.Options{Indexes: true}, statements: []string{"SELECT Hotel.HotelName FROM Hotel WHERE Hotel.HotelCity = ?"},
			want: []string{"[HotelID][][HotelCity, HotelName] index HotelCity"}},
		{name: "B-7 collections", options: enumerate.Options{Collections: true}, statements: []string{"SELECT Room.RoomNumber, Amenity.AmenityName FROM Room.Amenities WHERE Room.RoomID = ?"},
			want: []string{"[RoomID][][RoomNumber]{Amenities: AmenityID -> AmenityName}"}},
		{name: "B-7 a row for what is asked of it and what belongs to it", options: enumerate.Options{Collections: true},
			statements: []string{"SELECT Amenity.AmenityName FROM Room.Amenities WHERE Room.RoomID = ?", "SELECT Room.RoomFloor FROM Room WHERE Room.RoomID = ?", "SELECT Reservation.ResID FROM Room.Reservations WHERE Room.RoomID = ?"},
			want:       []string{"[RoomID][][RoomFloor]{Amenities: AmenityID -> AmenityName}", "[RoomID][][RoomFloor]{Amenities: AmenityID -> AmenityName}{Reservations: ResID}"}},
		{name: "B-7 no collections of what there is a condition on", options: enumerate.Options{Collections: true},
			statements: []string{"SELECT Room.RoomNumber FROM Room.Amenities WHERE Room.RoomID = ? AND Amenity.AmenityName = ?"}, not: []string{"{"}},
		{name: "B-7 no collections in order", options: enumerate.Options{Collections: true},
			statements: []string{"SELECT Amenity.AmenityName FROM Room.Amenities WHERE Room.RoomID = ? ORDER BY Amenity.AmenityName"}, not: []string{"{"}},
		{name: "B-7 no collections of very many", options: enumerate.Options{Collections: true}, statements: []string{"SELECT Room.RoomNumber FROM Hotel.Rooms WHERE Hotel.HotelID = ?"}, not: []string{"{"}},
		{name: "B-7 only if asked for", statements: []string{"SELECT Room.RoomNumber, Amenity.AmenityName FROM Room.Amenities WHERE Room.RoomID = ?"}, not: []string{"{"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := texts(t, hotel, c.statements...)
			p := enumerate.Workload(w, c.options)
			var got []string
			for _, x := range p.Tables {
				line := short(x)
				for _, i := range x.Indexes {
					line += " index " + i.Field.Attribute.Name
				}
				got = append(got, line)
			}
			all := strings.Join(got, "\n")
			for _, want := range c.want {
				if !strings.Contains(all, want) {
					t.Errorf("no %s in\n%s", want, all)
				}
			}
			for _, not := range c.not {
				if strings.Contains(all, not) {
					t.Errorf("%s in\n%s", not, all)
				}
			}
			for _, s := range w.Statements {
				if s.Query == nil {
					continue
				}
				space, err := plan.NewSpace(s.Query, p.Tables, plan.Means{})
				if err != nil || len(space.Arcs) == 0 {
					t.Errorf("no plan for %s: %v", s.ID, err)
				}
			}
		})
	}
}
