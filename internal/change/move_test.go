package change

import (
	"errors"
	"slices"
	"testing"
	"time"
)

// reached is what each order may make of each state, state by state: the machine said a second time, otherwise.
var reached = map[State]map[Order][]State{
	None:        {Propose: {Proposed}, Begin: {Approved}},
	Proposed:    {Approve: {Approved}, Begin: {Approved}, Dismiss: {Dismissed}, Snooze: {Snoozed}, Expire: {Expired}, Supersede: {Superseded}},
	Dismissed:   {Propose: {Proposed}, Reopen: {Proposed}, Begin: {Approved}},
	Snoozed:     {Propose: {Proposed}, Reopen: {Proposed}, Begin: {Approved}, Dismiss: {Dismissed}, Snooze: {Snoozed}, Expire: {Expired}, Supersede: {Superseded}},
	Superseded:  {Propose: {Proposed}, Begin: {Approved}},
	Expired:     {Propose: {Proposed}, Begin: {Approved}},
	Approved:    {Advance: {Created, Failed}, Suspend: {Suspended}, Rollback: {RollingBack}, Refill: {Approved}},
	Created:     {Advance: {DualWrite, Failed}, Suspend: {Suspended}, Rollback: {RollingBack}, Refill: {Approved}},
	DualWrite:   {Advance: {Backfill, Failed}, Suspend: {Suspended}, Rollback: {RollingBack}, Refill: {DualWrite, Approved}},
	Backfill:    {Advance: {Verify, Failed}, Suspend: {Suspended}, Rollback: {RollingBack}, Refill: {DualWrite, Approved}},
	Verify:      {Advance: {Shadow, Failed}, Suspend: {Suspended}, Rollback: {RollingBack}, Refill: {DualWrite, Approved}, Verifying: {Verify}},
	Shadow:      {Advance: {Serving, Failed}, Suspend: {Suspended}, Rollback: {RollingBack}, Refill: {DualWrite, Approved}, Verifying: {Verify}},
	Serving:     {Advance: {Suspended, Failed}, Suspend: {Suspended}, Rollback: {RollingBack}, Refill: {DualWrite, Approved}, Verifying: {Verify}},
	Suspended:   {Suspend: {Suspended}, Rollback: {RollingBack}, Resume: {Approved, Created, DualWrite, Backfill, Verify}},
	Failed:      {Rollback: {RollingBack}, Resume: {Approved, Created, DualWrite, Backfill, Verify}},
	RollingBack: {Advance: {RolledBack, Failed}},
	RolledBack:  {Drop: {Dropped}},
	Dropped:     {Propose: {Proposed}, Approve: {Approved}, Begin: {Approved}, Dismiss: {Dismissed}, Snooze: {Snoozed}, Expire: {Expired}, Supersede: {Superseded}},
}

// Every order in every state: it leads to the states that it is to lead to, and to no other.
func TestEveryOrderInEveryState(t *testing.T) {
	at := time.Unix(7, 0)
	for _, from := range append([]State{None}, States...) {
		for _, o := range Orders {
			for _, to := range append([]State{None}, States...) {
				r := Record{ID: "r-1", State: from, Until: at}
				err := r.Move(o, to, at)
				switch want := slices.Contains(reached[from][o], to); {
				case want && (err != nil || r.State != to || !r.Since.Equal(at) || (to == Snoozed) == r.Until.IsZero()):
					t.Errorf("%s: %q to %q: %+v, %v", o, from, to, r, err)
				case !want && (!errors.As(err, new(*MoveError)) || r.State != from || !r.Since.IsZero()):
					t.Errorf("%s: %q to %q: %+v, %v", o, from, to, r, err)
				}
			}
		}
	}
}

// What a person must always be able to do, and what can never happen.
func TestSafeMoves(t *testing.T) {
	for _, s := range States {
		if s.Proposal() == (s.Underway() || s == Dropped) {
			t.Errorf("%s is a proposal: %t, under way: %t", s, s.Proposal(), s.Underway())
		}
		if s.Underway() && s != RollingBack && s != RolledBack && !Allowed(Rollback, s, RollingBack) {
			t.Errorf("%s can not be rolled back", s)
		}
		if Allowed(Drop, s, Dropped) && s != RolledBack {
			t.Errorf("%s can be dropped", s)
		}
		for _, o := range Orders {
			if Allowed(o, s, Serving) && s != Shadow {
				t.Errorf("%s leads from %s to serving, past the comparison", o, s)
			}
		}
	}
}
