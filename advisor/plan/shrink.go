package plan

import "github.com/helenus-db/helenus/advisor/model"

// shorten drops arcs over which no plan needs to go. An arc that reads a table after another arc is of no use if the same
// table could have been read without that other, to the same state and at no more of anything: from the state before, or
// at the start.
//
// No optimum is lost, whatever tables are allowed and whatever the prices are, if more requests, rows or bytes do not
// cost less, and filters and limits nothing: of the cheapest plans over the allowed tables take one of the fewest arcs,
// and suppose it goes over a dropped arc a, from a state s that it reached by an arc from s0. Then there is an arc of a's
// table from s0, or from the start, to where a leads. The plan that takes that instead reads no further tables, is not
// dearer, and has fewer arcs, against what was supposed. As this holds for all dropped arcs at once, dropping may be
// repeated.
func (b *builder) shorten() {
	for again := true; again; {
		known := make(map[way]*Arc, len(b.arcs))
		for _, a := range b.arcs {
			known[wayOf(a)] = a
		}
		before := b.before()
		kept := b.arcs[:0:0]
		for _, a := range b.arcs {
			if !b.shorter(a, known, before[a.From]) {
				kept = append(kept, a)
			}
		}
		again = len(kept) < len(b.arcs)
		b.arcs = kept
	}
}

// way tells arcs apart.
type way struct {
	from, to int
	table    *model.Table
	as       *Embedding
	kind     Kind
}

func wayOf(a *Arc) way { return way{a.From, a.To, a.Table, a.Steps[0].As, a.Steps[0].Kind} }

// before returns, for each state, the states from which arcs lead to it, each once.
func (b *builder) before() [][]int {
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

// shorter tells whether whatever comes before an arc could be left out.
func (b *builder) shorter(a *Arc, known map[way]*Arc, before []int) bool {
	if a.From == Start {
		return false
	}
	instead := func(from int) bool {
		w := wayOf(a)
		w.from = from
		for _, w.kind = range reads {
			if x := known[w]; x != nil && noMore(x.Steps, a.Steps) {
				return true
			}
		}
		return false
	}
	if instead(Start) {
		return true
	}
	for _, from := range before {
		if from == Start || !instead(from) {
			return false
		}
	}
	return true
}

var reads = []Kind{Get, IndexGet, Scan}

// noMore tells whether steps do the same kinds of things as others, and no more of any of them. Filters and limits are
// not compared.
func noMore(steps, others []Step) bool {
	at := 0
	for i := range steps {
		s := &steps[i]
		if s.free() {
			continue
		}
		for at < len(others) && others[at].free() {
			at++
		}
		if at == len(others) {
			return false
		}
		o := &others[at]
		at++
		if s.Kind != o.Kind || s.Requests > o.Requests || s.Rows > o.Rows || s.Bytes > o.Bytes || s.Scanned > o.Scanned {
			return false
		}
	}
	return true
}

func (s *Step) free() bool { return s.Kind == Filter || s.Kind == Limit || s.Kind == LimitEach }

// space drops the states and arcs that lead nowhere.
func (b *builder) space() *Space {
	forth, back := make([][]int, len(b.states)), make([][]int, len(b.states))
	for _, a := range b.arcs {
		forth[a.From], back[a.To] = append(forth[a.From], a.To), append(back[a.To], a.From)
	}
	met, live := b.reach(Start, forth), b.reach(Answered, back)
	number := make([]int, len(b.states))
	s := &Space{Query: b.query, Truncated: b.truncated}
	for i := range b.states {
		number[i] = s.States
		if met[i] && live[i] || i <= Answered {
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

// reach returns the states that are reached from one.
func (b *builder) reach(from int, next [][]int) []bool {
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
