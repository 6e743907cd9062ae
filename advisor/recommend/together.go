package recommend

import (
	"errors"
	"fmt"
	"slices"

	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/enumerate"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
)

// Joins by hand and look-ups are chosen by one program. A statement of the application is said as a part of joins, and otherwise:
//
//	query of a join   tables made for it (its views), or by hand: a plan of each of its statements, as often as it is said
//	statement         the table that it names, or what finds rows of that; as often as it is said outside of joins
//
// so that a look-up is worth what it saves of both, and no more than what is left of these where a join gets tables of its own. What is done today costs what was
// observed; what a look-up costs its writes is what its protocol does (upkeep.go). The program is solved twice:
//
//	transparent   without tables for joins: what Helenus can do by itself
//	everything    with them, beside the look-ups of the former
//
// Each answer is a set that goes together. What the first has and the second has not is told to be needless once the joins are changed (NeedlessWith).

// Answer is one answer to the question which tables there should be.
type Answer struct {
	Name            string   `json:"name"`             // transparent or everything
	Recommendations []string `json:"recommendations"`  // ids
	Saved           float64  `json:"saved_per_second"` // work of all of them together, seconds each second
}

// Names of answers.
const (
	Transparent = "transparent"
	Everything  = "everything"
)

// knownCosts tells a design what was observed, and what look-ups cost.
func (k *maker) knownCosts(o *design.Options, offers []*offer, kept []*keptOffer) {
	reads := map[string]*read{}
	for _, r := range k.reads {
		reads[r.asked.ID] = r
	}
	passed := map[*model.Table]float64{}
	type pays struct {
		statement string
		table     *model.Table
	}
	upkeep := map[pays]float64{}
	found := map[*model.Table]bool{} // tables by which rows of others are found
	for _, o := range offers {
		found[o.table], passed[o.table] = true, k.tombstonesPassed(o)*passing
		for _, p := range k.payingWrites(o) {
			upkeep[pays{p.asked.ID, o.table}] = o.upkeepOf(k.costs, &p)
		}
	}
	for _, o := range kept {
		found[o.table] = true
	}
	o.Price = func(s *workload.Statement, a *plan.Arc, work float64) float64 {
		r := reads[s.ID]
		switch {
		case found[a.Table]:
			return work + passed[a.Table]
		case r != nil && a.Table == s.Only && r.assumed.Work > 0:
			return work * r.price.Work / r.assumed.Work
		}
		return work
	}
	o.Upkeep = func(s *workload.Statement, t *model.Table) (float64, bool) {
		return upkeep[pays{s.ID, t}], found[t]
	}
}

// together is the choice over all kinds.
type together struct {
	*design.Design
	study  *design.Study
	joins  []*joined // that are in the program
	offers []*offer  // likewise, those of the tables that joins read
	views  map[*joined][]*model.Table
}

