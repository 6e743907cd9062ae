package lint

import (
	"fmt"
	"maps"
	"slices"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/rules"
	"github.com/helenus-db/helenus/capture/schema"
)

// Brief is a finding in short.
type Brief struct {
	Rule      string   `json:"rule"`
	Name      string   `json:"name"`
	Severity  Severity `json:"severity"`
	Table     string   `json:"table,omitempty"`
	Statement string   `json:"statement,omitempty"`
	Reason    string   `json:"reason"`
}

// String is a line for people.
func (b Brief) String() string {
	where := b.Table
	if b.Statement != "" {
		where += ", statement " + b.Statement[:min(len(b.Statement), shortID)]
	}
	return fmt.Sprintf("%s %s  %s: %s", b.Rule, b.Name, where, b.Reason)
}

// shortID is how much of a fingerprint people are shown; names of statements are mostly shorter.
const shortID = 24

// Effect is what a change of tables and statements means by the rules.
type Effect struct {
	// Before and After are the classes of access of the questions concerned, the worst of them.
	Before rules.Access `json:"access_before"`
	After  rules.Access `json:"access_after"`
	Cures  []Brief      `json:"cures"`  // findings that go
	Causes []Brief      `json:"causes"` // findings that come
	Leaves []Brief      `json:"leaves"` // findings about the questions concerned that stay
}

// With returns the input as it would be with more tables, and with plans for some questions, by their ids. The tables have names.
func (in *Input) With(tables []*model.Table, planned map[string]Planned) (*Input, error) {
	after := *in
	after.from, after.changed, after.readers = in, planned, nil
	after.Facts = maps.Clone(in.Facts)
	for _, t := range tables {
		var err error
		if after.Schema, err = Define(after.Schema, t.Keyspace, definitions(t)...); err != nil {
			return nil, fmt.Errorf("lint: table %s: %w", t.Name, err)
		}
		on := Reference{t.Keyspace, t.Name}
		after.Facts[on], after.come = factOf(t), append(slices.Clip(after.come), on)
	}
	after.Questions = slices.Clone(in.Questions)
	for i := range after.Questions {
		q := &after.Questions[i]
		if p, ok := planned[q.ID]; ok {
			made := questionOf(p)
			made.ID, made.Text, made.Count = q.ID, q.Text, q.Count
			*q = made
		}
	}
	return &after, nil
}

// Compare says what a change means for some questions, by their ids; of all, if none is named.
func Compare(before, after *Input, questions ...string) *Effect {
	e := &Effect{Before: before.worstAccess(questions), After: after.worstAccess(questions), Cures: []Brief{}, Causes: []Brief{}, Leaves: []Brief{}}
	then, now := before.allFindings, after.allFindings
	if after.from == before { // all else is as it was
		asked := func(q *Question) bool { _, is := after.changed[q.ID]; return is }
		tables := after.concerned()
		then = func() []Finding { return before.findingsOf(asked, tables) }
		now = func() []Finding { return after.findingsOf(asked, tables) }
	}
	e.compare(then(), now(), questions)
	return e
}

// compare says what comes and goes between findings.
func (e *Effect) compare(then, now []Finding, questions []string) {
	keysOf := func(list []Finding) map[string]bool {
		keys := map[string]bool{}
		for i := range list {
			keys[list[i].key()] = true
		}
		return keys
	}
	old, left := keysOf(then), keysOf(now)
	for i := range then {
		f := &then[i]
		switch {
		case !left[f.key()]:
			e.Cures = append(e.Cures, f.toBrief())
		case slices.Contains(questions, f.Statement):
			e.Leaves = append(e.Leaves, f.toBrief())
		}
	}
	for i := range now {
		if !old[now[i].key()] {
			e.Causes = append(e.Causes, now[i].toBrief())
		}
	}
}

// concerned are the tables about which With may have changed a finding: those that came, those that the changed questions read, before or after, those
// that are read besides, and those of the same key as one that came, of which one may be needless now.
func (in *Input) concerned() func(*schema.Table) bool {
	refs := map[Reference]bool{}
	for _, x := range []*Input{in.from, in} {
		for i := range x.Questions {
			q := &x.Questions[i]
			if _, is := in.changed[q.ID]; !is {
				continue
			}
			for j := range q.Reads {
				refs[q.Reads[j].On()] = true
			}
			for _, on := range q.Tables {
				refs[on] = true
			}
		}
		for _, on := range x.Support {
			refs[on] = true
		}
	}
	var come []*schema.Table
	for _, on := range in.come {
		refs[on] = true
		come = append(come, in.Schema.Table(on.Keyspace, on.Table))
	}
	return func(t *schema.Table) bool {
		return refs[refOf(t)] || slices.ContainsFunc(come, func(c *schema.Table) bool { return c.Keyspace == t.Keyspace && sameKey(t, c) })
	}
}

func (f *Finding) toBrief() Brief {
	return Brief{f.Rule, f.Name, f.Severity, f.Table, f.Statement, f.Reason}
}

// worstAccess is the worst class of questions.
func (in *Input) worstAccess(ids []string) rules.Access {
	out := rules.Access("")
	for i := range in.Questions {
		q := &in.Questions[i]
		if len(ids) > 0 && !slices.Contains(ids, q.ID) {
			continue
		}
		if a := in.classifyQuestion(q).Access; out == "" || out.Better(a) {
			out = a
		}
	}
	if out == "" {
		return rules.None
	}
	return out
}

// ClassOf is the class of one question.
func (in *Input) ClassOf(id string) rules.Access { return in.worstAccess([]string{id}) }
