package recommend_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/schema"

	"github.com/helenus-db/helenus/advisor/plan"
)

// With an almanac a calendar is designed again only where something is another that it depends on, and advice is the same as
// without, in each round.
func TestAlmanac(t *testing.T) {
	in := overTime(t, importing)
	var almanac recommend.Almanac
	refused := false
	in.Judge = recommend.JudgeFunc(func(lu plan.LookUp, s *capture.Snapshot, tables *schema.Schema) []plan.Verdict {
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
		in.Almanac = nil
		without := advise(t, in)
		in.Almanac = &almanac
		with := advise(t, in)
		if designed += c.again; almanac.Designed() != designed {
			t.Errorf("%s: designed %d times in all, not %d", c.name, almanac.Designed(), designed)
		}
		designed = almanac.Designed()
		if d := cmp.Diff(said(t, without), said(t, with)); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
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
