package feed

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/helenus-db/helenus/capture/trace"
	"github.com/helenus-db/helenus/proxy"
)

// size is how much a test does: HELENUS_FEED_SCALE times as much for the full run.
func size(n int) int {
	if scale, err := strconv.Atoi(os.Getenv("HELENUS_FEED_SCALE")); err == nil && scale > 1 {
		return n * scale
	}
	return n
}

// TestPrecisionAndRecall is the table of docs/design/mapping.md 2.5: all 8 joins of the mix and nothing else, however many threads
// share the connections, from 13 statements a second to 7,000.
func TestPrecisionAndRecall(t *testing.T) {
	for _, ids := range []uint16{tInt, tUUID} {
		for _, threads := range []int{1, 8, 32, 128, 512} {
			if ids == tUUID && (threads == 1 || threads == 32) {
				continue
			}
			statements := size(10_000)
			if threads == 512 { // of which there are 7,000 a second: decoys have to grow old
				statements *= 2
			}
			all := newSite(ids, 21).run(threads, statements, 400*time.Millisecond)
			took := time.Duration(all[len(all)-1].x.End - all[0].x.Start)
			precision, recall, wrong, missing := judge(mine(all, nil).Feeds())
			t.Logf("ids %#x, %3d threads, %d statements, %5.0f/s: precision %.2f, recall %.2f", ids, threads, len(all), float64(len(all))/took.Seconds(), precision, recall)
			if precision != 1 || recall != 1 {
				t.Errorf("%d threads: wrong: %q\nmissing: %q", threads, wrong, missing)
			}
		}
	}
}

// TestIndependentStatements: of 10,000 pairs of a result column and a bind variable that have nothing to do with each other, at most one
// is taken for a feed, though all values are the same small integers, the small ones more often, and the same ones are
// fashionable everywhere for a while.
func TestIndependentStatements(t *testing.T) {
	const producers, consumers = 100, 100
	r := rand.New(rand.NewPCG(41, 1))
	var from, to []*trace.Statement
	for i := range producers {
		from = append(from, &trace.Statement{Fingerprint: fmt.Sprint("p", i), Results: []proxy.Column{col("p", "id", true, tInt)}})
	}
	for i := range consumers {
		to = append(to, &trace.Statement{Fingerprint: fmt.Sprint("c", i), Variables: []proxy.Column{col("c", "id", true, tInt)}})
	}
	id := func(at int64) []byte {
		n := int(math.Exp(r.Float64() * math.Log(2000)))
		if r.IntN(10) == 0 {
			n = 3000 + int(at/(10*second))%7 // in fashion
		}
		return binary.BigEndian.AppendUint32(nil, uint32(n))
	}
	c := &proxy.Client{Address: "h:1"}
	var all []said
	now := int64(0)
	for range size(60_000) {
		now += int64(r.ExpFloat64() * 1e6)
		x := proxy.Exchange{Client: c, Start: now, End: now + 500_000}
		if r.IntN(2) == 0 {
			var rows [][][]byte
			for range 1 + r.IntN(5) {
				rows = append(rows, [][]byte{id(now)})
			}
			x.Response = body(1, rows)
			all = append(all, said{x, from[r.IntN(producers)]})
			continue
		}
		x.Values = []proxy.Value{{Bytes: id(now)}}
		all = append(all, said{x, to[r.IntN(consumers)]})
	}
	feeds := mine(all, nil).Feeds()
	t.Logf("%d of %d pairs accepted, %d executions", len(feeds), producers*consumers, len(all))
	if len(feeds) > 1 {
		t.Errorf("%d feeds between independent statements: %+v", len(feeds), feeds)
	}
}
