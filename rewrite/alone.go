package rewrite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/helenus-db/helenus/rewrite/migrate"
)

// A look-up is true as long as every write of its base comes through this process. So before a change is taken on, and while there is
// one, we look who else is connected to the cluster (docs/decisions/035):
//
//	another helenus     with a state of its own does not know our changes: refused; found later, reads are turned back
//	an application      that does not come through a helenus may only read, or write elsewhere: a warning that names it
//	a table of another  owner's in the keyspace, where not everybody's connections can be seen: as another helenus
//
// Members of a fleet that share a state know of each other (members.go). Where each has a state of its own nothing is approved at all.

// Peer are connections to the cluster of one kind.
type Peer struct {
	Owner   string // of a helenus: its state's owner id; "" for an application
	Process string // of a helenus of our own state that is not one of ours: which process it is
	Address string // without port
	User    string
	Driver  string
	Count   int
}

// String is a peer as people are told of it.
func (p Peer) String() string {
	if p.Process != "" {
		return fmt.Sprintf("a helenus at %s (process %s, with a copy of this state, owner %s)", p.Address, p.Process, p.Owner)
	}
	if p.Owner != "" {
		return fmt.Sprintf("a helenus at %s (owner %s)", p.Address, p.Owner)
	}
	return fmt.Sprintf("user %s with driver %s from %s (%d connections)", orNone(p.User), orNone(p.Driver), p.Address, p.Count)
}

func orNone(s string) string {
	if s == "" {
		return "(none)"
	}
	return s
}

// Others are who else is connected to the cluster.
type Others struct {
	Helenus []Peer // processes of helenus with another state
	Clients []Peer // connections that do not come through a helenus
	Unseen  string // why there may be more, "" if there are not
}

// ErrNotAlone refuses a change because of who else may write to the cluster.
type ErrNotAlone struct {
	Reason string
	Stray  bool // it is a process of our own fleet that is not on its register: it will be, or will go
}

// Error implements error.
func (e *ErrNotAlone) Error() string { return e.Reason }

// errFleet is why a fleet takes nothing on.
var errFleet = &ErrNotAlone{Reason: "topology: fleet with a state of its own (state: sqlite): members are not told of each other's changes, so what is written through one would be missing in what another " +
	"answers. Have them share one (state: cassandra, see docs/fleet.md); `helenus state move` takes along what is known"}

// othersEvery is how often we look while there is a change, othersPatience how long a look may take.
const (
	othersEvery    = 5 * time.Second
	othersPatience = 10 * time.Second
)

// others counts, for the metrics.
type others struct {
	helenus, clients atomic.Int64
	own              atomic.Pointer[string] // the owner id that the state had when it was looked first
}

// Alone returns who else is connected, and an *ErrNotAlone if a change in a keyspace can not be right because of them; keyspace "" is
// any that there are changes in.
func (e *Engine) Alone(ctx context.Context, keyspace string) (Others, error) {
	if e.options.Fleet {
		return Others{}, errFleet
	}
	if e.options.Others == nil {
		return Others{}, nil
	}
	own, err := migrate.Owner(ctx, e.options.Store)
	if err != nil {
		return Others{}, err
	}
	looking, cancel := context.WithTimeout(ctx, othersPatience)
	defer cancel()
	found := e.options.Others(looking, own)
	e.others.helenus.Store(int64(len(found.Helenus)))
	e.others.clients.Store(int64(len(found.Clients)))
	strays := e.options.Members != nil && !slices.ContainsFunc(found.Helenus, func(p Peer) bool { return p.Owner != own })
	if len(found.Helenus) > 0 && strays {
		return found, &ErrNotAlone{Stray: true, Reason: fmt.Sprintf("%s is connected to this cluster and not on the register of the fleet: what is written through it may pass unseen. It registers by itself, or is to be stopped", join(found.Helenus))}
	}
	e.others.own.CompareAndSwap(nil, &own)
	if began := *e.others.own.Load(); began != own && slices.ContainsFunc(found.Helenus, func(p Peer) bool { return p.Owner == began }) {
		return found, &ErrNotAlone{Reason: fmt.Sprintf("the state was emptied, or another one was put in its place, while this process ran: its owner is %s, and was %s, which connections that stand say still. "+
			"Start all processes of helenus anew that work with it", own, began)}
	}
	if len(found.Helenus) > 0 {
		return found, &ErrNotAlone{Reason: fmt.Sprintf("%s is connected to this cluster and has a state of its own: what is written through it passes unseen here, so answers would be wrong. "+
			"Stop it, or send its applications through this one", join(found.Helenus))}
	}
	if found.Unseen == "" {
		return found, nil
	}
	if table, owner := e.foreign(own, keyspace); table != "" {
		return found, &ErrNotAlone{Reason: fmt.Sprintf("the table %s belongs to another helenus (owner %s), and it can not be seen whether that still runs (%s): what is written through it would pass unseen here. "+
			"Stop it and drop its tables, or let helenus read system_views.clients", table, owner, found.Unseen)}
	}
	return found, nil
}

