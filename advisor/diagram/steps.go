package diagram

import (
	"fmt"
	"slices"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
)

// Step says that statement To can follow statement From, by their places in the workload: what From found is what To asks by.
type Step struct{ From, To int }

// Steps infers the steps of a workload (see the package comment). Those of a statement from itself are left out.
func Steps(w *workload.Workload) []Step {
	type knowledge struct{ given, found []model.Field }
	known := make([]knowledge, len(w.Statements))
	for i, s := range w.Statements {
		known[i].given = given(s)
		if s.Query != nil {
			for _, f := range s.Query.Select {
				known[i].found = model.AppendNew(known[i].found, original(f))
			}
		}
	}
	var steps []Step
	for to := range w.Statements {
		var keys []model.Field
		for _, f := range known[to].given {
			if f.IsKey() {
				keys = append(keys, f)
			}
		}
		for from := range w.Statements {
			if from == to || len(keys) == 0 {
				continue
			}
			all, news := true, false
			for _, f := range keys {
				found, had := slices.Contains(known[from].found, f), slices.Contains(known[from].given, f)
				all = all && (found || had)
				news = news || found && !had
			}
			if all && news {
				steps = append(steps, Step{from, to})
			}
		}
	}
	return steps
}

// entered tells which of the statements that count are asked from outside: those that no other leads to, and, where
// all lead to each other in circles, of each circle the first of those that lead on to the most.
func entered(counts []bool, steps []Step) []bool {
	led, entry, reached := make([]bool, len(counts)), make([]bool, len(counts)), make([]bool, len(counts))
	after := make([][]int, len(counts))
	for _, s := range steps {
		if counts[s.From] && counts[s.To] {
			led[s.To] = true
			after[s.From] = append(after[s.From], s.To)
		}
	}
	var reach func(from int, seen []bool) int
	reach = func(from int, seen []bool) int {
		if seen[from] {
			return 0
		}
		seen[from] = true
		n := 1
		for _, to := range after[from] {
			n += reach(to, seen)
		}
		return n
	}
	for i := range counts {
		if counts[i] && !led[i] {
			entry[i] = true
			reach(i, reached)
		}
	}
	for {
		best, most := -1, 0
		for i := range counts {
			if counts[i] && !reached[i] {
				if n := reach(i, slices.Clone(reached)); n > most {
					best, most = i, n
				}
			}
		}
		if best < 0 {
			return entry
		}
		entry[best] = true
		reach(best, reached)
	}
}

// given are the fields of which a statement must be told one value.
func given(s *workload.Statement) []model.Field {
	var fields []model.Field
	equal := func(list []workload.Predicate) {
		for _, p := range list {
			if p.Op == workload.Equal || p.Op == workload.In {
				fields = model.AppendNew(fields, original(p.Field))
			}
		}
	}
	if s.Query != nil {
		equal(s.Query.Where)
		return fields
	}
	equal(s.Write.Where)
	for _, c := range s.Write.Connections {
		for _, f := range c.Entity.Base().KeyFields() {
			fields = model.AppendNew(fields, original(f))
		}
	}
	if k := s.Write.Kind; k == workload.Connect || k == workload.Disconnect {
		for _, f := range s.Write.Entity.Base().KeyFields() {
			fields = model.AppendNew(fields, original(f))
		}
	}
	return fields
}

// original is the field of which another occurrence, or a copy, is the same value.
func original(f model.Field) model.Field {
	f.Entity = f.Entity.Base()
	for range 6 { // files may say that two are copies of each other
		c := f.Attribute.Copied
		if c == nil || c.Edge.Base().Other(f.Entity) == nil {
			break
		}
		f = model.Field{Entity: c.Edge.Base().Other(f.Entity), Attribute: c.Of}
	}
	return f
}

// Access adds the queries of a workload to a schema, and arrows for how they come to its tables. plans are those of the
// statements, by their places in the workload; names are those of tables as the schema has them. A query without a plan has no
// arrow, and is named in Unshown.
func (s *Schema) Access(w *workload.Workload, plans map[int]*plan.Plan, name func(*model.Table) (keyspace, table string)) {
	steps := Steps(w)
	read := map[int][]int{}  // the tables that a query reads, in order
	first := map[int][]int{} // of those, the ones read by parameters alone
	for i, st := range w.Statements {
		if st.Query == nil {
			continue
		}
		p := plans[i]
		if p == nil {
			s.Unshown = append(s.Unshown, fmt.Sprintf("query %s: the tables do not answer it", st.ID))
			continue
		}
		for j := range p.Steps {
			if t := p.Steps[j].Table; t != nil {
				if at := s.table(name(t)); at >= 0 {
					read[i] = append(read[i], at)
					if !fed(&p.Steps[j]) {
						first[i] = append(first[i], at)
					}
				}
			}
		}
	}
	counts := make([]bool, len(w.Statements))
	for i := range counts {
		counts[i] = len(read[i]) > 0
	}
	outside := entered(counts, steps)
	for i, st := range w.Statements {
		if len(read[i]) == 0 {
			continue
		}
		q := len(s.Queries)
		s.Queries = append(s.Queries, Query{Number: fmt.Sprintf("Q%d", q+1), Name: st.ID, Text: st.String()})
		var before []int // tables that other queries found the values in
		for _, step := range steps {
			if step.To == i && len(read[step.From]) > 0 {
				last := read[step.From][len(read[step.From])-1]
				if !slices.Contains(before, last) {
					before = append(before, last)
				}
			}
		}
		if outside[i] {
			before = append(before, -1)
		}
		for j, at := range read[i] {
			from := before
			if !slices.Contains(first[i], at) && j > 0 {
				from = []int{read[i][j-1]}
			}
			for _, f := range from {
				if a := (Arrow{q, f, at}); !slices.Contains(s.Arrows, a) {
					s.Arrows = append(s.Arrows, a)
				}
			}
		}
	}
}

// fed tells whether a step reads by what an earlier one has found.
func fed(s *plan.Step) bool {
	from := func(list []plan.Binding) bool {
		return slices.ContainsFunc(list, func(b plan.Binding) bool { return b.Value == "" })
	}
	return s.Verify || from(s.Partition) || from(s.Clustering) || from(s.Where)
}
