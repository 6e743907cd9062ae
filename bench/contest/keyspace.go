package contest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/bench/load"
	"github.com/helenus-db/helenus/internal/cassandra"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/planrun"
	"github.com/helenus-db/helenus/rewrite/scratch"
)

// Arena is the Cassandra that a contest takes place on: one node, and keyspaces that are dropped at the end.
type Arena struct {
	Session *gocql.Session // a new one after Awaken
	Pool    *Pool          // the same, as programs want it
	// Node is set if we started it: then it can be flushed, compacted and started again, and its files measured.
	Node *cassandra.Node
	Dir  string // of the cluster, if it is ours
	// Tell, if set, is told why a Cassandra of ours has died.
	Tell func(string)

	Point  string // host:port
	prefix string
	places *scratch.Run // the keyspaces; nil until the first is made
}

// patience is how long Cassandra may take to answer again.
const patience = 4 * time.Minute

// Open connects to a node. Keyspaces get names that begin with prefix, the command's own; the first Create drops those that earlier runs
// with it left behind (rewrite/scratch).
func Open(point, prefix string) (*Arena, error) {
	session, err := Connect(point)
	if err != nil {
		return nil, err
	}
	a := &Arena{Point: point, Pool: &Pool{}, prefix: prefix}
	a.use(session)
	return a, nil
}

// use makes a session the arena's.
func (a *Arena) use(session *gocql.Session) {
	a.Session = session
	if old := a.Pool.now.Swap(exec.NewPool(func() (*gocql.Session, error) { return session, nil })); old != nil {
		old.Close()
	}
}

// Pool is an exec.Session whose connections can be made anew: the driver does not always find its way back to a node that
// was started again.
type Pool struct{ now atomic.Pointer[exec.Pool] }

// Query implements exec.Session.
func (p *Pool) Query(ctx context.Context, q exec.Query) (exec.Answer, error) {
	return p.now.Load().Query(ctx, q)
}

// Scan implements exec.Session.
func (p *Pool) Scan(ctx context.Context, q exec.Query, row func(cells [][]byte) error) error {
	return p.now.Load().Scan(ctx, q, row)
}

// Agree implements exec.Session.
func (p *Pool) Agree(ctx context.Context) error { return p.now.Load().Agree(ctx) }

// Connect opens a session with the one node at an address.
func Connect(point string) (*gocql.Session, error) {
	host, text, err := net.SplitHostPort(point)
	if err != nil {
		return nil, fmt.Errorf("contact point %q: %w", point, err)
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return nil, fmt.Errorf("contact point %q: its port is no number", point)
	}
	cfg := gocql.NewCluster(host)
	cfg.Port, cfg.ProtoVersion, cfg.Timeout, cfg.ConnectTimeout = port, 4, 30*time.Second, 10*time.Second
	cfg.Consistency = gocql.One
	// A request goes out at once: gocql would wait 200 µs for others to send along, which the
	// timers of many machines make a millisecond.
	cfg.WriteCoalesceWaitTime = 0
	cfg.DisableInitialHostLookup = true
	cfg.ReconnectInterval = time.Second
	cfg.Logger = quiet{}
	session, err := cfg.CreateSession()
	if err != nil {
		return nil, fmt.Errorf("no connection to Cassandra at %s: %w", point, err)
	}
	return session, nil
}

// quiet keeps gocql's remarks out of the report.
type quiet struct{}

func (quiet) Print(...any)          {}
func (quiet) Printf(string, ...any) {}
func (quiet) Println(...any)        {}

// Create makes a keyspace with tables, which are given its name. On a node of ours its writes are not logged while it is filled: what a
// crash loses is filled again, and Settle has the rest written to disk, which can not be asked of a node of somebody else's.
func (a *Arena) Create(ctx context.Context, tables []*model.Table) (keyspace string, err error) {
	if a.places == nil {
		if a.places, err = scratch.Begin(ctx, scratch.Options{Prefix: a.prefix, Connect: func() (*gocql.Session, error) { return Connect(a.Point) }}); err != nil {
			return "", err
		}
	}
	keyspace, err = a.places.Create(ctx, fmt.Sprintf("replication = {'class': 'SimpleStrategy', 'replication_factor': 1} AND durable_writes = %t", a.Node == nil))
	if err != nil {
		return "", err
	}
	for _, t := range tables {
		t.Keyspace = keyspace
	}
	if err := load.Define(ctx, a.Session, keyspace, tables); err != nil || a.Node == nil {
		return keyspace, err
	}
	_, err = a.Node.NodeTool(ctx, "disableautocompaction", keyspace) // Settle makes one file of all, once
	return keyspace, err
}

