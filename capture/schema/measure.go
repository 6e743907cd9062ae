package schema

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"math"
	"strconv"
	"strings"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/capture/cql"
)

// Stats is how much there is in one table: estimates, unless Exact.
type Stats struct {
	Keyspace     string        `json:"keyspace"`
	Table        string        `json:"table"`
	Rows         float64       `json:"rows"`
	Partitions   float64       `json:"partitions"`
	MeanRowBytes float64       `json:"mean_row_bytes"` // of the cells' values, key columns too, without Cassandra's own overhead
	Columns      []ColumnStats `json:"columns"`        // in the table's order; tuples are left out
	Sampled      int           `json:"sampled"`        // rows that were looked at
	Exact        bool          `json:"exact"`          // they were all rows
}

// ColumnStats is what is in one column.
type ColumnStats struct {
	Name      string  `json:"name"`
	Distinct  float64 `json:"distinct"`   // different values, nulls not counted
	Nulls     float64 `json:"nulls"`      // share of rows without a value, 0..1
	MeanBytes float64 `json:"mean_bytes"` // of values that are there
}

// Column returns the statistics of a column, or nil.
func (s *Stats) Column(name string) *ColumnStats {
	for i := range s.Columns {
		if s.Columns[i].Name == name {
			return &s.Columns[i]
		}
	}
	return nil
}

// RowsPer is the mean number of rows that share one value of a column: what an equality read by it returns. It is at least
// 1 if the table has rows, and 0 for a column that is not known.
func (s *Stats) RowsPer(column string) float64 {
	c := s.Column(column)
	if c == nil || s.Rows == 0 || c.Distinct == 0 {
		return 0
	}
	return math.Max(1, s.Rows*(1-c.Nulls)/c.Distinct)
}

// Bounds of a measurement: what it may cost Cassandra.
const (
	probes       = 4
	probeRows    = 2_000
	probeBytes   = 4 << 20
	pageBytes    = 256 << 10
	firstLook    = 20
	maxColumns   = 64
	ringSize     = float64(1<<63) * 2
	trustedShare = 0.01 // of the ring, sampled: enough to go by
)

// ErrPartitioner says that the cluster's tokens are not those of the Murmur3 partitioner, so that nothing can be estimated from them.
var ErrPartitioner = errors.New("statistics need the Murmur3 partitioner")

// MeasureAll measures every table of a schema, in its order. A table that can not be measured (dropped meanwhile, no
// permission, time-outs) is left out and its error joined to the others; the rest is valid.
func MeasureAll(ctx context.Context, session *gocql.Session, s *Schema) ([]Stats, error) {
	var out []Stats
	var failed []error
	for i := range s.Keyspaces {
		for j := range s.Keyspaces[i].Tables {
			st, err := Measure(ctx, session, &s.Keyspaces[i].Tables[j])
			if err != nil {
				failed = append(failed, err)
				continue
			}
			out = append(out, *st)
		}
	}
	return out, errors.Join(failed...)
}

// Measure estimates how much is in a table. It reads at most 4 stretches of 2,000 rows or 4 MB each at consistency ONE, from the
// beginning of the token ring and its three other quarters. A table that the first stretch holds whole is counted exactly.
//
// Otherwise, with r rows of p partitions found in stretches that cover a share c of the ring: Rows = r/c, Partitions = p/c
// (tokens are spread evenly). If c is below a hundredth, system.size_estimates is believed for the partitions instead, where
// it has an entry. Distinct values of a column: Haas and Stokes's first-order jackknife, d / (1 - (1-q) f/n), with d values
// found among n, f of them once, and q = n/N sampled; right at both ends (all different, few values), fair between.
//
// Values are hashed as they are read, and not kept.
func Measure(ctx context.Context, session *gocql.Session, t *Table) (*Stats, error) {
	s, err := newSampler(ctx, session, t)
	if err == nil {
		err = s.run()
	}
	if err != nil {
		return nil, fmt.Errorf("measure %s.%s: %w", t.Keyspace, t.Name, err)
	}
	return s.stats(), nil
}

