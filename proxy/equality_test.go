package proxy_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/proxy/proxytest"
	"github.com/helenus-db/helenus/proxy/proxytest/fault"
	"github.com/helenus-db/helenus/proxy/wire"
)

// These tests play whole sessions, handshake included, through the proxy: recorded ones of real drivers with a real
// Cassandra (testdata/sessions, made by record_test.go) and ones that are written here. Each side knows every byte that it
// should receive. A session is chunks in the order in which they were said; a side says its next chunk when it has
// received all that was said before.

// chunk is what one side says before the other does.
type chunk struct {
	way fault.Way
	b   []byte
}

type session []chunk

// all returns everything that goes one way.
func (s session) all(way fault.Way) (b []byte) {
	for _, c := range s {
		if c.way == way {
			b = append(b, c.b...)
		}
	}
	return b
}

// said adds bytes to a session.
func (s session) said(way fault.Way, b []byte) session {
	if n := len(s); n > 0 && s[n-1].way == way {
		s[n-1].b = append(s[n-1].b, b...)
		return s
	}
	return append(s, chunk{way, bytes.Clone(b)})
}

// Encoded, a chunk is a byte for the way, four for the length, and its bytes.
func (s session) encode() (b []byte) {
	for _, c := range s {
		b = append(binary.BigEndian.AppendUint32(append(b, byte(c.way)), uint32(len(c.b))), c.b...)
	}
	return b
}

func decodeSession(b []byte) (s session, err error) {
	for len(b) > 0 {
		if len(b) < 5 || uint32(len(b)-5) < binary.BigEndian.Uint32(b[1:]) {
			return nil, io.ErrUnexpectedEOF
		}
		n := 5 + int(binary.BigEndian.Uint32(b[1:]))
		s, b = append(s, chunk{fault.Way(b[0]), b[5:n]}), b[n:]
	}
	return s, nil
}

// recorded are the sessions in testdata, by name.
func recorded(t *testing.T) map[string]session {
	t.Helper()
	names, err := filepath.Glob("testdata/sessions/*.session")
	if err != nil || len(names) < 3 {
		t.Fatalf("%d recorded sessions, %v", len(names), err)
	}
	list := make(map[string]session)
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := decodeSession(b)
		if err != nil || len(s) < 4 {
			t.Fatalf("%s: %d chunks, %v", name, len(s), err)
		}
		if s[0].b[4] == wire.OpOptions { // what is supported is the proxy's to change
			s = s[2:]
		}
		list[strings.TrimSuffix(filepath.Base(name), ".session")] = s
	}
	return list
}

// coding is how frames go on the wire after the handshake.
type coding struct {
	version     byte
	compression string
	encode      func(frames []byte) []byte
}

func plain(frames []byte) []byte    { return frames }
func segments(frames []byte) []byte { return wire.AppendFrames(nil, frames) }

var codings = []coding{{3, "", plain}, {4, "", plain}, {5, "", segments}}

func (c coding) String() string { return fmt.Sprintf("v%d%s", c.version, c.compression) }

// written is a short session with one of everything: a handshake, a PREPARE, two EXECUTEs at a time, an event between
// their answers, which come in the other order, and an error with a code that is not known.
func (c coding) written() session {
	frame := func(stream int16, opcode byte, body []byte) []byte {
		version := c.version
		switch opcode {
		case wire.OpReady, wire.OpResult, wire.OpError, wire.OpEvent:
			version |= wire.ResponseBit
		}
		return wire.AppendFrame(nil, wire.Header{Version: version, Stream: stream, Opcode: opcode}, body)
	}
	both := func(frames ...[]byte) []byte { return c.encode(bytes.Join(frames, nil)) }
	options := []string{"DRIVER_NAME", "test"}
	if c.compression != "" {
		options = append(options, "COMPRESSION", c.compression)
	}
	execute := proxytest.ExecuteBody(c.version, proxytest.PreparedID(readText), []byte("value"), nil)
	event := wire.AppendString(wire.AppendString(wire.AppendString(nil, "SCHEMA_CHANGE"), "CREATED"), "KEYSPACE")
	var s session
	s = s.said(fault.Up, frame(0, wire.OpStartup, startupBody(options...)))
	s = s.said(fault.Down, frame(0, wire.OpReady, nil))
	s = s.said(fault.Up, both(frame(1, wire.OpPrepare, proxytest.PrepareBody(c.version, readText))))
	s = s.said(fault.Down, both(frame(1, wire.OpResult, proxytest.PreparedBody(c.version, readText, columns, columns))))
	s = s.said(fault.Up, both(frame(2, wire.OpExecute, execute), frame(3, wire.OpExecute, execute)))
	s = s.said(fault.Down, both(frame(3, wire.OpResult, proxytest.RowsBody("k", "t", columns, nil))))
	s = s.said(fault.Down, both(frame(-1, wire.OpEvent, wire.AppendString(event, "k")), frame(2, wire.OpResult, wire.AppendInt(nil, wire.ResultVoid))))
	s = s.said(fault.Up, both(frame(0, wire.OpQuery, proxytest.QueryBody(c.version, "USE other"))))
	return s.said(fault.Down, both(frame(0, wire.OpError, wire.AppendError(nil, 0x1700, "unknown"))))
}

