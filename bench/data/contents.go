package data

import (
	"fmt"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/rewrite/planrun"
)

// Contents calls row with each row that a table must hold, straight from the world: the values of its fields in the order of
// Fields, and, of a table with buckets, the number of its bucket (int64) after them. Rows without a value in a column of the key
// are left out. Rows of one partition mostly come one after the other. The slice is used again for the next row.
//
// Of a table that is not Model.Identifies, rows may come that have the same key.
func (w *World) Contents(t *model.Table, row func([]any) error) error {
	return w.Part(t, 0, 1, row)
}

// Part is Contents of one of so many parts, which can be made side by side.
func (w *World) Part(t *model.Table, part, parts int, row func([]any) error) error {
	root := w.root(t)
	fields := t.Fields()
	of := fields
	if t.Bucket != nil && !t.Bucket.Of.IsZero() {
		of = append(of[:len(of):len(of)], t.Bucket.Of)
	}
	keys := len(t.Key())
	whole := t.Tree.Reach(root, func(*model.Relationship, *model.Entity) bool { return true })
	place := map[*model.Entity]int{}
	for i, e := range whole.Entities {
		place[e] = i
	}
	values := make([]func(int) any, len(of))
	at := make([]int, len(of)) // where the number of the field's entity is
	for i, f := range of {
		values[i], at[i] = w.Values(f), place[f.Entity]
	}
	cells := make([]any, len(of), len(of)+1)
	if t.Bucket != nil {
		cells = cells[:len(fields)+1]
	}
	count := w.Count(root)
	return w.join(whole, part*count/parts, (part+1)*count/parts, func(numbers []int) error {
		for i, value := range values {
			if cells[i] = value(numbers[at[i]]); cells[i] == nil && i < keys {
				return nil
			}
		}
		if t.Bucket != nil {
			var cell []byte
			if !t.Bucket.Of.IsZero() {
				var err error
				if cell, err = planrun.Encode(t.Bucket.Of.Attribute.Type, cells[len(fields)]); err != nil {
					return fmt.Errorf("bucket of %s: %w", t.Bucket.Of, err)
				}
			}
			cells[len(fields)] = t.Bucket.Number(cell)
		}
		return row(cells)
	})
}

// root is the entity from which rows of one partition come together: the first that the partition key speaks of, and of those
// the one with the fewest.
func (w *World) root(t *model.Table) *model.Entity {
	root := t.Tree.Entities[0]
	for i, f := range t.Partition {
		if i == 0 || f.IsKey() && w.Count(f.Entity) < w.Count(root) {
			root = f.Entity
		}
	}
	return root
}

// Rows calls each with the rows of the join over a tree: the number of each of its entities, in their order. The slice is used
// again for the next row.
func (w *World) Rows(tree model.Tree, each func(numbers []int) error) error {
	whole := tree.Reach(tree.Entities[0], func(*model.Relationship, *model.Entity) bool { return true })
	order := make([]int, len(tree.Entities))
	for i, e := range tree.Entities {
		for j, x := range whole.Entities {
			if x == e {
				order[i] = j
			}
		}
	}
	row := make([]int, len(order))
	return w.join(whole, 0, w.Count(whole.Entities[0]), func(numbers []int) error {
		for i, j := range order {
			row[i] = numbers[j]
		}
		return each(row)
	})
}

// join goes over a tree whose edge number i leads to its entity number i+1 from one before, for some of the first entity.
func (w *World) join(tree model.Tree, from, to int, each func([]int) error) error {
	type step struct {
		near    int
		forward bool
		of      relation
	}
	steps := make([]step, len(tree.Edges))
	for i, r := range tree.Edges {
		s := step{of: w.relations[r.Base()], forward: r.To == tree.Entities[i+1]}
		for j, e := range tree.Entities[:i+1] {
			if s.forward && e == r.From || !s.forward && e == r.To {
				s.near = j
			}
		}
		steps[i] = s
	}
	numbers := make([]int, len(tree.Entities))
	var walk func(i int) error
	walk = func(i int) error {
		if i == len(steps) {
			return each(numbers)
		}
		s := &steps[i]
		near := uint64(numbers[s.near])
		for nth := range s.of.degree(s.forward, near) {
			numbers[i+1] = int(s.of.partner(s.forward, near, nth))
			if err := walk(i + 1); err != nil {
				return err
			}
		}
		return nil
	}
	for n := from; n < to; n++ {
		numbers[0] = n
		if err := walk(0); err != nil {
			return err
		}
	}
	return nil
}

// Estimate is about how many rows the join over a tree has.
func (w *World) Estimate(tree model.Tree) float64 {
	rows := 1.0
	for _, e := range tree.Entities {
		rows *= float64(w.Count(e))
	}
	for _, r := range tree.Edges {
		rows *= float64(w.PairCount(r)) / (float64(w.Count(r.From)) * float64(w.Count(r.To)))
	}
	return rows
}
