package plan

import (
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
)

// Arithmetic is how a cost model counts: what the requests, rows and bytes of a step are, which writes change which
// tables, what has to be read before, and how large a table is. Means is ours; package nose has the one of seed 003's
// code, whose costs are compared to the digit.
//
// Whoever prices a design asks the arithmetic of its cost model (cost.Arithmetic) for all of these, so that plans, the
// integer program and explanations count alike.
type Arithmetic interface {
	// Reads returns what estimates the reads of a query. It is used by one goroutine.
	Reads(q *workload.Query) Estimator

	// Modifies reports whether a write changes rows of a table.
	Modifies(w *workload.Write, t *model.Table) bool
	// SupportQueries returns the queries that must be answered before a write can be applied to a table that it modifies.
	SupportQueries(w *workload.Write, t *model.Table) []Support
	// Shares reports whether support queries of one statement that ask the same are answered once for all tables that need
	// the answer; else each table pays for its own.
	Shares() bool
	// WriteSteps returns the deletes and puts by which a write is applied to a table that it modifies, with estimates.
	// found has, for each of SupportQueries, the rows of its cheapest plan when all tables that may be chosen are there;
	// Means does not look at it.
	WriteSteps(w *workload.Write, t *model.Table, found []float64) []Step

	// TableBytes is what a table takes, for limits on space.
	TableBytes(t *model.Table) float64
}

// Estimator estimates the reads of one query.
type Estimator interface {
	// Estimate fills in Requests, Rows, Scanned, Bytes and Left of an arc's steps: the read, what verifies it, filters, a
	// sort, a limit, as far as they are there. It returns the rows that the state after them carries: 0 if rows follow
	// from what is joined and applied alone, as they do for Means.
	Estimate(r *Read, steps []Step) float64
}

// Read is what an arc does, in the query's terms.
type Read struct {
	Query            *workload.Query
	Table            *model.Table
	From, Served, To Point   // before; once the servers have answered; after filters
	Fed              uint64  // entities of the query with fields at hand that bind columns of the table
	Each             float64 // requests for each row at hand: more than one for IN, and for buckets that are not told
	Answers          bool    // nothing is left to be read after it
	Sorted           bool    // rows come out of it in the order asked for
	// Unnested are the entities that the elements of each collection stand for which the servers return with the rows: they
	// are joined in To, not in Served.
	Unnested []uint64
}

// Point is what the rows at hand are, at some point of a plan.
type Point struct {
	Joined  uint64  // entities, by their place in Query.Tree.Entities
	Applied uint64  // predicates, by their place in Query.Where
	Rows    float64 // what Estimate returned for the arc that led here
}

// First reports whether nothing has been read before.
func (r *Read) First() bool { return r.From.Joined == 0 }

// Means is the default arithmetic: expected values under uniformity and independence, that follow from what is joined and
// which conditions hold.
type Means struct{}

// Modifies is the function Modifies.
func (Means) Modifies(w *workload.Write, t *model.Table) bool { return Modifies(w, t) }

// SupportQueries is the function SupportQueries.
func (Means) SupportQueries(w *workload.Write, t *model.Table) []Support { return SupportQueries(w, t) }

// Shares is true.
func (Means) Shares() bool { return true }

// WriteSteps is the function WriteSteps.
func (Means) WriteSteps(w *workload.Write, t *model.Table, _ []float64) []Step {
	return WriteSteps(w, t)
}

// TableBytes is the table's own estimate.
func (Means) TableBytes(t *model.Table) float64 { return t.Bytes() }

// Reads estimates the reads of a query.
func (Means) Reads(q *workload.Query) Estimator { return &means{query: q, memo: map[Point]float64{}} }
