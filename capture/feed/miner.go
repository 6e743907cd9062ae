package feed

import (
	"container/heap"
	crand "crypto/rand"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/helenus-db/helenus/proxy"
)

// Statement is what the miner has to know of a statement. It is immutable; make a new one when Cassandra describes it anew.
type Statement struct {
	Fingerprint string
	Write       bool
	Variables   []proxy.Column
	Ranges      []bool // which Variables are compared by <, <=, > or >=; nil if none is
	Results     []proxy.Column
}

// Options configure a Miner. The zero value is the default.
type Options struct {
	// Window and Period: values are looked at during Window (2 s) in every Period (40 s).
	Window, Period time.Duration
	// Warm is how many exchanges are looked at without a break first, so that small traffic is learnt soon (20,000). However
	// many they are, the first break comes after four windows' time: decoys have to grow old.
	Warm int
	// Off keeps every window closed: no value is looked at.
	Off bool
	// Rotation is how long a hash key is used (24 h). With the key everything learnt from values goes, but for the feeds.
	Rotation time.Duration
	// Budget is how many exchanges a window looks at (20,000); then it closes before its time, so that a busy application
	// pays for its windows no more than a calm one. Those looked at follow each other without gaps, as feeds want it. The
	// first windows (Warm) and extra ones have no budget.
	Budget int
	// Queue is how many exchanges may wait for the miner (1,024); the next ones are dropped and counted.
	Queue int
	// Seed, if not 0, takes the place of the random hash key and makes a run repeatable. For tests.
	Seed uint64
	// Ticks drives the windows. nil: a ticker of a quarter of Window.
	Ticks <-chan time.Time
}

// Bounds of the miner's memory, as in design/mapping.md 2.8.
const (
	maxResponse   = 16 << 10 // bytes of an answer that are copied
	maxProcesses  = 16
	maxParameters = 1_000
	maxObserved   = 1 << 17 // observations in all, shared out over the parameters
	maxPerParam   = 4_096
	minPerParam   = 64
	maxBinds      = 256     // values of one execution
	maxPending    = 1 << 15 // executions waiting to be brought into order of time
	maxStatements = 1 << 14
)

// second and the others are in nanoseconds, as Exchange.Start.
const (
	second      = int64(time.Second)
	reordering  = int64(250 * time.Millisecond) // how long an event waits for earlier ones
	duplication = int64(50 * time.Millisecond)  // the same request again within this time is a retry
)

// Miner looks for feeds in sampled exchanges. Observe copies and returns at once; a goroutine does the rest. Its memory is
// bounded: a few megabytes for one application, some 200 MB at the very worst (sixteen busy processes, a thousand variables).
type Miner struct {
	options  Options
	open     atomic.Bool
	until    atomic.Int64 // Unix nanoseconds until which the latest extra window is open
	started  time.Time
	begun    time.Time // when the last tick before the first exchange was; only the ticking goroutine looks at it
	observed atomic.Uint64
	dropped  atomic.Uint64
	window   int64        // number of the present one; only the ticking goroutine looks at it
	limit    atomic.Int64 // exchanges that the present window may look at
	taken    atomic.Int64 // that it has looked at

	free, full chan *sample
	stop       chan struct{}
	stopped    chan struct{}
	stopOnce   sync.Once

	mu     sync.Mutex // guards the rest
	state  state
	keyed  time.Time // when the hash key was made
	former []Feed    // found under former keys
}

// sample is a copied exchange.
type sample struct {
	statement *Statement
	process   uint64
	t0, t1    int64
	values    [][]byte // into buffer
	names     []string
	response  []byte
	buffer    []byte
}

// New starts a miner. Close ends it.
func New(o Options) *Miner {
	if o.Window <= 0 {
		o.Window = 2 * time.Second
	}
	if o.Period <= 0 {
		o.Period = 40 * time.Second
	}
	if o.Warm <= 0 {
		o.Warm = 20_000
	}
	if o.Rotation <= 0 {
		o.Rotation = 24 * time.Hour
	}
	if o.Budget <= 0 {
		o.Budget = 20_000
	}
	if o.Queue <= 0 {
		o.Queue = 1_024
	}
	m := &Miner{
		options: o, started: time.Now(), begun: time.Now(),
		free: make(chan *sample, o.Queue), full: make(chan *sample, o.Queue),
		stop: make(chan struct{}), stopped: make(chan struct{}),
	}
	for range o.Queue {
		m.free <- &sample{}
	}
	m.state.init(o.Seed)
	m.keyed = m.started
	m.limit.Store(math.MaxInt64)
	m.open.Store(!o.Off)
	go m.run()
	return m
}

