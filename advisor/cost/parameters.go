package cost

import (
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/helenus-db/helenus/advisor/model"
)

// CassandraParameters are the parameters of the model Cassandra, as they stand in a YAML or JSON file: the units are in
// the names. The zero value of each stands for its default; none is none.
//
// The defaults come from reads on a busy machine of two cores with three nodes, replication 1, 60,000 rows, five rows an
// answer, consistency ONE (p50): by primary key 5.9 ms; look-up table and then five base rows 16 ms; secondary index
// 19 ms; ALLOW FILTERING 196 ms. Six requests against one make a request about 2 ms of that machine's time; the index read
// asks three nodes, each for about 4.5 ms; the scan takes 3.2 microseconds a row while three processes share two cores,
// so about 1.3 for one. All was then scaled so that a request takes 0.5 ms, as on an idle machine, keeping the ratios, and
// the 0.5 split into the coordinator's and a replica's part. A row's cells are in Row, since rows of one width were read. An
// entry of a set or map took about half of what a row does (one node, 10 and 200 a row, a set alone and with two maps). What
// concerns storage-attached indexes, batches, tombstones and partitions is judged from what the parts do, not measured.
//
// `helenus calibrate` (rewrite/calibrate) fits them to the cluster at hand and writes such a file. Scaled fits all at once.
type CassandraParameters struct {
	Nodes       float64 `yaml:"nodes,omitempty"`       // in the data centre; default 3
	Replication float64 `yaml:"replication,omitempty"` // replicas of each row there; default 3, at most nodes
	Consistency string  `yaml:"consistency,omitempty"` // of statements that do not say; default LOCAL_QUORUM
	Logged      bool    `yaml:"logged,omitempty"`      // rows that one step writes go in a logged batch; default one by one
	Parallel    float64 `yaml:"parallel,omitempty"`    // requests of one step at once; default 8

	Request    float64 `yaml:"request_ms,omitempty"`     // client and coordinator, for each request; default 0.3
	Replica    float64 `yaml:"replica_ms,omitempty"`     // one replica's look for one partition; default 0.2
	Row        float64 `yaml:"row_ms,omitempty"`         // one row, in each replica asked; default 0.005
	Cell       float64 `yaml:"cell_ms,omitempty"`        // one cell of a row that is read, in each replica asked; default none
	Element    float64 `yaml:"element_ms,omitempty"`     // one entry of a collection, in each replica asked; default 0.0025
	Byte       float64 `yaml:"byte_ms,omitempty"`        // one byte of an answer, or of a write in each replica; default 0.000002
	Put        float64 `yaml:"put_ms,omitempty"`         // one replica's part of a put or delete; default 0.2
	Batch      float64 `yaml:"batch_ms,omitempty"`       // each further row of a logged batch, beside its Put; default 0.1
	BatchStart float64 `yaml:"batch_start_ms,omitempty"` // a logged batch of several rows, once: the log; default none
	Spread     float64 `yaml:"spread,omitempty"`         // share of a replica's time that varies; default 0.5

	Tombstone float64 `yaml:"tombstone_ms,omitempty"` // what a delete costs each replica later; default 0.1

	IndexNode float64 `yaml:"index_node_ms,omitempty"` // one node's look into its secondary index; default 1.1
	IndexRow  float64 `yaml:"index_row_ms,omitempty"`  // one row found by it, in each replica; default 0.1
	IndexPut  float64 `yaml:"index_put_ms,omitempty"`  // its upkeep, for a write in each replica; default 0.1
	SAINode   float64 `yaml:"sai_node_ms,omitempty"`   // the same for storage-attached indexes; default 0.6
	SAIRow    float64 `yaml:"sai_row_ms,omitempty"`    // default 0.03
	SAIPut    float64 `yaml:"sai_put_ms,omitempty"`    // default 0.05

	Node    float64 `yaml:"scan_node_ms,omitempty"` // one node's part of a scan, without rows; default 1.1
	Scanned float64 `yaml:"scan_row_ms,omitempty"`  // one row looked at by a scan, in each replica; default 0.0013

	ScanCell  float64 `yaml:"scan_cell_ms,omitempty"` // one cell of such a row, whether it is asked for or not; default none
	SortStart float64 `yaml:"sort_ms,omitempty"`      // one sort in the client; default 0.01
	Sort      float64 `yaml:"sort_row_ms,omitempty"`  // one row of it; default 0.0005
	Group     float64 `yaml:"group_row_ms,omitempty"` // one row that the client groups, or compares with others; default 0.0001

	PartitionBytes float64 `yaml:"partition_bytes,omitempty"`      // above it a partition is large; default 100 MB
	PartitionMost  float64 `yaml:"partition_bytes_most,omitempty"` // above it a table is refused; default 2 GB
	Large          float64 `yaml:"large,omitempty"`                // dearer by this, for each doubling; default 0.5
	Hot            float64 `yaml:"hot,omitempty"`                  // share of imbalance that counts; default 0.5
}

