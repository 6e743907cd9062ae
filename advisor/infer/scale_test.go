package infer

import (
	"fmt"
	"testing"
	"time"

	"github.com/helenus-db/helenus/capture"
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
