package reference

import (
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"gopkg.in/inf.v0"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
)

// write draws the parameters of a write.
func (d *drawing) write(w *workload.Write) error {
	row := sample{}
	var err error
	switch w.Kind {
	case workload.Insert:
		err = d.insert(w, row)
	case workload.Update, workload.Delete:
		if row, err = d.row(w.Tree); err == nil {
			err = d.change(w, row)
		}
	case workload.Connect:
		err = d.connect(w, row)
	default:
		err = d.disconnect(w, row)
	}
	if err != nil {
		return err
	}
	for _, f := range w.Given {
		if d.with[workload.GivenName(f)], err = d.given(w, row, f); err != nil {
			return err
		}
	}
	return nil
}

// tries is how often a new entity is drawn whose key others must not have.
const tries = 40

func (d *drawing) insert(w *workload.Write, row sample) error {
	e := w.Entity.Base()
	for range tries {
		others := make([]int, len(w.Connections))
		for i := range w.Connections {
			var err error
			if others[i], err = d.free(w, i, others[:i]); err != nil {
				return err
			}
			row[w.Connections[i].Entity] = others[i]
			if err := d.key(w, i, others[i]); err != nil {
				return err
			}
		}
		for _, f := range w.Set {
			v, err := d.fresh(w, f, others)
			if err != nil {
				return err
			}
			d.with[workload.SetName(f)] = []any{v}
		}
		own := func(f model.Field) (string, int) {
			return workload.SetName(model.Field{Entity: w.Entity, Attribute: f.Attribute}), 0
		}
		_, err := d.named(d.database, e, d.with, own)
		var missing *MissingError
		if errors.As(err, &missing) {
			return nil
		}
		if err != nil {
			return err
		}
		clear(d.with)
	}
	return fmt.Errorf("%s: %w", e.Name, ErrNothing)
}

// fresh is a value for a field of a new entity: that of the entity with the next number, and of a copy that of whom it is
// connected to.
func (d *drawing) fresh(w *workload.Write, f model.Field, others []int) (any, error) {
	if c := f.Attribute.Copied; c != nil {
		for i, connection := range w.Connections {
			if connection.Edge.Base() == c.Edge {
				e := connection.Entity
				return d.value(sample{e: others[i]}, model.Field{Entity: e, Attribute: c.Of})
			}
		}
		return d.world.Sample(f, d.random.Uint64()), nil
	}
	return d.world.Value(f.Entity, d.next[f.Entity.Base()], f.Attribute), nil
}

// free draws an entity that a write's connection can lead to, other than those before.
func (d *drawing) free(w *workload.Write, i int, before []int) (int, error) {
	c := w.Connections[i]
	way := c.Edge
	taken := func(n int) bool {
		for j, m := range before {
			if m == n && w.Connections[j].Edge.Base() == way.Base() {
				return true
			}
		}
		return false
	}
	for j := range before {
		if w.Connections[j].Edge.Base() == way.Base() && way.ToOne(w.Entity) {
			return 0, fmt.Errorf("%s: %w", way.Name, ErrNothing)
		}
	}
	for range tries {
		var n int
		var err error
		if way.ToOne(c.Entity) {
			n, err = d.alone(c.Entity, way, way.From == c.Entity)
		} else {
			n, err = d.any(c.Entity)
		}
		if err != nil {
			return 0, err
		}
		if !taken(n) {
			return n, nil
		}
	}
	return 0, fmt.Errorf("%s: %w", way.Name, ErrNothing)
}

// alone draws an entity without a partner.
func (d *drawing) alone(e *model.Entity, edge *model.Relationship, from bool) (int, error) {
	side := map[bool]string{true: "f", false: "t"}[from]
	return d.from("SELECT e.n FROM "+d.entity(e)+" AS e WHERE e.n >= ? AND NOT EXISTS (SELECT 1 FROM "+d.relationship(edge)+" AS r WHERE r."+side+" = e.n) ORDER BY e.n LIMIT 1", e)
}

// from runs a query for the first number from a random one on, and again from 0.
func (d *drawing) from(text string, e *model.Entity) (int, error) {
	for _, first := range []int{d.random.IntN(max(1, d.next[e.Base()])), 0} {
		var n int
		if err := d.database.QueryRow(text, first).Scan(&n); err == nil {
			return n, nil
		} else if !errors.Is(err, sql.ErrNoRows) {
			return 0, fmt.Errorf("reference: %w", err)
		}
	}
	return 0, fmt.Errorf("%s: %w", e.Name, ErrNothing)
}

// key gives the parameters of a connection the key of an entity.
func (d *drawing) key(w *workload.Write, i, n int) error {
	for _, f := range w.Connections[i].Entity.KeyFields() {
		v, err := d.value(sample{f.Entity: n}, f)
		if err != nil {
			return err
		}
		name, nth := connection(w, i, f)
		d.with[name] = append(d.with[name][:nth:nth], v)
	}
	return nil
}

// own gives the parameters of CONNECT and DISCONNECT the key of the first entity.
func (d *drawing) own(w *workload.Write, n int) error {
	for _, f := range w.Entity.KeyFields() {
		v, err := d.value(sample{w.Entity: n}, f)
		if err != nil {
			return err
		}
		d.with[workload.KeyName(f)] = []any{v}
	}
	return nil
}

// leaves draws an entity that may leave its partner for another, if it has one: any, but where the relationship is 1:1 and who
// is left must have one.
func (d *drawing) leaves(e *model.Entity, edge *model.Relationship) (int, error) {
	left := edge.To // must have a partner if it says so and there are enough
	if edge.To == e {
		left = edge.From
	}
	if edge.Kind == model.OneToOne && !edge.Optional && (left == edge.From || edge.From.Count == edge.To.Count) {
		return d.alone(e, edge, edge.From == e)
	}
	return d.any(e)
}

