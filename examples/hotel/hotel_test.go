package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocql/gocql"
	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "write golden files")

// small is a data set for tests.
var small = dataset{seed: 1, cities: 4, hotels: 8, rooms: 40, guests: 50, stays: 400}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (go test -update writes it):\n%s", path, got)
	}
}

// TestDataNeverChange pins the data: reports of different days are about the same rows.
func TestDataNeverChange(t *testing.T) {
	var out bytes.Buffer
	for _, seed := range []uint64{1, 2} {
		d := dataset{seed: seed, cities: 40, hotels: 400, rooms: 8000, guests: 50_000, stays: 200_000}
		for i := range 3 {
			r := d.reservation(i)
			fmt.Fprintln(&out, seed, id("reservation", i), id("room", r.room), r.start.Format(time.DateOnly), r.end.Format(time.DateOnly), id("guest", r.guest), d.guestName(i), d.rate(i))
		}
	}
	golden(t, "data.txt", out.Bytes())
}

func TestDataAreInRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := dataset{seed: rapid.Uint64().Draw(t, "seed"), cities: 5, hotels: 9, stays: 1000}
		d.rooms = d.hotels * rapid.IntRange(1, 20).Draw(t, "rooms")
		d.guests = rapid.IntRange(1, 1000).Draw(t, "guests")
		r := d.reservation(rapid.IntRange(0, d.stays-1).Draw(t, "i"))
		if r.room < 0 || r.room >= d.rooms || r.guest < 0 || r.guest >= d.guests {
			t.Fatalf("%+v is out of range", r)
		}
		if r.start.Before(season) || !r.start.Before(season.AddDate(0, 0, days)) || !r.end.After(r.start) {
			t.Fatalf("%+v is out of season", r)
		}
	})
}

func TestIdentifiersAreUnique(t *testing.T) {
	seen := map[gocql.UUID]string{}
	for _, kind := range []string{"hotel", "room", "guest", "reservation", "booking"} {
		for i := range 5000 {
			uuid, name := id(kind, i), fmt.Sprint(kind, i)
			if other, twice := seen[uuid]; twice {
				t.Fatalf("%s and %s have the identifier %s", other, name, uuid)
			}
			if uuid.Version() != 4 {
				t.Fatalf("%s has an identifier of version %d", name, uuid.Version())
			}
			seen[uuid] = name
		}
	}
}

func TestTablesHoldEveryRowOnce(t *testing.T) {
	want := map[string]int{"hotels": small.hotels, "rooms": small.rooms, "guests": small.guests, "reservations": small.stays}
	for _, table := range small.tables() {
		keys := map[string]bool{}
		for part := range table.parts {
			rows := table.part(part)
			for _, row := range rows {
				if len(row) != strings.Count(table.insert.text, "?") {
					t.Fatalf("%s: %d values for %s", table.name, len(row), table.insert.text)
				}
				if len(rows) > 1 && row[0] != rows[0][0] {
					t.Fatalf("%s: part %d has several partitions", table.name, part)
				}
				keys[fmt.Sprint(row[:min(3, len(row))]...)] = true
			}
		}
		if len(keys) != want[table.name] || table.rows != want[table.name] {
			t.Errorf("%s: %d rows, said to be %d; want %d", table.name, len(keys), table.rows, want[table.name])
		}
	}
}

// TestArrivalsAreNotRare shows that a receptionist's question often has an answer.
func TestArrivalsAreNotRare(t *testing.T) {
	d := dataset{seed: 1, cities: 40, hotels: 400, rooms: 8000, guests: 50_000, stays: 200_000}
	busy := map[[2]any]bool{}
	for i := range d.stays {
		r := d.reservation(i)
		busy[[2]any{r.room, r.start}] = true
	}
	share := float64(len(busy)) / float64(d.rooms*days)
	if share < 0.25 || share > 0.45 {
		t.Errorf("%.0f %% of the rooms have an arrival on a day, want about a third", 100*share)
	}
}

