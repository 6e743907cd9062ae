package cost

import (
	"fmt"
	"math"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
)

// Cassandra is the model of a cluster: what its nodes do for a step, all replicas added up (work), and how long it takes
// (latency), milliseconds each.
//
//	a get      Request + k Replica, for each; Row for each row and Cell for each of its cells in each of k replicas, Byte for
//	           each byte
//	elements   Element for each entry of a set or map that holds them, in each of k replicas
//	a put      Request + r Put, for each, r Byte for each byte; Index or SAI for each index of the table. If the rows of a step
//	           go in a logged batch (Logged): one Request, BatchStart, and Batch for each row beyond the first
//	a delete   as a put, and r Tombstone for what it costs until it is compacted away
//	an index   Request + as many nodes as hold all data at k replicas, each IndexNode (SAINode), then IndexRow (SAIRow) a row
//	a scan     the same nodes, each Node, then Scanned a row and ScanCell for each cell that it has
//	in memory  SortStart + Sort a row, Group a row that is grouped or told from others; filters and limits are free
//
// r is the replication factor, k the number of replicas that the consistency level reads, or waits for when it writes.
// Waiting for several takes longer than for one: Spread is the share of a replica's time that varies, exponentially, and
// the latency is that of the k-th of those asked. Requests of one step run Parallel at a time.
//
// Two properties of tables make the replicas' part of gets and puts dearer. A partition above PartitionBytes is, for each
// doubling, by Large; above PartitionMost the model refuses the table (Refuses). And if a table has so few partitions that
// some nodes have no part in it, the others are busier, and busy nodes are what a cluster runs out of: Hot is the share of
// the imbalance that counts as work.
type Cassandra struct {
	p           CassandraParameters
	consistency string
}

// NewCassandra returns the model with parameters; zero ones get their defaults. The error says which is wrong.
func NewCassandra(p CassandraParameters) (*Cassandra, error) {
	p.fill()
	if err := p.Validate(); err != nil {
		return nil, err
	}
	return &Cassandra{p, p.Consistency}, nil
}

// Name is "cassandra".
func (c *Cassandra) Name() string { return "cassandra" }

// Parameters returns the parameters, defaults filled in.
func (c *Cassandra) Parameters() CassandraParameters { return c.p }

// At returns the model at a consistency level; "" is that of the parameters. The error names the nearest.
func (c *Cassandra) At(level string) (Model, error) {
	if level == "" {
		return c, nil
	}
	if _, ok := replicas(level, c.p.Replication); !ok {
		return nil, fmt.Errorf("cost: %w", &model.NameError{What: "consistency level", Name: level, Known: levels})
	}
	return &Cassandra{c.p, level}, nil
}

var levels = []string{"ANY", "ONE", "LOCAL_ONE", "TWO", "THREE", "QUORUM", "LOCAL_QUORUM", "EACH_QUORUM", "SERIAL", "LOCAL_SERIAL", "ALL"}

// replicas is how many of some a consistency level waits for.
func replicas(level string, of float64) (float64, bool) {
	switch strings.ToUpper(level) {
	case "ANY", "ONE", "LOCAL_ONE":
		return 1, true
	case "TWO":
		return min(2, of), true
	case "THREE":
		return min(3, of), true
	case "QUORUM", "LOCAL_QUORUM", "EACH_QUORUM", "SERIAL", "LOCAL_SERIAL":
		return math.Floor(of/2) + 1, true
	case "ALL":
		return of, true
	}
	return 0, false
}

// slowest is how much longer the k-th of n replicas takes than one: the mean of the k-th smallest of n exponentials, for
// the share that varies.
func (c *Cassandra) slowest(k, n float64) float64 {
	sum := 0.0
	for i := range int(k) {
		sum += 1 / (n - float64(i))
	}
	return 1 - c.p.Spread + c.p.Spread*sum
}

// Step prices a step.
func (c *Cassandra) Step(s *plan.Step, _ bool) Cost {
	p := &c.p
	k, _ := replicas(c.consistency, p.Replication)
	switch s.Kind {
	case plan.Get:
		return c.get(s, k)
	case plan.IndexGet:
		node, row := p.IndexNode, p.IndexRow
		if sai(s) {
			node, row = p.SAINode, p.SAIRow
		}
		if len(s.Partition) > 0 { // of one partition: its replicas answer
			return c.nodes(s, k, k, node+p.Replica*c.dearer(s.Table), row*k, s.Scanned)
		}
		return c.nodes(s, c.covering(k), k, node, row*k, s.Scanned)
	case plan.Scan:
		looked := p.Scanned
		if t := s.Table; t != nil {
			looked += float64(len(t.Partition)+len(t.Clustering)+len(t.Values)) * p.ScanCell
		}
		return c.nodes(s, c.covering(k), k, p.Node, looked*k, s.Scanned)
	case plan.Put:
		return c.write(s, k, 0)
	case plan.Remove:
		return c.write(s, k, p.Tombstone)
	case plan.Sort:
		return same(p.SortStart + s.Rows*p.Sort)
	case plan.Unnest: // the elements have been read with their rows
		return Cost{Work: s.Scanned * p.Element * k, Latency: s.Scanned * p.Element}
	case plan.Group, plan.Distinct:
		return same(s.Rows * p.Group)
	}
	return Cost{} // filters and limits: N-33
}

// get prices reads of partitions by key.
func (c *Cassandra) get(s *plan.Step, k float64) Cost {
	p := &c.p
	replica := p.Replica * c.dearer(s.Table)
	rows := max(s.Rows, s.Scanned) // more are read than come back if the server groups
	return Cost{
		Work:    s.Requests*(p.Request+k*replica) + rows*c.row(s)*k + s.Bytes*p.Byte,
		Latency: c.waves(s.Requests)*(p.Request+replica*c.slowest(k, k)) + rows*c.row(s) + s.Bytes*p.Byte,
	}
}

