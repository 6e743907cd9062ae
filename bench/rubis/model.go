package main

import (
	"context"
	"fmt"

	"github.com/helenus-db/helenus/advisor/cost"
)

// calibrate finds the cost model: from a file, from measurements on this Cassandra, or as it is by default.
func (b *bench) calibrate(_ context.Context) error {
	if b.parameters != "" {
		m, err := cost.Open(b.parameters)
		if err != nil {
			return &usageError{err}
		}
		c, ok := m.(*cost.Cassandra)
		if !ok {
			return &usageError{fmt.Errorf("-parameters: %s is no file of parameters of the model cassandra", b.parameters)}
		}
		b.model, b.label = c, "cassandra, parameters of "+b.parameters
		return nil
	}
	m, err := cost.NewCassandra(cost.CassandraParameters{Nodes: 1, Replication: 1, Consistency: "ONE"})
	b.model, b.label = m, "cassandra, its defaults for one node"
	return err
}
