package main

import (
	"context"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/advisor/round"
	"github.com/helenus-db/helenus/advisor/solve/coin"
	"github.com/helenus-db/helenus/internal/long"
	"github.com/helenus-db/helenus/rewrite/kinds"
)

func TestMain(m *testing.M) {
	coin.ServeIfWorker()
	round.ServeIfWorker(kinds.All(kinds.Settings{}))
	os.Exit(m.Run())
}

// TestRoundsGrowWithTheTraffic: twice the statements over twice the tables take twice the work, and not four times: a round of thousands must end. What is allocated
// is the same in every run, so that decides; processor time, which others disturb, is the least of three.
func TestRoundsGrowWithTheTraffic(t *testing.T) {
	const most = 2.6
	small, large := size{300, 30, 1, 1, false}, size{600, 60, 1, 1, false}
	allocated := func(s size) float64 {
		in := s.input()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		a, err := recommend.Make(context.Background(), in)
		if err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		if len(a.Recommendations) < s.tables/10 {
			t.Errorf("of %d tables only %d recommendations", s.tables, len(a.Recommendations))
		}
		for _, p := range a.Problems {
			t.Error(p)
		}
		return float64(after.TotalAlloc - before.TotalAlloc)
	}
	if x, y := allocated(small), allocated(large); y > most*x {
		t.Errorf("%.0f MB are allocated for %d statements, %.0f MB for %d", x/1e6, small.statements, y/1e6, large.statements)
	}
	used := func(s size) (least time.Duration) {
		x, err := s.taken()
		if err != nil {
			t.Fatal(err)
		}
		return x.processor
	}
	var ratios []float64
	for range 3 {
		x, y := used(small), used(large)
		if ratios = append(ratios, y.Seconds()/x.Seconds()); ratios[len(ratios)-1] <= most {
			return
		}
	}
	t.Errorf("twice the statements took %.1f times the processor", ratios)
}

// TestClusterIsTheSame: the same size and seed make the same cluster.
func TestClusterIsTheSame(t *testing.T) {
	s := size{200, 20, 2, 7, false}
	a, schemaOfA, _ := s.cluster()
	b, schemaOfB, _ := s.cluster()
	if len(a.Statements) != 200 || len(a.Feeds) == 0 || len(schemaOfA.Keyspaces) != 2 || len(schemaOfB.Keyspaces) != 2 {
		t.Fatalf("%d statements, %d feeds, %d keyspaces", len(a.Statements), len(a.Feeds), len(schemaOfA.Keyspaces))
	}
	for i := range a.Statements {
		if a.Statements[i].Fingerprint != b.Statements[i].Fingerprint || a.Statements[i].Count != b.Statements[i].Count {
			t.Fatalf("%s and %s", a.Statements[i].Text, b.Statements[i].Text)
		}
	}
}

// TestLongJoins: what the application joins over more entities than tables are designed for is said to be so, and the round ends.
func TestLongJoins(t *testing.T) {
	a, err := recommend.Make(context.Background(), size{600, 60, 1, 1, false}.input())
	if err != nil {
		t.Fatal(err)
	}
	told := 0
	for _, u := range a.Dismissed {
		if strings.Contains(u.Reason, "and tables are designed for joins over 6 at most") {
			told++
		}
	}
	if told == 0 {
		t.Error("no join was too long")
	}
}

// TestLargeRound: 5,000 statements over 500 tables within 512 MB, and within twice the 30 s of one core that are asked of a machine which does nothing else (docs/results/scale.md says
// what they take there): beside other tests all takes up to 1.5 times as much of the processor.
func TestLargeRound(t *testing.T) {
	long.Only(t, "two rounds of half a minute of one core")
	const most = time.Minute
	for _, keyspaces := range []int{1, 10} {
		x, err := size{5000, 500, keyspaces, 1, false}.taken()
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%d keyspaces: %v of processor time, %.0f MB, %d recommendations", keyspaces, x.processor, float64(x.memory)/1e6, len(x.advice.Recommendations))
		if x.processor > most || x.memory > 512<<20 {
			t.Errorf("%d keyspaces: %v of processor time, %.0f MB", keyspaces, x.processor, float64(x.memory)/1e6)
		}
	}
}