// row prices one row of what a step reads, with its cells.
func (c *Cassandra) row(s *plan.Step) float64 { return c.p.Row + float64(len(s.Fields))*c.p.Cell }

// nodes prices reads that ask several nodes, each of which looks at its part of the rows.
func (c *Cassandra) nodes(s *plan.Step, asked, k, node, row, rows float64) Cost {
	p := &c.p
	rows = max(rows, s.Rows)
	return Cost{
		Work:    s.Requests*(p.Request+asked*node) + rows*row + s.Rows*c.row(s) + s.Bytes*p.Byte,
		Latency: c.waves(s.Requests)*(p.Request+node*c.slowest(asked, asked)) + rows*row/max(1, asked*k) + s.Rows*c.row(s) + s.Bytes*p.Byte,
	}
}

// covering is how many nodes hold k replicas of all rows.
func (c *Cassandra) covering(k float64) float64 {
	return max(1, c.p.Nodes*k/c.p.Replication)
}

// write prices puts and deletes. All replicas do the work, whatever the level waits for. A logged batch is one request, of which
// the coordinator writes Parallel rows at a time.
func (c *Cassandra) write(s *plan.Step, k, tombstone float64) Cost {
	p := &c.p
	replica := p.Put * c.dearer(s.Table)
	if s.Table != nil {
		for _, i := range s.Table.Indexes {
			if i.SAI {
				replica += p.SAIPut
			} else {
				replica += p.IndexPut
			}
		}
	}
	answered := replica * c.slowest(k, p.Replication)
	cost := Cost{
		Work:    s.Requests*(p.Request+p.Replication*(replica+tombstone)) + s.Bytes*p.Byte*p.Replication,
		Latency: c.waves(s.Requests)*(p.Request+answered) + s.Bytes*p.Byte,
	}
	if further := s.Requests - 1; p.Logged && further > 0 {
		start := min(1, further) * p.BatchStart
		cost.Work += start + further*(p.Batch-p.Request)
		cost.Latency += start + further*(p.Batch-p.Request)/p.Parallel
	}
	return cost
}

// Together prices what goes on at the same time: the longest counts whole, the others share, as requests of one step do.
func (c *Cassandra) Together(list []Cost) Cost {
	var sum Cost
	longest := 0.0
	for _, x := range list {
		sum, longest = sum.Plus(x), max(longest, x.Latency)
	}
	return Cost{sum.Work, longest + (sum.Latency-longest)/c.p.Parallel}
}

// waves is how long n requests take, in requests: the first counts whole, the others share.
func (c *Cassandra) waves(n float64) float64 {
	if n <= 1 {
		return n
	}
	return 1 + (n-1)/c.p.Parallel
}

// sai tells whether an index read uses a storage-attached index.
func sai(s *plan.Step) bool {
	for _, b := range s.Where {
		for _, i := range s.Table.Indexes {
			if i.Field == b.Field {
				return i.SAI
			}
		}
	}
	return false
}

// dearer is by how much a table's partitions make its replicas' work dearer: by their size, and by being few.
func (c *Cassandra) dearer(t *model.Table) float64 {
	if t == nil || len(t.Partition) == 0 && t.Bucket == nil {
		return 1
	}
	p := &c.p
	factor := 1.0
	if size := PartitionBytes(t); size > p.PartitionBytes {
		factor += p.Large * math.Log2(size/p.PartitionBytes)
	}
	if serving := partitions(t) * p.Replication; serving < p.Nodes {
		factor *= 1 + p.Hot*(p.Nodes/serving-1)
	}
	return factor
}

// Refuses returns why the model does not allow a table; "" if it does: its largest partitions would be too large.
func (c *Cassandra) Refuses(t *model.Table) string {
	if size := PartitionBytes(t); size > c.p.PartitionMost {
		return fmt.Sprintf("partitions of %.0f MB: the model allows %.0f", size/1e6, c.p.PartitionMost/1e6)
	}
	return ""
}

// partitions estimates how many partitions a table has, buckets counted.
func partitions(t *model.Table) float64 {
	n := 1.0
	if len(t.Partition) > 0 {
		n = t.Partitions()
	}
	if t.Bucket != nil {
		n = min(n*max(1, t.Bucket.Count), max(1, t.Entries()))
	}
	return max(1, n)
}

// PartitionBytes estimates the size of a table's larger partitions: the mean, times how much larger the greatest number of
// partners of an entity is than the mean, where the model knows it, over the relationships that lead away from the
// partition key.
func PartitionBytes(t *model.Table) float64 {
	size := t.Bytes() / partitions(t)
	if len(t.Partition) == 0 {
		return size
	}
	keyed := map[*model.Entity]bool{}
	for _, f := range t.Partition {
		keyed[f.Entity] = true
	}
	away := map[*model.Entity]bool{t.Partition[0].Entity: true}
	for again := true; again; {
		again = false
		for _, r := range t.Tree.Edges {
			for _, end := range []struct {
				from, to *model.Entity
				most     float64
			}{{r.From, r.To, r.Most}, {r.To, r.From, r.MostBack}} {
				if !away[end.from] || away[end.to] {
					continue
				}
				away[end.to], again = true, true
				if mean := r.Pairs() / max(1, end.from.Count); !keyed[end.to] && end.most > mean && mean > 0 {
					size *= end.most / mean
				}
			}
		}
	}
	return size
}
