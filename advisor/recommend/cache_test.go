package recommend_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/schema"

	"github.com/helenus-db/helenus/advisor/plan"
)

// With a cache a calendar is designed again only where something is another that it depends on, and advice is the same as
// without, in each round, also where it is carried to another process and back.
func TestCalendarCache(t *testing.T) {
	in := overTime(t, importing)
	var cache recommend.CalendarCache
	refused := false
	in.Judge = recommend.JudgeFunc(func(lu plan.Rewrite, s *capture.Snapshot, tables *schema.Schema) []plan.Verdict {
		if refused {
			return []plan.Verdict{{Refused: true, Condition: "R1", Reason: "the test says so"}}
		}
		return agree(lu, s, tables)
	})
	designed := 0
	for _, c := range []struct {
		name  string
		with  func()
		again int // calendars designed
	}{
		{"the first time", func() {}, 1},
		{"a minute later", func() { in.At = in.At.Add(time.Minute) }, 0},
		{"other traffic since", func() { now := *in.Snapshot; now.To = now.To.Add(time.Minute); in.Snapshot = &now }, 0},
		{"an equal schema read anew", func() { in.Schema = deepCopy(t, in.Schema) }, 0},
		{"another schema", func() { in.Schema.Keyspaces[0].Tables = in.Schema.Keyspaces[0].Tables[1:] }, 1},
		{"other sizes", func() {
			in.Statistics = deepCopy(t, in.Statistics)
			in.Statistics[0].Rows *= 2
		}, 1},
		{"sizes of the time that was read", func() {
			past := *in.Past
			past.Statistics = deepCopy(t, in.Statistics)
			in.Past = &past
		}, 1},
		{"whatever the sizes are since", func() { in.Statistics = nil }, 0},
		{"another judgement", func() { refused = true }, 1},
		{"the same judgement", func() {}, 0},
		{"no longer refused", func() { refused = false }, 1},
		{"another threshold", func() { in.Thresholds.CalendarRatio = 0.99999 }, 1},
		{"more nodes", func() { in.Nodes = 3 }, 1},
		{"another hour of history", func() { past := *in.Past; in.Past = &past }, 1},
		{"nobody to judge", func() { in.Judge = nil }, 1},
	} {
		c.with()
		in.Cache = nil
		without := advise(t, in)
		in.Cache = carried(t, &cache, in.Past)
		with := advise(t, in)
		cache.Restore(deepCopy(t, in.Cache.State(in.Past)), in.Past)
		if designed += c.again; cache.Designed() != designed {
			t.Errorf("%s: designed %d times in all, not %d", c.name, cache.Designed(), designed)
		}
		designed = cache.Designed()
		if d := cmp.Diff(said(t, without), said(t, with)); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}

// carried is a cache as a round with a past has it in another process.
func carried(t *testing.T, a *recommend.CalendarCache, past *recommend.Past) *recommend.CalendarCache {
	var there recommend.CalendarCache
	there.Restore(deepCopy(t, a.State(past)), past)
	return &there
}

func said(t *testing.T, a *recommend.Advice) string {
	text, err := json.MarshalIndent(struct {
		R []recommend.Recommendation
		T string
		P []string
	}{a.Recommendations, a.Timeline, a.Problems}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func deepCopy[T any](t *testing.T, v T) T {
	var own T
	text, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(text, &own)
	}
	if err != nil {
		t.Fatal(err)
	}
	return own
}

// A search that the time was over for is tried again after ten times that time, with twice the time, up to four times what the limits say; what that comes
// to is kept until the next hour of history, whose search has as much time from the begin. (With a nanosecond the time is over always.)
func TestCalendarCacheTriesAgain(t *testing.T) {
	in := overTime(t, importing)
	var cache recommend.CalendarCache
	in.Limits = solve.Limits{Wall: 1}
	began := in.At
	designed := 0
	for _, c := range []struct {
		name  string
		after time.Duration // since the first round
		with  func()
		again int
		says  string
	}{
		{"the first time", 0, func() {}, 1, "it had 1ns, and is looked for again, for twice as long, from "},
		{"too soon", 9, func() {}, 0, "it had 1ns, and is looked for again"},
		{"soon enough", 10, func() {}, 1, "it had 2ns, and is looked for again"},
		{"too soon for the next", 29, func() {}, 0, "it had 2ns, and is looked for again"},
		{"the third time", 30, func() {}, 1, "it had 4ns, and is looked for again when the next hour of the history is known"},
		{"it is kept", time.Hour, func() {}, 0, "it had 4ns"},
		{"another hour of history", time.Hour + 1, func() { past := *in.Past; in.Past = &past }, 1, "it had 4ns"},
		{"other limits", time.Hour + 2, func() { in.Limits.Wall = 3 }, 1, "it had 4ns, and is looked for again, for twice as long"},
		{"up to their bound", time.Hour + 50, func() {}, 1, "it had 8ns, and is looked for again, for twice as long"},
		{"and not beyond", time.Hour + 200, func() {}, 1, "it had 12ns, and is looked for again when the next hour"},
		{"time enough", 2 * time.Hour, func() { in.Limits.Wall = time.Hour }, 1, ""},
		{"which is kept", 200 * time.Hour, func() {}, 0, ""},
	} {
		c.with()
		in.At = began.Add(c.after)
		in.Cache = carried(t, &cache, in.Past)
		a := advise(t, in)
		cache.Restore(deepCopy(t, in.Cache.State(in.Past)), in.Past)
		if designed += c.again; cache.Designed() != designed {
			t.Errorf("%s: designed %d times in all, not %d", c.name, cache.Designed(), designed)
		}
		designed = cache.Designed()
		if !strings.Contains(a.Timeline, c.says) || c.says == "" && a.Timeline != "" {
			t.Errorf("%s: %q is not in %q", c.name, c.says, a.Timeline)
		}
		if n := len(of(a, recommend.TimelineKind)); n != 0 == (c.says != "") {
			t.Errorf("%s: %d calendars", c.name, n)
		}
	}
}
