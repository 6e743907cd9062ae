package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/advisor/options"
)

// What is read to find the costs: of each width so many rows, each with a value of its own in an indexed column.
var widths = []int{16, 1024, 4096, 16384}

const (
	ofEach = 200 // rows
	rounds = 200
	// inARow is how often an operation is run in its turn. The first does not count: it pays for what another kind left in the caches.
	inARow = 3
)

// Costs measures metrics 3a and 3b, separately (B-40, B-41), in milliseconds: the median of reading one row by its row key and by a
// secondary index, and what a byte of a row adds, as the slope of the medians of rows of 16 bytes to 16 kB.
func (b *Bench) Costs(ctx context.Context) (options.Costs, error) {
	var c options.Costs
	keyspace, err := b.arena.Create(ctx, nil)
	if err != nil {
		return c, err
	}
	if err := b.rows(ctx, keyspace); err != nil {
		return c, fmt.Errorf("making the rows to read: %w", err)
	}
	random := rand.New(rand.NewPCG(b.o.Seed, 40)) //nolint:gosec // any bits do
	byKey := "SELECT v FROM " + keyspace + ".rows WHERE id = ?"
	type operation struct {
		text  string
		width int // which
		took  []float64
	}
	operations := []*operation{{text: "SELECT v FROM " + keyspace + ".rows WHERE g = ?"}}
	for i := range widths {
		operations = append(operations, &operation{text: byKey, width: i})
	}
	for range rounds {
		for _, k := range random.Perm(len(operations)) {
			o := operations[k]
			for n := range inARow {
				began := time.Now()
				var v []byte
				if err := b.arena.Session.Query(o.text, o.width*ofEach+random.IntN(ofEach)).Consistency(gocql.One).WithContext(ctx).Scan(&v); err != nil {
					return c, fmt.Errorf("measuring what a look-up costs: %w", err)
				}
				if n > 0 {
					o.took = append(o.took, float64(time.Since(began).Microseconds())/1000)
				}
			}
		}
	}
	median := func(o *operation) float64 { slices.Sort(o.took); return o.took[len(o.took)/2] }
	medians := make([]float64, len(widths))
	for i := range widths {
		medians[i] = median(operations[1+i])
	}
	c = options.Costs{Key: medians[0], Index: median(operations[0]), Byte: max(0, slope(widths, medians))}
	b.say("a row by its key takes %.3f ms, by an index %.3f ms, and a kilobyte more of it %.4f ms", c.Key, c.Index, 1024*c.Byte)
	return c, nil
}

// rows makes and fills the table that is read.
func (b *Bench) rows(ctx context.Context, keyspace string) error {
	for _, text := range []string{"CREATE TABLE " + keyspace + ".rows (id int PRIMARY KEY, g int, v blob)", "CREATE INDEX ON " + keyspace + ".rows (g)"} {
		if err := b.arena.Session.Query(text).WithContext(ctx).Exec(); err != nil {
			return err
		}
	}
	if err := b.arena.Session.AwaitSchemaAgreement(ctx); err != nil {
		return err
	}
	for i, width := range widths {
		for n := range ofEach {
			id := i*ofEach + n
			if err := b.arena.Session.Query("INSERT INTO "+keyspace+".rows (id, g, v) VALUES (?, ?, ?)", id, id, make([]byte, width)).WithContext(ctx).Exec(); err != nil {
				return err
			}
		}
	}
	return nil
}

// perKey are costs in units of a look-up by row key, so that scores do not depend on how quick a machine is.
func perKey(c options.Costs) options.Costs {
	return options.Costs{Key: 1, Index: c.Index / c.Key, Byte: c.Byte / c.Key}
}

// slope is that of the line of least squares.
func slope(xs []int, ys []float64) float64 {
	n, mx, my := float64(len(xs)), 0.0, 0.0
	for i, x := range xs {
		mx += float64(x) / n
		my += ys[i] / n
	}
	over, under := 0.0, 0.0
	for i, x := range xs {
		over += (float64(x) - mx) * (ys[i] - my)
		under += (float64(x) - mx) * (float64(x) - mx)
	}
	return over / under
}