// random is a session of frames of all sorts, long ones among them.
func (c coding) random(seed int64) session {
	random := rand.New(rand.NewSource(seed))
	s := c.written()[:2]
	for stream := range 25 {
		for _, way := range []fault.Way{fault.Up, fault.Down} {
			h := wire.Header{Version: c.version, Stream: int16(stream), Opcode: 0x33}
			if way == fault.Down {
				h.Version, h.Opcode = h.Version|wire.ResponseBit, wire.OpResult
			} else if random.Intn(2) == 0 {
				h.Opcode = []byte{wire.OpExecute, wire.OpQuery, wire.OpBatch, wire.OpPrepare}[random.Intn(4)]
			}
			body := make([]byte, []int{0, 20, 300, 9000, 150_000}[random.Intn(5)]*(1+random.Intn(2)))
			random.Read(body[:len(body)/2])
			s = s.said(way, c.encode(wire.AppendFrame(nil, h, body)))
		}
	}
	return s
}

// cut is where a session ends early: a side's end, when so many bytes have passed that way.
type cut struct {
	way  fault.Way
	back bool // between proxy and Cassandra; else between client and proxy
	at   int
	end  fault.End
}

// stage is a proxy with a fault relay before it and, behind it, a server that plays the sessions.
type stage struct {
	proxy    *proxy.Server
	relay    *fault.Relay
	listener net.Listener
	control  string // address of the Cassandra of the control connection

	mu     sync.Mutex
	part   part // being played
	played chan played
}

// part is what the server's side plays.
type part struct {
	session session
	split   int
	cut     *cut
}

func (st *stage) set(p part) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.part = p
}

func (st *stage) current() part {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.part
}

// played is what a side received, and why it stopped.
type played struct {
	got []byte
	err error
}

