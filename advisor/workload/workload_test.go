package workload_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/model"
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

func TestParse(t *testing.T) {
	g := load(t, "nose-hotel.yaml").Graph
	for _, c := range []struct{ name, text, want string }{
		{"N-36 figure 3", "SELECT Guest.GuestName, Guest.GuestEmail FROM Guest.Reservation.Room.Hotel WHERE Hotel.HotelCity = ?city AND Room.Amenity.AmenityName = ?amenity AND Room.RoomRate > ?rate",
			"SELECT Guest.GuestName, Guest.GuestEmail FROM Guest.Reservations.Room.Hotel, Guest.Reservations.Room.Amenities WHERE Hotel.HotelCity = ?city AND Amenity.AmenityName = ?amenity AND Room.RoomRate > ?rate"},
		{"N-36 figure 10 INSERT", "INSERT INTO Reservation SET ResEndDate = ?date", "INSERT INTO Reservation SET ResEndDate = ?, ResID = ?"},
		{"N-36 figure 10 DELETE", "DELETE FROM Guest WHERE Guest.GuestID = ?guestID", "DELETE FROM Guest WHERE Guest.GuestID = ?guestID"},
		{"N-36 figure 10 UPDATE", "UPDATE Reservation FROM Reservation.Guest SET Reservation.ResEndDate = ? WHERE Guest.GuestID = ?guestID",
			"UPDATE Reservation FROM Reservation.Guest SET ResEndDate = ? WHERE Guest.GuestID = ?guestID"},
		{"N-36 figure 10 CONNECT (User of the figure is the model's Guest)", "CONNECT Guest(?userID) TO Reservations(?resID)", "CONNECT Guest(?) TO Reservations(?)"},
		{"N-36 figure 10 DISCONNECT", "DISCONNECT Guest(?userID) FROM Reservations(?resID)", "DISCONNECT Guest(?) FROM Reservations(?)"},
		{"N-36 figure 11 query", "SELECT Room.RoomRate FROM Room.Hotel.PointsOfInterest WHERE Room.RoomFloor = ?floor AND PointsOfInterest.POIID = ?poiID",
			"SELECT Room.RoomRate FROM Room.Hotel.PointsOfInterest WHERE Room.RoomFloor = ?floor AND PointOfInterest.POIID = ?poiID"},
		{"N-36 figure 11 update", "UPDATE Room FROM Room.Reservations.Guest SET RoomRate = ?rate1 WHERE Guest.GuestID = ?id AND Room.RoomRate = ?rate2",
			"UPDATE Room FROM Room.Reservations.Guest SET RoomRate = ? WHERE Guest.GuestID = ?id AND Room.RoomRate = ?rate2"},
		{"N-36 INSERT with CONNECT", "INSERT INTO Reservation SET ResEndDate = ? AND CONNECT TO Guest(?), Room(?)", "INSERT INTO Reservation SET ResEndDate = ?, ResID = ? AND CONNECT TO Guest(?), Room(?)"},
		{"order, limit, lower case, literals", "select Hotel.HotelName from Hotel where Hotel.HotelCity = 'New ''York' and Hotel.HotelZip >= -1.5 order by Hotel.HotelName asc limit 10",
			"SELECT Hotel.HotelName FROM Hotel WHERE Hotel.HotelCity = 'New ''York' AND Hotel.HotelZip >= -1.5 ORDER BY Hotel.HotelName LIMIT 10"},
		{"all attributes", "SELECT Amenity.* FROM Amenity WHERE Amenity.AmenityID = ?", "SELECT Amenity.AmenityID, Amenity.AmenityName FROM Amenity WHERE Amenity.AmenityID = ?"},
		{"GIVEN", "CONNECT Reservation(?) TO Guest(?) GIVEN Room.RoomID, Reservation.ResStartDate", "CONNECT Reservation(?) TO Guest(?) GIVEN Room.RoomID, Reservation.ResStartDate"},
		{"two conditions on one field", "SELECT Room.RoomID FROM Room.Hotel WHERE Hotel.HotelID = ? AND Room.RoomRate > ? AND Room.RoomRate <= ?",
			"SELECT Room.RoomID FROM Room.Hotel WHERE Hotel.HotelID = ? AND Room.RoomRate > ? AND Room.RoomRate <= ?"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := workload.Parse(g, c.text)
			if err != nil {
				t.Fatal(err)
			}
			if got := s.String(); got != c.want {
				t.Fatalf("got  %s\nwant %s", got, c.want)
			}
			again, err := workload.Parse(g, s.String())
			if err != nil || again.String() != c.want {
				t.Errorf("does not parse back: %v, %v", again, err)
			}
		})
	}
}

