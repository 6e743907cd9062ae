package ring

import (
	"bytes"
	"net/netip"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/proxy/wire"
)

func TestMentionsAndParse(t *testing.T) {
	for _, c := range []struct {
		keyspace, text string
		table          Table // "" for none
	}{
		{"", "SELECT * FROM system.local", Local},
		{"", "select * from SYSTEM.Peers", Peers},
		{"", `SELECT * FROM "system"."peers_v2"`, PeersV2},
		{"", "/* a */ SELECT -- b\n * // c\n FROM system . /* d */ peers;", Peers},
		{"system", "SELECT rpc_address AS a, count(*) FROM local WHERE key = 'local'", Local},
		{"system", "SELECT * FROM other.local", ""},
		{"other", "SELECT * FROM local", ""},
		{"", "SELECT * FROM system_schema.local", ""},
		{"", `SELECT * FROM "System".local`, ""},
		{"", `SELECT * FROM system."Local"`, ""},
		{"", "SELECT 'from system.local' FROM k.t", ""},
		{"", "SELECT $$ from system.peers $$ FROM system.local", Local},
		{"", "INSERT INTO system.local (key) VALUES ('x')", ""},
		{"", "SELECT", ""},
		{"", "SELECT * FROM system.", ""},
		{"", "SELECT a, FROM system.peers", Peers},
		{"", "SELECT json FROM system.peers", Peers},
		{"", "SELECT (((( FROM system.peers", ""},
		{"", "SELECT * FROM system.local" + strings.Repeat(" ", maxText), ""},
	} {
		q := Parse(c.keyspace, c.text)
		if got := table(q); got != c.table {
			t.Errorf("%q in %q asks %q, want %q", c.text, c.keyspace, got, c.table)
		}
		if c.table != "" && (!Mentions(c.keyspace, c.text) || !Mentions(c.keyspace, []byte(c.text))) {
			t.Errorf("%q in %q is not even looked at", c.text, c.keyspace)
		}
	}
	text := []byte("INSERT INTO app.events (id, local, at) VALUES (?, ?, ?) USING TTL 10")
	if n := testing.AllocsPerRun(100, func() { Mentions("app", text) }); n != 0 {
		t.Errorf("the check of an ordinary statement allocates %v times", n)
	}
}

func table(q *Select) Table {
	if q == nil {
		return ""
	}
	return q.Table
}

func TestSelectorsByPosition(t *testing.T) {
	q := Parse("", `SELECT DISTINCT peer, "native_address" AS "A b", Native_Port p, cast(native_port AS text), toJson(native_address),
		count(*), writetime(rack), 'x', blobAsText(0x01) AS y, cast(native_port as bigint) FROM system.peers_v2`)
	want := []selector{
		{"peer", bare, ""}, {"native_address", bare, "A b"}, {"native_port", other, ""}, {"native_port", casted, ""},
		{"native_address", toJSON, ""}, {"", counts, ""}, {"", other, ""}, {"", other, ""}, {"", other, "y"}, {"native_port", other, ""},
	}
	if len(q.list) != len(want) {
		t.Fatalf("%d selectors, want %d: %+v", len(q.list), len(want), q.list)
	}
	for i := range want {
		if q.list[i] != want[i] {
			t.Errorf("selector %d is %+v, want %+v", i, q.list[i], want[i])
		}
	}
	if q.Unread == "" {
		t.Error("a cast to bigint of a port is taken for understood")
	}
}

