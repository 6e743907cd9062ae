package calibrate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/internal/sleep"
	"github.com/helenus-db/helenus/rewrite/scratch"
)

// Options of a calibration. Connect is required.
type Options struct {
	// Connect opens a session: to the whole cluster, or to the one node of an address (its other nodes are not used).
	Connect     func(node string) (*gocql.Session, error)
	Prefix      string        // begins the names of the scratch keyspaces (rewrite/scratch); "": DefaultPrefix
	Replication int           // of the scratch keyspace; 0: 3, or as many as there are nodes
	Consistency string        // of reads and writes; "": LOCAL_QUORUM
	Budget      time.Duration // for all of it but the end; 0: three minutes. Loading and five rounds are done whatever it is
	Quick       bool          // smaller tables
	Force       bool          // measure under load, too
	Seed        int64         // of the order of measurements, and of the data
	Progress    func(Progress)
}

// Progress is told of now and then.
type Progress struct {
	Phase string        // "load", "warm up", "measure"; "" is a remark
	Done  float64       // share of the phase
	Left  time.Duration // of the whole, about
	Text  string        // of a remark
}

// DefaultPrefix begins the names of the scratch keyspaces.
const DefaultPrefix = "helenus_calibrate"

const (
	leastRounds = 5
	// unlike is how many runs of each turn do not count: what follows another kind of operation pays for that (the caches of the
	// processors hold what a scan needs, threads sleep after a sort of the client), as it does not where the same is asked all the time.
	unlike    = 1
	warmShare = 0.25 // of the time for rounds
	// The server is warm when so many rounds after each other were no more than this quicker than the quickest before, as a
	// logarithm.
	steadyRounds = 3
	quicker      = 0.02
	restarts     = 2 // times that a calibration begins again after Cassandra was away
	awayFor      = 90 * time.Second
)

// calibration is one run.
type calibration struct {
	o       Options
	session *gocql.Session
	each    []*gocql.Session // of each node
	facts   Facts
	random  *rand.Rand
	began   time.Time
}

// Measure connects, looks whether the cluster is idle, makes the scratch keyspace, measures and drops it, whatever happens. Errors
// are BusyError, scratch.AtWorkError, scratch.LeftBehindError (joined to another, if there is one) and what Cassandra says.
func Measure(ctx context.Context, o Options) (set *Set, err error) {
	if o.Prefix == "" {
		o.Prefix = DefaultPrefix
	}
	if o.Budget <= 0 {
		o.Budget = 3 * time.Minute
	}
	if o.Progress == nil {
		o.Progress = func(Progress) {}
	}
	c := &calibration{o: o, began: time.Now()}
	if err := c.connect(ctx); err != nil {
		return nil, err
	}
	defer c.close()
	set = &Set{}
	if err := c.idle(ctx, set); err != nil {
		return nil, err
	}
	for again := 0; ; again++ {
		c.random = rand.New(rand.NewPCG(uint64(o.Seed), uint64(again))) //nolint:gosec // any bits do
		err := c.whole(ctx, set)
		if err == nil {
			set.Cluster = c.facts
			return set, nil
		}
		var lost *LostError
		if again == restarts || ctx.Err() != nil || !Down(err) && !errors.As(err, &lost) {
			return nil, err
		}
		c.remark(fmt.Sprintf("%v: beginning again", err))
		set.Notes = append(set.Notes, fmt.Sprintf("begun again after: %v", err))
		if err := c.await(ctx); err != nil {
			return nil, fmt.Errorf("%w; and Cassandra did not come back within %v", err, awayFor)
		}
		c.began = time.Now()
	}
}

func (c *calibration) remark(text string) { c.o.Progress(Progress{Text: text}) }

// connect opens the sessions and reads the facts.
func (c *calibration) connect(ctx context.Context) (err error) {
	if c.session, err = c.o.Connect(""); err != nil {
		return &ConnectError{err}
	}
	var own, host string
	if err := c.session.Query("SELECT data_center, release_version, rpc_address FROM system.local").WithContext(ctx).Scan(&c.facts.DataCentre, &c.facts.Version, &own); err != nil {
		c.close()
		return fmt.Errorf("read system.local: %w", err)
	}
	var centre string
	iter := c.session.Query("SELECT data_center, rpc_address FROM system.peers").WithContext(ctx).Iter()
	if h := iter.Host(); h != nil { // whichever it was, its peers are all nodes but itself; system.local may have been another one's
		own = h.ConnectAddress().String()
		c.facts.DataCentre = cmp.Or(h.DataCenter(), c.facts.DataCentre)
	}
	nodes := []string{own}
	for iter.Scan(&centre, &host) {
		if centre == c.facts.DataCentre {
			nodes = append(nodes, host)
		}
	}
	if err := iter.Close(); err != nil {
		c.close()
		return fmt.Errorf("read system.peers: %w", err)
	}
	if err := c.settle(len(nodes)); err != nil {
		c.close()
		return err
	}
	if len(nodes) == 1 {
		c.each = []*gocql.Session{c.session} // closed twice, which is allowed
		return nil
	}
	for _, n := range nodes {
		s, err := c.o.Connect(n)
		if err != nil {
			c.close()
			return fmt.Errorf("connect to node %s: %w; a calibration wants all nodes of the data centre up", n, err)
		}
		c.each = append(c.each, s)
	}
	return nil
}