// chooseTogether chooses among tables for joins and look-ups.
func (k *maker) chooseTogether(joins []*joined, offers []*offer, kept []*keptOffer) (*together, error) {
	t := &together{joins: joins, views: map[*joined][]*model.Table{}}
	w := &workload.Workload{Name: k.singles.Name, Graph: k.singles.Graph}
	for _, x := range k.singles.Tables {
		if x.Base == nil || slices.ContainsFunc(kept, func(o *keptOffer) bool { return o.table == x }) {
			w.Tables = append(w.Tables, x)
		}
	}
	concerned := map[*model.Table]bool{} // what is read from other tables has nothing to do with it
	joint := map[string]float64{}        // executions per second as a part of joins, by fingerprint
	for _, j := range joins {
		for n, u := range j.parts {
			concerned[j.reads[n].asked.Only] = true
			joint[u.Fingerprint] += j.asked.Weight * u.PerExecution
		}
		own := *j.asked
		for n, u := range j.parts {
			own.ByHand = append(own.ByHand, workload.Part{Statement: j.reads[n].asked, Times: u.PerExecution})
		}
		w.Statements = append(w.Statements, &own)
	}
	o := design.Options{Cost: k.costs, Solver: k.Solver, Limits: k.Limits, NoEnumeration: true}
	for _, x := range offers {
		if concerned[x.table.Base] {
			t.offers, o.Candidates = append(t.offers, x), append(o.Candidates, x.table)
		}
	}
	views := enumerate.NewPool(design.NoLookUps) // of equal ones one
	for _, j := range joins {
		for _, x := range k.promising(j, len(joins)) {
			views.Add(x)
		}
	}
	views.Combine() // one table may do for several joins
	for _, x := range views.Tables {
		x.Name = ""
	}
	o.Candidates = append(o.Candidates, views.Tables...)
	for _, s := range k.singles.Statements {
		switch {
		case s.Write != nil:
			if slices.ContainsFunc(o.Candidates, func(x *model.Table) bool { return plan.Modifies(s.Write, x) || k.pays(s, x) }) {
				w.Statements = append(w.Statements, s)
			}
		case concerned[s.Only]:
			own := *s
			if own.Weight -= joint[s.Sources[0]]; own.Weight > 1e-9*s.Weight {
				w.Statements = append(w.Statements, &own)
			}
		}
	}
	k.knownCosts(&o, offers, kept)
	var err error
	if t.study, err = design.NewStudy(k.ctx, w, o); err != nil {
		return nil, err
	}
	if t.Design, err = t.study.Design(k.ctx); err != nil {
		return nil, err
	}
	for _, x := range t.Tables {
		if !x.Table.Existing {
			x.Table.Name = x.Name
		}
	}
	for _, j := range joins {
		t.views[j] = t.tablesOf(j)
	}
	return t, nil
}

// pays tells whether a write costs a look-up something.
func (k *maker) pays(s *workload.Statement, t *model.Table) bool {
	return slices.ContainsFunc(k.paying[t], func(p paying) bool { return p.asked == s })
}

// statementOf is that of a join.
func statementOf(d *design.Design, j *joined) *design.Statement {
	for _, s := range d.Statements {
		if s.Statement.ID == j.asked.ID {
			return s
		}
	}
	return nil
}

// changed tells whether a join gets tables of its own.
func (t *together) changed(j *joined) bool { return !statementOf(t.Design, j).ByHand }

// sharers are the joins that are given a table, or need it to keep theirs true.
func (t *together) sharers(x *model.Table) (list []*joined) {
	for _, j := range t.joins {
		if slices.Contains(t.views[j], x) {
			list = append(list, j)
		}
	}
	return list
}

// offer is the look-up of the program that an advice is about, nil if it is none of it.
func (t *together) offer(id string) *offer {
	for _, o := range t.offers {
		if lookUpIDs(o.schema, o.column)[0] == id {
			return o
		}
	}
	return nil
}

// tablesOf lists the tables that a join is given, and those that are needed to keep these true; none if it stays as it is.
func (t *together) tablesOf(j *joined) (list []*model.Table) {
	if !t.changed(j) {
		return nil
	}
	add := func(p *plan.Plan) {
		for _, x := range p.Tables() {
			if !x.Existing && x.Base == nil && !slices.Contains(list, x) {
				list = append(list, x)
			}
		}
	}
	add(statementOf(t.Design, j).Plan)
	for n := 0; n < len(list); n++ {
		for _, s := range t.Statements {
			for _, w := range s.Writes {
				if w.Table == list[n] {
					for _, support := range w.Support {
						add(support)
					}
				}
			}
		}
	}
	return list
}

// of is the design as far as it is about one join: its statement first, then what the writes do for its tables.
func (t *together) of(j *joined) (d *design.Design, tables []*design.Table) {
	own := *t.Design
	views := t.views[j]
	own.Statements, own.Tables, own.Rejected = []*design.Statement{statementOf(t.Design, j)}, nil, nil
	for _, s := range t.Statements {
		if s.Statement.Write == nil {
			continue
		}
		part := *s
		part.Writes = nil
		for _, w := range s.Writes {
			if slices.Contains(views, w.Table) {
				part.Writes = append(part.Writes, w)
			}
		}
		own.Statements = append(own.Statements, &part)
	}
	for _, x := range t.Tables {
		if slices.Contains(views, x.Table) {
			tables = append(tables, x)
		}
		if x.Table.Existing || slices.Contains(views, x.Table) {
			own.Tables = append(own.Tables, x)
		}
	}
	for _, x := range t.Rejected {
		if x.Statement == j.asked.ID {
			own.Rejected = append(own.Rejected, x)
		}
	}
	return &own, tables
}

