package lint

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/advisor/given"
	"github.com/helenus-db/helenus/advisor/trial"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/schema"
)

// seen is an input as it is captured: one table that was measured, a SELECT, and writes.
func seen(t interface{ Fatal(args ...any) }, table, question string, writes ...string) *Input {
	s, err := Define(nil, "k", table)
	if err != nil {
		t.Fatal(err)
	}
	read, err := parseSelect(question)
	if err != nil {
		t.Fatal(err)
	}
	in := &Input{Name: "live", Schema: s, Partial: true, Facts: map[Reference]*Fact{}}
	in.Questions = []Question{{ID: "q", Text: question, Reads: []Read{{Keyspace: "k", Select: read}}}}
	for _, text := range writes {
		st, err := cql.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		in.addChanges(st, "k")
	}
	for _, x := range in.sortedTables() {
		in.Facts[refOf(x)] = &Fact{Rows: 5000, RowBytes: 50, Partitions: 500}
	}
	return in
}

// TestAnswersStay are tables and statements of users for which a fix was printed that would have changed answers: what is printed now.
func TestAnswersStay(t *testing.T) {
	for _, c := range []struct {
		name, table, question string
		writes                []string
		rule                  string
		fix                   []string // parts of what is printed, in this order
		noFix                 string
	}{
		{name: "29 the whole key of the base stays", rule: TableScan,
			table:    "CREATE TABLE k.member (group_id uuid, member_id uuid, role text, nick text, PRIMARY KEY (group_id, member_id))",
			question: "SELECT * FROM member WHERE role = ? ALLOW FILTERING",
			fix:      []string{"PRIMARY KEY ((role), member_id, group_id)", "SELECT group_id, member_id, nick, role FROM k.member_by_role WHERE role = ?"}},
		{name: "30 not the same table again", rule: FilteringNeeded,
			table:    "CREATE TABLE k.ev (dev text, ts timestamp, level int, msg text, PRIMARY KEY (dev, ts))",
			question: "SELECT * FROM ev WHERE dev = ? AND ts >= ? AND ts <= ? AND level >= ? LIMIT 10 ALLOW FILTERING",
			noFix:    "ts and level are both compared by order"},
		{name: "30 an order that a copy would not have", rule: FilteringNeeded,
			table:    "CREATE TABLE k.ev (dev text, ts timestamp, level int, msg text, PRIMARY KEY (dev, ts))",
			question: "SELECT * FROM ev WHERE dev = ? AND level >= ? LIMIT 10 ALLOW FILTERING",
			noFix:    "in another order"},
		{name: "30 partitions by a list, which lie in no order", rule: ClusteringGap,
			table:    "CREATE TABLE k.t (a int, b int, c int, d int, f set<text>, PRIMARY KEY (a, b, c)) WITH CLUSTERING ORDER BY (b DESC)",
			question: "SELECT * FROM t WHERE a = ? AND c = ? AND f CONTAINS ? AND d IN ? ALLOW FILTERING",
			writes:   []string{"INSERT INTO t (a, b, c, d) VALUES (?, ?, ?, ?) IF NOT EXISTS", "UPDATE t SET d = ? WHERE a = ? AND b = ? AND c = ?", "UPDATE t SET f = f - ? WHERE a = ? AND b = ? AND c = ?"},
			noFix:    "in another order"},
		{name: "30 sorted by what is the same in all, then by a range", rule: FilteringNeeded,
			table:    "CREATE TABLE k.t (a int, b int, c int, d int, PRIMARY KEY (a, b, c))",
			question: "SELECT * FROM t WHERE a = ? AND b = ? AND d > ? ORDER BY b ALLOW FILTERING", noFix: "in another order"},
		{name: "01 backwards by what is the same in all", rule: FilteringNeeded,
			table:    "CREATE TABLE k.t (a int, b int, c int, d int, PRIMARY KEY (a, b, c)) WITH CLUSTERING ORDER BY (b DESC)",
			question: "SELECT c FROM t WHERE a = ? AND b = ? AND d = ? ORDER BY b ALLOW FILTERING", fix: []string{"PRIMARY KEY ((a, b, d), c)", "CLUSTERING ORDER BY (c DESC)"}},
		{name: "31 what a changed key leaves behind", rule: TableScan,
			table:    "CREATE TABLE k.users (id uuid PRIMARY KEY, email text, name text)",
			question: "SELECT id, name FROM users WHERE email = ? ALLOW FILTERING",
			writes:   []string{"INSERT INTO users (id, email, name) VALUES (?, ?, ?)", "UPDATE users SET email = ? WHERE id = ?", "DELETE FROM users WHERE id = ?"},
			fix: []string{"PRIMARY KEY ((email), id)", "where it says UPDATE k.users SET email = :email WHERE id = :id", "first, its rows as :old_...: SELECT email, id FROM k.users WHERE id = :id",
				"for each :old_ row whose (email, id) no :new_ row has: DELETE FROM k.users_by_email WHERE email = :old_email AND id = :old_id",
				"where it says DELETE", "DELETE FROM k.users_by_email WHERE email = :old_email AND id = :old_id"}},
		{name: "31 without writes that are known", rule: TableScan,
			table:    "CREATE TABLE k.users (id uuid PRIMARY KEY, email text, name text)",
			question: "SELECT id, name FROM users WHERE email = ? ALLOW FILTERING",
			fix:      []string{"Where a statement changes email of a row, or deletes it, delete the row with its former value: DELETE FROM k.users_by_email WHERE email = :old_email AND id = :old_id"}},
		{name: "31 rows that expire", rule: TableScan,
			table:    "CREATE TABLE k.users (id uuid PRIMARY KEY, email text, name text)",
			question: "SELECT id, name FROM users WHERE email = ? ALLOW FILTERING",
			writes:   []string{"INSERT INTO users (id, email, name) VALUES (?, ?, ?) USING TTL ?"},
			noFix:    "rows of users expire"},
		{name: "31 a key that nobody knows afterwards", rule: TableScan,
			table:    "CREATE TABLE k.ev (id timeuuid PRIMARY KEY, kind text)",
			question: "SELECT id FROM ev WHERE kind = ? ALLOW FILTERING",
			writes:   []string{"INSERT INTO ev (id, kind) VALUES (now(), ?)"},
			noFix:    "nobody knows afterwards"},
		{name: "11 two partitions", rule: TableScan,
			table:    "CREATE TABLE k.jobs (id uuid PRIMARY KEY, done boolean, prio int)",
			question: "SELECT * FROM jobs WHERE done = ? LIMIT 20 ALLOW FILTERING",
			fix:      []string{"helenus_bucket is a hash of (id) modulo 16", "keep the first 20 (LIMIT) of them all", "PRIMARY KEY ((done, helenus_bucket), id)", "WHERE done = ? AND helenus_bucket = ? LIMIT 20"}},
		{name: "11 nobody knows how many", rule: TableScan,
			table:    "CREATE TABLE k.jobs (id uuid PRIMARY KEY, done boolean, prio int)",
			question: "SELECT * FROM jobs WHERE prio = ? LIMIT 20 ALLOW FILTERING",
			fix:      []string{"it grows with them, without bound", "PRIMARY KEY ((prio), id)", "WHERE prio = ? LIMIT 20"}},
		{name: "15 the client merges and cuts", rule: SeveralPartitions,
			table:    "CREATE TABLE k.posts (who uuid, at timestamp, body text, PRIMARY KEY (who, at)) WITH CLUSTERING ORDER BY (at DESC)",
			question: "SELECT body FROM posts WHERE who IN ? ORDER BY at DESC LIMIT 10",
			fix:      []string{"once for one that is named twice", "merge the rows by at DESC, and keep the first 10 (LIMIT) of them all", "SELECT body, at FROM k.posts WHERE who = ? ORDER BY at DESC LIMIT 10"}},
		{name: "several partitions, ties too", rule: FilteringNeeded,
			table:    "CREATE TABLE k.readings (sensor text, at timestamp, rid timeuuid, kind int, val double, PRIMARY KEY (sensor, at, rid))",
			question: "SELECT rid, val FROM readings WHERE sensor = ? AND kind IN ? ORDER BY at DESC LIMIT 1 ALLOW FILTERING",
			fix:      []string{"PRIMARY KEY ((sensor, kind), at, rid)", "ORDER BY at DESC, rid DESC LIMIT 1"}},
		{name: "01 backwards, ties too", rule: OrderReversed,
			table:    "CREATE TABLE k.readings (sensor text, at timestamp, rid timeuuid, val double, PRIMARY KEY (sensor, at, rid))",
			question: "SELECT at, val FROM readings WHERE sensor = ? ORDER BY at DESC LIMIT 1",
			fix:      []string{"PRIMARY KEY ((sensor), at, rid)", "CLUSTERING ORDER BY (at DESC, rid DESC)", "SELECT at, val FROM k.readings_by_sensor WHERE sensor = ? ORDER BY at DESC LIMIT 1"}},
		{name: "01 the order that rows lie in", rule: FilteringNeeded,
			table:    "CREATE TABLE k.readings (sensor text, at timestamp, kind text, val double, PRIMARY KEY (sensor, at)) WITH CLUSTERING ORDER BY (at DESC)",
			question: "SELECT at, val FROM readings WHERE sensor = ? AND kind = ? LIMIT 1 ALLOW FILTERING",
			fix:      []string{"PRIMARY KEY ((sensor, kind), at)", "CLUSTERING ORDER BY (at DESC)", "WHERE sensor = ? AND kind = ? LIMIT 1"}},
		{name: "01 an index", rule: IndexRead,
			table:    "CREATE TABLE k.readings (sensor text, at timestamp, kind text, val double, PRIMARY KEY (sensor, at)) WITH CLUSTERING ORDER BY (at DESC)",
			question: "SELECT * FROM readings WHERE kind = ? LIMIT 5",
			fix:      []string{"PRIMARY KEY ((kind), at, sensor)", "CLUSTERING ORDER BY (at DESC, sensor ASC)", "WHERE kind = ? LIMIT 5"}},
		{name: "all elements of a collection", rule: TableScan,
			table:    "CREATE TABLE k.videos (id uuid PRIMARY KEY, title text, tags set<text>)",
			question: "SELECT id, tags FROM videos WHERE tags CONTAINS ? ALLOW FILTERING",
			writes:   []string{"UPDATE videos SET tags = tags + ? WHERE id = ?", "UPDATE videos SET tags = tags - ? WHERE id = ?"},
			fix:      []string{"tags_value text", "tags set<text>", "PRIMARY KEY ((tags_value), id)", "SELECT id, tags FROM k.videos_by_tags WHERE tags_value = ?", "once for each element of tags"}},
		{name: "29 equal values of different bytes", rule: TableScan,
			table:    "CREATE TABLE k.t (id int PRIMARY KEY, price decimal)",
			question: "SELECT id FROM t WHERE price = ? ALLOW FILTERING", noFix: "takes values of different bytes for equal"},
		{name: "29 two partitions, whose keys are equal where they are clustered", rule: TableScan,
			table:    "CREATE TABLE k.t (price decimal, n int, v text, PRIMARY KEY (price, n))",
			question: "SELECT n FROM t WHERE v = ? ALLOW FILTERING", noFix: "price is of type decimal"},
		{name: "29 a part of a partition key, which is filtered", rule: TableScan,
			table:    "CREATE TABLE k.t (price varint, n int, v text, PRIMARY KEY ((price, n)))",
			question: "SELECT v FROM t WHERE price = ? ALLOW FILTERING", noFix: "price is of type varint"},
		{name: "29 what stays where it is in the key", rule: OrderReversed,
			table:    "CREATE TABLE k.t (price decimal, at decimal, PRIMARY KEY (price, at))",
			question: "SELECT at FROM t WHERE price = ? ORDER BY at DESC", fix: []string{"PRIMARY KEY ((price), at)", "(at DESC)"}},
		{name: "29 what no key can have", rule: TableScan,
			table:    "CREATE TABLE k.t (id int PRIMARY KEY, takes duration)",
			question: "SELECT id FROM t WHERE takes = ? ALLOW FILTERING", noFix: "takes is of type duration"},
		{name: "29 no partition key is empty", rule: TableScan,
			table:    "CREATE TABLE k.t (id int PRIMARY KEY, v text)",
			question: "SELECT id FROM t WHERE v = ? ALLOW FILTERING", fix: []string{"rows whose v is '' are not in the table"}},
		{name: "29 asked for what is empty", rule: TableScan,
			table:    "CREATE TABLE k.t (id int PRIMARY KEY, v text)",
			question: "SELECT id FROM t WHERE v = '' ALLOW FILTERING", noFix: "no empty partition key"},
		{name: "DISTINCT", rule: TableScan,
			table:    "CREATE TABLE k.t (a int, b int, c int, PRIMARY KEY (a, b))",
			question: "SELECT DISTINCT a FROM t", noFix: "so many of each partition"},
		{name: "PER PARTITION LIMIT", rule: TableScan,
			table:    "CREATE TABLE k.t (a int, b int, c int, PRIMARY KEY (a, b))",
			question: "SELECT b FROM t WHERE c = ? PER PARTITION LIMIT 1 ALLOW FILTERING", noFix: "so many of each partition"},
		{name: "static columns", rule: TableScan,
			table:    "CREATE TABLE k.t (a int, b int, s int STATIC, c int, PRIMARY KEY (a, b))",
			question: "SELECT a, b, s FROM t WHERE s = ? ALLOW FILTERING", noFix: "would change answers"},
		{name: "counted", rule: TableScan,
			table:    "CREATE TABLE k.t (a int, b int, c int, PRIMARY KEY (a, b))",
			question: "SELECT count(*) FROM t WHERE c = ? ALLOW FILTERING", fix: []string{"PRIMARY KEY ((c), b, a)", "SELECT count(*) FROM k.t_by_c WHERE c = ?"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := seen(t, c.table, c.question, c.writes...)
			if c.rule == IndexRead {
				var err error
				if in.Schema, err = Define(in.Schema, "k", "CREATE INDEX i ON readings (kind)"); err != nil {
					t.Fatal(err)
				}
			}
			list := Lint(in).Findings
			i := slices.IndexFunc(list, func(f Finding) bool { return f.Rule == c.rule })
			if i < 0 {
				t.Fatalf("no %s: %+v", c.rule, list)
			}
			f := list[i]
			if c.noFix != "" {
				if f.Fix != nil || !strings.Contains(f.NoFix, c.noFix) {
					t.Fatalf("fix %+v, none because %q; want none, because ...%s...", f.Fix, f.NoFix, c.noFix)
				}
				return
			}
			var b strings.Builder
			f.writeText(&b)
			rest := strings.Join(strings.Fields(b.String()), " ")
			for _, part := range c.fix {
				_, after, ok := strings.Cut(rest, part)
				if !ok {
					t.Fatalf("no %q (in this order) in\n%s", part, b.String())
				}
				rest = after
			}
		})
	}
}

