package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/capture/cycle"
	"github.com/helenus-db/helenus/rewrite/calendar"
)

func TestLimitFlags(t *testing.T) {
	read := func(args ...string) (*calendar.Limits, error) {
		var f limitFlags
		c := &cobra.Command{}
		f.flags(c)
		if err := c.ParseFlags(args); err != nil {
			return nil, err
		}
		return f.limits(c)
	}
	if l, err := read(); l != nil || err != nil {
		t.Errorf("without a flag: %+v, %v", l, err)
	}
	l, err := read("--until", "2027-01-31T18:00:00Z", "--changes-per-day", "4", "--max-bytes", "1.5 GB", "--window", "22:00-06:00", "--window", "12:00-13:00", "--each", "--drop-at-end")
	if err != nil || limitsText(l) != "until 2027-01-31T18:00:00Z; 4 changes a day; 2 GB; changes begin 22:00-06:00; changes begin 12:00-13:00; each change is approved by itself; all is dropped when it ends" || l.MaxBytes != 1.5e9 {
		t.Errorf("%+v, %v", l, err)
	}
	if l, err := read("--until", "2027-01-31"); err != nil || l.Until.Format(time.DateOnly) != "2027-01-31" {
		t.Errorf("%+v, %v", l, err)
	}
	for _, bad := range [][]string{{"--until", "soon"}, {"--until", ""}, {"--max-bytes", "much"}, {"--max-bytes", ""}, {"--max-bytes", "NaN"}, {"--max-bytes", "Inf"}, {"--max-bytes", "1e400"}, {"--max-bytes", "2GB or so"}, {"--max-bytes", "-1"}, {"--max-bytes", "3 XB"}, {"--window", "8-10"}} {
		if _, err := read(bad...); err == nil {
			t.Errorf("%v: no error", bad)
		}
	}
}

func TestCalendarIsPrinted(t *testing.T) {
	at := time.Date(2026, 3, 16, 6, 40, 0, 0, time.UTC)
	c := calendar.Calendar{ID: "r-1", State: calendar.Paused, Reason: "a guard", Actor: "ann", Approved: at,
		Cycle:   cycle.Cycle{Period: cycle.Day, Zone: "UTC", Steps: []cycle.Step{{Begin: 8 * time.Hour, Length: 10 * time.Hour}, {Begin: 18 * time.Hour, Length: 14 * time.Hour}}},
		Plan:    plan.Calendar{Seasons: []plan.Season{{Rewrite: plan.Rewrite{Keyspace: "k", Table: "helenus_t_by_a"}, Steps: []bool{true, false}}}},
		Seasons: []calendar.Season{{ID: "r-1.1", Stage: calendar.Coming, Since: at, Took: 90 * time.Second, Waiting: "it waits for a window"}},
		Holding: &calendar.Asked{Why: "the last day was off by 0.10"}, Events: []calendar.Event{{Time: at, Actor: "ann", Text: "approved"}}}
	var out bytes.Buffer
	if err := printCalendar(&out, &c); err != nil {
		t.Fatal(err)
	}
	if err := printCalendars(&out, []calendar.Calendar{c}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"r-1 is paused, approved by ann", "reason: a guard", "limits: none", "k.helenus_t_by_a  coming", "08:00", "1m30s", "it waits for a window", "approved (ann)", "helenus_t_by_a (coming)"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, fmt.Sprint(out.String()))
		}
	}
}
