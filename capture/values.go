package capture

import (
	"cmp"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/feed"
	"github.com/helenus-db/helenus/capture/trace"
	"github.com/helenus-db/helenus/capture/window"
	"github.com/helenus-db/helenus/proxy"
)

// This file is what the registry has to do with values: it says what is known of a statement when they are looked at, and
// hands out what package window has learnt of them.

// Windows are the value windows, to be switched on and off, recorded, and asked.
func (r *Registry) Windows() *window.Windows { return r.windows }

// addFindings adds to a snapshot what was learnt from values, without a hash: snapshots are written to disk.
func (r *Registry) addFindings(out *Snapshot) {
	f := r.windows.Findings()
	out.Feeds, out.Echoes, out.Bursts, out.Templates, out.Profiles = f.Feeds, f.Echoes, f.Bursts, f.Templates, f.Profiles.Derived()
	r.flows.Store(&out.Feeds)
}

// metricFlows is how many flows get metrics of their own: those that rest on most.
const metricFlows = 50

var (
	flowDesc = prometheus.NewDesc("helenus_flow_info",
		"1 for each join that the application does by hand, with the columns that its values travel between; the 50 that were seen most.",
		[]string{"flow", "from_keyspace", "from_table", "from_column", "to_keyspace", "to_table", "to_column", "shape"}, nil)
	followedDesc = prometheus.NewDesc("helenus_flow_followed_ratio",
		"Share of the executions of a flow's first statement that the second followed.", []string{"flow"}, nil)
	fanOutDesc = prometheus.NewDesc("helenus_flow_values",
		"Mean number of different values that were followed of one execution of a flow's first statement.", []string{"flow"}, nil)
	lagDesc = prometheus.NewDesc("helenus_flow_lag_seconds",
		"Median time from a flow's first answer to the second request.", []string{"flow"}, nil)
	flowsDesc = prometheus.NewDesc("helenus_flows",
		"Joins that the application does by hand, found in sampled values.", nil, nil)
	enabledDesc = prometheus.NewDesc("helenus_sampling_enabled",
		"1 if values are looked at in windows, 0 if that is switched off.", nil, nil)
	profiledDesc = prometheus.NewDesc("helenus_profile_columns",
		"Columns whose values are summarised.", nil, nil)
)

// describeValues is Describe for what is learnt from values.
func describeValues(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{flowDesc, followedDesc, fanOutDesc, lagDesc, flowsDesc, enabledDesc, profiledDesc} {
		out <- d
	}
}

// collectValues is Collect for what is learnt from values. It does not look for feeds anew, which takes too long for a
// scrape: it says what the latest snapshot had.
func (r *Registry) collectValues(out chan<- prometheus.Metric, f window.Statistics) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	enabled := 0.0
	if f.On {
		enabled = 1
	}
	gauge(enabledDesc, enabled)
	gauge(profiledDesc, float64(f.Columns))
	var feeds []feed.Feed
	if last := r.flows.Load(); last != nil {
		feeds = slices.Clone(*last)
	}
	gauge(flowsDesc, float64(len(feeds)))
	slices.SortStableFunc(feeds, func(a, b feed.Feed) int { return cmp.Compare(b.Hits, a.Hits) })
	known := map[string]bool{}
	for i := range feeds[:min(len(feeds), metricFlows)] {
		x := &feeds[i]
		id := flowID(x)
		if known[id] {
			continue
		}
		known[id] = true
		gauge(flowDesc, 1, id, labelValue(x.From.Keyspace), labelValue(x.From.Table), labelValue(x.From.Column), labelValue(x.To.Keyspace), labelValue(x.To.Table), labelValue(x.To.Column), string(x.Shape))
		gauge(followedDesc, x.Followed, id)
		gauge(fanOutDesc, x.PerExecution, id)
		gauge(lagDesc, x.LagP50/1e6, id)
	}
}

