// Package words says numbers as people do, for all that people read: durations, sizes, rates and counts, with three digits that matter; and JSON that they can read.
//
// It imports nothing of ours.
package words

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Three is a number with three digits that matter, at most.
func Three(v float64) string {
	switch a := math.Abs(v); {
	case a >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case a >= 10:
		return strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0")
	}
	return strings.TrimSuffix(strings.TrimRight(strconv.FormatFloat(v, 'f', 2, 64), "0"), ".")
}

// Millis is a duration of so many milliseconds in the unit that a person says.
func Millis(v float64) string {
	switch a := math.Abs(v); {
	case a == 0:
		return "0"
	case a < 1:
		return Three(v*1000) + " µs"
	case a < 1000:
		return Three(v) + " ms"
	case a < 120_000:
		return Three(v/1000) + " s"
	}
	return Span(time.Duration(v * float64(time.Millisecond)))
}

// Span is how long something takes.
func Span(d time.Duration) string {
	switch {
	case d < time.Second:
		return Millis(float64(d) / float64(time.Millisecond))
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	case d < 48*time.Hour:
		return fmt.Sprintf("%.0f h", d.Hours())
	}
	return fmt.Sprintf("%.0f days", d.Hours()/24)
}

// Size is a number of bytes.
func Size(v float64) string {
	for _, u := range []struct {
		least float64
		name  string
	}{{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}} {
		if v >= u.least {
			return Three(v/u.least) + " " + u.name
		}
	}
	return fmt.Sprintf("%.0f B", v)
}

// Count groups digits by three.
func Count(v any) string {
	f := Float(v)
	if f != math.Trunc(f) && math.Abs(f) < 999.5 {
		return Three(f)
	}
	f = math.Round(f)
	digits := strconv.FormatFloat(math.Abs(f), 'f', 0, 64)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	if f < 0 {
		return "-" + digits
	}
	return digits
}

// Rate is how often something happens, in words.
func Rate(perSecond float64) string {
	switch {
	case perSecond >= 1000:
		return Count(math.Round(perSecond)) + " a second"
	case perSecond >= 0.5:
		return Three(perSecond) + " a second"
	case perSecond*60 >= 0.5:
		return Three(perSecond*60) + " a minute"
	case perSecond > 0:
		return Three(perSecond*3600) + " an hour"
	}
	return "never"
}

// Float is a number of any type.
func Float(v any) float64 {
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

// Plural counts things: "1 entry", "2 entries".
func Plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Count(n) + " " + many
}

// Printable is s without what XML can not hold and eyes can not see.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsPrint(r):
			return r
		case unicode.IsSpace(r):
			return ' '
		}
		return unicode.ReplacementChar
	}, s)
}