func (c *calibration) close() {
	for _, s := range c.each {
		s.Close()
	}
	c.session.Close()
}

// reconnect opens the session to the cluster anew.
func (c *calibration) reconnect() (*gocql.Session, error) {
	s, err := c.o.Connect("")
	if err != nil {
		return nil, err
	}
	c.session.Close()
	if len(c.each) == 1 {
		c.each[0] = s
	}
	c.session = s
	return s, nil
}

// settle decides replication and consistency.
func (c *calibration) settle(nodes int) error {
	f := &c.facts
	f.Nodes, f.Replication, f.Consistency = nodes, c.o.Replication, strings.ToUpper(c.o.Consistency)
	if f.Replication == 0 {
		f.Replication = min(3, nodes)
	}
	if f.Consistency == "" {
		f.Consistency = "LOCAL_QUORUM"
	}
	if f.Replication < 0 || f.Replication > nodes {
		return &SettingError{fmt.Sprintf("replication %d: the data centre %s has %d node(s)", f.Replication, f.DataCentre, nodes)}
	}
	if err := CheckConsistency(f.Consistency); err != nil {
		return err
	}
	if need := map[string]int{"TWO": 2, "THREE": 3}[f.Consistency]; need > f.Replication {
		return &SettingError{fmt.Sprintf("consistency %s: there would be %d replica(s) of each row", f.Consistency, f.Replication)}
	}
	f.Date, f.Seed, f.Machine = c.began.UTC().Format(time.RFC3339), c.o.Seed, machine()
	return nil
}

// ConnectError says that Cassandra can not be reached, or does not let us in.
type ConnectError struct{ Err error }

func (e *ConnectError) Error() string {
	return fmt.Sprintf("connect to Cassandra: %v: check contact-points, username and HELENUS_PASSWORD, and whether it asks for TLS (cassandra-tls)", e.Err)
}

func (e *ConnectError) Unwrap() error { return e.Err }

// SettingError says that a setting does not fit the cluster.
type SettingError struct{ Reason string }

func (e *SettingError) Error() string { return e.Reason }

// levels are those that both reads and writes may have.
var levels = []string{"ONE", "TWO", "THREE", "QUORUM", "ALL", "LOCAL_QUORUM", "EACH_QUORUM", "LOCAL_ONE"}

// CheckConsistency refuses levels that are not known, or that reads or writes do not have.
func CheckConsistency(level string) error {
	if !slices.Contains(levels, strings.ToUpper(level)) {
		return &SettingError{fmt.Sprintf("consistency %q: it may be %s", level, strings.Join(levels, ", "))}
	}
	return nil
}

// machine describes the client's machine.
func machine() string {
	name := runtime.GOARCH
	if data, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(data)) {
			if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
				name = strings.TrimSpace(value)
				break
			}
		}
	}
	return fmt.Sprintf("%s, %d CPU(s), %s", name, runtime.NumCPU(), runtime.GOOS)
}

// idle looks whether the cluster has other work.
func (c *calibration) idle(ctx context.Context, set *Set) error {
	busy, saw, err := c.watch(ctx)
	if err != nil {
		return err
	}
	c.remark("before: " + saw)
	if len(busy) > 0 && !c.o.Force {
		return &BusyError{busy}
	}
	if len(busy) > 0 {
		saw += " (forced)"
	}
	set.Notes = append(set.Notes, "before: "+saw)
	return nil
}

// await waits until Cassandra answers again.
func (c *calibration) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, awayFor)
	defer cancel()
	for {
		s, err := c.reconnect()
		if err == nil {
			err = s.Query("SELECT key FROM system.local WHERE key = 'local'").WithContext(ctx).Exec()
		}
		if err == nil {
			return nil
		}
		if late := sleep.For(ctx, time.Second); late != nil {
			return err
		}
	}
}

