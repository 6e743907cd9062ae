package schema

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/capture/cql"
)

// hotel is the sample schema.
func hotel() *Schema {
	key := func(name, typ string) Column { return Column{Name: name, Kind: PartitionKey, Type: typ} }
	value := func(name, typ string) Column { return Column{Name: name, Kind: Regular, Position: -1, Type: typ} }
	return &Schema{Keyspaces: []Keyspace{{Name: "hotel", Tables: []Table{
		{Keyspace: "hotel", Name: "hotels", ID: "1", Columns: []Column{key("hotel_id", "uuid"), value("city", "text"), value("tags", "set<text>"), value("stars", "int")},
			Indexes: []Index{
				{Name: "hotels_by_city", Kind: "COMPOSITES", Column: "city", On: "values"},
				{Name: "hotels_by_stars", Kind: "CUSTOM", Column: "stars", On: "values", Options: map[string]string{"class_name": "org.apache.cassandra.index.sai.StorageAttachedIndex"}},
				{Name: "hotels_by_tag", Kind: "COMPOSITES", Column: "tags", On: "values"},
			}},
		{Keyspace: "hotel", Name: "reservations", ID: "2", Columns: []Column{
			key("room_id", "uuid"),
			{Name: "start_date", Kind: Clustering, Type: "date"}, {Name: "reservation_id", Kind: Clustering, Position: 1, Type: "uuid"},
			value("end_date", "date"), value("guest_id", "uuid"), value("status", "text"),
		}},
		{Keyspace: "hotel", Name: "stays", ID: "3", Columns: []Column{key("a", "int"), {Name: "b", Kind: PartitionKey, Position: 1, Type: "int"}, {Name: "c", Kind: Clustering, Type: "int"}, value("m", "map<text, text>")}},
	}}}}
}

