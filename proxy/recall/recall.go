// Package recall asks a node which statements it holds prepared, and what it answers to their PREPAREs, so that a proxy that
// was started anew knows the ids that its clients still use. It imports proxy/message, statement and wire. A Resolver
// decides what is asked for, and when (resolver.go).
//
// Cassandra keeps the texts in system.prepared_statements, each node its own. A session of this package is a short connection
// that reads them by pages, or one by its id, and prepares each again, which the node answers from its cache: the id, the bind variables and
// the result columns. It speaks version 5 where it can, whose answers say the most (an id of the result columns, a keyspace
// of its own per PREPARE), else version 4, where it says USE before.
//
// Thin: it authenticates by a user and a password only, and what it dials is the caller's business.
package recall

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	native "github.com/datastax/go-cassandra-native-protocol/message"

	"github.com/helenus-db/helenus/proxy/message"
	"github.com/helenus-db/helenus/proxy/wire"
)

// Statement is one that a node holds prepared.
type Statement struct {
	ID       string // as the node keeps it; its answer may give another, which names the same
	Keyspace string // in use when it was prepared, "" for none
	Text     string
	Version  byte   // of the protocol, of Answer
	Answer   []byte // RESULT Prepared after its kind
}

// Options say how to reach a node.
type Options struct {
	Dial               func(ctx context.Context, address string) (net.Conn, error)
	Username, Password string // if Cassandra asks
	Most               int    // statements that All reads; default 10,000
}

// Bounds.
const (
	most      = 10_000
	page      = 500
	atOnce    = 16 // PREPAREs in flight
	maxAnswer = 64 << 20
	patience  = 10 * time.Second // for one answer
)

// All calls f with each statement that the node at address holds, up to Options.Most; those that it can not prepare any
// more (their table is gone) are left out.
func All(ctx context.Context, o Options, address string, f func(Statement)) error {
	s, err := connect(ctx, o, address)
	if err != nil {
		return err
	}
	defer s.close()
	left := o.Most
	if left <= 0 {
		left = most
	}
	for state := []byte(nil); left > 0; {
		var list []Statement
		if list, state, err = s.read("SELECT prepared_id, logged_keyspace, query_string FROM system.prepared_statements", state); err != nil {
			return err
		}
		list = list[:min(left, len(list))]
		left -= len(list)
		if err := s.prepare(list, f); err != nil {
			return err
		}
		if len(state) == 0 {
			break
		}
	}
	return nil
}

