package cql

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func column(name string) Expr                   { return &ColumnRef{name} }
func integer(text string) Term                  { return &Literal{LiteralInteger, text} }
func text(s string) Term                        { return &Literal{LiteralString, s} }
func mark(index int) Term                       { return &Marker{Index: index} }
func tuple(elements ...Term) Term               { return &Tuple{elements} }
func eq(name string, v Term) Relation           { return Relation{Columns: []string{name}, Op: OpEQ, Value: v} }
func call(name string, a ...Term) *FunctionCall { return &FunctionCall{Name: name, Args: a} }

func TestParse(t *testing.T) {
	users := TableRef{"shop", "users"}
	table := TableRef{Table: "t"}
	cases := map[string]struct {
		text string
		want Statement
	}{
		"select all": {`SELECT * FROM shop.users;`, &Select{Table: users}},
		"case, quotes and comments": {"select /* a */ Name, \"Name\" -- b\n as \"A\"\"s\" // c\r FROM \"Shop\".USERS",
			&Select{Table: TableRef{"Shop", "users"}, Columns: []Selector{{Expr: column("name")}, {column("Name"), `A"s`}}}},
		"every clause": {`SELECT JSON DISTINCT a FROM t WHERE k = ? AND c >= 'it''s' GROUP BY k, c ORDER BY c DESC, d ASC PER PARTITION LIMIT 2 LIMIT :l ALLOW FILTERING`,
			&Select{Table: table, JSON: true, Distinct: true, Columns: []Selector{{Expr: column("a")}},
				Where:   []Relation{eq("k", mark(0)), {Columns: []string{"c"}, Op: OpGE, Value: text("it's")}},
				GroupBy: []Expr{column("k"), column("c")}, OrderBy: []Ordering{{Column: "c", Descending: true}, {Column: "d"}},
				PerPartitionLimit: integer("2"), Limit: &Marker{"l", 1}, AllowFiltering: true}},
		"relations": {`SELECT a FROM t WHERE token(a, b) > token(?, 1) AND (c, d) IN ((1, 2), (?, ?)) AND e IN ? AND f IN () AND m['k'] = 1 AND g CONTAINS KEY 1 AND h LIKE 'x%' AND i IS NOT NULL AND (j) = (1) AND (k != 2) AND l BETWEEN 1 AND 2 AND n NOT CONTAINS KEY 3 AND expr(idx, 'q')`,
			&Select{Table: table, Columns: []Selector{{Expr: column("a")}}, Where: []Relation{
				{Columns: []string{"a", "b"}, Token: true, Op: OpGT, Value: call("token", mark(0), integer("1"))},
				{Columns: []string{"c", "d"}, Tuple: true, Op: OpIn, Value: tuple(tuple(integer("1"), integer("2")), tuple(mark(1), mark(2)))},
				{Columns: []string{"e"}, Op: OpIn, Value: mark(3)},
				{Columns: []string{"f"}, Op: OpIn, Value: tuple()},
				{Columns: []string{"m"}, Element: text("k"), Op: OpEQ, Value: integer("1")},
				{Columns: []string{"g"}, Op: OpContainsKey, Value: integer("1")},
				{Columns: []string{"h"}, Op: OpLike, Value: text("x%")},
				{Columns: []string{"i"}, Op: OpIsNotNull},
				{Columns: []string{"j"}, Tuple: true, Op: OpEQ, Value: tuple(integer("1"))},
				{Columns: []string{"k"}, Op: OpNE, Value: integer("2")},
				{Columns: []string{"l"}, Op: OpBetween, Value: tuple(integer("1"), integer("2"))},
				{Columns: []string{"n"}, Op: OpNotContainsKey, Value: integer("3")},
				{Op: OpExpr, Index: "idx", Value: text("q")},
			}}},
		"selectors": {`SELECT count(*), writetime(a), cast(b AS text), ks.f(c, 1), d.e['k'][1..], (list<int>) [1], - g + h * 2 - -3 FROM t`,
			&Select{Table: table, Columns: []Selector{
				{Expr: &FunctionCall{Name: "count", Star: true}},
				{Expr: &FunctionCall{Name: "writetime", Args: []Term{column("a")}, OfColumn: true}},
				{Expr: &Cast{column("b"), Type{Name: "text"}}},
				{Expr: &FunctionCall{Keyspace: "ks", Name: "f", Args: []Term{column("c"), integer("1")}}},
				{Expr: &Slice{Of: &Element{&Field{column("d"), "e"}, text("k")}, From: integer("1")}},
				{Expr: &TypeCast{Type{Name: "list", Args: []Type{{Name: "int"}}}, &List{[]Term{integer("1")}}}},
				{Expr: &Arithmetic{'-', &Arithmetic{'+', &Negation{column("g")}, &Arithmetic{'*', column("h"), integer("2")}}, integer("-3")}},
			}}},
		"names that are keywords": {`SELECT json, key, ttl, distinct FROM values WHERE contains CONTAINS 1`,
			&Select{Table: TableRef{Table: "values"}, Columns: []Selector{{Expr: column("json")}, {Expr: column("key")}, {Expr: column("ttl")}, {Expr: column("distinct")}},
				Where: []Relation{{Columns: []string{"contains"}, Op: OpContains, Value: integer("1")}}}},
		"nearest neighbours": {`SELECT a FROM t ORDER BY v ANN OF [0.1, ?] LIMIT 3`,
			&Select{Table: table, Columns: []Selector{{Expr: column("a")}}, Limit: integer("3"),
				OrderBy: []Ordering{{Column: "v", ANN: &List{[]Term{&Literal{LiteralFloat, "0.1"}, mark(0)}}}}}},
		"insert": {`INSERT INTO shop.users (id, tags) VALUES (?, {'a', 'b'}) IF NOT EXISTS USING TTL ? AND TIMESTAMP 5`,
			&Insert{Table: users, Columns: []string{"id", "tags"}, Values: []Term{mark(0), &Set{[]Term{text("a"), text("b")}}},
				IfNotExists: true, Using: Using{{true, mark(1)}, {false, integer("5")}}}},
		"insert json": {`INSERT INTO t JSON :doc DEFAULT UNSET`, &Insert{Table: table, JSON: &Marker{"doc", 0}, DefaultUnset: true}},
		"update": {`UPDATE t USING TIMESTAMP ? SET a = ?, b = b + 1, c = c - {1}, d = [1] + d, e += 2, f[1] = 'x', g.h = null, i = i -5 WHERE k = ? IF a = 1 AND m[2] IN (1, ?) AND u.f != 3`,
			&Update{Table: table, Using: Using{{false, mark(0)}}, Assignments: []Assignment{
				{Column: "a", Op: AssignSet, Value: mark(1)}, {Column: "b", Op: AssignAdd, Value: integer("1")},
				{Column: "c", Op: AssignSubtract, Value: &Set{[]Term{integer("1")}}}, {Column: "d", Op: AssignPrepend, Value: &List{[]Term{integer("1")}}},
				{Column: "e", Op: AssignAdd, Value: integer("2")}, {Column: "f", Op: AssignSet, Element: integer("1"), Value: text("x")},
				{Column: "g", Op: AssignSet, Field: "h", Value: &Literal{}}, {Column: "i", Op: AssignAdd, Value: integer("-5")}},
				Where: []Relation{eq("k", mark(2))},
				Conditions: []Condition{{Column: "a", Op: OpEQ, Value: integer("1")}, {Column: "m", Element: integer("2"), Op: OpIn, Value: tuple(integer("1"), mark(3))},
					{Column: "u", Field: "f", Op: OpNE, Value: integer("3")}}}},
		"delete": {`DELETE a, b[?], c.d FROM t USING TIMESTAMP 1 WHERE k = $$it's$$ IF EXISTS`,
			&Delete{Table: table, Columns: []Deletion{{Column: "a"}, {Column: "b", Element: mark(0)}, {Column: "c", Field: "d"}},
				Using: Using{{false, integer("1")}}, Where: []Relation{eq("k", text("it's"))}, IfExists: true}},
		"batch": {`BEGIN UNLOGGED BATCH USING TIMESTAMP ? INSERT INTO t (a) VALUES (?); DELETE FROM t WHERE a = ? IF EXISTS UPDATE t SET a = ? WHERE exists = 1 IF exists = 2; APPLY BATCH`,
			&Batch{Type: BatchUnlogged, Using: Using{{false, mark(0)}}, Statements: []Statement{
				&Insert{Table: table, Columns: []string{"a"}, Values: []Term{mark(1)}},
				&Delete{Table: table, Where: []Relation{eq("a", mark(2))}, IfExists: true},
				&Update{Table: table, Assignments: []Assignment{{Column: "a", Op: AssignSet, Value: mark(3)}},
					Where: []Relation{eq("exists", integer("1"))}, Conditions: []Condition{{Column: "exists", Op: OpEQ, Value: integer("2")}}}}}},
		"use":      {`USE "Shop"`, &Use{"Shop"}},
		"truncate": {`TRUNCATE TABLE shop.users`, &Truncate{users}},
		"create table": {` CREATE TABLE IF NOT EXISTS shop.users (id int PRIMARY KEY) ; `,
			&CreateTable{Table: users, IfNotExists: true, Columns: []ColumnDefinition{{Name: "id", Type: Type{Name: "int"}}}, PartitionKey: []string{"id"}}},
		"create index": {`CREATE CUSTOM INDEX i ON t (keys(m)) USING 'sai'`,
			&CreateIndex{Name: "i", Custom: true, Table: table, Targets: []IndexTarget{{"m", "keys"}}, Class: "sai"}},
		"create function": {`CREATE OR REPLACE FUNCTION f(a int) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS $$ return a; $$`,
			&CreateFunction{Name: "f", Replace: true, Arguments: []ColumnDefinition{{Name: "a", Type: Type{Name: "int"}}}, CalledOnNull: true,
				Returns: Type{Name: "int"}, Language: "java", Body: " return a; "}},
		"drop keyspace": {`DROP KEYSPACE IF EXISTS shop`, &Drop{Object: ObjectKeyspace, IfExists: true, Name: TableRef{Keyspace: "shop"}}},
		"role":          {`create role r`, &Role{Name: "r"}},
		"describe":      {`DESCRIBE TABLES`, &Describe{What: "TABLES"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Parse(c.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got, same); diff != "" {
				t.Fatal(diff)
			}
			again, err := Parse(got.String())
			if err != nil {
				t.Fatalf("%s: %v", got, err)
			}
			if diff := cmp.Diff(got, again, same); diff != "" {
				t.Fatalf("%s: %s", got, diff)
			}
		})
	}
}

