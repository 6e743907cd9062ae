package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestOptionsTwissandra: the command ranks 128 options (B-48) with Figure 3 first (B-50), and the optimiser's design among them.
func TestOptionsTwissandra(t *testing.T) {
	out, err, code := executed(t, "options", "../../examples/designs/twissandra.yaml", "--json", "--top", "3")
	if err != nil || code != 0 {
		t.Fatalf("exit %d: %v", code, err)
	}
	var report struct {
		Made    int `json:"options_made"`
		Options []struct {
			Rank   int
			Given  bool
			Name   string
			Score  float64
			Tables []struct{ Notation string }
		}
		Remarks []struct{ Text string }
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatal(err)
	}
	if report.Made != 128 || len(report.Options) != 4 {
		t.Fatalf("%d options made, %d shown; want 128, and 3 with the design", report.Made, len(report.Options))
	}
	given := 0
	for _, o := range report.Options {
		if o.Given {
			given++
			if o.Name != "design" || len(o.Tables) == 0 {
				t.Errorf("%+v", o)
			}
		}
	}
	if best := report.Options[0]; best.Given || best.Rank != 1 || best.Score != 1.25 || len(best.Tables) != 6 || given != 1 {
		t.Errorf("the best is %+v; %d designs", best, given)
	}
}

func TestOptionsText(t *testing.T) {
	file := written(t, "file.yaml", small)
	out, err, code := executed(t, "options", file, "--steps", "--score", "weighted", "--weights", "writes=2,read=0.5", "--indexes", "0", "--mix", "night")
	if err != nil || code != 0 {
		t.Fatalf("exit %d: %v", code, err)
	}
	for _, want := range []string{
		"# options for small", "weights of mix night", "at most 0 secondary indexes a table; ranked by the weighted score", "## step 1a: table variants", "## step 1d",
		"## step 1e: tables for writes", "reprice: ", "Cassandra: [city][room_id][rate, select]", "design",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("nothing says %q in\n%s", want, out)
		}
	}
	again, _, _ := executed(t, "options", file, "--steps", "--score", "weighted", "--weights", "writes=2,read=0.5", "--indexes", "0", "--mix", "night")
	if again != out {
		t.Errorf("another run printed\n%s\nthe first\n%s", again, out)
	}
}

func TestOptionsBadInput(t *testing.T) {
	swap := func(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(small) }
	for name, c := range map[string]struct {
		text string
		args []string
		code int
		want string
	}{
		"an attribute that is not known": {swap("Hotel.city = ?", "Hotel.town = ?"), nil, 2, `no attribute of Hotel is called "town"`},
		"OR":                             {swap("Hotel.city = ?", "Hotel.city = ? OR Room.rate = ?"), nil, 2, "OR"},
		"no statements":                  {small[:strings.Index(small, "- {id: rates")] + "[]\n", nil, 2, "no statements"},
		"an unknown mix":                 {small, []string{"--mix", "dya"}, 2, `no mix is called "dya"; nearest is "day"`},
		"an unknown score":               {small, []string{"--score", "simpel"}, 2, `no score is called "simpel"; nearest is "simple"`},
		"weights of nothing":             {small, []string{"--weights", "read=1"}, 2, "--score weighted"},
		"an unknown metric":              {small, []string{"--score", "weighted", "--weights", "reads=1"}, 2, `nearest is "read"`},
		"a weight that is none":          {small, []string{"--score", "weighted", "--weights", "read=-1"}, 2, "is not a weight"},
		"indexes below zero":             {small, []string{"--indexes", "-1"}, 2, "-1 is not a number of indexes"},
		"nothing to print":               {small, []string{"--top", "0"}, 2, "0 is not a number of options"},
		"columns below zero":             {small, []string{"--column-growth", "-1"}, 2, "-1 is not a number of columns"},
		"rows that are no number":        {small, []string{"--row-growth", "NaN"}, 2, "is not a share"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err, code := executed(t, "options", append([]string{written(t, "file.yaml", c.text)}, c.args...)...)
			if err == nil || code != c.code || !strings.Contains(err.Error(), c.want) {
				t.Errorf("exit %d: %v\nwant exit %d: ...%s...", code, err, c.code, c.want)
			}
			if out != "" {
				t.Errorf("printed %q", out)
			}
		})
	}
	// B-5: what is not supported is named, not dropped silently.
	out, err, code := executed(t, "options", written(t, "file.yaml", swap("SELECT Room.rate, Hotel.select", "SELECT count(*)")))
	if code != exitNoPlan || err == nil || !strings.Contains(out, "rates: aggregates are not supported") {
		t.Errorf("exit %d: %v\n%s", code, err, out)
	}
}
