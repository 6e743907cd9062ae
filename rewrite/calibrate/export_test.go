package calibrate

import (
	"context"
	"math/rand/v2"
	"time"
)

// Predict is what a model says of a shape.
var Predict = (*Shape).predict

// Summary is what is kept of the times that a shape took.
var Summary = summary

// Rounds measures operations of these names, which are told of each run, and returns what is kept of each.
func Rounds(ctx context.Context, budget time.Duration, times map[string]int, run func(name string)) (rounds int, kept []Measurement, err error) {
	c := &calibration{o: Options{Budget: budget, Progress: func(Progress) {}}, began: time.Now(), random: rand.New(rand.NewPCG(1, 1))}
	var all []operation
	for name, n := range times {
		all = append(all, operation{Shape: Shape{Name: name}, times: n, run: func(context.Context, *rand.Rand) error { run(name); return nil }})
	}
	kept, err = c.rounds(ctx, all)
	return c.facts.Rounds, kept, err
}

// Shapes are all that a calibration measures.
func Shapes(small bool, replication int) ([]Shape, error) {
	s := full
	if small {
		s = quick
	}
	b, err := newBench(nil, DefaultPrefix, &Facts{Replication: replication}, s)
	if err != nil {
		return nil, err
	}
	var out []Shape
	for _, o := range b.operations(nil) {
		out = append(out, o.Shape)
	}
	return out, nil
}
