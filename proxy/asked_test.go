package proxy

import (
	"testing"

	"github.com/helenus-db/helenus/proxy/pipe"
	"github.com/helenus-db/helenus/proxy/wire"
)

// TestAskedAnswerMeetsTheSweeper: an answer to a request of our own may come in the moment in which the sweeper gives the request up, and its extra to another. It is
// dropped then, however long it is: the connection is the client's.
func TestAskedAnswerMeetsTheSweeper(t *testing.T) {
	s, err := New(Options{ContactPoints: []string{"127.0.0.1:1"}, Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	c := &conn{server: s}
	c.lend()
	id := <-c.asks.free
	at, e := c.streams.At(id), c.spares.take()
	e.asked = &asked{by: c.asks, answer: make(chan reply, 1)}
	at.pending = pending{stream: nobody, id: id, opcode: wire.OpExecute, extra: e}
	at.claim()
	p := at.pending // as who got the answer sees it
	c.expire(at, at.Word())
	verdict, _, err := c.onOwnAnswer(wire.Header{Version: 4 | wire.ResponseBit, Stream: id, Opcode: wire.OpResult, Length: s.options.MaxFrame + 1}, nil, false, at, &p)
	if err != nil || verdict != pipe.Drop {
		t.Errorf("%v, and the connection ends with %v", verdict, err)
	}
	if at.Occupied() || len(c.asks.free) != maxAsks {
		t.Errorf("the stream id is not free again: %d are", len(c.asks.free))
	}
}

// TestALateAnswerWhileAskingBegins: a late answer to a PREPARE of ours comes while the connection takes its first read that may ask. What begins then is not
// the downward goroutine's to look at, as the race detector tells.
func TestALateAnswerWhileAskingBegins(t *testing.T) {
	s, err := New(Options{ContactPoints: []string{"127.0.0.1:1"}, Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	c := &conn{server: s}
	at, id, err := c.streams.alias()
	if err != nil {
		t.Fatal(err)
	}
	e := c.spares.take()
	e.replaces = &replacement{}
	at.pending = pending{stream: nobody, id: id, opcode: wire.OpPrepare, extra: e}
	at.claim()
	c.expire(at, at.Word())
	begun := make(chan struct{})
	go func() {
		defer close(begun)
		c.lend()
	}()
	verdict, _, err := c.late(wire.Header{Version: 4 | wire.ResponseBit, Stream: id, Opcode: wire.OpResult}, nil, true, at)
	<-begun
	if err != nil || verdict != pipe.Drop || at.Occupied() || len(c.asks.free) != maxAsks {
		t.Errorf("%v, %v; %d stream ids are for asking", verdict, err, len(c.asks.free))
	}
}
