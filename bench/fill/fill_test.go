package fill_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/bench/fill"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/planrun"
)

const hotels = `
name: hotels
model:
  entities:
  - {name: Hotel, count: 2, key: [HotelID], attributes: [{name: HotelID, type: int}, {name: City, type: text, absent: 0.5}]}
  - {name: Room, count: 3, key: [RoomID], attributes: [{name: RoomID, type: int}, {name: Rate, type: double}, {name: Photo, type: blob, absent: 0.3}]}
  relationships:
  - {name: room_hotel, from: Room, to: Hotel, kind: "n:1", forward: Hotel, backward: Rooms}
statements:
- {id: rates, text: "SELECT Room.Rate FROM Room.Hotel WHERE Hotel.City = ?", weight: 1}
schemas:
  all:
  - {name: hotels, partition: [Hotel.HotelID], values: [Hotel.City]}
  - {name: rooms, paths: [Room.Hotel], partition: [Room.RoomID], values: [Hotel.HotelID, Room.Rate, Room.Photo]}
  - {name: rooms_by_city, paths: [Room.Hotel], partition: [Hotel.City], clustering: [Room.RoomID], values: [Room.Rate, Room.Photo]}
`

// memory is a session that knows some tables.
type memory struct {
	exec.Session
	tables map[string]map[string][][]byte // by name and column
	err    error
}

func (m *memory) Scan(_ context.Context, q exec.Query, row func([][]byte) error) error {
	if m.err != nil {
		return m.err
	}
	list, from, _ := strings.Cut(strings.TrimPrefix(q.Text, "SELECT "), " FROM ")
	table := m.tables[from]
	names := strings.Split(list, ", ")
	for i := range table[names[0]] {
		var cells [][]byte
		for _, n := range names {
			cells = append(cells, table[n][i])
		}
		if err := row(cells); err != nil {
			return err
		}
	}
	return nil
}

func cells(t *testing.T, kind string, values ...any) (list [][]byte) {
	t.Helper()
	for _, v := range values {
		cell, err := planrun.Encode(kind, v)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, cell)
	}
	return list
}

func setting(t *testing.T) (tables map[string]*model.Table, session *memory, hotel model.Field) {
	t.Helper()
	w, err := workload.Read("hotels.yaml", []byte(hotels))
	if err != nil {
		t.Fatal(err)
	}
	tables = map[string]*model.Table{}
	for _, x := range w.Schemas["all"] {
		x.Keyspace = "app"
		tables[x.Name] = x
	}
	session = &memory{tables: map[string]map[string][][]byte{
		"app.hotels": {"hotel_id": cells(t, "int", 1, 2, 3), "city": cells(t, "text", "Rome", "", nil)},
		"app.rooms": {"room_id": cells(t, "int", 10, 11, 12, 13), "hotel_id": cells(t, "int", 1, 2, 1, 3),
			"rate": cells(t, "double", 1.5, nil, 2.5, 3.5), "photo": {{1}, {}, nil, {2}}},
	}}
	return tables, session, tables["hotels"].Partition[0]
}

// W-27: the complement of a target is read out of tables that have its rows among them. Rows without a value of the key, and
// those whose partition key would be empty, are none of the table; other values may be empty or missing.
func TestRowsAreJoined(t *testing.T) {
	tables, session, hotel := setting(t)
	target := tables["rooms_by_city"]
	dir := t.TempDir()
	rows, err := fill.Read(context.Background(), session, target, []fill.Source{{Table: tables["rooms"]}, {Table: tables["hotels"], On: []model.Field{hotel}}}, fill.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	if err := rows.Contents(target, func(values []any) error { got = append(got, fmt.Sprint(values...)); return nil }); err != nil {
		t.Fatal(err)
	}
	slices.Sort(got)
	if want := []string{"Rome10 1.5 [1]", "Rome12 2.5 <nil>"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if rows.Scanned != 7 {
		t.Errorf("%d rows were scanned, not 7", rows.Scanned)
	}
	if err := rows.Contents(tables["rooms"], nil); err == nil {
		t.Error("rows of another table were had")
	}
	if err := rows.Close(); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%v is left behind", left)
	}
}

func TestEmptyIsNotMissing(t *testing.T) {
	tables, session, _ := setting(t)
	rows, err := fill.Read(context.Background(), session, tables["rooms"], []fill.Source{{Table: tables["rooms"]}}, fill.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	photos := map[int64]any{}
	if err := rows.Contents(tables["rooms"], func(values []any) error { photos[values[0].(int64)] = values[3]; return nil }); err != nil {
		t.Fatal(err)
	}
	if b, ok := photos[11].([]byte); !ok || b == nil {
		t.Errorf("an empty value came out as %#v", photos[11])
	}
	if photos[12] != nil {
		t.Errorf("a missing value came out as %#v", photos[12])
	}
}

func TestSourcesMustBeThoseOfTheTarget(t *testing.T) {
	tables, session, hotel := setting(t)
	target := tables["rooms_by_city"]
	for name, sources := range map[string][]fill.Source{
		"a field that none has":       {{Table: tables["rooms"]}},
		"no join":                     {{Table: tables["rooms"]}, {Table: tables["hotels"]}},
		"joined by what is not there": {{Table: tables["hotels"]}, {Table: target, On: []model.Field{hotel}}},
	} {
		var wrong *fill.PlanError
		if _, err := fill.Read(context.Background(), session, target, sources, fill.Options{Dir: t.TempDir()}); !errors.As(err, &wrong) {
			t.Errorf("%s: %v", name, err)
		}
	}
	gone := errors.New("gone")
	session.err = gone
	dir := t.TempDir()
	if _, err := fill.Read(context.Background(), session, target, []fill.Source{{Table: target}}, fill.Options{Dir: dir}); !errors.Is(err, gone) {
		t.Errorf("a session's error became %v", err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%v is left behind after an error", left)
	}
}
