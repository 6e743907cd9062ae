package lint

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/advisor/given"
	"github.com/helenus-db/helenus/advisor/infer/infertest"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/rules"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/bench/generate"
	"github.com/helenus-db/helenus/capture/schema"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file) //nolint:gosec // our own file
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (run with -update if the change is meant; -want +got):\n%s", file, diff)
	}
}

// people has users and their videos; %s is the statements and tables of a case.
const people = `name: people
model:
  entities:
  - {name: User, count: 100000, key: [user_id], attributes: [{name: user_id, type: uuid}, {name: last_name, type: text, distinct: 20000}, {name: email, type: text}, {name: country, type: text, distinct: 100}, {name: registered, type: timestamp}, {name: one, type: int, distinct: 1}]}
  - {name: Video, count: 1000000, key: [video_id], attributes: [{name: video_id, type: uuid}, {name: title, type: text, distinct: 800000}, {name: uploaded, type: timestamp}]}
  relationships:
  - {name: uploads, from: Video, to: User, kind: "n:1", forward: user, backward: videos}
`

const (
	users  = "- {name: users, partition: [User.user_id], values: [User.last_name, User.email, User.country, User.registered, User.one]}\n"
	videos = "- {name: videos, paths: [Video.user], partition: [Video.video_id], values: [User.user_id, Video.title, Video.uploaded]}\n"
	both   = users + videos
)

// byName is a table of users by their last name, beside those that hold everything.
func byName(clustering, values string) string {
	return both + "- {name: by_name, partition: [User.last_name], clustering: [" + clustering + "], values: [" + values + "]}\n"
}

// emails asks for users' addresses by a condition.
func emails(where string) string { return "SELECT User.email FROM User WHERE " + where }

