// Package tracer says one statement again, with Cassandra's tracing on, and reads what the nodes did. It imports capture for the
// execution that it repeats, and gocql.
//
// The client's own request is never touched: tracing it would change its answer. Instead the registry hands over the values of the
// next execution of a prepared SELECT (capture.Registry.NextExecution), and the same text is executed with the same values and
// consistency from a session of Helenus's own, under Helenus's role, its first page only. Nothing is written, and
// nobody keeps the values. Cassandra does: it notes them in system_traces.sessions, so the trace is deleted there once it was
// read; if that fails the Trace says so, and Cassandra forgets them after a day.
//
// Where the link is thin: the repetition finds the caches warm that the execution has just filled, its coordinator may be another
// node, and a statement that is never prepared can not be traced.
package tracer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/proxy"
)

// Trace is what Cassandra did to answer one execution.
type Trace struct {
	Fingerprint string        `json:"fingerprint"`
	At          time.Time     `json:"at"`
	Coordinator string        `json:"coordinator"`
	Duration    time.Duration `json:"duration_ns"` // as the coordinator measured it
	Consistency string        `json:"consistency"`
	Rows        int           `json:"rows"` // of the first page
	Events      []Event       `json:"events"`
	Kept        string        `json:"kept,omitempty"` // why Cassandra keeps the trace, values included, for a day; "" if it was deleted
}

// Event is one thing that one node did.
type Event struct {
	Node     string        `json:"node"`
	Elapsed  time.Duration `json:"elapsed_ns"` // since the node began
	Thread   string        `json:"thread"`
	Activity string        `json:"activity"`
}

const (
	waitFor  = 10 * time.Second // for the trace to be written, which Cassandra does afterwards
	askEvery = 100 * time.Millisecond
)

// raw is a value as the client sent it.
type raw []byte

// MarshalCQL implements gocql.Marshaler.
func (r raw) MarshalCQL(gocql.TypeInfo) ([]byte, error) { return r, nil }

// identity hears the id of the trace.
type identity struct{ id []byte }

// Trace implements gocql.Tracer.
func (i *identity) Trace(id []byte) { i.id = append([]byte(nil), id...) }

// Again executes e once more, traced. connect opens a session in a keyspace ("" for none), which is closed after.
func Again(ctx context.Context, connect func(keyspace string) (*gocql.Session, error), fingerprint string, e capture.Execution) (*Trace, error) {
	session, err := connect(e.Prepared.Keyspace)
	if err != nil {
		return nil, fmt.Errorf("trace %s: connect to Cassandra: %w", fingerprint, err)
	}
	defer session.Close()
	var values []any
	for _, v := range e.Values {
		var one any = raw(v.Bytes)
		switch {
		case v.Unset:
			one = gocql.UnsetValue
		case v.Null:
			one = nil
		}
		if v.Name != "" {
			one = gocql.NamedValue(v.Name, one)
		}
		values = append(values, one)
	}
	t := &Trace{Fingerprint: fingerprint, At: time.Now().UTC(), Consistency: gocql.Consistency(e.Consistency).String()}
	var heard identity
	iter := session.Query(proxy.Ours(e.Prepared.Text), values...).WithContext(ctx).Consistency(gocql.Consistency(e.Consistency)).Trace(&heard).Iter()
	t.Rows = iter.NumRows()
	if err := iter.Close(); err != nil {
		return nil, fmt.Errorf("trace %s: the statement failed: %w", fingerprint, err)
	}
	id, err := gocql.UUIDFromBytes(heard.id)
	if err != nil {
		return nil, fmt.Errorf("trace %s: Cassandra gave no trace: %w", fingerprint, err)
	}
	if err := t.read(ctx, session, id); err != nil {
		return nil, fmt.Errorf("trace %s: read the trace: %w", fingerprint, err)
	}
	t.forget(ctx, session, id)
	return t, nil
}

// read waits until the trace is complete.
func (t *Trace) read(ctx context.Context, session *gocql.Session, id gocql.UUID) error {
	ctx, cancel := context.WithTimeout(ctx, waitFor)
	defer cancel()
	for {
		var duration *int
		err := session.Query("SELECT coordinator, duration FROM system_traces.sessions WHERE session_id = ?", id).
			WithContext(ctx).Consistency(gocql.One).Scan(&t.Coordinator, &duration)
		if err == nil && duration != nil {
			t.Duration = time.Duration(*duration) * time.Microsecond
			break
		}
		if err != nil && !errors.Is(err, gocql.ErrNotFound) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("it was not complete after %v", waitFor)
		case <-time.After(askEvery):
		}
	}
	// The nodes write their events on their own time: they are read until two readings have as many.
	for {
		events, err := events(ctx, session, id)
		if err != nil {
			return err
		}
		if len(events) > 0 && len(events) == len(t.Events) {
			return nil
		}
		t.Events = events
		select {
		case <-ctx.Done():
			return nil // with what there is
		case <-time.After(3 * askEvery):
		}
	}
}

func events(ctx context.Context, session *gocql.Session, id gocql.UUID) (list []Event, err error) {
	rows := session.Query("SELECT source, source_elapsed, thread, activity FROM system_traces.events WHERE session_id = ?", id).
		WithContext(ctx).Consistency(gocql.One).Iter()
	var e Event
	var micros int
	for rows.Scan(&e.Node, &micros, &e.Thread, &e.Activity) {
		e.Elapsed = time.Duration(micros) * time.Microsecond
		list = append(list, e)
	}
	return list, rows.Close()
}

// forget deletes the trace, which holds the values.
func (t *Trace) forget(ctx context.Context, session *gocql.Session, id gocql.UUID) {
	for _, table := range []string{"sessions", "events"} {
		if err := session.Query("DELETE FROM system_traces."+table+" WHERE session_id = ?", id).WithContext(ctx).Consistency(gocql.One).Exec(); err != nil {
			t.Kept = fmt.Sprintf("the trace could not be deleted from system_traces.%s, where the values stand: %v", table, err)
			return
		}
	}
}
