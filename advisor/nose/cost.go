package nose

import "github.com/helenus-db/helenus/advisor/plan"

// Model is one of NoSE's cost models: a price for each kind of step, in a unit of its own.
type Model struct {
	name   string
	lookup func(s *plan.Step, first bool) float64
	put    func(s *plan.Step) float64
	remove func(s *plan.Step) float64
}

// The constants of the model cassandra, that its authors published for RUBiS on Cassandra 2.0.9 (N-34; unit not stated,
// probably seconds).
const (
	indexCost     = 0.0078395645
	partitionCost = 0.0013692786
	rowCost       = 1.17093638386496e-05
	deleteCost    = 0.0013287903
	insertCost    = 0.013329108
)

// sortCost is what a sort costs, in every model.
const sortCost = 1

// rows is how many rows a step returns or looks at.
func rows(s *plan.Step) float64 { return max(s.Rows, s.Scanned) }

func written(s *plan.Step) float64 { return s.Rows }
func size(s *plan.Step) float64    { return s.Bytes }

// Models are the four models (N-31 to N-35), by name.
//
//   - request_count: 1 for the first lookup, then the rows that a lookup returns; rows written.
//   - entity_count: rows returned and written.
//   - field_size: bytes returned; the size of one row for a write, however many it writes.
//   - cassandra: for a lookup a constant, and one for each get and each row; for each row written a constant.
var Models = []*Model{
	{"nose:request_count", func(s *plan.Step, first bool) float64 {
		if first && s.Kind != plan.Scan {
			return s.Requests // one, unless there are several values or buckets to ask for
		}
		return rows(s)
	}, written, written},
	{"nose:entity_count", func(s *plan.Step, _ bool) float64 { return rows(s) }, written, written},
	{"nose:field_size", func(s *plan.Step, _ bool) float64 { return size(s) }, size, size},
	{"nose:cassandra", func(s *plan.Step, _ bool) float64 {
		return indexCost + s.Requests*partitionCost + rows(s)*rowCost
	}, func(s *plan.Step) float64 { return s.Rows * insertCost }, func(s *plan.Step) float64 { return s.Rows * deleteCost }},
}

// Name is the model's name, with "nose:" before NoSE's own.
func (m *Model) Name() string { return m.name }

// Arithmetic is how the model counts.
func (m *Model) Arithmetic() plan.Arithmetic { return Arithmetic{} }

// Price prices a step. first: it is the first read of its plan. Filters and limits are free, a sort costs 1 (N-33).
func (m *Model) Price(s *plan.Step, first bool) float64 {
	switch s.Kind {
	case plan.Get, plan.IndexGet, plan.Scan:
		return m.lookup(s, first)
	case plan.Sort:
		return sortCost
	case plan.Put:
		return m.put(s)
	case plan.Remove:
		return m.remove(s)
	}
	return 0
}
