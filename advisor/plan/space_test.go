package plan_test

import (
	"fmt"
	"math"
	"sort"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
)

const designs = "../../examples/designs/"

func load(t testing.TB, name string) *workload.Workload {
	t.Helper()
	w, err := workload.Load(designs + name)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// table makes a candidate of "partition|clustering|values" with field names.
func table(t testing.TB, g *model.Graph, paths, text string) *model.Table {
	t.Helper()
	d := model.TableDocument{Name: model.Placed{Text: "t"}}
	for _, p := range strings.Fields(paths) {
		d.Paths = append(d.Paths, model.Placed{Text: p})
	}
	for i, list := range strings.Split(text, "|") {
		to := []*[]model.Placed{&d.Partition, &d.Clustering, &d.Values}[i]
		for _, name := range strings.Fields(list) {
			*to = append(*to, model.Placed{Text: name})
		}
	}
	made, err := d.Table("test", g)
	if err != nil {
		t.Fatal(err)
	}
	made.Existing, made.Name = false, ""
	return made
}

func fig7(t testing.TB, g *model.Graph) []*model.Table {
	return []*model.Table{
		table(t, g, "Room.Hotel Room.Amenity", "Hotel.HotelCity|Amenity.AmenityID Room.RoomRate Room.RoomID|"),
		table(t, g, "Room.Hotel Room.Amenity", "Hotel.HotelCity|Amenity.AmenityID Room.RoomID|"),
		table(t, g, "", "Hotel.HotelCity|Hotel.HotelID|"),
		table(t, g, "Room.Hotel Room.Amenity", "Hotel.HotelID|Amenity.AmenityID Room.RoomID|"),
		table(t, g, "", "Room.RoomID||Room.RoomRate"),
	}
}

func TestFigure7(t *testing.T) {
	w := load(t, "nose-hotel.yaml")
	tables := fig7(t, w.Graph)
	t.Run("N-22 exactly three plans", func(t *testing.T) {
		s, err := plan.NewSpace(w.Statement("fig7").Query, tables, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range s.Plans(100) {
			var names []string
			for _, used := range p.Tables() {
				for i, x := range tables {
					if x == used {
						names = append(names, fmt.Sprintf("CF%d", i+1))
					}
				}
			}
			got = append(got, strings.Join(names, ","))
		}
		sort.Strings(got)
		if want := "CF1 CF2,CF5 CF3,CF4,CF5"; strings.Join(got, " ") != want {
			t.Errorf("plans %v, want %s", got, want)
		}
	})
}

// steps is a query's plan as a list of its steps' kinds and tables.
func steps(p *plan.Plan) string {
	var list []string
	for i := range p.Steps {
		s := &p.Steps[i]
		text := string(s.Kind)
		if s.Table != nil {
			text += " " + s.Table.String()
		}
		list = append(list, text)
	}
	return strings.Join(list, "; ")
}

func parse(t testing.TB, g *model.Graph, text string) *workload.Statement {
	t.Helper()
	s, err := workload.Parse(g, text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return s
}

func space(t testing.TB, q *workload.Query, tables ...*model.Table) []*plan.Plan {
	t.Helper()
	s, err := plan.NewSpace(q, tables, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s.Plans(1000)
}

func TestPlans(t *testing.T) {
	w := load(t, "nose-hotel.yaml")
	g := w.Graph
	for _, c := range []struct {
		name, query string
		tables      [][2]string // paths, table
		want        []string
	}{
		{"N-21 the first step has one get", "SELECT Hotel.HotelName FROM Hotel WHERE Hotel.HotelID = ?",
			[][2]string{{"", "Hotel.HotelID||Hotel.HotelName"}},
			[]string{"get [HotelID][][HotelName]"}},
		{"N-23 a table that holds more", "SELECT Hotel.HotelName FROM Hotel WHERE Hotel.HotelID = ?",
			[][2]string{{"", "Hotel.HotelID||Hotel.HotelPhone Hotel.HotelName"}},
			[]string{"get [HotelID][][HotelPhone, HotelName]"}},
		{"N-23 a table over a larger graph, by a to-one edge", "SELECT Room.RoomRate FROM Room WHERE Room.RoomID = ?",
			[][2]string{{"Room.Hotel", "Room.RoomID||Room.RoomRate Hotel.HotelName"}},
			[]string{"get [RoomID][][RoomRate, HotelName]"}},
		{"not by a to-many edge: rows would be doubled", "SELECT Hotel.HotelName FROM Hotel WHERE Hotel.HotelCity = ?",
			[][2]string{{"Room.Hotel", "Hotel.HotelCity|Room.RoomID|Hotel.HotelName"}}, nil},
		{"N-24 in either order", "SELECT Room.RoomID FROM Room.Hotel WHERE Hotel.HotelCity = ? AND Room.RoomFloor = ?",
			[][2]string{{"", "Hotel.HotelCity|Hotel.HotelID|"}, {"Room.Hotel", "Hotel.HotelID|Room.RoomID|Room.RoomFloor"},
				{"Room.Hotel", "Room.RoomFloor|Room.RoomID|Hotel.HotelID"}, {"", "Hotel.HotelID||Hotel.HotelCity"}},
			[]string{"get [HotelCity][HotelID][]; get [HotelID][RoomID][RoomFloor]; filter", "get [RoomFloor][RoomID][HotelID]; get [HotelCity][HotelID][]", "get [RoomFloor][RoomID][HotelID]; get [HotelID][][HotelCity]; filter"}},
		{"N-28 in the order of the clustering key", "SELECT Hotel.HotelName FROM Hotel WHERE Hotel.HotelCity = ? ORDER BY Hotel.HotelName",
			[][2]string{{"", "Hotel.HotelCity|Hotel.HotelName Hotel.HotelID|"}, {"", "Hotel.HotelCity|Hotel.HotelID|Hotel.HotelName"}},
			[]string{"get [HotelCity][HotelID][HotelName]; sort", "get [HotelCity][HotelName, HotelID][]"}},
		{"the server limits only what is the answer", "SELECT Hotel.HotelName FROM Hotel WHERE Hotel.HotelCity = ? AND Hotel.HotelZip = ? LIMIT 5",
			[][2]string{{"", "Hotel.HotelCity|Hotel.HotelID|Hotel.HotelName Hotel.HotelZip"}, {"", "Hotel.HotelCity|Hotel.HotelZip Hotel.HotelID|Hotel.HotelName"}},
			[]string{"get [HotelCity][HotelID][HotelName, HotelZip]; filter; limit", "get [HotelCity][HotelZip, HotelID][HotelName]"}},
		{"two bounds on one field are both kept", "SELECT Room.RoomID FROM Room.Hotel WHERE Hotel.HotelID = ? AND Room.RoomRate > ? AND Room.RoomRate <= ?",
			[][2]string{{"Room.Hotel", "Hotel.HotelID|Room.RoomRate Room.RoomID|"}},
			[]string{"get [HotelID][RoomRate, RoomID][]"}},
		{"a range does not bind what comes after another column", "SELECT Room.RoomID FROM Room.Hotel WHERE Hotel.HotelID = ? AND Room.RoomRate > ?",
			[][2]string{{"Room.Hotel", "Hotel.HotelID|Room.RoomID Room.RoomRate|"}},
			[]string{"get [HotelID][RoomID, RoomRate][]; filter"}},
		{"tables that share nothing but an attribute's value are not joined", "SELECT Room.RoomID FROM Room.Hotel WHERE Hotel.HotelCity = ?",
			[][2]string{{"", "Hotel.HotelCity|Hotel.HotelID|"}, {"Room.Hotel", "Hotel.HotelCity|Room.RoomID|"}},
			[]string{"get [HotelCity][RoomID][]"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var tables []*model.Table
			for _, x := range c.tables {
				tables = append(tables, table(t, g, x[0], x[1]))
			}
			var got []string
			for _, p := range space(t, parse(t, g, c.query).Query, tables...) {
				got = append(got, steps(p))
				if p.Steps[0].Requests != 1 {
					t.Errorf("N-21: the first step of %s has %g requests", steps(p), p.Steps[0].Requests)
				}
			}
			sort.Strings(got)
			if strings.Join(got, "|") != strings.Join(c.want, "|") {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
	t.Run("two bounds on one field are both bound", func(t *testing.T) {
		p := space(t, parse(t, g, "SELECT Room.RoomID FROM Room.Hotel WHERE Hotel.HotelID = ? AND Room.RoomRate > ? AND Room.RoomRate <= ?").Query,
			table(t, g, "Room.Hotel", "Hotel.HotelID|Room.RoomRate Room.RoomID|"))[0]
		if n := len(p.Steps[0].Clustering); n != 2 {
			t.Errorf("%d bounds, want 2", n)
		}
	})
}

func TestEstimates(t *testing.T) {
	w := load(t, "nose-hotel.yaml")
	g := w.Graph
	near := func(what string, got, want float64) {
		t.Helper()
		if got < want*0.999 || got > want*1.001 {
			t.Errorf("N-32 %s: %.4g, want %.4g", what, got, want)
		}
	}
	p := space(t, w.Statement("fig7").Query, fig7(t, g)[1], fig7(t, g)[4])[0]
	// 10 of 1,000 hotels in a city, 100 rooms each, 4 of 50 amenities a room: 80 rooms; a tenth above the rate.
	near("rooms", p.Steps[0].Rows, 80)
	near("gets of rates", p.Steps[1].Requests, 80)
	near("after the filter", p.Steps[2].Left, 8)
	// 2,500 reservations a city, of 50,000 guests: some twice.
	s := parse(t, g, "SELECT Guest.GuestName FROM Guest.Reservations.Room.Hotel WHERE Hotel.HotelCity = ?")
	p = space(t, s.Query, table(t, g, "Reservation.Room Room.Hotel Reservation.Guest", "Hotel.HotelCity|Reservation.ResID|Guest.GuestID"), table(t, g, "", "Guest.GuestID||Guest.GuestName"))[0]
	near("reservations", p.Steps[0].Rows, 2500)
	near("expected distinct guests", p.Steps[1].Requests, model.Distinct(2500, 50000))
	if p.Steps[1].Requests >= 2500 {
		t.Error("N-32: repeated ids are not counted once")
	}
}

func TestSupport(t *testing.T) {
	w := load(t, "nose-hotel.yaml")
	g := w.Graph
	view := table(t, g, "Room.Hotel Hotel.PointsOfInterest", "Room.RoomFloor|PointOfInterest.POIID Hotel.HotelID Room.RoomID|Room.RoomRate")
	for _, c := range []struct {
		name, write string
		table       *model.Table
		want        []string // support queries
		steps       []plan.Kind
		modifies    bool
	}{
		{"N-39 figures 11 and 12", "UPDATE Room FROM Room.Reservations.Guest SET RoomRate = ?rate1 WHERE Guest.GuestID = ?id AND Room.RoomRate = ?rate2", view,
			[]string{"SELECT Room.RoomID FROM Room.Reservations.Guest WHERE Guest.GuestID = ?id AND Room.RoomRate = ?rate2",
				"SELECT Room.RoomFloor, Hotel.HotelID, PointOfInterest.POIID FROM Room.Hotel.PointsOfInterest WHERE Room.RoomID = ?"},
			[]plan.Kind{plan.Put}, true},
		{"N-37 an attribute that the table does not hold", "UPDATE Room SET RoomNumber = ? WHERE Room.RoomID = ?", view, nil, nil, false},
		{"N-38 nothing is missing", "UPDATE Hotel SET HotelName = ? WHERE Hotel.HotelID = ?", table(t, g, "", "Hotel.HotelID||Hotel.HotelName"), nil, []plan.Kind{plan.Put}, true},
		{"N-40 an attribute of the key: delete and insert", "UPDATE Hotel SET HotelCity = ? WHERE Hotel.HotelID = ?", table(t, g, "", "Hotel.HotelCity|Hotel.HotelID|Hotel.HotelName"),
			[]string{"SELECT Hotel.HotelCity, Hotel.HotelName FROM Hotel WHERE Hotel.HotelID = ?"}, []plan.Kind{plan.Remove, plan.Put}, true},
		{"N-41 DELETE", "DELETE FROM Hotel WHERE Hotel.HotelID = ?", table(t, g, "", "Hotel.HotelCity|Hotel.HotelID|Hotel.HotelName"),
			[]string{"SELECT Hotel.HotelCity FROM Hotel WHERE Hotel.HotelID = ?"}, []plan.Kind{plan.Remove}, true},
		{"N-41 INSERT without CONNECT", "INSERT INTO Hotel SET HotelCity = ?", table(t, g, "", "Hotel.HotelCity|Hotel.HotelID|Hotel.HotelName"), nil, []plan.Kind{plan.Put}, true},
		{"N-41 INSERT without CONNECT, a table over a relationship", "INSERT INTO PointOfInterest SET POIName = ?", view, nil, nil, false},
		{"N-41 INSERT with CONNECT", "INSERT INTO PointOfInterest SET POIName = ? AND CONNECT TO Hotels(?)", view,
			[]string{"SELECT Room.RoomFloor, Room.RoomID, Room.RoomRate FROM Hotel.Rooms WHERE Hotel.HotelID = ?"}, []plan.Kind{plan.Put}, true},
		{"N-42 CONNECT over the table's edge", "CONNECT Hotel(?) TO PointsOfInterest(?)", view,
			[]string{"SELECT Room.RoomFloor, Room.RoomID, Room.RoomRate FROM Hotel.Rooms WHERE Hotel.HotelID = ?"}, []plan.Kind{plan.Put}, true},
		{"N-42 DISCONNECT", "DISCONNECT Hotel(?) FROM PointsOfInterest(?)", view,
			[]string{"SELECT Room.RoomFloor, Room.RoomID FROM Hotel.Rooms WHERE Hotel.HotelID = ?"}, []plan.Kind{plan.Remove}, true},
		{"N-42 CONNECT over another edge", "CONNECT Guest(?) TO Reservations(?)", view, nil, nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			write := parse(t, g, c.write).Write
			if got := plan.Modifies(write, c.table); got != c.modifies {
				t.Fatalf("modifies: %v", got)
			}
			if !c.modifies {
				return
			}
			support := plan.SupportQueries(write, c.table)
			if len(support) != len(c.want) {
				t.Fatalf("support queries %v, want %q", support, c.want)
			}
			for i, s := range support {
				want := parse(t, g, c.want[i]).Query
				s.Query.Known = nil
				if s.Query.Key() != want.Key() {
					t.Errorf("support query %s, want %s", s.Query, want)
				}
			}
			var kinds []plan.Kind
			for _, s := range plan.WriteSteps(write, c.table) {
				kinds = append(kinds, s.Kind)
			}
			if fmt.Sprint(kinds) != fmt.Sprint(c.steps) {
				t.Errorf("steps %v, want %v", kinds, c.steps)
			}
		})
	}
	t.Run("N-39 the second query is executed once for each room", func(t *testing.T) {
		write := parse(t, g, "UPDATE Room FROM Room.Reservations.Guest SET RoomRate = ? WHERE Guest.GuestID = ?").Write
		if s := plan.SupportQueries(write, view); s[0].Times != 1 || math.Abs(s[1].Times-5) > 1e-9 {
			t.Errorf("executed %g and %g times, want 1 and 5: a guest has 5 reservations", s[0].Times, s[1].Times)
		}
	})
	t.Run("N-41 one row for each room of the hotel", func(t *testing.T) {
		write := parse(t, g, "INSERT INTO PointOfInterest SET POIName = ? AND CONNECT TO Hotels(?)").Write
		if s := plan.WriteSteps(write, view); s[0].Rows != 100 {
			t.Errorf("%g rows, want 100", s[0].Rows)
		}
	})
	t.Run("bytes are of what is put", func(t *testing.T) {
		whole := table(t, g, "", "Hotel.HotelID||Hotel.HotelName Hotel.HotelCity Hotel.HotelAddress")
		update := plan.WriteSteps(parse(t, g, "UPDATE Hotel SET HotelCity = ? WHERE Hotel.HotelID = ?").Write, whole)[0]
		part := table(t, g, "", "Hotel.HotelID||Hotel.HotelCity")
		if len(update.Fields) != 2 || math.Abs(update.Bytes-part.RowBytes()) > 1e-9 {
			t.Errorf("an update puts %v, %g bytes, want %g", update.Fields, update.Bytes, part.RowBytes())
		}
		insert := plan.WriteSteps(parse(t, g, "INSERT INTO Hotel SET HotelName = ?, HotelCity = ?, HotelAddress = ?").Write, whole)[0]
		moved := plan.WriteSteps(parse(t, g, "UPDATE Hotel SET HotelCity = ? WHERE Hotel.HotelID = ?").Write, table(t, g, "", "Hotel.HotelCity|Hotel.HotelID|Hotel.HotelName Hotel.HotelAddress"))[1]
		if math.Abs(insert.Bytes-whole.RowBytes()) > 1e-9 || math.Abs(moved.Bytes-whole.RowBytes()) > 1e-9 {
			t.Errorf("an insert and a row that moves put %g and %g bytes, want %g", insert.Bytes, moved.Bytes, whole.RowBytes())
		}
	})
	t.Run("N-44 more support queries the longer the graph", func(t *testing.T) {
		write := parse(t, g, "UPDATE Guest SET GuestName = ? WHERE Guest.GuestID = ?").Write
		asked := map[string]bool{}
		for _, x := range []*model.Table{
			table(t, g, "", "Guest.GuestID||Guest.GuestName"),
			table(t, g, "Reservation.Guest", "Reservation.ResID|Guest.GuestID|Guest.GuestName"),
			table(t, g, "Reservation.Guest Reservation.Room", "Room.RoomID|Reservation.ResID|Guest.GuestName"),
			table(t, g, "Reservation.Guest Reservation.Room Room.Hotel", "Hotel.HotelID|Reservation.ResID|Guest.GuestName"),
			table(t, g, "Reservation.Guest Reservation.Room Room.Hotel", "Hotel.HotelCity|Reservation.ResID|Guest.GuestName"),
		} {
			for _, s := range plan.SupportQueries(write, x) {
				asked[s.Query.Key()] = true
			}
		}
		if len(asked) < 4 { // a query graph of 3 edges; the table of the guest alone needs none
			t.Errorf("%d support queries, want 4 or more", len(asked))
		}
	})
}