func TestClassify(t *testing.T) {
	for _, c := range []struct {
		id, text string
		want     Access
	}{
		{"D-12 one row", "SELECT city FROM hotels WHERE hotel_id = ?",
			Access{Class: Row, Equality: []string{"hotel_id"}, Partition: []string{"hotel_id"}, Projection: []string{"city"}}},
		{"D-12 one partition", "SELECT * FROM reservations WHERE room_id = ? AND start_date > ?",
			Access{Class: Partition, Equality: []string{"room_id"}, Range: []string{"start_date"}, Partition: []string{"room_id"}}},
		{"D-12 several partitions", "SELECT * FROM reservations WHERE room_id IN (?, ?)",
			Access{Class: MultiPartition, In: []string{"room_id"}, Partition: []string{"room_id"}}},
		{"D-12 filtering", "SELECT * FROM reservations WHERE guest_id = ? ALLOW FILTERING",
			Access{Class: Scan, Equality: []string{"guest_id"}, Filtering: true}},
		{"D-12 everything", "SELECT * FROM hotel.reservations", Access{Class: Scan}},
		{"token range", "SELECT room_id FROM reservations WHERE token(room_id) > ? AND token(room_id) <= ?",
			Access{Class: Scan, Token: true, Projection: []string{"room_id"}}},
		{"secondary index", "SELECT * FROM hotels WHERE city = ?", Access{Class: IndexRead, Equality: []string{"city"}, UsesIndex: "hotels_by_city"}},
		{"index and filter", "SELECT * FROM hotels WHERE city = ? AND stars = ? ALLOW FILTERING",
			Access{Class: IndexRead, Equality: []string{"city", "stars"}, UsesIndex: "hotels_by_city", Filtering: true}},
		{"range on SAI", "SELECT * FROM hotels WHERE stars > 3", Access{Class: IndexRead, Range: []string{"stars"}, UsesIndex: "hotels_by_stars"}},
		{"range on plain index", "SELECT * FROM hotels WHERE city > 'a' ALLOW FILTERING", Access{Class: Scan, Range: []string{"city"}, Filtering: true}},
		{"collection index", "SELECT * FROM hotels WHERE tags CONTAINS ?", Access{Class: IndexRead, UsesIndex: "hotels_by_tag"}},
		{"part of a partition key", "SELECT * FROM stays WHERE a = 1 ALLOW FILTERING",
			Access{Class: Scan, Equality: []string{"a"}, Partition: []string{"a"}, Filtering: true}},
		{"partition filtered", "SELECT * FROM reservations WHERE room_id = ? AND status = ? ALLOW FILTERING",
			Access{Class: Partition, Equality: []string{"room_id", "status"}, Partition: []string{"room_id"}, Filtering: true}},
		{"tuple of clustering columns", "SELECT * FROM reservations WHERE room_id = ? AND (start_date, reservation_id) = (?, ?)",
			Access{Class: Row, Equality: []string{"room_id", "start_date", "reservation_id"}, Partition: []string{"room_id"}}},
		{"insert", "INSERT INTO reservations (room_id, start_date, reservation_id, status) VALUES (?, ?, ?, ?)",
			Access{Class: Row, Equality: []string{"room_id", "start_date", "reservation_id"}, Partition: []string{"room_id"}}},
		{"update", "UPDATE stays SET m['x'] = 'y' WHERE a = 1 AND b = 2 AND c = 3",
			Access{Class: Row, Equality: []string{"a", "b", "c"}, Partition: []string{"a", "b"}}},
		{"delete of a partition", "DELETE FROM reservations WHERE room_id = ?",
			Access{Class: Partition, Equality: []string{"room_id"}, Partition: []string{"room_id"}}},
		{"functions in the selection", "SELECT count(*), max(start_date), CAST(end_date AS timestamp) FROM reservations WHERE room_id = ?",
			Access{Class: Partition, Equality: []string{"room_id"}, Partition: []string{"room_id"}, Projection: []string{"start_date", "end_date"}}},
		{"unknown table", "SELECT * FROM nothing WHERE a = 1", Access{Class: Unknown}},
	} {
		t.Run(c.id, func(t *testing.T) {
			st, err := cql.Parse(c.text)
			if err != nil {
				t.Fatal(err)
			}
			got := Classify(st, hotel(), "hotel")
			c.want.Keyspace, c.want.Table = "hotel", got.Table
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
	st, err := cql.Parse("USE hotel")
	if err != nil {
		t.Fatal(err)
	}
	if got := Classify(st, nil, ""); got.Class != Unknown {
		t.Errorf("USE is classified as %s", got.Class)
	}
}

func FuzzClassify(f *testing.F) {
	for _, text := range []string{
		"SELECT * FROM reservations WHERE room_id = ? AND (start_date, reservation_id) > (?, ?)",
		"SELECT m['a'], {'x': city}, -stars + 1 FROM hotels WHERE m['a'] = 'b' AND expr(hotels_by_stars, '3')",
		"INSERT INTO stays JSON '{}'", "UPDATE stays SET m = m + {'a': 'b'} WHERE a = 1 AND b IN (2)", "BEGIN BATCH APPLY BATCH",
		"SELECT v FROM hotels ORDER BY stars ANN OF [1, 2] LIMIT 3",
	} {
		f.Add(text)
	}
	s := hotel()
	f.Fuzz(func(t *testing.T, text string) {
		st, err := cql.Parse(text)
		if err != nil {
			return
		}
		a := Classify(st, s, "hotel")
		if table := s.Table(a.Keyspace, a.Table); (a.Class == Unknown) != (table == nil) {
			t.Fatalf("%s: class %s of table %v", text, a.Class, table)
		}
		if a.Class == IndexRead && a.Filtering && a.UsesIndex == "" && len(a.Columns()) == 0 {
			t.Fatalf("%s: an index read of nothing: %+v", text, a)
		}
	})
}

func TestKeys(t *testing.T) {
	s := hotel()
	r := s.Table("hotel", "reservations")
	names := func(cs []Column) (out []string) {
		for _, c := range cs {
			out = append(out, c.Name)
		}
		return out
	}
	if d := cmp.Diff([]string{"room_id", "start_date", "reservation_id"}, names(r.PrimaryKey())); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"a", "b"}, names(s.Table("hotel", "stays").PartitionKey())); d != "" {
		t.Error(d)
	}
	if r.Column("status") == nil || r.Column("nothing") != nil || s.Table("x", "y") != nil || s.Table("hotel", "y") != nil {
		t.Error("wrong columns or tables are found")
	}
	if list := s.Table("hotel", "hotels").Indexes; len(list) != 3 || list[0].Name != "hotels_by_city" || list[0].Column != "city" || list[0].On != "values" {
		t.Errorf("index on city: %v", list)
	}
}

func TestDigest(t *testing.T) {
	base := func() *Table { return hotel().Table("hotel", "reservations") }
	digest := base().Digest()
	if len(digest) != 32 || digest != base().Digest() {
		t.Fatalf("digest %q is not stable", digest)
	}
	for name, change := range map[string]func(*Table){
		"id":             func(t *Table) { t.ID = "other" },
		"type":           func(t *Table) { t.Columns[4].Type = "text" },
		"kind":           func(t *Table) { t.Columns[4].Kind = Static },
		"order":          func(t *Table) { t.Columns[1].Descending = true },
		"position":       func(t *Table) { t.Columns[1].Position = 7 },
		"column added":   func(t *Table) { t.Columns = append(t.Columns, Column{Name: "x", Kind: Regular, Type: "int"}) },
		"column dropped": func(t *Table) { t.Columns = t.Columns[:5] },
		"default ttl":    func(t *Table) { t.DefaultTTL = 60 },
		"counter":        func(t *Table) { t.Counter = true },
		"name":           func(t *Table) { t.Name = "r2" },
	} {
		x := base()
		change(x)
		if x.Digest() == digest {
			t.Errorf("a changed %s does not show", name)
		}
	}
	for name, change := range map[string]func(*Table){
		"index":   func(t *Table) { t.Indexes = []Index{{Name: "i"}} },
		"comment": func(t *Table) { t.Comment = "hello" },
		"view":    func(t *Table) { t.Views = []string{"v"} },
	} {
		x := base()
		change(x)
		if x.Digest() != digest {
			t.Errorf("a changed %s shows, but no rewrite rests on it", name)
		}
	}
}

func TestDigestDoesNotDependOnTheOrderOfColumns(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		x := hotel().Table("hotel", "reservations")
		want := x.Digest()
		x.Columns = rapid.Permutation(x.Columns).Draw(rt, "columns")
		if x.Digest() != want {
			rt.Fatal("another order of columns gives another digest")
		}
		sortColumns(x.Columns)
		if d := cmp.Diff(hotel().Table("hotel", "reservations").Columns, x.Columns); d != "" {
			rt.Fatal(d)
		}
	})
}

