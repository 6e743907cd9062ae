package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/helenus-db/helenus/advisor/lint"
	"github.com/helenus-db/helenus/advisor/rules"
)

// verdicts and metrics say what the ids of the other two methods mean; the test finds those that are missing.
var (
	verdicts = [][2]string{
		{"SAFE", "no group can have two writers"},
		{"SAFE-IF", "none can if what is listed holds: a dependency that is only probable, or a guessed principal"},
		{"UNSAFE-COLD", "two writers can meet; no one saw it, and the chance is below 1 %"},
		{"UNSAFE-MITIGATED", "two can meet, but a bucket or shard spreads them"},
		{"UNSAFE", "two can meet; too little is known to say how bad it is"},
		{"UNSAFE-HOT", "two can meet, and do: by rate, failures, overlaps, share or size"},
	}
	metrics = [][2]string{
		{"1", "requests per write, weighted by how often it runs, look-ups included"},
		{"2a", "bytes of a row of each table per bytes of all fields stored once"},
		{"2b", "rows that precomputed joins may add, at most; all options of a workload share it"},
		{"3a", "cost of a query's look-up: by row key or by index"},
		{"3b", "cost of the bytes that a query reads and did not ask for"},
	}
)

// TestRulesPage keeps docs/rules.md what the program says: every id that it prints can be looked up there.
func TestRulesPage(t *testing.T) {
	page := rulesPage(t)
	const file = "../../docs/rules.md"
	if *update {
		if err := os.WriteFile(file, []byte(page), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(text), page); diff != "" {
		t.Errorf("%s is not what the program says (run with -update; -page +program):\n%s", file, diff)
	}
	for _, id := range append(constants(t, "../../advisor/safety", "Verdict"), metricsOf(t)...) {
		if !strings.Contains(page, "| "+id+" |") {
			t.Errorf("%s has no %s", file, id)
		}
	}
	for _, name := range []string{"../../docs/safety.md", "../../docs/options.md"} {
		own, err := os.ReadFile(name) //nolint:gosec // our own pages
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range regexp.MustCompile(`(?m)^\| ((?:UN)?SAFE[A-Z-]*|[1-3][ab]) \|`).FindAllStringSubmatch(string(own), -1) {
			if !strings.Contains(page, "| "+row[1]+" |") {
				t.Errorf("%s speaks of %s, and %s does not", name, row[1], file)
			}
		}
	}
}

// constants are the values of the constants of a type, in the source of a package.
func constants(t *testing.T, folder, of string) []string {
	t.Helper()
	files, err := filepath.Glob(folder + "/*.go")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 {
				return true
			}
			if x, ok := spec.Type.(*ast.Ident); !ok || x.Name != of {
				return true
			}
			if l, ok := spec.Values[0].(*ast.BasicLit); ok {
				v, err := strconv.Unquote(l.Value)
				if err != nil {
					t.Fatal(err)
				}
				out = append(out, v)
			}
			return true
		})
	}
	if len(out) < 2 {
		t.Fatalf("no constants of %s in %s: is it called otherwise now?", of, folder)
	}
	return out
}

// metricsOf are the numbers of the metrics that the source of package options speaks of.
func metricsOf(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../../advisor/options/metrics.go")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, m := range regexp.MustCompile(`metric ([1-3][ab]?)`).FindAllStringSubmatch(string(text), -1) {
		if !slices.Contains(out, m[1]) {
			out = append(out, m[1])
		}
	}
	if len(out) != len(metrics) {
		t.Fatalf("metrics %v: are they called otherwise now?", out)
	}
	return out
}

