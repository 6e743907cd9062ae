package infer

import (
	"fmt"
	"math"
	"slices"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/capture/burst"
)

// whole is one conceptual write that several statements carry out: an entity and its copies, written in one burst.
type whole struct {
	first   *said // into the base table, if that is written
	members []*said
	uses    []float64 // executions of each in one
	rate    float64
	writes  []*workload.Write
}

// bursts finds the writes that are parts of one: statements of a burst that do the same to the same entity, so that each writes a copy. A statement is
// a part of the burst that it is in most often. What it does beyond that stands for itself.
func (f *flows) bursts(templates []burst.Template) {
	f.m.bursts = map[*said]*whole{}
	f.writes = f.m.bursts
	sorted := slices.Clone(templates)
	slices.SortStableFunc(sorted, func(a, b burst.Template) int { return b.Count - a.Count })
	for _, t := range sorted {
		groups := map[string]*whole{}
		var order []string
		for _, w := range t.Writes {
			i, known := f.index[w.Fingerprint]
			if !known || len(f.all[i].writes) == 0 || f.writes[f.all[i]] != nil || w.Mean > float64(onceWritten) {
				continue
			}
			s := f.all[i]
			what := fmt.Sprintf("%s %s", s.writes[0].Kind, s.writes[0].Entity.Name)
			if len(s.writes[0].Connections) > 0 && len(s.writes[0].Set) == 0 {
				what += " " + s.writes[0].Connections[0].Edge.Name
			}
			if groups[what] == nil {
				groups[what] = &whole{}
				order = append(order, what)
			}
			g := groups[what]
			g.members, g.uses = append(g.members, s), append(g.uses, w.Mean)
		}
		for _, what := range order {
			if g := groups[what]; len(g.members) > 1 {
				g.complete()
				for _, s := range g.members {
					f.writes[s] = g
				}
			}
		}
	}
}

// onceWritten is how often a statement may be in a burst at most to write one copy: the others of a fan-out are other rows.
const onceWritten = 1.1

// complete works out what is written, and how often: as often as each of the statements allows.
func (g *whole) complete() {
	g.first = g.members[0]
	g.rate = math.Inf(1)
	for i, s := range g.members {
		g.uses[i] = max(1, g.uses[i])
		g.rate = min(g.rate, s.rate/g.uses[i])
		if s.source.base == s.source && g.first.source.base != g.first.source {
			g.first = s
		}
	}
	for i, s := range g.members { // nearly as often is as often: bursts at the edges of windows are seen in part
		if rest := s.rate - g.rate*g.uses[i]; rest < edgeOfWindow*s.rate {
			g.uses[i] = s.rate / g.rate
		}
	}
	union := *g.first.writes[0]
	for _, s := range g.members {
		w := s.writes[0]
		union.Set = unique(append(slices.Clone(union.Set), w.Set...))
		for _, c := range w.Connections {
			if !slices.ContainsFunc(union.Connections, func(o workload.Connection) bool { return o.Edge == c.Edge }) {
				union.Connections = append(slices.Clone(union.Connections), c)
			}
		}
		if w.Kind == workload.Update || w.Kind == workload.Delete {
			union.Given = unique(append(slices.Clone(union.Given), w.Given...))
		}
	}
	union.Given = slices.DeleteFunc(union.Given, func(f model.Field) bool {
		return slices.ContainsFunc(union.Where, func(p workload.Predicate) bool { return p.Field == f })
	})
	g.writes = append([]*workload.Write{&union}, g.first.writes[1:]...)
}

// edgeOfWindow is the share of a statement's executions that may be missing in its bursts though they are there.
const edgeOfWindow = 0.05

// write makes the conceptual statements of a write. The first counts its executions; the others happen with it.
func (f *flows) write(s *said) {
	rate := s.rate
	if g := f.writes[s]; g != nil {
		n := slices.Index(g.members, s)
		if s == g.first {
			uses := []Use{{Fingerprint: s.statement.Fingerprint, PerExecution: g.uses[n]}}
			for i, o := range g.members {
				if o != s {
					uses = append(uses, Use{Fingerprint: o.statement.Fingerprint, PerExecution: g.uses[i]})
				}
			}
			f.addWrites(s, g.writes, g.rate, uses)
		}
		rate -= g.rate * g.uses[n]
	}
	if rate > 1e-9*s.rate {
		f.addWrites(s, s.writes, rate, []Use{{Fingerprint: s.statement.Fingerprint, PerExecution: 1}})
	}
}

func (f *flows) addWrites(s *said, writes []*workload.Write, rate float64, uses []Use) {
	whole := "w-" + digest(s.statement.Fingerprint)
	together := "" // what one statement writes pays once for what its parts have to read
	if len(writes) > 1 {
		together = whole
	}
	for n, w := range writes {
		id := whole
		if n > 0 {
			id = fmt.Sprintf("%s-%d", id, n+1)
			uses = slices.Clone(uses)
			for i := range uses {
				uses[i].PerExecution = 0
			}
		}
		f.add(id, &workload.Statement{Weight: rate, Write: w, Transaction: together}, uses)
	}
}
