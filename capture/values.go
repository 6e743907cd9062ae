package capture

import (
	"strings"

	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/trace"
	"github.com/helenus-db/helenus/capture/window"
	"github.com/helenus-db/helenus/proxy"
)

// This file is what the registry has to do with values: it says what is known of a statement when they are looked at, and
// hands out what package window has learnt of them.

// Windows are the value windows, to be switched on and off, recorded, and asked.
func (r *Registry) Windows() *window.Windows { return r.windows }

// found adds to a picture what was learnt from values.
func (r *Registry) found(out *Snapshot) {
	f := r.windows.Findings()
	out.Feeds, out.Bursts, out.Profiles = f.Feeds, f.Bursts, f.Profiles
}

// described is what has to be known of the statement to look at its values.
func (r *record) described(p *proxy.Prepared) *trace.Statement {
	s := &trace.Statement{
		Fingerprint: r.fingerprint, Keyspace: r.keyspace, Table: r.table,
		Write:     r.kind == cql.KindInsert || r.kind == cql.KindUpdate || r.kind == cql.KindDelete,
		Variables: p.Variables, Results: p.Results, PartitionKey: p.PartitionKey, Shape: r.restricted,
	}
	if r.ranges != nil {
		s.Ranges = r.ranges(p.Variables)
	}
	return s
}

// restrictions says how a statement restricts its rows: "user_id =, added_date <", in its own order, which does not matter to
// Cassandra but tells statements of one shape.
func restrictions(st cql.Statement) string {
	var where []cql.Relation
	switch s := st.(type) {
	case *cql.Select:
		where = s.Where
	case *cql.Update:
		where = s.Where
	case *cql.Delete:
		where = s.Where
	}
	parts := make([]string, len(where))
	for i, w := range where {
		name := strings.Join(w.Columns, ", ")
		if w.Token {
			name = "token(" + name + ")"
		} else if len(w.Columns) > 1 {
			name = "(" + name + ")"
		}
		parts[i] = name + " " + w.Op.String()
	}
	return strings.Join(parts, ", ")
}
