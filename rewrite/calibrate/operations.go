package calibrate

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/internal/guard"
	"github.com/helenus-db/helenus/rewrite/exec"
)

// rowHeader is what plans count for a row of an answer beyond its values, bytes.
const rowHeader = 16

// parallel is how many requests of one step are on their way at once, as in the executor.
const parallel = 8

// sizes are how much is loaded and asked for.
type sizes struct {
	rows    []int // of partitions
	each    int   // rows of the partitions of a size, about
	many    []int // gets at once
	nested  []int // elements of a row's collections
	indexed int   // rows of the indexed tables
	scanned []int // rows of the scanned tables
	batches []int
	dead    []int
	sorted  []int
}

var (
	full  = sizes{[]int{1, 10, 100, 1000}, 4000, []int{4, 16, 64}, []int{10, 50, 200}, 20000, []int{1000, 5000, 20000, 60000}, []int{2, 8, 32}, []int{100, 400}, []int{30, 300, 3000}}
	quick = sizes{[]int{1, 10, 100, 500}, 2000, []int{4, 16, 48}, []int{10, 100}, 4000, []int{500, 2000, 8000}, []int{2, 8, 24}, []int{100, 300}, []int{30, 300, 3000}}
)

// layout is a table of columns of text, all of one size.
type layout struct {
	name          string
	columns, size int
}

// layouts tell a row's part from a cell's and a byte's.
var layouts = []layout{{"narrow", 1, 8}, {"plain", 4, 50}, {"wide", 20, 10}, {"fat", 1, 2000}}

var plainLayout = layouts[1]

func (l layout) definitions() string {
	var b strings.Builder
	for i := range l.columns {
		fmt.Fprintf(&b, ", c%d text", i)
	}
	return b.String()
}

func (l layout) names() string {
	names := make([]string, l.columns)
	for i := range names {
		names[i] = fmt.Sprintf("c%d", i)
	}
	return strings.Join(names, ", ")
}

func (l layout) marks() string { return strings.Repeat(", ?", l.columns) }

// values are the texts of a row.
func (l layout) values(r *rand.Rand) []any {
	out := make([]any, l.columns)
	for i := range out {
		out[i] = text(r, l.size)
	}
	return out
}

// text is made of letters that compress about as well as words do.
func text(r *rand.Rand, size int) string {
	const letters = "etaoinshrdlucmfw"
	b := make([]byte, size)
	for i := range b {
		b[i] = letters[min(r.IntN(16), r.IntN(16))]
	}
	return string(b)
}

// rowBytes is what plans count for a row with so many key columns of type int.
func (l layout) rowBytes(keys int) float64 { return float64(4*keys+l.columns*l.size) + rowHeader }

// operation runs a shape once. Its randomness decides which rows.
type operation struct {
	Shape
	times int // in each round
	run   func(ctx context.Context, r *rand.Rand) error
}

// bench runs operations on the scratch keyspace.
type bench struct {
	session     *gocql.Session
	pool        *exec.Pool // the same, as the executor uses it
	readings    map[string]*reading
	keyspace    string
	consistency gocql.Consistency
	replication int
	sizes       sizes
	next        int // row that is written next, so that puts make new rows
}

func (b *bench) table(name string) string { return b.keyspace + "." + name }

// newBench is ready to run operations over a session; nil if they are only to be described.
func newBench(session *gocql.Session, keyspace string, f *Facts, s sizes) (*bench, error) {
	b := &bench{session: session, keyspace: keyspace, replication: f.Replication, sizes: s, consistency: gocql.One}
	if f.Consistency != "" {
		b.consistency = gocql.ParseConsistency(f.Consistency)
	}
	b.pool = exec.NewPool(func() (*gocql.Session, error) { return session, nil })
	return b, b.compile()
}

