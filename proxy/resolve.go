package proxy

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/helenus-db/helenus/proxy/recall"
	"github.com/helenus-db/helenus/proxy/wire"
)

// Drivers keep prepared ids across reconnects, so after a restart of the proxy an EXECUTE may name an id that this process
// never saw prepared; and another client may have prepared it past the proxy. Cassandra knows the texts
// (system.prepared_statements, package recall).
//
// While rules are in force (epoch above zero), what is not known has to be answered UNPREPARED (decision 2), which after a restart
// would be once per statement and connection, all at once. So all that the nodes hold is looked up when the control
// connection comes up, and the first clients wait for that, up to recallPatience.
//
// Before, an unknown id is forwarded and counted as unresolved, and its text is looked up in the background: each id once, a few at
// a time, a pause between. From then on it is counted as any other.
const (
	recallPatience = 5 * time.Second
	resolvePause   = time.Second
	maxAsked       = 1000 // ids that are being looked up, or were not found
	askAgain       = 10 * time.Minute
)

// resolver looks statements up that were prepared elsewhere. Its methods run on any goroutine, run on its own.
type resolver struct {
	server    *Server
	connected chan struct{} // holds a token when the control connection came up
	wanted    chan struct{} // holds a token when ids wait
	first     chan struct{} // closed when clients may be let in
	let       sync.Once

	mu    sync.Mutex
	asked map[string]inquiry
}

// inquiry is one id that is not known.
type inquiry struct {
	node string
	at   int64 // when it was looked up, 0 before
}

func (r *resolver) init(s *Server) {
	r.server, r.asked = s, make(map[string]inquiry)
	r.connected, r.wanted, r.first = make(chan struct{}, 1), make(chan struct{}, 1), make(chan struct{})
}

// letIn lets clients in.
func (r *resolver) letIn() { r.let.Do(func() { close(r.first) }) }

func (r *resolver) ruled() bool {
	w := r.server.options.Rewriter
	return w != nil && w.Epoch() > 0
}

func token(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// unresolved counts an id that nobody knows, and has its text looked up. It runs on the upward goroutine.
func (c *conn) unresolved(id []byte) {
	s := c.server
	s.stats.unresolved.Add(1)
	if s.options.Recorder == nil {
		return
	}
	r := &s.resolver
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.asked[string(id)]; ok {
		return
	}
	if len(r.asked) < maxAsked {
		r.asked[string(id)] = inquiry{node: c.back.RemoteAddr().String()}
	}
	token(r.wanted) // also if it is full: then room is made
}

// run looks up what is wanted until ctx ends.
func (r *resolver) run(ctx context.Context) {
	if !r.ruled() {
		r.letIn()
	}
	patience := time.AfterFunc(recallPatience, r.letIn)
	defer patience.Stop()
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.connected:
			if r.ruled() {
				r.recall(ctx)
			}
			r.letIn()
		case <-r.wanted:
			r.resolve(ctx)
			pause.Reset(resolvePause)
			select {
			case <-ctx.Done():
			case <-pause.C:
			}
		}
	}
}

func (r *resolver) options() recall.Options {
	o := &r.server.options
	return recall.Options{Username: o.Username, Password: o.Password, DriverName: "Helenus", Dial: r.server.dialer.Dial}
}

// nodes are those that clients may be led to.
func (r *resolver) nodes() []string {
	var list []string
	for _, n := range r.server.Nodes() {
		list = append(list, n.Target())
	}
	return list
}

// recall looks up all that the nodes hold.
func (r *resolver) recall(ctx context.Context) {
	for _, node := range r.nodes() {
		n := 0
		err := recall.All(ctx, r.options(), node, func(s recall.Statement) { n++; r.learn(s) })
		if err != nil && ctx.Err() == nil {
			r.server.log.Warn("a node's prepared statements were not all read: clients will be asked to prepare theirs again",
				"node", node, "read", n, "error", err)
			continue
		}
		r.server.log.Info("a node's prepared statements are known", "node", node, "statements", n)
	}
}

// learn keeps what Cassandra says of a statement, under its id and under the one that it is kept by.
func (r *resolver) learn(one recall.Statement) {
	p := &Prepared{Keyspace: one.Keyspace, Text: one.Text, Version: one.Version}
	b := wire.NewReader(one.Answer)
	if !p.Read(&b) {
		return
	}
	r.server.prepared.Put(p)
	if p.ID != one.ID {
		q := *p
		q.ID = one.ID
		r.server.prepared.Put(&q)
	}
	r.server.stats.resolved.Add(1)
}

// resolve looks up the ids that are asked for.
func (r *resolver) resolve(ctx context.Context) {
	now := max(r.server.now(), 1)
	wanted := make(map[string][]string)
	r.mu.Lock()
	for id, a := range r.asked {
		switch {
		case a.at == 0:
			wanted[a.node] = append(wanted[a.node], id)
			r.asked[id] = inquiry{a.node, now}
		case now-a.at > int64(askAgain):
			delete(r.asked, id)
		}
	}
	r.mu.Unlock()
	for node, ids := range wanted {
		slices.Sort(ids)
		err := recall.Some(ctx, r.options(), node, ids, func(s recall.Statement) {
			r.learn(s)
			r.mu.Lock()
			delete(r.asked, s.ID)
			r.mu.Unlock()
		})
		if err != nil && !errors.Is(err, context.Canceled) {
			r.server.log.Debug("prepared statements were not looked up", "node", node, "ids", len(ids), "error", err)
			r.mu.Lock()
			for _, id := range ids { // they are asked for again
				delete(r.asked, id)
			}
			r.mu.Unlock()
		}
	}
}
