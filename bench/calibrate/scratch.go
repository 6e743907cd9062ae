package calibrate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/rewrite/exec"
)

// marker is the table by which a scratch keyspace is known to be ours. Its one row lives as long as its run says that it does.
const marker = "helenus_run"

// Every heartbeat the marker's row is written again, to live for lifetime.
const (
	heartbeat = 2 * time.Second
	lifetime  = 6 * time.Second
)

// InTheWayError says that a keyspace of the scratch keyspace's name is there that is not ours to drop.
type InTheWayError struct {
	Keyspace string
	Tables   []string // that are not ours
	Run      string   // or who works in it
}

func (e *InTheWayError) Error() string {
	if e.Run != "" {
		return fmt.Sprintf("another calibration is at work in keyspace %s (%s): wait for its end, or name another keyspace by --keyspace", e.Keyspace, e.Run)
	}
	return fmt.Sprintf("keyspace %s is there and not ours, it has table %s: name another by --keyspace", e.Keyspace, strings.Join(e.Tables, ", "))
}

// LeftBehindError says that the scratch keyspace could not be dropped.
type LeftBehindError struct {
	Keyspace string
	Err      error
}

func (e *LeftBehindError) Error() string {
	return fmt.Sprintf("keyspace %s could not be dropped (%v): the next calibration drops it, or DROP KEYSPACE %s in cqlsh", e.Keyspace, e.Err, e.Keyspace)
}

func (e *LeftBehindError) Unwrap() error { return e.Err }

// scratch is the keyspace that is made and dropped.
type scratch struct {
	session  *gocql.Session
	keyspace string
	centre   string // data centre
	replicas int
	tell     func(string)
	again    func() (*gocql.Session, error) // another session, for one whose nodes were all away does not always come back
	stop     func()                         // the heartbeat
	made     bool                           // by us, or we can not know
}

// tables are the names of all that we make.
func tables() map[string]bool {
	names := map[string]bool{marker: true, gravesLayout.name: true, nestedLayout.name: true, "put_" + nestedLayout.name: true}
	for _, l := range slices.Concat(layouts, written) {
		names[l.name] = true
	}
	for _, k := range indexKinds {
		names[k.table], names[k.puts] = true, true
	}
	for _, s := range []sizes{full, quick} {
		for _, t := range s.scannedTables() {
			names[t.table()] = true
		}
	}
	return names
}

// clear drops what an earlier run has left behind, and refuses what is not ours or still in use.
func (s *scratch) clear(ctx context.Context) error {
	var name string
	err := s.session.Query("SELECT keyspace_name FROM system_schema.keyspaces WHERE keyspace_name = ?", s.keyspace).WithContext(ctx).Scan(&name)
	if errors.Is(err, gocql.ErrNotFound) {
		return nil
	} else if err != nil {
		return fmt.Errorf("look for keyspace %s: %w", s.keyspace, err)
	}
	var table string
	var foreign []string
	ours, marked := tables(), false
	iter := s.session.Query("SELECT table_name FROM system_schema.tables WHERE keyspace_name = ?", s.keyspace).WithContext(ctx).Iter()
	for iter.Scan(&table) {
		if marked = marked || table == marker; !ours[table] {
			foreign = append(foreign, table)
		}
	}
	if err := iter.Close(); err != nil {
		return fmt.Errorf("look for tables in keyspace %s: %w", s.keyspace, err)
	}
	if len(foreign) > 0 {
		return &InTheWayError{Keyspace: s.keyspace, Tables: foreign}
	}
	if marked {
		if err := s.outlive(ctx); err != nil {
			return err
		}
	}
	s.tell("dropping keyspace " + s.keyspace + ", which an earlier run left behind")
	return s.drop(ctx)
}

