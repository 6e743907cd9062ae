package exec

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/internal/guard"
	"github.com/helenus-db/helenus/proxy"
)

// Query is one statement of ours. Its values are bound in order as they are; nil is null.
type Query struct {
	Text        string
	Values      [][]byte
	Consistency gocql.Consistency
	PageSize    int   // rows; 0 leaves the session's own
	Routed      int   // so many of the first values are the partition key, by which a node is chosen; 0: not known
	Most        int   // rows; if there are more, the answer is ErrTooManyRows. 0: any number
	Timestamp   int64 // of a write, microseconds; 0: when it is sent
}

// Answer is what a SELECT answered: column names, and for each row its cells (nil is null).
type Answer struct {
	Columns []string
	Rows    [][][]byte
	typed   func(column int, t proxy.Type) bool // tells whether a column is of a type; nil: that is not known
}

// Session is what this tree needs of a database. It is safe for use from many goroutines.
type Session interface {
	// Query runs a statement and returns its whole answer.
	Query(ctx context.Context, q Query) (Answer, error)
	// Scan runs a SELECT and hands over its rows one by one, fetching page by page. The row is valid during the call.
	Scan(ctx context.Context, q Query, row func(cells [][]byte) error) error
	// Agree waits until all live nodes have the same schema.
	Agree(ctx context.Context) error
}

// Unset in place of a value of a write leaves the column as it is, where null would delete what is there.
var Unset = []byte{0}

// IsUnset tells whether a value is Unset itself.
func IsUnset(value []byte) bool { return len(value) == 1 && &value[0] == &Unset[0] }

// bound are the values of a statement as gocql takes them.
func bound(cells [][]byte) []any {
	kept, values := make([]raw, len(cells)), make([]any, len(cells))
	for i, v := range cells {
		kept[i] = v
		if values[i] = &kept[i]; IsUnset(v) {
			values[i] = gocql.UnsetValue
		}
	}
	return values
}

// Batcher is a Session that sends writes in batches.
type Batcher interface {
	// Batch sends writes in one logged batch: once Cassandra has taken it, all of them will take effect, if not at once.
	// All have the consistency and the timestamp of the first.
	Batch(ctx context.Context, writes []Query) error
}

// ErrNoConnection says that Cassandra can not be reached at all.
var ErrNoConnection = errors.New("no connection to Cassandra: check the contact points and that the nodes are up")

// ErrTooManyRows says that a read found more rows than it may (Query.Most).
var ErrTooManyRows = errors.New("more rows than allowed: ask for less, or raise the greatest number of rows")

// raw carries one value to gocql without a look at its type.
type raw []byte

// MarshalCQL implements gocql.Marshaler.
func (r *raw) MarshalCQL(gocql.TypeInfo) ([]byte, error) { return *r, nil }

// receiver takes the cells of one column from gocql without a look at their type. It copies them: gocql reads the next page
// into the same buffer.
type receiver struct {
	into *store
	cell []byte
}

// UnmarshalCQL implements gocql.Unmarshaler.
func (c *receiver) UnmarshalCQL(_ gocql.TypeInfo, data []byte) error {
	if c.cell = nil; data != nil {
		c.cell = c.into.copy(data)
	}
	return nil
}

// store keeps cells and rows in blocks, which grow with what comes: few allocations for many rows, and little more memory
// than they take for few.
type store struct {
	bytes []byte
	cells [][]byte
	rows  int // of the last block of cells
}

const (
	firstBytes, mostBytes = 256, 1 << 16
	firstRows, mostRows   = 4, 512
)

// copy returns the data as a cell that stays. What is empty is not null: nil would be.
func (s *store) copy(data []byte) []byte {
	if len(data) == 0 {
		return []byte{}
	}
	if cap(s.bytes)-len(s.bytes) < len(data) {
		s.bytes = make([]byte, 0, max(len(data), min(mostBytes, max(firstBytes, 2*cap(s.bytes)))))
	}
	start := len(s.bytes)
	s.bytes = append(s.bytes, data...)
	return s.bytes[start:len(s.bytes):len(s.bytes)]
}

// row returns a row of so many cells.
func (s *store) row(width int) [][]byte {
	if len(s.cells) < width {
		s.rows = min(mostRows, max(firstRows, 2*s.rows))
		s.cells = make([][]byte, s.rows*width)
	}
	row := s.cells[:width:width]
	s.cells = s.cells[width:]
	return row
}

// Pool is a Session over gocql that connects when it is first needed, and again after it was refused, so that a proxy
// may start before Cassandra does. It connects anew, too, where a session has said for a while that it has no connections: gocql may
// lose a host for good when its connections end while others are made (it takes it for up and has no pool for it), and an
// outage of Cassandra must end with the outage.
type Pool struct {
	connect func() (*gocql.Session, error)
	lost    atomic.Int64 // since when the session has had no connections, by uptime; 0: it has some, as far as is known

	mu       sync.Mutex // never held while connections are made
	session  *gocql.Session
	closed   bool
	making   *attempt // the first session, or that after others failed; nil: nobody does
	renewing bool
	work     sync.WaitGroup
}

