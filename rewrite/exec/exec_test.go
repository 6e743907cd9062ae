package exec_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/gocql/gocql"
	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/exec/exectest"
	"github.com/helenus-db/helenus/rewrite/match"
)

// Tokens that Cassandra 5.0.8 answered to SELECT token(...).
func TestTokens(t *testing.T) {
	for _, c := range []struct {
		key   []byte
		token exec.Token
	}{
		{[]byte(""), math.MinInt64},
		{[]byte("123"), -7468325962851647638},
		{[]byte("test"), -6017608668500074083},
	} {
		if got := exec.TokenOf(c.key); got != c.token {
			t.Errorf("token of %q: %d, want %d", c.key, got, c.token)
		}
	}
	if got := exec.PartitionKey([][]byte{[]byte("ab"), {}}); !bytes.Equal(got, []byte{0, 2, 'a', 'b', 0, 0, 0, 0}) {
		t.Errorf("%v", got)
	}
}

// The ranges of the ring cover every token once, also after they were split.
func TestRingCovers(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(1, 500).Draw(r, "n")
		ring := exec.Ring(n)
		for range rapid.IntRange(0, 20).Draw(r, "splits") {
			i := rapid.IntRange(0, len(ring)-1).Draw(r, "which")
			if a, b, ok := ring[i].Split(); ok {
				ring = append(append(append([]exec.Range{}, ring[:i]...), a, b), ring[i+1:]...)
			}
		}
		at := int64(math.MinInt64)
		for _, p := range ring {
			if p.First != at || p.Last <= p.First {
				r.Fatalf("%+v after %d", p, at)
			}
			at = p.Last
		}
		if at != math.MaxInt64 {
			r.Fatalf("the ring ends at %d", at)
		}
	})
}

func table() schema.Table {
	return schema.Table{Keyspace: "k", Name: "t", Columns: []schema.Column{
		{Name: "p", Kind: schema.PartitionKey, Position: 0, Type: "text"},
		{Name: "c", Kind: schema.Clustering, Position: 0, Type: "int", Descending: true},
		{Name: "v", Kind: schema.Regular, Position: -1, Type: "text"},
		{Name: "x", Kind: schema.Regular, Position: -1, Type: "int"},
	}}
}