// outlive waits until the marker's row is gone. If it is written again instead, another run is at work.
func (s *scratch) outlive(ctx context.Context) error {
	var first time.Time
	for deadline := time.Now().Add(2 * lifetime); ; {
		var host string
		var pid int
		var at time.Time
		err := s.session.Query("SELECT host, pid, at FROM "+s.keyspace+"."+marker+" WHERE id = 0").WithContext(ctx).Scan(&host, &pid, &at)
		switch {
		case errors.Is(err, gocql.ErrNotFound):
			return nil
		case err != nil:
			return fmt.Errorf("look into %s.%s: %w", s.keyspace, marker, err)
		case first.IsZero():
			first = at
			s.tell(fmt.Sprintf("keyspace %s is there: waiting %v to see whether its run (%s, process %d) lives", s.keyspace, lifetime, host, pid))
		case at.After(first), time.Now().After(deadline):
			return &InTheWayError{Keyspace: s.keyspace, Run: fmt.Sprintf("on %s, process %d", host, pid)}
		}
		if err := sleep(ctx, time.Second); err != nil {
			return err
		}
	}
}

// create makes the keyspace with its marker, and keeps the marker alive until drop.
func (s *scratch) create(ctx context.Context) error {
	create := fmt.Sprintf("CREATE KEYSPACE %s WITH replication = {'class': 'NetworkTopologyStrategy', '%s': %d}", s.keyspace, s.centre, s.replicas)
	s.made = true
	if err := s.schema(ctx, create); err != nil {
		var refused gocql.RequestError
		s.made = !errors.As(err, &refused) || Down(err) // not permitted, or there by another's hand meanwhile: not ours to drop
		if refused != nil && refused.Code() == gocql.ErrCodeUnauthorized {
			err = fmt.Errorf("%w: GRANT CREATE ON ALL KEYSPACES to its role for as long as it calibrates", err)
		}
		return fmt.Errorf("make the scratch keyspace %s: %w", s.keyspace, err)
	}
	if err := s.schema(ctx, "CREATE TABLE "+s.keyspace+"."+marker+" (id int PRIMARY KEY, host text, pid int, at timestamp)"); err != nil {
		return fmt.Errorf("make table %s.%s: %w", s.keyspace, marker, err)
	}
	host, _ := os.Hostname()
	beat := func() error {
		return s.session.Query(fmt.Sprintf("INSERT INTO %s.%s (id, host, pid, at) VALUES (0, ?, ?, ?) USING TTL %d", s.keyspace, marker, int(lifetime.Seconds())),
			host, os.Getpid(), time.Now()).Consistency(gocql.One).Exec()
	}
	if err := beat(); err != nil {
		return fmt.Errorf("write to %s.%s: %w", s.keyspace, marker, err)
	}
	var done sync.WaitGroup
	end := make(chan struct{})
	done.Go(func() {
		for tick := time.NewTicker(heartbeat); ; {
			select {
			case <-tick.C:
				_ = beat() // Cassandra may be away; whoever measures will see
			case <-end:
				tick.Stop()
				return
			}
		}
	})
	s.stop = sync.OnceFunc(func() { close(end); done.Wait() })
	return nil
}

// dropWithin is how long a Cassandra that is away is waited for in order to drop the keyspace.
const dropWithin = 90 * time.Second

// drop drops the keyspace. It goes on after ctx has ended, and waits for a Cassandra that is away.
func (s *scratch) drop(ctx context.Context) error {
	if s.stop != nil {
		s.stop()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), dropWithin)
	defer cancel()
	told := false
	for {
		err := s.schema(ctx, "DROP KEYSPACE IF EXISTS "+s.keyspace)
		if err == nil {
			return nil
		}
		if !Down(err) {
			return &LeftBehindError{s.keyspace, err}
		}
		if !told {
			told = true
			s.tell(fmt.Sprintf("Cassandra is away (%v): waiting up to %v for it, to drop keyspace %s", err, dropWithin, s.keyspace))
		}
		if sleep(ctx, time.Second) != nil {
			return &LeftBehindError{s.keyspace, err}
		}
		if fresh, err := s.again(); err == nil {
			s.session = fresh
		}
	}
}

// schema runs a statement of DDL.
func (s *scratch) schema(ctx context.Context, statement string) error {
	if err := s.session.Query(statement).WithContext(ctx).RetryPolicy(nil).Exec(); err != nil {
		return err
	}
	return s.session.AwaitSchemaAgreement(ctx)
}

// Down tells whether an error only says that Cassandra could not do it now, or could not be reached.
func Down(err error) bool {
	for _, own := range []any{new(*InTheWayError), new(*LeftBehindError), new(*LostError), new(*SettingError)} {
		if errors.As(err, own) {
			return false
		}
	}
	return !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) && exec.Down(err)
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
