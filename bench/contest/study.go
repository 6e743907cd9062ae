package contest

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/planrun"
)

// Study measures many designs of one workload at the price of few: tables that are the same are there once, and plans that
// are the same over the same tables are measured once. What a design costs is the weighted sum of what its statements cost.
type Study struct {
	*Shared
	Requests []*Request // a statement each
	Runners  []*Runner  // the nth runs each statement's nth way to be run
	entries  []*Entry
	ways     map[*Entry]map[string]int // by statement: which runner
	texts    map[string][]string       // by statement: the plans
}

// NewStudy takes the entries' tables together. All entries plan the same statements.
func NewStudy(entries []*Entry, statements []*workload.Statement) *Study {
	s := &Study{Shared: Share(entries), entries: entries, ways: map[*Entry]map[string]int{}, texts: map[string][]string{}}
	for _, x := range statements {
		s.Requests = append(s.Requests, &Request{Name: x.ID, Statements: []*workload.Statement{x}})
	}
	return s
}

// Prepare makes the programs, once the tables are there.
func (s *Study) Prepare(session exec.Session, o planrun.RunOptions) error {
	s.Join()
	for _, e := range s.entries {
		r, err := e.Runner(session, o)
		if err != nil {
			return err
		}
		s.ways[e] = map[string]int{}
		for _, q := range s.Requests {
			id := q.Name
			planned, program := e.Statements[id], r.Programs[id]
			if planned == nil || program == nil {
				continue
			}
			text, way := planText(planned), 0
			for way < len(s.texts[id]) && s.texts[id][way] != text {
				way++
			}
			if s.ways[e][id] = way; way < len(s.texts[id]) {
				continue
			}
			s.texts[id] = append(s.texts[id], text)
			for len(s.Runners) <= way {
				s.Runners = append(s.Runners, &Runner{Name: strconv.Itoa(len(s.Runners)), Keyspace: r.Keyspace, Programs: map[string]Program{}})
			}
			s.Runners[way].Programs[id] = program
		}
	}
	return nil
}

// Foretold is what a model says of an entry's statements, weighted by a mix: latency, milliseconds.
func (e *Entry) Foretold(m cost.Model, statements []*workload.Statement, mix string) float64 {
	sum, weights := 0.0, 0.0
	for _, s := range statements {
		if said, ok := e.Said(m, s.ID); ok {
			sum += s.WeightIn(mix) * said.Latency
			weights += s.WeightIn(mix)
		}
	}
	return sum / weights
}

// planText writes how a statement is run, so that statements run alike have the same text.
func planText(s *design.Statement) string {
	name := func(t *model.Table) string { return t.Name }
	var b strings.Builder
	if s.Plan != nil {
		for i := range s.Plan.Steps {
			b.WriteString(s.Plan.Steps[i].Text(name) + "\n")
		}
	}
	for _, w := range s.Writes {
		for _, p := range w.Support {
			for i := range p.Steps {
				b.WriteString("first, " + p.Steps[i].Text(name) + "\n")
			}
		}
		for i := range w.Steps {
			b.WriteString(w.Steps[i].Text(name) + "\n")
		}
	}
	return strings.TrimSpace(b.String())
}

// Judge holds what a model says against a tally of the runners: of each plan, and of each entry by the weights of a mix. What
// was measured are medians, as in a calibration: what stalls the machine now and then is no plan's cost.
func (s *Study) Judge(m cost.Model, label, mix string, tally *Tally) (*Prediction, error) {
	p := &Prediction{Model: label}
	entered := map[string]bool{}
	for _, e := range s.entries {
		d := Foretold{Name: e.Name}
		weights := 0.0
		for _, q := range s.Requests {
			way, ok := s.ways[e][q.Name]
			if !ok {
				return nil, fmt.Errorf("%s was not planned over the tables of %s", q.Name, e.Name)
			}
			series := tally.Requests[strconv.Itoa(way)][q.Name]
			if series == nil {
				return nil, fmt.Errorf("%s was not measured over the tables of %s", q.Name, e.Name)
			}
			f := series.Figures()
			said, _ := e.Said(m, q.Name)
			w := q.Weight(mix)
			weights += w
			d.Said += w * said.Latency
			d.Work += w * said.Work
			d.Measured += w * f.P50
			d.Processor += w * (f.Server + f.Client)
			if key := fmt.Sprint(q.Name, " ", way); !entered[key] {
				entered[key] = true
				p.Statements = append(p.Statements, Foretold{Name: q.Name, Plan: s.texts[q.Name][way], Said: said.Latency, Work: said.Work,
					Measured: f.P50, Processor: f.Server + f.Client, Count: f.Count})
			}
		}
		if weights == 0 {
			return nil, fmt.Errorf("no statement is part of mix %q", mix)
		}
		d.Said, d.Work, d.Measured, d.Processor = d.Said/weights, d.Work/weights, d.Measured/weights, d.Processor/weights
		p.Designs = append(p.Designs, d)
	}
	p.Judge()
	return p, nil
}
