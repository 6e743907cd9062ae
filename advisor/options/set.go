package options

import (
	"fmt"
	"math/bits"

	"github.com/helenus-db/helenus/advisor/model"
)

// setWords bounds how many different fields, and how many queries, a workload may have.
const (
	setWords  = 8
	maxFields = setWords * 64
)

// set is a set of fields, or of queries, by their numbers. It is comparable.
type set [setWords]uint64

func (s set) with(i int) set {
	s[i/64] |= 1 << (i % 64)
	return s
}

func (s set) has(i int) bool { return s[i/64]&(1<<(i%64)) != 0 }

func (s set) or(o set) set {
	for i := range s {
		s[i] |= o[i]
	}
	return s
}

func (s set) minus(o set) set {
	for i := range s {
		s[i] &^= o[i]
	}
	return s
}

func (s set) and(o set) set { return s.minus(s.minus(o)) }

func (s set) in(o set) bool { return s.minus(o).empty() }

func (s set) empty() bool { return s == set{} }

func (s set) len() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// members are the numbers, ascending.
func (s set) members() []int {
	list := make([]int, 0, s.len())
	for i, w := range s {
		for ; w != 0; w &= w - 1 {
			list = append(list, i*64+bits.TrailingZeros64(w))
		}
	}
	return list
}

// less orders sets: fewer members first, then by the first number that only one of them has.
func (s set) less(o set) bool {
	if a, b := s.len(), o.len(); a != b {
		return a < b
	}
	for i := range s {
		if only := s[i] ^ o[i]; only != 0 {
			return s[i]&(only&-only) != 0
		}
	}
	return false
}

// universe numbers the fields in the order in which they are met.
type universe struct {
	fields []model.Field
	number map[model.Field]int
}

// TooLargeError tells that a workload has more fields or queries than the method is made for.
type TooLargeError struct {
	What string
	N    int
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("%d %s: options are made of %d at most; split the workload", e.N, e.What, maxFields)
}

func (u *universe) set(fields ...model.Field) set {
	var s set
	for _, f := range fields {
		i, ok := u.number[f]
		if !ok {
			i = len(u.fields)
			u.fields = append(u.fields, f)
			u.number[f] = i
		}
		if i < maxFields { // more are refused as soon as all are numbered
			s = s.with(i)
		}
	}
	return s
}

func (u *universe) fieldsOf(s set) []model.Field {
	fields := make([]model.Field, 0, s.len())
	for _, i := range s.members() {
		fields = append(fields, u.fields[i])
	}
	return fields
}

// canonical is the field under which a table over the tree stores f: fields that a join makes equal are stored once, as the
// field that the other is a copy of.
func canonical(t model.Tree, f model.Field) model.Field {
	for range maxCopies {
		next, found := copySource(t, f)
		if !found {
			return f
		}
		f = next
	}
	return f
}

// maxCopies bounds how deep copies are followed: files may say that two attributes are copies of each other.
const maxCopies = 8

func copySource(t model.Tree, f model.Field) (model.Field, bool) {
	c := f.Attribute.Copied
	if c == nil {
		return f, false
	}
	for _, r := range t.Edges {
		if owner := r.Other(f.Entity); owner != nil && r.Base() == c.Edge {
			return model.Field{Entity: owner, Attribute: c.Of}, true
		}
	}
	return f, false
}

func canonicalAll(t model.Tree, fields []model.Field) []model.Field {
	list := make([]model.Field, len(fields))
	for i, f := range fields {
		list[i] = canonical(t, f)
	}
	return list
}