func TestConditions(t *testing.T) {
	rows := Fleet([]netip.AddrPort{a("10.0.0.1:9042"), a("10.0.0.2:9042"), a("10.0.0.3:9042")}, a("10.0.0.9:1"), Cluster{DataCenter: "dc1"}).Peers
	bound := []Bound{{Value: []byte{10, 0, 0, 3}}, {Value: []byte{0, 0, 0x23, 0x52}}}
	named := []Bound{{Name: "p", Value: []byte{10, 0, 0, 1}}}
	for _, c := range []struct {
		where string
		bound []Bound
		want  int
	}{
		{"", nil, 3},
		{"WHERE peer = '10.0.0.2'", nil, 1},
		{"WHERE peer = '10.0.0.2' AND peer_port = 9042", nil, 1},
		{"WHERE peer = '10.0.0.2' AND peer_port = 9043", nil, 0},
		{"WHERE peer IN ('10.0.0.2', '10.0.0.3', '10.0.0.9') LIMIT 5", nil, 2},
		{"WHERE peer = ? AND peer_port = ?", bound, 1},
		{"WHERE peer = :p", named, 1},
		{"WHERE peer = ?", nil, 0},
		{"WHERE data_center = 'dc1' LIMIT 2 ALLOW FILTERING", nil, 2},
		{"WHERE token(peer) > 5", nil, 3},
		{"WHERE token(peer) > ? AND peer = ?", []Bound{{}, {Value: []byte{10, 0, 0, 3}}}, 1},
		{"WHERE host_id = " + asText(HostID(a("10.0.0.2:9042"))), nil, 1},
		{"LIMIT ?", []Bound{{Value: []byte{0, 0, 0, 2}}}, 2},
		{"WHERE peer =", nil, 3},
	} {
		q := Parse("", "SELECT * FROM system.peers_v2 "+c.where)
		w := walk{q: q, sight: &Sight{Peers: rows}}
		if got := len(w.wanted(c.bound)); got != c.want {
			t.Errorf("%q selects %d rows, want %d", c.where, got, c.want)
		}
	}
}

func a(s string) netip.AddrPort { return netip.MustParseAddrPort(s) }

// column is a result column of a made-up answer.
type column struct {
	name string
	kind uint16
}

func metadata(columns ...column) []byte {
	b := wire.AppendInt(wire.AppendInt(nil, wire.MetaGlobalTable), int32(len(columns)))
	b = wire.AppendString(wire.AppendString(b, "system"), "x")
	for _, c := range columns {
		b = wire.AppendShort(wire.AppendString(b, c.name), c.kind)
	}
	return b
}

func rows(metadata []byte, rows ...[][]byte) []byte { return wire.AppendRows(nil, metadata, rows)[4:] }

func cell(v any) []byte { return encode(v) }

var (
	idA, idB = UUID{1}, UUID{2}
	nodes    = NewView([]Node{
		{HostID: idA, Peer: netip.MustParseAddr("10.0.0.1"), Address: a("10.1.0.1:9042"), Shown: a("0.0.0.0:19042")},
		{HostID: idB, Peer: netip.MustParseAddr("10.0.0.2"), Address: a("10.1.0.2:9042"), Shown: a("127.0.9.2:19043")},
	})
	here   = netip.MustParseAddr("127.0.0.1")
	mirror = nodes.Mirror(here, a("0.0.0.0:19042"))
)

func ip(s string) []byte { return netip.MustParseAddr(s).AsSlice() }

