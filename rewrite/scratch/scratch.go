// Package scratch is the keyspaces that measuring commands work in on somebody else's cluster: made by a run, dropped at its end,
// and, if the run was killed, by the next run of the same command.
//
// A run's keyspaces are called PREFIX_SECOND_PROCESS_PLACE_NUMBER: the command's prefix, the second at which the run began
// (hexadecimal, by Cassandra's clock), its process, a hash of the machine's name, and a number. Number 0 holds the pulse: a table
// whose comment says whose run it is and since when, and whose one row is written again every few seconds. A run is
//
//   - dead if it ran where the one who looks does and its process is gone;
//   - else alive while its row, or where there is none yet the second in its name, is younger than stale, by Cassandra's clock;
//   - left alone where its row can not be read: Cassandra may be half away.
//
// Names that are not of this form are nobody's to drop, whatever they begin with. The pulse's keyspace is the first to be made and
// the last to be dropped, so that whatever a run leaves behind at any moment is found by its name.
//
// It imports rewrite/exec and internal/guard.
package scratch

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/internal/guard"
	"github.com/helenus-db/helenus/rewrite/exec"
)

// Pulse is the name of the table in a run's first keyspace by which others tell that it is alive.
const Pulse = "pulse"

const (
	beatEvery = 5 * time.Second
	// stale is how long after its last pulse a run is taken for dead: a Cassandra that is started again takes no pulse meanwhile.
	stale = 2 * time.Minute
	// farewell is how long End waits for a Cassandra that is away unless something else is said.
	farewell = 90 * time.Second
)

// Options of a run. Prefix and Connect are required.
type Options struct {
	Prefix  string // begins the names, the command's own; see CheckPrefix
	Connect func() (*gocql.Session, error)
	Alone   bool          // a run beside another of its prefix is refused (*AtWorkError)
	Wait    time.Duration // how long End waits for a Cassandra that is away; 0: 90 s
	Say     func(string)  // what was left behind by others and is dropped; nil: nobody is told
}

// Run is a command's keyspaces on a cluster.
type Run struct {
	Swept []string // keyspaces of dead runs that were dropped at the beginning
	o     Options
	name  string // all but the number

	mu      sync.Mutex
	session *gocql.Session
	number  int
	rest    func() // ends the pulse
}

// AtWorkError says that another run is at work, and this one wants to be alone.
type AtWorkError struct {
	Run     string
	Process int
	Last    time.Duration // since its last pulse, as far as it could be read
}

func (e *AtWorkError) Error() string {
	return fmt.Sprintf("another run is at work, process %d in keyspaces %s_..., last heard of %v ago: wait for its end; should it be dead, whoever begins %v after it was last heard of drops them",
		e.Process, e.Run, e.Last.Round(time.Second), stale)
}

// LeftBehindError says which keyspaces could not be dropped.
type LeftBehindError struct {
	Run string
	Err error
}

func (e *LeftBehindError) Error() string {
	return fmt.Sprintf("keyspaces %s_... may be left behind; the next run removes them: %v", e.Run, e.Err)
}

func (e *LeftBehindError) Unwrap() error { return e.Err }

var prefixForm = regexp.MustCompile(`^[a-z][a-z0-9_]{0,17}$`)

// CheckPrefix refuses prefixes that make no names of keyspaces.
func CheckPrefix(prefix string) error {
	if !prefixForm.MatchString(prefix) {
		return fmt.Errorf("%q does not begin names of keyspaces: it may have small letters, digits and _, a letter first, and 18 of them at most", prefix)
	}
	return nil
}

// Begin connects, drops what dead runs of the prefix have left behind, and makes the run's first keyspace. An error of connecting is
// returned as Connect has it.
func Begin(ctx context.Context, o Options) (*Run, error) {
	if err := CheckPrefix(o.Prefix); err != nil {
		return nil, err
	}
	if o.Say == nil {
		o.Say = func(string) {}
	}
	if o.Wait <= 0 {
		o.Wait = farewell
	}
	r := &Run{o: o, rest: func() {}}
	var err error
	if r.session, err = o.Connect(); err != nil {
		return nil, err
	}
	if err = r.begin(ctx); err != nil {
		return nil, errors.Join(err, r.End()) // some of it may be there already
	}
	return r, nil
}

