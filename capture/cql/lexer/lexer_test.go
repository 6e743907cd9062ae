package lexer

import (
	"strings"
	"testing"
)

// TestDecisions: texts that Cassandra's lexer decides at one character, and what it makes of them.
func TestDecisions(t *testing.T) {
	for text, want := range map[string][]Kind{
		"1AND":                                 {Bad, Word},
		"1IN":                                  {Integer, Word},
		"1NULL":                                {Bad, Word},
		"1month":                               {Duration, Word},
		"1d2":                                  {Bad},
		"1y2mo3us":                             {Duration},
		"1e":                                   {Bad},
		"1.5e-3":                               {Float},
		"1..2":                                 {Integer, Symbol, Integer},
		"1...2":                                {Float, Symbol, Integer},
		"-nan":                                 {Float},
		"-name":                                {Bad, Word},
		"-Infinity":                            {Float},
		"-x":                                   {Symbol, Word},
		"a-1":                                  {Word, Integer},
		"a - 1":                                {Word, Symbol, Integer},
		"P1Y":                                  {Duration},
		"P1Yx":                                 {Word},
		"PT1H":                                 {Duration},
		"PTA":                                  {Word},
		"12345678-1":                           {Bad, Integer},
		"deadbeef-1":                           {Bad, Integer},
		"deadbeef":                             {Word},
		"0xCAFEg":                              {Blob, Word},
		"expr(":                                {Symbol},
		"EXPR(":                                {Word, Symbol},
		"$$a$b$$":                              {String},
		"'it''s'":                              {String},
		`"" "a"""`:                             {Empty, Quoted},
		"'open":                                {Bad},
		"a -- b":                               {Word, Bad},
		"a -- b\nc":                            {Word, Word},
		"a /* b":                               {Word, Bad},
		"+= -= <= >= != ..":                    {Symbol, Symbol, Symbol, Symbol, Symbol, Symbol},
		"!#é":                                  {Bad, Bad},
		"true NaN select":                      {Boolean, Float, Word},
		"550e8400-e29b-41d4-a716-446655440000": {UUID},
		"e50e8400-e29b-41d4-a716-446655440000": {UUID},
	} {
		l := Lexer{Source: text}
		var got []Kind
		for tok := l.Next(); tok.Kind != End; tok = l.Next() {
			got = append(got, tok.Kind)
		}
		if len(got) != len(want) {
			t.Errorf("%s: %v, want %v", text, got, want)
			continue
		}
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("%s: %v, want %v", text, got, want)
				break
			}
		}
	}
}

func TestKeywords(t *testing.T) {
	all := Keywords()
	if len(all) < 150 {
		t.Fatalf("%d keywords", len(all))
	}
	for _, w := range all {
		for _, text := range []string{w, strings.ToUpper(w)} {
			k := Lookup(text)
			if k.String() != w || k.Upper() != strings.ToUpper(w) {
				t.Errorf("%s is found as %s", text, k)
			}
			l := Lexer{Source: text}
			if tok := l.Next(); tok.Keyword != k && tok.Kind == Word {
				t.Errorf("%s is read as %s", text, tok.Keyword)
			}
			if IsWord(text) {
				t.Errorf("%s is taken for an ordinary word", text)
			}
		}
		if Plain(w) != (Lookup(w).Class()&(Reserved|Ambiguous) == 0) {
			t.Errorf("%s may be written without quotes: %t", w, Plain(w))
		}
	}
	for text, want := range map[string]bool{"a": true, "a_1": true, "A": false, "1a": false, "": false, "_a": false, "a b": false, "é": false, "select": false} {
		if Plain(text) != want {
			t.Errorf("%q may be written without quotes: %t", text, !want)
		}
	}
	for text, want := range map[string]bool{"Bob": true, "": false, "a b": false, "1": false, "P1Y": false, "deadbeef-": false, "true": false} {
		if IsWord(text) != want {
			t.Errorf("%q is a word: %t", text, !want)
		}
	}
}

// TestNoAllocations: reading costs nothing but time.
func TestNoAllocations(t *testing.T) {
	text := strings.Repeat("SELECT a, 'b' FROM t WHERE k = 1.5 AND m IN (?, :x) -- c\n", 10)
	if n := testing.AllocsPerRun(100, func() {
		l := Lexer{Source: text}
		for more := true; more; {
			more = l.Next().Kind != End
		}
	}); n > 0 {
		t.Errorf("%.0f allocations", n)
	}
}

// FuzzLexer: tokens come in the order of the text, none is empty, and what lies between them is white space and comments.
func FuzzLexer(f *testing.F) {
	for _, s := range []string{"SELECT 1.5e3 'x' \"y\" $$z$$ -- c\n/* d */ 0xab P1D -nan", "1..2 a-1 550e8400-e29b-41d4-a716-446655440000", "'", "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l := Lexer{Source: text}
		last := 0
		for tok := l.Next(); tok.Kind != End; tok = l.Next() {
			start, end := int(tok.Start), int(tok.End)
			if start < last || end <= start || end != l.Position {
				t.Fatalf("%q: token of %d to %d after %d", text, start, end, last)
			}
			between := Lexer{Source: text[last:start]}
			if left := between.Next(); left.Kind != End {
				t.Fatalf("%q: %q is passed over", text, text[last:start])
			}
			last = end
		}
	})
}
