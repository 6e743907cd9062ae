package feed

import (
	"math/rand/v2"
	"testing"

	"github.com/helenus-db/helenus/capture/trace"
	"github.com/helenus-db/helenus/capture/value"
	"github.com/helenus-db/helenus/proxy"
)

// What one of fifty reads is asked for because of, is no feed, and worth a question; what is asked for at random near it is neither.
func TestFaintFeeds(t *testing.T) {
	column := func(name string) []proxy.Column {
		return []proxy.Column{{Keyspace: "k", Table: "t", Name: name, Type: proxy.Type{Code: 9}}}
	}
	group := &trace.Statement{Fingerprint: "group", Keyspace: "k", Table: "groups", Key: []string{"id"}, Variables: column("id"), Results: column("founder")}
	member := &trace.Statement{Fingerprint: "member", Keyspace: "k", Table: "members", Key: []string{"id"}, Variables: column("id"), Results: column("name")}
	for _, follows := range []bool{true, false} {
		h, r := value.Hasher{K0: 1, K1: 2}, rand.New(rand.NewPCG(1, 2))
		id := func(n int) value.Value { return h.Of(value.Integer, []byte{byte(n >> 16), byte(n >> 8), byte(n)}) }
		m := New(Options{Seed: 3})
		say := func(at int64, st *trace.Statement, bound, delivered int) {
			m.Add(&trace.Execution{Statement: st, Start: at, End: at + 1e6, Process: 1, Rows: 1, Last: true, Binds: []value.Value{id(bound)}, Cells: []value.Value{id(delivered)}})
		}
		for i := range 8000 {
			at, founder, read := int64(i)*20e6, r.IntN(100_000), r.IntN(100_000)
			if i%50 == 0 {
				say(at, group, r.IntN(500), founder)
				if follows {
					read = founder
				}
			}
			say(at+2e6, member, read, r.IntN(1000))
		}
		feeds, echoes := m.Find()
		faint := 0
		for _, f := range echoes {
			if f.Shape == Faint && f.From.Column == "founder" && f.To.Fingerprint == "member" && !f.From.Bound && f.Share > 0.01 && f.Share < 0.03 {
				faint++
			}
		}
		if len(feeds) != 0 || len(echoes) != faint || (faint == 1) != follows {
			t.Errorf("follows %v: feeds %+v, echoes %+v", follows, feeds, echoes)
		}
	}
}