// foreign finds a table that another owner made in a keyspace.
func (e *Engine) foreign(own, keyspace string) (table, owner string) {
	s := e.options.Schema()
	if s == nil {
		return "", ""
	}
	for _, k := range s.Keyspaces {
		if !e.concerns(k.Name, keyspace) {
			continue
		}
		for i := range k.Tables {
			if of := migrate.OwnerOf(k.Tables[i].Comment); of != "" && of != own {
				return k.Name + "." + k.Tables[i].Name, of
			}
		}
	}
	return "", ""
}

func join(peers []Peer) string {
	var all []string
	for _, p := range peers {
		all = append(all, p.String())
	}
	return strings.Join(all, ", ")
}

// warning is what whoever approves is told of others, "" if there is nothing to tell.
func (o *Others) warning() string {
	var parts []string
	if len(o.Clients) > 0 {
		parts = append(parts, "connected to Cassandra, but not through helenus: "+join(o.Clients)+"; whatever they write to the table is missing in answers until a sweep finds it")
	}
	if o.Unseen != "" {
		parts = append(parts, "it can not be seen who else is connected to Cassandra: "+o.Unseen)
	}
	return strings.Join(parts, "; ")
}

// mostTold is how many clients are remembered as told of.
const mostTold = 1000

// news tells whether there is anybody among the clients of whom nothing was told yet; how many connections they have, and that they come again, is none.
func (o *Others) news(told map[Peer]bool) (news bool) {
	if len(told) > mostTold {
		clear(told)
	}
	for _, p := range o.Clients {
		p.Count = 0
		news = news || !told[p]
		told[p] = true
	}
	return news
}

// observe looks who else is connected as long as there are changes, and turns their reads back if there is another helenus.
func (e *Engine) observe(ctx context.Context) {
	tick := time.NewTicker(othersEvery)
	defer tick.Stop()
	told, clients := "", map[Peer]bool{}
	for {
		if len(e.rules.Load().active) > 0 && (e.options.Members == nil || e.options.Members.Leads()) {
			found, err := e.Alone(ctx, "")
			news, now := found.news(clients), found.warning()
			if err != nil && ctx.Err() == nil {
				news, now, told = err.Error() != told, err.Error(), err.Error()
				switch alone := (*ErrNotAlone)(nil); {
				case !errors.As(err, &alone): // the state could not be read: nothing was found, and it is looked again
				case alone.Stray:
					if err := e.ReverifyAll(ctx, alone.Reason); err != nil {
						e.log.Error("that changes are to be verified could not be saved", "err", err)
					}
				default:
					e.suspendFor(ctx, err)
				}
			}
			if err == nil {
				news, told = news || found.Unseen != told && found.Unseen != "", found.Unseen
			}
			if news && ctx.Err() == nil {
				e.log.Warn("others may write what is not seen here", "who", now)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// suspendFor suspends all changes.
func (e *Engine) suspendFor(ctx context.Context, why error) {
	for _, a := range e.rules.Load().active {
		a.serve.Store(false)
		a.shadow.Store(false)
	}
	for _, m := range e.manager.Migrations() {
		if err := e.manager.Suspend(ctx, m.ID, why.Error()+"; then `helenus resume "+m.ID+"`", false); err != nil {
			e.log.Error("a suspension could not be saved", "change_id", m.ID, "err", err)
		}
	}
}
