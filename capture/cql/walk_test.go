package cql

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/capture/cql/lexer"
)

func TestMarkersComeInTheOrderOfTheText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := trees{t}.statement().String()
		st, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		// The order of the text, seen without the parser: every "?" and every ":" with a name that the lexer finds. A colon
		// of a map is followed by a blank in printed text.
		var want []string
		l := lexer.Lexer{Source: text}
		for tok := l.Next(); tok.Kind != lexer.End; tok = l.Next() {
			switch text[tok.Start:tok.End] {
			case "?":
				want = append(want, "?")
			case ":":
				if name := l.Next(); text[tok.End] != ' ' {
					want = append(want, text[tok.Start:name.End])
				} else {
					l.Position = int(tok.End)
				}
			}
		}
		for i, m := range Markers(st) {
			if m.Index != i || i >= len(want) || m.String() != want[i] {
				t.Fatalf("%s\nmarker %d is %v with index %d, want %v", text, i, m, m.Index, want)
			}
		}
		if n := len(Markers(st)); n != len(want) {
			t.Fatalf("%s\n%d markers, want %v", text, n, want)
		}
	})
}

func TestCloneIsDeep(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		st := trees{t}.statement()
		text := st.String()
		c := Clone(st)
		if diff := cmp.Diff(st, c, same); diff != "" {
			t.Fatal(diff)
		}
		originals := map[Term]bool{}
		Walk(st, func(t Term) bool { originals[t] = true; return true })
		Walk(c, func(term Term) bool {
			if originals[term] {
				t.Fatalf("%s is shared", term)
			}
			switch x := term.(type) {
			case *Marker:
				x.Name, x.Index = "changed", 99
			case *Literal:
				x.Kind, x.Text = LiteralString, "changed"
			case *ColumnRef:
				x.Name = "changed"
			}
			return true
		})
		switch c := c.(type) {
		case *Select:
			for i := range c.Where {
				for j := range c.Where[i].Columns {
					c.Where[i].Columns[j] = "changed"
				}
				c.Where[i].Op = OpGT
			}
		case *Insert:
			for i := range c.Columns {
				c.Columns[i] = "changed"
			}
		}
		if st.String() != text {
			t.Fatalf("was %s\nis  %s", text, st)
		}
	})
}

func TestCloneOther(t *testing.T) {
	for _, text := range []string{"USE a", "TRUNCATE a", "CREATE TABLE ks.a (b int PRIMARY KEY)"} {
		st, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if c := Clone(st); c == st || c.String() != st.String() || Fingerprint(c, "ks") != Fingerprint(st, "ks") {
			t.Errorf("%s: %v", text, c)
		}
	}
	if c := Clone(nil); c != nil {
		t.Errorf("a copy of nothing is %v", c)
	}
}

func TestConditional(t *testing.T) {
	cases := map[string]bool{
		"SELECT a FROM t": false, "INSERT INTO t (a) VALUES (1)": false, "INSERT INTO t (a) VALUES (1) IF NOT EXISTS": true,
		"UPDATE t SET a = 1 WHERE k = 1": false, "UPDATE t SET a = 1 WHERE k = 1 IF EXISTS": true, "UPDATE t SET a = 1 WHERE k = 1 IF a = 2": true,
		"DELETE FROM t WHERE k = 1": false, "DELETE FROM t WHERE k = 1 IF EXISTS": true, "DELETE FROM t WHERE k = 1 IF a = 2": true,
		"BEGIN BATCH INSERT INTO t (a) VALUES (1) APPLY BATCH": false, "CREATE TABLE IF NOT EXISTS t (a int PRIMARY KEY)": false,
		"BEGIN BATCH INSERT INTO t (a) VALUES (1) DELETE FROM t WHERE k = 1 IF EXISTS APPLY BATCH": true,
	}
	for text, want := range cases {
		st, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if Conditional(st) != want {
			t.Errorf("%s: want %v", text, want)
		}
	}
}

