package plan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"github.com/helenus-db/helenus/rewrite/condition"
)

// Rewrite is the contract between the advisor and package rewrite for a change of any kind: other ways to answer statements of the
// application, which a person approves as one. Keyspace, Base, Table, TableKeyspace, Statements, Texts, SchemaDigest and Promise mean the same to all; the
// rest is the kind's.
//
// A look-up (docs/design/mapping.md 3.3, R1) is a derived table that finds primary keys by one column, after which the base rows are read
// again and re-checked. As a plan it is a join plan whose last step is the base table.
type Rewrite struct {
	Kind     string `json:"kind,omitempty"` // name of its kind (rewrite/kinds); "" in records of when there were look-ups only
	Keyspace string `json:"keyspace"`
	Base     string `json:"base"`   // the application's table; never altered
	Column   string `json:"column"` // what the statements ask by; partition key of a look-up table
	Table    string `json:"table"`  // name of the table that it makes; "" if it makes none
	// TableKeyspace is where that lies: a keyspace of ours (schema.DataKeyspace); "" in records of when it lay in Keyspace.
	TableKeyspace string   `json:"table_keyspace,omitempty"`
	Statements    []string `json:"statements"` // fingerprints (32 hex digits) of the statements to be answered otherwise
	Texts         []string `json:"texts"`      // their normalised texts, in the same order
	// SchemaDigest is schema.Table.Digest of the base table that the advice was made on: approval is refused when it is no
	// longer the same.
	SchemaDigest string `json:"schema_digest"`
	// Entries is how many rows of one value a read may follow: beyond, the original statement is the cheaper way. 0: not
	// bounded by cost.
	Entries int `json:"entries,omitempty"`
	// Own is what only its kind reads.
	Own json.RawMessage `json:"own,omitempty"`
	// Promise is what was promised when it was advised; it is held against what is measured.
	Promise Promise `json:"promise,omitzero"`
}

// Home is the keyspace in which the table lies that it makes.
func (r *Rewrite) Home() string { return cmp.Or(r.TableKeyspace, r.Keyspace) }

// FullTable is the table that it makes, with its keyspace.
func (r *Rewrite) FullTable() string { return r.Home() + "." + r.Table }

// LookUp is the kind of a verified look-up, the first there was.
const LookUp = "lookup"

// Proposal is a change that its kind proposes for the statements seen.
type Proposal struct {
	Rewrite Rewrite
	Title   string // in a few words
	Why     string // a paragraph of plain English, with numbers
	// SavedSecondsPerSecond is the work that it would save on reads, less what it adds to writes.
	SavedSecondsPerSecond float64
}

// Promise is what a change is expected to bring; zero fields are not known.
type Promise struct {
	Reads  float64  `json:"reads,omitempty"`  // how many times faster its reads will be
	Writes float64  `json:"writes,omitempty"` // how many times as long the dearest of its writes will take
	Paying []string `json:"paying,omitempty"` // fingerprints of these writes
}

// Same reports whether two are the same change: what they are expected to cost, and so how far they are followed, may differ.
func (r Rewrite) Same(o Rewrite) bool {
	r.Entries, o.Entries, r.Promise, o.Promise = 0, 0, Promise{}, Promise{}
	return reflect.DeepEqual(r, o)
}

// Verdict says whether a statement may take part in a change, and if not, which condition refuses it.
type Verdict struct {
	Statement string       `json:"statement"` // fingerprint; "" for the table as a whole
	Condition condition.ID `json:"condition"` // "" if nothing refuses
	Refused   bool         `json:"refused"`
	Reason    string       `json:"reason"`
	// Cause is the fingerprint of the one statement because of which the table as a whole is refused; "" if it is not because of
	// one. A person may overrule such a verdict.
	Cause string `json:"cause,omitempty"`
}

// MarshalJSON adds the title of the condition, and the link to where it is explained.
func (v Verdict) MarshalJSON() ([]byte, error) {
	type stored Verdict
	out := struct {
		stored
		Title string `json:"title,omitempty"`
		Link  string `json:"link,omitempty"`
	}{stored: stored(v)}
	if c := condition.Find(v.Condition); c != nil {
		out.Title, out.Link = c.Title, c.Link()
	}
	return json.Marshal(out)
}

// RefusedBy lists the conditions by which verdicts refuse, each once, and how many do.
func RefusedBy(verdicts []Verdict) (ids []condition.ID, times map[condition.ID]int) {
	times = map[condition.ID]int{}
	for _, v := range verdicts {
		if !v.Refused || v.Condition == "" {
			continue
		}
		if times[v.Condition]++; times[v.Condition] == 1 {
			ids = append(ids, v.Condition)
		}
	}
	return ids, times
}

// Refusal is a verdict as what people read: condition, title, reason and link.
func (v *Verdict) Refusal() *condition.Refusal {
	return &condition.Refusal{Condition: v.Condition, Reason: v.Reason}
}

// Overrule is a person's word that a condition may be passed over that refuses a change because of one statement, or warns of one: he
// knows that the statement does not come any more, or what it does. Passing over a warning changes nothing of what is done; it is kept
// with his name that he knew.
type Overrule struct {
	Condition condition.ID `json:"condition"`
	Statement string       `json:"statement"` // fingerprint, or its beginning
}

// String writes it as ParseOverrule reads it.
func (o Overrule) String() string { return string(o.Condition) + ":" + o.Statement }

// ExampleOverrule shows people how to write one.
var ExampleOverrule = Overrule{condition.Schema.ID, "4ad1f0"}.String()

var overrulePattern = regexp.MustCompile(`^(C[0-9]+):([0-9a-f]{6,32})$`)

// ParseOverrule reads the id of a condition and the fingerprint of a statement, or 6 digits or more that it begins with, as in ExampleOverrule.
func ParseOverrule(text string) (Overrule, error) {
	m := overrulePattern.FindStringSubmatch(text)
	if m == nil || condition.Find(condition.ID(m[1])) == nil {
		return Overrule{}, fmt.Errorf("%q is not a condition and a statement's fingerprint, such as %s (6 digits at least); the conditions are listed at %s",
			text, ExampleOverrule, condition.Page)
	}
	return Overrule{condition.ID(m[1]), m[2]}, nil
}

// Covers reports whether it is this verdict that is passed over.
func (o Overrule) Covers(v *Verdict) bool {
	switch {
	case v.Condition != o.Condition:
		return false
	case v.Warns():
		return strings.HasPrefix(v.Statement, o.Statement)
	}
	return v.Overrulable() && strings.HasPrefix(v.Cause, o.Statement)
}

// Warns reports whether a verdict refuses nothing, but says what a statement will cost the reads.
func (v *Verdict) Warns() bool { return !v.Refused && v.Statement != "" && v.Condition != "" }

// Overrulable reports whether a verdict refuses the whole because of one statement, by a condition that a person may pass over.
func (v *Verdict) Overrulable() bool {
	c := condition.Find(v.Condition)
	return v.Refused && v.Statement == "" && v.Cause != "" && c != nil && c.Overrule
}
