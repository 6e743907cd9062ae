// Package report makes of a snapshot what people ask of it: which statements (List), everything about one and why it is slow
// (Explain), and how tables and their columns are used (Tables). It imports capture, capture/cql, capture/feed and capture/schema,
// and asks nobody anything: same input, same report.
package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/feed"
	"github.com/helenus-db/helenus/capture/schema"
)

// Statement is a statement and how it reaches its rows.
type Statement struct {
	capture.Statement
	Access schema.Access `json:"access"`
}

// Statements is a list of statements, and what was not listed.
type Statements struct {
	From       time.Time         `json:"from"`
	To         time.Time         `json:"to"`
	Requests   uint64            `json:"requests"`   // in all
	Statements []Statement       `json:"statements"` // as sorted
	Matching   int               `json:"matching"`   // how many there are that the filters let through, listed or not
	Other      capture.Statement `json:"other"`
	Unknown    capture.Statement `json:"unknown"`
	Feeds      []feed.Feed       `json:"feeds,omitempty"`
	Note       string            `json:"note,omitempty"` // what is wrong with the list
}

// Query says what to list. The zero value lists all, by fingerprint.
type Query struct {
	Sort        string // a name of Sorts, "" for fingerprint
	Limit       int    // 0: all
	Table       string // table, or keyspace.table
	Keyspace    string
	Class       string // schema.Class
	Kind        string // as capture.Statement.Kind
	User        string // role of a caller
	Application string
	Driver      string
}

// sorts are the orders: the larger goes first.
var sorts = map[string]func(s *capture.Statement) float64{
	"time":   func(s *capture.Statement) float64 { return float64(s.Latency.Sum) },
	"p50":    func(s *capture.Statement) float64 { return s.Latency.P50() },
	"p99":    func(s *capture.Statement) float64 { return s.Latency.P99() },
	"calls":  func(s *capture.Statement) float64 { return float64(s.Count) },
	"rows":   func(s *capture.Statement) float64 { return float64(s.Rows.Sum) },
	"bytes":  func(s *capture.Statement) float64 { return float64(s.RequestBytes.Sum + s.ResponseBytes.Sum) },
	"errors": func(s *capture.Statement) float64 { return float64(s.Errors) },
}

// Sorts are the names of orders.
func Sorts() []string { return []string{"time", "p50", "p99", "calls", "rows", "bytes", "errors"} }

// Check tells what is wrong with the query.
func (q *Query) Check() error {
	if q.Sort != "" && sorts[q.Sort] == nil {
		return fmt.Errorf("sort %q: it may be %s", q.Sort, strings.Join(Sorts(), ", "))
	}
	for _, one := range [...]struct {
		name, value string
		known       []string
	}{{"class", q.Class, Classes()}, {"kind", q.Kind, cql.Kinds()}} {
		if one.value != "" && !slices.Contains(one.known, one.value) {
			return fmt.Errorf("%s %q: it may be %s", one.name, one.value, strings.Join(one.known, ", "))
		}
	}
	return nil
}

// Classes are the names of the ways in which a statement may reach its rows, the best first.
func Classes() []string {
	var out []string
	for _, c := range [...]schema.Class{schema.Row, schema.Partition, schema.MultiPartition, schema.IndexRead, schema.Scan, schema.Unknown} {
		out = append(out, string(c))
	}
	return out
}

// With adds to a statement how it reaches its rows. sc may be nil: then the class is unknown.
func With(s capture.Statement, sc *schema.Schema) Statement {
	out := Statement{Statement: s, Access: schema.Access{Class: schema.Unknown, Keyspace: s.Keyspace, Table: s.Table}}
	if st, err := s.Parse(); err == nil && sc != nil {
		out.Access = schema.Classify(st, sc, s.Keyspace)
	}
	return out
}

// List lists the statements of a snapshot that a query asks for.
func List(s *capture.Snapshot, sc *schema.Schema, q Query) *Statements {
	out := &Statements{From: s.From, To: s.To, Requests: s.Requests(), Statements: []Statement{}, Other: s.Other, Unknown: s.Unknown, Feeds: s.Feeds}
	var list []Statement
	for i := range s.Statements {
		if one := With(s.Statements[i], sc); q.matches(&one) {
			list = append(list, one)
		}
	}
	if by := sorts[q.Sort]; by != nil {
		slices.SortStableFunc(list, func(a, b Statement) int { return cmp.Compare(by(&b.Statement), by(&a.Statement)) })
	}
	out.Matching = len(list)
	if q.Limit > 0 && len(list) > q.Limit {
		list = list[:q.Limit]
	}
	out.Statements = append(out.Statements, list...)
	return out
}

