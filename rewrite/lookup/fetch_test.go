package lookup_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/exec/exectest"
	"github.com/helenus-db/helenus/rewrite/kind"
	"github.com/helenus-db/helenus/rewrite/lookup"
	"github.com/helenus-db/helenus/rewrite/lookup/match"
)

// forbidden is what Cassandra answers to a statement that it does not allow.
type forbidden struct{}

func (forbidden) Code() int       { return gocql.ErrCodeInvalid }
func (forbidden) Message() string { return "IN is not allowed by a guardrail" }
func (forbidden) Error() string   { return forbidden{}.Message() }

func fill(t *testing.T, db *exectest.Memory, partition, clustering int) {
	t.Helper()
	p, c := []byte(fmt.Sprint("p", partition)), exec.FromInt32(int32(clustering))
	row := [][]byte{p, c, []byte("a"), exec.FromInt32(int32(partition))}
	if err := db.Write("INSERT INTO k.t (p, c, v, x) VALUES (?, ?, ?, ?)", row, 1); err != nil {
		t.Fatal(err)
	}
	if err := db.Write("INSERT INTO k.t_by_v (p, c, v, entry_kind, entry_id, written) VALUES (?, ?, ?, 0, 0, true)", row[:3], 1); err != nil {
		t.Fatal(err)
	}
}

func columns(names ...string) (out []proxy.Column) {
	for _, n := range names {
		out = append(out, proxy.Column{Name: n})
	}
	return out
}

// TestFetchTogether: rows that differ in their partition alone are fetched sixteen at a time, the others each by itself, and the answer is
// the original's; where Cassandra refuses it, now and from then on each row is fetched by itself.
func TestFetchTogether(t *testing.T) {
	db, read, reader := reader(t, "SELECT x, p FROM k.t WHERE v = ? ALLOW FILTERING")
	for i := range 40 {
		fill(t, db, i, 7)
	}
	fill(t, db, 3, 8)
	fill(t, db, 50, 9)
	ctx := context.Background()
	q := kind.Request{Values: kind.Values{Values: []proxy.Value{{Bytes: []byte("a")}}}, Columns: columns("x", "p")}
	want, err := reader.Original(ctx, read, q)
	if err != nil || len(want) != 42 {
		t.Fatal(len(want), err)
	}
	asked := func(refuse bool) (alone, together int) {
		t.Helper()
		reader.Parallel = 1
		db.Before.Set(func(_ context.Context, q exec.Query) error {
			switch q.Text {
			case read.Fetch:
				alone++
			case read.Several:
				together++
				if refuse {
					return forbidden{}
				}
			}
			return nil
		})
		defer db.Before.Clear()
		got, err := reader.Read(ctx, read, q)
		if err != nil || !exec.Equal(got, want) {
			t.Errorf("%q %v, want %q", got, err, want)
		}
		return alone, together
	}
	if alone, together := asked(false); alone != 2 || together != 3 {
		t.Errorf("%d rows by themselves, %d requests for several", alone, together)
	}
	if alone, together := asked(true); alone != 42 || together == 0 {
		t.Errorf("refused: %d rows by themselves, %d requests for several", alone, together)
	}
	if alone, together := asked(true); alone != 42 || together != 0 {
		t.Errorf("refused before: %d rows by themselves, %d requests for several", alone, together)
	}
	q.Columns = columns("x")
	if _, err := reader.Read(ctx, read, q); err == nil {
		t.Error("answered with other columns than were asked for")
	}
}

// TestFetchTogetherColumns: an answer with other columns than the client knows is none, also where a request asks for several rows.
func TestFetchTogetherColumns(t *testing.T) {
	db, read, reader := reader(t, "SELECT x, p FROM k.t WHERE v = ? ALLOW FILTERING")
	fill(t, db, 1, 7)
	fill(t, db, 2, 7)
	q := kind.Request{Values: kind.Values{Values: []proxy.Value{{Bytes: []byte("a")}}}, Columns: columns("p", "x")}
	if _, err := reader.Read(context.Background(), read, q); err == nil {
		t.Error("answered")
	}
	q.Columns = columns("x", "p")
	if rows, err := reader.Read(context.Background(), read, q); err != nil || len(rows) != 2 {
		t.Error(rows, err)
	}
}

// TestNoRowsOtherColumns: an answer without rows has columns as well. Who prepared SELECT * before a column was added is told by Cassandra.
func TestNoRowsOtherColumns(t *testing.T) {
	_, read, reader := reader(t, "SELECT * FROM k.t WHERE v = ? ALLOW FILTERING")
	q := kind.Request{Values: kind.Values{Values: []proxy.Value{{Bytes: []byte("a")}}}}
	for _, c := range read.LookUp.Base.Columns {
		q.Columns = append(q.Columns, columns(c.Name)...)
	}
	if rows, err := reader.Read(context.Background(), read, q); err != nil || len(rows) != 0 {
		t.Error(rows, err)
	}
	added := append(slices.Clone(q.Columns), columns("added")...)
	dropped := q.Columns[1:]
	renamed := append(slices.Clone(dropped), columns("renamed")...)
	for _, columns := range [][]proxy.Column{added, dropped, renamed} {
		q.Columns = columns
		if _, err := reader.Read(context.Background(), read, q); !errors.Is(err, kind.ErrUnsuited) {
			t.Error(columns, err)
		}
	}
}

