package contest_test

import (
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/bench/contest"
)

func rubis(t *testing.T) *workload.Workload {
	t.Helper()
	w, err := workload.Load("../../examples/designs/rubis.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func options() design.Options {
	return design.Options{Solver: solve.New(solve.Config{}), Cost: cost.Default()}
}

// TestRequests (N-53, N-54, N-55): sixteen kinds of requests, seven of them in Browsing; the nine that Bidding adds are 22.6 % of it.
func TestRequests(t *testing.T) {
	w := rubis(t)
	if len(w.Graph.Entities) != 7 || len(w.Graph.Relationships) != 10 {
		t.Errorf("%d entities, %d relationships", len(w.Graph.Entities), len(w.Graph.Relationships))
	}
	all := contest.Requests(w)
	bidding, added := 0.0, 0.0
	for _, q := range all {
		bidding += q.Weight("bidding")
		if q.Weight("browsing") == 0 {
			added += q.Weight("bidding")
		}
	}
	if share := added / bidding; share < 0.2255 || share > 0.2265 {
		t.Errorf("the requests that Bidding adds are %.4f of it", share)
	}
	browsing, writes, statements := 0, 0, 0
	for _, q := range all {
		if q.Weight("browsing") > 0 {
			browsing++
		}
		if q.Writes() {
			writes++
		}
		statements += len(q.Statements)
	}
	if len(all) != 16 || browsing != 7 || statements != 36 || writes != 5 {
		t.Errorf("%d requests, %d of them in Browsing, %d write; %d statements", len(all), browsing, writes, statements)
	}
	if got := all[0].Weight("bidding"); all[0].Name != "BrowseCategories" || got != 7.65 {
		t.Errorf("%s weighs %g", all[0].Name, got)
	}
	if eac := contest.Requests(hotel(t)); len(eac) != 2 || eac[0].Name != "rooms" || eac[0].Weight("") != 10 {
		t.Errorf("statements without a group: %v", eac)
	}
}

func TestScale(t *testing.T) {
	w := rubis(t)
	contest.Scale(w, 0.01)
	for entity, want := range map[string]float64{"users": 20, "bids": 2000, "regions": 1, "categories": 1} {
		if got := w.Graph.Entity(entity).Count; got != want {
			t.Errorf("%g %s, want %g", got, entity, want)
		}
	}
	if err := w.Graph.Validate(); err != nil {
		t.Error(err)
	}
	if d := w.Graph.Entity("users").Field("rating").Distinct(); d != 20 {
		t.Errorf("20 users have %g ratings", d)
	}
}

// TestEntries: a schema made by hand is planned as far as it goes, what it does not answer is told, and our designs are
// foretold to be the better ones.
func TestEntries(t *testing.T) {
	w := rubis(t)
	if err := w.SetMix("bidding"); err != nil {
		t.Fatal(err)
	}
	o := options()
	normalized, err := contest.Made(t.Context(), w, "normalized", "rubis_baseline", o)
	if err != nil {
		t.Fatal(err)
	}
	if reason := normalized.Missing["q31"]; len(normalized.Missing) != 1 || !strings.Contains(reason, "nickname") {
		t.Errorf("no plan for %v", normalized.Missing)
	}
	if len(normalized.Tables) != 17 || len(normalized.Statements) != 35 {
		t.Errorf("%d tables, %d statements", len(normalized.Tables), len(normalized.Statements))
	}
	contest.Without(w, normalized.Missing)
	expert, err := contest.Made(t.Context(), w, "expert", "rubis_expert", o)
	if err != nil || len(expert.Missing) > 0 {
		t.Fatalf("expert: %v, %v", err, expert.Missing)
	}
	ours, err := contest.Ours(t.Context(), w, "ours", "bidding", o)
	if err != nil || !ours.Proven {
		t.Fatalf("ours: %v", err)
	}
	sum := map[string]float64{}
	for _, s := range w.Statements {
		for _, e := range []*contest.Entry{ours, expert, normalized} {
			said, ok := e.Said(o.Cost, s.ID)
			if !ok || said.Work <= 0 || said.Latency <= 0 || said.Latency > said.Work {
				t.Errorf("%s of %s: %+v", s.ID, e.Name, said)
			}
			sum[e.Name] += said.Work * s.Weight
		}
	}
	if sum["normalized"] < 5*sum["ours"] || sum["expert"] < 5*sum["ours"] {
		t.Errorf("foretold: %v", sum)
	}
	for _, table := range ours.Tables {
		if table.Name == "" {
			t.Errorf("%s has no name", table)
		}
	}
	if _, err := contest.Made(t.Context(), w, "x", "rubis_export", o); err == nil || !strings.Contains(err.Error(), "rubis_expert") {
		t.Errorf("a schema that is not there: %v", err)
	}
	if _, err := contest.Ours(t.Context(), w, "x", "bid", o); err == nil {
		t.Error("a mix that is not there")
	}
}

// TestHalf: a share of the candidates, another one by another seed.
func TestHalf(t *testing.T) {
	list := rubis(t).Schemas["rubis_baseline"]
	count := func(share float64, seed uint64) (n int) {
		for _, table := range list {
			if contest.Half(share, seed)(table) {
				n++
			}
		}
		return n
	}
	if count(0, 1) != 0 || count(1, 1) != len(list) || count(0.5, 1) == 0 || count(0.5, 1) == len(list) {
		t.Error("not the share asked for")
	}
	other := false
	for seed := range uint64(5) {
		other = other || count(0.5, seed) != count(0.5, 9)
	}
	if !other {
		t.Error("all seeds allow the same number")
	}
}
