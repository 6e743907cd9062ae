package cost

import (
	"fmt"

	"github.com/helenus-db/helenus/advisor/plan"
)

// Parameters of the default model, Constants. The zero value of each field stands for its default. Times are
// milliseconds.
//
// The defaults come from reads on a busy machine of two cores with three nodes, replication 1, 60,000 rows, five rows an
// answer, consistency ONE (p50): by primary key 5.9 ms; look-up table and then five base rows 16 ms; secondary index
// 19 ms; ALLOW FILTERING 196 ms. Six requests against one make a request about 2 ms of that machine's time; the index read
// asks three nodes, each for about 4.5 ms; the scan takes 3.2 microseconds a row while three processes share two cores,
// so about 1.3 for one. All requests were then scaled to 0.5 ms, what one takes on an idle machine, keeping the ratios.
// Scale brings them to the latencies of the cluster at hand.
type Parameters struct {
	Nodes float64 // nodes that a read without a partition key must ask; default 1

	Request float64 // one get, put or delete of one partition, in all parts of the system; default 0.5
	Node    float64 // one node's part in a read that asks all nodes, beyond its first request; default 1.1
	Row     float64 // one row in an answer; default 0.005
	Byte    float64 // one byte in an answer or a write; default 0.000002
	Index   float64 // reading one base row found by a secondary index, in the node itself; default 0.1
	Scanned float64 // one row looked at by ALLOW FILTERING; default 0.0013
	Sort    float64 // one row sorted by the client; default 0.0005, and 0.01 a sort
	Put     float64 // one put; default as Request
	Delete  float64 // one delete, with what its tombstone costs later; default as Request and a fifth

	// Parallel is how many requests of one step run at once; default 8. It bears on latency only.
	Parallel float64
	// Scale multiplies everything; default 1. See Calibrate.
	Scale float64
}

// Constants is the default cost model: linear in requests, rows, bytes and rows scanned.
type Constants struct{ p Parameters }

// NewConstants returns the model with parameters; zero ones get their defaults.
func NewConstants(p Parameters) *Constants {
	for _, d := range []struct {
		value *float64
		or    float64
	}{
		{&p.Nodes, 1}, {&p.Request, 0.5}, {&p.Node, 1.1}, {&p.Row, 0.005}, {&p.Byte, 0.000002}, {&p.Index, 0.1},
		{&p.Scanned, 0.0013}, {&p.Sort, 0.0005}, {&p.Parallel, 8}, {&p.Scale, 1},
	} {
		if *d.value <= 0 {
			*d.value = d.or
		}
	}
	if p.Put <= 0 {
		p.Put = p.Request
	}
	if p.Delete <= 0 {
		p.Delete = 1.2 * p.Request
	}
	return &Constants{p}
}

// Name is "constants".
func (c *Constants) Name() string { return "constants" }

// Parameters returns the parameters, defaults filled in.
func (c *Constants) Parameters() Parameters { return c.p }

// Calibrate returns the model scaled so that a read of one partition with the given number of rows and bytes takes the
// observed latency, milliseconds.
func (c *Constants) Calibrate(observed, rows, bytes float64) (*Constants, error) {
	p := c.p
	predicted := p.Request + rows*p.Row + bytes*p.Byte
	if !(observed > 0 && observed < 1e6) || !(rows >= 0) || !(bytes >= 0) {
		return nil, fmt.Errorf("cost: can not calibrate by %g ms for %g rows of %g bytes", observed, rows, bytes)
	}
	p.Scale = observed / predicted
	return &Constants{p}, nil
}

// Step prices a step.
func (c *Constants) Step(s *plan.Step, _ bool) Cost {
	p := c.p
	var work, latency float64
	data := s.Rows*p.Row + s.Bytes*p.Byte
	switch s.Kind {
	case plan.Get:
		work = s.Requests*p.Request + data
		latency = c.waves(s.Requests)*p.Request + data
	case plan.IndexGet:
		// On each node one index read; its base rows are read there.
		asked := p.Request + p.Nodes*p.Node
		work = s.Requests*asked + s.Scanned*p.Index + data
		latency = c.waves(s.Requests)*(p.Request+p.Node+(asked-p.Request-p.Node)/p.Parallel) + s.Scanned*p.Index/p.Nodes + data
	case plan.Scan:
		work = p.Request + p.Nodes*p.Node + s.Scanned*p.Scanned + data
		latency = p.Request + p.Node + s.Scanned*p.Scanned/p.Nodes + data
	case plan.Sort:
		work = 0.01 + s.Rows*p.Sort
		latency = work
	case plan.Put:
		work = s.Requests*p.Put + s.Bytes*p.Byte
		latency = c.waves(s.Requests)*p.Put + s.Bytes*p.Byte
	case plan.Remove:
		work = s.Requests * p.Delete
		latency = c.waves(s.Requests) * p.Delete
	}
	return Cost{work * p.Scale, latency * p.Scale}
}

// waves is how long n requests take that run in parallel, in requests: the first counts whole, the others share.
func (c *Constants) waves(n float64) float64 {
	if n <= 1 {
		return n
	}
	return 1 + (n-1)/c.p.Parallel
}

// RequestCount counts requests.
type RequestCount struct{}

// Name is "request_count".
func (RequestCount) Name() string { return "request_count" }

// Step prices a step.
func (RequestCount) Step(s *plan.Step, _ bool) Cost { return same(s.Requests) }

// EntityCount counts rows read and written.
type EntityCount struct{}

// Name is "entity_count".
func (EntityCount) Name() string { return "entity_count" }

// Step prices a step.
func (EntityCount) Step(s *plan.Step, _ bool) Cost {
	switch s.Kind {
	case plan.Get, plan.IndexGet, plan.Scan, plan.Put, plan.Remove:
		return same(max(s.Rows, s.Scanned))
	}
	return Cost{}
}

// FieldSize counts bytes read and written.
type FieldSize struct{}

// Name is "field_size".
func (FieldSize) Name() string { return "field_size" }

// Step prices a step.
func (FieldSize) Step(s *plan.Step, _ bool) Cost { return same(s.Bytes) }

func same(v float64) Cost { return Cost{v, v} }
