package trial

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/helenus-db/helenus/capture/cql"

	"github.com/helenus-db/helenus/advisor/trial/memory"
)

// rowOf is a row read, by column.
type rowOf map[string]memory.Value

// run carries the steps out on a store, with the values that the write is said with.
func (u *Upkeep) run(s *memory.Store, c *Copy, args memory.Args) error {
	env := maps.Clone(u.fixed)
	if env == nil {
		env = memory.Args{}
	}
	maps.Copy(env, args)
	for name, key := range u.names {
		env[name] = args[key]
	}
	var old, now []rowOf
	for i := range u.Steps {
		step := &u.Steps[i]
		if step.kind == itself {
			if err := s.Write(u.write, args); err != nil {
				return err
			}
			continue
		}
		st, err := cql.Parse(step.CQL)
		if err != nil {
			return fmt.Errorf("%s: %w", step.CQL, err)
		}
		switch step.kind {
		case before:
			old, err = rows(s, st, env)
		case after:
			now, err = rows(s, st, env)
		case drop:
			err = u.each(s, c, st, env, "old_", c.without(old, now))
		case none:
			if len(now) == 0 {
				err = u.each(s, c, st, env, "", []rowOf{rowOf(env)})
			}
		case put:
			err = u.each(s, c, st, env, "new_", c.entries(now))
		case instead:
			err = u.each(s, c, st, env, "", []rowOf{rowOf(env)})
		case buckets:
			for n := range u.count {
				own := maps.Clone(env)
				own[c.Bucket.Column] = strconv.Itoa(n)
				err = s.Write(st, own)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// rows reads.
func rows(s *memory.Store, st cql.Statement, env memory.Args) ([]rowOf, error) {
	a, err := s.Select(st.(*cql.Select), env) //nolint:forcetypeassert // Keep wrote it
	if err != nil {
		return nil, err
	}
	var out []rowOf
	for _, r := range a.Rows {
		row := rowOf{}
		for i, c := range a.Columns {
			row[c] = r[i]
		}
		out = append(out, row)
	}
	return out, nil
}

// each says a statement for each of some rows, whose columns are known with a prefix.
func (u *Upkeep) each(s *memory.Store, c *Copy, st cql.Statement, env memory.Args, prefix string, list []rowOf) error {
	for _, r := range list {
		own := maps.Clone(env)
		for column, v := range r {
			own[prefix+column] = v
		}
		if c.Bucket != nil {
			var by []string
			for _, column := range c.Bucket.By {
				by = append(by, memory.Text(r[column]))
			}
			own[c.Bucket.Column] = strconv.FormatUint(memory.Hash(by)%uint64(c.Bucket.Count), 10) //nolint:gosec // positive
		}
		if err := s.Write(st, own); err != nil {
			return err
		}
	}
	return nil
}

// entries are the rows of the copy that rows of the base make: none where a column of its key is null, several of a collection.
func (c *Copy) entries(list []rowOf) []rowOf {
	var out []rowOf
	for _, r := range list {
		if slices.ContainsFunc(c.entry(), func(column string) bool { return r[column] == nil }) {
			continue
		}
		if c.Element == nil {
			out = append(out, r)
			continue
		}
		for _, e := range memory.SetOf(memory.Elements(r[c.Element.Column])...) {
			own := maps.Clone(r)
			own[c.Element.As] = e
			out = append(out, own)
		}
	}
	return out
}

// without are the entries of old rows whose key no new one has.
func (c *Copy) without(old, now []rowOf) []rowOf {
	id := func(r rowOf) string {
		var parts []string
		for _, k := range c.In.PrimaryKey() {
			if !c.bucket(k.Name) {
				parts = append(parts, memory.Text(r[k.Name]))
			}
		}
		return fmt.Sprintf("%q", parts)
	}
	have := map[string]bool{}
	for _, r := range c.entries(now) {
		have[id(r)] = true
	}
	return slices.DeleteFunc(c.entries(old), func(r rowOf) bool { return have[id(r)] })
}
