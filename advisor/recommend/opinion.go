package recommend

import (
	"fmt"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/options"
	"github.com/helenus-db/helenus/advisor/plan"
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
	Remarks []string       `json:"remarks,omitempty"` // what the check does not see
}

// Place is that of the tables among all schemas that answer the query by one request (package options; docs/options.md).
type Place struct {
	Rank  int     `json:"rank,omitempty"` // 0: there is none, for the Reason
	Of    int     `json:"of,omitempty"`
	Score float64 `json:"score,omitempty"`
	Best  float64 `json:"best_score,omitempty"`
	// Statement is whose ranking it is; Requests is how many tables the plan reads for it, where all options read one.
	Statement string `json:"statement,omitempty"`
	Requests  int    `json:"requests,omitempty"`
	Reason    string `json:"reason,omitempty"`
}

// safetyOf checks new tables with the writes of a workload. Who writes is guessed from the model's names, so nothing is better
// than SAFE-IF unless nothing writes it.
func safetyOf(w *workload.Workload, tables []*model.Table) []TableSafety {
	p, err := safety.PrincipalOf(w)
	if err != nil {
		return nil
	}
	list := []TableSafety{}
	for _, t := range safety.Encode(w, tables, p) {
		f, err := safety.Judge(t, safety.Partition, p)
		if err != nil {
			list = append(list, TableSafety{Table: t.Name, Reason: "not checked: " + err.Error()})
			continue
		}
		x := TableSafety{Table: t.Name, Verdict: f.Verdict, Class: f.Class, If: f.If}
		if len(f.If) == 0 {
			x.Reason = f.Reason
		}
		if f.Answer.ReadOnly {
			x.Reason = "no statement writes it"
		}
		list = append(list, x)
	}
	return list
}

// Bounds of the ranking that a recommendation is placed in: it is one query's.
var placeLimits = options.Limits{Variants: 64, Options: 64, Schemas: 500, LookUps: 1}

// placeAmongOptions ranks tables among the options of one query, which reads them by a plan. There is always an answer: a place or a reason.
func (k *maker) placeAmongOptions(query *workload.Statement, tables []*model.Table, p *plan.Plan) *Place {
	id := query.ID
	if query.Query == nil {
		return &Place{Statement: id, Reason: "options are made for reads only"}
	}
	if why := options.Unsupported(query.Query); why != "" {
		return &Place{Statement: id, Reason: why}
	}
	one := &workload.Workload{Name: id, Graph: k.model.Graph, Statements: []*workload.Statement{query}}
	requests := len(p.Tables())
	given := options.Given{Name: "recommended", Tables: tables, Reads: map[string]int{id: requests}, Writes: map[string]int{}}
	r, err := options.Find(k.ctx, one, options.Config{Indexes: 1, Given: []options.Given{given}, Limits: placeLimits})
	if err != nil {
		return &Place{Statement: id, Reason: err.Error()}
	}
	for _, o := range r.Options {
		if o.Given {
			return &Place{Rank: o.Rank, Of: len(r.Options), Score: o.Score, Best: r.Options[0].Score, Statement: id, Requests: requests}
		}
	}
	return &Place{Statement: id, Reason: "the method makes no schema for it"}
}

// ownWriter is what the check can not say of a look-up table: that Helenus writes it, too.
const ownWriter = "Helenus writes it as well, to fill it and before each write of the base, with the timestamps of what it copies; the check counts the application's writers alone. Entries hold nothing but the key and are checked against the base at every read, so writes that meet leave an entry too many at worst"

// lookUpOpinion is the other methods' word on a look-up table, which is ranked with its base, as it is no use without.
// Who writes the base's columns writes the look-up table.
func (k *maker) lookUpOpinion(r *Recommendation, o *offer, u *read) {
	r.Safety = safetyOf(k.singles, []*model.Table{o.table})
	for i := range r.Safety {
		r.Safety[i].Remarks = append(r.Safety[i].Remarks, ownWriter)
	}
	p, _ := k.planThrough(o, u, k.costs)
	r.Place = k.placeAt(u, []*model.Table{o.table.Base, o.table}, p)
}

// keepOpinion is their word on leaving a table as it is.
func (k *maker) keepOpinion(r *Recommendation, o *offer, u *read) {
	r.Safety = safetyOf(k.singles, []*model.Table{o.table.Base})
	r.Place = k.placeAt(u, []*model.Table{o.table.Base}, u.plan)
}

// placeAt is the place of the tables that one of the application's statements reads.
func (k *maker) placeAt(u *read, tables []*model.Table, p *plan.Plan) *Place {
	x := k.placeAmongOptions(u.asked, tables, p)
	x.Statement = u.statement.Fingerprint
	return x
}

// writeOpinions prints what the other methods say.
func (p *textPage) writeOpinions(r *Recommendation) {
	if len(r.Safety) > 0 {
		p.heading("Concurrent writers (docs/safety.md)")
	}
	for _, s := range r.Safety {
		text := s.Table
		if s.Verdict != "" {
			text += ": " + string(s.Verdict)
		}
		if s.Class != "" {
			text += ", " + string(s.Class)
		}
		if len(s.If) > 0 {
			text += " if " + strings.Join(s.If, ", and if ")
		}
		if s.Reason != "" {
			text += "; " + s.Reason
		}
		p.paragraph(text)
		for _, x := range s.Remarks {
			p.paragraph(x)
		}
	}
	if r.Place == nil {
		return
	}
	p.heading("Among the options (docs/options.md)")
	if r.Place.Rank == 0 {
		p.paragraph("no place: " + r.Place.Reason)
		return
	}
	text := fmt.Sprintf("place %d of %d by the simple score, %.3g; the best has %.3g", r.Place.Rank, r.Place.Of, r.Place.Score, r.Place.Best)
	if r.Place.Requests > 1 {
		text += fmt.Sprintf("; reads %d tables, where each option reads one", r.Place.Requests)
	}
	p.paragraph(text)
}