func TestMirrorRewritesWhatShowsAddresses(t *testing.T) {
	const inet, num, varchar, id = 0x10, 0x09, 0x0D, 0x0C
	for _, c := range []struct {
		text      string
		columns   []column
		in, want  [][][]byte
		noColumns bool
	}{
		{text: "SELECT * FROM system.local", columns: []column{{"key", varchar}, {"rpc_address", inet}, {"rpc_port", num}, {"broadcast_address", inet}},
			in:   [][][]byte{{[]byte("local"), ip("10.1.0.1"), cell(int32(9042)), ip("10.0.0.1")}},
			want: [][][]byte{{[]byte("local"), ip("127.0.0.1"), cell(int32(19042)), ip("10.0.0.1")}}},
		{text: "SELECT * FROM system.peers_v2", columns: []column{{"peer", inet}, {"native_address", inet}, {"native_port", num}},
			in: [][][]byte{{ip("10.0.0.2"), ip("10.1.0.2"), cell(int32(9042))}, {ip("10.0.0.7"), ip("10.1.0.7"), cell(int32(9042))},
				{ip("10.0.0.1"), ip("10.1.0.1"), cell(int32(1))}, {ip("10.0.0.9"), nil, nil}},
			want: [][][]byte{{ip("10.0.0.2"), ip("127.0.9.2"), cell(int32(19043))}}},
		{text: "SELECT rack AS native_address, native_address AS rack FROM system.peers_v2", columns: []column{{"native_address", varchar}, {"rack", inet}},
			in: [][][]byte{{[]byte("r1"), ip("10.1.0.2")}}, want: [][][]byte{{[]byte("r1"), ip("127.0.9.2")}}},
		{text: "SELECT host_id, rpc_address FROM system.peers", columns: []column{{"host_id", id}, {"rpc_address", inet}}, noColumns: true,
			in: [][][]byte{{idB[:], ip("9.9.9.9")}}, want: [][][]byte{{idB[:], ip("127.0.9.2")}}},
		{text: "SELECT peer, cast(native_port as text), toJson(native_address) FROM system.peers_v2", columns: []column{{"peer", inet}, {"a", varchar}, {"b", varchar}},
			in:   [][][]byte{{ip("10.0.0.2"), []byte("9042"), []byte(`"10.1.0.2"`)}},
			want: [][][]byte{{ip("10.0.0.2"), []byte("19043"), []byte(`"127.0.9.2"`)}}},
		{text: "SELECT rack FROM system.peers", columns: []column{{"rack", varchar}}, in: [][][]byte{{[]byte("r")}}, want: [][][]byte{{[]byte("r")}}},
		{text: "SELECT count(*) FROM system.peers", columns: []column{{"count", 2}}, in: [][][]byte{{cell(int64(2))}}, want: [][][]byte{{cell(int64(2))}}},
		{text: "SELECT JSON * FROM system.peers_v2", columns: []column{{"[json]", varchar}},
			in: [][][]byte{{[]byte(`{"peer": "10.0.0.2", "native_address": "10.1.0.2", "native_port": 9042, "tokens": ["}", "\"native_port\": 1"]}`)},
				{[]byte(`{"peer": "10.0.0.7", "native_address": "10.1.0.7", "native_port": 9042}`)}},
			want: [][][]byte{{[]byte(`{"peer": "10.0.0.2", "native_address": "127.0.9.2", "native_port": 19043, "tokens": ["}", "\"native_port\": 1"]}`)}}},
		{text: `SELECT JSON rack AS native_port, native_port AS "P", cast(native_address as text), peer FROM system.peers_v2`, columns: []column{{"[json]", varchar}},
			in:   [][][]byte{{[]byte(`{"native_port": "r1", "\"P\"": 9042, "cast(native_address as text)": "10.1.0.2", "peer": "10.0.0.2"}`)}},
			want: [][][]byte{{[]byte(`{"native_port": "r1", "\"P\"": 19043, "cast(native_address as text)": "127.0.9.2", "peer": "10.0.0.2"}`)}}},
		{text: "SELECT JSON rpc_address FROM system.local", columns: []column{{"[json]", varchar}},
			in: [][][]byte{{[]byte(`{"rpc_address": null}`)}}, want: [][][]byte{{[]byte(`{"rpc_address": null}`)}}},
	} {
		m, names := metadata(c.columns...), []string(nil)
		if c.noColumns {
			m = wire.AppendNoMetadata(nil, len(c.columns))
			for _, x := range c.columns {
				names = append(names, x.name)
			}
		}
		got, ok := mirror.Rewrite(Parse("", c.text), Answer{Body: rows(m, c.in...), Names: names})
		if want := rows(m, c.want...); !ok || !bytes.Equal(got, want) {
			t.Errorf("%s:\n got %q %v\nwant %q", c.text, got, ok, want)
		}
	}
}

