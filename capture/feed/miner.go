package feed

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/helenus-db/helenus/capture/trace"
	"github.com/helenus-db/helenus/capture/value"
)

// Options configure a Miner.
type Options struct {
	Seed       uint64 // of the choice of decoys
	Duplicates uint64 // counted before, by another Miner
}

// Bounds of the miner's memory, as in docs/design/mapping.md 2.8.
const (
	maxProcesses  = 8
	maxParameters = 1_000
	maxObserved   = 1 << 17 // observations in all, shared out over the parameters
	maxPerParam   = 4_096
	minPerParam   = 64
	maxPending    = 1 << 15 // executions waiting to be brought into order of time
	maxStatements = 1 << 14
)

// second and the others are in nanoseconds, as Execution.Start.
const (
	second      = int64(time.Second)
	reordering  = int64(250 * time.Millisecond) // how long an event waits for earlier ones
	duplication = int64(50 * time.Millisecond)  // the same request again within this time is a speculative execution, if the first had no answer yet
	retrying    = second                        // and a retry if it failed: a time-out takes longer than all that a feed takes
)

// Miner looks for feeds in executions. It is for one goroutine. Its memory is bounded: a few megabytes for one application,
// some 120 MB at the very worst (eight busy processes, a thousand variables).
type Miner struct {
	random     *rand.Rand
	numbers    map[string]uint32 // fingerprint -> index into statements
	statements []known
	processes  map[uint64]*memory
	parameters map[source]*parameter
	answers    map[uint32]*answers // by statement
	pending    events
	newest     int64
	order      uint64
	refused    uint64
	duplicates uint64
	spare      []*execution
	same       map[tagged]bool // for unique, reused
}

// New returns a miner that has seen nothing.
func New(o Options) *Miner {
	return &Miner{
		random: rand.New(rand.NewPCG(o.Seed, 1)), duplicates: o.Duplicates, numbers: map[string]uint32{},
		processes: map[uint64]*memory{}, parameters: map[source]*parameter{}, answers: map[uint32]*answers{}, same: map[tagged]bool{},
	}
}

// Statistics returns the miner's counters.
func (m *Miner) Statistics() Statistics {
	return Statistics{Dropped: m.refused, Duplicates: m.duplicates, Parameters: len(m.parameters)}
}

// enough is how many observations of a variable are worth having (docs/design/mapping.md 2.8).
const enough = 200

// Wanting returns how many of the variables that were bound since it was asked last have too few observations to judge by.
func (m *Miner) Wanting() (n int) {
	for _, p := range m.parameters {
		if p.bound && len(p.observations) < enough && !p.constant() {
			n++
		}
		p.bound = false
	}
	return n
}

// Feeds returns the feeds found so far, sorted. It takes time in proportion to the observations of the variables that
// were bound since it was asked last: milliseconds to a few tenths of a second.
func (m *Miner) Feeds() []Feed {
	feeds, _ := m.Find()
	return feeds
}

// Find is Feeds, with the echoes that mean something: checks and read-modify-writes.
func (m *Miner) Find() (feeds, echoes []Feed) {
	for len(m.pending) > 0 {
		m.next()
	}
	return m.find()
}

// tagged is a value with the index of its column or variable.
type tagged struct {
	index int
	hash  uint64
	made  [maxMade]uint64 // of a bound text: the identifiers that it is made of; 0: none
}

// maxMade is how many identifiers of one text are followed: "7|12".
const maxMade = 2

// known are the hashes by which a bound value is looked up: its own, and those of what it is made of; 0: none.
func (t *tagged) known() [1 + maxMade]uint64 {
	return [1 + maxMade]uint64{t.hash, t.made[0], t.made[1]}
}