// attempt is one to connect, of all who need a session meanwhile.
type attempt struct {
	over    chan struct{}
	session *gocql.Session // these once it is over
	err     error
}

// started is when this process's clock began, which nobody can set.
var started = time.Now()

// uptime is in nanoseconds, above 0.
func uptime() int64 { return int64(time.Since(started)) + 1 }

// patience is how long a session may be without connections before it is given up.
const patience = 5 * time.Second

// NewPool returns a Session that makes its gocql session by connect.
func NewPool(connect func() (*gocql.Session, error)) *Pool {
	return &Pool{connect: connect}
}

// Close closes the gocql session, if there is one. Later calls answer ErrNoConnection.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	if p.session != nil {
		p.session.Close()
		p.session = nil
	}
	p.mu.Unlock()
	p.work.Wait()
}

// get returns the session, and makes it if there is none: one attempt at a time, which each waits for as long as he has time.
func (p *Pool) get(ctx context.Context) (*gocql.Session, error) {
	p.mu.Lock()
	session, a := p.session, p.making
	switch {
	case session != nil:
	case p.closed:
		p.mu.Unlock()
		return nil, ErrNoConnection
	case a == nil:
		a = &attempt{over: make(chan struct{})}
		p.making = a
		guard.In(&p.work, guard.Session, func() { p.make(a) })
	}
	p.mu.Unlock()
	if session != nil {
		return session, nil
	}
	select {
	case <-a.over:
		return a.session, a.err
	case <-ctx.Done():
		return nil, fmt.Errorf("%w (connections are being made: %w)", ErrNoConnection, context.Cause(ctx))
	}
}

// make makes the session.
func (p *Pool) make(a *attempt) {
	defer close(a.over)
	err := guard.Do(guard.Session, func() (err error) { a.session, err = p.connect(); return err })
	p.mu.Lock()
	defer p.mu.Unlock()
	p.making = nil
	switch {
	case err != nil:
		a.session, a.err = nil, fmt.Errorf("%w (%w)", ErrNoConnection, err)
	case p.closed:
		a.session.Close()
		a.session, a.err = nil, ErrNoConnection
	default:
		p.session = a.session
	}
}

// heard takes note of what a session answered, and returns it.
func (p *Pool) heard(s *gocql.Session, err error) error {
	since := p.lost.Load()
	switch {
	case !errors.Is(err, gocql.ErrNoConnections):
		if since != 0 && !Unreachable(err) {
			p.lost.Store(0)
		}
	case since == 0:
		p.lost.CompareAndSwap(0, uptime())
	case uptime()-since >= int64(patience):
		p.renew(s)
	}
	return err
}

// renew looks for a session in place of one, which stays until there is another.
func (p *Pool) renew(lost *gocql.Session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.renewing || p.session != lost {
		return
	}
	p.renewing = true
	guard.In(&p.work, guard.Session, func() {
		var fresh *gocql.Session
		err := guard.Do(guard.Session, func() (err error) { fresh, err = p.connect(); return err })
		p.mu.Lock()
		defer p.mu.Unlock()
		p.renewing = false
		switch {
		case err != nil: // after another while
			p.lost.Store(uptime())
			return
		case p.closed:
			lost = fresh
		default:
			p.session = fresh
			p.lost.Store(0)
		}
		if lost != p.session {
			lost.Close()
		}
	})
}

// Query implements Session.
func (p *Pool) Query(ctx context.Context, q Query) (answer Answer, err error) {
	defer guard.RecoverTo(guard.Session, &err)
	s, err := p.get(ctx)
	if err != nil {
		return answer, err
	}
	var infos []gocql.ColumnInfo
	infos, err = run(ctx, s, q, func(cells [][]byte) error {
		if q.Most > 0 && len(answer.Rows) == q.Most {
			return ErrTooManyRows
		}
		answer.Rows = append(answer.Rows, cells)
		return nil
	})
	answer.Columns = make([]string, len(infos))
	for i, c := range infos {
		answer.Columns[i] = c.Name
	}
	answer.typed = func(i int, t proxy.Type) bool { return described(infos[i].TypeInfo, &t) }
	return answer, p.heard(s, err)
}

// Batch implements Batcher.
func (p *Pool) Batch(ctx context.Context, writes []Query) error {
	return p.batch(ctx, gocql.LoggedBatch, writes)
}

// Unlogged sends writes in one unlogged batch: one request for several partitions, each of which takes effect by itself. All have the
// consistency of the first.
func (p *Pool) Unlogged(ctx context.Context, writes []Query) error {
	return p.batch(ctx, gocql.UnloggedBatch, writes)
}

