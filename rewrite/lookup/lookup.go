package lookup

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/gocql/gocql"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/rewrite/condition"
	"github.com/helenus-db/helenus/rewrite/kind"
	"github.com/helenus-db/helenus/rewrite/lookup/maintain"
	"github.com/helenus-db/helenus/rewrite/lookup/match"
	"github.com/helenus-db/helenus/rewrite/lookup/verify"
)

// Settings of look-ups; zero values are replaced by the defaults named.
type Settings struct {
	Entries  int // 1,000; most entries of one value that a read follows
	Parallel int // 16; rows of one read that are fetched at a time
	Maintain maintain.Settings
	Verify   verify.Settings
}

// Defaults fills in what was left zero.
func (s Settings) Defaults() Settings {
	if s.Entries <= 0 {
		s.Entries = 1000
	}
	if s.Parallel <= 0 {
		s.Parallel = 16
	}
	s.Maintain, s.Verify = s.Maintain.Defaults(), s.Verify.Defaults()
	return s
}

// Kind implements kind.Kind.
type Kind struct{ Settings Settings }

// Name implements kind.Kind.
func (Kind) Name() string { return plan.LookUp }

// Noun implements kind.Kind.
func (Kind) Noun() string { return "look-up" }

// Title implements kind.Kind.
func (Kind) Title(c *plan.Rewrite) string { return fmt.Sprintf("look up %s by %s", c.Base, c.Column) }

// Judge implements kind.Kind. See match.Judge.
func (Kind) Judge(c plan.Rewrite, snapshot *capture.Snapshot, s *schema.Schema) []plan.Verdict {
	return match.Judge(c, snapshot, s)
}

// Open implements kind.Kind.
func (k Kind) Open(p kind.Parts) kind.Runner {
	s := k.Settings.Defaults()
	r := &Runner{parts: p, Maintainer: maintain.New(maintain.Parts{Session: p.Session, Schema: p.Schema, Now: p.Now, Uptime: p.Uptime, Log: p.Log}, s.Maintain)}
	r.Reader = &Reader{Session: p.Session, Entries: s.Entries, Parallel: s.Parallel, Candidates: r.Maintainer.Candidates}
	r.checker = verify.New(p.Session, r.Maintainer, s.Verify)
	return r
}

// Runner carries look-ups out.
type Runner struct {
	parts      kind.Parts
	Maintainer *maintain.Maintainer
	Reader     *Reader
	checker    *verify.Checker
}

var (
	_ kind.Keeper          = (*Runner)(nil)
	_ kind.Remembering     = (*Runner)(nil)
	_ prometheus.Collector = (*Runner)(nil)
)

// Fit implements kind.Runner.
func (r *Runner) Fit(c plan.Rewrite, base *schema.Table) (kind.Fitted, *condition.Refusal) {
	l, refusal := match.New(c, base)
	if refusal != nil {
		return nil, refusal
	}
	return &Fitted{LookUp: l, runner: r}, nil
}

// Begin implements kind.Keeper.
func (r *Runner) Begin(ctx context.Context, steps []kind.Step, c gocql.Consistency) (bad []kind.Step, err error) {
	changes := make([]*maintain.Change, 0, len(steps))
	for _, s := range steps {
		switch x := s.(type) {
		case *maintain.Change:
			changes = append(changes, x)
		case *maintain.Unknown:
			if failed := r.Maintainer.BeginUnknown(ctx, x, c); failed != nil {
				bad, err = append(bad, x), failed
			}
		}
	}
	if len(changes) == 0 {
		return bad, err
	}
	missing, failed := r.Maintainer.Begin(ctx, changes, c)
	for _, x := range missing {
		bad = append(bad, x)
	}
	if failed != nil {
		err = failed
	}
	return bad, err
}

// End implements kind.Keeper.
func (r *Runner) End(steps []kind.Step, answer kind.Answer, level kind.Level) {
	for _, s := range steps {
		switch x := s.(type) {
		case *maintain.Change:
			r.Maintainer.End([]*maintain.Change{x}, answer, level)
		case *maintain.Unknown:
			r.Maintainer.EndUnknown(x, answer, level)
		}
	}
}

// Horizon implements kind.Keeper.
func (r *Runner) Horizon(s kind.Step) time.Duration {
	switch x := s.(type) {
	case *maintain.Change:
		return r.Maintainer.Lasts(x)
	case *maintain.Unknown:
		return r.Maintainer.Horizon(x.LookUp)
	}
	return 0
}

// Run implements kind.Keeper: it cleans up after answered writes.
func (r *Runner) Run(ctx context.Context) { r.Maintainer.Run(ctx) }

// Memory implements kind.Remembering: the ages of entries.
func (r *Runner) Memory() (name string, v any) { return "entry-ages", r.Maintainer.Ages() }

// Remember implements kind.Remembering.
func (r *Runner) Remember(raw json.RawMessage) error { return r.Maintainer.RestoreAges(raw) }

var (
	descPending = prometheus.NewDesc("helenus_change_reconcile_pending", "Entries that wait to be looked at, because the value they stand for was replaced.", nil, nil)
	descGarbage = prometheus.NewDesc("helenus_change_reconciled_total",
		"Entries that were looked at: removed, kept (right after all), left (not shown to be safe to remove), dropped (queue full) or failed. What was not removed is the sweeper's.",
		[]string{"outcome"}, nil)
)

// Describe implements prometheus.Collector.
func (r *Runner) Describe(c chan<- *prometheus.Desc) {
	c <- descPending
	c <- descGarbage
}

// Collect implements prometheus.Collector.
func (r *Runner) Collect(c chan<- prometheus.Metric) {
	counts := r.Maintainer.Counts()
	c <- prometheus.MustNewConstMetric(descPending, prometheus.GaugeValue, float64(counts.Pending))
	for _, x := range []struct {
		outcome string
		n       int64
	}{{"removed", counts.Removed}, {"kept", counts.Kept}, {"left", counts.Left}, {"dropped", counts.Dropped}, {"failed", counts.Failed}} {
		c <- prometheus.MustNewConstMetric(descGarbage, prometheus.CounterValue, float64(x.n), x.outcome)
	}
}
