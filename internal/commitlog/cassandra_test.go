package commitlog

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/internal/cassandra"
	"github.com/helenus-db/helenus/internal/cassandra/cassandratest"
	"github.com/helenus-db/helenus/internal/long"
)

// statement is one of CQL, and what it is to be in the commit log, in the words of said.
type statement struct {
	text   string
	values []any
	want   []string
}

// wide has more columns than a mutation tells apart by bits.
func wide() string {
	var b strings.Builder
	b.WriteString("CREATE TABLE wide (k int PRIMARY KEY")
	for i := range 80 {
		fmt.Fprintf(&b, ", c%02d int", i)
	}
	return b.String() + ")"
}

var (
	tables = []string{
		"CREATE TYPE place (street text, number int)",
		`CREATE TABLE plain (k text PRIMARY KEY, v text, n int, "Mixed" bigint)`,
		"CREATE TABLE rows (a int, b text, d timestamp, c int, u uuid, s text static, v text, w int, PRIMARY KEY ((a, b), d, c, u)) WITH CLUSTERING ORDER BY (d DESC, c ASC, u DESC)",
		"CREATE TABLE types (k blob PRIMARY KEY, bo boolean, ti tinyint, si smallint, bi bigint, fl float, do double, va varint, de decimal, da date, tm time, ts timestamp, iu inet, uu uuid, tu timeuuid, du duration, " +
			"l list<int>, st set<text>, m map<text, frozen<list<int>>>, fl2 frozen<list<int>>, tp tuple<int, text>, p place, fp frozen<place>)",
		"CREATE TABLE counts (k int, c int, n counter, o counter, PRIMARY KEY (k, c))",
		wide(),
		"CREATE TABLE other (k int PRIMARY KEY, v text)",
		"CREATE TABLE filler (k int PRIMARY KEY, v text)",
	}
	day = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	one = gocql.UUID{1, 2, 3, 4, 5, 6, 0x47, 8, 0x89}
)

// row is the rest of a key of the table rows.
func row(n int) string {
	return fmt.Sprintf("%016x.%08x.%x", day.UnixMilli(), n, one.Bytes())
}

