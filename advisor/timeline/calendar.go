package timeline

import (
	"time"

	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
)

// Calendar says which tables there are at each step, how statements are answered then, and how one step's tables become
// the next one's. Costs are in the model's unit, over the whole of a step: rates times its length.
type Calendar struct {
	Name, Mix, Model, Unit string
	Steps                  []*Step

	Cost   float64 // of all steps and changes
	Bound  float64 // no calendar over the candidates costs less; if Pruned, none over those that were Kept
	Gap    float64 // (Cost-Bound) / Cost
	Proven bool    // Cost is the least
	Fewest bool    // proven: no calendar of that cost has fewer tables over all steps, or as many and smaller ones
	// Stopped says what ended the search before the proof; else empty. Engine is what found the calendar.
	Stopped, Engine string

	Space float64 // bytes allowed at each step; 0: no limit
	Full  float64 // bytes of the best design for the mean weights without a limit (W-45's 100 %); 0: nobody asked

	Pruned     bool // only promising candidates were looked at together: Bound and Proven speak of those
	Candidates int  // in the pool
	Kept       int  // promising ones
	Locals     int  // programs of the workload summary tree
	Rounds     int  // solves until the migrations' prices were those of their plans

	Baselines []*Baseline
	Truncated []string // what limits have cut off: there may be better calendars beyond
	Notes     []string
	Phases    []design.Phase
	Duration  time.Duration
}

// Step is a stretch of time with one set of tables.
type Step struct {
	Number   int // from 0
	Duration time.Duration
	Design   *design.Design // tables and plans, with the step's weights
	Tables   []*design.Table
	Bytes    float64  // of its new tables
	Created  []string // tables (names) that were not there in the step before; in the first step all new ones
	Dropped  []string // tables of the step before that are gone
	Plans    []*Plan
	Cost     float64 // of the statements
	// MigrationCost is that of coming from the step before.
	MigrationCost float64
	Migrations    []*Migration // by which Created are filled during the step before; none for the first step
}

// Plan is how a statement is executed in a step.
type Plan struct {
	*design.Statement
	Rate    float64  // executions per second
	Total   float64  // work over the step
	Tables  []string // that a query reads, in order; that a write changes
	Changed bool     // other tables than in the step before
}

// View reports whether a query reads one table once: a materialised view's plan, not a join's (W-4).
func (p *Plan) View() bool { return p.Plan != nil && len(p.Tables) == 1 }

// Migration fills a table during the step before the one that it is for.
type Migration struct {
	Table  string
	Target *model.Table
	// Question is the query whose plan this is (W-26, W-27): Of is the statement that it is made of, "" for the complement.
	Question *workload.Query
	Of       string
	// Sources are the tables of the step before that have all rows of the target among them, each with the fields by which its
	// rows are joined to those of the sources before.
	Sources []Source
	// Plan reads the target's rows without parameters: a scan of the first source, and gets of the others by what was found. It
	// is nil if a later source's partition key is not among what was found; then all sources are scanned and joined in
	// the client. What Extract prices is the scanning of all sources, which is cheaper than a get for each row.
	Plan *plan.Plan

	Extract, Load, Keep float64 // work: reading the sources, writing the target, keeping it true meanwhile (C^E, C^L, C^U)
	Estimated           time.Duration
	Bytes               float64 // of the target
	Rows                float64
}

// Source is a table that a migration reads whole.
type Source struct {
	Name  string
	Table *model.Table
	As    *plan.Embedding // what its entities are of the target's; nil: the same
	On    []model.Field   // of the target's graph: the keys by which its rows are joined to those before; none for the first
	Cost  cost.Cost       // of reading it
}

// Baseline is what another way of choosing would cost, under the same limit on space (W-44).
type Baseline struct {
	Name   string // Average, First, Last or Ideal
	Cost   float64
	Steps  []float64        // by step
	Bytes  float64          // of the tables; of Ideal the most at any step
	Tables int              // number of new ones; of Ideal the most at any step
	Proven bool             // nothing of its kind is cheaper
	Chosen [][]*model.Table // by step: the new tables, the same at all of them but for Ideal
}

// The baselines.
const (
	Average = "static average" // the one design that is best for the mean weights
	First   = "static first"   // the one that is best for the first step's weights
	Last    = "static last"    // the one that is best for the last step's
	Ideal   = "ideal"          // each step's own best design, changes for nothing
)

// Baseline returns the baseline of a name, or nil.
func (c *Calendar) Baseline(name string) *Baseline {
	for _, b := range c.Baselines {
		if b.Name == name {
			return b
		}
	}
	return nil
}

// Less is by what share the calendar costs less than a baseline; below 0 if it costs more.
func (c *Calendar) Less(b *Baseline) float64 {
	if b.Cost == 0 {
		return 0
	}
	return (b.Cost - c.Cost) / b.Cost
}
