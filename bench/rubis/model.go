package main

import (
	"context"
	"fmt"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/bench/contest"
	"github.com/helenus-db/helenus/rewrite/calibrate"
)

// calibrate finds the cost model: from a file, from measurements on this Cassandra, or as it is by default.
func (b *bench) calibrate(ctx context.Context) error {
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
	if b.plain {
		m, err := cost.NewCassandra(cost.CassandraParameters{Nodes: 1, Replication: 1, Consistency: "ONE"})
		b.model, b.label = m, "cassandra, its defaults for one node"
		return err
	}
	phase := ""
	set, err := calibrate.Measure(ctx, calibrate.Options{
		Connect: func(string) (*gocql.Session, error) { return contest.Connect(b.arena.Point) },
		Prefix:  prefix + "_fit", Replication: 1, Consistency: "ONE", Budget: b.calibration,
		Quick: b.calibration < time.Minute, Force: b.cluster != nil, Seed: int64(b.seed), //nolint:gosec // any will do
		Progress: func(p calibrate.Progress) {
			if p.Phase != phase {
				phase = p.Phase
				b.say("calibrating: %s%s", p.Phase, p.Text)
			}
		},
	})
	if err != nil {
		return err
	}
	r, err := calibrate.Fit(set)
	if err != nil {
		return err
	}
	b.model = r.Model()
	b.label = fmt.Sprintf("cassandra, calibrated before on the same server (R² %.3f, median error %.0f %%)", r.R2, 100*r.MedianOff)
	b.say("%s: %+v", b.label, b.model.Parameters())
	return nil
}
