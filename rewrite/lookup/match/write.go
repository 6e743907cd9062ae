package match

import (
	"slices"
	"strings"

	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/rewrite/condition"
	"github.com/helenus-db/helenus/rewrite/kind"
)

// Write is what one INSERT, UPDATE or DELETE does to the column of a look-up, as far as its text tells.
type Write struct {
	LookUp *LookUp
	// Unknown says why nobody can know beforehand which rows it changes, whatever is bound; nil if Bind finds out.
	Unknown *condition.Refusal
	// Truncates: it removes all rows of the base, and what was known of their timestamps.
	Truncates bool
	// Refused: Cassandra is certain to refuse the text, whatever is bound.
	Refused bool
	// Conditional: the statement, or another one of its batch, has an IF. Then Cassandra chooses the timestamp.
	Conditional bool

	sets      cql.Term           // the new value, nil if the column is not set by a term
	computed  *condition.Refusal // why the new value can not be known, nil if sets tells
	json      cql.Term           // of INSERT JSON: what has the values
	unset     bool               // of INSERT JSON: what it does not name keeps its value
	clears    bool               // the cell or the whole row is deleted
	key       []factor
	timestamp cql.Term
	ttl       cql.Term
	markers   []*cql.Marker // of the whole statement
}

// deletes tells whether the write can only take values away, which the re-check of each read hides.
func (w *Write) deletes() bool {
	return w.Unknown == nil && w.sets == nil && w.json == nil && w.computed == nil
}

// factor restricts some columns of the key to one of several alternatives. A key is one alternative of each factor.
type factor struct {
	columns []int // places in LookUp.Key
	in      bool
	tuple   bool // written as (columns), so its values are tuples
	value   cql.Term
}

// Writes compiles every effect that a statement has on the look-up: none, one, or for a BATCH text one for each of its
// statements that matter. Cassandra carries out all statements of a batch or none: one that it refuses refuses all.
func (l *LookUp) Writes(st cql.Statement, keyspace string) []*Write {
	out := l.writes(st, keyspace)
	if len(out) == 0 {
		return nil
	}
	markers, refused := cql.Markers(st), false
	for _, w := range out {
		w.markers = markers
		refused = refused || w.Refused
	}
	for _, w := range out {
		w.Refused = refused
	}
	return out
}

func (l *LookUp) writes(st cql.Statement, keyspace string) []*Write {
	var w *Write
	switch s := st.(type) {
	case *cql.Batch:
		var out []*Write
		for _, child := range s.Statements {
			for _, w := range l.writes(child, keyspace) {
				if w.timestamp == nil {
					w.timestamp = s.Using.Timestamp()
				}
				w.Conditional = w.Conditional || kind.Conditional(st)
				out = append(out, w)
			}
		}
		return out
	case *cql.Insert:
		w = l.insert(s, keyspace)
	case *cql.Update:
		w = l.update(s, keyspace)
	case *cql.Delete:
		w = l.delete(s, keyspace)
	case *cql.Truncate:
		if l.over(s.Table, keyspace) {
			w = l.unknown(condition.Schema, "TRUNCATE of the base: later writes may carry earlier timestamps than those that it removed")
			w.Truncates = true
		}
	}
	if w == nil {
		return nil
	}
	return []*Write{w}
}

// Unreadable is the effect of a text that could not be parsed but names the base table, nil if it does not name it.
func (l *LookUp) Unreadable(text string) *Write {
	text, base := strings.ToLower(text), strings.ToLower(l.Rewrite.Base)
	if !strings.Contains(text, base) && !strings.Contains(text, strings.ReplaceAll(base, `"`, `""`)) {
		return nil
	}
	return l.unknown(condition.Schema, "a statement that names %s could not be read", l.BaseName())
}

func (l *LookUp) unknown(by *condition.Condition, format string, args ...any) *Write {
	return &Write{LookUp: l, Unknown: by.Refuse(format, args...)}
}

