package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	if role := os.Getenv(roleVariable); role != "" {
		os.Exit(serve(role))
	}
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run is the process that was called. It returns the exit status: 1 if a figure is not what it must be.
func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("relay", flag.ContinueOnError)
	flags.SetOutput(stderr)
	var b bench
	quick := flags.Bool("quick", false, "fewer and shorter rounds")
	asJSON := flags.Bool("json", false, "print the rows as JSON")
	flags.StringVar(&b.profiles, "profile", "", "directory for CPU profiles of the Helenus process, one for each load")
	only := flags.String("only", "", "measure only the rows whose name contains this")
	flags.IntVar(&b.turns, "turns", 21, "rounds of each load")
	if flags.Parse(args) != nil {
		return 2
	}
	b.scale = 1
	if *quick {
		b.turns, b.scale = (b.turns+2)/3, 0.5
	}
	b.progress = func(what string) { _, _ = fmt.Fprintln(stderr, "measuring", what) }
	rows, err := b.run(*only)
	if err == nil {
		err = write(stdout, rows, *asJSON)
	}
	if err != nil {
		_, _ = fmt.Fprintln(stderr, "relay:", err)
		return 1
	}
	for _, r := range rows {
		if !r.OK {
			return 1
		}
	}
	return 0
}

// bench is one run of the whole.
type bench struct {
	turns    int
	scale    float64 // of the rounds' lengths
	profiles string
	progress func(what string)
	now      string // the measurement that is made

	processes               []*process
	backend                 *process
	direct, splice, helenus *way
}

func (b *bench) spawn(role, target string, tls *secured) (*process, error) {
	p, err := spawn(role, target, tls)
	if p != nil {
		b.processes = append(b.processes, p)
	}
	return p, err
}

// start starts the processes and lets Helenus come to the end of its first value window.
func (b *bench) start() (err error) {
	if b.backend, err = b.spawn("backend", "", nil); err != nil {
		return err
	}
	b.direct = &way{name: "direct", address: b.backend.addr}
	if b.splice, err = b.relay("splice"); err != nil {
		return err
	}
	b.helenus, err = b.relay("helenus")
	return err
}

// relay starts a relay. One that a measurement starts for itself is profiled until it is stopped.
func (b *bench) relay(role string) (*way, error) {
	p, err := b.spawn(role, b.backend.addr, nil)
	if err == nil && b.profiles != "" && b.now != "" {
		_, err = p.ask("profile " + filepath.Join(b.profiles, b.now+"-"+role+".pprof"))
		p.profiled = err == nil
	}
	if err != nil {
		return nil, err
	}
	return &way{name: role, process: p, address: p.addr}, nil
}

func (b *bench) stop() {
	for _, p := range b.processes {
		p.stop()
	}
}

// warm asks the Helenus of most rows until the value window that is open at the start has closed.
func (b *bench) warm() error { return warm(b.helenus, shape{version: 4, connections: 1, inFlight: 16}) }

// warm asks a Helenus until the value window that is open at the start has closed.
func warm(w *way, s shape) error {
	f, err := connect(w.address, s)
	if err != nil {
		return err
	}
	defer f.close()
	for range 600 {
		r, err := w.run(f, 500)
		if err != nil || !r.sampling {
			return err
		}
		time.Sleep(50 * time.Millisecond)
	}
	return errors.New("the first value window does not close")
}

// measurement makes rows; its name is for -only and for profiles.
type measurement struct {
	name string
	make func(*bench) ([]row, error)
}

var measurements = []measurement{
	{"8x16", (*bench).busy},
	{"64x4", func(b *bench) ([]row, error) {
		return b.cpu("CPU per request, 64 connections x 4 in flight", shape{4, 64, 4, false, false, nil}, 20_000, 1.15, b.helenus)
	}},
	{"12kB", func(b *bench) ([]row, error) {
		return b.cpu("CPU per request, 12 kB answers, 8 x 8", shape{4, 8, 8, true, false, nil}, 10_000, 1.25, b.helenus)
	}},
	{"v5", func(b *bench) ([]row, error) {
		return b.cpu("CPU per request, version 5, 8 x 16", shape{5, 8, 16, false, false, nil}, 20_000, 0, b.helenus)
	}},
	{"lz4", func(b *bench) ([]row, error) {
		return b.cpu("CPU per request, version 5 + lz4, decompressed to be counted, 8 x 16", shape{5, 8, 16, false, true, nil}, 20_000, 2, b.helenus)
	}},
	{"tls", (*bench).secured},
	{"1x1", (*bench).single},
	{"64x64", (*bench).many},
	{"stalled", (*bench).stalled},
	{"window", (*bench).window},
	{"capturing", (*bench).capturing},
	{"idle", (*bench).idle},
}

func (b *bench) run(only string) (rows []row, err error) {
	defer b.stop()
	if err := b.start(); err != nil {
		return nil, err
	}
	b.progress("nothing yet: Helenus looks at values first, for eight seconds")
	if err := b.warm(); err != nil {
		return nil, err
	}
	for _, m := range measurements {
		if !strings.Contains(m.name, only) {
			continue
		}
		b.progress(m.name)
		b.now = m.name
		for _, p := range []*process{b.backend, b.splice.process, b.helenus.process} {
			if _, err := p.ask("garbage"); err != nil {
				return nil, err
			}
		}
		if b.profiles != "" {
			if _, err := b.helenus.process.ask("profile " + filepath.Join(b.profiles, m.name+".pprof")); err != nil {
				return nil, err
			}
		}
		made, err := m.make(b)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.name, err)
		}
		if b.profiles != "" {
			if _, err := b.helenus.process.ask("profile"); err != nil {
				return nil, err
			}
		}
		for _, r := range made {
			rows = append(rows, r.judge())
		}
	}
	return rows, nil
}
