package cql

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/capture/cql/lexer"
)

// TestFingerprintGolden locks the fingerprints: stores keep them, so a change here orphans what was learnt. Each record
// of the file is a text, its normalised form for keyspace "ks" and its fingerprint.
func TestFingerprintGolden(t *testing.T) {
	file := filepath.Join("testdata", "fingerprints.golden")
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var record, out []string
	records, stale := 0, false
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if line := lines.Text(); line != "" {
			record = append(record, line)
			if len(record) < 3 {
				continue
			}
		}
		if len(record) == 0 {
			continue
		}
		print, normalised, _, _ := FingerprintText(record[0], "ks")
		if len(record) != 3 || record[1] != normalised || record[2] != print.String() {
			stale = true
			t.Errorf("%s\n got %s\n     %s\nwant %v", record[0], normalised, print, record[1:])
		}
		out = append(out, record[0], normalised, print.String(), "")
		records, record = records+1, nil
	}
	if records < 30 {
		t.Errorf("only %d records", records)
	}
	if stale && os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(file, []byte(strings.Join(out, "\n")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFingerprintIgnores(t *testing.T) {
	cases := map[string][]string{
		"values and their form": {
			"SELECT a FROM t WHERE k = ? AND c = ?", "SELECT a FROM t WHERE k = 1 AND c = 'x'",
			"select A from T where K=:k and C=0xFF;", "SELECT a -- 'x\nFROM ks.t /* ? */ WHERE (k = null) AND c = -1.5;;"},
		"the length of IN":           {"SELECT a FROM t WHERE k IN (?)", "SELECT a FROM t WHERE k IN (1, ?, 'x')", "SELECT a FROM t WHERE k IN ()"},
		"the length of IN on tuples": {"SELECT a FROM t WHERE (k, c) IN ((?, ?))", "SELECT a FROM t WHERE (k, c) IN ((1, 2), (3, 4))"},
		"the length of collections": {"INSERT INTO t (a) VALUES ([1])", "INSERT INTO t (a) VALUES ({1: 2, 3: {4}})", "INSERT INTO t (a) VALUES ([1, ?, now()])",
			"INSERT INTO t (a) VALUES ({f: 'x'})", "INSERT INTO t (a) VALUES ((1, 2))"},
		"the number of equal children":  {"BEGIN BATCH INSERT INTO t (a) VALUES (1) APPLY BATCH", "BEGIN BATCH INSERT INTO t (a) VALUES (1); INSERT INTO ks.t (a) VALUES (?); APPLY BATCH"},
		"shorthand":                     {"UPDATE t SET c += 1 WHERE k = 1", "UPDATE t SET c = c + ? WHERE k = ?", "UPDATE t SET c = c -2 WHERE k = ?"},
		"the order of USING":            {"INSERT INTO t (a) VALUES (1) USING TTL 1 AND TIMESTAMP ?", "INSERT INTO t (a) VALUES (1) USING TIMESTAMP 1 AND TTL 2"},
		"values in DDL":                 {"CREATE ROLE r WITH PASSWORD = 'a'", "create role R with password='bb'"},
		"values of what does not parse": {"SELECT a FROM t WHERE k = 1 AND", "select a from t where k = 'x' and", "SELECT a FROM t WHERE k = ? AND --\n"},
	}
	for name, texts := range cases {
		t.Run(name, func(t *testing.T) {
			want, normalised, _, _ := FingerprintText(texts[0], "ks")
			for _, text := range texts[1:] {
				if got, n, _, _ := FingerprintText(text, "ks"); got != want {
					t.Errorf("%s\n%s\n%s", text, n, normalised)
				}
			}
		})
	}
}

func TestFingerprintTellsApart(t *testing.T) {
	texts := []string{
		"SELECT a FROM t", "SELECT a FROM u", "SELECT a FROM x.t", "SELECT b FROM t", "SELECT a, b FROM t", `SELECT "A" FROM t`, "SELECT a AS b FROM t",
		"SELECT JSON a FROM t", "SELECT DISTINCT a FROM t", "SELECT a FROM t ALLOW FILTERING", "SELECT a FROM t LIMIT 1", "SELECT a FROM t PER PARTITION LIMIT 1",
		"SELECT a FROM t ORDER BY a", "SELECT a FROM t ORDER BY a DESC", "SELECT a FROM t GROUP BY a",
		"SELECT a FROM t WHERE k = 1", "SELECT a FROM t WHERE k > 1", "SELECT a FROM t WHERE token(k) > 1", "SELECT a FROM t WHERE k IN (1)",
		"SELECT a FROM t WHERE k IN ?", "SELECT a FROM t WHERE k CONTAINS 1", "SELECT a FROM t WHERE k[1] = 1", "SELECT a FROM t WHERE k = now()",
		"INSERT INTO t (a) VALUES (1)", "INSERT INTO t (a) VALUES (1) IF NOT EXISTS", "INSERT INTO t (a) VALUES (1) USING TTL 1", "INSERT INTO t JSON '{}'",
		"UPDATE t SET a = 1 WHERE k = 1", "UPDATE t SET a = a + 1 WHERE k = 1", "UPDATE t SET a = a - 1 WHERE k = 1", "UPDATE t SET a = 1 WHERE k = 1 IF a = 1",
		"DELETE FROM t WHERE k = 1", "DELETE a FROM t WHERE k = 1", "BEGIN BATCH DELETE FROM t WHERE k = 1; APPLY BATCH",
		"BEGIN UNLOGGED BATCH DELETE FROM t WHERE k = 1; APPLY BATCH", "BEGIN BATCH DELETE a FROM t WHERE k = 1; DELETE FROM t WHERE k = 1; APPLY BATCH",
		"DROP TABLE t", "DROP TABLE u", "TRUNCATE t", "USE t", "SELECT a FROM t WHERE", "SELECT b FROM t WHERE", "nonsense",
	}
	seen := map[Print]string{}
	for _, text := range texts {
		print, _, _, _ := FingerprintText(text, "ks")
		if other, ok := seen[print]; ok {
			t.Errorf("%s\n%s", text, other)
		}
		seen[print] = text
	}
}

// TestNormalisedTextTellsNoValue puts a secret into every literal, whole and with the text cut or broken anywhere.
func TestNormalisedTextTellsNoValue(t *testing.T) {
	texts := []string{
		"SELECT a, 'secret' FROM t WHERE k = 'secret' AND m['secret'] IN ('secret', $$secret$$) AND expr(i, 'secret') LIMIT 1",
		"SELECT f('secret', [a, 'secret']), {a: 'secret'} FROM t WHERE k = {'secret': 'secret'} AND (a, b) = ('secret', ('secret') 1)",
		"INSERT INTO t JSON '{\"secret\": \"secret\"}'", "BEGIN BATCH UPDATE t SET a = a + {f: 'secret'} WHERE k = 'it''s secret' IF b = 'secret' APPLY BATCH",
		"INSERT INTO t (a) VALUES ('O'secret')", "INSERT INTO t (a) VALUES (\"secret\")", "INSERT INTO t (a) VALUES (secret)",
		"CREATE ROLE r WITH PASSWORD = 'secret'", "CREATE TABLE t (a int PRIMARY KEY) WITH comment = 'secret'", "ALTER USER u WITH PASSWORD $$secret$$",
		"CREATE ROLE r WITH PASSWORD = secret", `ALTER USER u WITH PASSWORD "secret"`, "secret", "'secret", "SELECT a FROM t /* secret", "SELECT a FROM t -- secret",
	}
	for _, text := range texts {
		for i := range len(text) + 1 {
			for _, broken := range []string{text[:i], text[i:], text[:i] + "'" + text[i:], text[:i] + "#" + text[i:]} {
				// Half of a text may be one in which the secret is a name: those say so by parsing, or by having it before the error.
				_, normalised, st, err := FingerprintText(broken, "ks")
				if broken != text && (st != nil && st.Kind() != KindRole || isNameIn(broken, "secret", err)) {
					continue
				}
				if strings.Contains(normalised, "secret") {
					t.Fatalf("%s\n%s", broken, normalised)
				}
			}
		}
	}
}

// isNameIn reports whether word stands as a name before the syntax error.
func isNameIn(text, word string, err error) bool {
	syntax, ok := err.(*SyntaxError) //nolint:errorlint // FingerprintText returns it as it is
	if !ok {
		return false
	}
	l := lexer.Lexer{Source: text}
	for t := l.Next(); t.Kind != lexer.End && int(t.Start) < syntax.Offset; t = l.Next() {
		if (t.Kind == lexer.Word || t.Kind == lexer.Quoted) && strings.Contains(text[t.Start:t.End], word) {
			return true
		}
	}
	return false
}

func TestNormalisedTextIsStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		st := trees{t}.statement()
		normalised := Normalise(st, "ks")
		print, again, parsed, err := FingerprintText(st.String(), "ks")
		if err != nil || again != normalised || print != Fingerprint(parsed, "ks") {
			t.Fatalf("%s\n%s\n%s\n%v", st, normalised, again, err)
		}
		// A normalised text is CQL, except that a collection may be "(?)" where only a collection can be.
		for _, l := range []string{"it's", "spiffe", "return", "dc1", "0xCAFE", "550E8400", "1y2mo", "-7", "1.5"} {
			if strings.Contains(strings.ReplaceAll(normalised, `"quo""te"`, ""), l) {
				t.Fatalf("%s\ntells %s:\n%s", st, l, normalised)
			}
		}
	})
}

