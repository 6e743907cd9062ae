package main

import (
	"bytes"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/datastax/go-cassandra-native-protocol/frame"
	"github.com/datastax/go-cassandra-native-protocol/message"
	"github.com/datastax/go-cassandra-native-protocol/primitive"
	"github.com/datastax/go-cassandra-native-protocol/segment"
)

// five is a connection of protocol 5, which no driver of ours speaks.
type five struct {
	*testing.T
	conn     net.Conn
	frames   frame.RawCodec
	segments segment.Codec
}

func newFive(t *testing.T, address string) *five {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	f := &five{t, conn, frame.NewRawCodec(), segment.NewCodec()}
	if err := f.frames.EncodeFrame(frame.NewFrame(primitive.ProtocolVersion5, 1, message.NewStartup()), conn); err != nil {
		t.Fatal(err)
	}
	if ready, err := f.frames.DecodeFrame(conn); err != nil || ready.Body.Message.GetOpCode() != primitive.OpCodeReady {
		t.Fatalf("%v %v", ready, err)
	}
	return f
}

// do asks for something that is answered by nothing but an error.
func (f *five) do(m message.Message) {
	f.Helper()
	var b bytes.Buffer
	if err := f.frames.EncodeFrame(frame.NewFrame(primitive.ProtocolVersion5, 1, m), &b); err != nil {
		f.Fatal(err)
	}
	s := &segment.Segment{Header: &segment.Header{IsSelfContained: true}, Payload: &segment.Payload{UncompressedData: b.Bytes()}}
	if err := f.segments.EncodeSegment(s, f.conn); err != nil {
		f.Fatal(err)
	}
	s, err := f.segments.DecodeSegment(f.conn)
	if err != nil {
		f.Fatal(err)
	}
	a, err := f.frames.DecodeFrame(bytes.NewReader(s.Payload.UncompressedData))
	if err != nil {
		f.Fatal(err)
	}
	if e, ok := a.Body.Message.(message.Error); ok {
		f.Fatal(e.GetErrorMessage())
	}
}

// TestWritesOfAnotherTime is case 22: a write brings the time from which its time to live counts. Its entry must not go before its row does.
func TestWritesOfAnotherTime(t *testing.T) {
	contact, _, _ := strings.Cut(os.Getenv("HELENUS_TEST_CASSANDRA"), ",")
	if contact == "" {
		t.Skip("HELENUS_TEST_CASSANDRA is not set: `make test` sets it where a real Cassandra can run")
	}
	direct := session(t, contact)
	s := newShop(t, direct)
	defer must(t, direct, "DROP KEYSPACE "+s.keyspace)
	p := s.process(contact)
	id, table := s.propose(p)
	if err := p.approve(id); err != nil {
		t.Fatal(err)
	}
	through := session(t, p.listen)
	s.serving(p, id, through)
	f := newFive(t, p.listen)
	at := func(d time.Duration) *int32 {
		n := int32(time.Now().Add(d).Unix()) //nolint:gosec // until 2038
		return &n
	}
	insert := func(number, customer string) string {
		return "INSERT INTO " + s.table() + " (day, number, customer, total) VALUES (1, " + number + ", '" + customer + "', 1) USING TTL 2"
	}
	const day = 24 * time.Hour
	one := primitive.ConsistencyLevelOne
	f.do(&message.Query{Query: insert("900001", "ann"), Options: &message.QueryOptions{Consistency: one, NowInSeconds: at(day)}})
	f.do(&message.Query{Query: insert("900002", "ann"), Options: &message.QueryOptions{Consistency: one, NowInSeconds: at(-day)}})
	f.do(&message.Batch{Type: primitive.BatchTypeLogged, Consistency: one, NowInSeconds: at(day), Children: []*message.BatchChild{
		{Query: insert("900003", "ann")}, {Query: insert("900004", "bob")}}})
	for _, who := range []string{"ann", "bob"} {
		if got, want := s.answers(through, who), s.answers(direct, who); !slices.Equal(got, want) || len(want) == 0 {
			t.Errorf("%s has orders %v, is told %v", who, want, got)
		}
	}
	if got := p.metric(`helenus_change_reads_total{`, `result="served"`); got == 0 {
		t.Error("nothing was served")
	}
	iter := direct.Query("SELECT customer, TTL(written) FROM " + table).Iter()
	var who string
	var ttl *int
	for iter.Scan(&who, &ttl) {
		if ttl != nil {
			t.Errorf("an entry of %s goes in %d s, its row tomorrow", who, *ttl)
		}
	}
	if err := iter.Close(); err != nil {
		t.Error(err)
	}
	p.stop()
}
