package migrate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/internal/change"
	"github.com/helenus-db/helenus/rewrite/condition"
	"github.com/helenus-db/helenus/rewrite/gain"
	"github.com/helenus-db/helenus/rewrite/kind"
)

// State is where a change stands.
type State = change.State

// The states of one that is carried out, or was. What each means is said in package change.
const (
	Approved    = change.Approved
	Created     = change.Created
	DualWrite   = change.DualWrite
	Backfill    = change.Backfill
	Verify      = change.Verify
	Shadow      = change.Shadow
	Serving     = change.Serving
	Suspended   = change.Suspended
	Failed      = change.Failed
	RollingBack = change.RollingBack
	RolledBack  = change.RolledBack
	Dropped     = change.Dropped
)

// States are all of them, in the order of a change's life.
var States = change.Works

// Mode is what the proxy does for a change.
type Mode struct {
	Write  bool // entries are written before the base is
	Rely   bool // something may rest on them: reads are compared or answered somewhere, or soon will be
	Shadow bool // reads are compared
	Serve  bool // reads are answered by the change
}

// What becomes of a write whose entry can not be written, decided at approval.
const (
	TurnBack = "turn-back" // it is carried out, and reads are turned back until the change was verified again
	Refuse   = "refuse"    // it is refused (Overloaded) before anything of it was sent
)

// Who fills the tables of a change, decided at approval.
const (
	FillOwn  = "own"  // this process does
	FillBulk = "bulk" // somebody else's machines do (package bulk of its kind): it waits until a person says that they have
)

// Terms are how a change is approved.
type Terms struct {
	Actor          string          // who approves it
	OnEntryFailure string          // TurnBack or Refuse; "" for TurnBack
	Fill           string          // who fills it: FillOwn or FillBulk; "" for FillOwn
	Despite        []plan.Overrule // conditions that he overrules; they are kept in the history
	Hold           bool            // it stays in shadow until a cut-over is ordered
	// Admit says that the proposal may be carried out, in the transaction in which it begins. nil: there is no proposal, as of a table of a calendar.
	Admit change.Admission
}

// Check says what is wrong with terms.
func (t *Terms) Check() error {
	switch t.Fill {
	case "", FillOwn, FillBulk:
	default:
		return fmt.Errorf("fill %q: it may be %s or %s", t.Fill, FillOwn, FillBulk)
	}
	switch t.OnEntryFailure {
	case "", TurnBack, Refuse:
		return nil
	}
	return fmt.Errorf("on-entry-failure %q: it may be %s or %s", t.OnEntryFailure, TurnBack, Refuse)
}

// phase is one row of the machine.
type phase struct {
	mode Mode
	work func(*Manager, context.Context, *run) error // nil: it waits for an order
	next State                                       // when the work is done
	back bool                                        // a roll-back may be ordered
	ends bool                                        // nothing is kept in force: the same change may be approved again
}

// phases is the machine.
var phases map[State]phase

func init() { // the works refer to phases themselves
	phases = map[State]phase{
		Approved:    {work: (*Manager).create, next: Created, back: true},
		Created:     {work: (*Manager).validate, next: DualWrite, back: true},
		DualWrite:   {mode: Mode{Write: true}, work: (*Manager).settle, next: Backfill, back: true},
		Backfill:    {mode: Mode{Write: true}, work: (*Manager).backfill, next: Verify, back: true},
		Verify:      {mode: Mode{Write: true}, work: (*Manager).verify, next: Shadow, back: true},
		Shadow:      {mode: Mode{Write: true, Rely: true, Shadow: true}, work: (*Manager).shadow, next: Serving, back: true},
		Serving:     {mode: Mode{Write: true, Rely: true, Shadow: true, Serve: true}, work: (*Manager).serve, back: true},
		Suspended:   {mode: Mode{Write: true}, back: true},
		Failed:      {back: true},
		RollingBack: {mode: Mode{Write: true}, work: (*Manager).barrier, next: RolledBack},
		RolledBack:  {ends: true},
		Dropped:     {ends: true},
	}
}

// Progress of the work that is being done.
type Progress struct {
	Ratio     float64       `json:"ratio"` // 0 to 1
	Done      int64         `json:"done"`
	Total     int64         `json:"total"`
	Unit      string        `json:"unit,omitempty"`      // of Done and Total
	ETA       time.Duration `json:"eta,omitempty"`       // nanoseconds; 0 before 1 % is done
	Started   time.Time     `json:"started"`             // when the state was entered
	Throttled string        `json:"throttled,omitempty"` // why it is waiting, "" if it is not
}

// Event is one line of a change's history.
type Event struct {
	Time  time.Time `json:"time"`
	State State     `json:"state"`
	Actor string    `json:"actor,omitempty"` // the person who gave the order, "" if it happened by itself
	Text  string    `json:"text"`
}

