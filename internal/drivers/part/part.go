// Package part is what the two Go programs of the conformance tests share: their flags, the lines that they print, and
// the load that they keep up while the harness disturbs the cluster. It imports nothing of ours, as the programs import
// nothing of Helenus: they are ordinary applications. The programs in other languages do the same in their own words;
// internal/drivers says what each flag, line and check means.
package part

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Options are the flags of a program.
type Options struct {
	Points             []string // host:port
	Username, Password string
	CA                 string // file; empty: no TLS
	Cert, Key          string // files of the client's own; empty: none
	Keyspace           string // of replication factor 3 where there are nodes enough; Keyspace_one has 1
	Protocol           int    // 0: whatever the driver chooses
	Compression        string // lz4, snappy or empty
	Described          bool   // answers describe their columns each
	Checks             []string
}

// Parse reads the flags.
func Parse() Options {
	var o Options
	points := flag.String("points", "", "contact points, host:port, separated by commas")
	flag.StringVar(&o.Username, "username", "", "role to log in as")
	flag.StringVar(&o.Password, "password", "", "its password")
	flag.StringVar(&o.CA, "ca", "", "file of the certificate authority; switches TLS on")
	flag.StringVar(&o.Cert, "cert", "", "file of the client's own certificate")
	flag.StringVar(&o.Key, "key", "", "file of its key")
	flag.StringVar(&o.Keyspace, "keyspace", "", "keyspace to use")
	flag.IntVar(&o.Protocol, "protocol", 0, "protocol version; 0: the driver's choice")
	flag.StringVar(&o.Compression, "compression", "", "lz4 or snappy")
	flag.BoolVar(&o.Described, "described", false, "ask for a description of the columns with each answer")
	checks := flag.String("checks", "", "checks to run, separated by commas")
	flag.Parse()
	o.Points, o.Checks = strings.Split(*points, ","), strings.Split(*checks, ",")
	return o
}

// What the checks of roles ask for: roles_test.go of internal/drivers makes the rows, and the programs in other languages have the same numbers.
const (
	ByOwner  = "SELECT id, note FROM orders WHERE owner = ? ALLOW FILTERING"
	LookedUp = 300 // times
	rows     = 400
	owners   = 100
)

// Owner is whose orders are asked for the i-th time; some have none.
func Owner(i int) string { return fmt.Sprint("owner ", i%(owners+10)) }

// Owned are the ids of the rows of that owner.
func Owned(i int) (ids []int) {
	for id := i % (owners + 10); id < rows && i%(owners+10) < owners; id += owners {
		ids = append(ids, id)
	}
	return ids
}

// Note is what stands beside an id.
func Note(id int) string { return fmt.Sprint("note ", id) }

// Mask is what Cassandra puts in a note's place for who may not unmask it.
func Mask(int) string { return "****" }

// Result is one line of output.
type Result struct {
	Check  string      `json:"check,omitempty"`
	Ready  string      `json:"ready,omitempty"` // the check that waits to be disturbed
	OK     bool        `json:"ok"`
	Detail string      `json:"detail,omitempty"`
	Hosts  []string    `json:"hosts,omitempty"`  // connect: host:port of every node that the driver knows
	Reads  [][2]string `json:"reads,omitempty"`  // token-aware: token, host id of the node that the driver asked
	Traces [][2]string `json:"traces,omitempty"` // token-aware: token, address of the coordinator as Cassandra traced it
	Down   []string    `json:"down,omitempty"`   // restart: host ids that the driver was told are down
	Up     []string    `json:"up,omitempty"`
}

var (
	output sync.Mutex
	input  = bufio.NewScanner(os.Stdin)
)

func say(r Result) {
	output.Lock()
	defer output.Unlock()
	line, err := json.Marshal(r)
	if err != nil {
		panic(err) // strings and bools
	}
	fmt.Println(string(line))
}

// Fail reports that nothing can be checked, and ends the program.
func Fail(err error) {
	say(Result{Check: "connect", Detail: err.Error()})
	os.Exit(1)
}

// Run runs the checks asked for, in their order.
func Run(o Options, checks map[string]func(*Result) error) {
	for _, name := range o.Checks {
		r := Result{Check: name}
		check, ok := checks[name]
		if !ok {
			r.Detail = fmt.Sprintf("no such check; there are %s", slices.Sorted(maps.Keys(checks)))
			say(r)
			continue
		}
		err := run(check, &r)
		r.OK = err == nil
		if err != nil {
			r.Detail = strings.TrimSpace(err.Error() + " " + r.Detail)
		}
		say(r)
	}
}

func run(check func(*Result) error, r *Result) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return check(r)
}

// Await says that a check waits to be disturbed, and returns when the harness is done.
func Await(check string) {
	say(Result{Ready: check, OK: true})
	input.Scan()
}