func TestChooserFollowsTheWeights(t *testing.T) {
	total := 0
	for _, op := range operations {
		total += op.weight
	}
	if total != 1000 {
		t.Errorf("the weights add up to %d, want 1000", total)
	}
	for _, writersOnly := range []bool{false, true} {
		choice, random := chooser(func(op operation) bool { return op.writes || !writersOnly }), rand.New(rand.NewPCG(1, 1))
		counts := map[string]int{}
		const n = 20_000
		for range n {
			op := choice(random)
			if writersOnly && !op.writes {
				t.Fatalf("-writers-only chose %s", op.name)
			}
			counts[op.name]++
		}
		if !writersOnly {
			for _, op := range operations {
				if got := counts[op.name] * 1000 / n; got < op.weight*7/10 || got > op.weight*13/10 {
					t.Errorf("%s was %d of 1000, want about %d", op.name, got, op.weight)
				}
			}
		}
	}
}

func TestOnly(t *testing.T) {
	var n names
	if err := n.Set("arrivals,book"); err != nil || n.String() != "arrivals,book" {
		t.Errorf("%v: %v", n, err)
	}
	if err := n.Set("arrivals,nothing"); err == nil {
		t.Error("an operation that there is not was taken")
	}
}

func TestQuantileIsExact(t *testing.T) {
	sorted := make([]time.Duration, 200)
	for i := range sorted {
		sorted[i] = time.Duration(i+1) * time.Microsecond
	}
	for _, tt := range []struct {
		n, percent int
		want       int64
	}{{0, 50, 0}, {1, 50, 1}, {1, 99, 1}, {2, 50, 1}, {3, 50, 2}, {100, 50, 50}, {100, 99, 99}, {200, 99, 198}, {101, 99, 100}, {200, 100, 200}} {
		if got := quantile(sorted[:tt.n], tt.percent); got != tt.want {
			t.Errorf("p%d of %d samples is %d, want %d", tt.percent, tt.n, got, tt.want)
		}
	}
}

func TestReport(t *testing.T) {
	made, statements := newTally(), newTally()
	for i := range 100 {
		made.add("book", "", time.Duration(100-i)*time.Millisecond, nil)
		statements.add("insert-reservation", "INSERT ...", time.Duration(100-i)*time.Microsecond, nil)
	}
	made.add("arrivals", "", time.Second, errors.New("no hosts available"))
	r := &report{
		Start: season, End: season.Add(time.Minute), Seed: 7, Concurrency: 8, Count: 101, Errors: 1,
		Operations: made.figures(), Statements: statements.figures(), Complaints: made.complaints(),
	}
	path := filepath.Join(t.TempDir(), "report.json")
	if err := r.write(path); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "report.json", text)
	var out bytes.Buffer
	r.print(&out)
	golden(t, "report.txt", out.Bytes())
	if err := r.write(filepath.Join(t.TempDir(), "missing", "report.json")); err == nil {
		t.Error("a report was written into a directory that is not there")
	}
}

func TestComplaintsAreBounded(t *testing.T) {
	made := newTally()
	for i := range 2000 {
		made.add("book", "", 0, fmt.Errorf("error %d", i))
	}
	if got := len(made.complaints()); got != maxComplaints {
		t.Errorf("%d complaints, want %d", got, maxComplaints)
	}
	if got := len(made.says); got > 1000 {
		t.Errorf("%d messages kept", got)
	}
}

