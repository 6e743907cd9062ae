package feed

import (
	"math/rand/v2"
	"testing"

	"github.com/helenus-db/helenus/capture/trace"
	"github.com/helenus-db/helenus/capture/value"
	"github.com/helenus-db/helenus/proxy"
)

// Reads of two tables that are asked for the same number, which came from outside, are siblings; those that are asked for numbers of the same few hundred are not,
// however close together, nor is a write after a read.
func TestSiblings(t *testing.T) {
	of := func(name, column string, write bool) *trace.Statement {
		return &trace.Statement{Fingerprint: name, Keyspace: "k", Table: name, Write: write, Key: []string{column},
			Variables: []proxy.Column{{Keyspace: "k", Table: name, Name: column, Type: proxy.Type{Code: 9}}}, Results: []proxy.Column{{Keyspace: "k", Table: name, Name: "x", Type: proxy.Type{Code: 0x0D}}}}
	}
	for _, c := range []struct {
		name        string
		same, write bool
		want        bool
	}{{"the same thing", true, false, true}, {"things", false, false, false}, {"a write", true, true, false}} {
		t.Run(c.name, func(t *testing.T) {
			things, counts := of("things", "id", false), of("counts", "c", c.write)
			h, r := value.Hasher{K0: 1, K1: 2}, rand.New(rand.NewPCG(1, 2))
			m := New(Options{Seed: 3})
			say := func(at int64, st *trace.Statement, id int) {
				m.Add(&trace.Execution{Statement: st, Start: at, End: at + 1e6, Process: 1, Rows: 1, Last: true, Binds: []value.Value{h.Of(value.Integer, []byte{byte(id >> 8), byte(id)})}})
			}
			for i := range 2000 { // three threads at once
				for k := range 3 {
					at, one, other := int64(i)*20e6+int64(k)*1e5, r.IntN(300), r.IntN(300)
					if c.same {
						other = one
					}
					say(at, things, one)
					say(at+2e6, counts, other)
				}
			}
			feeds, echoes := m.Find()
			found := false
			for _, f := range echoes {
				found = found || f.Shape == Sibling && f.From.Table == "things" && f.To.Column == "c"
			}
			if found != c.want || len(feeds) > 0 {
				t.Errorf("feeds %+v, echoes %+v", feeds, echoes)
			}
		})
	}
}

// Of a key of two columns both are siblings of what was asked for with the same key.
func TestSiblingsOfEachVariable(t *testing.T) {
	of := func(name string) *trace.Statement {
		st := &trace.Statement{Fingerprint: name, Keyspace: "k", Table: name, Key: []string{"a", "b"}}
		for _, column := range st.Key {
			st.Variables = append(st.Variables, proxy.Column{Keyspace: "k", Table: name, Name: column, Type: proxy.Type{Code: 9}})
		}
		return st
	}
	issues, comments := of("issues"), of("comments")
	h, r := value.Hasher{K0: 1, K1: 2}, rand.New(rand.NewPCG(1, 2))
	m := New(Options{Seed: 3})
	say := func(at int64, st *trace.Statement, a, b int) {
		e := &trace.Execution{Statement: st, Start: at, End: at + 1e6, Process: 1, Rows: 1, Last: true}
		for i, v := range []int{a, b} {
			one := h.Of(value.Integer, []byte{byte(v >> 8), byte(v)})
			one.Index = uint16(i) // #nosec G115 -- 0 or 1
			e.Binds = append(e.Binds, one)
		}
		m.Add(e)
	}
	for i := range 2000 {
		at, a, b := int64(i)*20e6, r.IntN(300), 1000+r.IntN(500)
		say(at, issues, a, b)
		say(at+2e6, comments, a, b)
	}
	_, echoes := m.Find()
	found := map[string]bool{}
	for _, f := range echoes {
		if f.Shape == Sibling && f.From.Table == "issues" {
			found[f.From.Column+" "+f.To.Column] = true
		}
	}
	if !found["a a"] || !found["b b"] || len(found) != 2 {
		t.Errorf("%+v", echoes)
	}
}