func (d *drawing) connect(w *workload.Write, row sample) error {
	c := w.Connections[0]
	for range tries {
		n, err := d.leaves(w.Entity, c.Edge)
		if err != nil {
			return err
		}
		other, err := d.leaves(c.Entity, c.Edge)
		if err != nil {
			return err
		}
		from, to := n, other
		if c.Edge.From != w.Entity {
			from, to = other, n
		}
		var related int
		if err := d.database.QueryRow("SELECT count(*) FROM "+d.relationship(c.Edge)+" WHERE f = ? AND t = ?", from, to).Scan(&related); err != nil {
			return err
		}
		if related == 0 {
			row[w.Entity], row[c.Entity] = n, other
			return errors.Join(d.own(w, n), d.key(w, 0, other))
		}
	}
	return fmt.Errorf("%s: %w", c.Edge.Name, ErrNothing)
}

func (d *drawing) disconnect(w *workload.Write, row sample) error {
	c := w.Connections[0]
	near, far := "f", "t"
	if c.Edge.From != w.Entity {
		near, far = far, near
	}
	n, err := d.from("SELECT "+near+" FROM "+d.relationship(c.Edge)+" WHERE "+near+" >= ? ORDER BY "+near+" LIMIT 1", w.Entity)
	if err != nil {
		return err
	}
	other, _, err := d.partner(c.Edge, near, far, n)
	if err != nil {
		return err
	}
	row[w.Entity], row[c.Entity] = n, other
	return errors.Join(d.own(w, n), d.key(w, 0, other))
}

// change draws the parameters of an update or a delete. One in ten that has to look for its entities may find none.
func (d *drawing) change(w *workload.Write, row sample) error {
	named := !slices.ContainsFunc(w.Entity.KeyFields(), func(f model.Field) bool {
		return !slices.ContainsFunc(w.Where, func(p workload.Predicate) bool { return p.Field == f && p.Op == workload.Equal })
	})
	if _, ok := row[w.Entity]; !ok || named && len(row) < len(w.Tree.Entities) {
		return fmt.Errorf("%s: %w", w.Entity.Name, ErrNothing)
	}
	if !named && len(w.Given) == 0 && d.random.IntN(10) == 0 {
		if err := d.elsewhere(row); err != nil {
			return err
		}
	}
	if err := d.conditions(w.Where, row); err != nil {
		return err
	}
	for _, f := range w.Set {
		v := d.world.Sample(f, d.random.Uint64())
		switch {
		case f.Attribute.Copied != nil: // stays what it is
			var err error
			if v, err = d.value(row, f); err != nil {
				return err
			}
		case f.IsKey() || slices.ContainsFunc(w.Entity.Alternate, func(key []*model.Attribute) bool { return slices.Contains(key, f.Attribute) }):
			v = d.world.Value(f.Entity, d.next[f.Entity.Base()]+d.random.IntN(1<<20), f.Attribute)
		case d.random.Float64() < f.Attribute.Null:
			v = nil
		}
		d.with[workload.SetName(f)] = []any{v}
	}
	for _, f := range w.Increments {
		v, err := increment(f, d.random)
		if err != nil {
			return err
		}
		d.with[workload.AddName(f)] = []any{v}
	}
	return nil
}

// increment is a small number of a field's type.
func increment(f model.Field, random *rand.Rand) (any, error) {
	n := int64(random.IntN(9) - 4)
	switch k := strings.ToLower(f.Attribute.Type); k {
	case "float", "double":
		return float64(n) / 4, nil
	case "decimal":
		return inf.NewDec(n, 2), nil
	default:
		if own, _ := kindOf(k); own.whole {
			return take(k, n), nil
		}
	}
	return nil, fmt.Errorf("%s is %s: nothing can be added to it", f, f.Attribute.Type)
}

// given is what the application knows besides: the field as it is, of an entity of the write or of the one that those lead to.
func (d *drawing) given(w *workload.Write, row sample, f model.Field) ([]any, error) {
	if n, ok := row[f.Entity]; ok {
		v, err := d.value(sample{f.Entity: n}, f)
		return []any{v}, err
	}
	known := sample{}
	var reached []*model.Entity
	for _, e := range append(slices.Clone(w.Tree.Entities), ends(w)...) {
		if n, ok := row[e]; ok && !slices.Contains(reached, e) {
			known[e], reached = n, append(reached, e)
		}
	}
	for i := 0; i < len(reached) && i < 100; i++ {
		e := reached[i]
		if e.Base() == f.Entity.Base() {
			v, err := d.value(known, model.Field{Entity: e, Attribute: f.Attribute})
			return []any{v}, err
		}
		for _, way := range d.graph.Ways(e) {
			if _, pair := row[e]; !way.ToOne() || pair && w.Kind == workload.Connect && way.Edge == w.Connections[0].Edge.Base() {
				continue // the latter leads to the one that it leaves
			}
			near, far := "f", "t"
			if !way.Forward {
				near, far = far, near
			}
			n, ok, err := d.partner(way.Edge, near, far, known[e])
			if err != nil {
				return nil, err
			}
			if _, met := known[way.To()]; ok && !met {
				known[way.To()], reached = n, append(reached, way.To())
			}
		}
	}
	return nil, fmt.Errorf("GIVEN %s: %w", f, ErrNothing)
}

// ends are the entities that a write connects to.
func ends(w *workload.Write) []*model.Entity {
	var list []*model.Entity
	for _, c := range w.Connections {
		list = append(list, c.Entity)
	}
	return list
}
