package rewrite

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/kind"
)

// rule is what is to be done with one statement text. One rule holds for one epoch.
type rule struct {
	read        *readRule
	writes      []writeRule
	touches     []touch // it changes tables of ours
	conditional bool    // the statement has an IF
}

type readRule struct {
	active *active
	read   kind.Read
	said   *looks
}

// looks are what Cassandra says of the answers to texts, for one set of rules: it ends when a table is altered.
type looks struct {
	byText sync.Map
	count  atomic.Int64
}

// Bounds of what is kept of them: a client can make any number of texts (SELECT room AS a1, a2, ...), and any length.
const (
	maxLooks    = 1000
	maxLookText = 1 << 13
)

// keep remembers what Cassandra says of one text, and forgets all when it is too much.
func (l *looks) keep(key lookKey, p *proxy.Prepared) {
	if len(key.text) > maxLookText {
		return
	}
	if _, there := l.byText.Swap(key, p); !there && l.count.Add(1) > maxLooks {
		l.byText.Clear()
		l.count.Store(0)
	}
}

type lookKey struct {
	text    string
	version byte
}

// describe sets what Cassandra says of the answer to a QUERY.
func (u *readRule) describe(ctx context.Context, r *proxy.Request) error {
	key := lookKey{u.read.(kind.Spoken).Described(), r.Version}
	if p, ok := u.said.byText.Load(key); ok {
		r.Prepared = p.(*proxy.Prepared)
		return nil
	}
	client, ok := exec.OnClient(r, 0)
	if !ok {
		return fmt.Errorf("%w: what its answer looks like can not be asked", kind.ErrUnsuited)
	}
	p, err := client.Describe(ctx, key.text)
	if err != nil {
		return err
	}
	if p.ResultMetadata == nil {
		return fmt.Errorf("%w: what its answer looks like is not known", kind.ErrUnsuited)
	}
	u.said.keep(key, p)
	r.Prepared = p
	return nil
}

// outdated has the next QUERY ask Cassandra anew what its answer looks like: a type was altered since.
func (u *readRule) outdated(r *proxy.Request) {
	u.said.byText.CompareAndDelete(lookKey{u.read.(kind.Spoken).Described(), r.Version}, r.Prepared)
	if client, ok := exec.OnClient(r, 0); ok {
		client.Outdated(r.Prepared)
	}
}

type writeRule struct {
	active *active
	write  kind.Write
}

// perhaps is a write that may be none, as it is not known in which keyspace it is said.
type perhaps struct{ kind.Write }

// Bind implements kind.Write.
func (w perhaps) Bind(x kind.Execution, steps []kind.Step) (kind.Effect, []kind.Step) {
	effect, taken := w.Write.Bind(x, nil)
	if effect == (kind.Effect{}) && len(taken) == 0 {
		return effect, steps
	}
	return kind.Effect{Doubt: "its client said USE before a write, and did not wait for the answer: in which keyspace it was carried out is not known", Empties: effect.Empties}, steps
}

// Text implements proxy.Rule: texts are left as they are.
func (*rule) Text() string { return "" }

// Name implements proxy.Named: what is counted under it is a change's.
func (r *rule) Name() string {
	switch {
	case r.read != nil:
		return r.read.active.id
	case len(r.writes) > 0:
		return r.writes[0].active.id
	case len(r.touches) > 0:
		return r.touches[0].active.id
	}
	return "conditional" // a statement with an IF that is no change's business
}

func (r *rule) matters() bool { return r.read != nil || len(r.writes) > 0 || len(r.touches) > 0 }

// nothing is the rule of most statements.
var nothing = &rule{}

// Bounds of the texts that a rule set remembers: how many, how long one is, and all of them, bytes. What follows a write keeps its literals, so a text
// counts twice.
const (
	maxTexts = 10000
	maxText  = 1 << 16
	maxKept  = 32 << 20
)

// ruleSet is the changes in force at one epoch, and what they mean for the texts met so far.
type ruleSet struct {
	active []*active
	said   looks

	mu    sync.RWMutex
	texts map[string]*rule
	kept  int // by texts, bytes
}

