package planrun

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
)

// What the client does with the rows at hand.

// filter keeps the rows that satisfy conditions.
type filter []condition

func (f filter) run(_ context.Context, r *running, hands []hand) ([]hand, error) {
	kept := hands[:0]
	for _, h := range hands {
		holds := true
		for i := range f {
			holds = holds && f[i].holds(h[f[i].slot], r.values[f[i].operand])
		}
		if holds {
			kept = append(kept, h)
		}
	}
	return kept, nil
}

// sorter sorts, and leaves equal rows in their order. Null comes first, last where the order is descending.
type sorter []sortedBy

type sortedBy struct {
	slot  int
	type_ cellType
	desc  bool
}

func (s sorter) run(_ context.Context, _ *running, hands []hand) ([]hand, error) {
	slices.SortStableFunc(hands, func(a, b hand) int {
		for i := range s {
			o := &s[i]
			if c := o.type_.compare(a[o.slot], b[o.slot]); c != 0 {
				if o.desc {
					return -c
				}
				return c
			}
		}
		return 0
	})
	return hands, nil
}

// distinct keeps the first of rows that are the same.
type distinct []alike

// alike is a slot by which rows are told apart.
type alike struct {
	slot  int
	type_ cellType
}

func (d distinct) run(_ context.Context, _ *running, hands []hand) ([]hand, error) {
	met := make(map[string]bool, len(hands))
	kept := hands[:0]
	var key []byte
	for _, h := range hands {
		if key = keyOf(key[:0], h, d); !met[string(key)] {
			met[string(key)] = true
			kept = append(kept, h)
		}
	}
	return kept, nil
}

// limitEach keeps the first rows of those that are the same.
type limitEach struct {
	by   []alike
	most int
}

func (l *limitEach) run(_ context.Context, _ *running, hands []hand) ([]hand, error) {
	met := make(map[string]int, len(hands))
	kept := hands[:0]
	var key []byte
	for _, h := range hands {
		key = keyOf(key[:0], h, l.by)
		if met[string(key)]++; met[string(key)] <= l.most {
			kept = append(kept, h)
		}
	}
	return kept, nil
}

// limit keeps the first rows.
type limit int

func (l limit) run(_ context.Context, _ *running, hands []hand) ([]hand, error) {
	return hands[:min(len(hands), int(l))], nil
}

// appendKey appends cells such that different ones give different bytes; null is not the empty cell.
func appendKey(key []byte, h hand, slots []int) []byte {
	for _, slot := range slots {
		key = appendCell(key, h[slot])
	}
	return key
}

func appendCell(key, cell []byte) []byte {
	if cell == nil {
		return binary.AppendUvarint(key, 0)
	}
	return append(binary.AppendUvarint(key, uint64(len(cell))+1), cell...)
}

// keyOf is appendKey for values: decimals that are equal have the same key, whatever their scales.
func keyOf(key []byte, h hand, by []alike) []byte {
	for i := range by {
		cell := h[by[i].slot]
		if by[i].type_.kind == decimal && len(cell) > 4 {
			d := decimalOf(cell)
			text, point := digits(d)
			cell = fmt.Appendf(nil, "%d %d %s", d.Sign(), point*int64(d.Sign()*d.Sign()), text)
		}
		key = appendCell(key, cell)
	}
	return key
}
