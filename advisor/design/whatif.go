package design

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/helenus-db/helenus/advisor/choice"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
)

// Change is what another choice would mean for one statement: its work per execution, and weighted.
type Change struct {
	Statement string  `json:"statement"`
	From      float64 `json:"from"`
	To        float64 `json:"to"`
	Weighted  float64 `json:"weighted"` // (To - From) times the weight
}

// WhatIf is the best design under one condition more, beside the best one.
type WhatIf struct {
	Condition string       `json:"condition"`
	Table     *model.Table `json:"-"`        // that Without or With asks about
	Statement string       `json:"-"`        // that Over asks about
	Same      bool         `json:"same"`     // the best design meets the condition
	Possible  bool         `json:"possible"` // there is such a design; if not, Reason says why
	Reason    string       `json:"reason,omitempty"`
	Cost      float64      `json:"cost"`   // of all statements, weighted
	Worse     float64      `json:"worse"`  // by how much that is more than without the condition
	Proven    bool         `json:"proven"` // both are optima
	Come      []string     `json:"come,omitempty"`
	Go        []string     `json:"go,omitempty"`
	Changes   []Change     `json:"changes,omitempty"` // of the statements that change, greatest first
	Design    *Design      `json:"-"`
}

// Without is the best design without a table: what its absence would cost.
func (s *Study) Without(ctx context.Context, table *model.Table) (*WhatIf, error) {
	return s.forceTable(ctx, table, false)
}

// With is the best design with a table that was not chosen: why it was not.
func (s *Study) With(ctx context.Context, table *model.Table) (*WhatIf, error) {
	return s.forceTable(ctx, table, true)
}

// Absences is what the absence of each new table of the design would cost, in the design's order.
func (s *Study) Absences(ctx context.Context) ([]*WhatIf, error) {
	var list []*WhatIf
	for n, table := range s.candidates {
		if s.best == nil || !s.best[n] || s.fixed[n] {
			continue
		}
		x, err := s.Without(ctx, table)
		if err != nil {
			return nil, err
		}
		list = append(list, x)
	}
	return list, nil
}

// forceTable solves again with a table that must be kept, or must not.
func (s *Study) forceTable(ctx context.Context, table *model.Table, kept bool) (*WhatIf, error) {
	word := "without "
	if kept {
		word = "with "
	}
	n, ok := s.number[table]
	if id := table.ID(); !ok {
		for k, t := range s.candidates {
			if t.ID() == id {
				n, ok = k, true
			}
		}
	}
	if !ok {
		return &WhatIf{Condition: word + table.String(), Table: table, Same: !kept, Possible: !kept, Proven: true,
			Reason: "it is no candidate: no plan of a statement can read it, or it is not allowed"}, nil
	}
	p := s.choiceProblem()
	if kept {
		p.Tables[n].Fixed = true
	} else {
		if p.Tables[n].Fixed {
			return nil, fmt.Errorf("design: %s is fixed", table)
		}
		for i := range p.Demands {
			d := &p.Demands[i]
			d.Arcs = withoutTable(d.Arcs, n)
		}
	}
	x, err := s.solveChanged(ctx, word+s.candidates[n].String(), p)
	if err != nil {
		return nil, err
	}
	x.Table, x.Same = s.candidates[n], x.Possible && s.best[n] == kept
	return x, nil
}

// Over is the best design in which a query of the workload reads these tables and no others: why another plan was chosen.
func (s *Study) Over(ctx context.Context, statement string, tables []*model.Table) (*WhatIf, error) {
	if s.unchanged == nil {
		if _, err := s.Design(ctx); err != nil {
			return nil, err
		}
	}
	i := slices.IndexFunc(s.demands, func(d *demand) bool {
		return d.needed == nil && s.work.Statements[d.statement].ID == statement && s.work.Statements[d.statement].Query != nil
	})
	if i < 0 {
		return nil, fmt.Errorf("design: %s is no query of this design: plans are named for queries", statement)
	}
	allowed, names := map[string]bool{}, make([]string, len(tables))
	for n, t := range tables {
		allowed[contentID(t)], names[n] = true, t.String()
	}
	own := *s.demands[i]
	own.space = own.space.OverTables(func(t *model.Table) bool { return allowed[contentID(t)] })
	with := s.withDemands(map[int]*demand{i: &own})
	x, err := with.solveChanged(ctx, statement+" over "+strings.Join(names, ", "), with.choiceProblem())
	if err != nil {
		return nil, err
	}
	x.Statement, x.Same = statement, x.Possible && x.Worse <= 1e-9*math.Abs(s.unchanged.After) && len(x.Come)+len(x.Go)+len(x.Changes) == 0
	if !x.Possible {
		x.Reason = "they do not answer it"
	}
	return x, nil
}

