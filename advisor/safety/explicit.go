package safety

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// ErrUsers refuses the explicit check of fewer than two users: one user never meets another, and every schema looks safe.
var ErrUsers = errors.New("the check needs at least two users: with one, every schema looks safe")

// ErrLarge tells that the explicit automata would be too large.
var ErrLarge = errors.New("the explicit automata would be too large; the symbolic check needs none")

const (
	maxSymbols  = 20_000
	maxReadings = 4096
)

// world is what terms are about: values of each sort, and a reading of each function.
type world struct {
	sorts   sortTable
	values  map[string][]string // by sort
	reading map[string]string   // function(values) -> value
	table   []string            // function(values), all
	result  map[string]string   // sort of each
}

// Explicitly builds the seed's automata over that many users (and as many values of every other sort, besides the constants),
// once for each reading of the functions, and calls yield with each until it returns false.
func Explicitly(g *Grammar, users int, yield func(*Explicit) bool) error {
	if users < 2 {
		return ErrUsers
	}
	if err := g.Validate(); err != nil {
		return err
	}
	w, err := newWorld(g, users)
	if err != nil {
		return err
	}
	total := 1
	for _, f := range w.table {
		if total *= len(w.values[w.result[f]]); total > maxReadings {
			return fmt.Errorf("%w: more than %d readings of the functions", ErrLarge, maxReadings)
		}
	}
	for n := range total {
		for _, f := range w.table {
			list := w.values[w.result[f]]
			w.reading[f] = list[n%len(list)]
			n /= len(list)
		}
		x, err := w.buildAutomata(g)
		if err != nil {
			return err
		}
		if !yield(x) {
			return nil
		}
	}
	return nil
}

func newWorld(g *Grammar, users int) (*world, error) {
	w := &world{sorts: sortsOf(g), values: map[string][]string{}, reading: map[string]string{}, result: map[string]string{}}
	constants := map[string][]string{}
	arity := map[string]int{}
	w.values[w.sorts.find(writers)] = nil
	var term func(t Term, where string)
	term = func(t Term, where string) {
		sort := w.sorts.find(where)
		switch t.kind {
		case constant:
			if !slices.Contains(constants[sort], "'"+t.Name) {
				constants[sort] = append(constants[sort], "'"+t.Name)
			}
		case function:
			arity[t.Name] = len(t.Args)
			for i, a := range t.Args {
				term(a, fmt.Sprintf("arg:%s/%d", t.Name, i))
			}
		}
	}
	places := func(kind string, args []Term) {
		for i, a := range args {
			place := fmt.Sprintf("place:%s/%d", kind, i)
			w.values[w.sorts.find(place)] = nil
			term(a, place)
		}
	}
	for _, e := range g.allBodies() {
		for _, l := range leavesOf(e) {
			places(l.symbol.Kind, l.symbol.Args)
		}
	}
	for _, p := range g.Productions {
		places(p.Kind, varsOf(p.Params))
	}
	for n, x := range g.Writes {
		places(x.Kind, x.Key)
		term(x.Owner, writers)
		for _, t := range append([]Term{x.Owner}, x.Key...) {
			t.eachVar(func(v string) { w.values[w.sorts.find(fmt.Sprintf("var:w:%d/%s", n, v))] = nil })
		}
	}
	for _, f := range g.Facts {
		if !f.Probable {
			arity[f.Name] = len(f.From)
		}
	}
	for f, n := range arity {
		w.values[w.sorts.find("of:"+f)] = nil
		for i := range n {
			w.values[w.sorts.find(fmt.Sprintf("arg:%s/%d", f, i))] = nil
		}
	}
	for sort := range w.values {
		list := slices.Clone(constants[sort])
		for i := range users {
			switch {
			case sort != w.sorts.find(writers):
				list = append(list, fmt.Sprintf("v%d", i+1))
			case i < len(people):
				list = append(list, people[i])
			default:
				list = append(list, fmt.Sprintf("user%d", i+1))
			}
		}
		w.values[sort] = list
	}
	for _, f := range slices.Sorted(maps.Keys(arity)) {
		var sorts []string
		for i := range arity[f] {
			sorts = append(sorts, fmt.Sprintf("arg:%s/%d", f, i))
		}
		err := w.eachCombination(sorts, func(values []string) {
			key := f + "(" + strings.Join(values, ", ") + ")"
			w.table = append(w.table, key)
			w.result[key] = w.sorts.find("of:" + f)
		})
		if err != nil {
			return nil, err
		}
	}
	return w, nil
}

// eachCombination calls f with each combination of values of sorts.
func (w *world) eachCombination(sorts []string, f func([]string)) error {
	total := 1
	for _, s := range sorts {
		if total *= len(w.values[w.sorts.find(s)]); total > maxSymbols {
			return ErrLarge
		}
	}
	for n := range total {
		values := make([]string, len(sorts))
		for i, s := range sorts {
			list := w.values[w.sorts.find(s)]
			values[i] = list[n%len(list)]
			n /= len(list)
		}
		f(values)
	}
	return nil
}