// expect runs a SELECT, of whose values so many are the partition key, and wants a number of rows.
func (b *bench) expect(ctx context.Context, rows, routed int, statement string, values ...any) error {
	answer, err := b.pool.Query(ctx, exec.Query{Text: statement, Values: bound(values), Routed: routed, Consistency: b.consistency})
	if err == nil && len(answer.Rows) != rows {
		err = &LostError{statement, len(answer.Rows), rows}
	}
	return err
}

// LostError says that the scratch tables do not hold what was put into them.
type LostError struct {
	Statement string
	Got, Want int
}

func (e *LostError) Error() string {
	return fmt.Sprintf("%s answered %d rows instead of %d: what was loaded is not there any longer (a node that lost writes, or somebody else's hand in the scratch keyspace)", e.Statement, e.Got, e.Want)
}

// write runs a write whose first value is the partition key, unless it says otherwise.
func (b *bench) write(ctx context.Context, statement string, values ...any) error {
	_, err := b.pool.Query(ctx, b.mutation(statement, 1, values))
	return err
}

// mutation is a write as the executor sends it, with a timestamp of its own.
func (b *bench) mutation(statement string, routed int, values []any) exec.Query {
	return exec.Query{Text: statement, Values: bound(values), Routed: routed, Consistency: b.consistency, Timestamp: time.Now().UnixMicro()}
}

// atOnce runs n calls, some at a time, as the executor runs the requests of a step, and returns the first error.
func atOnce(n, limit int, call func(i int) error) error {
	var (
		wait   guard.Group
		once   sync.Once
		failed error
		next   atomic.Int64
	)
	work := func() {
		for {
			i := int(next.Add(1)) - 1
			if i >= n {
				return
			}
			if err := call(i); err != nil {
				once.Do(func() { failed = err })
				return
			}
		}
	}
	for range min(limit, n) - 1 {
		wait.Go(guard.Session, work)
	}
	work()
	wait.Wait()
	return failed
}

// operations are all that is measured, in an order that does not matter. Families of refused are left out.
func (b *bench) operations(refused map[string]string) []operation {
	var all []operation
	add := func(o operation) {
		if refused[o.Family] == "" {
			all = append(all, o)
		}
	}
	for _, o := range slices.Concat(b.gets(), b.collections(), b.levels(), b.indexReads(), b.scans(), b.writes(), b.client()) {
		add(o)
	}
	return all
}

// partition is the id of one of the partitions of a size; there are b.partitions(rows) of them.
func partition(rows, i int) int { return rows*10000 + i }

// There are many of each size: what a read finds in the server's caches, and in the processors', should not depend on how many rows
// it asks for.
func (b *bench) partitions(rows int) int { return min(1000, max(4, b.sizes.each/rows)) }

func (b *bench) gets() []operation {
	all := []operation{{
		Shape: Shape{Family: "gets", Name: "no partition", Kind: plan.Get, Requests: 1, Unasked: true}, times: 3,
		run: func(ctx context.Context, _ *rand.Rand) error {
			return b.expect(ctx, 0, 0, "SELECT seq, "+plainLayout.names()+" FROM "+b.table("plain")+" WHERE id IN ?", cell(0)) // an empty list
		},
	}}
	for _, l := range layouts {
		reads := b.readings[l.name]
		for _, rows := range b.sizes.rows {
			all = append(all, operation{
				Shape: Shape{
					Family: "gets", Name: fmt.Sprintf("%s, %d row(s)", l.name, rows), Kind: plan.Get, Requests: 1, Rows: float64(rows),
					Columns: reads.columns, Bytes: float64(rows) * reads.row,
				}, times: 2,
				run: func(ctx context.Context, r *rand.Rand) error {
					return b.get(ctx, l.name, rows, partition(rows, r.IntN(b.partitions(rows))))
				},
			})
		}
	}
	reads := b.readings[several(plainLayout)]
	for _, n := range b.sizes.many {
		all = append(all, operation{
			Shape: Shape{
				Family: "gets at once", Name: fmt.Sprintf("%d gets at once", n), Kind: plan.Get, Requests: float64(n), Rows: float64(n),
				Columns: reads.columns, Bytes: float64(n) * reads.row,
			}, times: 2,
			run: func(ctx context.Context, r *rand.Rand) error {
				from, ids := r.IntN(b.partitions(1)), make([]int, n)
				for i := range ids {
					ids[i] = partition(1, (from+i)%b.partitions(1))
				}
				return b.get(ctx, several(plainLayout), n, ids...)
			},
		})
	}
	reads = b.readings[gravesLayout.name]
	for _, dead := range append([]int{0}, b.sizes.dead...) {
		all = append(all, operation{
			Shape: Shape{
				Family: "tombstones", Name: fmt.Sprintf("%d rows past %d tombstones", living, dead), Kind: plan.Get, Requests: 1, Rows: living,
				Columns: reads.columns, Bytes: living * reads.row, Dead: float64(dead),
			}, times: 2,
			run: func(ctx context.Context, r *rand.Rand) error {
				return b.get(ctx, gravesLayout.name, living, partition(dead, r.IntN(graves)))
			},
		})
	}
	return all
}

