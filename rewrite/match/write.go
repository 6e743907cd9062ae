package match

import (
	"fmt"
	"strings"

	"github.com/helenus-db/helenus/capture/cql"
)

// Write is what one INSERT, UPDATE or DELETE does to the column of a look-up, as far as its text tells.
type Write struct {
	LookUp *LookUp
	// Guard says why the effect can not be known before the write is carried out; "" if it can.
	Guard string
	// Conditional: the statement has an IF. Then Cassandra chooses the timestamp.
	Conditional bool

	sets      cql.Term // the new value, nil if the column is not set
	clears    bool     // the cell or the whole row is deleted
	key       []factor
	timestamp cql.Term
	ttl       cql.Term
}

// factor restricts some columns of the key to one of several alternatives. A key is one alternative of each factor.
type factor struct {
	columns []int // places in LookUp.Key
	in      bool
	value   cql.Term
}

// Writes compiles every effect that a statement has on the look-up: none, one, or for a BATCH text one for each of its
// statements that matter.
func (l *LookUp) Writes(st cql.Statement, keyspace string) []*Write {
	switch s := st.(type) {
	case *cql.Batch:
		var out []*Write
		for _, child := range s.Statements {
			for _, w := range l.Writes(child, keyspace) {
				if w.timestamp == nil {
					w.timestamp = s.Using.Timestamp()
				}
				out = append(out, w)
			}
		}
		if Conditional(st) {
			guardConditional(out)
		}
		return out
	case *cql.Insert:
		return l.some(l.insert(s, keyspace))
	case *cql.Update:
		return l.some(l.update(s, keyspace))
	case *cql.Delete:
		return l.some(l.delete(s, keyspace))
	case *cql.Truncate:
		if l.over(s.Table, keyspace) {
			return l.some(l.guard("C20", "TRUNCATE of the base: later writes may carry earlier timestamps"))
		}
	}
	return nil
}

// Conditional tells whether a statement, or any statement of a BATCH text, has an IF.
func Conditional(st cql.Statement) bool {
	switch s := st.(type) {
	case *cql.Batch:
		for _, child := range s.Statements {
			if Conditional(child) {
				return true
			}
		}
	case *cql.Insert:
		return s.IfNotExists
	case *cql.Update:
		return s.IfExists || len(s.Conditions) > 0
	case *cql.Delete:
		return s.IfExists || len(s.Conditions) > 0
	}
	return false
}

// guardConditional marks writes that share a batch with a condition: all of them are carried out, or not, at a timestamp
// of Cassandra's own choice.
func guardConditional(writes []*Write) {
	for _, w := range writes {
		w.MakeConditional()
	}
}

// MakeConditional tells a write that its batch has a condition.
func (w *Write) MakeConditional() {
	w.Conditional = true
	if w.sets != nil && w.Guard == "" {
		w.Guard = "C12: a conditional write sets " + w.LookUp.By.Name
	}
}

// Unreadable is the effect of a text that could not be parsed but names the base table, nil if it does not name it.
func (l *LookUp) Unreadable(text string) *Write {
	if !strings.Contains(strings.ToLower(text), strings.ToLower(l.LookUp.Base)) {
		return nil
	}
	return l.guard("C20", "a statement that names %s could not be read", l.BaseName())
}

func (l *LookUp) some(w *Write) []*Write {
	if w == nil {
		return nil
	}
	return []*Write{w}
}

func (l *LookUp) guard(condition, format string, args ...any) *Write {
	return &Write{LookUp: l, Guard: condition + ": " + fmt.Sprintf(format, args...)}
}

func (l *LookUp) over(t cql.TableRef, keyspace string) bool {
	t = t.In(keyspace)
	return t.Keyspace == l.Keyspace && t.Table == l.LookUp.Base
}

func (l *LookUp) insert(s *cql.Insert, keyspace string) *Write {
	if !l.over(s.Table, keyspace) || s.JSON == nil && len(s.Columns) != len(s.Values) { // the server refuses it
		return nil
	}
	if s.JSON != nil {
		return l.guard("C6", "INSERT JSON does not say which columns it sets")
	}
	w := &Write{LookUp: l, timestamp: s.Using.Timestamp(), ttl: s.Using.TTL()}
	for i, column := range s.Columns {
		if column == l.By.Name {
			w.sets = s.Values[i]
		} else if k := l.key(column); k >= 0 {
			w.key = append(w.key, factor{columns: []int{k}, value: s.Values[i]})
		}
	}
	if w.sets == nil {
		return nil
	}
	return w.check(s.IfNotExists)
}