func TestIndexTargets(t *testing.T) {
	for _, c := range []struct{ target, column, on string }{
		{"city", "city", "values"}, {`"City"`, "City", "values"}, {`"a""b"`, `a"b`, "values"}, {"values(tags)", "tags", "values"},
		{`keys("M")`, "M", "keys"}, {"entries(m)", "m", "entries"}, {"full(l)", "l", "full"}, {"", "", "values"}, {`"`, `"`, "values"},
	} {
		if column, on := target(c.target); column != c.column || on != c.on {
			t.Errorf("target %s is %s of %s", c.target, on, column)
		}
	}
}

func TestSchemaIsJSON(t *testing.T) {
	b, err := json.Marshal(hotel())
	if err != nil {
		t.Fatal(err)
	}
	var back Schema
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(hotel(), &back); d != "" {
		t.Error(d)
	}
}

func TestDistinctValues(t *testing.T) {
	sample := func(rows, values int) map[uint64]int {
		m := map[uint64]int{}
		for i := range rows {
			m[uint64(i*2654435761%(1<<32))%uint64(values)]++
		}
		return m
	}
	for _, c := range []struct {
		name           string
		values         map[uint64]int
		n              int
		all, low, high float64
	}{
		{"all different", sample(1000, 1<<62), 1000, 100_000, 99_999, 100_001},
		{"few values", sample(1000, 5), 1000, 100_000, 5, 5},
		{"everything sampled", sample(1000, 300), 1000, 1000, 300, 300},
		{"one row", map[uint64]int{1: 1}, 1, 10, 1, 10},
	} {
		if got := distinct(c.values, c.n, c.all); got < c.low || got > c.high {
			t.Errorf("%s: %v, want %v to %v", c.name, got, c.low, c.high)
		}
	}
}

// TestRestricts: rows of as Cassandra has them in where_clause of system_schema.views.
func TestRestricts(t *testing.T) {
	for where, want := range map[string]bool{
		"email IS NOT NULL AND guest_id IS NOT NULL": false, `"E-mail" IS NOT NULL AND guest_id IS NOT NULL`: false,
		"email IS NOT NULL AND stars > 3": true, "city = 'Bern' AND guest_id IS NOT NULL": true, "": true, "what ?! is this": true,
	} {
		if got := restricts(where); got != want {
			t.Errorf("%q restricts: %t", where, got)
		}
	}
}
