package main

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	rewriting "github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/internal/change"
	"github.com/helenus-db/helenus/internal/fleet"
	"github.com/helenus-db/helenus/rewrite"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/exec/exectest"
	"github.com/helenus-db/helenus/rewrite/kinds"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// The application in process: rows by room and day, two rooms a day, asked for by guest.
const (
	askText    = "SELECT room, day, guest, note FROM hotel.stays WHERE guest = ? ALLOW FILTERING"
	insertText = "INSERT INTO hotel.stays (room, day, guest, note) VALUES (?, ?, ?, ?)"
	updateText = "UPDATE hotel.stays SET guest = ?, note = ? WHERE room = ? AND day = ?"
	removeText = "DELETE FROM hotel.stays WHERE room = ? AND day = ?"

	changeID  = "r-1"
	lookUp    = "stays_by_guest"
	perRoom   = 2
	rowsAtOne = 1000 // microseconds: when the rows of the beginning were written
)

func stays() schema.Table {
	return schema.Table{Keyspace: "hotel", Name: "stays", ID: "1", GCGrace: 10 * 24 * 3600, Columns: []schema.Column{
		{Name: "room", Kind: schema.PartitionKey, Position: 0, Type: "text"},
		{Name: "day", Kind: schema.Clustering, Position: 0, Type: "int"},
		{Name: "guest", Kind: schema.Regular, Position: -1, Type: "text"},
		{Name: "note", Kind: schema.Regular, Position: -1, Type: "int"},
	}}
}

func key(row int) [][]byte {
	return [][]byte{fmt.Appendf(nil, "room%d", row/perRoom), exec.FromInt32(int32(row % perRoom))}
}

func guestName(guest int) []byte { return fmt.Appendf(nil, "guest%d", guest) }

// statement is an operation as CQL.
func (o operation) statement() (text string, values [][]byte) {
	k, guest, note := key(o.row), guestName(o.guest), exec.FromInt32(int32(o.id))
	switch o.act {
	case insert:
		return insertText, [][]byte{k[0], k[1], guest, note}
	case update:
		return updateText, [][]byte{guest, note, k[0], k[1]}
	case remove:
		return removeText, k
	}
	return askText, [][]byte{guest}
}

// rowsOf reads an answer.
func rowsOf(rows [][][]byte) []seen {
	out := []seen{}
	for _, r := range rows {
		var room int
		_, _ = fmt.Sscanf(string(r[0]), "room%d", &room) // ours
		day, _ := exec.Int32(r[1])
		note, _ := exec.Int32(r[3])
		out = append(out, seen{room*perRoom + int(day), int(note)})
	}
	return out
}

// advice is the change: a look-up of stays by guest.
func advice() rewriting.Rewrite {
	print, text, _, err := cql.FingerprintText(askText, "")
	if err != nil {
		panic(err) // it is a constant
	}
	base := stays()
	return rewriting.Rewrite{Keyspace: "hotel", Base: "stays", Column: "guest", Table: lookUp, Statements: []string{print.String()}, Texts: []string{text}, SchemaDigest: base.Digest()}
}

// mutant breaks the product where it keeps its promise: what checks it must notice each.
type mutant struct {
	leaseless bool // reads are answered whether the lease holds or not
	hasty     bool // a state is left upwards without the acknowledgement of the others
	heedless  bool // a write whose entry can not be written goes on at once, whatever others still answer by
	forgetful bool // some entries go nowhere, though their writes are answered
}

// memory is a fleet in process: real engines and members before one database and one state in memory, in the time of a bubble.
type memory struct {
	plan   plan
	mutant mutant
	db     *exectest.Memory
	store  *exectest.Store
	writes atomic.Int64 // of clients that have taken effect
	stamp  atomic.Int64 // the last timestamp
	isDown atomic.Bool
	isLame atomic.Bool

	mu      sync.Mutex
	slots   []*process // by member; nil: it is not there
	all     []*process
	came    map[string]uint64 // how often a step was taken, by its name
	now     change.State
	changed chan struct{}
	over    bool
	wait    sync.WaitGroup
}

