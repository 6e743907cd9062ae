package match

import (
	"fmt"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/schema"
)

// Judge says of a look-up that is being considered what may take part in it: first whether the table as a whole may have
// it (a Verdict without statement), then for each statement of lu whether it could be answered, and for each captured
// write on the base whether its effect can be known. One write whose effect can not be known refuses the whole, again
// without statement: the look-up would be suspended as soon as that write came. Statements that have nothing to do with
// the base are left out. lu.SchemaDigest is not looked at.
func Judge(lu plan.LookUp, snapshot *capture.Snapshot, s *schema.Schema) []plan.Verdict {
	l, refusal := New(lu, s.Table(lu.Keyspace, lu.Base))
	if refusal != nil {
		return []plan.Verdict{verdict("", refusal)}
	}
	out := []plan.Verdict{{Reason: fmt.Sprintf("%s.%s can be looked up by %s", lu.Keyspace, lu.Base, lu.Column)}}
	for i, fingerprint := range lu.Statements {
		text := ""
		if i < len(lu.Texts) {
			text = lu.Texts[i]
		}
		refusal := l.Check(text)
		if c := snapshot.Statement(fingerprint); refusal == nil && c != nil {
			refusal = habits(c)
		}
		out = append(out, verdict(fingerprint, refusal))
	}
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

func verdict(statement string, r *Refusal) plan.Verdict {
	if r == nil {
		return plan.Verdict{Statement: statement, Reason: "can be answered from the look-up"}
	}
	return plan.Verdict{Statement: statement, Condition: r.Condition, Refused: true, Reason: r.Reason}
}

// habits refuses a statement that is always asked in a way that is never answered.
func habits(c *capture.Statement) *Refusal {
	switch {
	case c.Count > 0 && c.Serial >= c.Count:
		return refuse("C12", "it is always read at a serial consistency")
	case c.Count > 0 && c.Paged+c.MorePages >= c.Count:
		return refuse("C3", "its answers always have more than one page")
	case len(c.Variables) == 0 && c.Count > 0:
		return refuse("C1", "it is sent as text with literal values, not prepared: there is no metadata to answer with")
	}
	return nil
}

// judgeWrite judges a captured statement if it writes to the base.
func (l *LookUp) judgeWrite(c *capture.Statement) (v plan.Verdict, matters bool) {
	st, err := c.Parse()
	if err != nil {
		if w := l.Unreadable(c.Text); w != nil {
			return verdict("", refuse("C20", "a statement that names the table could not be read: %s", c.Text)), true
		}
		return v, false
	}
	if st.Kind() == cql.KindSelect {
		return v, false
	}
	writes := l.Writes(st, c.Keyspace)
	for _, w := range writes {
		if w.Guard != "" {
			condition, reason := split(w.Guard)
			return verdict("", refuse(condition, "%s: %s", reason, c.Text)), true
		}
	}
	if len(writes) == 0 {
		return v, false
	}
	return plan.Verdict{Statement: c.Fingerprint, Reason: "its entries can be written before it"}, true
}

// split takes a guard apart into condition and reason.
func split(guard string) (condition, reason string) {
	for i := range guard {
		if guard[i] == ':' {
			return guard[:i], guard[i+2:]
		}
	}
	return "C20", guard
}
