package recommend

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sort"
	"time"

	"github.com/helenus-db/helenus/advisor/correction"
	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/advisor/lint"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/schema"
)

// Input is what advice is made of. Snapshot, Schema and Solver are required.
type Input struct {
	Snapshot   *capture.Snapshot
	Schema     *schema.Schema
	Statistics []schema.Stats
	Nodes      int             // of the cluster; less than 1: 1
	Driver     string          // DRIVER_NAME of the application, "" if not known
	Judge      Judge           // nil: nothing is eligible
	Cost       *cost.Cassandra // whose times are scaled to the latencies seen; nil: the defaults
	Solver     solve.Solver
	Limits     solve.Limits
	Thresholds Thresholds
	At         time.Time // of the advice
	// DataKeyspace is the prefix of the keyspaces that tables of ours lie in (schema.DataKeyspace); "": that of their base.
	DataKeyspace string
	Past         *Past          // nil: no timeline is looked for
	Cache        *CalendarCache // of earlier rounds; nil: each calendar is designed anew
	// Corrections are what people said about the model.
	Corrections correction.List
	// Shown are the ids of what is advised already; see steady.go. Nil: this is the first round.
	Shown []string
	// Declined are the ids of what people do not want: something else may be advised in its place.
	Declined []string
}

// maker makes one advice.
type maker struct {
	Input
	ctx     context.Context
	model   *infer.Model
	costs   *cost.Cassandra // calibrated to this cluster
	singles *workload.Workload
	reads   map[string]*read          // by fingerprint: the reads of singles
	reasons map[string]string         // by fingerprint: why nothing is advised
	notes   map[string]string         // by fingerprint: what else was weighed, and why not
	paying  map[*model.Table][]paying // by look-up table: payingWrites, once asked for
	linted  *lint.Input               // what there is, as the linter looks at it; nil: not yet
	advice  *Advice

	// What may be chosen of what Helenus can do by itself, and what was.
	offers      []*offer
	kept        []*keptOffer
	transparent transparent
}

// read is a read of the application, on its own.
type read struct {
	statement *capture.Statement
	rate      float64
	asked     *workload.Statement
	space     *plan.Space // over the table that it reads
	plan      *plan.Plan  // the cheapest one in it
	assumed   cost.Cost   // of plan, by the cost model
	price     cost.Cost   // the same as observed
	access    schema.Access
}

// Make works out advice.
func Make(ctx context.Context, in Input) (*Advice, error) {
	if in.Snapshot == nil || in.Schema == nil || in.Solver == nil {
		return nil, errors.New("recommend: snapshot, schema and solver are required")
	}
	in.Nodes = max(1, in.Nodes)
	in.Thresholds = in.Thresholds.WithDefaults()
	k, err := newMaker(ctx, in, in.Snapshot)
	if err != nil {
		return nil, err
	}
	if err := k.planReads(); err != nil {
		return nil, err
	}
	if err := k.adviseLookUps(); err != nil {
		return nil, err
	}
	k.adviseRedirects()
	if err := k.adviseChanges(); err != nil {
		return nil, err
	}
	k.adviseProposed()
	if in.Past != nil {
		if err := k.adviseTimeline(); err != nil {
			return nil, err
		}
	}
	k.finishAdvice()
	return k.advice, nil
}

// newMaker is a maker of advice on a snapshot.
func newMaker(ctx context.Context, in Input, s *capture.Snapshot) (*maker, error) {
	m, err := infer.WithCorrections(s, in.Schema, in.Statistics, in.Corrections)
	if err != nil {
		return nil, err
	}
	in.Snapshot = s
	return &maker{
		Input: in, ctx: ctx, model: m, reads: map[string]*read{}, reasons: map[string]string{}, notes: map[string]string{},
		paying: map[*model.Table][]paying{},
		advice: &Advice{Recommendations: []Recommendation{}, Dismissed: []Dismissal{}, Unexplained: m.Unexplained, At: in.At},
	}, nil
}

// planReads plans every read over the table that it reads and calibrates the cost model. A read that the tables can not answer as
// they are described is left out of the optimiser's workload, and said to be.
func (k *maker) planReads() error {
	k.singles = k.model.Singles()
	kept := k.singles.Statements[:0]
	for _, s := range k.singles.Statements {
		if s.Query == nil {
			kept = append(kept, s)
			continue
		}
		st := k.Snapshot.Statement(s.Sources[0])
		r := &read{statement: st, rate: s.Weight, asked: s}
		tables := k.model.Tables
		if parsed, err := st.Parse(); err == nil {
			r.access = schema.Classify(parsed, k.Schema, st.Keyspace)
			if own := k.model.Table(r.access.Keyspace, r.access.Table); own != nil {
				tables = []*model.Table{own} // what it does today, however well a copy might answer it
			}
		}
		var err error
		if r.space, err = plan.NewSpace(s.Query, tables, nil); err != nil || len(r.space.Arcs) == 0 {
			k.reasons[st.Fingerprint] = "the model does not see how the existing tables answer it"
			if k.Schema.View(r.access.Keyspace, r.access.Table) != nil {
				k.reasons[st.Fingerprint] = k.whyUnmeasured(r.access.Keyspace, r.access.Table)
			}
			continue
		}
		k.reads[st.Fingerprint] = r
		kept = append(kept, s)
	}
	k.singles.Statements = kept
	var err error
	if k.costs, err = calibrateModel(k.sortedReads(), clusterParameters(k.Cost, k.Snapshot, k.Schema, k.Nodes)); err != nil {
		return fmt.Errorf("recommend: calibrate: %w", err)
	}
	for _, r := range k.reads {
		r.plan, r.assumed = cheapestPlan(r.space, k.costs)
		r.price = observed(r, r.assumed)
	}
	return nil
}

