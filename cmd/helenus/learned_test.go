package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/internal/admin"
	"github.com/helenus-db/helenus/rewrite/condition"
)

// TestRecommendationsChosen: what the flags ask for is what is printed, in JSON as in the table.
func TestRecommendationsChosen(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"recommendations":[{"id":"r-open","kind":"table","state":"open"},{"id":"r-gone","kind":"table","state":"rejected"}],` +
			`"dismissed":[{"fingerprint":"f-none","reason":"it is cheap"}]}`))
	}))
	defer server.Close()
	for args, wants := range map[string]string{ // the open one is there always
		"":                         "",
		"--all":                    "r-gone",
		"--dismissed":              "f-none",
		"--json":                   "",
		"--json --all":             "r-gone",
		"--json --dismissed":       "f-none",
		"--json --all --dismissed": "r-gone f-none",
		"--all --dismissed":        "r-gone f-none",
	} {
		out, err, _ := executed(t, "recommendations", append(strings.Fields(args), "--server", strings.TrimPrefix(server.URL, "http://"), "--token", "secret")...)
		if err != nil || !strings.Contains(out, "r-open") {
			t.Errorf("%q: %v\n%s", args, err, out)
		}
		for _, one := range []string{"r-gone", "f-none"} {
			if strings.Contains(out, one) != strings.Contains(wants, one) {
				t.Errorf("%q: %s\n%s", args, one, out)
			}
		}
		if strings.Contains(out, `"dismissed": null`) {
			t.Errorf("%q: a list that is null\n%s", args, out)
		}
	}
}

// TestRefusedAdvice: the list says by which condition an advice is refused, and where to read of it; JSON says so in fields.
func TestRefusedAdvice(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		one := recommend.Recommendation{ID: "r-1", Kind: recommend.LookUpTable, State: recommend.Open, Verdicts: []plan.Verdict{
			{Condition: condition.Counters.ID, Refused: true, Reason: "it counts"}, {Statement: "f", Reason: "can be answered"}}}
		_ = json.NewEncoder(w).Encode(admin.Recommendations{Recommendations: []recommend.Recommendation{one}})
	}))
	defer server.Close()
	for _, args := range []string{"", "--json"} {
		out, err, _ := executed(t, "recommendations", append(strings.Fields(args), "--server", strings.TrimPrefix(server.URL, "http://"), "--token", "secret")...)
		for _, want := range []string{string(condition.Counters.ID), condition.Counters.Title, condition.Counters.Link()} {
			if err != nil || !strings.Contains(out, want) {
				t.Errorf("%q: %v, without %q\n%s", args, err, want, out)
			}
		}
	}
}