func TestAnswersThatDoNotFitPass(t *testing.T) {
	star := Parse("", "SELECT * FROM system.peers")
	list := Parse("", "SELECT peer, rpc_address FROM system.peers")
	for name, c := range map[string]struct {
		q    *Select
		body []byte
	}{
		"empty":                  {star, nil},
		"cut":                    {star, rows(metadata(column{"peer", 0x10}), [][]byte{ip("10.0.0.2")})[:30]},
		"other columns":          {list, rows(metadata(column{"peer", 0x10}), [][]byte{ip("10.0.0.2")})},
		"no columns":             {star, wire.AppendInt(wire.AppendNoMetadata(nil, 0), 1<<30)},
		"names nobody knows":     {star, rows(wire.AppendNoMetadata(nil, 1), [][]byte{ip("10.0.0.2")})},
		"JSON of several":        {Parse("", "SELECT JSON * FROM system.peers"), rows(metadata(column{"a", 13}, column{"b", 13}))},
		"more rows than it says": {star, wire.AppendInt(metadata(column{"peer", 0x10}), 1<<30)},
	} {
		if got, ok := mirror.Rewrite(c.q, Answer{Body: c.body}); ok {
			t.Errorf("%s: rewritten to %q", name, got)
		}
	}
}

func TestSingleAndFleet(t *testing.T) {
	members := []netip.AddrPort{a("10.0.0.2:9042"), a("10.0.0.1:9042"), a("10.0.0.3:9043")}
	schema := UUID{7}
	fleet := Fleet(members, members[0], Cluster{DataCenter: "dc1", Rack: "r1", Version: "5.0.8", Schema: schema})
	single := Single(members[0], Cluster{})
	peers := metadata(column{"peer", 0x10}, column{"native_port", 9}, column{"rack", 13}, column{"unheard_of", 13}, column{"schema_version", 0x0C})
	real := [][]byte{ip("1.1.1.1"), cell(int32(1)), []byte("x"), []byte("y"), cell(UUID{9})}
	q := Parse("", "SELECT * FROM system.peers_v2")
	got, ok := fleet.Rewrite(q, Answer{Body: rows(peers, real)})
	want := rows(peers, [][]byte{ip("10.0.0.1"), cell(int32(9042)), []byte("r1"), nil, cell(UUID{9})},
		[][]byte{ip("10.0.0.3"), cell(int32(9043)), []byte("r1"), nil, cell(UUID{9})})
	if !ok || !bytes.Equal(got, want) {
		t.Errorf("peers of the fleet:\n got %q\nwant %q", got, want)
	}
	if got, _ := fleet.Rewrite(q, Answer{Body: rows(peers)}); !bytes.Contains(got, schema[:]) {
		t.Errorf("without peers of the cluster the schema's version is not the one read: %q", got)
	}
	if got, ok := single.Rewrite(q, Answer{Body: rows(peers, real)}); !ok || !bytes.Equal(got, rows(peers)) {
		t.Errorf("peers in single topology: %q", got)
	}
	count := metadata(column{"count", 2})
	for text, n := range map[string]int64{"SELECT count(*) FROM system.peers": 2, "SELECT count(*) FROM system.peers WHERE peer = '10.0.0.3' LIMIT 1": 1} {
		if got, ok := fleet.Rewrite(Parse("", text), Answer{Body: rows(count, [][]byte{cell(int64(0))})}); !ok || !bytes.Equal(got, rows(count, [][]byte{cell(n)})) {
			t.Errorf("%s is answered %q, want %d", text, got, n)
		}
	}
	paged := wire.AppendBytes(wire.AppendInt(wire.AppendInt(nil, wire.MetaGlobalTable|wire.MetaMorePages), 1), []byte("state"))
	paged = wire.AppendShort(wire.AppendString(wire.AppendString(wire.AppendString(paged, "system"), "x"), "peer"), 0x10)
	got, ok = fleet.Rewrite(Parse("", "SELECT peer FROM system.peers_v2"), Answer{Body: rows(paged, [][]byte{ip("1.1.1.1")})})
	if want := rows(metadata(column{"peer", 0x10}), [][]byte{ip("10.0.0.1")}, [][]byte{ip("10.0.0.3")}); !ok || !bytes.Equal(got, want) {
		t.Errorf("a page of peers:\n got %q\nwant %q", got, want)
	}
	json := metadata(column{"[json]", 13})
	got, ok = fleet.Rewrite(Parse("", "SELECT JSON peer, native_port AS \"P\", tokens FROM system.peers_v2 LIMIT 1"), Answer{Body: rows(json)})
	if want := `{"peer": "10.0.0.1", "\"P\"": 9042, "tokens": ["`; !ok || !bytes.Contains(got, []byte(want)) {
		t.Errorf("JSON of the fleet: %q, want %q", got, want)
	}
	for _, topology := range []Sight{fleet, single} {
		m := metadata(column{"host_id", 0x0C}, column{"rpc_address", 0x10}, column{"rpc_port", 9})
		got, ok = topology.Rewrite(Parse("", "SELECT host_id, rpc_address, rpc_port FROM system.local"), Answer{Body: rows(m, [][]byte{idA[:], ip("1.1.1.1"), cell(int32(1))})})
		if want := rows(m, [][]byte{cell(HostID(members[0])), ip("10.0.0.2"), cell(int32(9042))}); !ok || !bytes.Equal(got, want) {
			t.Errorf("system.local: %q, want %q", got, want)
		}
	}
}