// TestIndexFindsMore: an index that ignores case finds what no partition key has.
func TestIndexFindsMore(t *testing.T) {
	in := seen(t, "CREATE TABLE k.t (id int PRIMARY KEY, v text)", "SELECT id FROM t WHERE v = ?")
	var err error
	if in.Schema, err = Define(in.Schema, "k", "CREATE CUSTOM INDEX i ON t (v) USING 'sai' WITH OPTIONS = {'case_sensitive': 'false'}"); err != nil {
		t.Fatal(err)
	}
	list := Lint(in).Findings
	if len(list) != 1 || list[0].Rule != IndexRead || list[0].Fix != nil || !strings.Contains(list[0].NoFix, "finds more than equal values (case_sensitive = false)") {
		t.Errorf("%+v", list)
	}
}

// TestNothingIsDroppedBeforeItWasCopied: what is printed is carried out as it stands, and a table that another replaces still has all rows then.
func TestNothingIsDroppedBeforeItWasCopied(t *testing.T) {
	in := seen(t, "CREATE TABLE k.t (a int, b int, c int, PRIMARY KEY (a, b))", "SELECT b, c FROM t WHERE a = ?", "INSERT INTO t (a, b, c) VALUES (?, ?, ?)")
	in.factOf(Reference{Keyspace: "k", Table: "t"}).Rows = 5e9
	list := Lint(in).Findings
	if len(list) != 1 || list[0].Rule != PartitionUnbounded || list[0].Fix == nil {
		t.Fatalf("%+v", list)
	}
	var b strings.Builder
	list[0].writeText(&b)
	if text := b.String(); strings.Contains(text, "DROP TABLE") || !strings.Contains(text, "k.t can be dropped once its rows were copied and nothing reads or writes it any more") {
		t.Error(text)
	}
}

