package main

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/helenus-db/helenus/internal/change"
)

// TestNoFaultMakesAnAnswerWrong: a few of the seeds that `make bench-faults` runs by the thousand. HELENUS_FAULTS=N runs N, HELENUS_FAULTS_SEED begins elsewhere.
func TestNoFaultMakesAnAnswerWrong(t *testing.T) {
	seeds, first := uint64(12), uint64(0)
	if testing.Short() {
		seeds = 3
	}
	if n, err := strconv.ParseUint(os.Getenv("HELENUS_FAULTS"), 10, 64); err == nil {
		seeds = n
	}
	if n, err := strconv.ParseUint(os.Getenv("HELENUS_FAULTS_SEED"), 10, 64); err == nil {
		first = n
	}
	var s sum
	for seed := first; seed < first+seeds; seed++ {
		p := draw(seed, small)
		v := simulate(t, p, mutant{})
		s.add(seed, v)
		if v.bad() != "" {
			t.Fatalf("%s", example(t, p, mutant{}, v, 60))
		}
	}
	t.Logf("%v\n%s", &s, s.table())
	if s.Served < s.Reads/20 || s.Compared == 0 || s.Undecided > 0 {
		t.Error("hardly anything was tried")
	}
}

// TestMutantsAreCaught: what is broken where the protocol keeps its promise is noticed, and the example is smaller than what was drawn. Each begins at a seed at which it
// soon was.
func TestMutantsAreCaught(t *testing.T) {
	for _, c := range []struct {
		name string
		from uint64
		mutant
	}{
		{"serves without a lease", 243, mutant{leaseless: true}},
		{"waits for no other member", 62, mutant{hasty: true}},
		{"writes on while others answer", 21, mutant{heedless: true}},
		{"some entries go nowhere", 0, mutant{forgetful: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			const most = 300
			for seed := c.from; seed < c.from+most; seed++ {
				p := draw(seed, small)
				v := simulate(t, p, c.mutant)
				if v.Breach == nil && len(v.Wrong) == 0 && len(v.Missing) == 0 {
					continue
				}
				t.Logf("seed %d: %s", seed, example(t, p, c.mutant, v, 16))
				return
			}
			t.Errorf("not noticed in %d seeds", most)
		})
	}
}

func at(n int) time.Duration { return time.Duration(n) * time.Second }

func wrote(id, sent, back, row, guest int, f fate) entry {
	return entry{operation: operation{id: id, act: insert, row: row, guest: guest}, outcome: outcome{fate: f}, sent: at(sent), back: at(back)}
}

func asked(id, sent, back, guest int, rows ...seen) entry {
	return entry{operation: operation{id: id, act: read, guest: guest}, outcome: outcome{fate: answered, rows: rows}, sent: at(sent), back: at(back)}
}

// TestHistories: which histories can have been, by the guarantee.
func TestHistories(t *testing.T) {
	removed := wrote(9, 4, 5, 0, 0, answered)
	removed.act = remove
	for _, c := range []struct {
		name    string
		history []entry
		legal   bool
	}{
		{"nothing was written", []entry{asked(1, 1, 2, 1), asked(2, 1, 2, 2, seen{1, 0})}, true},
		{"the row of the beginning is missing", []entry{asked(1, 1, 2, 2)}, false},
		{"a row that was put there", []entry{wrote(1, 1, 2, 0, 1, answered), asked(2, 3, 4, 1, seen{0, 1})}, true},
		{"it is missing", []entry{wrote(1, 1, 2, 0, 1, answered), asked(2, 3, 4, 1)}, false},
		{"it may be missing while it is written", []entry{wrote(1, 1, 4, 0, 1, answered), asked(2, 2, 3, 1)}, true},
		{"it is there for one, and then not for another", []entry{wrote(1, 1, 9, 0, 1, answered), asked(2, 2, 3, 1, seen{0, 1}), asked(3, 4, 5, 1)}, false},
		{"its column has another value by now", []entry{wrote(1, 1, 2, 0, 1, answered), wrote(2, 3, 4, 0, 2, answered), asked(3, 5, 6, 1, seen{0, 1})}, false},
		{"an earlier note", []entry{wrote(1, 1, 2, 0, 1, answered), wrote(2, 3, 4, 0, 1, answered), asked(3, 5, 6, 1, seen{0, 1})}, false},
		{"of unknown outcome: not carried out", []entry{wrote(1, 1, 2, 0, 1, unknown), asked(2, 3, 4, 1), asked(3, 5, 6, 1)}, true},
		{"carried out later", []entry{wrote(1, 1, 2, 0, 1, unknown), asked(2, 3, 4, 1), asked(3, 5, 6, 1, seen{0, 1})}, true},
		{"carried out twice", []entry{wrote(1, 1, 2, 0, 1, unknown), asked(3, 3, 4, 1, seen{0, 1}), wrote(2, 5, 6, 0, 2, answered), asked(4, 7, 8, 1, seen{0, 1})}, false},
		{"refused, and there", []entry{wrote(1, 1, 2, 0, 1, refused), asked(2, 3, 4, 1, seen{0, 1})}, false},
		{"removed", []entry{wrote(1, 1, 2, 0, 1, answered), removed, asked(3, 6, 7, 1)}, true},
		{"removed, and there", []entry{wrote(1, 1, 2, 0, 1, answered), removed, asked(3, 6, 7, 1, seen{0, 1})}, false},
	} {
		found, undecided := check(c.history, map[int]register{0: {}, 1: {guest: 2}})
		if (found == nil) != c.legal || undecided > 0 {
			t.Errorf("%s: %v", c.name, found)
		}
		if found != nil && found.culprit.act != read {
			t.Errorf("%s: the culprit is %s", c.name, found.culprit)
		}
	}
}

// TestShrinking: what is not needed is left out, and no more.
func TestShrinking(t *testing.T) {
	p := draw(3, small)
	for i := range p.asks {
		p.asks[i].at = 0
	}
	got := shrink(p, func(q plan) bool {
		has := func(id int) bool { return slices.ContainsFunc(q.asks, func(o operation) bool { return o.id == id }) }
		return has(17) && has(180)
	}, 10_000)
	if len(got.asks) != 2 || len(got.events) != 0 || !strings.Contains(got.String(), "#17 ") {
		t.Errorf("%v", &got)
	}
}

// TestPlans: a seed is one plan, and seeds strike in every state.
func TestPlans(t *testing.T) {
	if a, b := draw(7, small), draw(7, small); a.String() != b.String() {
		t.Error("two plans of one seed")
	}
	in := map[change.State]bool{}
	for seed := range uint64(200) {
		p := draw(seed, small)
		for _, e := range p.events {
			in[e.in] = true
		}
		if g := p.goal(); g != change.Serving && g != change.RolledBack {
			t.Errorf("seed %d ends in %s", seed, g)
		}
	}
	for _, s := range states {
		if !in[s] {
			t.Errorf("nothing strikes in state %s", s)
		}
	}
}
