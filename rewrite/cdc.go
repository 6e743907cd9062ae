package rewrite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/internal/guard"
	"github.com/helenus-db/helenus/rewrite/kind"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// Writes that go around Helenus leave no entry. Where an agent reads the commit log of each node (helenus cdc-agent), it tells of the rows that were
// written, and they are compared with the entries as verification compares those that differ (docs/decisions/059):
//
//	an entry is there   we wrote it, or somebody wrote the value that it has: nothing
//	there is none       it was written around us: repaired, counted, and noted in the change's history
//
// It is a matter of the base as it is now, so rows may be told of twice, late, and by every replica. Telling returns when all are compared: an agent
// that did not hear so tells again.

// CDCTable is a table whose rows an agent may meet. Those of a keyspace with a watched table are all told of: one mutation may be of several.
type CDCTable struct {
	Keyspace string          `json:"keyspace"`
	Name     string          `json:"name"`
	ID       string          `json:"id"`
	Columns  []schema.Column `json:"columns"`         // those of the partition and of the clustering key in their order
	Watch    []string        `json:"watch,omitempty"` // rows are to be told of in which one of these columns was written
}

// CDCRow is a row that was written, or, with the partition key alone, rows of a partition.
type CDCRow struct {
	Keyspace string   `json:"keyspace"`
	Table    string   `json:"table"`
	ID       string   `json:"id"`  // of the table
	Key      [][]byte `json:"key"` // partition key, and clustering key, as Cassandra writes values
}

// CDCReport is what an agent tells.
type CDCReport struct {
	Node   string   `json:"node"` // address of its node, as clients reach it
	Rows   []CDCRow `json:"rows,omitempty"`
	Unread int64    `json:"unread,omitempty"` // mutations, or parts of a segment, that could not be read since the agent told last
	Behind int64    `json:"behind_bytes"`     // of the commit log that it has yet to read
}

// CDCFindings are what became of a report.
type CDCFindings struct {
	Rechecked int64 `json:"rechecked"` // rows that were compared with entries, once for each change
	Around    int64 `json:"around"`    // of which had no entry: they were written around Helenus, and are repaired
}

// MaxCDCRows is how many rows a report may have.
const MaxCDCRows = 1000

// recheckedAtOnce is how many rows of a report are compared at a time.
const recheckedAtOnce = 16

// agentAlive is how long after its last report an agent is taken to be at work; maxAgents how many are remembered.
const (
	agentAlive = time.Minute
	maxAgents  = 1000
)

// Errors of what agents ask and tell.
var (
	ErrCDCReport = errors.New("the report can not be taken")
	ErrNoSchema  = errors.New("the schema is not known yet")
)

// agents are those that have told.
type agents struct {
	limit *rate.Limiter // of rows compared

	mu    sync.Mutex
	nodes map[string]*agent
}

type agent struct {
	last           time.Time
	behind, unread int64
}

// filled reports whether rows are compared in a state: the table is filled.
func filled(s migrate.State) bool {
	return s == migrate.Verify || s == migrate.Shadow || s == migrate.Serving || s == migrate.Suspended
}

// CDCTables are the tables that agents have to know, now.
func (e *Engine) CDCTables() ([]CDCTable, error) {
	s := e.options.Schema()
	if s == nil {
		return nil, ErrNoSchema
	}
	watch := map[[2]string][]string{}
	keyspaces := map[string]bool{}
	for _, a := range e.rules.Load().active {
		if r, ok := a.derived.(kind.Rechecker); ok && a.write.Load() {
			base := [2]string{a.about.Keyspace, a.about.Base}
			watch[base] = append(watch[base], r.Watched()...)
			keyspaces[a.about.Keyspace] = true
		}
	}
	tables := []CDCTable{}
	for _, k := range s.Keyspaces {
		if !keyspaces[k.Name] {
			continue
		}
		for i := range k.Tables {
			t := &k.Tables[i]
			columns := watch[[2]string{k.Name, t.Name}]
			slices.Sort(columns)
			tables = append(tables, CDCTable{k.Name, t.Name, t.ID, t.Columns, slices.Compact(columns)})
		}
	}
	return tables, nil
}

// Told compares the rows that an agent tells of with the entries that they need.
func (e *Engine) Told(ctx context.Context, report *CDCReport) (found CDCFindings, err error) {
	switch {
	case net.ParseIP(report.Node) == nil:
		return found, fmt.Errorf("%w: node %q is no IP address", ErrCDCReport, report.Node)
	case report.Unread < 0 || report.Behind < 0:
		return found, fmt.Errorf("%w: it has a number below 0", ErrCDCReport)
	case len(report.Rows) > MaxCDCRows:
		return found, fmt.Errorf("%w: it has %d rows, and may have %d", ErrCDCReport, len(report.Rows), MaxCDCRows)
	}
	states := map[string]migrate.State{}
	for _, m := range e.manager.Migrations() {
		states[m.ID] = m.State
	}
	for _, a := range e.rules.Load().active {
		if r, ok := a.derived.(kind.Rechecker); ok && a.write.Load() && filled(states[a.id]) {
			if err := e.recheck(ctx, a, r, report, &found); err != nil {
				return found, err
			}
		}
	}
	e.heard(report)
	return found, nil
}

