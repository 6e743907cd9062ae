package infer

import (
	"cmp"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/burst"
	"github.com/helenus-db/helenus/capture/feed"
)

// ordered is a snapshot in the order in which capture tells it, whoever put it together: where two findings say the same of a thing, the first counts.
func ordered(s *capture.Snapshot) *capture.Snapshot {
	own := *s
	own.Statements = slices.SortedStableFunc(slices.Values(s.Statements), func(a, b capture.Statement) int {
		return cmp.Or(strings.Compare(a.Fingerprint, b.Fingerprint), strings.Compare(a.Keyspace, b.Keyspace))
	})
	own.Feeds, own.Echoes = slices.SortedStableFunc(slices.Values(s.Feeds), byEnds), slices.SortedStableFunc(slices.Values(s.Echoes), byEnds)
	own.Bursts = slices.SortedStableFunc(slices.Values(s.Bursts), func(a, b burst.Pair) int {
		return cmp.Or(cmp.Compare(b.Accompanied, a.Accompanied), strings.Compare(a.From, b.From), strings.Compare(a.To, b.To))
	})
	for i := range own.Bursts {
		own.Bursts[i].Equal = slices.SortedStableFunc(slices.Values(own.Bursts[i].Equal), func(a, b burst.Equal) int {
			return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
		})
	}
	own.Templates = slices.SortedStableFunc(slices.Values(s.Templates), func(a, b burst.Template) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), slices.CompareFunc(a.Writes, b.Writes, func(x, y burst.Member) int { return strings.Compare(x.Fingerprint, y.Fingerprint) }))
	})
	return &own
}

// byEnds orders feeds by the places that they are between; of several between the same the one that accounts for most is the first.
func byEnds(a, b feed.Feed) int {
	return cmp.Or(ends(&a.From, &b.From), ends(&a.To, &b.To), cmp.Compare(b.Hits, a.Hits), cmp.Compare(a.LagP50, b.LagP50), cmp.Compare(a.Shape, b.Shape))
}

func ends(a, b *feed.End) int {
	bound := 0
	switch {
	case a.Bound == b.Bound:
	case a.Bound:
		bound = 1
	default:
		bound = -1
	}
	return cmp.Or(strings.Compare(a.Fingerprint, b.Fingerprint), cmp.Compare(a.Index, b.Index), bound, strings.Compare(a.Column, b.Column))
}