// Close ends the miner's goroutine. Feeds may still be asked.
func (m *Miner) Close() {
	m.stopOnce.Do(func() { close(m.stop) })
	<-m.stopped
}

// Open tells whether a window is open: one atomic load.
func (m *Miner) Open() bool { return m.open.Load() }

// Extra opens the window now, for one window's length: something new is being said. It does so once in a period at most,
// so that an application that says new things all the time is not looked at all the time.
func (m *Miner) Extra(now time.Time) {
	until := m.until.Load()
	if m.options.Off || now.UnixNano() < until+int64(m.options.Period-m.options.Window) {
		return
	}
	if m.until.CompareAndSwap(until, now.Add(m.options.Window).UnixNano()) {
		m.open.Store(true)
	}
}

// tick opens and closes windows.
func (m *Miner) tick(now time.Time) {
	n := m.observed.Load()
	if n == 0 {
		m.begun = now
	}
	warm := n < uint64(m.options.Warm) || now.Sub(m.begun) < 4*m.options.Window
	age := now.Sub(m.started)
	if window := int64(age / m.options.Period); window != m.window {
		m.window = window
		m.taken.Store(0)
	}
	limit := int64(math.MaxInt64)
	extra := now.UnixNano() < m.until.Load()
	if !warm && !extra {
		limit = int64(m.options.Budget)
	}
	m.limit.Store(limit)
	m.open.Store(!m.options.Off && (warm || extra || age%m.options.Period < m.options.Window && m.taken.Load() < limit))
	m.mu.Lock()
	defer m.mu.Unlock()
	if now.Sub(m.keyed) >= m.options.Rotation {
		m.rotate(now)
	}
}

// rotate takes a new hash key, and forgets all that was hashed under the old one but the feeds. m.mu is held.
func (m *Miner) rotate(now time.Time) {
	m.former = m.found()
	refused, duplicates := m.state.refused, m.state.duplicates
	m.state = state{refused: refused, duplicates: duplicates}
	m.state.init(m.options.Seed)
	m.keyed = now
}

func (m *Miner) run() {
	defer close(m.stopped)
	ticks := m.options.Ticks
	if ticks == nil {
		t := time.NewTicker(m.options.Window / 4)
		defer t.Stop()
		ticks = t.C
	}
	for {
		select {
		case <-m.stop:
			return
		case now := <-ticks:
			m.tick(now)
		case s := <-m.full:
			m.mu.Lock()
			m.ingest(s)
			m.mu.Unlock()
		}
	}
}

// Observe takes in a finished exchange that carries values. It copies what it needs, does not block, and drops the exchange
// if the miner is behind.
func (m *Miner) Observe(x *proxy.Exchange, st *Statement) {
	if st == nil || x.Client == nil || len(st.Variables) == 0 && len(st.Results) == 0 {
		return
	}
	var s *sample
	select {
	case s = <-m.free:
	default:
		m.dropped.Add(1)
		return
	}
	s.fill(x, st)
	m.observed.Add(1)
	if m.taken.Add(1) == m.limit.Load() {
		m.open.Store(false)
	}
	m.full <- s // never blocks: there are no more samples than room
}

func (s *sample) fill(x *proxy.Exchange, st *Statement) {
	s.statement, s.t0, s.t1 = st, x.Start, x.End
	s.process = process(x.Client)
	s.buffer, s.values, s.names = s.buffer[:0], s.values[:0], s.names[:0]
	need := min(len(x.Response), maxResponse)
	for _, v := range x.Values {
		need += len(v.Bytes)
	}
	if need > 4*maxResponse { // enormous values are no keys
		need = 4 * maxResponse
	}
	if cap(s.buffer) < need {
		s.buffer = make([]byte, 0, need) // at once: slices into it must not move
	}
	keep := func(b []byte) []byte {
		if len(s.buffer)+len(b) > cap(s.buffer) {
			return nil
		}
		at := len(s.buffer)
		s.buffer = append(s.buffer, b...)
		return s.buffer[at:len(s.buffer):len(s.buffer)]
	}
	s.response = nil
	if !x.Failed && len(st.Results) > 0 {
		s.response = keep(x.Response[:min(len(x.Response), maxResponse)])
	}
	for _, v := range x.Values {
		s.values = append(s.values, keep(v.Bytes))
		s.names = append(s.names, v.Name)
	}
}

