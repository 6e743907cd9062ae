package design

import (
	"time"

	"github.com/helenus-db/helenus/advisor/choice"
	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/advisor/workload"
)

// Options say how to choose. Only Solver is required. Statements that are no part of the workload's mix
// (workload.Statement.PartOf) are left out.
type Options struct {
	Cost   cost.Model // nil: cost.Default
	Solver solve.Solver
	Limits solve.Limits // of each solve; zero: 5,000 nodes and, as a last resort, a minute. Gap and Wall hold for the whole

	// Allow, if set, restricts the candidates, for example to LookUpsOnly. Existing tables are always allowed.
	Allow func(*model.Table) bool
	// Candidates are there besides those enumerated. With NoEnumeration they are all.
	// Those that are Kept (there may be some among the workload's tables, too) are there always.
	Candidates    []*model.Table
	NoEnumeration bool
	// Once proposes only what comes of cutting queries at one edge at most (enumerate.Options.Once): far fewer.
	Once bool
	// Sparing is Once where that fills what may be proposed (enumerate.Options.Sparing).
	Sparing bool
	// Most is how many candidates are proposed at most; 0: enumerate.DefaultMost.
	Most int
	// OnlyExisting leaves nothing to choose from but existing and kept tables: what they cost.
	OnlyExisting bool
	Fixed        []*model.Table // candidates that must be among the tables
	// Mixes designs for several mixes of the workload: weights are their means, and Design.Robust says what each costs.
	// Worst asks for the design whose greatest regret is least in place of that of the least mean cost. See Robust.
	Mixes []string
	Worst bool
	// Safety says what to do about new tables in which several writers can meet; nil: what the workload says.
	Safety *Safety
	// SpaceLimit for new tables, bytes; 0: the workload's own.
	SpaceLimit float64
	// Sensitivity names the statements (IDs) for which to find out how far their weights may move before other tables
	// are better. Each costs a few solves more.
	Sensitivity []string
	// Branching is how much is searched before the solver is asked, see choice.Options; 0: the default.
	Branching int
	// Price, if set, says what an arc of a statement's plan costs, work per execution, where more is known of it than the cost model says; it is given what that
	// says. Of what an application does by hand the statement is the one that it says.
	Price func(s *workload.Statement, a *plan.Arc, work float64) float64
	// Upkeep, if set, says what a write costs a candidate, work per execution, where that is known; then it is not planned how the candidate is kept true.
	Upkeep func(s *workload.Statement, t *model.Table) (work float64, known bool)
	// Progress, if set, is told of each better choice and greater bound, in work per second, without that of writing
	// the existing tables.
	Progress func(choice.Progress)
}

// LookUpsOnly allows verified look-up tables only: what can be put under an application without changing it.
func LookUpsOnly(t *model.Table) bool { return t.Base != nil }

// NoLookUps allows all but verified look-up tables.
func NoLookUps(t *model.Table) bool { return t.Base == nil }

// Design is a choice of tables with plans.
type Design struct {
	Name       string // of the workload
	Mix        string // of its weights, "" if there are no mixes
	Model      string // cost model
	Tables     []*Table
	Statements []*Statement // in the order of the workload
	Others     []string     // statements (IDs) that are no part of the mix, and were left out
	Late       []string     // writes that take longer than their ceiling, and how long
	Breaches   []Breach     // writes that may break what the model says, and plans rely on
	Rejected   []Rejection
	Sensitive  []Sensitivity

	// Before and After are the weighted work of all statements: per execution costs times weights, milliseconds per
	// second if weights are executions per second. Before is that over the existing tables alone; it holds only if
	// Answerable.
	Before, After float64
	Answerable    bool // the existing tables alone can answer all queries

	Bound  float64 // no choice of candidates costs less
	Gap    float64 // (After-Bound) / After
	Proven bool    // After is the optimum over the candidates
	Fewest bool    // proven: no choice of that cost has fewer tables, or as many and smaller ones
	// Stopped says what ended the search before the proof: "gap", "nodes", "wall", "cancelled" or "failed"; else empty.
	Stopped    string
	Engine     string // what solved it
	Candidates int
	Penalty    float64       // of After: what Options.Safety charges for writes to tables in which writers can meet
	Truncated  []string      // what limits have cut off: there may be better designs beyond
	Duration   time.Duration // how long it took; not part of the texts

	// Variables and Constraints are the size of the integer program, before any reduction.
	Variables, Constraints int
	// Phases say how long each part took, in order; part of the JSON alone.
	Phases []Phase

	Robust *Robust // if several mixes were asked for

	// Compared are other designs for the same workload, which somebody asked to see beside this one.
	Compared []Compared
	// Absent, Insisted and Front answer what would be if, for those who asked (whatif.go).
	Absent, Insisted []*WhatIf // Study.Absences; Study.With of tables and Study.Over of plans asked for
	Roomier          *WhatIf   // Study.MoreSpace of a Gigabyte, if space is limited
	Front            []Point

	// Trial is what came of running it on made entities; nil: nobody has.
	Trial *Trial

	work *workload.Workload // that it was made for
}

// Breach is how a write would break the model's word: always, or where it leaves something without a partner.
type Breach struct {
	Statement string `json:"statement"`
	Reason    string `json:"reason"`
	Always    bool   `json:"always"`
}

// Compared is a design to compare with: that over given tables alone.
type Compared struct {
	Name    string   // of the schema
	Design  *Design  // of the statements that have a plan
	Missing []string // the statements (IDs) that have none
	Bytes   float64  // of its tables
}

// Phase is a part of the work.
type Phase struct {
	Name     string // enumerate, plan, solve, explain
	Duration time.Duration
}

// Table is a table of the design: a new one, or an existing one that a plan reads.
type Table struct {
	Table      *model.Table
	Name       string
	CQL        string // new tables: CREATE TABLE
	Bytes      float64
	Statements []string // IDs of the queries that read it, in order
	Safety     string   // if it was asked for: whether several writers can meet in one partition
}

// Statement is a statement with its plans.
type Statement struct {
	Statement *workload.Statement
	Plan      *plan.Plan        // a query's
	Writes    []*plan.WritePlan // a write's, one for each table that it changes
	Cost      cost.Cost         // per execution
	ByHand    bool              // the application goes on doing it by hand; Plan is then what its statements do
	// Current is the plan over the existing tables, nil for writes and if there is none. CurrentCost is what the
	// statement costs over the existing tables.
	Current     *plan.Plan
	CurrentCost cost.Cost
}

// Rejection is a candidate that was not chosen.
type Rejection struct {
	Table     *model.Table
	Statement string  // ID of the query that it would help most, or else serve most directly
	Work      float64 // of that plan, per execution
	Instead   float64 // of that query as designed, per execution
	Saves     float64 // work per second that all reads would save
	Costs     float64 // work per second that all writes would cost more
	Reason    string
}

// Sensitivity says how far a statement's weight may move before other tables are better.
type Sensitivity struct {
	Statement string
	Weight    float64
	// Falls and Rises are the weights at which the best tables change; 0 and +Inf: they never do. They were found by
	// solving again at the edges.
	Falls, Rises float64
	// Proven: all the solves were.
	Proven bool
	// Below and Above say what changes beyond the edges.
	Below, Above string
}