func TestUnparsedIsBounded(t *testing.T) {
	many := strings.Repeat("AND a = 1 ", 1<<14)
	for _, text := range []string{"SELECT a FROM t WHERE " + many, "SELECT a FROM t WHERE a = 1 " + many + "AND"} {
		_, normalised, st, err := FingerprintText(text, "ks")
		if st != nil || err == nil || len(normalised) > MaxUnparsed || len(normalised) < MaxUnparsed/2 {
			t.Errorf("%d bytes, %v", len(normalised), err)
		}
	}
}

func TestPrint(t *testing.T) {
	print, _, _, err := FingerprintText("SELECT a FROM t", "")
	if err != nil {
		t.Fatal(err)
	}
	if s := print.String(); len(s) != 32 || !strings.HasPrefix(s, print.Short()) || len(print.Short()) != 8 {
		t.Errorf("%s %s", s, print.Short())
	}
	if again, err := ParsePrint(print.String()); err != nil || again != print {
		t.Errorf("%s %v", again, err)
	}
	if text, err := print.MarshalText(); err != nil || string(text) != print.String() {
		t.Errorf("%s %v", text, err)
	}
	for _, bad := range []string{"", "abc", strings.Repeat("g", 32), print.String() + "00"} {
		if _, err := ParsePrint(bad); err == nil {
			t.Errorf("%q is no fingerprint", bad)
		}
	}
}

