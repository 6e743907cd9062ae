package infer

import (
	"fmt"
	"testing"
	"time"

	"github.com/helenus-db/helenus/capture"
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