// TestCase01 is a file with a table in CQL: the statement goes on with its order and its limit.
func TestCase01(t *testing.T) {
	w, err := workload.ReadAsIs("sensors.yaml", []byte(`name: sensors
model:
  entities:
  - {name: Sensor, count: 1000, key: [sensor], attributes: [{name: sensor, type: text, size: 8}]}
  - {name: Reading, count: 10000000, key: [rid], attributes: [{name: rid, type: timeuuid}, {name: at, type: timestamp}, {name: val, type: double}]}
  relationships:
  - {name: of, from: Reading, to: Sensor, kind: "n:1", forward: sensor, backward: readings}
statements:
- {id: last, weight: 5, text: "SELECT Reading.at, Reading.val FROM Reading.sensor WHERE Sensor.sensor = ? ORDER BY Reading.at DESC LIMIT 1"}
`))
	if err != nil {
		t.Fatal(err)
	}
	file := t.TempDir() + "/sensors.cql"
	if err := os.WriteFile(file, []byte("CREATE TABLE iot.readings (sensor text, at timestamp, rid timeuuid, val double, PRIMARY KEY (sensor, at, rid)) WITH comment = 'Reading.sensor';\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tables, err := given.LoadExisting(file, w.Graph)
	if err != nil {
		t.Fatal(err)
	}
	in, err := FromWorkload(w, tables)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range Lint(in).Findings {
		if f.Rule != OrderReversed {
			continue
		}
		if f.Fix == nil || !strings.HasSuffix(f.Fix.Statements[0], " ORDER BY at DESC LIMIT 1") || !strings.HasSuffix(f.Fix.CQL[0], "WITH CLUSTERING ORDER BY (at DESC, rid DESC)") {
			t.Errorf("%+v, %s", f.Fix, f.NoFix)
		}
		return
	}
	t.Error("no finding")
}

// TestNotAdvisedOn: of what is not known enough nothing is advised, and nothing of what is none of our business.
func TestNotAdvisedOn(t *testing.T) {
	const member = "CREATE TABLE k.member (group_id uuid, member_id uuid, role text, PRIMARY KEY (group_id, member_id))"
	in := seen(t, member, "SELECT * FROM member WHERE role = ? ALLOW FILTERING", "INSERT INTO sessions (id) VALUES (?)", "INSERT INTO queue (id) VALUES (?)")
	var err error
	if in.Schema, err = Define(in.Schema, "k", "CREATE TABLE other (id int PRIMARY KEY)", "CREATE TABLE sessions (id int PRIMARY KEY)", "CREATE TABLE queue (id int PRIMARY KEY)"); err != nil {
		t.Fatal(err)
	}
	in.Support = []Reference{{"k", "queue"}} // a statement that reads it was prepared
	in.Facts[Reference{"k", "member"}].Unmeasured = true
	for _, f := range Lint(in).Findings {
		switch {
		case f.Rule == TableScan:
			if f.Fix != nil || f.Severity != Warning || !strings.Contains(f.NoFix, "has not been measured yet") {
				t.Errorf("%+v %s", f.Fix, f.NoFix)
			}
		case f.Rule == UnusedTable && f.Table == "k.sessions": // written, never read: worth a note, and no DROP TABLE
			if f.Severity != Note || f.Fix != nil {
				t.Errorf("%+v", f)
			}
		default:
			t.Errorf("%s on %s", f.Rule, f.Table)
		}
	}
}

// TestIndexWithinAPartition: rows of a partition are found by an index on the column, too, be it Cassandra's, SASI or SAI (case 30).
func TestIndexWithinAPartition(t *testing.T) {
	for class, op := range map[string]string{"": "= ?", "USING 'sai'": ">= ?", "USING 'org.apache.cassandra.index.sasi.SASIIndex'": ">= ?"} {
		in := seen(t, "CREATE TABLE k.ev (dev text, ts timestamp, level int, PRIMARY KEY (dev, ts))", "SELECT * FROM ev WHERE dev = ? AND level "+op)
		custom := map[bool]string{true: "CUSTOM "}[strings.Contains(class, "org.")]
		var err error
		if in.Schema, err = Define(in.Schema, "k", fmt.Sprintf("CREATE %sINDEX i ON ev (level) %s", custom, class)); err != nil {
			t.Fatal(err)
		}
		for _, f := range Lint(in).Findings {
			t.Errorf("%s: %s, %s", class, f.Rule, f.Reason)
		}
	}
}

// drawn is a table, a SELECT of it and writes, at random.
func drawn(r *rapid.T) *Input {
	pick := func(name string, list ...string) string { return rapid.SampledFrom(list).Draw(r, name) }
	key := pick("key", "(a)", "(a, b)", "((a, b), c)", "(a, b, c)")
	order := map[string]string{"(a, b)": "b", "((a, b), c)": "c", "(a, b, c)": "b"}[key]
	table := fmt.Sprintf("CREATE TABLE k.t (a int, b int, c int, d int, e boolean, f set<text>, g text, PRIMARY KEY %s)", key)
	if order != "" && rapid.Bool().Draw(r, "desc") {
		table += " WITH CLUSTERING ORDER BY (" + order + " DESC)"
	}
	question := "SELECT " + pick("columns", "*", "a, b", "g, f, d", "count(*)", "c, e")
	var where []string
	for _, w := range []string{"a = ?", "b = ?", "b >= ?", "c = ?", "c < ?", "d = ?", "d > ?", "e = ?", "f CONTAINS ?", "a IN ?", "g = ?", "d IN ?"} {
		if rapid.IntRange(0, 4).Draw(r, w) == 0 && len(where) < 4 && !slices.ContainsFunc(where, func(x string) bool { return x[0] == w[0] }) {
			where = append(where, w)
		}
	}
	question += " FROM t"
	if len(where) > 0 {
		question += " WHERE " + strings.Join(where, " AND ")
	}
	if order != "" && slices.Contains(where, "a = ?") && rapid.Bool().Draw(r, "sorted") && (key != "((a, b), c)" || slices.Contains(where, "b = ?")) {
		question += " ORDER BY " + order + pick("direction", "", " DESC")
	}
	if rapid.Bool().Draw(r, "limited") {
		question += " LIMIT " + pick("limit", "1", "10", "?")
	}
	at := map[string]string{"(a)": "a = ?", "(a, b)": "a = ? AND b = ?"}[key]
	if at == "" {
		at = "a = ? AND b = ? AND c = ?"
	}
	var writes []string
	for _, w := range []string{
		"INSERT INTO t (a, b, c, d, e, f, g) VALUES (?, ?, ?, ?, ?, ?, ?)", "INSERT INTO t (a, b, c, d) VALUES (?, ?, ?, ?) IF NOT EXISTS", "UPDATE t SET d = ?, g = ? WHERE " + at,
		"UPDATE t SET f = f + ? WHERE " + at, "UPDATE t SET f = f - ?, e = ? WHERE " + at, "DELETE FROM t WHERE " + at, "DELETE d, f FROM t WHERE " + at,
		"DELETE FROM t WHERE a = ?", "UPDATE t SET d = ? WHERE " + at + " IF g = ?",
	} {
		if strings.HasSuffix(w, "WHERE a = ?") && key == "((a, b), c)" {
			continue
		}
		if rapid.IntRange(0, 2).Draw(r, w) == 0 {
			writes = append(writes, w)
		}
	}
	in := seen(r, table, question+" ALLOW FILTERING", writes...)
	in.Facts[Reference{"k", "t"}].Distinct = map[string]float64{"d": float64(rapid.IntRange(0, 40).Draw(r, "distinct"))}
	return in
}

// TestOfferedFixesChangeNoAnswer: whatever the table, the statement and the writes, what is offered passes on rows that it was not chosen by.
// And what it says is needed: without its LIMIT, its order, a column of its key, its deletions or its other writes answers differ.
func TestOfferedFixesChangeNoAnswer(t *testing.T) {
	offered, caught, tried := 0, map[string]int{}, map[string]int{}
	check := func(t interface{ Fatal(args ...any) }, in *Input, seed uint64) {
		for _, f := range Lint(in).Findings {
			if f.Fix == nil || len(f.Fix.asks) == 0 {
				continue
			}
			fix := *f.Fix
			if fix.maker != nil {
				fix.CQL = fix.maker.Fix.CQL
			}
			c, err := in.trialCase(&f, &fix)
			if err != nil {
				t.Fatal(err)
			}
			offered++
			if err := c.Run(seed); err != nil {
				t.Fatal(f.Rule, err, f.Fix.CQL, f.Fix.Statements)
			}
			for name, mutate := range mutants {
				const enough = 20
				own := *c
				own.Asks = slices.Clone(c.Asks)
				if tried[name] == enough || !mutate(&own) {
					continue
				}
				tried[name]++
				differs := false
				for seed := range uint64(2) {
					var differ *trial.DifferError
					differs = differs || errors.As(own.Run(seed), &differ)
				}
				if differs {
					caught[name]++
				}
			}
		}
	}
	const readings = "CREATE TABLE k.t (a int, b int, c int, d int, PRIMARY KEY (a, b, c)) WITH CLUSTERING ORDER BY (b DESC)" // random ones seldom have a fix whose order counts
	for _, question := range []string{"SELECT b, c FROM t WHERE a = ? AND d = ? ALLOW FILTERING", "SELECT * FROM t WHERE a = ? AND d = ? LIMIT 2 ALLOW FILTERING", "SELECT * FROM t WHERE a = ? AND c = ? ALLOW FILTERING"} {
		check(t, seen(t, readings, question, "INSERT INTO t (a, b, c, d) VALUES (?, ?, ?, ?)", "DELETE FROM t WHERE a = ? AND b = ?"), 1)
	}
	rapid.Check(t, func(r *rapid.T) { check(r, drawn(r), rapid.Uint64().Draw(r, "seed")) })
	t.Logf("%d fixes; of mutants tried %v caught %v", offered, tried, caught)
	if offered < 20 { // rapid was asked for few checks: no figures can be made of them
		if offered == 0 {
			t.Error("nothing was offered")
		}
		return
	}
	for name := range mutants {
		if tried[name] == 0 || caught[name]*2 < tried[name] { // some change nothing: a LIMIT of one row of a whole key, say
			t.Errorf("of %d fixes %s only %d were noticed", tried[name], name, caught[name])
		}
	}
}

// mutants are fixes with something left out; false: there is nothing to leave out.
var mutants = map[string]func(c *trial.Case) bool{
	"without LIMIT": func(c *trial.Case) bool {
		s := *c.Asks[0].New.Select
		had := !isCount(c.Asks[0].Old) && (s.Limit != nil || c.Asks[0].New.Limit != nil)
		s.Limit, c.Asks[0].New.Select, c.Asks[0].New.Limit = nil, &s, nil
		return had
	},
	"without the clustering order": func(c *trial.Case) bool {
		if c.Copy == nil || len(c.Asks[0].New.Select.OrderBy) > 0 || c.Asks[0].New.Each != "" || !inOnePartition(c.Asks[0].Old, c.Table) || isCount(c.Asks[0].Old) || wholeKey(c) {
			return false
		}
		had := false
		turn(c, func(i int) {
			x := &c.Copy.In.Columns[i]
			had = had || x.Kind == "clustering"
			x.Descending = !x.Descending
		})
		return had
	},
	"without a column of the key": func(c *trial.Case) bool {
		if c.Copy == nil || len(c.Copy.In.ClusteringKey()) == 0 {
			return false
		}
		key := c.Copy.In.ClusteringKey()
		last := key[len(key)-1].Name
		turn(c, func(i int) {
			if x := &c.Copy.In.Columns[i]; x.Name == last {
				x.Kind, x.Position = "regular", -1
			}
		})
		return true
	},
	"without deletions": func(c *trial.Case) bool { return forgotten(c, "DELETE FROM k.t_by") },
	"without insertions": func(c *trial.Case) bool { // what only takes away puts nothing that was not there
		whole := slices.ContainsFunc(c.Writes, func(w cql.Statement) bool { x, ok := w.(*cql.Insert); return ok && !x.IfNotExists })
		return whole && forgotten(c, "INSERT INTO k.t_by")
	},
}

// forgotten leaves the steps of an upkeep out that begin so.
func forgotten(c *trial.Case, step string) bool {
	if c.Copy == nil {
		return false
	}
	had := false
	c.Upkeep = slices.Clone(c.Upkeep)
	for i := range c.Upkeep {
		own := *c.Upkeep[i]
		n := len(own.Steps)
		own.Steps = slices.DeleteFunc(slices.Clone(own.Steps), func(s trial.Step) bool { return strings.HasPrefix(s.CQL, step) })
		had = had || len(own.Steps) < n
		c.Upkeep[i] = &own
	}
	return had
}

// wholeKey reports whether the question is about one row.
func wholeKey(c *trial.Case) bool {
	by := restrictionsOf(c.Asks[0].Old)
	return !slices.ContainsFunc(c.Table.PrimaryKey(), func(k schema.Column) bool { return by[k.Name] != equal })
}

// turn changes columns of the copy, in a schema of its own.
func turn(c *trial.Case, change func(i int)) {
	own, _ := Define(c.New, "k") // no statement, no error
	in := own.Table(c.Copy.In.Keyspace, c.Copy.In.Name)
	in.Columns = slices.Clone(in.Columns)
	copied := *c.Copy
	copied.In = in
	c.New, c.Copy = own, &copied
	for i := range in.Columns {
		change(i)
	}
}