// Some is All for a few ids.
func Some(ctx context.Context, o Options, address string, ids []string, f func(Statement)) error {
	s, err := connect(ctx, o, address)
	if err != nil {
		return err
	}
	defer s.close()
	for _, id := range ids {
		list, _, err := s.read(fmt.Sprintf("SELECT prepared_id, logged_keyspace, query_string FROM system.prepared_statements WHERE prepared_id = 0x%x", id), nil)
		if err == nil {
			err = s.prepare(list, f)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// session is one connection.
type session struct {
	conn     net.Conn
	stop     func() bool
	in       *bufio.Reader
	version  byte
	segments bool
	inner    bytes.Buffer // content of segments
	keyspace string       // version 4: in use
}

// connect tries version 5, then 4.
func connect(ctx context.Context, o Options, address string) (*session, error) {
	var errs []error
	for _, version := range []byte{5, 4} {
		conn, err := o.Dial(ctx, address)
		if err != nil {
			return nil, errors.Join(append(errs, err)...)
		}
		s := &session{conn: conn, in: bufio.NewReader(conn), version: version}
		s.stop = context.AfterFunc(ctx, func() { conn.Close() })
		if err = s.handshake(o); err == nil {
			return s, nil
		}
		s.close()
		errs = append(errs, err)
	}
	return nil, fmt.Errorf("asking %s for its prepared statements: %w", address, errors.Join(errs...))
}

func (s *session) close() {
	s.stop()
	s.conn.Close()
}

func (s *session) handshake(o Options) error {
	h, _, err := s.ask(message.Startup())
	if err != nil {
		return err
	}
	s.segments = s.version >= 5
	if h.Opcode == wire.OpAuthenticate {
		if h, _, err = s.ask(message.Password(o.Username, o.Password)); err != nil {
			return err
		}
		if h.Opcode != wire.OpAuthSuccess {
			return fmt.Errorf("Cassandra wants more than a user and a password (opcode %#x after them)", h.Opcode) //nolint:revive,staticcheck // a name
		}
	}
	return nil
}

// failure is an ERROR.
type failure struct {
	code    int32
	message string
}

func (e *failure) Error() string {
	return fmt.Sprintf("Cassandra answered error %#04x: %s", e.code, e.message)
}

// ask sends one request and returns its answer's header and body, without what the header's flags put before it. An ERROR is returned
// as a failure.
func (s *session) ask(m native.Message) (wire.Header, wire.Reader, error) {
	if err := s.send(message.Append(nil, s.version, 0, m)); err != nil {
		return wire.Header{}, wire.Reader{}, err
	}
	return s.answer()
}

func (s *session) send(frames []byte) error {
	if s.segments {
		frames = wire.AppendFrames(nil, frames)
	}
	_ = s.conn.SetDeadline(time.Now().Add(patience))
	_, err := s.conn.Write(frames)
	return err
}

func (s *session) answer() (wire.Header, wire.Reader, error) {
	_ = s.conn.SetDeadline(time.Now().Add(patience))
	for {
		head, err := s.take(wire.HeaderSize)
		if err != nil {
			return wire.Header{}, wire.Reader{}, err
		}
		h := wire.ParseHeader(head)
		if h.Version&wire.ResponseBit == 0 || h.Length > maxAnswer {
			return h, wire.Reader{}, fmt.Errorf("what answers is not Cassandra: a frame of version byte %#x and %d bytes", h.Version, h.Length)
		}
		body, err := s.take(h.Length)
		if err != nil {
			return h, wire.Reader{}, err
		}
		if h.Stream < 0 {
			continue // an event
		}
		r := wire.NewReader(body)
		r.SkipResponsePrefix(h.Flags)
		if h.Opcode == wire.OpError {
			code := r.Int()
			return h, r, &failure{code, string(r.String())}
		}
		return h, r, nil
	}
}

// take returns the next n bytes of the stream of frames. It makes no more room than for twice what came.
func (s *session) take(n int) ([]byte, error) {
	if !s.segments {
		var b bytes.Buffer
		if m, err := io.CopyN(&b, s.in, int64(n)); err != nil {
			return nil, fmt.Errorf("%d of %d bytes: %w", m, n, err)
		}
		return b.Bytes(), nil
	}
	for s.inner.Len() < n {
		head := make([]byte, wire.SegmentHeaderSize)
		if _, err := io.ReadFull(s.in, head); err != nil {
			return nil, err
		}
		length, _, err := wire.ParseSegmentHeader(head)
		if err != nil {
			return nil, err
		}
		segment := append(head, make([]byte, length+wire.SegmentTrailerSize)...)
		if _, err := io.ReadFull(s.in, segment[wire.SegmentHeaderSize:]); err != nil {
			return nil, err
		}
		payload, err := wire.SegmentPayload(segment)
		if err != nil {
			return nil, err
		}
		s.inner.Write(payload)
	}
	return bytes.Clone(s.inner.Next(n)), nil
}

// read returns a page of system.prepared_statements, and the state that the next begins with.
func (s *session) read(text string, state []byte) ([]Statement, []byte, error) {
	h, r, err := s.ask(message.Page(text, page, state))
	if err != nil {
		return nil, nil, err
	}
	if h.Opcode != wire.OpResult || r.Int() != wire.ResultRows {
		return nil, nil, nil
	}
	return readRows(r)
}

// readRows reads the content of a RESULT Rows about system.prepared_statements, after its kind.
func readRows(r wire.Reader) ([]Statement, []byte, error) {
	m := wire.ReadMetadata(&r)
	var columns []string
	wire.Columns(&r, m, func(name []byte) { columns = append(columns, string(name)) })
	var list []Statement
	for n := r.Int(); n > 0 && !r.Bad() && len(columns) > 0; n-- {
		var one Statement
		for _, column := range columns {
			cell := string(r.Bytes())
			switch column {
			case "prepared_id":
				one.ID = cell
			case "logged_keyspace":
				one.Keyspace = cell
			case "query_string":
				one.Text = cell
			}
		}
		if one.ID != "" && one.Text != "" {
			list = append(list, one)
		}
	}
	if r.Bad() {
		return nil, nil, errors.New("the answer about system.prepared_statements can not be read")
	}
	return list, bytes.Clone(m.PagingState), nil
}

// prepare prepares statements, several at a time.
func (s *session) prepare(list []Statement, f func(Statement)) error {
	for len(list) > 0 {
		n := 1
		for n < min(atOnce, len(list)) && (s.version >= 5 || list[n].Keyspace == list[0].Keyspace) {
			n++
		}
		if s.version < 5 {
			if gone, err := s.use(list[0].Keyspace); err != nil {
				return err
			} else if gone {
				list = list[n:]
				continue
			}
		}
		var frames []byte
		for i, one := range list[:n] {
			frames = message.Append(frames, s.version, int16(i), message.Prepare(one.Text, one.Keyspace))
		}
		if err := s.send(frames); err != nil {
			return err
		}
		for range n {
			h, r, err := s.answer()
			refused := (*failure)(nil)
			switch {
			case errors.As(err, &refused):
				continue
			case err != nil:
				return err
			case h.Opcode != wire.OpResult || r.Int() != wire.ResultPrepared || int(h.Stream) >= n:
				continue
			}
			one := list[h.Stream]
			one.Version, one.Answer = s.version, r.Rest()
			f(one)
		}
		list = list[n:]
	}
	return nil
}

// use says USE, unless it has. gone tells that there is no such keyspace. Nothing undoes a USE, so statements that were prepared
// without a keyspace meet the one before; they name theirs, or they could not have been prepared.
func (s *session) use(keyspace string) (gone bool, err error) {
	if keyspace == "" || keyspace == s.keyspace {
		return false, nil
	}
	_, _, err = s.ask(message.Query(`USE "` + strings.ReplaceAll(keyspace, `"`, `""`) + `"`))
	if refused := (*failure)(nil); errors.As(err, &refused) {
		return true, nil
	}
	if err == nil {
		s.keyspace = keyspace
	}
	return false, err
}
