package lookup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/internal/guard"
	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/rewrite/condition"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/kind"
	"github.com/helenus-db/helenus/rewrite/lookup/bulk"
	"github.com/helenus-db/helenus/rewrite/lookup/maintain"
	"github.com/helenus-db/helenus/rewrite/lookup/match"
)

// Fitted is a look-up over its base, in a process that carries it out.
type Fitted struct {
	*match.LookUp
	runner *Runner
}

var (
	_ kind.Rechecker = (*Fitted)(nil)
	_ kind.Bulk      = (*Fitted)(nil)
	_ kind.Noting    = (*Fitted)(nil)
	_ kind.Emptied   = (*Fitted)(nil)
)

// form is that of the tables that this version makes and keeps: an entry per write (package maintain).
const form = 1

// Form implements kind.Derived.
func (*Fitted) Form() int { return form }

// Tables implements kind.Derived: that of the entries, and that of the rows whose values are not known.
func (l *Fitted) Tables() []kind.Table {
	one := exec.FromInt64(0)
	return []kind.Table{
		{Keyspace: l.Home(), Name: l.Table, Create: l.Create, Columns: l.columns, Mark: l.EntryID, Holds: true,
			Probe: exec.Query{Text: l.ScanEntries(), Values: [][]byte{one, one}, Consistency: gocql.One}},
		{Keyspace: l.Home(), Name: l.PendingTable(), Create: l.CreatePending,
			Probe: exec.Query{Text: l.ScanPending(), Values: [][]byte{{0}}, Consistency: gocql.One}},
	}
}

// columns are those that the table of entries is made with.
func (l *Fitted) columns() ([]schema.Column, error) {
	st, err := cql.Parse(l.Create(""))
	if err != nil {
		return nil, fmt.Errorf("the definition of %s can not be read: %w", l.LookUpName(), err)
	}
	made, ok := st.(*cql.CreateTable)
	if !ok {
		return nil, fmt.Errorf("the definition of %s is no CREATE TABLE", l.LookUpName())
	}
	types := map[string]string{l.By.Name: l.By.Type}
	for _, k := range l.Key {
		types[k.Name] = k.Type // as Cassandra writes it
	}
	descending := map[string]bool{}
	for _, o := range made.ClusteringOrder {
		descending[o.Column] = o.Descending
	}
	at, columns := map[string]int{}, make([]schema.Column, len(made.Columns))
	for i, c := range made.Columns {
		if types[c.Name] == "" {
			types[c.Name] = c.Type.String()
		}
		at[c.Name], columns[i] = i, schema.Column{Name: c.Name, Kind: schema.Regular, Position: -1, Type: types[c.Name]}
	}
	for i, c := range made.PartitionKey {
		columns[at[c]] = schema.Column{Name: c, Kind: schema.PartitionKey, Position: i, Type: types[c]}
	}
	for i, c := range made.ClusteringKey {
		columns[at[c]] = schema.Column{Name: c, Kind: schema.Clustering, Position: i, Type: types[c], Descending: descending[c]}
	}
	return columns, nil
}

// Read implements kind.Fitted.
func (l *Fitted) Read(st cql.Statement, keyspace string) (kind.Read, *condition.Refusal) {
	r, refusal := l.CompileRead(st, keyspace)
	if refusal != nil {
		return nil, refusal
	}
	return &read{Read: r, of: l}, nil
}

// places is at how many places of the ring values are sampled.
const places = 8