func TestParseErrors(t *testing.T) {
	g := load(t, "nose-hotel.yaml").Graph
	for _, c := range []struct{ name, text, want string }{
		{"unknown entity", "SELECT Hotl.HotelName FROM Hotl WHERE Hotl.HotelID = ?", `column 28: no entity is called "Hotl"; nearest is "Hotel"`},
		{"unknown attribute", "SELECT Hotel.HotelNam FROM Hotel WHERE Hotel.HotelID = ?", `column 14: no attribute of Hotel is called "HotelNam"; nearest is "HotelName"`},
		{"unknown relationship", "SELECT Hotel.HotelName FROM Hotel.Room2 WHERE Hotel.HotelID = ?", `nearest is "Rooms"`},
		{"not in the path", "SELECT Guest.GuestName FROM Hotel WHERE Hotel.HotelID = ?", `no entity or role of Hotel is called "Guest"`},
		{"a way back", "SELECT Room.RoomID FROM Room.Reservations.Room WHERE Room.RoomID = ?", ""},
		{"OR", "SELECT Hotel.HotelName FROM Hotel WHERE Hotel.HotelID = ? OR Hotel.HotelID = ?", `unexpected "OR"`},
		{"limit", "SELECT Hotel.HotelName FROM Hotel WHERE Hotel.HotelID = ? LIMIT 0", "LIMIT takes"},
		{"empty", "", "expected SELECT"},
		{"a string without end", "SELECT Hotel.HotelName FROM Hotel WHERE Hotel.HotelCity = 'x", "has no end"},
		{"a sign", "SELECT ; FROM Hotel", "unexpected ';'"},
		{"an attribute of another entity", "UPDATE Room FROM Room.Hotel SET Hotel.HotelName = ? WHERE Room.RoomID = ?", "not an attribute of Room"},
		{"too long", strings.Repeat("SELECT ", 10000), "at most 65536 bytes"},
		{"no key", "CONNECT Guest() TO Reservations(?)", "expected the key of Guest"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := workload.Parse(g, c.text)
			if c.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("parsed to %v, error %v, want %q", s, err, c.want)
			}
			var syntax *workload.SyntaxError
			if !errors.As(err, &syntax) {
				t.Errorf("%T is no *SyntaxError", err)
			}
		})
	}
}

func TestFiles(t *testing.T) {
	for _, name := range []string{"hotel.yaml", "eac.yaml", "nose-hotel.yaml"} {
		t.Run(name, func(t *testing.T) {
			w := load(t, name)
			var saved, again bytes.Buffer
			if err := workload.Save(&saved, w); err != nil {
				t.Fatal(err)
			}
			back, err := workload.Read("saved.yaml", saved.Bytes())
			if err != nil {
				t.Fatalf("%v\n%s", err, saved.String())
			}
			if err := workload.Save(&again, back); err != nil {
				t.Fatal(err)
			}
			if saved.String() != again.String() {
				t.Error("saved, read and saved again it is another file")
			}
			if len(back.Statements) != len(w.Statements) || len(back.Tables) != len(w.Tables) {
				t.Errorf("%d statements and %d tables, want %d and %d", len(back.Statements), len(back.Tables), len(w.Statements), len(w.Tables))
			}
		})
	}
}

func TestFileErrors(t *testing.T) {
	good, err := os.ReadFile(filepath.Clean(designs + "hotel.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, from, to, want string }{
		{"unknown key", "weight: 2.5", "wieght: 2.5", `unknown field "wieght"; nearest is "weight"`},
		{"key in another place", "name: hotel\n", "name: hotel\nentities: []\n", `hotel.yaml:2:1: unknown field "entities"; it belongs under "model"`},
		{"syntax", "FROM Hotel WHERE Hotel.city = ?\n  weight", "FROM Hotel WHER Hotel.city = ?\n  weight", `hotel.yaml:49:82: statement hotels-of-city: unexpected "WHER"`},
		{"name in a statement", "Hotel.name, Hotel.address", "Hotel.nam, Hotel.address", `no attribute of Hotel is called "nam"; nearest is "name"`},
		{"statement twice", "- id: cancel", "- id: book", "statement book is there twice"},
		{"weight", "weight: 2.5", "weight: -1", "weight -1 is not a rate"},
		{"table's field", "partition: [Guest.guest_id]", "partition: [Guest.gest_id]", `nearest is "guest_id"`},
		{"table twice", "name: rooms\n", "name: hotels\n", "table hotels is there twice"},
		{"index", "field: Hotel.city", "field: Guest.name", "not one of its fields"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Replace(string(good), c.from, c.to, 1)
			if text == string(good) {
				t.Fatal("the test changes nothing")
			}
			_, err := workload.Read("hotel.yaml", []byte(text))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error %v, want %q", err, c.want)
			}
			var file *model.FileError
			if !errors.As(err, &file) || file.Line == 0 {
				t.Errorf("%v does not name its place", err)
			}
		})
	}
}