func TestProgressLine(t *testing.T) {
	for _, tt := range []struct {
		done, total int
		elapsed     time.Duration
		want        string
	}{
		{0, 100, 0, "rows: 0 of 100 (0 %)"},
		{0, 0, time.Second, "rows: 0 of 0 (0 %)"},
		{25, 100, time.Second, "rows: 25 of 100 (25 %), 25/s, about 3 s left"},
		{100, 100, 2 * time.Second, "rows: 100 of 100 (100 %), 50/s"},
	} {
		if got := progressLine("rows", tt.done, tt.total, tt.elapsed); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

func TestPace(t *testing.T) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	now := time.Now()
	for _, tt := range []struct {
		name  string
		ctx   context.Context
		start time.Time
		n     int
		rate  float64
		want  bool
	}{
		{"no limit", context.Background(), now, 1_000_000, 0, true},
		{"overdue", context.Background(), now.Add(-time.Hour), 10, 1, true},
		{"ended", ended, now.Add(-time.Hour), 10, 1, false},
		{"ended while waiting", ended, now, 1_000_000, 1, false},
		{"due in a moment", context.Background(), now, 1, 1000, true},
	} {
		if got := pace(tt.ctx, tt.start, tt.n, tt.rate); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}

func TestDifference(t *testing.T) {
	end, status := season.AddDate(0, 0, 2), "booked"
	row := func(n int) storedReservation {
		return storedReservation{room: id("room", n), id: id("reservation", n), start: season, end: &end, status: &status}
	}
	partial, moved := row(1), row(1)
	partial.status = nil
	other := end.AddDate(0, 0, 1)
	moved.end = &other
	for _, tt := range []struct {
		name            string
		direct, through []storedReservation
		want            string // its beginning
	}{
		{"equal", []storedReservation{row(1), row(2)}, []storedReservation{row(1), row(2)}, ""},
		{"both empty", nil, []storedReservation{}, ""},
		{"missing", []storedReservation{row(1), row(2)}, []storedReservation{row(1)}, "row 2 of 2 is missing"},
		{"one too many", nil, []storedReservation{row(1)}, "row 1 is one too many"},
		{"other order", []storedReservation{row(1), row(2)}, []storedReservation{row(2), row(1)}, "row 1 is ("},
		{"null instead of a value", []storedReservation{row(1)}, []storedReservation{partial}, "row 1 is ("},
		{"value instead of null", []storedReservation{partial}, []storedReservation{row(1)}, "row 1 is ("},
		{"other value", []storedReservation{row(1)}, []storedReservation{moved}, "row 1 is ("},
	} {
		got := difference(tt.direct, tt.through)
		if (got == "") != (tt.want == "") || !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: %q", tt.name, got)
		}
	}
}

func TestCompareAsksTwice(t *testing.T) {
	guests := make([]gocql.UUID, 20)
	for i := range guests {
		guests[i] = id("guest", i)
	}
	row := []storedReservation{{room: id("room", 1), id: id("reservation", 1), start: season}}
	right := func(context.Context, gocql.UUID) ([]storedReservation, error) { return row, nil }
	wrongFor := func(times int) ask { // for guest 3, the first times
		var asked atomic.Int64
		return func(_ context.Context, guest gocql.UUID) ([]storedReservation, error) {
			if guest == guests[3] && asked.Add(1) <= int64(times) {
				return nil, nil
			}
			return row, nil
		}
	}
	failing := func(_ context.Context, guest gocql.UUID) ([]storedReservation, error) {
		return nil, errors.New("no hosts available")
	}
	for _, tt := range []struct {
		name string
		s    sides
		want outcome
		err  string
	}{
		{"equal", sides{right, right, right}, outcome{keys: 20, rows: 20}, ""},
		{"a write was under way", sides{right, right, wrongFor(1)}, outcome{keys: 20, rows: 20, again: 1}, ""},
		{"the scan was out of date", sides{wrongFor(1), right, right}, outcome{keys: 20, rows: 19, again: 1}, ""},
		{"wrong for good", sides{right, right, wrongFor(100)}, outcome{keys: 20, rows: 20, again: 1, differences: 1}, ""},
		{"no answer", sides{right, right, failing}, outcome{}, "through the second address"},
		{"no direct answer", sides{failing, right, right}, outcome{}, "asking directly"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			got, err := checker{concurrency: 4, out: &out}.compare(context.Background(), "keys", guests, tt.s)
			if got != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("got %+v, %v; want %+v, %q", got, err, tt.want, tt.err)
			}
			if tt.want.differences > 0 && !strings.Contains(out.String(), "row 1 of 1 is missing") {
				t.Errorf("the difference is not shown: %s", out.String())
			}
		})
	}
}