func (r *Run) begin(ctx context.Context) error {
	now, err := r.clock(ctx)
	if err != nil {
		return err
	}
	if err := r.sweep(ctx, now); err != nil {
		return err
	}
	r.name = fmt.Sprintf("%s_%x_%d_%06x", r.o.Prefix, second(now), os.Getpid(), place())
	home, err := r.Create(ctx, "")
	if err != nil {
		return err
	}
	host, _ := os.Hostname()
	whose := fmt.Sprintf("%s on %s, process %d, since %s: alive while the row is young. Keyspaces %s_... are its own; when it is dead, the next run drops them",
		r.o.Prefix, host, os.Getpid(), now.UTC().Format(time.RFC3339), r.name)
	table := home + "." + Pulse
	if err := r.ddl(ctx, "CREATE TABLE IF NOT EXISTS "+table+" (id int PRIMARY KEY, at timestamp) WITH comment = '"+strings.ReplaceAll(whose, "'", "''")+"'"); err != nil {
		return err
	}
	beat := func(ctx context.Context) error {
		return r.query(ctx, func(s *gocql.Session) error {
			return s.Query("INSERT INTO " + table + " (id, at) VALUES (0, toTimestamp(now()))").Consistency(gocql.One).WithContext(ctx).Exec()
		})
	}
	if err := beat(ctx); err != nil {
		return fmt.Errorf("write to %s: %w", table, err)
	}
	if r.o.Alone { // of two that begin at once each sees the other now, and the later name yields
		if err := r.sweep(ctx, now); err != nil {
			return err
		}
	}
	own, cancel := context.WithCancel(context.WithoutCancel(ctx)) // it beats until the clean-up is done
	var done sync.WaitGroup
	guard.In(&done, guard.Session, func() {
		for tick := time.NewTicker(beatEvery); ; {
			select {
			case <-tick.C:
				_ = beat(own) // a Cassandra that is away is met by whoever runs statements
			case <-own.Done():
				tick.Stop()
				return
			}
		}
	})
	r.rest = sync.OnceFunc(func() { cancel(); done.Wait() })
	return nil
}

var latest atomic.Int64

// second is that of a run's name: two of one process differ.
func second(now time.Time) int64 {
	for {
		before := latest.Load()
		if s := max(now.Unix(), before+1); latest.CompareAndSwap(before, s) {
			return s
		}
	}
}

// Create makes the run's next keyspace. with is its replication and whatever else comes after WITH; "" is one replica.
func (r *Run) Create(ctx context.Context, with string) (keyspace string, err error) {
	if with == "" {
		with = "replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"
	}
	r.mu.Lock()
	keyspace = fmt.Sprintf("%s_%d", r.name, r.number)
	r.number++
	r.mu.Unlock()
	err = r.ddl(ctx, "CREATE KEYSPACE IF NOT EXISTS "+keyspace+" WITH "+with)
	var refused gocql.RequestError
	if errors.As(err, &refused) && refused.Code() == gocql.ErrCodeUnauthorized {
		err = fmt.Errorf("%w: this works in keyspaces of its own, named %s_...: GRANT CREATE ON ALL KEYSPACES to its role for as long as it runs", err, r.o.Prefix)
	}
	return keyspace, err
}

// Drop drops one of the run's keyspaces. It is no error if it is not there.
func (r *Run) Drop(ctx context.Context, keyspace string) error {
	return r.ddl(ctx, "DROP KEYSPACE IF EXISTS "+keyspace)
}

// Clear drops the run's keyspaces, and lets it go on.
func (r *Run) Clear(ctx context.Context) error { return r.dropAll(ctx, false) }

// End drops every keyspace of the run, also after its context has ended, and waits for a Cassandra that is away. The error, if there is one,
// is *LeftBehindError.
func (r *Run) End() error {
	ctx := context.Background()
	err := r.dropAll(ctx, true)
	for until := time.Now().Add(r.o.Wait); err != nil && exec.Down(err) && time.Now().Before(until); {
		time.Sleep(time.Second)
		err = r.dropAll(ctx, true)
	}
	r.rest()
	r.now().Close()
	if err != nil {
		return &LeftBehindError{r.name, err}
	}
	return nil
}

// dropAll drops the run's keyspaces, that of the pulse last and only on request.
func (r *Run) dropAll(ctx context.Context, pulse bool) error {
	names, err := r.keyspaces(ctx)
	for _, k := range names {
		if own, ok := parse(r.o.Prefix, k); ok && own.run == r.name && (pulse || own.number > 0) {
			if err = errors.Join(err, r.Drop(ctx, k)); exec.Down(err) {
				break
			}
		}
	}
	return err
}

// keyspaces are all that begin with the prefix, a run's first one after its others: an interrupted clean-up would hide them without it.
func (r *Run) keyspaces(ctx context.Context) (names []string, err error) {
	err = r.query(ctx, func(s *gocql.Session) error {
		names = nil
		iter := s.Query("SELECT keyspace_name FROM system_schema.keyspaces").WithContext(ctx).Iter()
		for name := ""; iter.Scan(&name); {
			if strings.HasPrefix(name, r.o.Prefix+"_") {
				names = append(names, name)
			}
		}
		return iter.Close()
	})
	if err != nil {
		return nil, fmt.Errorf("listing keyspaces: %w", err)
	}
	slices.Sort(names)
	slices.Reverse(names)
	return names, nil
}