// adviseChanges makes the advice of the application tier. What people do not want is not chosen with the rest, but it is looked at: it is told again once
// it is worth much more.
func (k *maker) adviseChanges() error {
	var joins, declined []*joined
	for _, j := range k.listJoins() {
		switch why := k.whyNoChange(j); {
		case why != "":
			k.noteJoin(j, why)
		case slices.Contains(k.Declined, changeID(j)):
			declined = append(declined, j)
		default:
			joins = append(joins, j)
		}
	}
	offers := slices.DeleteFunc(slices.Clone(k.offers), func(o *offer) bool { return !k.carriedOut(lookUpIDs(o.schema, o.column)[0]) })
	kept := slices.DeleteFunc(slices.Clone(k.kept), func(o *keptOffer) bool { return !k.carriedOut(keptID(o.schema, o.held)) })
	saved := k.transparentAnswer(offers, kept)
	t, made, err := k.changesOf(joins, offers, kept)
	if err == nil && t != nil {
		err = k.adviseTogether(t, made, saved)
	}
	for _, j := range declined {
		if _, alone, failed := k.changesOf([]*joined{j}, offers, kept); failed == nil && len(alone) > 0 {
			k.advice.Recommendations = append(k.advice.Recommendations, *alone[0].advice)
		}
	}
	if err != nil && k.ctx.Err() == nil {
		k.advice.Problems = append(k.advice.Problems, "no design for the joins by hand: "+err.Error())
	}
	return k.ctx.Err()
}

// changesOf chooses among tables for joins, beside what Helenus can do by itself. A join that it turns out that nothing can be advised for leaves the program,
// and the rest is chosen anew. The choice is nil if no join is left.
func (k *maker) changesOf(joins []*joined, offers []*offer, kept []*keptOffer) (*together, []*change, error) {
	for len(joins) > 0 {
		t, err := k.chooseTogether(joins, offers, kept)
		if unanswerable := new(design.UnanswerableError); errors.As(err, &unanswerable) {
			left := slices.DeleteFunc(slices.Clone(joins), func(j *joined) bool { return j.asked.ID == unanswerable.Statement })
			if len(left) < len(joins) {
				joins = left
				continue
			}
		}
		if err != nil {
			return nil, nil, err
		}
		var made []*change
		left := slices.DeleteFunc(slices.Clone(joins), func(j *joined) bool {
			c, why := k.changeOf(t, j)
			switch {
			case why != "":
				k.noteJoin(j, why)
			case c != nil:
				made = append(made, c)
			}
			return why != ""
		})
		if len(left) == len(joins) {
			return t, made, nil
		}
		joins = left
	}
	return nil, nil, nil
}

// carriedOut tells whether it is advised, and Helenus could do it.
func (k *maker) carriedOut(id string) bool {
	r := k.advice.Recommendation(id)
	return r != nil && r.Executable() && r.Eligible
}

// transparentAnswer notes what is advised of what Helenus can do by itself, and returns what that saves, milliseconds each second.
func (k *maker) transparentAnswer(offers []*offer, kept []*keptOffer) float64 {
	a := Answer{Name: Transparent, Recommendations: []string{}}
	used := map[*model.Table]bool{}
	for _, o := range offers {
		a.Recommendations, used[o.table] = append(a.Recommendations, lookUpIDs(o.schema, o.column)[0]), true
	}
	for _, o := range kept {
		a.Recommendations, used[o.table] = append(a.Recommendations, keptID(o.schema, o.held)), true
	}
	k.transparent.advised = a.Recommendations
	if len(used) == 0 {
		return 0
	}
	d := k.transparent.Design
	var needless []*model.Table
	for x := range readBy(d) {
		if x.Base != nil && !used[x] {
			needless = append(needless, x)
		}
	}
	if len(needless) > 0 { // chosen, and not worth advising on
		if x, err := k.transparent.study.WithoutAll(k.ctx, needless); err == nil && x.Possible {
			d = x.Design
		}
	}
	saved := k.savedBy(d)
	a.Saved = saved / 1000
	k.advice.Answers = append(k.advice.Answers, a)
	return saved
}

