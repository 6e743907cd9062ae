package cql

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestLongStatements: a statement as long as a request may be is read or refused in time that grows with its length only. A
// parser that compares each part with all before it would not end here. Some texts are of 16 MiB; the others are long enough for that.
func TestLongStatements(t *testing.T) {
	cases := map[string]struct {
		before, after string
		part          func(i int) string
		size          int
		bad           bool
	}{
		"values":        {"SELECT a FROM t WHERE a IN (", "1)", func(int) string { return "1, " }, 2 << 20, false},
		"one string":    {"INSERT INTO t (a) VALUES ('", "')", func(int) string { return "xyz''" }, 16 << 20, false},
		"batch":         {"BEGIN BATCH ", "APPLY BATCH", func(i int) string { return fmt.Sprintf("INSERT INTO t%d (a) VALUES (%d);", i%10, i) }, 2 << 20, false},
		"not closed":    {"SELECT a FROM t WHERE a = '", "", func(int) string { return "x" }, 16 << 20, true},
		"comments":      {"SELECT ", "a FROM t", func(int) string { return "/* x */ -- y\n" }, 256 << 10, false},
		"open comments": {"SELECT ", "a FROM t", func(int) string { return "/* " }, 256 << 10, true},
		"properties":    {"CREATE TABLE t (a int) WITH ", "z = 1", func(i int) string { return fmt.Sprintf("p%d = 1 AND ", i) }, 256 << 10, false},
		"property map":  {"CREATE TABLE t (a int) WITH a = {", "'z': 1}", func(i int) string { return fmt.Sprintf("'p%d': 1,", i) }, 256 << 10, false},
		"columns":       {"CREATE TABLE t (", "z int)", func(i int) string { return fmt.Sprintf("c%d int,", i) }, 256 << 10, false},
		"left out":      {"CREATE TABLE t (a int", ")", func(int) string { return "," }, 256 << 10, false},
		"orders":        {"CREATE TABLE t (a int) WITH CLUSTERING ORDER BY (", "z ASC)", func(i int) string { return fmt.Sprintf("c%d ASC,", i) }, 256 << 10, false},
		"assignments":   {"UPDATE t SET ", "z = 1 WHERE k = 1", func(i int) string { return fmt.Sprintf("c%d = 1,", i) }, 256 << 10, false},
		"fields":        {"UPDATE t SET ", "z = 1 WHERE k = 1", func(i int) string { return fmt.Sprintf("c.f%d = 1,", i) }, 256 << 10, false},
		"access":        {"CREATE ROLE r WITH ", "LOGIN = true", func(int) string { return "ACCESS TO DATACENTERS {'a'} AND " }, 256 << 10, false},
		"permissions":   {"GRANT ", "SELECT ON t TO r", func(int) string { return "SELECT," }, 256 << 10, false},
		"slices":        {"SELECT ", "a FROM t", func(int) string { return "(a) [(b) [(c) [1]]], " }, 256 << 10, false},
		"almost slices": {"SELECT ", "a FROM t", func(int) string { return strings.Repeat("(a) [", 50) }, 256 << 10, true},
		"object name":   {"GRANT SELECT ON MBEAN 'a:", "z=1' TO r", func(i int) string { return fmt.Sprintf("k%d=1,", i) }, 256 << 10, false},
		"semicolons":    {"SELECT a FROM t", "", func(int) string { return ";" }, 256 << 10, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := strings.Builder{}
			b.WriteString(c.before)
			for i := 0; b.Len() < c.size; i++ {
				b.WriteString(c.part(i))
			}
			b.WriteString(c.after)
			print, normalised, st, err := FingerprintText(b.String(), "ks")
			if (err != nil) != c.bad || (st == nil) != c.bad || print == (Print{}) || len(normalised) > 8*b.Len() {
				t.Errorf("%v, %d bytes", err, len(normalised))
			}
		})
	}
}

// TestNestedDefinitions: what definitions nest is limited as terms are.
func TestNestedDefinitions(t *testing.T) {
	deep := func(before, open, within, end, after string) string {
		return before + strings.Repeat(open, 10_000) + within + strings.Repeat(end, 10_000) + after
	}
	for _, text := range []string{
		deep("CREATE TABLE t (a ", "list<", "int", ">", ")"),
		deep("CREATE TABLE t (a ", "tuple<int, ", "int", ">", ")"),
		deep("CREATE TABLE t (a int MASKED WITH f(", "[", "1", "]", "))"),
		deep("CREATE AGGREGATE f (int) SFUNC g STYPE int INITCOND ", "(", "1", ")", ""),
		deep("CREATE MATERIALIZED VIEW v AS SELECT ", "(", "a", ")", " FROM t PRIMARY KEY (a)"),
		deep("CREATE MATERIALIZED VIEW v AS SELECT * FROM t WHERE ", "(", "a = 1", ")", " PRIMARY KEY (a)"),
		deep("CREATE TABLE t (a int) WITH a = ", "{'a': ", "1", "}", ""),
	} {
		if _, err := Parse(text); err == nil {
			t.Errorf("%.60s... is taken", text)
		}
	}
}

// TestBrokenText: text that is no UTF-8 is refused, wherever it breaks, with its place; a client can not send it, but a file can.
func TestBrokenText(t *testing.T) {
	for _, text := range []string{"SELECT a FROM t WHERE k = 'x\xff'", "SELECT a FROM t /* \xc3 */", "SELECT \"\xed\xa0\x80\" FROM t", "\xfe", "SELECT a FROM t\xf0\x9f"} {
		_, err := Parse(text)
		syntax, ok := err.(*SyntaxError) //nolint:errorlint // Parse returns it as it is
		if !ok || utf8.ValidString(text[:syntax.Offset+1]) && syntax.Found == "invalid UTF-8" {
			t.Errorf("%q: %v", text, err)
		}
		if _, normalised, _, _ := FingerprintText(text, "ks"); !utf8.ValidString(normalised) {
			t.Errorf("%q is normalised to %q", text, normalised)
		}
	}
}
