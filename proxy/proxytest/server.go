// Package proxytest is a Cassandra for tests: a server in the same process that speaks the native protocol (versions 3
// to 5, segments and compression included) and answers as its handler says, and a client that sends frames as they are.
// Both compress what can be, once STARTUP asked for it. It imports proxy/wire and proxy/compress.
//
// Thin: no storage. What a statement returns is the handler's business. Authentication is a handler before another
// (auth.go).
package proxytest

import (
	"bytes"
	"crypto/md5" // #nosec G501 -- prepared ids, as Cassandra makes them
	"crypto/tls"
	"net"
	"strings"
	"sync"

	"github.com/helenus-db/helenus/proxy/wire"
)

// Handler answers a request by calling Reply (from any goroutine, or never). It runs on the connection's goroutine.
type Handler func(r *Request)

// Request is a request that came.
type Request struct {
	Header wire.Header
	Body   []byte
	Conn   *Conn
}

// Text returns the text of a QUERY or a PREPARE, "" for others.
func (r *Request) Text() string {
	if r.Header.Opcode != wire.OpQuery && r.Header.Opcode != wire.OpPrepare {
		return ""
	}
	b := wire.NewReader(r.Body)
	b.SkipRequestPrefix(r.Header.Flags)
	return string(b.LongString())
}

// Reply answers with a message.
func (r *Request) Reply(opcode byte, body []byte) { r.ReplyFlags(opcode, 0, body) }

// ReplyFlags answers with a message under header flags.
func (r *Request) ReplyFlags(opcode, flags byte, body []byte) {
	r.Conn.Send(wire.AppendFrame(nil, wire.Header{Version: r.Header.Version | wire.ResponseBit, Flags: flags,
		Stream: r.Header.Stream, Opcode: opcode}, body))
}

// Welcome answers a STARTUP, by READY or AUTHENTICATE, and goes on as agreed.
func (r *Request) Welcome(opcode byte, body []byte) {
	r.Reply(opcode, body)
	r.Conn.Agree(r.Header.Version)
}

// Conn is a client's connection.
type Conn struct {
	server  *Server
	mu      sync.Mutex
	c       net.Conn
	framing Framing // from now on

	received    bytes.Buffer
	driver      string
	compression string
}

// Received returns all bytes that came on the connection so far.
func (c *Conn) Received() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return bytes.Clone(c.received.Bytes())
}

// TLS returns how the connection is secured; nil for a plain one, or before its handshake.
func (c *Conn) TLS() *tls.ConnectionState {
	t, ok := c.c.(*tls.Conn)
	if !ok {
		return nil
	}
	state := t.ConnectionState()
	if !state.HandshakeComplete {
		return nil
	}
	return &state
}

// Driver returns what STARTUP gave as DRIVER_NAME; the proxy's control connection says "Helenus".
func (c *Conn) Driver() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.driver
}

// Read reads from the socket and keeps what came.
func (c *Conn) Read(b []byte) (int, error) {
	n, err := c.c.Read(b)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.server.Keep {
		c.received.Write(b[:n])
	}
	return n, err
}

func (c *Conn) startup(body []byte) {
	r := wire.NewReader(body)
	r.StringMap(func(key, value []byte) {
		c.mu.Lock()
		defer c.mu.Unlock()
		switch strings.ToUpper(string(key)) {
		case "DRIVER_NAME":
			c.driver = string(value)
		case "COMPRESSION":
			c.compression = string(value)
		}
	})
}

// Compression returns what STARTUP asked for, "" for nothing.
func (c *Conn) Compression() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.compression
}

// Agree makes the connection go on as STARTUP asked for. Default calls it after READY.
func (c *Conn) Agree(version byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.framing = Agreed(version, c.compression)
}

// Send sends one frame, compressed and in segments if the connection uses them. Errors close the connection.
func (c *Conn) Send(frame []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := c.c.Write(c.framing.Append(nil, frame)); err != nil {
		c.c.Close()
	}
}

// SendRaw sends bytes as they are.
func (c *Conn) SendRaw(b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := c.c.Write(b); err != nil {
		c.c.Close()
	}
}

// Socket is the connection itself.
func (c *Conn) Socket() net.Conn { return c.c }

