package load

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/planrun"
)

// Source says what a table must hold: data.World, which streams, or reference.Reference, which knows what writes have changed.
type Source interface {
	// Contents calls row with the values of Table.Fields, and with the bucket's number after them if there is one.
	Contents(t *model.Table, row func([]any) error) error
}

// parted is a Source that can be read in parts, side by side.
type parted interface {
	Part(t *model.Table, part, parts int, row func([]any) error) error
}

// sized is a Source that knows about how many rows there will be.
type sized interface {
	Estimate(model.Tree) float64
}

// Options say how tables are loaded. The zero value does well.
type Options struct {
	Writers     int               // requests on their way at once; 0: 64
	Readers     int               // parts of the source that are made side by side, where it can be; 0: 2
	Batch       int               // rows of one request at most; 0: 100
	Across      int               // partitions of one request at most; 0: 10 on a cluster of one node, else 1
	Consistency gocql.Consistency // 0: LOCAL_ONE
	// Timestamp is that of all writes, microseconds; 0: when they are sent. What is written beside a load wins if the load's is of before.
	Timestamp int64
	Patience  time.Duration // how long Cassandra may be away; 0: two minutes; negative: not at all
	// Connect makes a new session, where the old one does not find its way back: gocql's with DisableInitialHostLookup do not
	// always. nil: what is given has to do.
	Connect func() (*gocql.Session, error)
	// After goes on where a load of the same tables from the same source has stopped.
	After *StoppedError
	// Progress is told every second how far it is.
	Progress func(Progress)
}

// Progress is how far a load is.
type Progress struct {
	Table   string
	Rows    int           // of this table, written
	Of      int           // about how many there will be; 0: not known
	Elapsed time.Duration // since this table's first
	Left    time.Duration // about; 0: not known
	Waiting error         // why Cassandra does not answer, while it does not
}

// String is a line for people.
func (p Progress) String() string {
	text := fmt.Sprintf("%s: %d rows", p.Table, p.Rows)
	if p.Of > 0 {
		text += fmt.Sprintf(" of about %d", max(p.Of, p.Rows))
	}
	if seconds := p.Elapsed.Seconds(); seconds > 0 {
		text += fmt.Sprintf(", %.0f a second", float64(p.Rows)/seconds)
	}
	if p.Left > 0 {
		text += fmt.Sprintf(", about %v left", p.Left.Round(time.Second))
	}
	if p.Waiting != nil {
		text += fmt.Sprintf("; waiting for Cassandra: %v", p.Waiting)
	}
	return text
}

// Loaded is what was written to a table.
type Loaded struct {
	Table    string
	Rows     int
	Elements int // of its collections
	Requests int
	Bytes    int // of values
	Took     time.Duration
}

// StoppedError says that a load has not come to its end.
type StoppedError struct {
	Keyspace, Table string
	Collection      int   // 0: among the table's rows; from 1 on: among the elements of that collection of theirs
	Parts           []int // rows that are surely there, of each part in which the table was read; tables after it are empty
	Cause           error
}

// Rows is how many rows of the table are surely there.
func (e *StoppedError) Rows() int {
	sum := 0
	for _, n := range e.Parts {
		sum += n
	}
	return sum
}

func (e *StoppedError) Error() string {
	return fmt.Sprintf("load: stopped at %s.%s after %d rows: %v; tables before it are whole: start again, or go on from there", e.Keyspace, e.Table, e.Rows(), e.Cause)
}

// Unwrap returns the cause.
func (e *StoppedError) Unwrap() error { return e.Cause }

// Tables writes the rows of all tables, one table after the other, and after the rows of a table the elements of its
// collections. What fails is a *StoppedError, but for faults of the tables.
func Tables(ctx context.Context, s *gocql.Session, keyspace string, tables []*model.Table, from Source, o Options) ([]Loaded, error) {
	o.Writers, o.Readers, o.Batch = defaulted(o.Writers, 64), defaulted(o.Readers, 2), defaulted(o.Batch, 100)
	if o.Patience == 0 {
		o.Patience = 2 * time.Minute
	}
	if o.Consistency == 0 {
		o.Consistency = gocql.LocalOne
	}
	if o.Across == 0 {
		o.Across = across(ctx, s)
	}
	way := &way{connect: o.Connect, given: s, now: s}
	defer way.close()
	var list []Loaded
	for _, t := range tables {
		if o.After != nil && o.After.Table != t.Name {
			continue
		}
		loaded := Loaded{Table: t.Name}
		began := time.Now()
		for i, p := range passes(t, keyspace) {
			if o.After != nil && o.After.Collection != i {
				continue
			}
			l := &loader{Options: o, way: way, pass: p, from: from, began: time.Now()}
			l.prepare()
			if err := l.run(ctx); err != nil {
				return list, &StoppedError{keyspace, t.Name, i, l.surely(), err}
			}
			o.After = nil
			if i == 0 {
				loaded.Rows = int(l.rows.Load())
			} else {
				loaded.Elements += int(l.rows.Load())
			}
			loaded.Requests += int(l.requests.Load())
			loaded.Bytes += int(l.bytes.Load())
		}
		loaded.Took = time.Since(began)
		list = append(list, loaded)
	}
	return list, nil
}

