package verify

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/scratch"
)

// prefix begins the names of a run's keyspaces.
const prefix = "helenus_verify"

// ErrUnreachable says that Cassandra could not be reached, or has not come back in time.
var ErrUnreachable = errors.New("no Cassandra to verify on")

// premises are a run's place on the cluster.
type premises struct {
	*scratch.Run
	cluster *gocql.ClusterConfig
	session atomic.Pointer[gocql.Session]
	pool    *exec.Pool // over a session of its own
}

// open connects, and begins the run's keyspaces.
func open(ctx context.Context, o Options) (*premises, error) {
	own := *o.Cluster
	own.Events.DisableSchemaEvents = true // gocql would read every keyspace that is made, and go on for a minute after its end
	cluster := &own
	session, err := cluster.CreateSession()
	if err != nil {
		return nil, fmt.Errorf("%w at %s:%d: %w: start it, or name another by --contact-point", ErrUnreachable, strings.Join(cluster.Hosts, ", "), cluster.Port, err)
	}
	p := &premises{cluster: cluster}
	p.connect(session)
	if p.Run, err = scratch.Begin(ctx, scratch.Options{Prefix: prefix, Connect: cluster.CreateSession, Wait: o.Wait}); err != nil {
		p.disconnect()
		return nil, err
	}
	return p, nil
}

// keyspace makes the next one. What a crash loses is loaded again, so it is not durable, which is quicker.
func (p *premises) keyspace(ctx context.Context) (string, error) {
	return p.Create(ctx, "replication = {'class': 'SimpleStrategy', 'replication_factor': 1} AND durable_writes = false")
}

func (p *premises) close() error {
	p.disconnect()
	return p.End()
}

// connect takes a new session, and a new one for exec, too: gocql does not always find the way back to a node that was away.
func (p *premises) connect(session *gocql.Session) {
	p.session.Store(session)
	p.pool = exec.NewPool(p.cluster.CreateSession)
}

func (p *premises) disconnect() {
	p.pool.Close()
	p.session.Load().Close()
}

// await connects anew as soon as Cassandra answers again; ErrUnreachable after a time.
func (p *premises) await(ctx context.Context, most time.Duration) error {
	limit, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	p.disconnect()
	for {
		session, err := p.cluster.CreateSession()
		if err == nil {
			var key string
			if err = session.Query("SELECT key FROM system.local").WithContext(limit).Scan(&key); err == nil {
				p.connect(session)
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
