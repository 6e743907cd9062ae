package design

import (
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/internal/words"
)

// The design in JSON (docs/schema/design.json).
type (
	designJSON struct {
		Name        string             `json:"name"`
		Mix         string             `json:"mix,omitempty"`
		Model       string             `json:"cost_model"`
		Unit        string             `json:"unit"`
		Status      string             `json:"status"`
		Cost        float64            `json:"cost"`
		Bound       float64            `json:"bound"`
		Gap         float64            `json:"gap"`
		Bytes       float64            `json:"bytes"`
		Before      *float64           `json:"before,omitempty"`
		Tables      []tableJSON        `json:"tables"`
		Statements  []statementJSON    `json:"statements"`
		Late        []string           `json:"above_ceiling,omitempty"`
		Breaches    []Breach           `json:"breaks_model,omitempty"`
		Trial       *Trial             `json:"trial,omitempty"`
		Others      []string           `json:"not_in_mix,omitempty"`
		Rejected    []rejectionJSON    `json:"rejected"`
		Sensitivity []sensitivityJSON  `json:"sensitivity,omitempty"`
		Absent      []absenceJSON      `json:"without,omitempty"`
		Insisted    []insistedJSON     `json:"why_not,omitempty"`
		Roomier     *roomierJSON       `json:"gigabyte_more,omitempty"`
		Front       []Point            `json:"pareto,omitempty"`
		Robust      *robustJSON        `json:"robust,omitempty"`
		Method      *methodJSON        `json:"method,omitempty"`
		Compared    []comparedJSON     `json:"compared,omitempty"`
		Candidates  int                `json:"candidates"`
		Variables   int                `json:"variables"`
		Constraints int                `json:"constraints"`
		Engine      string             `json:"engine"`
		Penalty     float64            `json:"safety_penalty,omitempty"`
		Truncated   []string           `json:"truncated,omitempty"`
		Elapsed     map[string]float64 `json:"elapsed_ms"`
	}
	tableJSON struct {
		Name       string        `json:"name"`
		Existing   bool          `json:"existing"`
		Partition  []string      `json:"partition"`
		Clustering []orderedJSON `json:"clustering"`
		Static     []string      `json:"static"`
		Values     []string      `json:"values"`
		Path       string        `json:"path"`
		Bytes      float64       `json:"bytes"`
		Notation   string        `json:"notation"`
		Nests      []nestJSON    `json:"collections,omitempty"`
		Bucket     *bucketJSON   `json:"bucket,omitempty"`
		Indexes    []indexJSON   `json:"indexes,omitempty"`
		Base       string        `json:"base,omitempty"`
		CQL        []string      `json:"cql,omitempty"`
		ReadBy     []string      `json:"read_by"`
		WrittenBy  []string      `json:"written_by"`
		Safety     string        `json:"safety,omitempty"`
	}
	orderedJSON struct {
		Field string `json:"field"`
		Order string `json:"order"`
	}
	nestJSON struct {
		Of      string   `json:"of"`
		Key     string   `json:"key"`
		Values  []string `json:"values"`
		Columns []string `json:"columns"`
	}
	bucketJSON struct {
		Of    string  `json:"of,omitempty"`
		Width float64 `json:"seconds,omitempty"`
		Count float64 `json:"count"`
	}
	indexJSON struct {
		Name  string `json:"name"`
		Field string `json:"field"`
		SAI   bool   `json:"sai"`
	}
	statementJSON struct {
		ID      string      `json:"id"`
		Text    string      `json:"text"`
		Weight  float64     `json:"weight"`
		Cost    float64     `json:"cost"`
		Latency float64     `json:"latency"`
		Steps   []stepJSON  `json:"steps"`
		Before  *beforeJSON `json:"before,omitempty"`
	}
	beforeJSON struct {
		Cost    float64    `json:"cost"`
		Latency float64    `json:"latency"`
		Steps   []stepJSON `json:"steps,omitempty"`
	}
	stepJSON struct {
		Kind     plan.Kind `json:"kind"`
		Table    string    `json:"table,omitempty"`
		Support  string    `json:"support_of,omitempty"`
		Query    string    `json:"query,omitempty"`
		Text     string    `json:"text"`
		Requests float64   `json:"requests"`
		Rows     float64   `json:"rows"`
		Bytes    float64   `json:"bytes"`
	}
	rejectionJSON struct {
		Table     string  `json:"table"`
		Statement string  `json:"statement"`
		Cost      float64 `json:"cost"`
		Instead   float64 `json:"instead"`
		Saves     float64 `json:"saves"`
		Costs     float64 `json:"costs"`
		Reason    string  `json:"reason"`
	}
	robustJSON struct {
		Design string         `json:"design"`
		Mixes  []mixJSON      `json:"mixes"`
		Mean   robustSideJSON `json:"mean"`
		Worst  robustSideJSON `json:"worst"`
		Bound  float64        `json:"bound"`
		Proven bool           `json:"proven"`
	}
	mixJSON struct {
		Mix         string  `json:"mix"`
		Own         float64 `json:"own"`
		Exact       bool    `json:"proven"`
		Mean        float64 `json:"mean"`
		MeanRegret  float64 `json:"mean_regret"`
		Worst       float64 `json:"worst"`
		WorstRegret float64 `json:"worst_regret"`
	}
	robustSideJSON struct {
		Regret float64  `json:"regret"`
		Tables int      `json:"tables"`
		Only   []string `json:"only"`
	}
	absenceJSON struct {
		Table   string   `json:"table"`
		Cost    *float64 `json:"cost,omitempty"`
		Proven  bool     `json:"proven"`
		Come    []string `json:"come"`
		Go      []string `json:"go"`
		Changes []Change `json:"changes"`
	}
	insistedJSON struct {
		Table   string   `json:"table,omitempty"`
		Plan    string   `json:"plan,omitempty"` // of a statement, over tables
		Chosen  bool     `json:"chosen"`
		Cost    *float64 `json:"cost,omitempty"`
		Proven  bool     `json:"proven"`
		Reason  string   `json:"reason,omitempty"`
		ReadBy  []string `json:"read_by"`
		Come    []string `json:"come"`
		Go      []string `json:"go"`
		Changes []Change `json:"changes"`
	}
	roomierJSON struct {
		Cost    *float64 `json:"cost,omitempty"`
		Saves   float64  `json:"saves"`
		Proven  bool     `json:"proven"`
		Come    []string `json:"come"`
		Go      []string `json:"go"`
		Changes []Change `json:"changes"`
	}
	comparedJSON struct {
		Schema     string              `json:"schema"`
		Cost       float64             `json:"cost"`
		Bytes      float64             `json:"bytes"`
		Missing    []string            `json:"missing"`
		Statements []comparedStatement `json:"statements"`
	}
	comparedStatement struct {
		ID   string  `json:"id"`
		Cost float64 `json:"cost"`
	}
	sensitivityJSON struct {
		Statement string   `json:"statement"`
		Weight    float64  `json:"weight"`
		Falls     float64  `json:"falls"`
		Rises     *float64 `json:"rises,omitempty"`
		Proven    bool     `json:"proven"`
		Below     string   `json:"below,omitempty"`
		Above     string   `json:"above,omitempty"`
	}
)

