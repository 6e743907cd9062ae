package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocql/gocql"
)

// Many answers can be checked only by what was written, not by asking Cassandra for each twice more. Here each row has one writer, which writes it through one member and then another, whole, one
// write after the other, each with a number. So for an answer it is known of each row between which writes it was asked: it has the customer and the number of one of these, or is lawfully
// not in the answer because one of these gave it to another customer or removed it. A write whose outcome is not known is the last of its row: what it wrote may be there from then on, or not.
// Rows that many write at a time are checked by compare, against Cassandra's own answers.

// register is one row, and what was written to it.
type register struct {
	day, number int
	written     []string // customers by the number of the write; "": it was removed, or was never there
	answered    int      // the number of the last write that was answered: what is there is that, or a later one
}

// registers are all rows that have one writer.
type registers struct {
	mu   sync.Mutex
	rows []*register
	at   map[[2]int]*register
}

const (
	writers      = 8
	rowsEach     = 40 // of a writer
	heldBy       = 60 // customers that the rows are given to in turn
	firstNumber  = 1_000_000
	askingAtOnce = 4 // readers of a member
)

func holder(i int) string { return fmt.Sprint("held ", i) }

// begin adds a row that nobody has written.
func (g *registers) begin() *register {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := firstNumber + len(g.rows)
	r := &register{day: n % days, number: n, written: []string{""}}
	if g.at == nil {
		g.at = map[[2]int]*register{}
	}
	g.rows, g.at[[2]int{r.day, r.number}] = append(g.rows, r), r
	return r
}

// send notes a write before it is sent.
func (g *registers) send(r *register, who string) (n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	r.written = append(r.written, who)
	return len(r.written) - 1
}

func (g *registers) answer(r *register, n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	r.answered = n
}

// now is what is known of each row when an answer is asked for.
func (g *registers) now() (answered []int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	answered = make([]int, len(g.rows))
	for i, r := range g.rows {
		answered[i] = r.answered
	}
	return answered
}

// heldRow is a row of an answer.
type heldRow struct {
	day, number int
	total       int
}

// judge says what is wrong about an answer for a customer, asked for when the registers were as given; "" if it may be.
func (g *registers) judge(before []int, who string, rows []heldRow) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	in := map[*register]int{}
	for _, f := range rows {
		r := g.at[[2]int{f.day, f.number}]
		if r == nil {
			return fmt.Sprintf("%s: %d/%d, which nobody wrote", who, f.day, f.number)
		}
		if _, twice := in[r]; twice {
			return fmt.Sprintf("%s: %d/%d twice", who, f.day, f.number)
		}
		in[r] = f.total
	}
	for i, r := range g.rows {
		first := 0
		if i < len(before) {
			first = before[i]
		}
		may := r.written[first:]
		n, there := in[r]
		switch {
		case there && (n < first || n >= len(r.written) || r.written[n] != who):
			return fmt.Sprintf("%s: %d/%d as write %d has it; it may be as writes %d to %d, which gave it to %q", who, r.day, r.number, n, first, len(r.written)-1, may)
		case !there && !slices.ContainsFunc(may, func(x string) bool { return x != who }):
			return fmt.Sprintf("%s: %d/%d is missing; writes %d to %d gave it to %q", who, r.day, r.number, first, len(r.written)-1, may)
		}
	}
	return ""
}

// held asks a session for the rows of a customer.
func (s *shop) held(through *gocql.Session, who string) (rows []heldRow, err error) {
	var f heldRow
	iter := through.Query(s.byCustomer(), who).Iter()
	for iter.Scan(&f.day, &f.number, &f.total) {
		rows = append(rows, f)
	}
	return rows, iter.Close()
}

// hand writes a row whole, in one of the forms that a client may send it.
func (s *shop) hand(through *gocql.Session, r *register, who string, n, form int) error {
	switch {
	case who == "":
		return through.Query("DELETE FROM "+s.table()+" WHERE day = ? AND number = ?", r.day, r.number).Exec()
	case form == 0:
		return through.Query("INSERT INTO "+s.table()+" (day, number, customer, total) VALUES (?, ?, ?, ?)", r.day, r.number, who, n).Exec()
	case form == 1:
		b := through.NewBatch(gocql.LoggedBatch)
		b.Query("UPDATE "+s.table()+" SET customer = ?, total = ? WHERE day = ? AND number = ?", who, n, r.day, r.number)
		return through.ExecuteBatch(b)
	case form == 2:
		return through.Query(fmt.Sprintf("UPDATE %s SET customer = '%s', total = %d WHERE day = %d AND number = %d", s.table(), who, n, r.day, r.number)).Exec()
	}
	return through.Query("UPDATE "+s.table()+" SET customer = ?, total = ? WHERE day = ? AND number = ?", who, n, r.day, r.number).Exec()
}

// client is a connection through a member, which comes back when the member does.
type client struct {
	address string
	session *gocql.Session
	tried   time.Time
}

// there returns its session, nil if there is none now.
func (c *client) there() *gocql.Session {
	if c.session == nil && time.Since(c.tried) > 200*time.Millisecond {
		c.tried = time.Now()
		if s, err := openSession(c.address); err == nil {
			s.SetConsistency(gocql.LocalQuorum)
			c.session = s
		}
	}
	return c.session
}

func (c *client) failed(err error) {
	if errors.Is(err, gocql.ErrNoConnections) || errors.Is(err, gocql.ErrSessionClosed) { // the driver has given its one host up
		c.close()
	}
}

func (c *client) close() {
	if c.session != nil {
		c.session.Close()
		c.session = nil
	}
}

