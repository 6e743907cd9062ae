package merged

import (
	"cmp"
	"encoding/json"
	"hash/fnv"
	"math"
	"slices"
	"time"

	"github.com/helenus-db/helenus/capture/trace"
	"github.com/helenus-db/helenus/capture/window"
)

// patience is how long the leader waits for a member's share before it goes on without: other members' shares say how late it is, so no two clocks are
// compared.
const patience = 10 * time.Minute

// maxWaiting is how many executions wait for members that are late at the most: then nobody is waited for.
const maxWaiting = 1 << 17

// kept is how long the times in which members looked are remembered after all was read that was said then: an execution may take long.
const kept = int64(time.Minute)

// joiner puts the shares of members together, and has what all of them looked at looked through.
//
//	horizon = the least Until of the members that are waited for
//	of the executions that ended before it, in the order of their ends:
//	  those that began at a time t with, for each member, t outside of what its shares are of, or among the times in which it looked, are learned
type joiner struct {
	learner *window.Learner
	epoch   int64
	key     uint64
	members map[string]*stream
	waiting []joined // executions, in no order
	known   map[string]*trace.Statement
	horizon int64
	refused uint64 // shares under another key of the same epoch
}

// stream is what is known of one member's shares.
type stream struct {
	from, until int64
	off         bool
	looked      []window.Interval
}

// joined is an execution that a member looked at.
type joined struct {
	member string
	e      *trace.Execution
}

func newJoiner(l *window.Learner) *joiner {
	return &joiner{learner: l, members: map[string]*stream{}, known: map[string]*trace.Statement{}, horizon: math.MinInt64, epoch: math.MinInt64}
}

// add takes a share in. Those of a member come in their order.
func (j *joiner) add(member string, s *window.Share) {
	switch {
	case s.Epoch < j.epoch:
		return // its key is gone
	case s.Epoch > j.epoch:
		if j.epoch != math.MinInt64 {
			j.learner.Forget()
		}
		j.epoch, j.key, j.waiting = s.Epoch, s.Key, nil
		clear(j.members)
	case s.Key != j.key:
		j.refused++
		return
	}
	m := j.members[member]
	if m == nil || s.From != m.until { // shares in between were lost: what it is not known to have looked at nobody waits for
		m = &stream{from: s.From}
		j.members[member] = m
	}
	m.until, m.off = max(m.until, s.Until), s.Off
	m.looked = append(m.looked, s.Looked...)
	of := fnv.New64a()
	_, _ = of.Write([]byte(member)) // hashes do not fail
	same := map[*trace.Statement]*trace.Statement{}
	for _, e := range s.Executions {
		if e.Batch != 0 { // which connections number, and members their connections
			e.Batch = e.Batch*0x9E3779B97F4A7C15 ^ of.Sum64() | 1
		}
		if same[e.Statement] == nil {
			same[e.Statement] = j.same(e.Statement)
		}
		e.Statement = same[e.Statement]
		j.waiting = append(j.waiting, joined{member, e})
	}
}

// same is the statement that is described alike: who learns knows statements by where they are.
func (j *joiner) same(st *trace.Statement) *trace.Statement {
	raw, err := json.Marshal(st)
	if err != nil {
		return st
	}
	if one := j.known[string(raw)]; one != nil {
		return one
	}
	if len(j.known) >= maxStatements {
		clear(j.known)
	}
	j.known[string(raw)] = st
	return st
}

// advance learns what all have looked at by now.
func (j *joiner) advance() (learned int) {
	newest := int64(math.MinInt64)
	for _, m := range j.members {
		newest = max(newest, m.until)
	}
	horizon := newest
	for _, m := range j.members {
		if !m.off && newest-m.until < int64(patience) && len(j.waiting) < maxWaiting {
			horizon = min(horizon, m.until)
		}
	}
	if horizon <= j.horizon {
		return 0
	}
	j.horizon = horizon
	var ready, later []joined
	for _, x := range j.waiting {
		switch {
		case x.e.End >= horizon:
			later = append(later, x)
		case j.looked(x.e.Start):
			ready = append(ready, x)
		}
	}
	j.waiting = later
	slices.SortStableFunc(ready, func(a, b joined) int {
		return cmp.Or(cmp.Compare(a.e.End, b.e.End), cmp.Compare(a.e.Start, b.e.Start), cmp.Compare(a.member, b.member))
	})
	for _, x := range ready {
		j.learner.Learn(x.e)
	}
	for name, m := range j.members {
		m.looked = slices.DeleteFunc(m.looked, func(i window.Interval) bool { return i.To < horizon-kept })
		if m.from = max(m.from, horizon-kept); m.until < m.from {
			delete(j.members, name)
		}
	}
	return len(ready)
}

// looked tells whether all looked at a time who are known of it.
func (j *joiner) looked(t int64) bool {
	for _, m := range j.members {
		if m.off || t < m.from || t >= m.until {
			continue
		}
		if !slices.ContainsFunc(m.looked, func(i window.Interval) bool { return i.From <= t && t < i.To }) {
			return false
		}
	}
	return true
}
