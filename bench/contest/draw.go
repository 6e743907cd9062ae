package contest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/bench/data"
	"github.com/helenus-db/helenus/rewrite/planrun"
)

// Draws draws parameters for requests out of the world that the tables were filled from.
//
// A statement asks for something that is there: for a row of the join over the entities that its conditions speak of. It
// begins at an entity with an equality, each as likely as any other, and follows relationships to one of the partners.
// Equalities get the row's values. A range gets bounds that let RangeSelectivity of the attribute's values through, which
// is what the estimates say, at a place of its own where it has two ends. Statements of one request speak of the same
// entities where they can: who buys an item has looked at that item.
type Draws struct {
	world *data.World
	cells map[model.Field][][]byte // some values of fields with ranges, in order
}

// NewDraws prepares draws. It is not for several goroutines.
func NewDraws(w *data.World) *Draws { return &Draws{w, map[model.Field][][]byte{}} }

// rangeSample is how many values of a field say where the bounds of a range are.
const rangeSample = 4096

// attempts is how often a row of a join is looked for, where some entities have no partner.
const attempts = 1000

// errNoRow says that a statement's conditions speak of a join without rows, as far as was looked.
var errNoRow = errors.New("there seems to be no row of the join that its conditions speak of")

// Draw is for Loop.Draw.
func (d *Draws) Draw(r *rand.Rand, q *Request) ([]Parameters, error) {
	spoken := numbers{} // of the entities of the request
	list := make([]Parameters, len(q.Statements))
	for i, s := range q.Statements {
		var err error
		if s.Query != nil {
			list[i], err = d.conditions(r, s.Query.Tree, s.Query.Where, s.Query.Parameters(), spoken)
		} else {
			list[i], err = d.write(r, s.Write, spoken)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.ID, err)
		}
	}
	return list, nil
}

// numbers are those of entities.
type numbers map[*model.Entity]int

// conditions draws the values of a query's parameters.
func (d *Draws) conditions(r *rand.Rand, tree model.Tree, where []workload.Predicate, needed []workload.Parameter, spoken numbers) (Parameters, error) {
	row, err := d.row(r, tree, where, spoken)
	if err != nil {
		return nil, err
	}
	with := Parameters{}
	for _, p := range needed {
		var cells [][]byte
		switch {
		case p.Op == workload.In:
			for range max(1, p.Items) {
				cell, err := d.cell(p.Field, d.world.Sample(p.Field, r.Uint64()))
				if err != nil {
					return nil, err
				}
				cells = append(cells, cell)
			}
		case ranged(p.Op):
			if cells, err = d.bound(r, p, needed, with); err != nil {
				return nil, err
			}
		default:
			value := d.world.Value(p.Field.Entity.Base(), row[p.Field.Entity], p.Field.Attribute)
			cell, err := d.cell(p.Field, value)
			if err != nil {
				return nil, err
			}
			if text, ok := value.(string); ok && p.Op == workload.Like {
				cell = append([]byte(text[:min(len(text), 2)]), '%')
			}
			cells = [][]byte{cell}
		}
		with[p.Name] = cells
	}
	return with, nil
}

// row draws a row of the join over the part of a tree that has conditions.
func (d *Draws) row(r *rand.Rand, tree model.Tree, where []workload.Predicate, spoken numbers) (numbers, error) {
	var within []*model.Entity
	for _, p := range where {
		if p.Op == workload.Equal && !slices.Contains(within, p.Field.Entity) {
			within = append(within, p.Field.Entity)
		}
	}
	if len(within) == 0 {
		return numbers{}, nil
	}
	part := tree.Span(within)
	for range attempts {
		row := numbers{}
		first := within[0]
		known, ok := spoken[first.Base()]
		if row[first] = known; !ok {
			row[first] = r.IntN(max(1, d.world.Count(first)))
		}
		if d.follow(r, part, first, row) {
			if !ok {
				spoken[first.Base()] = row[first]
			}
			return row, nil
		}
		delete(spoken, first.Base()) // it has no partner: ask for another
	}
	return nil, errNoRow
}

// follow gives a partner to each entity that is reached from one. It is false if there is one without.
func (d *Draws) follow(r *rand.Rand, part model.Tree, from *model.Entity, row numbers) bool {
	for _, edge := range part.Edges {
		to := edge.Other(from)
		if to == nil {
			continue
		}
		if _, done := row[to]; done {
			continue
		}
		way := model.Way{Edge: edge.Base(), Forward: edge.From == from}
		n := d.world.Degree(way, row[from])
		if n == 0 {
			return false
		}
		nth := r.IntN(n)
		for partner := range d.world.Partners(way, row[from]) {
			if nth--; nth < 0 {
				row[to] = partner
				break
			}
		}
		if !d.follow(r, part, to, row) {
			return false
		}
	}
	return true
}

func ranged(op workload.Op) bool {
	switch op {
	case workload.Greater, workload.GreaterOrEqual, workload.Less, workload.LessOrEqual:
		return true
	}
	return false
}

func lower(op workload.Op) bool { return op == workload.Greater || op == workload.GreaterOrEqual }

