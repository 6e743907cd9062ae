package cassandra

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/gocql/gocql"
)

const (
	pollInterval = 100 * time.Millisecond
	askTimeout   = 10 * time.Second // of one statement; generous, since a failed one only means another round
)

var errEnded = errors.New("the process ended by itself")

// await returns when the node answers statements and the running nodes agree on who is there and alive.
func (n *Node) await(ctx context.Context) error {
	if err := n.poll(ctx, n.listening); err != nil {
		return err
	}
	return n.poll(ctx, n.settled)
}

// poll repeats a check until it succeeds, the context ends, or the process does.
func (n *Node) poll(ctx context.Context, check func(context.Context) error) error {
	p := n.proc.Load()
	for {
		err := check(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-p.Done():
			return errors.Join(errEnded, p.Wait())
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-time.After(pollInterval):
		}
	}
}

// listening succeeds when the native port is open.
func (n *Node) listening(ctx context.Context) error {
	conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", n.Addr())
	if err == nil {
		_ = conn.Close()
	}
	return err
}

// settled succeeds when this node and every other running one agree on the schema and see one another alive.
func (n *Node) settled(ctx context.Context) error {
	var running []*Node
	for _, m := range n.cluster.Nodes() {
		if m.Pid() != 0 {
			running = append(running, m)
		}
	}
	var schema gocql.UUID
	for i, m := range running {
		version, err := m.ask(ctx, len(running))
		if err != nil {
			return fmt.Errorf("node %s: %w", m.addr, err)
		}
		if i > 0 && version != schema {
			return fmt.Errorf("nodes %s and %s differ in their schema version", running[0].addr, m.addr)
		}
		schema = version
	}
	return nil
}

// ask connects to one node alone and returns its schema version, if it sees the given number of nodes alive.
func (n *Node) ask(ctx context.Context, nodes int) (gocql.UUID, error) {
	session, err := n.connect()
	if err != nil {
		return gocql.UUID{}, err
	}
	defer session.Close()
	var version gocql.UUID
	if err := session.Query("SELECT schema_version FROM system.local WHERE key = 'local'").WithContext(ctx).Scan(&version); err != nil {
		return version, err
	}
	if nodes == 1 {
		return version, nil
	}
	var peers int
	if err := session.Query("SELECT count(*) FROM system.peers").WithContext(ctx).Scan(&peers); err != nil {
		return version, err
	}
	if peers < nodes-1 {
		return version, fmt.Errorf("system.peers lists %d of %d other nodes", peers, nodes-1)
	}
	// No system table says who is alive. But a keyspace of replication factor 3 has a replica on every node of a
	// cluster as small as ours, so that a read at ALL either succeeds or says how many it found alive.
	probe := session.Query("SELECT parent_id FROM system_distributed.parent_repair_history WHERE parent_id = ?", gocql.TimeUUID())
	err = probe.Consistency(gocql.All).WithContext(ctx).Scan(new(gocql.UUID))
	var unavailable *gocql.RequestErrUnavailable
	if errors.As(err, &unavailable) && unavailable.Alive >= nodes || errors.Is(err, gocql.ErrNotFound) {
		return version, nil
	}
	return version, err
}

// connect opens a session on this one node.
func (n *Node) connect() (*gocql.Session, error) {
	opt := &n.cluster.opt
	cfg := gocql.NewCluster(n.addr.Addr().String())
	cfg.Port = int(n.addr.Port())
	cfg.ProtoVersion = 4
	cfg.NumConns = 1
	cfg.DisableInitialHostLookup = true
	cfg.Timeout, cfg.ConnectTimeout = askTimeout, askTimeout
	cfg.Consistency = gocql.One
	cfg.Logger = silent{} // refused connections are what we wait out
	user := gocql.PasswordAuthenticator{Username: opt.Username, Password: opt.Password}
	if user.Username == "" {
		user.Username, user.Password = "cassandra", "cassandra"
	}
	cfg.Authenticator = user // used only when the node asks for it
	if opt.TLS != nil {
		cfg.SslOpts = &gocql.SslOptions{Config: opt.TLS}
	}
	return cfg.CreateSession()
}

// silent drops what gocql would print.
type silent struct{}

func (silent) Print(...any)          {}
func (silent) Printf(string, ...any) {}
func (silent) Println(...any)        {}
