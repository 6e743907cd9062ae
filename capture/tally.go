package capture

import (
	"encoding/json"
	"slices"
	"strings"
)

// Tally is how often each of some names was counted, by name. Names that never were are not in it. It is not changed once made. In JSON it
// is an object. (A map would be as good, but for the two allocations that each of the ten thousands in a Snapshot takes.)
type Tally []Tallied

// Tallied is one name of a Tally.
type Tallied struct {
	Name  string
	Count uint64
}

// TallyOf is the tally of a map.
func TallyOf(counts map[string]uint64) Tally {
	var out Tally
	for name, n := range counts {
		if n != 0 {
			out = append(out, Tallied{name, n})
		}
	}
	slices.SortFunc(out, func(a, b Tallied) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Of is how often a name was counted.
func (t Tally) Of(name string) uint64 {
	for i := range t {
		if t[i].Name == name {
			return t[i].Count
		}
	}
	return 0
}

// combine applies an operation to the counts of t and o.
func (t Tally) combine(o Tally, op func(a, b uint64) uint64) Tally {
	var out Tally
	i, j := 0, 0
	for i < len(t) || j < len(o) {
		var a, b Tallied
		switch {
		case j == len(o) || i < len(t) && t[i].Name < o[j].Name:
			a, i = t[i], i+1
		case i == len(t) || o[j].Name < t[i].Name:
			b, j = o[j], j+1
		default:
			a, b, i, j = t[i], o[j], i+1, j+1
		}
		if n := op(a.Count, b.Count); n != 0 {
			out = append(out, Tallied{max(a.Name, b.Name), n}) // of one that is not there it is empty
		}
	}
	return out
}

// MarshalJSON writes an object with the names in order.
func (t Tally) MarshalJSON() ([]byte, error) {
	counts := make(map[string]uint64, len(t))
	for _, x := range t {
		counts[x.Name] = x.Count
	}
	return json.Marshal(counts)
}

// UnmarshalJSON reads an object of counts.
func (t *Tally) UnmarshalJSON(raw []byte) error {
	var counts map[string]uint64
	if err := json.Unmarshal(raw, &counts); err != nil {
		return err
	}
	*t = TallyOf(counts)
	return nil
}
