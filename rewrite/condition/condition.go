// Package condition is the list of what must hold for an answer from a look-up to be the answer of the original statement: C1 to
// C24, each with its title, why it matters, what helps, where it is checked and an example. Whatever refuses does so by one of them, and says its
// id, its title and where to read more. docs/conditions.md is written from it.
//
// It holds no checks: what can break a condition depends on the kind of change, so each kind registers its own to the
// conditions here (of the look-up: rewrite/lookup/match). It imports nothing of ours, so that advice and what carries it out can
// both speak of conditions without knowing of each other.
package condition

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Page is where the conditions are explained.
const Page = "https://github.com/helenus-db/helenus/blob/main/docs/conditions.md"

//go:generate go test . -run TestPage -update

// ID names a condition: "C" and a number.
type ID string

// Place is where a condition is checked.
type Place string

// The places.
const (
	OfTable     Place = "**the table**: before a look-up is advised, when it is approved, and after each change of the schema"
	OfCluster   Place = "**the cluster**: when an approved look-up table is created"
	OfStatement Place = "**each statement**: before a look-up is advised, and when it is prepared; one that fails runs as written, the others are served"
	OfExecution Place = "**each execution** of a served statement: one that fails runs as written"
	OfWrite     Place = "**each write**: before a look-up is advised (a warning), and as it comes; it is carried out, and reads run as written until the look-up is true again"
	OfLookUp    Place = "**the look-up table**: after each change of the schema, and at each statement of a client that changes it"
	OfKept      Place = "**a table that the application keeps**, by which rows are to be found: before that is advised, and when it is approved"
	ByDesign    Place = "nothing: Helenus itself holds it at all times, and refuses nothing because of it"
)

// Condition is one thing that must hold.
type Condition struct {
	ID       ID
	Title    string
	Says     string  // what must hold
	Why      string  // what goes wrong otherwise
	Help     string  // what a person can do
	Where    []Place // in which it is checked
	Overrule bool    // a person may pass over it where it refuses a whole table because of one statement
	CQL      string  // an example; of each SELECT the comment after it says what becomes of it
}

// All are the conditions, by number.
var All = [...]*Condition{Columns, Order, Paging, Limits, Functions, Values, Existence, Statics, Collections, Lifetime, Timestamps, Conditional, Consistency,
	Frames, Retries, Deletes, Counters, Batches, Types, Schema, Rights, SideEffects, Masks, Copies}

// Find returns the condition of an id, nil if there is none.
func Find(id ID) *Condition {
	for _, c := range All {
		if c.ID == id {
			return c
		}
	}
	return nil
}

// Name is id and title, as people see them.
func (id ID) Name() string {
	if c := Find(id); c != nil {
		return c.Name()
	}
	return string(id)
}

// Label is the id as the label of a metric: one of those that there are, whatever was stored.
func (id ID) Label() string {
	if Find(id) == nil {
		return "unknown"
	}
	return string(id)
}

// Index is its place in All.
func (c *Condition) Index() int {
	for i, x := range All {
		if x == c {
			return i
		}
	}
	return -1
}

// Name is id and title, as people see them.
func (c *Condition) Name() string { return string(c.ID) + " " + c.Title }

// Link is where it is explained.
func (c *Condition) Link() string { return Page + "#" + strings.ToLower(string(c.ID)) }

// Ref is what the API says of a condition.
type Ref struct {
	ID    ID     `json:"id"`
	Title string `json:"title"`
	Link  string `json:"link"`
}

// Ref returns what the API says of it.
func (c *Condition) Ref() *Ref { return &Ref{c.ID, c.Title, c.Link()} }

// Refuse makes a refusal by this condition; format says what breaks it.
func (c *Condition) Refuse(format string, args ...any) *Refusal {
	return &Refusal{c.ID, fmt.Sprintf(format, args...)}
}

// Refusal says which condition forbids something, and why. It is an error.
type Refusal struct {
	Condition ID
	Reason    string
}

// Error says id, title, reason and link.
func (r *Refusal) Error() string {
	if c := Find(r.Condition); c != nil {
		return r.Text() + " (" + c.Link() + ")"
	}
	return r.Text()
}

// Text is Error without the link.
func (r *Refusal) Text() string {
	switch c := Find(r.Condition); {
	case c != nil:
		return c.Name() + ": " + r.Reason
	case r.Condition != "": // of another version
		return string(r.Condition) + ": " + r.Reason
	}
	return r.Reason
}

var linked = regexp.MustCompile(regexp.QuoteMeta(Page) + `#(c[0-9]+)\)`)

// In finds the conditions whose refusals (Error) a text consists of, or has within, each once. Reasons are kept and handed on as texts; the link
// in them tells which condition it was.
func In(text string) (found []*Ref) {
	for _, m := range linked.FindAllStringSubmatch(text, -1) {
		c := Find(ID(strings.ToUpper(m[1])))
		if c != nil && !slices.ContainsFunc(found, func(r *Ref) bool { return r.ID == c.ID }) {
			found = append(found, c.Ref())
		}
	}
	return found
}