func TestMixes(t *testing.T) {
	w, err := workload.Read("mixes", []byte(`
name: mixes
model:
  entities: [{name: A, count: 1, key: [id], attributes: [{name: id, type: uuid}]}]
mix: day
mixes: [day, night]
statements:
- {id: a, text: 'SELECT A.id FROM A WHERE A.id = ?', weights: {day: 3, night: 1}}
- {id: b, text: 'DELETE FROM A WHERE A.id = ?', weights: {night: 2}}
`))
	if err != nil {
		t.Fatal(err)
	}
	if w.Statements[0].Weight != 3 || w.Statements[1].Weight != 0 {
		t.Errorf("by day %g and %g", w.Statements[0].Weight, w.Statements[1].Weight)
	}
	if err := w.SetMix("night"); err != nil || w.Statements[0].Weight != 1 || w.Statements[1].Weight != 2 {
		t.Errorf("by night %g and %g, %v", w.Statements[0].Weight, w.Statements[1].Weight, err)
	}
	if err := w.SetMix("nigth"); err == nil || !strings.Contains(err.Error(), `nearest is "night"`) {
		t.Error(err)
	}
}

func FuzzParse(f *testing.F) {
	var g *model.Graph
	for _, name := range []string{"hotel.yaml", "nose-hotel.yaml"} {
		w := load(f, name)
		g = w.Graph
		for _, s := range w.Statements {
			f.Add(s.String())
		}
	}
	for _, text := range []string{"CONNECT Guest(?) TO Reservations(?)", "SELECT Guest.* FROM Guest, Guest.Reservations.Room WHERE Room.RoomID >= 'a''b'", "INSERT INTO Hotel SET HotelName = ? AND CONNECT TO PointsOfInterest(?)", "SELECT \xff.é FROM ?", "UPDATE Room SET RoomRate = 1.2.3"} {
		f.Add(text)
	}
	own := parseGraph(f, company)
	for _, text := range []string{
		"SELECT Employee.manager.name, count(*) FROM Employee.friends AS a, a.manager WHERE a.id IN ? ITEMS 3 GROUP BY Employee.manager.name ORDER BY manager.name DESC LIMIT 2 PER manager.name LIMIT 5",
		"SELECT DISTINCT Employee#2.id FROM Employee AS Employee#3.friends AS Employee#2 WHERE Employee#2.name LIKE 'a%' AND Employee.salary BETWEEN 1 AND ?x AND office.city <> '' -- x",
		"UPDATE Employee#2 FROM Employee.manager SET salary = salary -1, name = ? WHERE Employee.id IN (?, 2)", "INSERT INTO Employee AND CONNECT TO manager(?), reports(?)",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if s, err := workload.Parse(own, text); err == nil {
			if back, err := workload.Parse(own, s.String()); err != nil || back.String() != s.String() {
				t.Fatalf("%q prints as %q, and that as %v: %v", text, s, back, err)
			}
		}
		s, err := workload.Parse(g, text)
		if err != nil {
			return
		}
		printed := s.String()
		again, err := workload.Parse(g, printed)
		if err != nil {
			t.Fatalf("%q prints as %q, which does not parse: %v", text, printed, err)
		}
		if again.String() != printed {
			t.Fatalf("%q prints as %q and then as %q", text, printed, again)
		}
	})
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("name: x\nmodel:\n  entities: [{name: A, count: 1, key: [id], attributes: [{name: id, type: uuid}]}]\nstatements:\n- {id: a, text: 'SELECT A.id FROM A WHERE A.id = ?', weight: 1}\ntables:\n- {name: a, partition: [A.id]}\n"))
	good, err := os.ReadFile("testdata/good.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte("name: &a [*a]\nmodel: {entities: []}\n"))
	f.Add([]byte("model: 1e400\nstatements: [{id: {}, text: 3}]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		w, err := workload.Read("fuzz", data)
		if err != nil {
			return
		}
		if err := w.Graph.Validate(); err != nil {
			t.Fatalf("read, but not valid: %v", err)
		}
		var saved bytes.Buffer
		if err := workload.Save(&saved, w); err != nil {
			t.Fatal(err)
		}
		if _, err := workload.Read("saved", saved.Bytes()); err != nil {
			t.Fatalf("%v\n%s", err, saved.String())
		}
	})
}
