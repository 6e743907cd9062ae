package planrun_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/planrun"
)

// keeping is a real Cassandra that a test can look into, and that fails where the test will have it.
type keeping struct {
	*real
	until atomic.Int64 // writes that still succeed; negative: all
}

func (k *keeping) down() error {
	if k.until.Load() >= 0 && k.until.Add(-1) < 0 {
		return errFake
	}
	return nil
}

// Query implements exec.Session.
func (k *keeping) Query(ctx context.Context, q exec.Query) (exec.Answer, error) {
	if !strings.HasPrefix(q.Text, "SELECT ") {
		if err := k.down(); err != nil {
			return exec.Answer{}, err
		}
	}
	return k.real.Query(ctx, q)
}

// Batch implements exec.Batcher.
func (k *keeping) Batch(ctx context.Context, writes []exec.Query) error {
	if err := k.down(); err != nil {
		return err
	}
	return k.real.Batch(ctx, writes)
}

func (k *keeping) failing(within int) func() {
	k.until.Store(int64(within))
	return func() { k.until.Store(-1) }
}

// holds reads a whole table.
func (k *keeping) holds(t testing.TB, table *model.Table) *stored {
	t.Helper()
	s := columnsOf(table)
	names := make([]string, len(s.names))
	for i, n := range s.names {
		names[i] = model.Quote(n)
	}
	err := k.Scan(context.Background(), exec.Query{Text: fmt.Sprintf("SELECT %s FROM %s.%s", strings.Join(names, ", "), k.keyspace, model.Quote(table.Name)), Consistency: gocql.One}, func(cells [][]byte) error {
		row := make([]any, len(cells))
		for i, c := range cells {
			var err error
			if row[i], err = planrun.Decode(s.types[i], c); err != nil {
				return err
			}
		}
		s.rows = append(s.rows, row)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestTablesStayTrueOnCassandra runs the writes of RUBiS and of the hotel on a real Cassandra, and, if an environment variable
// asks for some, random ones.
func TestTablesStayTrueOnCassandra(t *testing.T) {
	db := &keeping{real: open(t)}
	db.until.Store(-1)
	n := tally{writes: map[workload.WriteKind]int{}}
	made := 0
	run := func(seed uint64, w *world, g *model.Graph, tables []*model.Table, writes []*workload.Write) {
		for _, table := range tables {
			table.Name = fmt.Sprintf("t%d", made)
			made++
			table.Indexes = nil // for reads alone
			db.create(t, w.store(table))
		}
		if err := db.Agree(context.Background()); err != nil {
			t.Fatal(err)
		}
		n.run(t, seed, w, g, tables, writes, 4, db)
		for _, table := range tables { // all at once, by the keyspace, is more than a busy node does in time
			db.do(t, "DROP TABLE "+db.keyspace+"."+table.Name)
		}
	}
	for i, name := range []string{"rubis", "hotel"} {
		w, g, tables, writes := application(t, name, uint64(i))
		run(uint64(i), w, g, tables[:min(len(tables), 30)], writes)
	}
	for seed := range number(t, "HELENUS_TEST_CASSANDRA_WORLDS", 0) {
		if d := draw(seed); d.world.lawful(d.graph) {
			tables := d.all(d.graph)
			run(seed, d.world, d.graph, tables[:min(len(tables), 18)], d.writes)
		}
	}
	t.Logf("%v writes over %d tables, %d applied again", n.writes, made, n.again)
	if n.again == 0 || n.writes[workload.Insert] == 0 || n.writes[workload.Update] == 0 {
		t.Error("too little was run")
	}
}
