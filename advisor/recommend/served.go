package recommend

import (
	"fmt"
	"strings"

	"github.com/helenus-db/helenus/capture"
)

// Unserved are executions of a read that would run as they were written, whatever change answers the statement.
type Unserved struct {
	Because string `json:"because"`
	Count   uint64 `json:"count"`
}

// unserved says which executions of those seen no change would answer. Texts are not among them: they are answered as their prepared twins.
func unserved(st *capture.Statement) (out []Unserved) {
	for _, x := range []Unserved{
		{"further pages, and answers of several", st.Paged + st.MorePages},
		{"at a serial consistency", st.Serial},
		{"refused to the client's role", st.ErrorCodes.Of("unauthorized")},
	} {
		if x.Count = min(x.Count, st.Count); x.Count > 0 {
			out = append(out, x)
		}
	}
	return out
}

// Served is the share of the executions seen that the change would answer, 0 to 1, and why the others would not be; ok is false if nothing was
// executed, or no change is proposed.
func (r *Recommendation) Served() (share float64, rest []Unserved, ok bool) {
	if r.Rewrite == nil || r.Kind == Keep {
		return 0, nil, false
	}
	refused := map[string]bool{}
	for _, v := range r.Verdicts {
		if v.Refused {
			refused[v.Statement] = true
		}
	}
	var all, left uint64
	add := func(because string, n uint64) {
		left += n
		for i := range rest {
			if rest[i].Because == because {
				rest[i].Count += n
				return
			}
		}
		rest = append(rest, Unserved{because, n})
	}
	for _, s := range r.Statements {
		all += s.Count
		switch {
		case refused[s.Fingerprint]:
			add("of a statement that a condition refuses", s.Count)
		default:
			for _, x := range s.Unserved {
				add(x.Because, x.Count)
			}
		}
	}
	if all == 0 {
		return 0, nil, false
	}
	return float64(all-min(left, all)) / float64(all), rest, true
}

// ServedText is Served as a sentence; "" if nothing is known.
func (r *Recommendation) ServedText() string {
	share, rest, ok := r.Served()
	if !ok {
		return ""
	}
	text := fmt.Sprintf("%.4g %% of the executions seen would be served", 100*share)
	if len(rest) == 0 {
		return text
	}
	var parts []string
	for _, x := range rest {
		parts = append(parts, fmt.Sprintf("%d %s", x.Count, x.Because))
	}
	return text + "; the others run as written: " + strings.Join(parts, ", ")
}
