package change

import (
	"fmt"
	"slices"
)

// State is where a change stands.
type State string

// The states, in the order of a change's life.
const (
	None        State = ""             // there is no such change yet
	Proposed    State = "proposed"     // advised; it waits for a decision
	Dismissed   State = "dismissed"    // a person does not want it; proposed again when the facts change materially
	Snoozed     State = "snoozed"      // not now: proposed again after a time, or when the facts change materially
	Superseded  State = "superseded"   // other advice for the same statements has taken its place
	Expired     State = "expired"      // it is not advised any more
	Approved    State = "approved"     // its table is being created
	Created     State = "created"      // its table exists on all nodes
	DualWrite   State = "dual-write"   // entries are written; waiting until no older write is under way
	Backfill    State = "backfill"     // entries of existing rows are written
	Verify      State = "verify"       // both tables are compared until a whole pass finds nothing missing
	Shadow      State = "shadow"       // reads run as written, and are compared with the change's answer
	Serving     State = "serving"      // reads are answered by the change; of a calendar: it is followed
	Suspended   State = "suspended"    // reads run as written until somebody resumes it or rolls back; of a calendar: it is paused
	Failed      State = "failed"       // it can not go on by itself; resume it once the cause is gone, or roll it back
	RollingBack State = "rolling-back" // reads run as written; waiting until no request knows better; of a calendar: it is being withdrawn
	RolledBack  State = "rolled-back"  // nothing is rewritten; the table is kept
	Dropped     State = "dropped"      // and its table is gone; of a calendar: it is over
)

// Proposals are the states of a change that nothing is done for; Works those of one that is carried out, or was.
var (
	Proposals = []State{Proposed, Dismissed, Snoozed, Superseded, Expired}
	Works     = []State{Approved, Created, DualWrite, Backfill, Verify, Shadow, Serving, Suspended, Failed, RollingBack, RolledBack, Dropped}
)

// States are all states that a change can be in.
var States = slices.Concat(Proposals, Works)

// Proposal reports whether nothing is done for a change in the state, nor was.
func (s State) Proposal() bool { return slices.Contains(Proposals, s) }

// Underway reports whether a change in the state holds its place: a person decides on it by orders about its work, not about its proposal.
func (s State) Underway() bool { return s != Dropped && slices.Contains(Works, s) }

// Order is what brings a change from one state into another, as the audit trail calls it.
type Order string

// The orders. Those of persons are Approve to Reopen and Resume to Drop; a calendar begins, rolls back and drops what it holds.
const (
	Propose   Order = "propose"   // a round advises it, or a calendar that it was has ended
	Expire    Order = "expire"    // a round does not advise it any more
	Supersede Order = "supersede" // a round advises another for its statements
	Approve   Order = "approve"
	Begin     Order = "begin" // a calendar, or whoever has no proposal
	Dismiss   Order = "dismiss"
	Snooze    Order = "snooze"
	Reopen    Order = "reopen"
	Advance   Order = "advance" // the work of a state is done, or can not be
	Suspend   Order = "suspend"
	Verifying Order = "verify"
	Refill    Order = "refill" // its tables are emptied, or made anew
	Resume    Order = "resume"
	Rollback  Order = "rollback"
	Drop      Order = "drop"
)

// Orders are all orders.
var Orders = []Order{Propose, Expire, Supersede, Approve, Begin, Dismiss, Snooze, Reopen, Advance, Suspend, Verifying, Refill, Resume, Rollback, Drop}

// move is a row of the table: an order, from which states, to which.
type move struct {
	order Order
	from  []State
	to    []State
}

// working are the states in which something is done by itself.
var working = []State{Approved, Created, DualWrite, Backfill, Verify, Shadow, Serving}

// moves is the table. What is not in it is refused, or a defect.
var moves = []move{
	{Propose, []State{None, Dismissed, Snoozed, Superseded, Expired, Dropped}, []State{Proposed}},
	{Expire, []State{Proposed, Snoozed, Dropped}, []State{Expired}},
	{Supersede, []State{Proposed, Snoozed, Dropped}, []State{Superseded}},
	{Approve, []State{Proposed, Dropped}, []State{Approved}},
	{Begin, []State{None, Dropped, Proposed, Dismissed, Snoozed, Superseded, Expired}, []State{Approved}},
	{Dismiss, []State{Proposed, Snoozed, Dropped}, []State{Dismissed}},
	{Snooze, []State{Proposed, Snoozed, Dropped}, []State{Snoozed}},
	{Reopen, []State{Dismissed, Snoozed}, []State{Proposed}},

	{Advance, []State{Approved}, []State{Created}},
	{Advance, []State{Created}, []State{DualWrite}},
	{Advance, []State{DualWrite}, []State{Backfill}},
	{Advance, []State{Backfill}, []State{Verify}},
	{Advance, []State{Verify}, []State{Shadow}},
	{Advance, []State{Shadow}, []State{Serving}},
	{Advance, []State{RollingBack}, []State{RolledBack}},
	{Advance, append([]State{RollingBack}, working...), []State{Failed}},
	{Advance, []State{Serving}, []State{Suspended}}, // a sweep found something
	{Suspend, append([]State{Suspended}, working...), []State{Suspended}},
	{Verifying, []State{Verify, Shadow, Serving}, []State{Verify}}, // a process begins, too, with what was verified before
	{Refill, []State{DualWrite, Backfill, Verify, Shadow, Serving}, []State{DualWrite}},
	{Refill, working, []State{Approved}}, // its tables have an earlier version's form
	{Resume, []State{Suspended, Failed}, []State{Approved, Created, DualWrite, Backfill, Verify}},
	{Rollback, append([]State{Suspended, Failed}, working...), []State{RollingBack}},
	{Drop, []State{RolledBack}, []State{Dropped}},
}

// Allowed reports whether an order may bring a change from one state into another.
func Allowed(o Order, from, to State) bool {
	return slices.ContainsFunc(moves, func(m move) bool {
		return m.order == o && slices.Contains(m.from, from) && slices.Contains(m.to, to)
	})
}

// MoveError says that an order does not fit the state of a change.
type MoveError struct {
	ID       string
	Order    Order
	From, To State
}

func (e *MoveError) Error() string {
	return fmt.Sprintf("can not %s change %s: it is %s, and can not become %s by that", e.Order, e.ID, e.From, e.To)
}
