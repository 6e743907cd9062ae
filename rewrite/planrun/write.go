package planrun

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/rewrite/exec"
)

// WriteProgram keeps the tables of a design true under one conceptual write. It is ready to be run any number of times, also
// at once; its texts are made once.
//
// # What a run does
//
//  1. It finds out what the statement does not say, by support queries: which entities an update or delete speaks of
//     (plan.Find), then the parts of rows around them (plan.Changes). All tables' queries are asked before anything is
//     written, each once whichever tables need it, those of one round at once.
//  2. It makes the rows of each table, as they were and as they will be, and of those deletes and puts: a row that is both
//     deleted and put (an update that sets what was there already, a CONNECT to another partner that the key does not name) is
//     put alone, as with equal timestamps Cassandra would
//     let the delete win. A row without a value for a column of the key is in no table. These are Effects: what they write does not depend on what is in the tables any more.
//  3. It sends them, deletes first, or all together in logged batches. All carry one timestamp, taken when they were made.
//
// A put of a row that was not there leaves values that are null unset, so that it makes no tombstones; static columns are
// always written, as what an earlier row of the partition has left in them would show. A put that changes a row writes null
// where a value is taken away; so does one in the place of a row that a CONNECT takes away. Increments read, add and write: there are no counter columns, as a table with one can hold
// nothing else but its key. Nothing plus a number is nothing. So two increments at once may count as one.
//
// Elements of collections (model.Nest) are put and deleted by key, one statement for each, nodes not chosen by key; what a row
// that is deleted had in its collections goes with it.
//
// # What it takes for true
//
// An entity that a statement names by its key is there, and an inserted one is not; what that is connected to has no partner
// yet, if it can have one only; what is disconnected was connected; equalities beside a whole key, and GIVEN, say what is so. An
// entity that must have a partner has one. Nothing of that is read again: a statement that does not keep it leaves rows that
// no entity has. And nobody else writes the same entities between 1 and 3.
//
// # When it fails
//
// The error is a *WriteError. Before anything is written the tables are as they were, and the write can be run again. After
// that some of it may have taken effect, and running it again would find out the wrong things; but its Effects can be
// applied again, any number of times, as they write the same at the same timestamp, increments too.
type WriteProgram struct {
	// Now is the clock of the timestamps; nil: time.Now.
	Now func() time.Time

	write     *workload.Write
	find      *question // nil if the statement names the entity
	questions []*question
	holdings  []*holding
	values    []operand // of SET, and what is added
	steps     []WriteStep
}

// WriteStep is a part of a write that is accounted for: a support query, or what is done to a table.
type WriteStep struct {
	Kind  plan.Kind       // Get of a support query, whatever its plan does; Remove or Put
	Query *workload.Query // of a support query
	Table string          // of Remove and Put, as CQL names it
}

// Steps are what Account.Steps speaks of, in order.
func (p *WriteProgram) Steps() []WriteStep { return p.steps }

// Parameters are what the write needs.
func (p *WriteProgram) Parameters() []workload.Parameter { return p.write.Parameters() }

// ErrNoBatches says that a session can not send logged batches.
var ErrNoBatches = errors.New("this session can not send logged batches: run the write without them")

// WriteError says how far a write came, and why no further.
type WriteError struct {
	Step WriteStep
	// Effects are what was being written; nil: nothing had been written yet, so the write may be run again as it is. Else it
	// must not be: apply these instead, until they succeed.
	Effects *Effects
	Reason  error // one of those of StepError, or ErrNoBatches
	Err     error // what came from a support query's plan, Cassandra or the driver; nil if nothing did
}

func (e *WriteError) Error() string {
	text := ""
	switch {
	case e.Step.Query != nil:
		text = "find out " + e.Step.Query.String()
	case e.Step.Table != "":
		text = fmt.Sprintf("%s %s", e.Step.Kind, e.Step.Table)
	}
	if text != "" {
		text += ": "
	}
	text += e.Reason.Error()
	if e.Err != nil {
		text += " (" + e.Err.Error() + ")"
	}
	if e.Effects == nil {
		return text + "; nothing was written: the write may be run again"
	}
	return text + "; some of it may be written: apply the same effects again, and do not run the write anew before"
}

// Unwrap returns the reason and what is behind it.
func (e *WriteError) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Reason}
	}
	return []error{e.Reason, e.Err}
}

// Run applies the write to all its tables. Errors are a *ParameterError if a value is missing or of no use, else a
// *WriteError.
func (p *WriteProgram) Run(ctx context.Context, s exec.Session, with Parameters, o RunOptions) error {
	e, err := p.Prepare(ctx, s, with, o)
	if err != nil {
		return err
	}
	return e.Apply(ctx, s, o)
}

// Prepare finds out what the write does, and writes nothing.
func (p *WriteProgram) Prepare(ctx context.Context, s exec.Session, with Parameters, o RunOptions) (*Effects, error) {
	if o.Account != nil {
		o.Account.Steps = make([]StepAccount, len(p.steps))
	}
	m := &maintaining{WriteProgram: p, RunOptions: o, session: s, with: with}
	if err := m.resolve(); err != nil {
		return nil, err
	}
	if err := m.ask(ctx); err != nil {
		return nil, err
	}
	return m.effects()
}

// last is the last timestamp that a write of this process got: no two are the same, so that a later one wins.
var last atomic.Int64

func (p *WriteProgram) stamp() int64 {
	now := time.Now
	if p.Now != nil {
		now = p.Now
	}
	for {
		before := last.Load()
		t := max(now().UnixMicro(), before+1)
		if last.CompareAndSwap(before, t) {
			return t
		}
	}
}
