package window

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helenus-db/helenus/capture/trace"
	"github.com/helenus-db/helenus/proxy"
)

// tuple is a tuple, or a value of a user-defined type, of cells: nil is a null.
func tuple(cells ...[]byte) (b []byte) {
	for _, c := range cells {
		if c == nil {
			b = binary.BigEndian.AppendUint32(b, math.MaxUint32)
			continue
		}
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(c))), c...)
	}
	return b
}

// list is a list or a set; with keys and values in turn, of n entries, a map.
func list(n int, cells ...[]byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(n)), tuple(cells...)...)
}

var (
	integer = proxy.Type{Code: tInt}
	pair    = proxy.Type{Code: proxy.TypeTuple, Elements: []proxy.Type{integer, integer}}
	seat    = proxy.Type{Code: proxy.TypeUDT, Name: "seat", Fields: []string{"hall", "row"}, Elements: []proxy.Type{integer, integer}}
)

func listOf(t proxy.Type) proxy.Type {
	return proxy.Type{Code: proxy.TypeList, Elements: []proxy.Type{t}}
}

func typed(table, name string, t proxy.Type) proxy.Column {
	c := col(table, name, 0)
	c.Type = t
	return c
}

func TestParts(t *testing.T) {
	for _, c := range []struct {
		column proxy.Column
		value  []byte
		want   string // "name: value ...; name: ..."
	}{
		{typed("t", "a", integer), number(1), ""},
		{typed("t", "ids", listOf(integer)), list(1, number(1)), ""},
		{typed("t", "(a,b)", pair), tuple(number(1), number(2)), "a: 1; b: 2"},
		{typed("t", "(a, b)", pair), tuple(nil, number(2)), "a:; b: 2"},
		{typed("t", "in(a,b)", listOf(pair)), list(2, tuple(number(1), number(2)), tuple(number(3), number(4))), "in(a): 1 3; in(b): 2 4"},
		{typed("t", "in(seat)", listOf(seat)), list(2, tuple(number(1), number(2)), tuple(number(3), number(4))), "in(seat.hall): 1 3; in(seat.row): 2 4"},
		{typed("t", "place", pair), tuple(number(1)), "place.0: 1; place.1:"},
		{typed("t", "seat", seat), tuple(number(1), number(2)), "seat.hall: 1; seat.row: 2"},
		{typed("t", "seats", listOf(seat)), list(2, tuple(number(1), number(2)), tuple(number(3), nil)), "seats.hall: 1 3; seats.row: 2"},
		{typed("t", "m", proxy.Type{Code: proxy.TypeMap, Elements: []proxy.Type{integer, seat}}), list(2, number(1), tuple(number(2), number(3)), number(4), tuple(number(5), number(6))),
			"m.key: 1 4; m.value.hall: 2 5; m.value.row: 3 6"},
		{typed("t", "seat", seat), []byte{0, 0, 0, 9, 1}, "seat.hall:; seat.row:"},
		{typed("t", "seat", proxy.Type{Code: proxy.TypeUDT, Name: "seat"}), tuple(number(1)), ""}, // of a type whose fields are not known
		{typed("t", "wide", proxy.Type{Code: proxy.TypeTuple, Elements: slices.Repeat([]proxy.Type{integer}, maxParts+1)}), tuple(number(1)), ""},
	} {
		names := parts(&c.column)
		got := make([]string, len(names))
		for i := range names {
			got[i] = names[i].Name + ":"
		}
		if len(names) > 0 {
			each(&c.column.Type, c.value, 7, func(at int, _ *proxy.Type, b []byte) { got[at-7] += fmt.Sprint(" ", binary.BigEndian.Uint32(b)) })
		}
		if d := cmp.Diff(c.want, strings.Join(got, "; ")); d != "" {
			t.Errorf("%s: %s", c.column.Name, d)
		}
	}
}

