package console

import (
	"fmt"
	"html/template"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/helenus-db/helenus/advisor/recommend"
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
		"join": strings.Join, "upper": upper, "plural": plural, "text": func(v any) string { return fmt.Sprint(v) }, "float": func(v any) float64 { return asFloat(v) },
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

func asFloat(v any) float64 {
	switch n := v.(type) {
	case uint64:
		return float64(n)
	case int64:
		return float64(n)
	case int:
		return float64(n)
	case float64:
		return n
	}
	return 0
}

// three is a number with three digits that matter, at most.
func three(v float64) string {
	switch a := math.Abs(v); {
	case a >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case a >= 10:
		return strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0")
	}
	return strings.TrimSuffix(strings.TrimRight(strconv.FormatFloat(v, 'f', 2, 64), "0"), ".")
}

// millis is a duration of so many milliseconds in the unit that a person says.
func millis(v float64) string {
	switch a := math.Abs(v); {
	case a == 0:
		return "0"
	case a < 1:
		return three(v*1000) + " µs"
	case a < 1000:
		return three(v) + " ms"
	case a < 120_000:
		return three(v/1000) + " s"
	}
	return span(time.Duration(v * float64(time.Millisecond)))
}

// span is how long something takes.
func span(d time.Duration) string {
	switch {
	case d < time.Second:
		return millis(float64(d) / float64(time.Millisecond))
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	case d < 48*time.Hour:
		return fmt.Sprintf("%.0f h", d.Hours())
	}
	return fmt.Sprintf("%.0f days", d.Hours()/24)
}

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

func sizes(v float64) string {
	for _, u := range []struct {
		least float64
		name  string
	}{{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}} {
		if v >= u.least {
			return three(v/u.least) + " " + u.name
		}
	}
	return fmt.Sprintf("%.0f B", v)
}

func share(v float64) string { return recommend.Share(v) }

// number groups digits by three.
func number(v any) string {
	f := asFloat(v)
	if f != math.Trunc(f) {
		return three(f)
	}
	digits := strconv.FormatFloat(math.Abs(f), 'f', 0, 64)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	if f < 0 {
		return "-" + digits
	}
	return digits
}

// rate is how often something happens, in words.
func rate(perSecond float64) string {
	switch {
	case perSecond >= 1000:
		return number(math.Round(perSecond)) + " a second"
	case perSecond >= 0.5:
		return three(perSecond) + " a second"
	case perSecond*60 >= 0.5:
		return three(perSecond*60) + " a minute"
	case perSecond > 0:
		return three(perSecond*3600) + " an hour"
	}
	return "never"
}

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

// badges are the states of recommendations, migrations and calendars.
var badges = map[string]badge{
	"open": {"new", "○", "open"}, "rejected": {"off", "✕", "rejected"}, "superseded": {"off", "–", "superseded"}, "expired": {"off", "–", "expired"},
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