func TestParseLiterals(t *testing.T) {
	cases := []struct {
		text string
		want Literal
	}{
		{"0", Literal{LiteralInteger, "0"}}, {"-12", Literal{LiteralInteger, "-12"}}, {"1.", Literal{LiteralFloat, "1."}},
		{"-1.5E+10", Literal{LiteralFloat, "-1.5E+10"}}, {"1e5", Literal{LiteralFloat, "1e5"}}, {"nan", Literal{LiteralFloat, "NaN"}},
		{"-NaN", Literal{LiteralFloat, "NaN"}}, {"INFINITY", Literal{LiteralFloat, "Infinity"}}, {"-infinity", Literal{LiteralFloat, "-Infinity"}},
		{"TRUE", Literal{LiteralBoolean, "true"}}, {"NULL", Literal{}}, {"''", Literal{LiteralString, ""}}, {"''''", Literal{LiteralString, "'"}},
		{"'?'", Literal{LiteralString, "?"}}, {"$$a'$b$$", Literal{LiteralString, "a'$b"}}, {"0x", Literal{LiteralBlob, "0x"}},
		{"0XaF", Literal{LiteralBlob, "0XaF"}}, {"550e8400-e29b-41d4-a716-446655440000", Literal{LiteralUUID, "550e8400-e29b-41d4-a716-446655440000"}},
		{"ABCDEF00-e29b-41d4-a716-446655440000", Literal{LiteralUUID, "ABCDEF00-e29b-41d4-a716-446655440000"}},
		{"1y2mo3w4d5h6m7s8ms9us10ns", Literal{LiteralDuration, "1y2mo3w4d5h6m7s8ms9us10ns"}}, {"-5µs", Literal{LiteralDuration, "-5µs"}},
		{"P1Y2M3DT4H5M6S", Literal{LiteralDuration, "P1Y2M3DT4H5M6S"}}, {"-PT1H", Literal{LiteralDuration, "-PT1H"}}, {"P3W", Literal{LiteralDuration, "P3W"}},
		{"P0001-02-03T04:05:06", Literal{LiteralDuration, "P0001-02-03T04:05:06"}},
	}
	for _, c := range cases {
		st, err := Parse("INSERT INTO t (a) VALUES (" + c.text + ")")
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if diff := cmp.Diff(Term(&c.want), st.(*Insert).Values[0]); diff != "" {
			t.Errorf("%s: %s", c.text, diff)
		}
	}
}

