// Package trace defines what is known of a sampled exchange once its values are hashed, and writes and reads files of
// such records. It imports capture/value, and proxy for the descriptions of columns.
//
// # The file
//
// gzip of JSON lines: a head, then for each statement, before it is first executed, what it is (its fingerprint, its columns
// and their types: names of the schema, no text), then executions. A hash is written as SipHash of what it was, under a key
// that is made for the one file and then forgotten, so two files, or a file and the process that wrote it, have no hash in
// common, and who knows the process's key can not look for a value. Numbers are not written, only their magnitude.
// So no value is in it, but equal ones can be told to be equal; how often each occurs may say something of data with few
// different values (a country, a status), so a file is to be handled with care.
package trace

import (
	"strings"

	"github.com/helenus-db/helenus/capture/value"
	"github.com/helenus-db/helenus/proxy"
)

// Statement is what has to be known of a statement to look at its values. It is immutable; a new one is made when Cassandra
// describes it anew.
type Statement struct {
	Fingerprint string
	Keyspace    string // of its one table
	Table       string
	Write       bool
	Variables   []proxy.Column
	Ranges      []bool // which Variables are compared by <, <=, > or >=; nil if none is
	Results     []proxy.Column
	// PartitionKey lists the Variables that are the partition key, in order; empty if not all of it is bound.
	PartitionKey []int
	// Shape is how the statement restricts its rows: "user_id =, added_date <". No value is in it.
	Shape string
	// Key lists the columns that WHERE compares by =, and Sets those that a write sets to one value, whatever was there; of an
	// INSERT Key is empty, and Sets has its key too. Conditional: with IF. Limited: a read with LIMIT.
	Key         []string `json:",omitempty"`
	Sets        []string `json:",omitempty"`
	Conditional bool     `json:",omitempty"`
	Limited     bool     `json:",omitempty"`
}

// Execution is a sampled exchange. It is not changed once made.
type Execution struct {
	Statement  *Statement
	Start, End int64  // nanoseconds on the proxy's clock: request seen, answer handed to the client
	Process    uint64 // of the client: a hash of what it says of itself and of its host
	Batch      uint64 // 0, or a number that all children of one BATCH share
	Sequence   uint32 // number of this execution of the statement
	Failed     bool
	Last       bool   // of the answer's pages
	Rows       int    // in the answer, -1 if it does not say
	Bytes      int    // of the answer
	Partition  uint64 // hash of the partition key, 0 if it is not all bound
	// Binds are the bound values by place (Places), the elements of lists one by one; Cells those of the first rows.
	Binds, Cells []value.Value
	// MadeBinds and MadeCells are what texts among them are made of ("user:123").
	MadeBinds, MadeCells []value.Made
}

// Places numbers the variables of a statement so that those of one list, IN (?, ?, ?), have the same number whatever its
// length: executions with lists of all lengths share a fingerprint, and so their variables have to share theirs. So it is with lists of several
// columns, (a, b) IN ((?, ?), (?, ?)).
func Places(st *Statement) []int {
	out := make([]int, len(st.Variables))
	next := 0
	for i := 0; i < len(out); {
		n, rows := st.repeats(i)
		for k := range n * rows {
			out[i+k] = next + k%n
		}
		next, i = next+n, i+n*rows
	}
	return out
}

// repeats finds what is said several times on end from a variable on: so many variables, so many times; one, once, if nothing is.
func (st *Statement) repeats(from int) (n, rows int) {
	same := func(i, k int) bool {
		a, b := &st.Variables[i], &st.Variables[k]
		return a.Name == b.Name && a.Table == b.Table && a.Keyspace == b.Keyspace && (k >= len(st.Ranges) || !st.Ranges[k])
	}
	for n = 1; from+2*n <= len(st.Variables) && n <= maxTogether; n++ {
		end := from + n
		for end < len(st.Variables) && same(end-n, end) {
			end++
		}
		if rows = (end - from) / n; rows > 1 {
			return n, rows
		}
	}
	return 1, 1
}

// maxTogether is how many columns one list is of at most.
const maxTogether = 8

// Variable returns the index of the first variable with a place, -1 if there is none.
func Variable(st *Statement, place int) int {
	for i, p := range Places(st) {
		if p == place {
			return i
		}
	}
	return -1
}

// ColumnOf is the column that a variable's name stands for: in(c) stands for c.
func ColumnOf(name string) string {
	if len(name) > 4 && strings.EqualFold(name[:3], "in(") && name[len(name)-1] == ')' {
		return name[3 : len(name)-1]
	}
	return name
}
