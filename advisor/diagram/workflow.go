package diagram

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/diagram/picture"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/internal/words"
)

// Workflow is the diagram of what an application asks: a box for each group of statements, a screen say, and for each
// statement without one; arrows for the steps between them (Steps), with the numbers of the statements that are then asked.
// Statements that no other leads to are entered from outside, and one of each circle.
func Workflow(w *workload.Workload) *picture.Picture {
	p := &picture.Picture{Kind: picture.Workflow, Title: w.Name}
	box := map[string]int{}
	of := make([]int, len(w.Statements))
	numbers := make([]string, len(w.Statements))
	queries, writes := 0, 0
	list := picture.List{Heading: "Statements"}
	for i, s := range w.Statements {
		if s.IsWrite() {
			writes++
			numbers[i] = fmt.Sprintf("W%d", writes)
		} else {
			queries++
			numbers[i] = fmt.Sprintf("Q%d", queries)
		}
		name := s.Group
		if name == "" {
			name = s.ID
		}
		at, ok := box[name]
		if !ok {
			at = len(p.Boxes)
			box[name] = at
			p.Boxes = append(p.Boxes, picture.Box{Shape: picture.Screen, Name: name})
		}
		of[i] = at
		label := strings.Fields(s.String())[0] + " " + asked(s)
		if s.Group != "" {
			label = s.ID
		}
		p.Boxes[at].Rows = append(p.Boxes[at].Rows, picture.Row{Name: label, Mark: numbers[i]})
		list.Items = append(list.Items, picture.Item{Sign: numbers[i], Name: s.ID, Text: s.String()})
	}
	p.Subtitle = "Application workflow: " + words.Plural(queries, "query", "queries")
	if writes > 0 {
		p.Subtitle += ", " + words.Plural(writes, "write", "writes")
	}
	type way struct{ from, to int }
	var ways []way
	labels := map[way][]string{}
	add := func(from, to int, label string) {
		w := way{from, to}
		if len(labels[w]) == 0 {
			ways = append(ways, w)
		}
		if !slices.Contains(labels[w], label) {
			labels[w] = append(labels[w], label)
		}
	}
	steps := Steps(w)
	for _, s := range steps {
		if of[s.From] != of[s.To] {
			add(of[s.From], of[s.To], numbers[s.To])
		}
	}
	all := make([]bool, len(w.Statements))
	for i := range all {
		all[i] = true
	}
	for i, outside := range entered(all, steps) {
		if outside {
			add(-1, of[i], numbers[i])
		}
	}
	for _, w := range ways {
		for chunk := range slices.Chunk(labels[w], perLabel) {
			l := picture.Link{From: w.from, To: w.to, Label: strings.Join(chunk, ", "), Finish: picture.Arrow}
			if w.from < 0 {
				l.From = len(p.Boxes)
				p.Boxes = append(p.Boxes, picture.Box{Shape: picture.Entry, Name: l.Label})
				l.Label = ""
			}
			p.Links = append(p.Links, l)
		}
	}
	p.Add(picture.List{Heading: "Notation", Items: []picture.Item{
		{Sign: "Qn →", Text: "the query that is asked then: from a label by what comes from outside, from a box by what was found there"},
		{Text: "Workloads do not say which screen leads to which: arrows are the steps that what is found makes possible."},
	}})
	p.Add(list)
	return p
}

// asked names what a statement gives, or asks by: the fields of its conditions.
func asked(s *workload.Statement) string {
	if s.Query == nil {
		return s.Write.Entity.Base().Name
	}
	var names []string
	for _, p := range s.Query.Where {
		if n := p.Field.Attribute.Name; !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	if len(names) == 0 {
		return s.Query.Tree.Entities[0].Base().Name
	}
	return s.Query.Tree.Entities[0].Base().Name + " by " + strings.Join(names, ", ")
}