func statements() []statement {
	const rows = "rows 00000001.78 "
	key := "a = 1 AND b = 'x'"
	full := fmt.Sprintf("d = %d AND u = %s AND c = ", day.UnixMilli(), one)
	all := "bi,bo,da,de,do,du,fl,fl2,fp,iu,si,ti,tm,tp,ts,tu,uu,va,l,m,p,st"
	return []statement{
		{"INSERT INTO plain (k, v, n) VALUES ('a', 'x', 1)", nil, []string{"plain 61 row [n,v]"}},
		{"INSERT INTO plain (k) VALUES ('a')", nil, []string{"plain 61 row []"}},
		{`INSERT INTO plain (k, v, "Mixed") VALUES ('b', null, 4) USING TTL 1000 AND TIMESTAMP 5`, nil, []string{"plain 62 row [Mixed,v]"}},
		{"UPDATE plain SET v = 'y' WHERE k = 'a'", nil, []string{"plain 61 row [v]"}},
		{"UPDATE plain USING TTL 500 SET v = '', n = 3 WHERE k = 'a'", nil, []string{"plain 61 row [n,v]"}},
		{"DELETE v FROM plain WHERE k = 'a'", nil, []string{"plain 61 row [v]"}},
		{"DELETE FROM plain WHERE k = 'a'", nil, []string{"plain 61 partition []"}},
		{"INSERT INTO plain (k, v) VALUES ('lwt', 'x') IF NOT EXISTS", nil, []string{"plain 6c7774 row [v]"}},
		{"INSERT INTO rows (a, b, d, c, u, v, w) VALUES (1, 'x', ?, 7, ?, 'v', 2)", []any{day, one}, []string{rows + "row " + row(7) + " [v,w]"}},
		{"UPDATE rows SET w = 5 WHERE " + key + " AND " + full + "7", nil, []string{rows + "row " + row(7) + " [w]"}},
		{"UPDATE rows SET s = 'shared' WHERE " + key, nil, []string{rows + "static [s]"}},
		{"INSERT INTO rows (a, b, d, c, u, s, v) VALUES (1, 'x', ?, 8, ?, 's', 'v')", []any{day, one}, []string{rows + "static [s]", rows + "row " + row(8) + " [v]"}},
		{"DELETE FROM rows WHERE " + key + " AND " + full + "7", nil, []string{rows + "deleted " + row(7) + " []"}},
		{fmt.Sprintf("DELETE FROM rows WHERE %s AND d = %d AND c > 1 AND c <= 6", key, day.UnixMilli()), nil, []string{rows + "range []", rows + "range []"}},
		{"DELETE FROM rows WHERE " + key, nil, []string{rows + "partition []"}},
		{"BEGIN BATCH INSERT INTO rows (a, b, d, c, u) VALUES (1, 'x', " + fmt.Sprint(day.UnixMilli()) + ", 1, " + one.String() + "); UPDATE rows SET v = 'b' WHERE " + key + " AND " + full + "2; DELETE FROM rows WHERE " + key + " AND " + full + "3; APPLY BATCH", nil,
			[]string{rows + "row " + row(1) + " []", rows + "row " + row(2) + " [v]", rows + "deleted " + row(3) + " []"}},
		{"BEGIN UNLOGGED BATCH INSERT INTO counts (k) VALUES (1); APPLY BATCH", nil, nil}, // refused: a counter is not inserted
		{"UPDATE counts SET n = n + 1, o = o - 3 WHERE k = 9 AND c = 1", nil, []string{"counts 00000009 row 00000001 [n,o]"}},
		{"UPDATE counts SET n = n + 1 WHERE k = 9 AND c = 2", nil, []string{"counts 00000009 row 00000002 [n]"}},
		{"INSERT INTO types (k, bo, ti, si, bi, fl, do, va, de, da, tm, ts, iu, uu, tu, du, l, st, m, fl2, tp, p, fp) VALUES (0x01, true, 1, 2, 3, 1.5, 2.5, 99999999999999999999, 1.25, '2026-01-02', '10:00:00', 5, '10.0.0.1', " +
			one.String() + ", now(), 3h, [1, 2], {'a', 'b'}, {'k': [1]}, [3], (1, 'x'), {street: 's', number: 3}, {street: 't', number: 4})", nil, []string{"types 01 row [" + all + "]"}},
		{"UPDATE types SET l = l + [7], st = st - {'a'}, m['z'] = [5], p.number = 9 WHERE k = 0x02", nil, []string{"types 02 row [l,m,p,st]"}},
		{"UPDATE types USING TTL 77 SET st = {'q'}, bi = 4 WHERE k = 0x02", nil, []string{"types 02 row [bi,st]"}},
		{"DELETE l[0], st['b'], p.street FROM types WHERE k = 0x01", nil, []string{"types 01 row [l,p,st]"}},
		{"INSERT INTO wide (k, c05, c79) VALUES (1, 1, 2)", nil, []string{"wide 00000001 row [c05,c79]"}},
		{"BEGIN BATCH INSERT INTO plain (k, v) VALUES ('\x00\x00\x00\x01', 'x'); INSERT INTO wide (k, c00) VALUES (1, 1); INSERT INTO other (k, v) VALUES (1, 'o'); APPLY BATCH", nil,
			[]string{"other 00000001 row [v]", "plain 00000001 row [v]", "wide 00000001 row [c00]"}}, // one mutation: one key
	}
}

// said is a change in words.
func said(c *Change) string {
	parts, err := c.Table.SplitKey(c.Partition)
	if err != nil {
		return err.Error()
	}
	words := []string{c.Table.Name, hexes(parts), []string{"row", "static", "deleted", "range", "partition", "unread"}[c.Kind]}
	if len(c.Key) > 0 {
		words = append(words, hexes(c.Key))
	}
	return strings.Join(append(words, "["+strings.Join(c.Columns, ",")+"]"), " ")
}

func hexes(parts [][]byte) string {
	list := make([]string, len(parts))
	for i, p := range parts {
		list[i] = fmt.Sprintf("%x", p)
	}
	return strings.Join(list, ".")
}

