package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/helenus-db/helenus/proxy/wire"
)

// requests are those that came to Cassandra: EXECUTE, QUERY and BATCH, each counted once.
type requests struct {
	Reads  int `json:"reads"`
	Writes int `json:"writes"`
}

func (r requests) since(before requests) requests {
	return requests{r.Reads - before.Reads, r.Writes - before.Writes}
}

func (r requests) all() int { return r.Reads + r.Writes }

// mode is what a relay does with answers.
type mode int

const (
	passing mode = iota
	recording
	replaying
)

// relay passes frames on to Cassandra and counts them. Statements on system tables are nobody's operation, and not counted.
type relay struct {
	listener net.Listener
	target   string
	work     sync.WaitGroup

	mu      sync.Mutex
	conns   map[net.Conn]bool
	texts   map[string]string // of what was prepared, by id
	counted requests
	last    time.Time // when a request came last, counted or replayed
	mode    mode
	answers map[string][]byte // RESULT bodies; see key
	strange error             // why counts can not be relied on
}

// startRelay listens at an address and relays to target.
func startRelay(address, target string) (*relay, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("the relay before Cassandra: %w", err)
	}
	r := &relay{listener: l, target: target, conns: map[net.Conn]bool{}, texts: map[string]string{}, answers: map[string][]byte{}, last: time.Now()}
	r.work.Go(func() {
		for {
			front, err := l.Accept()
			if err != nil {
				return
			}
			r.work.Go(func() { r.serve(front) })
		}
	})
	return r, nil
}

func (r *relay) close() {
	r.listener.Close()
	r.mu.Lock()
	for c := range r.conns {
		c.Close()
	}
	r.mu.Unlock()
	r.work.Wait()
}

// count is what was counted so far. The error says why it means nothing.
func (r *relay) count() (requests, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.counted, r.strange
}

func (r *relay) set(m mode) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mode = m
}

// rest waits until no request has come for a while, and returns when the last one came. What never rests is an error.
func (r *relay) rest(ctx context.Context, quiet time.Duration) (time.Time, error) {
	const patience = time.Minute
	for begun := time.Now(); time.Since(begun) < patience; {
		r.mu.Lock()
		last := r.last
		r.mu.Unlock()
		left := quiet - time.Since(last)
		if left <= 0 {
			return last, nil
		}
		select {
		case <-ctx.Done():
			return last, ctx.Err()
		case <-time.After(left):
		}
	}
	return time.Time{}, fmt.Errorf("requests to Cassandra did not rest for %v within %v", quiet, patience)
}

// link is one connection through the relay.
type link struct {
	relay *relay
	up    *bufio.Writer

	mu      sync.Mutex // of down and waiting
	down    *bufio.Writer
	waiting map[int16]waiting
}

// waiting is a request whose answer will be looked at.
type waiting struct {
	prepare string // its text
	key     string // where its answer is to be kept
}

func (r *relay) serve(front net.Conn) {
	defer front.Close()
	back, err := net.Dial("tcp", r.target)
	if err != nil {
		return
	}
	defer back.Close()
	r.mu.Lock()
	r.conns[front], r.conns[back] = true, true
	r.mu.Unlock()
	l := &link{relay: r, up: bufio.NewWriter(back), down: bufio.NewWriter(front), waiting: map[int16]waiting{}}
	var both sync.WaitGroup
	for _, way := range []struct {
		from, to net.Conn
		frame    func(wire.Header, []byte, bool) error
	}{{front, back, l.request}, {back, front, l.answer}} {
		both.Go(func() {
			err := frames(way.from, way.frame)
			way.from.Close()
			way.to.Close()
			if strange := (*strangeError)(nil); errors.As(err, &strange) {
				r.mu.Lock()
				r.strange = strange
				r.mu.Unlock()
			}
		})
	}
	both.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.conns, front)
	delete(r.conns, back)
}

// strangeError is a frame that can not be read.
type strangeError struct{ why string }

func (e *strangeError) Error() string {
	return "Helenus speaks to Cassandra in a way that the relay can not count: " + e.why
}

// frames reads frames and hands each over, header included, valid during the call; more tells that another is there already.
func frames(from net.Conn, frame func(h wire.Header, frame []byte, more bool) error) error {
	in := bufio.NewReaderSize(from, 1<<16)
	var b []byte
	for {
		head, err := in.Peek(wire.HeaderSize)
		if err != nil {
			return err
		}
		h := wire.ParseHeader(head)
		if h.Length < 0 || h.Length > 1<<28 {
			return &strangeError{fmt.Sprintf("a frame of %d bytes", h.Length)}
		}
		if n := wire.HeaderSize + h.Length; cap(b) < n {
			b = make([]byte, n)
		} else {
			b = b[:n]
		}
		if _, err := io.ReadFull(in, b); err != nil {
			return err
		}
		if err := frame(h, b, in.Buffered() >= wire.HeaderSize); err != nil {
			return err
		}
	}
}