// Samples implements kind.Fitted: values that the look-up has, for those of the approved statements that bind nothing else.
func (l *Fitted) Samples(ctx context.Context, most int, c gocql.Consistency) ([]kind.Sample, error) {
	alone := l.Alone()
	if len(alone) == 0 {
		return nil, nil // the statements bind more than the one value: only the application knows what it asks
	}
	each := max(most/places, 1)
	var requests []kind.Request
	for i := range places {
		token := math.MinInt64 + int64(i)*(math.MaxInt64/places*2)
		a, err := l.runner.parts.Session.Query(ctx, exec.Query{Text: l.Sample(), Consistency: gocql.One,
			Values: [][]byte{exec.FromInt64(token), exec.FromInt32(int32(each))}}) // #nosec G115 -- a small setting
		if err != nil {
			return nil, fmt.Errorf("sample the values of %s: %w", l.LookUpName(), err)
		}
		for _, row := range a.Rows {
			requests = append(requests, kind.Request{Values: kind.Values{Values: []proxy.Value{{Bytes: row[0]}}}, Consistency: c})
		}
	}
	samples := make([]kind.Sample, len(alone))
	for i, r := range alone {
		samples[i] = kind.Sample{Statement: r.Statement, Read: &read{Read: r, of: l}, Requests: requests}
	}
	return samples, nil
}

// Writes implements kind.Derived.
func (l *Fitted) Writes(st cql.Statement, keyspace string) []kind.Write {
	var out []kind.Write
	for _, w := range l.LookUp.Writes(st, keyspace) {
		out = append(out, &write{w})
	}
	return out
}

// Unreadable implements kind.Derived.
func (l *Fitted) Unreadable(text string) kind.Write {
	if w := l.LookUp.Unreadable(text); w != nil {
		return &write{w}
	}
	return nil
}

// Fill implements kind.Derived: an entry for every row that has a value.
func (l *Fitted) Fill(ctx context.Context, part exec.Range, how kind.Filling, next func(context.Context) error) (rows int64, err error) {
	keys := len(l.Key)
	var (
		mu    sync.Mutex
		first error
		wait  sync.WaitGroup
		slots = make(chan struct{}, how.InFlight)
	)
	failed := func() error {
		mu.Lock()
		defer mu.Unlock()
		return first
	}
	q := exec.Query{Text: l.ScanBase(), Values: [][]byte{exec.FromInt64(part.First), exec.FromInt64(part.Last)}, Consistency: how.Read, PageSize: 1000}
	err = l.runner.parts.Session.Scan(ctx, q, func(cells [][]byte) error {
		value := cells[keys]
		if !match.Indexable(value) {
			return nil
		}
		if failed() != nil {
			return errStopped
		}
		if err := next(ctx); err != nil {
			return err
		}
		written, _ := exec.Int64(cells[keys+1])
		ttl, _ := exec.Int32(cells[keys+2])
		key := cells[:keys]
		slots <- struct{}{}
		guard.In(&wait, guard.Backfill, func() {
			defer func() { <-slots }()
			err := guard.Do(guard.Backfill, func() error {
				return l.runner.Maintainer.Fill(ctx, l.LookUp, value, key, written, ttl, how.Write)
			})
			mu.Lock()
			defer mu.Unlock()
			if err != nil && first == nil {
				first = err
			}
			rows++
		})
		return nil
	})
	wait.Wait()
	if first != nil {
		return 0, first
	}
	return rows, err
}

var errStopped = errors.New("stopped")

// Pass implements kind.Derived.
func (l *Fitted) Pass(ctx context.Context, next func(context.Context) error, progress func(done, total int)) (kind.Findings, error) {
	if err := l.Tell(ctx); err != nil {
		return kind.Findings{}, err
	}
	if err := l.Learn(ctx); err != nil {
		return kind.Findings{}, err
	}
	found, err := l.runner.checker.Pass(ctx, l.LookUp, next, progress)
	if err == nil {
		l.runner.Maintainer.SweepPending(ctx, l.LookUp)
	}
	return found, err
}

// Tell implements kind.Noting: entries that could not be put.
func (l *Fitted) Tell(ctx context.Context) error { return l.runner.Maintainer.PutOwed(ctx, l.LookUp) }

// Learn implements kind.Noting: the rows whose value is not known.
func (l *Fitted) Learn(ctx context.Context) error {
	return l.runner.Maintainer.LoadPending(ctx, l.LookUp)
}

