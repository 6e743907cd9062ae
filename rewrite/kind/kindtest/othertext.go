// Package kindtest is a kind of change for tests: it answers a statement by another text on the same table. It makes no table, and so is
// about the least that a kind can be. It may import what kinds may.
package kindtest

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/rewrite/condition"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/kind"
)

// OtherText implements kind.Kind.
type OtherText struct{}

// Name implements kind.Kind.
func (OtherText) Name() string { return "other-text" }

// Noun implements kind.Kind.
func (OtherText) Noun() string { return "other text" }

// Title implements kind.Kind.
func (OtherText) Title(c *plan.Rewrite) string { return fmt.Sprintf("ask %s by another text", c.Base) }

// Filtering is what the other text has that the application's has not.
const Filtering = " ALLOW FILTERING"

// Propose implements kind.Proposer: every SELECT without ALLOW FILTERING may have it.
func (OtherText) Propose(seen *capture.Snapshot, tables *schema.Schema) (all []plan.Proposal) {
	for i := range seen.Statements {
		s := &seen.Statements[i]
		st, err := s.Parse()
		read, ok := st.(*cql.Select)
		if err != nil || !ok || read.AllowFiltering {
			continue
		}
		t := read.Table.In(s.Keyspace)
		base := tables.Table(t.Keyspace, t.Table)
		if base == nil {
			continue
		}
		own, _ := json.Marshal(s.Text + Filtering) // a string can be written
		c := plan.Rewrite{Kind: OtherText{}.Name(), Keyspace: t.Keyspace, Base: t.Table, Statements: []string{s.Fingerprint}, Texts: []string{s.Text},
			SchemaDigest: base.Digest(), Own: own}
		all = append(all, plan.Proposal{Rewrite: c, Title: OtherText{}.Title(&c), Why: "it is another text", SavedSecondsPerSecond: 1})
	}
	return all
}

// Judge implements kind.Kind.
func (OtherText) Judge(c plan.Rewrite, _ *capture.Snapshot, s *schema.Schema) []plan.Verdict {
	if s.Table(c.Keyspace, c.Base) == nil {
		return []plan.Verdict{{Refused: true, Condition: condition.Schema.ID, Reason: "there is no such table"}}
	}
	return []plan.Verdict{{Statement: c.Statements[0], Reason: "can be answered by another text"}}
}

// Open implements kind.Kind.
func (OtherText) Open(p kind.Parts) kind.Runner { return &runner{p.Session} }

type runner struct{ session exec.Session }

// Fit implements kind.Runner.
func (r *runner) Fit(c plan.Rewrite, base *schema.Table) (kind.Fitted, *condition.Refusal) {
	if base == nil {
		return nil, condition.Schema.Refuse("table %s.%s is not in the schema", c.Keyspace, c.Base)
	}
	f := &fitted{session: r.session, change: c}
	if err := json.Unmarshal(c.Own, &f.text); err != nil {
		return nil, condition.Schema.Refuse("the other text can not be read: %v", err)
	}
	return f, nil
}

type fitted struct {
	session exec.Session
	change  plan.Rewrite
	text    string
}

// Check implements kind.Fitted.
func (f *fitted) Check(text string) *condition.Refusal {
	if text != f.change.Texts[0] {
		return condition.Columns.Refuse("this statement is not the one that was approved")
	}
	return nil
}

// Read implements kind.Fitted.
func (f *fitted) Read(st cql.Statement, keyspace string) (kind.Read, *condition.Refusal) {
	if cql.Fingerprint(st, keyspace).String() != f.change.Statements[0] {
		return nil, condition.Columns.Refuse("this statement is not the one that was approved")
	}
	return &read{f}, nil
}

// Samples implements kind.Fitted: only the application knows what it asks.
func (*fitted) Samples(context.Context, int, gocql.Consistency) ([]kind.Sample, error) {
	return nil, nil
}

type read struct{ of *fitted }

// Of implements kind.Read.
func (r *read) Of() kind.Fitted { return r.of }

// Answer implements kind.Read.
func (r *read) Answer(ctx context.Context, q kind.Request) (proxy.Rows, error) {
	return r.ask(ctx, r.of.text, q)
}

// Original implements kind.Read.
func (r *read) Original(ctx context.Context, q kind.Request) (proxy.Rows, error) {
	return r.ask(ctx, r.of.change.Texts[0], q)
}

func (r *read) ask(ctx context.Context, text string, q kind.Request) (proxy.Rows, error) {
	var values [][]byte
	for _, v := range q.Values.Values {
		values = append(values, v.Bytes)
	}
	a, err := r.of.session.Query(ctx, exec.Query{Text: text, Values: values, Consistency: q.Consistency})
	if err != nil {
		return nil, fmt.Errorf("ask by another text: %w", err)
	}
	return a.Rows, nil
}

// Asked implements kind.Read.
func (*read) Asked(q kind.Request) string {
	return fmt.Sprintf("%d values", len(q.Values.Values))
}
