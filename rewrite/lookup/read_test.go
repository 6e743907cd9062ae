package lookup_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/internal/cassandra/cassandratest"
	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/exec/exectest"
	"github.com/helenus-db/helenus/rewrite/kind"
	"github.com/helenus-db/helenus/rewrite/lookup"
	"github.com/helenus-db/helenus/rewrite/lookup/match"
)

func table() schema.Table {
	return schema.Table{Keyspace: "k", Name: "t", Columns: []schema.Column{
		{Name: "p", Kind: schema.PartitionKey, Position: 0, Type: "text"},
		{Name: "c", Kind: schema.Clustering, Position: 0, Type: "int", Descending: true},
		{Name: "v", Kind: schema.Regular, Position: -1, Type: "text"},
		{Name: "x", Kind: schema.Regular, Position: -1, Type: "int"},
	}}
}

func reader(t testing.TB, text string) (*exectest.Memory, *match.Read, *lookup.Reader) {
	t.Helper()
	db := exectest.New()
	base := table()
	db.Add(base)
	print, _, st, err := cql.FingerprintText(text, "k")
	if err != nil {
		t.Fatal(err)
	}
	l, refusal := match.New(plan.Rewrite{Keyspace: "k", Base: "t", Column: "v", Table: "t_by_v", Statements: []string{print.String()}}, &base)
	if refusal != nil {
		t.Fatal(refusal)
	}
	if _, err := db.Query(context.Background(), exec.Query{Text: l.Create("m")}); err != nil {
		t.Fatal(err)
	}
	read, refusal := l.CompileRead(st, "k")
	if refusal != nil {
		t.Fatal(refusal)
	}
	return db, read, &lookup.Reader{Session: db, Entries: 100, Parallel: 4}
}

// For any table, any stale entries, any limit and any filter the look-up answers what the original statement answers.
func TestReadEqualsOriginal(t *testing.T) {
	const text = "SELECT p, c, v, x, writetime(x) FROM k.t WHERE v = ? AND x > ? LIMIT ? ALLOW FILTERING"
	rapid.Check(t, func(r *rapid.T) {
		db, read, reader := reader(t, text)
		ctx := context.Background()
		value := rapid.SampledFrom([]string{"a", "b", "c"})
		for i := range rapid.IntRange(0, 30).Draw(r, "rows") {
			p, c := []byte(fmt.Sprint("p", rapid.IntRange(0, 5).Draw(r, "p"))), exec.FromInt32(int32(rapid.IntRange(-3, 3).Draw(r, "c")))
			v := []byte(value.Draw(r, "v"))
			x := exec.FromInt32(int32(rapid.IntRange(0, 3).Draw(r, "x")))
			if err := db.Write("INSERT INTO k.t (p, c, v, x) VALUES (?, ?, ?, ?)", [][]byte{p, c, v, x}, int64(i+1)); err != nil {
				r.Fatal(err)
			}
			// The entries of values that were overwritten stay: they are the stale ones.
			if err := db.Write("INSERT INTO k.t_by_v (v, p, c, entry_kind, entry_id, written) VALUES (?, ?, ?, 0, 0, true)", [][]byte{v, p, c}, int64(i+1)); err != nil {
				r.Fatal(err)
			}
		}
		q := kind.Request{Values: kind.Values{Values: []proxy.Value{{Bytes: []byte(value.Draw(r, "ask"))},
			{Bytes: exec.FromInt32(int32(rapid.IntRange(-1, 2).Draw(r, "x >")))}, {Bytes: exec.FromInt32(int32(rapid.IntRange(1, 9).Draw(r, "limit")))}}}}
		got, err := reader.Read(ctx, read, q)
		if err != nil {
			r.Fatal(err)
		}
		want, err := reader.Original(ctx, read, q)
		if err != nil {
			r.Fatal(err)
		}
		if !exec.Equal(got, want) {
			r.Fatalf("got %q, want %q", got, want)
		}
	})
}

func TestReadFails(t *testing.T) {
	db, read, reader := reader(t, "SELECT p FROM k.t WHERE v = ? ALLOW FILTERING")
	for i := range 5 {
		p := []byte(fmt.Sprint(i))
		for _, text := range []string{"INSERT INTO k.t (p, c, v) VALUES (?, ?, ?)", "INSERT INTO k.t_by_v (p, c, v, entry_kind, entry_id, written) VALUES (?, ?, ?, 0, 0, true)"} {
			if err := db.Write(text, [][]byte{p, exec.FromInt32(1), []byte("a")}, 1); err != nil {
				t.Fatal(err)
			}
		}
	}
	q := kind.Request{Values: kind.Values{Values: []proxy.Value{{Bytes: []byte("a")}}}}
	n := 0
	db.Before.Set(func(context.Context, exec.Query) error {
		if n++; n == 2 { // the first finds the entries, the second their rows
			return exectest.Timeout
		}
		return nil
	})
	reader.Parallel = 1
	if rows, err := reader.Read(context.Background(), read, q); err == nil || !exec.Down(err) {
		t.Errorf("C14: rows could not be read: %q, %v", rows, err)
	}
	db.Before.Clear()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := reader.Read(ctx, read, q); err == nil {
		t.Error("an answer after the time was up")
	}
	reader.Entries = 4
	if _, err := reader.Read(context.Background(), read, q); !errors.Is(err, kind.ErrUnsuited) {
		t.Errorf("more entries than the cap: %v", err)
	}
	reader.Entries, read.LookUp.Entries = 5, 4
	if _, err := reader.Read(context.Background(), read, q); !errors.Is(err, kind.ErrUnsuited) {
		t.Errorf("more entries than are cheaper than the original: %v", err)
	}
	read.LookUp.Entries = 0
	q.PageSize = 4
	if _, err := reader.Read(context.Background(), read, q); !errors.Is(err, kind.ErrUnsuited) {
		t.Errorf("C3: more than a page: %v", err)
	}
	q.PageSize = 5
	if _, err := reader.Read(context.Background(), read, q); !errors.Is(err, kind.ErrUnsuited) {
		t.Errorf("C3: a page that is full: %v", err)
	}
	q.PageSize = 6
	if rows, err := reader.Read(context.Background(), read, q); err != nil || len(rows) != 5 {
		t.Errorf("%q %v", rows, err)
	}
}

// real is a keyspace of its own on a real Cassandra.
type real struct {
	*exec.Pool
	keyspace string
}

func open(t testing.TB) *real {
	t.Helper()
	session, keyspace := cassandratest.Keyspace(t)
	// gocql's session has no goroutines that outlive its Close, which the test's end does after goleak has looked.
	return &real{exec.NewPool(func() (*gocql.Session, error) { return session, nil }), keyspace}
}

func (r *real) do(t testing.TB, text string, values ...[]byte) {
	t.Helper()
	if _, err := r.Query(context.Background(), exec.Query{Text: text, Values: values, Consistency: gocql.One}); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}
