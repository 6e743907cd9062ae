package merged

import (
	"context"
	"time"
)

// Row is what a member leaves for the others: bytes that only this package reads.
type Row struct {
	Kind string // one of few
	Key  string // of a member's row its name, or begins with it
	Body []byte
}

// Store is the fleet's state, as far as learning needs it. It is safe for concurrent use.
type Store interface {
	// Put stores a row in place of the one of its kind and key. After keep it may be forgotten.
	Put(ctx context.Context, row Row, keep time.Duration) error
	// Agree stores a row if there is none of its kind and key, and returns the one that is there then: the same to all who ask.
	Agree(ctx context.Context, row Row, keep time.Duration) (Row, error)
	// All returns the rows of a kind, in any order.
	All(ctx context.Context, kind string) ([]Row, error)
	// Drop removes a row, if it is there.
	Drop(ctx context.Context, kind, key string) error
}

// Kinds of rows.
const (
	countsKind   = "counts"
	leftKind     = "left"
	sumKind      = "sum"
	valuesKind   = "values"
	findingsKind = "findings"

	// SecretKind is of what is agreed on.
	SecretKind = "secret"
)
