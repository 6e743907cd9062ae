package design

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/helenus-db/helenus/advisor/choice"
	"github.com/helenus-db/helenus/advisor/plan"
)

// solveWithCeilings solves a problem of the task so that every write with a ceiling is done in time with all that it has to ask and to
// change. That is no condition on single tables, so it is branched over: each node is a problem of its own, whose bound
// holds for all choices that it allows; the one of the least bound comes first. Where the choice of a node has no late
// write, it is the node's best. Where it has one, either
//
//   - some of the tables that the write changes make it late whatever it asks: of a smallest set of such one must go. Each
//     is forbidden in a node of its own, in which those before it are kept;
//   - or it asks too slowly. Then one of the tables goes; or all stay, and what each support query may take follows from
//     what the others take at least. If the paths found are within that, one query is taken: it has to be quicker than it is, or
//     the others have what is left beside it.
//
// The choice may do without any of this, with other paths than the cheapest (ceilingPaths): then it is an answer, but there may
// be better ones. Every branching takes a table or a path away, so it ends. If the limits end it before, the best choice in
// time is returned with the least bound of what is left; if there is none, the best that is late.
func (t *task) solveWithCeilings(ctx context.Context, o Options, p *choice.Problem, start selection) (selection, *choice.Result, error) {
	began, wall := time.Now(), o.Limits.Wall
	h := &ceilingSearch{task: t, problem: p, known: math.Inf(1), least: math.Inf(1)}
	open := []*node{h.rootNode()}
	var result *choice.Result // of the root, with what is found after
	var first selection
	stopped, closed := "", math.Inf(1) // the least bound of nodes that were left unproven
	for len(open) > 0 {
		at := 0
		for i, n := range open {
			if n.bound < open[at].bound {
				at = i
			}
		}
		n := open[at]
		if n.bound >= h.known-1e-9*math.Abs(h.known) {
			break
		}
		own := o
		if result != nil {
			if own.Progress = nil; wall > 0 {
				own.Limits.Wall = max(time.Millisecond, wall-time.Since(began))
			}
			if ctx.Err() != nil {
				stopped = choice.StoppedCancelled
			} else if wall > 0 && time.Since(began) > wall {
				stopped = "wall"
			} else if h.nodes >= mostNodes {
				stopped = choice.StoppedNodes
			}
			if stopped != "" {
				break
			}
			if g := o.Limits.Gap; g > 0 && h.known-n.bound <= g*h.known {
				stopped = "gap"
				break
			}
		}
		open = slices.Delete(open, at, at+1)
		h.nodes++
		narrowed, possible := h.nodeProblem(n)
		if !possible {
			continue
		}
		c, r, err := t.solveOnce(ctx, own, narrowed, start)
		var (
			space *SpaceError
			none  *UnanswerableError
		)
		switch {
		case result == nil && errors.As(err, &none):
			// Either nothing answers everything, or what does can not be kept true in time.
			if c, _, err = t.solveOnce(ctx, o, p, start); err != nil {
				return nil, nil, err
			}
			h.takeIfInTime(c)
			continue
		case result == nil && err != nil:
			return nil, nil, err
		case errors.As(err, &space), errors.As(err, &none):
			continue
		case err != nil:
			open, stopped = append(open, n), choice.StoppedCancelled
		}
		if stopped != "" {
			break
		}
		if result == nil {
			result, first = r, c
		}
		h.takeIfInTime(c)
		x, each := h.lateOf(n, c)
		if each == nil { // nothing of this node is better than its bound
			if !r.Proven {
				closed = min(closed, r.Bound)
			}
			continue
		}
		for _, child := range h.branchNode(n, c, x, each) {
			child.bound = max(n.bound, r.Bound)
			open = append(open, child)
		}
	}
	bound := min(h.known, closed)
	for _, n := range open {
		bound = min(bound, n.bound)
	}
	if h.best == nil {
		if stopped == "" || result == nil {
			return nil, nil, &CeilingError{Statement: t.work.Statements[h.statement].ID, Ceiling: t.work.Statements[h.statement].Ceiling, Least: h.least}
		}
		result.Proven, result.Fewest, result.Stopped = false, false, stopped
		return first, result, nil
	}
	more := h.nodes > 1
	r := *result
	if more {
		r.Open, r.Cost, r.Bound, r.Fewest = h.best, h.known, bound, false
		if r.Proven = bound >= h.known-2e-9*math.Abs(h.known); r.Proven {
			r.Bound, r.Stopped = r.Cost, ""
		} else if stopped != "" {
			r.Stopped = stopped
		}
	}
	return h.best, &r, nil
}

