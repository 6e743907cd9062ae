package recommend

import "github.com/helenus-db/helenus/advisor/plan"

// proposed advises what kinds of change propose themselves.
func (k *maker) proposed() {
	p, ok := k.Judge.(Proposer)
	if !ok {
		return
	}
	for _, one := range p.Propose(k.Snapshot, k.Schema) {
		k.advice.Recommendations = append(k.advice.Recommendations, k.proposal(&one))
	}
}

// proposal words what a kind proposes.
func (k *maker) proposal(p *plan.Proposal) Recommendation {
	c := p.Rewrite
	r := Recommendation{
		ID: identity(c.Kind, c.Keyspace, c.Base, c.Column, c.Table, string(c.Own)), Kind: Kind(c.Kind), State: Open, Title: p.Title, Why: p.Why,
		Keyspace: c.Keyspace, Table: c.Base, Column: c.Column, Nodes: k.Nodes,
		Verdicts: []plan.Verdict{}, Alternatives: []Alternative{}, Statements: []Statement{}, Writes: []Write{}, Risks: []string{},
		SavedSecondsPerSecond: p.SavedSecondsPerSecond, WriteCostRatio: 1, Evidence: k.evidence(), SchemaDigest: c.SchemaDigest,
		CreatedAt: k.At, LastRefresh: k.At, StateSince: k.At, Rewrite: &c,
	}
	for _, f := range c.Statements {
		if st := k.Snapshot.Statement(f); st != nil {
			r.Statements = append(r.Statements, k.statement(st))
			r.Evidence.Executions += st.Count
		}
	}
	k.judge(&r)
	return r
}
