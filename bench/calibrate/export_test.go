package calibrate

import (
	"context"

	"github.com/gocql/gocql"
)

// Scratch is the keyspace alone.
type Scratch struct{ *scratch }

func NewScratch(session *gocql.Session, keyspace, centre string) Scratch {
	return Scratch{&scratch{session: session, keyspace: keyspace, centre: centre, replicas: 1, tell: func(string) {}, again: func() (*gocql.Session, error) { return session, nil }}}
}

func (s Scratch) Clear(ctx context.Context) error  { return s.clear(ctx) }
func (s Scratch) Create(ctx context.Context) error { return s.create(ctx) }
func (s Scratch) Drop(ctx context.Context) error   { return s.drop(ctx) }

// Made tells whether the keyspace is this one's to drop.
func (s Scratch) Made() bool { return s.made }

// Die ends the marker's life as kill -9 does.
func (s Scratch) Die() { s.stop() }

// Predict is what a model says of a shape.
var Predict = (*Shape).predict

// Summary is what is kept of the times that a shape took.
var Summary = summary
