package cassandra

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Options says what cluster to start. The zero value is one node of DefaultVersion on a free port, with a data
// directory that is removed afterwards.
type Options struct {
	Version string // release of Apache Cassandra; empty means DefaultVersion
	Nodes   int    // 1 to 3; 0 means 1
	Dir     string // data and logs, kept after Stop and used again by a later Start; empty: a temporary one
	Heap    string // Java heap of each node, as -Xmx takes it; empty means 512m (about 0.9 GB resident)
	Host    string // address of the first node, in 127.0.0.0/8; the others follow it; empty: chosen
	Port    int    // native protocol port, the same on every node; 0: a free one
	// DataCentres are those of the nodes, in turn; none: all are in one that is called datacenter1.
	DataCentres []string
	// Brief nodes live for minutes and nobody measures them: Java compiles what they run quickly and not well, which saves a third of the processor
	// time of a test, and two fifths of a start's. In a test they always are.
	Brief   bool
	Durable bool           // a write is on disk before it is acknowledged: slower, but a crash loses none
	Extra   map[string]any // settings of cassandra.yaml that add to ours or replace them

	// TLS and the credentials are for the wait until a node answers, where Extra demands them. Empty credentials
	// mean Cassandra's first user, cassandra/cassandra.
	TLS                *tls.Config
	Username, Password string

	Log      *slog.Logger // starts and stops of nodes, with addresses and pids; nil: none
	Progress func(string) // lines for a person who waits; nil: none
}

const (
	maxNodes    = 3
	defaultHeap = "512m"

	startTimeout = 15 * time.Minute // of one node; a start takes 8 s, but the machine may be very busy
	stopTimeout  = time.Minute      // from SIGTERM to SIGKILL; a clean stop takes 1-2 s, on a machine at load 20 more than 15

	// A temporary directory, and the file in it that is locked while the directory is in use.
	temporaryPrefix = "helenus-cassandra-"
	lockName        = "lock"
)

// Cluster is a set of running nodes. Its methods may be called from several goroutines.
type Cluster struct {
	opt         Options
	version     string
	dir         string
	temporary   bool // dir is ours to remove
	lib, java   string
	storagePort uint16
	unlock      func() // gives the lock on dir back; nil before it is taken
	stop        sync.Once
	stopErr     error

	mu           sync.Mutex // of what Add and Decommission change
	nodes        []*Node
	reservations []*reservation
	born         int        // nodes there ever were: their directories are numbered
	last         netip.Addr // of the node that was made last
}

// Start starts a cluster and returns when every node of it answers statements and knows the others. The context
// bounds the start only; the cluster runs until Stop, or until this process ends in whatever way. It returns a
// *MissingToolError when Java or Maven is needed and absent.
func Start(ctx context.Context, opt Options) (*Cluster, error) {
	if opt.Nodes == 0 {
		opt.Nodes = 1
	}
	if opt.Nodes < 1 || opt.Nodes > maxNodes {
		return nil, fmt.Errorf("cassandra: %d nodes asked for; 1 to %d can be had", opt.Nodes, maxNodes)
	}
	if opt.Port < 0 || opt.Port > math.MaxUint16 {
		return nil, fmt.Errorf("cassandra: %d is no port", opt.Port)
	}
	if opt.Version == "" {
		opt.Version = DefaultVersion
	}
	if opt.Heap == "" {
		opt.Heap = defaultHeap
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	if opt.Progress == nil {
		opt.Progress = func(string) {}
	}
	c := &Cluster{opt: opt, version: opt.Version}
	if err := c.start(ctx); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

func (c *Cluster) start(ctx context.Context) error {
	var err error
	if c.java, err = findJava(ctx); err != nil {
		return err
	}
	if c.lib, err = Resolve(ctx, c.version, c.opt.Progress); err != nil {
		return err
	}
	if c.dir = c.opt.Dir; c.dir == "" {
		sweep(ctx, os.TempDir())
		if c.dir, err = os.MkdirTemp("", temporaryPrefix); err != nil {
			return fmt.Errorf("cassandra: %w", err)
		}
		c.temporary = true
	}
	if c.dir, err = filepath.Abs(c.dir); err != nil {
		return fmt.Errorf("cassandra: %w", err)
	}
	if err := c.lockDir(ctx); err != nil {
		return err
	}
	if err := c.reservePorts(); err != nil {
		return err
	}
	begin := time.Now()
	for i, n := range c.nodes {
		c.opt.Progress(fmt.Sprintf("starting Cassandra %s, node %d of %d, at %s", c.version, i+1, len(c.nodes), n.Addr()))
		if err := n.Start(ctx); err != nil {
			return err
		}
	}
	c.opt.Progress(fmt.Sprintf("Cassandra %s is ready after %.1f s", c.version, time.Since(begin).Seconds()))
	return nil
}

// ContactPoints returns the host:port of every node, in order.
func (c *Cluster) ContactPoints() []string {
	nodes := c.Nodes()
	points := make([]string, len(nodes))
	for i, n := range nodes {
		points[i] = n.Addr()
	}
	return points
}

// Nodes returns the nodes, in order.
func (c *Cluster) Nodes() []*Node {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]*Node(nil), c.nodes...)
}

// Node returns node i, counted from 0. It panics when there is no such node, as an index does.
func (c *Cluster) Node(i int) *Node { return c.Nodes()[i] }

// Pids returns the process ids of the nodes that run.
func (c *Cluster) Pids() []int {
	var pids []int
	for _, n := range c.Nodes() {
		if pid := n.Pid(); pid != 0 {
			pids = append(pids, pid)
		}
	}
	return pids
}

