package calendar_test

import (
	"bytes"
	"context"
	"encoding/xml"
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/helenus-db/helenus/advisor/diagram/calendar"
	"github.com/helenus-db/helenus/advisor/diagram/svg"
	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/advisor/solve/coin"
	"github.com/helenus-db/helenus/advisor/timeline"
	"github.com/helenus-db/helenus/advisor/workload"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestMain(m *testing.M) {
	coin.ServeIfWorker()
	os.Exit(m.Run())
}

// evening is a workload whose queries change places: by day hotels are looked for, by night guests.
const evening = `
name: a <day> & a night
model:
  entities:
  - {name: Hotel, count: 2000, key: [hotel_id], attributes: [{name: hotel_id, type: uuid}, {name: city, type: text, distinct: 50}, {name: name, type: text}, {name: stars, type: int, distinct: 5}]}
  - {name: Room, count: 40000, key: [room_id], attributes: [{name: room_id, type: uuid}, {name: rate, type: double}]}
  relationships:
  - {name: room_hotel, from: Room, to: Hotel, kind: "n:1", forward: hotel, backward: rooms}
statements:
- {id: by-city, text: "SELECT Hotel.name, Room.rate FROM Room.hotel WHERE Hotel.city = ?", steps: [200, 200, 1, 1, 1, 1, 200, 200]}
- {id: by-stars, text: "SELECT Hotel.name, Room.rate FROM Room.hotel WHERE Hotel.stars = ?", steps: [1, 1, 1, 30, 30, 1, 1, 1]}
- {id: reprice, text: "UPDATE Room SET rate = ? WHERE Room.room_id = ?", steps: [5, 5, 20000, 20000, 20000, 20000, 5, 5]}
`

func TestCalendar(t *testing.T) {
	w, err := workload.Read("evening.yaml", []byte(evening))
	if err != nil {
		t.Fatal(err)
	}
	found, err := timeline.Choose(context.Background(), w, timeline.Options{Solver: solve.New(solve.Config{}), Interval: []time.Duration{time.Hour}})
	if err != nil {
		t.Fatal(err)
	}
	c := calendar.Of(found)
	created, changed := 0, len(c.Statements)
	for _, x := range c.Tables {
		for _, is := range x.Created {
			if is {
				created++
			}
		}
	}
	want := 0
	for _, s := range found.Steps[1:] {
		want += len(s.Created)
	}
	if created != want || len(c.Cost) != 8 || len(c.Baselines) != 4 {
		t.Errorf("%d of %d tables created, %d costs, %d baselines, %d statements change", created, want, len(c.Cost), len(c.Baselines), changed)
	}
	if !bytes.Equal(drawn(t, c), drawn(t, c)) {
		t.Error("two drawings differ")
	}
}

// made is a chart with all that there is to see.
func made() *calendar.Chart {
	hours := func(n ...float64) []time.Duration {
		list := make([]time.Duration, len(n))
		for i, h := range n {
			list[i] = time.Duration(h * float64(time.Hour))
		}
		return list
	}
	return &calendar.Chart{
		Title: "orders & <returns>", Subtitle: "8 steps, cost 42", Unit: "ms", Steps: hours(6, 2, 2, 2, 4, 4, 2, 2),
		Groups: calendar.Together([]calendar.Series{
			{Name: "browse", Values: []float64{10, 20, 40, 80, 80, 40, 20, 10}}, {Name: "search", Values: []float64{1, 2, 4, 8, 8, 4, 2, 1}},
			{Name: "report", Values: []float64{50, 0, 0, 0, 0, 0, 0, 50}}, {Name: "order", Values: []float64{1, 1, 1, 1, 1, 1, 1, 1}},
		}),
		Tables: []calendar.Table{
			{Name: "orders", There: true, Open: []bool{true, true, true, true, true, true, true, true}, Created: make([]bool, 8)},
			{Name: "orders_by_customer", Open: []bool{false, false, true, true, true, true, false, false}, Created: []bool{false, false, true, false, false, false, false, false}, Detail: "[customer_id][day][total]"},
			{Name: "totals_by_region_and_day_of_the_last_year", Open: []bool{true, false, false, false, false, false, false, true}, Created: []bool{false, false, false, false, false, false, false, true}},
		},
		Statements: []calendar.Statement{
			{Name: "browse", Changed: []bool{false, false, true, false, false, false, true, false}, Tables: []string{"orders", "orders", "orders_by_customer", "orders_by_customer", "orders_by_customer", "orders_by_customer", "orders", "orders"}},
			{Name: "report", Changed: []bool{false, true, false, false, false, false, false, true}, Tables: make([]string, 8)},
		},
		Cost:      []float64{5, 4, 6, 7, 7, 5, 4, 4},
		Baselines: []calendar.Series{{Name: "static average", Values: []float64{8, 7, 8, 9, 9, 7, 7, 8}}, {Name: "ideal", Values: []float64{4, 4, 5, 6.5, 6.5, 4.5, 4, 3.5}}},
	}
}

func drawn(t *testing.T, c *calendar.Chart) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := c.SVG(&b, svg.Auto); err != nil {
		t.Fatal(err)
	}
	if err := xml.Unmarshal(b.Bytes(), new(struct{})); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestGolden(t *testing.T) {
	got, file := drawn(t, made()), filepath.Join("..", "..", "..", "docs", "diagrams", "calendar.svg")
	if *update {
		if err := os.WriteFile(file, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file) //nolint:gosec // of ours
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("the chart is not what it was; look at it and run `go test ./advisor/diagram/calendar -update`")
	}
}

func TestTogether(t *testing.T) {
	groups := made().Groups
	var names []string
	for _, g := range groups {
		names = append(names, g.Name)
	}
	if got := strings.Join(names, "; "); got != "browse, search; report; order" || groups[0].Values[3] != 88 {
		t.Errorf("%s: %v", got, groups)
	}
	var many []calendar.Series
	for i := range 12 {
		values := make([]float64, 12)
		values[i] = float64(i + 1)
		many = append(many, calendar.Series{Name: "q", Values: values})
	}
	if groups := calendar.Together(many); len(groups) != 8 || groups[7].Name != "5 others" {
		t.Errorf("%v", groups)
	}
}

func TestBadCharts(t *testing.T) {
	for want, change := range map[string]func(c *calendar.Chart){
		"there are no steps":                func(c *calendar.Chart) { c.Steps = nil },
		"the cost has 2 values for 8 steps": func(c *calendar.Chart) { c.Cost = []float64{1, 2} },
		"ideal has the value NaN":           func(c *calendar.Chart) { c.Baselines[1].Values[2] = math.NaN() },
		"orders has 0 values for 8 steps":   func(c *calendar.Chart) { c.Tables[0].Open = nil },
		"report has 1 values for 8 steps":   func(c *calendar.Chart) { c.Statements[1].Changed = []bool{true} },
		"browse, search has the value +Inf": func(c *calendar.Chart) { c.Groups[0].Values[0] = math.Inf(1) },
	} {
		c := made()
		change(c)
		if err := c.SVG(io.Discard, svg.Auto); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	c := &calendar.Chart{Steps: []time.Duration{0, 0}, Cost: []float64{0, 0}}
	drawn(t, c)
}
