// Package infertest makes snapshots, schemas and statistics for tests of the advisor: the hotel booking service of
// examples/hotel as it looks after a few minutes of traffic, and a builder for others. It is imported by tests only; it imports
// capture/... and advisor/solve.
package infertest

import (
	"fmt"
	"sort"
	"time"

	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/burst"
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/feed"
	"github.com/helenus-db/helenus/capture/histogram"
	"github.com/helenus-db/helenus/capture/schema"
)

// Start is when the traffic of all fixtures begins.
var Start = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// Traffic builds a snapshot.
type Traffic struct {
	Keyspace string
	Seconds  float64
	said     []capture.Statement
	feeds    []feed.Feed
	bursts   []burst.Pair
	sets     []burst.Template
}

// Say adds a statement: executions, their latency in microseconds and the rows of an answer. It returns the fingerprint.
func (t *Traffic) Say(text string, count, latency, rows uint64) string {
	fingerprint, normalised, st, err := cql.FingerprintText(text, t.Keyspace)
	if err != nil {
		panic(fmt.Sprintf("fixture %q: %v", text, err)) // a mistake in a test
	}
	s := capture.Statement{
		Fingerprint: fingerprint.String(), Keyspace: t.Keyspace, Kind: st.Kind().String(), Text: normalised, Count: count,
		Latency: spread(count, latency), Rows: spread(count, rows), Consistency: capture.TallyOf(map[string]uint64{"ONE": count}),
		First: Start, Last: Start.Add(time.Duration(t.Seconds * float64(time.Second))),
	}
	if tables := cql.Tables(st); len(tables) == 1 {
		s.Table = tables[0].Table
	}
	t.said = append(t.said, s)
	return s.Fingerprint
}

// spread is a distribution of count numbers about a middle: one in a hundred is four times as large.
func spread(count, middle uint64) histogram.Distribution {
	var h histogram.Histogram
	for i := range count {
		v := middle
		if i%100 == 99 {
			v *= 4
		}
		h.Add(v)
	}
	var d histogram.Distribution
	h.AddTo(&d)
	return d
}

// Feed adds a feed from a result column of one statement to the variable of another.
func (t *Traffic) Feed(from, fromTable, fromColumn, to, toTable, toColumn string, more feed.Feed) {
	more.From = feed.End{Fingerprint: from, Keyspace: t.Keyspace, Table: fromTable, Column: fromColumn}
	more.To = feed.End{Fingerprint: to, Index: more.To.Index, Keyspace: t.Keyspace, Table: toTable, Column: toColumn}
	t.feeds = append(t.feeds, more)
}

// Together adds that writes of two statements go together, always, with the places of the variables that are equal.
func (t *Traffic) Together(from, to string, equal ...[2]int) {
	if to < from {
		from, to = to, from
		for i := range equal {
			equal[i][0], equal[i][1] = equal[i][1], equal[i][0]
		}
	}
	p := burst.Pair{From: from, To: to, Writes: 100, Accompanied: 100, Tried: 100, Mean: 1}
	for _, e := range equal {
		p.Equal = append(p.Equal, burst.Equal{From: e[0], To: e[1], Share: 1, Same: true})
	}
	t.bursts = append(t.bursts, p)
	t.sets = append(t.sets, burst.Template{Count: 100, Writes: []burst.Member{{Fingerprint: from, Mean: 1, Most: 1}, {Fingerprint: to, Mean: 1, Most: 1}}})
}

// Snapshot is what was built.
func (t *Traffic) Snapshot() *capture.Snapshot {
	sort.Slice(t.said, func(i, j int) bool { return t.said[i].Fingerprint < t.said[j].Fingerprint })
	return &capture.Snapshot{
		From: Start, To: Start.Add(time.Duration(t.Seconds * float64(time.Second))), Statements: t.said, Feeds: t.feeds, Bursts: t.bursts, Templates: t.sets,
	}
}

