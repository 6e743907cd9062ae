package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/advisor/lint"
	"github.com/helenus-db/helenus/internal/cassandra/cassandratest"
)

const designs = "../../examples/designs/"

// lossy is a workload whose table overwrites rows: nothing can be designed over it, and lint says why.
const lossy = `name: lossy
model:
  entities:
  - {name: User, count: 100, key: [user_id], attributes: [{name: user_id, type: uuid}, {name: name, type: text, distinct: 50}]}
statements:
- {id: by-name, weight: 1, text: "SELECT User.user_id FROM User WHERE User.name = ?"}
tables:
- {name: users_by_name, partition: [User.name], values: [User.user_id]}
`

func TestLintBadInput(t *testing.T) {
	hotel := designs + "hotel.yaml"
	wrong := written(t, "wrong.cql", "CREATE TABLE hotels (nope uuid PRIMARY KEY);")
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"nothing":                    {nil, "name a FILE, or --live"},
		"both":                       {[]string{hotel, "--live"}, "and not both"},
		"no such file":               {[]string{"nowhere.yaml"}, "nowhere.yaml"},
		"no YAML":                    {[]string{written(t, "no.yaml", "\x00")}, "no.yaml"},
		"an unknown schema":          {[]string{hotel, "--schema", "nothing"}, "nothing"},
		"a schema of another model":  {[]string{hotel, "--schema", wrong}, "column nope is no attribute of the model"},
		"two sets of tables":         {[]string{hotel, "--designed", "--schema", "x"}, "name one"},
		"live and a schema":          {[]string{"--live", "--schema", "x"}, "leave --schema"},
		"two forms":                  {[]string{hotel, "--json", "--sarif"}, "name one"},
		"an unknown severity":        {[]string{hotel, "--fail-on", "eror"}, `no severity is called "eror"; nearest is "error"`},
		"no tables":                  {[]string{written(t, "none.yaml", small[:strings.Index(small, "- {id: rates")]+"[]\n")}, "has no tables, and no statements to design any for"},
		"a design over lossy tables": {[]string{written(t, "lossy.yaml", lossy), "--designed"}, "its rows overwrite each other"},
		"a cycle":                    {[]string{written(t, "cycle.yaml", strings.Replace(small, "FROM Room.hotel ", "FROM Room.hotel.owner AS o, Room.owner AS o ", 1))}, "closes a circle"},
		"an unknown entity":          {[]string{written(t, "unknown.yaml", strings.Replace(lossy, "FROM User", "FROM Usr", 1))}, `"Usr"`},
		"a contradictory hierarchy": {[]string{written(t, "contradiction.yaml", strings.Replace(lossy, "{name: name, type: text, distinct: 50}]}",
			"{name: name, type: text, distinct: 50}], hierarchy: {type: name, disjoint: false, subtypes: [{name: Admin}]}}", 1))}, "must be set<text>"},
		"too many files": {[]string{hotel, hotel}, "accepts at most 1"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err, code := executed(t, "lint", c.args...)
			if err == nil || code != exitUsage || !strings.Contains(err.Error(), c.want) || out != "" {
				t.Errorf("exit %d: %v; printed %q\nwant ...%s...", code, err, out, c.want)
			}
		})
	}
}

// TestLintExitCodes: 3 with findings as bad as --fail-on, 0 without.
func TestLintExitCodes(t *testing.T) {
	good := designs + "killrvideo.yaml" // of which there are notes
	for _, c := range []struct {
		args []string
		code int
	}{
		{[]string{designs + "hotel.yaml"}, exitFindings},
		{[]string{designs + "hotel.yaml", "--fail-on", "error"}, exitFindings},
		{[]string{designs + "hotel.yaml", "--fail-on", "never"}, 0},
		{[]string{good}, 0},
		{[]string{good, "--fail-on", "note"}, exitFindings},
		{[]string{good, "--schema", designs + "killrvideo.cql", "--sarif"}, 0},
		{[]string{written(t, "small.yaml", small), "--designed", "--fail-on", "error", "--json"}, 0},
	} {
		if out, err, code := executed(t, "lint", c.args...); code != c.code || out == "" {
			t.Errorf("%v: exit %d, want %d: %v", c.args, code, c.code, err)
		}
	}
}

// TestLintFindsLostRows: D-35, of a file that helenus design refuses, and of a CQL schema.
func TestLintFindsLostRows(t *testing.T) {
	file := written(t, "lossy.yaml", lossy)
	if _, err, code := designed(t, file); code != exitUsage || !strings.Contains(err.Error(), "rows can share a primary key") {
		t.Errorf("design: exit %d: %v", code, err)
	}
	schema := written(t, "lossy.cql", "CREATE TABLE users_by_name (name text PRIMARY KEY, user_id uuid);")
	for _, args := range [][]string{{file}, {file, "--schema", schema}} {
		out, _, code := executed(t, "lint", append(args, "--json")...)
		var r lint.Report
		if err := json.Unmarshal([]byte(out), &r); err != nil || code != exitFindings {
			t.Fatalf("exit %d: %v", code, err)
		}
		if f := r.Findings[0]; f.Rule != lint.KeyMissing || f.Fix == nil || !strings.Contains(f.Fix.CQL[0], "PRIMARY KEY ((name), user_id)") {
			t.Errorf("%v: %+v", args, f)
		}
	}
	out, _, _ := executed(t, "lint", file, "--schema", schema, "--sarif")
	if !strings.Contains(out, "lossy.cql") || !strings.Contains(out, `"startLine": 1`) {
		t.Errorf("SARIF does not name the schema's file:\n%s", out)
	}
}

