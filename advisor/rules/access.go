package rules

import (
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/capture/schema"
)

// Access is a class of access, from good to bad.
type Access string

// The classes, and None for what reads or writes no rows of a table that is known.
const (
	Partition  Access = "partition-per-query"
	Partitions Access = "partition+-per-query"
	TableScan  Access = "table scan"
	MultiTable Access = "multi-table"
	None       Access = "none"
)

// Accesses are the classes in order, the ideal first.
var Accesses = []Access{Partition, Partitions, TableScan, MultiTable}

// worth ranks classes: less is better.
func (a Access) worth() int {
	for i, x := range Accesses {
		if x == a {
			return i
		}
	}
	return len(Accesses)
}

// Better tells whether a is a better class than b.
func (a Access) Better(b Access) bool { return a.worth() < b.worth() }

// AccessOf is the class of a statement on one table, as schema.Classify has found it. A read by a secondary index is one of
// several partitions: those that the index names (that it asks every node for them is the linter's to say).
func AccessOf(c schema.Class) Access {
	switch c {
	case schema.Row, schema.Partition:
		return Partition
	case schema.MultiPartition, schema.IndexRead:
		return Partitions
	case schema.Scan:
		return TableScan
	}
	return None
}

// AccessOfPlan is the class of a query that is answered by a plan: that of its reads, the worst of them; multi-table if they
// are of several tables.
func AccessOfPlan(p *plan.Plan) Access {
	if p == nil {
		return None
	}
	tables := p.Tables()
	for _, t := range tables {
		if t.Base != nil { // a look-up table and its base are two
			return MultiTable
		}
	}
	if len(tables) > 1 {
		return MultiTable
	}
	out := Partition
	for i := range p.Steps {
		if a := accessOfStep(&p.Steps[i]); out.Better(a) && a != None {
			out = a
		}
	}
	return out
}

// accessOfStep is the class of one read.
func accessOfStep(s *plan.Step) Access {
	switch s.Kind {
	case plan.Scan:
		return TableScan
	case plan.IndexGet:
		return Partitions
	case plan.Get:
		several := s.Table.Bucket != nil && len(s.Bucket) == 0 && s.Table.Bucket.Count > 1
		for _, b := range s.Partition {
			several = several || b.Op == workload.In || b.Value == "" // of an earlier step's rows
		}
		if several {
			return Partitions
		}
		return Partition
	}
	return None
}