// startMemory starts a fleet on the rows of the beginning.
func startMemory(p plan, m mutant) (*memory, map[int]register) {
	w := &memory{plan: p, mutant: m, db: exectest.New(), store: &exectest.Store{}, slots: make([]*process, p.members), came: map[string]uint64{}, changed: make(chan struct{})}
	w.db.Now = func() time.Time { return time.UnixMicro(w.timestamp()) }
	w.db.Add(stays())
	start := map[int]register{}
	for row := range p.rows {
		start[row] = register{}
		if row%3 == 2 {
			continue
		}
		start[row] = register{guest: 1 + row%p.guests}
		o := operation{act: insert, row: row, guest: start[row].guest}
		text, values := o.statement()
		if err := w.db.Write(text, values, rowsAtOne); err != nil {
			panic(err) // the statement is a constant
		}
	}
	for slot := range p.members {
		w.start(slot)
	}
	return w, start
}

// timestamp is that of a write, as a coordinator gives it: no two are the same.
func (w *memory) timestamp() int64 {
	for {
		last := w.stamp.Load()
		next := max(last+1, time.Now().UnixMicro())
		if w.stamp.CompareAndSwap(last, next) {
			return next
		}
	}
}

// draw is a number that is the same in every run of a seed: how the step with this name goes, the first time, the second time and so on. It does not depend on which of
// two steps at one moment is first.
func (w *memory) draw(step string) uint64 {
	w.mu.Lock()
	w.came[step]++
	n := w.came[step]
	w.mu.Unlock()
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %d %s", w.plan.seed, n, step)
	x := h.Sum64()
	x ^= x >> 33 // FNV's low bits are poor
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	return x
}

// start has a process begin in a slot; it is there when it has joined.
func (w *memory) start(slot int) *process {
	w.mu.Lock()
	p := newProcess(w, slot, len(w.all)+1)
	w.all = append(w.all, p)
	w.mu.Unlock()
	w.wait.Go(func() {
		if p.begin() == nil {
			w.mu.Lock()
			w.slots[slot] = p
			w.mu.Unlock()
		}
	})
	return p
}

// soon are settings that make a change come to its end soon.
func soon() (migrate.Settings, kinds.Set) {
	var k kinds.Settings
	k.LookUp.Verify.Ranges, k.LookUp.Verify.Workers, k.LookUp.Verify.Buckets = 2, 1, 256
	return migrate.Settings{Settle: 2 * time.Second, Ranges: 4, Workers: 1, ShadowReads: 1, ShadowLeast: 1, ShadowSelf: 4, SweepEvery: time.Hour}, kinds.All(k)
}

// moved notes that the change has come into a state.
func (w *memory) moved(to change.State) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.now != to {
		w.now = to
		close(w.changed)
		w.changed = make(chan struct{})
	}
}

func (w *memory) state() (change.State, <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now, w.changed
}

// running are the processes that have joined and were not killed.
func (w *memory) running() (some []*process) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.slots {
		if p != nil {
			some = append(some, p)
		}
	}
	return some
}

// who is the process that has a role: the leader is whom the state names, or else any.
func (w *memory) who(r role) *process {
	for {
		some := w.running()
		at := slices.IndexFunc(some, func(p *process) bool { return p.member.Fleet().Leader == p.member.ID() })
		switch {
		case len(some) == 0:
			time.Sleep(50 * time.Millisecond)
		case r == leader && at >= 0:
			return some[at]
		default:
			return some[(at+1)%len(some)]
		}
	}
}

// member is the process that a client speaks to: that of its slot, or the next that is there.
func (w *memory) member(slot int) *process {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range w.slots {
		if p := w.slots[(slot+i)%len(w.slots)]; p != nil {
			return p
		}
	}
	return nil
}

func (w *memory) say(o operation) outcome {
	p := w.member(o.member)
	if p == nil {
		return outcome{fate: refused}
	}
	return p.say(o)
}

