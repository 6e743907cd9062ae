package advisor

import (
	"errors"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/advisor/round"
)

// The metrics of recommendations. No CQL text and no reason is in a label: the id leads to them. A recommendation that is approved
// becomes a change of the same id (package rewrite), so both have the label change_id.

var (
	byID = []string{"change_id"}

	infoDesc = prometheus.NewDesc("helenus_recommendation_info", "A recommendation that is known; always 1. Details by the id in the console and the command line.",
		[]string{"change_id", "keyspace", "table", "kind", "state", "eligible", "title"}, nil)
	benefitDesc = prometheus.NewDesc("helenus_recommendation_benefit_ratio", "Share of the work of its reads that following a recommendation would save, 0 to 1.", byID, nil)
	savedDesc   = prometheus.NewDesc("helenus_recommendation_saved_seconds_per_second", "Seconds of cluster and client time that following a recommendation would save each second, writes already charged.", byID, nil)
	writesDesc  = prometheus.NewDesc("helenus_recommendation_write_cost_ratio", "Latency of the dearest write after following a recommendation, in multiples of now.", byID, nil)
	storageDesc = prometheus.NewDesc("helenus_recommendation_storage_bytes", "Size of the tables that a recommendation would add, without replication and compression.", byID, nil)
	trustDesc   = prometheus.NewDesc("helenus_recommendation_confidence_ratio", "Confidence of the facts that a recommendation rests on, 0 to 1.", byID, nil)
	refusedDesc = prometheus.NewDesc("helenus_recommendation_refusals", "Statements of a recommendation, or its table as a whole, that a condition refuses (docs/conditions.md).", []string{"change_id", "condition"}, nil)
	stateDesc   = prometheus.NewDesc("helenus_recommendation_state", "1 for the state that a recommendation is in, 0 for all others.", []string{"change_id", "state"}, nil)
	decidedDesc = prometheus.NewDesc("helenus_recommendation_decisions_total", "Decisions of people about recommendations in this process: approve, dismiss, snooze or reopen.", []string{"decision"}, nil)
	aboutDesc   = prometheus.NewDesc("helenus_change_statement_info", "A statement that a recommendation, and the change that it became, is about; always 1. At most 20 of each role, read and write.",
		[]string{"change_id", "fingerprint", "role"}, nil)
	createdDesc = prometheus.NewDesc("helenus_recommendation_created_timestamp_seconds", "When a recommendation was first made.", byID, nil)

	roundsDesc  = prometheus.NewDesc("helenus_advisor_rounds_total", "Rounds of advice, by result: ok, failed, or killed-memory or killed-time, as the round took more than it may.", []string{"result"}, nil)
	lastDesc    = prometheus.NewDesc("helenus_advisor_last_round_timestamp_seconds", "When the latest successful round of advice was.", nil, nil)
	tookDesc    = prometheus.NewDesc("helenus_advisor_last_round_duration_seconds", "How long the latest successful round of advice took.", nil, nil)
	dismissDesc = prometheus.NewDesc("helenus_advisor_dismissed_statements", "Statements of the latest round that led to no advice.", nil, nil)
	solverDesc  = prometheus.NewDesc("helenus_advisor_solver_up", "1 if the exact solver, helenus-solver, is there; 0 if calendars are worked out by a heuristic: the log and the advice say why.", nil, nil)
	correctDesc = prometheus.NewDesc("helenus_model_corrections", "What people said about the model, by what became of it in the latest round: agreed, contradicted (in force, but what was seen speaks against it), or not-in-force (what it names is gone, or the model has no place for it).", []string{"state"}, nil)
	askedDesc   = prometheus.NewDesc("helenus_model_questions", "Questions about the model that the latest round left open.", nil, nil)
	unexplDesc  = prometheus.NewDesc("helenus_advisor_unexplained_statements", "Statements of the latest round that the model can not express.", nil, nil)
	unworkDesc  = prometheus.NewDesc("helenus_advisor_unexplained_work_ratio", "Share of the work of all statements of the latest round that the model can not express, 0 to 1. An execution and a millisecond of latency are a unit of work each.", nil, nil)
)

// result is what became of a round.
type result string

const (
	okResult     result = "ok"
	failedResult result = "failed"
	memoryResult result = "killed-memory" // its process took more than it may
	timeResult   result = "killed-time"   // likewise
)

