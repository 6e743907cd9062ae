package capture

import (
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/capture/cql"
)

func TestTreesAreKept(t *testing.T) {
	s := &Statement{Text: "SELECT a, b FROM k.trees_are_kept WHERE a = ? AND b > ? LIMIT ?"}
	first, err := s.Parse()
	if err != nil {
		t.Fatal(err)
	}
	trees().Wait()
	again, err := s.Parse()
	if err != nil {
		t.Fatal(err)
	}
	if first != again { // pointers
		t.Error("the tree was made anew")
	}
	if fresh, err := cql.Parse(s.Text); err != nil || !reflect.DeepEqual(fresh, again) {
		t.Errorf("kept %v, parsed %v, %v", again, fresh, err)
	}
	for range 2 {
		if _, err := (&Statement{Text: "SELECT FROM"}).Parse(); err == nil {
			t.Error("a broken text was parsed")
		}
	}
}

// What a tree is said to take is no less than what making it takes, the parser's garbage included.
func TestTreeBytes(t *testing.T) {
	for _, text := range []string{
		"SELECT a FROM k.t WHERE b = ?",
		"SELECT " + strings.Repeat("a_column, ", 40) + "b FROM keyspace_name.table_name WHERE first = ? AND second = ? AND third > ? ORDER BY third DESC LIMIT ?",
		"INSERT INTO shop.items (order_id, line, product_id, quantity) VALUES (?, ?, ?, ?) IF NOT EXISTS USING TTL ?",
		"BEGIN BATCH " + strings.Repeat("UPDATE k.t SET a = ?, b = b + ? WHERE c = ? AND d = ?; ", 20) + "APPLY BATCH",
	} {
		const times = 50
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range times {
			if _, err := cql.Parse(text); err != nil {
				t.Fatal(err)
			}
		}
		runtime.ReadMemStats(&after)
		if made, said := int64(after.TotalAlloc-before.TotalAlloc)/times, treeBytes(text); made > said || said > 8*made {
			t.Errorf("%d bytes are made for a tree that is said to take %d: %.60s", made, said, text)
		}
	}
}

func BenchmarkStatementParse(b *testing.B) {
	s := &Statement{Text: "SELECT order_id, customer_id, placed, status, total, currency, shipped, address FROM shop.orders WHERE customer_id = ? AND placed > ? AND status = ? ORDER BY placed DESC LIMIT ? ALLOW FILTERING"}
	for name, parse := range map[string]func() (cql.Statement, error){"kept": s.Parse, "anew": func() (cql.Statement, error) { return cql.Parse(s.Text) }} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := parse(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
