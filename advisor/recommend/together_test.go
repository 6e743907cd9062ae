package recommend

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/helenus-db/helenus/advisor/infer/infertest"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/feed"
	"github.com/helenus-db/helenus/capture/schema"
)

// records is an application with two pages that list the same day's sales, each with something of the artists, and a search of sales by customer. How often
// each is done is given: the pages, the search, and new sales.
func records(pages [2]uint64, search, followed, sales uint64) Input {
	t := &infertest.Traffic{Keyspace: "records", Seconds: 300}
	artist := func(root, column string, page uint64, share float64) {
		name := t.Say("SELECT "+column+" FROM artists WHERE artist_id = ?", 20*page, 600, 1)
		t.Feed(root, "sales", "artist_id", name, "artists", "artist_id",
			feed.Feed{Executions: int(20 * page), Hits: int(20 * page), Producers: int(page), Followed: share, PerExecution: 20, LagP50: 300, LagP99: 2_000, Shape: feed.NPlusOne, Confidence: 0.99})
	}
	for i, page := range pages {
		if page > 0 {
			root := t.Say([]string{"SELECT sale_id, artist_id FROM sales WHERE day = ?", "SELECT sale_id, artist_id, price FROM sales WHERE day = ?"}[i], page, 900, 20)
			artist(root, []string{"name", "country"}[i], page, 1)
		}
	}
	if search > 0 {
		root := t.Say("SELECT day, sale_id, artist_id FROM sales WHERE customer = ? ALLOW FILTERING", search, 60_000, 20)
		if followed > 0 {
			artist(root, "label", followed, float64(followed)/float64(search))
		}
	}
	if sales > 0 {
		t.Say("INSERT INTO sales (day, sale_id, artist_id, customer, price) VALUES (?, ?, ?, ?, ?)", sales, 800, 0)
	}
	return Input{
		Snapshot: t.Snapshot(), Nodes: 1, Solver: solve.New(solve.Config{Env: []string{"GORACE=atexit_sleep_ms=0"}}),
		Limits: solve.Limits{Nodes: 2000, Gap: 1e-9}, At: infertest.Start.Add(5 * time.Minute),
		Schema: &schema.Schema{Keyspaces: []schema.Keyspace{{
			Name: "records", Replication: map[string]string{"class": "SimpleStrategy", "replication_factor": "1"},
			Tables: []schema.Table{
				infertest.Table("records", "artists", "artist_id uuid", "", "name text", "country text", "label text"),
				infertest.Table("records", "sales", "day date", "sale_id uuid", "artist_id uuid", "customer uuid", "price int"),
			},
		}}},
		Statistics: []schema.Stats{
			infertest.Measured("records", "artists", 5_000, 5_000, "artist_id 5000 16", "name 5000 12", "country 100 8", "label 300 9"),
			infertest.Measured("records", "sales", 40_000, 2_000, "day 2000 4", "sale_id 40000 16", "artist_id 5000 16", "customer 2000 16", "price 900 4"),
		},
		Judge: JudgeFunc(func(lu plan.Rewrite, _ *capture.Snapshot, _ *schema.Schema) (out []plan.Verdict) {
			for _, s := range lu.Statements {
				out = append(out, plan.Verdict{Statement: s, Reason: "nothing speaks against it"})
			}
			return out
		}),
	}
}

