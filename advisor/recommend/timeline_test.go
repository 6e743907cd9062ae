package recommend_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helenus-db/helenus/advisor/infer/infertest"
	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/cycle"
	"github.com/helenus-db/helenus/capture/history"
)

// byHour is a history of two weeks of the hotel's statements: of each as many an hour as rate says.
type byHour struct {
	snapshot *capture.Snapshot
	rate     func(text string, hour int) float64
}

var monday = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)

const days = 14

func (b *byHour) Hours(_ context.Context, _, _ time.Time, yield func(*history.HourOf) error) error {
	for hour := range days * 24 {
		at := monday.Add(time.Duration(hour) * time.Hour)
		h := &history.HourOf{At: at, Origin: "o", From: at, To: at.Add(time.Hour), Watched: time.Hour}
		for i := range b.snapshot.Statements {
			s := &b.snapshot.Statements[i]
			if n := b.rate(s.Text, hour%24); n >= 1 {
				h.Said = append(h.Said, history.Executions{Fingerprint: s.Fingerprint, Keyspace: s.Keyspace, Kind: s.Kind, Text: s.Text, Count: uint64(n) + uint64(hour/24)%2, Micros: uint64(n * 1000)})
			}
		}
		if err := yield(h); err != nil {
			return err
		}
	}
	return nil
}

// past is what such a history says.
func past(t *testing.T, rate func(text string, hour int) float64) *recommend.Past {
	t.Helper()
	return pastOf(t, infertest.Hotel().Snapshot(), rate)
}

// pastOf is what such a history of some statements says.
func pastOf(t testing.TB, said *capture.Snapshot, rate func(text string, hour int) float64) *recommend.Past {
	t.Helper()
	b := &byHour{said, rate}
	record, err := cycle.Read(t.Context(), b, time.Time{}, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	report, err := cycle.Find(record, cycle.Options{})
	if err != nil {
		t.Fatal(err)
	}
	counts := *b.snapshot
	counts.Statements = nil
	counts.From, counts.To = monday, monday.AddDate(0, 0, days)
	for _, s := range b.snapshot.Statements {
		sum := 0.0
		for hour := range 24 {
			sum += rate(s.Text, hour) * days
		}
		s.Count = uint64(sum)
		counts.Statements = append(counts.Statements, s)
	}
	return &recommend.Past{Report: report, Counts: &counts}
}

func byDay(hour int) bool { return hour >= 8 && hour < 18 }

func isScan(text string) bool { return strings.Contains(text, "ALLOW FILTERING") }

// Reads by guest by day, and reservations imported by night, of which each write would pay for the look-up.
func importing(text string, hour int) float64 {
	switch {
	case isScan(text) && byDay(hour):
		return 400
	case strings.HasPrefix(text, "INSERT INTO hotel.reservations") && !byDay(hour):
		return 400_000
	case isScan(text), strings.HasPrefix(text, "INSERT INTO hotel.reservations"):
		return 0
	}
	return 100
}

func overTime(t *testing.T, rate func(string, int) float64) recommend.Input {
	in := hotel(1)
	in.Past = past(t, rate)
	return in
}

// W-1, W-6: a look-up table that pays by day and costs by night becomes one recommendation of kind timeline, with the calendar
// of its changes, what it costs beside the best single choice and beside nothing, and the evidence of the cycle.
func TestTimeline(t *testing.T) {
	in := overTime(t, importing)
	a := advise(t, in)
	list := of(a, recommend.TimelineKind)
	if len(list) != 1 {
		t.Fatalf("%d calendars: %s; %v", len(list), a.Timeline, a.Problems)
	}
	r := list[0]
	x := r.Timeline
	switch {
	case !r.Eligible || r.State != recommend.Open || a.Timeline != "" || len(a.Problems) > 0:
		t.Errorf("eligible %v, %s, %q, %v", r.Eligible, r.State, a.Timeline, a.Problems)
	case len(x.Calendar.Seasons) != 1 || fmt.Sprint(x.Calendar.Seasons[0].Steps) != "[true false]" || x.Calendar.Seasons[0].Rewrite.Table != "helenus_reservations_by_guest_id":
		t.Errorf("%+v", x.Calendar)
	case len(x.Steps) != 2 || x.Steps[0].Begins != "08:00" || fmt.Sprint(x.Steps[0].Create) != "[helenus_reservations_by_guest_id]" || fmt.Sprint(x.Steps[1].Drop) != "[helenus_reservations_by_guest_id]":
		t.Errorf("%+v", x.Steps)
	case !(x.CostMs < x.StaticMs && x.StaticMs <= x.NothingMs) || x.ChangesMs <= 0 || !x.Proven:
		t.Errorf("%g with changes (%g), %g static, %g without", x.CostMs, x.ChangesMs, x.StaticMs, x.NothingMs)
	case r.Confidence <= 0.6 || x.Pattern.Periods != days || x.Pattern.Verdict != cycle.Reliable:
		t.Errorf("confidence %g, %+v", r.Confidence, x.Pattern)
	case x.Calendar.Seasons[0].Fill <= 10*time.Second || x.Calendar.Seasons[0].Rewrite.SchemaDigest == "" || !strings.HasPrefix(x.Calendar.Seasons[0].CQL, "CREATE TABLE"):
		t.Errorf("%+v", x.Calendar.Seasons[0])
	}
	scans := 0
	for i, want := range []string{"helenus_reservations_by_guest_id", ""} {
		for _, s := range x.Steps[i].Answers {
			if scans++; s.Table != want || !isScan(s.Text) {
				t.Errorf("step %d: %+v", i, s)
			}
		}
	}
	if scans != 2 {
		t.Errorf("%d answers", scans)
	}
	var page bytes.Buffer
	if err := recommend.Explain(&page, r); err != nil {
		t.Fatal(err)
	}
	golden(t, "timeline.txt", page.Bytes())
	raw, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "timeline.json", append(raw, '\n'))
	again, _ := json.MarshalIndent(of(advise(t, in), recommend.TimelineKind)[0], "", "  ")
	if d := cmp.Diff(string(raw), string(again)); d != "" {
		t.Error(d)
	}
}

