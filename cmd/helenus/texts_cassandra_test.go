package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/helenus-db/helenus/internal/cassandra/cassandratest"
	"github.com/helenus-db/helenus/proxy/proxytest"
	"github.com/helenus-db/helenus/proxy/wire"
)

// query is a QUERY: values in order, or, if names are given, by name.
func query(version byte, text string, names []string, values [][]byte, flags uint32, page int32) []byte {
	b := wire.AppendShort(wire.AppendLongString(nil, text), 1)
	if values != nil {
		flags |= wire.ParamValues
	}
	if names != nil {
		flags |= wire.ParamNames
	}
	if page > 0 {
		flags |= wire.ParamPageSize
	}
	if version >= 5 {
		b = binary.BigEndian.AppendUint32(b, flags)
	} else {
		b = append(b, byte(flags))
	}
	if values != nil {
		b = wire.AppendShort(b, uint16(len(values)))
		for i, v := range values {
			if names != nil {
				b = wire.AppendString(b, names[i])
			}
			b = wire.AppendBytes(b, v)
		}
	}
	if page > 0 {
		b = wire.AppendInt(b, page)
	}
	return b
}

// TestCassandraTexts: a statement that is sent as text, with values in it or beside it, gets the answer that Cassandra gives itself, byte for
// byte, in every version; and where it is of the usual form it is served.
func TestCassandraTexts(t *testing.T) {
	c := newChain(t, cassandratest.ContactPoints(t)[0], "", "", 0)
	const guests, filtered = "SELECT room, day, guest, status FROM %s WHERE guest = %s ALLOW FILTERING",
		`SELECT room AS r, "No", at, tags FROM hotel.stays WHERE guest = %s AND "No" > %s AND at < %s AND tags CONTAINS %s ALLOW FILTERING`
	limited := "SELECT room, day, ttl(status), writetime(status) FROM hotel.stays WHERE guest = %s AND status = %s LIMIT %s ALLOW FILTERING"
	in := func(n int32) []byte { return wire.AppendInt(nil, n) }
	type form struct {
		name   string
		text   string
		names  []string
		values [][]byte
		flags  uint32
		page   int32
		served bool
	}
	stays, str := "hotel.stays", func(s string) []byte { return []byte(s) }
	for _, version := range []byte{3, 4, 5} {
		through, err := proxytest.Connect(c.server.Addrs()[0], version)
		if err != nil {
			t.Fatal(err)
		}
		defer through.Close()
		direct, err := proxytest.Connect(c.point, version)
		if err != nil {
			t.Fatal(err)
		}
		defer direct.Close()
		// What Cassandra is too slow for, on a busy machine, runs as written, as some reads do to measure by: it is asked again.
		lost := func() float64 { return c.because("failed") + c.because("control") }
		var same func(f form, again int)
		same = func(f form, again int) {
			t.Helper()
			body, before, lostBefore := query(version, f.text, f.names, f.values, f.flags, f.page), c.served(), lost()
			gotHead, got, err := through.Call(wire.OpQuery, body)
			if err != nil {
				t.Fatal(err)
			}
			head, want, err := direct.Call(wire.OpQuery, body)
			if err != nil {
				t.Fatal(err)
			}
			// A prepared statement's answer carries no warnings of ours: what Cassandra warns of is of how it carries the statement out.
			if gotHead.Opcode != head.Opcode || !bytes.Equal(withoutWarnings(gotHead, got), withoutWarnings(head, want)) {
				t.Errorf("v%d %s: %s: %+v %q through helenus, %+v %q without", version, f.name, f.text, gotHead, got, head, want)
			}
			switch served := c.served() > before; {
			case f.served && !served && lost() > lostBefore && again > 0:
				same(f, again-1)
			case served != f.served:
				t.Errorf("v%d %s: %s: served %t, want %t", version, f.name, f.text, served, f.served)
			}
		}
		for _, f := range []form{
			{name: "literal", text: fmt.Sprintf(guests, stays, "'guest1'"), served: true},
			{name: "nobody", text: fmt.Sprintf(guests, stays, "'nobody'"), served: true},
			{name: "quoted", text: fmt.Sprintf(guests, stays, "$$guest1$$"), served: true},
			{name: "an apostrophe", text: fmt.Sprintf(guests, stays, "'o''hara'"), served: true},
			{name: "letters", text: fmt.Sprintf(guests, stays, "'guést∆'"), served: true},
			{name: "cases", text: "select ROOM , \"day\", guest,status from Hotel.Stays where GUEST='guest1' allow filtering;", served: true},
			{name: "all columns", text: "SELECT * FROM hotel.stays WHERE guest = 'guest2' ALLOW FILTERING", served: true},
			{name: "all columns of nobody", text: "SELECT * FROM hotel.stays WHERE guest = 'nobody' ALLOW FILTERING", served: true},
			{name: "value", text: fmt.Sprintf(guests, stays, "?"), values: [][]byte{str("guest3")}, served: true},
			{name: "column's name", text: fmt.Sprintf(guests, stays, "?"), names: []string{"guest"}, values: [][]byte{str("guest3")}, served: true},
			{name: "named", text: fmt.Sprintf(guests, stays, ":who"), names: []string{"who"}, values: [][]byte{str("guest3")}, served: true},
			{name: "more names", text: fmt.Sprintf(guests, stays, ":who"), names: []string{"x", "who"}, values: [][]byte{str("y"), str("guest3")}, served: true},
			{name: "limit", text: fmt.Sprintf(limited, "'guest4'", "'booked'", "3"), served: true},
			{name: "limit of one", text: fmt.Sprintf(limited, "'guest3'", "'booked'", "1"), served: true},
			{name: "limit bound", text: fmt.Sprintf(limited, "'guest3'", "'booked'", "?"), values: [][]byte{in(2)}, served: true},
			{name: "limit by name", text: fmt.Sprintf(limited, "?", "?", "?"), names: []string{"[limit]", "status", "guest"}, values: [][]byte{in(2), str("booked"), str("guest3")}, served: true},
			{name: "limit of none", text: fmt.Sprintf(limited, "'guest4'", "'booked'", "0")},
			{name: "limit below none", text: fmt.Sprintf(limited, "'guest4'", "'booked'", "-1")},
			{name: "all kinds", text: fmt.Sprintf(filtered, "'guest6'", "-1", "1900000000000", "'sea'"), served: true},
			{name: "a zone", text: fmt.Sprintf(filtered, "'guest6'", "0", "'2031-01-01T00:00:00Z'", "'tag1'"), served: true},
			{name: "no zone", text: fmt.Sprintf(filtered, "'guest6'", "0", "'2031-01-01'", "'tag1'")},
			{name: "mixed", text: fmt.Sprintf(filtered, "'guest6'", "?", "1900000000000", "?"), values: [][]byte{in(2), str("sea")}, served: true},
			{name: "mixed by name", text: fmt.Sprintf(filtered, ":g", ":n", "1900000000000", ":tag"), names: []string{"tag", "n", "g"}, values: [][]byte{str("sea"), in(2), str("guest6")}, served: true},
			{name: "an element by Cassandra's name", text: fmt.Sprintf(filtered, "'guest6'", "1", "1900000000000", "?"), names: []string{"value(tags)"}, values: [][]byte{str("sea")}},
			{name: "too few values", text: fmt.Sprintf(guests, stays, "?")},
			{name: "too many values", text: fmt.Sprintf(guests, stays, "?"), values: [][]byte{str("guest3"), str("x")}},
			{name: "a value for none", text: fmt.Sprintf(guests, stays, "'guest3'"), values: [][]byte{str("guest3")}},
			{name: "another name", text: fmt.Sprintf(guests, stays, ":who"), names: []string{"whom"}, values: [][]byte{str("guest3")}},
			{name: "null", text: fmt.Sprintf(guests, stays, "null")},
			{name: "null bound", text: fmt.Sprintf(guests, stays, "?"), values: [][]byte{nil}},
			{name: "empty", text: fmt.Sprintf(guests, stays, "''")},
			{name: "of another type", text: fmt.Sprintf(guests, stays, "1")},
			{name: "bytes of no text", text: fmt.Sprintf(guests, stays, "?"), values: [][]byte{{0xff}}},
			{name: "bytes of no int", text: fmt.Sprintf(filtered, "'nobody'", "?", "1", "'sea'"), values: [][]byte{{1, 2, 3}}},
			{name: "out of range", text: fmt.Sprintf(filtered, "'nobody'", "99999999999", "1", "'sea'")},
			{name: "of another type beside nothing", text: fmt.Sprintf(filtered, "'nobody'", "'x'", "1", "'sea'")},
			{name: "a function", text: fmt.Sprintf(guests, stays, "blobastext(0x6775657374)")},
			{name: "pages", text: fmt.Sprintf(guests, stays, "'guest1'"), page: 2},
			{name: "a page large enough", text: fmt.Sprintf(guests, stays, "'guest1'"), page: 5000, served: true},
			{name: "without metadata", text: fmt.Sprintf(guests, stays, "'guest1'"), flags: wire.ParamSkipMetadata},
			{name: "no filtering", text: strings.TrimSuffix(fmt.Sprintf(guests, stays, "'guest1'"), " ALLOW FILTERING")},
			{name: "not there", text: "SELECT nothing FROM hotel.stays WHERE guest = 'guest1' ALLOW FILTERING"},
			{name: "a comment", text: "/* report */ " + fmt.Sprintf(guests, stays, "'guest1'"), served: true},
			{name: "not approved", text: "SELECT room FROM hotel.stays WHERE guest = 'guest1' ALLOW FILTERING"},
		} {
			same(f, 5)
		}
		if _, _, err := through.Call(wire.OpQuery, query(version, "USE hotel", nil, nil, 0, 0)); err != nil {
			t.Fatal(err)
		}
		if _, _, err := direct.Call(wire.OpQuery, query(version, "USE hotel", nil, nil, 0, 0)); err != nil {
			t.Fatal(err)
		}
		same(form{name: "in a keyspace", text: fmt.Sprintf(guests, "stays", "'guest1'"), served: true}, 5)
		random := rand.New(rand.NewPCG(uint64(version), 7)) //nolint:gosec // a test
		for range 200 {                                     // any values, in any of the forms
			n := func(most int) int { return random.IntN(most) }
			given := []struct {
				literal string
				value   []byte
			}{
				{fmt.Sprintf("'guest%d'", 0), nil}, {fmt.Sprint(n(9) - 1), nil}, {fmt.Sprint(int64(n(300)) * 1e9), nil}, {fmt.Sprintf("'tag%d'", n(6)), nil},
			}
			who, more, at := fmt.Sprint("guest", n(70)), int32(n(9)-1), int64(n(300))*1e9
			tag := fmt.Sprint("tag", n(6))
			given[0].literal, given[0].value = "'"+who+"'", str(who)
			given[1].literal, given[1].value = fmt.Sprint(more), in(more)
			given[2].literal, given[2].value = fmt.Sprint(at), wire.AppendLong(nil, at)
			given[3].literal, given[3].value = "'"+tag+"'", str(tag)
			f := form{name: "drawn", served: true}
			var terms []any
			named := n(2) == 0
			for i, g := range given {
				switch {
				case n(2) == 0:
					terms = append(terms, g.literal)
				case named:
					terms, f.names, f.values = append(terms, fmt.Sprint(":v", i)), append(f.names, fmt.Sprint("v", i)), append(f.values, g.value)
				default:
					terms, f.values = append(terms, "?"), append(f.values, g.value)
				}
			}
			f.text = fmt.Sprintf(filtered, terms...)
			same(f, 5)
		}
	}
	// A column more: what an answer looks like is asked anew.
	must(t, c.root, "ALTER TABLE hotel.stays ADD note text")
	c.read()
	time.Sleep(100 * time.Millisecond)
	await(t, "it serves again", func() bool { return c.engine.Migrations()[0].State == "serving" })
	through, direct := as(t, c.server.Addrs()[0], ""), as(t, c.point, "")
	for range 2 {
		for _, text := range []string{fmt.Sprintf(guests, stays, "'guest1'"), "SELECT * FROM hotel.stays WHERE guest = 'guest1' ALLOW FILTERING"} {
			if got, want := outcome(through, text), outcome(direct, text); got != want {
				t.Errorf("%s: %s through helenus, %s without", text, got, want)
			}
		}
	}
}

// withoutWarnings is an answer from its message on.
func withoutWarnings(h wire.Header, body []byte) []byte {
	r := wire.NewReader(body)
	r.SkipResponsePrefix(h.Flags)
	return r.Rest()
}
