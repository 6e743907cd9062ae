package infer

import "slices"

// copies makes a table a copy.
func (b *modeller) copies(src *source, of *copied) {
	src.base, src.copied = of.of, of
	b.views[of.of] = append(b.views[of.of], src)
}

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
			if best.certainty() < Probable || best.certainty() == second.certainty() {
				continue
			}
			b.m.Questions = slices.DeleteFunc(b.m.Questions, func(q Question) bool { return q.Subject == src.name.String() })
			if best.certainty() < Proven {
				b.askTaken(src, best, second)
			}
			b.copies(src, best)
			bases = slices.DeleteFunc(slices.Clone(bases), func(x *source) bool { return x == src })
			again = true
		}
	}
}