// The values of status.
const (
	statusOptimal  = "optimal"
	statusFeasible = "feasible"
)

// trialToShow is what came of trying it, if anything is to be said of that.
func (d *Design) trialToShow() *Trial {
	if d.Trial == nil || len(d.Trial.Wrong)+len(d.Trial.Untried) == 0 {
		return nil
	}
	return &Trial{append([]Counter{}, d.Trial.Wrong...), append([]Untried{}, d.Trial.Untried...)}
}

// JSON writes the design for programs. The same design writes the same bytes, but for elapsed_ms.
func (d *Design) JSON(w io.Writer) error {
	name := d.tableNamer()
	out := designJSON{Name: d.Name, Mix: d.Mix, Model: d.Model, Unit: unitOf(d.Model), Status: statusFeasible, Cost: d.After, Bound: d.Bound, Gap: d.Gap, Bytes: math.Round(d.Bytes()),
		Engine: d.Engine, Others: d.Others, Late: d.Late, Breaches: d.Breaches, Trial: d.trialToShow(), Candidates: d.Candidates, Variables: d.Variables, Constraints: d.Constraints, Penalty: d.Penalty, Truncated: d.Truncated,
		Tables: []tableJSON{}, Statements: []statementJSON{}, Rejected: []rejectionJSON{}, Elapsed: map[string]float64{"total": milliseconds(d.Duration)}}
	if d.Proven {
		out.Status = statusOptimal
	}
	if d.Answerable {
		out.Before = &d.Before
	}
	for _, p := range d.Phases {
		out.Elapsed[p.Name] += milliseconds(p.Duration)
	}
	use := d.tableUses()
	for _, t := range d.Tables {
		out.Tables = append(out.Tables, t.toJSON(use))
	}
	for _, s := range d.Statements {
		j := statementJSON{ID: s.Statement.ID, Text: s.Statement.String(), Weight: s.Statement.Weight, Cost: s.Cost.Work, Latency: s.Cost.Latency, Steps: s.stepsJSON(name)}
		if s.Statement.Write != nil || s.Current != nil {
			j.Before = &beforeJSON{Cost: s.CurrentCost.Work, Latency: s.CurrentCost.Latency, Steps: stepList(nil, s.Current, name)}
		}
		out.Statements = append(out.Statements, j)
	}
	for _, r := range d.Rejected {
		out.Rejected = append(out.Rejected, rejectionJSON{r.Table.String(), r.Statement, r.Work, r.Instead, r.Saves, r.Costs, r.Reason})
	}
	for _, s := range d.Sensitive {
		j := sensitivityJSON{Statement: s.Statement, Weight: s.Weight, Falls: s.Falls, Proven: s.Proven, Below: s.Below, Above: s.Above}
		if !math.IsInf(s.Rises, 1) {
			j.Rises = &s.Rises
		}
		out.Sensitivity = append(out.Sensitivity, j)
	}
	for _, x := range d.Absent {
		out.Absent = append(out.Absent, absenceJSON{name(x.Table), x.costOrNil(), x.Proven, append([]string{}, x.Come...), append([]string{}, x.Go...), append([]Change{}, x.Changes...)})
	}
	for _, x := range d.Insisted {
		j := insistedJSON{Chosen: x.Same, Cost: x.costOrNil(), Proven: x.Proven, Reason: x.Reason, ReadBy: append([]string{}, x.Readers()...),
			Come: append([]string{}, x.Come...), Go: append([]string{}, x.Go...), Changes: append([]Change{}, x.Changes...)}
		if j.Plan = x.Condition; x.Statement == "" {
			j.Plan, j.Table = "", x.Table.String()
		}
		out.Insisted = append(out.Insisted, j)
	}
	if x := d.Roomier; x != nil {
		out.Roomier = &roomierJSON{x.costOrNil(), max(0, -x.Worse), x.Proven, append([]string{}, x.Come...), append([]string{}, x.Go...), append([]Change{}, x.Changes...)}
	}
	out.Front, out.Robust = d.Front, d.Robust.toJSON()
	out.Method, _ = d.methodOf()
	for _, x := range d.Compared {
		j := comparedJSON{Schema: x.Name, Bytes: math.Round(x.Bytes), Missing: append([]string{}, x.Missing...), Statements: []comparedStatement{}}
		if x.Design != nil {
			j.Cost = x.Design.After
			for _, s := range x.Design.Statements {
				j.Statements = append(j.Statements, comparedStatement{s.Statement.ID, s.Cost.Work})
			}
		}
		out.Compared = append(out.Compared, j)
	}
	return words.JSON(w, out)
}

