package calibrate

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/internal/sleep"
)

// indexKinds are the kinds of indexes: families, and the tables that are read and written by them.
var indexKinds = []struct {
	family, table, puts, create string
	sai                         bool
}{
	{"secondary index", "indexed", "put_indexed", "CREATE INDEX ON %s (%s)", false},
	{"storage-attached index", "attached", "put_attached", "CREATE CUSTOM INDEX ON %s (%s) USING 'StorageAttachedIndex'", true},
}

// loading is what makes and fills the tables.
type loading struct {
	*bench
	random *rand.Rand
	done   func(rows int)
	made   []string // tables that are read
}

// rows of all tables, about, for progress.
func (b *bench) rows() int {
	n := 2 * b.sizes.indexed
	for range layouts {
		for _, rows := range b.sizes.rows {
			n += rows * b.partitions(rows)
		}
	}
	for _, t := range b.sizes.scannedTables() {
		n += t.rows
	}
	return n
}

// load makes the tables and fills them. A family whose tables this cluster does not make is refused, with the reason.
func (l *loading) load(ctx context.Context) (refused map[string]string, err error) {
	refused = map[string]string{}
	for _, t := range layouts {
		if err := l.partitioned(ctx, t); err != nil {
			return nil, err
		}
	}
	for _, dead := range append([]int{0}, l.sizes.dead...) {
		if err := l.graves(ctx, dead); err != nil {
			return nil, err
		}
	}
	if err := l.collections(ctx); err != nil {
		return nil, err
	}
	for _, k := range indexKinds {
		var no gocql.RequestError
		if err := l.indexes(ctx, k.table, k.puts, k.create); errors.As(err, &no) && !Down(err) {
			refused[k.family] = no.Message()
		} else if err != nil {
			return nil, err
		}
	}
	for _, t := range l.sizes.scannedTables() {
		if err := l.scanned(ctx, t); err != nil {
			return nil, err
		}
	}
	if err := l.settle(ctx); err != nil {
		return nil, err
	}
	for _, t := range written {
		if err := l.table(ctx, t.name, "id int PRIMARY KEY, g int"+t.definitions()); err != nil {
			return nil, err
		}
	}
	for _, o := range l.scans()[:1] { // some clusters forbid them
		var no gocql.RequestError
		if err := o.run(ctx, l.random); errors.As(err, &no) && !Down(err) {
			refused[o.Family] = no.Message()
		}
	}
	return refused, nil
}

// schema runs a statement of DDL.
func (l *loading) schema(ctx context.Context, statement string) error {
	if err := l.session.Query(statement).WithContext(ctx).RetryPolicy(nil).Exec(); err != nil {
		return err
	}
	return l.session.AwaitSchemaAgreement(ctx)
}

func (l *loading) table(ctx context.Context, name, columns string) error {
	if err := l.schema(ctx, "CREATE TABLE "+l.bench.table(name)+" ("+columns+")"); err != nil {
		return fmt.Errorf("make table %s: %w", l.bench.table(name), err)
	}
	l.made = append(l.made, name)
	return nil
}

// loaders is how many requests of loading are on their way at once.
const loaders = 16