// sweep drops the keyspaces of runs that are dead.
func (r *Run) sweep(ctx context.Context, now time.Time) error {
	names, err := r.keyspaces(ctx)
	if err != nil {
		return err
	}
	alive := map[string]bool{}
	for _, k := range names {
		x, ok := parse(r.o.Prefix, k)
		if !ok || x.run == r.name {
			continue
		}
		if _, known := alive[x.run]; !known {
			found, err := r.look(ctx, x, now)
			switch {
			case err != nil:
				return fmt.Errorf("looking whether the run of keyspaces %s_... lives: %w", x.run, err)
			case found != nil && r.o.Alone && (r.name == "" || x.run < r.name):
				return found
			}
			alive[x.run] = found != nil
		}
		if alive[x.run] {
			continue
		}
		r.o.Say("dropping keyspace " + k + ", which an earlier run left behind")
		if err := r.Drop(ctx, k); err != nil {
			return fmt.Errorf("removing keyspace %s of an earlier run: %w", k, err)
		}
		r.Swept = append(r.Swept, k)
	}
	return nil
}

// look tells who is at work in a keyspace; nil: nobody is any more.
func (r *Run) look(ctx context.Context, x name, now time.Time) (*AtWorkError, error) {
	if x.place == place() && gone(x.process) {
		return nil, nil
	}
	last, unread := x.began, false
	err := r.query(ctx, func(s *gocql.Session) error {
		err := s.Query("SELECT at FROM " + x.run + "_0." + Pulse + " WHERE id = 0").Consistency(gocql.One).WithContext(ctx).Scan(&last)
		var refused gocql.RequestError
		if errors.As(err, &refused) {
			unread = refused.Code() != gocql.ErrCodeInvalid // there is no such table
			return nil
		}
		if errors.Is(err, gocql.ErrNotFound) {
			return nil
		}
		return err
	})
	if err != nil || !unread && now.Sub(last) >= stale {
		return nil, err
	}
	return &AtWorkError{x.run, x.process, now.Sub(last)}, nil
}

// name is what a keyspace's name says.
type name struct {
	run             string
	began           time.Time
	process, number int
	place           uint32
}

func parse(prefix, keyspace string) (x name, ok bool) {
	rest, ours := strings.CutPrefix(keyspace, prefix+"_")
	fields := strings.Split(rest, "_")
	if !ours || len(fields) != 4 {
		return x, false
	}
	second, wrong := strconv.ParseInt(fields[0], 16, 64)
	where, odd := strconv.ParseUint(fields[2], 16, 24)
	var failed [2]error
	x.process, failed[0] = strconv.Atoi(fields[1])
	x.number, failed[1] = strconv.Atoi(fields[3])
	x.run, x.began, x.place = keyspace[:strings.LastIndexByte(keyspace, '_')], time.Unix(second, 0), uint32(where)
	return x, errors.Join(wrong, odd, failed[0], failed[1]) == nil
}

// place tells machines apart, and on Linux the spaces of a machine within which numbers of processes mean something, by 24 bits.
func place() uint32 {
	host, _ := os.Hostname()
	space, _ := os.Readlink("/proc/self/ns/pid")
	h := fnv.New32a()
	_, _ = io.WriteString(h, host+" "+space)
	return h.Sum32() >> 8
}

// gone tells whether a process of this place is surely not there.
func gone(process int) bool {
	p, err := os.FindProcess(process)
	return err == nil && errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}

// clock is Cassandra's.
func (r *Run) clock(ctx context.Context) (now time.Time, err error) {
	err = r.query(ctx, func(s *gocql.Session) error {
		return s.Query("SELECT toTimestamp(now()) FROM system.local").WithContext(ctx).Scan(&now)
	})
	if err != nil {
		err = fmt.Errorf("asking Cassandra for the time: %w", err)
	}
	return now, err
}

// ddl runs a statement that changes the schema, and waits until all nodes know. It is not broken off: what was sent would happen
// after the clean-up.
func (r *Run) ddl(ctx context.Context, statement string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	err := r.query(ctx, func(s *gocql.Session) error {
		if err := s.Query(statement).WithContext(ctx).RetryPolicy(nil).Exec(); err != nil {
			return err
		}
		return s.AwaitSchemaAgreement(ctx)
	})
	if err != nil {
		return fmt.Errorf("%.90s: %w", statement, err)
	}
	return nil
}

func (r *Run) now() *gocql.Session {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.session
}

// query asks, and asks once more over a new session if Cassandra did not answer: gocql does not always find the way back to a node that
// was away.
func (r *Run) query(ctx context.Context, ask func(*gocql.Session) error) error {
	session := r.now()
	err := ask(session)
	if !exec.Unreachable(err) || ctx.Err() != nil {
		return err
	}
	fresh, away := r.o.Connect()
	if away != nil {
		return err
	}
	r.mu.Lock()
	if r.session == session {
		r.session, fresh = fresh, session
	}
	r.mu.Unlock()
	fresh.Close() // or the old one
	return ask(r.now())
}
