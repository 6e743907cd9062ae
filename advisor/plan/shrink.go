package plan

import "github.com/helenus-db/helenus/advisor/model"

// dropDominatedArcs drops arcs over which no plan needs to go. Two arcs of which one follows the other, from a state s to t by way of
// a third, are of no use together if the table of the second could have been read without the first, to the same state
// t and at no more of anything: from s, or at the start. An arc is dropped if it is of no use with any that comes before
// it, or with any that comes after it.
//
// No optimum is lost, whatever tables are allowed and whatever the prices are, if more requests, rows or bytes do not
// cost less, and filters and limits nothing: of the cheapest plans over the allowed tables take one of the fewest arcs,
// and suppose it goes over a dropped arc. Then it goes over two arcs that are of no use together. The plan that reads the
// table of the second without the first reads no further tables, is not dearer, and has fewer arcs, against what was
// supposed. As this holds for all dropped arcs at once, dropping may be repeated.
func (b *builder) dropDominatedArcs() {
	for again := true; again; {
		known := make(map[arcKey]*Arc, len(b.arcs))
		after := make([][]*Arc, len(b.states))
		for _, a := range b.arcs {
			known[arcKeyOf(a)] = a
			after[a.From] = append(after[a.From], a)
		}
		before := b.predecessors()
		useless := map[[2]int]bool{} // pairs of states: the arcs from one to the other are of no use with any after them
		kept := b.arcs[:0:0]
		for _, a := range b.arcs {
			pair := [2]int{a.From, a.To}
			drop, told := useless[pair]
			if !told {
				drop = a.To != SinkState && all(after[a.To], func(next *Arc) bool { return readableDirectly(known, a.From, next) })
				useless[pair] = drop
			}
			if !drop && (a.From == SourceState || !all(before[a.From], func(from int) bool { return readableDirectly(known, from, a) })) {
				kept = append(kept, a)
			}
		}
		again = len(kept) < len(b.arcs)
		b.arcs = kept
	}
}

func all[T any](list []T, holds func(T) bool) bool {
	for _, x := range list {
		if !holds(x) {
			return false
		}
	}
	return true
}

// arcKey tells arcs apart.
type arcKey struct {
	from, to int
	table    *model.Table
	as       *Embedding
	kind     Kind
}

func arcKeyOf(a *Arc) arcKey { return arcKey{a.From, a.To, a.Table, a.Steps[0].As, a.Steps[0].Kind} }

// predecessors returns, for each state, the states from which arcs lead to it, each once.
func (b *builder) predecessors() [][]int {
	before := make([][]int, len(b.states))
	last := make([]map[int]bool, len(b.states))
	for _, a := range b.arcs {
		if last[a.To] == nil {
			last[a.To] = map[int]bool{}
		}
		if !last[a.To][a.From] {
			last[a.To][a.From] = true
			before[a.To] = append(before[a.To], a.From)
		}
	}
	return before
}

// readableDirectly reports whether an arc's table could be read from a state or at the start, to the same end and for no more.
func readableDirectly(known map[arcKey]*Arc, from int, a *Arc) bool {
	w := arcKeyOf(a)
	for _, w.kind = range readKinds {
		for _, w.from = range [2]int{from, SourceState} {
			if x := known[w]; x != nil && x != a && noMore(x.Steps, a.Steps) {
				return true
			}
		}
	}
	return false
}

var readKinds = []Kind{Get, IndexGet, Scan}

// noMore reports whether steps do the same kinds of things as others, and no more of any of them. Filters and limits are
// not compared.
func noMore(steps, others []Step) bool {
	at := 0
	for i := range steps {
		s := &steps[i]
		if s.costsNothing() {
			continue
		}
		for at < len(others) && others[at].costsNothing() {
			at++
		}
		if at == len(others) {
			return false
		}
		o := &others[at]
		at++
		if s.Kind != o.Kind || s.Requests > o.Requests || s.Rows > o.Rows || s.Bytes > o.Bytes || len(s.Fields) > len(o.Fields) || s.Scanned > o.Scanned {
			return false
		}
	}
	return true
}

func (s *Step) costsNothing() bool { return s.Kind == Filter || s.Kind == Limit || s.Kind == LimitEach }

// trimmedSpace drops the states and arcs that lead nowhere.
func (b *builder) trimmedSpace() *Space {
	forth, back := make([][]int, len(b.states)), make([][]int, len(b.states))
	for _, a := range b.arcs {
		forth[a.From], back[a.To] = append(forth[a.From], a.To), append(back[a.To], a.From)
	}
	met, live := b.reachable(SourceState, forth), b.reachable(SinkState, back)
	number := make([]int, len(b.states))
	s := &Space{Query: b.query, Truncated: b.truncated}
	for i := range b.states {
		number[i] = s.States
		if met[i] && live[i] || i <= SinkState {
			s.States++
		}
	}
	for _, a := range b.arcs {
		if met[a.From] && live[a.To] {
			a.From, a.To = number[a.From], number[a.To]
			s.Arcs = append(s.Arcs, a)
		}
	}
	s.out = make([][]*Arc, s.States)
	for i, a := range s.Arcs {
		a.Number = i
		s.out[a.From] = append(s.out[a.From], a)
	}
	return s
}

// reachable returns the states that are reached from one.
func (b *builder) reachable(from int, next [][]int) []bool {
	reached := make([]bool, len(b.states))
	reached[from] = true
	for queue := []int{from}; len(queue) > 0; queue = queue[1:] {
		for _, to := range next[queue[0]] {
			if !reached[to] {
				reached[to] = true
				queue = append(queue, to)
			}
		}
	}
	return reached
}
