package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/correction"
	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/advisor/recommend"
)

// A person who knows the application answers what `helenus questions` asks: those questions, in that order, with what is offered, ten in all. Each answer becomes
// the correction that `helenus answer` makes of it. What none of the offered answers is true of stays open, and counts as asked.

// mostAnswered is how many questions a person is asked before it is looked at what that brought.
const mostAnswered = 10

// answered is a model after answers.
type answered struct {
	model *infer.Model
	asked []string // the questions with their answers, for readers
	list  correction.List
}

// answer infers a model, answers what is asked, and infers again, until nothing new is asked or enough was.
func (o *observed) answer() (*answered, error) {
	out := &answered{}
	seen := map[string]bool{}
	for {
		m, err := infer.WithCorrections(o.snapshot, o.schema, o.stats, out.list)
		if err != nil {
			return nil, err
		}
		out.model = m
		before := len(seen)
		for _, q := range recommend.Ranked(m, o.snapshot) {
			if seen[q.ID] || len(seen) == mostAnswered {
				continue
			}
			seen[q.ID] = true
			c := o.right(&q.Question)
			said := "left open, the right answer is not offered"
			if c != nil {
				said = c.Answer
				for _, line := range q.Answered(c) {
					line.Question = q.ID
					if list := append(out.list, line); !out.list.Has(&line) && contradicts(list) == "" {
						out.list = list
					}
				}
			}
			out.asked = append(out.asked, fmt.Sprintf("%.2f ms/s: %s %s", q.Worth, q.Text, said))
		}
		if len(seen) == before {
			return out, nil
		}
	}
}

func contradicts(list correction.List) string {
	_, why := list.Contradiction()
	return why
}

// right is the true one of the answers that are offered, nil if none of them is.
func (o *observed) right(q *infer.Question) *infer.Candidate {
	var holds func(answer string) bool
	switch q.Kind {
	case infer.SameEntity, infer.IsCopy:
		holds = func(answer string) bool { return o.table(answer).of == o.table(q.Subject).of }
	case infer.WhichRelationship:
		to := o.leads(q.Subject)
		holds = func(answer string) bool { return to != nil && o.table(answer).of == to }
		if to != nil && !slices.ContainsFunc(q.Candidates, func(c infer.Candidate) bool { return c.Answer != infer.None && holds(c.Answer) }) {
			return nil
		}
	case infer.IsJoin:
		holds = func(answer string) bool { return o.travels(answer, q.Subject) }
	}
	var none *infer.Candidate
	for i := range q.Candidates {
		switch c := &q.Candidates[i]; {
		case c.Answer == infer.None:
			none = c
		case holds(c.Answer):
			return c
		}
	}
	return none
}

// leads is the entity whose key a column holds, nil if it holds none's or its own.
func (o *observed) leads(column string) *entity {
	_, tableName, name := correction.Parts(column)
	t := o.table(o.site.keyspace + "." + tableName)
	c := t.named(name)
	if c.form != "" && !keeps(c.form) {
		return nil
	}
	if t.of.edge(c.path) == nil && !strings.Contains(c.path, ".") {
		return nil
	}
	to, a := t.of.attributeOf(c.path)
	if len(to.key) != 1 || to.key[0] != a.name {
		return nil
	}
	return to
}

// travels tells whether a statement's variable is bound to what another one's column delivered, "fingerprint:keyspace.table.column" each.
func (o *observed) travels(from, to string) bool {
	producer, column := correction.Split(from)
	consumer, bound := correction.Split(to)
	for _, st := range o.site.statements {
		if st.trace.Fingerprint != consumer {
			continue
		}
		for place, sources := range st.sources {
			name := strings.TrimSuffix(strings.TrimPrefix(st.trace.Variables[place].Name, "in("), ")")
			for by := range sources {
				if strings.HasSuffix(bound, "."+name) && by.st != nil && by.st.trace.Fingerprint == producer && strings.HasSuffix(column, "."+by.st.trace.Results[by.column].Name) {
					return true
				}
			}
		}
	}
	return false
}