// bound draws the bound of a range; of two ends the second stands where the first one was drawn.
func (d *Draws) bound(r *rand.Rand, p workload.Parameter, needed []workload.Parameter, with Parameters) ([][]byte, error) {
	sorted, err := d.sorted(p.Field)
	if err != nil {
		return nil, err
	}
	at := 1 - model.RangeSelectivity
	if !lower(p.Op) {
		at = model.RangeSelectivity
	}
	for _, o := range needed {
		if o.Field != p.Field || !ranged(o.Op) || lower(o.Op) == lower(p.Op) {
			continue
		}
		other, drawn := with[o.Name]
		if !drawn { // the first of two ends
			at = r.Float64() * (1 - model.RangeSelectivity)
			if !lower(p.Op) {
				at += model.RangeSelectivity
			}
			break
		}
		place, _ := slices.BinarySearchFunc(sorted, other[0], func(a, b []byte) int { return planrun.Compare(p.Field.Attribute.Type, a, b) })
		at = float64(place)/float64(len(sorted)) + model.RangeSelectivity
		if lower(p.Op) {
			at -= 2 * model.RangeSelectivity
		}
		break
	}
	i := int(at * float64(len(sorted)))
	return [][]byte{sorted[min(max(i, 0), len(sorted)-1)]}, nil
}

// sorted are values of a field, as many of each as entities have it.
func (d *Draws) sorted(f model.Field) ([][]byte, error) {
	f.Entity = f.Entity.Base()
	if cells := d.cells[f]; cells != nil {
		return cells, nil
	}
	count := d.world.Count(f.Entity)
	var cells [][]byte
	step := max(1, count/rangeSample)
	for i := 0; i < count; i += step {
		cell, err := d.cell(f, d.world.Value(f.Entity, i, f.Attribute))
		if err != nil {
			return nil, err
		}
		if cell != nil {
			cells = append(cells, cell)
		}
	}
	if len(cells) == 0 {
		return nil, fmt.Errorf("%s has no values", f)
	}
	slices.SortFunc(cells, func(a, b []byte) int { return planrun.Compare(f.Attribute.Type, a, b) })
	d.cells[f] = cells
	return cells, nil
}

func (d *Draws) cell(f model.Field, value any) ([]byte, error) {
	if value == nil {
		return nil, nil
	}
	return planrun.Encode(f.Attribute.Type, value)
}

// fresh is how many numbers beyond those of the world inserts draw from.
const fresh = 1 << 40

// write draws the values of a write's parameters: a new entity with values of its own and partners that are there, or new
// values, such as there are, for one that is there.
func (d *Draws) write(r *rand.Rand, w *workload.Write, spoken numbers) (Parameters, error) {
	with, err := d.conditions(r, w.Tree, w.Where, conditionsOf(w), spoken)
	if err != nil {
		return nil, err
	}
	entity := w.Entity.Base()
	number := d.world.Count(entity) + r.IntN(fresh)
	partners := map[string]int{}
	for _, p := range w.Parameters() {
		if _, there := with[p.Name]; there {
			continue
		}
		var value any
		switch {
		case w.Kind == workload.Insert && p.Field.Entity.Base() == entity && strings.HasPrefix(p.Name, "SET "):
			if value = d.world.Value(entity, number, p.Field.Attribute); value == nil {
				value = d.copied(r, p.Field, partners)
			}
		case p.Field.Entity.Base() == entity && (strings.HasPrefix(p.Name, "SET ") || strings.HasPrefix(p.Name, "ADD ")):
			value = d.world.Sample(p.Field, r.Uint64())
		default: // an end of a connection
			other, role := p.Field.Entity.Base(), p.Name[:strings.LastIndexByte(p.Name, '.')]
			n, ok := partners[role]
			if !ok {
				if n, ok = spoken[other]; !ok || len(partners) > 0 && taken(partners, n) {
					n = r.IntN(max(1, d.world.Count(other)))
				}
				partners[role] = n
			}
			value = d.world.Value(other, n, p.Field.Attribute)
		}
		cell, err := d.cell(p.Field, value)
		if err != nil {
			return nil, err
		}
		with[p.Name] = [][]byte{cell}
	}
	return with, nil
}

// copied is the value of an attribute that is a copy of a partner's: of the one that is connected to, or will be. nil: it is none.
func (d *Draws) copied(r *rand.Rand, f model.Field, partners map[string]int) any {
	c := f.Attribute.Copied
	if c == nil || c.Edge.Other(f.Entity.Base()) == nil {
		return nil
	}
	other, role := c.Edge.Other(f.Entity.Base()), c.Edge.Role(f.Entity.Base())
	if _, ok := partners[role]; !ok {
		partners[role] = r.IntN(max(1, d.world.Count(other)))
	}
	return d.world.Value(other, partners[role], c.Of)
}

// taken tells whether a partner has that number already: whoever writes a comment writes it about somebody else.
func taken(partners map[string]int, n int) bool {
	for _, other := range partners {
		if other == n {
			return true
		}
	}
	return false
}

// conditionsOf are the parameters of a write's conditions.
func conditionsOf(w *workload.Write) []workload.Parameter {
	return (&workload.Query{Where: w.Where}).Parameters()
}
