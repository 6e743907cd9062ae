package recommend

import (
	"time"

	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/schema"
)

// Kind says what a recommendation asks for: one of these, or the name of another kind of change.
type Kind string

// The kinds.
const (
	LookUpTable       Kind = "look-up table"      // Helenus makes, fills, keeps and serves it, once approved
	ApplicationChange Kind = "application change" // developers change statements
	Keep              Kind = "keep"               // leave it as it is, although it may look improvable
	TimelineKind      Kind = "timeline"           // look-up tables that come and go with a cycle of the traffic, once approved
)

// State is how far a recommendation has come.
type State string

// The states. Open and Approved recommendations are refreshed; the others are history.
const (
	Open       State = "open"
	Approved   State = "approved"
	Rejected   State = "rejected"   // dismissed by a person; opened again when the facts change materially
	Snoozed    State = "snoozed"    // likewise, and when its time is over
	Superseded State = "superseded" // other advice for the same statements has taken its place
	Expired    State = "expired"    // its reason went away: the traffic, the table, or the saving
)

// States are all states.
var States = []State{Open, Approved, Rejected, Snoozed, Superseded, Expired}

// Recommendation is one reviewable piece of advice. Times are milliseconds, rates per second, sizes bytes.
type Recommendation struct {
	ID       string `json:"id"` // "r-7f3a9c": a hash of what is proposed, so that the same advice keeps its id; the name of ChangeID until the last release
	ChangeID string `json:"change_id,omitempty"`
	Kind     Kind   `json:"kind"`
	Keyspace string `json:"keyspace"`
	Table    string `json:"table"` // the application's table that is read today; of a join by hand the first one
	Column   string `json:"column,omitempty"`
	Title    string `json:"title"`

	State       State     `json:"state"`
	StateReason string    `json:"state_reason,omitempty"`
	Actor       string    `json:"actor,omitempty"` // who brought it into the state, "" for Helenus itself
	StateSince  time.Time `json:"state_since"`
	Until       time.Time `json:"until,omitzero"` // of a snoozed one: when it waits for a decision again
	// Migration is the state of the migration that an approval started, joined by whoever shows it; never stored.
	Measured  string `json:"measured,omitempty"` // what the change turned out to be worth since it serves, a line each
	Migration string `json:"migration,omitempty"`
	// Pending is an order about it that is in force and not stored yet, Waits why it does not serve; joined, too.
	Pending string `json:"pending,omitempty"`
	Waits   string `json:"waits,omitempty"`
	// Beforehand is what to know of the cluster before it is approved: how fresh answers will be, who writes past Helenus; joined, too.
	Beforehand []string `json:"beforehand,omitempty"`

	Eligible bool           `json:"eligible"` // it can be approved: Helenus can carry it out, and no condition refuses
	Verdicts []plan.Verdict `json:"verdicts"`

	Why          string        `json:"why"` // a paragraph of plain English, with numbers
	Alternatives []Alternative `json:"alternatives"`
	Statements   []Statement   `json:"statements"` // reads that get cheaper (or are kept)
	Writes       []Write       `json:"writes"`     // writes that have to keep the new table true

	SavedSecondsPerSecond float64 `json:"saved_seconds_per_second"` // work saved on reads, less work added to writes
	// MarginalSecondsPerSecond is what it saves beside all else of its tier that is advised: what the design would take without it, less what it takes with it.
	// It is less than SavedSecondsPerSecond where something else would do a part of it. nil: it was not worked out.
	MarginalSecondsPerSecond *float64 `json:"marginal_seconds_per_second,omitempty"`
	OnlyWith                 []string `json:"only_with,omitempty"` // ids of recommendations without which it would not pay
	// NeedlessWith are ids of changes of the application that read otherwise what this is for: it is advised for as long as they are not made.
	NeedlessWith   []string `json:"needless_with,omitempty"`
	BenefitRatio   float64  `json:"benefit_ratio"`    // 0..1, of the work of the reads
	WriteCostRatio float64  `json:"write_cost_ratio"` // latency of the dearest write afterwards, in multiples of now; 1 if none
	// WriteRequests are those inside Cassandra for one of the writes that pay, its own among them, in the mean; 0: none pays, or a change of the application.
	WriteRequests float64  `json:"write_requests,omitempty"`
	StorageBytes  float64  `json:"storage_bytes"` // of new tables, without replication and compression
	Confidence    float64  `json:"confidence"`    // 0..1, of the facts it rests on
	Risks         []string `json:"risks"`
	Evidence      Evidence `json:"evidence"`
	RestsOn       []Rest   `json:"rests_on,omitempty"` // questions that are open: with another answer it may not be advised

	Nodes int `json:"nodes"` // of the cluster, as assumed in the predictions
	// TurnsAtNodes, of a Keep: the number of nodes from which on the look-up table is the cheaper way, 0 if never.
	TurnsAtNodes int    `json:"turns_at_nodes,omitempty"`
	Sensitivity  string `json:"sensitivity"`

	Method *Method `json:"method,omitempty"` // what the query-driven method says of it
	// Other methods' opinions: of the new tables, of a look-up table together with its base, or of what is kept.
	Safety []TableSafety `json:"safety,omitempty"`
	Place  *Place        `json:"options_place,omitempty"`

	CQL    []string `json:"cql,omitempty"` // CREATE KEYSPACE and CREATE TABLE, for the eye: a migration writes its own
	Sketch *Sketch  `json:"sketch,omitempty"`

	SchemaDigest string        `json:"schema_digest"` // of the tables that it rests on
	CreatedAt    time.Time     `json:"created_at"`
	LastRefresh  time.Time     `json:"last_refresh"`
	Rewrite      *plan.Rewrite `json:"look_up,omitempty"`  // what to approve, of any kind (the key is from when there were look-ups only); of Keep what is not done
	Timeline     *Timeline     `json:"timeline,omitempty"` // the same of a timeline
}