// process tells client processes apart as well as the wire allows: what they say of themselves, and their host.
func process(c *proxy.Client) uint64 {
	host := c.Address
	if i := strings.LastIndexByte(host, ':'); i >= 0 {
		host = host[:i]
	}
	h := uint64(14695981039346656037) // FNV-1a
	for _, part := range [...]string{host, c.Application, c.Instance, c.Driver} {
		for i := 0; i < len(part); i++ {
			h = (h ^ uint64(part[i])) * 1099511628211
		}
		h = (h ^ 0xFF) * 1099511628211
	}
	return h
}

// Statistics returns the miner's counters.
func (m *Miner) Statistics() Statistics {
	m.mu.Lock()
	defer m.mu.Unlock()
	return Statistics{
		Observed: m.observed.Load(), Dropped: m.dropped.Load() + m.state.refused,
		Duplicates: m.state.duplicates, Parameters: len(m.state.parameters),
	}
}

// Feeds takes in what waits and returns the feeds found so far, sorted. It takes time in proportion to the observations of the
// variables that were bound since it was asked last (milliseconds to a few tenths of a second); new exchanges wait so long.
func (m *Miner) Feeds() []Feed {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.found()
}

// found is Feeds under the lock.
func (m *Miner) found() []Feed {
	for {
		select {
		case s := <-m.full:
			m.ingest(s)
			continue
		default:
		}
		break
	}
	m.state.flush()
	return Merge(m.former, m.state.feeds())
}

// ingest decodes a sample, gives it back, and works on the events whose time has come.
func (m *Miner) ingest(s *sample) {
	e := m.state.decode(s)
	if cap(s.buffer) > 4*maxResponse {
		s.buffer = nil
	}
	s.statement, s.response = nil, nil
	m.free <- s
	if e != nil {
		m.state.add(e)
	}
}

// tagged is a value with the index of its column or variable.
type tagged struct {
	index int
	hash  uint64
}

// execution is a decoded exchange.
type execution struct {
	t0, t1  int64
	process uint64
	fp      uint32 // index into state.statements
	seq     uint32 // number of this execution of the statement
	binds   []tagged
	cells   []tagged
}

// event is one end of an execution.
type event struct {
	at       int64
	order    uint64 // of arrival, so that equal times are worked on in a definite order
	response bool
	e        *execution
}

type events []event

func (h events) Len() int { return len(h) }
func (h events) Less(i, j int) bool {
	if h[i].at != h[j].at {
		return h[i].at < h[j].at
	}
	return h[i].order < h[j].order
}
func (h events) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *events) Push(x any)   { *h = append(*h, x.(event)) }
func (h *events) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}

// known is a statement with a number.
type known struct {
	statement  *Statement
	places     []int // as places returns them
	executions uint32
}

// places numbers the variables of a statement so that those of one list, IN (?, ?, ?), have the same number whatever its
// length: executions with lists of all lengths share a fingerprint, and so their variables have to share theirs.
func places(st *Statement) []int {
	out := make([]int, len(st.Variables))
	for i := 1; i < len(out); i++ {
		a, b := &st.Variables[i-1], &st.Variables[i]
		out[i] = out[i-1]
		if a.Name != b.Name || a.Table != b.Table || a.Keyspace != b.Keyspace || i < len(st.Ranges) && st.Ranges[i] {
			out[i]++
		}
	}
	return out
}

// variable returns the first variable with a number, -1 if there is none.
func (k *known) variable(place int) int {
	for i, p := range k.places {
		if p == place {
			return i
		}
	}
	return -1
}

// state is all that the miner has learnt. It is single-threaded.
type state struct {
	hash       hasher
	random     *rand.Rand
	numbers    map[string]uint32 // fingerprint -> index into statements
	statements []known
	processes  map[uint64]*memory
	parameters map[source]*parameter
	pending    events
	newest     int64
	order      uint64
	refused    uint64
	duplicates uint64
}

