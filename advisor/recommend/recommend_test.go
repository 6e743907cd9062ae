package recommend_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/infer/infertest"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/advisor/solve/coin"
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/feed"
	"github.com/helenus-db/helenus/capture/histogram"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/rewrite/condition"
)

func TestMain(m *testing.M) {
	coin.ServeIfWorker()
	os.Exit(m.Run())
}

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file) //nolint:gosec // our own file
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (run with -update if the change is meant; -want +got):\n%s", file, diff)
	}
}

// agree accepts every statement of every look-up.
func agree(lu plan.Rewrite, _ *capture.Snapshot, _ *schema.Schema) []plan.Verdict {
	var out []plan.Verdict
	for _, s := range lu.Statements {
		out = append(out, plan.Verdict{Statement: s, Reason: "nothing speaks against it"})
	}
	return out
}

// newSolver makes a solver whose workers do not linger: under the race detector a process sleeps a second before it ends.
func newSolver() solve.Solver {
	return solve.New(solve.Config{Env: []string{"GORACE=atexit_sleep_ms=0"}})
}

var solver = &infertest.Remember{Solver: newSolver()}

func hotel(nodes int) recommend.Input {
	return recommend.Input{
		Snapshot: infertest.Hotel().Snapshot(), Schema: infertest.HotelSchema(), Statistics: infertest.HotelStatistics(),
		Nodes: nodes, Driver: "GoCQL", Judge: recommend.JudgeFunc(agree), Solver: solver,
		Limits: solve.Limits{Nodes: 2000, Gap: 0.001}, At: infertest.Start.Add(5 * time.Minute),
	}
}

