package capture

import (
	"slices"
	"sort"
	"time"

	"github.com/helenus-db/helenus/capture/burst"
	"github.com/helenus-db/helenus/capture/feed"
	"github.com/helenus-db/helenus/capture/histogram"
	"github.com/helenus-db/helenus/capture/profile"
)

// Snapshot is a snapshot of what was said in a period of time. It is not changed once made.
//
// Every exchange that was reported is in it once: in its statement, in Other or in Unknown. (A child of a batch is an
// exchange too; Statement.InBatch says how many are.) Snapshots that do not overlap (windows of one registry, or registries of
// several proxies) add up exactly: Merge is commutative and associative, the empty snapshot changes nothing, and the counts of a sum are the sums of the counts.
type Snapshot struct {
	From       time.Time     `json:"from"`
	To         time.Time     `json:"to"`
	Watched    time.Duration `json:"watched,omitempty"` // time that was counted in: less than from From to To if nobody listened in between, more if several did
	Statements []Statement   `json:"statements"`        // by fingerprint
	Other      Statement     `json:"other"`             // all statements that have no record of their own
	Unknown    Statement     `json:"unknown"`           // requests of which it is not known what they say
	Feeds      []feed.Feed   `json:"feeds,omitempty"`

	// What else was learnt from values: reads that are done to see whether a row is there, or to change it; writes that go together. Profiles are without
	// hashes once they are read from a history.
	Echoes    []feed.Feed       `json:"echoes,omitempty"`
	Bursts    []burst.Pair      `json:"bursts,omitempty"`
	Templates []burst.Template  `json:"templates,omitempty"`
	Profiles  *profile.Document `json:"profiles,omitempty"`
}

// Count is how many exchanges were counted.
func (s *Snapshot) Count() uint64 {
	n := s.Other.Count + s.Unknown.Count
	for i := range s.Statements {
		n += s.Statements[i].Count
	}
	return n
}

// Requests is Count without the children of batches: how many requests were reported.
func (s *Snapshot) Requests() uint64 {
	n := s.Count() - s.Other.InBatch - s.Unknown.InBatch
	for i := range s.Statements {
		n -= s.Statements[i].InBatch
	}
	return n
}

// Statement returns the statement of a fingerprint, or nil.
func (s *Snapshot) Statement(fingerprint string) *Statement {
	i := sort.Search(len(s.Statements), func(i int) bool { return s.Statements[i].Fingerprint >= fingerprint })
	if i < len(s.Statements) && s.Statements[i].Fingerprint == fingerprint {
		return &s.Statements[i]
	}
	return nil
}

// Since returns what was counted after an earlier snapshot of the same registry was made. Statements that were not
// executed in between are left out. Feeds are the later snapshot's: they are a finding, not a count.
//
// A statement that the registry forgot in between is in the later Other, with what the earlier snapshot counted for it:
// that is taken off there.
func (s *Snapshot) Since(earlier *Snapshot) *Snapshot {
	if earlier == nil {
		return s
	}
	out := &Snapshot{From: earlier.To, To: s.To, Watched: max(0, s.To.Sub(earlier.To)), Statements: []Statement{}, Other: s.Other, Unknown: s.Unknown,
		Feeds: s.Feeds, Echoes: s.Echoes, Bursts: s.Bursts, Templates: s.Templates, Profiles: s.Profiles}
	out.Unknown.combine(&earlier.Unknown, minus, histogram.Distribution.Minus)
	forgotten := earlier.Other
	for _, b := range s.Statements {
		if a := earlier.Statement(b.Fingerprint); a != nil && a.Born == b.Born {
			b.combine(a, minus, histogram.Distribution.Minus)
		}
		if b.Count > 0 {
			out.Statements = append(out.Statements, b)
		}
	}
	for i := range earlier.Statements {
		a := &earlier.Statements[i]
		if b := s.Statement(a.Fingerprint); b == nil || b.Born != a.Born {
			forgotten.combine(a, plus, histogram.Distribution.Plus)
		}
	}
	out.Other.combine(&forgotten, minus, histogram.Distribution.Minus)
	return out
}

