package design

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/helenus-db/helenus/advisor/plan"
)

// rejectionsOf says why candidates were not chosen: for each that some query could read, what it would save and cost. The
// nearest to being chosen come first, at most as many as listed, but all look-up tables.
func (t *task) rejectionsOf(c selection) (out []Rejection) {
	const listed = 25
	total, _ := t.totalWork(c)
	reaches := make([]*pathDistances, len(t.demands))
	for i, d := range t.demands {
		if d.needed == nil {
			reaches[i] = t.pathDistancesOf(d, c)
		}
	}
	// What a table saves is soon found, what its writes cost at most is not: those that may come first are looked at first,
	// and the others only as far as they may still be listed.
	var open []*candidateSaving
	for n, table := range t.candidates {
		if c[n] {
			continue
		}
		if s := t.savingOf(n, c, reaches); s.asked {
			s.most = s.saves - t.putWork(n)
			s.listed = table.Base != nil
			open = append(open, s)
		}
	}
	sort.SliceStable(open, func(i, j int) bool {
		if open[i].listed != open[j].listed {
			return open[i].listed
		}
		return open[i].most > open[j].most
	})
	var nets []float64 // of those that are not listed whatever they are worth, the greatest first
	for _, s := range open {
		if !s.listed && len(nets) >= listed && nets[listed-1] > s.most {
			break
		}
		r := t.rejectionFor(s, c, total)
		out = append(out, r)
		if !s.listed {
			net := r.Saves - r.Costs
			at := sort.Search(len(nets), func(i int) bool { return nets[i] <= net })
			nets = slices.Insert(nets, at, net)
		}
	}
	sort.SliceStable(out, func(i, j int) bool {
		if (out[i].Table.Base != nil) != (out[j].Table.Base != nil) {
			return out[i].Table.Base != nil
		}
		if x, y := out[i].Saves-out[i].Costs, out[j].Saves-out[j].Costs; x != y {
			return x > y
		}
		return t.number[out[i].Table] < t.number[out[j].Table]
	})
	for i := range out {
		if i >= listed && out[i].Table.Base == nil {
			return out[:i]
		}
	}
	return out
}

// candidateSaving is what the statements would save by a candidate that was not chosen.
type candidateSaving struct {
	candidate           int
	saves               float64
	asked               bool   // some statement can be answered by it
	statement           string // that gains most
	work, instead, most float64
	listed              bool
}

// savingOf finds out what a candidate would save besides a choice.
func (t *task) savingOf(n int, c selection, reaches []*pathDistances) *candidateSaving {
	s := &candidateSaving{candidate: n}
	gain, steps := 0.0, 0
	for _, i := range t.readers[n] {
		d := t.demands[i]
		if d.needed != nil {
			continue
		}
		now := t.cachedAnswer(d, c).work
		work, length := t.cheapestOver(d, n, reaches[i])
		if math.IsInf(work, 1) {
			continue
		}
		weight := t.weights[d.statement]
		s.saves += weight * max(0, now-work)
		// Name the statement that gains most; if none does, the one that it serves most directly.
		better := weight*(now-work) > gain
		if !s.asked || better || gain <= 0 && !better && length < steps {
			gain, steps = max(0, weight*(now-work)), length
			s.asked, s.statement, s.work, s.instead = true, t.work.Statements[d.statement].ID, work, now
		}
	}
	return s // nobody asked: of use only together with other tables that were not chosen, or for support queries
}

// rejectionFor compares the choice with what it would be with one candidate more.
func (t *task) rejectionFor(s *candidateSaving, c selection, total float64) Rejection {
	n := s.candidate
	r := Rejection{Table: t.candidates[n], Statement: s.statement, Work: s.work, Instead: s.instead, Saves: s.saves, Costs: t.putWork(n)}
	with := c.with(n)
	feasible := true
	for _, d := range t.demands {
		if d.needed != nil && d.presentUnder(with) && !d.presentUnder(c) {
			a := t.cachedAnswer(d, with)
			feasible = feasible && a.feasible
			r.Costs += t.weights[d.statement] * d.times * a.work
		}
	}
	fits := true
	if t.space > 0 || len(t.ceilingWrites()) > 0 {
		_, fits = t.totalWork(with)
	}
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
	return r
}

// pathDistances is what the states of a demand are away from the source and from the sink, under a choice.
type pathDistances struct{ to, from []distance }

type distance struct {
	price float64
	steps int // of the plan
}

func (t *task) pathDistancesOf(d *demand, c selection) *pathDistances {
	r := &pathDistances{make([]distance, d.space.States), make([]distance, d.space.States)}
	for s := range r.to {
		r.to[s].price, r.from[s].price = math.Inf(1), math.Inf(1)
	}
	r.to[plan.SourceState].price, r.from[plan.SinkState].price = 0, 0
	var arcs []*plan.Arc
	for _, a := range d.space.Arcs {
		if n, ok := t.number[a.Table]; !ok || c[n] {
			arcs = append(arcs, a)
		}
	}
	for again := true; again; {
		again = false
		for i := range arcs {
			a, b := arcs[i], arcs[len(arcs)-1-i]
			if p := r.to[a.From].price + d.prices[a.Number]; p < r.to[a.To].price {
				r.to[a.To], again = distance{p, r.to[a.From].steps + len(a.Steps)}, true
			}
			if p := r.from[b.To].price + d.prices[b.Number]; p < r.from[b.From].price {
				r.from[b.From], again = distance{p, r.from[b.To].steps + len(b.Steps)}, true
			}
		}
	}
	return r
}

// cheapestOver is the price of the cheapest path of a demand over a candidate besides a choice, and how many steps it has; +Inf if there is none.
func (t *task) cheapestOver(d *demand, n int, r *pathDistances) (price float64, steps int) {
	price = math.Inf(1)
	for _, a := range d.byTable[n] {
		if p := r.to[a.From].price + d.prices[a.Number] + r.from[a.To].price; p < price {
			price, steps = p, r.to[a.From].steps+len(a.Steps)+r.from[a.To].steps
		}
	}
	return price, steps
}
