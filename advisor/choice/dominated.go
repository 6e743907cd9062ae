package choice

import "github.com/helenus-db/helenus/advisor/graph"

// dominatedFrom is from how many tables on it is looked for tables that others dominate: among few, and where space is not limited, bounds settle them as soon.
const dominatedFrom = 300

// closeDominated closes each table in whose place another can always be kept: that is not larger and not dearer to keep, raises no demand that the one does not, and for
// every arc over the one has an arc between the same states that is not dearer. With it in place of the one, or besides others that there were, every
// path is there for no more. Of two that dominate each other the first stays. It reports whether it closed any.
//
// Where thousands of tables are proposed, a quarter or a third are such: the same columns in an order that serves less.
func (in *instance) closeDominated() bool {
	type step struct {
		demand   int
		from, to int32
		table    int32
	}
	type use struct {
		demand int
		bundle graph.Bundle
		price  float64
	}
	prices := map[step]float64{}
	uses := make([][]use, len(in.status))
	for i := range in.demands {
		d := &in.demands[i]
		for _, s := range d.Bundles {
			for j := s.Begin; j < s.End; j++ {
				a := &d.Edges[j]
				if a.Role == 0 {
					continue
				}
				n := d.Roles[a.Role].Table
				key := step{i, s.From, s.To, n}
				if price, known := prices[key]; !known || a.Price < price {
					prices[key] = a.Price
				}
				uses[n] = append(uses[n], use{i, s, a.Price})
			}
		}
	}
	raised := make([]map[int32]bool, len(in.status))
	for n, list := range in.needers {
		raised[n] = map[int32]bool{}
		for _, r := range list {
			raised[n][r.demand] = true
		}
	}
	dominates := func(m, n int32) bool {
		if in.status[m] != free || in.size[m] > in.size[n] || in.upkeep[m] > in.upkeep[n] || in.problem.Tables[m].Free != in.problem.Tables[n].Free {
			return false
		}
		for demand := range raised[m] {
			if !raised[n][demand] {
				return false
			}
		}
		equal := in.size[m] == in.size[n] && in.upkeep[m] == in.upkeep[n] && len(uses[m]) == len(uses[n]) && len(raised[m]) == len(raised[n])
		for _, u := range uses[n] {
			price, is := prices[step{u.demand, u.bundle.From, u.bundle.To, m}]
			if !is || price > u.price {
				return false
			}
			equal = equal && price == u.price
		}
		return !equal || m < n
	}
	any := false
	for n, s := range in.status {
		if s != free || len(uses[n]) == 0 {
			continue
		}
		least := uses[n][0] // whoever dominates it has an arc where few have
		for _, u := range uses[n] {
			if u.bundle.End-u.bundle.Begin < least.bundle.End-least.bundle.Begin {
				least = u
			}
		}
		d := &in.demands[least.demand]
		for j := least.bundle.Begin; j < least.bundle.End && d.Edges[j].Price <= least.price; j++ {
			if m := d.Roles[d.Edges[j].Role].Table; m != None && m != int32(n) && dominates(m, int32(n)) {
				in.status[n], any = closed, true
				break
			}
		}
	}
	return any
}