// Poll tries until done says so, or Patience is over.
func Poll(what string, done func() bool) error {
	for end := time.Now().Add(Patience); !done(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			return fmt.Errorf("waited %s in vain until %s", Patience, what)
		}
	}
	return nil
}

// Patience is how long anything is waited for, retries included. It says nothing of how long things should take: it is far
// beyond what a machine needs that does ten other things.
const Patience = 5 * time.Minute

// Limits of the load, which is to be seen through a disturbance, not to be heavy: five programs share two processors
// with three nodes, and each row is read again in the end.
const (
	workers = 4
	streak  = 50 // operations in a row without an error, after which a worker counts as recovered
	pace    = 100 * time.Millisecond
)

// Load writes rows and reads them back, from several goroutines, while the harness disturbs; operations that fail are
// tried again. It returns an error when an answer was wrong, or when operations still fail in the end. ok of read is
// false if there is no such row.
func Load(r *Result, write func(key string, value int64) error, read func(key string) (value int64, ok bool, err error)) error {
	run := fmt.Sprintf("%s-%d", r.Check, time.Now().UnixNano())
	key := func(w, i int) string { return fmt.Sprintf("%s-%d-%d", run, w, i) }
	value := func(w, i int) int64 { return int64(i)*7 + int64(w) }
	var stop atomic.Bool
	var failed atomic.Int64
	var mu sync.Mutex
	last := map[string]int{}
	try := func(op func() error) error {
		for end := time.Now().Add(Patience); ; {
			err := op()
			if err == nil {
				return nil
			}
			var wrong wrongAnswer
			if errors.As(err, &wrong) {
				return err
			}
			failed.Add(1)
			mu.Lock()
			last[fmt.Sprintf("%.90s", err)]++
			mu.Unlock()
			if time.Now().After(end) {
				return fmt.Errorf("still fails after %s: %w", Patience, err)
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
	check := func(w, i int) func() error {
		return func() error {
			got, ok, err := read(key(w, i))
			if err == nil && (!ok || got != value(w, i)) {
				return wrongAnswer(fmt.Sprintf("wrong answer: row %s is there: %v, %d; written was %d", key(w, i), ok, got, value(w, i)))
			}
			return err
		}
	}
	errs := make([]error, workers)
	written := make([]int, workers)
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() {
			good := 0
			for i := 0; good < streak; i++ {
				if stop.Load() {
					good++
				}
				before := failed.Load()
				if errs[w] = try(func() error { return write(key(w, i), value(w, i)) }); errs[w] != nil {
					return
				}
				written[w] = i + 1
				if errs[w] = try(check(w, rand.IntN(i+1))); errs[w] != nil {
					return
				}
				if failed.Load() != before {
					good = 0
				}
				time.Sleep(pace)
			}
		})
	}
	time.Sleep(500 * time.Millisecond)
	Await(r.Check)
	stop.Store(true)
	wait.Wait()
	total := 0
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("%w; errors on the way: %v", err, last)
	}
	for w, n := range written {
		total += n
		for i := range n {
			if err := try(check(w, i)); err != nil {
				return err
			}
		}
	}
	r.Detail = strings.TrimSpace(fmt.Sprintf("%s %d rows, %d operations tried again", r.Detail, total, failed.Load()))
	if len(last) > 0 {
		r.Detail += fmt.Sprintf(" %v", last)
	}
	return nil
}

// Visit runs work while somebody connects, asks and leaves, over and over. It says in r how often that succeeded, and returns an error if a
// connection was refused, or if it did not succeed after work was done.
func Visit(r *Result, visit func() error, work func() error) error {
	var stop atomic.Bool
	var refused error
	var done sync.WaitGroup
	good, failed := 0, map[string]int{}
	done.Go(func() {
		var end time.Time // for the last one
		for ; ; time.Sleep(50 * time.Millisecond) {
			last := stop.Load()
			err := visit()
			switch {
			case err == nil:
				if good++; last {
					return
				}
			case strings.Contains(err.Error(), "connection refused"):
				refused = fmt.Errorf("after %d visits: %w", good, err)
				return
			default:
				failed[fmt.Sprintf("%.150s", err)]++
			}
			if last && end.IsZero() {
				end = time.Now().Add(Patience)
			}
			if last && time.Now().After(end) {
				refused = fmt.Errorf("nobody can connect any more: %w", err)
				return
			}
		}
	})
	err := work()
	stop.Store(true)
	done.Wait()
	if r.Detail = fmt.Sprintf("%d visits; %s", good, r.Detail); len(failed) > 0 {
		r.Detail += fmt.Sprintf("; visits failed: %v", failed)
	}
	return errors.Join(err, refused)
}

type wrongAnswer string

func (w wrongAnswer) Error() string { return string(w) }
