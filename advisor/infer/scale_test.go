package infer

import (
	"fmt"
	"testing"
	"time"

	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/feed"
	"github.com/helenus-db/helenus/capture/profile"
	"github.com/helenus-db/helenus/capture/schema"
)

// BenchmarkInferTables infers a model of 500 tables in one keyspace, each with the keys of eight others.
func BenchmarkInferTables(b *testing.B) {
	const tables = 500
	s := &schema.Schema{Keyspaces: []schema.Keyspace{{Name: "k"}}}
	for i := range tables {
		t := schema.Table{Keyspace: "k", Name: fmt.Sprintf("thing%ds", i)}
		t.Columns = append(t.Columns, schema.Column{Name: fmt.Sprintf("thing%d_id", i), Kind: schema.PartitionKey, Type: "uuid"})
		for j := range 8 {
			t.Columns = append(t.Columns, schema.Column{Name: fmt.Sprintf("thing%d_id", (i+j*7+1)%tables), Kind: schema.Regular, Position: -1, Type: "uuid"})
		}
		s.Keyspaces[0].Tables = append(s.Keyspaces[0].Tables, t)
	}
	at := time.Unix(0, 0)
	for b.Loop() {
		if m, err := Infer(&capture.Snapshot{From: at, To: at.Add(time.Minute)}, s, nil); err != nil || len(m.Relationships) != 8*tables {
			b.Fatal(err)
		}
	}
}

// BenchmarkInferComposed infers a model of tables in whose keys one tenant's id is, with rows of each tenant in each: every two of them are held against each other.
func BenchmarkInferComposed(b *testing.B) {
	for _, tables := range []int{50, 100} {
		b.Run(fmt.Sprint(tables), func(b *testing.B) {
			const tenants, members = 64, 5
			hash := func(of string, n int) uint64 {
				return uint64(n+1)*0x9E3779B97F4A7C15 ^ uint64(len(of))<<32 // #nosec G115 -- few
			}
			column := func(name, cqlType string, kind schema.ColumnKind) schema.Column {
				return schema.Column{Name: name, Kind: kind, Type: cqlType, Position: 0}
			}
			s := &schema.Schema{Keyspaces: []schema.Keyspace{{Name: "k"}}}
			tenant := schema.Table{Keyspace: "k", Name: "tenants", Columns: []schema.Column{column("tenant_id", "uuid", schema.PartitionKey)}}
			s.Keyspaces[0].Tables = append(s.Keyspaces[0].Tables, tenant)
			epoch := profile.Epoch{ID: 1}
			for n := range tenants {
				epoch.Keys = append(epoch.Keys, profile.Key{Hash: hash("tenant", n)})
			}
			for i := range tables {
				t := schema.Table{Keyspace: "k", Name: fmt.Sprintf("thing%ds", i), Columns: []schema.Column{
					column("tenant_id", "uuid", schema.PartitionKey), column("number", "int", schema.Clustering), column("size", "int", schema.Regular), column("age", "int", schema.Regular)}}
				s.Keyspaces[0].Tables = append(s.Keyspaces[0].Tables, t)
				for n := range tenants * members {
					k := &epoch.Keys[n/members]
					k.Rows = append(k.Rows, profile.Row{Keyspace: "k", Table: t.Name, ID: uint64(n), Cells: []profile.Cell{ // #nosec G115 -- few
						{Column: "age", Hash: hash("age", n*i%70)}, {Column: "number", Hash: hash("number", n%members+i)}, {Column: "size", Hash: hash("size", n*i%90)}, {Column: "tenant_id", Hash: k.Hash},
					}})
				}
			}
			at := time.Unix(0, 0)
			snapshot := &capture.Snapshot{From: at, To: at.Add(time.Minute), Profiles: &profile.Document{Epochs: []profile.Epoch{epoch}}}
			b.ReportAllocs()
			for b.Loop() {
				if m, err := Infer(snapshot, s, nil); err != nil || len(m.Relationships) < tables {
					b.Fatal(err, len(m.Relationships))
				}
			}
		})
	}
}

// BenchmarkInferPassages infers a model of tables that are called by two numbers each and have as many rows, between whose statements values travel: every two tables may be copies of each
// other by what travels.
func BenchmarkInferPassages(b *testing.B) {
	const tables = 500
	for _, statements := range []int{1000, 5000} {
		b.Run(fmt.Sprint(statements), func(b *testing.B) {
			s := &schema.Schema{Keyspaces: []schema.Keyspace{{Name: "k"}}}
			var stats []schema.Stats
			for i := range tables {
				t := schema.Table{Keyspace: "k", Name: fmt.Sprintf("thing%03d", i), Columns: []schema.Column{
					{Name: fmt.Sprintf("a%d", i), Kind: schema.PartitionKey, Type: "int"}, {Name: fmt.Sprintf("b%d", i), Kind: schema.Clustering, Type: "int"}, {Name: fmt.Sprintf("c%d", i), Kind: schema.Regular, Position: -1, Type: "int"}}}
				s.Keyspaces[0].Tables = append(s.Keyspaces[0].Tables, t)
				st := schema.Stats{Keyspace: "k", Table: t.Name, Rows: 9000, Partitions: 300, Sampled: 9000}
				for n, c := range t.Columns {
					st.Columns = append(st.Columns, schema.ColumnStats{Name: c.Name, Distinct: []float64{300, 40, 70}[n], MeanBytes: 4})
				}
				stats = append(stats, st)
			}
			at := time.Unix(0, 0)
			snapshot := &capture.Snapshot{From: at, To: at.Add(time.Minute)}
			for i := range statements {
				for k := range 4 {
					from, to := i%tables, (i*7+k*13+1)%tables
					end := func(of, statement int, column string) feed.End {
						return feed.End{Fingerprint: fmt.Sprintf("%032d", statement), Keyspace: "k", Table: fmt.Sprintf("thing%03d", of), Column: fmt.Sprintf("%s%d", column, of)}
					}
					snapshot.Feeds = append(snapshot.Feeds, feed.Feed{From: end(from, i, "c"), To: end(to, (i*7+k*13+1)%statements, "a"), Executions: 100, Hits: 100, Share: 1, Producers: 100, Confidence: 1, Shape: feed.Single})
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Infer(snapshot, s, stats); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