// valueOf reads a term.
func (w *world) valueOf(t Term, env map[string]string) string {
	switch t.kind {
	case constant:
		return "'" + t.Name
	case function:
		args := make([]string, len(t.Args))
		for i, a := range t.Args {
			args[i] = w.valueOf(a, env)
		}
		return w.reading[t.Name+"("+strings.Join(args, ", ")+")"]
	}
	return env[t.Name]
}

func (w *world) keyText(kind string, args []Term, env map[string]string) string {
	values := make([]string, len(args))
	for i, a := range args {
		values[i] = w.valueOf(a, env)
	}
	return kind + "(" + strings.Join(values, ", ") + ")"
}

// expandBindings replaces bindings by alternatives, one for each combination of values.
func (w *world) expandBindings(e *Expr, env map[string]string, sort func(string) string) (*Expr, error) {
	switch e.op {
	case symbol:
		return &Expr{op: symbol, Kind: w.keyText(e.Kind, e.Args, env)}, nil
	case bind:
		sorts := make([]string, len(e.Vars))
		for i, v := range e.Vars {
			sorts[i] = sort(v)
		}
		out := &Expr{op: alt}
		var failed error
		err := w.eachCombination(sorts, func(values []string) {
			inner := maps.Clone(env)
			for i, v := range e.Vars {
				inner[v] = values[i]
			}
			x, err := w.expandBindings(e.Parts[0], inner, sort)
			failed = errors.Join(failed, err)
			out.Parts = append(out.Parts, x)
		})
		return out, errors.Join(err, failed)
	}
	out := &Expr{op: e.op}
	for _, p := range e.Parts {
		x, err := w.expandBindings(p, env, sort)
		if err != nil {
			return nil, err
		}
		out.Parts = append(out.Parts, x)
	}
	return out, nil
}

