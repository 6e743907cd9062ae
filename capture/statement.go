package capture

import (
	"cmp"
	"encoding/json"
	"reflect"
	"slices"
	"time"

	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/histogram"
	"github.com/helenus-db/helenus/proxy"
)

// Statement is what was counted for one fingerprint.
type Statement struct {
	Fingerprint string `json:"fingerprint"` // 32 hex digits; "other", "unknown"
	Keyspace    string `json:"keyspace"`
	Table       string `json:"table"` // "" if the statement has none or several
	Kind        string `json:"kind"`  // as cql.Kind.String
	Text        string `json:"text"`  // normalised: no literal of the application in it

	Count      uint64 `json:"count"` // executions, failed ones and those in batches too
	Errors     uint64 `json:"errors,omitempty"`
	ErrorCodes Tally  `json:"error_codes,omitempty"` // by name, e.g. "write_timeout"

	// Of executions outside of batches; the batch has its own statement.
	Latency       histogram.Distribution `json:"latency"`        // microseconds
	RequestBytes  histogram.Distribution `json:"request_bytes"`  // frame bodies
	ResponseBytes histogram.Distribution `json:"response_bytes"` // frame bodies
	Rows          histogram.Distribution `json:"rows"`           // of answers that say

	Consistency       Tally                  `json:"consistency,omitempty"`        // by name, e.g. "LOCAL_QUORUM"
	SerialConsistency Tally                  `json:"serial_consistency,omitempty"` // of requests that name one
	Conditional       bool                   `json:"conditional,omitempty"`        // has an IF
	Applied           uint64                 `json:"applied,omitempty"`            // conditional writes that were carried out
	NotApplied        uint64                 `json:"not_applied,omitempty"`        // and those whose condition was false
	InBatch           uint64                 `json:"in_batch,omitempty"`
	Paged             uint64                 `json:"paged,omitempty"`      // asked for a following page
	MorePages         uint64                 `json:"more_pages,omitempty"` // answers that were not the last page
	Serial            uint64                 `json:"serial,omitempty"`     // read at a serial consistency
	Warned            uint64                 `json:"warned,omitempty"`
	Warnings          Tally                  `json:"warnings,omitempty"`         // answers with such a warning, e.g. "tombstones"
	Rewritten         uint64                 `json:"rewritten,omitempty"`        // answered by Helenus instead of Cassandra
	RewrittenLatency  histogram.Distribution `json:"rewritten_latency,omitzero"` // microseconds, of those outside of batches; they are in Latency, too
	Stamped           uint64                 `json:"stamped,omitempty"`          // with a timestamp of the client's in the request
	Retried           uint64                 `json:"retried,omitempty"`          // the same again within 5 s of having failed
	Speculative       uint64                 `json:"speculative,omitempty"`      // the same again while it was under way; an estimate

	Callers []Share `json:"callers,omitempty"` // who said it, most executions first

	Variables []Column `json:"variables,omitempty"` // bind variables, if it was ever prepared
	Results   []Column `json:"results,omitempty"`   // result columns, likewise

	Described time.Time `json:"described,omitzero"` // until when Variables and Results are known to have been so

	First time.Time `json:"first"` // since it has a record
	Last  time.Time `json:"last"`

	// Born numbers the lives of a statement in one registry, which may forget it and know it again; 0 elsewhere.
	Born uint64 `json:"-"`
}

// Share is what one caller did of a statement.
type Share struct {
	Caller
	Count  uint64 `json:"count"`
	Errors uint64 `json:"errors,omitempty"`
	Micros uint64 `json:"micros"` // sum of latencies
}

// Column is one bind variable or result column of a statement.
type Column struct {
	Keyspace string     `json:"keyspace,omitempty"`
	Table    string     `json:"table,omitempty"`
	Name     string     `json:"name"`
	Type     proxy.Type `json:"type"`
}

// OriginalLatency is that of the executions which Cassandra answered, in microseconds: what the statement takes as the application
// says it, whatever Helenus made of it meanwhile.
func (s *Statement) OriginalLatency() histogram.Distribution {
	if s.RewrittenLatency.Count == 0 {
		return s.Latency
	}
	return s.Latency.Minus(s.RewrittenLatency)
}

// Parse parses the normalised text. It fails for a statement that Helenus could not parse when it was said either. The syntax tree
// is not to be changed: it may be handed out again.
func (s *Statement) Parse() (cql.Statement, error) { return parseText(s.Text) }

// Defines reports whether it defines tables, roles and the like. It neither reads nor writes rows, and what is left of it without values
// need not be CQL ("WITH replication = (?)").
func (s *Statement) Defines() bool {
	return s.Kind == cql.KindDDL.String() || s.Kind == cql.KindRole.String()
}