const typical = `SELECT name, address, phone, rating, created_at, updated_at FROM hotels.reservations_by_guest
	WHERE guest_id = 4711 AND month IN (1, 2, 3) AND arrival >= '2026-01-01' ORDER BY arrival DESC LIMIT 100 -- page
`

// TestFingerprintAllocations keeps a fingerprint of a statement that was not seen before cheap.
func TestFingerprintAllocations(t *testing.T) {
	if len(typical) < 200 {
		t.Fatalf("%d bytes", len(typical))
	}
	const ceiling = 16
	if n := testing.AllocsPerRun(100, func() { _, _, _, _ = FingerprintText(typical, "hotels") }); n > ceiling {
		t.Errorf("%.0f allocations, at most %d allowed", n, ceiling)
	}
	st, err := Parse(typical)
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(1000, func() { _ = Fingerprint(st, "hotels") }); n > 2 {
		t.Errorf("%.2f allocations for a fingerprint", n)
	}
}

func ExampleFingerprintText() {
	print, normalised, _, err := FingerprintText("select NAME from users where id in (1, 2, 3) -- who?\n", "shop")
	fmt.Println(print.Short(), normalised, err)
	// Output: a5093941 SELECT name FROM shop.users WHERE id IN (?) <nil>
}

// ParsePrint reads a fingerprint from its 32 digits.
func ParsePrint(s string) (Print, error) {
	var p Print
	err := p.UnmarshalText([]byte(s))
	return p, err
}
