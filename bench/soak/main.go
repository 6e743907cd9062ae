// Command soak has an application of eight writers and some readers work for a long time through a helenus that serves three
// look-ups, while everything goes wrong that may: its clock steps by up to 30 s, it is killed (SIGKILL) every minute,
// Cassandra is killed and started again twice.
//
//	make soak                  20 minutes; DURATION=2m: shorter
//	bin/soak -for 2m -seed 7
//
// Writers use every form of rewrite/twintest, each in rooms of its own, and all of them some contended rows at once. Each statement
// is sent through Helenus until it is answered, and then straight to a second keyspace, the twin. A writer reads its own values
// between its statements, both ways: the answers must be the same. Other readers read what is contended: rows that nobody wrote
// meanwhile must be in both answers or in none. At the end the base must be as the twin is, cell by cell, every row must have
// its entry in the look-ups, and every value's answer must be the base's. It exits with 1 if anything was otherwise.
//
// The helenus must be built with the tag soak, which makes its clock the soak's to set. It imports rewrite/twintest,
// internal/cassandra and internal/child. Thin: one node; whether a timed-out statement of a kind that can not be repeated (counters, lists) was
// carried out is not known, so such rooms are left out, and counted.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/helenus-db/helenus/internal/cassandra"
)

// settings are what the flags say.
type settings struct {
	helenus string
	length  time.Duration
	kill    time.Duration
	stops   int
	writers int
	rows    int
	seed    uint64
	keep    bool
}

func main() {
	var s settings
	flag.StringVar(&s.helenus, "helenus", "bin/helenus-soak", "the helenus, built with -tags soak")
	flag.DurationVar(&s.length, "for", 20*time.Minute, "how long to write")
	flag.DurationVar(&s.kill, "kill-every", time.Minute, "how often helenus is killed")
	flag.IntVar(&s.stops, "stops", 2, "how often Cassandra is killed and started again")
	flag.IntVar(&s.writers, "writers", 8, "writers")
	flag.IntVar(&s.rows, "rows", 20_000, "rows of each table at the start: fewer are not advised on")
	flag.Uint64Var(&s.seed, "seed", 27, "what everything is drawn from")
	flag.BoolVar(&s.keep, "keep", false, "leave the logs and the state also if all is well")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	wrong, err := run(ctx, s)
	stop()
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(2)
	case wrong:
		os.Exit(1)
	}
}

// run is the whole soak; wrong tells whether anything was otherwise than without Helenus.
func run(ctx context.Context, s settings) (wrong bool, err error) {
	dir, err := os.MkdirTemp("", "helenus-soak-")
	if err != nil {
		return false, err
	}
	fmt.Printf("seed %d, %s, logs in %s\n", s.seed, s.length, dir)
	cluster, err := cassandra.Start(ctx, cassandra.Options{Dir: filepath.Join(dir, "cassandra"), Heap: "768m", Durable: true})
	if err != nil {
		return false, err
	}
	w := &world{settings: s, dir: dir, cluster: cluster, direct: cluster.ContactPoints()[0], begun: time.Now()}
	defer func() {
		w.stop()
		err = errors.Join(err, cluster.Stop())
		if err == nil && !wrong && !s.keep {
			err = os.RemoveAll(dir)
		}
	}()
	if err := w.prepare(ctx); err != nil {
		return false, err
	}
	w.say("%d look-ups serve; writing for %s", len(w.ids), s.length)
	if err := w.soak(ctx); err != nil {
		return false, err
	}
	if err := w.check(ctx); err != nil {
		return false, err
	}
	return w.report(), nil
}

// soak has everybody work, and breaks things, until the time is over.
func (w *world) soak(ctx context.Context) error {
	working, end := context.WithTimeout(ctx, w.length)
	defer end()
	var writing, breaking sync.WaitGroup
	failed := make(chan error, 100)
	for _, f := range []func(context.Context) error{w.stepClock, w.killHelenus, w.stopCassandra, w.attend} {
		breaking.Go(func() {
			if err := f(working); err != nil {
				failed <- err
				end()
			}
		})
	}
	for i := range w.writers {
		a := newWriter(w, i)
		w.all = append(w.all, a)
		writing.Go(func() { a.work(working) })
	}
	for i := range 2 {
		writing.Go(func() { newReader(w, i).work(working) })
	}
	progress := time.NewTicker(time.Minute)
	defer progress.Stop()
	for done := working.Done(); done != nil; {
		select {
		case <-progress.C:
			w.say("%d statements, %d answers compared, %d wrong, %d kills, %d stops", w.counts.statements.Load(), w.counts.compared.Load(), w.counts.wrong.Load(), w.counts.kills.Load(), w.counts.stops.Load())
		case <-done:
			done = nil
		}
	}
	breaking.Wait() // Cassandra and helenus are up again, so that what is under way comes to its end
	writing.Wait()
	select {
	case err := <-failed:
		return err
	default:
		return ctx.Err()
	}
}

func (w *world) say(format string, args ...any) {
	fmt.Printf("%6s  %s\n", time.Since(w.begun).Round(time.Second), fmt.Sprintf(format, args...))
}

// report prints what came of it, and tells whether anything was wrong.
func (w *world) report() (wrong bool) {
	c := &w.counts
	t := table.NewWriter()
	t.SetOutputMirror(os.Stdout)
	t.SetStyle(table.StyleLight)
	t.AppendHeader(table.Row{"what", "count", "must be"})
	must := func(what string, n int64) {
		t.AppendRow(table.Row{what, n, 0})
		wrong = wrong || n != 0
	}
	t.AppendRows([]table.Row{
		{"seed", w.seed}, {"statements", c.statements.Load()}, {"of which refused by Cassandra", c.refused.Load()}, {"of which sent again", c.again.Load()},
		{"answers compared", c.compared.Load()},
	})
	must("answers wrong", c.wrong.Load())
	t.AppendRow(table.Row{"cells compared with the twin", c.cells.Load()})
	must("differences to the twin", c.differences.Load())
	t.AppendRows([]table.Row{{"rooms left out (sent again, can not be repeated)", c.leftOut.Load()}, {"values asked for at the end", c.asked.Load()}})
	must("of which answered wrongly", c.askedWrong.Load())
	must("rows without entry", c.missing.Load())
	must("look-ups not verified", c.unverified.Load())
	served, all := c.served.Load(), c.reads.Load()
	t.AppendRows([]table.Row{
		{"entries left over", c.orphans.Load()}, {"reads served", fmt.Sprintf("%d of %d (%.1f %%)", served, all, 100*float64(served)/float64(max(all, 1)))},
		{"helenus killed", c.kills.Load()}, {"Cassandra stopped", c.stops.Load()}, {"clock stepped", c.steps.Load()},
		{"changes resumed by a person", c.resumed.Load()}, {"changes found failed", c.failed.Load()},
	})
	t.Render()
	for _, text := range w.notes {
		fmt.Println(text)
	}
	return wrong
}
