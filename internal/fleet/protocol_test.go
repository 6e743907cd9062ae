package fleet

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/helenus-db/helenus/internal/long"
)

// TestNobodyAnswersWhatItCanNotKnow drives the real protocol through random schedules: whatever happens to members, nobody answers by a change while something was written
// without an entry and not found since.
func TestNobodyAnswersWhatItCanNotKnow(t *testing.T) {
	worlds := 150
	switch {
	case raced: // one goroutine plays a world, in ten times the time: `make test` has a pass of its own without
		worlds = 5
	case long.Tests():
		worlds = 5_000
	}
	served := 0
	for seed := range uint64(worlds) {
		w := play(seed, 60*time.Second, func(*actor) {})
		if w.harm != "" {
			t.Fatalf("seed %d: %s", seed, w.harm)
		}
		served += w.served
	}
	t.Logf("%d worlds, %d answers looked at", worlds, served)
	if served < 100*worlds {
		t.Errorf("only %d answers in %d worlds: nothing was tried", served, worlds)
	}
}

// TestMutantsAreCaught: the protocol without one of its rules is caught by the same schedules.
func TestMutantsAreCaught(t *testing.T) {
	if raced {
		t.Skip("its turn is without the race detector") // make test has a pass of its own for it
	}
	for name, spoil := range map[string]func(*actor){
		"a member acknowledges what it has not followed":     func(a *actor) { a.blind = a.name == "m1" },
		"a write goes on before the others have turned back": func(a *actor) { a.hasty = true },
		"a leader waits for nobody":                          func(a *actor) { a.careless = true },
		"a member beats while it withholds":                  func(a *actor) { a.loud = true },
		"a barrier waits for no request":                     func(a *actor) { a.open = true },
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(3000) {
				if w := play(seed, 60*time.Second, spoil); w.harm != "" {
					t.Logf("seed %d", seed)
					return
				}
			}
			t.Error("not caught")
		})
	}
}

// A beat that arrives late proves nothing of now: only that the one before it had been acknowledged.
func TestALateBeatGrantsNothing(t *testing.T) {
	at := time.Duration(0)
	m := New(Options{ID: "x", Lease: 4 * time.Second, Now: func() time.Duration { return at }, Truth: Truth{Rules: func() uint64 { return 0 }}})
	m.place, m.register = registered, map[string]Entry{"y": {ID: "y", Incarnation: 1}}
	look := func(counter int64) bool {
		at += time.Second
		raw, _ := json.Marshal(Beat{Incarnation: 1, Counter: counter})
		m.conclude(at, 1, map[string]json.RawMessage{"y": raw})
		return m.Serving()
	}
	for range 2 {
		if look(1) {
			t.Error("served on one beat, of which nothing is known")
		}
	}
	if !look(3) || !look(4) || !look(5) {
		t.Error("did not serve though beats come")
	}
	for range 3 {
		look(5)
	}
	// It is nine seconds. Beat 5 was seen at five, and was not there at four. Beat 6 was decided on after 5 was acknowledged: after four, and perhaps not much later.
	if look(6) {
		t.Error("a beat that was decided on five seconds ago, or more, let reads be answered for four more")
	}
	if !look(8) { // 7 was not there a second ago, so 8 was decided on since
		t.Error("did not serve though a beat came that is new for certain")
	}
}

// What was stored before a moment is followed by all once each has said that it sees an epoch that was read later; by nobody's word where a member begins things to be relied on without
// asking, and for no longer than a lease without a look, as this member may have been taken off the register.
func TestFollowed(t *testing.T) {
	at, moment := time.Duration(0), time.Duration(0)
	m := New(Options{ID: "x", Lease: 4 * time.Second, Now: func() time.Duration { return at }, Truth: Truth{Rules: func() uint64 { return 0 }}})
	look := func(epoch, seenByX, seenByY int64) bool {
		at += time.Second
		beats := map[string]json.RawMessage{}
		for id, seen := range map[string]int64{"x": seenByX, "y": seenByY} {
			beats[id], _ = json.Marshal(Beat{Incarnation: 1, Counter: int64(at), Seen: seen})
		}
		m.conclude(at, epoch, beats)
		return m.Followed(moment)
	}
	register := func(heeds bool) {
		m.place, m.register = registered, map[string]Entry{"x": {ID: "x", Incarnation: 1, Heeds: true}, "y": {ID: "y", Incarnation: 1, Heeds: heeds}}
	}
	register(true)
	look(6, 6, 6)
	moment = m.Moment() + 1 // something is stored, as epoch 7
	if look(7, 6, 6) || look(7, 7, 6) || look(8, 7, 6) {
		t.Error("y has not followed it")
	}
	if !look(8, 8, 7) || !look(9, 8, 7) {
		t.Error("all have followed it")
	}
	at += 4 * time.Second
	if m.Followed(moment) {
		t.Error("it has not looked for as long as a lease")
	}
	if !look(9, 9, 9) {
		t.Error("it has looked again")
	}
	register(false)
	moment = m.Moment() + 1
	for range 2 {
		if look(10, 10, 10) {
			t.Error("y begins what is relied on without asking")
		}
	}
	if register(true); !look(10, 10, 10) {
		t.Error("both heed now")
	}
	m.place = outside
	if m.Followed(moment) {
		t.Error("this member is on no register")
	}
}