func input(t *testing.T, statements, tables string) *Input {
	t.Helper()
	w, err := workload.ReadAsIs("people.yaml", []byte(people+"statements:\n"+statements+"tables:\n"+tables))
	if err != nil {
		t.Fatal(err)
	}
	in, err := FromWorkload(w, w.Tables)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func query(text string) string { return "- {id: q, weight: 1, text: \"" + text + "\"}\n" }

// TestRules finds each rule's breach, and a fix that was tried.
func TestRules(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range []struct {
		name, query, tables string
		rule, table         string
		reason, fix         string // parts
		noFix               string
	}{
		{name: "D-35 the key of the entity is missing", query: emails("User.last_name = ?"),
			tables: both + "- {name: users_by_last_name, partition: [User.last_name], values: [User.email, User.user_id]}\n",
			rule:   KeyMissing, table: "users_by_last_name", reason: "lacks user_id of its key", fix: "PRIMARY KEY ((last_name), user_id)"},
		{name: "D-35 the key of the relationship is missing", query: "SELECT Video.title FROM Video.user WHERE User.user_id = ?",
			tables: both + "- {name: videos_by_user, paths: [Video.user], partition: [User.user_id], clustering: [Video.uploaded], values: [Video.title]}\n",
			rule:   KeyMissing, table: "videos_by_user", reason: "lacks video_id", fix: "PRIMARY KEY ((user_id), uploaded, video_id)"},
		{name: "MR1 no table", query: "SELECT Video.title FROM Video WHERE Video.title = ?", tables: users,
			rule: NoTable, reason: "no table", fix: "CREATE TABLE videos_by_title"},
		{name: "D-21 an attribute in no table", query: emails("User.user_id = ?"),
			tables: videos + "- {name: users, partition: [User.user_id], values: [User.email]}\n",
			rule:   AttributeNotStored, table: "users", reason: "User.last_name, User.country", fix: "ALTER TABLE users ADD country text"},
		{name: "D-12 table scan", query: emails("User.last_name = ?"), tables: both,
			rule: TableScan, table: "users", reason: "asks by last_name", fix: "PRIMARY KEY ((last_name), user_id)"},
		{name: "D-12 a scan of everything", query: "SELECT User.email FROM User", tables: both,
			rule: TableScan, table: "users", reason: "every partition", noFix: "asks for all rows"},
		{name: "an index", query: emails("User.country = ?"),
			tables: videos + "- {name: users, partition: [User.user_id], values: [User.last_name, User.email, User.country, User.registered, User.one], indexes: [{name: by_country, field: User.country}]}\n",
			rule:   IndexRead, table: "users", reason: "by index by_country", fix: "PRIMARY KEY ((country), user_id)"},
		{name: "D-28 a range of the partition key", query: emails("User.user_id > ?"), tables: both,
			rule: PartitionKeyRange, table: "users", reason: "user_id is compared by order", fix: "PRIMARY KEY ((helenus_bucket), user_id)"},
		{name: "D-26 inequality before equality", query: emails("User.last_name = ? AND User.registered > ? AND User.country = ?"),
			tables: byName("User.registered, User.country, User.user_id", "User.email"),
			rule:   InequalityFirst, table: "by_name", reason: "registered is compared by order and comes before country", fix: "PRIMARY KEY ((last_name, country), registered, user_id)"},
		{name: "D-27 two inequalities", query: emails("User.last_name = ? AND User.registered > ? AND User.country > ?"),
			tables: byName("User.registered, User.country, User.user_id", "User.email"),
			rule:   TwoInequalities, table: "by_name", reason: "registered and country", fix: "WHERE last_name = ? AND registered > ?"},
		{name: "D-23 a gap", query: emails("User.last_name = ? AND User.country = ?"),
			tables: byName("User.registered, User.country, User.user_id", "User.email"),
			rule:   ClusteringGap, table: "by_name", reason: "registered before it is not", fix: "PRIMARY KEY ((last_name, country), registered, user_id)"},
		{name: "D-23 filtering", query: emails("User.last_name = ? AND User.country = ?"),
			tables: byName("User.user_id", "User.email, User.country"),
			rule:   FilteringNeeded, table: "by_name", reason: "country is not in the primary key", fix: "PRIMARY KEY ((last_name, country), user_id)"},
		{name: "D-31 an order that is not kept", query: emails("User.last_name = ? ORDER BY User.registered DESC"),
			tables: byName("User.user_id", "User.email, User.registered"),
			rule:   OrderNotKept, table: "by_name", reason: "sorted by registered DESC", fix: "CLUSTERING ORDER BY (registered DESC, user_id ASC)"},
		{name: "D-33 mixed directions", query: emails("User.last_name = ? ORDER BY User.registered DESC, User.user_id"),
			tables: byName("User.registered, User.user_id", "User.email"),
			rule:   OrderNotKept, table: "by_name", reason: "registered DESC, user_id ASC", fix: "CLUSTERING ORDER BY (registered DESC, user_id ASC)"},
		{name: "D-32 the reverse order", query: emails("User.last_name = ? ORDER BY User.registered DESC"),
			tables: byName("User.registered, User.user_id", "User.email"),
			rule:   OrderReversed, table: "by_name", reason: "the other way round", fix: "CLUSTERING ORDER BY (registered DESC, user_id DESC)"},
		{name: "D-12 several partitions", query: emails("User.user_id IN (?, ?)"), tables: both,
			rule: SeveralPartitions, table: "users", reason: "several partitions", fix: "WHERE user_id = ?"},
		{name: "D-14 a join by hand", query: "SELECT User.email FROM Video.user WHERE Video.video_id = ?", tables: both,
			rule: MultiTable, table: "videos, users", reason: "one after the other", fix: "PRIMARY KEY ((video_id))"},
		{name: "D-13 too large a partition", query: "SELECT Video.title FROM Video.user WHERE User.country = ?",
			tables: both + "- {name: by_country, paths: [Video.user], partition: [User.country], clustering: [Video.video_id], values: [Video.title], rows: 90000000}\n",
			rule:   PartitionUnbounded, table: "by_country", reason: "about 900000 rows", fix: "PRIMARY KEY ((country, helenus_bucket), video_id)"},
		{name: "D-13 a partition that grows", query: emails("User.country = ?"),
			tables: both + "- {name: by_country, partition: [User.country], clustering: [User.user_id], values: [User.email]}\n",
			rule:   PartitionUnbounded, table: "by_country", reason: "country, which is no entity's key", fix: "helenus_bucket int"},
		{name: "D-13 everything in one partition", query: emails("User.one = ?"),
			tables: both + "- {name: everyone, partition: [User.one], clustering: [User.user_id], values: [User.email]}\n",
			rule:   OnePartition, table: "everyone", reason: "100000 rows are one partition", fix: "PRIMARY KEY ((one, helenus_bucket), user_id)"},
		{name: "nobody reads it", query: emails("User.user_id = ?"),
			tables: byName("User.user_id", "User.email"),
			rule:   UnusedTable, table: "by_name", reason: "no statement reads it", fix: "DROP TABLE by_name"},
		{name: "nobody reads it, and nothing else stores it", query: emails("User.user_id = ?"), tables: both,
			rule: UnusedTable, table: "videos", reason: "no statement reads it", noFix: "no other table stores Video.video_id"},
		{name: "a copy of a part", query: emails("User.user_id = ?"),
			tables: both + "- {name: emails, partition: [User.user_id], values: [User.email]}\n",
			rule:   DuplicateTable, table: "emails", reason: "primary key of users", fix: "DROP TABLE emails"},
		{name: "D-44 not static", query: "SELECT User.email, Video.title FROM Video.user WHERE User.user_id = ?",
			tables: both + "- {name: by_user, paths: [Video.user], partition: [User.user_id], clustering: [Video.video_id], values: [User.email, Video.title]}\n",
			rule:   NotStatic, table: "by_user", reason: "email", fix: "email text STATIC"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := Lint(input(t, query(c.query), c.tables))
			seen[c.rule] = true
			i := slices.IndexFunc(r.Findings, func(f Finding) bool { return f.Rule == c.rule && f.Table == c.table })
			if i < 0 {
				var b bytes.Buffer
				_ = r.Text(&b)
				t.Fatalf("no %s on %q:\n%s", c.rule, c.table, b.String())
			}
			f := r.Findings[i]
			if !strings.Contains(f.Reason, c.reason) {
				t.Errorf("reason %q, want ...%s...", f.Reason, c.reason)
			}
			if c.noFix != "" {
				if f.Fix != nil || !strings.Contains(f.NoFix, c.noFix) {
					t.Errorf("fix %+v, because %q; want none, %s", f.Fix, f.NoFix, c.noFix)
				}
				return
			}
			if f.Fix == nil {
				t.Fatalf("no fix: %s", f.NoFix)
			}
			if text := strings.Join(append(f.Fix.CQL, f.Fix.Statements...), "\n"); !strings.Contains(text, c.fix) {
				t.Errorf("fix\n%s\nwant ...%s...", text, c.fix)
			}
		})
	}
	for _, r := range Rules {
		if !seen[r.ID] && r.ID != StatementNotAccepted { // of statements that are live, below
			t.Errorf("no case for %s", r.ID)
		}
	}
}

