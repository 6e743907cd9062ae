package main

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/internal/guard"
	"github.com/helenus-db/helenus/internal/sleep"
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

	// ours says which processes belong to our state; nil: this one alone, which says self.
	ours func(process string) bool
	self string
	// grace is for how long a process of our own state may be connected that is none of ours: one that joins, or has just handed over.
	grace time.Duration
	// role is the one that members log in as; "": none. A member that starts does not know yet whose it is, and can not say so.
	role string

	mu       sync.Mutex
	sessions map[string]*gocql.Session // by node
	strays   map[string]time.Time      // when they were first seen, by process
}

// look implements rewrite.Options.Others.
func (o *onlookers) look(ctx context.Context, own string) rewrite.Others {
	all, unseen := o.everybody(ctx)
	found := sorted(all, own, o.mine, unseen)
	replaced := o.ours == nil && slices.ContainsFunc(found.Helenus, func(p rewrite.Peer) bool { return p.Owner == own })
	starting := o.ours != nil && o.role != "" && slices.ContainsFunc(found.Clients, func(p rewrite.Peer) bool { return p.User == o.role })
	if !replaced && !starting || sleep.For(ctx, o.grace) != nil {
		return found
	}
	all, unseen = o.everybody(ctx) // the process that this one took over from may have been listed still, and a member that started says by now who it is
	return sorted(all, own, o.mine, unseen)
}

// mine reports whether a process of our own state is one of ours, or may become one.
func (o *onlookers) mine(process string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case process == "" || process == o.self:
		return true
	case o.ours == nil:
		return false
	case o.ours(process):
		delete(o.strays, process)
		return true
	}
	if o.strays == nil {
		o.strays = map[string]time.Time{}
	}
	if o.strays[process].IsZero() {
		o.strays[process] = time.Now()
	}
	return time.Since(o.strays[process]) < o.grace
}

// processes are those of our state that any node lists connections of; an error: not all nodes could be asked.
func (o *onlookers) processes(ctx context.Context) (map[string]bool, error) {
	all, unseen := o.everybody(ctx)
	if len(unseen) > 0 {
		return nil, errors.New(strings.Join(unseen, "; "))
	}
	found := map[string]bool{}
	for _, p := range all {
		if p.Process != "" {
			found[p.Process] = true
		}
	}
	return found, nil
}

// everybody are all connections that the nodes list, and why there may be more.
func (o *onlookers) everybody(ctx context.Context) (all []rewrite.Peer, problems []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	nodes := o.nodes()
	if len(nodes) == 0 {
		return nil, []string{"the nodes of the cluster are not known yet"}
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
	for i, node := range nodes {
		if s := o.sessions[node]; s != nil && unseen[i] != "" { // one that has lost its only node does not find it again by itself
			s.Close()
			delete(o.sessions, node)
		}
	}
	return slices.Concat(found...), slices.DeleteFunc(unseen, func(s string) bool { return s == "" })
}

// visitor begins what `helenus check` says in place of an owner: nothing is written through it, so it is in nobody's way.
const visitor = "check "

// sorted tells ours, other processes of helenus and applications apart, and counts connections of one kind together.
func sorted(all []rewrite.Peer, own string, mine func(process string) bool, unseen []string) (out rewrite.Others) {
	counts := map[rewrite.Peer]int{}
	for _, p := range all {
		if p.Owner == own && mine(p.Process) || strings.HasPrefix(p.Owner, visitor) {
			continue
		}
		if p.Owner != own {
			p.Process = ""
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
			owner, process, _ := strings.Cut(options[wire.MemberOption], "/")
			all = append(all, rewrite.Peer{Owner: owner, Process: process, Address: address.String(), User: user, Driver: driver})
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
