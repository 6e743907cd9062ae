package chart_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/internal/chart"
)

var update = flag.Bool("update", false, "write the golden files anew")

// examples are one chart of each kind, as the benches draw them.
func examples(t *testing.T) map[string]*chart.Chart {
	t.Helper()
	made := func(c *chart.Chart, err error) *chart.Chart {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	nan := math.NaN()
	return map[string]*chart.Chart{
		"bars-log": made(chart.Bars(chart.Frame{Title: "Response time by request type", Y: "mean, ms", LogY: true, Width: 760},
			[]string{"BrowseCategories", "ViewBidHistory", "ViewUserInfo", "AboutMe", "StoreBid", "weighted mean"},
			chart.Series{Name: "ours", Y: []float64{2.0, 3.1, 4.2, 79.5, 9, 8.4}},
			chart.Series{Name: "expert", Y: []float64{2.7, 44, 12, 209.4, 7, 41.6}},
			chart.Series{Name: "normalized", Y: []float64{1.3, 526.8, nan, 300, 3, 1087}})),
		"bars": made(chart.Bars(chart.Frame{Title: "Mixes", X: "mix", Y: "times the best"}, []string{"browsing", "bidding", "write x10", "write x100"},
			chart.Series{Name: "ours", Y: []float64{1, 1, 1, 1.02}}, chart.Series{Name: "normalized", Y: []float64{8, 10.3, 4, 1}})),
		"lines": made(chart.Lines(chart.Frame{Title: "Advisor", X: "scale", Y: "seconds"},
			chart.Series{Name: "total", X: []float64{1, 2, 3, 4}, Y: []float64{1, 9, 40, 130}},
			chart.Series{Name: "enumeration", X: []float64{1, 2, 3, 4}, Y: []float64{0.5, 3, 12, 30}},
			chart.Series{Name: "linear", X: []float64{1, 4}, Y: []float64{1, 100}, Guide: true})),
		"scatter": made(chart.Scatter(chart.Frame{Title: `<fit> & "measurement"` + "\x00\x1b", X: "measured, ms", Y: "predicted, ms", LogX: true, LogY: true},
			chart.Series{X: []float64{0.1, 100}, Y: []float64{0.1, 100}, Guide: true},
			chart.Series{Name: "gets", X: []float64{0.3, 0.8, 4}, Y: []float64{0.32, 0.7, 4.4}},
			chart.Series{Name: "scans", X: []float64{3, 8, 40}, Y: []float64{2.9, 9, 44}})),
	}
}

func TestGolden(t *testing.T) {
	all := examples(t)
	for name, c := range all {
		var got bytes.Buffer
		if err := c.SVG(&got); err != nil {
			t.Fatal(err)
		}
		golden(t, name, got.Bytes())
	}
	var sheet bytes.Buffer
	if err := chart.SVG(&sheet, 2, all["scatter"], all["lines"], all["bars"]); err != nil {
		t.Fatal(err)
	}
	golden(t, "sheet", sheet.Bytes())
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name+".svg")
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s: other bytes than %s; look at it, then go test ./internal/chart -update", name, file)
	}
}

func TestRefused(t *testing.T) {
	one := []float64{1}
	for name, c := range map[string]struct {
		make func() (*chart.Chart, error)
		says string
	}{
		"no groups": {func() (*chart.Chart, error) { return chart.Bars(chart.Frame{}, nil, chart.Series{}) }, "nothing to draw"},
		"no bars":   {func() (*chart.Chart, error) { return chart.Bars(chart.Frame{}, []string{"a"}) }, "nothing to draw"},
		"only gaps": {func() (*chart.Chart, error) {
			return chart.Bars(chart.Frame{}, []string{"a"}, chart.Series{Y: []float64{math.NaN()}})
		}, "nothing to draw"},
		"no points": {func() (*chart.Chart, error) { return chart.Lines(chart.Frame{}, chart.Series{Name: "a"}) }, "nothing to draw"},
		"few bars": {func() (*chart.Chart, error) {
			return chart.Bars(chart.Frame{}, []string{"a", "b"}, chart.Series{Name: "s", Y: one})
		}, `"s" has 1 values for 2 groups`},
		"few points": {func() (*chart.Chart, error) { return chart.Scatter(chart.Frame{}, chart.Series{Name: "s", X: one}) }, `"s" has 1 x and 0 y`},
		"infinite": {func() (*chart.Chart, error) {
			return chart.Lines(chart.Frame{}, chart.Series{Name: "s", X: one, Y: []float64{math.Inf(1)}})
		}, "no number"},
		"zero": {func() (*chart.Chart, error) {
			return chart.Lines(chart.Frame{LogY: true}, chart.Series{Name: "s", X: one, Y: []float64{0}})
		}, "logarithmic"},
		"beyond": {func() (*chart.Chart, error) {
			return chart.Bars(chart.Frame{}, []string{"a"}, chart.Series{Y: []float64{1e200}})
		}, "beyond"},
	} {
		if _, err := c.make(); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
	full := errors.New("no space left")
	if err := examples(t)["bars"].SVG(failing{full}); !errors.Is(err, full) {
		t.Errorf("a writer that fails: %v", err)
	}
}

type failing struct{ error }

func (f failing) Write([]byte) (int, error) { return 0, f.error }

// TestAnything: whatever may be drawn is drawn, as XML that can be read again, with its texts, twice the same.
func TestAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := chart.Frame{Title: rapid.String().Draw(t, "title"), Y: "y", LogX: rapid.Bool().Draw(t, "log x"), LogY: rapid.Bool().Draw(t, "log y")}
		number := rapid.Float64Range(-1e9, 1e9)
		if f.LogX || f.LogY {
			number = rapid.Float64Range(1e-9, 1e9)
		}
		var series []chart.Series
		n := rapid.IntRange(1, 5).Draw(t, "points")
		for range rapid.IntRange(1, 9).Draw(t, "series") {
			series = append(series, chart.Series{
				Name: rapid.String().Draw(t, "name"), Guide: rapid.Bool().Draw(t, "guide"),
				X: rapid.SliceOfN(number, n, n).Draw(t, "x"), Y: rapid.SliceOfN(number, n, n).Draw(t, "y"),
			})
		}
		groups := rapid.SliceOfN(rapid.String(), n, n).Draw(t, "groups")
		bars, e1 := chart.Bars(f, groups, series...)
		lines, e2 := chart.Lines(f, series...)
		scatter, e3 := chart.Scatter(f, series...)
		if err := errors.Join(e1, e2, e3); err != nil {
			t.Fatal(err)
		}
		var first, second bytes.Buffer
		if err := errors.Join(chart.SVG(&first, 2, bars, lines, scatter), chart.SVG(&second, 2, bars, lines, scatter)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Fatal("drawn twice, it differs")
		}
		for d := xml.NewDecoder(&first); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("no XML: %v", err)
			}
		}
	})
}
