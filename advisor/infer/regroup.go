package infer

import "slices"

// regroup looks at bases without copies once more beside those that have some: what links a table to a copy was not known to link it to the base when that was not one yet.
func (b *modeller) regroup(bases []*source) {
	alone := func(x *source) bool { return len(b.views[x]) == 0 }
	for again := true; again; {
		again = false
		shared := slices.DeleteFunc(slices.Clone(bases), alone)
		for _, src := range slices.Clone(bases) {
			if !alone(src) || !b.travel[src.id(src.key[0])] {
				continue
			}
			best, second := b.closest(src, shared)
			if best.certainty() < Probable || best.certainty() == second.certainty() || best.proof.odds("feed")+best.proof.odds("values") <= 0 { // names were known before
				continue
			}
			b.m.Questions = slices.DeleteFunc(b.m.Questions, func(q Question) bool { return q.Subject == src.name.String() })
			b.takeForCopy(src, best, second)
			bases = slices.DeleteFunc(slices.Clone(bases), func(x *source) bool { return x == src })
			again = true
		}
	}
}
