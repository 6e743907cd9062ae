package kind

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/rewrite/exec"
)

// Verified is a Fitted that answers from tables which can be compared with the base.
type Verified interface {
	Fitted
	// Pass compares the base with these tables, in both directions, and puts right what it may. next is called before each row that is read is looked at, and may wait, or
	// end it; progress is told how many of how many parts are done.
	Pass(ctx context.Context, next func(context.Context) error, progress func(done, total int)) (Findings, error)
}

// Foreign is a Verified that answers from tables of the application's besides the base: nobody writes them but the application.
type Foreign interface {
	Verified
	// Rests are these tables; only their names are looked at.
	Rests() []Table
	// Lacks words that so many rows of the base have none there.
	Lacks(rows int64) string
}

// Derived is a Fitted that answers from tables of its own.
type Derived interface {
	Verified
	// Tables are those that it makes, at least one. The comment of the first tells whose they are.
	Tables() []Table
	// Form is the version of what these tables hold: of another, nothing can be kept.
	Form() int
	// Writes compiles every effect that a statement has on them: none, one, or for a BATCH text one for each statement that matters.
	Writes(st cql.Statement, keyspace string) []Write
	// Unreadable is the effect of a text that could not be parsed; nil if it has nothing to do with the base.
	Unreadable(text string) Write
	// Fill writes what the rows of one part of the base's ring need, so that it may be done again. When it returns without error all is
	// acknowledged. next is called before each row is written, and may wait, or end it.
	Fill(ctx context.Context, part exec.Range, how Filling, next func(context.Context) error) (rows int64, err error)
}

// Rechecker is a Derived that can compare single rows of the base with its tables.
type Rechecker interface {
	Derived
	// Watched are the columns by which what the tables need of a row may change.
	Watched() []string
	// Recheck compares what one row of the base needs with what the tables have, and puts right what is missing. The key is that of a row, or of a
	// partition: then all its rows are meant. next is called before each row, and may wait, or end it.
	Recheck(ctx context.Context, key [][]byte, next func(context.Context) error) (Findings, error)
}

// Noting is a Derived whose reads have to know what other processes note.
type Noting interface {
	Derived
	// Tell puts what this process owes the tables, for the others. Nobody is to answer by them before it has returned without error at each.
	Tell(ctx context.Context) error
	// Learn finds what they have noted until now. Where several processes carry out the same change each calls it whenever something rests on the tables again, and answers nothing by them before.
	Learn(ctx context.Context) error
}

// Emptied is a Derived that is to know when its tables are about to be emptied, because their base was.
type Emptied interface {
	Derived
	// BeforeEmptied returns once nothing is removed from the tables any more because of what was seen before. Each process that carries out the change calls it, when all
	// requests of before have ended.
	BeforeEmptied()
}

// Bulk is a Derived that somebody else's machines may fill.
type Bulk interface {
	Derived
	// Spark writes the PySpark script that fills the tables of a change as Helenus would. An error wraps ErrNoBulk if none can.
	Spark(change string, how Filling) (string, error)
}

// ErrNoBulk says that a change can not be filled by anybody else.
var ErrNoBulk = errors.New("it can only be filled by Helenus itself")

// Filling says how a part is filled.
type Filling struct {
	Read, Write gocql.Consistency
	InFlight    int // rows written at a time
}

// Findings are what a pass found. Rows are those of the base that need something in tables of ours, entries what is there.
type Findings struct {
	Rows     int64    `json:"rows"`     // base rows that need an entry
	Entries  int64    `json:"entries"`  // entries
	Missing  int64    `json:"missing"`  // rows without entry; a clean pass has none
	Repaired int64    `json:"repaired"` // rows that were given one, as they had none, or none that lives as long as their value
	Orphans  int64    `json:"orphans"`  // values of a row with an entry that the row does not have
	Removed  int64    `json:"removed"`  // of which had entries removed
	Surplus  int64    `json:"surplus"`  // further entries of a value and row, beside the first
	NoRoom   int64    `json:"no_room"`  // base rows whose keys are too long for a table of ours: reads of their values run as written
	Sample   []string `json:"sample,omitempty"`
}

// Table is a table of ours.
type Table struct {
	Keyspace, Name string
	// Create makes it, unless it is there, with a comment.
	Create func(comment string) string
	// Columns are those that it is made with; nil: whatever it has is right.
	Columns func() ([]schema.Column, error)
	// Mark is a column that only the present Form has, "" if that is not told by one.
	Mark string
	// Probe reads little, and fails on a node that does not know the table yet.
	Probe exec.Query
	// Holds tells that it is to be emptied before it is filled anew.
	Holds bool
}

// String is the table as CQL.
func (t *Table) String() string { return cql.TableRef{Keyspace: t.Keyspace, Table: t.Name}.String() }

// Drop is the statement that removes it.
func (t *Table) Drop() string { return "DROP TABLE IF EXISTS " + t.String() }

// Truncate is the statement that empties it.
func (t *Table) Truncate() string { return "TRUNCATE TABLE " + t.String() }

// Comments is the statement that changes its comment.
func (t *Table) Comments(comment string) string {
	return fmt.Sprintf("ALTER TABLE %s WITH comment = '%s'", t, strings.ReplaceAll(comment, "'", "''"))
}

// Keeper is a Runner of changes that are Derived.
type Keeper interface {
	Runner
	// Begin does what has to be done before a statement is forwarded that was said at consistency c: all steps of one request together. After an
	// error the base must not be written by somebody who relies on the tables of bad, the steps that may not have been taken.
	Begin(ctx context.Context, steps []Step, c gocql.Consistency) (bad []Step, err error)
	// End takes note of how Cassandra answered. It does not block.
	End(steps []Step, answer Answer, level Level)
	// Horizon is how long a step stands for its statement, which is to follow it in a small part of that.
	Horizon(Step) time.Duration
	// Run does in the background what follows, until the context ends.
	Run(ctx context.Context)
}

// Write is what a statement means to the tables of a change.
type Write interface {
	// Bind finds out what one execution does, and appends the steps that have to be taken together with those of others.
	Bind(Execution, []Step) (Effect, []Step)
}

// Execution is one execution of a write.
type Execution struct {
	Values       Values
	HasTimestamp bool
	Timestamp    int64 // of the request
	OwnTime      bool  // the request brings the time from which times to live count
	Conditional  bool  // it, or another statement of its batch, has an IF
}

// Effect is what one execution of a Write does, besides its steps.
type Effect struct {
	// Refused: Cassandra is certain to refuse the statement as a whole, and with it the batch that it is part of, or to
	// change nothing by it. There is nothing to prepare for.
	Refused bool
	// Doubt says why it can not be known beforehand which rows are changed; "" if it can.
	Doubt string
	// Empties: it removes all rows of the base. There is a Doubt.
	Empties bool
	// Pending is the step to be taken, alone, for rows whose new values can not be known beforehand; nil if there are none.
	Pending Step
}

// Step is what is done before one statement is forwarded. It belongs to the kind that made it; the same pointer is the same step.
type Step interface {
	// Puts tells whether something is written.
	Puts() bool
}

// Answer is what Cassandra said to a base statement.
type Answer int

// The answers.
const (
	Applied Answer = iota // acknowledged
	Refused               // certainly not carried out, nor will it be
	Lost                  // it may be carried out, now or later
)

// Level says at which consistency a request wrote, or tried to.
type Level struct {
	Consistency gocql.Consistency
	Serial      gocql.Consistency // of its condition, SERIAL if it said nothing
}