// Close cuts the connection.
func (c *Conn) Close() { c.c.Close() }

// Server is a listening mock.
type Server struct {
	Addr string // host:port
	Keep bool   // keep what is received; set before the first connection

	handler  Handler
	listener net.Listener
	work     sync.WaitGroup
	mu       sync.Mutex
	conns    map[*Conn]struct{}
}

// Start listens on a free port of 127.0.0.1. handler may be nil: [Default].
func Start(handler Handler) (*Server, error) { return StartAt("127.0.0.1:0", handler) }

// StartAt is Start on an address.
func StartAt(address string, handler Handler) (*Server, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	return serve(l, handler), nil
}

// StartTLS is Start of one that speaks TLS.
func StartTLS(config *tls.Config, handler Handler) (*Server, error) {
	l, err := tls.Listen("tcp", "127.0.0.1:0", config)
	if err != nil {
		return nil, err
	}
	return serve(l, handler), nil
}

func serve(l net.Listener, handler Handler) *Server {
	if handler == nil {
		handler = Default
	}
	s := &Server{Addr: l.Addr().String(), handler: handler, listener: l, conns: make(map[*Conn]struct{})}
	s.work.Add(1)
	go func() {
		defer s.work.Done()
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			conn := &Conn{server: s, c: c}
			s.mu.Lock()
			s.conns[conn] = struct{}{}
			s.mu.Unlock()
			s.work.Add(1)
			go func() {
				defer s.work.Done()
				s.serve(conn)
			}()
		}
	}()
	return s
}

// Close stops listening and cuts every connection.
func (s *Server) Close() {
	s.listener.Close()
	s.Cut()
	s.work.Wait()
}

// Cut cuts every connection there is; new ones are accepted.
func (s *Server) Cut() {
	for _, c := range s.Conns() {
		c.Close()
	}
}

// Conns returns the connections there are.
func (s *Server) Conns() []*Conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []*Conn
	for c := range s.conns {
		list = append(list, c)
	}
	return list
}

// Event sends an EVENT message to every connection.
func (s *Server) Event(body []byte) {
	for _, c := range s.Conns() {
		c.Send(wire.AppendFrame(nil, wire.Header{Version: 4 | wire.ResponseBit, Stream: -1, Opcode: wire.OpEvent}, body))
	}
}

func (s *Server) serve(c *Conn) {
	defer func() {
		c.c.Close()
		s.mu.Lock()
		delete(s.conns, c)
		s.mu.Unlock()
	}()
	in := newFrames(c)
	for {
		h, body, err := in.next()
		if err != nil {
			return
		}
		if h.Opcode == wire.OpStartup {
			c.startup(body)
		}
		s.handler(&Request{Header: h, Body: body, Conn: c})
		c.mu.Lock()
		in.framing = c.framing
		c.mu.Unlock()
	}
}

// Default answers as a Cassandra with one node and no tables would: READY, empty results, prepared ids.
func Default(r *Request) {
	switch r.Header.Opcode {
	case wire.OpOptions:
		r.Reply(wire.OpSupported, SupportedBody)
	case wire.OpStartup:
		r.Welcome(wire.OpReady, nil)
	case wire.OpRegister:
		r.Reply(wire.OpReady, nil)
	case wire.OpPrepare:
		r.Reply(wire.OpResult, PreparedBody(r.Header.Version, r.Text(), nil, nil))
	case wire.OpQuery:
		text := strings.ToLower(r.Text())
		switch {
		case strings.HasPrefix(text, "use "):
			r.Reply(wire.OpResult, wire.AppendString(wire.AppendInt(nil, wire.ResultSetKeyspace), r.Text()[4:]))
		case strings.Contains(text, "system.local"):
			r.Reply(wire.OpResult, LocalBody(r.Conn.c.LocalAddr()))
		case strings.Contains(text, "system.peers"):
			r.Reply(wire.OpResult, RowsBody("system", "peers_v2", peersColumns, nil))
		default:
			r.Reply(wire.OpResult, wire.AppendInt(nil, wire.ResultVoid))
		}
	case wire.OpExecute, wire.OpBatch:
		r.Reply(wire.OpResult, wire.AppendInt(nil, wire.ResultVoid))
	default:
		r.Reply(wire.OpError, wire.AppendError(nil, wire.ErrProtocol, "unknown opcode"))
	}
}

