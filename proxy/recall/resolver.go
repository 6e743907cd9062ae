package recall

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/helenus-db/helenus/proxy/statement"
	"github.com/helenus-db/helenus/proxy/wire"
)

// Drivers keep prepared ids across reconnects, so after a restart of the proxy an EXECUTE may name an id that this process
// never saw prepared; and another client may have prepared it past the proxy. Cassandra knows the texts
// (system.prepared_statements).
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

// Sources are what a Resolver needs of the proxy around it.
type Sources struct {
	Options Options
	Nodes   func() []string           // that clients may be led to, host:port
	Ruled   func() bool               // whether rules are in force
	Learn   func(*statement.Prepared) // is told what was looked up
	Now     func() int64              // nanoseconds
	Log     *slog.Logger
}

// Resolver looks statements up that were prepared elsewhere. Its methods are called from any goroutine.
type Resolver struct {
	Sources
	connected chan struct{} // holds a token when the control connection came up
	wanted    chan struct{} // holds a token when ids wait
	first     chan struct{} // closed when clients may be let in
	let       sync.Once

	resolved atomic.Uint64

	mu    sync.Mutex
	asked map[string]inquiry
}

// inquiry is one id that is not known.
type inquiry struct {
	node string
	at   int64 // when it was looked up, 0 before
}

// NewResolver returns a Resolver; Run sets it to work.
func NewResolver(s Sources) *Resolver {
	return &Resolver{Sources: s, asked: make(map[string]inquiry),
		connected: make(chan struct{}, 1), wanted: make(chan struct{}, 1), first: make(chan struct{})}
}

// First is closed when clients may be let in.
func (r *Resolver) First() <-chan struct{} { return r.first }

// Connected says that the control connection came up.
func (r *Resolver) Connected() { token(r.connected) }

// letIn lets clients in.
func (r *Resolver) letIn() { r.let.Do(func() { close(r.first) }) }

func token(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Want has the text of an id looked up that a client of a node executes.
func (r *Resolver) Want(id []byte, node string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.asked[string(id)]; ok {
		return
	}
	if len(r.asked) < maxAsked {
		r.asked[string(id)] = inquiry{node: node}
	}
	token(r.wanted) // also if it is full: then room is made
}

// Run looks up what is wanted until ctx ends.
func (r *Resolver) Run(ctx context.Context) {
	if !r.Ruled() {
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
			if r.Ruled() {
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

// Resolved is how many statements were looked up.
func (r *Resolver) Resolved() uint64 { return r.resolved.Load() }

// recall looks up all that the nodes hold.
func (r *Resolver) recall(ctx context.Context) {
	for _, node := range r.Nodes() {
		n := 0
		err := All(ctx, r.Options, node, func(s Statement) { n++; r.learn(s) })
		if err != nil && ctx.Err() == nil {
			r.Log.Warn("a node's prepared statements were not all read: clients will be asked to prepare theirs again",
				"node", node, "read", n, "error", err)
			continue
		}
		r.Log.Info("a node's prepared statements are known", "node", node, "statements", n)
	}
}

// learn keeps what Cassandra says of a statement, under its id and under the one that it is kept by.
func (r *Resolver) learn(one Statement) {
	p := &statement.Prepared{Keyspace: one.Keyspace, Text: one.Text, Version: one.Version}
	b := wire.NewReader(one.Answer)
	if !p.Read(&b) {
		return
	}
	r.Learn(p)
	if p.ID != one.ID {
		q := *p
		q.ID = one.ID
		r.Learn(&q)
	}
	r.resolved.Add(1)
}

// resolve looks up the ids that are asked for.
func (r *Resolver) resolve(ctx context.Context) {
	now := max(r.Now(), 1)
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
		err := Some(ctx, r.Options, node, ids, func(s Statement) {
			r.learn(s)
			r.mu.Lock()
			delete(r.asked, s.ID)
			r.mu.Unlock()
		})
		if err != nil && !errors.Is(err, context.Canceled) {
			r.Log.Debug("prepared statements were not looked up", "node", node, "ids", len(ids), "error", err)
			r.mu.Lock()
			for _, id := range ids { // they are asked for again
				delete(r.asked, id)
			}
			r.mu.Unlock()
		}
	}
}