// execution is a decoded exchange.
type execution struct {
	t0, t1  int64
	process uint64
	uses    int    // events that are still to come
	fp      uint32 // index into Miner.statements
	seq     uint32 // number of this execution of the statement
	failed  bool
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

// events is a heap, the earliest first.
type events []event

func (h events) before(i, j int) bool {
	if h[i].at != h[j].at {
		return h[i].at < h[j].at
	}
	return h[i].order < h[j].order
}

func (h *events) push(v event) {
	*h = append(*h, v)
	for i := len(*h) - 1; i > 0; {
		up := (i - 1) / 2
		if !h.before(i, up) {
			break
		}
		(*h)[i], (*h)[up] = (*h)[up], (*h)[i]
		i = up
	}
}

func (h *events) pop() event {
	list := *h
	first, n := list[0], len(list)-1
	list[0], list[n] = list[n], event{}
	*h = list[:n]
	for i := 0; ; {
		down := 2*i + 1
		if down >= n {
			return first
		}
		if down+1 < n && h.before(down+1, down) {
			down++
		}
		if !h.before(down, i) {
			return first
		}
		list[i], list[down] = list[down], list[i]
		i = down
	}
}

// known is a statement with a number.
type known struct {
	statement  *trace.Statement
	executions uint32
}

// Add takes in an execution.
func (m *Miner) Add(x *trace.Execution) {
	fp, ok := m.numbers[x.Statement.Fingerprint]
	if !ok {
		if len(m.statements) >= maxStatements {
			m.refused++
			return
		}
		fp = uint32(len(m.statements))
		m.numbers[x.Statement.Fingerprint] = fp
		m.statements = append(m.statements, known{})
	}
	m.statements[fp].statement = x.Statement
	m.statements[fp].executions++
	e := m.take()
	e.t0, e.t1, e.process, e.fp, e.seq = x.Start, x.End, x.Process, fp, m.statements[fp].executions
	for i := range x.Binds {
		if v := &x.Binds[i]; v.Class != value.None && !v.Null && v.Index <= maxIndex {
			e.binds = append(e.binds, tagged{index: int(v.Index), hash: v.Hash, made: madeOf(x.MadeBinds, i)})
		}
	}
	e.cells, e.failed = m.unique(e.cells, x.Cells), x.Failed
	for _, made := range x.MadeCells {
		if t := (tagged{index: int(x.Cells[made.Of].Index), hash: made.Hash}); t.index <= maxIndex && !slices.Contains(e.cells, t) {
			e.cells = append(e.cells, t)
		}
	}
	m.keep(fp, e, x)
	m.add(e)
}

// madeOf are the identifiers that the i-th value is made of: integers and UUIDs first, then texts from the last on, for what is in front ("user:") is mostly
// the same in all.
func madeOf(list []value.Made, i int) (out [maxMade]uint64) {
	n := 0
	take := func(m *value.Made, isText bool) {
		if int(m.Of) == i && n < maxMade && isText == (m.Class == value.Text) {
			out[n] = m.Hash
			n++
		}
	}
	for k := range list {
		take(&list[k], false)
	}
	for k := range list {
		take(&list[len(list)-1-k], true)
	}
	return out
}

// take returns an empty execution.
func (m *Miner) take() *execution {
	n := len(m.spare)
	if n == 0 {
		return &execution{}
	}
	e := m.spare[n-1]
	m.spare = m.spare[:n-1]
	return e
}

// give takes an execution back that nobody looks at any more.
func (m *Miner) give(e *execution) {
	if len(m.spare) < 256 {
		*e = execution{binds: e.binds[:0], cells: e.cells[:0]}
		m.spare = append(m.spare, e)
	}
}

// few is the number of cells up to which looking for one among the others is quicker than a map.
const few = 24

// unique lists the different values of each column.
func (m *Miner) unique(out []tagged, cells []value.Value) []tagged {
	many := len(cells) > few
	if many {
		clear(m.same)
	}
next:
	for i := range cells {
		v := &cells[i]
		if v.Class == value.None || v.Null || v.Index > maxIndex {
			continue
		}
		t := tagged{index: int(v.Index), hash: v.Hash}
		if many {
			if m.same[t] {
				continue
			}
			m.same[t] = true
		} else {
			for _, o := range out {
				if o == t {
					continue next
				}
			}
		}
		out = append(out, t)
	}
	return out
}

// add puts an execution's two events in order of time and works on those that are old enough for no earlier one to come.
func (m *Miner) add(e *execution) {
	m.newest = max(m.newest, e.t1)
	m.order += 2
	e.uses = 1
	m.pending.push(event{e.t0, m.order, false, e})
	if len(e.cells) > 0 {
		e.uses++
		m.pending.push(event{e.t1, m.order + 1, true, e})
	}
	for len(m.pending) > 0 && (m.pending[0].at < m.newest-reordering || len(m.pending) > maxPending) {
		m.next()
	}
}

func (m *Miner) next() {
	v := m.pending.pop()
	of := m.memory(v.e.process, v.at)
	if v.response {
		of.answered(v.e)
	} else {
		m.asked(of, v.e)
	}
	if v.e.uses--; v.e.uses == 0 {
		m.give(v.e)
	}
}

// memory returns what is remembered of a process, forgetting the one that was idle longest if there are too many.
func (m *Miner) memory(process uint64, now int64) *memory {
	of := m.processes[process]
	if of == nil {
		if len(m.processes) >= maxProcesses {
			var oldest uint64
			var at int64
			for p, o := range m.processes {
				if at == 0 || o.last < at || o.last == at && p < oldest {
					oldest, at = p, o.last
				}
			}
			delete(m.processes, oldest)
		}
		of = newMemory()
		m.processes[process] = of
	}
	of.last = max(of.last, now)
	return of
}