func reader(t testing.TB, text string) (*exectest.Memory, *match.Read, *exec.Reader) {
	t.Helper()
	db := exectest.New()
	base := table()
	db.Add(base)
	print, _, st, err := cql.FingerprintText(text, "k")
	if err != nil {
		t.Fatal(err)
	}
	l, refusal := match.New(plan.LookUp{Keyspace: "k", Base: "t", Column: "v", Table: "t_by_v", Statements: []string{print.String()}}, &base)
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
	return db, read, &exec.Reader{Session: db, Entries: 100, Parallel: 4}
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
		q := exec.Request{Values: match.Values{Values: []proxy.Value{{Bytes: []byte(value.Draw(r, "ask"))},
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
	q := exec.Request{Values: match.Values{Values: []proxy.Value{{Bytes: []byte("a")}}}}
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
	if _, err := reader.Read(context.Background(), read, q); !errors.Is(err, exec.ErrUnsuited) {
		t.Errorf("more entries than the cap: %v", err)
	}
	reader.Entries, read.LookUp.Entries = 5, 4
	if _, err := reader.Read(context.Background(), read, q); !errors.Is(err, exec.ErrUnsuited) {
		t.Errorf("more entries than are cheaper than the original: %v", err)
	}
	read.LookUp.Entries = 0
	q.PageSize = 4
	if _, err := reader.Read(context.Background(), read, q); !errors.Is(err, exec.ErrUnsuited) {
		t.Errorf("C3: more than a page: %v", err)
	}
	q.PageSize = 5
	if rows, err := reader.Read(context.Background(), read, q); err != nil || len(rows) != 5 {
		t.Errorf("%q %v", rows, err)
	}
}

func TestDown(t *testing.T) {
	for _, c := range []struct {
		err  error
		down bool
	}{
		{nil, false},
		{exectest.Timeout, true},
		{exectest.Internal, true},
		{fmt.Errorf("x: %w", &gocql.RequestErrUnavailable{}), true},
		{gocql.ErrNoConnections, true},
		{gocql.ErrTimeoutNoResponse, true},
		{context.DeadlineExceeded, true},
		{exec.ErrNoConnection, true},
		{&gocql.RequestErrAlreadyExists{}, true}, // its code is only set by the driver
	} {
		if exec.Down(c.err) != c.down {
			t.Errorf("%v: %t", c.err, !c.down)
		}
	}
	if _, err := exectest.New().Query(context.Background(), exec.Query{Text: "SELECT a FROM k.nothing"}); exec.Down(err) || exec.Unreachable(err) {
		t.Errorf("an unknown table: %v", err)
	}
}

func TestInternal(t *testing.T) {
	if !exec.Internal(fmt.Errorf("x: %w", exectest.Internal)) || exec.Internal(exectest.Timeout) || exec.Internal(context.Canceled) {
		t.Error("which errors are Cassandra's own fault")
	}
}

func TestPoolConnectsAgain(t *testing.T) {
	tries := 0
	p := exec.NewPool(func() (*gocql.Session, error) { tries++; return nil, errors.New("refused") })
	for range 2 {
		if _, err := p.Query(context.Background(), exec.Query{Text: "SELECT 1"}); !errors.Is(err, exec.ErrNoConnection) {
			t.Errorf("%v", err)
		}
	}
	p.Close()
	if err := p.Agree(context.Background()); !errors.Is(err, exec.ErrNoConnection) || tries != 2 {
		t.Errorf("%v after %d tries", err, tries)
	}
}

// answer builds a RESULT Rows body with full metadata.
func answer(flags int32, types []byte, rows proxy.Rows) []byte {
	b := binary.BigEndian.AppendUint32(nil, 2)
	b = binary.BigEndian.AppendUint32(b, uint32(flags))
	columns := 0
	if len(rows) > 0 {
		columns = len(rows[0])
	}
	b = binary.BigEndian.AppendUint32(b, uint32(columns))
	b = append(b, types...)
	b = binary.BigEndian.AppendUint32(b, uint32(len(rows)))
	for _, row := range rows {
		for _, c := range row {
			if c == nil {
				b = binary.BigEndian.AppendUint32(b, math.MaxUint32)
				continue
			}
			b = append(binary.BigEndian.AppendUint32(b, uint32(len(c))), c...)
		}
	}
	return b
}

var twoColumns = []byte{0, 1, 'k', 0, 1, 't', 0, 1, 'a', 0, 0x22, 0, 0x0d, 0, 1, 'b', 0, 0x30, 0, 1, 'k', 0, 1, 'u', 0, 1, 0, 1, 'f', 0, 0x31, 0, 1, 0, 9}

func TestParseRows(t *testing.T) {
	rows := proxy.Rows{{[]byte("x"), nil}, {{}, []byte("yz")}}
	got, err := exec.ParseRows(answer(1, twoColumns, rows))
	if err != nil || !exec.Equal(got, rows) {
		t.Errorf("%q %v", got, err)
	}
	if _, err := exec.ParseRows(answer(3, twoColumns, rows)); !errors.Is(err, exec.ErrPaged) {
		t.Errorf("%v", err)
	}
	whole := answer(1, twoColumns, rows)
	for n := range whole {
		if got, err := exec.ParseRows(whole[:n]); err == nil {
			t.Errorf("cut to %d of %d bytes: %q", n, len(whole), got)
		}
	}
	if exec.Equal(rows, proxy.Rows{{[]byte("x"), {}}, {{}, []byte("yz")}}) || bytes.Equal(exec.Digest(rows), exec.Digest(rows[:1])) {
		t.Error("null is not empty, and two rows are not one")
	}
}

func FuzzParseRows(f *testing.F) {
	f.Add(answer(1, twoColumns, proxy.Rows{{[]byte("x"), nil}}))
	f.Add(answer(4, nil, proxy.Rows{{[]byte("x"), nil}}))
	f.Add([]byte{0, 0, 0, 2, 0, 0, 0, 4, 0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, b []byte) {
		rows, err := exec.ParseRows(b)
		if err == nil && len(rows) > len(b) {
			t.Fatalf("%d rows of %d bytes", len(rows), len(b))
		}
	})
}
