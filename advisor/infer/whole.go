package infer

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/capture/feed"
)

// This file joins statements by keys of several columns: all parts have to be fed by one answer, in one role, or to be what its statement was asked for.

// role is how columns of a table hold a key of several columns: the table's own, or, by a relationship, another one's.
type role struct {
	of *source // whose key it is
	by *held   // nil: its own
}

// fedPart is a feed of a part of a key, with the roles that the key has on both sides.
type fedPart struct {
	from, to role
	key      string // the part
}

// roles are the keys of several columns that a column of a table holds a part of, with the part.
func (s *source) roles(column string) (out []fedPart) {
	in := s.inBase(column)
	if in == "" || s.base.linked {
		return nil
	}
	if len(s.base.key) > 1 && s.base.keyed(in) {
		out = append(out, fedPart{from: role{of: s.base}, key: in})
	}
	var seen []*held
	for _, c := range s.base.holding() {
		h := s.base.held[c]
		if slices.ContainsFunc(seen, func(x *held) bool { return x.relation == h.relation }) {
			continue
		}
		seen = append(seen, h)
		for _, k := range h.to.key {
			if h.columns[k] == in {
				out = append(out, fedPart{from: role{h.to, h}, key: k})
			}
		}
	}
	return out
}

// parts are the keys of which a feed carries a part.
func (f *flows) parts(fd *feed.Feed, from, to *said) (out []fedPart) {
	for _, x := range from.source.roles(fd.From.Column) {
		for _, y := range to.source.roles(fd.To.Column) {
			if x.from.of == y.from.of && x.key == y.key {
				out = append(out, fedPart{x.from, y.from, x.key})
			}
		}
	}
	return out
}

// leads tells whether the field of the part is the key's entity's in a table: no other relationship holds the column.
func (r role) leads(s *source, part string) bool {
	if r.by == nil {
		return s.base.held[part] == nil
	}
	h := s.base.held[r.by.columns[part]]
	return h != nil && h.relation == r.by.relation
}

// column is the column of a table in which a role has a part of its key, "" if it is not in it.
func (r role) column(s *source, part string) string {
	if r.by != nil {
		part = r.by.columns[part]
	}
	if s.base == s {
		return part
	}
	return s.copied.column(part)
}

// alikeGiven are the consumer's columns with the parts of a key that no feed brings, where producer and consumer are both asked for them: the tenant of a session,
// which the producer's answer need not tell again. false: a part of the key is not known.
func alikeGiven(from, to *said, one, other role, fed []string) (columns []string, all bool) {
	given := func(s *said, column string) bool {
		return column != "" && slices.ContainsFunc(s.query.where, func(c condition) bool { return c.column == column && c.Op == workload.Equal && !c.list })
	}
	for _, k := range other.of.key {
		if slices.Contains(fed, k) {
			continue
		}
		c := other.column(to.source, k)
		if !given(from, one.column(from.source, k)) || !given(to, c) {
			return nil, false
		}
		columns = append(columns, c)
	}
	return columns, true
}

// wholes takes out of an edge the feeds that carry all parts of a key, an edge for each role.
func (f *flows) wholes(e *edge) (out []*edge) {
	type pairing struct{ from, to role }
	from, to := f.all[e.from], f.all[e.to]
	feeds := map[pairing][]int{}
	parts := map[pairing][]string{}
	var order []pairing
	for i := range e.feeds {
		for _, p := range f.parts(&e.feeds[i], from, to) {
			at := pairing{p.from, p.to}
			if feeds[at] == nil {
				order = append(order, at)
			}
			if !slices.Contains(parts[at], p.key) {
				feeds[at], parts[at] = append(feeds[at], i), append(parts[at], p.key)
			}
		}
	}
	slices.SortStableFunc(order, func(a, b pairing) int { return cmp.Compare(len(b.to.of.key), len(a.to.of.key)) })
	used := map[int]bool{}
	for _, at := range order {
		head := slices.IndexFunc(parts[at], func(k string) bool { return at.from.leads(from.source, k) && at.to.leads(to.source, k) })
		if head < 0 || used[feeds[at][head]] {
			continue
		}
		asked, all := alikeGiven(from, to, at.from, at.to, parts[at])
		if !all {
			continue
		}
		every := append([]int{feeds[at][head]}, feeds[at]...)
		first := &e.feeds[every[0]]
		one := &edge{from: e.from, to: e.to, share: shareOf(first), followed: first.Followed, composite: true, asked: asked}
		for n, i := range every {
			if slices.Contains(every[:n], i) { // the head, or a text with several parts
				continue
			}
			used[i] = true
			one.feeds, one.joins = append(one.feeds, e.feeds[i]), append(one.joins, e.joins[i])
		}
		out = append(out, one)
	}
	var rest edge
	for i := range e.feeds {
		if !used[i] {
			rest.feeds, rest.joins = append(rest.feeds, e.feeds[i]), append(rest.joins, e.joins[i])
		}
	}
	e.feeds, e.joins = rest.feeds, rest.joins
	return out
}

// single leaves in an edge what is a key by itself.
func (f *flows) single(e *edge) {
	for i := 0; i < len(e.feeds); i++ {
		reason := f.mismatch(&e.feeds[i], f.all[e.from], f.all[e.to])
		if bound := f.all[e.to].source.fields[e.feeds[i].To.Column]; reason == "" && len(bound.Entity.Key) > 1 {
			reason = fmt.Sprintf("%s identifies a %s only with the rest of its key", e.feeds[i].To.Column, bound.Entity.Name)
		}
		if answer, asked := f.ruled.joined(&e.feeds[i]); reason == "" || asked && answer.yes {
			continue
		}
		f.leave(&edge{feeds: e.feeds[i : i+1], joins: e.joins[i : i+1]}, reason)
		e.feeds, e.joins = slices.Delete(e.feeds, i, i+1), slices.Delete(e.joins, i, i+1)
		i--
	}
}
