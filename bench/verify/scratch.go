package verify

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/rewrite/exec"
)

// Keyspaces of a run are called marker, the second at which it began (in hexadecimal), its process and a number. The one
// numbered 0 holds the run's pulse, by which others tell that it is still there.
const (
	marker     = "helenus_verify_"
	pulseTable = "pulse"
	pulseEvery = 5 * time.Second
	// stale is how long after its last pulse, or after its name where it has none, a run is taken for dead: by Cassandra's clock.
	stale = 2 * time.Minute
	// dropWait bounds the clean-up of a run that was told to stop.
	dropWait = 30 * time.Second
)

// ErrUnreachable says that Cassandra could not be reached, or has not come back in time.
var ErrUnreachable = errors.New("no Cassandra to verify on")

// scratch is a run's place on the cluster.
type scratch struct {
	cluster *gocql.ClusterConfig
	session atomic.Pointer[gocql.Session]
	pool    *exec.Pool // over a session of its own
	run     string     // marker, time and process
	number  int
	beating context.CancelFunc
	done    chan struct{}
}

// open connects, removes what earlier runs have left behind, and makes the run's first keyspace. swept names what was removed.
func open(ctx context.Context, cluster *gocql.ClusterConfig, now time.Time) (s *scratch, swept []string, err error) {
	session, err := cluster.CreateSession()
	if err != nil {
		return nil, nil, fmt.Errorf("%w at %s:%d: %w: start it, or name another by --contact-point", ErrUnreachable, strings.Join(cluster.Hosts, ", "), cluster.Port, err)
	}
	s = &scratch{cluster: cluster, run: fmt.Sprintf("%s%x_%d", marker, now.Unix(), os.Getpid()), done: make(chan struct{})}
	s.connect(session)
	if swept, err = sweep(ctx, session); err == nil {
		err = s.begin(ctx)
	}
	if err != nil {
		return nil, swept, errors.Join(err, s.close(ctx)) // its keyspace may be there already
	}
	return s, swept, nil
}

// connect takes a new session, and a new one for exec, too: gocql does not always find the way back to a node that was away.
func (s *scratch) connect(session *gocql.Session) {
	s.session.Store(session)
	s.pool = exec.NewPool(s.cluster.CreateSession)
}

func (s *scratch) disconnect() {
	s.pool.Close()
	s.session.Load().Close()
}

// begin makes the keyspace of the pulse.
func (s *scratch) begin(ctx context.Context) error {
	home, err := s.keyspace(ctx)
	if err != nil {
		var refused gocql.RequestError
		if errors.As(err, &refused) && refused.Code() == gocql.ErrCodeUnauthorized {
			err = fmt.Errorf("%w: bench verify works in keyspaces of its own, named %s...: GRANT CREATE ON ALL KEYSPACES to its role", err, marker)
		}
		return err
	}
	s.number = 1
	table := home + "." + pulseTable
	if err := s.exec(ctx, "CREATE TABLE "+table+" (id int PRIMARY KEY, at timestamp) WITH comment = 'helenus bench verify: while at is young, the run of this name is alive'"); err != nil {
		return err
	}
	beat := func(ctx context.Context) error {
		return s.exec(ctx, "INSERT INTO "+table+" (id, at) VALUES (0, toTimestamp(now()))")
	}
	if err := beat(ctx); err != nil {
		return err
	}
	own, cancel := context.WithCancel(context.WithoutCancel(ctx)) // it beats until the clean-up is done
	s.beating = cancel
	go func() {
		defer close(s.done)
		tick := time.NewTicker(pulseEvery)
		defer tick.Stop()
		for {
			select {
			case <-own.Done():
				return
			case <-tick.C:
				_ = beat(own) // a Cassandra that is away is met by whoever runs statements
			}
		}
	}()
	return nil
}

// keyspace makes the next one.
func (s *scratch) keyspace(ctx context.Context) (string, error) {
	name := fmt.Sprintf("%s_%d", s.run, s.number)
	s.number++
	return name, s.exec(ctx, "CREATE KEYSPACE IF NOT EXISTS "+name+" WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1} AND durable_writes = false")
}

func (s *scratch) drop(ctx context.Context, keyspace string) error {
	return s.exec(ctx, "DROP KEYSPACE IF EXISTS "+keyspace)
}

func (s *scratch) exec(ctx context.Context, statement string) error {
	if err := s.session.Load().Query(statement).WithContext(ctx).Exec(); err != nil {
		return fmt.Errorf("%.60s...: %w", statement, err)
	}
	return nil
}

