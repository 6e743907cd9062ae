package memory

import (
	"fmt"
	"maps"
	"slices"

	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/schema"
)

// Write carries out an INSERT, UPDATE or DELETE, or those of a batch.
func (s *Store) Write(st cql.Statement, args Args) error {
	switch x := st.(type) {
	case *cql.Insert:
		return s.insert(x, args)
	case *cql.Update:
		return s.update(x, args)
	case *cql.Delete:
		return s.remove(x, args)
	case *cql.Batch:
		for _, child := range x.Statements {
			if err := s.Write(child, args); err != nil {
				return err
			}
		}
		return nil
	}
	return unknown("%s", cql.Verb(st))
}

func (s *Store) insert(x *cql.Insert, args Args) error {
	t, err := s.table(x.Table)
	if err != nil {
		return err
	}
	t.lying = nil
	if x.JSON != nil || len(x.Columns) != len(x.Values) {
		return unknown("INSERT JSON")
	}
	given := map[string]Value{}
	for i, c := range x.Columns {
		if given[c], err = Of(x.Values[i], args); err != nil {
			return err
		}
	}
	var key []string
	for _, c := range t.key {
		v, there := given[c.Name]
		if !there && c.Kind == schema.Clustering && len(key) == t.parts && t.onlyStatics(slices.Collect(maps.Keys(given))) {
			break
		}
		text, ok := v.(string)
		if !ok {
			return fmt.Errorf("INSERT INTO %s: %s of its key is null", t.Name, c.Name)
		}
		key = append(key, text)
	}
	whole := len(key) == len(t.key)
	if x.IfNotExists {
		r := t.rows[joined(key)]
		if !whole { // then it is about the static columns, whatever rows there are
			r = t.statics[joined(key)]
		}
		if r != nil && r.exists() {
			return nil
		}
	}
	r := t.empty(key)
	if whole {
		r = t.at(key)
		r.inserted = true
	}
	for c, v := range given {
		t.set(r, c, v)
	}
	return nil
}

// onlyStatics tells whether columns are of the partition key, or static.
func (t *table) onlyStatics(columns []string) bool {
	return !slices.ContainsFunc(columns, func(name string) bool {
		c := t.Column(name)
		return c == nil || c.Kind != schema.PartitionKey && c.Kind != schema.Static
	})
}

// set sets a column of a row, or of its partition; those of the key are what they are.
func (t *table) set(r *row, column string, v Value) {
	c := t.Column(column)
	cells := r.cells
	switch {
	case c == nil || c.Kind == schema.PartitionKey || c.Kind == schema.Clustering:
		return
	case c.Kind == schema.Static:
		if t.statics[r.part] == nil {
			t.statics[r.part] = t.empty(r.key[:t.parts])
		}
		cells = t.statics[r.part].cells
	}
	if v = whole(v); v == nil {
		delete(cells, column)
	} else {
		cells[column] = v
	}
}

// Truncate takes all rows of a table away.
func (s *Store) Truncate(ref cql.TableRef) error {
	t, err := s.table(ref)
	if err != nil {
		return err
	}
	t.lying = nil
	clear(t.rows)
	clear(t.statics)
	return nil
}

// keys lists the keys that conditions of a write name: whole ones, or of partitions only.
func (t *table) keys(where []cql.Relation, args Args) ([][]string, error) {
	out := [][]string{nil}
	for _, c := range t.key {
		i := slices.IndexFunc(where, func(w cql.Relation) bool { return len(w.Columns) == 1 && w.Columns[0] == c.Name && w.Element == nil })
		if i < 0 {
			break
		}
		v, err := Of(where[i].Value, args)
		if err != nil {
			return nil, err
		}
		list, several := v.(List)
		if where[i].Op == cql.OpEQ {
			text, ok := v.(string)
			if !ok {
				return nil, fmt.Errorf("%s of the key of %s is null", c.Name, t.Name)
			}
			list = List{text}
		} else if where[i].Op != cql.OpIn || !several {
			return nil, unknown("a write by %s %s", c.Name, where[i].Op)
		}
		var longer [][]string
		for _, k := range out {
			for _, v := range list {
				longer = append(longer, append(slices.Clone(k), v))
			}
		}
		out = longer
	}
	if n := len(out[0]); n != len(where) || n < t.parts {
		return nil, unknown("a write of %s by a part of the key", t.Name)
	}
	return out, nil
}

func (s *Store) update(x *cql.Update, args Args) error {
	t, err := s.table(x.Table)
	if err != nil {
		return err
	}
	t.lying = nil
	keys, err := t.keys(x.Where, args)
	if err != nil {
		return err
	}
	for _, key := range keys {
		ok, err := t.meets(key, x.IfExists, x.Conditions, args)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		r := t.empty(key)
		if len(key) == len(t.key) {
			r = t.at(key)
		}
		for i := range x.Assignments {
			a := &x.Assignments[i]
			if c := t.Column(a.Column); c == nil || c.Kind != schema.Static && len(key) < len(t.key) {
				return unknown("an UPDATE of %s by a part of the key", a.Column)
			}
			v, err := assigned(t.Column(a.Column).Type, t.value(r, a.Column), a, args)
			if err != nil {
				return err
			}
			t.set(r, a.Column, v)
		}
	}
	return nil
}

