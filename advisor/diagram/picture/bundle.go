package picture

import (
	"fmt"
	"slices"
)

// junction is a point at which links meet. It is in drawings only.
const junction Shape = "junction"

// bundled returns the picture with fewer lines, for drawing: links to a box that have one label come together in that
// label; and labels that the same boxes lead to are reached over one junction, where that saves lines. What leads to what
// stays the same. Entity-relationship diagrams are left as they are: there each line is a relationship of its own.
func (p *Picture) bundled() *Picture {
	if p.Kind == ER {
		return p
	}
	b := *p
	b.Boxes, b.Links = slices.Clone(p.Boxes), nil
	type end struct {
		to    int
		label string
	}
	sources := map[end][]int{}
	var ends []end
	joins := func(l Link) bool { return l.Label != "" && l.From != l.To && p.Boxes[l.From].Shape != Entry }
	for _, l := range p.Links {
		if e := (end{l.To, l.Label}); joins(l) && !slices.Contains(sources[e], l.From) {
			if len(sources[e]) == 0 {
				ends = append(ends, e)
			}
			sources[e] = append(sources[e], l.From)
		}
	}
	shared := map[string][]int{} // labels' boxes, by the boxes that lead there
	var sets []string
	from := map[string][]int{}
	for _, e := range ends {
		set := sources[e]
		if len(set) < 2 {
			continue
		}
		slices.Sort(set)
		key := fmt.Sprint(set)
		if shared[key] == nil {
			sets, from[key] = append(sets, key), set
		}
		shared[key] = append(shared[key], len(b.Boxes))
		b.Links = append(b.Links, Link{From: len(b.Boxes), To: e.to, Finish: Arrow})
		b.Boxes = append(b.Boxes, Box{Shape: Entry, Name: e.label})
	}
	for _, l := range p.Links {
		if !joins(l) || len(sources[end{l.To, l.Label}]) < 2 {
			b.Links = append(b.Links, l)
		}
	}
	met := false
	for _, key := range sets {
		set, labels := from[key], shared[key]
		if len(set)*len(labels) > len(set)+len(labels) {
			met = true
			at := len(b.Boxes)
			b.Boxes = append(b.Boxes, Box{Shape: junction})
			for _, s := range set {
				b.Links = append(b.Links, Link{From: s, To: at})
			}
			set = []int{at}
		}
		for _, s := range set {
			for _, l := range labels {
				b.Links = append(b.Links, Link{From: s, To: l})
			}
		}
	}
	if met {
		b.Lists = slices.Clone(p.Lists)
		if i := slices.IndexFunc(b.Lists, func(l List) bool { return l.Heading == "Notation" }); i >= 0 {
			b.Lists[i].Items = append(slices.Clone(b.Lists[i].Items), Item{Sign: "●", Text: "from any box that a line comes from to any label that a line goes to"})
		}
	}
	return &b
}