// clear drops the keyspaces of the run's designs.
func (s *scratch) clear(ctx context.Context) error {
	own, err := s.listed(ctx)
	for _, name := range own {
		if name != s.run+"_0" {
			err = errors.Join(err, s.drop(ctx, name))
		}
	}
	return err
}

// close drops every keyspace of the run, also when it was cancelled. What it can not reach, the next run will remove.
func (s *scratch) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), dropWait)
	defer cancel()
	own, err := s.listed(ctx)
	for _, name := range own {
		err = errors.Join(err, s.drop(ctx, name))
	}
	if s.beating != nil {
		s.beating()
		<-s.done
	}
	s.disconnect()
	if err != nil {
		return fmt.Errorf("keyspaces %s_* may be left behind; the next run removes them: %w", s.run, err)
	}
	return nil
}

// listed are the keyspaces of this run, that of the pulse last.
func (s *scratch) listed(ctx context.Context) ([]string, error) {
	all, err := keyspaces(ctx, s.session.Load())
	own := slices.DeleteFunc(all, func(name string) bool { return !strings.HasPrefix(name, s.run+"_") })
	slices.Sort(own)
	slices.Reverse(own)
	return own, err
}

// keyspaces are all that bear the marker.
func keyspaces(ctx context.Context, session *gocql.Session) ([]string, error) {
	var names []string
	iter := session.Query("SELECT keyspace_name FROM system_schema.keyspaces").WithContext(ctx).Iter()
	for name := ""; iter.Scan(&name); {
		if strings.HasPrefix(name, marker) {
			names = append(names, name)
		}
	}
	if err := iter.Close(); err != nil {
		return nil, fmt.Errorf("listing keyspaces: %w", err)
	}
	return names, nil
}

// sweep drops the keyspaces of runs that are dead.
func sweep(ctx context.Context, session *gocql.Session) (dropped []string, err error) {
	all, err := keyspaces(ctx, session)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	var now time.Time
	if err := session.Query("SELECT toTimestamp(now()) FROM system.local").WithContext(ctx).Scan(&now); err != nil {
		return nil, fmt.Errorf("asking Cassandra for the time: %w", err)
	}
	slices.Sort(all)
	slices.Reverse(all) // the pulse goes last, or a sweep that is interrupted would hide what is left
	alive := map[string]bool{}
	for _, name := range all {
		run, began, ok := parts(name)
		if !ok {
			continue // not of ours, whatever it is called
		}
		if _, known := alive[run]; !known {
			last := began
			var pulse time.Time
			if session.Query("SELECT at FROM "+run+"_0."+pulseTable+" WHERE id = 0").WithContext(ctx).Scan(&pulse) == nil {
				last = pulse
			}
			alive[run] = now.Sub(last) < stale
		}
		if alive[run] {
			continue
		}
		if err := session.Query("DROP KEYSPACE IF EXISTS " + name).WithContext(ctx).Exec(); err != nil {
			return dropped, fmt.Errorf("removing keyspace %s of an earlier run: %w", name, err)
		}
		dropped = append(dropped, name)
	}
	return dropped, nil
}

// parts reads a keyspace's name: the run and when it began.
func parts(keyspace string) (run string, began time.Time, ok bool) {
	fields := strings.Split(strings.TrimPrefix(keyspace, marker), "_")
	if len(fields) != 3 {
		return "", began, false
	}
	seconds, err := strconv.ParseInt(fields[0], 16, 64)
	_, process := strconv.Atoi(fields[1])
	_, number := strconv.Atoi(fields[2])
	return keyspace[:strings.LastIndexByte(keyspace, '_')], time.Unix(seconds, 0), err == nil && process == nil && number == nil
}

// await connects anew as soon as Cassandra answers again; ErrUnreachable after a time.
func (s *scratch) await(ctx context.Context, most time.Duration) error {
	limit, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	s.disconnect()
	for {
		session, err := s.cluster.CreateSession()
		if err == nil {
			var key string
			if err = session.Query("SELECT key FROM system.local").WithContext(limit).Scan(&key); err == nil {
				s.connect(session)
				return nil
			}
			session.Close()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-limit.Done():
			return fmt.Errorf("%w: it went away and has not come back within %v: %w", ErrUnreachable, most, err)
		case <-time.After(time.Second):
		}
	}
}