// ownersOf returns who may write each key, by its text.
func (w *world) ownersOf(g *Grammar) (map[string][]string, error) {
	out := map[string][]string{}
	users := w.values[w.sorts.find(writers)]
	for n, x := range g.Writes {
		var names []string
		add := func(v string) {
			if !slices.Contains(names, v) {
				names = append(names, v)
			}
		}
		for _, t := range append([]Term{x.Owner}, x.Key...) {
			t.eachVar(add)
		}
		scope := fmt.Sprintf("var:w:%d/", n)
		err := w.eachAssignment(names, scope, g.Facts, func(env map[string]string) {
			key := w.keyText(x.Kind, x.Key, env)
			who := users
			if x.Owner.kind != anyone {
				who = []string{w.valueOf(x.Owner, env)}
			}
			for _, u := range who {
				if !slices.Contains(out[key], u) {
					out[key] = append(out[key], u)
				}
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// eachAssignment calls f with the values of a write's variables that agree with the facts.
func (w *world) eachAssignment(names []string, scope string, facts []Fact, f func(map[string]string)) error {
	has := map[string]bool{}
	for _, v := range names {
		has[v] = true
	}
	sorts := make([]string, len(names))
	for i, v := range names {
		sorts[i] = scope + v
	}
	return w.eachCombination(sorts, func(values []string) {
		env := map[string]string{}
		for i, v := range names {
			env[v] = values[i]
		}
		known := maps.Clone(has)
		for again := true; again; { // facts bring in what they determine
			again = false
			for _, fact := range facts {
				with := maps.Clone(known)
				with[fact.To] = true
				l, r, ok := fact.equationIn(with)
				if fact.Probable || !ok {
					continue
				}
				value := w.valueOf(r, env)
				if !known[fact.To] {
					known[fact.To], env[l.Name], again = true, value, true
				} else if env[l.Name] != value {
					return
				}
			}
		}
		f(env)
	})
}

// buildAutomata builds A_s and A_w for the present reading.
func (w *world) buildAutomata(g *Grammar) (*Explicit, error) {
	x := &Explicit{Users: w.values[w.sorts.find(writers)], Schema: &Automaton{}, Writes: &Automaton{}}
	number := map[string]int{}
	type instance struct {
		p   *Production
		env map[string]string
	}
	var instances []instance
	for _, p := range g.Productions {
		sorts := make([]string, len(p.Params))
		for i := range p.Params {
			sorts[i] = fmt.Sprintf("place:%s/%d", p.Kind, i)
		}
		err := w.eachCombination(sorts, func(values []string) {
			env := map[string]string{}
			for i, v := range p.Params {
				env[v] = values[i]
			}
			key := w.keyText(p.Kind, varsOf(p.Params), env)
			number[key] = len(x.Symbols)
			x.Symbols = append(x.Symbols, key)
			instances = append(instances, instance{p, env})
		})
		if err != nil {
			return nil, err
		}
		if len(x.Symbols) > maxSymbols {
			return nil, ErrLarge
		}
	}
	all := map[string]bool{}
	for _, p := range g.Productions {
		all[p.Kind] = true
	}
	state := func(kind string, _ []Term) int { return number[kind] }
	for n, i := range instances {
		body := normalForm(i.p.Body, i.p.Params, all)
		e, err := w.expandBindings(body, i.env, w.sortOfBound(body, i.p))
		if err != nil {
			return nil, err
		}
		x.Schema.States = append(x.Schema.States, "q_"+x.Symbols[n])
		x.Schema.Final = append(x.Schema.Final, false)
		word := glushkov(e, state, i.p.Body.String())
		x.Schema.Rules = append(x.Schema.Rules, []Rule{{n, word}})
	}
	root := normalForm(g.Root, nil, all)
	e, err := w.expandBindings(root, map[string]string{}, w.sortOfBound(root, &Production{}))
	if err != nil {
		return nil, err
	}
	for _, l := range leavesOf(e) {
		n := number[l.symbol.Kind]
		x.Schema.Final[n] = true
		if !slices.Contains(x.tops, n) {
			x.tops = append(x.tops, n)
		}
	}
	owners, err := w.ownersOf(g)
	if err != nil {
		return nil, err
	}
	x.buildWrites(owners)
	x.findAmbiguous(owners)
	return x, nil
}

// sortOfBound tells the sort of a variable bound in a body: that of a place where it stands.
func (w *world) sortOfBound(body *Expr, p *Production) func(string) string {
	return func(v string) string {
		for _, l := range leavesOf(body) {
			for i, t := range l.symbol.Args {
				if t.kind == variable && t.Name == v && !slices.Contains(p.Params, v) {
					return fmt.Sprintf("place:%s/%d", l.symbol.Kind, i)
				}
			}
		}
		return writers // bound and not used: any sort will do
	}
}

// buildWrites builds A_w: a state for each user, and one, neutral, for what no one writes.
func (x *Explicit) buildWrites(owners map[string][]string) {
	a := x.Writes
	a.States, a.Final = []string{"q_⊥"}, []bool{true}
	for _, u := range x.Users {
		a.States, a.Final = append(a.States, "q_"+u), append(a.Final, true)
	}
	neutral := starWord([]int{0}, -1, "q_⊥*")
	for _, s := range x.Symbols {
		var rules []Rule
		if len(owners[s]) == 0 {
			rules = append(rules, Rule{0, neutral})
		}
		for i, u := range x.Users {
			q := a.States[i+1]
			switch {
			case len(owners[s]) == 0:
				rules = append(rules, Rule{i + 1, starWord([]int{i + 1, 0}, i+1, fmt.Sprintf("(%s | q_⊥)* %s (%s | q_⊥)*", q, q, q))})
			case slices.Contains(owners[s], u):
				rules = append(rules, Rule{i + 1, starWord([]int{i + 1, 0}, -1, fmt.Sprintf("(%s | q_⊥)*", q))})
			}
		}
		a.Rules = append(a.Rules, rules)
	}
}

// findAmbiguous finds a group that has a symbol with two writers.
func (x *Explicit) findAmbiguous(owners map[string][]string) {
	// A group has such a symbol if A_s accepts a tree that an automaton which forbids them all does not.
	forbids := &Automaton{States: []string{"ok"}, Final: []bool{true}}
	some := false
	free := starWord([]int{0}, -1, "ok*")
	for _, key := range x.Symbols {
		var rules []Rule
		if len(owners[key]) < 2 {
			rules = []Rule{{0, free}}
		} else {
			some = true
		}
		forbids.Rules = append(forbids.Rules, rules)
	}
	if !some {
		return
	}
	if t := witnessOutside(x.Schema, forbids); t != nil {
		x.Ambiguous = append(x.Ambiguous, x.treeText(t))
	}
}

// Explain prints a grammar, and the automata of its first reading over that many users, with what they say.
func Explain(out io.Writer, name string, g *Grammar, users int) error {
	if _, err := fmt.Fprintf(out, "\n%s as a grammar:\n%s", name, g); err != nil {
		return err
	}
	shown := false
	safe, tree := true, ""
	err := Explicitly(g, users, func(x *Explicit) bool {
		if safe, tree = x.Safe(); !shown {
			shown = true
			fmt.Fprint(out, x)
		}
		return safe
	})
	switch {
	case errors.Is(err, ErrLarge):
		_, err = fmt.Fprintf(out, "%s\n", err)
	case err == nil && safe:
		_, err = fmt.Fprintf(out, "L(A_s) ⊆ L(A_w) for %d users and every reading of the functions\n", users)
	case err == nil:
		_, err = fmt.Fprintf(out, "L(A_s) ⊄ L(A_w): %s\n", tree)
	}
	return err
}
