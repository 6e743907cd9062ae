package profile

import (
	"maps"
	"slices"
)

// Literals are the values of a column that has few, and whose literals are allowed. Those seen less than 5 times, or by one client
// process only, are not Shown.
type Literals struct {
	Counts  map[string]uint64   `json:"counts,omitempty"`
	Clients map[string][]uint64 `json:"clients,omitempty"` // the two with the smallest hashes
	Many    bool                `json:"many,omitempty"`    // there are more than 64: none is kept
}

const (
	maxLiterals    = 64
	maxLiteral     = 64 // bytes of one
	leastSeen      = 5
	leastProcesses = 2
)

func (l *Literals) add(text string, n uint64, clients ...uint64) {
	if l.Many {
		return
	}
	if _, known := l.Counts[text]; !known && (len(l.Counts) == maxLiterals || len(text) > maxLiteral) {
		*l = Literals{Many: true}
		return
	}
	if l.Counts == nil {
		l.Counts, l.Clients = map[string]uint64{}, map[string][]uint64{}
	}
	l.Counts[text] += n
	if len(l.Clients[text]) == leastProcesses && len(clients) == 1 && clients[0] >= l.Clients[text][1] {
		return
	}
	all := append(slices.Clone(l.Clients[text]), clients...)
	slices.Sort(all)
	all = slices.Compact(all)
	l.Clients[text] = all[:min(len(all), leastProcesses)]
}

func (l *Literals) clone() *Literals {
	if l == nil {
		return nil
	}
	return &Literals{Counts: maps.Clone(l.Counts), Clients: maps.Clone(l.Clients), Many: l.Many}
}

func (l *Literals) merge(o *Literals) *Literals {
	if l == nil || o == nil {
		if l == nil {
			l = o
		}
		return l.clone()
	}
	out := l.clone()
	if o.Many {
		return &Literals{Many: true}
	}
	for text, n := range o.Counts {
		out.add(text, n, o.Clients[text]...)
	}
	return out
}

// Shown are the literals that may be shown, with their counts.
func (l *Literals) Shown() map[string]uint64 {
	if l == nil {
		return nil
	}
	out := map[string]uint64{}
	for text, n := range l.Counts {
		if n >= leastSeen && len(l.Clients[text]) >= leastProcesses {
			out[text] = n
		}
	}
	return out
}

// derived keeps those that may be shown.
func (l *Literals) derived() *Literals {
	if l == nil {
		return nil
	}
	out := &Literals{Many: l.Many}
	for text, n := range l.Shown() {
		out.add(text, n, l.Clients[text]...)
	}
	return out
}
