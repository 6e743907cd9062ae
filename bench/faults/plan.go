package main

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/helenus-db/helenus/internal/change"
)

// act is what an operation does to a row, or with a guest. Each write writes the whole row: then a row is a register, of which the write with the latest timestamp is the value.
type act string

// The acts.
const (
	insert act = "insert"
	update act = "update"
	remove act = "remove"
	read   act = "read"
)

// operation is one request of a client.
type operation struct {
	id     int // from 1 on; a write's note
	at     time.Duration
	client int
	member int
	act    act
	row    int // of a write
	guest  int // written, or asked for; from 1 on
}

func (o operation) String() string {
	switch o.act {
	case read:
		return fmt.Sprintf("#%d client %d asks member %d for guest%d", o.id, o.client, o.member, o.guest)
	case remove:
		return fmt.Sprintf("#%d client %d removes row %d through member %d", o.id, o.client, o.row, o.member)
	}
	return fmt.Sprintf("#%d client %d: %s of row %d, guest%d, through member %d", o.id, o.client, o.act, o.row, o.guest, o.member)
}

// deed is what befalls a fleet, or what a person orders.
type deed string

// The faults, and the orders.
const (
	kill   deed = "kill"   // kill -9, and started again
	freeze deed = "freeze" // SIGSTOP, and SIGCONT
	cut    deed = "cut"    // it can not reach the state's keyspace
	down   deed = "down"   // Cassandra answers nothing
	lame   deed = "lame"   // entries can not be written, every fifth

	approve  deed = "approve"
	rollback deed = "rollback"
	again    deed = "again"  // what was rolled back is dropped, and approved again
	bypass   deed = "bypass" // the kill-switch, which suspends the change
	resume   deed = "resume" // the end of it
)

var faults = []deed{kill, freeze, cut, down, lame}

// role is whom a fault befalls, when it does.
type role string

// The roles.
const (
	leader   role = "leader"
	follower role = "follower"
)

// states are those in which faults strike, in the order of a change's life.
var states = []change.State{change.Approved, change.Created, change.DualWrite, change.Backfill, change.Verify, change.Shadow, change.Serving, change.RollingBack}

// event is a deed once the change has come into a state. Events are waited for one after the other; what they do overlaps.
type event struct {
	deed  deed
	who   role
	in    change.State
	after time.Duration // since
	lasts time.Duration
}

func (e event) String() string {
	switch e.deed {
	case approve, rollback, again:
		return fmt.Sprintf("%v after %s: order %s, at a %s", e.after.Round(time.Millisecond), e.in, e.deed, e.who)
	case down, lame:
		return fmt.Sprintf("%v after %s: %s for %v", e.after.Round(time.Millisecond), e.in, e.deed, e.lasts.Round(time.Millisecond))
	}
	return fmt.Sprintf("%v after %s: %s the %s for %v", e.after.Round(time.Millisecond), e.in, e.deed, e.who, e.lasts.Round(time.Millisecond))
}

// plan is all of a run: what clients ask, what happens to the fleet; the seed decides how long each step takes and which requests are lost.
type plan struct {
	seed    uint64
	members int
	rows    int
	guests  int
	clients int
	asks    []operation
	events  []event
}

// size of a run that is drawn.
type size struct{ members, clients, rows, guests, asks, events int }

// small is that of the runs in process.
var small = size{members: 3, clients: 4, rows: 8, guests: 3, asks: 220, events: 3}

// draw draws a plan.
func draw(seed uint64, s size) plan {
	random := rand.New(rand.NewPCG(seed, 11))
	p := plan{seed: seed, members: s.members, rows: s.rows, guests: s.guests, clients: s.clients}
	const pace = 180 * time.Millisecond
	for i := range s.asks {
		o := operation{id: i + 1, at: time.Duration(i)*pace + time.Duration(random.Int64N(int64(pace))), client: random.IntN(s.clients), member: random.IntN(s.members),
			row: random.IntN(s.rows), guest: 1 + random.IntN(s.guests), act: read}
		switch n := random.IntN(20); {
		case n < 4:
			o.act = insert
		case n < 7:
			o.act = update
		case n < 8:
			o.act = remove
		}
		p.asks = append(p.asks, o)
	}
	for range 1 + random.IntN(s.events) {
		e := event{deed: faults[random.IntN(len(faults))], who: []role{leader, follower}[random.IntN(2)], in: states[random.IntN(len(states)-1)]}
		e.after = time.Duration(random.Int64N(int64(600 * time.Millisecond)))
		if random.IntN(3) == 0 {
			e.after = 0
		}
		e.lasts = time.Second + time.Duration(random.Int64N(int64(11*time.Second)))
		p.events = append(p.events, e)
	}
	slices.SortStableFunc(p.events, func(a, b event) int { return cmp.Compare(slices.Index(states, a.in), slices.Index(states, b.in)) })
	if random.IntN(3) == 0 { // rolled back at some time, hit meanwhile, and taken on again
		back := event{deed: rollback, who: []role{leader, follower}[random.IntN(2)], in: states[random.IntN(len(states)-1)], after: time.Duration(random.Int64N(int64(time.Second)))}
		at := random.IntN(len(p.events) + 1)
		for at > 0 && slices.Index(states, p.events[at-1].in) > slices.Index(states, back.in) {
			at--
		}
		meanwhile := event{deed: faults[random.IntN(len(faults))], who: []role{leader, follower}[random.IntN(2)], in: change.RollingBack, lasts: time.Second + time.Duration(random.Int64N(int64(8*time.Second)))}
		p.events = append(p.events[:at:at], back, meanwhile)
		if random.IntN(4) > 0 {
			p.events = append(p.events, event{deed: again, who: leader, in: change.RolledBack})
		}
	} else if random.IntN(6) == 0 {
		p.events = append(p.events, event{deed: bypass, who: follower, in: change.Serving, after: time.Second, lasts: 3 * time.Second})
	}
	return p
}

// goal is the state in which the change is to end.
func (p *plan) goal() change.State {
	state := change.Serving
	for _, e := range p.events {
		switch e.deed {
		case rollback:
			state = change.RolledBack
		case again:
			state = change.Serving
		}
	}
	return state
}

func (p *plan) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d, %d members, %d clients, %d rows\n", p.seed, p.members, p.clients, p.rows)
	for _, e := range p.events {
		fmt.Fprintf(&b, "  %s\n", e)
	}
	for _, o := range p.asks {
		fmt.Fprintf(&b, "  %7.3fs %s\n", o.at.Seconds(), o)
	}
	return b.String()
}
