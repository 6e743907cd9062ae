// Package control is the proxy's own connection to Cassandra: it reads who is in the cluster, hears what changes, and comes
// back by itself when it is cut. It imports proxy/wire and proxy/certs.
//
// It speaks protocol version 4, which every Cassandra from 2.2 on does, over TLS if it is given a configuration, and
// authenticates by a user and a password of its own (SASL PLAIN). Other mechanisms it does not have, and says so; those of
// clients pass through the relay.
package control

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	native "github.com/datastax/go-cassandra-native-protocol/message"

	"github.com/helenus-db/helenus/proxy/certs"
	"github.com/helenus-db/helenus/proxy/message"
	"github.com/helenus-db/helenus/proxy/wire"
)

// Kind is what an Event is about.
type Kind string

// Kinds of events.
const (
	// Connected: the control connection is up, again or for the first time. Whatever happened before may have been
	// missed: read anew what you keep.
	Connected Kind = "connected"
	// Schema: Change is CREATED, UPDATED or DROPPED; Table is "" for a keyspace (or for a type, function, ...).
	Schema Kind = "schema"
	// Topology: Change is NEW_NODE, REMOVED_NODE or MOVED_NODE.
	Topology Kind = "topology"
	// Status: Change is UP or DOWN.
	Status Kind = "status"
)

// Event is something that Cassandra told the control connection.
type Event struct {
	Kind     Kind
	Change   string
	Keyspace string // schema
	Table    string // schema, if it is about a table
	Address  string // topology, status: the node, host:port
}

// Node is a Cassandra node.
type Node struct {
	Address    string // for clients, host:port
	Reached    string // where the control connection reached it, host:port, "" if it did not: a port mapping may hide Address
	HostID     string // 32 hexadecimal digits
	DataCenter string
	Rack       string
	Version    string // of Cassandra
	Peer       string // its address among the nodes, without a port
	Schema     string // version of the schema that it has, 32 hexadecimal digits
}

// Times of the control connection.
const (
	controlTimeout = 10 * time.Second // for one answer
	heartbeat      = 30 * time.Second // an OPTIONS when nothing was heard for so long
	firstBackoff   = 250 * time.Millisecond
	lastBackoff    = 5 * time.Second // a reconnect is cheap, and readiness and schema events wait for it
)

// After the connection is made, and after an event about a node, the nodes are read again after these times, as their
// rows may come, and go, seconds after the event; and then every lookAgain.
var rereads = []time.Duration{time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second}

const lookAgain = time.Minute

// Options configure a Connection.
type Options struct {
	ContactPoints      []string // host:port, tried in order
	Username, Password string   // if Cassandra asks
	DialTimeout        time.Duration
	TLS                func(host string) *tls.Config // nil: none
	Member             string                        // said in STARTUP as wire.MemberOption; "": not
	Log                *slog.Logger
	// OnNodes is told the cluster's nodes, the one connected to first, the others by address, whenever they were read.
	OnNodes func([]Node)
	// OnEvent is told what happens, after OnNodes was told what it changed. Both may be nil, and run on the goroutine of
	// Run.
	OnEvent func(Event)
	// FollowSchema reads the nodes anew when the schema changed, too: their schema versions are shown to clients.
	FollowSchema bool
}

// Connection is the control connection. Its zero value is not usable.
type Connection struct {
	options Options
	up      atomic.Bool

	mu    sync.Mutex
	nodes []Node
	why   error // what the last attempt ended with
}

// New returns a Connection; Run connects it.
func New(o Options) *Connection { return &Connection{options: o} }

// Up tells whether the connection stands.
func (k *Connection) Up() bool { return k.up.Load() }

// Why says why the connection does not stand; "" if it does, or no attempt has ended yet.
func (k *Connection) Why() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.why == nil || k.Up() {
		return ""
	}
	return k.why.Error()
}

func (k *Connection) failed(why error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.why = why
}

// Nodes returns the cluster's nodes as last read, sorted by address.
func (k *Connection) Nodes() []Node {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.nodes)
}