func madeOf(t *testing.T, in Input) *Advice {
	t.Helper()
	a, err := Make(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range a.Problems {
		t.Error(p)
	}
	return a
}

func kindOf(a *Advice, kind Kind) (list []*Recommendation) {
	for i := range a.Recommendations {
		if a.Recommendations[i].Kind == kind {
			list = append(list, &a.Recommendations[i])
		}
	}
	return list
}

func answered(t *testing.T, a *Advice, name string) *Answer {
	t.Helper()
	for i := range a.Answers {
		if a.Answers[i].Name == name {
			return &a.Answers[i]
		}
	}
	t.Fatalf("no answer %s: %+v; %+v; %+v", name, a.Answers, a.Recommendations, a.Dismissed)
	return nil
}

// near tells whether two figures are the same but for rounding.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-6*(1e-9+math.Abs(a)+math.Abs(b)) }

// TestJoinsShareATable: two pages that need the same rows are given one table, which is written once; what both save together is what the design saves.
func TestJoinsShareATable(t *testing.T) {
	a := madeOf(t, records([2]uint64{900, 700}, 0, 0, 400))
	list := kindOf(a, ApplicationChange)
	if len(list) != 2 || len(list[0].CQL) != 1 || strings.Join(list[0].CQL, "\n") != strings.Join(list[1].CQL, "\n") {
		t.Fatalf("%d changes: %+v; %+v", len(list), list, a.Dismissed)
	}
	for i, r := range list {
		if fact := "is a table of " + list[1-i].ID + ", too: it is made, and written, once"; !strings.Contains(strings.Join(r.Evidence.Facts, "\n"), fact) {
			t.Errorf("%s is not told: %q", fact, r.Evidence.Facts)
		}
		if len(r.Writes) != 1 || r.MarginalSecondsPerSecond == nil || *r.MarginalSecondsPerSecond <= 0 {
			t.Errorf("%+v", r)
		}
		// Without the other one it bears the whole upkeep, so it saves more beside it.
		if pages := []uint64{900, 700}; i == 0 {
			alone := kindOf(madeOf(t, records([2]uint64{pages[0], 0}, 0, 0, 400)), ApplicationChange)
			if len(alone) != 1 || alone[0].SavedSecondsPerSecond >= max(list[0].SavedSecondsPerSecond, list[1].SavedSecondsPerSecond) {
				t.Errorf("alone it saves %+v, beside the other %g and %g", alone, list[0].SavedSecondsPerSecond, list[1].SavedSecondsPerSecond)
			}
		}
	}
	if all := answered(t, a, Everything); len(all.Recommendations) != 2 || !near(all.Saved, list[0].SavedSecondsPerSecond+list[1].SavedSecondsPerSecond) {
		t.Errorf("together %+v, each %g and %g", all, list[0].SavedSecondsPerSecond, list[1].SavedSecondsPerSecond)
	}
}

// TestJoinsThatPayOnlyTogether: new sales are so many that no page is worth a table of its own, and both are worth one.
func TestJoinsThatPayOnlyTogether(t *testing.T) {
	for sales := uint64(1_000); sales < 1_000_000; sales = sales * 5 / 4 {
		both, one := records([2]uint64{800, 800}, 0, 0, sales), records([2]uint64{800, 0}, 0, 0, sales)
		a := madeOf(t, both)
		list := kindOf(a, ApplicationChange)
		if len(list) < 2 {
			t.Fatalf("at %d sales neither is advised, and before each by itself was: %+v", sales, a.Dismissed)
		}
		if len(list[0].OnlyWith) > 0 {
			if list[0].OnlyWith[0] != list[1].ID || !slices.Contains(list[1].OnlyWith, list[0].ID) || !strings.Contains(list[0].Beside(), "does not pay without "+list[1].ID) {
				t.Errorf("only with %v and %v", list[0].OnlyWith, list[1].OnlyWith)
			}
			if left := kindOf(madeOf(t, one), ApplicationChange); len(left) != 0 {
				t.Errorf("alone it is advised all the same: %+v", left[0])
			}
			return
		}
	}
	t.Error("they paid each by itself whatever was written")
}

// TestJoinAndLookUpExcludeEachOther: a search that is followed always is answered by a look-up, or by a table of the join: both is no use. Helenus could do the
// former at once, so it is told, with what makes it needless, and what each costs.
func TestJoinAndLookUpExcludeEachOther(t *testing.T) {
	in := records([2]uint64{}, 400, 400, 300)
	a := madeOf(t, in)
	looked, changed := kindOf(a, LookUpTable), kindOf(a, ApplicationChange)
	if len(looked) != 1 || len(changed) != 1 {
		t.Fatalf("%d look-ups, %d changes: %+v", len(looked), len(changed), a.Dismissed)
	}
	l, c := looked[0], changed[0]
	if !slices.Equal(l.NeedlessWith, []string{c.ID}) || !strings.Contains(l.Beside(), "Once "+c.ID+" is done, it is needless") || !l.Eligible {
		t.Errorf("%+v", l)
	}
	if !slices.ContainsFunc(c.Alternatives, func(x Alternative) bool {
		return x.Title == "look-up table "+l.Rewrite.Table && x.WorkMs > c.Statements[0].PredictedWorkAfterMs && x.WorkMs < c.Statements[0].PredictedWorkBeforeMs
	}) {
		t.Errorf("alternatives: %+v", c.Alternatives)
	}
	first, all := answered(t, a, Transparent), answered(t, a, Everything)
	if !slices.Equal(first.Recommendations, []string{l.ID}) || !near(first.Saved, l.SavedSecondsPerSecond) {
		t.Errorf("%+v, but the look-up saves %g", first, l.SavedSecondsPerSecond)
	}
	if !slices.Equal(all.Recommendations, []string{c.ID}) || !near(all.Saved, c.SavedSecondsPerSecond) || !near(all.Saved-first.Saved, *c.MarginalSecondsPerSecond) {
		t.Errorf("%+v, but the change saves %g, and beside the look-up %g more than its %g", all, c.SavedSecondsPerSecond, *c.MarginalSecondsPerSecond, first.Saved)
	}

	// Half of the searches are not followed: these are what the look-up is for.
	a = madeOf(t, records([2]uint64{}, 800, 400, 300))
	looked, changed = kindOf(a, LookUpTable), kindOf(a, ApplicationChange)
	if len(looked) != 1 || len(changed) != 1 || len(looked[0].NeedlessWith) != 0 || len(answered(t, a, Everything).Recommendations) != 2 {
		t.Errorf("%+v; %+v; %+v", looked, changed, a.Answers)
	}

	// Who does not want the change has the look-up alone.
	in.Declined = []string{c.ID}
	if a = madeOf(t, in); len(kindOf(a, LookUpTable)) != 1 || len(kindOf(a, LookUpTable)[0].NeedlessWith) != 0 || len(kindOf(a, ApplicationChange)) != 1 || len(a.Answers) != 1 {
		t.Errorf("%+v; %+v", a.Recommendations, a.Answers)
	}
}

// TestTogetherIsNeverWorse: whatever is done how often, the tables that are chosen together cost no more than those that are chosen for each join by itself,
// beside the look-ups.
func TestTogetherIsNeverWorse(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 5)) //nolint:gosec // no secret
	better := 0
	for n := range 12 {
		follow := uint64(r.IntN(600))
		in := records([2]uint64{uint64(r.IntN(1000)), uint64(r.IntN(1000))}, follow+uint64(r.IntN(600)), follow, uint64(r.IntN(20_000)))
		in.Thresholds = in.Thresholds.WithDefaults()
		k, err := newMaker(t.Context(), in, in.Snapshot)
		if err != nil {
			t.Fatal(err)
		}
		if err := k.planReads(); err != nil {
			t.Fatal(err)
		}
		if err := k.adviseLookUps(); err != nil {
			t.Fatal(err)
		}
		joins := k.listJoins()
		if len(joins) == 0 {
			continue
		}
		all, err := k.chooseTogether(joins, k.offers, k.kept)
		if err != nil {
			t.Fatal(err)
		}
		own := map[string]bool{}
		for _, j := range joins {
			one, err := k.chooseTogether([]*joined{j}, k.offers, k.kept)
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range one.views[j] {
				own[x.ID()] = true
			}
		}
		var other []int
		for i, x := range all.study.Candidates() {
			if x.Base == nil && !own[x.ID()] {
				other = append(other, i)
			}
		}
		apart, err := all.study.WithoutAll(t.Context(), at(all.study.Candidates(), other))
		if err != nil || !apart.Possible {
			t.Fatal(err, apart)
		}
		if all.After > apart.Cost*(1+1e-9) {
			t.Errorf("%d: together %g, one by one %g", n, all.After, apart.Cost)
		}
		if all.After < apart.Cost*(1-1e-6) {
			better++
		}
	}
	if better == 0 {
		t.Error("it was never better, either")
	}
}

func at[T any](list []T, places []int) (out []T) {
	for _, i := range places {
		out = append(out, list[i])
	}
	return out
}

// The last line of the page of an advice that something makes needless says so.
func TestNeedlessIsExplained(t *testing.T) {
	var b strings.Builder
	if err := Explain(&b, Recommendation{ID: "r-1", Kind: LookUpTable, NeedlessWith: []string{"r-2"}}); err != nil || !strings.Contains(b.String(), "needless with   r-2: once that is done, nothing is left for it") {
		t.Error(err, b.String())
	}
}
