package svg

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/internal/words"
)

// contrast is that of WCAG 2, 1 to 21.
func contrast(a, b string) float64 {
	luminance := func(hex string) float64 {
		var rgb [3]int
		if _, err := fmt.Sscanf(hex, "#%02x%02x%02x", &rgb[0], &rgb[1], &rgb[2]); err != nil {
			return math.NaN()
		}
		l := 0.0
		for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
			c := float64(rgb[i]) / 255
			if c <= 0.03928 {
				c /= 12.92
			} else {
				c = math.Pow((c+0.055)/1.055, 2.4)
			}
			l += weight * c
		}
		return l
	}
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// TestContrast: text can be read in both themes, and lines be told from what they lie on.
func TestContrast(t *testing.T) {
	for _, c := range []struct {
		over, under string
		least       float64
	}{
		{"ink", "paper", 7}, {"ink", "card", 7}, {"faint", "paper", 4.5}, {"type", "card", 4.5}, {"mark", "card", 4.5},
		{"onhead", "blue", 4.5}, {"onhead", "teal", 4.5}, {"onhead", "purple", 4.5}, {"onhead", "amber", 4.5},
		{"line", "paper", 3}, {"s1", "paper", 3}, {"s2", "paper", 3}, {"s3", "paper", 3}, {"s4", "paper", 3}, {"s5", "paper", 3}, {"s6", "paper", 3}, {"kept", "paper", 3},
	} {
		over, under := colours[c.over], colours[c.under]
		for theme, got := range map[string]float64{"light": contrast(over.light, under.light), "dark": contrast(over.dark, under.dark)} {
			if !(got >= c.least) {
				t.Errorf("%s on %s, %s: %.2f, less than %g", c.over, c.under, theme, got, c.least)
			}
		}
	}
}

// TestColours: every class names colours that there are.
func TestColours(t *testing.T) {
	for class, look := range styles {
		for _, dark := range []bool{false, true} {
			css := painted(look.css, dark)
			if strings.Contains(css, "$") || strings.Contains(css, ":;") || strings.HasSuffix(css, ":") {
				t.Errorf("%s: %s", class, css)
			}
		}
	}
}

// TestWidth: Liberation Sans has the widths of Arial.
func TestWidth(t *testing.T) {
	for _, c := range []struct {
		text  string
		class Class
		want  float64
	}{
		{"", Row, 0}, {"i", Row, 0.222 * 12.5}, {"m", Row, 0.833 * 12.5}, {"W", Row, 0.944 * 12.5}, {"m", Name, 0.889 * 13}, {"漢", Row, 12.5}, {"a\u0301", Row, 0.556 * 12.5},
	} {
		if got := Width(c.text, c.class); math.Abs(got-c.want) > 0.02 {
			t.Errorf("%q: %g, want %g", c.text, got, c.want)
		}
	}
}

func TestFitAndWrap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, most := rapid.String().Draw(t, "text"), rapid.Float64Range(15, 300).Draw(t, "most")
		fitted, cut := Fit(text, Row, most)
		if w := Width(fitted, Row); w > most || !cut && fitted != text || cut && !strings.HasSuffix(fitted, "…") {
			t.Fatalf("%q: %q is %g wide, at most %g", text, fitted, w, most)
		}
		lines := Wrap(text, Row, most)
		for _, line := range lines {
			if w := Width(line, Row); w > most && utf8.RuneCountInString(line) > 1 { // one letter may be wider than the line
				t.Fatalf("%q: %q is %g wide, at most %g", text, line, w, most)
			}
		}
		if got, want := strings.Join(strings.Fields(strings.Join(lines, "")), ""), strings.Join(strings.Fields(text), ""); got != want {
			t.Fatalf("%q became %q", want, got)
		}
	})
}

// TestWhatever: any text gives XML that can be read, with the text in it.
func TestWhatever(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		var s Sheet
		s.Group("g", text, func() { s.Text(1, 2, Middle, text, Row) })
		s.Hatched(0, 0, 5, 5, Card)
		for _, theme := range Themes {
			var b bytes.Buffer
			if err := s.Write(&b, 10, 10, text, text, theme); err != nil {
				t.Fatal(err)
			}
			var read struct {
				Title string `xml:"title"`
				Style string `xml:"style"`
			}
			if err := xml.Unmarshal(b.Bytes(), &read); err != nil {
				t.Fatalf("%v\n%s", err, b.String())
			}
			if read.Title != words.Printable(text) || strings.Contains(read.Style, "prefers-color-scheme") != (theme == Auto) {
				t.Fatalf("title %q, style %s", read.Title, read.Style)
			}
		}
	})
}

func TestNumber(t *testing.T) {
	var got []string
	for _, x := range []float64{0, -0.001, 1.005, 2.5, 100, -3.14159} {
		got = append(got, number(x))
	}
	if want := []string{"0", "0", "1", "2.5", "100", "-3.14"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
