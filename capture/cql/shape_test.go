package cql

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/capture/cql/lexer"
)

// valuesOf are values of each kind, among them those that a parser might look at.
var valuesOf = map[lexer.Kind][]string{
	lexer.String:   {"''", "'other'", "'it''s'", "$$text$$", "'int'"},
	lexer.Integer:  {"0", "1", "-7", "99999999999999999999999"},
	lexer.Float:    {"1.5", "-2e10", "0.0", "NaN", "-Infinity"},
	lexer.Boolean:  {"true", "FALSE"},
	lexer.Duration: {"1y2mo", "-12h", "P1Y", "P2W"},
	lexer.UUID:     {"550e8400-e29b-41d4-a716-446655440000", "00000000-0000-0000-0000-000000000000"},
	lexer.Blob:     {"0x", "0xCAFE"},
}

// otherwise writes the tokens of a text with other values of the same kinds, and in another style. Some tokens are left out or said
// twice, in both texts, so that many do not parse.
func (g trees) otherwise(text string, broken bool) (same, other string) {
	var a, b strings.Builder
	l := lexer.Lexer{Source: text}
	for t := l.Next(); t.Kind != lexer.End; t = l.Next() {
		times := 1
		if broken {
			if n := g.number("times", 0, 20); n < 3 {
				times = n
			}
		}
		for range times {
			word := text[t.Start:t.End]
			a.WriteString(word + " ")
			switch {
			case t.Value():
				word = rapid.SampledFrom(valuesOf[t.Kind]).Draw(g.t, "value")
			case t.Kind == lexer.Word && t.Keyword != 0 && word != "expr" && g.flag("case"): // P1Y is not p1y
				word = strings.ToUpper(word)
			}
			b.WriteString(word + g.pick("between", " ", "\n", " /* 1 */ "))
		}
	}
	return a.String(), b.String()
}

// TestOneShapeOneFingerprint is what the shape is for.
func TestOneShapeOneFingerprint(t *testing.T) {
	shaped, parsed := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		g := trees{t}
		text, other := g.otherwise(g.modification().String(), g.flag("broken"))
		shape, ok := AppendShape(nil, text)
		if !ok {
			return
		}
		again, ok := AppendShape(nil, other)
		if !ok {
			t.Fatalf("the one has a shape, the other has not:\n%s\n%s", text, other)
		}
		if string(shape) != string(again) {
			if !strings.Contains(string(shape), " \x01>") { // the size of a vector, or what stands in its place
				t.Fatalf("two shapes:\n%s\n%s\n%q\n%q", text, other, shape, again)
			}
			return
		}
		shaped++
		want, normal, _, err := FingerprintText(text, "ks")
		got, otherNormal, _, otherErr := FingerprintText(other, "ks")
		if (err == nil) != (otherErr == nil) || err == nil && got != want {
			t.Fatalf("one shape, two meanings:\n%s\n%s\n%v %v\n%s\n%s", text, other, err, otherErr, normal, otherNormal)
		}
		if err == nil {
			parsed++
		}
	})
	if shaped < 20 || parsed < 10 {
		t.Errorf("only %d shapes compared, %d of them of texts that parse", shaped, parsed)
	}
}

func TestShapeTellsApart(t *testing.T) {
	for _, pair := range [][2]string{
		{"SELECT a FROM t WHERE k = 1", "SELECT a FROM t WHERE k = 1.0"},
		{"SELECT a FROM t WHERE k = 1", "SELECT a FROM t WHERE k = ?"},
		{"SELECT a FROM t", `SELECT "A" FROM t`},
		{"SELECT a FROM t", "SELECT b FROM t"},
		{"SELECT a1 FROM t", "SELECT a 1 FROM t"},
		{"SELECT a_b FROM t", "SELECT a b FROM t"},
		{"SELECT a FROM t WHERE k < 1", "SELECT a FROM t WHERE k <= 1"},
		{"SELECT (vector<float, 2>) [1, 2] FROM t", "SELECT (vector<float, 3>) [1, 2] FROM t"},
		{"SELECT a FROM l", "SELECT a FROM <="},
	} {
		a, ok := AppendShape(nil, pair[0])
		b, ok2 := AppendShape(nil, pair[1])
		if !ok || !ok2 || string(a) == string(b) {
			t.Errorf("%q %q", a, b)
		}
	}
	for _, text := range []string{"", "TRUNCATE t", "CREATE TABLE t (k int PRIMARY KEY)", "SELECT 'a FROM t", "'SELECT'", "BEGIN BATCH INSERT INTO t (k) VALUES (1); APPLY BATCH"} {
		if _, ok := AppendShape(nil, text); ok {
			t.Errorf("%q has a shape", text)
		}
	}
	if b, _ := AppendShape(nil, "SELECT a FROM t WHERE k = 'secret' AND c IN (4711, 0xDEAD)"); strings.Contains(string(b), "secret") || strings.Contains(string(b), "4711") {
		t.Errorf("a value is in %q", b)
	}
}