func newStage(t *testing.T) *stage {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	st := &stage{listener: l, control: startMock(t, nil).Addr, played: make(chan played, 100)}
	ended := make(chan struct{})
	t.Cleanup(func() { l.Close(); <-ended })
	go func() { defer close(ended); st.serve() }()
	st.proxy = startProxy(t, nil, proxy.Options{ContactPoints: []string{l.Addr().String()}, Recorder: &tally{}, Rewriter: &scripted{}})
	await(t, st.proxy.Ready)
	if st.relay, err = fault.Start(st.proxy.Addrs()[0], fault.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(st.relay.Close)
	return st
}

func (st *stage) serve() {
	for {
		c, err := st.listener.Accept()
		if err != nil {
			return
		}
		in := bufio.NewReaderSize(c, 4096)
		_ = c.SetDeadline(time.Now().Add(proxytest.Patience))
		b, err := in.Peek(wire.HeaderSize)
		if err == nil {
			b, _ = in.Peek(wire.HeaderSize + min(wire.ParseHeader(b).Length, 1000))
		}
		if bytes.Contains(b, []byte("Helenus")) {
			_ = c.SetDeadline(time.Time{})
			go st.controlled(c, in)
			continue
		}
		go func() {
			defer c.Close()
			p := st.current()
			st.played <- p.session.play(c, in, fault.Down, p.split, p.cut)
		}()
	}
}

// controlled passes the control connection on to its Cassandra.
func (st *stage) controlled(c net.Conn, in io.Reader) {
	defer c.Close()
	to, err := net.Dial("tcp", st.control)
	if err != nil {
		return
	}
	defer to.Close()
	go func() { _, _ = io.Copy(to, in); to.Close() }()
	_, _ = io.Copy(c, to)
}

// play says one way's chunks and receives the other's. After the last it waits for the end of the stream. A cut by this
// side ends it, at the place that it names.
func (s session) play(c net.Conn, in io.Reader, way fault.Way, split int, x *cut) (p played) {
	const unlimited = 1 << 30
	sayLimit, hearLimit := unlimited, unlimited // bytes that may still be said, and received
	if x != nil && x.way == way {
		sayLimit = x.at
	} else if x != nil {
		hearLimit = x.at
	}
	over := func() played {
		t := c.(*net.TCPConn)
		if x.end == fault.Reset {
			_ = t.SetLinger(0)
			t.Close()
			return p
		}
		_ = t.CloseWrite()
		rest, err := io.ReadAll(in)
		p.got, p.err = append(p.got, rest...), err
		return p
	}
	for _, said := range s {
		b := said.b
		if said.way == way {
			cutHere := len(b) >= sayLimit
			b = b[:min(len(b), sayLimit)]
			sayLimit -= len(b)
			if p.err = pieces(c, b, split); p.err != nil {
				return p
			}
			if cutHere {
				return over()
			}
			continue
		}
		n := min(len(b), hearLimit)
		hearLimit -= n
		from := len(p.got)
		p.got = append(p.got, make([]byte, n)...)
		k, err := io.ReadFull(in, p.got[from:])
		p.got = p.got[:from+k]
		if p.err = err; err != nil {
			return p
		}
		if hearLimit == 0 {
			return over()
		}
	}
	if way == fault.Up {
		return p // the client ends a session
	}
	rest, err := io.ReadAll(in)
	p.got, p.err = append(p.got, rest...), err
	return p
}

// pieces writes b in pieces of n bytes; 0: at once.
func pieces(c net.Conn, b []byte, n int) error {
	if n == 0 {
		n = len(b)
	}
	for len(b) > 0 {
		k := min(n, len(b))
		if _, err := c.Write(b[:k]); err != nil {
			return err
		}
		b = b[k:]
	}
	return nil
}

// perform plays a session on both sides and returns what each received.
func (st *stage) perform(t *testing.T, s session, split int, x *cut) (client, server played) {
	t.Helper()
	p := part{session: s, split: split}
	if x != nil && x.back {
		p.cut = x
	}
	st.set(p)
	st.relay.Mend(fault.Up)
	st.relay.Mend(fault.Down)
	st.relay.Split(fault.Up, split)
	st.relay.Split(fault.Down, split)
	if x != nil && !x.back {
		st.relay.CutAfter(x.way, int64(x.at), x.end)
	}
	c, err := net.Dial("tcp", st.relay.Addr)
	if err != nil {
		if x == nil || x.at > 0 {
			t.Fatal(err)
		}
		return played{err: err}, played{}
	}
	_ = c.SetDeadline(time.Now().Add(proxytest.Patience))
	client = s.play(c, c, fault.Up, 0, nil)
	c.Close()
	select {
	case server = <-st.played:
	case <-time.After(proxytest.Patience):
		t.Fatalf("%+v: the server's side of the session is not closed", x)
	}
	return client, server
}

// splits are the pieces that a session comes in; a long one, only in those that do not take minutes.
func (s session) splits() []int {
	if len(s.all(fault.Up))+len(s.all(fault.Down)) > 20_000 {
		return []int{0, 1000, 4095, 50_000}
	}
	return []int{0, 1, 2, 3, 7, 64, 1000}
}

// TestSessionsPassUnchanged: without a rule, bytes out are bytes in, both ways, whatever pieces they come in.
func TestSessionsPassUnchanged(t *testing.T) {
	list := recorded(t)
	for _, c := range codings {
		list["written "+c.String()] = c.written()
		for seed := range int64(2) {
			list[fmt.Sprintf("random %s %d", c, seed)] = c.random(seed)
		}
	}
	st := newStage(t)
	for name, s := range list {
		for _, split := range s.splits() {
			client, server := st.perform(t, s, split, nil)
			if client.err != nil || server.err != nil {
				t.Fatalf("%s in pieces of %d: client %v, server %v", name, split, client.err, server.err)
			}
			if up, down := s.all(fault.Up), s.all(fault.Down); !bytes.Equal(server.got, up) || !bytes.Equal(client.got, down) {
				t.Fatalf("%s in pieces of %d: of %d bytes up and %d down other bytes came out (%d, %d)", name, split, len(up), len(down), len(server.got), len(client.got))
			}
		}
	}
	await(t, func() bool { return st.proxy.Stats().Connections == 0 })
}

// TestSessionsCutEverywhere ends sessions at every byte, on either side of the proxy, in good order and not. Nobody may be
// left waiting, and what was delivered until then is the beginning of what was said.
func TestSessionsCutEverywhere(t *testing.T) {
	step := 1
	if raced { // `make test` has a pass of its own without
		step = 7
	}
	for _, c := range codings {
		t.Run(c.String(), func(t *testing.T) {
			t.Parallel()
			cutEverywhere(t, c.written(), step)
		})
	}
	for name, s := range recorded(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cutEverywhere(t, s, 97)
		})
	}
}

func cutEverywhere(t *testing.T, s session, step int) {
	st := newStage(t)
	total := map[fault.Way][]byte{fault.Up: s.all(fault.Up), fault.Down: s.all(fault.Down)}
	for way, b := range total {
		for at := 1; at < len(b); at += step {
			// An end in good order is seen by the proxy if it comes from the side that says these bytes.
			cuts := []cut{{way, way == fault.Down, at, fault.Finish}, {way, at%2 == 0, at, fault.Reset}}
			for _, x := range cuts {
				client, server := st.perform(t, s, 0, &x)
				for _, p := range []played{client, server} {
					var e net.Error
					if errors.As(p.err, &e) && e.Timeout() {
						t.Fatalf("%+v: a side was left waiting: %v", x, p.err)
					}
				}
				if !bytes.HasPrefix(total[fault.Up], server.got) || !bytes.HasPrefix(total[fault.Down], client.got) {
					t.Fatalf("%+v: what was delivered is not what was said", x)
				}
			}
		}
	}
	await(t, func() bool { return st.proxy.Stats().Connections == 0 })
}