// Where a calendar does not pay there is none, and it is said why.
func TestNoTimeline(t *testing.T) {
	quiet := func(rate func(string, int) float64) func(string, int) float64 {
		return func(text string, hour int) float64 {
			if isScan(text) {
				return rate(text, hour)
			}
			return importing(text, hour)
		}
	}
	refuse := func(in *recommend.Input) { in.Judge = nil }
	for name, c := range map[string]struct {
		rate func(string, int) float64
		with func(*recommend.Input)
		want string
	}{
		"no cycle":        {rate: func(string, int) float64 { return 100 }, want: "no cycle to rely on"},
		"reads all day":   {rate: quiet(func(string, int) float64 { return 400_000 }), want: "cost more than it saves: best is 1 look-up table"},
		"hardly any read": {rate: quiet(func(_ string, hour int) float64 { return float64(hour % 2) }), want: "best is no look-up table at any time"},
		"not correct":     {rate: importing, with: refuse, want: "no look-up table is to be had"},
		"too little":      {rate: importing, with: func(in *recommend.Input) { in.Thresholds.CalendarRatio = 0.99999 }, want: "advice is given from 0.28 ms (setting min-saved) and 100 % on"},
	} {
		t.Run(name, func(t *testing.T) {
			in := overTime(t, c.rate)
			if c.with != nil {
				c.with(&in)
			}
			a := advise(t, in)
			if list := of(a, recommend.TimelineKind); len(list) != 0 || !strings.Contains(a.Timeline, c.want) || len(a.Problems) > 0 {
				t.Errorf("%d calendars, %q, %v", len(list), a.Timeline, a.Problems)
			}
		})
	}
}