// fill runs n writes, some at once, in batches of the rows of one partition.
func (l *loading) fill(ctx context.Context, statement string, n int, rows func(i int) [][]any) error {
	type part struct {
		values [][]any
	}
	parts := make([]part, n)
	for i := range parts {
		parts[i].values = rows(i) // drawn in order, whatever is sent first
	}
	err := atOnce(n, loaders, func(i int) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		for chunk := range slices.Chunk(parts[i].values, 20) {
			batch := l.session.NewBatch(gocql.UnloggedBatch).WithContext(ctx)
			batch.Cons = l.consistency
			for _, v := range chunk {
				batch.Query(statement, v...)
			}
			if err := l.session.ExecuteBatch(batch); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	total := 0
	for i := range parts {
		total += len(parts[i].values)
	}
	l.done(total)
	return nil
}

// scattered is how many partitions one batch of loading goes to: Cassandra warns of more.
const scattered = 10

// scatter is fill for rows of a partition each.
func (l *loading) scatter(ctx context.Context, statement string, n int, row func(i int) []any) error {
	return l.fill(ctx, statement, (n+scattered-1)/scattered, func(i int) (rows [][]any) {
		for j := i * scattered; j < min(n, (i+1)*scattered); j++ {
			rows = append(rows, row(j))
		}
		return rows
	})
}

// partitioned makes a table of partitions of each size.
func (l *loading) partitioned(ctx context.Context, t layout) error {
	if err := l.table(ctx, t.name, "id int, seq int"+t.definitions()+", PRIMARY KEY (id, seq)"); err != nil {
		return err
	}
	for _, rows := range l.sizes.rows {
		if err := l.fill(ctx, "INSERT INTO "+l.bench.table(t.name)+" (id, seq, "+t.names()+") VALUES (?, ?"+t.marks()+")", l.partitions(rows), func(i int) [][]any {
			return l.sequence(t, partition(rows, i), rows, 1)
		}); err != nil {
			return err
		}
	}
	return nil
}

// sequence are rows of one partition, whose second key grows by step.
func (l *loading) sequence(t layout, id, rows, step int) [][]any {
	out := make([][]any, rows)
	for i := range out {
		out[i] = append([]any{id, i * step}, t.values(l.random)...)
	}
	return out
}

// graves makes partitions of living rows with deleted ones between them.
func (l *loading) graves(ctx context.Context, dead int) error {
	t := gravesLayout
	if dead == 0 {
		if err := l.table(ctx, t.name, "id int, seq int"+t.definitions()+", PRIMARY KEY (id, seq)"); err != nil {
			return err
		}
	}
	if err := l.fill(ctx, "INSERT INTO "+l.bench.table(t.name)+" (id, seq, "+t.names()+") VALUES (?, ?"+t.marks()+")", graves, func(i int) [][]any {
		return l.sequence(t, partition(dead, i), living, 1000)
	}); err != nil || dead == 0 {
		return err
	}
	return l.fill(ctx, "DELETE FROM "+l.bench.table(t.name)+" WHERE id = ? AND seq = ?", graves, func(i int) [][]any {
		out := make([][]any, dead)
		for j := range out {
			out[j] = []any{partition(dead, i), j%living*1000 + 1 + j/living}
		}
		return out
	})
}

// collections makes a table of rows with a set and a map of elements, and one to put elements into.
func (l *loading) collections(ctx context.Context) error {
	t := nestedLayout
	columns := "id int PRIMARY KEY" + t.definitions() + ", " + owned + " set<int>, " + owned + "_value map<int, text>"
	for _, name := range []string{t.name, "put_" + t.name} {
		if err := l.table(ctx, name, columns); err != nil {
			return err
		}
	}
	for _, n := range l.sizes.nested {
		if err := l.fill(ctx, "INSERT INTO "+l.bench.table(t.name)+" (id, "+t.names()+", "+owned+", "+owned+"_value) VALUES (?, ?, ?, ?)", owners, func(i int) [][]any {
			tags, values := make([]int, n), make(map[int]string, n)
			for j := range tags {
				tags[j] = i*n + j
				values[tags[j]] = text(l.random, elementSize)
			}
			return [][]any{{partition(n, i), text(l.random, t.size), tags, values}}
		}); err != nil {
			return err
		}
	}
	return nil
}

// indexes makes a table of rows to be read by index, and one to be written.
func (l *loading) indexes(ctx context.Context, read, put, create string) error {
	columns := "id int PRIMARY KEY"
	for _, g := range groupsOf {
		columns += fmt.Sprintf(", g%d int", g)
	}
	if err := l.table(ctx, read, columns+plainLayout.definitions()); err != nil {
		return err
	}
	if err := l.table(ctx, put, "id int PRIMARY KEY, g int"+plainLayout.definitions()); err != nil {
		return err
	}
	if err := l.schema(ctx, fmt.Sprintf(create, l.bench.table(put), "g")); err != nil {
		return fmt.Errorf("index of %s: %w", l.bench.table(put), err)
	}
	for _, g := range groupsOf {
		if err := l.schema(ctx, fmt.Sprintf(create, l.bench.table(read), fmt.Sprintf("g%d", g))); err != nil {
			return fmt.Errorf("index of %s: %w", l.bench.table(read), err)
		}
	}
	n := l.sizes.indexed
	return l.scatter(ctx, "INSERT INTO "+l.bench.table(read)+" (id, g1, g10, g100, "+plainLayout.names()+") VALUES (?, ?, ?, ?"+plainLayout.marks()+")", n, func(i int) []any {
		return append([]any{i, i, i % (n / 10), i % (n / 100)}, plainLayout.values(l.random)...)
	})
}

// scanned makes a table of rows of which a few pass a filter.
func (l *loading) scanned(ctx context.Context, t scanned) error {
	if err := l.table(ctx, t.table(), "id int PRIMARY KEY, f int"+t.definitions()); err != nil {
		return err
	}
	return l.scatter(ctx, "INSERT INTO "+l.bench.table(t.table())+" (id, f, "+t.names()+") VALUES (?, ?"+t.marks()+")", t.rows, func(i int) []any {
		f := 0
		if i%(t.rows/found) == 0 {
			f = 1
		}
		return append([]any{i, f}, t.values(l.random)...)
	})
}

// flushFor is how long memory is given to reach the disk.
const flushFor = 2 * time.Second

// settle has what was loaded written to disk, as data is that has been there for a while. There is no statement for that,
// but an option of tables.
func (l *loading) settle(ctx context.Context) error {
	for _, name := range l.made {
		if err := l.schema(ctx, fmt.Sprintf("ALTER TABLE %s WITH memtable_flush_period_in_ms = 500", l.bench.table(name))); err != nil {
			return fmt.Errorf("have table %s written to disk: %w", l.bench.table(name), err)
		}
	}
	return sleep.For(ctx, flushFor)
}
