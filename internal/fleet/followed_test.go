package fleet

import (
	"testing"
	"time"
)

// TestFollowedBesideAnEarlierBuild: what was stored before a moment is followed by all once each has said so of an epoch that was found later, and by nobody any more once a member
// is there that need not wait for others.
func TestFollowedBesideAnEarlierBuild(t *testing.T) {
	at := 10 * time.Second
	m := New(Options{ID: "a", Lease: 4 * time.Second, Now: func() time.Duration { return at }})
	m.place, m.previous = registered, at
	look := func(epoch int64, seen map[string]int64) {
		m.mu.Lock()
		defer m.mu.Unlock()
		for id, n := range seen {
			m.sights[id] = &sight{beat: Beat{Incarnation: 1, Seen: n}}
		}
		m.previous = at
		m.agree(at, epoch)
	}
	says := func(what string, moment time.Duration, want bool) {
		t.Helper()
		if got := m.Followed(moment); got != want {
			t.Errorf("%s: %v", what, got)
		}
	}
	m.register = map[string]Entry{"a": {ID: "a", Incarnation: 1, Heeds: true}, "b": {ID: "b", Incarnation: 1, Heeds: true}}
	stored := at
	at += time.Second
	look(7, map[string]int64{"a": 7, "b": 6})
	says("the other is behind", stored, false)
	look(7, map[string]int64{"b": 7})
	says("both have followed", stored, true)
	says("what was stored after the look", at+1, false)
	at += 5 * time.Second
	says("it has not looked for a lease", stored, false)

	m.register["c"] = Entry{ID: "c", Incarnation: 1}
	look(8, map[string]int64{"a": 8, "b": 8, "c": 8})
	says("one of an earlier build is there", stored, false)
	delete(m.register, "c")
	look(8, nil)
	says("it is gone", stored, true)
}
