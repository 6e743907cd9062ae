package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/internal/cassandra"
	"github.com/helenus-db/helenus/proxy/proxytest/fault"
)

// options of the demo; the defaults are what `make demo` runs.
type options struct {
	bin          string
	keep         bool
	production   bool
	reservations int
	ops          int
	writes       int
	keys         int
}

func main() {
	var o options
	flag.StringVar(&o.bin, "bin", "bin", "folder of the binaries helenus and hotel")
	flag.BoolVar(&o.production, "production", false, "the same where production is: three nodes, passwords, TLS, two members of a fleet, an application of two processes")
	flag.BoolVar(&o.keep, "keep", false, "leave everything running at the end, until Ctrl-C")
	flag.IntVar(&o.reservations, "reservations", 200_000, "reservations to load")
	flag.IntVar(&o.ops, "ops", 4_000, "operations of the measured traffic")
	flag.IntVar(&o.writes, "writes", 4_000, "operations of the traffic that measures writes alone")
	flag.IntVar(&o.keys, "keys", 10_000, "random keys whose answers are compared")
	flag.Parse()

	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	tell := run
	if o.production {
		tell = runProduction
	}
	if err := tell(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		cancel()
		os.Exit(1) //nolint:gocritic // everything was stopped by run
	}
}

// demo is what the steps share.
type demo struct {
	options
	*story
	*programs
	dir        string
	cluster    *cassandra.Cluster
	session    *gocql.Session // straight to Cassandra
	direct     string         // host:port of Cassandra
	through    string         // host:port of Helenus
	admin      string         // host:port of its API
	prometheus string         // host:port of one that scrapes it; "" if there is none
	helenus    *program
	control    *fault.Relay // a relay to Cassandra that is no more than that
	proof
	failed bool

	before, after, writesBefore, writesAfter *report
	othersBefore, othersAfter                abreast
	rowsBefore                               int            // that Cassandra read for one guest's reservations
	lookUp, byCity, chain                    recommendation // reservations by guest, hotels by city, the N+1 chain
}

func run(ctx context.Context, o options) error {
	dir, err := os.MkdirTemp("", "helenus-demo-")
	if err != nil {
		return err
	}
	bin, err := filepath.Abs(o.bin)
	if err != nil {
		return err
	}
	s := &story{out: os.Stdout, begun: time.Now()}
	d := &demo{options: o, story: s, proof: proof{story: s}, programs: &programs{story: s, dir: dir, bin: bin}, dir: dir}
	defer d.cleanUp()
	for _, step := range []func(context.Context) error{
		d.startCassandra, d.calibrate, d.startHelenus, d.startPrometheus, d.trafficBefore, d.showAdvice, d.othersAlone, d.approve, d.trafficAfter, d.measureIndexAdvice, d.prove, d.rollBack,
	} {
		if err := step(ctx); err != nil {
			if ctx.Err() != nil {
				return errors.New("interrupted; everything was stopped")
			}
			d.failed = true
			return err
		}
	}
	err = d.summary()
	d.failed = err != nil
	if o.keep {
		d.offer(ctx)
	}
	return err
}

// offer leaves everything up and says what to try.
func (d *demo) offer(ctx context.Context) {
	d.heading("Everything is left running; Ctrl-C stops it")
	source := "none is installed; let one scrape http://" + d.admin + "/metrics"
	if d.prometheus != "" {
		source = "http://" + d.prometheus + "/graph   (scrapes Helenus since it runs; alerts at /alerts)"
	}
	d.say(`Cassandra          %s
Helenus            %s
Console            http://%s/ui/   (log in with the token in %s)
API and metrics    http://%s/metrics   (the same token)
Prometheus         %s
Grafana            import %s, with that Prometheus as their source
logs               %s

Try:
  export HELENUS_ADMIN=%s HELENUS_STATE_DIR=%s
  bin/helenus recommendations
  bin/helenus approve ID
  bin/helenus changes
  bin/hotel run -hosts %s -seed 3 -ops 1000`,
		d.direct, d.through, d.admin, filepath.Join(d.stateDir(), "admin.token"), d.admin, source, filepath.Join(d.charts(), "dashboards", "*.json"), d.dir, d.admin, d.stateDir(), d.through)
	<-ctx.Done()
}

func (d *demo) stateDir() string { return filepath.Join(d.dir, "state") }

func (d *demo) cleanUp() {
	d.stopAll()
	if d.control != nil {
		d.control.Close()
	}
	if d.session != nil {
		d.session.Close()
	}
	if d.cluster != nil {
		if err := d.cluster.Stop(); err != nil {
			d.say("Cassandra: %v", err)
		}
	}
	remove := d.dir
	if d.failed {
		remove = filepath.Join(d.dir, "cassandra") // what is large; the logs and the state may tell why
		d.say("logs and state are left in %s", d.dir)
	}
	if err := os.RemoveAll(remove); err != nil {
		d.say("could not remove %s: %v", remove, err)
	}
	d.say("Nothing is left running.  [%s]", d.elapsed())
}
