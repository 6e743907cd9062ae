package cost

import (
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
)

// What it takes to fill a table from others (seed 004, section 4.6): the same model's prices of reading all rows of a table,
// and of writing all rows of one. Both are linear in the size of a table with given columns, as the seed has them (C^E =
// T''(size), C^L = T'''(size), W-38), and need no parameters of their own: what fits the model to a cluster fits these.

// Extract prices reading a table whole.
func Extract(m Model, t *model.Table) Cost {
	rows := t.Entries()
	return m.Step(&plan.Step{Kind: plan.Scan, Table: t, Fields: t.Fields(), Requests: 1, Rows: rows, Scanned: rows, Bytes: Arithmetic(m).TableBytes(t), Left: rows}, true)
}

// Load prices writing all rows of a table into it.
func Load(m Model, t *model.Table) Cost {
	rows := t.Entries()
	return m.Step(&plan.Step{Kind: plan.Put, Table: t, Fields: t.Fields(), Requests: rows, Rows: rows, Bytes: Arithmetic(m).TableBytes(t), Left: rows}, false)
}

// Seconds is how long a latency of a model is. Models of which the unit is not known are taken to speak of seconds, which
// is what those of NoSE's authors look like.
func Seconds(m Model, latency float64) float64 {
	if _, ok := m.(*Cassandra); ok {
		return latency / 1000
	}
	return latency
}
