package main

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/helenus-db/helenus/internal/change"
)

// backend is a fleet of members before a database that holds the base. All of it may be called by many at a time.
type backend interface {
	// say sends an operation through a member, or the next that is there, and returns what the client was told.
	say(o operation) outcome
	// own is what the database itself answers for a guest, and a number that is another once anything was written; 0: that is not known.
	own(guest int) (rows []seen, writes int64, err error)
	// state is that of the change, as last stored; changed is closed when there is another.
	state() (now change.State, changed <-chan struct{})
	// order gives an order at a member in a role.
	order(d deed, who role) error
	// strike begins a fault; what it returns ends it.
	strike(e event) (heal func() error, err error)
	// missing are the rows of the base that have no entry.
	missing() ([]string, error)
	// why says what the members say of themselves and of the change.
	why() string
}

// verdict is what came of a run.
type verdict struct {
	Compared   int           // answers that were compared with the database's own
	Served     int           // of all answers: by the change
	Reads      int           // answers whose history was checked
	Unknown    int           // writes with unknown outcome
	Wrong      []string      // answers other than the database's own
	Breach     *breach       // in the history of a row
	Missing    []string      // rows without entry at the end
	Undecided  int           // rows of which no order was found, nor that there is none
	Stuck      string        // why the change did not come to its end in time
	Settled    time.Duration // from the end of the last fault until it did
	Struck     map[string]int
	entries    []entry
	unrealised int // events whose state did not come
}

// bad says what was wrong, "" if nothing was.
func (v *verdict) bad() string {
	var all []string
	if v.Breach != nil {
		all = append(all, v.Breach.String())
	}
	all = append(all, v.Wrong...)
	if len(v.Missing) > 0 {
		all = append(all, "rows without entry: "+strings.Join(v.Missing, ", "))
	}
	if v.Stuck != "" {
		all = append(all, "stuck: "+v.Stuck)
	}
	return strings.Join(all, "\n")
}

// limits of a run.
const (
	stuckAfter = time.Minute      // from the end of the last fault
	reachable  = 30 * time.Second // a state that does not come within this is not waited for any more
)

// driver carries a plan out.
type driver struct {
	plan
	backend
	began   time.Time
	history history
	nextID  atomic.Int64

	mu sync.Mutex
	v  verdict
}

// carryOut runs a plan and judges what came of it; start are the rows as they are at the beginning.
func carryOut(p plan, b backend, start map[int]register) *verdict {
	d := &driver{plan: p, backend: b, began: time.Now()}
	d.v.Struck = map[string]int{}
	d.nextID.Store(int64(len(p.asks)))
	var clients, happening sync.WaitGroup
	for client := range p.clients {
		clients.Go(func() {
			for _, o := range p.asks {
				if o.client == client {
					time.Sleep(time.Until(d.began.Add(o.at)))
					d.ask(o)
				}
			}
		})
	}
	d.until("the approval", d.order, approve, follower)
	for _, e := range p.events {
		d.happen(e, &happening)
	}
	happening.Wait() // the last fault is over
	d.settle()
	clients.Wait()
	if took := d.v.Settled; d.v.Stuck == "" && p.goal() == change.Serving { // what they wrote last may have turned it back
		d.settle()
		d.v.Settled = max(took, d.v.Settled)
	}
	for guest := 1; guest <= p.guests; guest++ {
		for member := range p.members {
			d.ask(d.question(member, guest))
		}
	}
	if p.goal() == change.Serving && d.v.Stuck == "" {
		var err error
		if d.v.Missing, err = b.missing(); err != nil {
			d.v.Stuck = fmt.Sprintf("entries could not be looked for: %v", err)
		}
	}
	d.v.entries = d.history.entries
	d.v.Breach, d.v.Undecided = check(d.v.entries, start)
	return &d.v
}

// question is a read beside those of the plan.
func (d *driver) question(member, guest int) operation {
	return operation{id: int(d.nextID.Add(1)), client: d.clients, member: member, act: read, guest: guest}
}

