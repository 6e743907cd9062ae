package existing

import (
	"fmt"
	"slices"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/rewrite/condition"
)

// Judge implements kind.Kind. Whether the application keeps its table true is for a person to say: of each statement that may bring a row into the base, or
// another value, there is a verdict that refuses until it is overruled. It says how the statement was seen to be accompanied.
func (Kind) Judge(c plan.Rewrite, snapshot *capture.Snapshot, s *schema.Schema) []plan.Verdict {
	o, refusal := open(c, s.Table(c.Keyspace, c.Base), s)
	if refusal != nil {
		return []plan.Verdict{{Condition: refusal.Condition, Refused: true, Reason: refusal.Reason}}
	}
	out := []plan.Verdict{{Reason: fmt.Sprintf("rows of %s can be found by %s", nameOf(o.Base), nameOf(o.is))}}
	for _, v := range o.JudgeReads(snapshot) {
		if !v.Refused {
			v.Reason = "its rows can be found by " + nameOf(o.is)
		}
		out = append(out, v)
	}
	return append(out, o.judgeWrites(snapshot)...)
}

// judgeWrites refuses, by the condition that a person may overrule, because of each statement that needs a row in the application's table.
func (o *opened) judgeWrites(snapshot *capture.Snapshot) (out []plan.Verdict) {
	var needs, keeps []string // fingerprints
	for i := range snapshot.Statements {
		c := &snapshot.Statements[i]
		st, err := c.Parse()
		if err != nil || c.Count > 0 && c.Errors+c.NotApplied >= c.Count {
			continue
		}
		if o.needsRow(st, c.Keyspace) {
			needs = append(needs, c.Fingerprint)
		}
		if o.bringsRow(st, c.Keyspace) {
			keeps = append(keeps, c.Fingerprint)
		}
	}
	for _, fingerprint := range needs {
		out = append(out, o.trust(fingerprint, "%s", o.accompanied(fingerprint, keeps, snapshot)))
	}
	if len(needs) == 0 {
		out = append(out, o.trust(o.Statements[0], "no write of %s was seen in this traffic, so it is not known who keeps %s true", nameOf(o.Base), nameOf(o.is)))
	}
	return out
}

// trust asks a person for his word.
func (o *opened) trust(cause, format string, args ...any) plan.Verdict {
	return plan.Verdict{Condition: condition.Copies.ID, Refused: true, Cause: cause, Reason: fmt.Sprintf(format, args...)}
}

// accompanied words how a write of the base goes with writes of the application's table.
func (o *opened) accompanied(fingerprint string, keeps []string, snapshot *capture.Snapshot) string {
	if slices.Contains(keeps, fingerprint) {
		return fmt.Sprintf("one text writes %s and %s; whether as one logged batch is the application's to say", nameOf(o.Base), nameOf(o.is))
	}
	var found, batched, writes int
	for _, p := range snapshot.Bursts {
		if p.From == fingerprint && slices.Contains(keeps, p.To) && p.Accompanied > found {
			found, batched, writes = p.Accompanied, p.Batched, p.Writes
		}
	}
	switch {
	case found == 0:
		return fmt.Sprintf("it was not seen to go together with a write of %s: rows that it writes may not be found", nameOf(o.is))
	case batched == found:
		return fmt.Sprintf("%d of %d times that it was looked at a write of %s went with it, always in one batch: until Cassandra has applied all of that, the row may not be found", found, writes, nameOf(o.is))
	}
	return fmt.Sprintf("%d of %d times that it was looked at a write of %s went with it, %d times in one batch: between the two, and if the other one fails, the row is not found", found, writes, nameOf(o.is), batched)
}

// needsRow tells whether a statement may bring a row into the base, or another value of what it is asked by.
func (o *opened) needsRow(st cql.Statement, keyspace string) bool {
	return slices.ContainsFunc(children(st), func(one cql.Statement) bool {
		switch x := one.(type) {
		case *cql.Insert:
			return o.isBase(x.Table.In(keyspace))
		case *cql.Update:
			return o.isBase(x.Table.In(keyspace)) && (o.askedByKey() || slices.ContainsFunc(x.Assignments, func(a cql.Assignment) bool {
				return slices.Contains(o.keys.Asked, a.Column)
			}))
		}
		return false
	})
}

// bringsRow tells whether a statement may bring a row into the application's table.
func (o *opened) bringsRow(st cql.Statement, keyspace string) bool {
	return slices.ContainsFunc(children(st), func(one cql.Statement) bool {
		switch x := one.(type) {
		case *cql.Insert:
			return x.Table.In(keyspace) == o.keys.Table
		case *cql.Update:
			return x.Table.In(keyspace) == o.keys.Table
		}
		return false
	})
}

func (o *opened) isBase(t cql.TableRef) bool {
	return t.Keyspace == o.Base.Keyspace && t.Table == o.Base.Name
}

// askedByKey tells whether the base is asked by columns of its key alone, so that any write may bring a row that is to be found.
func (o *opened) askedByKey() bool {
	return !slices.ContainsFunc(o.Asked, func(c schema.Column) bool { return c.Kind != schema.PartitionKey && c.Kind != schema.Clustering })
}

// children are the statements of a BATCH text, or the one.
func children(st cql.Statement) []cql.Statement {
	if b, ok := st.(*cql.Batch); ok {
		return b.Statements
	}
	return []cql.Statement{st}
}