// mostNodes is how many problems are solved to keep writes within their ceilings.
const mostNodes = 2000

// ceilingSearch is a search for a choice in which no write is late.
type ceilingSearch struct {
	*task
	problem *choice.Problem
	best    selection
	known   float64 // what it costs
	nodes   int
	// least is the least time above its ceiling that a write was seen to take, and statement which one.
	least     float64
	statement int
}

// node is the problem with tables that are kept and forbidden, and with limits to the latency of support queries.
type node struct {
	bound           float64
	kept, forbidden []int
	most            map[*demand]float64 // milliseconds
	floor           map[*demand]float64 // what it takes at least here; nothing holds it to that
}

// rootNode allows everything, but paths of which one alone takes a write's whole time.
func (h *ceilingSearch) rootNode() *node {
	n := &node{bound: math.Inf(-1)}
	for _, group := range h.ceilingWrites() {
		for _, x := range group {
			all := make(selection, len(h.candidates))
			for k := range all {
				all[k] = true
			}
			for _, d := range h.supportOf(x.statement, all) {
				if most, known := n.most[d]; !known || x.ceiling < most {
					n.most = setLimit(n.most, d, x.ceiling)
				}
			}
		}
	}
	return n
}

func (n *node) childNode() *node {
	return &node{bound: n.bound, kept: slices.Clone(n.kept), forbidden: slices.Clone(n.forbidden), most: maps.Clone(n.most), floor: maps.Clone(n.floor)}
}

// takeIfInTime takes a node's choice if it is in time, whatever the paths, and the best so far.
func (h *ceilingSearch) takeIfInTime(c selection) {
	_, extra, inTime := h.ceilingPaths(c)
	if inTime {
		if total := h.problem.Cost(c) + extra; total < h.known {
			h.best, h.known = c, total
		}
		return
	}
	for _, group := range h.ceilingWrites() {
		paths, _, _ := h.cheapestInTime(group, c)
		for _, x := range group {
			if took := h.writeLatency(x.statement, c, paths); took > x.ceiling && took < h.least {
				h.least, h.statement = took, x.statement
			}
		}
	}
}

// nodeProblem is the problem of a node. False: it has no solution.
func (h *ceilingSearch) nodeProblem(n *node) (*choice.Problem, bool) {
	p := &choice.Problem{Tables: slices.Clone(h.problem.Tables), Demands: slices.Clone(h.problem.Demands), Space: h.problem.Space}
	for _, k := range n.kept {
		p.Tables[k].Fixed = true
	}
	for i, d := range h.demands {
		most, narrowed := n.most[d]
		if !narrowed {
			continue
		}
		within, _ := d.space.WithinLatency(func(a *plan.Arc) float64 { return arcCost(h.models[d.statement], a).Latency }, most/max(d.times, 1e-300))
		x := &p.Demands[i]
		x.States, x.Arcs = within.States, nil
		for _, a := range within.Arcs {
			k, candidate := h.number[a.Table]
			if !candidate {
				k = choice.None
			}
			x.Arcs = append(x.Arcs, choice.Arc{From: a.From, To: a.To, Price: arcCost(h.models[d.statement], a).Work, Table: k})
		}
	}
	for _, k := range n.forbidden {
		if p.Tables[k].Fixed {
			return nil, false
		}
		for i := range p.Demands {
			p.Demands[i].Arcs = withoutTable(p.Demands[i].Arcs, k)
		}
	}
	return p, true
}