// MaxEvents is how many events a change keeps, the latest.
const MaxEvents = 100

// Change is an approved change and all that is known of it.
type Change struct {
	ID       string       `json:"id"`                  // the name of ChangeID until the last release
	ChangeID string       `json:"change_id,omitempty"` // ID, for who is told; never stored
	Rewrite  plan.Rewrite `json:"look_up"`             // what was approved, of any kind: the key is from when there were look-ups only
	Base     schema.Table `json:"base"`                // as it was when the change was last fitted to it
	Owner    string       `json:"owner,omitempty"`     // whose it is (see owner.go); "" if it is from before there were owners
	TableID  string       `json:"table_id,omitempty"`  // of the first of its own tables as it was made; another is not the one that was filled
	State    State        `json:"state"`               // stored as that of the change
	Reason   string       `json:"reason,omitempty"`    // of suspended and failed, why it is verified again, and of what rolled itself back
	Title    string       `json:"title,omitempty"`     // in a few words, what it does; not saved
	// Conditions are those by which Reason says that it was stopped; not saved.
	Conditions []*condition.Ref `json:"conditions,omitempty"`
	Pending    string           `json:"pending,omitempty"` // an order that is in force but not stored yet, and what that means; never stored
	Broken     bool             `json:"broken,omitempty"`  // the change can no longer be trusted to exist or to fit: nothing is written to it
	Actor      string           `json:"actor"`             // who approved it
	Approved   time.Time        `json:"approved"`
	Form       int              `json:"form,omitempty"` // of its tables (kind.Derived)
	T0         int64            `json:"t0,omitempty"`   // microseconds; when no older write was under way any more, 0 before
	Entries    int64            `json:"entries"`        // written by backfill
	Passes     int              `json:"passes"`         // of verification
	Last       kind.Findings    `json:"last_pass"`
	Clean      time.Time        `json:"last_clean_pass"`    // when a pass last found nothing missing
	Repaired   int64            `json:"repaired"`           // entries that were missing and written by a pass, in all
	Compared   int64            `json:"compared"`           // reads compared in shadow, in all
	Earlier    int64            `json:"earlier,omitempty"`  // compared by earlier ones of the same ID that were dropped since: they count for shadow
	Shadowed   time.Duration    `json:"shadowed,omitempty"` // in shadow, in all, as it was stored last
	ByReads    int64            `json:"compared_by_reads"`  // of which with the answer to a read of the application
	ByOwn      int64            `json:"compared_by_own"`    // with the answer to a read of our own
	ByRanges   int64            `json:"compared_by_ranges"` // with what token ranges of the base hold, as the original fails
	Explained  int64            `json:"explained"`          // of which differed at first, and agreed when read again
	Mismatch   string           `json:"mismatch,omitempty"` // the last unexplained difference
	Differed   int64            `json:"differed,omitempty"` // unexplained differences, in all
	Progress   Progress         `json:"progress"`
	Gain       *gain.Report     `json:"gain,omitempty"` // what it turned out to be worth; not saved here
	Events     []Event          `json:"events"`

	Served     bool `json:"served,omitempty"`     // it has answered reads, and no answer was found wrong since: once verified, it serves
	Relied     bool `json:"relied,omitempty"`     // while it is verified: a pass found it whole, and all members are to rely on its entries before it goes on
	Unfollowed bool `json:"unfollowed,omitempty"` // a write that could not be followed may be on its way still: verification lets it end first
	// Doubts is how often it was ordered to be verified because of what may have made its tables untrue. Others see by it that an order was given again, of which all else is
	// as it was.
	Doubts int64 `json:"doubts,omitempty"`
	Refill bool  `json:"refill,omitempty"` // its table is to be emptied, and filled anew
	Keeps  bool  `json:"keeps,omitempty"`  // filled anew alone, for what it lacks: what it holds stays, as that of writes which may be carried out yet
	// Emptying is how many statements are under way that empty its base: what follows from that is ordered once they are answered, or by whoever finds that the process which sent
	// them on is gone.
	Emptying int `json:"emptying,omitempty"`
	// Replication is that of the base's keyspace when it was filled; nil in records of before.
	Replication map[string]string `json:"replication,omitempty"`
	// OnEntryFailure is what becomes of a write whose entry can not be written, as it was approved: TurnBack or Refuse.
	OnEntryFailure string `json:"on_entry_failure,omitempty"`
	// Fill is who fills it, as it was approved: FillOwn, also if it is "", or FillBulk. Filled says that somebody else has.
	Fill   string `json:"fill,omitempty"`
	Filled bool   `json:"filled,omitempty"`
	// Throttle is the pace that a person ordered.
	Throttle Throttle `json:"throttle,omitzero"`
	// Refused are those of its statements that Cassandra itself refuses as they were written, by fingerprint, with what it says: they run as written. The
	// map is not changed, but replaced.
	Refused map[string]string `json:"refused,omitempty"`
	// Despite are the conditions that were overruled when it was approved.
	Despite []plan.Overrule `json:"despite,omitempty"`

	// Hold: it stays in shadow, compared all the while, until a person orders the cut-over.
	Hold bool `json:"hold,omitempty"`

	Refilled bool `json:"refilled,omitempty"` // which was done because passes found rows without entry; forgotten by a clean pass
}

