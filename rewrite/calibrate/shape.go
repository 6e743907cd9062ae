package calibrate

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
)

// Shape is one kind of operation that is measured, described as a step of a plan is: by what it asks for, not by how long
// it takes.
type Shape struct {
	Family   string    `json:"family"`             // shapes of one chart
	Name     string    `json:"name"`               // unique
	Kind     plan.Kind `json:"kind"`               // of the step
	Requests float64   `json:"requests"`           // sent, or rows of one logged batch
	Rows     float64   `json:"rows"`               // answered, written, sorted or grouped
	Columns  float64   `json:"columns,omitempty"`  // of each row
	Bytes    float64   `json:"bytes,omitempty"`    // of all rows, as plans count them
	Scanned  float64   `json:"scanned,omitempty"`  // rows that the servers look at
	Width    float64   `json:"width,omitempty"`    // columns of the scanned table
	Index    bool      `json:"index,omitempty"`    // read by a secondary index; or one is kept
	SAI      bool      `json:"sai,omitempty"`      // the same of a storage-attached one
	Dead     float64   `json:"dead,omitempty"`     // deleted rows that a read has to pass
	Elements float64   `json:"elements,omitempty"` // entries of sets and maps that come with the rows
	Level    string    `json:"level,omitempty"`    // consistency level; "": that of the calibration
	Logged   bool      `json:"logged,omitempty"`   // rows are written in one logged batch
	Unasked  bool      `json:"unasked,omitempty"`  // the coordinator answers without a look at any replica
}

// step is the shape as the cost model sees it.
func (s *Shape) step() *plan.Step {
	e := &model.Entity{Name: "entity", Count: 1000}
	for _, name := range []string{"id", "by"} {
		e.Attributes = append(e.Attributes, &model.Attribute{Name: name, Type: "int"})
	}
	e.Key = e.Attributes[:1]
	by := e.Field("by")
	t := &model.Table{Tree: model.Tree{Entities: []*model.Entity{e}}, Values: []model.Field{by}} // no partition key: none is too large
	if s.Index || s.SAI {
		t.Indexes = []model.Index{{Field: by, SAI: s.SAI}}
	}
	for range int(s.Width) - 1 {
		t.Values = append(t.Values, by) // the model counts them
	}
	step := &plan.Step{Kind: s.Kind, Table: t, Requests: s.Requests, Rows: s.Rows, Scanned: s.Scanned, Bytes: s.Bytes}
	for range int(s.Columns) {
		step.Fields = append(step.Fields, by) // the model counts them
	}
	if s.Kind == plan.IndexGet {
		step.Where = []plan.Binding{{Field: by}}
	}
	return step
}

// predict is the latency that a model gives the shape, ms. What a deletion costs later reads is in the model as work of the
// delete; here it is the time of the read that passes it.
func (s *Shape) predict(m *cost.Cassandra) float64 { return s.price(m, s.step()) }

// price is predict for a step that is made already.
func (s *Shape) price(m *cost.Cassandra, step *plan.Step) float64 {
	p := m.Parameters()
	if p.Logged != s.Logged {
		p.Logged = s.Logged
		if other, err := cost.NewCassandra(p); err == nil {
			m = other
		}
	}
	if at, err := m.At(s.Level); err == nil && s.Level != "" {
		return at.Step(step, true).Latency
	}
	if s.Unasked {
		return s.Requests * p.Request
	}
	return m.Step(step, true).Latency + m.Step(&plan.Step{Kind: plan.Unnest, Scanned: s.Elements}, true).Latency + s.Dead*p.Tombstone
}

// Measurement is a shape with how long it took, ms.
type Measurement struct {
	Shape
	Count  int     `json:"count"`
	Median float64 `json:"median_ms"`
	Low    float64 `json:"p25_ms"`
	High   float64 `json:"p75_ms"`
	Tail   float64 `json:"p95_ms"`
}

// spread is the relative standard error of the median, from the quartiles.
func (m *Measurement) spread() float64 {
	return 1.25 * (m.High - m.Low) / 1.35 / math.Sqrt(float64(max(1, m.Count))) / m.Median
}

// Set is everything that one calibration measured: all that the fit sees.
type Set struct {
	Cluster      Facts         `json:"cluster"`
	Measurements []Measurement `json:"measurements"`
	Notes        []string      `json:"notes,omitempty"` // what could not be measured, and why; what else was going on
}

// Read reads a Set from JSON: what Result.JSON has written, or a Set alone. name is for messages.
func Read(name string, data []byte) (*Set, error) {
	var both struct {
		Set
		Shapes []Measurement `json:"shapes"`
	}
	if err := json.Unmarshal(data, &both); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	both.Measurements = append(both.Measurements, both.Shapes...)
	if len(both.Measurements) == 0 {
		return nil, fmt.Errorf("%s: it has no measurements: they are what `helenus calibrate --json` prints", name)
	}
	kinds := []plan.Kind{plan.Get, plan.IndexGet, plan.Scan, plan.Put, plan.Remove, plan.Sort, plan.Group}
	for i := range both.Measurements {
		m := &both.Measurements[i]
		for _, v := range []float64{m.Requests, m.Rows, m.Columns, m.Bytes, m.Scanned, m.Dead, m.Elements, m.Width, m.Low, m.High} {
			if !(v >= 0 && v < 1e12) {
				return nil, fmt.Errorf("%s: measurement %q: %g is no number that it could have", name, m.Name, v)
			}
		}
		if m.Level != "" && CheckConsistency(m.Level) != nil {
			return nil, fmt.Errorf("%s: measurement %q: %q is no consistency level", name, m.Name, m.Level)
		}
		if !slices.Contains(kinds, m.Kind) {
			return nil, fmt.Errorf("%s: measurement %q: %q is no kind of step", name, m.Name, m.Kind)
		}
		if m.Columns > 1000 || m.Width > 1000 || m.Count < 0 || !(m.Median > 0 && m.Median < 1e9) {
			return nil, fmt.Errorf("%s: measurement %q: %g columns, %d times, %g ms", name, m.Name, m.Columns, m.Count, m.Median)
		}
	}
	return &both.Set, nil
}

// Facts are where and how it was measured.
type Facts struct {
	Version     string  `json:"version"` // of Cassandra
	DataCentre  string  `json:"data_centre"`
	Nodes       int     `json:"nodes"` // of the data centre
	Replication int     `json:"replication"`
	Consistency string  `json:"consistency"`
	Machine     string  `json:"machine"` // of the client
	Date        string  `json:"date"`
	Seed        int64   `json:"seed"`
	Rounds      int     `json:"rounds"`
	Seconds     float64 `json:"seconds"` // that measuring took
}

func (f *Facts) String() string {
	return fmt.Sprintf("Cassandra %s, %d node(s) in %s, replication %d, consistency %s", f.Version, f.Nodes, f.DataCentre, f.Replication, f.Consistency)
}
