package literal

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/capture/trace"
	"github.com/helenus-db/helenus/proxy"
)

func TestRead(t *testing.T) {
	for text, want := range map[string]string{
		"SELECT a FROM t WHERE k = 5 AND c > 'x' LIMIT 10":                              "shop.t.k e 0005 false; shop.t.c d 78 true",
		"SELECT a FROM other.t WHERE k IN (1, -300, ?)":                                 "other.t.k e 0001 false; other.t.k e fffed4 false; other.t.k 0  false",
		"INSERT INTO t (k, name, at, x) VALUES (-1, 'it''s', now(), null) USING TTL 60": "shop.t.k e ffff false; shop.t.name d 69742773 false; shop.t.at 0  false; shop.t.x 0  false",
		"UPDATE t SET v = 1.5 WHERE id = 12345678-9ABC-def0-1234-56789abcdef0":          "shop.t.v 0  false; shop.t.id c 123456789abcdef0123456789abcdef0 false",
		"DELETE FROM t WHERE token(k) > 5 AND k = 128":                                  "shop.t.k e 0080 false",
		"SELECT * FROM t":                                  "",
		"SELECT nonsense":                                  "",
		"CREATE TABLE t (k int PRIMARY KEY)":               "",
		"INSERT INTO t JSON '{\"k\": 5}'":                  "",
		"SELECT a FROM t WHERE (a, b) = (1, 2)":            "shop.t.a e 0001 false; shop.t.b e 0002 false",
		"SELECT a FROM t WHERE (a, b) > (1, 2)":            "shop.t.a e 0001 true; shop.t.b e 0002 true",
		"SELECT a FROM t WHERE (a, b) IN ((1, 2), (3, 4))": "shop.t.a e 0001 false; shop.t.b e 0002 false; shop.t.a e 0003 false; shop.t.b e 0004 false",
		"SELECT a FROM t WHERE k = 5 AND b = 0xFF":         "shop.t.k e 0005 false; shop.t.b 0  false",
	} {
		st, values := Read(&trace.Statement{Fingerprint: "f", Write: true, PartitionKey: []int{7}}, Said{Keyspace: "shop", Text: text})
		var got []string
		for i, v := range values {
			c := st.Variables[i]
			got = append(got, fmt.Sprintf("%s.%s.%s %x %x %t", c.Keyspace, c.Table, c.Name, c.Type.Code, v.Bytes, st.Ranges[i]))
		}
		if d := cmp.Diff(want, strings.Join(got, "; ")); d != "" {
			t.Errorf("%s: %s", text, d)
		}
		if st != nil && (st.Fingerprint != "f" || !st.Write || st.PartitionKey != nil) {
			t.Errorf("%s: %+v", text, st)
		}
	}
	long := "SELECT a FROM t WHERE k IN (" + strings.Repeat("1,", 1000) + "1)"
	if _, values := Read(&trace.Statement{}, Said{Text: long}); len(values) != MaxValues {
		t.Errorf("%d values are read", len(values))
	}
	huge := "SELECT a FROM t WHERE k = " + strings.Repeat("9", 5000)
	if _, values := Read(&trace.Statement{}, Said{Text: huge}); len(values) != 1 || values[0].Bytes != nil {
		t.Error("an enormous number is read")
	}
}

// shop is a schema.
var shop = &schema.Schema{Keyspaces: []schema.Keyspace{{Name: "shop", Tables: []schema.Table{{Keyspace: "shop", Name: "t", Columns: []schema.Column{
	{Name: "k", Kind: schema.PartitionKey, Type: "uuid"}, {Name: "day", Kind: schema.PartitionKey, Position: 1, Type: "int"}, {Name: "c", Kind: schema.Clustering, Type: "timestamp"},
	{Name: "tags", Kind: schema.Regular, Position: -1, Type: "set<text>"}, {Name: "m", Kind: schema.Regular, Position: -1, Type: "map<text, frozen<list<int>>>"}, {Name: "v", Kind: schema.Regular, Position: -1, Type: "bigint"},
}}}}}}

