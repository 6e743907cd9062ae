package rewrite

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/proxy/proxytest"
	protocol "github.com/helenus-db/helenus/proxy/wire"
	"github.com/helenus-db/helenus/rewrite/migrate"
	"github.com/helenus-db/helenus/rewrite/twintest"
)

// A client says USE and does not wait for the answer: Cassandra has mostly carried it out when it comes to what is said behind it. That is answered, and followed, in the keyspace in
// which it is carried out.
func TestCassandraBehindUSE(t *testing.T) {
	w := newTwin(t)
	other := w.keyspace + "_direct" // whose tables nothing is over
	const insert = "INSERT INTO stays (room, day, n, guest) VALUES ('%s', 1, 1, '%s')"
	for _, keyspace := range []string{w.keyspace, other} {
		w.do(strings.Replace(fmt.Sprintf(insert, keyspace, "ann"), "stays", keyspace+".stays", 1))
	}
	w.approveOne(twintest.LookUps[0])
	w.await(migrate.Serving)
	behind := func(from, to, text string) []byte {
		t.Helper()
		c, err := proxytest.Connect(w.server.Load().Addrs()[0], 4)
		must(t, err)
		defer c.Close()
		_, _, err = c.Call(protocol.OpQuery, proxytest.QueryBody(4, "USE "+from))
		must(t, err)
		must(t, c.Send(1, protocol.OpQuery, 0, proxytest.QueryBody(4, "USE "+to)))
		must(t, c.Send(2, protocol.OpQuery, 0, proxytest.QueryBody(4, text)))
		for {
			h, body, err := c.Read()
			must(t, err)
			if h.Opcode != protocol.OpResult {
				t.Fatalf("%s: %+v %q", text, h, body)
			}
			if h.Stream == 2 {
				return body
			}
		}
	}
	read := strings.NewReplacer("@.", "", "?", "'ann'").Replace(twintest.LookUps[0].Text)
	there := 0
	for range 20 {
		if bytes.Contains(behind(w.keyspace, other, read), []byte(other)) {
			there++
		}
	}
	if there == 0 {
		t.Error("all answers are of the keyspace of before")
	}
	for i := range 20 {
		behind(other, w.keyspace, fmt.Sprintf(insert, fmt.Sprint("room", i), fmt.Sprint("guest", i)))
	}
	w.come(migrate.Serving)
	w.answers()
	// What was sent before a USE is not carried out behind it because its entry is being written.
	for i := range 20 {
		c, err := proxytest.Connect(w.server.Load().Addrs()[0], 4)
		must(t, err)
		_, _, err = c.Call(protocol.OpQuery, proxytest.QueryBody(4, "USE "+w.keyspace))
		must(t, err)
		must(t, c.Send(1, protocol.OpQuery, 0, proxytest.QueryBody(4, fmt.Sprintf(insert, fmt.Sprint("before ", i), "bob"))))
		must(t, c.Send(2, protocol.OpQuery, 0, proxytest.QueryBody(4, "USE "+other)))
		for range 2 {
			_, _, err := c.Read()
			must(t, err)
		}
		c.Close()
	}
	a, err := w.beside.Do(twintest.Statement{Text: "SELECT room FROM @.stays WHERE guest = 'bob' ALLOW FILTERING"})
	must(t, err)
	if len(a.Rows) < 10 {
		t.Errorf("%d of 20 rows are where they were written", len(a.Rows))
	}
	w.come(migrate.Serving)
	w.answers()
}
