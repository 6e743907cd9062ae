package recommend

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/model"
)

// What a proposal saves by itself says little where another would do a part of it, or where it is of use only beside another. So each is taken away from
// the design, and the design is worked out again from what is left:
//
//	marginal    work(without it) - work(with all)
//	only with   what is not chosen any more once the other is away
//	in place    what is chosen then that was not chosen before
//
// Each costs a solve; the first maxMarginal are worked out, by what they save.
const maxMarginal = 8

// weighed is a recommendation whose table the design has chosen.
type weighed struct {
	id    string
	table *model.Table
	title string // of the table, as an alternative
}

// weighMarginal works out what each advised table saves beside the others.
func (k *maker) weighMarginal() {
	d := k.transparent.Design
	var all []weighed
	for _, o := range k.offers {
		all = append(all, weighed{lookUpIDs(o.schema, o.column)[0], o.table, "look-up table " + o.name})
	}
	for _, o := range k.kept {
		all = append(all, weighed{keptID(o.schema, o.held), o.table, "finding rows by " + o.name})
	}
	var advised []weighed
	for _, w := range all {
		if r := k.advice.Recommendation(w.id); r != nil && r.Executable() && r.Kind != TimelineKind {
			advised = append(advised, w)
		}
	}
	slices.SortStableFunc(advised, func(a, b weighed) int {
		switch x, y := k.advice.Recommendation(a.id).SavedSecondsPerSecond, k.advice.Recommendation(b.id).SavedSecondsPerSecond; {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return strings.Compare(a.id, b.id)
	})
	read := readBy(d)
	for _, w := range advised[:min(len(advised), maxMarginal)] {
		x, err := k.transparent.study.WithoutAll(k.ctx, []*model.Table{w.table})
		if err != nil || !x.Possible {
			continue // told by the design itself, where it matters
		}
		without := x.Design
		then := readBy(without)
		r := k.advice.Recommendation(w.id)
		marginal := max(0, without.After-d.After) / 1000
		r.MarginalSecondsPerSecond = &marginal
		for _, other := range advised {
			if other.id != w.id && read[other.table] && !then[other.table] {
				o := k.advice.Recommendation(other.id)
				o.OnlyWith = append(o.OnlyWith, w.id)
			}
		}
		for _, other := range all {
			if read[other.table] || !then[other.table] || slices.ContainsFunc(r.Alternatives, func(a Alternative) bool { return a.Title == other.title }) {
				continue
			}
			for _, s := range without.Statements {
				if s.Plan != nil && readsTable(s.Plan, other.table) {
					r.Alternatives = append(r.Alternatives, Alternative{Title: other.title, WorkMs: s.Cost.Work,
						Reason: fmt.Sprintf("without this one it would be taken: %s of work a read, and all statements together would take %s more", ms(s.Cost.Work), Work(marginal))})
					break
				}
			}
		}
	}
}

// Beside words what it saves beside all else that is advised, as a sentence that follows another; "" if that was not worked out, or is no other than what it saves
// by itself.
func (r *Recommendation) Beside() (text string) {
	if m := r.MarginalSecondsPerSecond; m != nil && *m < 0.9*r.SavedSecondsPerSecond {
		text = fmt.Sprintf(" Without it, other advice would do a part of that: %s would be lost.", Work(*m))
	}
	if len(r.NeedlessWith) > 0 {
		text += fmt.Sprintf(" Once %s is done, it is needless.", strings.Join(r.NeedlessWith, " or "))
	}
	if len(r.OnlyWith) > 0 {
		text += fmt.Sprintf(" It does not pay without %s.", strings.Join(r.OnlyWith, " and "))
	}
	return text
}

// readBy are the tables that the queries of a design read.
func readBy(d *design.Design) map[*model.Table]bool {
	read := map[*model.Table]bool{}
	for _, s := range d.Statements {
		if s.Plan != nil {
			for _, t := range s.Plan.Tables() {
				read[t] = true
			}
		}
	}
	return read
}
