package rewrite

import (
	"bytes"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/datastax/go-cassandra-native-protocol/frame"
	"github.com/datastax/go-cassandra-native-protocol/message"
	"github.com/datastax/go-cassandra-native-protocol/primitive"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/rewrite/migrate"
	"github.com/helenus-db/helenus/rewrite/twintest"
)

// spoken is a connection of one version of the protocol.
type spoken struct {
	t *testing.T
	net.Conn
	version primitive.ProtocolVersion
}

func speak(t *testing.T, address string, version primitive.ProtocolVersion) spoken {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	must(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	c := spoken{t, conn, version}
	c.call(message.NewStartup())
	return c
}

// call sends a message, and returns the answer as it came.
func (c spoken) call(m message.Message) *frame.RawFrame {
	c.t.Helper()
	codec := frame.NewRawCodec()
	must(c.t, codec.EncodeFrame(frame.NewFrame(c.version, 1, m), c))
	answer, err := codec.DecodeRawFrame(c)
	must(c.t, err)
	return answer
}

func (c spoken) prepare(text string) *message.PreparedResult {
	c.t.Helper()
	f, err := frame.NewRawCodec().ConvertFromRawFrame(c.call(&message.Prepare{Query: text}))
	must(c.t, err)
	return f.Body.Message.(*message.PreparedResult)
}

// Clients of several versions of the protocol share a served statement: each is answered in the bytes that Cassandra answers to its own version,
// which has no codes for the newer types, whoever prepared it last.
func TestCassandraProtocolVersions(t *testing.T) {
	w := newTwin(t)
	w.do("CREATE TABLE " + w.keyspace + ".things (id smallint PRIMARY KEY, who text, d date, t time, b tinyint, u duration, m map<text, frozen<list<smallint>>>, v vector<float, 2>)")
	w.do("INSERT INTO " + w.keyspace + ".things (id, who, d, t, b, u, m, v) VALUES (1, 'ann', '2024-01-01', '01:02:03', 3, 1h, {'a': [1, 2]}, [1, 2])")
	w.read()
	texts := map[bool]string{} // by whether all versions describe their columns alike
	look := plan.Rewrite{Keyspace: w.keyspace, Base: "things", Column: "who", Table: "things_by_who", SchemaDigest: w.schema.Load().Table(w.keyspace, "things").Digest()}
	for alike, columns := range map[bool]string{false: "id, who, d, t, b, u, m, v", true: "who, v"} {
		texts[alike] = "SELECT " + columns + " FROM " + w.keyspace + ".things WHERE who = ? ALLOW FILTERING"
		print, normalised, _, err := cql.FingerprintText(texts[alike], "")
		must(t, err)
		look.Statements, look.Texts = append(look.Statements, print.String()), append(look.Texts, normalised)
	}
	_, err := w.engine.Approve(t.Context(), "things", look, "ann")
	must(t, err)
	w.await(migrate.Serving)
	for alike, text := range texts {
		through, direct := map[primitive.ProtocolVersion]spoken{}, map[primitive.ProtocolVersion]spoken{}
		prepared := map[primitive.ProtocolVersion]*message.PreparedResult{}
		served := w.engine.active["things"].counts.served.Load()
		for _, last := range []primitive.ProtocolVersion{3, 4, 3, 4} {
			through[last], direct[last] = speak(t, w.server.Load().Addrs()[0], last), speak(t, os.Getenv("HELENUS_TEST_CASSANDRA"), last)
			prepared[last] = through[last].prepare(text)
			for version, client := range through {
				options := &message.QueryOptions{Consistency: primitive.ConsistencyLevelOne, PositionalValues: []*primitive.Value{twintest.Text("ann")}}
				execute := &message.Execute{QueryId: prepared[version].PreparedQueryId, ResultMetadataId: prepared[version].ResultMetadataId, Options: options}
				query := &message.Query{Query: strings.Replace(text, "?", "'ann'", 1), Options: &message.QueryOptions{Consistency: primitive.ConsistencyLevelOne}}
				for _, m := range []message.Message{execute, query} {
					if got, want := client.call(m).Body, direct[version].call(m).Body; !bytes.Equal(got, want) {
						t.Errorf("%s, prepared by %s last: %s is answered %q, without Helenus %q", text, last, version, got, want)
					}
				}
			}
		}
		// Texts are described to each version by itself; of what is executed at least what the last version prepared is served.
		if n := w.engine.active["things"].counts.served.Load() - served; n < 11 || alike && n < 14 {
			t.Errorf("%s: %d reads were served", text, n)
		}
	}
}
