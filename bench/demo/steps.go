package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gocql/gocql"
	"golang.org/x/sync/errgroup"

	"github.com/helenus-db/helenus/bench/product"
	"github.com/helenus-db/helenus/internal/cassandra"
)

// seed is what the traffic is drawn from: the same before and after.
const seed = "7"

func (d *demo) startCassandra(ctx context.Context) error {
	d.heading("A real Cassandra, and a hotel booking service designed by gut feeling")
	var err error
	d.cluster, err = cassandra.Start(ctx, cassandra.Options{
		Dir: filepath.Join(d.dir, "cassandra"), Heap: "768m", Progress: func(line string) { d.say("%s", line) },
	})
	if err != nil {
		return err
	}
	d.direct = d.cluster.ContactPoints()[0]
	if err := d.programs.run(ctx, nil, "hotel", "load", "-hosts", d.direct, "-seed", "1", "-reservations", strconv.Itoa(d.reservations)); err != nil {
		return err
	}
	d.session, err = connect(d.direct, "hotel")
	return err
}

// connect opens an ordinary session at one address.
func connect(address, keyspace string) (*gocql.Session, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	cfg := gocql.NewCluster(host)
	if cfg.Port, err = strconv.Atoi(port); err != nil {
		return nil, err
	}
	cfg.Keyspace, cfg.ProtoVersion, cfg.Timeout, cfg.ConnectTimeout = keyspace, 4, 30*time.Second, 10*time.Second
	cfg.Consistency = gocql.One // system_traces has two replicas, this cluster one node
	cfg.DisableInitialHostLookup = true
	cfg.WriteCoalesceWaitTime = 0 // as Helenus does
	cfg.Logger = quiet{}
	return cfg.CreateSession()
}

// quiet keeps gocql's own remarks out of the story.
type quiet struct{}

func (quiet) Print(...any)          {}
func (quiet) Printf(string, ...any) {}
func (quiet) Println(...any)        {}

// calibrate measures what this Cassandra takes for what, so that advice comes with figures of this machine.
func (d *demo) calibrate(ctx context.Context) error {
	d.heading("How fast is this Cassandra? Its own cost model, measured on a scratch keyspace")
	args := []string{"helenus", "calibrate", "--contact-points", d.direct, "--consistency", "ONE", "--replication", "1", "--quick",
		"--budget", "15s", "--force", "--out", d.calibration()}
	d.say("$ %s", join(args))
	text, err := d.output(ctx, false, nil, args...)
	if err != nil {
		return err
	}
	first, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n\n")
	d.say("%s", first)
	return nil
}

func (d *demo) calibration() string { return filepath.Join(d.dir, "calibration.yaml") }

func (d *demo) startHelenus(ctx context.Context) error {
	d.heading("Helenus in front of it: the application changes its port, nothing else")
	ports, err := product.FreePorts(2)
	if err != nil {
		return err
	}
	d.through, d.admin = ports[0], ports[1]
	d.helenus, err = d.programs.start("helenus", "helenus", "run", "--contact-points", d.direct, "--listen", d.through,
		"--admin", d.admin, "--state-dir", d.stateDir(), "--cost", d.calibration(), "--keyspaces", "hotel", "--advise-every", "5s", "--settle", "2s",
		"--shadow-reads", "40", "--shadow-for", "20s", "--shadow-probes", "20", "--log-format", "json")
	if err != nil {
		return err
	}
	if err := d.untilReady(ctx); err != nil {
		return err
	}
	d.say("helenus run --contact-points %s --listen %s --admin %s ...: ready", d.direct, d.through, d.admin)
	return nil
}

