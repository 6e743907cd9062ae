package main

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/burst"
	"github.com/helenus-db/helenus/capture/feed"
	"github.com/helenus-db/helenus/capture/histogram"
	"github.com/helenus-db/helenus/capture/profile"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/capture/trace"
)

// variant is a case: an application over one of its designs, with so many threads.
type variant struct {
	app     *application
	design  string // one of designs
	dao     bool
	threads int
	seed    uint64
}

// designs are how an application's data may be laid out.
var designs = []string{"normalised", "denormalised", "messy", "random"}

func (v variant) String() string {
	style := ""
	if v.dao {
		style = " dao"
	}
	return fmt.Sprintf("%s %s%s, %d threads, seed %d", v.app.name, v.design, style, v.threads, v.seed)
}

// statements is how many a case says.
const statements = 30_000

// observed is what was captured of a case.
type observed struct {
	site     *site
	snapshot *capture.Snapshot
	schema   *schema.Schema
	stats    []schema.Stats
}

// observe runs a case.
func (v variant) observe() *observed { return v.run(false) }

// run runs a case, with the names of its design or, the same in all else, with its tables' own.
func (v variant) run(own bool) *observed {
	w := newWorld(v.app.model, v.seed)
	text := v.app.normal
	random := rand.New(rand.NewPCG(v.seed, 32)) // #nosec G404 -- the same seed, the same names
	if v.design == "denormalised" || v.design == "messy" || strings.HasPrefix(v.design, "grown, copied") {
		text = v.app.copied
	}
	tables := parseTables(w, text)
	names := namesIn(tables)
	switch v.design {
	case "messy", "grown, odd", "grown, copied, odd":
		odd(tables, random)
	case "random", "grown, random", "grown, copied, random":
		scramble(tables, random)
	}
	if own {
		names.restore(tables)
	}
	s := &site{
		w: w, keyspace: v.app.name, tables: tables, dao: v.dao, random: random, statements: map[string]*statement{}, texts: map[string]*statement{}, writes: map[string]float64{},
		paged: map[string]uint64{}, caches: map[string]map[int]int64{},
	}
	o := &observed{site: s, schema: schemaOf(w, v.app.name, tables), stats: measured(w, v.app.name, tables)}
	think := map[int]time.Duration{1: 5 * time.Millisecond, 8: 20 * time.Millisecond, 64: 60 * time.Millisecond, 512: 300 * time.Millisecond}[v.threads]
	chores := s.chores(v.app.pages)
	if v.app.grown != nil {
		if chores, s.troubles = v.app.grown(s), usual; v.app.troubles != nil {
			s.troubles = *v.app.troubles
		}
	}
	says := statements
	if v.app.says > 0 {
		says = v.app.says
	}
	s.run(chores, v.threads, says+v.threads*40, think)
	o.snapshot = s.capture()
	return o
}

// start is when cases begin.
var start = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// capture gives what was said to the miners, as capture/window does, and counts it, as the registry does.
func (s *site) capture() *capture.Snapshot {
	feeds, bursts := feed.New(feed.Options{Seed: 11}), burst.New(12)
	book := profile.New(profile.Options{Epoch: 1, Source: 1, Began: start, Started: start})
	for _, e := range s.out {
		feeds.Add(e)
		bursts.Add(e)
		book.Add(e)
	}
	out := s.count(s.out)
	out.Bursts, out.Templates, out.Profiles = bursts.Pairs(), bursts.Templates(), book.Document()
	out.Feeds, out.Echoes = feeds.Find()
	return out
}

// count counts executions, all of them or those that one of several processes saw.
func (s *site) count(executions []*trace.Execution) *capture.Snapshot {
	type counts struct {
		n             uint64
		latency, rows histogram.Histogram
	}
	latest := int64(0)
	for _, e := range s.out {
		latest = max(latest, e.End)
	}
	said := map[string]*counts{}
	for _, e := range executions {
		c := said[e.Statement.Fingerprint]
		if c == nil {
			c = &counts{}
			said[e.Statement.Fingerprint] = c
		}
		c.n++
		c.latency.Add(uint64(e.End-e.Start) / 1000) // #nosec G115 -- a second at the most
		if e.Rows >= 0 {
			c.rows.Add(uint64(e.Rows)) // #nosec G115
		}
	}
	out := &capture.Snapshot{From: start, To: start.Add(time.Duration(latest))}
	for _, st := range s.statements {
		c := said[st.trace.Fingerprint]
		if c == nil {
			continue
		}
		one := capture.Statement{
			Fingerprint: st.trace.Fingerprint, Keyspace: s.keyspace, Table: st.table.name, Kind: st.kind, Text: st.text, Count: c.n,
			Paged:       s.paged[st.trace.Fingerprint],
			Consistency: capture.TallyOf(map[string]uint64{"ONE": c.n}), First: start, Last: out.To,
		}
		c.latency.AddTo(&one.Latency)
		c.rows.AddTo(&one.Rows)
		out.Statements = append(out.Statements, one)
	}
	slices.SortFunc(out.Statements, func(a, b capture.Statement) int { return strings.Compare(a.Fingerprint, b.Fingerprint) })
	return out
}