// savedBy is what a design saves beside what is done today, milliseconds each second.
func (k *maker) savedBy(d *design.Design) (saved float64) {
	today := map[string]float64{}
	for _, r := range k.reads {
		today[r.asked.ID] = r.price.Work
	}
	for _, s := range d.Statements {
		switch hands := s.Statement.ByHand; {
		case len(hands) > 0:
			for _, h := range hands {
				saved += s.Statement.Weight * h.Times * today[h.Statement.ID]
			}
			saved -= s.Statement.Weight * s.Cost.Work
		case s.Statement.Query != nil:
			saved += s.Statement.Weight * (today[s.Statement.ID] - s.Cost.Work)
		default:
			saved -= s.Statement.Weight * (s.Cost.Work - s.CurrentCost.Work)
		}
	}
	return saved
}

// adviseTogether advises on the joins that get tables, with what each is worth beside all else, and says what that makes of the look-ups. saved is what these save
// without it, milliseconds each second.
func (k *maker) adviseTogether(t *together, made []*change, saved float64) error {
	for _, j := range t.joins {
		if !t.changed(j) {
			k.noteJoin(j, "no new table would make that cheaper")
		}
	}
	if len(made) == 0 {
		return nil
	}
	var ids []string
	for _, c := range made {
		ids = append(ids, c.joined.asked.ID)
	}
	without, err := t.study.ByHand(k.ctx, ids...) // the program is about a part of all statements: of the others nothing changes
	if err != nil {
		return fmt.Errorf("what the joins by hand are worth together is not known: %w", err)
	}
	used := readBy(t.Design)
	all := Answer{Name: Everything, Recommendations: []string{}, Saved: (saved + without.Cost - t.After) / 1000}
	for _, id := range k.transparent.advised {
		o := t.offer(id)
		if o == nil || used[o.table] {
			all.Recommendations = append(all.Recommendations, id)
			continue
		}
		r := k.advice.Recommendation(id)
		for _, c := range made {
			if slices.ContainsFunc(o.reads, func(x *read) bool { return slices.Contains(c.joined.reads, x) }) {
				r.NeedlessWith = append(r.NeedlessWith, c.advice.ID)
			}
		}
	}
	for _, c := range made {
		for _, x := range t.views[c.joined] {
			for _, other := range made {
				if other != c && slices.Contains(t.views[other.joined], x) {
					c.advice.Evidence.Facts = append(c.advice.Evidence.Facts, fmt.Sprintf("%s is a table of %s, too: it is made, and written, once", x.Name, other.advice.ID))
				}
			}
		}
		then := readBy(c.without)
		for _, other := range made {
			if other != c && !slices.ContainsFunc(t.views[other.joined], func(x *model.Table) bool { return then[x] }) {
				other.advice.OnlyWith = append(other.advice.OnlyWith, c.advice.ID)
			}
		}
		for _, o := range t.offers {
			if then[o.table] && !used[o.table] {
				c.advice.Alternatives = append(c.advice.Alternatives, Alternative{Title: "look-up table " + o.name, WorkMs: statementOf(c.without, c.joined).Cost.Work,
					Reason: fmt.Sprintf("%s of work each time in place of %s, and the application stays as it is: Helenus keeps it. With this change it is needless",
						ms(statementOf(c.without, c.joined).Cost.Work), ms(statementOf(t.Design, c.joined).Cost.Work))})
			}
		}
		all.Recommendations = append(all.Recommendations, c.advice.ID)
	}
	for _, c := range made {
		k.advice.Recommendations = append(k.advice.Recommendations, *c.advice)
	}
	k.advice.Answers = append(k.advice.Answers, all)
	return nil
}