func (l *LookUp) update(s *cql.Update, keyspace string) *Write {
	if !l.over(s.Table, keyspace) {
		return nil
	}
	w := &Write{LookUp: l, timestamp: s.Using.Timestamp(), ttl: s.Using.TTL()}
	for _, a := range s.Assignments {
		if a.Column != l.By.Name {
			continue
		}
		if a.Op != cql.AssignSet || a.Element != nil || a.Field != "" {
			return l.guard("C9", "sets %s by an operation", l.By.Name)
		}
		w.sets = a.Value
	}
	if w.sets == nil {
		return nil
	}
	if reason := w.where(s.Where); reason != "" {
		return l.guard("C16", "%s", reason)
	}
	return w.check(s.IfExists || len(s.Conditions) > 0)
}

// delete compiles a DELETE. It can only take rows away, which the re-check of each read hides, so it is never a guard;
// if it names whole rows the entries of their old values can be cleaned up.
func (l *LookUp) delete(s *cql.Delete, keyspace string) *Write {
	if !l.over(s.Table, keyspace) || s.IfExists || len(s.Conditions) > 0 {
		return nil
	}
	w := &Write{LookUp: l, timestamp: s.Using.Timestamp(), clears: len(s.Columns) == 0}
	for _, d := range s.Columns {
		w.clears = w.clears || d.Column == l.By.Name
	}
	if !w.clears || w.where(s.Where) != "" {
		return nil
	}
	w = w.check(false)
	if w.Guard != "" {
		return nil
	}
	return w
}

// where takes the rows of an UPDATE or DELETE from its WHERE clause, or says why it can not.
func (w *Write) where(relations []cql.Relation) (reason string) {
	for _, r := range relations {
		if r.Token || r.Element != nil || (r.Op != cql.OpEQ && r.Op != cql.OpIn) {
			return "its rows are not named by their whole key"
		}
		f := factor{in: r.Op == cql.OpIn, value: r.Value}
		for _, c := range r.Columns {
			k := w.LookUp.key(c)
			if k < 0 {
				return "restricts " + c + ", which is not part of the primary key"
			}
			f.columns = append(f.columns, k)
		}
		w.key = append(w.key, f)
	}
	return ""
}

// check completes a write: every key column exactly once, and only terms whose value is known.
func (w *Write) check(conditional bool) *Write {
	l := w.LookUp
	seen := make([]int, len(l.Key))
	for _, f := range w.key {
		for _, k := range f.columns {
			seen[k]++
		}
		if reason := knownFactor(f); reason != "" {
			return l.guard("C6", "%s", reason)
		}
	}
	for k, n := range seen {
		if n != 1 {
			return l.guard("C16", "key column %s is not given once", l.Key[k].Name)
		}
	}
	for _, t := range []cql.Term{w.sets, w.timestamp, w.ttl} {
		if t != nil && !known(t) {
			return l.guard("C6", "%s, its timestamp or its time to live is computed by Cassandra", l.By.Name)
		}
	}
	if conditional {
		w.MakeConditional()
	}
	return w
}

func known(t cql.Term) bool {
	switch t.(type) {
	case *cql.Marker, *cql.Literal:
		return true
	}
	return false
}

func knownFactor(f factor) string {
	const computed = "a key value is computed by Cassandra"
	if _, ok := f.value.(*cql.Marker); ok {
		return ""
	}
	if !f.in {
		return knownAlternative(f, f.value, computed)
	}
	list, ok := f.value.(*cql.Tuple)
	if !ok {
		return computed
	}
	for _, e := range list.Elements {
		if reason := knownAlternative(f, e, computed); reason != "" {
			return reason
		}
	}
	return ""
}

// knownAlternative checks one value of a factor: a term, or for several columns a tuple of terms or a bound tuple.
func knownAlternative(f factor, t cql.Term, computed string) string {
	if tuple, ok := t.(*cql.Tuple); ok && (len(f.columns) > 1 || len(tuple.Elements) == 1) {
		if len(tuple.Elements) != len(f.columns) {
			return computed
		}
		for _, e := range tuple.Elements {
			if !known(e) {
				return computed
			}
		}
		return ""
	}
	if _, ok := t.(*cql.Marker); ok {
		return ""
	}
	if len(f.columns) > 1 || !known(t) {
		return computed
	}
	return ""
}
