package correction

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// None is the answer that there is nothing: no entity whose key a column holds, no table of which another is a copy.
const None = "none"

// What a join is to be.
const (
	Accept = "accept"
	Reject = "reject"
)

// Correction is one line: one of the fields of the first group is set, those below it are its own.
type Correction struct {
	Same         []string `json:"same,omitempty" yaml:"same,flow,omitempty"`
	Different    []string `json:"different,omitempty" yaml:"different,flow,omitempty"`
	Entity       string   `json:"entity,omitempty" yaml:"entity,omitempty"` // a table
	Relationship string   `json:"relationship,omitempty" yaml:"relationship,omitempty"`
	Copy         string   `json:"copy,omitempty" yaml:"copy,omitempty"`
	Join         string   `json:"join,omitempty" yaml:"join,omitempty"` // Accept or Reject
	Rename       string   `json:"rename,omitempty" yaml:"rename,omitempty"`
	Weight       string   `json:"weight,omitempty" yaml:"weight,omitempty"` // a fingerprint, or the beginning of it
	Pin          string   `json:"pin,omitempty" yaml:"pin,omitempty"`

	Name      string   `json:"name,omitempty" yaml:"name,omitempty"`
	Key       []string `json:"key,omitempty" yaml:"key,flow,omitempty"` // columns, bare
	Of        string   `json:"of,omitempty" yaml:"of,omitempty"`
	From      string   `json:"from,omitempty" yaml:"from,omitempty"` // of a join: ks.t.c, or fingerprint:ks.t.c
	To        string   `json:"to,omitempty" yaml:"to,omitempty"`
	PerSecond *float64 `json:"per_second,omitempty" yaml:"per_second,omitempty"`
	Times     *float64 `json:"times,omitempty" yaml:"times,omitempty"`

	Because  string `json:"because,omitempty" yaml:"because,omitempty"`
	Question string `json:"question,omitempty" yaml:"question,omitempty"`
}

// List is what is corrected. The zero value corrects nothing.
type List []Correction

// String says it on one line, without why.
func (c *Correction) String() string {
	switch {
	case len(c.Same) > 0:
		return "the same: " + strings.Join(c.Same, ", ")
	case len(c.Different) > 0:
		return "different: " + strings.Join(c.Different, ", ")
	case c.Entity != "":
		text := c.Entity + " holds an entity"
		if c.Name != "" {
			text += " called " + c.Name
		}
		if len(c.Key) > 0 {
			text += " identified by " + strings.Join(c.Key, ", ")
		}
		return text
	case c.Relationship != "" && c.To == None:
		return c.Relationship + " holds the key of no entity"
	case c.Relationship != "":
		return c.Relationship + " holds the key of " + c.To
	case c.Copy != "" && c.Of == None:
		return c.Copy + " is no copy of another table"
	case c.Copy != "":
		return c.Copy + " is a copy of " + c.Of
	case c.Join == Accept:
		return c.From + " to " + c.To + " is a join by hand"
	case c.Join != "":
		return c.From + " to " + c.To + " is no join by hand"
	case c.Rename != "":
		return c.Rename + " is called " + c.To
	case c.Weight != "" && c.PerSecond != nil:
		return fmt.Sprintf("statement %s counts %s times a second", c.Weight, number(*c.PerSecond))
	case c.Weight != "" && c.Times != nil:
		return fmt.Sprintf("statement %s counts %s times what it is executed", c.Weight, number(*c.Times))
	}
	return c.Pin + " stays as it is inferred now"
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }

// Says tells whether two lines say the same, whatever the reason.
func (c *Correction) Says(o *Correction) bool {
	float := func(a, b *float64) bool { return a == nil && b == nil || a != nil && b != nil && *a == *b }
	return slices.Equal(c.Same, o.Same) && slices.Equal(c.Different, o.Different) && c.Entity == o.Entity && c.Relationship == o.Relationship &&
		c.Copy == o.Copy && c.Join == o.Join && c.Rename == o.Rename && c.Weight == o.Weight && c.Pin == o.Pin && c.Name == o.Name &&
		slices.Equal(c.Key, o.Key) && c.Of == o.Of && c.From == o.From && c.To == o.To && float(c.PerSecond, o.PerSecond) && float(c.Times, o.Times)
}

// Has tells whether a line that says the same is in the list.
func (l List) Has(c *Correction) bool {
	return slices.ContainsFunc(l, func(o Correction) bool { return o.Says(c) })
}

// Answers are the lines that answer a question.
func (l List) Answers(question string) (out List) {
	for i := range l {
		if question != "" && l[i].Question == question {
			out = append(out, l[i])
		}
	}
	return out
}

// Without is the list without the answers to a question.
func (l List) Without(question string) List {
	return slices.DeleteFunc(slices.Clone(l), func(c Correction) bool { return question != "" && c.Question == question })
}

// Named is what a line names: tables as keyspace.table, columns as keyspace.table.column. Statements are not among it.
func (c *Correction) Named() (out []string) {
	add := func(names ...string) {
		for _, n := range names {
			if n == "" || n == None {
				continue
			}
			_, n = Split(n)
			out = append(out, n)
		}
	}
	add(c.Same...)
	add(c.Different...)
	add(c.Entity, c.Relationship, c.Copy, c.Of, c.Rename, c.Pin, c.From)
	for _, k := range c.Key {
		add(c.Entity + "." + k)
	}
	if c.Rename == "" {
		add(c.To)
	}
	return out
}

// Split takes "fingerprint:keyspace.table.column" apart; fingerprint is "" if none is named.
func Split(end string) (fingerprint, column string) {
	if f, c, both := strings.Cut(end, ":"); both && !strings.Contains(f, ".") {
		return f, c
	}
	return "", end
}

// IsColumn tells a column from a table.
func IsColumn(name string) bool { return strings.Count(name, ".") >= 2 }

// Parts are keyspace, table, and column, which is "" of a table.
func Parts(name string) (keyspace, table, column string) {
	keyspace, rest, _ := strings.Cut(name, ".")
	table, column, _ = strings.Cut(rest, ".")
	return keyspace, table, column
}