// Merge returns what both snapshots counted, which must not overlap.
func (s *Snapshot) Merge(o *Snapshot) *Snapshot {
	if o == nil {
		return s
	}
	out := &Snapshot{From: s.From, To: s.To, Statements: make([]Statement, 0, max(len(s.Statements), len(o.Statements))), Other: s.Other, Unknown: s.Unknown}
	out.Watched = s.Watched + o.Watched
	if s.From.IsZero() || !o.From.IsZero() && o.From.Before(s.From) { // one that is of no time is empty
		out.From = o.From
	}
	if o.To.After(out.To) {
		out.To = o.To
	}
	out.Other.plus(&o.Other)
	out.Unknown.plus(&o.Unknown)
	i, j := 0, 0
	for i < len(s.Statements) || j < len(o.Statements) {
		switch {
		case j == len(o.Statements) || i < len(s.Statements) && s.Statements[i].Fingerprint < o.Statements[j].Fingerprint:
			out.Statements = append(out.Statements, s.Statements[i])
			i++
		case i == len(s.Statements) || o.Statements[j].Fingerprint < s.Statements[i].Fingerprint:
			out.Statements = append(out.Statements, o.Statements[j])
			j++
		default:
			one := s.Statements[i]
			one.plus(&o.Statements[j])
			out.Statements = append(out.Statements, one)
			i++
			j++
		}
	}
	early, late := s, o
	if late.To.Before(early.To) {
		early, late = late, early
	}
	out.Feeds, out.Bursts = feed.Merge(early.Feeds, late.Feeds), burst.Merge(early.Bursts, late.Bursts)
	out.Echoes, out.Templates = feed.Merge(early.Echoes, late.Echoes), burst.MergeTemplates(early.Templates, late.Templates)
	if early.Profiles != nil || late.Profiles != nil {
		out.Profiles = early.Profiles.Merge(late.Profiles)
	}
	return out
}

// Cut returns s with at most n statements of their own, those that made the most work, and at most 8 callers of each. The rest is in
// Other, and in the caller that stands for the rest: nothing is lost from the sums.
func (s *Snapshot) Cut(n int) *Snapshot {
	out := *s
	list := slices.Clone(s.Statements)
	slices.SortStableFunc(list, func(a, b Statement) int {
		switch x, y := a.Work(), b.Work(); {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	for i := n; i < len(list); i++ {
		out.Other.combine(&list[i], plus, histogram.Distribution.Plus)
		if out.Other.Last.Before(list[i].Last) {
			out.Other.Last = list[i].Last
		}
	}
	if len(list) > n {
		out.Other.Fingerprint, out.Other.Kind = otherName, otherName
		list = list[:n]
	}
	slices.SortFunc(list, func(a, b Statement) int { return compareText(a.Fingerprint, b.Fingerprint) })
	for i := range list {
		list[i].Callers = cutShares(list[i].Callers)
	}
	out.Other.Callers, out.Unknown.Callers = cutShares(out.Other.Callers), cutShares(out.Unknown.Callers)
	out.Statements = list
	return &out
}

func compareText(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// cutShares adds all but the first callers up.
func cutShares(list []Share) []Share {
	if len(list) <= callers {
		return list
	}
	rest := Share{Caller: Caller{Rest: true}}
	for _, s := range list[callers-1:] {
		rest.Count, rest.Errors, rest.Micros = rest.Count+s.Count, rest.Errors+s.Errors, rest.Micros+s.Micros
	}
	return append(slices.Clone(list[:callers-1]), rest)
}

// Work is how heavy the statement is: one for each execution and one for each millisecond that they took.
func (s *Statement) Work() float64 { return float64(s.Count) + float64(s.Latency.Sum)/1000 }