// across is how many partitions a request may have: on one node it does not matter which coordinates, and Cassandra warns of
// more than ten. On several each partition goes to its own.
func across(ctx context.Context, s *gocql.Session) int {
	var peers int
	if err := s.Query("SELECT count(*) FROM system.peers_v2").WithContext(ctx).Scan(&peers); err != nil || peers > 0 {
		return 1
	}
	return 10
}

func defaulted(n, usual int) int {
	if n < 1 {
		return usual
	}
	return n
}

// loader makes one pass.
type loader struct {
	Options
	way *way
	pass
	from  Source
	began time.Time

	rows, requests, bytes atomic.Int64
	waiting               atomic.Pointer[error]

	mutex sync.Mutex
	parts []part
}

// part is what has been read of a part of the source.
type part struct {
	skip, read int          // rows
	sent       map[int]bool // the numbers of the first rows of batches that are not acknowledged
}

func (l *loader) prepare() {
	l.parts = make([]part, 1)
	if _, ok := l.from.(parted); ok {
		l.parts = make([]part, l.Readers)
	}
	if l.After != nil {
		l.parts = make([]part, len(l.After.Parts))
	}
	for i := range l.parts {
		p := &l.parts[i]
		p.sent = map[int]bool{}
		if l.After != nil {
			p.skip = l.After.Parts[i]
			p.read = p.skip
		}
	}
}

// cell is bound as it is.
type cell []byte

// MarshalCQL implements gocql.Marshaler.
func (c cell) MarshalCQL(gocql.TypeInfo) ([]byte, error) { return c, nil }

// batch is rows of one request.
type batch struct {
	part, first int // its number in the part
	rows        [][]any
	bytes       int
	partitions  int
}

// Cassandra warns of batches over several partitions from 5 KiB on, and refuses them from 50 KiB on; those of one are for us to
// bound.
const (
	widest  = 4 << 10  // over several partitions
	largest = 64 << 10 // of one
)

// takes tells whether a row still fits in.
func (b *batch) takes(bytes int, another bool, o *Options) bool {
	partitions, most := b.partitions, largest
	if another {
		partitions++
	}
	if partitions > 1 {
		most = widest
	}
	return len(b.rows) < o.Batch && partitions <= o.Across && b.bytes+bytes <= most
}

// run reads and writes.
func (l *loader) run(outer context.Context) error {
	ctx, cancel := context.WithCancelCause(outer)
	defer cancel(nil)
	batches := make(chan *batch, l.Writers)
	var writers sync.WaitGroup
	for range l.Writers {
		writers.Go(func() {
			for b := range batches {
				if err := l.write(ctx, b); err != nil {
					cancel(err)
				}
			}
		})
	}
	told := l.tell()
	var readers sync.WaitGroup
	for i := range l.parts {
		readers.Go(func() {
			if err := l.readPart(ctx, i, batches); err != nil {
				cancel(err)
			}
		})
	}
	readers.Wait()
	close(batches)
	writers.Wait()
	told()
	return context.Cause(ctx)
}

