package safety

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// Automaton is a nondeterministic hedge automaton over numbered symbols and states.
type Automaton struct {
	States []string
	Final  []bool
	Rules  [][]Rule // by symbol
}

// Rule gives a node its state if the states of its children, from left to right, make a word of the expression.
type Rule struct {
	State int
	Word  *Word
}

// Word is a regular expression over states, as the automaton of its positions (Glushkov, 1961): no position is left without
// reading its state, so a run is a set of positions.
type Word struct {
	State    []int // by position
	First    []int
	Last     []bool
	Follow   [][]int
	Nullable bool
	text     string
}

// String writes the expression.
func (w *Word) String() string { return w.text }

// part is what the construction knows of a part of an expression.
type part struct {
	first, last []int
	nullable    bool
	none        bool // no word
}

// glushkov makes the automaton of an expression without variables; state numbers its symbols.
func glushkov(e *Expr, state func(kind string, args []Term) int, text string) *Word {
	w := &Word{text: text}
	link := func(from, to []int) {
		for _, p := range from {
			for _, q := range to {
				if !slices.Contains(w.Follow[p], q) {
					w.Follow[p] = append(w.Follow[p], q)
				}
			}
		}
	}
	var walk func(e *Expr) part
	walk = func(e *Expr) part {
		switch e.op {
		case symbol:
			n := len(w.State)
			w.State, w.Follow = append(w.State, state(e.Kind, e.Args)), append(w.Follow, nil)
			return part{first: []int{n}, last: []int{n}}
		case seq:
			out := part{nullable: true}
			for _, p := range e.Parts {
				x := walk(p)
				link(out.last, x.first)
				if out.nullable {
					out.first = append(out.first, x.first...)
				}
				if !x.nullable {
					out.last = nil
				}
				out.last = append(slices.Clip(out.last), x.last...)
				out.nullable, out.none = out.nullable && x.nullable, out.none || x.none
			}
			if out.none {
				return part{none: true}
			}
			return out
		case alt:
			out := part{none: len(e.Parts) > 0, nullable: len(e.Parts) == 0}
			for _, p := range e.Parts {
				x := walk(p)
				out.first, out.last = append(out.first, x.first...), append(out.last, x.last...)
				out.nullable, out.none = out.nullable || x.nullable, out.none && x.none
			}
			return out
		case repeat, plus:
			x := walk(e.Parts[0])
			link(x.last, x.first)
			if e.op == repeat {
				x.nullable, x.none = true, false
			}
			return x
		case option:
			x := walk(e.Parts[0])
			x.nullable, x.none = true, false
			return x
		case void:
			return part{none: true}
		}
		return part{nullable: true}
	}
	whole := walk(e)
	w.First, w.Nullable, w.Last = whole.first, whole.nullable, make([]bool, len(w.State))
	for _, p := range whole.last {
		w.Last[p] = true
	}
	return w
}

// starWord is the expression (states)* or, with must, (states)* must (states)*.
func starWord(states []int, must int, text string) *Word {
	w := &Word{Nullable: must < 0, text: text}
	all := make([]int, len(states))
	for i, s := range states {
		w.State, all[i] = append(w.State, s), i
	}
	n := len(states)
	if must < 0 {
		w.First = all
		for range states {
			w.Follow, w.Last = append(w.Follow, all), append(w.Last, true)
		}
		return w
	}
	w.State = append(w.State, must)
	w.State = append(w.State, states...)
	var after []int
	for i := range states {
		after = append(after, n+1+i)
	}
	before := append(slices.Clone(all), n)
	w.First = before
	for range states {
		w.Follow, w.Last = append(w.Follow, before), append(w.Last, false)
	}
	w.Follow, w.Last = append(w.Follow, after), append(w.Last, true)
	for range states {
		w.Follow, w.Last = append(w.Follow, after), append(w.Last, true)
	}
	return w
}

// stepFrom returns the positions after reading any of the states from some positions; nil stands for the beginning.
func (w *Word) stepFrom(from []int, begin bool, states []bool) []int {
	var out []int
	add := func(list []int) {
		for _, q := range list {
			if states[w.State[q]] && !slices.Contains(out, q) {
				out = append(out, q)
			}
		}
	}
	if begin {
		add(w.First)
	}
	for _, p := range from {
		add(w.Follow[p])
	}
	slices.Sort(out)
	return out
}

func (w *Word) acceptsAt(at []int, begin bool) bool {
	return begin && w.Nullable || slices.ContainsFunc(at, func(p int) bool { return w.Last[p] })
}

// ground is a tree over numbered symbols.
type ground struct {
	symbol   int
	children []*ground
}

