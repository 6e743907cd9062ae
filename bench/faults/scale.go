package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	rewriting "github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/capture/store"
	"github.com/helenus-db/helenus/internal/change"
	"github.com/helenus-db/helenus/internal/fleet"
	"github.com/helenus-db/helenus/rewrite"
	"github.com/helenus-db/helenus/rewrite/exec/exectest"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// What a large fleet asks of its state: real engines and members, in simulated time, before a state in memory that counts. A member's processor time is what the process took,
// divided by its members, and what a driver would have taken for the requests and rows that were counted, by what they take one (docs/results/README.md: a request of ours).
const (
	perRequest = 75 * time.Microsecond // of gocql and the kernel, measured
	perRow     = time.Microsecond      // scanned and copied
	perByte    = 2 * time.Nanosecond
)

// unheardKinds do not move the epoch (cmd/helenus has them so).
var unheardKinds = []string{migrate.KindBackfill, "gain", "sightings", "proposal"}

// crowd is a large fleet.
type crowd struct {
	members, tables, changes int
	db                       *exectest.Memory
	store                    *exectest.Store
	schema                   *schema.Schema
	all                      []*crowded

	mu    sync.Mutex
	epoch int64
	moved map[int64]time.Time // when each epoch was
}

// crowded is a member of it, and what it asked of the state.
type crowded struct {
	c      *crowd
	member *fleet.Member
	engine *rewrite.Engine

	mu    sync.Mutex
	total traffic
}

// traffic is what was asked of the state, and came of it.
type traffic struct {
	Requests int
	Rows     int
	Bytes    int
	Kinds    map[string]int // requests by what they asked
	Filling  int            // requests for checkpoints of filling: the work of a change, not of a fleet
}

func (t traffic) since(before traffic) traffic {
	out := traffic{t.Requests - before.Requests, t.Rows - before.Rows, t.Bytes - before.Bytes, map[string]int{}, t.Filling - before.Filling}
	for k, n := range t.Kinds {
		if n -= before.Kinds[k]; n > 0 {
			out.Kinds[k] = n
		}
	}
	return out
}

// cost is what a driver takes for it.
func (t traffic) cost() time.Duration {
	return time.Duration(t.Requests)*perRequest + time.Duration(t.Rows)*perRow + time.Duration(t.Bytes)*perByte
}

func (m *crowded) asked() traffic {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.total.since(traffic{})
}

// count notes a request.
func (m *crowded) count(what string, rows, bytes int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.total.Kinds == nil {
		m.total.Kinds = map[string]int{}
	}
	m.total.Requests++
	m.total.Rows += rows
	m.total.Bytes += bytes
	m.total.Kinds[what]++
	if strings.HasSuffix(what, migrate.KindBackfill) {
		m.total.Filling++
	}
}

// Barrier implements migrate.Traffic: nothing is under way.
func (*crowded) Barrier(ctx context.Context) error { return ctx.Err() }

// tableOf is the n-th table of the application, and the change over it.
func tableOf(n int) (schema.Table, rewriting.Rewrite) {
	t := stays()
	t.Name, t.ID = fmt.Sprintf("stays%05d", n), fmt.Sprint(n)
	print, text, _, err := cql.FingerprintText(strings.Replace(askText, "hotel.stays", "hotel."+t.Name, 1), "")
	if err != nil {
		panic(err) // it is a constant
	}
	return t, rewriting.Rewrite{Keyspace: "hotel", Base: t.Name, Column: "guest", Table: t.Name + "_by_guest", Statements: []string{print.String()}, Texts: []string{text}, SchemaDigest: t.Digest()}
}

func newCrowd(members, tables, changes int) *crowd {
	c := &crowd{members: members, tables: tables, changes: changes, db: exectest.New(), store: &exectest.Store{}, moved: map[int64]time.Time{}}
	whole := exectest.New()
	for n := range tables {
		t, _ := tableOf(n)
		whole.Add(t)
		if n < changes {
			c.db.Add(t)
			for row := range 4 {
				o := operation{act: insert, row: row, guest: 1}
				text, values := o.statement()
				if err := c.db.Write(strings.Replace(text, "hotel.stays", "hotel."+t.Name, 1), values, rowsAtOne); err != nil {
					panic(err) // the statement is a constant
				}
			}
		}
	}
	c.schema = whole.Schema()
	return c
}