// readPart reads rows, encodes them and gathers those of one partition.
func (l *loader) readPart(ctx context.Context, number int, batches chan<- *batch) error {
	var now *batch
	key := ""
	p := &l.parts[number]
	skip := p.skip
	send := func() error {
		if now == nil {
			return nil
		}
		l.mutex.Lock()
		now.part, now.first = number, p.read
		p.read += len(now.rows)
		p.sent[now.first] = true
		l.mutex.Unlock()
		select {
		case batches <- now:
			now = nil
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	row := func(values []any) error {
		if skip > 0 {
			skip--
			return nil
		}
		cells, bytes, partition, err := l.encode(values)
		if err != nil {
			return err
		}
		if now != nil && !now.takes(bytes, key != partition, &l.Options) {
			if err := send(); err != nil {
				return err
			}
		}
		if now == nil {
			now, key = &batch{partitions: 1}, partition
		}
		if key != partition {
			key = partition
			now.partitions++
		}
		now.rows, now.bytes = append(now.rows, cells), now.bytes+bytes
		return nil
	}
	var err error
	if source, ok := l.from.(parted); ok {
		err = source.Part(l.table, number, len(l.parts), row)
	} else {
		err = l.from.Contents(l.table, row)
	}
	return errors.Join(err, send())
}

// encode makes cells of values, in the order in which the text binds them, and the partition's name.
func (l *loader) encode(values []any) (bound []any, bytes int, partition string, err error) {
	cells := make([]any, len(values))
	for i, v := range values {
		if v == nil {
			cells[i] = gocql.UnsetValue
			continue
		}
		encoded, err := planrun.Encode(l.types[i], v)
		if err != nil {
			return nil, 0, "", fmt.Errorf("%s of %s: %w", l.types[i], l.table.Name, err)
		}
		cells[i], bytes = cell(encoded), bytes+len(encoded)
	}
	if l.Batch > 1 {
		for _, i := range l.partition {
			if c, ok := cells[i].(cell); ok {
				partition += fmt.Sprint(len(c)) + ":" + string(c)
			}
		}
	}
	bound = make([]any, len(l.bound))
	for i, at := range l.bound {
		if at == alone {
			bound[i] = cell(planrun.ElementOf(cells[l.key].(cell))) // keys are never null
			continue
		}
		bound[i] = cells[at]
	}
	return bound, bytes, partition, nil
}

// write sends a batch until it is acknowledged.
func (l *loader) write(ctx context.Context, b *batch) error {
	began := time.Now()
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, 5*time.Second) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		err := l.send(ctx, b)
		if err == nil {
			l.waiting.Store(nil)
			l.rows.Add(int64(len(b.rows)))
			l.bytes.Add(int64(b.bytes))
			l.requests.Add(1)
			l.mutex.Lock()
			delete(l.parts[b.part].sent, b.first)
			l.mutex.Unlock()
			return nil
		}
		if !exec.Down(err) || ctx.Err() != nil || time.Since(began) > l.Patience {
			return err
		}
		l.waiting.Store(&err)
		l.way.renew()
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
}

func (l *loader) send(ctx context.Context, b *batch) error {
	session := l.way.session()
	if len(b.rows) == 1 {
		one := session.Query(l.text, b.rows[0]...).WithContext(ctx).Consistency(l.Consistency).Idempotent(true)
		if l.Timestamp != 0 {
			one = one.WithTimestamp(l.Timestamp)
		}
		return one.Exec()
	}
	all := session.NewBatch(gocql.UnloggedBatch).WithContext(ctx)
	all.Cons = l.Consistency
	if l.Timestamp != 0 {
		all = all.WithTimestamp(l.Timestamp)
	}
	for _, row := range b.rows {
		all.Entries = append(all.Entries, gocql.BatchEntry{Stmt: l.text, Args: row, Idempotent: true})
	}
	return session.ExecuteBatch(all)
}

// surely is how many rows of each part, from its first, are there.
func (l *loader) surely() []int {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	list := make([]int, len(l.parts))
	for i := range l.parts {
		list[i] = l.parts[i].read
		for first := range l.parts[i].sent {
			list[i] = min(list[i], first)
		}
	}
	return list
}

// tell tells progress until it is stopped.
func (l *loader) tell() (stop func()) {
	if l.Progress == nil {
		return func() {}
	}
	of := 0
	if s, ok := l.from.(sized); ok {
		of = int(s.Estimate(l.table.Tree))
	}
	say := func() {
		p := Progress{Table: l.table.Name, Rows: int(l.rows.Load()), Of: of, Elapsed: time.Since(l.began)}
		if p.Rows > 0 && of > p.Rows {
			p.Left = time.Duration(float64(p.Elapsed) / float64(p.Rows) * float64(of-p.Rows))
		}
		if w := l.waiting.Load(); w != nil {
			p.Waiting = *w
		}
		l.Progress(p)
	}
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-end:
				say()
				return
			case <-tick.C:
				say()
			}
		}
	}()
	return func() {
		close(end)
		<-ended
	}
}
