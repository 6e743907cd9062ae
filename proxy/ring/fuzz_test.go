package ring

import (
	"net/netip"
	"testing"

	"github.com/helenus-db/helenus/proxy/wire"
)

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"SELECT * FROM system.local", `select json "a""b" as c, cast(rpc_address as text), toJson(peer) from system.peers where peer in (?, :x, '1.2.3.4') limit 3;`,
		"SELECT /* -- */ a FROM system.peers -- x", "SELECT $$x", "SELECT 'a''b", "select a from system.peers where token(peer) > ? and ( limit",
		"SELECT a FROM system.peers_v2 WHERE host_id = 01234567-89ab-cdef-0123-456789abcdef PER PARTITION LIMIT ?", ":", `:"`, "SELECT -1.5e3 FROM system.peers",
	} {
		f.Add("", s)
		f.Add("system", s)
	}
	f.Fuzz(func(t *testing.T, keyspace, text string) {
		q := Parse(keyspace, text)
		if q != nil && !Mentions(keyspace, text) {
			t.Errorf("%q in %q is read, but would not be looked at", text, keyspace)
		}
	})
}

func FuzzRewrite(f *testing.F) {
	json := metadata(column{"[json]", 13})
	f.Add("SELECT * FROM system.peers_v2", rows(metadata(column{"peer", 0x10}, column{"native_address", 0x10}), [][]byte{ip("10.0.0.2"), nil}))
	f.Add("SELECT JSON * FROM system.peers", rows(json, [][]byte{[]byte(` { "peer" : "10.0.0.2" , "rpc_address":"x\"" , "a":[1,{"b":2}] } `)}))
	f.Add("SELECT JSON a FROM system.peers", rows(json, [][]byte{[]byte(`{}`)}, [][]byte{[]byte(`[]`)}, [][]byte{nil}))
	f.Add("SELECT count(*), peer FROM system.peers LIMIT ?", rows(wire.AppendNoMetadata(nil, 2), [][]byte{nil, nil}))
	sights := []Sight{mirror, Single(a("1.2.3.4:5"), Cluster{}), Fleet([]netip.AddrPort{a("1.2.3.4:5"), a("1.2.3.4:6")}, a("1.2.3.4:5"), Cluster{})}
	f.Fuzz(func(t *testing.T, text string, body []byte) {
		q := Parse("", text)
		if q == nil {
			return
		}
		for _, s := range sights {
			out, ok := s.Rewrite(q, Answer{Body: body, Names: []string{"peer", "rpc_address"}, Bound: []Bound{{Value: body}}})
			if !ok {
				continue
			}
			r := wire.NewReader(out) // what is passed on can be read as far as what came
			m := wire.ReadMetadata(&r)
			wire.Columns(&r, m, nil)
			for n := r.Int() * m.Columns; n > 0; n-- {
				r.Bytes()
			}
			if r.Bad() {
				t.Errorf("%q of %q can not be read", out, body)
			}
		}
	})
}

func FuzzJSON(f *testing.F) {
	for _, s := range []string{`{"a": 1, "b": "x", "c": [1, {"d": "}"}], "e": null, "\"F\"": true}`, `{}`, `{"a":"\\"}`, ` { } `, `{"a":{}}`, `{"a":1}x`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		list, ok := pairs(b)
		for _, p := range list {
			if !ok || p.from > p.to || p.to > len(b) {
				t.Fatalf("%q: %+v", b, p)
			}
		}
	})
}

func FuzzEvent(f *testing.F) {
	f.Add(byte(0), Event{Kind: StatusChange, Change: Up, Address: a("1.2.3.4:5")}.Append(nil))
	f.Add(byte(4), Event{Kind: TopologyChange, Change: NewNode, Address: a("[::1]:5")}.Append([]byte{0, 0}))
	f.Fuzz(func(t *testing.T, flags byte, body []byte) {
		if e, ok := ReadEvent(flags, body); ok {
			again, ok := ReadEvent(flags, e.Moved(body, a("9.9.9.9:9")))
			if !ok || again.Address != a("9.9.9.9:9") || again.Change != e.Change {
				t.Errorf("%q moved is %+v", body, again)
			}
		}
	})
}