// Alternative is another way that was weighed and not taken.
type Alternative struct {
	Title  string  `json:"title"`
	WorkMs float64 `json:"work_ms"` // per execution of the read
	Reason string  `json:"reason"`
}

// Statement is a read that a recommendation is about.
type Statement struct {
	Fingerprint string  `json:"fingerprint"`
	Text        string  `json:"text"`
	Count       uint64  `json:"count"`
	PerSecond   float64 `json:"per_second"`
	// Uses is the mean number of executions for one execution of what the recommendation makes of it: 1, or more for
	// the inner statements of a join by hand.
	Uses float64 `json:"uses"`

	ObservedP50Ms float64 `json:"observed_p50_ms"`
	ObservedP99Ms float64 `json:"observed_p99_ms"`

	// Predictions of the cost model, calibrated to this cluster, per execution. Of a Keep, After is the look-up table
	// that is advised against. Of a join by hand they stand with its first statement and speak of the whole.
	PredictedBeforeMs     float64 `json:"predicted_before_ms"`
	PredictedAfterMs      float64 `json:"predicted_after_ms"`
	PredictedWorkBeforeMs float64 `json:"predicted_work_before_ms"`
	PredictedWorkAfterMs  float64 `json:"predicted_work_after_ms"`
	PlanBefore            string  `json:"plan_before,omitempty"`
	PlanAfter             string  `json:"plan_after,omitempty"`

	Unserved []Unserved `json:"unserved,omitempty"` // executions that would run as written all the same
}

// Write is a write that pays for a recommendation.
type Write struct {
	Fingerprint      string  `json:"fingerprint"`
	Text             string  `json:"text"`
	Count            uint64  `json:"count"`
	PerSecond        float64 `json:"per_second"`
	ObservedP50Ms    float64 `json:"observed_p50_ms"`
	PredictedExtraMs float64 `json:"predicted_extra_ms"` // of latency, per execution
	PredictedRatio   float64 `json:"predicted_ratio"`    // latency afterwards, in multiples of now
	// Requests are those of ours, per execution, inside Cassandra.
	Requests *plan.Requests `json:"requests,omitempty"`
	Plan     string         `json:"plan,omitempty"` // what has to be done besides the write itself
}

// Evidence is what a recommendation was concluded from.
type Evidence struct {
	From       time.Time `json:"from"`
	To         time.Time `json:"to"`
	Executions uint64    `json:"executions"` // of its reads
	Feeds      []Feed    `json:"feeds,omitempty"`
	Facts      []string  `json:"facts,omitempty"` // assertions of the model that it rests on, with their confidence
}

// Feed is the evidence of one join done by the application.
type Feed struct {
	From         string  `json:"from"` // table.column
	To           string  `json:"to"`   // table.column
	Shape        string  `json:"shape"`
	Observed     int     `json:"observed"` // values looked at
	Hits         int     `json:"hits"`     // of them found in an answer delivered shortly before
	Decoys       int     `json:"decoys"`   // found as often by chance
	PerExecution float64 `json:"per_execution"`
	LagP50Ms     float64 `json:"lag_p50_ms"`
	LagP99Ms     float64 `json:"lag_p99_ms"`
	Confidence   float64 `json:"confidence"`
}

