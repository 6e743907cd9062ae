package recommend

import "github.com/helenus-db/helenus/advisor/plan"

// adviseProposed advises what kinds of change propose themselves.
func (k *maker) adviseProposed() {
	p, ok := k.Judge.(Proposer)
	if !ok {
		return
	}
	for _, one := range p.Propose(k.Snapshot, k.Schema) {
		k.advice.Recommendations = append(k.advice.Recommendations, k.describeProposal(&one))
	}
}

// describeProposal words what a kind proposes.
func (k *maker) describeProposal(p *plan.Proposal) Recommendation {
	c := p.Rewrite
	r := Recommendation{
		ID: idOf(c.Kind, c.Keyspace, c.Base, c.Column, c.Table, string(c.Own)), Kind: Kind(c.Kind), State: Open, Title: p.Title, Why: p.Why,
		Keyspace: c.Keyspace, Table: c.Base, Column: c.Column, Nodes: k.Nodes,
		Verdicts: []plan.Verdict{}, Alternatives: []Alternative{}, Statements: []Statement{}, Writes: []Write{}, Risks: []string{},
		SavedSecondsPerSecond: p.SavedSecondsPerSecond, WriteCostRatio: 1, Evidence: k.newEvidence(), SchemaDigest: c.SchemaDigest,
		CreatedAt: k.At, LastRefresh: k.At, StateSince: k.At, Rewrite: &c,
	}
	for _, f := range c.Statements {
		if st := k.Snapshot.Statement(f); st != nil {
			r.Statements = append(r.Statements, k.describeStatement(st))
			r.Evidence.Executions += st.Count
		}
	}
	k.judgeRewrite(&r)
	return r
}
