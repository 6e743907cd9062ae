package enumerate_test

import (
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/enumerate"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
)

func load(t testing.TB, name string) *workload.Workload {
	t.Helper()
	w, err := workload.Load("../../examples/designs/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func parse(t testing.TB, g *model.Graph, text string) *workload.Query {
	t.Helper()
	s, err := workload.Parse(g, text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return s.Query
}

// short is the notation of the paper, with values in any order.
func short(t *model.Table) string {
	sorted := *t
	sorted.Values = model.SortFields(append([]model.Field(nil), t.Values...))
	return sorted.String()
}

func pool(queries ...*workload.Query) map[string]bool {
	p := enumerate.NewPool(nil)
	for _, q := range queries {
		p.Query(q, true)
	}
	p.Combine()
	all := map[string]bool{}
	for _, t := range p.Tables {
		all[short(t)] = true
	}
	return all
}

func TestFigures(t *testing.T) {
	w := load(t, "nose-hotel.yaml")
	g := w.Graph
	query := func(id string) *workload.Query { return w.Statement(id).Query }
	for _, c := range []struct {
		name  string
		query *workload.Query
		want  []string
	}{
		{"N-9 N-10 figure 3", query("fig3"), []string{
			"[HotelCity, AmenityName][RoomRate, AmenityID, HotelID, RoomID, ResID, GuestID][GuestEmail, GuestName]",
			"[HotelCity, AmenityName][RoomRate, AmenityID, HotelID, RoomID, ResID, GuestID][]",
			"[GuestID][][GuestEmail, GuestName]",
		}},
		{"N-12 figure 7", query("fig7"), []string{
			"[HotelCity][AmenityID, RoomRate, RoomID][]",
			"[HotelCity][AmenityID, RoomID][]",
			"[HotelCity][HotelID][]",
			"[HotelID][AmenityID, RoomID][]",
			"[RoomID][][RoomRate]",
		}},
		{"N-11 N-12 figure 11", query("fig11"), []string{"[RoomFloor][POIID, HotelID, RoomID][RoomRate]"}},
		{"N-8 hotels of a city and state", parse(t, g, "SELECT Hotel.HotelAddress, Hotel.HotelPhone FROM Hotel WHERE Hotel.HotelCity = ? AND Hotel.HotelState = ? ORDER BY Hotel.HotelName"), []string{
			"[HotelCity, HotelState][HotelName, HotelID][HotelAddress, HotelPhone]",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := pool(c.query)
			for _, want := range c.want {
				if !got[want] {
					t.Errorf("%s is not among the %d candidates", want, len(got))
				}
			}
		})
	}
	t.Run("N-11 algorithm 1", func(t *testing.T) {
		got := enumerate.Materialize(query("fig11"), g.Entity("Room"))
		if got.String() != "[RoomFloor][POIID, HotelID, RoomID][RoomRate]" {
			t.Error(got)
		}
	})
}

func TestSection2(t *testing.T) {
	w := load(t, "nose-hotel.yaml")
	g := &model.Graph{Entities: []*model.Entity{w.Graph.Entity("PointOfInterest"), w.Graph.Entity("Hotel"), w.Graph.Entity("Guest")}, Relationships: []*model.Relationship{
		w.Graph.Relationship("hotel_poi"),
		{Name: "booked", From: w.Graph.Entity("Guest"), To: w.Graph.Entity("Hotel"), Kind: model.ManyToMany, Forward: "booked", Backward: "guests", Degree: 5},
	}}
	got := pool(
		parse(t, g, "SELECT PointOfInterest.POIName, PointOfInterest.POIDescription FROM PointOfInterest.Hotels.guests WHERE Guest.GuestID = ?"),
		parse(t, g, "SELECT PointOfInterest.POIName, PointOfInterest.POIDescription FROM PointOfInterest.Hotels WHERE Hotel.HotelID = ?"))
	// The paper's [GuestID][POIID][...] holds each point once for a guest; the query's bag semantics asks for it once for
	// each hotel, so that HotelID belongs to the key.
	for _, want := range []string{
		"[GuestID][HotelID, POIID][POIDescription, POIName]",
		"[GuestID][HotelID, POIID][]",
		"[POIID][][POIDescription, POIName]",
		"[GuestID][HotelID][]",
		"[HotelID][POIID][]",
	} {
		if !got[want] {
			t.Errorf("N-7: %s is not among the %d candidates", want, len(got))
		}
	}
}

func TestDecompose(t *testing.T) {
	w := load(t, "nose-hotel.yaml")
	g, q := w.Graph, w.Statement("fig3").Query
	for _, c := range []struct{ name, edge, prefix, remainder string }{
		{"N-14 edge 1", "reservation_guest",
			"SELECT Reservation.ResID FROM Reservation.Room.Hotel WHERE Hotel.HotelCity = ? AND Room.Amenity.AmenityName = ? AND Room.RoomRate > ?",
			"SELECT Guest.GuestName, Guest.GuestEmail FROM Guest WHERE Guest.Reservation.ResID = ?"},
		{"N-14 edge 2", "room_hotel",
			"SELECT Hotel.HotelID FROM Hotel WHERE Hotel.HotelCity = ?",
			"SELECT Guest.GuestName, Guest.GuestEmail FROM Guest.Reservation.Room.Hotel WHERE Hotel.HotelID = ? AND Room.RoomRate > ? AND Room.Amenity.AmenityName = ?"},
		{"N-14 edge 3", "room_amenity",
			"SELECT Amenity.AmenityID FROM Amenity WHERE Amenity.AmenityName = ?",
			"SELECT Guest.GuestName, Guest.GuestEmail FROM Guest.Reservation.Room.Hotel WHERE Hotel.HotelCity = ? AND Room.Amenity.AmenityID = ? AND Room.RoomRate > ?"},
	} {
		t.Run(c.name, func(t *testing.T) {
			prefix, remainder, ok := enumerate.Decompose(q, g.Relationship(c.edge))
			if !ok {
				t.Fatal("the prefix has no equality")
			}
			if want := parse(t, g, c.prefix); prefix.Key() != want.Key() {
				t.Errorf("prefix %s, want %s", prefix, want)
			}
			if want := parse(t, g, c.remainder); remainder.Key() != want.Key() {
				t.Errorf("remainder %s, want %s", remainder, want)
			}
		})
	}
}

// TestCount: a path of k edges, with an equality at its end, has 2^(k+1)-1 views without relaxation.
func TestCount(t *testing.T) {
	g := &model.Graph{}
	for i, name := range []string{"A", "B", "C", "D", "E"} {
		id, value := &model.Attribute{Name: name + "id", Type: "uuid"}, &model.Attribute{Name: name + "value", Type: "text", Distinct: 10}
		g.Entities = append(g.Entities, &model.Entity{Name: name, Count: 100, Key: []*model.Attribute{id}, Attributes: []*model.Attribute{id, value}})
		if i > 0 {
			g.Relationships = append(g.Relationships, &model.Relationship{Name: g.Entities[i-1].Name + name, From: g.Entities[i-1], To: g.Entities[i],
				Kind: model.ManyToMany, Forward: "next", Backward: "previous", Degree: 3})
		}
	}
	var count func(q *workload.Query, cut map[*model.Relationship]bool, seen map[string]bool) int
	count = func(q *workload.Query, cut map[*model.Relationship]bool, seen map[string]bool) int {
		view := enumerate.Materialize(q, nil)
		if view == nil || view.Validate() != nil {
			t.Fatalf("%s has no view", q)
		}
		seen[view.ID()] = true
		n := 1
		for _, edge := range q.Tree.Edges {
			prefix, remainder, ok := enumerate.Decompose(q, edge)
			if cut[edge] || !ok {
				continue
			}
			seen[enumerate.Materialize(prefix, nil).ID()] = true
			inner := map[*model.Relationship]bool{edge: true}
			for r := range cut {
				inner[r] = true
			}
			n += 1 + count(remainder, inner, seen)
		}
		return n
	}
	path := "A"
	for k := range 5 {
		last := g.Entities[k].Name
		q := parse(t, g, "SELECT A.Avalue FROM "+path+" WHERE "+last+"."+last+"value = ?")
		seen := map[string]bool{}
		if got, want := count(q, nil, seen), 1<<(k+1)-1; got != want {
			t.Errorf("N-17: %d edges give %d views, want %d", k, got, want)
		}
		p := enumerate.NewPool(nil)
		p.Query(q, false)
		have := map[string]bool{}
		for _, x := range p.Tables {
			have[x.ID()] = true
		}
		for id := range seen {
			if !have[id] {
				t.Errorf("N-13: %s is not in the pool", id)
			}
		}
		path += ".next"
	}
}

// TestRelax: conditions and ORDER BY fields that leave the key become values, or are left to other tables, as long as an
// equality remains; what is selected may be left to a table by key (N-15, N-16).
func TestRelax(t *testing.T) {
	g := load(t, "nose-hotel.yaml").Graph
	got := pool(parse(t, g, "SELECT Hotel.HotelName FROM Hotel WHERE Hotel.HotelCity = ? AND Hotel.HotelState = ? AND Hotel.HotelZip > ? ORDER BY Hotel.HotelPhone"))
	for _, want := range []string{
		"[HotelCity, HotelState][HotelZip, HotelID][HotelName, HotelPhone]", // N-16: without the order
		"[HotelCity, HotelState][HotelPhone, HotelID][HotelName, HotelZip]", // N-16: without the range
		"[HotelCity, HotelState][HotelID][HotelName, HotelPhone, HotelZip]", // N-16: without both
		"[HotelState][HotelZip, HotelID][HotelCity, HotelName, HotelPhone]", // N-16: without an equality
		"[HotelCity][HotelID][HotelName, HotelPhone, HotelState, HotelZip]", // N-16: with one equality alone
		"[HotelCity, HotelState][HotelZip, HotelID][]",                      // N-15: keys
		"[HotelID][][HotelName]", // N-15: and attributes by key
	} {
		if !got[want] {
			t.Errorf("%s is not among the %d candidates", want, len(got))
		}
	}
	for x := range got {
		if strings.HasPrefix(x, "[HotelZip]") || strings.HasPrefix(x, "[HotelPhone]") {
			t.Errorf("N-16: %s is keyed by no equality", x)
		}
	}
}

// TestSupportOfPath: an update on the first entity of a path of k edges needs k+1 tables at least for what it must know of
// the path, each of which needs others: there is a by-key table between each two neighbours (N-44), and rounds go on until
// there is nothing new (N-43).
func TestSupportOfPath(t *testing.T) {
	for k := 1; k <= 4; k++ {
		g := chain(k+1, 2)
		first, last := g.Entities[0], g.Entities[k]
		tree, err := model.NewTree(first, g.Relationships...)
		if err != nil {
			t.Fatal(err)
		}
		key := model.Field{Entity: first, Attribute: first.Attributes[1]}
		w := &workload.Workload{Graph: g, Statements: []*workload.Statement{
			{ID: "read", Weight: 1, Query: &workload.Query{Tree: tree, Select: []model.Field{{Entity: last, Attribute: last.Attributes[2]}},
				Where: []workload.Predicate{{Field: key, Op: workload.Equal, Value: "?"}}}},
			{ID: "write", Weight: 1, Write: &workload.Write{Kind: workload.Update, Entity: first, Tree: model.Tree{Entities: []*model.Entity{first}}, Set: []model.Field{key},
				Where: []workload.Predicate{{Field: first.KeyFields()[0], Op: workload.Equal, Value: "?"}}}},
		}}
		p := enumerate.Workload(w, enumerate.Options{})
		between := 0
		for i, e := range g.Entities[:k] {
			for _, x := range p.Tables {
				if len(x.Tree.Entities) == 2 && sameFields(x.Partition, e.KeyFields()) && x.Has(g.Entities[i+1].KeyFields()[0]) {
					between++
					break
				}
			}
		}
		if between != k {
			t.Errorf("N-44: %d edges: %d tables between neighbours", k, between)
		}
		for _, x := range p.Tables { // the fix-point: every support query of every candidate has a plan
			if !plan.Modifies(w.Statements[1].Write, x) {
				continue
			}
			for _, s := range plan.SupportQueries(w.Statements[1].Write, x) {
				if space, err := plan.NewSpace(s.Query, p.Tables, plan.Means{}); err != nil || len(space.Arcs) == 0 {
					t.Errorf("N-43: %s needs %s, which nothing answers: %v", x, s.Query, err)
				}
			}
		}
	}
}

func TestCombine(t *testing.T) {
	g := load(t, "nose-hotel.yaml").Graph
	got := pool(parse(t, g, "SELECT Hotel.HotelName FROM Hotel WHERE Hotel.HotelID = ?"), parse(t, g, "SELECT Hotel.HotelPhone FROM Hotel WHERE Hotel.HotelID = ?"))
	if !got["[HotelID][][HotelName, HotelPhone]"] || len(got) != 4 {
		t.Errorf("N-19: %v", got)
	}
}

func TestSupportTwice(t *testing.T) {
	w := load(t, "eac.yaml")
	var got []string
	for _, x := range enumerate.Workload(w, enumerate.Options{}).Tables {
		got = append(got, short(x))
	}
	// [SessionID][...] answers what inserting a state into the view of Q2 needs; the table by player answers what
	// inserting a session into that one needs.
	for _, want := range []string{"[SessionID][][IsAdmin, PlayerID, ServerID]", "[PlayerID][][IsAdmin]",
		"[ServerID][ServerTimestamp, StateID][IsAdmin, PlayerID, PosX, PosY, PosZ]"} {
		if !strings.Contains(strings.Join(got, "\n"), want) {
			t.Errorf("N-43: %s is not among the %d candidates", want, len(got))
		}
	}
	again := enumerate.Workload(load(t, "eac.yaml"), enumerate.Options{})
	for i, x := range again.Tables {
		if short(x) != got[i] {
			t.Fatalf("another order the second time: %d is %s, was %s", i, x, got[i])
		}
	}
}

func TestSameContentOnly(t *testing.T) {
	g := load(t, "nose-hotel.yaml").Graph
	f := func(name string) model.Field {
		field, err := g.Field(name)
		if err != nil {
			t.Fatal(err)
		}
		return field
	}
	a, errA := model.NewTable(g, []model.Field{f("Hotel.HotelCity"), f("Hotel.HotelState")}, []model.Field{f("Hotel.HotelID")}, nil)
	b, errB := model.NewTable(g, []model.Field{f("Hotel.HotelState"), f("Hotel.HotelCity")}, []model.Field{f("Hotel.HotelID")}, nil)
	c, errC := model.NewTable(g, []model.Field{f("Hotel.HotelState")}, []model.Field{f("Hotel.HotelCity"), f("Hotel.HotelID")}, nil)
	if errA != nil || errB != nil || errC != nil {
		t.Fatal(errA, errB, errC)
	}
	p := enumerate.NewPool(nil)
	if !p.Add(a) || p.Add(b) || !p.Add(c) {
		t.Errorf("%d tables, want 2", len(p.Tables))
	}
}

func TestLookUps(t *testing.T) {
	w := load(t, "hotel.yaml")
	p := enumerate.Workload(w, enumerate.Options{Allow: func(x *model.Table) bool { return x.Base != nil }})
	var got []string
	for _, x := range p.Tables {
		got = append(got, x.Base.Name+" "+x.String())
	}
	want := "reservations [guest_id][room_id, start_date, reservation_id][]"
	if !strings.Contains(strings.Join(got, "\n"), want) {
		t.Errorf("no %s in %q", want, got)
	}
}