// TestReadBound: the values of a QUERY's bind markers have their places in the text, by order or by name, and the types of their columns; among literals
// too.
func TestReadBound(t *testing.T) {
	a, b, c := []byte{1}, []byte{2}, []byte{3}
	positional := []proxy.Value{{Bytes: a}, {Bytes: b}, {Bytes: c}}
	for _, test := range []struct {
		text   string
		values []proxy.Value
		want   string
		key    []int
	}{
		{"SELECT v FROM t WHERE k = ? AND day = ? AND c > ?", positional, "k c 01 false; day 9 02 false; c b 03 true", []int{0, 1}},
		{"SELECT v FROM t WHERE day = ? AND k = ? LIMIT ?", positional, "day 9 01 false; k c 02 false", []int{1, 0}},
		{"SELECT v FROM t WHERE k = :x AND day = 5 AND c < :y", []proxy.Value{{Name: "y", Bytes: b}, {Name: "x", Bytes: a}}, "k c 01 false; day e 0005 false; c b 02 true", []int{0, 1}},
		{"SELECT v FROM t WHERE k IN ? AND day IN (?, 7)", positional, "in(k) 20/c 01 false; day 9 02 false; day e 0007 false", nil},
		{"SELECT v FROM t WHERE k = '2020-01-01' AND day = ?", positional, "k d 323032302d30312d3031 false; day 9 01 false", nil},
		{"UPDATE t USING TTL ? SET v = ?, m['x'] = 5 WHERE k = ? AND day = 1", positional, "v 2 02 false; k c 03 false; day e 0001 false", []int{1, 2}},
		{"INSERT INTO t (k, tags, m) VALUES (?, ?, ?)", positional, "k c 01 false; tags 22/d 02 false; m 21/d/20 03 false", nil},
		{"SELECT v FROM t WHERE tags CONTAINS ? AND m CONTAINS KEY ? AND m CONTAINS ?", positional, "value(tags) d 01 false; key(m) d 02 false; value(m) 20/9 03 false", nil},
		{"SELECT v FROM t WHERE k = ? AND day = ?", positional[:1], "k c 01 false; day 9  false", []int{0, 1}},
		{"SELECT v FROM t WHERE k = ? AND (day, c) = ?", positional, "k c 01 false; (day,c) 31/9/b 02 false", nil},
		{"SELECT v FROM t WHERE k = ? AND (day, c) IN ?", positional, "k c 01 false; in(day,c) 20/31 02 false", nil},
		{"SELECT v FROM t WHERE k = ? AND nothing = ?", positional, "k c 01 false; nothing 0 02 false", nil},
		{"SELECT v FROM nowhere WHERE k = ?", positional, "k 0 01 false", nil},
	} {
		st, values := Read(&trace.Statement{Fingerprint: "f"}, Said{Keyspace: "shop", Text: test.text, Values: test.values, Schema: shop})
		var got []string
		for i, v := range values {
			code := fmt.Sprintf("%x", st.Variables[i].Type.Code)
			for _, e := range st.Variables[i].Type.Elements {
				code += fmt.Sprintf("/%x", e.Code)
			}
			if v.Name != "" {
				t.Errorf("%s: a value is named %s", test.text, v.Name)
			}
			got = append(got, fmt.Sprintf("%s %s %x %t", st.Variables[i].Name, code, v.Bytes, st.Ranges[i]))
		}
		if d := cmp.Diff(test.want, strings.Join(got, "; ")); d != "" || !slices.Equal(st.PartitionKey, test.key) {
			t.Errorf("%s: %s %v", test.text, d, st.PartitionKey)
		}
	}
}

func TestTypeOf(t *testing.T) {
	list := func(of uint16) proxy.Type {
		return proxy.Type{Code: proxy.TypeList, Elements: []proxy.Type{{Code: of}}}
	}
	for text, want := range map[string]proxy.Type{
		"int": {Code: 9}, "text": {Code: 13}, "frozen<list<uuid>>": list(12), "address": {Code: proxy.TypeUDT, Name: "address"}, "frozen<address>": {Code: proxy.TypeUDT, Name: "address"},
		"map<text, frozen<list<int>>>":         {Code: proxy.TypeMap, Elements: []proxy.Type{{Code: 13}, list(9)}},
		"tuple<int, map<int, text>, duration>": {Code: 0x31, Elements: []proxy.Type{{Code: 9}, {Code: proxy.TypeMap, Elements: []proxy.Type{{Code: 9}, {Code: 13}}}, {Code: 0x15}}},
		"vector<float, 3>":                     {}, "": {Code: proxy.TypeUDT}, "list<": {Code: proxy.TypeList, Elements: []proxy.Type{{Code: proxy.TypeUDT}}}, "list<int": list(9),
	} {
		if d := cmp.Diff(want, TypeOf(text)); d != "" {
			t.Errorf("%s: %s", text, d)
		}
	}
	TypeOf(strings.Repeat("list<", 100_000)) // is not followed to its end
}

func FuzzRead(f *testing.F) {
	f.Add("SELECT a FROM t WHERE k IN (1, -300, ?) AND c > 'x'")
	f.Add("INSERT INTO t (k) VALUES (1, 2)")
	f.Add("UPDATE t SET v = v + {1} WHERE id = 12345678-9abc-def0-1234-56789abcdef0")
	f.Fuzz(func(t *testing.T, text string) {
		st, values := Read(&trace.Statement{}, Said{Keyspace: "k", Text: text, Schema: shop, Values: []proxy.Value{{Bytes: []byte{0, 0, 0, 1}}, {Name: "b", Null: true}}})
		if st != nil && (len(values) != len(st.Variables) || len(values) != len(st.Ranges) || len(values) == 0) {
			t.Fatalf("%d values, %+v", len(values), st)
		}
	})
}
