package recommend

import (
	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/options"
	"github.com/helenus-db/helenus/advisor/safety"
	"github.com/helenus-db/helenus/advisor/workload"
)

// TableSafety says whether several writers can meet in one partition of a new table (package safety; docs/safety.md).
type TableSafety struct {
	Table   string         `json:"table"`
	Verdict safety.Verdict `json:"verdict"`
	Class   safety.Class   `json:"class,omitempty"` // of the writes that meet
	If      []string       `json:"if,omitempty"`    // what must hold
	Reason  string         `json:"reason,omitempty"`
}

// Place is that of the new tables among all schemas that answer the query by one request (package options; docs/options.md).
type Place struct {
	Rank  int     `json:"rank"`
	Of    int     `json:"of"`
	Score float64 `json:"score"`
	Best  float64 `json:"best_score"`
}

// safetyOf checks new tables with the writes of a workload. Who writes is guessed from the model's names, so nothing is better
// than SAFE-IF unless nothing writes it.
func safetyOf(w *workload.Workload, tables []*model.Table) []TableSafety {
	p, err := safety.PrincipalOf(w)
	if err != nil {
		return nil
	}
	var list []TableSafety
	for _, t := range safety.Encode(w, tables, p) {
		f, err := safety.Judge(t, safety.Partition, p)
		if err != nil {
			continue // what can not be checked has no verdict
		}
		x := TableSafety{Table: t.Name, Verdict: f.Verdict, Class: f.Class, If: f.If}
		if f.Answer.Witness != nil && len(f.If) == 0 {
			x.Reason = f.Answer.Witness.Reason
		}
		list = append(list, x)
	}
	return list
}

// Bounds of the ranking that a recommendation is placed in: it is one query's.
var placeLimits = options.Limits{Variants: 64, Options: 64, Schemas: 500, LookUps: 1}

// place ranks a design of one query among its options, nil if the method does not support the query.
func (k *maker) place(query *workload.Statement, tables []*model.Table, d *design.Design) *Place {
	if query.Query == nil || options.Unsupported(query.Query) != "" {
		return nil
	}
	one := &workload.Workload{Name: query.ID, Graph: k.model.Graph, Statements: []*workload.Statement{query}}
	given := options.Given{Name: "recommended", Tables: tables, Reads: map[string]int{query.ID: len(d.Statements[0].Plan.Tables())}, Writes: map[string]int{}}
	r, err := options.Find(k.ctx, one, options.Config{Indexes: 1, Given: []options.Given{given}, Limits: placeLimits})
	if err != nil {
		return nil
	}
	for _, o := range r.Options {
		if o.Given {
			return &Place{Rank: o.Rank, Of: len(r.Options), Score: o.Score, Best: r.Options[0].Score}
		}
	}
	return nil
}
