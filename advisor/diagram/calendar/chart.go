package calendar

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/helenus-db/helenus/advisor/timeline"
)

// Chart is what is drawn. All lists by step are as long as Steps.
type Chart struct {
	Title, Subtitle string
	Unit            string // of costs
	Steps           []time.Duration
	Groups          []Series // weights
	Tables          []Table
	Statements      []Statement
	Cost            []float64 // of each step, with coming to it
	Baselines       []Series
}

// Series is a value for each step.
type Series struct {
	Name   string
	Values []float64
}

// Table says when a table is there.
type Table struct {
	Name    string
	Open    []bool
	Created []bool // it is filled during the step before
	There   bool   // it was there before all, and belongs to the application
	Detail  string
}

// Statement says when a statement is executed in another way than the step before.
type Statement struct {
	Name    string
	Changed []bool
	Tables  []string // that it reads or changes, by step
}

// mostGroups is how many small charts there are at most; those of the least weight become one.
const mostGroups = 8

// Of makes a chart of a calendar.
func Of(c *timeline.Calendar) *Chart {
	h := &Chart{Title: c.Name, Unit: c.Unit}
	h.Subtitle = fmt.Sprintf("%d steps, cost %s", len(c.Steps), short(c.Cost))
	if c.Unit != "" {
		h.Subtitle += " " + c.Unit
	}
	switch {
	case c.Proven:
		h.Subtitle += ", proven the least"
	default:
		h.Subtitle += fmt.Sprintf(", within %.2g %% of the least", 100*c.Gap)
	}
	if b := c.Baseline(timeline.Average); b != nil && b.Cost > 0 {
		switch less := c.Less(b); {
		case less > 0:
			h.Subtitle += fmt.Sprintf("; %.1f %% less than the best tables that never change", 100*less)
		default:
			h.Subtitle += "; no less than the best tables that never change"
		}
	}
	tables, statements := map[string]int{}, map[string]int{}
	var weights []Series
	for i, s := range c.Steps {
		h.Steps = append(h.Steps, s.Duration)
		h.Cost = append(h.Cost, s.Cost+s.MigrationCost)
		for _, t := range s.Tables {
			at, ok := tables[t.Name]
			if !ok {
				at = len(h.Tables)
				tables[t.Name] = at
				h.Tables = append(h.Tables, Table{Name: t.Name, Open: make([]bool, len(c.Steps)), Created: make([]bool, len(c.Steps)), There: !t.IsNew(), Detail: t.Table.String()})
			}
			h.Tables[at].Open[i] = true
		}
		for _, name := range s.Created {
			if at, ok := tables[name]; ok && i > 0 {
				h.Tables[at].Created[i] = true
			}
		}
		for _, p := range s.Plans {
			at, ok := statements[p.Statement.Statement.ID]
			if !ok {
				at = len(h.Statements)
				statements[p.Statement.Statement.ID] = at
				h.Statements = append(h.Statements, Statement{Name: p.Statement.Statement.ID, Changed: make([]bool, len(c.Steps)), Tables: make([]string, len(c.Steps))})
				weights = append(weights, Series{Name: p.Statement.Statement.ID, Values: make([]float64, len(c.Steps))})
			}
			h.Statements[at].Changed[i] = p.Changed && i > 0
			h.Statements[at].Tables[i] = strings.Join(p.Tables, ", ")
			weights[at].Values[i] = p.Rate
		}
	}
	h.Statements = slices.DeleteFunc(h.Statements, func(s Statement) bool { return !slices.Contains(s.Changed, true) })
	h.Groups = Together(weights)
	for _, b := range c.Baselines {
		h.Baselines = append(h.Baselines, Series{b.Name, b.Steps})
	}
	return h
}

// Together sums series that rise and fall together, those that differ by a factor only, the weightiest first. More than can be
// shown are summed into a last one.
func Together(list []Series) []Series {
	type group struct {
		Series
		names []string
		sum   float64
	}
	var groups []*group
	of := map[string]*group{}
	for _, s := range list {
		most := 0.0
		for _, v := range s.Values {
			most = max(most, v)
		}
		key := ""
		for _, v := range s.Values {
			if most > 0 {
				key += fmt.Sprintf(" %.3f", v/most)
			}
		}
		g := of[key]
		if g == nil {
			g = &group{Series: Series{Values: make([]float64, len(s.Values))}}
			of[key] = g
			groups = append(groups, g)
		}
		g.names = append(g.names, s.Name)
		for i, v := range s.Values {
			g.Values[i] += v
			g.sum += v
		}
	}
	slices.SortStableFunc(groups, func(a, b *group) int {
		switch {
		case a.sum > b.sum:
			return -1
		case a.sum < b.sum:
			return 1
		}
		return 0
	})
	if len(groups) > mostGroups {
		rest := groups[mostGroups-1]
		for _, g := range groups[mostGroups:] {
			rest.names = append(rest.names, g.names...)
			for i, v := range g.Values {
				rest.Values[i] += v
			}
		}
		rest.Name = fmt.Sprintf("%d others", len(rest.names))
		groups = groups[:mostGroups]
	}
	series := make([]Series, len(groups))
	for i, g := range groups {
		series[i] = g.Series
		switch {
		case g.Name != "":
		case len(g.names) > 3:
			series[i].Name = fmt.Sprintf("%s and %d more", strings.Join(g.names[:2], ", "), len(g.names)-2)
		default:
			series[i].Name = strings.Join(g.names, ", ")
		}
	}
	return series
}

// short writes a number with three digits that count.
func short(v float64) string {
	for _, unit := range []struct {
		of   float64
		name string
	}{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e4, "k"}} {
		if v >= unit.of || -v >= unit.of {
			per := unit.of
			if unit.name == "k" {
				per = 1e3
			}
			return fmt.Sprintf("%.3g %s", v/per, unit.name)
		}
	}
	if v >= 1000 || v <= -1000 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}
