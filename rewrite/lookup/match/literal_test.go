package match

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/rewrite/kind"
)

// Constants as Cassandra stores them; TestCassandraAgrees asks it about many more.
func TestLiterals(t *testing.T) {
	for _, c := range []struct{ cqlType, text, want string }{
		{"text", "'it''s é'", "6974277320c3a9 0"}, {"text", "$$x$$", "78 0"}, {"varchar", "''", " 0"}, {"ascii", "'é'", "c3a9 refused"}, {"text", "5", " refused"}, {"text", "now()", " unknown"},
		{"int", "-5", "fffffffb 0"}, {"int", "2147483648", " refused"}, {"int", "'5'", " refused"}, {"int", "1.5", " refused"}, {"int", "(int)7", " unknown"}, {"int", "1 + 0", " unknown"},
		{"bigint", "-9223372036854775808", "8000000000000000 0"}, {"smallint", "007", "0007 0"}, {"tinyint", "-128", "80 0"}, {"tinyint", "128", " refused"}, {"int", "null", " null"},
		{"varint", "128", "0080 0"}, {"varint", "-128", "80 0"}, {"varint", "-129", "ff7f 0"}, {"varint", "0", "00 0"}, {"varint", "-1", "ff 0"}, {"varint", "-256", "ff00 0"}, {"varint", "255", "00ff 0"},
		{"decimal", "1.50", "000000020096 0"}, {"decimal", "-5", "00000000fb 0"}, {"decimal", "1e3", " unknown"},
		{"float", "1.5", "3fc00000 0"}, {"float", "NaN", "7fc00000 0"}, {"double", "-Infinity", "fff0000000000000 0"}, {"double", "1e400", "7ff0000000000000 0"}, {"double", "NaN", "7ff8000000000000 0"}, {"float", "-0.0", "80000000 0"},
		{"boolean", "TRUE", "01 0"}, {"boolean", "'true'", " refused"},
		{"uuid", strings.ToUpper(uuid4), "5b6962dd3f904c938f61eabfa4a803e2 0"}, {"timeuuid", uuid4, "5b6962dd3f904c938f61eabfa4a803e2 refused"}, {"timeuuid", uuid1, "5b6962dd3f901c938f61eabfa4a803e2 0"}, {"uuid", "'" + uuid4 + "'", " refused"},
		{"blob", "0x", " 0"}, {"blob", "0xFFab", "ffab 0"}, {"blob", "0xfff", " unknown"}, {"blob", "'0xff'", " refused"}, {"tinyint", "0xff", " unknown"}, {"int", "0xff", " refused"},
		{"inet", "'1.2.3.4'", "01020304 0"}, {"inet", "'::ffff:1.2.3.4'", "01020304 0"}, {"inet", "'::1'", "00000000000000000000000000000001 0"}, {"inet", "'localhost'", " unknown"}, {"inet", "'fe80::1%lo'", " unknown"},
		{"timestamp", "1577934245678", "0000016f6435cf2e 0"}, {"timestamp", "'2020-01-02 03:04:05.678+0000'", "0000016f6435cf2e 0"}, {"timestamp", "'2020-01-02T05:04:05.678+02:00'", "0000016f6435cf2e 0"},
		{"timestamp", "'2020-01-02T03:04Z'", "0000016f6435b900 0"}, {"timestamp", "'1969-12-31 23:59:59.999Z'", "ffffffffffffffff 0"}, {"timestamp", "'2020-01-02 03:04:05'", " unknown"}, {"timestamp", "'2020-02-30T00:00Z'", " unknown"},
		{"timestamp", "'2020-01-02 03:04:05.6Z'", " unknown"}, {"timestamp", "'now'", " unknown"},
		{"date", "'1970-01-01'", "80000000 0"}, {"date", "'1969-12-31'", "7fffffff 0"}, {"date", "19000", " unknown"}, {"date", "'2020-02-30'", " unknown"},
		{"time", "'00:00:00.000000001'", "0000000000000001 0"}, {"time", "'23:59:59.9'", "00004e948b591f00 0"}, {"time", "'24:00:00'", " unknown"},
		{"frozen<list<int>>", "[1, 2]", "0000000200000004000000010000000400000002 0"}, {"frozen<set<text>>", "{'b', 'a', 'b'}", "0000000200000001610000000162 0"}, {"frozen<list<int>>", "[null]", " unknown"},
		{"frozen<set<int>>", "{1}", " unknown"}, {"frozen<map<text, int>>", "{'k': 1}", " unknown"}, {"frozen<address>", "{street: 'x'}", " unknown"}, {"text", "{'k': 1}", " refused"}, {"text", "[1]", " refused"},
	} {
		b, s := literal(literalOf(c.text), c.cqlType)
		got := hex.EncodeToString(b) + " " + [...]string{"0", "null", "unset", "unknown", "refused"}[s]
		if got != c.want {
			t.Errorf("%s as %s: %s, want %s", c.text, c.cqlType, got, c.want)
		}
	}
}

// Whatever is written, it is read without a panic, and what is known is a value of its type.
func FuzzLiteral(f *testing.F) {
	for _, l := range literals {
		f.Add(l)
	}
	f.Fuzz(func(t *testing.T, text string) {
		st, err := cql.Parse("INSERT INTO t (a) VALUES (" + text + ")")
		if err != nil {
			return
		}
		insert, ok := st.(*cql.Insert)
		if !ok || len(insert.Values) != 1 {
			return
		}
		for _, c := range types {
			if b, s := literal(insert.Values[0], c.kind); s == known && (b == nil || valid(b, c.kind) != known) {
				t.Errorf("%s as %s: %x", text, c.kind, b)
			}
		}
	})
}

func FuzzJSON(f *testing.F) {
	for _, d := range documents {
		f.Add(`{"room": "`+uuid4+`", "WING": "w", "day": "2020-01-02", "\"No\"": 7, "guest": `+d+`}`, false)
	}
	f.Add("\uFEFF{}", true)
	f.Fuzz(func(t *testing.T, text string, unset bool) {
		l := lookUp(t)
		w := &Write{LookUp: l, json: &cql.Literal{Kind: cql.LiteralString, Text: text}, unset: unset}
		e := w.Bind(kind.Values{})
		if e.Touched && (len(e.Keys) != 1 || valid(e.Keys[0][0].Bytes, "uuid") != known || e.Entry.Bytes != nil && valid(e.Entry.Bytes, "uuid") != known) {
			t.Errorf("%s: %+v", text, e)
		}
	})
}