// join starts one more member.
func (c *crowd) join(ctx context.Context, wait *sync.WaitGroup) error {
	m := &crowded{c: c}
	link := &countedState{c.store, m}
	book := change.Open(link)
	m.member = fleet.New(fleet.Options{Store: link, ID: fmt.Sprintf("%012d", len(c.all)), Address: fmt.Sprintf("10.0.%d.%d:9042", len(c.all)/250, len(c.all)%250), API: "http://10.0.0.1:9180", Version: "1.0.0", Form: 1, Truth: fleet.Truth{
		Follow: []func(context.Context) error{book.Sync, func(ctx context.Context) error { return m.engine.Follow(ctx) }},
		Rules:  func() uint64 { return m.engine.Rules() }, Barrier: func(ctx context.Context) error { return m.engine.Barrier(ctx) }, Withholding: func() bool { return m.engine.Withholding() },
		Blocked: func() string { return m.engine.Unfollowed() }, Reverify: func(ctx context.Context, why string) error { return m.engine.ReverifyAll(ctx, why) },
		Connected: func(context.Context) (map[string]bool, error) { return nil, errors.New("nobody is looked for") },
	}})
	settings, kinds := soon()
	settings.Ranges = 16 // each is two transactions: see docs/scale.md
	var err error
	m.engine, err = rewrite.New(rewrite.Options{Session: c.db, Store: link, Changes: book, Traffic: m, Schema: func() *schema.Schema { return c.schema }, Migrate: settings, Every: 1 << 60, Kinds: kinds, Members: m.member})
	if err != nil {
		return err
	}
	if err := m.engine.Restore(ctx); err != nil {
		return err
	}
	if _, err := m.member.Join(ctx); err != nil {
		return err
	}
	c.all = append(c.all, m)
	wait.Go(func() { m.member.Run(ctx) })
	wait.Go(func() { m.member.Reap(ctx) })
	wait.Go(func() {
		m.engine.Run(ctx)
		m.engine.Close(ctx)
	})
	return nil
}

// period is what was seen in some time.
type period struct {
	Name     string  `json:"name"`
	Seconds  float64 `json:"simulated_seconds"`
	Process  float64 `json:"process_share"`  // of a core, a member: what the process took for all of them
	Follower cost    `json:"follower"`       // the mean
	Leader   cost    `json:"leader"`         // as far as it asks more
	Agreed   float64 `json:"agreed_seconds"` // the longest until all had acknowledged an epoch
	Epochs   int64   `json:"epochs"`
}

// cost is what one member asks of the state in a second, and what that takes, as a share of a core.
type cost struct {
	Requests float64            `json:"requests"`
	Rows     float64            `json:"rows"`
	Bytes    float64            `json:"bytes"`
	Share    float64            `json:"share"`
	Filling  float64            `json:"filling_share"` // of which for checkpoints of filling
	Kinds    map[string]float64 `json:"kinds"`
}

func costOf(t traffic, seconds float64) cost {
	c := cost{float64(t.Requests) / seconds, float64(t.Rows) / seconds, float64(t.Bytes) / seconds, t.cost().Seconds() / seconds, float64(t.Filling) * perRequest.Seconds() / seconds, map[string]float64{}}
	for k, n := range t.Kinds {
		c.Kinds[k] = float64(n) / seconds
	}
	return c
}

func processorTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// during measures what happens while do does.
func (c *crowd) during(name string, do func()) period {
	before, began, used := make([]traffic, len(c.all)), time.Now(), processorTime()
	for i, m := range c.all {
		before[i] = m.asked()
	}
	c.mu.Lock()
	first := c.epoch
	c.mu.Unlock()
	over := make(chan struct{})
	agreed := make(chan time.Duration)
	go func() { agreed <- c.watch(first, over) }()
	do()
	seconds := time.Since(began).Seconds()
	p := period{Name: name, Seconds: seconds, Process: (processorTime() - used).Seconds() / seconds / float64(len(c.all))}
	followers := 0
	var sum traffic
	for i, m := range c.all {
		t := m.asked().since(before[i])
		if m.member.Leads() {
			p.Leader = costOf(t, seconds)
			continue
		}
		followers++
		sum.Requests, sum.Rows, sum.Bytes, sum.Filling = sum.Requests+t.Requests, sum.Rows+t.Rows, sum.Bytes+t.Bytes, sum.Filling+t.Filling
		if sum.Kinds == nil {
			sum.Kinds = map[string]int{}
		}
		for k, n := range t.Kinds {
			sum.Kinds[k] += n
		}
	}
	p.Follower = costOf(sum, seconds*float64(max(followers, 1)))
	c.mu.Lock()
	p.Epochs = c.epoch - first
	c.mu.Unlock()
	close(over)
	p.Agreed = (<-agreed).Seconds()
	return p
}