// Dir returns the directory with the data and the logs (nodeN/cassandra.log). After Stop it exists only if it was
// named in Options.
func (c *Cluster) Dir() string { return c.dir }

// Flush writes the memtables of a keyspace to disk on every node. It takes about two seconds a node.
func (c *Cluster) Flush(ctx context.Context, keyspace string) error {
	for _, n := range c.Nodes() {
		if _, err := n.NodeTool(ctx, "flush", keyspace); err != nil {
			return err
		}
	}
	return nil
}

// Stop stops every node, frees the ports and removes a temporary directory. Nodes with a directory of their own are
// stopped cleanly, so that a later start replays nothing; the others are killed. A second call does nothing.
func (c *Cluster) Stop() error {
	c.stop.Do(func() {
		nodes := c.Nodes()
		errs := make([]error, len(nodes))
		var wait sync.WaitGroup
		for i, n := range nodes {
			wait.Go(func() {
				if c.temporary {
					errs[i] = n.Kill()
				} else {
					errs[i] = n.Stop()
				}
			})
		}
		wait.Wait()
		for _, r := range c.reservations {
			r.release()
		}
		c.stopErr = errors.Join(errs...)
		if c.temporary && c.stopErr == nil {
			c.stopErr = os.RemoveAll(c.dir)
		}
		if c.unlock != nil {
			c.unlock()
		}
	})
	return c.stopErr
}

// lockDir keeps a second cluster out of the directory.
func (c *Cluster) lockDir(ctx context.Context) error {
	if err := os.MkdirAll(c.dir, 0o750); err != nil {
		return fmt.Errorf("cassandra: %w", err)
	}
	wait, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	unlock, err := lockFile(wait, filepath.Join(c.dir, lockName))
	if err != nil {
		return fmt.Errorf("cassandra: another cluster uses %s: %w", c.dir, err)
	}
	c.unlock = unlock
	return nil
}

// sweep removes temporary directories that clusters left behind when their program was killed. A directory in use is
// known by its lock.
func sweep(ctx context.Context, parent string) {
	now, cancel := context.WithCancel(ctx)
	cancel()                                                                        // never wait for a lock
	locks, _ := filepath.Glob(filepath.Join(parent, temporaryPrefix+"*", lockName)) // the pattern is well formed
	for _, lock := range locks {
		if unlock, err := lockFile(now, lock); err == nil {
			_ = os.RemoveAll(filepath.Dir(lock)) // what cannot be removed is somebody else's
			unlock()
		}
	}
}

// reservePorts gives every node its addresses. The nodes of a cluster must share the native and the storage port;
// each has a JMX port of its own.
func (c *Cluster) reservePorts() error {
	first, err := firstHost(c.opt)
	if err != nil {
		return err
	}
	hosts := []netip.Addr{first}
	for len(hosts) < c.opt.Nodes {
		hosts = append(hosts, hosts[len(hosts)-1].Next())
	}
	native, err := c.reserveShared(hosts, uint16(c.opt.Port))
	if err != nil {
		return fmt.Errorf("cassandra: no native protocol port (choose another, or end what holds it): %w", err)
	}
	if c.storagePort, err = c.reserveShared(hosts, 0); err != nil {
		return fmt.Errorf("cassandra: no storage port: %w", err)
	}
	for i, host := range hosts {
		if err := c.newNode(host, native, token(i, len(hosts))); err != nil {
			return err
		}
	}
	return nil
}

// centre is the data centre of the i-th node that there ever was, "" if nothing was said of it.
func (c *Cluster) centre(i int) string {
	if len(c.opt.DataCentres) == 0 {
		return ""
	}
	return c.opt.DataCentres[i%len(c.opt.DataCentres)]
}

// newNode makes a node whose native and storage ports are reserved.
func (c *Cluster) newNode(host netip.Addr, native uint16, token int64) error {
	jmx, err := c.reserveShared([]netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1})}, 0)
	if err != nil {
		return fmt.Errorf("cassandra: no JMX port: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.born++
	c.last = host
	c.nodes = append(c.nodes, &Node{
		cluster: c,
		token:   token,
		addr:    netip.AddrPortFrom(host, native),
		jmx:     jmx,
		dir:     filepath.Join(c.dir, fmt.Sprintf("node%d", c.born)),
		centre:  c.centre(c.born - 1),
	})
	return nil
}

// Ports of our choice lie below those that systems give to whoever asks for any (32768 on Linux): what another program gets at all addresses, or a
// connection at its own end, must not be what a node that is added later needs.
const lowestPort, highestPort = 20_000, 32_000

// reserveShared reserves one port at every host: the given one, or when that is 0 any that is free at all of them.
func (c *Cluster) reserveShared(hosts []netip.Addr, port uint16) (uint16, error) {
	const attempts = 50
	var failure error
	for range attempts {
		var held []*reservation
		got := port
		if got == 0 {
			got = lowestPort + uint16(rand.N(highestPort-lowestPort)) // #nosec G115 G404 -- below 65536; a port is no secret
		}
		failure = nil
		for _, host := range hosts {
			r, _, err := reserve(netip.AddrPortFrom(host, got))
			if err != nil {
				failure = err
				break
			}
			held = append(held, r)
		}
		if failure == nil {
			c.mu.Lock()
			c.reservations = append(c.reservations, held...)
			c.mu.Unlock()
			return got, nil
		}
		for _, r := range held {
			r.release()
		}
		if port != 0 {
			break
		}
	}
	return 0, failure
}