// TestGood finds nothing in tables that the mapping rules make.
func TestGood(t *testing.T) {
	r := Lint(input(t, query("SELECT User.email FROM User WHERE User.last_name = ? AND User.registered > ? ORDER BY User.registered DESC"),
		both+"- {name: by_name, partition: [User.last_name], clustering: [User.registered, User.user_id], desc: [User.registered], values: [User.email]}\n"))
	for _, f := range r.Findings {
		if f.Rule != UnusedTable {
			t.Errorf("%s: %s", f.Rule, f.Reason)
		}
	}
}

func load(t *testing.T, name string) *workload.Workload {
	t.Helper()
	w, err := workload.Load(filepath.Join("../../examples/designs", name))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestExamples holds the findings of the hotel, and of KillrVideo's public schema, which is sound: what is said of it are notes.
func TestExamples(t *testing.T) {
	for _, name := range []string{"hotel", "killrvideo"} {
		w := load(t, name+".yaml")
		in, err := FromWorkload(w, w.Tables)
		if err != nil {
			t.Fatal(err)
		}
		r := Lint(in)
		var b bytes.Buffer
		if err := r.Text(&b); err != nil {
			t.Fatal(err)
		}
		golden(t, name+".txt", b.Bytes())
		if name == "killrvideo" && r.Worst(Warning) {
			t.Error("D-53: warnings about KillrVideo")
		}
	}
}

// TestD53SchemaAsCQL: the public schema read as CQL is the one in the workload's file.
func TestD53SchemaAsCQL(t *testing.T) {
	w := load(t, "killrvideo.yaml")
	tables, err := given.LoadExisting("../../examples/designs/killrvideo.cql", w.Graph)
	if err != nil {
		t.Fatal(err)
	}
	var texts [2]bytes.Buffer
	for i, list := range [][]*model.Table{w.Tables, tables} {
		in, err := FromWorkload(w, list)
		if err != nil {
			t.Fatal(err)
		}
		if err := Lint(in).Text(&texts[i]); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(texts[0].String(), texts[1].String()); diff != "" {
		t.Error(diff)
	}
}

// TestLiveHotel looks at the traffic of the sample application.
func TestLiveHotel(t *testing.T) {
	in, err := FromSnapshot(infertest.Hotel().Snapshot(), infertest.HotelSchema(), infertest.HotelStatistics(), nil)
	if err != nil {
		t.Fatal(err)
	}
	r := Lint(in)
	var b bytes.Buffer
	if err := r.Text(&b); err != nil {
		t.Fatal(err)
	}
	golden(t, "live.txt", b.Bytes())
	count := map[string]int{}
	for _, f := range r.Findings {
		count[f.Rule]++
	}
	if count[TableScan] != 2 || count[IndexRead] != 1 || count[MultiTable] < 1 {
		t.Errorf("%v", count)
	}
	for _, s := range r.Statements { // D-12: each has exactly one class, and the one that capture/schema says
		if s.Class != "" && s.Access != rules.AccessOf(s.Class) {
			t.Errorf("%s: %s and %s", s.Statement, s.Access, s.Class)
		}
	}
}

// TestD12Classes agrees with capture/schema on all classes.
func TestD12Classes(t *testing.T) {
	for class, want := range map[schema.Class]rules.Access{
		schema.Row: rules.Partition, schema.Partition: rules.Partition, schema.MultiPartition: rules.Partitions, schema.IndexRead: rules.Partitions,
		schema.Scan: rules.TableScan, schema.Unknown: rules.None,
	} {
		got := rules.AccessOf(class)
		if got != want || class != schema.IndexRead && string(got) != class.Pattern() {
			t.Errorf("%s: %s, want %s; capture says %s", class, got, want, class.Pattern())
		}
	}
}

// TestRefused: a statement that no server takes.
func TestRefused(t *testing.T) {
	s, err := Define(nil, "k", "CREATE TABLE t (a int, b int, c text, PRIMARY KEY (a, b))")
	if err != nil {
		t.Fatal(err)
	}
	read, err := parseSelect("SELECT a FROM k.t WHERE nope = 1")
	if err != nil {
		t.Fatal(err)
	}
	r := Lint(&Input{Schema: s, Questions: []Question{{ID: "1", Reads: []Read{{Select: read}}}}})
	if len(r.Findings) == 0 || r.Findings[0].Rule != StatementNotAccepted || r.Findings[0].NoFix == "" {
		t.Errorf("%+v", r.Findings)
	}
}

// TestMultiColumnSlice: (a, b) > (?, ?) is one range (D-27), not two.
func TestMultiColumnSlice(t *testing.T) {
	s, err := Define(nil, "k", "CREATE TABLE t (p int, a int, b int, c int, PRIMARY KEY (p, a, b, c))")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"SELECT c FROM k.t WHERE p = 1 AND (a, b) > (1, 2)":   "",
		"SELECT c FROM k.t WHERE p = 1 AND a > 1 AND b > 2":   TwoInequalities,
		"SELECT c FROM k.t WHERE p = 1 AND a > 1 AND a < 9":   "",
		"SELECT c FROM k.t WHERE p = 1 AND a = 1 AND b > 2":   "",
		"SELECT c FROM k.t WHERE p = 1 AND a > 1 AND b = 2":   InequalityFirst,
		"SELECT c FROM k.t WHERE p = 1 AND b = 2":             ClusteringGap,
		"SELECT c FROM k.t WHERE token(p) > 1":                TableScan,
		"SELECT c FROM k.t WHERE p = 1 ORDER BY a DESC":       OrderReversed,
		"SELECT c FROM k.t WHERE p = 1 AND a = 1 ORDER BY b":  "",
		"SELECT c FROM k.t WHERE p IN (1, 2) AND a = 1":       SeveralPartitions,
		"SELECT c FROM k.t WHERE p = 1 AND a = 1 AND b IN ?":  "",
		"SELECT c FROM k.t WHERE a = 1 AND b = 2":             TableScan,
		"SELECT c FROM k.t WHERE p > 1 AND a = 2":             PartitionKeyRange,
		"SELECT c FROM k.t WHERE p = 1 AND a = 1 ORDER BY a ": "",
	} {
		read, err := parseSelect(text)
		if err != nil {
			t.Fatal(err)
		}
		in := &Input{Schema: s}
		got := ""
		for _, f := range in.checkQuestion(&Question{ID: "1", Reads: []Read{{Select: read, Client: true}}}) {
			got += f.Rule
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// officialSchema is the schema of SARIF 2.1.0 as go-sarif carries it, in a variable of its own that can be read in its source only
// (its Validate is of its own types, which write null where there is nothing).
func officialSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", reflect.TypeFor[sarif.Report]().PkgPath()).Output()
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(strings.TrimSpace(string(dir)), "schema.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	ast.Inspect(file, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING && len(l.Value) > len(text) {
			text = l.Value
		}
		return true
	})
	if text, err = strconv.Unquote(text); err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("sarif.json", document); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("sarif.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSARIF holds SARIF to the official schema, with nothing in it that the format does not know.
func TestSARIF(t *testing.T) {
	official := officialSchema(t)
	wrong := func(text []byte) string {
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err == nil {
			err = official.Validate(document)
		}
		if err != nil {
			return err.Error()
		}
		return ""
	}
	w := load(t, "hotel.yaml")
	in, err := FromWorkload(w, w.Tables)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../examples/designs/hotel.yaml")
	if err != nil {
		t.Fatal(err)
	}
	live, err := FromSnapshot(infertest.Hotel().Snapshot(), infertest.HotelSchema(), infertest.HotelStatistics(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		report *Report
		at     Places
	}{
		"file": {Lint(in), Places{File: "examples/designs/hotel.yaml", Text: string(text)}}, "live": {Lint(live), Places{}}, "nothing": {&Report{}, Places{}},
		"absolute": {Lint(in), Places{File: "/a b/hotel.yaml", Text: string(text)}},
	} {
		var b bytes.Buffer
		if err := c.report.SARIF(&b, "1.2", c.at); err != nil {
			t.Fatal(err)
		}
		strict := json.NewDecoder(bytes.NewReader(b.Bytes()))
		strict.DisallowUnknownFields()
		var log sarif.Report
		if err := strict.Decode(&log); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := wrong(b.Bytes()); got != "" {
			t.Errorf("%s: %s", name, got)
		}
		if name == "file" {
			golden(t, "hotel.sarif", b.Bytes())
			line := log.Runs[0].Results[0].Locations[0].PhysicalLocation.Region.StartLine
			if lines := strings.Split(string(text), "\n"); !strings.Contains(lines[*line-1], "id: guest-reservations") {
				t.Errorf("line %d: %s", *line, lines[*line-1])
			}
			if wrong(bytes.Replace(b.Bytes(), []byte(`"results"`), []byte(`"result"`), 1)) == "" && wrong(bytes.Replace(b.Bytes(), []byte(`"tool"`), []byte(`"tols"`), 1)) == "" {
				t.Error("the schema takes everything")
			}
		}
	}
}

// TestFixesHold: whatever the workload and however bad its tables, no fix leaves its finding. That is what try says; here it is said
// by linting all anew.
func TestFixesHold(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		w := generate.Varied(rapid.Uint64().Draw(r, "seed"))
		tables := made(r, w)
		in, err := FromWorkload(w, tables)
		if err != nil {
			r.Fatal(err)
		}
		for _, f := range Lint(in).Findings {
			if f.Fix == nil {
				if f.NoFix == "" {
					r.Errorf("%s: neither a fix nor a reason", f.Rule)
				}
				continue
			}
			before := in
			if m := f.Fix.maker; m != nil {
				if before, err = in.applyFix(m, m.Fix); err != nil {
					r.Fatal(err)
				}
			}
			after, err := before.applyFix(&f, f.Fix)
			if err != nil {
				r.Fatal(err)
			}
			for _, again := range Lint(after).Findings {
				if again.key() == f.key() && f.Rule != AttributeNotStored {
					r.Errorf("%s on %s, statement %s: still there after %v", f.Rule, f.Table, f.Statement, f.Fix.CQL)
				}
			}
		}
	})
}

// TestFixesFitTogether: all fixes that make tables can be carried out one after the other, whatever the workload.
func TestFixesFitTogether(t *testing.T) {
	shared, renamed := 0, 0
	rapid.Check(t, func(r *rapid.T) {
		w := generate.Varied(rapid.Uint64().Draw(r, "seed"))
		in, err := FromWorkload(w, made(r, w))
		if err != nil {
			r.Fatal(err)
		}
		all := in.Schema
		for _, f := range Lint(in).Findings {
			if f.Fix == nil {
				continue
			}
			if f.Fix.maker != nil {
				shared++
			}
			for _, text := range f.Fix.CQL {
				if strings.HasPrefix(text, "CREATE TABLE") {
					if strings.Contains(text, "_2 (") {
						renamed++
					}
					if all, err = Define(all, f.on.Keyspace, text); err != nil {
						r.Fatal(err)
					}
				}
			}
			for _, text := range f.Fix.Statements {
				if read, err := parseSelect(text); err != nil || f.Fix.question != nil && all.Table(read.Table.In(f.on.Keyspace).Keyspace, read.Table.Table) == nil {
					r.Errorf("%s reads what no fix has made: %v", text, err)
				}
			}
		}
	})
	if renamed == 0 { // that two share a table is TestOneTableForTwoFixes' to say
		t.Errorf("%d fixes shared a table, none was given another name: nothing was tried", shared)
	}
}

// TestOneTableForTwoFixes: two statements that want the same key are served by one table.
func TestOneTableForTwoFixes(t *testing.T) {
	list := Lint(input(t, query(emails("User.country = ?"))+strings.Replace(query("SELECT User.registered FROM User WHERE User.country = ?"), "id: q", "id: r", 1), both)).Findings
	list = slices.DeleteFunc(list, func(f Finding) bool { return f.Rule != TableScan })
	if len(list) != 2 || len(list[0].Fix.CQL) != 1 || len(list[1].Fix.CQL) != 0 {
		t.Fatalf("%+v", list)
	}
	for _, part := range []string{"email text", "registered timestamp", "PRIMARY KEY ((country), user_id)"} {
		if !strings.Contains(list[0].Fix.CQL[0], part) {
			t.Errorf("no %s in %s", part, list[0].Fix.CQL[0])
		}
	}
	if !strings.Contains(list[0].Fix.Says, "serves L4, statement r, too") || !strings.Contains(list[1].Fix.Says, "the fix of L4, statement q makes") {
		t.Errorf("%s\n%s", list[0].Fix.Says, list[1].Fix.Says)
	}
}

// made makes tables for some queries, by the rules and then changed for the worse.
func made(r *rapid.T, w *workload.Workload) []*model.Table {
	var tables []*model.Table
	taken := map[string]bool{}
	for _, s := range w.Statements {
		if s.Query == nil {
			continue
		}
		trace, err := rules.Map(s.Query)
		if err != nil || taken[trace.Name] || len(tables) > 5 {
			continue
		}
		taken[trace.Name] = true
		t := trace.Table
		t.Existing, t.Static = true, nil
		if n := len(t.Clustering); n > 0 && rapid.Bool().Draw(r, "shorter") {
			last := t.Clustering[n-1]
			t.Clustering = slices.Clone(t.Clustering[:n-1])
			t.Desc = slices.DeleteFunc(slices.Clone(t.Desc), func(f model.Field) bool { return f == last })
			t.Values = append(slices.Clone(t.Values), last)
		}
		if n := len(t.Clustering); n > 1 && rapid.Bool().Draw(r, "turned") {
			t.Clustering = slices.Clone(t.Clustering)
			slices.Reverse(t.Clustering)
		}
		tables = append(tables, t)
	}
	return tables
}

// TestTopDownD1D2: from a conceptual model and its queries (D-1) the mapping rules make tables, by themselves and in one direction, and what
// they make is right (D-2): analysed again as tables, each query that has a condition finds its rows by key in one table, in order, and no
// row is lost.
func TestTopDownD1D2(t *testing.T) {
	for _, name := range []string{"hotel", "killrvideo", "twissandra", "rubis", "eac"} {
		w := load(t, name+".yaml")
		var tables []*model.Table
		of := map[string]bool{} // queries that the rules have a whole answer for
		for _, s := range w.Statements {
			if s.Query == nil {
				continue
			}
			trace, err := rules.Map(s.Query)
			if err != nil {
				t.Fatalf("%s, %s: %v", name, s.ID, err)
			}
			trace.Table.Name, trace.Table.Existing = fmt.Sprintf("t%d", len(tables)+1), true
			tables = append(tables, trace.Table)
			of[s.ID] = len(trace.Left) == 0
		}
		in, err := FromWorkload(w, tables)
		if err != nil {
			t.Fatal(err)
		}
		whole := 0
		for _, f := range in.allFindings() {
			bad := slices.Contains([]string{TableScan, IndexRead, PartitionKeyRange, InequalityFirst, ClusteringGap, FilteringNeeded, OrderNotKept, MultiTable}, f.Rule) && of[f.Statement]
			if bad || f.Rule == KeyMissing || f.Rule == NoTable || f.Rule == StatementNotAccepted {
				t.Errorf("%s: %s on %s, statement %s: %s", name, f.Rule, f.Table, f.Statement, f.Reason)
			}
		}
		for _, yes := range of {
			if yes {
				whole++
			}
		}
		if whole < 3 {
			t.Errorf("%s: %d queries: nothing was tried", name, whole)
		}
	}
}
