package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"sync"
	"time"

	"github.com/datastax/go-cassandra-native-protocol/primitive"

	"github.com/helenus-db/helenus/internal/sleep"
	"github.com/helenus-db/helenus/rewrite/twintest"
)

// patient sends each statement until it is answered otherwise than by "not now".
type patient struct {
	w                 *world
	address, keyspace string
	conn              *twintest.Conn
	again             int // statements that were sent more than once
}

func newPatient(w *world, address, keyspace string) *patient {
	return &patient{w: w, address: address, keyspace: keyspace}
}

func (p *patient) close() {
	if p.conn != nil {
		p.conn.Close()
		p.conn = nil
	}
}

// answerWithin is how long an answer, and patience how long all attempts, may take.
const (
	answerWithin = 20 * time.Second
	patience     = 5 * time.Minute
)

// later are the errors after which a statement is sent again.
func later(c primitive.ErrorCode) bool { return c == 0 || c >= 0x1000 && c < 0x2000 }

// Do implements twintest.Doer.
func (p *patient) Do(s twintest.Statement) (a twintest.Answer, err error) {
	for begun, first := time.Now(), true; time.Since(begun) < patience; first = false {
		if !first {
			time.Sleep(100 * time.Millisecond)
		}
		if p.conn == nil {
			if p.conn, err = twintest.Dial(p.address, p.keyspace, answerWithin); err != nil {
				p.conn = nil
				continue // nothing was sent
			}
		}
		if a, err = p.conn.Do(s); err == nil && !later(a.Code) {
			return a, nil
		}
		p.again++
		if err != nil {
			p.close()
		}
	}
	return a, fmt.Errorf("%s: not answered for %s: %w %s", s, patience, err, a.Message)
}

// writer writes rooms of its own, form by form, to both keyspaces, and takes part in what is contended.
type writer struct {
	w               *world
	n               int
	random          *rand.Rand
	through, direct *twintest.Side
	app, twin       *patient
	beside          *patient // straight to the keyspace that is written through Helenus
	leftOut         map[string]bool
	made            map[string]bool
}

func newWriter(w *world, n int) *writer {
	a := &writer{w: w, n: n, random: rand.New(rand.NewPCG(w.seed, uint64(100+n))), //nolint:gosec // seeded on purpose
		app: newPatient(w, w.through, keyspace), twin: newPatient(w, w.direct, twin), beside: newPatient(w, w.direct, keyspace), leftOut: map[string]bool{}, made: map[string]bool{}}
	a.through, a.direct = twintest.NewSide(a.app), twintest.NewSide(a.twin)
	return a
}

func (a *writer) work(ctx context.Context) {
	defer a.beside.close()
	forms := append(twintest.Forms(), twintest.Refusals()...)
	for i := 0; ctx.Err() == nil; i++ {
		f := forms[a.random.IntN(len(forms))]
		var err error
		if i%3 == 0 {
			err = a.contend()
		} else {
			err = a.form(f, fmt.Sprintf("w%d %d %s", a.n, i, f.Name))
		}
		if err != nil {
			a.w.counts.wrong.Add(1)
			a.w.note("writer %d: %v", a.n, err)
		}
	}
}

// form has one form written, and own values read between its statements.
func (a *writer) form(f twintest.Form, room string) error {
	a.made[room] = f.Made
	// A client's clock an hour behind or ahead, or none: which of its writes wins is then no matter of milliseconds.
	away := []time.Duration{-time.Hour, time.Hour, 0}[a.random.IntN(3)]
	at := max(time.Now().Add(away).UnixMicro(), 0)
	g := &twintest.Gen{Room: room, Guest: room + " ", Stamps: away != 0, Now: func() int64 { at += 7; return at }}
	for i, s := range f.Sequence(g) {
		before := a.app.again + a.twin.again
		got, err := a.through.Run(room, s)
		if err != nil {
			return err
		}
		want, err := a.direct.Run(room, s)
		if err != nil {
			return err
		}
		a.w.counts.statements.Add(1)
		if want.Refused() {
			a.w.counts.refused.Add(1)
		}
		switch again := a.app.again+a.twin.again > before; {
		case again:
			a.w.counts.again.Add(1)
			if f.Once {
				a.leftOut[room] = true
			}
		case got.Code != want.Code || !f.Made && !reflect.DeepEqual(got.Rows, want.Rows):
			a.w.counts.wrong.Add(1)
			a.w.note("%s: statement %d, %.200s, was answered by %v %s %q, without Helenus by %v %s %q", room, i+1, s, got.Code, got.Message, got.Rows, want.Code, want.Message, want.Rows)
		}
		if a.random.IntN(2) == 0 {
			if err := a.read(room, a.random.IntN(4)); err != nil {
				return err
			}
		}
	}
	return a.read(room, 0)
}

// read reads a value that only this room has, both ways. Nobody else writes it, so the answers are the same.
func (a *writer) read(room string, n int) error {
	l := twintest.LookUps[0]
	if a.random.IntN(4) == 0 {
		l = twintest.LookUps[2]
	}
	s := twintest.Statement{Way: twintest.Execute, Text: l.Text, Values: []twintest.Value{twintest.Text(fmt.Sprint(room, " ", n+1))}}
	got, err := a.app.Do(s)
	if err != nil {
		return err
	}
	want, err := a.beside.Do(s)
	if err != nil {
		return err
	}
	a.w.counts.compared.Add(1)
	if got.Code != want.Code || fmt.Sprint(got.Rows) != fmt.Sprint(want.Rows) {
		a.w.counts.wrong.Add(1)
		a.w.note("%s: %s for %d: %d rows (%v %s), of the base %d: %q, %q", room, l.Text, n+1, len(got.Rows), got.Code, got.Message, len(want.Rows), got.Rows, want.Rows)
	}
	return nil
}

