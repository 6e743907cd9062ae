package cql

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/capture/cql/lexer"
)

// TestEqualMeaningEqualFingerprint writes a statement in other words: other case, white space and comments, other values and
// names of markers, longer lists, the keyspace said or not, statements of a batch repeated.
func TestEqualMeaningEqualFingerprint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := trees{t}
		st := g.statement()
		want, normalised, _, err := FingerprintText(st.String(), "ks")
		if err != nil {
			t.Fatal(err)
		}
		if st.Kind() <= KindBatch {
			g.revalue(st)
		}
		text := g.restyle(st.String())
		got, again, _, err := FingerprintText(text, "ks")
		if err != nil || got != want {
			t.Fatalf("%v\n%s\n%s\n%s", err, text, again, normalised)
		}
	})
}

// revalue changes what a fingerprint does not tell.
func (g trees) revalue(st Statement) {
	Walk(st, func(term Term) bool {
		switch x := term.(type) {
		case *Literal:
			if x.Kind == LiteralString {
				x.Text = g.pick("string", "", "other", "it's", "$$")
			}
		case *Marker:
			x.Name = g.pick("marker", "", "m", "N")
		}
		return true
	})
	relations := func(where []Relation) {
		for i := range where {
			if l, ok := where[i].Value.(*Tuple); ok && where[i].Op == OpIn && !where[i].Tuple && len(where[i].Columns) == 1 {
				l.Elements = append(l.Elements, &Marker{}, &Literal{LiteralInteger, "5"})
			}
		}
	}
	qualify := func(ref *TableRef) {
		if ref.Keyspace == "" && g.flag("qualify") {
			ref.Keyspace = "ks"
		}
	}
	switch s := st.(type) {
	case *Select:
		relations(s.Where)
		qualify(&s.Table)
	case *Insert:
		qualify(&s.Table)
	case *Update:
		relations(s.Where)
		qualify(&s.Table)
	case *Delete:
		relations(s.Where)
		qualify(&s.Table)
	case *Batch:
		for _, child := range s.Statements {
			g.revalue(child)
		}
		if n := len(s.Statements); n > 0 {
			s.Statements = append(s.Statements, Clone(s.Statements[g.number("repeated", 0, n-1)]))
		}
	}
}

// restyle writes the tokens of a text in another case and with other things between them.
func (g trees) restyle(text string) string {
	b := strings.Builder{}
	l := lexer.Lexer{Source: text}
	for t := l.Next(); t.Kind != lexer.End; t = l.Next() {
		word := text[t.Start:t.End]
		if t.Kind == lexer.Word && t.Keyword != 0 && word != "expr" && g.number("case", 0, 3) == 0 {
			word = strings.ToUpper(word)
		}
		b.WriteString(word)
		b.WriteString(g.pick("between", " ", "\n\t", " /* 'x' */ ", " -- y\r\n", "  "))
	}
	b.WriteString(g.pick("end", "", ";", ";;", "\n; ;"))
	return b.String()
}

// TestDifferentMeaningDifferentFingerprint changes one thing that a statement does.
func TestDifferentMeaningDifferentFingerprint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := trees{t}
		st := g.statement()
		before, old := Fingerprint(st, "ks"), st.String()
		if !g.change(st) {
			return
		}
		if after := Fingerprint(st, "ks"); after == before {
			t.Fatalf("%s\n%s\nboth are\n%s", old, st, Normalise(st, "ks"))
		}
	})
}

// change changes the meaning of a statement; it reports whether it knew how.
func (g trees) change(st Statement) bool {
	other := func(name *string) bool { *name += "x"; return true }
	flip := func(b *bool) bool { *b = !*b; return true }
	where := func(relations *[]Relation) bool {
		if len(*relations) == 0 || g.flag("another") {
			*relations = append(slices.Clone(*relations), Relation{Columns: []string{"new"}, Op: OpEQ, Value: &Marker{}})
			return true
		}
		r := &(*relations)[g.number("relation", 0, len(*relations)-1)]
		switch {
		case len(r.Columns) > 0:
			return other(&r.Columns[0])
		default:
			return other(&r.Index)
		}
	}
	n := g.number("change", 0, 5)
	switch s := st.(type) {
	case *Select:
		switch n {
		case 0:
			return other(&s.Table.Table)
		case 1:
			return flip(&s.JSON)
		case 2:
			return flip(&s.Distinct)
		case 3:
			return flip(&s.AllowFiltering)
		case 4:
			s.Columns = append(s.Columns, Selector{Expr: &ColumnRef{"new"}})
			return true
		}
		return where(&s.Where)
	case *Insert:
		switch n {
		case 0:
			return other(&s.Table.Table)
		case 1:
			return flip(&s.IfNotExists)
		case 2:
			if s.JSON != nil {
				return flip(&s.DefaultUnset)
			}
		}
		if s.JSON != nil {
			return false
		}
		return other(&s.Columns[0])
	case *Update:
		switch n {
		case 0:
			return other(&s.Table.Table)
		case 1:
			return other(&s.Assignments[0].Column)
		case 2:
			s.Conditions, s.IfExists = append(s.Conditions, Condition{Column: "new", Op: OpEQ, Value: &Marker{}}), false
			return true
		}
		return where(&s.Where)
	case *Delete:
		if n == 0 {
			s.Columns = append(s.Columns, Deletion{Column: "new"})
			return true
		}
		return where(&s.Where)
	case *Use:
		return other(&s.Keyspace)
	case *Truncate:
		return other(&s.Table.Table)
	case *CreateTable:
		return other(&s.Columns[0].Name)
	case *CreateType:
		return other(&s.Fields[0].Name)
	case *Drop:
		return flip(&s.IfExists)
	case *Grant:
		return flip(&s.Revoke)
	case *GrantRole:
		return other(&s.From)
	case *Role:
		return flip(&s.If)
	}
	return false
}