func (q *Query) matches(s *Statement) bool {
	is := func(want string, is ...string) bool { return want == "" || slices.Contains(is, want) }
	return is(q.Keyspace, s.Keyspace) && is(q.Table, s.Table, s.Keyspace+"."+s.Table) && is(q.Class, string(s.Access.Class)) && is(q.Kind, s.Kind) &&
		(q.User+q.Application+q.Driver == "" || slices.ContainsFunc(s.Callers, func(c capture.Share) bool {
			return !c.Rest && is(q.User, c.Role) && is(q.Application, c.Application) && is(q.Driver, c.Driver)
		}))
}

// Change is one statement in two periods. The periods may be of different lengths, so numbers are per second.
type Change struct {
	Fingerprint string       `json:"fingerprint"`
	Text        string       `json:"text"`
	Class       schema.Class `json:"class"`
	Before      Rates        `json:"before"`
	After       Rates        `json:"after"`
}

// Rates are what a statement did in a period.
type Rates struct {
	Calls  float64 `json:"calls"`  // per second
	Errors float64 `json:"errors"` // per second
	Busy   float64 `json:"busy"`   // seconds of latency per second
	P50    float64 `json:"p50"`    // microseconds
	P99    float64 `json:"p99"`
	Rows   float64 `json:"rows"` // per call
}

func rates(s *capture.Statement, seconds float64) Rates {
	if s == nil || seconds <= 0 {
		return Rates{}
	}
	return Rates{Calls: float64(s.Count) / seconds, Errors: float64(s.Errors) / seconds, Busy: float64(s.Latency.Sum) / 1e6 / seconds,
		P50: s.Latency.P50(), P99: s.Latency.P99(), Rows: s.Rows.Mean()}
}

// Diff compares two periods, the largest change of time spent first. Both are of the same query.
func Diff(before, after *Statements, limit int) []Change {
	index := map[string]*Statement{}
	for i := range before.Statements {
		index[before.Statements[i].Fingerprint] = &before.Statements[i]
	}
	a, b := before.To.Sub(before.From).Seconds(), after.To.Sub(after.From).Seconds()
	out := []Change{}
	add := func(was, is *Statement) {
		c := Change{}
		said := is
		if is == nil {
			said = was
		}
		c.Fingerprint, c.Text, c.Class = said.Fingerprint, said.Text, said.Access.Class
		if was != nil {
			c.Before = rates(&was.Statement, a)
		}
		if is != nil {
			c.After = rates(&is.Statement, b)
		}
		out = append(out, c)
	}
	for i := range after.Statements {
		s := &after.Statements[i]
		add(index[s.Fingerprint], s)
		delete(index, s.Fingerprint)
	}
	for i := range before.Statements {
		if s := index[before.Statements[i].Fingerprint]; s != nil {
			add(s, nil)
		}
	}
	size := func(c Change) float64 { return max(c.After.Busy-c.Before.Busy, c.Before.Busy-c.After.Busy) }
	slices.SortStableFunc(out, func(x, y Change) int {
		return cmp.Or(cmp.Compare(size(y), size(x)), cmp.Compare(x.Fingerprint, y.Fingerprint))
	})
	if limit > 0 && len(out) > limit {
		out = out[:limit]
	}
	return out
}

// Since is what later lists beyond earlier, of the same process and query; the earlier one has all statements.
func Since(earlier, later *Statements, q Query) *Statements {
	a, b := earlier.snapshot(), later.snapshot()
	access := map[string]schema.Access{}
	for _, s := range later.Statements {
		access[s.Fingerprint] = s.Access
	}
	q = Query{Sort: q.Sort, Limit: q.Limit} // both were filtered
	out := List(b.Since(a), nil, q)
	for i := range out.Statements {
		out.Statements[i].Access = access[out.Statements[i].Fingerprint]
	}
	out.Note = later.Note
	return out
}

func (s *Statements) snapshot() *capture.Snapshot {
	out := &capture.Snapshot{From: s.From, To: s.To, Other: s.Other, Unknown: s.Unknown}
	for i := range s.Statements {
		out.Statements = append(out.Statements, s.Statements[i].Statement)
	}
	slices.SortFunc(out.Statements, func(a, b capture.Statement) int { return cmp.Compare(a.Fingerprint, b.Fingerprint) })
	return out
}