// whole makes the keyspace, loads, measures and drops.
func (c *calibration) whole(ctx context.Context, set *Set) (err error) {
	place, err := scratch.Begin(ctx, scratch.Options{
		Prefix: c.o.Prefix, Connect: func() (*gocql.Session, error) { return c.o.Connect("") }, Alone: true, Say: c.remark,
	})
	if err != nil {
		return fmt.Errorf("making the scratch keyspaces: %w", err)
	}
	defer func() {
		if late := place.End(); late != nil {
			err = errors.Join(err, late)
		}
	}()
	keyspace, err := place.Create(ctx, fmt.Sprintf("replication = {'class': 'NetworkTopologyStrategy', '%s': %d}", c.facts.DataCentre, c.facts.Replication))
	if err != nil {
		return fmt.Errorf("making the scratch keyspace: %w", err)
	}
	large := full
	if c.o.Quick {
		large = quick
	}
	b, err := newBench(c.session, keyspace, &c.facts, large)
	if err != nil {
		return err
	}
	total, loaded := b.rows(), 0
	l := &loading{bench: b, random: c.random, done: func(rows int) {
		loaded += rows
		c.o.Progress(Progress{Phase: "load", Done: min(1, float64(loaded)/float64(total)), Left: c.left()})
	}}
	refused, err := l.load(ctx)
	if err != nil {
		return err
	}
	set.Measurements, err = c.rounds(ctx, b.operations(refused))
	for family, why := range refused {
		set.Notes = append(set.Notes, fmt.Sprintf("%s not measured: %s", family, why))
	}
	slices.Sort(set.Notes[1:])
	return err
}

// left is how much of the budget is.
func (c *calibration) left() time.Duration { return max(0, c.o.Budget-time.Since(c.began)) }

// rounds measures: in each round every operation as often as it says, in a row and once more than that, in an order that is drawn anew, so that whatever
// drifts (the virtual machine's compiler, compactions, the weather) falls on all alike. The first rounds warm up, for a share
// of the time, and up to twice that while rounds still get quicker.
func (c *calibration) rounds(ctx context.Context, all []operation) ([]Measurement, error) {
	slots := make([]int, len(all))
	for i := range slots {
		slots[i] = i
	}
	times := make([][]float64, len(all))
	budget := c.left()
	began := time.Now()
	warm := time.Duration(warmShare * float64(budget))
	run := func() (level float64, err error) { // the mean logarithm of the times
		c.random.Shuffle(len(slots), func(i, j int) { slots[i], slots[j] = slots[j], slots[i] })
		for _, i := range slots {
			if err := ctx.Err(); err != nil {
				return 0, err
			}
			for n := range unlike + all[i].times {
				at := time.Now()
				if err := all[i].run(ctx, c.random); err != nil {
					return 0, fmt.Errorf("%s: %w", all[i].Name, err)
				}
				took := time.Since(at).Seconds() * 1000
				if n < unlike {
					continue
				}
				times[i] = append(times[i], took)
				level += math.Log(max(took, 1e-6)) / float64(len(slots)*all[i].times)
			}
		}
		return level, nil
	}
	lowest, since := math.Inf(1), 0
	for round := 0; round < 2 || time.Since(began) < warm || since < steadyRounds && time.Since(began) < 2*warm; round++ {
		level, err := run()
		if err != nil {
			return nil, err
		}
		if since++; level < lowest-quicker {
			lowest, since = level, 0
		}
		c.o.Progress(Progress{Phase: "warm up", Done: min(1, time.Since(began).Seconds()/max(warm.Seconds(), 1e-9)), Left: c.left()})
	}
	clear(times)
	measured := time.Now()
	for c.facts.Rounds = 0; c.facts.Rounds < leastRounds || time.Since(began) < budget; c.facts.Rounds++ {
		if _, err := run(); err != nil {
			return nil, err
		}
		c.o.Progress(Progress{Phase: "measure", Done: min(1, float64(time.Since(measured))/max(1, float64(budget-measured.Sub(began)))), Left: c.left()})
	}
	c.facts.Seconds = time.Since(measured).Seconds()
	out := make([]Measurement, len(all))
	for i := range all {
		out[i] = summary(all[i].Shape, times[i])
	}
	return out, nil
}

// summary is what is kept of the times that a shape took.
func summary(s Shape, times []float64) Measurement {
	slices.Sort(times)
	return Measurement{
		Shape: s, Count: len(times),
		Median: quantile(times, 0.5), Low: quantile(times, 0.25), High: quantile(times, 0.75), Tail: quantile(times, 0.95),
	}
}