// witnessOutside returns a tree that a accepts and b does not, nil if there is none: L(a) ⊆ L(b). It finds the pairs (a state of a,
// the set of all states of b) that trees can have, by rounds from the leaves up, with a least tree for each; b is made
// deterministic on the way, as far as the trees of a need it.
func witnessOutside(a, b *Automaton) *ground {
	type found struct {
		state int
		set   []bool
		tree  *ground
	}
	var all []found
	byState := map[int][]int{}
	seen := map[string]bool{}
	grown := make([]bool, len(a.States)) // states that had a new pair in the last round: only words with one can give more
	for first := true; first || slices.Contains(grown, true); first = false {
		last := grown
		grown = make([]bool, len(a.States))
		known := len(all)
		for sym, rules := range a.Rules {
			for _, r := range rules {
				if !first && !slices.ContainsFunc(r.Word.State, func(q int) bool { return last[q] }) {
					continue
				}
				// A state of the search: a position of a's word, and positions of each of b's.
				type place struct {
					pos  int // -1: the beginning
					b    [][]int
					kids []*ground
				}
				start := place{pos: -1, b: make([][]int, len(b.Rules[sym]))}
				queue, visited := []place{start}, map[string]bool{}
				for len(queue) > 0 {
					p := queue[0]
					queue = queue[1:]
					begin := p.pos < 0
					if begin && r.Word.Nullable || !begin && r.Word.Last[p.pos] {
						set := make([]bool, len(b.States))
						for i, br := range b.Rules[sym] {
							if br.Word.acceptsAt(p.b[i], begin) {
								set[br.State] = true
							}
						}
						if key := pairKey(r.State, set); !seen[key] {
							seen[key], grown[r.State] = true, true
							f := found{r.State, set, &ground{sym, p.kids}}
							byState[r.State] = append(byState[r.State], len(all))
							all = append(all, f)
							if a.Final[r.State] && !slices.ContainsFunc(slices.Collect(setIndices(set)), func(q int) bool { return b.Final[q] }) {
								return f.tree
							}
						}
					}
					next := r.Word.First
					if !begin {
						next = r.Word.Follow[p.pos]
					}
					for _, q := range next {
						for _, n := range byState[r.Word.State[q]] {
							if n >= known {
								continue // of this round
							}
							child := all[n]
							to := place{pos: q, b: make([][]int, len(p.b)), kids: append(slices.Clip(p.kids), child.tree)}
							for i, br := range b.Rules[sym] {
								to.b[i] = br.Word.stepFrom(p.b[i], begin, child.set)
							}
							if key := placeKey(q, to.b); !visited[key] {
								visited[key] = true
								queue = append(queue, to)
							}
						}
					}
				}
			}
		}
	}
	return nil
}

// pairKey and placeKey name what the search has seen.
func pairKey(state int, set []bool) string {
	key := binary.AppendUvarint(nil, uint64(state))
	for _, ok := range set {
		key = append(key, map[bool]byte{true: 1}[ok])
	}
	return string(key)
}

func placeKey(pos int, b [][]int) string {
	key := binary.AppendUvarint(nil, uint64(pos))
	for _, list := range b {
		key = binary.AppendUvarint(key, uint64(len(list)))
		for _, p := range list {
			key = binary.AppendUvarint(key, uint64(p))
		}
	}
	return string(key)
}

func setIndices(set []bool) func(func(int) bool) {
	return func(yield func(int) bool) {
		for i, ok := range set {
			if ok && !yield(i) {
				return
			}
		}
	}
}

// Explicit is the seed's own construction over named users and values, for one reading of the functions.
type Explicit struct {
	Users   []string
	Symbols []string
	Schema  *Automaton // A_s
	Writes  *Automaton // A_w
	// Ambiguous are symbols of groups that more than one user may write: A_w is not deterministic.
	Ambiguous []string
	tops      []int
}

// Safe reports whether A_w is deterministic and L(A_s) ⊆ L(A_w), and gives a tree outside if it is not.
func (x *Explicit) Safe() (bool, string) {
	if len(x.Ambiguous) > 0 {
		return false, x.Ambiguous[0]
	}
	if t := witnessOutside(x.Schema, x.Writes); t != nil {
		return false, x.treeText(t)
	}
	return true, ""
}

func (x *Explicit) treeText(t *ground) string {
	tree := x.treeOf(t)
	return tree.String()
}

func (x *Explicit) treeOf(t *ground) *Tree {
	out := &Tree{Key: x.Symbols[t.symbol]}
	for _, c := range t.children {
		out.Children = append(out.Children, x.treeOf(c))
	}
	return out
}

// String prints both automata as the seed writes them.
func (x *Explicit) String() string {
	var b strings.Builder
	for _, a := range []struct {
		name string
		*Automaton
	}{{"A_s", x.Schema}, {"A_w", x.Writes}} {
		var final []string
		for i, f := range a.Final {
			if f {
				final = append(final, a.States[i])
			}
		}
		fmt.Fprintf(&b, "%s: final states {%s}\n", a.name, strings.Join(final, ", "))
		for sym, rules := range a.Rules {
			for _, r := range rules {
				fmt.Fprintf(&b, "  %s ← %s( %s )\n", a.States[r.State], x.Symbols[sym], r.Word)
			}
		}
	}
	return b.String()
}