func (l *LookUp) over(t cql.TableRef, keyspace string) bool {
	t = t.In(keyspace)
	return t.Keyspace == l.Keyspace && t.Table == l.Rewrite.Base
}

func (l *LookUp) insert(s *cql.Insert, keyspace string) *Write {
	if !l.over(s.Table, keyspace) || s.JSON == nil && len(s.Columns) != len(s.Values) { // the server refuses it
		return nil
	}
	w := &Write{LookUp: l, timestamp: s.Using.Timestamp(), ttl: s.Using.TTL(), Conditional: s.IfNotExists}
	if s.JSON != nil {
		w.json, w.unset = s.JSON, s.DefaultUnset
		return w.stamped()
	}
	for i, column := range s.Columns {
		w.Refused = w.Refused || slices.Contains(s.Columns[:i], column)
		if column == l.By.Name {
			w.sets = s.Values[i]
		} else if k := l.key(column); k >= 0 {
			w.key = append(w.key, factor{columns: []int{k}, value: s.Values[i]})
		}
	}
	if w.sets == nil {
		return nil
	}
	w.Refused = w.Refused || !w.whole()
	return w.stamped()
}

func (l *LookUp) update(s *cql.Update, keyspace string) *Write {
	if !l.over(s.Table, keyspace) {
		return nil
	}
	w := &Write{LookUp: l, timestamp: s.Using.Timestamp(), ttl: s.Using.TTL(), Conditional: s.IfExists || len(s.Conditions) > 0}
	touched := false
	for _, a := range s.Assignments {
		if a.Column != l.By.Name {
			continue
		}
		touched = true
		if a.Op == cql.AssignSet && a.Element == nil && a.Field == "" {
			w.sets = a.Value
		} else {
			w.computed = condition.Collections.Refuse("sets %s by an operation", l.By.Name)
		}
	}
	if !touched {
		return nil
	}
	w.Refused = !w.where(s.Where) || !w.whole()
	return w.stamped()
}

// delete compiles a DELETE. It can only take rows away, which the re-check of each read hides, so nothing of it need be
// known; if it names whole rows the entries of their old values can be cleaned up.
func (l *LookUp) delete(s *cql.Delete, keyspace string) *Write {
	if !l.over(s.Table, keyspace) {
		return nil
	}
	w := &Write{LookUp: l, timestamp: s.Using.Timestamp(), clears: len(s.Columns) == 0, Conditional: s.IfExists || len(s.Conditions) > 0}
	for _, d := range s.Columns {
		w.clears = w.clears || d.Column == l.By.Name
	}
	if !w.clears || !w.where(s.Where) || !w.whole() {
		return nil
	}
	return w.stamped()
}

// where takes the rows of an UPDATE or DELETE from its WHERE clause, or finds that it does not name them one by one.
func (w *Write) where(relations []cql.Relation) bool {
	for _, r := range relations {
		if r.Token || r.Element != nil || (r.Op != cql.OpEQ && r.Op != cql.OpIn) {
			return false
		}
		f := factor{in: r.Op == cql.OpIn, tuple: r.Tuple || len(r.Columns) > 1, value: r.Value}
		for _, c := range r.Columns {
			k := w.LookUp.key(c)
			if k < 0 {
				return false
			}
			f.columns = append(f.columns, k)
		}
		w.key = append(w.key, f)
	}
	return true
}

// whole tells whether every column of the primary key is given once. Cassandra refuses an INSERT or an UPDATE that leaves
// one out, or gives one twice.
func (w *Write) whole() bool {
	seen := make([]int, len(w.LookUp.Key))
	for _, f := range w.key {
		for _, k := range f.columns {
			seen[k]++
		}
	}
	return !slices.ContainsFunc(seen, func(n int) bool { return n != 1 })
}

// stamped refuses a condition with a timestamp of its own, as Cassandra does.
func (w *Write) stamped() *Write {
	w.Refused = w.Refused || w.Conditional && w.timestamp != nil
	return w
}
