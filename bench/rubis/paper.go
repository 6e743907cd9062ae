package main

import (
	"fmt"
	"math"
	"strings"

	"github.com/helenus-db/helenus/bench/contest"
)

// method says how it was measured.
const method = `One client, one node, both on this machine: a closed loop without think time. It takes the kind of request that has had least time so far,
draws its parameters by the seed, and sends the same request to each design in turn, in an order drawn anew each time; so whatever
else the machine does falls on all designs alike. A kind's response time is that of all its statements, one after the other, as the
client sees it, with the client's own work. CQL requests of one step go out side by side, as the executor of package rewrite/exec
does it for applications. Caches are as they come: unlike in the paper, the operating system's holds what was used of late (what was read from
the disk all the same stands under "Where the time goes"). All tables are flushed and compacted into one file each before the measurement;
they grow by what is written in it.

Plans over the tables made by hand are the best that our planner finds over them, and all designs answer and keep true the same
statements. Ours share, among the mixes, the tables that are the same. Parameters ask for entities that are there, each as likely as any
other, and bounds of ranges let a tenth of the values through. The data are made from a seed, with the numbers of the model; partners
are spread unevenly (about exponentially).`

// asRun says what was different there.
const asRun = `"With what they ran" is the same with two kinds of requests as the published plans have them, which do less than the statements ask:
over the expert's tables SearchItemsByRegion asks for the region's users and for the category's items without joining them (no table of theirs
can), and StoreBuyNow leaves the copies of the items' end_date as they were, which is measured here over all designs, ours too, by a
statement that does not set it. To keep the copies true, rows have to be found by the item in tables that are not keyed by it: a scan.

"One request at a time" sends the CQL requests of a step one after the other, over all designs, as the authors' engine does (the loop over
conditions in lib/nose/backend/cassandra.rb): what many requests cost shows in the response time whole. Side by side they share it, the
more the more processors idle; here client and server have two in all. "Both" is therefore nearest to what the paper measured.`

// beside puts the paper's figures beside ours.
func beside(k *kase, r *contest.Result) string {
	var t strings.Builder
	row := func(id, what, paper, here string) { fmt.Fprintf(&t, "| %s | %s | %s | %s |\n", id, what, paper, here) }
	t.WriteString("| id | what | paper | here |\n| --- | --- | --- | --- |\n")
	find := func(name string) *contest.Side {
		for _, e := range r.Entries {
			if e.Name == name {
				return e
			}
		}
		return &contest.Side{}
	}
	main := find(ours(k.main))
	row("N-56", "on disk: normalized, expert, ours", "4.9, 6.7, 7.8 GB", fmt.Sprintf("%.1f, %.1f, %.1f MB", find(normalized).Bytes/1e6, find(expert).Bytes/1e6, main.Bytes/1e6))
	span := func(name string) string {
		least, most := math.Inf(1), 0.0
		for i := range r.Requests {
			x := &r.Requests[i]
			if f := x.Took[name]; x.Statement == "" && x.Weights[k.main] > 0 && f.Count > 0 {
				least, most = min(least, f.Mean), max(most, f.Mean)
			}
		}
		return fmt.Sprintf("%.2f to %.1f ms", least, most)
	}
	row("N-57", "mean response times by kind, ours", "2.0 to 79.5 ms", span(ours(k.main)))
	row("N-57", "the same, normalized", "1.3 to 526.8 ms", span(normalized))
	row("N-57", "the same, expert", "2.7 to 209.4 ms", span(expert))
	for i := range r.Mixes {
		if m := &r.Mixes[i]; m.Name == k.main {
			row("N-57", "weighted: ours, normalized, expert", "8.4, 87.0, 41.6 ms", fmt.Sprintf("%.2f, %.2f, %.2f ms", m.Means[m.Ours], m.Means[normalized], m.Means[expert]))
			row("N-58", "by ours: normalized, expert", "10.2, 4.9", fmt.Sprintf("%.2f, %.2f", m.Factors[normalized], m.Factors[expert]))
		}
	}
	var mixes []string
	for i := range r.Mixes {
		if m := &r.Mixes[i]; plain(m) {
			mixes = append(mixes, fmt.Sprintf("%s %.2f and %.2f", m.Name, m.Factors[normalized], m.Factors[expert]))
		}
	}
	row("N-59", "normalized and expert by ours, each mix", "far above 1, falling to below 1 at x100", strings.Join(mixes, "; "))
	row("N-60", "environment", "Cassandra 2.0.9, caches off, 2 machines of 12 cores, 7200 rpm", fmt.Sprintf("Cassandra %s, %d processors for client and server", r.Machine.Cassandra, r.Machine.Processors))
	for _, g := range r.Growth {
		row("N-61", fmt.Sprintf("advisor, random workload of scale %d", g.Scale), "RUBiS 3.3 minutes", fmt.Sprintf("%.2f s (median of %d)", g.Seconds, g.Runs))
	}
	row("N-62", "execution engine", "interprets plan files for all schemas", "rewrite/exec runs the planner's plans for all designs")
	return t.String()
}
