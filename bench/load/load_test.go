package load_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/bench/data"
	"github.com/helenus-db/helenus/bench/load"
	"github.com/helenus-db/helenus/bench/reference"
	"github.com/helenus-db/helenus/internal/cassandra/cassandratest"
)

func design(t testing.TB, name string, scale float64) (*workload.Workload, *data.World) {
	t.Helper()
	wl, err := workload.Load(filepath.Join("../../examples/designs", name))
	if err != nil {
		t.Fatal(err)
	}
	w, err := data.New(wl.Graph, data.Options{Seed: 1, Scale: scale, Workload: wl})
	if err != nil {
		t.Fatal(err)
	}
	return wl, w
}

// TestLoad loads tables of the examples, from the world and from a reference copy, and counts.
func TestLoad(t *testing.T) {
	session, keyspace := cassandratest.Keyspace(t)
	ctx := context.Background()
	for name, scale := range map[string]float64{"rubis.yaml": 0.005, "eac.yaml": 0.001, "hotel.yaml": 0.01} {
		wl, w := design(t, name, scale)
		r, err := reference.Create("", w)
		if err != nil {
			t.Fatal(err)
		}
		schemas := map[string][]*model.Table{"existing": wl.Tables}
		if len(wl.Schemas) > 0 {
			schemas = wl.Schemas
		}
		delete(schemas, "rubis_baseline") // more of the same: making and dropping tables takes long
		for schema, tables := range schemas {
			for from, source := range map[string]load.Source{"world": w, "reference": r} {
				if name == "rubis.yaml" && from == "reference" {
					continue
				}
				t.Run(name+" "+schema+" "+from, func(t *testing.T) {
					named := make([]*model.Table, len(tables))
					for i, x := range tables {
						own := *x
						own.Name = schema + "_" + from + "_" + model.Identifier(x.Name)
						named[i] = &own
					}
					if err := load.Define(ctx, session, keyspace, named); err != nil {
						t.Fatal(err)
					}
					list, err := load.Tables(ctx, session, keyspace, named, source, load.Options{})
					if err != nil {
						t.Fatal(err)
					}
					for i, l := range list {
						want := 0
						if err := r.Contents(tables[i], func([]any) error { want++; return nil }); err != nil {
							t.Fatal(err)
						}
						var got int
						if err := session.Query("SELECT count(*) FROM " + keyspace + "." + l.Table).Consistency(gocql.One).Scan(&got); err != nil {
							t.Fatal(err)
						}
						if got != want || l.Rows != want {
							t.Errorf("%s has %d rows, %d written, want %d", l.Table, got, l.Rows, want)
						}
						t.Logf("%+v", l)
					}
				})
			}
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}