// BeforeEmptied implements kind.Emptied.
func (l *Fitted) BeforeEmptied() { l.runner.Maintainer.NewEra(l.LookUp) }

// Spark implements kind.Bulk.
func (l *Fitted) Spark(change string, how kind.Filling) (string, error) {
	return bulk.Spark(change, l.LookUp, l.runner.Maintainer.CellEntry(), how)
}

// Watched implements kind.Rechecker.
func (l *Fitted) Watched() []string { return []string{l.By.Name} }

// Recheck implements kind.Rechecker.
func (l *Fitted) Recheck(ctx context.Context, key [][]byte, next func(context.Context) error) (kind.Findings, error) {
	return l.runner.checker.Recheck(ctx, l.LookUp, key, next)
}

// write is what a statement means to the entries.
type write struct{ *match.Write }

// Bind implements kind.Write.
func (w *write) Bind(x kind.Execution, steps []kind.Step) (kind.Effect, []kind.Step) {
	e := w.Write.Bind(x.Values)
	switch {
	case e.Refused:
		return kind.Effect{Refused: true}, steps
	case e.Unknown != nil && len(e.Keys) == 0:
		return kind.Effect{Doubt: e.Unknown.Error(), Empties: w.Truncates}, steps
	case e.Unknown != nil:
		u := &maintain.Unknown{LookUp: w.LookUp, Conditional: x.Conditional}
		for _, cells := range e.Keys {
			u.Keys = append(u.Keys, match.KeyBytes(cells))
		}
		return kind.Effect{Pending: u}, steps
	case !e.Touched:
		return kind.Effect{}, steps
	}
	value := bytes.Clone(e.Entry.Bytes)
	for _, cells := range e.Keys {
		c := &maintain.Change{LookUp: w.LookUp, Key: match.KeyBytes(cells), Value: value, Clears: e.Clears, TTL: e.TTL,
			OwnTime: x.OwnTime, Conditional: x.Conditional}
		switch {
		case x.Conditional: // Cassandra does not look at the client's timestamp
		case e.HasTimestamp:
			c.Stamped, c.At = true, e.Timestamp
		case x.HasTimestamp:
			c.Stamped, c.At = true, x.Timestamp
		}
		steps = append(steps, c)
	}
	return kind.Effect{}, steps
}

// read is a statement that the look-up answers.
type read struct {
	*match.Read
	of *Fitted
}

var (
	_ kind.Scanner  = (*read)(nil)
	_ kind.Rightful = (*read)(nil)
	_ kind.Spoken   = (*read)(nil)
)

// Of implements kind.Read.
func (r *read) Of() kind.Fitted { return r.of }

// Answer implements kind.Read.
func (r *read) Answer(ctx context.Context, q kind.Request) (proxy.Rows, error) {
	return r.of.runner.Reader.Read(ctx, r.Read, q)
}

// AnswerFor implements kind.Rightful.
func (r *read) AnswerFor(ctx context.Context, q kind.Request, client kind.Client) (proxy.Rows, error) {
	return r.of.runner.Reader.ReadFor(ctx, r.Read, q, client)
}

// Described implements kind.Spoken.
func (r *read) Described() string { return r.Twin }

// Original implements kind.Read.
func (r *read) Original(ctx context.Context, q kind.Request) (proxy.Rows, error) {
	return r.of.runner.Reader.Original(ctx, r.Read, q)
}

// Asked implements kind.Read.
func (r *read) Asked(q kind.Request) string {
	return r.Read.Asked(q.Values)
}

// Scan implements kind.Scanner.
func (r *read) Scan(ctx context.Context, requests []kind.Request, parts []exec.Range, c gocql.Consistency) ([]proxy.Rows, error) {
	return r.of.runner.Reader.Scan(ctx, r.Read, requests, parts, c)
}