func (t *Table) toJSON(use uses) tableJSON {
	j := tableJSON{Name: t.Name, Existing: !t.IsNew(), Partition: model.Names(t.Table.Partition), Clustering: []orderedJSON{}, Static: model.Names(t.Table.Static), Values: []string{},
		Path: t.Table.Whole().Path(), Bytes: math.Round(t.Bytes), Notation: t.Table.String(), CQL: t.DDL(), Safety: t.Safety, ReadBy: append([]string{}, use.reads[t.Table]...), WrittenBy: append([]string{}, use.writes[t.Table]...)}
	for _, f := range t.Table.Clustering {
		j.Clustering = append(j.Clustering, orderedJSON{f.String(), clusteringDirection(t.Table, f)})
	}
	for _, f := range t.Table.Values {
		if !slices.Contains(t.Table.Static, f) {
			j.Values = append(j.Values, f.String())
		}
	}
	for _, n := range t.Table.Nests {
		owner := t.Table.Owner(n)
		x := nestJSON{Of: owner.Name + "." + n.Edge.Role(owner), Key: n.Key.String(), Values: model.Names(n.Values)}
		for _, f := range n.Fields() {
			x.Columns = append(x.Columns, t.Table.NestColumn(f))
		}
		j.Nests = append(j.Nests, x)
	}
	if b := t.Table.Bucket; b != nil {
		j.Bucket = &bucketJSON{Width: b.Width, Count: b.Count}
		if !b.Of.IsZero() {
			j.Bucket.Of = b.Of.String()
		}
	}
	for _, i := range t.Table.Indexes {
		j.Indexes = append(j.Indexes, indexJSON{i.Name, i.Field.String(), i.SAI})
	}
	if t.Table.Base != nil {
		j.Base = t.Table.Base.Name
	}
	return j
}