// owners is how many rows have collections of each size.
const owners = 100

// collections are rows with a set and a map of so many elements, read with them and made rows of; and elements put and taken away, one
// at a time.
func (b *bench) collections() []operation {
	const family, put = "collections", "put_nested"
	var all []operation
	reads := b.readings[nestedLayout.name]
	for _, n := range b.sizes.nested {
		all = append(all, operation{
			Shape: Shape{
				Family: family, Name: fmt.Sprintf("a row with %d elements", n), Kind: plan.Get, Requests: 1, Rows: 1, Columns: reads.columns,
				Bytes: reads.row + float64(n)*reads.element, Elements: 2 * float64(n), // each is in the set and in the map
			}, times: 2,
			run: func(ctx context.Context, r *rand.Rand) error {
				return b.get(ctx, nestedLayout.name, n, partition(n, r.IntN(owners)))
			},
		})
	}
	at := 0
	element := Shape{Family: family, Name: "put, an element", Kind: plan.Put, Requests: 1, Rows: 1, Columns: 3, Bytes: reads.element}
	gone := Shape{Family: family, Name: "delete, an element", Kind: plan.Remove, Requests: 1, Rows: 1, Columns: 2}
	return append(all, operation{Shape: element, times: 2, run: func(ctx context.Context, r *rand.Rand) error {
		at++
		tag := cell(at)
		update := "UPDATE " + b.table(put) + " SET " + owned + " = " + owned + " + ?, " + owned + "_value[?] = ? WHERE id = ?"
		_, err := b.pool.Query(ctx, b.mutation(update, 0, []any{single(tag), tag, text(r, elementSize), at % owners})) // not routed, as the executor's are not
		return err
	}}, operation{Shape: gone, times: 2, run: func(ctx context.Context, r *rand.Rand) error {
		n := r.IntN(at + 1)
		tag := cell(n)
		remove := "DELETE " + owned + "[?], " + owned + "_value[?] FROM " + b.table(put) + " WHERE id = ?"
		_, err := b.pool.Query(ctx, b.mutation(remove, 0, []any{tag, tag, n % owners}))
		return err
	}})
}

// levels are a get and a put at several consistency levels: how much longer the slowest of several replicas takes.
func (b *bench) levels() []operation {
	var all []operation
	if b.replication < 2 {
		return nil
	}
	l := plainLayout
	reads := b.readings[l.name]
	put := "INSERT INTO " + b.table(written[0].name) + " (id, g, " + l.names() + ") VALUES (?, ?" + l.marks() + ")"
	for _, level := range []string{"ONE", "QUORUM", "ALL"} {
		at := *b
		at.consistency = gocql.ParseConsistency(level)
		s := Shape{Family: "levels", Kind: plan.Get, Requests: 1, Rows: 1, Columns: reads.columns, Bytes: reads.row, Level: level}
		s.Name = "get at " + level
		all = append(all, operation{Shape: s, times: 3, run: func(ctx context.Context, r *rand.Rand) error {
			return at.get(ctx, l.name, 1, partition(1, r.IntN(at.partitions(1))))
		}})
		s.Name, s.Kind = "put at "+level, plan.Put
		all = append(all, operation{Shape: s, times: 3, run: func(ctx context.Context, r *rand.Rand) error {
			b.next++
			return at.write(ctx, put, append([]any{b.next, 0}, l.values(r)...)...)
		}})
	}
	return all
}

