package infer

import (
	"fmt"
	"slices"
	"sort"

	"github.com/helenus-db/helenus/advisor/correction"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/feed"
	"github.com/helenus-db/helenus/capture/schema"
)

// WithCorrections concludes a model and a workload. stats may lack tables, or be empty: sizes are assumed for those. It is pure.
// What people said holds, whatever speaks against it, and the model says of each line what became of it.
// It fails only if what it built contradicts itself, which no input should bring about.
func WithCorrections(snapshot *capture.Snapshot, s *schema.Schema, stats []schema.Stats, corrections correction.List) (*Model, error) {
	snapshot = ordered(snapshot)
	m := &Model{
		Graph: &model.Graph{}, Workload: &workload.Workload{Name: "observed"},
		Seconds: window(snapshot.From, snapshot.To), tables: map[table]*source{},
	}
	b := &modeller{
		m: m, joins: map[pair]evidence{}, asked: map[pair]evidence{}, travel: map[string]bool{}, beside: map[string][]beside{}, duals: map[[2]table]dual{}, types: map[string]int{}, names: map[string]*columnNamed{}, views: map[*source][]*source{}, said: map[table]uint64{},
		scanned: map[table]bool{}, taken: map[string]bool{}, opaque: map[table]string{},
		ruled: newRulings(corrections), samples: samples{}, pieces: map[string][]piece{}, spelt: map[string]bool{}, directed: map[[2]table][]*passage{},
	}
	b.observe(snapshot, s)
	b.build(s, stats)
	m.Workload.Graph, m.Workload.Tables = m.Graph, m.Tables
	sort.Slice(m.Entities, func(i, j int) bool { return m.Entities[i].Name < m.Entities[j].Name })
	sort.Slice(m.Relationships, func(i, j int) bool { return m.Relationships[i].Name < m.Relationships[j].Name })
	if err := m.Graph.Validate(); err != nil {
		return nil, fmt.Errorf("the model that was inferred is not consistent (please report this): %w", err)
	}

	for i := range snapshot.Statements {
		m.work += snapshot.Statements[i].Work()
	}
	f := &flows{m: m, index: map[string]int{}, ruled: b.ruled}
	for i := range snapshot.Statements {
		st := &snapshot.Statements[i]
		if st.Count == 0 {
			continue
		}
		rate := b.ruled.rate(st.Fingerprint, float64(executions(st))/m.Seconds)
		if rate == 0 {
			m.unexplained(st, "counts nothing: a person gave it the weight 0", 1)
			continue
		}
		said := b.interpret(st, rate)
		if said.reason != "" {
			m.unexplained(st, said.reason, 1)
			continue
		}
		f.index[st.Fingerprint] = len(f.all)
		f.all = append(f.all, said)
	}
	m.said = f.all
	f.bursts(snapshot.Templates)
	f.connect(b.believed(snapshot))
	b.askJoins(f, snapshot.Echoes)
	f.emit()
	m.finish()
	b.judge(s, snapshot, corrections)
	m.Workload.Corrections = corrections
	return m, nil
}

func columnName(e feed.End) string { return e.Keyspace + "." + e.Table + "." + e.Column }

// executions is how often a statement was asked: not so for each of its pages.
func executions(st *capture.Statement) uint64 { return st.Count - min(st.Paged, st.Count-1) }

// unexplained notes that a share of a statement's executions is not in the workload.
func (m *Model) unexplained(st *capture.Statement, reason string, share float64) {
	m.Unexplained = append(m.Unexplained, Unexplained{
		Fingerprint: st.Fingerprint, Keyspace: st.Keyspace, Text: st.Text, Count: uint64(share*float64(executions(st)) + 0.5), Reason: reason,
		Share: share * st.Work() / max(m.work, 1),
	})
}

// finish sorts everything.
func (m *Model) finish() {
	sort.SliceStable(m.Workload.Statements, func(i, j int) bool { return m.Workload.Statements[i].ID < m.Workload.Statements[j].ID })
	sort.SliceStable(m.Uses, func(i, j int) bool { return m.Uses[i].Statement < m.Uses[j].Statement })
	sort.SliceStable(m.Unexplained, func(i, j int) bool { return m.Unexplained[i].Fingerprint < m.Unexplained[j].Fingerprint })
	sort.SliceStable(m.Questions, func(i, j int) bool { return m.Questions[i].ID < m.Questions[j].ID })
	sort.SliceStable(m.Joins, func(i, j int) bool {
		a, b := m.Joins[i], m.Joins[j]
		if a.From != b.From {
			return a.From < b.From
		}
		if a.To != b.To {
			return a.To < b.To
		}
		return a.Feed.From.Fingerprint+a.Feed.To.Fingerprint < b.Feed.From.Fingerprint+b.Feed.To.Fingerprint
	})
}

// UsesOf returns what a conceptual statement stands for: of a path query the producer first.
func (m *Model) UsesOf(statement string) []Use {
	var out []Use
	for _, u := range m.Uses {
		if u.Statement == statement {
			out = append(out, u)
		}
	}
	return out
}

// Singles returns the workload with every statement on its own, joined to nothing and read from the table that it names: what can be changed without
// touching the application. IDs are those of Workload, "q-" and "w-" and the beginning of the fingerprint.
func (m *Model) Singles() *workload.Workload {
	single := &flows{m: &Model{Workload: &workload.Workload{Name: "observed, one by one", Graph: m.Graph, Tables: slices.Clone(m.Tables)}}}
	single.writes = m.bursts
	for _, s := range m.said {
		switch {
		case s.writes != nil:
			single.write(s)
		case !s.query.lists():
			if t := s.source.table; !slices.Contains(single.m.Workload.Tables, t) { // a part of the rows, which its own statements read
				single.m.Workload.Tables = append(single.m.Workload.Tables, t)
			}
			single.add("q-"+digest(s.statement.Fingerprint), &workload.Statement{Weight: s.rate, Query: s.query.query(), Only: s.source.table},
				[]Use{{Fingerprint: s.statement.Fingerprint, PerExecution: 1}})
		}
	}
	single.m.finish()
	return single.m.Workload
}

// Table returns an existing table of the model, or nil.
func (m *Model) Table(keyspace, name string) *model.Table {
	if s := m.tables[table{keyspace, name}]; s != nil {
		return s.table
	}
	return nil
}

// Field returns the field that a column of an existing table holds, the zero Field if there is none.
func (m *Model) Field(keyspace, name, column string) model.Field {
	if s := m.tables[table{keyspace, name}]; s != nil {
		return s.fields[column]
	}
	return model.Field{}
}