// Bytes is what the new tables take in all.
func (d *Design) Bytes() float64 {
	sum := 0.0
	for _, t := range d.Tables {
		if t.IsNew() {
			sum += t.Bytes
		}
	}
	return sum
}

// uses says which statements read and which write each table, by ID, in the order of the workload. Those that read one for
// a write's support queries are among the readers.
type uses struct{ reads, writes map[*model.Table][]string }

func (d *Design) tableUses() uses {
	u := uses{map[*model.Table][]string{}, map[*model.Table][]string{}}
	note := func(list map[*model.Table][]string, t *model.Table, id string) {
		if ids := list[t]; len(ids) == 0 || ids[len(ids)-1] != id {
			list[t] = append(ids, id)
		}
	}
	for _, s := range d.Statements {
		plans := []*plan.Plan{}
		if s.Plan != nil {
			plans = append(plans, s.Plan)
		}
		for _, w := range s.Writes {
			note(u.writes, w.Table, s.Statement.ID)
			plans = append(plans, w.Support...)
		}
		for _, p := range plans {
			for _, t := range p.Tables() {
				note(u.reads, t, s.Statement.ID)
			}
		}
	}
	return u
}

// stepsJSON lists all that the statement does, support queries before the steps that need them.
func (s *Statement) stepsJSON(name func(*model.Table) string) []stepJSON {
	list := stepList([]stepJSON{}, s.Plan, name)
	for _, w := range s.Writes {
		for _, support := range w.Support {
			from := len(list)
			list = stepList(list, support, name)
			for i := range list[from:] {
				list[from+i].Support = name(w.Table)
			}
			if len(list) > from {
				list[from].Query = support.Query.String()
			}
		}
		list = stepList(list, &plan.Plan{Steps: w.Steps}, name)
	}
	return list
}

func stepList(list []stepJSON, p *plan.Plan, name func(*model.Table) string) []stepJSON {
	if p == nil {
		return list
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		j := stepJSON{Kind: s.Kind, Text: s.Text(name), Requests: s.Requests, Rows: s.Rows, Bytes: s.Bytes}
		if s.Table != nil {
			j.Table = name(s.Table)
		}
		list = append(list, j)
	}
	return list
}

func (r *Robust) toJSON() *robustJSON {
	if r == nil {
		return nil
	}
	j := &robustJSON{Design: []string{"mean", "worst"}[oneIf(r.Worst)], Bound: r.Bound, Proven: r.Proven}
	for i := range r.Mixes {
		m := &r.Mixes[i]
		j.Mixes = append(j.Mixes, mixJSON{m.Mix, m.Own, m.Exact, m.Costs[0], m.Regret(0), m.Costs[1], m.Regret(1)})
	}
	for i, side := range []*robustSideJSON{&j.Mean, &j.Worst} {
		*side = robustSideJSON{r.Regret[i], r.Tables[i], append([]string{}, r.Only[i]...)}
	}
	return j
}

// costOrNil is nil if there is no such design.
func (x *WhatIf) costOrNil() *float64 {
	if !x.Possible {
		return nil
	}
	return &x.Cost
}

func milliseconds(d time.Duration) float64 {
	return math.Round(float64(d)/float64(time.Microsecond)) / 1000
}

// unitOf is what a cost model counts in.
func unitOf(costModel string) string {
	switch costModel {
	case "nose:request_count":
		return "requests"
	case "nose:entity_count":
		return "rows"
	case "nose:field_size":
		return "bytes"
	}
	if strings.HasPrefix(costModel, "nose:") {
		return "units" // NoSE's constants do not say of what
	}
	return "ms"
}

// Unit is that of all costs of the design.
func (d *Design) Unit() string { return unitOf(d.Model) }