func advise(t *testing.T, in recommend.Input) *recommend.Advice {
	t.Helper()
	a, err := recommend.Make(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func of(a *recommend.Advice, kind recommend.Kind) []recommend.Recommendation {
	var out []recommend.Recommendation
	for _, r := range a.Recommendations {
		if r.Kind == kind {
			out = append(out, r)
		}
	}
	return out
}

func TestHotelGolden(t *testing.T) {
	a := advise(t, hotel(1))
	text := func(a *recommend.Advice) []byte {
		form, err := json.MarshalIndent(a, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		return append(form, '\n')
	}
	golden(t, "hotel.json", text(a))
	var pages bytes.Buffer
	for _, r := range a.Recommendations {
		if err := recommend.Explain(&pages, r); err != nil {
			t.Fatal(err)
		}
		pages.WriteString(strings.Repeat("=", 96) + "\n")
	}
	for _, d := range a.Dismissed {
		pages.WriteString(d.Text + "\n    " + d.Reason + "\n")
	}
	golden(t, "hotel.txt", pages.Bytes())
	fresh := hotel(1)
	fresh.Solver = newSolver() // remembers nothing
	if again := text(advise(t, fresh)); !bytes.Equal(text(a), again) {
		t.Errorf("the same input gave other bytes the second time:\n%s", cmp.Diff(string(text(a)), string(again)))
	}
}

// The syntax trees that a snapshot hands out are kept, and nobody changes one.
func TestTreesAreLeftAsTheyAre(t *testing.T) {
	in := hotel(1)
	for range 2 {
		advise(t, in)
	}
	for i := range in.Snapshot.Statements {
		s := &in.Snapshot.Statements[i]
		kept, err := s.Parse()
		if err != nil {
			continue
		}
		if fresh, err := cql.Parse(s.Text); err != nil || !reflect.DeepEqual(fresh, kept) {
			t.Errorf("%s: the tree that is kept says %s, %v", s.Text, kept, err)
		}
	}
}

// A statement that is served from its look-up takes what the look-up takes. What is said of leaving it as it was must not follow.
func TestServedStatementsAreJudgedByTheirOriginals(t *testing.T) {
	before := of(advise(t, hotel(1)), recommend.LookUpTable)[0].Statements[0]
	in := hotel(1)
	for i := range in.Snapshot.Statements {
		if s := &in.Snapshot.Statements[i]; s.Fingerprint == before.Fingerprint {
			served := histogram.Distribution{Count: 9 * s.Latency.Count, Sum: 9 * s.Latency.Count * 1000, Buckets: []histogram.Bucket{{Low: 992, Count: 9 * s.Latency.Count}}}
			s.Count, s.Rewritten = s.Count+served.Count, served.Count
			s.RewrittenLatency, s.Latency = served, s.Latency.Plus(served)
		}
	}
	after := of(advise(t, in), recommend.LookUpTable)[0].Statements[0]
	if before.PredictedBeforeMs != after.PredictedBeforeMs || before.ObservedP50Ms != after.ObservedP50Ms {
		t.Errorf("a scan that was predicted to take %g ms (observed %g) is predicted to take %g ms (observed %g) once it is served", before.PredictedBeforeMs, before.ObservedP50Ms,
			after.PredictedBeforeMs, after.ObservedP50Ms)
	}
}

// Measured parameters of a cluster that is busier now: reads of a partition take many times as long, a scan hardly longer. What a
// scan was seen to take is what it is said to take, whichever of its times was measured to be the largest.
func TestMeasuredScansAreBroughtToWhatWasSeen(t *testing.T) {
	measured, err := cost.NewCassandra(cost.CassandraParameters{Request: 0.02, Replica: 0.01, Node: 1, Scanned: 0.0001, ScanCell: 0.0005})
	if err != nil {
		t.Fatal(err)
	}
	in := hotel(1)
	in.Cost = measured
	s := of(advise(t, in), recommend.LookUpTable)[0].Statements[0]
	if s.PredictedBeforeMs < 0.8*s.ObservedP50Ms || s.PredictedBeforeMs > 1.25*s.ObservedP50Ms {
		t.Errorf("a scan of which %g ms were observed is said to take %g ms", s.ObservedP50Ms, s.PredictedBeforeMs)
	}
}

// (1) A look-up table for the read that scans: eligible, with the writes that pay for it.
func TestLookUpTableForTheScan(t *testing.T) {
	a := advise(t, hotel(1))
	list := of(a, recommend.LookUpTable)
	if len(list) != 1 {
		t.Fatalf("%d look-up tables advised, want 1", len(list))
	}
	r := list[0]
	want := plan.Rewrite{Kind: plan.LookUp,
		Keyspace: "hotel", Base: "reservations", Column: "guest_id", Table: "helenus_reservations_by_guest_id",
		Statements: []string{r.Statements[0].Fingerprint}, Texts: []string{"SELECT room_id, start_date, reservation_id, end_date, status FROM hotel.reservations WHERE guest_id = ? ALLOW FILTERING"},
		SchemaDigest: infertest.HotelSchema().Table("hotel", "reservations").Digest(), Entries: 311,
	}
	promised := r.Rewrite.Promise
	if s := r.Statements[0]; promised.Reads != s.PredictedBeforeMs/s.PredictedAfterMs || promised.Writes != r.WriteCostRatio || len(promised.Paying) != len(r.Writes) {
		t.Errorf("promised: %+v", promised)
	}
	want.Promise = promised
	if diff := cmp.Diff(want, *r.Rewrite); diff != "" {
		t.Error(diff)
	}
	s := r.Statements[0]
	switch {
	case !r.Eligible || r.State != recommend.Open:
		t.Errorf("eligible %t, state %s", r.Eligible, r.State)
	case s.PredictedBeforeMs < 20*s.PredictedAfterMs:
		t.Errorf("predicted %g ms before, %g ms after", s.PredictedBeforeMs, s.PredictedAfterMs)
	case s.PredictedBeforeMs < 0.8*s.ObservedP50Ms || s.PredictedBeforeMs > 1.25*s.ObservedP50Ms:
		t.Errorf("the prediction for now, %g ms, is not calibrated to what was observed, %g ms", s.PredictedBeforeMs, s.ObservedP50Ms)
	case r.SavedSecondsPerSecond <= 0 || r.BenefitRatio < 0.9 || r.BenefitRatio > 1:
		t.Errorf("saves %g s/s, ratio %g", r.SavedSecondsPerSecond, r.BenefitRatio)
	}
	if len(r.Writes) != 3 { // booking, moving a booking and cancelling; not extending
		t.Fatalf("writes that pay: %+v", r.Writes)
	}
	for _, w := range r.Writes {
		if w.PredictedRatio < 1.9 || w.PredictedRatio > 2.3 || w.PredictedExtraMs < w.ObservedP50Ms {
			t.Errorf("%s: %g ms now, %g ms more, ratio %g", w.Text, w.ObservedP50Ms, w.PredictedExtraMs, w.PredictedRatio)
		}
	}
}

// (2) The read by index is kept on one node, and gets a look-up table on many.
func TestIndexIsKeptOnOneNodeOnly(t *testing.T) {
	one := of(advise(t, hotel(1)), recommend.Keep)
	if len(one) != 1 || one[0].Column != "city" {
		t.Fatalf("keeps on one node: %+v", one)
	}
	s := one[0].Statements[0]
	if s.PredictedWorkBeforeMs >= s.PredictedWorkAfterMs || s.PredictedBeforeMs >= s.PredictedAfterMs || one[0].Eligible {
		t.Errorf("kept although %g ms (%g of work) by index, %g ms (%g) by look-up; eligible %t",
			s.PredictedBeforeMs, s.PredictedWorkBeforeMs, s.PredictedAfterMs, s.PredictedWorkAfterMs, one[0].Eligible)
	}
	turns := one[0].TurnsAtNodes
	if turns < 2 {
		t.Fatalf("turns at %d nodes", turns)
	}
	many := hotel(2 * turns)
	many.Snapshot = infertest.HotelWith(6_000).Snapshot()
	many.Thresholds.SavedRatio = 0.05
	found := false
	for _, r := range of(advise(t, many), recommend.LookUpTable) {
		found = found || r.Column == "city"
	}
	if !found {
		t.Errorf("no look-up table by city on %d nodes, although it turns at %d", 2*turns, turns)
	}
}

// (3) The join done by hand becomes one table keyed by what it starts from.
func TestApplicationChangeForTheChain(t *testing.T) {
	list := of(advise(t, hotel(1)), recommend.ApplicationChange)
	if len(list) != 1 {
		t.Fatalf("%d application changes, want 1", len(list))
	}
	r := list[0]
	if !strings.Contains(strings.Join(r.CQL, "\n"), "PRIMARY KEY ((city), start_date, ") {
		t.Errorf("tables: %s", r.CQL)
	}
	if r.Eligible || r.Rewrite != nil || len(r.Statements) != 4 || len(r.Evidence.Feeds) != 3 {
		t.Errorf("eligible %t, look-up %v, %d statements, %d feeds", r.Eligible, r.Rewrite, len(r.Statements), len(r.Evidence.Feeds))
	}
	if r.Sketch == nil || r.Sketch.Language != "go" || !strings.Contains(r.Sketch.Before, "for _, room := range rooms {") || !strings.Contains(r.Sketch.After, "FROM hotel.reservation_by_city WHERE city = ? AND start_date = ?") {
		t.Errorf("sketch: %+v", r.Sketch)
	}
	for driver, language := range map[string]string{"DataStax Python Driver": "python", "DataStax Java driver": "java", "": "go"} {
		in := hotel(1)
		in.Driver = driver
		if s := of(advise(t, in), recommend.ApplicationChange)[0].Sketch; s.Language != language {
			t.Errorf("driver %q: sketch in %s", driver, s.Language)
		}
	}
}

// Every statement is either in a recommendation or dismissed with a reason.
func TestNothingIsDroppedSilently(t *testing.T) {
	in := hotel(1)
	a := advise(t, in)
	said := map[string]bool{}
	for _, r := range a.Recommendations {
		if r.Kind != recommend.ApplicationChange {
			for _, s := range r.Statements {
				said[s.Fingerprint] = true
			}
		}
	}
	for _, d := range a.Dismissed {
		if d.Reason == "" || said[d.Fingerprint] {
			t.Errorf("%s: dismissed for %q, and advised on: %t", d.Text, d.Reason, said[d.Fingerprint])
		}
		said[d.Fingerprint] = true
	}
	for _, s := range in.Snapshot.Statements {
		if !said[s.Fingerprint] {
			t.Errorf("nothing is said about %s", s.Text)
		}
	}
}

// TestExplainNamesConditions: whoever asks why reads id, title, reason and link, of what refuses and of what is only warned of.
func TestExplainNamesConditions(t *testing.T) {
	r := recommend.Recommendation{ID: "r-1", Kind: recommend.LookUpTable, Verdicts: []plan.Verdict{
		{Condition: condition.Statics.ID, Refused: true, Reason: "floor is static"}, {Statement: "4ad1f0aa52c1", Condition: condition.Schema.ID, Reason: "TRUNCATE of the base"}}}
	var page bytes.Buffer
	if err := recommend.Explain(&page, r); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(page.String()), " ")
	for _, want := range []string{"refused, " + condition.Statics.Refuse("floor is static").Error(), "4ad1f0aa " + condition.Schema.Refuse("TRUNCATE of the base").Error()} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

func TestThresholdsAndVerdicts(t *testing.T) {
	scan := func(a *recommend.Advice) (advised *recommend.Recommendation, dismissed string) {
		for i := range a.Recommendations {
			if r := &a.Recommendations[i]; r.Kind == recommend.LookUpTable && r.Column == "guest_id" {
				advised = r
			}
		}
		for _, d := range a.Dismissed {
			if strings.Contains(d.Text, "ALLOW FILTERING") {
				dismissed = d.Reason
			}
		}
		return advised, dismissed
	}
	refuse := func(id condition.ID, statement string) recommend.Judge {
		return recommend.JudgeFunc(func(lu plan.Rewrite, _ *capture.Snapshot, _ *schema.Schema) []plan.Verdict {
			fp := ""
			if statement != "" {
				fp = lu.Statements[0]
			}
			return []plan.Verdict{{Statement: fp, Condition: id, Refused: true, Reason: "so it is"}}
		})
	}
	tests := []struct {
		name      string
		change    func(in *recommend.Input)
		advised   bool
		eligible  bool
		dismissed string
	}{
		{name: "as it is", change: func(*recommend.Input) {}, advised: true, eligible: true},
		{name: "too few executions", change: func(in *recommend.Input) { in.Thresholds.Executions = 61 }, dismissed: "executed 60 times only"},
		{name: "too little saved", change: func(in *recommend.Input) { in.Thresholds.SavedSeconds = 1e6 }, dismissed: "a look-up table would save"},
		{name: "too small a share saved", change: func(in *recommend.Input) { in.Thresholds.SavedRatio = 0.9999 }, dismissed: "a look-up table would save"},
		{name: "nobody judges", change: func(in *recommend.Input) { in.Judge = nil }, advised: true},
		{name: "C17 refuses the whole", change: func(in *recommend.Input) { in.Judge = refuse("C17", "") }, advised: true},
		{name: "C4 refuses the only statement", change: func(in *recommend.Input) { in.Judge = refuse("C4", "first") }, advised: true},
		{name: "not measured", change: func(in *recommend.Input) { in.Statistics = nil }, dismissed: "reservations was not measured yet"},
		{name: "a materialised view", change: func(in *recommend.Input) {
			hotel := in.Schema.Keyspace("hotel")
			table := hotel.Table("reservations")
			hotel.Views = []schema.View{{Table: *table, Of: "bookings"}}
			table.Name = "bookings"
		}, dismissed: "reservations is a materialised view"},
		{name: "empty when measured", change: func(in *recommend.Input) {
			in.Statistics = slices.Clone(in.Statistics)
			for i := range in.Statistics {
				in.Statistics[i].Rows = 0
			}
		}, dismissed: "reservations was empty when it was measured"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := hotel(1)
			tt.change(&in)
			r, dismissed := scan(advise(t, in))
			if (r != nil) != tt.advised || r != nil && r.Eligible != tt.eligible {
				t.Fatalf("advised: %+v, want %t, eligible %t", r, tt.advised, tt.eligible)
			}
			if !strings.Contains(dismissed, tt.dismissed) || (dismissed == "") != (tt.dismissed == "") {
				t.Errorf("dismissed for %q, want %q", dismissed, tt.dismissed)
			}
		})
	}
}

// A statement that a condition refuses is left out; the others are still advised on.
func TestOneRefusedStatementOfTwo(t *testing.T) {
	traffic := infertest.Hotel()
	second := traffic.Say("SELECT status FROM reservations WHERE guest_id = ? LIMIT 5 ALLOW FILTERING", 50, 280_000, 4)
	in := hotel(1)
	in.Snapshot = traffic.Snapshot()
	in.Judge = recommend.JudgeFunc(func(lu plan.Rewrite, _ *capture.Snapshot, _ *schema.Schema) []plan.Verdict {
		return []plan.Verdict{{Statement: second, Condition: "C4", Refused: true, Reason: "has a limit"}}
	})
	a := advise(t, in)
	r := of(a, recommend.LookUpTable)
	if len(r) != 1 || !r[0].Eligible || len(r[0].Rewrite.Statements) != 1 || r[0].Rewrite.Statements[0] == second || len(r[0].Statements) != 1 {
		t.Fatalf("%+v", r)
	}
	for _, d := range a.Dismissed {
		if d.Fingerprint == second && !strings.Contains(d.Reason, condition.Limits.Refuse("has a limit").Error()) {
			t.Errorf("dismissed for %q", d.Reason)
		}
	}
}

func TestNames(t *testing.T) {
	long := strings.Repeat("reservations_", 4) + "x"
	tests := []struct {
		name   string
		tables []schema.Table
		base   string
		want   string // "" if only the rules are checked
	}{
		{name: "plain", base: "reservations", want: "helenus_reservations_by_guest_id"},
		{name: "cut", base: long},
		{name: "taken by the application", base: "reservations", tables: []schema.Table{infertest.Table("ks", "helenus_reservations_by_guest_id", "id uuid", "")}},
		{name: "capitals", base: "Reservations"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tables := append(tt.tables, infertest.Table("ks", tt.base, "room_id uuid", "reservation_id uuid", "guest_id uuid", "status text"))
			traffic := &infertest.Traffic{Keyspace: "ks", Seconds: 100}
			traffic.Say(`SELECT status FROM "`+tt.base+`" WHERE guest_id = ? ALLOW FILTERING`, 100, 300_000, 4)
			in := hotel(1)
			in.Snapshot, in.Schema = traffic.Snapshot(), &schema.Schema{Keyspaces: []schema.Keyspace{{Name: "ks", Tables: tables}}}
			in.Statistics = []schema.Stats{infertest.Measured("ks", tt.base, 200_000, 8000, "guest_id 50000 16")}
			list := of(advise(t, in), recommend.LookUpTable)
			if len(list) != 1 {
				t.Fatalf("%d look-up tables", len(list))
			}
			name := list[0].Rewrite.Table
			if tt.want != "" && name != tt.want {
				t.Errorf("%s, want %s", name, tt.want)
			}
			if tt.want == "" && (!strings.HasPrefix(name, "helenus_") || len(name) > 48 || name == "helenus_reservations_by_guest_id" || strings.ToLower(name) != name) {
				t.Errorf("%s", name)
			}
		})
	}
}

func TestBadInput(t *testing.T) {
	for name, in := range map[string]recommend.Input{
		"nothing":   {},
		"no solver": {Snapshot: &capture.Snapshot{}, Schema: &schema.Schema{}},
	} {
		if _, err := recommend.Make(context.Background(), in); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	in := hotel(1)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := recommend.Make(ctx, in); err == nil {
		t.Error("cancelled: no error")
	}
	in = hotel(1)
	in.Schema, in.Statistics = &schema.Schema{}, nil
	a := advise(t, in)
	if len(a.Recommendations) != 0 || len(a.Dismissed) != len(in.Snapshot.Statements) {
		t.Errorf("without a schema: %d recommendations, %d dismissed", len(a.Recommendations), len(a.Dismissed))
	}
}

// A join that is not advised on leaves its reason with its statements.
func TestJoinsNotAdvised(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(in *recommend.Input)
		want   string
	}{
		"too little saved": {func(in *recommend.Input) { in.Thresholds.SavedSeconds = 100 }, "a table made for it would save"},
		"not certain":      {func(in *recommend.Input) { in.Thresholds.Confidence = 0.98 }, "that is only 97 % certain"},
	} {
		t.Run(name, func(t *testing.T) {
			in := hotel(1)
			tt.change(&in)
			a := advise(t, in)
			if n := len(of(a, recommend.ApplicationChange)); n != 0 {
				t.Fatalf("%d application changes", n)
			}
			said := 0
			for _, d := range a.Dismissed {
				if strings.Contains(d.Reason, "joins hotels, rooms, reservations and guests by hand: "+tt.want) {
					said++
				}
			}
			if said != 3 { // the read of hotels is in a recommendation of its own, to keep its index
				t.Errorf("said of %d statements, want 3", said)
			}
		})
	}
}

// TestMeasuredCosts: what was measured of a cluster says how times relate; the latencies that are seen say how long they are.
func TestMeasuredCosts(t *testing.T) {
	lookUp := func(p *cost.CassandraParameters) (before, after float64) {
		in := hotel(1)
		if p != nil {
			m, err := cost.NewCassandra(*p)
			if err != nil {
				t.Fatal(err)
			}
			in.Cost = m
		}
		r := of(advise(t, in), recommend.LookUpTable)[0]
		return r.Statements[0].PredictedBeforeMs, r.Statements[0].PredictedAfterMs
	}
	p := cost.Default().Parameters()
	before, after := lookUp(nil)
	if b, a := lookUp(&p); b != before || a != after {
		t.Errorf("with the defaults %g and %g ms, without %g and %g", b, a, before, after)
	}
	p.Parallel = 1                // one request of a step after the other
	p.Nodes, p.Replication = 6, 3 // the cluster seen counts, not the one measured
	if b, a := lookUp(&p); math.Abs(b/before-1) > 0.05 || a < 1.5*after {
		t.Errorf("without parallel requests: %g ms before (%g), %g after (%g)", b, before, a, after)
	}
}

// TestEveryRecommendationIsJudged: whatever its kind, it has the rules' word, a safety verdict for each of its tables, and a place
// among the options or the reason why there is none; Explain prints them. A look-up table says that Helenus writes it, too.
func TestEveryRecommendationIsJudged(t *testing.T) {
	kinds := map[recommend.Kind]bool{}
	for _, nodes := range []int{1, 30} {
		for _, r := range advise(t, hotel(nodes)).Recommendations {
			kinds[r.Kind] = true
			if r.Method == nil || len(r.Safety) == 0 || r.Place == nil {
				t.Fatalf("%s %s: method %v, safety %v, place %v", r.Kind, r.Title, r.Method, r.Safety, r.Place)
			}
			if (r.Place.Rank == 0) == (r.Place.Reason == "") || r.Place.Rank > r.Place.Of || r.Place.Statement == "" {
				t.Errorf("%s: %+v", r.Title, *r.Place)
			}
			var b bytes.Buffer
			if err := recommend.Explain(&b, r); err != nil {
				t.Fatal(err)
			}
			text := b.String()
			for _, s := range r.Safety {
				if s.Verdict == "" || !strings.Contains(text, s.Table+": "+string(s.Verdict)) {
					t.Errorf("%s: %+v is not printed", r.Title, s)
				}
				if own := len(s.Remarks) > 0; own != (r.Kind == recommend.LookUpTable) {
					t.Errorf("%s: remarks %q", r.Title, s.Remarks)
				}
			}
			if !strings.Contains(text, "Among the options (docs/options.md)") {
				t.Errorf("%s: its place is not printed", r.Title)
			}
		}
	}
	if len(kinds) != 3 {
		t.Errorf("kinds %v, want all three", kinds)
	}
}

// chat is a room's newest messages, as many as a LIMIT says, and the nick of each author: what the application joins by hand (case 03).
func chat(first string, more ...string) recommend.Input {
	t := &infertest.Traffic{Keyspace: "chat", Seconds: 300}
	messages := t.Say(first, 600, 2_000, 10)
	people := t.Say("SELECT nick FROM people WHERE person = ?", 6_000, 900, 1)
	t.Say("INSERT INTO messages (room, sent, author, body) VALUES (?, ?, ?, ?)", 30, 900, 0)
	for _, text := range more {
		t.Say(text, 30, 900, 0)
	}
	t.Feed(messages, "messages", "author", people, "people", "person",
		feed.Feed{Executions: 6_000, Hits: 6_000, Producers: 600, Followed: 1, PerExecution: 10, LagP50: 300, LagP99: 2_000, Shape: feed.NPlusOne, Confidence: 0.99})
	in := hotel(3)
	messagesTable := infertest.Table("chat", "messages", "room text", "sent timeuuid", "author uuid", "body text")
	messagesTable.Column("sent").Descending = true
	in.Snapshot, in.Schema = t.Snapshot(), &schema.Schema{Keyspaces: []schema.Keyspace{{Name: "chat", Tables: []schema.Table{messagesTable, infertest.Table("chat", "people", "person uuid", "", "nick text")}}}}
	in.Statistics = []schema.Stats{
		infertest.Measured("chat", "messages", 8_000, 40, "room 40 8", "sent 8000 16", "author 500 16", "body 8000 60"),
		infertest.Measured("chat", "people", 500, 500, "person 500 16", "nick 500 10"),
	}
	return in
}

// TestJoinKeepsOrderAndLimit: the advised table lies as the first statement's rows do, and is asked for no more of them.
func TestJoinKeepsOrderAndLimit(t *testing.T) {
	for first, want := range map[string][2]string{
		"SELECT room, sent, author, body FROM messages WHERE room = ? LIMIT 10":                   {"(sent DESC", "WHERE room = ? LIMIT ?`, room, limit)"},
		"SELECT room, sent, author, body FROM messages WHERE room = ? ORDER BY sent ASC LIMIT 10": {"", "WHERE room = ? LIMIT ?`, room, limit)"},
		"SELECT room, sent, author, body FROM messages WHERE room = ?":                            {"(sent DESC", "WHERE room = ?`, room)"},
	} {
		a := advise(t, chat(first))
		list := of(a, recommend.ApplicationChange)
		if len(list) != 1 {
			t.Fatalf("%s: %d changes; dismissed: %+v", first, len(list), a.Dismissed)
		}
		if create := strings.Join(list[0].CQL, "\n"); strings.Contains(create, "DESC") != (want[0] != "") || !strings.Contains(create, want[0]) || !strings.Contains(create, "(room), sent, ") {
			t.Errorf("%s: %s", first, create)
		}
		if !strings.Contains(list[0].Sketch.After, want[1]) {
			t.Errorf("%s: %s", first, list[0].Sketch.After)
		}
	}
	for _, first := range []string{"SELECT room, sent, author, body FROM messages WHERE room = ? PER PARTITION LIMIT 10"} {
		if list := of(advise(t, chat(first)), recommend.ApplicationChange); len(list) != 0 {
			t.Errorf("%s: %v", first, list[0].CQL)
		}
	}
}