// withDemands is the study with others in the place of some demands.
func (s *Study) withDemands(own map[int]*demand) *Study {
	changed := *s.task
	changed.demands, changed.queries, changed.graphs = slices.Clone(s.demands), maps.Clone(s.queries), maps.Clone(s.graphs)
	for i, d := range own {
		changed.demands[i] = d
		if d.needed == nil {
			changed.queries[d.statement] = d
		}
		changed.priceReads(d)
	}
	with := *s
	with.task = &changed
	return &with
}

// ByHand is the best design in which the application goes on doing queries by hand: what it would cost not to change that.
func (s *Study) ByHand(ctx context.Context, statements ...string) (*WhatIf, error) {
	if s.unchanged == nil {
		if _, err := s.Design(ctx); err != nil {
			return nil, err
		}
	}
	changed := map[int]*demand{}
	for _, id := range statements {
		i := slices.IndexFunc(s.demands, func(d *demand) bool { return d.needed == nil && s.work.Statements[d.statement].ID == id })
		if i < 0 || len(s.work.Statements[s.demands[i].statement].ByHand) == 0 {
			return nil, fmt.Errorf("design: %s is no query that is done by hand", id)
		}
		own := *s.demands[i]
		own.space = own.space.ByHand()
		changed[i] = &own
	}
	with := s.withDemands(changed)
	return with.solveChanged(ctx, strings.Join(statements, ", ")+" by hand", with.choiceProblem())
}

// WithoutAll is the best design in which nothing reads any of some tables, new ones or such that are there.
func (s *Study) WithoutAll(ctx context.Context, tables []*model.Table) (*WhatIf, error) {
	if s.unchanged == nil {
		if _, err := s.Design(ctx); err != nil {
			return nil, err
		}
	}
	own := map[int]*demand{}
	names := make([]string, len(tables))
	for i, t := range tables {
		names[i] = t.String()
	}
	for i, d := range s.demands {
		if slices.ContainsFunc(d.space.Arcs, func(a *plan.Arc) bool { return slices.Contains(tables, a.Table) }) {
			less := *d
			less.space = d.space.OverTables(func(t *model.Table) bool { return !slices.Contains(tables, t) })
			own[i] = &less
		}
	}
	with := s.withDemands(own)
	return with.solveChanged(ctx, "without "+strings.Join(names, ", "), with.choiceProblem())
}

// contentID names a table by what it holds, whoever made it.
func contentID(t *model.Table) string {
	c := *t
	c.Existing = false
	return c.ID()
}

// Readers are the statements (IDs) that read the table under the condition, in order.
func (x *WhatIf) Readers() []string {
	if x.Design == nil || x.Table == nil {
		return nil
	}
	return x.Design.tableUses().reads[x.Table]
}

func withoutTable(arcs []choice.Arc, n int) []choice.Arc {
	kept := make([]choice.Arc, 0, len(arcs))
	for _, a := range arcs {
		if a.Table != n {
			kept = append(kept, a)
		}
	}
	return kept
}

// solveChanged solves a changed problem and compares.
func (s *Study) solveChanged(ctx context.Context, condition string, p *choice.Problem) (*WhatIf, error) {
	if s.unchanged == nil {
		if _, err := s.Design(ctx); err != nil {
			return nil, err
		}
	}
	x := &WhatIf{Condition: condition}
	c, r, err := s.solveKeeping(ctx, p)
	var (
		none  *UnanswerableError
		space *SpaceError
	)
	switch {
	case errors.As(err, &none):
		x.Reason, x.Proven = err.Error(), true
		return x, nil
	case errors.As(err, &space):
		x.Reason, x.Proven = err.Error(), space.Proven
		return x, nil
	case err != nil:
		return nil, err
	}
	x.Possible = true
	x.Design = s.designOf(c, r)
	x.Cost, x.Worse = x.Design.After, x.Design.After-s.unchanged.After
	x.Proven = r.Proven && s.result.Proven
	for n, table := range s.candidates {
		switch {
		case c[n] && !s.best[n]:
			x.Come = append(x.Come, table.String())
		case !c[n] && s.best[n]:
			x.Go = append(x.Go, table.String())
		}
	}
	x.Changes = changesBetween(s.unchanged, x.Design)
	return x, nil
}

