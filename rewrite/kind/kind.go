package kind

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/rewrite/condition"
	"github.com/helenus-db/helenus/rewrite/exec"
)

// Kind is one way of answering statements otherwise than they were written.
type Kind interface {
	// Name is what records and metrics call it (plan.Rewrite.Kind); it never changes.
	Name() string
	// Noun is what people call a change of it, in a sentence.
	Noun() string
	// Title says in a few words what a change does.
	Title(*plan.Rewrite) string
	// Judge says of a change that is being considered which statements may take part in it, and which condition forbids what. A
	// verdict without statement is about the whole.
	Judge(plan.Rewrite, *capture.Snapshot, *schema.Schema) []plan.Verdict
	// Open makes what carries changes of this kind out.
	Open(Parts) Runner
}

// Proposer is a Kind that itself finds what it could do for the statements seen. (Look-ups are proposed by the optimiser, in
// advisor/recommend.)
type Proposer interface {
	Propose(*capture.Snapshot, *schema.Schema) []plan.Proposal
}

// Parts are what a Runner works with.
type Parts struct {
	Session exec.Session
	Schema  func() *schema.Schema // as it was last read, nil before
	Now     func() time.Time
	Uptime  func() time.Duration // monotonic, since the process began
	Log     *slog.Logger
}

// Runner carries changes of one kind out. It may be a prometheus.Collector, too. All its methods may be called from many goroutines.
type Runner interface {
	// Fit prepares a change over its base as that is now, or says which condition forbids it. The result is not changed afterwards.
	Fit(c plan.Rewrite, base *schema.Table) (Fitted, *condition.Refusal)
}

// Fitted is a change over its base.
type Fitted interface {
	// Check says why a statement of the change, as its normalised text, can not be answered; nil if it can.
	Check(text string) *condition.Refusal
	// Read compiles a SELECT that was said in a keyspace. What nobody approved is refused.
	Read(st cql.Statement, keyspace string) (Read, *condition.Refusal)
	// Samples are requests that can be made of our own accord, to compare the answers: some most for each Read that says which; none if
	// only the application knows what it asks.
	Samples(ctx context.Context, most int, c gocql.Consistency) ([]Sample, error)
}

// ErrUnsuited says that a request can not be answered otherwise than it was written, though nothing is wrong. The original statement answers it.
var ErrUnsuited = errors.New("not to be answered otherwise than it was written")

// ErrColumns is an ErrUnsuited: the columns of the answer are not those of which the client was told.
var ErrColumns = fmt.Errorf("%w: the table has other columns than when the statement was prepared", ErrUnsuited)

// Read is a statement that a change answers.
type Read interface {
	// Of is the change, as it was fitted when the statement was compiled.
	Of() Fitted
	// Answer answers a request otherwise than it was written. An error wraps ErrUnsuited if the request is not one for that.
	Answer(context.Context, Request) (proxy.Rows, error)
	// Original runs the application's own statement through our session, unpaged in effect: all its rows.
	Original(context.Context, Request) (proxy.Rows, error)
	// Asked says what a request asks for, by no value of it, as it is kept and shown: "token(email) = 17".
	Asked(Request) string
}

// Scanner is a Read that finds what the base would have answered without the original statement, for where Cassandra can not carry that out.
type Scanner interface {
	// Scan reads the base part by part of the ring. The requests are Read's, answered alike but for what Asked says. Its answers are theirs, in
	// their order.
	Scan(ctx context.Context, requests []Request, parts []exec.Range, c gocql.Consistency) ([]proxy.Rows, error)
}

// Client is one client's own connection to Cassandra: what is read there is read with the rights of its role.
type Client interface {
	Query(context.Context, exec.Query) (exec.Answer, error)
	// Lately tells whether Cassandra carried a statement out there no longer ago than it may itself remember a role's rights.
	Lately(text string) bool
}

// Rightful is a Read that answers clients which have logged in. (Of another the original runs.)
type Rightful interface {
	Read
	// AnswerFor is Answer for such a client. Whatever it tells the client, by rows, by their absence or by the time that it takes, Cassandra has
	// granted on the client's connection, as lately as it remembers a role's rights itself; rows of the application's tables are read there.
	AnswerFor(context.Context, Request, Client) (proxy.Rows, error)
}

// Spoken is a Read whose statement is also answered where it is sent as text, with values in it or beside it.
type Spoken interface {
	Read
	// Described is a statement of whose answer Cassandra says what it says of the original's, the same for all values; "" if this text is not
	// answered.
	Described() string
	// Takes tells whether a request has as many values as the text has places for them.
	Takes(Values) bool
}

// Sample is a Read, and requests to compare its answers for.
type Sample struct {
	Statement string // the fingerprint of the statement that Read is of
	Read      Read
	Requests  []Request
}

// Request is one read to run.
type Request struct {
	Values      Values
	Consistency gocql.Consistency
	PageSize    int            // rows; 0 for no paging
	Columns     []proxy.Column // that the answer must have, in order; nil if that does not matter
}

// Remembering is a Runner that remembers something over restarts. What can not be kept is found again, which takes longer and harms nothing.
type Remembering interface {
	// Memory is what is to be stored, under a name that never changes.
	Memory() (name string, v any)
	// Remember takes up what was stored.
	Remember(json.RawMessage) error
}
