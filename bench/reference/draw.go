package reference

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
)

// ErrNothing says that there is nothing that a write could be applied to now: no pair to disconnect, say, or nobody without a
// partner to be connected. After other writes there may be.
var ErrNothing = errors.New("there is nothing to apply it to")

// Draw returns values of a statement's parameters, at random. A query's mostly find something: they are those of a row of the
// join, drawn by way of an entity of its largest set. One in ten finds nothing, or little. A write's are such that it can be
// applied: keys of inserted entities are new, others are there, and a connection leaves each with as many partners as its
// kind allows, and nobody without one who must have one. ErrNothing if there are none.
func (r *Reference) Draw(s *workload.Statement, random *rand.Rand) (Parameters, error) {
	d := &drawing{r, random, Parameters{}}
	draw := func() error { return d.query(s.Query) }
	if s.Query == nil {
		draw = func() error { return d.write(s.Write) }
	}
	if err := draw(); err != nil {
		return nil, fmt.Errorf("drawing parameters of %s: %w", s, err)
	}
	return d.with, nil
}

// drawing draws the parameters of one statement.
type drawing struct {
	*Reference
	random *rand.Rand
	with   Parameters
}

// sample is one row of a join: numbers of entities; those without a partner are not there.
type sample map[*model.Entity]int

func (d *drawing) query(q *workload.Query) error {
	row, err := d.row(q.Tree)
	if errors.Is(err, ErrNothing) {
		row, err = sample{}, nil
	}
	if err == nil && len(q.Known) == 0 && d.random.IntN(10) == 0 {
		if err = d.elsewhere(row); d.random.IntN(2) == 0 {
			clear(row)
		}
	}
	if err != nil {
		return err
	}
	if err := d.conditions(q.Where, row); err != nil {
		return err
	}
	for _, f := range q.Known {
		v, err := d.value(row, f)
		if err != nil {
			return err
		}
		d.with[workload.GivenName(f)] = []any{v}
	}
	return nil
}

// elsewhere draws each entity of a row anew.
func (d *drawing) elsewhere(row sample) error {
	for _, e := range slices.SortedFunc(maps.Keys(row), func(a, b *model.Entity) int { return strings.Compare(a.Name, b.Name) }) {
		var err error
		if row[e], err = d.any(e); err != nil {
			return err
		}
	}
	return nil
}

// row draws a row of the join over a tree; of its largest set all are as likely.
func (d *drawing) row(tree model.Tree) (sample, error) {
	largest := slices.MaxFunc(tree.Entities, func(a, b *model.Entity) int { return d.next[a.Base()] - d.next[b.Base()] })
	whole := tree.Reach(largest, func(*model.Relationship, *model.Entity) bool { return true })
	var best sample
	for range 8 {
		row := sample{}
		var err error
		if row[largest], err = d.any(largest); err != nil {
			return nil, err
		}
		for i, e := range whole.Entities[1:] {
			edge := whole.Edges[i]
			near, far, from := "f", "t", edge.From
			if edge.To != e {
				near, far, from = "t", "f", edge.To
			}
			if at, ok := row[from]; ok {
				n, ok, err := d.partner(edge, near, far, at)
				if err != nil {
					return nil, err
				}
				if ok {
					row[e] = n
				}
			}
		}
		if len(row) > len(best) {
			best = row
		}
		if len(best) == len(tree.Entities) {
			break
		}
	}
	return best, nil
}

// any draws an entity that is there.
func (d *drawing) any(e *model.Entity) (int, error) {
	return d.from("SELECT n FROM "+d.entity(e)+" WHERE n >= ? ORDER BY n LIMIT 1", e)
}

// partner draws one.
func (d *drawing) partner(edge *model.Relationship, near, far string, of int) (int, bool, error) {
	var count, n int
	if err := d.database.QueryRow("SELECT count(*) FROM "+d.relationship(edge)+" WHERE "+near+" = ?", of).Scan(&count); err != nil || count == 0 {
		return 0, false, err
	}
	err := d.database.QueryRow("SELECT "+far+" FROM "+d.relationship(edge)+" WHERE "+near+" = ? ORDER BY "+far+" LIMIT 1 OFFSET ?", of, d.random.IntN(count)).Scan(&n)
	return n, err == nil, err
}

// value is a field of a row. If there is none, it is one that the field may have, of a key one that nobody has.
func (d *drawing) value(row sample, f model.Field) (any, error) {
	if n, ok := row[f.Entity]; ok {
		var stored any
		if err := d.database.QueryRow("SELECT "+column(f.Entity, f.Attribute)+" FROM "+d.entity(f.Entity)+" WHERE n = ?", n).Scan(&stored); err != nil {
			return nil, fmt.Errorf("reference: %w", err)
		}
		if stored != nil {
			return take(f.Attribute.Type, stored), nil
		}
	}
	if v := d.world.Value(f.Entity, d.next[f.Entity.Base()]+1+d.random.IntN(1<<10), f.Attribute); v != nil {
		return v, nil
	}
	return d.world.Sample(f, d.random.Uint64()), nil
}

// conditions draws the parameters of WHERE so that a row satisfies it, where it can.
func (d *drawing) conditions(where []workload.Predicate, row sample) error {
	names := workload.Names(where)
	for i, p := range where {
		v, err := d.value(row, p.Field)
		if err != nil {
			return err
		}
		plain := 0
		for _, text := range p.List() {
			if text == "?" {
				plain++
			} else if text[0] == '?' && d.with[text] == nil {
				if d.with[text], err = d.compared(p, v, 1); err != nil {
					return err
				}
			}
		}
		if plain > 0 {
			if d.with[names[i]], err = d.compared(p, v, plain); err != nil {
				return err
			}
		}
	}
	return nil
}

// compared draws the values that one predicate compares with, of which v is to satisfy it.
func (d *drawing) compared(p workload.Predicate, v any, values int) ([]any, error) {
	other := func() (any, error) {
		n, err := d.any(p.Field.Entity)
		if errors.Is(err, ErrNothing) {
			return d.value(nil, p.Field)
		}
		if err != nil {
			return nil, err
		}
		return d.value(sample{p.Field.Entity: n}, p.Field)
	}
	switch p.Op {
	case workload.Equal:
		return []any{v}, nil
	case workload.Like:
		text, _ := v.(string)
		runes := []rune(text)
		return []any{string(runes[:min(len(runes), 1+d.random.IntN(4))]) + "%"}, nil
	case workload.In:
		if strings.HasPrefix(p.Value, "?") { // a parameter for the list
			values = 1 + d.random.IntN(int(2*p.Items))
		}
		list := []any{v}
		for len(list) < values {
			more, err := other()
			if err != nil {
				return nil, err
			}
			list = append(list, more)
		}
		d.random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		return list, nil
	}
	// Of a few others the first that lets the row through.
	best, err := other()
	if err != nil {
		return nil, err
	}
	for range 4 {
		if satisfies(p, v, best) {
			return []any{best}, nil
		}
		if best, err = other(); err != nil {
			return nil, err
		}
	}
	return []any{v}, nil
}

// satisfies compares two values of a field.
func satisfies(p workload.Predicate, v, with any) bool {
	a, err := put("", p.Field.Attribute.Type, v)
	b, other := put("", p.Field.Attribute.Type, with)
	if err != nil || other != nil {
		return false
	}
	switch c := compare(a, b); p.Op {
	case workload.NotEqual:
		return c != 0
	case workload.Greater:
		return c > 0
	case workload.GreaterOrEqual:
		return c >= 0
	case workload.Less:
		return c < 0
	default:
		return c <= 0
	}
}
