package main

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/helenus-db/helenus/advisor/choice"
)

func TestProgressLine(t *testing.T) {
	inf := math.Inf(1)
	for want, told := range map[string][]choice.Progress{
		"10s: looking for tables and plans":                                              nil,
		"10s: looking for a first design":                                                {{Cost: inf, Bound: -inf}},
		"10s: a design that costs 100, at most 1m":                                       {{Cost: 100, Bound: -inf}},
		"10s: a design that costs 100, none costs less than 80 (gap 20 %), at most 1m":   {{Cost: 100, Bound: 80}},
		"10s: a design that costs 100, none costs less than 95 (gap 5 %), about":         {{Cost: 100, Bound: 80}, {Cost: 100, Bound: 95, Elapsed: time.Second}},
		"10s: a design that costs 100, none costs less than 80.1 (gap 20 %), at most 1m": {{Cost: 100, Bound: 80}, {Cost: 100, Bound: 80.1, Elapsed: time.Second}},
		"10s: a design that costs 50, none costs less than 40 (gap 20 %), at most 1m":    {{Cost: 100, Bound: 80}, {Cost: 100, Bound: 95, Elapsed: time.Second}, {Cost: 50, Bound: 40}},
		"10s: a design that costs 100, none costs less than 99 (gap 1 %), about 1s left": {{Cost: inf, Bound: 10}, {Cost: 200, Bound: 10, Elapsed: time.Millisecond}, {Cost: 100, Bound: 99, Elapsed: time.Second}},
	} {
		began := time.Now()
		p := &progress{limit: 70 * time.Second, began: began}
		for _, x := range told {
			p.tell(x)
		}
		if got := p.line(began.Add(10 * time.Second)); !strings.HasPrefix(got, want) {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}
