package lint

import (
	"errors"
	"fmt"
	"slices"

	"github.com/helenus-db/helenus/advisor/trial"
	"github.com/helenus-db/helenus/advisor/trial/memory"
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/schema"
)

// trialSeed is that of all trials: a report is the same each time.
const trialSeed = 36

// mostBuckets is how many buckets a trial has at the most.
const mostBuckets = 3

// tryFix tries a fix on generated rows: the statements that it changes, before and after, and again after writes of the application, carried
// out as the fix says. It notes what it says of the writes that are known. The error says how answers would differ, or why nobody can tell.
func (in *Input) tryFix(f *Finding, fix *Fix) error {
	if len(fix.asks) == 0 {
		return nil
	}
	c, err := in.trialCase(f, fix)
	if err != nil {
		return err
	}
	var differ *trial.DifferError
	var unknown *memory.UnknownError
	switch err := c.Run(trialSeed); {
	case errors.As(err, &differ):
		return fmt.Errorf("the fix that was made would change answers: %w", err)
	case errors.As(err, &unknown):
		return fmt.Errorf("whether answers stay what they are could not be tried: %w", err)
	case err != nil:
		return fmt.Errorf("the fix that was made could not be tried: %w", err)
	}
	return nil
}

// trialCase is what is tried of a fix.
func (in *Input) trialCase(f *Finding, fix *Fix) (*trial.Case, error) {
	after, err := Define(in.Schema, f.on.Keyspace, fix.definitions()...)
	if err != nil {
		return nil, err
	}
	before, t := in.withLacking(fix)
	if fix.to == (Reference{}) {
		after = before
	}
	asks, bucket := slices.Clone(fix.asks), fix.bucket
	if bucket != nil { // rows are few: so are buckets
		own := *bucket
		own.Count = min(own.Count, mostBuckets)
		bucket = &own
		for i := range asks {
			asks[i].New.Buckets = own.Count
		}
	}
	c := &trial.Case{Old: before, New: after, Table: t, Asks: asks, Unique: fix.unique, Settled: fix.settled, Full: !in.Partial}
	known := in.writesOn(fix.of)
	c.Writes = known
	switch {
	case in.Schema.Table(fix.of.Keyspace, fix.of.Table).Counter:
		c.Writes = nil // it is only read otherwise, and a count is a value like any
	case len(known) == 0:
		c.Writes = assumedWrites(t)
	}
	if len(fix.unique)+len(fix.settled) > 0 { // the change is for rows as they ought to be, and these are inserted
		c.Writes = slices.DeleteFunc(slices.Clone(c.Writes), func(w cql.Statement) bool { _, ok := w.(*cql.Insert); return !ok })
	}
	fix.Writes = nil
	if fix.to != (Reference{}) {
		c.Copy = &trial.Copy{Of: t, In: after.Table(fix.to.Keyspace, fix.to.Table), Element: fix.element, Bucket: bucket}
		_, replaced := fix.replaces[fix.of]
		expires := trial.Expires(t, c.Writes)
		for _, w := range c.Writes {
			keep := func(w cql.Statement) (*trial.Upkeep, error) { return c.Copy.Keep(w, expires) }
			if replaced {
				keep = c.Copy.Move
			}
			u, err := keep(w)
			if err != nil {
				return nil, fmt.Errorf("no fix is sure to leave the answers as they are: %w", err)
			}
			c.Upkeep = append(c.Upkeep, u)
		}
		if len(known) > 0 {
			fix.Writes = c.Upkeep
		}
	}
	return c, nil
}

// writesOn lists the writes of a table that are known, each once.
func (in *Input) writesOn(on Reference) []cql.Statement {
	var out []cql.Statement
	seen := map[string]bool{}
	for _, c := range in.Changes {
		ref, ok := trial.On(c.Statement)
		if ref = ref.In(c.Keyspace); !ok || ref != (cql.TableRef{Keyspace: on.Keyspace, Table: on.Table}) {
			continue
		}
		own := cql.Clone(c.Statement)
		switch x := own.(type) {
		case *cql.Insert:
			x.Table = ref
		case *cql.Update:
			x.Table = ref
		case *cql.Delete:
			x.Table = ref
		}
		if text := own.String(); !seen[text] {
			seen[text] = true
			out = append(out, own)
		}
	}
	return out
}

// assumedWrites are the writes that any table may have: a whole row, each column alone, and a row's end.
func assumedWrites(t *schema.Table) []cql.Statement {
	ref := cql.TableRef{Keyspace: t.Keyspace, Table: t.Name}
	insert, remove := &cql.Insert{Table: ref}, &cql.Delete{Table: ref}
	for _, c := range t.Columns {
		insert.Columns, insert.Values = append(insert.Columns, c.Name), append(insert.Values, &cql.Marker{Index: len(insert.Values)})
	}
	for _, c := range t.PrimaryKey() {
		remove.Where = append(remove.Where, cql.Relation{Columns: []string{c.Name}, Op: cql.OpEQ, Value: &cql.Marker{Index: len(remove.Where)}})
	}
	out := []cql.Statement{insert, remove}
	for _, c := range t.Columns {
		if c.Kind != schema.Regular {
			continue
		}
		update := &cql.Update{Table: ref, Assignments: []cql.Assignment{{Column: c.Name, Op: cql.AssignSet, Value: &cql.Marker{}}}}
		for _, w := range remove.Where {
			w.Value = &cql.Marker{Index: w.Value.(*cql.Marker).Index + 1} //nolint:forcetypeassert // made above
			update.Where = append(update.Where, w)
		}
		out = append(out, update)
	}
	return out
}

// withLacking is the schema, and the table that a fix is about, with the columns that the fix wants rows of it to have. Counters are values there.
func (in *Input) withLacking(fix *Fix) (*schema.Schema, *schema.Table) {
	out, _ := Define(in.Schema, "") // no statement, no error
	t := out.Table(fix.of.Keyspace, fix.of.Table)
	t.Counter = false
	t.Columns = slices.Concat(t.Columns, fix.lacks)
	sortColumns(t)
	return out, t
}