// checked is what became of the answers that registers check.
type checked struct {
	compared, written, unknown atomic.Int64
	mu                         sync.Mutex
	wrong                      []string
}

// String says how many there were.
func (c *checked) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return fmt.Sprintf("%d answers checked, %d wrong; %d writes answered, %d of unknown outcome", c.compared.Load(), len(c.wrong), c.written.Load(), c.unknown.Load())
}

// registered has writers write rows of their own and readers ask for them, through all of some members, until the function that it returns is called.
func (s *shop) registered(addresses []string) (g *registers, c *checked, stop func()) {
	var wait sync.WaitGroup
	done := make(chan struct{})
	g, c = &registers{}, &checked{}
	over := func(pause time.Duration) bool {
		select {
		case <-done:
			return true
		case <-time.After(pause):
			return false
		}
	}
	for w := range writers {
		wait.Go(func() {
			random := rand.New(rand.NewPCG(uint64(w), 3)) //nolint:gosec // seeded on purpose
			through, rows := clients(addresses), make([]*register, rowsEach)
			defer closeAll(through)
			for !over(time.Duration(2+random.IntN(10)) * time.Millisecond) {
				session := through[random.IntN(len(through))]
				if session.there() == nil {
					continue
				}
				i, who := random.IntN(rowsEach), holder(random.IntN(heldBy))
				if rows[i] == nil {
					rows[i] = g.begin()
				} else if random.IntN(8) == 0 {
					who = ""
				}
				n := g.send(rows[i], who)
				if err := s.hand(session.there(), rows[i], who, n, random.IntN(4)); err != nil {
					session.failed(err)
					c.unknown.Add(1)
					rows[i] = nil
					over(200 * time.Millisecond)
					continue
				}
				g.answer(rows[i], n)
				c.written.Add(1)
			}
		})
	}
	for i := range askingAtOnce * len(addresses) {
		wait.Go(func() {
			random := rand.New(rand.NewPCG(uint64(i), 4)) //nolint:gosec // seeded on purpose
			through := clients(addresses[i%len(addresses):][:1])
			defer closeAll(through)
			for pause := time.Duration(0); !over(pause); {
				session := through[0].there()
				if pause = 50 * time.Millisecond; session == nil {
					continue
				}
				who, before, asked := holder(random.IntN(heldBy)), g.now(), time.Now()
				rows, err := s.held(session, who)
				if err != nil {
					through[0].failed(err)
					continue
				}
				if took := time.Since(asked); took < 50*time.Millisecond {
					pause = 0
				} else { // as written, it is read through a whole table: others are to get on meanwhile
					pause = 6 * took
				}
				c.compared.Add(1)
				if what := g.judge(before, who, rows); what != "" {
					c.mu.Lock()
					s.t.Logf("wrong: %s", what)
					c.wrong = append(c.wrong, fmt.Sprintf("%v through %s: %s", time.Now().Format(time.TimeOnly), through[0].address, what))
					c.mu.Unlock()
				}
			}
		})
	}
	return g, c, func() { close(done); wait.Wait() }
}

func clients(addresses []string) (all []*client) {
	for _, a := range addresses {
		all = append(all, &client{address: a})
	}
	return all
}

func closeAll(all []*client) {
	for _, c := range all {
		c.close()
	}
}

// settled compares, when nobody writes any more, all that the registers know with the answers through a session, and with Cassandra's own.
func (s *shop) settled(g *registers, through *gocql.Session) {
	s.t.Helper()
	through.SetConsistency(gocql.LocalQuorum)
	for i := range heldBy {
		before := g.now()
		got, err := s.held(through, holder(i))
		if err != nil {
			s.t.Fatal(err)
		}
		want, err := s.held(s.direct, holder(i))
		if err != nil {
			s.t.Fatal(err)
		}
		if what := g.judge(before, holder(i), got); what != "" || !slices.Equal(got, want) {
			s.t.Errorf("%s: %v, Cassandra's own is %v; %s", holder(i), got, want, what)
		}
	}
}

// TestRegisters: which answers may be, by what was written.
func TestRegisters(t *testing.T) {
	g := &registers{}
	a, b := g.begin(), g.begin()
	g.answer(a, g.send(a, "x"))
	g.answer(a, g.send(a, "y"))
	before := g.now()
	g.send(a, "x") // under way
	lost := g.send(b, "x")
	for _, c := range []struct {
		who   string
		rows  []heldRow
		wrong string
	}{
		{"y", []heldRow{{a.day, a.number, 2}}, ""},
		{"y", nil, ""},
		{"x", []heldRow{{a.day, a.number, 3}}, ""},
		{"x", []heldRow{{a.day, a.number, 3}, {b.day, b.number, lost}}, ""},
		{"x", []heldRow{{a.day, a.number, 1}}, "as write 1 has it"},
		{"y", []heldRow{{a.day, a.number, 3}}, "as write 3 has it"},
		{"x", []heldRow{{a.day, a.number, 3}, {a.day, a.number, 3}}, "twice"},
		{"x", []heldRow{{a.day, 7, 3}}, "nobody wrote"},
	} {
		if what := g.judge(before, c.who, c.rows); (what == "") != (c.wrong == "") || !strings.Contains(what, c.wrong) {
			t.Errorf("%s, %v: %q, want %q", c.who, c.rows, what, c.wrong)
		}
	}
	g.answer(a, 3)
	for who, wrong := range map[string]string{"x": "is missing", "y": ""} {
		if what := g.judge(g.now(), who, nil); !strings.Contains(what, wrong) || wrong == "" && what != "" {
			t.Errorf("%s, nothing: %q", who, what)
		}
	}
}
