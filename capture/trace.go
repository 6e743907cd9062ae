package capture

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/proxy"
)

// Execution is one execution of a prepared statement with its values: what it takes to say it again. It is for the moment; nobody
// keeps it.
type Execution struct {
	Prepared    *proxy.Prepared
	Values      []proxy.Value
	Consistency uint16
}

// Errors of NextExecution.
var (
	ErrNoStatement = errors.New("no such statement is known")
	ErrNotARead    = errors.New("only a SELECT can be said again")
	ErrBusy        = errors.New("somebody else traces it; wait a moment")
)

// executionWaiter is somebody who waits for an execution.
type executionWaiter struct{ found chan Execution }

// deliver hands a copy of x's values over, if it can be said again and nobody else was first.
func (w *executionWaiter) deliver(x *proxy.Exchange) {
	if x.Prepared == nil || x.Paged || x.Failed || x.InBatch || x.Values == nil && len(x.Prepared.Variables) > 0 {
		return
	}
	e := Execution{Prepared: x.Prepared, Values: slices.Clone(x.Values), Consistency: x.Consistency}
	for i := range e.Values {
		e.Values[i].Bytes = slices.Clone(e.Values[i].Bytes)
	}
	select {
	case w.found <- e:
	default:
	}
}

// NextExecution waits for the next execution of a prepared SELECT, until ctx ends. Meanwhile all requests are copied as in a value
// window. Only one can wait for a statement at a time.
func (r *Registry) NextExecution(ctx context.Context, fingerprint string) (Execution, error) {
	var print cql.Print
	if err := print.UnmarshalText([]byte(fingerprint)); err != nil {
		return Execution{}, err
	}
	r.mu.RLock()
	x := r.records[print]
	r.mu.RUnlock()
	if x == nil {
		return Execution{}, fmt.Errorf("%s: %w", fingerprint, ErrNoStatement)
	}
	if a := x.description.Load(); a.kind != cql.KindSelect {
		return Execution{}, fmt.Errorf("%s is of kind %s: %w", fingerprint, a.kind, ErrNotARead)
	}
	w := &executionWaiter{found: make(chan Execution, 1)}
	if !x.wanted.CompareAndSwap(nil, w) {
		return Execution{}, fmt.Errorf("%s: %w", fingerprint, ErrBusy)
	}
	defer x.wanted.Store(nil)
	r.tracing.Add(1)
	defer r.tracing.Add(-1)
	select {
	case e := <-w.found:
		return e, nil
	case <-ctx.Done():
		return Execution{}, fmt.Errorf("no prepared execution of %s came meanwhile (%w); try again when it is said", fingerprint, context.Cause(ctx))
	}
}