// recheck compares the rows of a report that are of one change.
func (e *Engine) recheck(ctx context.Context, a *active, r kind.Rechecker, report *CDCReport, found *CDCFindings) error {
	base := e.options.Schema().Table(a.about.Keyspace, a.about.Base)
	if base == nil {
		return nil
	}
	partition, whole := len(base.PartitionKey()), len(base.PrimaryKey())
	var keys [][][]byte
	for _, row := range report.Rows {
		if row.Keyspace != base.Keyspace || row.Table != base.Name || row.ID != base.ID {
			continue
		}
		if n := len(row.Key); n != whole && n != partition || slices.ContainsFunc(row.Key, func(b []byte) bool { return b == nil }) {
			return fmt.Errorf("%w: a key of %s.%s has %d values, where it has %d, or %d of a partition, none of them null", ErrCDCReport, row.Keyspace, row.Table, n, whole, partition)
		}
		keys = append(keys, row.Key)
	}
	var (
		mu    sync.Mutex
		all   kind.Findings
		first error
	)
	guard.Each(guard.Verification, recheckedAtOnce, len(keys), func(i int) {
		one, err := r.Recheck(ctx, keys[i], e.agents.limit.Wait)
		a.counts.rechecked.Add(one.Rows)
		a.counts.around.Add(one.Missing)
		mu.Lock()
		defer mu.Unlock()
		found.Rechecked += one.Rows
		found.Around += one.Missing
		all.Missing += one.Missing
		all.Sample = append(all.Sample, one.Sample...)
		if first == nil {
			first = err
		}
	})
	if all.Missing > 0 {
		slices.Sort(all.Sample)
		e.around(ctx, a, report.Node, &all)
	}
	if first != nil {
		return fmt.Errorf("compare rows that CDC told of: %w", first)
	}
	return nil
}

// aroundEvery is how often it is said of a change that rows are written around us: its metric has every one.
const aroundEvery = 10 * time.Minute

// around says that rows were written around us.
func (e *Engine) around(ctx context.Context, a *active, node string, found *kind.Findings) {
	now, last := e.options.Uptime(), time.Duration(a.counts.aroundSaid.Load())
	if last != 0 && now-last < aroundEvery || !a.counts.aroundSaid.CompareAndSwap(int64(last), int64(max(now, 1))) {
		return
	}
	text := fmt.Sprintf("%d rows were written around Helenus, as the CDC agent of %s tells; they have their entries now (first: %s). Reads missed them until then: "+
		"who writes so is to come through Helenus. The metric helenus_change_written_around_total counts on", found.Missing, node, strings.Join(found.Sample[:min(len(found.Sample), 3)], "; "))
	e.log.Warn("rows are written around Helenus", "change_id", a.id, "node", node, "rows", found.Missing)
	if _, err := e.manager.Note(context.WithoutCancel(ctx), a.id, text); err != nil {
		e.log.Warn("a note could not be stored", "change_id", a.id, "err", err)
	}
}

// heard notes that an agent is at work. Of more than can be remembered those that were silent longest are forgotten.
func (e *Engine) heard(report *CDCReport) {
	g := &e.agents
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.nodes == nil {
		g.nodes = map[string]*agent{}
	}
	node := net.ParseIP(report.Node).String()
	if g.nodes[node] == nil {
		for len(g.nodes) >= maxAgents {
			oldest := ""
			for name, a := range g.nodes {
				if oldest == "" || cmp.Or(a.last.Compare(g.nodes[oldest].last), cmp.Compare(name, oldest)) < 0 {
					oldest = name
				}
			}
			delete(g.nodes, oldest)
		}
		g.nodes[node] = &agent{}
	}
	a := g.nodes[node]
	a.last, a.behind = e.options.Now(), report.Behind
	a.unread += report.Unread
	if report.Unread > 0 {
		e.log.Warn("a CDC agent could not read all that was written; `helenus verify` finds what that was", "node", node, "unread", report.Unread)
	}
}

// covered reports whether an agent is at work on every node, so that what is written around us is told of.
func (e *Engine) covered() bool {
	if e.options.Nodes == nil {
		return false
	}
	nodes := e.options.Nodes()
	g := &e.agents
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, address := range nodes {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			host = address
		}
		ip := net.ParseIP(host)
		if ip == nil {
			return false
		}
		a := g.nodes[ip.String()]
		if a == nil || e.options.Now().Sub(a.last) > agentAlive {
			return false
		}
	}
	return len(nodes) > 0
}

// agents tells of the agents in metrics.
func (c sink) agents(g *agents) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for node, a := range g.nodes {
		c.gauge(descAgent, seconds(a.last), node)
		c.gauge(descAgentBehind, float64(a.behind), node)
		c.total(descAgentUnread, a.unread, node)
	}
}