// The contended rooms: writers change them all at once, each statement with a timestamp of its own, so that the outcome does not
// depend on who came first.
const (
	contendedRooms  = 40
	contendedGuests = 10
)

// contended counts, room by room, the writes begun and ended.
type contended struct {
	mu     sync.Mutex
	stamp  int64
	begun  [contendedRooms]int
	ended  [contendedRooms]int
	jitter int64
}

func (c *contended) begin(room int) (timestamp int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.begun[room]++
	c.stamp = max(c.stamp+1, time.Now().UnixMicro())
	c.jitter = (c.jitter*5 + 3) % 4001
	return c.stamp - c.jitter*500 // up to two seconds late
}

func (c *contended) end(room int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended[room]++
}

// quiet are the rooms that nobody writes now, by how many writes they have seen.
func (c *contended) quiet() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	rooms := map[string]int{}
	for i := range c.begun {
		if c.begun[i] == c.ended[i] {
			rooms[contendedRoom(i)] = c.begun[i]
		}
	}
	return rooms
}

func contendedRoom(i int) string  { return fmt.Sprint("contended ", i) }
func contendedGuest(i int) string { return fmt.Sprint("hot ", i) }

// contend writes a contended row on both sides.
func (a *writer) contend() error {
	n := a.random.IntN(contendedRooms)
	room, row := twintest.Text(contendedRoom(n)), twintest.Int(a.random.IntN(2))
	guest := twintest.Text(contendedGuest(a.random.IntN(contendedGuests)))
	const where = " WHERE room = ? AND day = 1 AND n = ?"
	var s twintest.Statement
	switch a.random.IntN(7) {
	case 0:
		s = twintest.Statement{Text: "DELETE FROM @.stays" + where, Values: []twintest.Value{room, row}}
	case 1:
		s = twintest.Statement{Text: "DELETE guest FROM @.stays" + where, Values: []twintest.Value{room, row}}
	case 2:
		s = twintest.Statement{Text: "DELETE FROM @.stays WHERE room = ?", Values: []twintest.Value{room}}
	case 3:
		s = twintest.Statement{Text: "UPDATE @.stays SET note = ?" + where, Values: []twintest.Value{guest, room, row}}
	case 4:
		s = twintest.Statement{Text: "INSERT INTO @.stays (room, day, n, guest, note) VALUES (?, 1, ?, ?, 'hot')", Values: []twintest.Value{room, row, guest}}
	default:
		s = twintest.Statement{Text: "UPDATE @.stays SET guest = ?" + where, Values: []twintest.Value{guest, room, row}}
	}
	s.Way = twintest.Execute
	s.At = a.w.contended.begin(n)
	defer a.w.contended.end(n)
	before := a.app.again
	for _, side := range []twintest.Doer{a.app, a.twin} {
		if got, err := side.Do(s); err != nil || got.Failed() {
			return fmt.Errorf("%s: %w %s", s, err, got.Message)
		}
	}
	if a.app.again > before {
		a.w.counts.again.Add(1)
	}
	a.w.counts.statements.Add(1)
	return nil
}

// reader reads contended values both ways.
type reader struct {
	w           *world
	random      *rand.Rand
	app, beside *patient
}

func newReader(w *world, n int) *reader {
	return &reader{w: w, random: rand.New(rand.NewPCG(w.seed, uint64(200+n))), app: newPatient(w, w.through, keyspace), beside: newPatient(w, w.direct, keyspace)} //nolint:gosec // seeded on purpose
}

func (r *reader) work(ctx context.Context) {
	defer r.app.close()
	defer r.beside.close()
	for ctx.Err() == nil {
		s := twintest.Statement{Way: twintest.Execute, Text: twintest.LookUps[0].Text, Values: []twintest.Value{twintest.Text(contendedGuest(r.random.IntN(contendedGuests)))}}
		before := r.w.contended.quiet()
		got, err := r.app.Do(s)
		if err != nil {
			r.w.note("a reader: %v", err)
			continue
		}
		want, err := r.beside.Do(s)
		if err != nil {
			r.w.note("a reader: %v", err)
			continue
		}
		after := r.w.contended.quiet()
		still := func(rows [][][]byte) (out []string) {
			for _, row := range rows {
				if n, quiet := before[string(row[0])]; quiet && after[string(row[0])] == n && n > 0 {
					out = append(out, fmt.Sprintf("%q", row))
				}
			}
			return out
		}
		r.w.counts.compared.Add(1)
		if g, w := still(got.Rows), still(want.Rows); got.Code != want.Code || fmt.Sprint(g) != fmt.Sprint(w) {
			r.w.counts.wrong.Add(1)
			r.w.note("%s: %s (%v %s), of the base %s", s.Values[0].Contents, g, got.Code, got.Message, w)
		}
		_ = sleep.For(ctx, 20*time.Millisecond)
	}
}
