package literal

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helenus-db/helenus/capture/trace"
)

func TestRead(t *testing.T) {
	for text, want := range map[string]string{
		"SELECT a FROM t WHERE k = 5 AND c > 'x' LIMIT 10":                              "shop.t.k e 0005 false; shop.t.c d 78 true",
		"SELECT a FROM other.t WHERE k IN (1, -300, ?)":                                 "other.t.k e 0001 false; other.t.k e fffed4 false; other.t.k 0  false",
		"INSERT INTO t (k, name, at, x) VALUES (-1, 'it''s', now(), null) USING TTL 60": "shop.t.k e ffff false; shop.t.name d 69742773 false; shop.t.at 0  false; shop.t.x 0  false",
		"UPDATE t SET v = 1.5 WHERE id = 12345678-9ABC-def0-1234-56789abcdef0":          "shop.t.v 0  false; shop.t.id c 123456789abcdef0123456789abcdef0 false",
		"DELETE FROM t WHERE token(k) > 5 AND k = 128":                                  "shop.t.k e 0080 false",
		"SELECT * FROM t":                          "",
		"SELECT nonsense":                          "",
		"CREATE TABLE t (k int PRIMARY KEY)":       "",
		"INSERT INTO t JSON '{\"k\": 5}'":          "",
		"SELECT a FROM t WHERE (a, b) = (1, 2)":    "",
		"SELECT a FROM t WHERE k = 5 AND b = 0xFF": "shop.t.k e 0005 false; shop.t.b 0  false",
	} {
		st, values := Read(&trace.Statement{Fingerprint: "f", Write: true, PartitionKey: []int{7}}, "shop", text)
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
	if _, values := Read(&trace.Statement{}, "", long); len(values) != MaxValues {
		t.Errorf("%d values are read", len(values))
	}
	huge := "SELECT a FROM t WHERE k = " + strings.Repeat("9", 5000)
	if _, values := Read(&trace.Statement{}, "", huge); len(values) != 1 || values[0].Bytes != nil {
		t.Error("an enormous number is read")
	}
}

func FuzzRead(f *testing.F) {
	f.Add("SELECT a FROM t WHERE k IN (1, -300, ?) AND c > 'x'")
	f.Add("INSERT INTO t (k) VALUES (1, 2)")
	f.Add("UPDATE t SET v = v + {1} WHERE id = 12345678-9abc-def0-1234-56789abcdef0")
	f.Fuzz(func(t *testing.T, text string) {
		st, values := Read(&trace.Statement{}, "k", text)
		if st != nil && (len(values) != len(st.Variables) || len(values) != len(st.Ranges) || len(values) == 0) {
			t.Fatalf("%d values, %+v", len(values), st)
		}
	})
}