// Sketch is code before and after an application change. It shows the shape, it is not meant to compile.
type Sketch struct {
	Language string `json:"language"` // "go", "python" or "java"
	Driver   string `json:"driver"`   // as it named itself, "" if it did not
	Before   string `json:"before"`
	After    string `json:"after"`
}

// Dismissal says why a statement led to no advice.
type Dismissal struct {
	Fingerprint string `json:"fingerprint"`
	Keyspace    string `json:"keyspace,omitempty"`
	Text        string `json:"text"`
	Count       uint64 `json:"count"`
	Reason      string `json:"reason"`
}

// Advice is everything that was concluded from one snapshot of the traffic.
type Advice struct {
	Recommendations []Recommendation    `json:"recommendations"`     // by saved time, greatest first; keeps last
	Dismissed       []Dismissal         `json:"dismissed"`           // by fingerprint
	Unexplained     []infer.Unexplained `json:"unexplained"`         // what the model could not express
	Answers         []Answer            `json:"answers,omitempty"`   // sets of recommendations that go together: of what Helenus can do by itself, and of all
	Timeline        string              `json:"timeline,omitempty"`  // why no calendar is advised; "" if one is, or nobody asked
	Problems        []string            `json:"problems,omitempty"`  // what could not be worked out, and why
	Questions       []Asked             `json:"questions,omitempty"` // those worth most to have answered, first
	Model           infer.Description   `json:"model"`               // with its workload
	At              time.Time           `json:"at"`
	Duration        time.Duration       `json:"-"` // what it took; not part of the advice
}

// Recommendation returns the one with that id, or nil.
func (a *Advice) Recommendation(id string) *Recommendation {
	if a == nil {
		return nil
	}
	for i := range a.Recommendations {
		if a.Recommendations[i].ID == id {
			return &a.Recommendations[i]
		}
	}
	return nil
}

// Executable reports whether Helenus can carry it out, once approved; else it is advice to people.
func (r *Recommendation) Executable() bool { return r.Kind != Keep && r.Kind != ApplicationChange }

// Undecided tells whether a person has it to decide about: what says that all is well is for reading only.
func (r *Recommendation) Undecided() bool { return r.State == Open && r.Kind != Keep }

// Judge says whether a change would be a correct answer to its statements under the traffic seen. A verdict that
// refuses with no statement refuses the whole.
type Judge interface {
	Judge(lu plan.Rewrite, s *capture.Snapshot, sc *schema.Schema) []plan.Verdict
}

// Proposer is a Judge of kinds of change some of which find themselves what they could do: beside look-ups, which are proposed here, by
// the optimiser.
type Proposer interface {
	Propose(*capture.Snapshot, *schema.Schema) []plan.Proposal
}

// JudgeFunc is a function that is a Judge.
type JudgeFunc func(lu plan.Rewrite, s *capture.Snapshot, sc *schema.Schema) []plan.Verdict

// Judge calls f.
func (f JudgeFunc) Judge(lu plan.Rewrite, s *capture.Snapshot, sc *schema.Schema) []plan.Verdict {
	return f(lu, s, sc)
}

// Thresholds say what is worth advising. The zero value of a field stands for its default.
type Thresholds struct {
	Executions   uint64  `json:"executions"`    // a read must have been executed so often (20)
	SavedSeconds float64 `json:"saved_seconds"` // work that it would save, seconds in each hour of traffic like this (1)
	SavedRatio   float64 `json:"saved_ratio"`   // and of its own work (0.3)
	// CalendarRatio is what a timeline must save, beside the best single choice, of the work that depends on look-ups: of the reads
	// that they are for, and of keeping them true (0.1).
	CalendarRatio float64 `json:"calendar_ratio"`
	Confidence    float64 `json:"confidence"`     // of the facts that an application change rests on (0.7: probable; nothing is carried out by itself)
	SlowestKeep   int     `json:"slowest_keep"`   // nodes up to which it is worked out when a Keep would turn (1024)
	WriteConstMs  float64 `json:"write_const_ms"` // what a second write costs besides the write itself: hand-over and bookkeeping (0.1)
}

// WithDefaults returns t with zero fields set.
func (t Thresholds) WithDefaults() Thresholds {
	if t.Executions == 0 {
		t.Executions = 20
	}
	for _, f := range []struct {
		field *float64
		value float64
	}{{&t.SavedSeconds, 1}, {&t.SavedRatio, 0.3}, {&t.CalendarRatio, 0.1}, {&t.Confidence, 0.7}, {&t.WriteConstMs, 0.1}} {
		if *f.field == 0 {
			*f.field = f.value
		}
	}
	if t.SlowestKeep == 0 {
		t.SlowestKeep = 1024
	}
	return t
}