// meets says whether IF lets a write of a row happen.
func (t *table) meets(key []string, exists bool, conditions []cql.Condition, args Args) (bool, error) {
	r := t.rows[joined(key)]
	if exists {
		return r != nil && r.exists(), nil
	}
	for _, c := range conditions {
		if c.Element != nil || c.Field != "" {
			return false, unknown("IF on a part of %s", c.Column)
		}
		at := r
		if at == nil {
			at = t.empty(key)
		}
		ok, err := holds(&c, t.value(at, c.Column), args)
		if err != nil || !ok {
			return false, err
		}
	}
	return true, nil
}

// holds tells whether IF is so of what a column has. Other than in WHERE, null is a value there: it equals null, and differs from all else.
func holds(c *cql.Condition, have Value, args Args) (bool, error) {
	if c.Op == cql.OpEQ || c.Op == cql.OpNE {
		want, err := Of(c.Value, args)
		if err != nil {
			return false, err
		}
		same := (have == nil) == (want == nil) && Text(have) == Text(want)
		return same == (c.Op == cql.OpEQ), nil
	}
	return Matches(&cql.Relation{Columns: []string{c.Column}, Op: c.Op, Value: c.Value}, args, func(string) (Value, error) { return have, nil })
}

// assigned is what a column holds after an assignment.
func assigned(cqlType string, old Value, a *cql.Assignment, args Args) (Value, error) {
	v, err := Of(a.Value, args)
	if err != nil {
		return nil, err
	}
	kind := Collection(cqlType)
	switch {
	case a.Field != "":
		return nil, unknown("a field of %s", a.Column)
	case a.Element != nil:
		key, err := Of(a.Element, args)
		k, ok := key.(string)
		if err != nil || !ok || kind != "map" {
			return nil, unknown("an element of %s", a.Column)
		}
		m := maps.Clone(asMap(old))
		if text, ok := v.(string); ok {
			m[k] = text
		} else {
			delete(m, k)
		}
		return whole(m), nil
	case a.Op == cql.AssignSet:
		return v, nil
	case kind == "":
		return nil, unknown("%s = %s + ...", a.Column, a.Column)
	case v == nil:
		return old, nil
	}
	if kind == "map" {
		m := maps.Clone(asMap(old))
		if a.Op == cql.AssignAdd {
			maps.Copy(m, asMap(v))
		} else {
			for _, k := range append(Elements(v), slices.Collect(maps.Keys(asMap(v)))...) {
				delete(m, k)
			}
		}
		return whole(m), nil
	}
	list := slices.Clone(Elements(old))
	switch a.Op {
	case cql.AssignAdd:
		list = append(list, Elements(v)...)
	case cql.AssignPrepend:
		list = append(slices.Clone(Elements(v)), list...)
	default:
		list = slices.DeleteFunc(list, func(e string) bool { return slices.Contains(Elements(v), e) })
	}
	if kind == "set" {
		return whole(SetOf(list...)), nil
	}
	return whole(List(list)), nil
}

func asMap(v Value) Map {
	if m, ok := v.(Map); ok {
		return m
	}
	return Map{}
}

func (s *Store) remove(x *cql.Delete, args Args) error {
	t, err := s.table(x.Table)
	if err != nil {
		return err
	}
	t.lying = nil
	if len(x.Columns) > 0 || x.IfExists || len(x.Conditions) > 0 {
		keys, err := t.keys(x.Where, args)
		if err != nil {
			return err
		}
		for _, key := range keys {
			ok, err := t.meets(key, x.IfExists, x.Conditions, args)
			if err != nil || !ok {
				if err != nil {
					return err
				}
				continue
			}
			if len(x.Columns) == 0 {
				delete(t.rows, joined(key))
			}
			r := t.empty(key)
			if len(key) == len(t.key) {
				r = t.at(key)
			}
			for _, d := range x.Columns {
				if d.Field != "" {
					return unknown("a field of %s", d.Column)
				}
				if d.Element == nil {
					t.set(r, d.Column, nil)
					continue
				}
				k, err := Of(d.Element, args)
				if err != nil {
					return err
				}
				switch have := t.value(r, d.Column).(type) {
				case Map:
					m := maps.Clone(have)
					delete(m, Text(k))
					t.set(r, d.Column, m)
				case Set:
					t.set(r, d.Column, slices.DeleteFunc(slices.Clone(have), func(e string) bool { return e == Text(k) }))
				case List:
					return unknown("an element of %s by its place", d.Column)
				}
			}
		}
		return nil
	}
	partitions, err := t.named(x.Where, args)
	if err != nil {
		return err
	}
	gone, err := t.matching(&cql.Select{Where: x.Where}, args)
	if err != nil {
		return err
	}
	t.lying = nil
	for _, r := range gone {
		delete(t.rows, joined(r.key))
	}
	if len(x.Where) == t.parts {
		for _, p := range partitions {
			delete(t.statics, p)
		}
	}
	return nil
}

// named lists the partitions that conditions name.
func (t *table) named(where []cql.Relation, args Args) ([]string, error) {
	only := slices.DeleteFunc(slices.Clone(where), func(w cql.Relation) bool {
		c := t.Column(w.Columns[0])
		return c == nil || c.Kind != schema.PartitionKey
	})
	keys, err := t.keys(only, args)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, k := range keys {
		out = append(out, joined(k))
	}
	return out, nil
}