func (w *memory) own(guest int) ([]seen, int64, error) {
	writes := w.writes.Load()
	a, err := w.db.Query(context.Background(), exec.Query{Text: askText, Values: [][]byte{guestName(guest)}})
	return rowsOf(a.Rows), writes + 1, err
}

func (w *memory) order(d deed, who role) error {
	p := w.who(who)
	if err := p.pass(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(p.life, 20*time.Second)
	defer cancel()
	switch d {
	case approve:
		_, err := p.engine.Approve(ctx, changeID, advice(), "ann")
		if errors.As(err, new(*migrate.ErrAlreadyApproved)) {
			return nil // an order of which it was not known whether it had been stored
		}
		return err
	case rollback:
		err := p.engine.Rollback(ctx, changeID, "ann")
		if errors.As(err, new(*migrate.ErrPending)) {
			return nil // it holds, and is stored again and again
		}
		return err
	case again:
		switch now, _ := w.state(); now {
		case change.RolledBack:
			if err := p.engine.Drop(ctx, changeID, "ann"); err != nil {
				return err
			}
		case change.Dropped:
		case change.RollingBack:
			return errors.New("it is being rolled back")
		default:
			return nil // it was taken before, though that was not known
		}
		_, err := p.engine.Approve(ctx, changeID, advice(), "ann")
		return err
	case bypass:
		return p.engine.Bypass(ctx, true, "ann")
	}
	if err := p.engine.Bypass(ctx, false, "ann"); err != nil {
		return err
	}
	if now, _ := w.state(); now == change.Suspended {
		return p.engine.Resume(ctx, changeID, "ann")
	}
	return nil
}

func (w *memory) strike(e event) (heal func() error, err error) {
	none := func() error { return nil }
	switch e.deed {
	case down:
		w.isDown.Store(true)
		return func() error { w.isDown.Store(false); return nil }, nil
	case lame:
		w.isLame.Store(true)
		return func() error { w.isLame.Store(false); return nil }, nil
	}
	p := w.who(e.who)
	switch e.deed {
	case kill:
		p.die()
		return func() error { w.start(p.slot); return nil }, nil
	case freeze:
		return p.freeze(), nil
	case cut:
		p.cut.Store(true)
		return func() error { p.cut.Store(false); return nil }, nil
	}
	return none, fmt.Errorf("there is no fault %q", e.deed)
}

func (w *memory) missing() ([]string, error) {
	ctx := context.Background()
	base, err := w.db.Query(ctx, exec.Query{Text: "SELECT room, day, guest, note FROM hotel.stays"})
	if err != nil {
		return nil, err
	}
	entries, err := w.db.Query(ctx, exec.Query{Text: "SELECT guest, room, day FROM hotel." + lookUp})
	if err != nil {
		return nil, err
	}
	have := map[string]bool{}
	for _, e := range entries.Rows {
		have[fmt.Sprintf("%q", e)] = true
	}
	var none []string
	for _, r := range base.Rows {
		if r[2] != nil && !have[fmt.Sprintf("%q", [][]byte{r[2], r[0], r[1]})] {
			none = append(none, fmt.Sprintf("%v of %s", rowsOf([][][]byte{r}), r[2]))
		}
	}
	return none, nil
}

func (w *memory) why() string {
	var all []string
	for _, p := range w.running() {
		text := fmt.Sprintf("%s: %s", p.member.ID(), p.member.Trouble())
		for _, m := range p.engine.Migrations() {
			text += fmt.Sprintf(" %s (%s)", m.State, m.Reason)
		}
		all = append(all, text)
	}
	return strings.Join(all, "; ")
}

// end ends all processes.
func (w *memory) end() {
	w.mu.Lock()
	w.over = true
	all := slices.Clone(w.all)
	w.mu.Unlock()
	for _, p := range all {
		p.die()
	}
	w.wait.Wait()
}

var (
	_ backend         = (*memory)(nil)
	_ rewrite.Members = (*fleet.Member)(nil)
)