// plainCounters are the plain counters but Count, in the order of sums.add.
func (s *Statement) plainCounters() [12]*uint64 {
	return [...]*uint64{
		&s.Errors, &s.InBatch, &s.Paged, &s.MorePages, &s.Serial, &s.Warned, &s.Rewritten, &s.Applied, &s.NotApplied, &s.Retried, &s.Speculative, &s.Stamped,
	}
}

// combine applies an operation to every count of s and o; s is the left operand and keeps no list of its former self.
func (s *Statement) combine(o *Statement, op func(a, b uint64) uint64, opd func(a, b histogram.Distribution) histogram.Distribution) {
	s.Count = op(s.Count, o.Count)
	theirs := o.plainCounters()
	for i, p := range s.plainCounters() {
		*p = op(*p, *theirs[i])
	}
	s.Latency, s.Rows = opd(s.Latency, o.Latency), opd(s.Rows, o.Rows)
	s.RewrittenLatency = opd(s.RewrittenLatency, o.RewrittenLatency)
	s.RequestBytes, s.ResponseBytes = opd(s.RequestBytes, o.RequestBytes), opd(s.ResponseBytes, o.ResponseBytes)
	s.ErrorCodes, s.Warnings = s.ErrorCodes.combine(o.ErrorCodes, op), s.Warnings.combine(o.Warnings, op)
	s.Consistency = s.Consistency.combine(o.Consistency, op)
	s.SerialConsistency = s.SerialConsistency.combine(o.SerialConsistency, op)
	s.Callers = combineShares(s.Callers, o.Callers, op)
}

// plus adds what o counted. What they say of the statement itself is taken from the one that is to be believed.
func (s *Statement) plus(o *Statement) {
	if o.Count == 0 && o.Fingerprint == "" {
		return
	}
	if o.isNewer(s) {
		s.Fingerprint, s.Keyspace, s.Table, s.Kind, s.Text, s.Conditional = o.Fingerprint, o.Keyspace, o.Table, o.Kind, o.Text, o.Conditional
		s.Variables, s.Results, s.Described = o.Variables, o.Results, o.Described
	}
	s.combine(o, plus, histogram.Distribution.Plus)
	s.Born = 0
	if s.First.IsZero() || !o.First.IsZero() && o.First.Before(s.First) {
		s.First = o.First
	}
	if o.Last.After(s.Last) {
		s.Last = o.Last
	}
}

// isNewer reports whether what s says of its columns is newer than what o says, or, of two at the same time, by an order that
// does not depend on which is which.
func (s *Statement) isNewer(o *Statement) bool {
	if c := s.Described.Compare(o.Described); c != 0 {
		return c > 0
	}
	if s.Text == o.Text && s.Keyspace == o.Keyspace && s.Table == o.Table && s.Kind == o.Kind && slices.EqualFunc(s.Variables, o.Variables, Column.equal) && slices.EqualFunc(s.Results, o.Results, Column.equal) {
		return false // nearly always
	}
	return s.description() > o.description()
}

func (c Column) equal(o Column) bool {
	return c.Keyspace == o.Keyspace && c.Table == o.Table && c.Name == o.Name && reflect.DeepEqual(c.Type, o.Type)
}

func (s *Statement) description() string {
	raw, _ := json.Marshal([]any{s.Keyspace, s.Table, s.Kind, s.Text, s.Variables, s.Results}) // plain values
	return string(raw)
}

func plus(a, b uint64) uint64 { return a + b }

func minus(a, b uint64) uint64 {
	if b > a {
		return 0
	}
	return a - b
}

func combineShares(a, b []Share, op func(a, b uint64) uint64) []Share {
	var out []Share
	theirs := map[Caller]Share{}
	for _, s := range b {
		theirs[s.Caller] = s
	}
	for _, s := range a {
		o := theirs[s.Caller]
		delete(theirs, s.Caller)
		out = append(out, Share{s.Caller, op(s.Count, o.Count), op(s.Errors, o.Errors), op(s.Micros, o.Micros)})
	}
	for _, o := range b {
		if _, left := theirs[o.Caller]; left {
			out = append(out, Share{o.Caller, op(0, o.Count), op(0, o.Errors), op(0, o.Micros)})
		}
	}
	out = slices.DeleteFunc(out, func(s Share) bool { return s.Count|s.Errors|s.Micros == 0 })
	sortShares(out)
	if len(out) == 0 {
		return nil
	}
	return out
}

func sortShares(list []Share) {
	slices.SortFunc(list, func(a, b Share) int {
		rest := func(c Caller) int {
			if c.Rest {
				return 1
			}
			return 0
		}
		return cmp.Or(cmp.Compare(rest(a.Caller), rest(b.Caller)), cmp.Compare(b.Count, a.Count), cmp.Compare(a.Application, b.Application),
			cmp.Compare(a.Role, b.Role), cmp.Compare(a.Driver, b.Driver))
	})
}
