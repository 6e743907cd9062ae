package rewrite

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/proxy/proxytest"
	protocol "github.com/helenus-db/helenus/proxy/wire"
	"github.com/helenus-db/helenus/rewrite/migrate"
	"github.com/helenus-db/helenus/rewrite/twintest"
)

// manner is how a statement is said besides its text and its values.
type manner struct {
	name         string
	header       byte
	before       []byte // the message
	consistency  uint16
	params       uint32
	rest         []byte // what params say, after the values
	versionsFrom byte
}

// manners are right and wrong ones.
func manners() []manner {
	list := []manner{{name: "plain", consistency: 1}, {name: "skipped metadata", consistency: 1, params: protocol.ParamSkipMetadata}, {name: "more than there should be", consistency: 1, rest: []byte{1, 2, 3}},
		{name: "a payload", consistency: 1, header: protocol.FlagCustomPayload, before: []byte{0, 1, 0, 1, 'k', 0, 0, 0, 1, 'v'}}, {name: "an empty payload", consistency: 1, header: protocol.FlagCustomPayload, before: []byte{0, 0}},
		{name: "a flag that nobody knows", consistency: 1, params: 0x400, versionsFrom: 5}}
	for code := range uint16(13) {
		list = append(list, manner{name: fmt.Sprint("consistency ", code), consistency: code})
	}
	for _, flag := range []byte{protocol.FlagTracing, protocol.FlagWarnings, 0x20, 0x80} {
		list = append(list, manner{name: fmt.Sprintf("flag %#x of the header", flag), consistency: 1, header: flag})
	}
	with := func(param uint32, name string, from byte, rests ...[]byte) {
		for _, rest := range rests {
			list = append(list, manner{name: fmt.Sprintf("%s %x", name, rest), consistency: 1, params: param, rest: rest, versionsFrom: from})
		}
	}
	short, number := func(n uint16) []byte { return protocol.AppendShort(nil, n) }, func(n int32) []byte { return protocol.AppendInt(nil, n) }
	with(protocol.ParamSerial, "serial consistency", 3, short(0), short(1), short(8), short(9), short(77))
	with(protocol.ParamPageSize, "page size", 3, number(-7), number(-1), number(0), number(1), number(2), number(1<<30))
	with(protocol.ParamPagingState, "paging state", 3, number(-3), number(-1), number(0), append(number(2), "xx"...))
	with(protocol.ParamTimestamp, "timestamp", 3, protocol.AppendLong(nil, -1<<63), protocol.AppendLong(nil, -5))
	with(protocol.ParamKeyspace, "keyspace", 3, protocol.AppendString(nil, "system"), protocol.AppendString(nil, ""))
	with(protocol.ParamNow, "now", 5, number(5), number(-5))
	return list
}

// However a served read is said, or a write that is followed, right or wrong, its client gets the bytes that it would get from Cassandra; and no write that
// Cassandra refuses turns reads back.
func TestCassandraInEveryManner(t *testing.T) {
	w := newTwin(t)
	in := func(text string) string { return strings.ReplaceAll(text, "@", w.keyspace) }
	w.do(in("CREATE TABLE @.people (id text PRIMARY KEY, who text, level int)"))
	w.do(in("INSERT INTO @.people (id, who, level) VALUES ('a', 'ann', 1)"))
	w.read()
	const text, write = "SELECT id, level FROM @.people WHERE who = ? ALLOW FILTERING", "INSERT INTO @.people (who, id) VALUES (?, ?)"
	print, normalised, _, err := cql.FingerprintText(in(text), "")
	must(t, err)
	_, err = w.engine.Approve(t.Context(), "people", plan.Rewrite{Keyspace: w.keyspace, Base: "people", Column: "who", Table: "people_by_who",
		Statements: []string{print.String()}, Texts: []string{normalised}, SchemaDigest: w.schema.Load().Table(w.keyspace, "people").Digest()}, "ann")
	must(t, err)
	_, err = w.through.Do(twintest.Statement{Way: twintest.Execute, Text: text, Values: []twintest.Value{twintest.Text("ann")}}) // which is compared
	must(t, err)
	w.await(migrate.Serving)
	for _, version := range []byte{3, 4, 5} {
		for _, m := range manners() {
			if version < m.versionsFrom {
				continue
			}
			var answers [2][]string
			for i, address := range []string{w.server.Load().Addrs()[0], os.Getenv("HELENUS_TEST_CASSANDRA")} {
				for _, said := range [][]string{{text, "ann"}, {text, "nobody"}, {write, "ann", "a"}} {
					answers[i] = append(answers[i], say(t, address, version, m, in(said[0]), said[1:])...)
				}
			}
			if !slices.Equal(answers[0], answers[1]) {
				t.Errorf("version %d, %s: %q, without Helenus %q", version, m.name, answers[0], answers[1])
			}
		}
	}
	if state := w.state(); state.State != migrate.Serving {
		t.Errorf("%s: %s", state.State, state.Reason)
	}
	if served := w.engine.active["people"].counts.served.Load(); served < 100 {
		t.Errorf("%d reads were served", served)
	}
}

// say says a statement prepared and as text, and returns the answers.
func say(t *testing.T, address string, version byte, m manner, text string, values []string) (answers []string) {
	t.Helper()
	c, err := proxytest.Connect(address, version)
	must(t, err)
	defer c.Close()
	_, body, err := c.Call(protocol.OpPrepare, proxytest.PrepareBody(version, text))
	must(t, err)
	r := protocol.NewReader(body)
	r.Int()
	id := protocol.AppendString(nil, string(r.String()))
	if version >= 5 {
		id = protocol.AppendString(id, string(r.String()))
	}
	for _, opcode := range []byte{protocol.OpExecute, protocol.OpQuery} {
		b := bytes.Clone(m.before)
		if opcode == protocol.OpExecute {
			b = append(b, id...)
		} else {
			b = protocol.AppendLongString(b, text)
		}
		b = protocol.AppendShort(b, m.consistency)
		if flags := m.params | protocol.ParamValues; version >= 5 {
			b = protocol.AppendInt(b, int32(flags)) // #nosec G115 -- of few bits
		} else {
			b = append(b, byte(flags))
		}
		b = protocol.AppendShort(b, uint16(len(values))) // #nosec G115 -- two at most
		for _, value := range values {
			b = protocol.AppendBytes(b, []byte(value))
		}
		must(t, c.Send(7, opcode, m.header, append(b, m.rest...)))
		h, answer, err := c.Read()
		must(t, err)
		if h.Flags&protocol.FlagTracing != 0 {
			answer = answer[16:]
		}
		answers = append(answers, fmt.Sprintf("stream %d flags %#x opcode %#x %q", h.Stream, h.Flags, h.Opcode, answer))
	}
	return answers
}
