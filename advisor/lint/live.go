package lint

import (
	"context"
	"fmt"
	"slices"

	"github.com/helenus-db/helenus/advisor/correction"
	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/rules"
	"github.com/helenus-db/helenus/advisor/trial"
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/schema"
)

// FromSnapshot makes an input of what was captured, over the tables of a cluster; Helenus's own are left out. stats may lack
// tables; said are corrections of people. What rows stand for, and which statements are a join by hand, is as far as the inference gets.
func FromSnapshot(snapshot *capture.Snapshot, s *schema.Schema, stats []schema.Stats, said correction.List) (*Input, error) {
	m, err := infer.WithCorrections(snapshot, s, stats, said)
	if err != nil {
		return nil, fmt.Errorf("lint: no model of the tables: %w", err)
	}
	return FromModel(m, snapshot, s, stats), nil
}

// LiveCorrected lints what was captured, in this process: see FromSnapshot. said is what people said about the model.
func LiveCorrected(_ context.Context, snapshot *capture.Snapshot, s *schema.Schema, stats []schema.Stats, said correction.List) (*Report, error) {
	in, err := FromSnapshot(snapshot, s, stats, said)
	if err != nil {
		return nil, err
	}
	return Lint(in), nil
}

// FromModel is FromSnapshot with a model that was concluded from the same.
func FromModel(m *infer.Model, snapshot *capture.Snapshot, s *schema.Schema, stats []schema.Stats) *Input {
	in := &Input{Name: "live", Schema: withoutOwn(s), Facts: map[Reference]*Fact{}, Partial: true}
	for _, t := range in.sortedTables() {
		in.Facts[refOf(t)] = factOfLive(t, m, stats)
	}
	for i := range snapshot.Statements {
		in.addStatement(&snapshot.Statements[i])
	}
	if n := snapshot.Other.Count + snapshot.Unknown.Count; n > 0 {
		in.Unsupported = append(in.Unsupported, rules.Unsupported{Statement: "other", Reason: fmt.Sprintf("%d executions of statements of which no text is kept", n)})
	}
	for _, c := range m.Workload.Statements {
		if c.Query == nil || len(c.Sources) < 2 {
			continue
		}
		q := Question{ID: c.ID, Text: c.String(), Access: rules.MultiTable}
		for _, use := range m.UsesOf(c.ID) {
			st := snapshot.Statement(use.Fingerprint)
			if st == nil {
				continue
			}
			if ref := (Reference{st.Keyspace, st.Table}); in.Schema.Table(ref.Keyspace, ref.Table) != nil && !slices.Contains(q.Tables, ref) {
				q.Tables = append(q.Tables, ref)
			}
		}
		if len(q.Tables) < 2 {
			continue
		}
		if trace, err := rules.Map(c.Query); err == nil {
			q.Mapped = trace
		}
		in.Questions = append(in.Questions, q)
	}
	return in
}

// withoutOwn leaves Helenus's own tables out.
func withoutOwn(s *schema.Schema) *schema.Schema {
	out := &schema.Schema{}
	for _, k := range s.Keyspaces {
		k.Tables = slices.DeleteFunc(slices.Clone(k.Tables), func(t schema.Table) bool { return infer.Own(&t) })
		out.Keyspaces = append(out.Keyspaces, k)
	}
	return out
}

// factOfLive is what the model and the statistics say of a table.
func factOfLive(t *schema.Table, m *infer.Model, stats []schema.Stats) *Fact {
	f := &Fact{Distinct: map[string]float64{}}
	if known := m.Table(t.Keyspace, t.Name); known != nil {
		f = factOf(known)
		f.Partitions, f.Rows, f.RowBytes = 0, 0, 0 // measured, or not known
		f.Key = slices.DeleteFunc(f.Key, func(k Column) bool {
			return !slices.ContainsFunc(known.Fields(), func(x model.Field) bool { return known.ColumnName(x) == k.Name })
		})
	}
	f.Unmeasured = true
	for i := range stats {
		x := &stats[i]
		if x.Keyspace != t.Keyspace || x.Table != t.Name {
			continue
		}
		f.Unmeasured = false
		f.Rows, f.Partitions, f.RowBytes = x.Rows, x.Partitions, x.MeanRowBytes
		for _, c := range x.Columns {
			f.Distinct[c.Name] = c.Distinct
		}
	}
	return f
}

// addStatement takes in a statement.
func (in *Input) addStatement(st *capture.Statement) {
	if schema.System(st.Keyspace) {
		return
	}
	if st.Count == 0 { // prepared, and not executed so far: somebody means to
		in.notePrepared(st)
		return
	}
	cannot := func(reason string) {
		in.Unsupported = append(in.Unsupported, rules.Unsupported{Statement: st.Fingerprint, Reason: reason})
	}
	parsed, err := st.Parse()
	if err != nil {
		cannot("its text does not parse: " + err.Error())
		return
	}
	if s, ok := parsed.(*cql.Select); ok {
		r := Read{Keyspace: st.Keyspace, Select: s}
		if on := r.On(); in.Schema.Table(on.Keyspace, on.Table) == nil {
			if !schema.System(on.Keyspace) {
				cannot("it reads " + on.String() + ", which is no table that is advised on")
			}
			return
		}
		in.Questions = append(in.Questions, Question{ID: st.Fingerprint, Text: st.Text, Count: st.Count, Reads: []Read{r}})
		return
	}
	in.addChanges(parsed, st.Keyspace)
	a := schema.Analyse(parsed, in.Schema, st.Keyspace)
	c := Classified{Statement: st.Fingerprint, Text: st.Text, Class: a.Class, Access: rules.AccessOf(a.Class), Tables: []string{}}
	for _, x := range append([]schema.Analysis{a}, a.Children...) {
		if name := (Reference{x.Keyspace, x.Table}).String(); x.Table != "" && !slices.Contains(c.Tables, name) {
			c.Tables = append(c.Tables, name)
		}
	}
	if len(c.Tables) > 1 {
		c.Access = rules.MultiTable
	}
	in.Writes = append(in.Writes, c)
}

// addChanges notes a write, or those of a batch.
func (in *Input) addChanges(st cql.Statement, keyspace string) {
	if b, ok := st.(*cql.Batch); ok {
		for _, child := range b.Statements {
			in.addChanges(child, keyspace)
		}
		return
	}
	ref, ok := trial.On(st)
	if !ok {
		return
	}
	ref = ref.In(keyspace)
	in.Changes = append(in.Changes, Change{keyspace, st})
	in.noteTouched(Reference{ref.Keyspace, ref.Table})
}

// noteTouched notes that a table is spoken of.
func (in *Input) noteTouched(on Reference) {
	if in.Touched == nil {
		in.Touched = map[Reference]bool{}
	}
	in.Touched[on] = true
}

// notePrepared notes the tables that a statement reads which was not executed: they are in use.
func (in *Input) notePrepared(st *capture.Statement) {
	parsed, err := st.Parse()
	if err != nil {
		return
	}
	if s, ok := parsed.(*cql.Select); ok {
		r := Read{Keyspace: st.Keyspace, Select: s}
		in.Support = append(in.Support, r.On())
	}
}
