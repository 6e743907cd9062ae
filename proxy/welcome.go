package proxy

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/netip"
	"time"

	"github.com/helenus-db/helenus/internal/guard"
	"github.com/helenus-db/helenus/proxy/ledger"
	"github.com/helenus-db/helenus/proxy/limit"
	"github.com/helenus-db/helenus/proxy/tcp"
	"github.com/helenus-db/helenus/proxy/wire"
)

// A client that may not come in is told why, if it asks: its first request is answered Overloaded in the protocol version
// that it speaks, and its connection closed. Cassandra just closes; but a driver can say nothing of a connection that
// closes, and the person who has to find out which limit it was can read an error. No node is dialled for it. Telling takes a
// goroutine and a socket for as long as the client likes, so it is done for few at a time, for a short time, and the others'
// connections are closed at once: a flood is not given more than its limit by way of being refused.

// maxAway is how many clients are told at a time that they may not come in.
const maxAway = 64

// welcome counts a client in; nil and the reason if it may not come in, no reason if the server is closed.
func (s *Server) welcome(g *gate, front net.Conn) (*limit.Guest, string) {
	s.lookAfter(front)
	guest := s.guests.Join(addressOf(front.RemoteAddr()))
	s.mu.Lock()
	defer s.mu.Unlock()
	refusal := ""
	switch {
	case s.closed:
		s.ledger.Turn(g.place(), ledger.Drained)
	case guest == nil:
		refusal = fmt.Sprintf("your address has %d connections to this proxy, as many as max-connections-per-client allows",
			s.options.MaxConnectionsPerClient)
	case len(s.fronts) >= s.options.MaxConnections:
		refusal = fmt.Sprintf("this proxy has %d connections, as many as max-connections allows", s.options.MaxConnections)
	default:
		s.fronts[front] = struct{}{}
		s.work.Add(1)
		return guest, ""
	}
	if guest != nil {
		guest.Leave()
	}
	if refusal != "" {
		s.ledger.Turn(g.place(), ledger.Refused)
	}
	return nil, refusal
}

func addressOf(a net.Addr) netip.Addr {
	if t, ok := a.(*net.TCPAddr); ok {
		return t.AddrPort().Addr()
	}
	return netip.Addr{}
}

// lookAfter makes the system look after a peer. A socket that has ended already does not want to.
func (s *Server) lookAfter(c net.Conn) {
	if err := tcp.Watch(c, s.options.KeepAlive); err != nil {
		s.log.Debug("keep-alive not set", "peer", c.RemoteAddr().String(), "error", err)
	}
}

func (s *Server) leave(front net.Conn, guest *limit.Guest) {
	guest.Leave()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.fronts, front)
}

// turnAway closes a connection that was not welcome, after telling why if there is a reason and somebody free to.
func (s *Server) turnAway(front net.Conn, refusal string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if refusal == "" || s.closed || len(s.away) >= maxAway {
		front.Close()
		return
	}
	s.away[front] = struct{}{}
	guard.In(&s.work, guard.Relay, func() {
		c := front
		if f := s.options.Front; f != nil {
			c = tls.Server(front, f) // the handshake is part of the time that there is
		}
		explain(c, refusal)
		front.Close()
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.away, front)
	})
}

// explain answers a client's first request with an error, and waits a little until it has gone.
func explain(front net.Conn, refusal string) {
	_ = front.SetDeadline(time.Now().Add(farewell))
	head := make([]byte, wire.HeaderSize)
	if _, err := io.ReadFull(front, head); err != nil {
		return
	}
	h := wire.ParseHeader(head)
	if h.Length > maxUnauthenticated {
		return
	}
	if _, err := io.CopyN(io.Discard, front, int64(h.Length)); err != nil {
		return
	}
	if !wire.Supported(h.Version) {
		h.Version = wire.MaxVersion
	}
	h = wire.Header{Version: h.Version | wire.ResponseBit, Stream: h.Stream, Opcode: wire.OpError}
	if _, err := front.Write(wire.AppendFrame(nil, h, wire.AppendError(nil, wire.ErrOverloaded, refusal))); err != nil {
		return
	}
	hearOut(front)
}
