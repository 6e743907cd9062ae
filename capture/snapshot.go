package capture

import (
	"sort"
	"time"

	"github.com/helenus-db/helenus/capture/burst"
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/feed"
	"github.com/helenus-db/helenus/capture/histogram"
	"github.com/helenus-db/helenus/capture/profile"
	"github.com/helenus-db/helenus/proxy"
)

// Snapshot is a picture of what was said in a period of time. It is not changed once made.
type Snapshot struct {
	From       time.Time   `json:"from"`
	To         time.Time   `json:"to"`
	Statements []Statement `json:"statements"`      // by fingerprint
	Other      uint64      `json:"other,omitempty"` // executions of statements that found no room in the registry
	Feeds      []feed.Feed `json:"feeds,omitempty"`

	// What else was learnt from values. Profiles are without hashes once they are read from a history.
	Bursts   []burst.Pair      `json:"bursts,omitempty"`
	Profiles *profile.Document `json:"profiles,omitempty"`
}

// Statement is what was counted for one fingerprint.
type Statement struct {
	Fingerprint string `json:"fingerprint"` // 32 hex digits
	Keyspace    string `json:"keyspace"`
	Table       string `json:"table"` // "" if the statement has none or several
	Kind        string `json:"kind"`  // as cql.Kind.String
	Text        string `json:"text"`  // normalised: no literal of the application in it

	Count      uint64            `json:"count"` // executions, failed ones and those in batches too
	Errors     uint64            `json:"errors,omitempty"`
	ErrorCodes map[string]uint64 `json:"error_codes,omitempty"` // by name, e.g. "write_timeout"

	// Of executions outside of batches; the batch has its own statement.
	Latency       histogram.Distribution `json:"latency"`        // microseconds
	RequestBytes  histogram.Distribution `json:"request_bytes"`  // frame bodies
	ResponseBytes histogram.Distribution `json:"response_bytes"` // frame bodies
	Rows          histogram.Distribution `json:"rows"`           // of answers that say

	Consistency map[string]uint64 `json:"consistency,omitempty"` // by name, e.g. "LOCAL_QUORUM"
	Conditional bool              `json:"conditional,omitempty"` // has an IF
	InBatch     uint64            `json:"in_batch,omitempty"`
	Paged       uint64            `json:"paged,omitempty"`      // asked for a following page
	MorePages   uint64            `json:"more_pages,omitempty"` // answers that were not the last page
	Serial      uint64            `json:"serial,omitempty"`     // read at a serial consistency
	Warned      uint64            `json:"warned,omitempty"`
	Rewritten   uint64            `json:"rewritten,omitempty"` // answered by Helenus instead of Cassandra

	Variables []Column `json:"variables,omitempty"` // bind variables, if it was ever prepared
	Results   []Column `json:"results,omitempty"`   // result columns, likewise

	First time.Time `json:"first"`
	Last  time.Time `json:"last"`
}

// Column is one bind variable or result column of a statement.
type Column struct {
	Keyspace string     `json:"keyspace,omitempty"`
	Table    string     `json:"table,omitempty"`
	Name     string     `json:"name"`
	Type     proxy.Type `json:"type"`
}

// Parse parses the normalised text. It fails for a statement that Helenus could not parse when it was said either.
func (s *Statement) Parse() (cql.Statement, error) { return cql.Parse(s.Text) }

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
func (s *Snapshot) Since(earlier *Snapshot) *Snapshot {
	if earlier == nil {
		return s
	}
	out := &Snapshot{From: earlier.To, To: s.To, Other: minus(s.Other, earlier.Other), Feeds: s.Feeds, Bursts: s.Bursts, Profiles: s.Profiles}
	for _, b := range s.Statements {
		if a := earlier.Statement(b.Fingerprint); a != nil {
			b.combine(a, minus, histogram.Distribution.Minus)
		}
		if b.Count > 0 {
			out.Statements = append(out.Statements, b)
		}
	}
	return out
}

// Merge returns what both snapshots counted, which must not overlap: windows of one registry, or registries of several
// proxies. Where they disagree on columns or feeds the later one is right.
func (s *Snapshot) Merge(o *Snapshot) *Snapshot {
	if o == nil {
		return s
	}
	early, late := s, o
	if late.To.Before(early.To) {
		early, late = late, early
	}
	out := &Snapshot{From: early.From, To: late.To, Other: s.Other + o.Other}
	if late.From.Before(out.From) {
		out.From = late.From
	}
	for _, b := range late.Statements {
		if a := early.Statement(b.Fingerprint); a != nil {
			b.combine(a, plus, histogram.Distribution.Plus)
			if a.First.Before(b.First) {
				b.First = a.First
			}
			if a.Last.After(b.Last) {
				b.Last = a.Last
			}
			if b.Variables == nil {
				b.Variables = a.Variables
			}
			if b.Results == nil {
				b.Results = a.Results
			}
		}
		out.Statements = append(out.Statements, b)
	}
	for _, a := range early.Statements {
		if late.Statement(a.Fingerprint) == nil {
			out.Statements = append(out.Statements, a)
		}
	}
	sort.Slice(out.Statements, func(i, j int) bool { return out.Statements[i].Fingerprint < out.Statements[j].Fingerprint })
	out.Feeds, out.Bursts = feed.Merge(early.Feeds, late.Feeds), burst.Merge(early.Bursts, late.Bursts)
	if early.Profiles != nil || late.Profiles != nil {
		out.Profiles = early.Profiles.Merge(late.Profiles)
	}
	return out
}

func plus(a, b uint64) uint64 { return a + b }

func minus(a, b uint64) uint64 {
	if b > a {
		return 0
	}
	return a - b
}

// combine applies an operation to every count of s and o; s is the left operand and keeps no map of its former self.
func (s *Statement) combine(o *Statement, op func(a, b uint64) uint64, opd func(a, b histogram.Distribution) histogram.Distribution) {
	for _, p := range []struct {
		a *uint64
		b uint64
	}{
		{&s.Count, o.Count}, {&s.Errors, o.Errors}, {&s.InBatch, o.InBatch}, {&s.Paged, o.Paged}, {&s.MorePages, o.MorePages},
		{&s.Serial, o.Serial}, {&s.Warned, o.Warned}, {&s.Rewritten, o.Rewritten},
	} {
		*p.a = op(*p.a, p.b)
	}
	for _, p := range []struct {
		a *histogram.Distribution
		b histogram.Distribution
	}{
		{&s.Latency, o.Latency}, {&s.RequestBytes, o.RequestBytes}, {&s.ResponseBytes, o.ResponseBytes}, {&s.Rows, o.Rows},
	} {
		*p.a = opd(*p.a, p.b)
	}
	s.ErrorCodes = combineMaps(s.ErrorCodes, o.ErrorCodes, op)
	s.Consistency = combineMaps(s.Consistency, o.Consistency, op)
}

func combineMaps(a, b map[string]uint64, op func(a, b uint64) uint64) map[string]uint64 {
	out := map[string]uint64{}
	for k := range a {
		out[k] = op(a[k], b[k])
	}
	for k := range b {
		out[k] = op(a[k], b[k])
	}
	for k, n := range out {
		if n == 0 {
			delete(out, k)
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}