// traceStatement is what the text of the statement tells of its values: all that this file takes from a record.
func (r *record) traceStatement() *trace.Statement {
	a := r.description.Load()
	return &trace.Statement{
		Fingerprint: a.fingerprint, Keyspace: a.keyspace, Table: a.table, Shape: a.restricted,
		Write: a.kind == cql.KindInsert || a.kind == cql.KindUpdate || a.kind == cql.KindDelete,
		Key:   a.key, Sets: a.sets, Conditional: a.conditional, Limited: a.limited,
	}
}

// describedStatement is what has to be known of the statement, once Cassandra has described it, to look at its values.
func (r *record) describedStatement(p *proxy.Prepared) *trace.Statement {
	s := r.traceStatement()
	s.Variables, s.Results, s.PartitionKey = p.Variables, p.Results, p.PartitionKey
	if ranges := r.description.Load().ranges; ranges != nil {
		s.Ranges = ranges(p.Variables)
	}
	return s
}

// restrictionText says how a statement restricts its rows: "user_id =, added_date <", in its own order, which does not matter to
// Cassandra but tells statements of one shape.
func restrictionText(st cql.Statement) string {
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

// showValues hands on the values of an exchange.
func (r *record) showValues(x *proxy.Exchange) {
	s := r.shape.Load()
	if s == nil {
		return
	}
	st := s.sampled
	if p := x.Prepared; p != nil && (!sameColumns(p.Variables, s.variables) || !sameColumns(p.Results, s.results)) {
		st = r.describedStatement(p) // the same fingerprint with an IN list of another length, or another table by now, or still the former one
	}
	r.registry.windows.Observe(x, st)
}

// sameColumns reports whether columns are of the same names and types, as far as values are read by them.
func sameColumns(a, b []proxy.Column) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if &a[i] == &b[i] { // and so are all that follow
			return true
		}
		if a[i].Name != b[i].Name || a[i].Type.Code != b[i].Type.Code || len(a[i].Type.Elements) != len(b[i].Type.Elements) {
			return false
		}
	}
	return true
}

// literalRecord is the record of a statement that comes with its literals while a window is open. One that turns out to have been
// prepared, or whose window has closed, is the record that it stands for.
type literalRecord struct {
	*record
	in, text string
}

// withText adds the text to a record while values are looked at.
func (r *Registry) withText(x *record, keyspace, text string) proxy.Record {
	if !r.windows.Open() || x.gone.Load() || x == r.other || !mayHaveLiterals(text) && !r.needsSchema(x, text) {
		return x
	}
	return &literalRecord{x, keyspace, text}
}

// needsSchema reports whether a text has bind markers whose types nobody but the schema knows: it was never prepared.
func (r *Registry) needsSchema(x *record, text string) bool {
	return r.options.Windows.Schema != nil && x.shape.Load() == nil && strings.ContainsAny(text, "?:")
}

// mayHaveLiterals reports whether a quote, or a digit that does not belong to a name, is in a text.
func mayHaveLiterals(text string) bool {
	name := false
	for i := range len(text) {
		switch c := text[i]; {
		case c == '\'' || c == '$':
			return true
		case c >= '0' && c <= '9':
			if !name {
				return true
			}
		default:
			name = c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z'
		}
	}
	return false
}

// recordOf is the record behind what Statement returned.
func recordOf(r proxy.Record) *record {
	switch x := r.(type) {
	case *record:
		return x
	case *literalRecord:
		return x.record
	}
	return nil
}

// Done counts exchanges, and looks at the values in the text, and at those of its bind markers, if it has any: their types are told by the schema, or,
// if the same statement was prepared as well, by what Cassandra said of it then.
func (s *literalRecord) Done(xs []proxy.Exchange) {
	for i := range xs {
		x := &xs[i]
		if x.Prepared != nil || x.Opcode != proxy.OpQuery && !x.InBatch || len(x.Values) > 0 && !s.registry.needsSchema(s.record, s.text) {
			continue
		}
		if st := s.traceStatement(); st.Write || x.Response != nil {
			s.registry.windows.ObserveText(x, st, s.in, s.text)
			x.Values, x.Response = nil, nil // they were looked at
		}
	}
	s.record.Done(xs)
}
