package admin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/helenus-db/helenus/advisor/lint"
	"github.com/helenus-db/helenus/advisor/rules"
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/cycle"
	"github.com/helenus-db/helenus/capture/feed"
	"github.com/helenus-db/helenus/capture/history"
	"github.com/helenus-db/helenus/capture/profile"
	"github.com/helenus-db/helenus/capture/report"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/capture/tracer"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// Memory is what the API needs of package history.
type Memory interface {
	// Between is what was counted in a period; it is valid also with an error, which says what is missing.
	Between(ctx context.Context, from, to time.Time) (*capture.Snapshot, error)
	// Series is one statement window by window.
	Series(ctx context.Context, fingerprint string, from time.Time) ([]history.Point, error)
	cycle.Source // hour by hour
}

// statementRoutes are the routes about what was said.
func (s *Server) statementRoutes(route func(string, func(*http.Request) (any, error))) {
	route("GET /api/v1/statements", s.statements)
	route("GET /api/v1/statements/{id}", s.statement)
	route("POST /api/v1/statements/{id}/trace", s.trace)
	route("GET /api/v1/tables", s.tables)
	route("GET /api/v1/lint", s.lint)
	route("GET /api/v1/schema", s.schema)
	route("GET /api/v1/safety", s.safety)
}

// period is what was counted since the time that the request names, or since the process started. A time is a duration before
// now ("1h") or a moment (RFC 3339).
func (s *Server) period(r *http.Request) (out *capture.Snapshot, note string, err error) {
	q := r.URL.Query()
	from, err := moment(q, "since")
	if err != nil {
		return nil, "", err
	}
	to, err := moment(q, "until")
	if err != nil {
		return nil, "", err
	}
	if from.IsZero() && to.IsZero() {
		return s.o.Statements(), "", nil
	}
	if !to.IsZero() && !from.Before(to) {
		return nil, "", invalid(fmt.Sprintf("since (%s) must be before until (%s)", from.Format(time.RFC3339), to.Format(time.RFC3339)))
	}
	if out, err = s.o.History.Between(r.Context(), from, to); err != nil {
		note = "not all of the history could be read: " + err.Error()
	}
	return out, note, nil
}

func moment(q url.Values, name string) (time.Time, error) {
	text := q.Get(name)
	if text == "" {
		return time.Time{}, nil
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return time.Now().Add(-d), nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, invalid(fmt.Sprintf("%s %q is neither a duration such as 90m nor a time such as 2026-01-31T08:00:00Z", name, text))
	}
	return t, nil
}

func (s *Server) statements(r *http.Request) (any, error) {
	v := r.URL.Query()
	q := report.Query{Sort: v.Get("sort"), Table: v.Get("table"), Keyspace: v.Get("keyspace"), Class: v.Get("class"), Kind: v.Get("kind"),
		User: v.Get("user"), Application: v.Get("application"), Driver: v.Get("driver")}
	if text := v.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return nil, invalid(fmt.Sprintf("limit %q is no number from 0 on", text))
		}
		q.Limit = n
	}
	if err := q.Check(); err != nil {
		return nil, invalid(err.Error())
	}
	snapshot, note, err := s.period(r)
	if err != nil {
		return nil, err
	}
	out := report.List(snapshot, s.o.Schema(), q)
	out.Note = note
	return out, nil
}

// Detail is everything about one statement.
type Detail struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
	report.Statement
	Why    []string        `json:"why"`    // what makes it slow or dear, in words
	Share  float64         `json:"share"`  // of the time that all statements took, 0..1
	Series []history.Point `json:"series"` // over the last hour, or since what was asked
	Into   []feed.Feed     `json:"into,omitempty"`
	OutOf  []feed.Feed     `json:"out_of,omitempty"`
	Note   string          `json:"note,omitempty"`
}

// find returns the one statement whose fingerprint begins so.
func find(snapshot *capture.Snapshot, id string) (*capture.Statement, error) {
	var found *capture.Statement
	for i := range snapshot.Statements {
		if one := &snapshot.Statements[i]; strings.HasPrefix(one.Fingerprint, id) {
			if found != nil {
				return nil, invalid(fmt.Sprintf("more than one statement begins with %s; give more digits", id))
			}
			found = one
		}
	}
	if found == nil || len(id) < 4 {
		return nil, notFound(fmt.Sprintf("there is no statement %s in that period; `helenus statements` lists them, and their first digits are enough", id))
	}
	return found, nil
}

