package exec_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocql/gocql"
	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/exec/exectest"
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

// TestPoolKeepsNobodyWaiting: while connections are being made each waits for as long as he has time, and nobody for the attempts of those before him.
func TestPoolKeepsNobodyWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		p := exec.NewPool(func() (*gocql.Session, error) {
			tries++
			time.Sleep(10 * time.Second)
			return nil, errors.New("timed out")
		})
		ask := func(patience time.Duration) time.Duration {
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			began := time.Now()
			if _, err := p.Query(ctx, exec.Query{Text: "SELECT 1"}); !errors.Is(err, exec.ErrNoConnection) || !exec.Down(err) {
				t.Errorf("%v", err)
			}
			return time.Since(began)
		}
		var wait sync.WaitGroup
		for range 20 {
			wait.Go(func() {
				if waited := ask(time.Hour); waited != 10*time.Second {
					t.Errorf("one who has an hour waited for %v", waited)
				}
			})
		}
		synctest.Wait()
		if waited := ask(2 * time.Second); waited != 2*time.Second {
			t.Errorf("one who has two seconds waited for %v", waited)
		}
		wait.Wait()
		if tries != 1 {
			t.Errorf("%d tries for 21 who waited at a time", tries)
		}
		p.Close()
	})
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

// An empty cell is a value, also the first of an answer; nil would be null.
func TestEmptyIsNotNull(t *testing.T) {
	if exec.Copied([]byte{}) == nil {
		t.Error("an empty cell became null")
	}
}
