package advisor

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/helenus-db/helenus/advisor/correction"
	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/advisor/recommend"
)

// Questions are what people are asked, and what they have answered.
type Questions struct {
	Open     []recommend.Asked `json:"open"`               // those worth most, first; ten at most
	More     int               `json:"more"`               // further ones, which are worth less
	Answered []Answered        `json:"answered,omitempty"` // the latest last
}

// Answered is a question that was answered.
type Answered struct {
	ID          string          `json:"id"`
	Corrections correction.List `json:"corrections"`
}

// Questions lists them.
func (a *Advisor) Questions(ctx context.Context) (Questions, error) {
	l, err := a.corrected(ctx)
	if err != nil {
		return Questions{}, err
	}
	out := Questions{Open: []recommend.Asked{}}
	said := l.current().Corrections
	for i := range said {
		id := said[i].Question
		if id != "" && !slices.ContainsFunc(out.Answered, func(x Answered) bool { return x.ID == id }) {
			out.Answered = append(out.Answered, Answered{id, said.Answers(id)})
		}
	}
	latest := a.Latest()
	if latest == nil {
		return out, nil
	}
	for i := range latest.Questions {
		if q := &latest.Questions[i]; len(said.Answers(q.ID)) == 0 { // answered since
			out.Open = append(out.Open, *q)
		}
	}
	for i := range latest.Model.Questions {
		id := latest.Model.Questions[i].ID
		if len(said.Answers(id)) == 0 && !slices.ContainsFunc(out.Open, func(q recommend.Asked) bool { return q.ID == id }) {
			out.More++
		}
	}
	return out, nil
}

// question finds an open question by its id.
func (a *Advisor) question(id string) (*infer.Question, error) {
	if latest := a.Latest(); latest != nil {
		for i := range latest.Model.Questions {
			if latest.Model.Questions[i].ID == id {
				return &latest.Model.Questions[i], nil
			}
		}
	}
	return nil, &MissingError{fmt.Sprintf("there is no open question %q: `helenus questions` lists them", id)}
}

// Answer answers a question: with the number of a choice, from 1, or the choice itself, as candidates have it. The answer is a correction from
// then on, which the next round uses. It takes the place of an earlier answer.
func (a *Advisor) Answer(ctx context.Context, id, choice, reason, actor string) (Version, error) {
	l, err := a.corrected(ctx)
	if err != nil {
		return Version{}, err
	}
	before := l.current()
	q, err := a.question(id)
	if err != nil {
		return Version{}, err
	}
	chosen, err := choose(q, choice)
	if err != nil {
		return Version{}, err
	}
	lines := q.Answered(chosen)
	for i := range lines {
		lines[i].Question, lines[i].Because = q.ID, reason
		if _, why := lines[i].Check(); why != "" {
			return Version{}, &infer.InvalidError{Text: why}
		}
	}
	list := append(before.Corrections.Without(q.ID), lines...)
	if i, why := list.Contradiction(); i >= 0 {
		return Version{}, &RefusedError{fmt.Sprintf("this answer can not stand beside what was said before: %s; change that first (`helenus model export`, edit, `helenus model import`)", why)}
	}
	return a.changed(ctx, before.Number, &Version{Actor: actor, What: fmt.Sprintf("answer to %s: %s", q.ID, chosen.Text), Reason: reason, Corrections: list}, "model.answer", q.ID, "")
}

// Unanswer takes the answer to a question back: it is open again.
func (a *Advisor) Unanswer(ctx context.Context, id, reason, actor string) (Version, error) {
	l, err := a.corrected(ctx)
	if err != nil {
		return Version{}, err
	}
	before := l.current()
	said := before.Corrections
	if len(said.Answers(id)) == 0 {
		return Version{}, &MissingError{fmt.Sprintf("no answer to a question %q is in force: `helenus questions` lists what was answered", id)}
	}
	return a.changed(ctx, before.Number, &Version{Actor: actor, What: "answer to " + id + " taken back", Reason: reason, Corrections: said.Without(id)}, "model.unanswer", id, "")
}

func choose(q *infer.Question, choice string) (*infer.Candidate, error) {
	if n, err := strconv.Atoi(choice); err == nil {
		if n >= 1 && n <= len(q.Candidates) {
			return &q.Candidates[n-1], nil
		}
	} else {
		for i := range q.Candidates {
			if q.Candidates[i].Answer == choice {
				return &q.Candidates[i], nil
			}
		}
	}
	var known []string
	for i := range q.Candidates {
		known = append(known, fmt.Sprintf("%d (%s)", i+1, q.Candidates[i].Answer))
	}
	return nil, &infer.InvalidError{Text: fmt.Sprintf("%q is no choice of question %s: there are %s", choice, q.ID, strings.Join(known, ", "))}
}
