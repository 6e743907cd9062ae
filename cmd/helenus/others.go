package main

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/internal/guard"
	"github.com/helenus-db/helenus/proxy/wire"
	"github.com/helenus-db/helenus/rewrite"
)

// memberConn says whose connection it is in the STARTUP that gocql sends, which lets nobody add an option.
type memberConn struct {
	net.Conn
	member string
	said   bool
}

// Write implements net.Conn. gocql writes whole frames, one at a time: OPTIONS, then STARTUP.
func (c *memberConn) Write(b []byte) (int, error) {
	if c.said || len(b) < wire.HeaderSize {
		return c.Conn.Write(b)
	}
	h := wire.ParseHeader(b)
	if h.Opcode != wire.OpStartup || len(b) != wire.HeaderSize+h.Length || len(b) < wire.HeaderSize+2 {
		return c.Conn.Write(b)
	}
	c.said = true
	body := b[wire.HeaderSize:]
	more := wire.AppendShort(nil, binary.BigEndian.Uint16(body)+1)
	more = append(more, body[2:]...)
	more = wire.AppendString(wire.AppendString(more, wire.MemberOption), c.member)
	if _, err := c.Conn.Write(wire.AppendFrame(nil, h, more)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// onlookers ask every node who is connected to it. It is in no table of the cluster: each node knows its own connections only.
type onlookers struct {
	nodes func() []string // host:port
	open  func(node string) (*gocql.Session, error)

	mu       sync.Mutex
	sessions map[string]*gocql.Session // by node
}

// look implements rewrite.Options.Others.
func (o *onlookers) look(ctx context.Context, own string) rewrite.Others {
	o.mu.Lock()
	defer o.mu.Unlock()
	nodes := o.nodes()
	if len(nodes) == 0 {
		return rewrite.Others{Unseen: "the nodes of the cluster are not known yet"}
	}
	o.forget(nodes)
	found := make([][]rewrite.Peer, len(nodes))
	unseen := make([]string, len(nodes))
	var wait sync.WaitGroup
	for i, node := range nodes {
		session, err := o.session(node)
		if err != nil {
			unseen[i] = fmt.Sprintf("node %s: %v", node, err)
			continue
		}
		guard.In(&wait, guard.Others, func() {
			err := guard.Do(guard.Others, func() (err error) { found[i], err = connected(ctx, session); return err })
			if err != nil {
				unseen[i] = fmt.Sprintf("node %s: system_views.clients can not be read (it needs Cassandra 4.1, and the right to SELECT it): %v", node, err)
			}
		})
	}
	wait.Wait()
	return sorted(slices.Concat(found...), own, slices.DeleteFunc(unseen, func(s string) bool { return s == "" }))
}

// sorted tells ours, other processes of helenus and applications apart, and counts connections of one kind together.
func sorted(all []rewrite.Peer, own string, unseen []string) (out rewrite.Others) {
	counts := map[rewrite.Peer]int{}
	for _, p := range all {
		if p.Owner == own {
			continue
		}
		if p.Owner != "" {
			p.User, p.Driver = "", "" // of whoever comes through it
		}
		counts[p]++
	}
	for p, n := range counts {
		p.Count = n
		if p.Owner != "" {
			out.Helenus = append(out.Helenus, p)
		} else {
			out.Clients = append(out.Clients, p)
		}
	}
	order := func(a, b rewrite.Peer) int { return cmp.Compare(a.String(), b.String()) }
	slices.SortFunc(out.Helenus, order)
	slices.SortFunc(out.Clients, order)
	out.Unseen = strings.Join(unseen, "; ")
	return out
}

// connected reads the connections of one node.
func connected(ctx context.Context, s *gocql.Session) (all []rewrite.Peer, err error) {
	iter := s.Query("SELECT address, username, driver_name, connection_stage, client_options FROM system_views.clients").WithContext(ctx).Iter()
	var address net.IP
	var user, driver, stage string
	var options map[string]string
	for iter.Scan(&address, &user, &driver, &stage, &options) {
		if strings.EqualFold(stage, "ready") { // before, it has said nothing yet
			all = append(all, rewrite.Peer{Owner: options[wire.MemberOption], Address: address.String(), User: user, Driver: driver})
		}
		address, user, driver, stage, options = nil, "", "", "", nil
	}
	return all, iter.Close()
}

func (o *onlookers) session(node string) (*gocql.Session, error) {
	if s := o.sessions[node]; s != nil && !s.Closed() {
		return s, nil
	}
	s, err := o.open(node)
	if err != nil {
		return nil, err
	}
	if o.sessions == nil {
		o.sessions = map[string]*gocql.Session{}
	}
	o.sessions[node] = s
	return s, nil
}

// forget closes the sessions with nodes that have left.
func (o *onlookers) forget(nodes []string) {
	for node, s := range o.sessions {
		if !slices.Contains(nodes, node) {
			s.Close()
			delete(o.sessions, node)
		}
	}
}

func (o *onlookers) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.forget(nil)
}