// sortedReads returns the reads by fingerprint.
func (k *maker) sortedReads() []*read {
	out := make([]*read, 0, len(k.reads))
	for _, r := range k.reads {
		out = append(out, r)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].statement.Fingerprint < out[j].statement.Fingerprint })
	return out
}

// cheapestPlan is the plan of least work, and what it costs.
func cheapestPlan(space *plan.Space, m cost.Model) (*plan.Plan, cost.Cost) {
	p, _ := space.Cheapest(func(a *plan.Arc) float64 {
		work := 0.0
		for i := range a.Steps {
			work += m.Step(&a.Steps[i], a.From == plan.SourceState && i == 0).Work
		}
		return work
	}, func(*model.Table) bool { return true })
	if p == nil {
		return nil, cost.Cost{}
	}
	return p, cost.Plan(m, p)
}

// planOver plans a query over other tables, as cheaply as can be.
func (k *maker) planOver(q *workload.Query, m cost.Model, tables ...*model.Table) (*plan.Plan, cost.Cost) {
	space, err := plan.NewSpace(q, tables, nil)
	if err != nil {
		return nil, cost.Cost{}
	}
	return cheapestPlan(space, m)
}

// finishAdvice orders the recommendations, and says of every other statement why there is none.
func (k *maker) finishAdvice() {
	a := k.advice
	a.Model = k.model.Describe()
	a.Questions = k.ranked()
	sort.SliceStable(a.Recommendations, func(i, j int) bool {
		x, y := &a.Recommendations[i], &a.Recommendations[j]
		if (x.Kind == Keep) != (y.Kind == Keep) {
			return y.Kind == Keep
		}
		if x.SavedSecondsPerSecond != y.SavedSecondsPerSecond {
			return x.SavedSecondsPerSecond > y.SavedSecondsPerSecond
		}
		return x.ID < y.ID
	})
	part := map[string]string{}
	about := map[string]bool{}
	for i := range a.Recommendations {
		r := &a.Recommendations[i]
		for _, w := range r.Writes {
			part[w.Fingerprint] += fmt.Sprintf("; it would pay for %s (%s)", r.ID, r.Title)
		}
		for _, s := range r.Statements {
			if r.Kind == ApplicationChange {
				part[s.Fingerprint] += fmt.Sprintf("; it is part of the join in %s (%s)", r.ID, r.Title)
			} else if r.Kind != ApplicationChange && r.Kind != TimelineKind {
				about[s.Fingerprint] = true
			}
		}
	}
	unexplained := map[string]string{}
	for _, u := range k.model.Unexplained {
		unexplained[u.Fingerprint] = "not in the model: " + u.Reason
	}
	for i := range k.Snapshot.Statements {
		st := &k.Snapshot.Statements[i]
		if st.Count == 0 || about[st.Fingerprint] {
			continue
		}
		reason := k.reasons[st.Fingerprint]
		if reason == "" {
			reason = unexplained[st.Fingerprint]
		}
		if reason == "" {
			reason = k.whyLeft(st)
		}
		a.Dismissed = append(a.Dismissed, Dismissal{
			Fingerprint: st.Fingerprint, Keyspace: st.Keyspace, Text: st.Text, Count: st.Count, Reason: reason + part[st.Fingerprint] + k.notes[st.Fingerprint],
		})
	}
}

// whyLeft says why a statement that nothing else was said about is left alone.
func (k *maker) whyLeft(st *capture.Statement) string {
	var access schema.Access
	switch r := k.reads[st.Fingerprint]; {
	case r != nil:
		access = r.access
	case st.Kind != cql.KindSelect.String():
		return "a write: it is only changed where a read needs it"
	default: // a read that is none of the workload's: of what another statement feeds, say
		if parsed, err := st.Parse(); err == nil {
			access = schema.Classify(parsed, k.Schema, st.Keyspace)
		}
	}
	if k.Schema.View(access.Keyspace, access.Table) != nil {
		return k.whyUnmeasured(access.Keyspace, access.Table)
	}
	switch access.Class {
	case schema.Row:
		return "reads one row by its primary key: nothing is cheaper"
	case schema.Partition:
		return "reads one partition by its key: nothing is cheaper"
	case schema.MultiPartition:
		return "reads partitions by their keys: nothing that Helenus offers is cheaper"
	}
	return "no other way to read it was found"
}

// perHour is the rate of work in seconds an hour, from milliseconds a second.
func perHour(ms float64) float64 { return ms / 1000 * 3600 }

// idOf makes the id of what is proposed.
func idOf(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%q ", p)
	}
	return "r-" + hex.EncodeToString(h.Sum(nil))[:6]
}

// describeStatement describes a read for a recommendation.
func (k *maker) describeStatement(st *capture.Statement) Statement {
	observed := st.OriginalLatency()
	return Statement{
		Fingerprint: st.Fingerprint, Text: st.Text, Count: st.Count, PerSecond: float64(st.Count) / k.model.Seconds, Uses: 1,
		ObservedP50Ms: observed.P50() / 1000, ObservedP99Ms: observed.P99() / 1000, Unserved: unserved(st),
	}
}

// newEvidence begins the evidence of a recommendation.
func (k *maker) newEvidence() Evidence {
	return Evidence{From: k.Snapshot.From, To: k.Snapshot.To}
}
