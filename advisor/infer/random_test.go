package infer_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/advisor/infer/infertest"
	"github.com/helenus-db/helenus/capture/schema"
)

// Whatever the tables look like, a consistent model comes out, and the same one twice.
func TestAnySchemaIsModelled(t *testing.T) {
	names := []string{"users", "user", "users_by_email", "orders", "orders_by_user", "order_items", "Odd.Name", "a_b", "x", "by", "_"}
	columns := []string{"id", "user_id", "userid", "order_id", "email", "name", "key", "created", "Odd Column", "by"}
	types := []string{"uuid", "text", "int", "timestamp", "frozen<list<uuid>>"}
	rapid.Check(t, func(t *rapid.T) {
		s := &schema.Schema{}
		var stats []schema.Stats
		traffic := &infertest.Traffic{Keyspace: "k0", Seconds: 60}
		for k := range rapid.IntRange(1, 2).Draw(t, "keyspaces") {
			ks := schema.Keyspace{Name: fmt.Sprintf("k%d", k)}
			for _, name := range names {
				if rapid.Bool().Draw(t, "there") {
					continue
				}
				table := schema.Table{Keyspace: ks.Name, Name: name, ID: name, Counter: rapid.IntRange(0, 9).Draw(t, "counter") == 0}
				partition, clustering := rapid.IntRange(1, 2).Draw(t, "partition"), rapid.IntRange(0, 2).Draw(t, "clustering")
				for i, c := range rapid.Permutation(columns).Draw(t, "columns")[:rapid.IntRange(partition+clustering, len(columns)).Draw(t, "n")] {
					column := schema.Column{Name: c, Kind: schema.Regular, Position: -1, Type: rapid.SampledFrom(types).Draw(t, "type")}
					switch {
					case i < partition:
						column.Kind, column.Position = schema.PartitionKey, i
					case i < partition+clustering:
						column.Kind, column.Position = schema.Clustering, i-partition
					case rapid.IntRange(0, 4).Draw(t, "index") == 0:
						table.Indexes = append(table.Indexes, schema.Index{Name: "i" + c, Column: c, On: "values"})
					}
					table.Columns = append(table.Columns, column)
				}
				if rapid.Bool().Draw(t, "measured") {
					rows := rapid.Float64Range(0, 1e6).Draw(t, "rows")
					st := schema.Stats{Keyspace: ks.Name, Table: name, Rows: rows}
					for _, c := range table.Columns {
						st.Columns = append(st.Columns, schema.ColumnStats{Name: c.Name, Distinct: rapid.Float64Range(0, rows+1).Draw(t, "distinct"), MeanBytes: 10, Nulls: rapid.Float64Range(0, 1).Draw(t, "nulls")})
					}
					stats = append(stats, st)
				}
				for _, c := range table.Columns {
					traffic.Say(fmt.Sprintf("SELECT * FROM %s.%q WHERE %q = ? ALLOW FILTERING", ks.Name, name, c.Name), 30, 1000, 2)
				}
				traffic.Say(fmt.Sprintf("UPDATE %s.%q SET %q = ? WHERE %q = ?", ks.Name, name, table.Columns[len(table.Columns)-1].Name, table.Columns[0].Name), 30, 1000, 0)
				ks.Tables = append(ks.Tables, table)
			}
			s.Keyspaces = append(s.Keyspaces, single(ks.Name, ks.Tables...).Keyspaces...)
		}
		snapshot := traffic.Snapshot()
		text := ""
		for range 2 {
			m, err := infer.Infer(snapshot, s, stats)
			if err != nil {
				t.Fatalf("%v", err)
			}
			conserved(t, m, snapshot)
			form, err := json.Marshal(m.Describe())
			if err != nil {
				t.Fatalf("%v", err)
			}
			if text != "" && text != string(form) {
				t.Fatalf("another model the second time:\n%s\n%s", text, form)
			}
			text = string(form)
		}
	})
}