// The statements of the hotel application.
const (
	GuestReservations = "SELECT room_id, start_date, reservation_id, end_date, status FROM reservations WHERE guest_id = ? ALLOW FILTERING"
	HotelsOfCity      = "SELECT hotel_id, name, address, phone FROM hotels WHERE city = ?"
	RoomsOfHotel      = "SELECT room_id, number FROM rooms WHERE hotel_id = ?"
	ArrivalsOfRoom    = "SELECT reservation_id, guest_id, end_date FROM reservations WHERE room_id = ? AND start_date = ?"
	ArrivingGuest     = "SELECT name, email FROM guests WHERE guest_id = ?"
	GuestByID         = "SELECT name, email, phone FROM guests WHERE guest_id = ?"
	Availability      = "SELECT start_date, end_date, status FROM reservations WHERE room_id = ? AND start_date >= ? AND start_date < ?"
	Book              = "INSERT INTO reservations (room_id, start_date, reservation_id, end_date, guest_id, status) VALUES (?, ?, ?, ?, ?, ?)"
	Cancel            = "DELETE FROM reservations WHERE room_id = ? AND start_date = ? AND reservation_id = ?"
	MoveBooking       = "UPDATE reservations SET guest_id = ? WHERE room_id = ? AND start_date = ? AND reservation_id = ?"
	Extend            = "UPDATE reservations SET end_date = ? WHERE room_id = ? AND start_date = ? AND reservation_id = ?"
	GuestChange       = "UPDATE guests SET email = ?, phone = ? WHERE guest_id = ?"
	CountGuests       = "SELECT count(*) FROM guests"
)

// Hotel is five minutes of the hotel application: 50 arrivals lists of 2 hotels with 20 rooms each, 120 searches by city, 60
// look-ups of a guest's reservations, bookings, and the rest.
func Hotel() *Traffic { return HotelWith(2_300) }

// HotelWith is Hotel with another latency of the read by index, microseconds: that of a larger cluster.
func HotelWith(index uint64) *Traffic {
	t := &Traffic{Keyspace: "hotel", Seconds: 300}
	t.Say(GuestReservations, 60, 280_000, 4)
	hotels := t.Say(HotelsOfCity, 170, index, 10)
	rooms := t.Say(RoomsOfHotel, 100, 1_000, 20)
	arrivals := t.Say(ArrivalsOfRoom, 2_000, 900, 1)
	guests := t.Say(ArrivingGuest, 830, 850, 1)
	t.Say(GuestByID, 600, 800, 1)
	t.Say(Availability, 300, 950, 3)
	t.Say(Book, 150, 1_100, 0)
	t.Say(Cancel, 30, 1_050, 0)
	t.Say(MoveBooking, 40, 1_100, 0)
	t.Say(Extend, 45, 1_080, 0)
	t.Say(GuestChange, 60, 1_020, 0)
	t.Say(CountGuests, 1, 900_000, 1)
	t.Feed(hotels, "hotels", "hotel_id", rooms, "rooms", "hotel_id",
		feed.Feed{Executions: 100, Hits: 100, Producers: 50, Followed: 50.0 / 170, PerExecution: 2, LagP50: 300, LagP99: 2_000, Shape: feed.NPlusOne, Confidence: 0.97})
	t.Feed(rooms, "rooms", "room_id", arrivals, "reservations", "room_id",
		feed.Feed{Executions: 2_000, Hits: 2_000, Decoys: 3, Producers: 100, Followed: 1, PerExecution: 20, LagP50: 400, LagP99: 6_000, Shape: feed.FanOut, Confidence: 0.99})
	t.Feed(arrivals, "reservations", "guest_id", guests, "guests", "guest_id",
		feed.Feed{Executions: 830, Hits: 830, Decoys: 1, Producers: 800, Followed: 0.4, PerExecution: 1.04, LagP50: 250, LagP99: 2_500, Shape: feed.Single, Confidence: 0.99})
	return t
}