func newRuleSet(list []*active) *ruleSet {
	return &ruleSet{active: list, texts: map[string]*rule{}}
}

// rule finds or compiles the rule of a text. Long texts are compiled each time: they are literal bulk, never to be seen
// again.
func (s *ruleSet) rule(keyspace, text string) *rule {
	if len(s.active) == 0 {
		return nothing
	}
	var key string
	if len(text) <= maxText {
		key = keyspace + "\x00" + text
		s.mu.RLock()
		r := s.texts[key]
		s.mu.RUnlock()
		if r != nil {
			return r
		}
	}
	r := s.compile(keyspace, text)
	if key != "" {
		s.mu.Lock()
		s.keep(key, r)
		s.mu.Unlock()
	}
	return r
}

// keep remembers a rule, and forgets all others when they are too much. The lock is held.
func (s *ruleSet) keep(key string, r *rule) {
	size := 2 * len(key)
	if len(s.texts) >= maxTexts || s.kept+size > maxKept {
		clear(s.texts)
		s.kept = 0
	}
	if s.texts[key] == nil { // else another was faster
		s.kept += size
	}
	s.texts[key] = r
}

// unsure is the rule of a text that may be said in any keyspace: what names its own is as sure as ever. Nothing else is answered, and what is written to
// a table that a change may be over is in doubt.
func (s *ruleSet) unsure(text string) *rule {
	sure := s.rule("", text)
	r, asked := *sure, map[string]bool{}
	r.writes, r.touches = slices.Clone(sure.writes), slices.Clone(sure.touches)
	for _, a := range s.active {
		for _, keyspace := range a.keyspaces() {
			if asked[keyspace] {
				continue
			}
			asked[keyspace] = true
			in := s.rule(keyspace, text)
			if len(in.writes) > len(sure.writes) {
				for _, w := range in.writes {
					r.writes = append(r.writes, writeRule{w.active, perhaps{w.write}})
				}
			}
			if len(in.touches) > len(sure.touches) {
				r.touches = append(r.touches, in.touches...)
			}
		}
	}
	return r.orNothing()
}

// keyspaces are those of the tables that a change has to do with.
func (a *active) keyspaces() []string {
	list := []string{a.about.Keyspace}
	for _, t := range slices.Concat(a.tables, a.rests) {
		list = append(list, t.Keyspace)
	}
	return list
}

func (s *ruleSet) compile(keyspace, text string) *rule {
	st, err := cql.Parse(text)
	r := &rule{}
	if err != nil {
		if strings.HasPrefix(strings.ToUpper(strings.TrimSpace(text)), "SELECT") {
			return nothing // whatever it reads, it runs as it was written
		}
		for _, a := range s.active {
			if a.derived == nil || !a.write.Load() {
				continue
			}
			if w := a.derived.Unreadable(text); w != nil {
				r.writes = append(r.writes, writeRule{a, w})
			}
		}
		r.touches = s.unread(text)
		return r.orNothing()
	}
	r.conditional = kind.Conditional(st)
	r.touches = s.touches(st, keyspace)
	for _, a := range s.active {
		if st.Kind() == cql.KindSelect {
			if !a.serve.Load() && !a.shadow.Load() {
				continue
			}
			if a.leaves(st, keyspace) {
				continue
			}
			if read, refusal := a.change.Read(st, keyspace); refusal == nil && r.read == nil {
				r.read = &readRule{a, read, &s.said}
			}
			continue
		}
		if a.derived == nil || !a.write.Load() && st.Kind() != cql.KindTruncate { // of one that was stopped only what empties the base matters
			continue
		}
		for _, w := range a.derived.Writes(st, keyspace) {
			r.writes = append(r.writes, writeRule{a, w})
		}
	}
	return r.orNothing()
}

// leaves tells whether a statement is one that a change does not answer because Cassandra refuses it.
func (a *active) leaves(st cql.Statement, keyspace string) bool {
	refused := a.refused.Load()
	if refused == nil || len(*refused) == 0 {
		return false
	}
	_, there := (*refused)[cql.Fingerprint(st, keyspace).String()]
	return there
}

func (r *rule) orNothing() *rule {
	if !r.matters() && !r.conditional {
		return nothing
	}
	return r
}
