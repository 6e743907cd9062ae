package cassandra

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"slices"
	"time"
)

// Add lets one more node join the cluster, at an address that no node of it ever had, and returns it when it answers
// statements and every node sees the others. It takes the middle of the widest range of the ring, and streams what is
// there: about 15 s. A node that fails to start is left in the cluster, stopped. Not for clusters with vnodes that
// nobody waits for: with num_tokens above 1 Cassandra chooses the tokens.
func (c *Cluster) Add(ctx context.Context) (*Node, error) {
	nodes := c.Nodes()
	if len(nodes) >= maxNodes {
		return nil, fmt.Errorf("cassandra: a cluster has at most %d nodes", maxNodes)
	}
	c.mu.Lock()
	host, port := c.last.Next(), nodes[0].addr.Port()
	c.mu.Unlock()
	if _, err := c.reserveShared([]netip.Addr{host}, port); err != nil {
		return nil, fmt.Errorf("cassandra: no native protocol port for one more node: %w", err)
	}
	if _, err := c.reserveShared([]netip.Addr{host}, c.storagePort); err != nil {
		return nil, fmt.Errorf("cassandra: no storage port for one more node: %w", err)
	}
	if err := c.newNode(host, port, between(nodes)); err != nil {
		return nil, err
	}
	nodes = c.Nodes()
	n := nodes[len(nodes)-1]
	n.joins = true
	return n, n.Start(ctx)
}

// between returns the token in the middle of the widest range between those of the nodes.
func between(nodes []*Node) int64 {
	var tokens []int64
	for _, n := range nodes {
		tokens = append(tokens, n.token)
	}
	slices.Sort(tokens)
	var best uint64
	var middle int64
	for i, t := range tokens {
		next := tokens[(i+1)%len(tokens)]
		width := uint64(next) - uint64(t) // around the ring
		if len(tokens) == 1 {
			width = math.MaxUint64
		}
		if width > best {
			best, middle = width, int64(uint64(t)+width/2)
		}
	}
	return middle
}

// Decommission lets the node leave the cluster: it streams what it has to the others and ends. When Decommission
// returns, none of the others lists it any more, and the cluster does not know it any more. The first node, which the
// others find each other by, can not leave.
func (n *Node) Decommission(ctx context.Context) error {
	c := n.cluster
	if c.Node(0) == n {
		return errors.New("cassandra: the first node can not leave: the others find each other by it")
	}
	// force: system keyspaces want three replicas, which a small cluster does not have anyway.
	if _, err := n.NodeTool(ctx, "decommission", "--force"); err != nil {
		return err
	}
	if err := n.Stop(); err != nil {
		return err
	}
	c.mu.Lock()
	c.nodes = slices.DeleteFunc(c.nodes, func(m *Node) bool { return m == n })
	c.mu.Unlock()
	wait, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for _, m := range c.Nodes() {
		if m.Pid() == 0 {
			continue
		}
		if err := m.poll(wait, func(ctx context.Context) error { return m.forgot(ctx, n) }); err != nil {
			return fmt.Errorf("cassandra: the node at %s was decommissioned: %w", n.addr, err)
		}
	}
	return nil
}

// forgot succeeds when the node does not list another any more.
func (n *Node) forgot(ctx context.Context, other *Node) error {
	session, err := n.connect()
	if err != nil {
		return err
	}
	defer session.Close()
	var listed int
	if err := session.Query("SELECT count(*) FROM system.peers WHERE peer = ?", other.addr.Addr().String()).WithContext(ctx).Scan(&listed); err != nil {
		return err
	}
	if listed > 0 {
		return fmt.Errorf("node %s still lists %s", n.addr, other.addr)
	}
	return nil
}