func send(w *bufio.Writer, frame []byte, more bool) error {
	if _, err := w.Write(frame); err != nil {
		return err
	}
	if more {
		return nil
	}
	return w.Flush()
}

// The flag of a frame whose body is compressed, and the newest version whose frames are not in segments.
const (
	compressed = 0x01
	newest     = 4
)

// request counts a request and passes it on, or answers it.
func (l *link) request(h wire.Header, frame []byte, more bool) error {
	body := frame[wire.HeaderSize:]
	switch {
	case h.Opcode == wire.OpStartup && h.Version > newest:
		return &strangeError{fmt.Sprintf("protocol version %d", h.Version)}
	case h.Flags&compressed != 0:
		return &strangeError{"compression"}
	}
	answer, w, err := l.relay.note(h, body)
	if err != nil {
		return err
	}
	op := wire.OpResult
	if asksForOthers(h, body) {
		op, answer = wire.OpError, wire.AppendError(nil, unauthorized, "the relay shows no client to another")
	}
	if answer != nil {
		reply := wire.AppendFrame(nil, wire.Header{Version: h.Version | wire.ResponseBit, Stream: h.Stream, Opcode: op}, answer)
		l.mu.Lock()
		defer l.mu.Unlock()
		return errors.Join(send(l.down, reply, more), flush(l.up, more))
	}
	if w != (waiting{}) {
		l.mu.Lock()
		l.waiting[h.Stream] = w
		l.mu.Unlock()
	}
	if err := send(l.up, frame, more); err != nil || more {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.down.Flush() // replies that waited for this frame
}

const unauthorized = 0x2100

// asksForOthers reports whether somebody asks who else is connected. The two processes must not see each other: either would, rightly, turn its reads back,
// as the other writes past it. To tables without a change alone, so nothing is missed.
func asksForOthers(h wire.Header, body []byte) bool {
	if h.Opcode != wire.OpPrepare && h.Opcode != wire.OpQuery {
		return false
	}
	in := wire.NewReader(body)
	in.SkipRequestPrefix(h.Flags)
	return bytes.Contains(in.LongString(), []byte("system_views.clients"))
}

func flush(w *bufio.Writer, more bool) error {
	if more {
		return nil
	}
	return w.Flush()
}

// answer passes an answer on and takes from it what somebody waits for.
func (l *link) answer(h wire.Header, frame []byte, more bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w, ok := l.waiting[h.Stream]; ok {
		delete(l.waiting, h.Stream)
		if h.Opcode == wire.OpResult {
			l.relay.learn(h, frame[wire.HeaderSize:], w)
		}
	}
	return send(l.down, frame, more)
}

// note counts a request. It returns the answer to give at once, if there is one, and what its own answer is wanted for.
func (r *relay) note(h wire.Header, body []byte) (answer []byte, w waiting, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	in := wire.NewReader(body)
	in.SkipRequestPrefix(h.Flags)
	switch h.Opcode {
	case wire.OpPrepare:
		return nil, waiting{prepare: string(in.LongString())}, nil
	case wire.OpQuery:
		r.add(string(in.LongString()))
	case wire.OpBatch:
		r.add("BATCH")
	case wire.OpExecute:
		id := string(in.String())
		text, ok := r.texts[id]
		if !ok {
			return nil, w, &strangeError{"a statement that was prepared before the relay began"}
		}
		r.add(text)
		if r.mode == passing {
			return nil, w, nil
		}
		key := key(h, body, id, text)
		if r.mode == recording {
			return nil, waiting{key: key}, nil
		}
		return r.answers[key], w, nil
	}
	return nil, w, nil
}

var (
	ofSystem = regexp.MustCompile(`(?i)\bsystem(_\w+)?\s*\.`)
	isRead   = regexp.MustCompile(`(?i)^\s*SELECT\b`)
)

func (r *relay) add(text string) {
	switch {
	case ofSystem.MatchString(text):
		return
	case isRead.MatchString(text):
		r.counted.Reads++
	default:
		r.counted.Writes++
	}
	r.last = time.Now()
}

// key names the answer to an EXECUTE: all writes of a statement are answered alike, reads by their values.
func key(h wire.Header, body []byte, id, text string) string {
	var k strings.Builder
	k.WriteString(id)
	if !isRead.MatchString(text) {
		return k.String()
	}
	var q wire.View
	if q.See(h, body); q.Whole() {
		q.Values(body, func(_, value []byte, n int32) { fmt.Fprintf(&k, " %d:%x", n, value) })
	}
	return k.String()
}

// learn takes what an answer was waited for.
func (r *relay) learn(h wire.Header, body []byte, w waiting) {
	in := wire.NewReader(body)
	in.SkipResponsePrefix(h.Flags)
	r.mu.Lock()
	defer r.mu.Unlock()
	if w.prepare == "" {
		r.answers[w.key] = append([]byte(nil), in.Rest()...)
		return
	}
	if in.Int() == wire.ResultPrepared {
		r.texts[string(in.String())] = w.prepare
	}
}
