package safety

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Verdict is the answer for people.
type Verdict string

// The verdicts, from the best on. Unsafe is what is not safe where too little is known to say how bad it is.
const (
	Safe      Verdict = "SAFE"
	SafeIf    Verdict = "SAFE-IF"
	Cold      Verdict = "UNSAFE-COLD"
	Mitigated Verdict = "UNSAFE-MITIGATED"
	Unsafe    Verdict = "UNSAFE"
	Hot       Verdict = "UNSAFE-HOT"
)

// Load is what is known of the writes to one group.
type Load struct {
	Rate     float64 // writes a second to the busiest group known
	Service  float64 // seconds that one write holds the group; 0: 5 ms
	Overlaps int     // pairs of writes in flight at once by different writers; -1: no one has looked
	// RowOverlaps are those of Overlaps that concern the same row; only of writes that name it.
	RowOverlaps int
	Failures    int     // lightweight transactions that were refused or timed out
	Share       float64 // what the busiest group takes, in loads of a node that takes its even part of all writes; 0: not known
	Bytes       float64 // of the largest group; 0: not known
}

// The design's thresholds (section 4.5).
const (
	coldChance   = 0.01
	hotChance    = 0.05
	hotShare     = 10
	hotBytes     = 100e6
	defaultWrite = 0.005 // seconds
)

// Chance is the probability that a write meets another one: 1 - e^(-rate * service).
func (l Load) Chance() float64 {
	service := l.Service
	if service == 0 {
		service = defaultWrite
	}
	return -math.Expm1(-l.Rate * service)
}

// Grade says how bad an answer is. shards is over how many groups a made-up column spreads writers; 0 or 1: none does.
func Grade(a *Answer, class Class, l Load, shards float64) Verdict {
	if a.Safe {
		return Safe
	}
	if len(a.If) > 0 {
		return SafeIf
	}
	hot := false
	switch class {
	case LWT, Counter, View:
		hot = l.Chance() >= hotChance || l.Failures > 0
	case Modify, Overwrite:
		hot = l.Overlaps > 0
	case Append:
		hot = l.Share >= hotShare || l.Bytes > hotBytes
	}
	switch {
	case hot:
		return Hot
	case shards > 1:
		return Mitigated
	case l.Overlaps == 0 && l.Chance() < coldChance:
		return Cold
	}
	return Unsafe
}

// Finding is a verdict on one table, or on a grammar, with its reasons.
type Finding struct {
	Name    string
	Key     string // CQL of the primary key; "" for a grammar
	Group   Group
	Verdict Verdict
	Class   Class    // the worst of its writes
	By      string   // the writer as a function of the group's key, if it is safe
	If      []string // what must be confirmed
	Answer  *Answer
	Reason  string // why two writers can meet, if they can
	Load    Load
	Options []Edit   // if unsafe: schemas that were checked again
	Senders []string // who sends what, where that was concluded

	measured bool // Load is
	Remarks  []string
}

// severity orders classes, the worst last.
var severity = []Class{Unclassed, Append, Overwrite, View, Modify, Counter, LWT}

// Meet checks a table with groups of a size, and says of what class the writes are that can meet in one.
func Meet(t *Table, group Group) (*Answer, Class, error) {
	a, err := Check(t.Grammar(group))
	if err != nil {
		return nil, Unclassed, fmt.Errorf("table %s: %w", t.Name, err)
	}
	class := Unclassed
	if a.Witness != nil {
		for _, m := range a.Witness.Writes {
			class = slices.MaxFunc([]Class{class, m.Write.Class}, func(x, y Class) int {
				return cmp.Compare(slices.Index(severity, x), slices.Index(severity, y))
			})
		}
	}
	return a, class, nil
}

// Judge checks a table with groups of a size.
func Judge(t *Table, group Group, p Principal) (*Finding, error) {
	a, class, err := Meet(t, group)
	if err != nil {
		return nil, err
	}
	f := &Finding{Name: t.Name, Key: t.CQL(), Group: group, Answer: a, Class: class, By: readableTerm(a.By), Load: t.loadOf(group), measured: t.Load != nil}
	if a.Witness != nil {
		f.Reason = t.reasonText(a.Witness, group)
	}
	shards := t.Shards
	if group != Partition {
		shards = 0
	}
	if t.Load != nil && (f.Class == Modify || f.Class == Overwrite) && f.Load.Overlaps > 0 {
		f.Load.Overlaps = f.Load.RowOverlaps // what meets elsewhere in the partition is not lost
	}
	f.Verdict, f.Senders, f.Remarks = Grade(a, f.Class, f.Load, shards), t.Senders, t.Remarks
	for _, fact := range a.If {
		f.If = append(f.If, fact.Name+" ("+strings.Join(fact.From, ", ")+" → "+fact.To+")")
	}
	if p.Guessed && !a.ReadOnly && (f.Verdict == Safe || f.Verdict == SafeIf) && p.Entity != nil {
		f.Verdict, f.If = SafeIf, append(f.If, "the writers are of entity "+p.Entity.Name+" (guessed by its name)")
	}
	if len(t.If) > 0 && !a.ReadOnly && (f.Verdict == Safe || f.Verdict == SafeIf) {
		f.Verdict, f.If = SafeIf, append(f.If, t.If...)
	}
	if a.ReadOnly {
		f.Remarks = append(f.Remarks, "no statement writes it")
	}
	if f.Verdict != Safe && f.Verdict != SafeIf {
		p.Guessed = p.Guessed || len(t.If) > 0
		if f.Options, err = t.safeEdits(group, p); err != nil {
			return nil, err
		}
		if f.Load.Rate > 0 && t.Load == nil {
			f.Remarks = append(f.Remarks, fmt.Sprintf("%.3g writes a second to a %s in the mean, by the workload; chance to meet another %.2g %%; skew is not known", f.Load.Rate, group, 100*f.Load.Chance()))
		}
	}
	return f, nil
}

// loadOf is what is known of the writes to one group: what was measured, else the means of the workload.
func (t *Table) loadOf(group Group) Load {
	if t.Load != nil {
		return *t.Load
	}
	l := Load{Overlaps: -1}
	for _, w := range t.Writes {
		l.Rate += w.Rate
	}
	if t.Partitions > 0 {
		l.Rate /= t.Partitions
		if group == Partition {
			l.Bytes = t.Bytes / t.Partitions
		}
	}
	return l
}

// JudgeGrammar checks a grammar. Groups of a row or a cell are single entities.
func JudgeGrammar(name string, g *Grammar, group Group) (*Finding, error) {
	if group != Partition {
		g = g.entityGroups()
	}
	a, err := Check(g)
	if err != nil {
		return nil, err
	}
	f := &Finding{Name: name, Group: group, Answer: a, By: a.By, Load: Load{Overlaps: -1}}
	if a.Witness != nil {
		f.Class, f.Reason = a.Witness.Writes[1].Write.Class, a.Witness.Reason
	}
	f.Verdict = Grade(a, f.Class, f.Load, 0)
	for _, fact := range a.If {
		f.If = append(f.If, fact.String())
	}
	if a.ReadOnly {
		f.Remarks = append(f.Remarks, "nothing writes to a group")
	}
	if f.Verdict == Unsafe {
		f.Options, err = g.safeEdits()
	}
	return f, err
}

// readableTerm writes a term over fields for people.
func readableTerm(by string) string { return strings.ReplaceAll(by, "·", "") }
