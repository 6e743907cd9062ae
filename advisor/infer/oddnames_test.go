package infer_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/advisor/infer/infertest"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/capture/feed"
	"github.com/helenus-db/helenus/capture/schema"
)

// Whatever columns are called, the model's file can be read again, says the same, and takes what its questions were answered.
func TestOddNamesComeBack(t *testing.T) {
	columns := []string{"select", "from", "where", "limit", "order", "by", "as", "in", "and", "per", "given", "desc", "set", "connect", "to", "count", "items", "distinct", "group", "like", "between", "null", "true", "no", "y", "~", "2fa", "12", "1e3", "0x1f",
		"name", "Name", "NAME", "naïve", "Ünïcode_id", "日本", "数", "a b", "a.b", "a_b", "a#2", "x:y", "?", "'", "\"", "-", "*", "key", "Key", "id", "Id", "user_id", "userId", "order_id", "limit_id", "2nd_order_id", "select_id", "日本_id", "_", "__", "a__b", "é", "e\u0301"}
	names := []string{"select", "order", "orders", "users", "limit", "table", "Table", "_", "__", "2", "2x", "x2", "X", "By", "by_x", "where_by_name", "given", "count"}
	quoted := func(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }
	rapid.Check(t, func(t *rapid.T) {
		traffic := &infertest.Traffic{Keyspace: "ks", Seconds: 60}
		var tables []schema.Table
		var stats []schema.Stats
		type asked struct{ table, column, fingerprint string }
		var keys, others []asked
		for _, name := range rapid.Permutation(names).Draw(t, "tables")[:rapid.IntRange(1, 6).Draw(t, "n")] {
			table := schema.Table{Keyspace: "ks", Name: name, ID: name}
			stat := schema.Stats{Keyspace: "ks", Table: name, Rows: 1000, Partitions: 1000, Exact: true}
			list := rapid.Permutation(columns).Draw(t, "columns")[:rapid.IntRange(1, 7).Draw(t, "columns of it")]
			partition := rapid.IntRange(1, min(2, len(list))).Draw(t, "partition")
			clustering := rapid.IntRange(0, min(2, len(list)-partition)).Draw(t, "clustering")
			var where, marks []string
			for i, c := range list {
				x := schema.Column{Name: c, Kind: schema.Regular, Position: -1, Type: rapid.SampledFrom([]string{"uuid", "text", "bigint"}).Draw(t, "type")}
				switch {
				case i < partition:
					x.Kind, x.Position = schema.PartitionKey, i
				case i < partition+clustering:
					x.Kind, x.Position = schema.Clustering, i-partition
				}
				if i < partition+clustering {
					where = append(where, quoted(c)+" = ?")
				}
				list[i], marks = quoted(c), append(marks, "?")
				table.Columns = append(table.Columns, x)
				stat.Columns = append(stat.Columns, schema.ColumnStats{Name: c, Distinct: rapid.SampledFrom([]float64{5, 600, 1000}).Draw(t, "distinct"), MeanBytes: 9})
			}
			tables, stats = append(tables, table), append(stats, stat)
			read := traffic.Say(fmt.Sprintf("SELECT %s FROM %s WHERE %s", strings.Join(list, ", "), quoted(name), strings.Join(where, " AND ")), 100, 900, 1)
			traffic.Say(fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", quoted(name), strings.Join(list, ", "), strings.Join(marks, ", ")), 100, 900, 0)
			if set := list[partition+clustering:]; len(set) > 0 {
				traffic.Say(fmt.Sprintf("UPDATE %s SET %s = ? WHERE %s", quoted(name), set[0], strings.Join(where, " AND ")), 50, 900, 0)
			}
			traffic.Say(fmt.Sprintf("DELETE FROM %s WHERE %s", quoted(name), strings.Join(where, " AND ")), 50, 900, 0)
			for i, c := range table.Columns {
				if i < partition+clustering {
					keys = append(keys, asked{name, c.Name, read})
				} else {
					others = append(others, asked{name, c.Name, read})
				}
			}
		}
		for range rapid.IntRange(0, 3).Draw(t, "feeds") {
			if len(others) == 0 {
				break
			}
			from, to := rapid.SampledFrom(others).Draw(t, "from"), rapid.SampledFrom(keys).Draw(t, "to")
			traffic.Feed(from.fingerprint, from.table, from.column, to.fingerprint, to.table, to.column, feed.Feed{Executions: 100, Hits: 100, Share: 1, Producers: 100, Followed: 1, PerExecution: 1, Shape: feed.Single, Confidence: 1})
		}
		s, snapshot := single("ks", tables...), traffic.Snapshot()
		m, err := infer.Infer(snapshot, s, stats)
		if err != nil {
			t.Fatal(err)
		}
		file, err := m.File()
		if err != nil {
			t.Fatal(err)
		}
		c, err := infer.Compare(t.Context(), snapshot, s, stats, nil, file)
		if err != nil {
			t.Fatalf("%v\n%s", err, file)
		}
		if len(c.Changes)+len(c.Since)+len(c.Unused) > 0 {
			t.Fatalf("changes %v, since %v, unused %v\n%s", c.Changes, c.Since, c.Unused, file)
		}
		for n := range min(1, len(m.Questions)) {
			q := m.Questions[(n+rapid.IntRange(0, 99).Draw(t, "question"))%len(m.Questions)]
			for i := range q.Candidates {
				list := q.Answered(&q.Candidates[i])
				told, err := infer.WithCorrections(snapshot, s, stats, list)
				if err != nil {
					t.Fatalf("%s: %v", q.Text, err)
				}
				for _, x := range told.Corrections {
					if strings.Contains(x.Why, "there is no") {
						t.Fatalf("%s: answered %s: %s", q.Text, q.Candidates[i].Answer, x.Why)
					}
				}
				with, err := told.File()
				if err != nil {
					t.Fatalf("%s: answered %s: %v", q.Text, q.Candidates[i].Answer, err)
				}
				w, err := workload.Read("model", []byte(with))
				if err != nil {
					t.Fatal(err)
				}
				if d := infer.Corrections(list, w.Corrections); len(d) > 0 {
					t.Fatalf("%s: answered %s: %v", q.Text, q.Candidates[i].Answer, d)
				}
				for k := range list {
					if _, why := list[k].Check(); why != "" {
						t.Fatalf("%s: answered %s: %s", q.Text, q.Candidates[i].Answer, why)
					}
				}
				if _, err := infer.Compare(t.Context(), snapshot, s, stats, list, with); err != nil {
					t.Fatalf("%s: answered %s: %v", q.Text, q.Candidates[i].Answer, err)
				}
			}
		}
	})
}