// SupportedBody is what Default answers to OPTIONS.
var SupportedBody = func() []byte {
	b := wire.AppendShort(nil, 2)
	b = wire.AppendShort(wire.AppendString(b, "COMPRESSION"), 2)
	b = wire.AppendString(wire.AppendString(b, "snappy"), "lz4")
	b = wire.AppendShort(wire.AppendString(b, "CQL_VERSION"), 1)
	return wire.AppendString(b, "3.4.7")
}()

// Column is a column of a result, or a variable: its name and its type's code (plain types).
type Column struct {
	Name string
	Type uint16
}

var localColumns = []Column{{"key", 13}, {"rpc_address", 16}, {"rpc_port", 9}, {"data_center", 13}, {"rack", 13},
	{"host_id", 12}, {"release_version", 13}}

var peersColumns = []Column{{"peer", 16}, {"native_address", 16}, {"native_port", 9}, {"data_center", 13}, {"rack", 13},
	{"host_id", 12}, {"release_version", 13}}

// LocalBody is a RESULT Rows of system.local for a node at address.
func LocalBody(address net.Addr) []byte {
	a := address.(*net.TCPAddr)
	return RowsBody("system", "local", localColumns, [][][]byte{{[]byte("local"), a.IP.To4(),
		wire.AppendInt(nil, int32(a.Port)), []byte("dc1"), []byte("rack1"), hostID(a), []byte("5.0.8")}})
}

// PeersBody is a RESULT Rows of system.peers_v2 for nodes at the addresses.
func PeersBody(addresses ...net.Addr) []byte {
	var rows [][][]byte
	for _, address := range addresses {
		a := address.(*net.TCPAddr)
		rows = append(rows, [][]byte{a.IP.To4(), a.IP.To4(), wire.AppendInt(nil, int32(a.Port)), []byte("dc1"), []byte("rack1"),
			hostID(a), []byte("5.0.8")})
	}
	return RowsBody("system", "peers_v2", peersColumns, rows)
}

func hostID(a *net.TCPAddr) []byte {
	id := md5.Sum([]byte(a.String())) // #nosec G401 -- a name
	return id[:]
}

// MetadataBytes is result metadata of columns of one table.
func MetadataBytes(keyspace, table string, columns []Column) []byte {
	b := wire.AppendInt(wire.AppendInt(nil, wire.MetaGlobalTable), int32(len(columns)))
	return appendColumns(b, keyspace, table, columns)
}

func appendColumns(b []byte, keyspace, table string, columns []Column) []byte {
	b = wire.AppendString(wire.AppendString(b, keyspace), table)
	for _, c := range columns {
		b = wire.AppendShort(wire.AppendString(b, c.Name), c.Type)
	}
	return b
}

// RowsBody is a RESULT Rows with metadata.
func RowsBody(keyspace, table string, columns []Column, rows [][][]byte) []byte {
	return wire.AppendRows(nil, MetadataBytes(keyspace, table, columns), rows)
}

// PreparedID is the id that PreparedBody gives a text.
func PreparedID(text string) []byte {
	id := md5.Sum([]byte(text)) // #nosec G401 -- as Cassandra makes them
	return id[:]
}

// PreparedBody is a RESULT Prepared for a statement on table t of keyspace k.
func PreparedBody(version byte, text string, variables, results []Column) []byte {
	b := wire.AppendString(wire.AppendInt(nil, wire.ResultPrepared), string(PreparedID(text)))
	if version >= 5 {
		b = wire.AppendString(b, "metadata-id")
	}
	b = wire.AppendInt(wire.AppendInt(b, wire.MetaGlobalTable), int32(len(variables)))
	if version >= 4 {
		if len(variables) > 0 {
			b = wire.AppendShort(wire.AppendInt(b, 1), 0)
		} else {
			b = wire.AppendInt(b, 0)
		}
	}
	b = appendColumns(b, "k", "t", variables)
	if results == nil {
		return wire.AppendNoMetadata(b, 0)
	}
	return append(b, MetadataBytes("k", "t", results)...)
}