// Each partition of the table of deleted rows has as many living ones, and there are as many of each kind.
const (
	living = 50
	graves = 10
)

// groupsOf are the columns of the indexed tables, by how many rows share a value.
var groupsOf = []int{1, 10, 100}

func (b *bench) indexReads() []operation {
	var all []operation
	for _, kind := range indexKinds {
		for _, rows := range groupsOf {
			statement := fmt.Sprintf("SELECT id, %s FROM %s WHERE g%d = ?", plainLayout.names(), b.table(kind.table), rows)
			all = append(all, operation{
				Shape: Shape{
					Family: kind.family, Name: fmt.Sprintf("%d row(s) by %s", rows, kind.family), Kind: plan.IndexGet, Requests: 1, Rows: float64(rows),
					Columns: float64(plainLayout.columns + 1), Bytes: float64(rows) * plainLayout.rowBytes(1), Scanned: float64(rows), Index: !kind.sai, SAI: kind.sai,
				}, times: 2,
				run: func(ctx context.Context, r *rand.Rand) error {
					return b.expect(ctx, rows, 0, statement, r.IntN(b.sizes.indexed/rows))
				},
			})
		}
	}
	return all
}

// scanned is a table to be scanned.
type scanned struct {
	layout
	rows int
}

func (s scanned) table() string { return fmt.Sprintf("scan_%s_%d", s.name, s.rows) }

// scannedTables are of several lengths, and one of them of rows of another width.
func (s sizes) scannedTables() []scanned {
	var all []scanned
	for _, rows := range s.scanned {
		all = append(all, scanned{plainLayout, rows})
	}
	return append(all, scanned{layouts[0], s.scanned[1]}, scanned{layouts[2], s.scanned[1]})
}

// found is how many rows of a scanned table pass its filter.
const found = 5

func (b *bench) scans() []operation {
	var all []operation
	for _, x := range b.sizes.scannedTables() {
		statement := fmt.Sprintf("SELECT id, %s FROM %s WHERE f = 1 ALLOW FILTERING", x.names(), b.table(x.table()))
		all = append(all, operation{
			Shape: Shape{
				Family: "scans", Name: fmt.Sprintf("scan of %d rows, %s", x.rows, x.name), Kind: plan.Scan, Requests: 1, Rows: found,
				Columns: float64(x.columns + 1), Bytes: found * x.rowBytes(1), Scanned: float64(x.rows), Width: float64(x.columns + 2),
			}, times: 1,
			run: func(ctx context.Context, _ *rand.Rand) error { return b.expect(ctx, found, 0, statement) },
		})
	}
	return all
}

// written are the layouts of single puts.
var written = []layout{{"put_plain", 4, 50}, {"put_fat", 1, 2000}, {"put_wide", 20, 10}}

// indexedBatch is how many rows of an indexed table are put in one batch.
const indexedBatch = 16