// TestRealSegments has real Cassandras write commit logs, and reads every key that was written, and no other.
func TestRealSegments(t *testing.T) {
	cassandratest.ContactPoints(t)
	long.Only(t, "a cluster for each; TestKeptSegments reads what such wrote")
	for _, c := range []struct {
		name, version string
		format        int
		extra         map[string]any
	}{
		{"5.0", "", version50, map[string]any{"storage_compatibility_mode": "NONE"}},
		{"5.0 LZ4", "", version40, map[string]any{"commitlog_compression": compression("LZ4Compressor")}},
		{"5.0 direct", "", version50, map[string]any{"storage_compatibility_mode": "NONE", "commitlog_disk_access_mode": "direct"}},
		{"5.0 Snappy", "", version40, map[string]any{"commitlog_compression": compression("SnappyCompressor")}},
		{"5.0 Deflate", "", version40, map[string]any{"commitlog_compression": compression("DeflateCompressor")}},
		{"5.0 Zstd", "", version40, map[string]any{"commitlog_compression": compression("ZstdCompressor")}},
		{"4.1", "4.1.10", version40, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			extra := map[string]any{"cdc_enabled": true, "cdc_raw_directory": dir, "commitlog_segment_size": "1MiB"}
			for k, v := range c.extra {
				extra[k] = v
			}
			cluster, err := cassandra.Start(t.Context(), cassandra.Options{Version: c.version, Extra: extra})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = cluster.Stop() }()
			readsBack(t, cluster.Node(0).Addr(), dir, c.format)
			if *renew && c.name == "5.0 LZ4" {
				if err := os.CopyFS(kept, os.DirFS(dir)); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func compression(class string) []any { return []any{map[string]any{"class_name": class}} }

func readsBack(t *testing.T, point, dir string, format int) {
	config := cassandratest.Config(t, point)
	admin, err := config.CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	must := func(s *gocql.Session, text string, values ...any) {
		t.Helper()
		if err := s.Query(text, values...).Exec(); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	must(admin, "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	config.Keyspace = "k"
	session, err := config.CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	for _, text := range tables {
		if strings.HasPrefix(text, "CREATE TABLE") {
			text += map[bool]string{true: " AND", false: " WITH"}[strings.Contains(text, " WITH ")] + " cdc = true"
		}
		must(session, text)
	}
	known, described := schemaOf(t, session)
	var want []string
	for _, s := range statements() {
		if s.want == nil {
			if err := session.Query(s.text).Exec(); err == nil {
				t.Fatalf("%s: it was carried out", s.text)
			}
			continue
		}
		must(session, s.text, s.values...)
		want = append(want, s.want...)
	}
	for i := range 12 { // so that segments are completed, and others begun
		must(session, "INSERT INTO filler (k, v) VALUES (?, ?)", i, strings.Repeat(fmt.Sprintf("%d filler ", i*7919), 20000))
	}
	time.Sleep(3 * time.Second) // a sync, and its index
	names, err := filepath.Glob(filepath.Join(dir, "*_cdc.idx"))
	if err != nil || len(names) < 2 {
		t.Fatalf("segments: %v, %v", names, err)
	}
	slices.Sort(names)
	var got []string
	completed := 0
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		durable, whole, err := ParseIndex(text)
		if err != nil {
			t.Fatal(err)
		}
		if whole {
			completed++
		}
		got = append(got, readSegment(t, strings.TrimSuffix(name, "_cdc.idx")+".log", durable, whole, format, known)...)
	}
	if completed == 0 {
		t.Error("no segment was completed")
	}
	// Updates of one mutation, and rows of a partition, are in an order of Cassandra's.
	slices.Sort(want)
	slices.Sort(got)
	if *renew {
		keep(t, described, got)
	}
	if !slices.Equal(got, want) {
		t.Errorf("read\n  %s\nwritten\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// readSegment reads the changes of one segment, but for those of the filler.
func readSegment(t *testing.T, path string, durable int64, whole bool, format int, known map[ID]*Table) (got []string) {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(f, info.Size())
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	if s.Version != format {
		t.Errorf("%s has version %d, want %d", path, s.Version, format)
	}
	next, damage, err := s.Read(s.Start, s.Durable(durable), func(mutation []byte) error {
		var unknown *ErrUnknownTable
		err := Decode(mutation, func(id ID) *Table { return known[id] }, func(c *Change) {
			if c.Table.Name != "filler" {
				got = append(got, said(c))
			}
		})
		if errors.As(err, &unknown) && unknown.First {
			return nil // of another keyspace
		}
		return err
	})
	if err != nil || damage != (Damage{}) || next < s.Durable(durable) {
		t.Errorf("%s: %v, damage %+v, read to %d of %d", path, err, damage, next, s.Durable(durable))
	}
	t.Logf("%s: version %d, compression %q, durable %d of %d, completed %v: read to %d", filepath.Base(path), s.Version, s.compression, durable, info.Size(), whole, next)
	return got
}

// schemaOf reads the tables of the session's keyspace.
func schemaOf(t *testing.T, session *gocql.Session) (map[ID]*Table, map[string]described) {
	t.Helper()
	known, all := map[ID]*Table{}, map[string]described{}
	iter := session.Query("SELECT table_name, id FROM system_schema.tables WHERE keyspace_name = 'k'").Iter()
	var name string
	var id gocql.UUID
	for iter.Scan(&name, &id) {
		columns := session.Query("SELECT column_name, kind, type, position FROM system_schema.columns WHERE keyspace_name = 'k' AND table_name = ?", name).Iter()
		type placed struct {
			Column
			position int
		}
		var list []placed
		var c placed
		for columns.Scan(&c.Name, &c.Kind, &c.Type, &c.position) {
			list = append(list, c)
		}
		if err := columns.Close(); err != nil {
			t.Fatal(err)
		}
		slices.SortStableFunc(list, func(a, b placed) int { return a.position - b.position })
		plain := make([]Column, len(list))
		for i := range list {
			plain[i] = list[i].Column
		}
		known[ID(id)] = NewTable("k", name, plain)
		all[id.String()] = described{name, plain}
	}
	if err := iter.Close(); err != nil {
		t.Fatal(err)
	}
	return known, all
}