func (p *Pool) batch(ctx context.Context, kind gocql.BatchType, writes []Query) (err error) {
	defer guard.RecoverTo(guard.Session, &err)
	s, err := p.get(ctx)
	if err != nil || len(writes) == 0 {
		return err
	}
	batch := s.NewBatch(kind).WithContext(ctx)
	batch.Cons = writes[0].Consistency
	if writes[0].Timestamp != 0 {
		batch = batch.WithTimestamp(writes[0].Timestamp)
	}
	for _, q := range writes {
		batch.Entries = append(batch.Entries, gocql.BatchEntry{Stmt: q.Text, Args: bound(q.Values), Idempotent: true})
	}
	return p.heard(s, s.ExecuteBatch(batch))
}

// Scan implements Session.
func (p *Pool) Scan(ctx context.Context, q Query, row func(cells [][]byte) error) (err error) {
	defer guard.RecoverTo(guard.Session, &err)
	s, err := p.get(ctx)
	if err != nil {
		return err
	}
	_, err = run(ctx, s, q, row)
	return p.heard(s, err)
}

func run(ctx context.Context, s *gocql.Session, q Query, row func([][]byte) error) ([]gocql.ColumnInfo, error) {
	query := s.Query(proxy.Ours(q.Text), bound(q.Values)...).WithContext(ctx).Consistency(q.Consistency).Idempotent(true)
	if q.Timestamp != 0 {
		query = query.WithTimestamp(q.Timestamp)
	}
	if q.PageSize > 0 {
		query = query.PageSize(q.PageSize)
	}
	if q.Routed > 0 {
		query = query.RoutingKey(PartitionKey(q.Values[:q.Routed]))
	}
	if strings.HasPrefix(q.Text, "SELECT * ") {
		query = query.NoSkipMetadata() // its columns may change under a prepared statement: the answer has to name them itself
	}
	iter := query.Iter()
	infos := iter.Columns()
	columns, dest := make([]receiver, len(infos)), make([]any, len(infos))
	kept := &store{}
	for i := range infos {
		columns[i].into, dest[i] = kept, &columns[i]
	}
	for iter.Scan(dest...) {
		out := kept.row(len(columns))
		for i := range columns {
			out[i] = columns[i].cell
		}
		if err := row(out); err != nil {
			_ = iter.Close()
			return infos, err
		}
	}
	return infos, iter.Close()
}

// Agree implements Session.
func (p *Pool) Agree(ctx context.Context) (err error) {
	defer guard.RecoverTo(guard.Session, &err)
	s, err := p.get(ctx)
	if err != nil {
		return err
	}
	return s.AwaitSchemaAgreement(ctx)
}

// Down tells whether an error only says that Cassandra could not do it now: nodes down, overloaded, too slow. The same
// statement may succeed later. Everything else (an invalid statement, a table that is gone) would fail again.
func Down(err error) bool {
	if err == nil {
		return false
	}
	var request gocql.RequestError
	if errors.As(err, &request) {
		switch request.Code() {
		case gocql.ErrCodeUnavailable, gocql.ErrCodeOverloaded, gocql.ErrCodeBootstrapping, gocql.ErrCodeTruncate,
			gocql.ErrCodeWriteTimeout, gocql.ErrCodeReadTimeout, gocql.ErrCodeReadFailure, gocql.ErrCodeWriteFailure,
			gocql.ErrCodeServer:
			return true
		}
		return false
	}
	if panicked := (*guard.Panic)(nil); errors.As(err, &panicked) {
		return false
	}
	// Whatever did not come from Cassandra itself came from the way to it: no connection, a time-out, a cancelled call.
	return true
}

// Internal tells whether Cassandra failed by a fault of its own. That may go away or not: who waits may wait, but
// nobody else should be kept from his work by it.
func Internal(err error) bool {
	var request gocql.RequestError
	return errors.As(err, &request) && request.Code() == gocql.ErrCodeServer
}

// Refused tells whether Cassandra says that a statement is not allowed at all.
func Refused(err error) bool {
	var request gocql.RequestError
	return errors.As(err, &request) && (request.Code() == gocql.ErrCodeInvalid || request.Code() == gocql.ErrCodeSyntax)
}

// Unreachable tells whether Cassandra did not even answer.
func Unreachable(err error) bool {
	var request gocql.RequestError
	return err != nil && !errors.As(err, &request)
}

// Int64 reads a bigint cell (a writetime, a token); ok is false for null and for any other width.
func Int64(cell []byte) (v int64, ok bool) {
	if len(cell) != 8 {
		return 0, false
	}
	return int64(binary.BigEndian.Uint64(cell)), true // #nosec G115
}

// Int32 reads an int cell (a time to live); ok is false for null and for any other width.
func Int32(cell []byte) (v int32, ok bool) {
	if len(cell) != 4 {
		return 0, false
	}
	return int32(binary.BigEndian.Uint32(cell)), true // #nosec G115
}

// FromInt64 is a bigint cell.
func FromInt64(v int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(v)) } // #nosec G115

// FromInt32 is an int cell.
func FromInt32(v int32) []byte { return binary.BigEndian.AppendUint32(nil, uint32(v)) } // #nosec G115