// ask carries an operation out, and compares an answer with the database's own, if nothing was written meanwhile.
func (d *driver) ask(o operation) {
	var before []seen
	var writes int64
	var err error
	if o.act == read {
		before, writes, err = d.own(o.guest)
	}
	sent := time.Since(d.began)
	out := d.say(o)
	e := entry{operation: o, outcome: out, sent: sent, back: time.Since(d.began)}
	d.history.add(e)
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case o.act != read && out.fate == unknown:
		d.v.Unknown++
	case o.act == read && out.fate == answered:
		d.v.Reads++
		if out.served {
			d.v.Served++
		}
		if err != nil {
			return
		}
		after, now, err := d.own(o.guest)
		if err != nil || now != writes || !slices.Equal(before, after) {
			return
		}
		d.v.Compared++
		if !slices.Equal(out.rows, before) {
			d.v.Wrong = append(d.v.Wrong, fmt.Sprintf("%s; the database has %v", e, before))
		}
	}
}

// until gives an order again and again until it is taken, for as long as nothing may be stuck.
func (d *driver) until(what string, do func(deed, role) error, which deed, who role) {
	var err error
	for began := time.Now(); time.Since(began) < stuckAfter; time.Sleep(500 * time.Millisecond) {
		if err = do(which, who); err == nil {
			return
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.v.Stuck = fmt.Sprintf("%s was refused for %v: %v", what, stuckAfter, err)
}

// reached waits for a state, or one that comes after it; a change that is rolled back, or was, has reached no other.
func (d *driver) reached(want change.State) bool {
	over := time.NewTimer(reachable)
	defer over.Stop()
	for {
		now, changed := d.state()
		if at := slices.Index(states, want); now == want || at >= 0 && now != change.RollingBack && slices.Index(states, now) > at {
			return true
		}
		select {
		case <-changed:
		case <-over.C:
			return false
		}
	}
}

// happen waits for the state of an event, and has it happen; a fault ends by itself.
func (d *driver) happen(e event, happening *sync.WaitGroup) {
	if !d.reached(e.in) {
		d.v.unrealised++
		if e.deed != again && e.deed != rollback { // which decide what is to become of the change
			return
		}
	}
	time.Sleep(e.after)
	now, _ := d.state()
	whom := e.who
	if e.deed == down || e.deed == lame {
		whom = "all"
	}
	d.v.Struck[fmt.Sprintf("%s %s|%s", e.deed, whom, now)]++
	switch e.deed {
	case rollback, again:
		d.until("the order "+string(e.deed), d.order, e.deed, e.who)
		return
	case bypass:
		d.until("the kill-switch", d.order, bypass, e.who)
		happening.Go(func() {
			time.Sleep(e.lasts)
			d.until("the end of the kill-switch", d.order, resume, e.who)
		})
		return
	}
	heal, err := d.strike(e)
	if err != nil {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.v.Stuck = fmt.Sprintf("%s: %v", e, err)
		return
	}
	happening.Go(func() {
		time.Sleep(e.lasts)
		if err := heal(); err != nil {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.v.Stuck = fmt.Sprintf("after %s: %v", e, err)
		}
	})
}

// settle waits until the change is where it is to end, and every member answers by it if it is to serve.
func (d *driver) settle() {
	began := time.Now()
	goal := d.goal()
	left := map[int]bool{}
	for member := range d.members {
		left[member] = goal == change.Serving
	}
	for n := 0; time.Since(began) < stuckAfter; n++ {
		now, _ := d.state()
		if now == change.Suspended && slices.ContainsFunc(d.events, func(e event) bool { return e.deed == bypass }) {
			_ = d.order(resume, leader) // the kill-switch had it suspended after it was resumed; else nothing may be
		}
		waits := now != goal
		for member, waiting := range left {
			if !waiting {
				continue
			}
			o := d.question(member, 1+n%d.guests)
			d.ask(o)
			if now == goal && d.lastServed(o.id) {
				left[member] = false
				continue
			}
			waits = true
		}
		if !waits {
			d.v.Settled = time.Since(began)
			return
		}
		time.Sleep(250 * time.Millisecond)
	}
	now, _ := d.state()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.v.Settled = time.Since(began)
	if d.v.Stuck == "" {
		d.v.Stuck = fmt.Sprintf("%v after the last fault the change is %s, not %s at every member: %s", stuckAfter, now, goal, d.why())
	}
}

// lastServed tells whether an operation was answered by the change.
func (d *driver) lastServed(id int) bool {
	d.history.mu.Lock()
	defer d.history.mu.Unlock()
	for _, e := range slices.Backward(d.history.entries) {
		if e.id == id {
			return e.served
		}
	}
	return false
}
