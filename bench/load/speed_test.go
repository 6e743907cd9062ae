package load_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/bench/load"
	"github.com/helenus-db/helenus/internal/cassandra/cassandratest"
)

// BenchmarkLoad measures rows a second into tables of RUBiS: one row in a partition, and many.
func BenchmarkLoad(b *testing.B) {
	session, keyspace := cassandratest.Keyspace(b)
	ctx := context.Background()
	wl, w := design(b, "rubis.yaml", 0.5)
	made := 0
	for _, x := range []struct{ schema, table string }{{"rubis_baseline", "bids"}, {"rubis_baseline", "bids_by_item"}, {"rubis_expert", "item_bids"}, {"rubis_expert", "items_with_category"}} {
		for _, o := range []load.Options{{Batch: 1}, {Batch: 100, Across: 1}, {Batch: 100}, {Batch: 100, Writers: 128}, {Batch: 100, Writers: 16}, {Batch: 100, Across: 1}, {Batch: 100, Across: 10}} {
			b.Run(fmt.Sprintf("%s batch %d across %d writers %d", x.table, o.Batch, o.Across, o.Writers), func(b *testing.B) {
				rows := 0
				for b.Loop() {
					var tables []*model.Table
					for _, t := range wl.Schemas[x.schema] {
						if t.Name == x.table {
							own := *t
							made++
							own.Name = fmt.Sprintf("%s_%d", t.Name, made)
							tables = append(tables, &own)
						}
					}
					b.StopTimer()
					if err := load.Define(ctx, session, keyspace, tables); err != nil {
						b.Fatal(err)
					}
					b.StartTimer()
					list, err := load.Tables(ctx, session, keyspace, tables, w, o)
					if err != nil {
						b.Fatal(err)
					}
					rows += list[0].Rows
				}
				b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
			})
		}
	}
}
