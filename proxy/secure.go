package proxy

import (
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"github.com/helenus-db/helenus/proxy/fleet"
	"github.com/helenus-db/helenus/proxy/ledger"
	"github.com/helenus-db/helenus/proxy/wire"
)

// The TLS handshake of a client runs on the connection's own goroutine, under Options.HandshakeTimeout, which it shares
// with what follows, and before Cassandra is dialled: who can not show what is asked for costs Cassandra nothing. What
// the handshake found out is in Client.TLS.

// handshakeRecord is the first byte of a TLS client, where CQL has its version.
const handshakeRecord = 0x16

// secure performs the client's TLS handshake, if the listeners speak TLS.
func (c *conn) secure() error {
	s := c.server
	if s.options.Front == nil {
		return nil
	}
	raw := c.front
	_ = raw.SetDeadline(time.Now().Add(s.options.HandshakeTimeout))
	secured := tls.Server(raw, s.options.Front)
	if err := secured.Handshake(); err != nil {
		var record tls.RecordHeaderError
		var timeout net.Error
		switch {
		case errors.As(err, &record) && record.Conn != nil && fleet.Asks(record.RecordHeader):
			c.sheet.Because(ledger.Client)
			refusePlain(raw, record.RecordHeader)
			return errors.New("another member asked whether this one answers")
		case errors.As(err, &record) && record.Conn != nil && isCQL(record.RecordHeader):
			c.sheet.Because(ledger.WithoutTLS)
			s.warn("a client speaks CQL without TLS to a listener that asks for it: switch TLS on in its driver", c)
			refusePlain(raw, record.RecordHeader)
			return errors.New("the client speaks CQL without TLS")
		case errors.As(err, &timeout) && timeout.Timeout():
			c.sheet.Because(ledger.Unfinished)
		default:
			c.sheet.Because(ledger.Untrusted)
		}
		return fmt.Errorf("TLS handshake with the client: %w", err)
	}
	_ = raw.SetDeadline(time.Time{})
	c.front = secured
	state := secured.ConnectionState()
	found := &TLS{Version: tls.VersionName(state.Version), Cipher: tls.CipherSuiteName(state.CipherSuite), Resumed: state.DidResume}
	if len(state.PeerCertificates) > 0 {
		found.Peer = state.PeerCertificates[0].Subject.String()
	}
	c.amend(func(n *Client) { n.TLS = found })
	return nil
}

// isCQL tells whether the first bytes of a client are those of a CQL request: version, flags, stream, opcode.
func isCQL(b [5]byte) bool {
	return b[0] >= 1 && b[0] <= wire.MaxVersion+1 && (b[4] == wire.OpStartup || b[4] == wire.OpOptions)
}

// refusePlain answers the request that began with these bytes, in its own language, so that the driver can say why.
func refusePlain(raw net.Conn, b [5]byte) {
	h := wire.Header{Version: b[0] | wire.ResponseBit, Stream: int16(binary.BigEndian.Uint16(b[2:4])), Opcode: wire.OpError}
	if !wire.Supported(b[0]) {
		h.Version = wire.MaxVersion | wire.ResponseBit
	}
	_ = raw.SetDeadline(time.Now().Add(farewell))
	if _, err := raw.Write(wire.AppendFrame(nil, h, wire.AppendError(nil, wire.ErrProtocol,
		"this port speaks TLS only: switch TLS on in the driver"))); err == nil {
		hearOut(raw)
	}
}

// unexpectedTLS refuses a client that speaks TLS where it is not spoken. The answer is CQL, at which every TLS library
// says that the other end speaks no TLS.
func (c *conn) unexpectedTLS() error {
	c.server.stats.withTLS.Add(1)
	c.server.warn("a client speaks TLS to a listener that does not: switch TLS off in its driver, or give Helenus a certificate (listen-tls-cert)", c)
	return &protocolError{version: wire.MaxVersion, code: wire.ErrProtocol, reason: ledger.TLS,
		message: "this port does not speak TLS, and a TLS handshake came"}
}

// warn tells the operator of a client that is configured wrongly, but not of each of its attempts.
func (s *Server) warn(message string, c *conn) {
	if s.warned.due(s.now()) {
		s.log.Warn(message, "client", c.client.Load().Address, "listen", c.front.LocalAddr().String())
	}
}

// rarely is due once a minute.
type rarely struct{ next atomic.Int64 }

func (r *rarely) due(now int64) bool {
	next := r.next.Load()
	return now >= next && r.next.CompareAndSwap(next, now+int64(time.Minute))
}