func TestUsage(t *testing.T) {
	for _, tt := range []struct {
		args   string
		status int
		says   string
	}{
		{"", statusUsage, "load|run|check"},
		{"sleep", statusUsage, `unknown command "sleep"`},
		{"load -h", statusOK, "-hosts"},
		{"load -no-such-flag", statusUsage, "no-such-flag"},
		{"load extra", statusUsage, `unexpected argument "extra"`},
		{"load -guests 0", statusUsage, "-guests is 0"},
		{"load -concurrency 0", statusUsage, "-concurrency"},
		{"load -hosts localhost", statusUsage, "host:port"},
		{"load -hosts localhost:cql", statusUsage, "host:port"},
		{"load -hosts :9042", statusUsage, "host:port"},
		{"load -keyspace drop;", statusUsage, "-keyspace"},
		{"run", statusUsage, "-ops N, or -for DURATION"},
		{"run -ops -1", statusUsage, "negative"},
		{"run -ops 1 -concurrency 0", statusUsage, "-concurrency"},
		{"run -ops 1 -keyspace Hotel", statusUsage, "-keyspace"},
		{"check", statusUsage, "-through is missing"},
		{"check -through 127.0.0.1:1 -keys 0", statusUsage, "-keys"},
		{"check -through 127.0.0.1:1 -keys 60000", statusUsage, "50000"},
		{"check -through 127.0.0.1:1 -keyspace 1", statusUsage, "-keyspace"},
	} {
		var out bytes.Buffer
		if got := dispatch(context.Background(), strings.Fields(tt.args), &out, &out); got != tt.status || !strings.Contains(out.String(), tt.says) {
			t.Errorf("hotel %s: status %d, %s", tt.args, got, out.String())
		}
	}
}

// TestOnCassandra loads a small hotel, works in it and checks it.
func TestOnCassandra(t *testing.T) {
	point, _, _ := strings.Cut(os.Getenv("HELENUS_TEST_CASSANDRA"), ",")
	if point == "" {
		t.Skip("HELENUS_TEST_CASSANDRA is not set: needs a real Cassandra (make test)")
	}
	keyspace := fmt.Sprintf("hotel_%x", time.Now().UnixNano())
	session, err := (&access{consistency: gocql.Quorum}).connect(point, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := session.Query("DROP KEYSPACE IF EXISTS " + keyspace).Exec(); err != nil {
			t.Error(err)
		}
		session.Close()
	})
	hotel := func(args string) string {
		t.Helper()
		var out bytes.Buffer
		all := strings.Fields(args + " -keyspace " + keyspace + " -cities 4 -hotels 8 -rooms 5 -guests 50 -reservations 400")
		if status := dispatch(context.Background(), all, &out, &out); status != statusOK {
			t.Fatalf("hotel %s: status %d: %s", args, status, out.String())
		}
		return out.String()
	}
	if out := hotel("load -hosts " + point); !strings.Contains(out, "loaded 498 rows") {
		t.Error(out)
	}
	file := filepath.Join(t.TempDir(), "report.json")
	hotel("run -ops 400 -seed 5 -report " + file + " -hosts " + point)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var r report
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	if r.Count != 400 || r.Errors != 0 || len(r.Operations) != len(operations) || len(r.Statements) != 12 {
		t.Errorf("%d operations, %d errors, %d kinds, %d statements, %v", r.Count, r.Errors, len(r.Operations), len(r.Statements), r.Complaints)
	}
	// Interrupted, it reports what was done until then.
	interrupted, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	var said bytes.Buffer
	args := strings.Fields("run -for 10m -rate 100 -report " + file + " -keyspace " + keyspace + " -hosts " + point)
	if status := dispatch(interrupted, args, &said, &said); status != statusOK || !strings.Contains(said.String(), " 0 failed") {
		t.Errorf("interrupted: status %d: %s", status, said.String())
	}
	hotel("run -for 1s -rate 50 -writers-only -hosts " + point)
	if out := hotel("check -keys 50 -direct " + point + " -through " + point); !strings.Contains(out, "50 guests") || strings.Count(out, " 0 differences") != 2 {
		t.Error(out)
	}
	// A table that is changed in between is noticed.
	c := checker{direct: session, through: session, concurrency: 1, out: &bytes.Buffer{}}
	if err := c.check(context.Background(), nil); err == nil {
		t.Error("a session without a keyspace passed the check")
	}
}
