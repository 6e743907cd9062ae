package migrate

import (
	"strings"
	"sync"
)

// Act is a decision about a change, as they are counted.
type Act string

// The decisions. That a change goes on once its work is done is none.
const (
	ActApprove  Act = "approved"
	ActRollBack Act = "rolled-back"
	ActDrop     Act = "dropped"
	ActSuspend  Act = "suspended"
	ActResume   Act = "resumed"
	ActTurnBack Act = "turned-back" // its reads run as written until it was verified again
)

// Acts are all decisions.
var Acts = []Act{ActApprove, ActRollBack, ActDrop, ActSuspend, ActResume, ActTurnBack}

// Decider is the kind of who decides.
type Decider string

// The deciders.
const (
	Person   Decider = "person"
	Schedule Decider = "calendar" // that a person has approved
	Guard    Decider = "guard"    // what watches over changes in this process
)

// Deciders are all kinds.
var Deciders = []Decider{Person, Schedule, Guard}

// byCalendar begins the name of a calendar that gives orders; its id follows.
const byCalendar = "calendar "

// decider tells from the name that is kept with a decision who it was; "" is nobody.
func decider(actor string) Decider {
	switch {
	case actor == "":
		return Guard
	case strings.HasPrefix(actor, byCalendar):
		return Schedule
	}
	return Person
}

// Decision is what was decided, and the kind of who did.
type Decision struct {
	Act Act
	By  Decider
}

// decisionOf is what a change of state means as a decision; none, if a change only goes on.
func decisionOf(from, to State, actor string) (d Decision, ok bool) {
	by := decider(actor)
	switch {
	case to == RollingBack:
		return Decision{ActRollBack, by}, true
	case to == Dropped:
		return Decision{ActDrop, by}, true
	case to == Suspended:
		return Decision{ActSuspend, by}, true
	case (from == Suspended || from == Failed) && by == Person:
		return Decision{ActResume, by}, true
	case (from == Serving || from == Shadow) && phases[to].mode.less(phases[from].mode):
		return Decision{ActTurnBack, by}, true
	}
	return Decision{}, false
}

// tally counts decisions since the process began.
type tally struct {
	mu sync.Mutex
	of map[Decision]int64
}

func (t *tally) add(d Decision) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of == nil {
		t.of = map[Decision]int64{}
	}
	t.of[d]++
}

// Decided returns how often something was decided since the process began.
func (m *Manager) Decided(d Decision) int64 {
	m.tally.mu.Lock()
	defer m.tally.mu.Unlock()
	return m.tally.of[d]
}