// fill puts defaults for zeros.
func (p *CassandraParameters) fill() {
	if p.Consistency == "" {
		p.Consistency = "LOCAL_QUORUM"
	}
	if p.Nodes == 0 {
		p.Nodes = 3
	}
	if p.Replication == 0 {
		p.Replication = min(3, p.Nodes)
	}
	for _, d := range []struct {
		value *float64
		or    float64
	}{
		{&p.Parallel, 8}, {&p.Request, 0.3}, {&p.Replica, 0.2}, {&p.Row, 0.005}, {&p.Element, 0.0025}, {&p.Byte, 0.000002}, {&p.Put, 0.2}, {&p.Batch, 0.1},
		{&p.Spread, 0.5}, {&p.Tombstone, 0.1}, {&p.IndexNode, 1.1}, {&p.IndexRow, 0.1}, {&p.IndexPut, 0.1}, {&p.SAINode, 0.6},
		{&p.SAIRow, 0.03}, {&p.SAIPut, 0.05}, {&p.Node, 1.1}, {&p.Scanned, 0.0013}, {&p.SortStart, 0.01}, {&p.Sort, 0.0005},
		{&p.Group, 0.0001}, {&p.PartitionBytes, 100e6}, {&p.PartitionMost, 2e9}, {&p.Large, 0.5}, {&p.Hot, 0.5},
	} {
		if *d.value == 0 {
			*d.value = d.or
		}
	}
}

// Scaled returns filled in parameters with all times multiplied: those of a cluster that takes so much longer for everything.
func (p CassandraParameters) Scaled(by float64) CassandraParameters {
	v := reflect.ValueOf(&p).Elem()
	for i := range v.NumField() {
		if key, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ","); strings.HasSuffix(key, "_ms") {
			v.Field(i).SetFloat(v.Field(i).Float() * by)
		}
	}
	return p
}

// optional are those that are none unless they were measured: the defaults are of one width of rows, without batches.
var optional = []string{"cell_ms", "scan_cell_ms", "batch_start_ms"}

// Validate returns what is wrong with filled in parameters, naming the key.
func (p *CassandraParameters) Validate() error {
	v := reflect.ValueOf(p).Elem()
	for i := range v.NumField() {
		key, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ",")
		if v.Field(i).Kind() == reflect.Float64 && v.Field(i).Float() == 0 && slices.Contains(optional, key) {
			continue // none, unless it was measured
		}
		if f := v.Field(i); f.Kind() == reflect.Float64 && !(f.Float() > 0 && f.Float() <= math.MaxFloat32) {
			return fmt.Errorf("cost: %s is %g: it must be a number above 0", key, f.Float())
		}
	}
	if _, ok := replicas(p.Consistency, p.Replication); !ok {
		return fmt.Errorf("cost: %w", &model.NameError{What: "consistency level", Name: p.Consistency, Known: levels})
	}
	switch {
	case p.Nodes < 1 || p.Replication < 1 || p.Parallel < 1:
		return fmt.Errorf("cost: nodes %g, replication %g, parallel %g: each must be at least 1", p.Nodes, p.Replication, p.Parallel)
	case p.Replication > p.Nodes:
		return fmt.Errorf("cost: replication %g on %g nodes: a node holds one replica of a row", p.Replication, p.Nodes)
	case p.Spread > 1:
		return fmt.Errorf("cost: spread is %g: it is a share, at most 1", p.Spread)
	case p.PartitionMost < p.PartitionBytes:
		return fmt.Errorf("cost: partition_bytes_most %g is below partition_bytes %g", p.PartitionMost, p.PartitionBytes)
	}
	return nil
}

// parametersDocument is a file of parameters.
type parametersDocument struct {
	Model               string `yaml:"model"`
	CassandraParameters `yaml:",inline"`
}

// ReadCassandra reads the model from the content of a YAML or JSON file of its parameters, with "model: cassandra"; name is
// for messages. Keys that are not known are errors.
func ReadCassandra(name string, data []byte) (*Cassandra, error) {
	var d parametersDocument
	if err := model.DecodeYAML(name, data, &d); err != nil {
		return nil, err
	}
	if d.Model != "cassandra" {
		return nil, &model.FileError{File: name, Reason: fmt.Sprintf("parameters of model %q: write model: cassandra", d.Model)}
	}
	c, err := NewCassandra(d.CassandraParameters)
	if err != nil {
		return nil, &model.FileError{File: name, Reason: strings.TrimPrefix(err.Error(), "cost: ")}
	}
	return c, nil
}

// Save writes the parameters as ReadCassandra reads them.
func (c *Cassandra) Save(w io.Writer) error {
	data, err := yaml.Marshal(parametersDocument{Model: "cassandra", CassandraParameters: c.p})
	if err != nil {
		return fmt.Errorf("cost: %w", err)
	}
	_, err = w.Write(data)
	return err
}