// Settle ends the filling of a keyspace: everything is on disk, in as few files as can be, and writes are logged from now on.
func (a *Arena) Settle(ctx context.Context, keyspace string) error {
	if a.Node == nil {
		return nil
	}
	if err := a.run(ctx, "ALTER KEYSPACE "+keyspace+" WITH durable_writes = true"); err != nil {
		return err
	}
	for _, command := range []string{"flush", "compact", "enableautocompaction"} {
		if _, err := a.Node.NodeTool(ctx, command, keyspace); err != nil {
			return err
		}
	}
	return nil
}

func (a *Arena) run(ctx context.Context, statement string) error {
	if err := a.Session.Query(statement).WithContext(ctx).Exec(); err != nil {
		return fmt.Errorf("%s: %w", strings.TrimSpace(strings.SplitN(statement, "(", 2)[0]), err)
	}
	return nil
}

// Sizes returns what the tables of a keyspace take on disk, in bytes; nil if the files are not within reach.
func (a *Arena) Sizes(keyspace string) (map[string]float64, error) {
	if a.Node == nil {
		return nil, nil
	}
	sizes := map[string]float64{}
	err := filepath.WalkDir(a.Dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) { // compacted away meanwhile
				return nil
			}
			return err
		}
		folder := filepath.Dir(path)
		if entry.IsDir() || filepath.Base(filepath.Dir(folder)) != keyspace {
			return nil
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		table, _, _ := strings.Cut(filepath.Base(folder), "-")
		sizes[table] += float64(info.Size())
		return nil
	})
	return sizes, err
}

// Disk is what Cassandra has had read from the disk and written to it since it was started; nil if it is not ours, or that is not known.
func (a *Arena) Disk() *Disk {
	if a.Node == nil {
		return nil
	}
	d, ok := diskBytes(a.Node.Pid())
	if !ok {
		return nil
	}
	return &d
}

// Awaken is for Loop.Awaken: it waits for a Cassandra that does not answer, starts it again if it is ours and has died, and
// connects anew.
// What is not the fault of a Cassandra that is down is returned as it is.
func (a *Arena) Awaken(ctx context.Context, cause error) error {
	if !exec.Down(cause) && !exec.Unreachable(cause) && !errors.Is(cause, planrun.ErrUnavailable) && !errors.Is(cause, planrun.ErrTimeout) && !errors.Is(cause, exec.ErrNoConnection) {
		return cause
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		if a.Node != nil && a.Node.Pid() == 0 {
			if died := a.Node.Died(); died != nil && a.Tell != nil {
				a.Tell(died.Error())
			}
			if err := a.Node.Start(ctx); err != nil {
				return fmt.Errorf("Cassandra has died and does not start again: %w", err) //nolint:staticcheck // a name
			}
		}
		if session, err := Connect(a.Point); err == nil {
			a.use(session)
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("Cassandra at %s has not answered for %v: %w", a.Point, patience, cause) //nolint:staticcheck // a name
		case <-time.After(time.Second):
		}
	}
}

// Version is that of the Cassandra.
func (a *Arena) Version(ctx context.Context) (string, error) {
	var version string
	err := a.Session.Query("SELECT release_version FROM system.local").WithContext(ctx).Scan(&version)
	return version, err
}

// Close drops all keyspaces that were made, whether the context of their making has ended or not, and disconnects. A Cassandra that is
// away is waited for.
func (a *Arena) Close() (err error) {
	if a.places != nil {
		err = a.places.End()
	}
	a.Pool.now.Load().Close()
	return err
}

// ThisMachine says what it runs on, as far as it can be found.
func ThisMachine() Machine {
	m := Machine{}
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.SplitSeq(string(text), "\n") {
			if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
				m.Model = strings.TrimSpace(value)
				break
			}
		}
	}
	if text, err := os.ReadFile("/proc/meminfo"); err == nil {
		fields := strings.Fields(string(text))
		if len(fields) > 1 {
			kilobytes, _ := strconv.ParseFloat(fields[1], 64)
			m.Memory = kilobytes * 1024
		}
	}
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		if fields := strings.Fields(string(text)); len(fields) > 0 {
			m.Load, _ = strconv.ParseFloat(fields[0], 64)
		}
	}
	return m
}
