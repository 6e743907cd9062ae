package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

// simulate runs a plan in process, in a bubble of time.
func simulate(t *testing.T, p plan, m mutant) (v *verdict) {
	synctest.Test(t, func(*testing.T) {
		w, start := startMemory(p, m)
		defer w.end()
		v = carryOut(p, w, start)
	})
	return v
}

// shrink makes a plan that goes wrong smaller, as long as it does: it leaves out events and operations, half of them at a time, then fewer. A run is nearly, not
// wholly, determined by its plan (of what happens at one moment the runtime chooses which is first), so each is tried twice. most bounds the runs.
func shrink(p plan, fails func(plan) bool, most int) plan {
	tries := func(smaller plan) bool {
		for range 2 {
			if most--; most < 0 {
				return false
			}
			if fails(smaller) {
				return true
			}
		}
		return false
	}
	events := without(p.events, func(some []event) bool {
		q := p
		q.events = some
		return tries(q)
	})
	p.events = events
	p.asks = without(p.asks, func(some []operation) bool {
		q := p
		q.asks = some
		return tries(q)
	})
	return p
}

// without leaves out of a list what is not needed for it to stay bad.
func without[T any](list []T, bad func([]T) bool) []T {
	for size := max(len(list)/2, 1); len(list) > 0; {
		left := false
		for at := 0; at < len(list); {
			some := slices.Delete(slices.Clone(list), at, min(at+size, len(list)))
			if bad(some) {
				list, left = some, true
				continue
			}
			at += size
		}
		if size == 1 && !left {
			return list
		}
		size = max(size/2, 1)
	}
	return list
}

// example is a plan that went wrong, smaller if it could be made so, and what was wrong with it.
func example(t *testing.T, p plan, m mutant, v *verdict, runs int) string {
	smallest := v
	p = shrink(p, func(q plan) bool {
		if now := simulate(t, q, m); now.bad() != "" {
			smallest = now
			return true
		}
		return false
	}, runs)
	return fmt.Sprintf("%v\n%s", &p, smallest.bad())
}

// sum adds up verdicts.
type sum struct {
	Runs       int            `json:"runs"`
	Reads      int            `json:"reads"`    // answers whose history was checked
	Served     int            `json:"served"`   // of which by the change
	Compared   int            `json:"compared"` // with the database's own, too
	Writes     int            `json:"writes"`
	Unknown    int            `json:"unknown_writes"`
	Wrong      int            `json:"wrong"`
	Breaches   int            `json:"breaches"`
	Missing    int            `json:"missing"`
	Stuck      int            `json:"stuck"`
	Undecided  int            `json:"undecided"`
	Longest    float64        `json:"longest_settled_seconds"`
	LongestOf  uint64         `json:"longest_seed"`
	Struck     map[string]int `json:"struck"` // by deed, role and state
	Unrealised int            `json:"unrealised"`
}

func (s *sum) add(seed uint64, v *verdict) {
	if s.Struck == nil {
		s.Struck = map[string]int{}
	}
	s.Runs++
	s.Reads += v.Reads
	s.Served += v.Served
	s.Compared += v.Compared
	s.Unknown += v.Unknown
	s.Wrong += len(v.Wrong)
	s.Missing += len(v.Missing)
	s.Undecided += v.Undecided
	s.Unrealised += v.unrealised
	for _, e := range v.entries {
		if e.act != read {
			s.Writes++
		}
	}
	if v.Breach != nil {
		s.Breaches++
	}
	if v.Stuck != "" {
		s.Stuck++
	}
	if seconds := v.Settled.Seconds(); seconds > s.Longest {
		s.Longest, s.LongestOf = seconds, seed
	}
	for what, n := range v.Struck {
		s.Struck[what] += n
	}
}

func (s *sum) String() string {
	return fmt.Sprintf("%d runs, %d answers checked (%d by the change), %d compared with the database's own; %d writes, %d with unknown outcome; wrong %d, breaches %d, missing %d, stuck %d, undecided %d; settled after %.1f s at most (seed %d)",
		s.Runs, s.Reads, s.Served, s.Compared, s.Writes, s.Unknown, s.Wrong, s.Breaches, s.Missing, s.Stuck, s.Undecided, s.Longest, s.LongestOf)
}

// table says how often what befell whom in which state, as Markdown.
func (s *sum) table() string {
	var b strings.Builder
	columns := append(slices.Clone(states), "rolled-back")
	b.WriteString("| what | whom |")
	for _, c := range columns {
		fmt.Fprintf(&b, " %s |", c)
	}
	b.WriteString("\n| --- | --- |" + strings.Repeat(" ---: |", len(columns)) + "\n")
	rows := map[string]bool{}
	for what := range s.Struck {
		name, _, _ := strings.Cut(what, "|")
		rows[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		what, whom, _ := strings.Cut(name, " ")
		fmt.Fprintf(&b, "| %s | %s |", what, whom)
		for _, c := range columns {
			fmt.Fprintf(&b, " %d |", s.Struck[name+"|"+string(c)])
		}
		b.WriteString("\n")
	}
	return b.String()
}