var results = []result{okResult, failedResult, memoryResult, timeResult}

func resultOf(err error) result {
	switch {
	case errors.Is(err, round.ErrMemory):
		return memoryResult
	case errors.Is(err, round.ErrTime):
		return timeResult
	}
	return failedResult
}

// maxAbout is how many statements of a recommendation are told, of each role.
const maxAbout = 20

type statement struct{ fingerprint, role string }

// about is the statements that a recommendation is about.
func about(r *recommend.Recommendation) map[statement]bool {
	all := map[statement]bool{}
	for _, s := range r.Statements[:min(len(r.Statements), maxAbout)] {
		all[statement{s.Fingerprint, "read"}] = true
	}
	for _, s := range r.Writes[:min(len(r.Writes), maxAbout)] {
		all[statement{s.Fingerprint, "write"}] = true
	}
	return all
}

// Describe implements prometheus.Collector.
func (a *Advisor) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		infoDesc, benefitDesc, savedDesc, writesDesc, storageDesc, trustDesc, refusedDesc, createdDesc, stateDesc, decidedDesc, aboutDesc, roundsDesc, lastDesc, tookDesc, dismissDesc, unexplDesc, unworkDesc, solverDesc, correctDesc, askedDesc,
	} {
		ch <- d
	}
}

// Collect implements prometheus.Collector. At most maxOpen open, all approved, and maxRecent closed recommendations are told.
func (a *Advisor) Collect(ch chan<- prometheus.Metric) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	entries := a.current(a.o.Clock()).Entries
	for i := range entries {
		r := &entries[i]
		gauge(infoDesc, 1, r.ID, r.Keyspace, r.Table, string(r.Kind), string(r.State), strconv.FormatBool(r.Eligible), r.Title)
		gauge(benefitDesc, r.BenefitRatio, r.ID)
		gauge(savedDesc, r.SavedSecondsPerSecond, r.ID)
		gauge(writesDesc, r.WriteCostRatio, r.ID)
		gauge(storageDesc, r.StorageBytes, r.ID)
		gauge(trustDesc, r.Confidence, r.ID)
		refusals := map[string]int{} // what is not known any more is one label
		_, times := plan.RefusedBy(r.Verdicts)
		for id, n := range times {
			refusals[id.Label()] += n
		}
		for label, n := range refusals {
			gauge(refusedDesc, float64(n), r.ID, label)
		}
		gauge(createdDesc, float64(r.CreatedAt.UnixMilli())/1000, r.ID)
		for _, s := range recommend.States {
			in := 0.0
			if s == r.State {
				in = 1
			}
			gauge(stateDesc, in, r.ID, string(s))
		}
		for x := range about(r) {
			gauge(aboutDesc, 1, r.ID, x.fingerprint, x.role)
		}
	}
	for i := range wishes {
		ch <- prometheus.MustNewConstMetric(decidedDesc, prometheus.CounterValue, float64(a.decided[i].Load()), string(wishes[i].order))
	}
	for _, r := range results {
		ch <- prometheus.MustNewConstMetric(roundsDesc, prometheus.CounterValue, float64(a.rounds[r]), string(r))
	}
	up := 1.0
	if a.without != "" {
		up = 0
	}
	gauge(solverDesc, up)
	if a.latest == nil {
		return
	}
	gauge(lastDesc, float64(a.last.UnixMilli())/1000)
	gauge(tookDesc, a.took.Seconds())
	gauge(dismissDesc, float64(len(a.latest.Dismissed)))
	gauge(unexplDesc, float64(len(a.latest.Unexplained)))
	gauge(askedDesc, float64(len(a.latest.Model.Questions)))
	states := map[string]float64{"agreed": 0, "contradicted": 0, "not-in-force": 0}
	for i := range a.latest.Model.Corrections {
		switch c := &a.latest.Model.Corrections[i]; {
		case !c.InForce:
			states["not-in-force"]++
		case c.Contradicted():
			states["contradicted"]++
		default:
			states["agreed"]++
		}
	}
	for state, n := range states {
		gauge(correctDesc, n, state)
	}
	share := 0.0
	for i := range a.latest.Unexplained {
		share += a.latest.Unexplained[i].Share
	}
	gauge(unworkDesc, min(1, share))
}

var _ prometheus.Collector = (*Advisor)(nil)