// ratio counts what is right of what was found, and of what there is.
type ratio struct{ right, found, there float64 }

func (r ratio) precision() float64 { return share(r.right, r.found) }
func (r ratio) recall() float64    { return share(r.right, r.there) }
func (r ratio) f1() float64        { return share(2*r.right, r.found+r.there) }
func (r *ratio) add(o ratio) {
	r.right, r.found, r.there = r.right+o.right, r.found+o.found, r.there+o.there
}

func share(a, b float64) float64 {
	if b == 0 {
		return 1
	}
	return a / b
}

// score is how right an inferred model is.
type score struct {
	byKey, byTables, attributes, relationships, feeds ratio
	used                                              ratio   // joins that are part of path queries; precision means nothing
	weight, weights                                   float64 // sum of errors, of weights
	notes                                             []string
}

func (s *score) add(o score) {
	s.byKey.add(o.byKey)
	s.byTables.add(o.byTables)
	s.attributes.add(o.attributes)
	s.relationships.add(o.relationships)
	s.feeds.add(o.feeds)
	s.used.add(o.used)
	s.weight, s.weights = s.weight+o.weight, s.weights+o.weights
}

func (s *score) note(format string, args ...any) {
	s.notes = append(s.notes, fmt.Sprintf(format, args...))
}

// judge compares an inferred model with the truth.
func (o *observed) judge() (*score, error) {
	m, err := infer.WithCorrections(o.snapshot, o.schema, o.stats, nil)
	if err != nil {
		return nil, err
	}
	return o.score(m), nil
}

// score compares a model with the truth.
func (o *observed) score(m *infer.Model) *score {
	s := &score{}
	of := o.entities(m, s)
	o.relationships(m, s, of)
	o.attributes(m, s, of)
	o.feeds(m, s)
	o.weights(m, s)
	return s
}

func (o *observed) table(name string) *table {
	name = strings.TrimPrefix(name, o.site.keyspace+".")
	for _, t := range o.site.tables {
		if t.name == name {
			return t
		}
	}
	return nil
}

// entities matches entities: by key, and by the tables that hold them too. It returns the true entity of each.
func (o *observed) entities(m *infer.Model, s *score) map[string]*entity {
	of := map[string]*entity{}
	taken := map[*entity]bool{}
	for _, e := range o.site.w.entities {
		if !e.pairs {
			s.byKey.there++
			s.byTables.there++
		}
	}
	for i := range m.Entities {
		e := &m.Entities[i]
		t := o.table(e.Tables[0])
		of[e.Name] = t.of
		s.byKey.found++
		s.byTables.found++
		var key []string
		for _, k := range e.Key {
			if c := t.named(k); c != nil && c.form == whole {
				for _, part := range t.of.edge(c.path).to.keys() {
					key = append(key, c.path+"."+part)
				}
			} else if c != nil {
				key = append(key, c.path)
			}
		}
		want := t.of.keys()
		slices.Sort(key)
		slices.Sort(want)
		if t.of.pairs || taken[t.of] || !slices.Equal(key, want) {
			s.note("entity %s of %v, key %v: wrong or once more", e.Name, e.Tables, e.Key)
			continue
		}
		taken[t.of] = true
		s.byKey.right++
		all := map[string]bool{}
		for _, x := range o.site.tables {
			if x.of == t.of && x.view == "" {
				all[o.site.keyspace+"."+x.name] = true
			}
		}
		same := len(all) == len(e.Tables)
		for _, name := range e.Tables {
			same = same && all[name]
		}
		if same {
			s.byTables.right++
		} else {
			s.note("entity %s is in %v, not in %v", e.Name, e.Tables, slices.Sorted(maps.Keys(all)))
		}
	}
	return of
}

// relationships matches relationships by their ends and the column that holds them.
func (o *observed) relationships(m *infer.Model, s *score, of map[string]*entity) {
	left := map[string]bool{}
	for _, e := range o.site.w.entities {
		if e.pairs {
			left[e.edges[0].to.name+" m:n "+e.edges[1].to.name+" "+e.name] = true
			continue
		}
		for _, r := range e.edges {
			left[e.name+"."+r.name+" "+r.to.name] = true
		}
	}
	s.relationships.there = float64(len(left))
	for _, r := range m.Relationships {
		if o.derived(&r, of) {
			continue
		}
		s.relationships.found++
		name := o.relationOf(&r, of)
		if left[name] {
			delete(left, name)
			s.relationships.right++
			continue
		}
		s.note("relationship %s.%s -> %s by %s: wrong or once more", r.From, r.Forward, r.To, r.Column)
	}
	for name := range left {
		s.note("no relationship %s", name)
	}
}

// derived tells whether a relationship is true, but follows from others: the tenant of a team, in a table of its members.
func (o *observed) derived(r *infer.Relationship, of map[string]*entity) bool {
	parts := strings.Split(r.Column, ".")
	t := o.table(o.site.keyspace + "." + parts[1])
	if len(parts) != 3 || t.named(parts[2]) == nil || !strings.Contains(t.named(parts[2]).path, ".") || of[r.From] != t.of {
		return false
	}
	to, at := t.of.attributeOf(t.named(parts[2]).path)
	return to == of[r.To] && at.name == to.key[0]
}