// What is delivered, or asked for, as a part of one value is followed as any other: a producer hands out a place, and a consumer asks for it.
func TestFeedsOfParts(t *testing.T) {
	plain := func(a, b []byte) [][]byte { return [][]byte{a, b} }
	apart := []proxy.Column{col("tickets", "hall", tInt), col("tickets", "row", tInt)}
	for _, c := range []struct {
		name      string
		results   []proxy.Column
		cells     func(a, b []byte) [][]byte
		variables []proxy.Column
		values    func(a, b []byte) [][]byte
		want      string
	}{
		{"two values of one tuple", apart, plain, []proxy.Column{typed("seats", "(hall,row)", pair)}, func(a, b []byte) [][]byte { return [][]byte{tuple(a, b)} },
			"hall > hall; row > row"},
		{"a list of tuples, of markers", apart, plain, []proxy.Column{typed("seats", "(hall,row)", pair), typed("seats", "(hall,row)", pair)},
			func(a, b []byte) [][]byte { return [][]byte{tuple(number(1<<30), number(1<<29)), tuple(a, b)} }, "hall > hall; row > row"},
		{"a list of tuples, as one value", apart, plain, []proxy.Column{typed("seats", "in(hall,row)", listOf(pair))},
			func(a, b []byte) [][]byte { return [][]byte{list(1, tuple(a, b))} }, "hall > hall; row > row"},
		{"a list of rows, each value on its own", apart, plain, []proxy.Column{col("seats", "hall", tInt), col("seats", "row", tInt), col("seats", "hall", tInt), col("seats", "row", tInt)},
			func(a, b []byte) [][]byte { return [][]byte{number(1 << 30), number(1 << 29), a, b} }, "hall > hall; row > row"},
		{"out of a user-defined type", []proxy.Column{typed("tickets", "seat", seat)}, func(a, b []byte) [][]byte { return [][]byte{tuple(a, b)} },
			[]proxy.Column{col("seats", "hall", tInt), col("seats", "row", tInt)}, plain, "seat.hall > hall; seat.row > row"},
		{"into a user-defined type", apart, plain, []proxy.Column{typed("seats", "seat", seat)}, func(a, b []byte) [][]byte { return [][]byte{tuple(a, b)} },
			"hall > seat.hall; row > seat.row"},
		{"out of a list of tuples", []proxy.Column{typed("tickets", "seats", listOf(pair))}, func(a, b []byte) [][]byte { return [][]byte{list(1, tuple(a, b))} },
			[]proxy.Column{col("seats", "hall", tInt), col("seats", "row", tInt)}, plain, "seats.0 > hall; seats.1 > row"},
		{"a set of ids", []proxy.Column{typed("tickets", "halls", listOf(integer))}, func(a, b []byte) [][]byte { return [][]byte{list(2, a, b)} },
			[]proxy.Column{typed("seats", "in(hall)", listOf(integer))}, func(a, b []byte) [][]byte { return [][]byte{list(2, b, a)} }, "halls > hall"},
		{"keys of a map", []proxy.Column{typed("tickets", "halls", proxy.Type{Code: proxy.TypeMap, Elements: []proxy.Type{integer, {Code: tText}}})},
			func(a, _ []byte) [][]byte { return [][]byte{list(1, a, []byte("x"))} }, []proxy.Column{col("seats", "hall", tInt)}, func(a, _ []byte) [][]byte { return [][]byte{a} }, "halls.key > hall"},
	} {
		t.Run(c.name, func(t *testing.T) {
			said := func(never ...string) string {
				w, _ := start(t, Options{Never: never})
				from := &trace.Statement{Fingerprint: "from", Keyspace: "shop", Table: "tickets", Variables: []proxy.Column{col("tickets", "ticket", tInt)}, Results: c.results, PartitionKey: []int{0}}
				to := &trace.Statement{Fingerprint: "to", Keyspace: "shop", Table: "seats", Variables: c.variables, Results: []proxy.Column{col("seats", "price", tInt)}}
				client, r := &proxy.Client{ID: 1, Address: "10.0.0.1:1"}, rand.New(rand.NewPCG(1, 2))
				for i := range 300 {
					at, a, b := int64(i)*20e6, number(r.IntN(1_000_000)), number(r.IntN(1_000_000)+2_000_000)
					cells, bound := c.cells(a, b), c.values(a, b)
					var values []proxy.Value
					for _, v := range bound {
						values = append(values, proxy.Value{Bytes: v})
					}
					w.Observe(&proxy.Exchange{Client: client, Start: at, End: at + 1e6, Rows: 1, ResponseBytes: 40, Values: []proxy.Value{{Bytes: number(r.IntN(1 << 28))}}, Response: body(len(cells), cells)}, from)
					w.Observe(&proxy.Exchange{Client: client, Start: at + 2e6, End: at + 3e6, Rows: 1, ResponseBytes: 30, Values: values, Response: body(1, [][]byte{number(i)})}, to)
					w.mu.Lock()
					w.catchUp()
					w.mu.Unlock()
				}
				var got []string
				for _, f := range w.Feeds() {
					got = append(got, f.From.Column+" > "+f.To.Column)
				}
				return strings.Join(got, "; ")
			}
			if d := cmp.Diff(c.want, said()); d != "" {
				t.Error(d)
			}
			var never []string // what may not be looked at is not in its parts either
			for _, column := range c.results {
				never = append(never, "shop.tickets."+column.Name)
			}
			if got := said(never...); got != "" {
				t.Errorf("looked at: %s", got)
			}
		})
	}
}

// Columns that are never to be looked at are not in what several are compared with.
func TestNeverInTuples(t *testing.T) {
	w, _ := start(t, Options{Never: []string{"shop.seats.row"}})
	st := &trace.Statement{Fingerprint: "to", Keyspace: "shop", Table: "seats", Variables: []proxy.Column{typed("seats", "(hall,row)", pair), typed("seats", "in(hall,row)", listOf(pair))}}
	w.Observe(&proxy.Exchange{Client: &proxy.Client{ID: 1}, Start: 1, End: 2, Values: []proxy.Value{{Bytes: tuple(number(1), number(2))}, {Bytes: list(1, tuple(number(3), number(4)))}}}, st)
	seen := map[string]uint64{}
	for _, c := range w.Findings().Profiles.Epochs[0].Columns {
		seen[c.Name] += c.Bound
	}
	if seen["hall"] != 2 || seen["row"] != 0 {
		t.Errorf("%v", seen)
	}
}
