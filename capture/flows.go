package capture

import (
	"cmp"
	"slices"

	"github.com/helenus-db/helenus/capture/feed"
)

// Flow is a join that the application does by hand: a feed, with what its two statements say. It may be an echo too (From.Bound): two
// statements about the same row, the second because of what the first found.
type Flow struct {
	feed.Feed
	ID       string `json:"id"` // stays the same as long as the statements do
	FromText string `json:"from_text"`
	ToText   string `json:"to_text"`
	// Calls are executions of the two statements in the snapshot's time, sampled or not.
	FromCalls uint64 `json:"from_calls"`
	ToCalls   uint64 `json:"to_calls"`
	// Chain: the consumer's answer feeds another statement.
	Chain bool `json:"chain,omitempty"`
	// Saved is an estimate of how many executions of the consumer a join in one statement would spare: those that are fed. 0 for echoes.
	Saved float64 `json:"saved"`
}

// Flows returns the snapshot's feeds and echoes as flows, the most executions to be saved first, echoes last.
func (s *Snapshot) Flows() []Flow {
	out := []Flow{}
	produces := map[string]bool{}
	for i := range s.Feeds {
		produces[s.Feeds[i].From.Fingerprint] = true
	}
	for _, f := range slices.Concat(s.Feeds, s.Echoes) {
		one := Flow{Feed: f, ID: flowID(&f), Chain: produces[f.To.Fingerprint]}
		if from := s.Statement(f.From.Fingerprint); from != nil {
			one.FromText, one.FromCalls = from.Text, from.Count
		}
		if to := s.Statement(f.To.Fingerprint); to != nil {
			one.ToText, one.ToCalls = to.Text, to.Count
		}
		if f.Executions > 0 && f.Shape != feed.Pagination && f.Shape != feed.Faint && !f.From.Bound {
			one.Saved = float64(one.ToCalls) * float64(max(f.Hits-f.Decoys, 0)) / float64(f.Executions)
		}
		out = append(out, one)
	}
	slices.SortStableFunc(out, func(a, b Flow) int {
		if a.From.Bound != b.From.Bound {
			if a.From.Bound {
				return 1
			}
			return -1
		}
		return cmp.Compare(b.Saved, a.Saved)
	})
	return out
}

// flowID names a feed by its ends.
func flowID(f *feed.Feed) string {
	h := uint64(14695981039346656037) // FNV-1a
	for _, part := range []string{f.From.Fingerprint, f.From.Column, f.To.Fingerprint, f.To.Column} {
		for i := range len(part) {
			h = (h ^ uint64(part[i])) * 1099511628211
		}
		h = (h ^ 0xFF) * 1099511628211
	}
	if f.From.Bound {
		h = (h ^ 0xFE) * 1099511628211
	}
	const digits = "0123456789abcdef"
	id := []byte("f-00000000")
	for i := range 8 {
		id[len(id)-1-i] = digits[h>>(4*i)&15]
	}
	return string(id)
}