func TestTables(t *testing.T) {
	cases := map[string]string{
		"SELECT a FROM ks.t": "ks.t", "INSERT INTO t (a) VALUES (1)": "t", "UPDATE t SET a = 1 WHERE k = 1": "t", "DELETE FROM \"T\" WHERE k = 1": `"T"`,
		"TRUNCATE t": "t", "DROP TABLE ks.t": "ks.t", "CREATE INDEX ON t (a)": "t", "DROP KEYSPACE ks": "", "USE ks": "", "CREATE TRIGGER x ON t USING 'y'": "t",
		"BEGIN BATCH INSERT INTO t (a) VALUES (1) INSERT INTO u (a) VALUES (1) DELETE FROM t WHERE k = 1 APPLY BATCH": "t u",
	}
	for text, want := range cases {
		st, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, table := range Tables(st) {
			names = append(names, table.String())
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
	if r := (TableRef{Table: "t"}).In("ks"); r.String() != "ks.t" || (TableRef{"a", "t"}).In("ks").String() != "a.t" {
		t.Error(r)
	}
}

// TestRewrite does what a rewriter does: it turns a parsed statement into another and asks which values go where.
func TestRewrite(t *testing.T) {
	st, err := Parse("SELECT a FROM ks.t WHERE x = ? AND y = ? AND z > ? LIMIT ?")
	if err != nil {
		t.Fatal(err)
	}
	s := Clone(st).(*Select)
	s.Table = TableRef{"helenus", "t_by_y"}
	s.Where = []Relation{s.Where[1], s.Where[0], {Columns: []string{"Bucket"}, Op: OpEQ, Value: &Literal{LiteralInteger, "3"}}}
	s.AllowFiltering = true
	if want := `SELECT a FROM helenus.t_by_y WHERE y = ? AND x = ? AND "Bucket" = 3 LIMIT ? ALLOW FILTERING`; s.String() != want {
		t.Errorf("got %s\nwant %s", s, want)
	}
	var order []int
	for _, m := range Markers(s) {
		order = append(order, m.Index)
	}
	if !slices.Equal(order, []int{1, 0, 3}) {
		t.Errorf("values %v", order)
	}
}

// TestPrintBrackets prints trees that no text parses to, since it needs brackets to say what they mean.
func TestPrintBrackets(t *testing.T) {
	one, two := &Literal{LiteralInteger, "1"}, &Literal{LiteralInteger, "2"}
	sum := &Arithmetic{'+', one, two}
	cases := map[string]Term{
		"(1 + 2) * 2": &Arithmetic{'*', sum, two}, "1 - (1 + 2)": &Arithmetic{'-', one, sum}, "- (1 + 2)": &Negation{sum},
		"(int) (1 + 2)": &TypeCast{Type{Name: "int"}, sum}, "CAST((1 + 2) AS int)": &Cast{sum, Type{Name: "int"}}, "(1 + 2).f": &Field{sum, "f"},
		"(1 + 2)[1]": &Element{sum, one}, "(1 + 2)[1 ..]": &Slice{Of: sum, From: one}, "1 .f": &Field{one, "f"}, `"key".f()`: &FunctionCall{Keyspace: "key", Name: "f"},
	}
	for want, term := range cases {
		if got := term.String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestNamesOfKindsAndOperators(t *testing.T) {
	if KindSelect.String() != "select" || KindOther.String() != "other" || Kind(0).String() != "unknown" || Kind(200).String() != "unknown" {
		t.Error("kinds")
	}
	if OpNotContainsKey.String() != "NOT CONTAINS KEY" || Op(200).String() != "?" {
		t.Error("operators")
	}
	for op := OpEQ; op <= OpExpr; op++ {
		if op.String() == "" {
			t.Errorf("operator %d has no name", op)
		}
	}
}

func TestKinds(t *testing.T) {
	cases := map[string]Kind{
		"SELECT a FROM t": KindSelect, "INSERT INTO t (a) VALUES (1)": KindInsert, "UPDATE t SET a = 1 WHERE k = 1": KindUpdate,
		"DELETE FROM t WHERE k = 1": KindDelete, "BEGIN BATCH APPLY BATCH": KindBatch, "USE a": KindUse, "TRUNCATE a": KindTruncate,
		"ALTER TABLE t ADD a int": KindDDL, "DROP INDEX i": KindDDL, "LIST ROLES": KindRole, "GRANT r TO s": KindRole, "DESC a": KindOther,
	}
	for text, want := range cases {
		if st, err := Parse(text); err != nil || st.Kind() != want {
			t.Errorf("%s: %v %v", text, st, err)
		}
	}
}

// TestPartsPrint prints the parts of statements for themselves: the statement holds what they print.
func TestPartsPrint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := trees{t}
		s, u := g.selectStatement(), g.update()
		for i := range s.Columns {
			if part := s.Columns[i].String(); !strings.Contains(s.String(), part) {
				t.Fatalf("%s\nhas no %s", s, part)
			}
		}
		for i := range s.Where {
			if part := s.Where[i].String(); !strings.Contains(s.String(), part) {
				t.Fatalf("%s\nhas no %s", s, part)
			}
		}
		text, all, top := u.String(), 0, 0
		Walk(u, func(term Term) bool {
			all++
			if !strings.Contains(text, term.String()) {
				t.Fatalf("%s\nhas no %s", text, term)
			}
			return true
		})
		Walk(u, func(term Term) bool {
			WalkTerm(term, func(Term) bool { top++; return true })
			return false
		})
		if all != top {
			t.Fatalf("%s: %d terms, %d in those that stand on their own", text, all, top)
		}
	})
	want := `frozen<map<ks."int", vector<"x'y", 3>>>`
	typ := Type{Name: "frozen", Args: []Type{{Name: "map", Args: []Type{{Keyspace: "ks", Name: "int", UDT: true},
		{Name: "vector", Dimensions: "3", Args: []Type{{Name: "x'y", UDT: true}}}}}}}
	if typ.String() != want {
		t.Errorf("got %s, want %s", typ, want)
	}
}