// sampler is one measurement under way.
type sampler struct {
	ctx     context.Context
	session *gocql.Session
	table   *Table
	seed    maphash.Seed
	query   string

	columns    []Column
	cells      []cell
	values     []map[uint64]int // per column: hash of value -> rows
	nulls      []int
	bytes      []int
	rows       int
	partitions int
	covered    float64 // share of the token ring
	exact      bool
}

// cell receives one value: its hash and its length.
type cell struct {
	seed maphash.Seed
	hash uint64
	size int
	null bool
}

// UnmarshalCQL implements gocql.Unmarshaler.
func (c *cell) UnmarshalCQL(_ gocql.TypeInfo, data []byte) error {
	c.null, c.size = data == nil, len(data)
	c.hash = maphash.Bytes(c.seed, data)
	return nil
}

func newSampler(ctx context.Context, session *gocql.Session, t *Table) (*sampler, error) {
	var partitioner string
	if err := session.Query(`SELECT partitioner FROM system.local`).WithContext(ctx).Scan(&partitioner); err != nil {
		return nil, fmt.Errorf("read the partitioner: %w", err)
	}
	if !strings.HasSuffix(partitioner, "Murmur3Partitioner") {
		return nil, fmt.Errorf("%w, and this cluster has %s", ErrPartitioner, partitioner)
	}
	s := &sampler{ctx: ctx, session: session, table: t, seed: maphash.MakeSeed()}
	for _, c := range t.Columns {
		if len(s.columns) < maxColumns && !strings.HasPrefix(strings.TrimPrefix(c.Type, "frozen<"), "tuple<") { // the driver takes tuples apart
			s.columns = append(s.columns, c)
		}
	}
	s.cells = make([]cell, len(s.columns))
	s.nulls, s.bytes = make([]int, len(s.columns)), make([]int, len(s.columns))
	for i := range s.columns {
		s.cells[i].seed = s.seed
		s.values = append(s.values, map[uint64]int{})
	}
	token := &cql.FunctionCall{Name: "token"}
	relation := cql.Relation{Token: true, Op: cql.OpGE, Value: &cql.Marker{}}
	for _, c := range t.PartitionKey() {
		token.Args = append(token.Args, &cql.ColumnRef{Name: c.Name})
		relation.Columns = append(relation.Columns, c.Name)
	}
	q := &cql.Select{
		Table:   cql.TableRef{Keyspace: t.Keyspace, Table: t.Name},
		Columns: []cql.Selector{{Expr: token}},
		Where:   []cql.Relation{relation},
	}
	for _, c := range s.columns {
		q.Columns = append(q.Columns, cql.Selector{Expr: &cql.ColumnRef{Name: c.Name}})
	}
	s.query = q.String() + " LIMIT "
	return s, nil
}

// run reads the stretches.
func (s *sampler) run() error {
	page, whole, err := s.firstLook()
	if err != nil || whole {
		return err
	}
	at := int64(math.MinInt64)
	for i := range probes {
		from := int64(math.MinInt64) + int64(i)<<62
		if i > 0 && from <= at {
			if at == math.MaxInt64 {
				break
			}
			from = at + 1
		}
		last, ended, err := s.stretch(from, probeRows, page)
		if err != nil {
			return err
		}
		at = last
		s.covered += (float64(last) - float64(from) + 1) / ringSize
		if ended {
			s.exact = i == 0
			break
		}
	}
	s.covered = math.Min(s.covered, 1)
	return nil
}

// firstLook reads a few rows to see how large they are, so that a page of the real reading is of bearable size.
func (s *sampler) firstLook() (page int, whole bool, err error) {
	_, whole, err = s.stretch(math.MinInt64, firstLook, firstLook)
	if err != nil {
		return 0, false, err
	}
	if whole {
		s.exact, s.covered = true, 1
		return 0, true, nil
	}
	size := 1
	for _, n := range s.bytes {
		size += n
	}
	page = min(max(pageBytes*s.rows/size, 10), 1000)
	for i := range s.values { // begin anew
		s.values[i] = map[uint64]int{}
		s.nulls[i], s.bytes[i] = 0, 0
	}
	s.rows, s.partitions = 0, 0
	return page, false, nil
}