// HotelSchema is the schema of the hotel application.
func HotelSchema() *schema.Schema {
	return &schema.Schema{Keyspaces: []schema.Keyspace{{
		Name: "hotel", Replication: map[string]string{"class": "SimpleStrategy", "replication_factor": "1"},
		Tables: []schema.Table{
			Table("hotel", "guests", "guest_id uuid", "", "name text", "email text", "phone text"),
			index(Table("hotel", "hotels", "hotel_id uuid", "", "name text", "city text", "address text", "phone text"), "hotels_by_city", "city"),
			Table("hotel", "reservations", "room_id uuid", "start_date date,reservation_id uuid", "end_date date", "guest_id uuid", "status text"),
			Table("hotel", "rooms", "hotel_id uuid", "room_id uuid", "number text", "rate double", "floor int"),
		},
	}}}
}

// HotelStatistics is what is in the tables of the hotel application.
func HotelStatistics() []schema.Stats {
	return []schema.Stats{
		Measured("hotel", "guests", 50_000, 50_000, "guest_id 50000 16", "name 48000 14", "email 50000 24", "phone 50000 12"),
		Measured("hotel", "hotels", 400, 400, "hotel_id 400 16", "name 400 18", "city 40 9", "address 400 26", "phone 400 12"),
		Measured("hotel", "reservations", 200_000, 8_000, "room_id 8000 16", "start_date 60 4", "reservation_id 200000 16", "end_date 74 4", "guest_id 49100 16", "status 3 9"),
		Measured("hotel", "rooms", 8_000, 400, "hotel_id 400 16", "room_id 8000 16", "number 100 3", "rate 60 8", "floor 9 4"),
	}
}

// Table makes a table: "name type" columns, separated by commas in the keys.
func Table(keyspace, name, partition, clustering string, columns ...string) schema.Table {
	t := schema.Table{Keyspace: keyspace, Name: name, ID: "id of " + keyspace + "." + name}
	add := func(kind schema.ColumnKind, position int, text string) {
		c := schema.Column{Kind: kind, Position: position}
		if _, err := fmt.Sscan(text, &c.Name, &c.Type); err != nil {
			panic(fmt.Sprintf("fixture column %q: %v", text, err)) // a mistake in a test
		}
		t.Columns = append(t.Columns, c)
	}
	for i, c := range split(partition) {
		add(schema.PartitionKey, i, c)
	}
	for i, c := range split(clustering) {
		add(schema.Clustering, i, c)
	}
	sort.Strings(columns)
	for _, c := range columns {
		add(schema.Regular, -1, c)
	}
	return t
}

func split(list string) []string {
	var out []string
	for from, i := 0, 0; i <= len(list); i++ {
		if i == len(list) || list[i] == ',' {
			if i > from {
				out = append(out, list[from:i])
			}
			from = i + 1
		}
	}
	return out
}

func index(t schema.Table, name, column string) schema.Table {
	t.Indexes = append(t.Indexes, schema.Index{Name: name, Kind: "COMPOSITES", Column: column, On: "values"})
	return t
}

// Measured makes statistics: "name distinct mean-bytes" columns.
func Measured(keyspace, name string, rows, partitions float64, columns ...string) schema.Stats {
	s := schema.Stats{Keyspace: keyspace, Table: name, Rows: rows, Partitions: partitions, Sampled: int(min(rows, 8_000)), Exact: rows <= 2_000}
	for _, text := range columns {
		var c schema.ColumnStats
		if _, err := fmt.Sscan(text, &c.Name, &c.Distinct, &c.MeanBytes); err != nil {
			panic(fmt.Sprintf("fixture statistics %q: %v", text, err)) // a mistake in a test
		}
		s.Columns = append(s.Columns, c)
		s.MeanRowBytes += c.MeanBytes
	}
	return s
}