// solveKeeping is solveInTime, but keeps tables that the problem fixes though nothing reads them.
func (s *Study) solveKeeping(ctx context.Context, p *choice.Problem) (selection, *choice.Result, error) {
	keep := s.fixed
	defer func() { s.fixed = keep }()
	s.fixed = make([]bool, len(keep))
	for n, t := range p.Tables {
		s.fixed[n] = t.Fixed
	}
	start := append(selection(nil), s.best...)
	for n, is := range s.fixed {
		start[n] = start[n] || is
	}
	return s.solveInTime(ctx, s.options, p, start)
}

// changesBetween lists the statements that cost another amount, greatest difference first.
func changesBetween(from, to *Design) []Change {
	was := map[string]*Statement{}
	for _, st := range from.Statements {
		was[st.Statement.ID] = st
	}
	var list []Change
	for _, st := range to.Statements {
		old := was[st.Statement.ID]
		if old == nil || math.Abs(old.Cost.Work-st.Cost.Work) <= 1e-9*(1+math.Abs(old.Cost.Work)) {
			continue
		}
		list = append(list, Change{st.Statement.ID, old.Cost.Work, st.Cost.Work, st.Statement.Weight * (st.Cost.Work - old.Cost.Work)})
	}
	sort.SliceStable(list, func(i, j int) bool { return math.Abs(list[i].Weighted) > math.Abs(list[j].Weighted) })
	return list
}

// Point is a point of the Pareto front: no less space does at this cost, and no less cost at this space.
type Point struct {
	Bytes  float64 `json:"bytes"` // of the new tables
	Cost   float64 `json:"cost"`  // of all statements, weighted
	Tables int     `json:"tables"`
	Proven bool    `json:"proven"` // the cost is the least at that space
}

// Pareto is the front of space against cost, from the smallest choice that answers everything to the one without limit,
// at most so many points (2 or more). The widest interval of cost between two points is halved next, at half the space,
// until the points are found or no interval holds another.
func (s *Study) Pareto(ctx context.Context, points int) ([]Point, error) {
	free := s.choiceProblem()
	free.Space = 0
	smallest, err := choice.MinimiseSize(ctx, free, choice.Options{Solver: s.options.Solver, Limits: s.options.Limits})
	if err != nil {
		return nil, fmt.Errorf("design: %w", err)
	}
	at := func(space float64, start selection) (Point, selection, error) {
		p := s.choiceProblem()
		p.Space = space
		c, r, err := s.solveInTime(ctx, s.options, p, start)
		if err != nil {
			return Point{}, nil, err
		}
		d := s.designOf(c, r)
		return Point{d.Bytes(), d.After, len(d.Tables), r.Proven}, c, nil
	}
	last, _, err := at(0, nil)
	if err != nil {
		return nil, err
	}
	first, least, err := at(max(smallest.Cost*(1+1e-9), 1), smallest.Open)
	if err != nil {
		return nil, err
	}
	list := []Point{first}
	choices := map[Point]selection{first: least} // to begin from where there is more space
	if last.Bytes > first.Bytes {
		list = append(list, last)
	}
	empty := map[Point]bool{} // the interval from here on holds no other point
	for len(list) < points && ctx.Err() == nil {
		widest := -1
		for i := 0; i+1 < len(list); i++ {
			if empty[list[i]] || list[i+1].Bytes-list[i].Bytes <= 1e-6*list[i+1].Bytes {
				continue
			}
			if widest < 0 || list[i].Cost-list[i+1].Cost > list[widest].Cost-list[widest+1].Cost {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		a, b := list[widest], list[widest+1]
		between, found, err := at((a.Bytes+b.Bytes)/2, choices[a])
		if err != nil {
			return nil, err
		}
		if between.Bytes <= a.Bytes || between.Cost >= a.Cost {
			// Nothing in the lower half: look just below the upper point.
			if between, found, err = at(b.Bytes*(1-1e-9), choices[a]); err != nil {
				return nil, err
			}
		}
		if between.Bytes <= a.Bytes || between.Cost >= a.Cost || between.Bytes >= b.Bytes {
			empty[a] = true
			continue
		}
		choices[between] = found
		list = append(list[:widest+1], append([]Point{between}, list[widest+1:]...)...)
	}
	return list, nil
}

// Gigabyte is what --explain gives MoreSpace.
const Gigabyte = 1e9

// Limited reports whether there is a limit on space.
func (s *Study) Limited() bool { return s.space > 0 }

// MoreSpace is the best design with so many more bytes than the limit; without a limit there is nothing to gain.
func (s *Study) MoreSpace(ctx context.Context, bytes float64) (*WhatIf, error) {
	p := s.choiceProblem()
	if p.Space > 0 {
		p.Space += bytes
	}
	return s.solveChanged(ctx, fmt.Sprintf("with %.4g bytes more", bytes), p)
}
