package main

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gocql/gocql"
	"golang.org/x/sys/unix"

	"github.com/helenus-db/helenus/internal/cassandra"
	"github.com/helenus-db/helenus/internal/long"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// cpu is the processor time that the process has used, all its threads together.
func (p *process) cpu() time.Duration {
	p.t.Helper()
	// The kernel's name for the process's clock: the complement of the id, and below it which clock of the process (2: as scheduled).
	const scheduled = 2
	var at unix.Timespec
	if err := unix.ClockGettime(int32(^p.cmd.Process.Pid<<3|scheduled), &at); err != nil { //nolint:gosec // a process id
		p.t.Fatal(err)
	}
	return time.Duration(at.Nano())
}

// TestCostOfRoles measures what a served read costs helenus for a client that logged in, whose rights are asked of Cassandra and whose rows are read on its own
// connection, against one on a cluster without passwords, in rounds that take turns.
func TestCostOfRoles(t *testing.T) {
	long.Only(t, "it measures for minutes, on two clusters: `make test-long` runs this")
	const most, rounds, reads = 1.15, 15, 600
	t.Setenv("HELENUS_PASSWORD", "p")
	type side struct {
		name    string
		p       *process
		through *gocql.Session
		ask     func()
		us      []float64
	}
	begin := func(name, point, root, app string, flags ...string) *side {
		direct := as(t, point, root)
		s := newShop(t, direct)
		if app != "" {
			for _, text := range []string{"CREATE ROLE helenus WITH PASSWORD = 'p' AND LOGIN = true", "GRANT SELECT ON KEYSPACE " + s.keyspace + " TO helenus",
				fmt.Sprintf(making, s.keyspace), fmt.Sprintf(changing, s.keyspace), "CREATE ROLE app WITH PASSWORD = 'p' AND LOGIN = true", "GRANT SELECT ON KEYSPACE " + s.keyspace + " TO app"} {
				must(t, direct, text)
			}
			time.Sleep(5 * time.Second)
		}
		one := &side{name: name, p: s.process(point, append(flags, "--log-level", "info", "--sample-values=false")...)}
		one.p.start()
		one.p.awaitReady()
		one.through = as(t, one.p.listen, app)
		s.ask(one.through, 60)
		id := one.p.advice().ID
		if err := one.p.approve(id); err != nil {
			t.Fatal(err)
		}
		await(t, name+" serves", func() bool { s.ask(one.through, 10); return one.p.migration(id).State == migrate.Serving })
		one.ask = func() { s.ask(one.through, reads) }
		return one
	}
	sides := []*side{begin("without", cluster(t).ContactPoints()[0], "", ""), begin("with a role", withPasswords(t, 2*time.Second), cassandra.FirstUser, "app", "--username", "helenus")}
	var ratios []float64
	lost := 0
	for round := -1; len(ratios) < rounds; round++ {
		var used [2]float64
		whole := round >= 0 // the first warms up
		for i := range sides {
			at := (i + max(round, 0)) % 2 // none is always first
			s := sides[at]
			before, served := s.p.cpu(), s.p.served()
			s.ask()
			used[at] = float64((s.p.cpu() - before).Microseconds()) / reads
			if n := s.p.served() - served; n < 0.9*reads && round >= 0 { // on a busy machine reads time out, or run as written to measure by
				t.Logf("%s: %g of %d reads were served: the round does not count", s.name, n, reads)
				whole = false
			}
		}
		if !whole {
			if lost++; lost > rounds {
				t.Fatalf("%d rounds in which too few reads were served", lost)
			}
			continue
		}
		for i, s := range sides {
			s.us = append(s.us, used[i])
		}
		ratios = append(ratios, used[1]/used[0])
	}
	middle := func(v []float64) float64 {
		v = slices.Clone(v)
		slices.SortFunc(v, cmp.Compare[float64])
		return v[len(v)/2]
	}
	t.Logf("CPU of a served read of %d rows: %.0f us without passwords, %.0f us with a role, ratio %.2f (median of %d rounds of %d reads that take turns; from %.2f to %.2f)",
		orders/customers, middle(sides[0].us), middle(sides[1].us), middle(ratios), rounds, reads, slices.Min(ratios), slices.Max(ratios))
	if got := middle(ratios); got > most {
		t.Errorf("a role costs %.2f times as much, want %.2f at most", got, most)
	}
}
