package rewrite

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/datastax/go-cassandra-native-protocol/frame"
	"github.com/datastax/go-cassandra-native-protocol/message"
	"github.com/datastax/go-cassandra-native-protocol/primitive"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/proxy/proxytest"
	"github.com/helenus-db/helenus/rewrite/migrate"
	"github.com/helenus-db/helenus/rewrite/twintest"
)

// spoken is a connection of one version of the protocol.
type spoken struct {
	t *testing.T
	*proxytest.Client
}

// call sends a message, and returns the answer's body as it came.
func (c spoken) call(m message.Message) []byte {
	c.t.Helper()
	raw, err := frame.NewRawCodec().ConvertToRawFrame(frame.NewFrame(primitive.ProtocolVersion(c.Version), 1, m))
	must(c.t, err)
	_, body, err := c.Call(byte(raw.Header.OpCode), raw.Body)
	must(c.t, err)
	return body
}

func (c spoken) prepare(text string) *message.PreparedResult {
	c.t.Helper()
	body := c.call(&message.Prepare{Query: text})
	f, err := frame.NewRawCodec().ConvertFromRawFrame(&frame.RawFrame{Header: &frame.Header{IsResponse: true, Version: primitive.ProtocolVersion(c.Version), OpCode: primitive.OpCodeResult}, Body: body})
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
		dial := func(address string, version byte) spoken {
			client, err := proxytest.Connect(address, version)
			must(t, err)
			t.Cleanup(client.Close)
			return spoken{t, client}
		}
		through, direct, prepared := map[byte]spoken{}, map[byte]spoken{}, map[byte]*message.PreparedResult{}
		served := w.engine.active["things"].counts.served.Load()
		for _, last := range []byte{3, 5, 4, 3} {
			through[last], direct[last] = dial(w.server.Load().Addrs()[0], last), dial(os.Getenv("HELENUS_TEST_CASSANDRA"), last)
			prepared[last] = through[last].prepare(text)
			for version, client := range through {
				options := &message.QueryOptions{Consistency: primitive.ConsistencyLevelOne, PositionalValues: []*primitive.Value{twintest.Text("ann")}}
				execute := &message.Execute{QueryId: prepared[version].PreparedQueryId, ResultMetadataId: prepared[version].ResultMetadataId, Options: options}
				query := &message.Query{Query: strings.Replace(text, "?", "'ann'", 1), Options: &message.QueryOptions{Consistency: primitive.ConsistencyLevelOne}}
				for _, m := range []message.Message{execute, query} {
					if got, want := client.call(m), direct[version].call(m); !bytes.Equal(got, want) {
						t.Errorf("%s, prepared by version %d last: version %d is answered %q, without Helenus %q", text, last, version, got, want)
					}
				}
			}
		}
		// Texts are described to each version by itself; of what is executed at least what the last version prepared is served.
		if n := w.engine.active["things"].counts.served.Load() - served; n < 12 || alike && n < 15 {
			t.Errorf("%s: %d reads were served", text, n)
		}
	}
}