func (d *demo) untilReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+d.admin+"/readyz", nil)
		if err != nil {
			return err
		}
		if answer, err := http.DefaultClient.Do(request); err == nil {
			_ = answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-d.helenus.Done():
			return fmt.Errorf("helenus ended: %w", d.helenus.Wait())
		case <-ctx.Done():
			return errors.New("helenus did not become ready within a minute")
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// cli runs the helenus command line against the running process.
func (d *demo) cli(ctx context.Context, show bool, args ...string) ([]byte, error) {
	env := []string{"HELENUS_ADMIN=" + d.admin, "HELENUS_STATE_DIR=" + d.stateDir()}
	if show {
		d.say("\n$ helenus %s", join(args))
	}
	return d.output(ctx, show, env, append([]string{"helenus"}, args...)...)
}

func join(words []string) string { return strings.Join(words, " ") }

// ask runs a command with --json and reads what it says.
func (d *demo) ask(ctx context.Context, into any, args ...string) error {
	text, err := d.cli(ctx, false, append(args, "--json")...)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// traffic runs the application through Helenus and returns what it measured.
func (d *demo) traffic(ctx context.Context, name string, args ...string) (*report, error) {
	r, args, err := d.measured(ctx, d.through, name, args...)
	if err != nil {
		return nil, err
	}
	d.say("$ %s", join(args))
	d.say("%d operations in %.1f s, %d failed", r.Count, r.End.Sub(r.Start).Seconds(), r.Errors)
	return r, nil
}

// measured runs the application, and returns what it measured, and with which arguments.
func (d *demo) measured(ctx context.Context, address, name string, args ...string) (*report, []string, error) {
	file := filepath.Join(d.dir, name+".json")
	args = append([]string{"hotel", "run", "-hosts", address, "-report", file}, args...)
	if _, err := d.output(ctx, false, nil, args...); err != nil {
		return nil, args, err
	}
	r, err := readReport(file)
	return r, args, err
}

// rounds is how often both sides are measured.
const rounds = 5

// abreast runs the same traffic through Helenus and through the control at the same time, in rounds, so that what the machine does meanwhile hits both alike. So
// would what Helenus asks Cassandra for by itself, so that is counted.
func (d *demo) abreast(ctx context.Context, name string, args ...string) (all abreast, err error) {
	for n := range rounds {
		r := round{}
		before, err := d.readsOf(ctx)
		if err != nil {
			return nil, err
		}
		var both errgroup.Group
		var said []string
		both.Go(func() (err error) { r.through, said, err = d.measured(ctx, d.through, name, args...); return err })
		both.Go(func() (err error) {
			r.control, _, err = d.measured(ctx, d.control.Addr, name+"-control", args...)
			return err
		})
		if err := both.Wait(); err != nil {
			return nil, err
		}
		if r.reads, err = d.readsOf(ctx); err != nil {
			return nil, err
		}
		r.reads -= before
		if all = append(all, r); n == 0 {
			d.say("$ %s\nand the same at -hosts %s; %d times", join(said), d.control.Addr, rounds)
		}
		d.say("%d operations in %.1f s, and in %.1f s", r.through.Count, r.through.End.Sub(r.through.Start).Seconds(), r.control.End.Sub(r.control.Start).Seconds())
	}
	return all, nil
}

// readsOf is how many reads of the application's tables, and of those that Helenus has made, Cassandra has had so far, whoever asked.
func (d *demo) readsOf(ctx context.Context) (sum int, err error) {
	for _, kind := range []string{"read", "scan"} {
		iter := d.session.Query("SELECT keyspace_name, count FROM system_views.coordinator_" + kind + "_latency").WithContext(ctx).Iter()
		var keyspace string
		var count int
		for iter.Scan(&keyspace, &count) {
			if strings.HasSuffix(keyspace, "hotel") { // hotel, helenus_data_hotel
				sum += count
			}
		}
		if err := iter.Close(); err != nil {
			return 0, fmt.Errorf("ask Cassandra how many reads it has had: %w", err)
		}
	}
	return sum, nil
}

// meanwhile keeps the application booking while do runs.
func (d *demo) meanwhile(ctx context.Context, do func() error) (*report, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var (
		wait    sync.WaitGroup
		file    = filepath.Join(d.dir, "meanwhile.json")
		traffic error
	)
	wait.Go(func() {
		_, traffic = d.output(ctx, false, nil, "hotel", "run", "-hosts", d.through, "-seed", "11", "-concurrency", "4",
			"-for", "10m", "-rate", "100", "-report", file)
	})
	err := do()
	stop()
	wait.Wait()
	if err != nil {
		return nil, err
	}
	r, err := readReport(file)
	if err != nil {
		return nil, errors.Join(err, traffic)
	}
	return r, nil
}
