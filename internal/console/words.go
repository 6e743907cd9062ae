package console

import (
	"fmt"
	"html/template"
	"math"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/internal/words"
	"github.com/helenus-db/helenus/rewrite/condition"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// words are the functions that pages speak with.
func (c *console) words() template.FuncMap {
	return template.FuncMap{
		"ms": millis, "micros": func(v float64) string { return millis(v / 1000) }, "bytes": sizes, "share": share, "count": number, "rate": rate, "work": work, "worktime": recommend.WorkTime,
		"ago": func(t time.Time) string { return ago(c.o.Now().Sub(t)) }, "exact": exact, "machine": func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"takes": span, "short": func(s string) string { return s[:min(8, len(s))] },
		"condition": condition.Find, "steps": steps, "seg": url.PathEscape, "mark": mark, "percent": func(v float64) int { return int(math.Round(100 * v)) },
		"confident": confident, "bars": bars, "times": func(v float64) string { return fmt.Sprintf("%.1f times", v) },
		"menu": func() []entry { return menu }, "names": func(all ...string) []string { return all }, "first": first[recommend.Dismissal], "latest": latest, "has": has, "period": period,
		"thousand": func(v float64) float64 { return v * 1000 }, "negative": func(v float64) float64 { return -v }, "explain": func(id string) string { return "helenus explain " + id },
		"part": func(n uint64, of float64) float64 { return float64(n) / max(of, 1) },
		"join": strings.Join, "remarks": remarks, "upper": upper, "plural": plural, "text": func(v any) string { return fmt.Sprint(v) }, "float": func(v any) float64 { return asFloat(v) },
	}
}

// entry is one of the menu.
type entry struct{ Here, Path, Name string }

var menu = []entry{
	{"overview", "/ui/", "Overview"}, {"recommendations", "/ui/recommendations", "Recommendations"}, {"statements", "/ui/statements", "Statements"},
	{"tables", "/ui/tables", "Tables"}, {"joins", "/ui/joins", "Joins"}, {"model", "/ui/model", "Model"}, {"activity", "/ui/activity", "Activity"},
	{"connections", "/ui/connections", "Connections"}, {"settings", "/ui/settings", "Settings"},
}

// first is the begin of a long list.
func first[T any](list []T) []T { return list[:min(len(list), listed)] }

// shownEvents is how many events of a change its page shows.
const shownEvents = 40

// latest are the last events, the latest first.
func latest(events []migrate.Event) []migrate.Event {
	events = slices.Clone(events)
	slices.Reverse(events)
	return events[:min(len(events), shownEvents)]
}

// has tells whether a form was sent with a value.
func has(given url.Values, name, value string) bool { return slices.Contains(given[name], value) }

// period is what people call the time since which something is counted.
func period(since string) string {
	switch since {
	case "":
		return "the process started"
	case "168h":
		return "a week"
	case "24h":
		return "a day"
	case "1h":
		return "an hour"
	}
	return "5 minutes"
}

// How numbers are said is that of package words.
var (
	millis, span, sizes, rate = words.Millis, words.Span, words.Size, words.Rate
	number, plural, asFloat   = words.Count, words.Plural, words.Float
)

func ago(d time.Duration) string {
	switch {
	case d > 20*365*24*time.Hour: // of a zero time
		return "never"
	case d < time.Second:
		return "now"
	}
	return span(d) + " ago"
}

func exact(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}

func share(v float64) string { return recommend.Share(v) }

// work is time of the cluster that is saved or spent, for each second.
func work(perSecond float64) string { return recommend.Work(perSecond) }

// confident is a confidence as a person says it.
func confident(v float64) string {
	switch {
	case v >= 0.95:
		return "high"
	case v >= 0.7:
		return "fair"
	}
	return "low"
}

// badge is a state as it is shown: by a colour, a shape and a word.
type badge struct{ Kind, Sign, Word string }

// badges are the states of recommendations, changes and calendars.
var badges = map[string]badge{
	"open": {"new", "○", "open"}, "rejected": {"off", "✕", "dismissed"}, "dismissed": {"off", "✕", "dismissed"}, "proposed": {"new", "○", "proposed"}, "snoozed": {"off", "◷", "snoozed"}, "superseded": {"off", "–", "superseded"}, "expired": {"off", "–", "expired"},
	"approved": {"busy", "◔", "approved"}, "created": {"busy", "◔", "created"}, "dual-write": {"busy", "◑", "dual-write"}, "backfill": {"busy", "◑", "backfill"},
	"verify": {"busy", "◕", "verify"}, "shadow": {"busy", "◕", "shadow"}, "serving": {"good", "●", "serving"}, "following": {"good", "●", "following"},
	"suspended": {"warn", "▲", "suspended"}, "paused": {"warn", "▲", "paused"}, "failed": {"bad", "■", "failed"}, "rolling-back": {"warn", "◁", "rolling back"},
	"withdrawing": {"warn", "◁", "withdrawing"}, "rolled-back": {"off", "◁", "rolled back"}, "withdrawn": {"off", "◁", "withdrawn"}, "dropped": {"off", "✕", "dropped"},
}

func mark(state string) badge {
	if b, ok := badges[state]; ok {
		return b
	}
	return badge{"off", "·", state}
}

// step is one of a plan.
type step struct{ Do, Cost string }

// steps takes a plan's text apart: "1. scan reservations, filtering by guest_id = ? (1 request, 4 rows, 200000 scanned)".
func steps(text string) (all []step) {
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if n, rest, ok := strings.Cut(line, ". "); ok && strings.Trim(n, "0123456789") == "" {
			line = rest
		}
		var s step
		s.Do = line
		if at := strings.LastIndex(line, " ("); at > 0 && strings.HasSuffix(line, ")") {
			s.Do, s.Cost = line[:at], line[at+2:len(line)-1]
		}
		all = append(all, s)
	}
	return all
}

// bar is one of a pair, its length in hundredths of the longer.
type bar struct {
	Label, Value string
	Length       float64
	Class        string
}

// bars compares two durations, milliseconds.
func bars(before, after float64) []bar {
	most := max(before, after)
	if most <= 0 {
		return nil
	}
	length := func(v float64) float64 { return max(0.5, math.Round(1000*v/most)/10) }
	return []bar{{"now", millis(before), length(before), "before"}, {"with it", millis(after), length(after), "after"}}
}
