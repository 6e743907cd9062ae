package cost

import (
	"fmt"
	"os"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/nose"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
)

// Default is the model that is used where none is named: Cassandra with its default parameters.
func Default() *Cassandra {
	p := CassandraParameters{}
	p.fill()
	return &Cassandra{p, p.Consistency}
}

// models are the built-in models with default parameters.
func models() []Model {
	list := []Model{Default()}
	for _, m := range nose.Models {
		list = append(list, noses{m})
	}
	return list
}

// Names are the names that ByName knows.
func Names() []string {
	var names []string
	for _, m := range models() {
		names = append(names, m.Name())
	}
	return names
}

// ByName returns the built-in model of a name, with default parameters. The error names the nearest.
func ByName(name string) (Model, error) {
	for _, m := range models() {
		if m.Name() == name {
			return m, nil
		}
	}
	return nil, fmt.Errorf("cost: %w", &model.NameError{What: "cost model", Name: name, Known: Names()})
}

// Open is ByName, or reads a model from a file of its parameters (ReadCassandra), if there is one of that name.
func Open(name string) (Model, error) {
	m, err := ByName(name)
	if err == nil {
		return m, nil
	}
	if _, gone := os.Stat(name); gone != nil && !strings.ContainsAny(name, "./") {
		return nil, err
	}
	return OpenCassandra(name)
}

// OpenCassandra reads the model from a file of its parameters.
func OpenCassandra(name string) (*Cassandra, error) {
	data, err := model.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("cost: %w", err)
	}
	return ReadCassandra(name, data)
}

// For returns the model at the consistency level of a statement. Models that know of none are the same for all.
func For(m Model, s *workload.Statement) (Model, error) {
	if l, ok := m.(interface {
		At(level string) (Model, error)
	}); ok {
		at, err := l.At(s.Consistency)
		if err != nil {
			return nil, fmt.Errorf("statement %s: %w", s.ID, err)
		}
		return at, nil
	}
	return m, nil
}

// Refusal returns why a model does not allow a table, "" if it does.
func Refusal(m Model, t *model.Table) string {
	if r, ok := m.(interface{ Refuses(t *model.Table) string }); ok {
		return r.Refuses(t)
	}
	return ""
}

// noses is one of NoSE's models as a Model: its unit is its own, and work and latency are the same.
type noses struct{ *nose.Model }

// Refuses collections, of which NoSE's arithmetic knows nothing.
func (m noses) Refuses(t *model.Table) string {
	if len(t.Nests) > 0 {
		return "collections: NoSE has none"
	}
	return ""
}

// Step prices a step.
func (m noses) Step(s *plan.Step, first bool) Cost { return same(m.Price(s, first)) }

// Proposals says what candidates a model can judge: the size of a partition, bytes, beyond which it finds buckets worth
// a try (0: it does not say), and whether it prices what NoSE has no candidates for: keeping indexes, and collections.
func Proposals(m Model) (partitionBytes float64, beyond bool) {
	if c, ok := m.(*Cassandra); ok {
		return c.p.PartitionBytes, true
	}
	return 0, false
}