// Mode is what the proxy has to do for it.
func (m *Change) Mode() Mode {
	if m.Broken || (m.State == RollingBack && m.T0 == 0) { // without T0 nothing was ever served
		return Mode{}
	}
	mode := phases[m.State].mode
	mode.Rely = mode.Rely || m.State == Verify && m.Relied
	return mode
}

// empties tells whether its tables are about to be emptied.
func (m *Change) empties() bool { return m.State == DualWrite && m.Refill && !m.Keeps }

// refill has it be filled anew. keep: what is there may stay, unless it was to go before.
func (m *Change) refill(keep bool) { m.Keeps, m.Refill = keep && (m.Keeps || !m.Refill), true }

// stopped tells whether its tables were filled, are not written any more, and may be resumed.
func (m *Change) stopped() bool {
	return m.T0 != 0 && (m.State == Failed || m.Broken && m.State == Suspended)
}

// Resumes is the state in which a change goes on that is suspended or failed: one whose entries were not written meanwhile from further back. Its table is emptied first
// if that is DualWrite.
func (m *Change) Resumes() State {
	unwritten := m.State == Failed || m.Broken
	switch {
	case m.T0 == 0: // its tables may not be there yet
		return Approved
	case m.Refill || unwritten && m.Passes == 0:
		return DualWrite
	case m.Passes == 0:
		return Backfill
	}
	return Verify
}

// Active tells whether the change still holds its place: the same change can not be approved again.
func (m *Change) Active() bool { return !phases[m.State].ends }

// Waits says why it does not go on, or does not serve any more; "" if it goes on.
func (m *Change) Waits() string {
	if m.Reason == "" || m.Progress.Throttled == "" {
		return m.Reason + m.Progress.Throttled
	}
	return m.Progress.Throttled + "; " + m.Reason
}

func (m *Change) note(now time.Time, actor, text string) {
	m.Events = append(m.Events, Event{now, m.State, actor, text})
	if len(m.Events) > MaxEvents {
		m.Events = append([]Event(nil), m.Events[len(m.Events)-MaxEvents:]...)
	}
}

func (m *Change) clone() Change {
	c := *m
	c.Events = append([]Event(nil), m.Events...)
	return c
}

// ErrAlreadyApproved says that a change for the same change is there already.
type ErrAlreadyApproved struct {
	Migration string
	State     State
}

// Error implements error.
func (e *ErrAlreadyApproved) Error() string {
	first := "roll it back"
	if e.State == RolledBack {
		first = "drop it"
	}
	return fmt.Sprintf("already approved: change %s is %s; %s first if you want another", e.Migration, e.State, first)
}

// ErrUnknown says that there is no change of an id.
var ErrUnknown = errors.New("no such change")

// ErrState says that an order does not fit the state of a change.
type ErrState struct {
	Migration string
	Order     string
	State     State
	Need      string
}

// Error implements error.
func (e *ErrState) Error() string {
	return fmt.Sprintf("can not %s change %s: it is %s; %s", e.Order, e.Migration, e.State, e.Need)
}

// ErrOwnership says that a table of the name of one of ours exists and is not this change's own. It is never retried, and
// the table is never touched.
type ErrOwnership struct {
	Table   string
	Comment string
}

// Error implements error.
func (e *ErrOwnership) Error() string {
	if other := OwnerOf(e.Comment); other != "" {
		return fmt.Sprintf("ownership ambiguous: table %s belongs to another helenus (owner %s, its comment is %q); it is left alone. "+
			"If that helenus still runs, its changes are to be rolled back and dropped there; if its state is lost for good, drop the table by hand", e.Table, other, e.Comment)
	}
	return fmt.Sprintf("ownership ambiguous: table %s exists and its comment is %q, not this change's; it is left alone. "+
		"If an earlier change left it, drop that change; else whose it is may rename or drop it. Then resume this one", e.Table, e.Comment)
}

// stop is an error after which the work would only fail again.
type stop struct {
	to     State
	broken bool
	reason string
}

func (s *stop) Error() string { return s.reason }
