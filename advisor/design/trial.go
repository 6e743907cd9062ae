package design

import (
	"fmt"
	"strings"
)

// Trial is what came of running a design on made entities before it was shown.
type Trial struct {
	Wrong   []Counter `json:"wrong"`
	Untried []Untried `json:"not_tried"`
}

// Counter is a counter-example: a statement whose plan answers otherwise than what it means.
type Counter struct {
	Statement string   `json:"statement"`
	With      string   `json:"with"`            // its parameters
	After     string   `json:"after,omitempty"` // the write after which it did so first; empty: before any
	How       string   `json:"how"`
	Was       []string `json:"answered"`
	Right     []string `json:"right"`
}

// Untried is a statement that could not be run on made entities, and why.
type Untried struct {
	Statement string `json:"statement"`
	Reason    string `json:"reason"`
}

// String says it in a sentence.
func (c Counter) String() string {
	after := ""
	if c.After != "" {
		after = ", after " + c.After
	}
	list := func(rows []string) string {
		if len(rows) == 0 {
			return "nothing"
		}
		return strings.Join(rows, " ")
	}
	return fmt.Sprintf("%s would be answered with %s: on made entities, asked with %s%s, with %s; right is %s", c.Statement, c.How, c.With, after, list(c.Was), list(c.Right))
}

// trialLines say what came of a trial, as lines of the summary.
func (d *Design) trialLines() (list []string) {
	if d.Trial == nil {
		return nil
	}
	for _, c := range d.Trial.Wrong {
		list = append(list, "WRONG   "+c.String())
	}
	if len(d.Trial.Wrong) > 0 {
		list = append(list, "WRONG   do not carry this design out: its tables and plans change answers, which is a fault of Helenus")
	}
	for _, u := range d.Trial.Untried {
		list = append(list, fmt.Sprintf("note    %s was not tried on made entities: %s", u.Statement, u.Reason))
	}
	return list
}