// Run keeps the connection until ctx ends.
func (k *Connection) Run(ctx context.Context) {
	wait := firstBackoff
	for ctx.Err() == nil {
		for _, point := range k.points() {
			err := k.session(ctx, point)
			if ctx.Err() != nil {
				break
			}
			k.failed(err)
			if k.up.Swap(false) {
				wait = firstBackoff
			}
			k.options.Log.Error("the control connection to Cassandra is down: trying again", "address", point, "error", err, "wait", wait)
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
		wait = min(2*wait, lastBackoff)
	}
	k.up.Store(false)
}

// points are the addresses to try: the contact points, then the nodes that they once told of.
func (k *Connection) points() []string {
	points := slices.Clone(k.options.ContactPoints)
	for _, n := range k.Nodes() {
		if !slices.Contains(points, n.Address) {
			points = append(points, n.Address)
		}
	}
	return points
}

// session is one socket's lifetime.
type session struct {
	conn   net.Conn
	events []Event   // that came while an answer was awaited
	since  time.Time // when the last event about a node came, or the session began
	reread int       // how many of the rereads after it are done
}

// due is when the nodes are to be read again.
func (c *session) due() time.Time {
	if c.reread < len(rereads) {
		return c.since.Add(rereads[c.reread])
	}
	return c.since.Add(rereads[len(rereads)-1] + time.Duration(c.reread-len(rereads)+1)*lookAgain)
}

func (k *Connection) session(ctx context.Context, point string) error {
	d := certs.Dialer{TLS: k.options.TLS, Timeout: k.options.DialTimeout}
	conn, err := d.Dial(ctx, point)
	if err != nil {
		return err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	c := &session{conn: conn, since: time.Now()}
	if err := c.handshake(k.options); err != nil {
		return err
	}
	if err := c.register(); err != nil {
		return err
	}
	if err := k.refresh(c); err != nil {
		return err
	}
	k.up.Store(true)
	k.options.Log.Info("connected to Cassandra", "address", point, "nodes", len(k.Nodes()))
	k.tell(Event{Kind: Connected})
	for {
		if err := k.deliver(c); err != nil {
			return err
		}
		wait := time.Until(c.due())
		if wait <= 0 {
			c.reread++
			if err := k.refresh(c); err != nil {
				return err
			}
			continue
		}
		_ = conn.SetReadDeadline(time.Now().Add(min(wait, heartbeat)))
		h, body, err := c.read()
		switch timeout := net.Error(nil); {
		case err == nil:
			c.note(h, body)
		case errors.As(err, &timeout) && timeout.Timeout():
			if wait <= heartbeat {
				continue // the reading of the nodes is as good a heartbeat
			}
			if _, _, err := c.ask(message.Options()); err != nil {
				return err
			}
		default:
			return err
		}
	}
}

// deliver tells the events that came; after changes of the topology the nodes are read anew first.
func (k *Connection) deliver(c *session) error {
	for len(c.events) > 0 {
		events := c.events
		c.events = nil
		node := slices.ContainsFunc(events, func(e Event) bool { return e.Kind != Schema })
		if node {
			c.since, c.reread = time.Now(), 0
		}
		if node || k.options.FollowSchema {
			if err := k.refresh(c); err != nil {
				return err
			}
		}
		for _, e := range events {
			k.tell(e)
		}
	}
	return nil
}

func (k *Connection) tell(e Event) {
	if f := k.options.OnEvent; f != nil {
		f(e)
	}
}

// refresh reads the cluster's nodes.
func (k *Connection) refresh(c *session) error {
	first, others, err := c.nodes()
	if err != nil {
		return err
	}
	byAddress := func(a, b Node) int { return strings.Compare(a.Address, b.Address) }
	slices.SortFunc(others, byAddress)
	all := append(first, others...)
	if f := k.options.OnNodes; f != nil {
		f(slices.Clone(all))
	}
	slices.SortFunc(all, byAddress)
	k.mu.Lock()
	k.nodes = all
	k.mu.Unlock()
	return nil
}

// nodes reads the node that is asked, and those that it lists.
func (c *session) nodes() (first, others []Node, err error) {
	remote, _ := netip.ParseAddrPort(c.conn.RemoteAddr().String())
	local, err := c.query("SELECT * FROM system.local")
	if err != nil {
		return nil, nil, fmt.Errorf("reading system.local: %w", err)
	}
	for _, row := range local {
		n := nodeOf(row, "broadcast_address", "rpc_address", "rpc_port", remote)
		n.Reached = HostPort(remote.Addr(), int(remote.Port()))
		first = append(first, n)
	}
	peers, err := c.query("SELECT * FROM system.peers_v2")
	address, port := "native_address", "native_port"
	if err != nil { // Cassandra before 4.0
		address, port = "rpc_address", ""
		if peers, err = c.query("SELECT * FROM system.peers"); err != nil {
			return nil, nil, fmt.Errorf("reading system.peers: %w", err)
		}
	}
	for _, row := range peers {
		if len(row[address]) > 0 && len(row["host_id"]) > 0 { // half-written rows of nodes that left have neither
			others = append(others, nodeOf(row, "peer", address, port, remote))
		}
	}
	return first, others, nil
}

func nodeOf(row map[string][]byte, peer, address, port string, remote netip.AddrPort) Node {
	ip, ok := netip.AddrFromSlice(row[address])
	if !ok || ip.IsUnspecified() {
		ip = remote.Addr()
	}
	// system.local of Cassandra before 4.0 and system.peers do not say the port: it is the same on every node then.
	number := int(remote.Port())
	if p := row[port]; len(p) == 4 {
		number = int(binary.BigEndian.Uint32(p))
	}
	among := ""
	if a, ok := netip.AddrFromSlice(row[peer]); ok {
		among = a.Unmap().String()
	}
	return Node{Peer: among, Schema: fmt.Sprintf("%x", row["schema_version"]), Address: HostPort(ip, number), HostID: fmt.Sprintf("%x", row["host_id"]),
		DataCenter: string(row["data_center"]), Rack: string(row["rack"]), Version: string(row["release_version"])}
}

// handshake begins the protocol, and authenticates.
func (c *session) handshake(o Options) error {
	var said []string
	if o.Member != "" {
		said = []string{wire.MemberOption, o.Member}
	}
	opcode, answer, err := c.ask(message.Startup(said...))
	if err != nil {
		return beginning(err, o.TLS != nil)
	}
	if opcode == wire.OpAuthenticate {
		r := wire.NewReader(answer)
		if err := c.authenticate(o, string(r.String())); err != nil {
			return err
		}
	}
	return nil
}

// register asks for all events.
func (c *session) register() error {
	_, _, err := c.ask(message.Register())
	return err
}

// authenticate says user and password. mechanism is the class that Cassandra authenticates by.
func (c *session) authenticate(o Options, mechanism string) error {
	if o.Username == "" {
		return fmt.Errorf("Cassandra asks the proxy to authenticate (%s): give it a user and a password for its control connection (settings username, HELENUS_PASSWORD)", mechanism) //nolint:revive,staticcheck // a name
	}
	opcode, _, err := c.ask(message.Password(o.Username, o.Password))
	switch {
	case err != nil && o.Password == "":
		return fmt.Errorf("authenticating as %q, without a password, for none was given (HELENUS_PASSWORD): %w", o.Username, err)
	case err != nil:
		return fmt.Errorf("authenticating as %q: %w", o.Username, err)
	case opcode != wire.OpAuthSuccess:
		return fmt.Errorf("Cassandra authenticates by %s, which wants more than a user and a password (opcode %#x after them), and Helenus's "+ //nolint:revive,staticcheck // a name
			"own connections have nothing else: give it a role that may log in by password (clients' own mechanisms pass through)", mechanism, opcode)
	}
	return nil
}

// alertRecord begins what a server that speaks TLS may answer to one that does not.
const alertRecord = 0x15

// errTLS is what is wrong when an alert comes.
var errTLS = errors.New("it speaks TLS there")

// beginning explains why there was no answer to the first request.
func beginning(err error, secure bool) error {
	cut := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET)
	switch {
	case secure:
		return certs.Explain(err)
	case errors.Is(err, errTLS):
		return fmt.Errorf("%w: set cassandra-tls", err)
	case cut:
		return fmt.Errorf("the first request was not answered: %w: does Cassandra ask for TLS there? Then set cassandra-tls", err)
	}
	return err
}

// ask sends a request and returns its answer; events that come before it are kept. An ERROR is returned as an error.
func (c *session) ask(m native.Message) (byte, []byte, error) {
	_ = c.conn.SetDeadline(time.Now().Add(controlTimeout))
	defer func() { _ = c.conn.SetDeadline(time.Time{}) }()
	if _, err := c.conn.Write(message.Append(nil, 4, 0, m)); err != nil {
		return 0, nil, err
	}
	for {
		h, body, err := c.read()
		if err != nil {
			return 0, nil, err
		}
		if h.Stream < 0 {
			c.note(h, body)
			continue
		}
		r := wire.NewReader(body)
		r.SkipResponsePrefix(h.Flags)
		if h.Opcode == wire.OpError {
			code := r.Int()
			return 0, nil, fmt.Errorf("Cassandra answered error %#04x: %s", code, r.String()) //nolint:revive,staticcheck // a name
		}
		return h.Opcode, r.Rest(), nil
	}
}

// maxControlAnswer bounds an answer on the control connection, bytes.
const maxControlAnswer = 64 << 20

func (c *session) read() (wire.Header, []byte, error) {
	var head [wire.HeaderSize]byte
	if n, err := io.ReadFull(c.conn, head[:]); err != nil {
		if n > 0 && head[0] == alertRecord { // shorter than a frame's header
			return wire.Header{}, nil, errTLS
		}
		if n > 0 { // not a silence that a heartbeat could end
			err = fmt.Errorf("a frame was cut short: %w", io.ErrUnexpectedEOF)
		}
		return wire.Header{}, nil, err
	}
	h := wire.ParseHeader(head[:])
	if head[0] == alertRecord {
		return h, nil, errTLS
	}
	if h.Length > maxControlAnswer || h.Version != 4|wire.ResponseBit {
		return h, nil, fmt.Errorf("what answers is not Cassandra: a frame of version byte %#x and %d bytes", h.Version, h.Length)
	}
	body := make([]byte, h.Length)
	if _, err := io.ReadFull(c.conn, body); err != nil {
		return h, nil, fmt.Errorf("a frame was cut short: %w", io.ErrUnexpectedEOF)
	}
	return h, body, nil
}

// query returns the rows of a statement, by column name.
func (c *session) query(text string) ([]map[string][]byte, error) {
	_, answer, err := c.ask(message.Query(text))
	if err != nil {
		return nil, err
	}
	r := wire.NewReader(answer)
	r.Int()
	m := wire.ReadMetadata(&r)
	var columns []string
	wire.Columns(&r, m, func(name []byte) { columns = append(columns, string(name)) })
	var rows []map[string][]byte
	for n := r.Int(); n > 0 && !r.Bad(); n-- {
		row := make(map[string][]byte, len(columns))
		for _, column := range columns {
			row[column] = r.Bytes()
		}
		rows = append(rows, row)
	}
	if r.Bad() {
		return nil, fmt.Errorf("the answer to %q can not be read", text)
	}
	return rows, nil
}

// note keeps an event.
func (c *session) note(h wire.Header, body []byte) {
	if h.Opcode != wire.OpEvent {
		return
	}
	r := wire.NewReader(body)
	r.SkipResponsePrefix(h.Flags)
	kind := string(r.String())
	e := Event{Change: string(r.String())}
	switch kind {
	case "SCHEMA_CHANGE":
		e.Kind = Schema
		target := string(r.String())
		e.Keyspace = string(r.String())
		if target == "TABLE" {
			e.Table = string(r.String())
		}
	case "STATUS_CHANGE", "TOPOLOGY_CHANGE":
		e.Kind = Status
		if kind == "TOPOLOGY_CHANGE" {
			e.Kind = Topology
		}
		ip, _ := netip.AddrFromSlice(r.Take(int(r.Byte())))
		e.Address = HostPort(ip, int(r.Int()))
	default:
		return
	}
	if !r.Bad() {
		c.events = append(c.events, e)
	}
}

// Target is where to connect to the node, host:port.
func (n Node) Target() string {
	if n.Reached != "" {
		return n.Reached
	}
	return n.Address
}

// HostPort writes an address as Node.Address does.
func HostPort(ip netip.Addr, port int) string {
	return net.JoinHostPort(ip.Unmap().String(), strconv.Itoa(port))
}