func TestTokensSplitTheRing(t *testing.T) {
	for n := 1; n <= 7; n++ {
		seen := make(map[string]bool)
		for i := range n {
			for _, token := range Tokens(i, n) {
				if seen[token] {
					t.Errorf("%d members: %s twice", n, token)
				}
				seen[token] = true
			}
		}
		if len(seen) != n*ranges || !seen["-9223372036854775807"] {
			t.Errorf("%d members have %d tokens", n, len(seen))
		}
	}
}

func TestEvents(t *testing.T) {
	for _, address := range []string{"10.0.0.1:9042", "[fe80::1]:1"} {
		e := Event{Kind: StatusChange, Change: Down, Address: a(address)}
		body := append(e.Append(nil), "more"...)
		got, ok := ReadEvent(0, body)
		if !ok || got.Kind != e.Kind || got.Change != e.Change || got.Address != e.Address {
			t.Fatalf("%+v is read as %+v", e, got)
		}
		e.Address = a("127.0.0.1:19042")
		if moved := got.Moved(body, e.Address); string(moved) != string(e.Append(nil))+"more" {
			t.Errorf("moved: %q", moved)
		}
		for i := range len(body) - len("more") {
			if _, ok := ReadEvent(0, body[:i]); ok {
				t.Errorf("an event cut at %d is read", i)
			}
		}
	}
}

// TestOnlyAddressesChange: whatever the statement's columns and aliases are, every cell that shows no address stays.
func TestOnlyAddressesChange(t *testing.T) {
	all := tableColumns[PeersV2]
	rapid.Check(t, func(t *rapid.T) {
		picked := rapid.SliceOfN(rapid.SampledFrom(all), 1, 8).Draw(t, "columns")
		text, columns := "SELECT ", []column(nil)
		var in, want [][]byte
		known := false
		for i, name := range picked {
			shown := name
			if rapid.Bool().Draw(t, "alias") {
				shown = rapid.SampledFrom(all).Draw(t, "as")
			}
			if i > 0 {
				text += ", "
			}
			text += name
			if shown != name {
				text += " AS " + shown
			}
			columns = append(columns, column{shown, 13})
			v, w := []byte("any"), []byte("any")
			switch name {
			case "host_id":
				v, w, known = idB[:], idB[:], true
			case "peer":
				v, w, known = ip("10.0.0.2"), ip("10.0.0.2"), true
			case "native_address":
				v, w, known = ip("10.1.0.2"), ip("127.0.9.2"), true
			case "native_port":
				v, w = cell(int32(9042)), cell(int32(19043))
			}
			in, want = append(in, v), append(want, w)
		}
		if !known {
			want = in
		}
		m := metadata(columns...)
		got, ok := mirror.Rewrite(Parse("", text+" FROM system.peers_v2"), Answer{Body: rows(m, in)})
		if !ok || !bytes.Equal(got, rows(m, want)) {
			t.Fatalf("%s: %q, want %q", text, got, rows(m, want))
		}
	})
}