// TestTraceFile: D-37, each query of a file by MR1 to MR5.
func TestTraceFile(t *testing.T) {
	for _, name := range []string{"hotel", "rubis", "twissandra", "killrvideo", "eac"} {
		out, err, _ := executed(t, "trace", designs+name+".yaml", "--json")
		if err != nil {
			t.Fatal(err)
		}
		var doc struct {
			Statements []struct {
				Statement, Pattern, CQL string
				Steps                   []struct{ Rule string }
			}
			Unsupported []struct{ Statement, Reason string }
		}
		if err := json.Unmarshal([]byte(out), &doc); err != nil {
			t.Fatal(err)
		}
		w, err := loadWorkload(designs + name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		if len(doc.Statements)+len(doc.Unsupported) != len(w.Statements) {
			t.Errorf("%s: %d traced, %d not, of %d", name, len(doc.Statements), len(doc.Unsupported), len(w.Statements))
		}
		for _, s := range doc.Statements {
			if len(s.Steps) != 5 || s.Pattern == "" || !strings.HasPrefix(s.CQL, "CREATE TABLE ") {
				t.Errorf("%s: %+v", name, s)
			}
		}
		for _, u := range doc.Unsupported {
			if w.Statement(u.Statement).Query != nil {
				t.Errorf("%s: %s: %s", name, u.Statement, u.Reason)
			}
		}
	}
	out, err, _ := executed(t, "trace", designs+"killrvideo.yaml")
	if err != nil || !strings.Contains(out, "MR4  Video.added_date, Video.videoid") || !strings.Contains(out, "Not for this method") {
		t.Errorf("%v\n%s", err, out)
	}
	if _, err, code := executed(t, "trace", "nowhere.yaml"); code != exitUsage || !strings.Contains(err.Error(), "nowhere.yaml") {
		t.Errorf("exit %d: %v", code, err)
	}
	beef := filepath.Join(t.TempDir(), "beef") // a file of such a name is one if it is called by its path
	if err := os.WriteFile(beef, []byte(lossy), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err, _ := executed(t, "trace", beef); err != nil || !strings.Contains(out, "MR5") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestLintLive looks at a running process over a real Cassandra: tables, statements and a fix that Cassandra takes.
func TestLintLive(t *testing.T) {
	direct, keyspace := cassandratest.Keyspace(t)
	contact := cassandratest.ContactPoints(t)[0]
	for _, text := range []string{
		"CREATE TABLE " + keyspace + ".users (id uuid PRIMARY KEY, name text, born int)",
		"CREATE TABLE " + keyspace + ".events (place text, year int, at timestamp, what text, PRIMARY KEY (place, year, at))",
	} {
		if err := direct.Query(text).Exec(); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 200 { // more than are read as a whole anyhow
		if err := direct.Query("INSERT INTO "+keyspace+".users (id, name, born) VALUES (uuid(), ?, 1980)", fmt.Sprint("user ", i%50)).Exec(); err != nil {
			t.Fatal(err)
		}
	}
	p := newProcess(t, contact, "--topology", "single", "--keyspaces", keyspace)
	p.start()
	p.awaitReady()
	through, err := cassandratest.Config(t, p.listen).CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	defer through.Close()
	for range 30 {
		for _, text := range []string{
			"INSERT INTO " + keyspace + ".users (id, name, born) VALUES (" + gocql.TimeUUID().String() + ", 'ann', 1980)",
			"INSERT INTO " + keyspace + ".events (place, year, at, what) VALUES ('x', 2020, '2020-01-01', 'a storm')",
			"SELECT id FROM " + keyspace + ".users WHERE name = 'ann' ALLOW FILTERING",
			"SELECT what FROM " + keyspace + ".events WHERE place = 'x' AND year > 2000 AND at = '2020-01-01' ALLOW FILTERING",
			"SELECT what FROM " + keyspace + ".events WHERE place = 'x' ORDER BY year DESC",
		} {
			if err := through.Query(text).Exec(); err != nil {
				t.Fatal(err)
			}
		}
	}
	var r lint.Report
	await(t, "all statements are linted, over tables that were measured", func() bool {
		r = lint.Report{} // what is left out of an answer is nothing
		if err := p.client().Get(context.Background(), "lint", &r); err != nil {
			return false
		}
		found := map[string]bool{}
		for _, f := range r.Findings {
			found[f.Rule] = true
			if strings.Contains(f.NoFix, "not been measured yet") {
				return false
			}
		}
		return found[lint.TableScan] && found[lint.InequalityFirst] && found[lint.OrderReversed]
	})
	for _, f := range r.Findings {
		if f.Statement == "" {
			continue
		}
		if f.Fix == nil {
			t.Errorf("%s: no fix: %s", f.Rule, f.NoFix)
			continue
		}
		for _, text := range f.Fix.CQL { // Cassandra takes it, and the statement without ALLOW FILTERING
			if err := direct.Query(text).Exec(); err != nil {
				t.Errorf("%s: %v", text, err)
			}
		}
		for _, text := range f.Fix.Statements {
			if err := prepare(direct, text); err != nil {
				t.Errorf("%s: %v", text, err)
			}
		}
	}
	code, out := command(t, p, "lint", "--live", "--fail-on", "error")
	if code != exitFindings || !strings.Contains(out, "L4 table-scan  "+keyspace+".users") {
		t.Errorf("exit %d:\n%s", code, out)
	}
	if code, out := command(t, p, "lint", "--live", "--sarif", "--fail-on", "never"); code != 0 || !strings.Contains(out, `"ruleId": "L7"`) {
		t.Errorf("exit %d:\n%s", code, out)
	}
}

// prepare has a statement prepared: what the driver says of values that are missing does not matter, what the server says does.
func prepare(s *gocql.Session, text string) error {
	err := s.Query(text).Exec()
	if refused := gocql.RequestError(nil); errors.As(err, &refused) {
		return err
	}
	return nil
}
