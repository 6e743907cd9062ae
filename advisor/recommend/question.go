package recommend

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/feed"
)

// Rest is a question that an advice rests on.
type Rest struct {
	Question  string  `json:"question"` // its id
	Text      string  `json:"text"`
	Taken     string  `json:"taken"` // the answer that was taken for true
	Certainty float64 `json:"certainty"`

	none bool // taken is that no candidate holds: nothing is built on what is open
}

// Asked is an open question, and what knowing its answer is worth.
type Asked struct {
	infer.Question
	// Worth is how much of the cluster's work is decided by the answer, as far as it is uncertain: the work of the statements that it is about,
	// milliseconds each second, times p(1-p), of the likeliest answer's certainty p. Whose key a column holds that is taken for an attribute is about
	// the statements that its values travel to, and of the others of its table a hundredth: these mean the same whatever is answered. The work is what the workload says, executions times
	// latency: to run the optimiser once for each answer would give the difference of costs itself, but a round has time for one run.
	Worth float64 `json:"worth"`
	// Advice is what rests on it, or is not advised because of it.
	Advice []string `json:"advice,omitempty"`
}

// maxAsked is how many questions a person is asked.
const maxAsked = 10

// ranked are the questions that it is worth most to have answered, with the advice that rests on them.
func (k *maker) ranked() []Asked {
	out := Ranked(k.model, k.Snapshot)
	for i := range out {
		for n := range k.advice.Recommendations {
			r := &k.advice.Recommendations[n]
			if slices.ContainsFunc(r.RestsOn, func(x Rest) bool { return x.Question == out[i].ID }) {
				out[i].Advice = append(out[i].Advice, r.ID)
			}
		}
	}
	return out
}

// Ranked are the questions of a model that it is worth most to have answered, first; ten at most.
func Ranked(m *infer.Model, snapshot *capture.Snapshot) []Asked {
	work, took := map[string]float64{}, map[string]float64{} // by fingerprint, and by keyspace.table
	for i := range snapshot.Statements {
		st := &snapshot.Statements[i]
		ms := float64(st.Count) / m.Seconds * mean(st)
		work[st.Fingerprint], took[st.Fingerprint] = work[st.Fingerprint]+ms, mean(st)
		work[st.Keyspace+"."+st.Table] += ms
	}
	var out []Asked
	for i := range m.Questions {
		q := Asked{Question: m.Questions[i]}
		about := q.Subject
		if q.Kind == infer.WhichRelationship {
			about = tableOf(about)
		}
		if fingerprint, _, ok := strings.Cut(about, ":"); ok {
			about = fingerprint
		}
		p := 0.0
		for _, c := range q.Candidates {
			p = max(p, c.Certainty)
		}
		hangs := work[about]
		switch {
		case q.Kind == infer.IsJoin: // only so much of the statement is about it
			hangs = q.Rate * took[about]
		case q.Kind == infer.WhichRelationship && q.taken() == infer.None:
			hangs = unjoined(m, q.Subject, work) + hangs*beside
		}
		q.Worth = hangs * p * (1 - p)
		out = append(out, q)
	}
	sort.SliceStable(out, func(a, b int) bool {
		if out[a].Worth != out[b].Worth {
			return out[a].Worth > out[b].Worth
		}
		return out[a].ID < out[b].ID
	})
	return out[:min(len(out), maxAsked)]
}

// beside is the share of the work of a table's statements that counts of a column over which nothing is joined.
const beside = 0.01

// taken is the answer that the model is as if it held, "" if none is.
func (q *Asked) taken() string {
	for _, c := range q.Candidates {
		if c.Used {
			return c.Answer
		}
	}
	return ""
}

// unjoined is the work of the statements that a column's values travel to, or that bind it to what travels, and that are no join for want of a relationship.
func unjoined(m *infer.Model, column string, work map[string]float64) (sum float64) {
	counted := map[string]bool{}
	for i := range m.Joins {
		j := &m.Joins[i]
		f := &j.Feed
		if j.Accepted || f.SupportRead || f.Shape == feed.Pagination || counted[f.To.Fingerprint] || column != end(f.From) && column != end(f.To) {
			continue
		}
		counted[f.To.Fingerprint] = true
		sum += work[f.To.Fingerprint]
	}
	return sum
}

func end(e feed.End) string { return e.Keyspace + "." + e.Table + "." + e.Column }

// mean is what a statement takes in the mean, milliseconds.
func mean(st *capture.Statement) float64 {
	d := st.OriginalLatency()
	if d.Count == 0 {
		return 0
	}
	return d.Mean() / 1000
}

// tableOf is the table of a column, keyspace.table.column.
func tableOf(column string) string {
	parts := strings.SplitN(column, ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}

// rest is what an advice takes for true of a question; ok is false if nothing is taken.
func rest(q *infer.Question) (r Rest, ok bool) {
	for _, c := range q.Candidates {
		if c.Used {
			return Rest{q.ID, q.Text, c.Text, c.Certainty, c.Answer == infer.None}, true
		}
	}
	return Rest{}, false
}

// aboutTable are the questions that the advice on a table rests on: whether it, or another one, is a copy, which could be read instead.
func (k *maker) aboutTable(table string) (out []Rest) {
	for i := range k.model.Questions {
		q := &k.model.Questions[i]
		if q.Kind != infer.SameEntity && q.Kind != infer.IsCopy {
			continue
		}
		if q.Subject == table || slices.ContainsFunc(q.Candidates, func(c infer.Candidate) bool { return c.Answer == table }) {
			if r, ok := rest(q); ok {
				out = append(out, r)
			}
		}
	}
	return out
}

// restsOn are the questions that the advice on a join rests on: what its tables hold, the relationships that it goes over, and whether it is one.
func (k *maker) restsOn(j *joined) (out []Rest) {
	about := map[string]bool{}
	for _, u := range j.reads {
		about[u.access.Keyspace+"."+u.access.Table] = true
		about[u.statement.Fingerprint] = true
	}
	for i := range k.model.Relationships {
		r := &k.model.Relationships[i]
		if slices.ContainsFunc(j.asked.Query.Tree.Edges, func(e *model.Relationship) bool { return e.Name == r.Name }) {
			about[r.Column] = true
		}
	}
	for i := range k.model.Questions {
		q := &k.model.Questions[i]
		r, ok := rest(q)
		if !ok {
			continue
		}
		concerns := about[q.Subject]
		if fingerprint, _, both := strings.Cut(q.Subject, ":"); both {
			concerns = about[fingerprint]
		}
		if concerns {
			out = append(out, r)
		}
	}
	return out
}

// open notes the questions that an advice on a join rests on. It says why nothing is advised if one of them is too open: below the bar a fact is
// not used for anything that a person would carry out.
func (k *maker) open(r *Recommendation, j *joined) string {
	r.RestsOn = k.restsOn(j)
	for _, x := range r.RestsOn {
		if !x.none && x.Certainty < k.Thresholds.Confidence {
			return fmt.Sprintf("that rests on question %s, of which the answer taken (%s) is only %.0f %% certain: `helenus answer %s` settles it", x.Question, x.Taken, 100*x.Certainty, x.Question)
		}
	}
	return ""
}