// branchNode divides a node whose choice has a late write: each is how long its support queries take.
func (h *ceilingSearch) branchNode(n *node, c selection, x ceilingWrite, each map[*demand]float64) (children []*node) {
	var changed []int
	for k := range c {
		if c[k] && h.arithmetic.Modifies(h.work.Statements[x.statement].Write, h.candidates[k]) {
			changed = append(changed, k)
		}
	}
	free := make(selection, len(c)) // all that the node allows to be read
	for k := range free {
		free[k] = !slices.Contains(n.forbidden, k)
	}
	only := func(list []int) selection {
		s := make(selection, len(c))
		for _, k := range list {
			s[k] = true
		}
		return s
	}
	quickest := map[*demand]float64{}
	for _, d := range h.supportOf(x.statement, c) {
		quickest[d] = h.leastLatency(d, free)
	}
	hopeless := func(list []int) bool {
		s := only(list)
		var asked []float64
		for _, d := range h.supportOf(x.statement, s) {
			asked = append(asked, quickest[d])
		}
		return h.askLatency(x.statement, asked)+h.applyLatency(x.statement, s) > x.ceiling
	}
	without := func(list []int) {
		for i, k := range list {
			if slices.Contains(n.kept, k) || h.problem.Tables[k].Fixed {
				continue
			}
			child := n.childNode()
			child.kept, child.forbidden = append(child.kept, list[:i]...), append(child.forbidden, k)
			children = append(children, child)
		}
	}
	if hopeless(changed) {
		for i := 0; i < len(changed); {
			if fewer := slices.Delete(slices.Clone(changed), i, i+1); hopeless(fewer) {
				changed = fewer
			} else {
				i++
			}
		}
		without(changed)
		return children
	}
	without(changed)
	stay := n.childNode()
	stay.kept = append(stay.kept, changed...)
	demands := h.supportOf(x.statement, c)
	budget := x.ceiling - h.applyLatency(x.statement, only(changed))
	if h.tightenLimits(stay, x.statement, demands, quickest, budget, each) {
		return append(children, stay)
	}
	widest := -1
	for i, d := range demands {
		if gap := each[d] - max(quickest[d], n.floor[d]); gap > 1e-12 && (widest < 0 || gap > each[demands[widest]]-max(quickest[demands[widest]], n.floor[demands[widest]])) {
			widest = i
		}
	}
	if widest < 0 {
		return children // the choice is late, and nothing it asks can be quicker
	}
	d := demands[widest]
	quicker, slow := stay.childNode(), stay
	quicker.most = setLimit(quicker.most, d, each[d]*(1-1e-9))
	slow.floor = setLimit(slow.floor, d, each[d])
	h.tightenLimits(slow, x.statement, demands, quickest, budget, each)
	return append(children, quicker, slow)
}

func setLimit(m map[*demand]float64, d *demand, v float64) map[*demand]float64 {
	if m == nil {
		m = map[*demand]float64{}
	}
	m[d] = v
	return m
}

// lateOf is a write that is late by the cheapest paths that a node allows, and how long each of its support queries takes by
// these; nil: none is.
func (h *ceilingSearch) lateOf(n *node, c selection) (ceilingWrite, map[*demand]float64) {
	for _, group := range h.ceilingWrites() {
		for _, x := range group {
			each := map[*demand]float64{}
			var list []float64
			for _, d := range h.supportOf(x.statement, c) {
				most, limited := n.most[d]
				for _, p := range h.paretoPaths(d, c) {
					if each[d] = p.cost.Latency; !limited || each[d] <= most {
						break
					}
				}
				list = append(list, each[d])
			}
			if h.askLatency(x.statement, list)+h.applyLatency(x.statement, c) > x.ceiling {
				return x, each
			}
		}
	}
	return ceilingWrite{}, nil
}

// leastLatency is the least latency of a demand over some tables; 0 if they do not answer it.
func (h *ceilingSearch) leastLatency(d *demand, c selection) float64 {
	_, latency := d.space.CheapestPath(func(a *plan.Arc) float64 { return arcCost(h.models[d.statement], a).Latency }, h.allowedBy(c))
	return latency * d.times
}

// tightenLimits limits what each support query may take to what the others leave it of a budget. It reports whether that takes a path
// away that was found.
func (h *ceilingSearch) tightenLimits(n *node, statement int, demands []*demand, quickest map[*demand]float64, budget float64, each map[*demand]float64) (excludes bool) {
	least := make([]float64, len(demands))
	for i, d := range demands {
		least[i] = max(quickest[d], n.floor[d])
	}
	for i, d := range demands {
		with := func(v float64) float64 {
			list := slices.Clone(least)
			list[i] = v
			return h.askLatency(statement, list)
		}
		if with(each[d]) <= budget {
			continue
		}
		low, high := 0.0, each[d] // what it may take is between
		for range 60 {
			if v := (low + high) / 2; with(v) <= budget {
				low = v
			} else {
				high = v
			}
		}
		if most, known := n.most[d]; !known || high < most {
			n.most = setLimit(n.most, d, high)
		}
		excludes = true
	}
	return excludes
}