func (s *state) init(seed uint64) {
	var key [24]byte
	if seed != 0 {
		binary.LittleEndian.PutUint64(key[:], seed)
	} else {
		_, _ = crand.Read(key[:]) // never fails, by its documentation
	}
	s.hash = hasher{k0: binary.LittleEndian.Uint64(key[:]), k1: binary.LittleEndian.Uint64(key[8:])}
	s.random = rand.New(rand.NewPCG(s.hash.k0, binary.LittleEndian.Uint64(key[16:])))
	s.numbers = map[string]uint32{}
	s.processes = map[uint64]*memory{}
	s.parameters = map[source]*parameter{}
}

// decode hashes the values of a sample; nil if there is no room for its statement.
func (s *state) decode(x *sample) *execution {
	st := x.statement
	fp, ok := s.numbers[st.Fingerprint]
	if !ok {
		if len(s.statements) >= maxStatements {
			s.refused++
			return nil
		}
		fp = uint32(len(s.statements))
		s.numbers[st.Fingerprint] = fp
		s.statements = append(s.statements, known{})
	}
	if s.statements[fp].statement != st {
		s.statements[fp].statement = st
		s.statements[fp].places = places(st)
	}
	s.statements[fp].executions++
	e := &execution{t0: x.t0, t1: x.t1, process: x.process, fp: fp, seq: s.statements[fp].executions}
	places := s.statements[fp].places
	for i, b := range x.values {
		v := i
		if x.names[i] != "" {
			v = variable(st.Variables, x.names[i])
		}
		if v < 0 || v >= len(st.Variables) || places[v] > maxIndex || synthetic(st.Variables[v].Name) || len(e.binds) >= maxBinds {
			continue
		}
		s.hash.each(&st.Variables[v].Type, b, func(h uint64) { e.binds = append(e.binds, tagged{places[v], h}) })
	}
	seen := map[tagged]bool{}
	rows(x.response, len(st.Results), func(c int, cell []byte) {
		if c > maxIndex {
			return
		}
		s.hash.each(&st.Results[c].Type, cell, func(h uint64) {
			if t := (tagged{c, h}); !seen[t] {
				seen[t] = true
				e.cells = append(e.cells, t)
			}
		})
	})
	return e
}

func variable(variables []proxy.Column, name string) int {
	for i := range variables {
		if variables[i].Name == name {
			return i
		}
	}
	return -1
}

// synthetic reports whether a bind variable's name is made up by Cassandra and stands for no column: [limit], [ttl], key(m), ...
// in(c) stands for c.
func synthetic(name string) bool {
	return strings.HasPrefix(name, "[") || strings.ContainsRune(name, '(') && !strings.HasPrefix(strings.ToLower(name), "in(")
}

// add puts an execution's two events in order of time and works on those that are old enough for no earlier one to come.
func (s *state) add(e *execution) {
	s.newest = max(s.newest, e.t1)
	s.order += 2
	heap.Push(&s.pending, event{e.t0, s.order, false, e})
	if len(e.cells) > 0 {
		heap.Push(&s.pending, event{e.t1, s.order + 1, true, e})
	}
	for len(s.pending) > 0 && (s.pending[0].at < s.newest-reordering || len(s.pending) > maxPending) {
		s.next()
	}
}

func (s *state) flush() {
	for len(s.pending) > 0 {
		s.next()
	}
}

func (s *state) next() {
	v := heap.Pop(&s.pending).(event)
	m := s.memory(v.e.process, v.at)
	if v.response {
		m.answered(v.e)
	} else {
		s.asked(m, v.e)
	}
}

// memory returns what is remembered of a process, forgetting the one that was idle longest if there are too many.
func (s *state) memory(process uint64, now int64) *memory {
	m := s.processes[process]
	if m == nil {
		if len(s.processes) >= maxProcesses {
			var oldest uint64
			var at int64
			for p, o := range s.processes {
				if at == 0 || o.last < at || o.last == at && p < oldest {
					oldest, at = p, o.last
				}
			}
			delete(s.processes, oldest)
		}
		m = newMemory()
		s.processes[process] = m
	}
	m.last = max(m.last, now)
	return m
}