// rulesPage writes the page.
func rulesPage(t *testing.T) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line(`# Rules: what the ids mean

Generated from the program by ` + "`go test ./cmd/helenus -run RulesPage -update`" + `. The first four tables are of the query-driven method
(Chebotko's), whose tools are

` + "```" + `
bin/helenus trace examples/designs/killrvideo.yaml             # how each query becomes a table, rule by rule
bin/helenus lint examples/designs/hotel.yaml                   # what is wrong with its tables, and CQL that mends it
bin/helenus lint examples/designs/killrvideo.yaml --schema examples/designs/killrvideo.cql
bin/helenus lint examples/designs/hotel.yaml --designed        # with the tables that helenus design chooses; also if a file has none
bin/helenus lint --live --sarif > lint.sarif                   # what the running process sees, for the reports of CI
` + "```" + `

` + "`helenus lint`" + ` ends with 3 if there is a finding as bad as --fail-on (warning if nothing is said), 0 if there is none. A fix is printed
only after it was tried: it was applied to a copy of the tables and statements, and the finding was gone, with no new error. All fixes
can be carried out one after the other: of two that want the same table the first makes it, and the other names that fix.
What a fix needs besides CQL (copying rows, writing one more table) it says in words; where none was found, it says why.

**No fix changes an answer.** Before one is printed it is run on generated rows by an evaluator in memory (` + "`advisor/trial`" + `): the old statements on the
old tables, the new ones on the new tables, then again after a series of the workload's own writes, carried out as the fix says. Rows are few and alike, so that there are ties, nulls, partitions of several
rows, and values that several partitions have. Answers must be the same, in the same order where the old statement promises one (one partition, ORDER BY); of a
LIMIT over rows in the order of tokens there must be as many, all of which belong to the answer. What differs, or can not be run, is not offered, and the finding says so. So a fix

- keeps LIMIT, ORDER BY and the clustering order (all of it the other way round where a statement reads backwards, so that ties come as they came);
- has the whole primary key of the table that it copies, whatever was measured or concluded to tell rows apart;
- finds by key what was found before: none where values of different bytes are equal (decimal, varint, tuples ...), or an index finds more than equal values; '' is in no partition key, and it says so;
- keeps collections whole: what is asked by ` + "`CONTAINS`" + ` becomes a column of its own beside the collection;
- drops nothing that another table replaces: it says when that can be dropped;
- says what the client does where one statement becomes several (L13, buckets): each value once, merged in which order, cut where;
- says for each write of the workload what it takes: values are named (` + "`:id`" + `), ` + "`:old_`" + ` ones are read before it and ` + "`:new_`" + ` ones after it. Where a key column
  of the copy changes, the row with its former value is deleted. Of a workload without writes it says so in one sentence;
- has a bucket in the key where the values asked by are few (a boolean, say), or says that partitions grow without bound.

There is none where rows expire and a write would have to be read back (a copy would outlive them), where an INSERT names its row by ` + "`now()`" + `, for counters, and, of a live
cluster, for a table that was not measured yet, for a key or a join that was only concluded, and for dropping a table. Of a live cluster L17 is said only of tables
that statements were seen to write, and not of one that a prepared statement reads; ` + "`keyspaces`" + ` bounds what is looked at. A table of up to 100 rows may be read as a whole.
Copies are written one statement after the other: two writers that change one row at once can leave an entry behind, which a later read of the
base would tell. What Helenus keeps by itself (look-ups) has no such gap.

## Mapping rules

Applied in this order, once for each query. What the table leaves to the client is said with the trace.

| id | about | says | if broken |
| --- | --- | --- | --- |`)
	for _, m := range rules.Mappings {
		line("| %s | %s | %s | %s |", m.ID, m.Name, m.Says, m.Else)
	}
	line(`
## Patterns

Which of the nine patterns a table follows, by how the query asks and how the entities are related. A way over several relationships is
taken for one, and said to be. "Nests": partitions have several rows. "Duplicates": an entity's attributes are stored more than
once. A partition of one row nests nothing, whatever its pattern; n:1 by key does not either.

| id | pattern | primary key | nests | duplicates | remark |
| --- | --- | --- | --- | --- | --- |`)
	for _, p := range rules.Patterns {
		line("| %s | %s | %s | %s | %s | %s |", p.ID, p.Name, p.Key, p.Nesting, p.Duplication, p.Remark)
	}
	line(`
## Classes of access

Every statement has exactly one. A write of several tables is multi-table, too: it is joined when it is written.

| class | means | judged |
| --- | --- | --- |`)
	for _, c := range rules.Classes {
		line("| %s | %s | %s |", c.Access, c.Says, c.Judge)
	}
	line(`
## Lint

| id | name | severity | what is found | why it matters | fix | from |
| --- | --- | --- | --- | --- | --- | --- |`)
	for _, r := range lint.Rules {
		line("| %s | %s | %s | %s | %s | %s | %s |", r.ID, r.Name, r.Severity, r.Says, r.Why, r.Fix, r.Method)
	}
	line(`
With --live, L1 is a warning and L17 a note: the model was concluded from the traffic, and what was not said yet may be said. What is wrong with a statement that a change answers now is a note without a fix, and
so is L17 or L18 of a table by which a change finds rows: ` + "`change_id`" + ` names the change.

## Safety

Verdicts of ` + "`helenus safety`" + ` ([Safety](safety.md)).

| verdict | means |
| --- | --- |`)
	for _, v := range verdicts {
		line("| %s | %s |", v[0], v[1])
	}
	line(`
## Options

Metrics of ` + "`helenus options`" + ` ([Options](options.md)); less is better.

| metric | what |
| --- | --- |`)
	for _, m := range metrics {
		line("| %s | %s |", m[0], m[1])
	}
	line(`
## Limits

The method makes a table for each query and knows no prices: helenus design weighs reads against writes, and may well keep what lint
warns of (an index, two tables read one after the other). Writes are classified, and nothing is found in them. In models every attribute has a
value; of live tables any column may be null. Sizes of partitions are
means. The linter knows rows by the model's keys; of a live cluster these are concluded ([How it works](how-it-works.md)).

## What it says of the examples

` + "`helenus lint examples/designs/FILE`" + `, with the schema named. KillrVideo's is the public one, and sound: there are notes only.

| file | tables | errors | warnings | notes | partition-per-query | partition+-per-query | table scan | multi-table |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |`)
	for _, x := range linted {
		in, _, err := (&lintFlags{schema: x.schema}).input(&cobra.Command{}, designs+x.file)
		if err != nil {
			t.Fatal(err)
		}
		r := lint.Lint(in)
		found, classes := map[lint.Severity]int{}, map[rules.Access]int{}
		for _, f := range r.Findings {
			found[f.Severity]++
		}
		for _, s := range r.Statements {
			classes[s.Access]++
		}
		line("| %s | %d | %d | %d | %d | %d | %d | %d | %d |", strings.TrimSpace(x.file+" "+x.schema), r.Tables, found[lint.Error], found[lint.Warning], found[lint.Note],
			classes[rules.Partition], classes[rules.Partitions], classes[rules.TableScan], classes[rules.MultiTable])
	}
	line(`
The error of the hotel is the scan for a guest's reservations; that of RUBiS's baseline a query (q31) that its tables do not answer.
`)
	return b.String()
}

// linted are the schemas whose findings stand on the page.
var linted = []struct{ file, schema string }{
	{"hotel.yaml", ""}, {"killrvideo.yaml", ""}, {"rubis.yaml", "rubis_baseline"}, {"rubis.yaml", "rubis_expert"}, {"eac.yaml", "figure16"},
}
