package design

import (
	"fmt"
	"math"
	"sort"

	"github.com/helenus-db/helenus/advisor/plan"
)

// rejections says why candidates were not chosen: for each that some query could read, what it would save and cost. The
// nearest to being chosen come first, at most as many as listed, but all look-up tables.
func (t *task) rejections(c selection) []Rejection {
	const listed = 25
	total, _ := t.total(c)
	var list []Rejection
	for n, table := range t.candidates {
		if c[n] {
			continue
		}
		r, ok := t.reject(n, c, total)
		if ok {
			r.Table = table
			list = append(list, r)
		}
	}
	sort.SliceStable(list, func(i, j int) bool {
		if (list[i].Table.Base != nil) != (list[j].Table.Base != nil) {
			return list[i].Table.Base != nil
		}
		return list[i].Saves-list[i].Costs > list[j].Saves-list[j].Costs
	})
	for i := range list {
		if i >= listed && list[i].Table.Base == nil {
			return list[:i]
		}
	}
	return list
}

// reject compares the choice with what it would be with one candidate more.
func (t *task) reject(n int, c selection, total float64) (Rejection, bool) {
	var r Rejection
	with := c.with(n)
	gain, steps := 0.0, 0
	for _, i := range t.readers[n] {
		d := t.demands[i]
		if d.needed != nil {
			continue
		}
		now := t.answer(d, c).work
		way, work := t.forced(d, n, with)
		if way == nil {
			continue
		}
		weight := t.weights[d.statement]
		r.Saves += weight * max(0, now-work)
		length := 0
		for _, a := range way {
			length += len(a.Steps)
		}
		// Name the statement that gains most; if none does, the one that it serves most directly.
		better := weight*(now-work) > gain
		if r.Plan == nil || better || gain <= 0 && !better && length < steps {
			gain, steps = max(0, weight*(now-work)), length
			r.Statement, r.Work, r.Instead = t.work.Statements[d.statement].ID, work, now
			r.Plan = &plan.Plan{Query: d.space.Query}
			for _, a := range way {
				r.Plan.Steps = append(r.Plan.Steps, a.Steps...)
			}
		}
	}
	if r.Plan == nil {
		return r, false // of use only together with other tables that were not chosen, or for support queries
	}
	r.Costs = t.putWork(n)
	feasible := true
	for _, d := range t.demands {
		if d.needed != nil && d.active(with) && !d.active(c) {
			a := t.answer(d, with)
			feasible = feasible && a.feasible
			r.Costs += t.weights[d.statement] * d.times * a.work
		}
	}
	_, fits := t.total(with)
	switch {
	case r.Saves <= 1e-9*(1+total):
		r.Reason = fmt.Sprintf("never cheaper: %s would take %.3g instead of %.3g", r.Statement, r.Work, r.Instead)
	case !feasible:
		r.Reason = fmt.Sprintf("%s would take %.3g instead of %.3g, but to keep it true takes further tables, which cost more than that saves", r.Statement, r.Work, r.Instead)
	case !fits:
		r.Reason = fmt.Sprintf("%s would take %.3g instead of %.3g, but its %.3g MB do not fit into the space limit", r.Statement, r.Work, r.Instead, t.arithmetic.TableBytes(t.candidates[n])/1e6)
	default:
		r.Reason = fmt.Sprintf("writes cost more than reads save: %s would take %.3g instead of %.3g; in all reads would save %.3g a second, writes cost %.3g more", r.Statement, r.Work, r.Instead, r.Saves, r.Costs)
	}
	return r, true
}

// forced is the cheapest way of a demand that reads a candidate.
func (t *task) forced(d *demand, n int, c selection) ([]*plan.Arc, float64) {
	allowed := t.chosen(c)
	price := t.priceOf(d)
	best, least := []*plan.Arc(nil), math.Inf(1)
	for _, a := range d.space.Arcs {
		if t.candidates[n] != a.Table {
			continue
		}
		head, before, ok := d.space.CheapestBetween(plan.Start, a.From, price, allowed)
		if !ok {
			continue
		}
		tail, after, ok := d.space.CheapestBetween(a.To, plan.Answered, price, allowed)
		if !ok {
			continue
		}
		if sum := before + price(a) + after; sum < least {
			least = sum
			best = append(append(head, a), tail...)
		}
	}
	return best, least
}
