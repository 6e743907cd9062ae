package match

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/rewrite/condition"
)

// Judge says of a look-up that is being considered what may take part in it: first whether the table as a whole may have
// it (a Verdict without statement), then for each statement of lu whether it could be answered, and for each captured
// write on the base what it means for the look-up. No write refuses anything: one whose rows nobody can know beforehand has
// a verdict with a condition that is not refused, a warning, since reads run as written after each of its executions until
// the look-up was verified again. What Cassandra refuses each time, and what has nothing to do with the base, is left out.
// lu.SchemaDigest is not looked at.
func Judge(lu plan.Rewrite, snapshot *capture.Snapshot, s *schema.Schema) []plan.Verdict {
	l, refusal := New(lu, s.Table(lu.Keyspace, lu.Base))
	if refusal != nil {
		return []plan.Verdict{verdict("", refusal)}
	}
	out := []plan.Verdict{{Reason: fmt.Sprintf("%s.%s can be looked up by %s", lu.Keyspace, lu.Base, lu.Column)}}
	if t := l.Base; len(t.Triggers) > 0 {
		out = append(out, plan.Verdict{Condition: condition.SideEffects.ID, Reason: fmt.Sprintf("trigger %s on %s.%s runs inside Cassandra: what it writes to the table itself is found by the next sweep only, until which answers may lack it",
			strings.Join(t.Triggers, ", "), lu.Keyspace, lu.Base)})
	}
	out = append(out, l.JudgeReads(snapshot)...)
	for i := range snapshot.Statements {
		if v, matters := l.judgeWrite(&snapshot.Statements[i]); matters {
			if v.Refused && v.Statement == "" {
				v.Cause = snapshot.Statements[i].Fingerprint
			}
			out = append(out, v)
		}
	}
	return out
}

// JudgeReads says of each statement of the change whether it could be answered.
func (l *LookUp) JudgeReads(snapshot *capture.Snapshot) (out []plan.Verdict) {
	for i, fingerprint := range l.Statements {
		text := ""
		if i < len(l.Texts) {
			text = l.Texts[i]
		}
		refusal := l.Check(text)
		if c := snapshot.Statement(fingerprint); refusal == nil && c != nil {
			refusal = first(habitChecks, c)
		}
		out = append(out, verdict(fingerprint, refusal))
	}
	return out
}

func verdict(statement string, r *condition.Refusal) plan.Verdict {
	if r == nil {
		return plan.Verdict{Statement: statement, Reason: "can be answered from the look-up"}
	}
	return plan.Verdict{Statement: statement, Condition: r.Condition, Refused: true, Reason: r.Reason}
}

// judgeWrite judges a captured statement if it writes to the base, and was ever carried out.
func (l *LookUp) judgeWrite(c *capture.Statement) (v plan.Verdict, matters bool) {
	if c.Count > 0 && c.Errors+c.NotApplied >= c.Count {
		return v, false
	}
	if c.Kind == cql.KindSelect.String() || c.Table != "" && (c.Table != l.Base.Name || c.Keyspace != l.Base.Keyspace) {
		return v, false // most of thousands, known without their trees
	}
	st, err := c.Parse()
	if err != nil {
		w := l.Unreadable(c.Text)
		return warning(c, w), w != nil
	}
	v = plan.Verdict{Statement: c.Fingerprint, Reason: "its entries can be written before it"}
	for _, w := range l.Writes(st, c.Keyspace) {
		switch reason := w.untraceable(); {
		case w.Refused:
			continue
		case w.Unknown != nil:
			return warning(c, w), true
		case reason != "":
			return warning(c, l.unknown(condition.Values, "%s", reason)), true
		case w.computes():
			v.Reason = "its value is computed by Cassandra: its rows are looked at in the base meanwhile"
		}
		matters = true
	}
	return v, matters
}

// warning is the verdict on a write whose rows can not be known; w may be nil.
func warning(c *capture.Statement, w *Write) plan.Verdict {
	if w == nil {
		return plan.Verdict{}
	}
	return plan.Verdict{Statement: c.Fingerprint, Condition: w.Unknown.Condition,
		Reason: w.Unknown.Reason + ": after each execution reads run as written until the look-up was verified again"}
}

// untraceable says why the rows of a write can not be known whatever is bound, "" if they can.
func (w *Write) untraceable() string {
	if w.deletes() {
		return ""
	}
	for _, f := range w.key {
		terms := []cql.Term{f.value}
		if list, ok := f.value.(*cql.Tuple); ok && (f.in || f.tuple) {
			terms = list.Elements
		}
		for _, t := range terms {
			if computed(t) {
				return "a key value is computed by Cassandra"
			}
		}
	}
	return ""
}

// computes tells whether the new value is one that nobody can know whatever is bound.
func (w *Write) computes() bool { return w.computed != nil || w.sets != nil && computed(w.sets) }

// computed tells whether a term has a part that Cassandra computes.
func computed(t cql.Term) bool {
	switch t := t.(type) {
	case *cql.Marker, *cql.Literal, *cql.List, *cql.Set, *cql.Map, *cql.UDT:
		return false
	case *cql.Tuple:
		return slices.ContainsFunc(t.Elements, computed)
	case *cql.TypeCast:
		return computed(t.Term)
	}
	return true
}
