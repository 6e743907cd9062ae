package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// dayAndNight is a workload over two steps that takes no time.
const dayAndNight = `name: day and night
model:
  entities:
  - {name: Item, count: 10000, key: [item_id], attributes: [{name: item_id, type: uuid}, {name: title, type: text, distinct: 50, size: 20}, {name: category, type: text, distinct: 50, size: 10}]}
  - {name: User, count: 1000, key: [user_id], attributes: [{name: user_id, type: uuid}, {name: name, type: text, size: 20}, {name: email, type: text, size: 300}]}
  relationships:
  - {name: sold_by, from: Item, to: User, kind: "n:1", forward: user, backward: items}
interval: 3600
statements:
- {id: by_title, text: "SELECT User.name, User.email FROM Item.user WHERE Item.title = ?", steps: [9, 9, 0, 0]}
- {id: by_category, text: "SELECT User.name, User.email FROM Item.user WHERE Item.category = ?", steps: [0.1, 0.1, 9, 9]}
- {id: by_id, text: "SELECT User.name FROM User WHERE User.user_id = ?", weight: 0.5}
`

// TestDesignTimeline: a calendar over a small workload, as text, as JSON and in files.
func TestDesignTimeline(t *testing.T) {
	file := written(t, "time.yaml", dayAndNight)
	folder := filepath.Join(t.TempDir(), "out")
	text, err, code := designed(t, file, "--timeline", "--exact", "--space", "70%", "--out", folder)
	if code != 0 {
		t.Fatalf("exit %d: %v", code, err)
	}
	for _, want := range []string{"Calendar for day and night", "no calendar of the", "static average", "ideal", "Plans that change", "by_category", "steps 0 to 1", "steps 2 to 3", "filled during step 1 from"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	again, _, _ := designed(t, file, "--timeline", "--exact", "--space", "70%")
	if again != text {
		t.Errorf("the same again is another:\n%s", again)
	}
	out, err, code := designed(t, file, "--timeline", "--exact", "--space", "70%", "--json")
	if code != 0 {
		t.Fatalf("exit %d: %v", code, err)
	}
	var c struct {
		Status      string
		Cost, Bound float64
		Steps       []struct {
			Tables        []struct{ Name string }
			Created       []string
			Dropped       []string
			Plans         []struct{ Statement string }
			Cost          *float64
			MigrationCost *float64 `json:"migration_cost"`
		}
		Baselines []struct {
			Name string
			Cost float64
		}
	}
	if err := json.Unmarshal([]byte(out), &c); err != nil {
		t.Fatal(err)
	}
	if c.Status != "optimal" || c.Cost <= 0 || c.Bound != c.Cost || len(c.Steps) != 4 || len(c.Baselines) != 4 {
		t.Errorf("%+v", c)
	}
	for i, s := range c.Steps {
		if len(s.Tables) == 0 || len(s.Plans) != 3 || s.Cost == nil || s.MigrationCost == nil || (i == 2) != (*s.MigrationCost > 0) {
			t.Errorf("step %d: %+v", i, s)
		}
	}
	for name, want := range map[string]string{"00-create.cql": "CREATE TABLE", "02-create.cql": "-- Filled during step 1 from", "02-drop.cql": "DROP TABLE IF EXISTS", "03-create.cql": "", "02-plans.yaml": "by_category", "report.txt": "Calendar", "timeline.json": `"status": "optimal"`, "timeline.svg": "</svg>"} {
		data, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil || !strings.Contains(string(data), want) || want == "" && len(data) > 0 {
			t.Errorf("%s: %v: %s", name, err, data)
		}
	}
}

func TestDesignTimelineBadInput(t *testing.T) {
	swap := func(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(dayAndNight) }
	for name, c := range map[string]struct {
		text string
		args []string
		code int
		want string
	}{
		"different numbers of steps":       {swap("[9, 9, 0, 0]", "[9, 9, 0]"), nil, 2, "time.yaml:11:8: statement by_category has weights for 4 time steps, by_title for 3"},
		"a negative weight":                {swap("[9, 9, 0, 0]", "[9, 9, -1, 0]"), nil, 2, "time.yaml:10:8: statement by_title: weight -1 is not a rate"},
		"an interval of zero":              {swap("interval: 3600", "interval: 0"), nil, 2, "time.yaml:8:11: an interval of 0 seconds"},
		"intervals for other steps":        {swap("interval: 3600", "interval: [60, 60]"), nil, 2, "time.yaml:8:12: there are 2 intervals for 4 time steps"},
		"one of several intervals is zero": {swap("interval: 3600", "interval: [60, 0, 60, 60]"), nil, 2, "time.yaml:8:16: an interval of 0 seconds"},
		"no statement left in a step":      {swap("[0.1, 0.1, 9, 9]", "[0.1, 0.1, 9, 0]", "weight: 0.5", "weight: 0"), nil, 2, "no statement is left in time step 3"},
		"no weights over time":             {swap("steps: [9, 9, 0, 0]", "weight: 9", "steps: [0.1, 0.1, 9, 9]", "weight: 9"), nil, 2, "no statement has weights over time"},
		"too little space":                 {dayAndNight, []string{"--space", "1000"}, 2, "at step 0: the smallest choice"},
		"a statement without any plan":     {dayAndNight, []string{"--cost", written(t, "cost.yaml", "model: cassandra\npartition_bytes: 1\npartition_bytes_most: 1\n")}, exitNoPlan, "statement by_title"},
		"no such space":                    {dayAndNight, []string{"--space", "much"}, 2, `"much" is neither a number of bytes, such as 2GB, nor a share`},
		"no such window":                   {dayAndNight, []string{"--window", "3-9"}, 2, `"3-9" is no step, nor steps such as 3-5, of 0 to 3`},
		"no such life":                     {dayAndNight, []string{"--life", "-1"}, 2, "a least life of -1 steps"},
		"too few candidates":               {dayAndNight, []string{"--candidates", "1"}, exitNoPlan, "none of the 1 tables that were proposed at most answers statement"},
		"no such number of candidates":     {dayAndNight, []string{"--candidates", "-1"}, 2, "at most -1 candidates"},
		"no such number at once":           {dayAndNight, []string{"--at-once", "-2"}, 2, "at most -2 tables at once"},
		"no such cost of dropping":         {dayAndNight, []string{"--drop-cost", "-2"}, 2, "a cost of dropping of -2"},
		"both modes":                       {dayAndNight, []string{"--pruned", "--exact"}, 2, "ask for one of them"},
		"no such interval":                 {dayAndNight, []string{"--interval", "0s"}, 2, "a step lasts longer than that"},
		"a flag of one point in time":      {dayAndNight, []string{"--explain"}, 2, "--explain: it speaks of one point in time"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err, code := designed(t, append([]string{written(t, "time.yaml", c.text), "--timeline"}, c.args...)...)
			if err == nil || code != c.code || !strings.Contains(err.Error(), c.want) {
				t.Errorf("exit %d: %v\nwant exit %d: ...%s...", code, err, c.code, c.want)
			}
			if out != "" {
				t.Errorf("printed %q", out)
			}
		})
	}
	t.Run("a flag of time without --timeline", func(t *testing.T) {
		if _, err, code := designed(t, written(t, "time.yaml", dayAndNight), "--life", "2"); code != 2 || !strings.Contains(err.Error(), "ask for --timeline") {
			t.Errorf("exit %d: %v", code, err)
		}
	})
}

// TestDesignTimelineWithoutTime: a limit of time that is over at once still has a calendar: a single design, with its gap and exit code 3.
func TestDesignTimelineWithoutTime(t *testing.T) {
	file := written(t, "time.yaml", dayAndNight)
	text, err, code := designed(t, file, "--timeline", "--space", "70%", "--time-limit", "1ns")
	if code != exitGap || err == nil || !strings.Contains(err.Error(), "not proven the best") {
		t.Errorf("exit %d: %v", code, err)
	}
	for _, want := range []string{"Calendar for day and night", "0 tables that are filled on the way", "the time limit was reached: this is the best calendar so far", "gap "} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	out, _, code := designed(t, file, "--timeline", "--space", "70%", "--time-limit", "1ns", "--json")
	var c struct {
		Status, Stopped string
		Bound, Gap      float64
	}
	if err := json.Unmarshal([]byte(out), &c); err != nil || code != exitGap || c.Status != "feasible" || c.Stopped != "wall" || !(c.Bound > 0 && c.Gap > 0 && c.Gap < 1) {
		t.Errorf("exit %d, %v: %+v", code, err, c)
	}
}