// watch returns the longest that an epoch took until all members had acknowledged it, of those after the first; the last of them is waited for.
func (c *crowd) watch(known int64, over <-chan struct{}) (longest time.Duration) {
	for ending := false; ; {
		beats, _ := c.store.Beats(context.Background())
		least := int64(1 << 62)
		for _, raw := range beats {
			var b fleet.Beat
			if json.Unmarshal(raw, &b) == nil {
				least = min(least, b.Epoch)
			}
		}
		c.mu.Lock()
		for ; known < min(least, c.epoch); known++ {
			longest = max(longest, time.Since(c.moved[known+1]))
		}
		done := known == c.epoch
		c.mu.Unlock()
		if ending && done {
			return longest
		}
		select {
		case <-over:
			ending = true
			time.Sleep(100 * time.Millisecond)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// live runs a crowd: it stands by, changes are approved and come to serve, it stands by.
func (c *crowd) live(say func(string, ...any)) (periods []period, err error) {
	ctx, cancel := context.WithCancel(context.Background())
	var wait sync.WaitGroup
	defer func() {
		cancel()
		wait.Wait()
	}()
	for range c.members {
		if err := c.join(ctx, &wait); err != nil {
			return nil, err
		}
	}
	time.Sleep(20 * time.Second)
	for !slices.ContainsFunc(c.all, func(m *crowded) bool { return m.member.Leads() }) {
		time.Sleep(time.Second)
	}
	say("%d members have joined", c.members)
	periods = append(periods, c.during("nothing is done", func() { time.Sleep(20 * time.Second) }))
	serving := 0
	periods = append(periods, c.during(fmt.Sprintf("%d changes go up", c.changes), func() {
		for n := range c.changes {
			_, advice := tableOf(n)
			if _, bad := c.all[(n*7)%len(c.all)].engine.Approve(ctx, fmt.Sprintf("r-%03d", n), advice, "ann"); bad != nil {
				err = bad
				return
			}
			time.Sleep(500 * time.Millisecond)
		}
		for began := time.Now(); serving < c.changes && time.Since(began) < 10*time.Minute; time.Sleep(time.Second) {
			serving = 0
			for _, m := range c.all[0].engine.Migrations() {
				if m.State == migrate.Serving {
					serving++
				}
			}
		}
	}))
	if err == nil && serving < c.changes {
		err = fmt.Errorf("%d of %d changes serve after ten minutes", serving, c.changes)
	}
	if err != nil {
		return periods, err
	}
	say("%d changes serve after %.0f s", serving, periods[len(periods)-1].Seconds)
	return append(periods, c.during(fmt.Sprintf("%d changes serve", c.changes), func() { time.Sleep(20 * time.Second) })), nil
}

// simulateCrowd measures a crowd in a bubble.
func simulateCrowd(t *testing.T, members, tables, changes int, say func(string, ...any)) (periods []period, err error) {
	synctest.Test(t, func(*testing.T) {
		periods, err = newCrowd(members, tables, changes).live(say)
	})
	return periods, err
}

// scaleTable shows periods as Markdown.
func scaleTable(periods []period) string {
	var b strings.Builder
	b.WriteString("| | simulated s | epochs | agreed, s | requests/s of a follower | rows/s | KB/s | requests/s of the leader | rows/s | KB/s | process, % of a core a member | follower, all, % | leader, all, % | of which filling |\n|" + strings.Repeat(" ---: |", 14) + "\n")
	for _, p := range periods {
		fmt.Fprintf(&b, "| %s | %.0f | %d | %.1f | %.1f | %.0f | %.0f | %.1f | %.0f | %.0f | %.2f | %.2f | %.2f | %.2f |\n", p.Name, p.Seconds, p.Epochs, p.Agreed,
			p.Follower.Requests, p.Follower.Rows, p.Follower.Bytes/1000, p.Leader.Requests, p.Leader.Rows, p.Leader.Bytes/1000, 100*p.Process, 100*(p.Process+p.Follower.Share), 100*(p.Process+p.Leader.Share), 100*p.Leader.Filling)
	}
	return b.String()
}

// countedState is a member's way to the state, which counts.
type countedState struct {
	*exectest.Store
	m *crowded
}

func sizeOf(list []store.Document) (bytes int) {
	for i := range list {
		bytes += len(list[i].Raw) + len(list[i].ID) + 40
	}
	return bytes
}

// moves notes a transaction.
func (l *countedState) moves(kind string, raw []byte, err error) error {
	l.m.count("write "+kind, 1, 2*len(raw)+200)
	if err == nil && !slices.Contains(unheardKinds, kind) {
		l.m.c.mu.Lock()
		l.m.c.epoch++
		l.m.c.moved[l.m.c.epoch] = time.Now()
		l.m.c.mu.Unlock()
	}
	return err
}

func (l *countedState) Epoch(context.Context) (int64, error) {
	l.m.count("epoch", 1, 60)
	l.m.c.mu.Lock()
	defer l.m.c.mu.Unlock()
	return l.m.c.epoch, nil
}

func (l *countedState) List(ctx context.Context, kind string) ([]store.Document, error) {
	list, err := l.Store.List(ctx, kind)
	l.m.count("list "+kind, len(list), sizeOf(list))
	return list, err
}

func (l *countedState) Versions(ctx context.Context, kind string) (map[string]int64, error) {
	list, err := l.Store.Versions(ctx, kind)
	l.m.count("versions "+kind, len(list), 30*len(list))
	return list, err
}

func (l *countedState) Document(ctx context.Context, kind, id string) (*store.Document, error) {
	d, err := l.Store.Document(ctx, kind, id)
	if d != nil {
		l.m.count("document "+kind, 1, sizeOf([]store.Document{*d}))
	}
	return d, err
}

func (l *countedState) Replace(ctx context.Context, kind, id string, version int64, v any, entries ...store.Entry) (int64, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return 0, err
	}
	n, err := l.Store.Replace(ctx, kind, id, version, json.RawMessage(raw), entries...)
	return n, l.moves(kind, raw, err)
}

func (l *countedState) Remove(ctx context.Context, kind, id string, version int64, entries ...store.Entry) error {
	return l.moves(kind, nil, l.Store.Remove(ctx, kind, id, version, entries...))
}

func (l *countedState) Decide(ctx context.Context, kind, id string, v any, entries ...store.Entry) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return l.moves(kind, raw, l.Store.Decide(ctx, kind, id, json.RawMessage(raw), entries...))
}

func (l *countedState) Save(ctx context.Context, kind, id string, v any) error {
	return l.Decide(ctx, kind, id, v)
}

func (l *countedState) Beat(ctx context.Context, member string, counter int64, v any) error {
	l.m.count("beat", 1, 150)
	time.Sleep(5 * time.Millisecond)
	return l.Store.Beat(ctx, member, counter, v)
}

func (l *countedState) Beats(ctx context.Context) (map[string]json.RawMessage, error) {
	time.Sleep(10 * time.Millisecond)
	all, err := l.Store.Beats(ctx)
	bytes := 0
	for id, raw := range all {
		bytes += len(raw) + len(id) + 20
	}
	l.m.count("beats", len(all), bytes)
	return all, err
}