func (s *Server) statement(r *http.Request) (any, error) {
	snapshot, note, err := s.period(r)
	if err != nil {
		return nil, err
	}
	one, err := find(snapshot, r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	d := Detail{From: snapshot.From, To: snapshot.To, Statement: report.With(*one, s.o.Schema()), Note: note}
	d.Why = report.Why(&d.Statement)
	var all float64
	for i := range snapshot.Statements {
		all += float64(snapshot.Statements[i].Latency.Sum)
	}
	if all += float64(snapshot.Other.Latency.Sum); all > 0 {
		d.Share = float64(one.Latency.Sum) / all
	}
	from, _ := moment(r.URL.Query(), "since") // period has read it
	if from.IsZero() {
		from = time.Now().Add(-time.Hour)
	}
	if d.Series, err = s.o.History.Series(r.Context(), one.Fingerprint, from); err != nil && d.Note == "" {
		d.Note = "not all of the history could be read: " + err.Error()
	}
	d.Into, d.OutOf = report.Flows(s.o.Statements().Feeds, one.Fingerprint)
	return d, nil
}

// Bounds of the wait for an execution to trace.
const (
	traceWait    = 30 * time.Second
	maxTraceWait = 10 * time.Minute
)

// trace waits for the next execution of a statement and says it again, traced.
func (s *Server) trace(r *http.Request) (any, error) {
	d, err := decision(r)
	if err != nil {
		return nil, err
	}
	wait := traceWait
	if text := r.URL.Query().Get("wait"); text != "" {
		if wait, err = time.ParseDuration(text); err != nil || wait <= 0 || wait > maxTraceWait {
			return nil, invalid(fmt.Sprintf("wait %q is no duration up to %v", text, maxTraceWait))
		}
	}
	one, err := find(s.o.Statements(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	if err := s.noted(r.Context(), "trace", one.Fingerprint, d.Reason, d.Actor); err != nil {
		return nil, err
	}
	t, err := s.o.Trace(r.Context(), one.Fingerprint, wait)
	switch {
	case errors.Is(err, capture.ErrNoStatement):
		return nil, notFound(err.Error())
	case errors.Is(err, capture.ErrNotARead), errors.Is(err, capture.ErrBusy):
		return nil, &Error{Status: http.StatusConflict, Code: "refused", Message: err.Error()}
	case errors.Is(err, context.DeadlineExceeded):
		return nil, &Error{Status: http.StatusServiceUnavailable, Code: "unavailable", Message: err.Error()}
	case err != nil:
		return nil, err
	}
	return t, nil
}

// Trace is how a statement is traced: it waits for the next execution, and says it again.
type Trace func(ctx context.Context, fingerprint string, wait time.Duration) (*tracer.Trace, error)

// TablesAnswer is the answer to GET tables.
type TablesAnswer struct {
	From   time.Time      `json:"from"`
	To     time.Time      `json:"to"`
	Tables []report.Table `json:"tables"`
	Note   string         `json:"note,omitempty"`
}

func (s *Server) tables(r *http.Request) (any, error) {
	snapshot, note, err := s.period(r)
	if err != nil {
		return nil, err
	}
	sc, err := s.known()
	if err != nil {
		return nil, err
	}
	var profiles *profile.Document
	if s.o.Windows != nil {
		profiles = s.o.Windows.Findings().Profiles
	}
	return TablesAnswer{snapshot.From, snapshot.To, report.Tables(snapshot, sc, s.o.Measured(), profiles), note}, nil
}

// lint looks at the tables and what was said of them by the rules of the query-driven method.
func (s *Server) lint(r *http.Request) (any, error) {
	snapshot, note, err := s.period(r)
	if err != nil {
		return nil, err
	}
	sc, err := s.known()
	if err != nil {
		return nil, err
	}
	if s.o.Advisable != nil { // other keyspaces are none of its business
		sc = s.o.Advisable()
	}
	report, err := s.o.Lint(r.Context(), snapshot, sc, s.o.Measured())
	if err != nil {
		return nil, err
	}
	report.Answered(s.answers())
	if note != "" {
		report.Unsupported = append(report.Unsupported, rules.Unsupported{Statement: "history", Reason: note})
	}
	return report, nil
}

// answers are the changes that answer statements now.
func (s *Server) answers() (out []lint.Answer) {
	for _, m := range s.o.Migrator.Migrations() {
		if m.State != migrate.Serving {
			continue
		}
		out = append(out, lint.Answer{ChangeID: m.ID, Statements: m.Rewrite.Statements, Table: m.Rewrite.Kept()})
	}
	return out
}

// known is the schema as it was read last.
func (s *Server) known() (*schema.Schema, error) {
	if sc := s.o.Schema(); sc != nil {
		return sc, nil
	}
	return nil, &Error{Status: http.StatusServiceUnavailable, Code: "unavailable", Message: "the schema has not been read yet (see /readyz)"}
}

func (s *Server) schema(*http.Request) (any, error) { return s.known() }

// Schemas is where the tables are known from.
type Schemas struct {
	Schema func() *schema.Schema // nil before it was read
	// Advisable is Schema with the keyspaces to advise on only; nil: all are.
	Advisable func() *schema.Schema
	Measured  func() []schema.Stats
	Nodes     func() int // of the cluster; nil: not known
	// Lint looks for what is wrong with tables and what was said of them; it may take long, and tries fixes on made rows.
	Lint func(ctx context.Context, snapshot *capture.Snapshot, s *schema.Schema, stats []schema.Stats) (*lint.Report, error)
	// Weigh writes what was captured as a workload with a weight for each step of a cycle; infer.ErrNoStatement: there is none.
	Weigh func(ctx context.Context, snapshot *capture.Snapshot, s *schema.Schema, stats []schema.Stats, c *cycle.Cycle) (string, error)
}