func (b *bench) writes() []operation {
	var all []operation
	insert := func(l layout) string {
		return "INSERT INTO " + b.table(l.name) + " (id, g, " + l.names() + ") VALUES (?, ?" + l.marks() + ")"
	}
	row := func(l layout, r *rand.Rand) []any {
		b.next++
		return append([]any{b.next, r.IntN(1000)}, l.values(r)...)
	}
	shape := func(family, name string, l layout, rows int) Shape {
		return Shape{
			Family: family, Name: name, Kind: plan.Put, Requests: float64(rows), Rows: float64(rows),
			Columns: float64(l.columns + 2), Bytes: float64(rows) * l.rowBytes(2),
		}
	}
	for _, l := range written {
		all = append(all, operation{Shape: shape("puts", "put, "+strings.TrimPrefix(l.name, "put_"), l, 1), times: 2,
			run: func(ctx context.Context, r *rand.Rand) error { return b.write(ctx, insert(l), row(l, r)...) }})
	}
	together := func(family, name string, l layout, n int) operation {
		s := shape(family, name, l, n)
		s.Logged = true
		return operation{Shape: s, times: 2, run: func(ctx context.Context, r *rand.Rand) error {
			writes := make([]exec.Query, n)
			for i := range writes {
				writes[i] = b.mutation(insert(l), 1, row(l, r))
			}
			return b.pool.Batch(ctx, writes)
		}}
	}
	for _, n := range b.sizes.batches {
		all = append(all, together("batches", fmt.Sprintf("logged batch of %d", n), written[0], n))
	}
	apart := b.sizes.batches[len(b.sizes.batches)-1]
	all = append(all, operation{Shape: shape("batches", fmt.Sprintf("%d puts at once", apart), written[0], apart), times: 2,
		run: func(ctx context.Context, r *rand.Rand) error {
			rows := make([][]any, apart)
			for i := range rows {
				rows[i] = row(written[0], r)
			}
			return atOnce(apart, parallel, func(i int) error { return b.write(ctx, insert(written[0]), rows[i]...) })
		}})
	for _, kind := range indexKinds { // the upkeep shows best in many rows
		l := layout{kind.puts, plainLayout.columns, plainLayout.size}
		o := together(kind.family, fmt.Sprintf("batch of %d, kept in %s", indexedBatch, kind.family), l, indexedBatch)
		s := shape(kind.family, "put, kept in "+kind.family, l, 1)
		for _, x := range []*Shape{&s, &o.Shape} {
			x.Index, x.SAI = !kind.sai, kind.sai
		}
		all = append(all, o, operation{Shape: s, times: 2, run: func(ctx context.Context, r *rand.Rand) error { return b.write(ctx, insert(l), row(l, r)...) }})
	}
	all = append(all, operation{
		Shape: Shape{Family: "puts", Name: "delete", Kind: plan.Remove, Requests: 1, Rows: 1, Columns: 1}, times: 2,
		run: func(ctx context.Context, r *rand.Rand) error {
			return b.write(ctx, "DELETE FROM "+b.table("put_plain")+" WHERE id = ?", r.IntN(b.next+1))
		},
	})
	return all
}

// client are the sorts and groups of the client, on rows of cells as they came.
func (b *bench) client() []operation {
	var all []operation
	for _, n := range b.sizes.sorted {
		rows := make([][2]string, n)
		seed := rand.New(rand.NewPCG(1, uint64(n)))
		for i := range rows {
			rows[i] = [2]string{text(seed, 12), text(seed, 50)}
		}
		all = append(all, operation{
			Shape: Shape{Family: "client", Name: fmt.Sprintf("sort %d rows", n), Kind: plan.Sort, Rows: float64(n)}, times: 1,
			run: func(context.Context, *rand.Rand) error {
				slices.SortStableFunc(slices.Clone(rows), func(a, b [2]string) int { return cmp.Compare(a[0], b[0]) })
				return nil
			},
		}, operation{
			Shape: Shape{Family: "client", Name: fmt.Sprintf("group %d rows", n), Kind: plan.Group, Rows: float64(n)}, times: 1,
			run: func(context.Context, *rand.Rand) error {
				groups := map[string]int{}
				for i := range rows {
					groups[rows[i][0][:1]]++
				}
				if len(groups) == 0 {
					return fmt.Errorf("%d rows made no group", n)
				}
				return nil
			},
		})
	}
	return all
}