// relationOf is the relation of the gold model that an inferred one is, "" if none.
func (o *observed) relationOf(r *infer.Relationship, of map[string]*entity) string {
	parts := strings.Split(r.Column, ".")
	t := o.table(o.site.keyspace + "." + parts[1])
	from, to := of[r.From], of[r.To]
	switch {
	case r.Kind == model.ManyToMany && t.of.pairs:
		one, other := t.of.edges[0].to, t.of.edges[1].to
		if (from != one || to != other) && (from != other || to != one) {
			return ""
		}
		return one.name + " m:n " + other.name + " " + t.of.name
	case len(parts) == 3 && from == t.of && t.named(parts[2]) != nil:
		path := t.named(parts[2]).path
		if role, part, inner := strings.Cut(path, "."); inner && from.edge(role).to == to && len(to.key) > 1 && slices.Contains(to.keys(), part) {
			path = role // one of the columns that hold its key
		}
		return from.name + "." + path + " " + to.name
	}
	return ""
}

// leastFed is how many executions of a statement must be fed by another for it to be a feed that must be found, leastShare which share of its executions.
const (
	leastFed   = 100
	leastShare = 0.03
)

// feeds compares what was found to travel with what did.
func (o *observed) feeds(m *infer.Model, s *score) {
	name := func(from, fromColumn, to, toColumn string) string {
		return fmt.Sprintf("%.8s.%s -> %.8s.%s", from, fromColumn, to, toColumn)
	}
	must, may := map[string]bool{}, map[string]bool{}
	beyond := map[string]bool{} // what the conceptual language can not say as one
	for _, st := range o.site.statements {
		for from := range st.joined {
			for place := range st.sources {
				if from.st != nil {
					to := strings.TrimSuffix(strings.TrimPrefix(st.trace.Variables[place].Name, "in("), ")")
					may[name(from.st.trace.Fingerprint, from.st.trace.Results[from.column].Name, st.trace.Fingerprint, to)] = true
				}
			}
		}
		for place, sources := range st.sources {
			for from, n := range sources {
				if from.st == nil {
					continue
				}
				to := strings.TrimSuffix(strings.TrimPrefix(st.trace.Variables[place].Name, "in("), ")")
				x := name(from.st.trace.Fingerprint, from.st.trace.Results[from.column].Name, st.trace.Fingerprint, to)
				may[x] = true
				if st.beyond(map[*statement]bool{from.st: true}) || from.either() {
					beyond[x] = true
				}
				if n >= leastFed && n >= leastShare*float64(st.count) && !st.trace.Write {
					must[x] = true
				}
			}
		}
	}
	s.feeds.there = float64(len(must))
	for x := range must {
		if !beyond[x] {
			s.used.there++
		}
	}
	for _, j := range m.Joins {
		f := j.Feed
		if f.Shape == feed.Pagination {
			continue
		}
		x := name(f.From.Fingerprint, f.From.Column, f.To.Fingerprint, f.To.Column)
		switch {
		case must[x]:
			s.feeds.found++
			s.feeds.right++
			delete(must, x)
			switch {
			case j.Accepted && !beyond[x]:
				s.used.right++
			case !beyond[x]:
				s.note("join %s -> %s (%s) not used: %s", j.From, j.To, x, j.Reason)
			}
		case !may[x]:
			s.feeds.found++
			s.note("false join %s -> %s (%s): %d of %d, %d decoys", j.From, j.To, x, f.Hits, f.Executions, f.Decoys)
		}
	}
	for x := range must {
		s.note("join %s not found", x)
	}
}

// weights compares how often each statement is the beginning of something conceptual, or each thing is written.
func (o *observed) weights(m *infer.Model, s *score) {
	is := map[string]float64{}
	group := map[string]string{}
	for _, st := range o.site.statements {
		group[st.trace.Fingerprint] = st.group
		if !st.trace.Write && !st.scan {
			is[st.trace.Fingerprint] = st.roots
		}
	}
	maps.Copy(is, o.site.writes)
	got := map[string]float64{}
	for _, st := range m.Workload.Statements {
		uses := m.UsesOf(st.ID)
		if st.Query == nil {
			if uses[0].PerExecution > 0 {
				got[group[uses[0].Fingerprint]] += st.Weight * m.Seconds
			}
			continue
		}
		for _, u := range uses {
			if !u.Joined {
				got[u.Fingerprint] += st.Weight * u.PerExecution * m.Seconds
			}
		}
	}
	for k, n := range is {
		s.weights += n
		s.weight += math.Abs(n - got[k])
		if d := math.Abs(n - got[k]); d > 0.1*n+20 {
			what := k
			for _, st := range o.site.statements {
				if st.trace.Fingerprint == k {
					what = st.text
				}
			}
			s.note("weight of %s: %.0f, is %.0f", what, got[k], n)
		}
	}
}