func TestParseErrors(t *testing.T) {
	cases := []struct {
		text string
		want SyntaxError
	}{
		{"", SyntaxError{1, 1, 0, "end of text", "a CQL statement"}},
		{"FROB t", SyntaxError{1, 1, 0, "name", "a CQL statement"}},
		{"SELECT a\nFROM t\n WHERE a = 'x' 'y'", SyntaxError{3, 16, 31, "string", "end of statement"}},
		{"SELECT a FROM t WHERE a = 'secret", SyntaxError{1, 27, 26, "unclosed '", "term"}},
		{"SELECT a FROM t /* secret", SyntaxError{1, 17, 16, "unclosed /", "end of statement"}},
		{"SELECT a FROM t WHERE a = secret", SyntaxError{1, 27, 26, "name", "term"}},
		{"SELECT a FROM t WHERE a = \"secret\"", SyntaxError{1, 27, 26, "quoted name", "term"}},
		{"SELECT a FROM select", SyntaxError{1, 15, 14, "SELECT", "table"}},
		{"SELECT a FROM t LIMIT 'secret'", SyntaxError{1, 23, 22, "string", "integer or bind marker"}},
		{"UPDATE t SET a = b + 1 WHERE k = 1", SyntaxError{1, 18, 17, "name", "the column that is assigned"}},
		{"SELECT ß FROM t", SyntaxError{1, 8, 7, "unexpected character", "term"}},
		{"SELECT a FROM t WHERE (a, b) IN ((1, 2), ?)", SyntaxError{1, 42, 41, "'?'", "tuples only or bind markers only"}},
		{"SELECT a FROM t WHERE (a, b) = 1", SyntaxError{1, 32, 31, "integer", "tuple or bind marker"}},
		{"SELECT a FROM t WHERE (a, b) IN 1", SyntaxError{1, 33, 32, "integer", "'(' or bind marker"}},
		{"SELECT a FROM t WHERE (a, b) LIKE ?", SyntaxError{1, 30, 29, "LIKE", "operator"}},
		{"DELETE FROM t USING TTL 1 WHERE k = 1", SyntaxError{1, 21, 20, "TTL", "TIMESTAMP"}},
	}
	for _, c := range cases {
		_, err := Parse(c.text)
		var got *SyntaxError
		if !errors.As(err, &got) || *got != c.want {
			t.Errorf("%q: got %+v, want %+v", c.text, got, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: the error tells the value: %v", c.text, err)
		}
	}
}

func TestParseLimitsNesting(t *testing.T) {
	cases := map[string][3]string{
		"lists":      {"SELECT a FROM t WHERE a = ", "[", "]"},
		"tuples":     {"SELECT a FROM t WHERE a = ", "(", ")"},
		"selections": {"SELECT ", "(a, ", ") FROM t"},
		"functions":  {"SELECT a FROM t WHERE a = ", "f(", ")"},
		"type casts": {"SELECT a FROM t WHERE a = ", "(int) ", ""},
		// A type too deep is no type hint, so here the error is about the term that it is not either.
		"types":     {"SELECT a FROM t WHERE a = (", "list<", ">) 1"},
		"negations": {"SELECT ", "- ", "a FROM t"},
		"sums":      {"SELECT a FROM t WHERE a = 1", " + 1", ""},
		"products":  {"SELECT a", " * a", " FROM t"},
		"fields":    {"SELECT a", ".a", " FROM t"},
		"relations": {"SELECT a FROM t WHERE ", "(", ")"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			deep := c[0] + strings.Repeat(c[1], 200_000)
			if len(c[2]) == 1 {
				deep += strings.Repeat(c[2], 200_000)
			} else {
				deep += c[2]
			}
			_, err := Parse(deep)
			var got *SyntaxError
			if !errors.As(err, &got) || name != "types" && !strings.HasPrefix(got.Expected, "less ") && !strings.HasPrefix(got.Expected, "fewer ") {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestParseCost holds what parsing and fingerprinting cost to a multiple of the length of the text: twice the text may
// take no more than about twice the allocations, wherever the grammar makes the parser go back.
func TestParseCost(t *testing.T) {
	cases := map[string][3]string{
		"list":             {"SELECT a FROM t WHERE a IN (", "1,", "1)"},
		"failing trials":   {"SELECT ", "(byte), (a, b), ", "a FROM t"},
		"strings":          {"SELECT a FROM t WHERE a IN (", "('x'), ('y', 1), ", "1)"},
		"columns":          {"SELECT ", "a.b[1], f(c), ", "d FROM t"},
		"batch":            {"BEGIN BATCH ", "INSERT INTO t (a) VALUES (1);", "APPLY BATCH"},
		"batch of updates": {"BEGIN BATCH ", "UPDATE t SET a = a + 1 WHERE k = 'a''b' IF EXISTS ", "APPLY BATCH"},
		"broken":           {"SELECT a FROM t WHERE ", "a = 'x' AND ", ""},
		"garbage":          {"", "% é ' ", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			cost := func(n int) float64 {
				statement := c[0] + strings.Repeat(c[1], n) + c[2]
				return testing.AllocsPerRun(2, func() { _, _, _, _ = FingerprintText(statement, "ks") })
			}
			small, large := cost(500), cost(1000)
			if large > 2.2*small+50 {
				t.Errorf("%.0f allocations for 500, %.0f for 1000", small, large)
			}
			statement := c[0] + strings.Repeat(c[1], 10_000) + c[2]
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, _, _, _ = FingerprintText(statement, "ks")
			runtime.ReadMemStats(&after)
			if perByte := (after.TotalAlloc - before.TotalAlloc) / uint64(len(statement)); perByte > 150 {
				t.Errorf("%d bytes of memory a byte of text", perByte)
			}
			if perByte := large / float64(1000*len(c[1])); perByte > 1 {
				t.Errorf("%.2f allocations a byte", perByte)
			}
		})
	}
}
