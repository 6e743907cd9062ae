package admin

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/feed"
	"github.com/helenus-db/helenus/capture/histogram"
	"github.com/helenus-db/helenus/capture/history"
	"github.com/helenus-db/helenus/capture/report"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/capture/tracer"
)

var lately = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// said is what the process counted since it started.
func said() *capture.Snapshot {
	slow := histogram.Distribution{Count: 10, Sum: 10_000_000, Buckets: []histogram.Bucket{{Low: 983_040, Count: 10}}}
	return &capture.Snapshot{
		From: lately.Add(-time.Hour), To: lately, Other: capture.Statement{Fingerprint: "other", Count: 7},
		Statements: []capture.Statement{
			{Fingerprint: "aaaa0000", Keyspace: "k", Table: "t", Kind: "select", Text: "SELECT a FROM k.t WHERE id = ?", Count: 100,
				Callers: []capture.Share{{Caller: capture.Caller{Application: "shop"}, Count: 100}}},
			{Fingerprint: "aaaa1111", Keyspace: "k", Table: "t", Kind: "select", Text: "SELECT a FROM k.t WHERE b = ? ALLOW FILTERING", Count: 10, Latency: slow},
			{Fingerprint: "bbbb0000", Keyspace: "k", Table: "t", Kind: "insert", Text: "INSERT INTO k.t (id, a, b) VALUES (?, ?, ?)", Count: 5},
		},
		Feeds: []feed.Feed{{From: feed.End{Fingerprint: "aaaa1111", Column: "a"}, To: feed.End{Fingerprint: "aaaa0000", Column: "id"}}},
	}
}

func tablesOf() *schema.Schema {
	column := func(name string, kind schema.ColumnKind) schema.Column {
		return schema.Column{Name: name, Kind: kind, Type: "int"}
	}
	return &schema.Schema{Keyspaces: []schema.Keyspace{{Name: "k", Tables: []schema.Table{{Keyspace: "k", Name: "t",
		Columns: []schema.Column{column("id", schema.PartitionKey), column("a", schema.Regular), column("b", schema.Regular), column("c", schema.Regular)}}}}}}
}

// remembered is a history of one statement, whose shelf can not be read.
type remembered struct{}

func (remembered) Between(_ context.Context, from, to time.Time) (*capture.Snapshot, error) {
	s := said()
	s.Statements, s.From, s.To = s.Statements[:1], from, to
	return s, errors.New("the shelf is gone")
}

func (remembered) Series(context.Context, string, time.Time) ([]history.Point, error) {
	return []history.Point{{From: lately.Add(-time.Minute), To: lately, Count: 3, P99: 5}}, nil
}

// Hours are three weeks with office hours.
func (remembered) Hours(_ context.Context, from, _ time.Time, yield func(*history.HourOf) error) error {
	begin := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, -14)
	for at := begin; at.Before(begin.AddDate(0, 0, 14)); at = at.Add(time.Hour) {
		n := uint64(10)
		if at.Hour() >= 8 && at.Hour() < 18 {
			n = 100
		}
		h := &history.HourOf{At: at, From: at, To: at.Add(time.Hour), Watched: time.Hour, Said: []history.Executions{
			{Fingerprint: "aaaa0000", Keyspace: "k", Kind: "select", Text: "SELECT a FROM k.t WHERE id = ?", Count: n},
			{Fingerprint: "cccc0000", Keyspace: "k", Kind: "select", Text: "SELECT a FROM k.gone WHERE id = ?", Count: 5},
		}}
		if !at.Before(from) {
			if err := yield(h); err != nil {
				return err
			}
		}
	}
	return nil
}

func traced(_ context.Context, fingerprint string, wait time.Duration) (*tracer.Trace, error) {
	switch {
	case fingerprint == "bbbb0000":
		return nil, fmt.Errorf("it writes: %w", capture.ErrNotARead)
	case wait < time.Second:
		return nil, fmt.Errorf("nothing came: %w", context.DeadlineExceeded)
	}
	return &tracer.Trace{Fingerprint: fingerprint, Coordinator: "127.0.0.1"}, nil
}

// TestStatementsAreClassified: every statement is listed with exactly one access class (D-12), filtered and sorted as asked.
func TestStatementsAreClassified(t *testing.T) {
	c := serve(t, &parts{}, false)
	for path, want := range map[string]string{
		"statements":                          "aaaa0000 row, aaaa1111 scan, bbbb0000 row",
		"statements?sort=time":                "aaaa1111 scan, aaaa0000 row, bbbb0000 row",
		"statements?sort=calls&limit=1":       "aaaa0000 row",
		"statements?class=scan":               "aaaa1111 scan",
		"statements?table=k.t&kind=insert":    "bbbb0000 row",
		"statements?table=u":                  "",
		"statements?application=shop":         "aaaa0000 row",
		"statements?application=shop&user=me": "",
		"statements?since=1h":                 "aaaa0000 row",
	} {
		var got report.Statements
		if err := c.Get(context.Background(), path, &got); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		list := ""
		for i, s := range got.Statements {
			if i > 0 {
				list += ", "
			}
			list += s.Fingerprint + " " + string(s.Access.Class)
		}
		if list != want {
			t.Errorf("%s: %s, want %s", path, list, want)
		}
		if noted := got.Note != ""; noted != (path == "statements?since=1h") {
			t.Errorf("%s: note %q", path, got.Note)
		}
	}
}

func TestOneStatement(t *testing.T) {
	c := serve(t, &parts{}, false)
	ctx := context.Background()
	var d Detail
	if err := c.Get(ctx, "statements/aaaa1", &d); err != nil {
		t.Fatal(err)
	}
	if d.Fingerprint != "aaaa1111" || d.Access.Class != schema.Scan || len(d.Why) < 2 || d.Share != 1 || len(d.Series) != 1 || len(d.OutOf) != 1 || len(d.Into) != 0 {
		t.Errorf("%+v", d)
	}
	for path, want := range map[string]string{
		"statements/aaaa": "invalid", "statements/aaa": "invalid", "statements/cccc": "not_found", "statements/b": "not_found",
		"statements/aaaa1?since=1h": "not_found", "statements?since=nonsense": "invalid", "statements?sort=x": "invalid", "statements?class=x": "invalid",
		"statements?limit=-1": "invalid", "statements?since=1h&until=2h": "invalid", "tables": "", "schema": "", "tables?since=2h&until=1h": "",
		"statements/aaaa1": "", "statements?since=2026-01-01T00:00:00Z": "",
	} {
		if got := code(t, c.Get(ctx, path, &[]byte{})); got != want {
			t.Errorf("GET %s: %q, want %q", path, got, want)
		}
	}
	for path, want := range map[string]string{
		"statements/aaaa1/trace": "", "statements/bbbb/trace": "refused", "statements/dddd/trace": "not_found", "statements/aaaa1/trace?wait=10ms": "unavailable",
		"statements/aaaa1/trace?wait=99h": "invalid",
	} {
		if got := code(t, c.Post(ctx, path, Decision{Actor: "ann"}, &[]byte{})); got != want {
			t.Errorf("POST %s: %q, want %q", path, got, want)
		}
	}
}