// TestFetchBounded: an answer that is large in bytes is not put together; once that is known nothing is asked for it, but now and then to see
// whether it is still so, and small ones are answered meanwhile.
func TestFetchBounded(t *testing.T) {
	db, read, reader := reader(t, "SELECT x, p FROM k.t WHERE v = ? ALLOW FILTERING")
	for i := range 40 {
		fill(t, db, i, 7)
	}
	session := &counting{Session: db, text: read.Several}
	reader.Session, reader.Bytes = session, 150 // some 7 a row
	q := kind.Request{Values: kind.Values{Values: []proxy.Value{{Bytes: []byte("a")}}}}
	large := func() (asked int64) {
		t.Helper()
		before := session.n.Load()
		if rows, err := reader.Read(t.Context(), read, q); !errors.Is(err, kind.ErrUnsuited) {
			t.Fatalf("%d rows, %v", len(rows), err)
		}
		return session.n.Load() - before
	}
	if n := large(); n != 1 {
		t.Errorf("%d of 3 requests were made before it was seen that the rows are too large", n)
	}
	asked := int64(0)
	for range 200 {
		asked += large()
	}
	if asked != 3 {
		t.Errorf("%d requests for what is known to be too large", asked)
	}
	reader.Bytes = 1000
	for range 2 {
		if rows, err := reader.Read(t.Context(), read, q); err != nil || len(rows) != 40 {
			t.Errorf("%d rows, %v", len(rows), err)
		}
	}
}

// counting is a session that counts the statements of a text.
type counting struct {
	exec.Session
	text string
	n    atomic.Int64
}

func (c *counting) Query(ctx context.Context, q exec.Query) (exec.Answer, error) {
	if q.Text == c.text {
		c.n.Add(1)
	}
	return c.Session.Query(ctx, q)
}

// TestFetchTogetherOnCassandra: a real Cassandra answers what is fetched together as it answers the original, in its order, with filters,
// writetimes, stale entries and rows that are gone; and also once an index forbids to ask for several partitions.
func TestFetchTogetherOnCassandra(t *testing.T) {
	db, ctx := open(t), context.Background()
	text := fmt.Sprintf("SELECT c, x, writetime(x) FROM %s.t WHERE v = ? AND x > ? ALLOW FILTERING", db.keyspace)
	print, _, st, err := cql.FingerprintText(text, db.keyspace)
	if err != nil {
		t.Fatal(err)
	}
	base := schema.Table{Keyspace: db.keyspace, Name: "t", Columns: []schema.Column{
		{Name: "p", Kind: schema.PartitionKey, Position: 0, Type: "int"}, {Name: "c", Kind: schema.Clustering, Position: 0, Type: "text"},
		{Name: "v", Kind: schema.Regular, Position: -1, Type: "text"}, {Name: "x", Kind: schema.Regular, Position: -1, Type: "int"},
	}}
	l, refusal := match.New(plan.Rewrite{Keyspace: db.keyspace, Base: "t", Column: "v", Table: "t_by_v", Statements: []string{print.String()}}, &base)
	if refusal != nil {
		t.Fatal(refusal)
	}
	read, refusal := l.CompileRead(st, db.keyspace)
	if refusal != nil {
		t.Fatal(refusal)
	}
	db.do(t, fmt.Sprintf("CREATE TABLE %s.t (p int, c text, v text, x int, PRIMARY KEY ((p), c))", db.keyspace))
	db.do(t, l.Create("m"))
	for p := int32(-40); p < 40; p++ {
		for _, c := range []string{"", "b"}[:1+p&1] {
			key := [][]byte{exec.FromInt32(p), []byte(c)}
			if p%9 != 0 { // else its entry is stale
				v := []string{"a", "other"}[p&2>>1]
				db.do(t, fmt.Sprintf("INSERT INTO %s.t (p, c, v, x) VALUES (?, ?, ?, ?)", db.keyspace), append(key, []byte(v), exec.FromInt32(p%5))...)
			}
			db.do(t, fmt.Sprintf("INSERT INTO %s.t_by_v (v, p, c, entry_kind, entry_id, written) VALUES (?, ?, ?, 0, 0, true)", db.keyspace), append([][]byte{[]byte("a")}, key...)...)
		}
	}
	session := &counting{Session: db, text: read.Several}
	reader := &lookup.Reader{Session: session, Entries: 1000, Parallel: 4}
	q := kind.Request{Values: kind.Values{Values: []proxy.Value{{Bytes: []byte("a")}, {Bytes: exec.FromInt32(-3)}}}, Consistency: gocql.One,
		Columns: columns("c", "x", "writetime(x)")}
	compare := func() {
		t.Helper()
		var want proxy.Rows
		var err error
		for range 100 { // an index that is being built fails reads
			if want, err = reader.Original(ctx, read, q); err == nil {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
		if err != nil {
			t.Fatal(err)
		}
		got, err := reader.Read(ctx, read, q)
		if err != nil || len(want) < 30 || !exec.Equal(got, want) {
			t.Errorf("%d rows, %v; want %d\n%q\n%q", len(got), err, len(want), got, want)
		}
	}
	compare()
	if n := session.n.Load(); n < 5 || n > 9 {
		t.Errorf("%d requests for several rows of 120 entries", n)
	}
	db.do(t, fmt.Sprintf("CREATE INDEX ON %s.t (v)", db.keyspace))
	compare()
	asked := session.n.Load()
	if compare(); session.n.Load() != asked {
		t.Error("Cassandra refused it, and was asked again")
	}
}