// stretch reads rows from a token on and returns the last token that was read in full; ended if there is no row after.
func (s *sampler) stretch(from int64, limit, page int) (last int64, ended bool, err error) {
	iter := s.session.Query(s.query+strconv.Itoa(limit), from).WithContext(s.ctx).
		Consistency(gocql.One).PageSize(page).RetryPolicy(nil).Iter()
	token, rows, size := from, 0, 0
	dest := make([]any, 1, len(s.cells)+1)
	dest[0] = &token
	for i := range s.cells {
		dest = append(dest, &s.cells[i])
	}
	last = from
	first := true
	for iter.Scan(dest...) {
		if first || token != last {
			s.partitions++
			first, last = false, token
		}
		rows++
		for i := range s.cells {
			c := &s.cells[i]
			if c.null {
				s.nulls[i]++
				continue
			}
			size += c.size
			s.bytes[i] += c.size
			s.values[i][c.hash]++
		}
		if size > probeBytes {
			break
		}
	}
	s.rows += rows
	if err := iter.Close(); err != nil {
		return 0, false, err
	}
	if rows < limit && size <= probeBytes {
		return math.MaxInt64, true, nil
	}
	return last, false, nil
}

// stats makes the estimates.
func (s *sampler) stats() *Stats {
	out := &Stats{
		Keyspace: s.table.Keyspace, Table: s.table.Name, Sampled: s.rows, Exact: s.exact,
		Rows: float64(s.rows), Partitions: float64(s.partitions), Columns: []ColumnStats{},
	}
	if !s.exact && s.covered > 0 && s.partitions > 0 {
		perPartition := out.Rows / out.Partitions
		out.Partitions /= s.covered
		if s.covered < trustedShare {
			if n := s.sizeEstimate(); n > 0 {
				out.Partitions = n
			}
		}
		out.Partitions = math.Max(out.Partitions, float64(s.partitions))
		out.Rows = out.Partitions * perPartition
	}
	for i, c := range s.columns {
		cs := ColumnStats{Name: c.Name}
		if n := s.rows - s.nulls[i]; n > 0 {
			cs.Nulls = float64(s.nulls[i]) / float64(s.rows)
			cs.MeanBytes = float64(s.bytes[i]) / float64(n)
			cs.Distinct = distinct(s.values[i], n, out.Rows*(1-cs.Nulls))
		} else if s.rows > 0 {
			cs.Nulls = 1
		}
		if keys := s.table.PartitionKey(); len(keys) == 1 && keys[0].Name == c.Name {
			cs.Distinct = out.Partitions
		}
		out.MeanRowBytes += cs.MeanBytes * (1 - cs.Nulls)
		out.Columns = append(out.Columns, cs)
	}
	return out
}

// distinct estimates the number of different values among all, from those among n.
func distinct(values map[uint64]int, n int, all float64) float64 {
	d, once := float64(len(values)), 0.0
	for _, k := range values {
		if k == 1 {
			once++
		}
	}
	q := math.Min(1, float64(n)/math.Max(all, 1))
	return math.Min(d/(1-(1-q)*once/float64(n)), math.Max(all, d))
}

// sizeEstimate returns the number of partitions by system.size_estimates of the node that answers, scaled from its ranges to
// the ring; 0 if it does not know.
func (s *sampler) sizeEstimate() float64 {
	iter := s.session.Query(`SELECT range_start, range_end, partitions_count FROM system.size_estimates WHERE keyspace_name = ? AND table_name = ?`,
		s.table.Keyspace, s.table.Name).WithContext(s.ctx).Consistency(gocql.One).Iter()
	var start, end string
	var count int64
	var partitions, share float64
	for iter.Scan(&start, &end, &count) {
		a, err1 := strconv.ParseInt(start, 10, 64)
		b, err2 := strconv.ParseInt(end, 10, 64)
		if err1 != nil || err2 != nil {
			continue
		}
		span := float64(b) - float64(a)
		if span <= 0 {
			span += ringSize // the range that goes round the end
		}
		partitions += float64(count)
		share += span / ringSize
	}
	if err := iter.Close(); err != nil || share == 0 {
		return 0 // an estimate less; the sample stands
	}
	return partitions / math.Min(share, 1)
}
