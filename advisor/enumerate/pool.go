package enumerate

import (
	"fmt"
	"slices"
	"sort"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
)

// DefaultMost is the greatest number of candidates of a pool unless Options.Most says otherwise: what the integer program
// takes within a minute.
const DefaultMost = 4000

// Pool is a set of candidate tables, in a fixed order.
type Pool struct {
	Tables []*model.Table
	// Truncated says what limits have cut off, for people; there may be better designs beyond. Empty: nothing was.
	Truncated []string

	rules          *rules
	most           int
	partitionBytes float64
	indexes        bool
	collections    bool
	once           bool

	known   map[string]bool
	allow   func(*model.Table) bool
	ends    map[string]bool     // tables by which a query may end, by ID
	readers map[string][]reader // by the tree's key
	smaller map[string][]string // by the tree's key, those of trees with the same rows and fewer entities
	trees   map[string]model.Tree
}

// Options say what to propose. The zero value proposes everything that every cost model can price.
type Options struct {
	Allow func(*model.Table) bool // candidates for which it is false are left out; nil: none
	Most  int                     // number of tables; 0: DefaultMost
	// Arithmetic says which writes change which tables and what they must ask before; nil: plan.Means.
	Arithmetic plan.Arithmetic
	// PartitionBytes is the size of a partition beyond which candidates are also proposed with buckets; 0: 100 MB, what
	// Cassandra's makers advise.
	PartitionBytes float64
	// Indexes proposes tables by id with storage-attached indexes on what queries compare. Only a cost model that prices
	// what keeping an index takes should ask for them: to others they are free.
	Indexes bool
	// Collections proposes tables that hold what belongs to many in collections (nest.go). NoSE's cost models know of none.
	Collections bool
	// Once cuts each query's graph at one edge at most, as seed 004 has it (W-17): a prefix, a remainder, or the whole. Of n
	// edges that is 2n+1 parts in place of all connected ones.
	Once bool
	// Sparing is Once where that fills the pool already: tables of other parts would come in place of later levels' tables of these.
	Sparing bool
}

// NewPool returns a pool of the given tables.
func NewPool(allow func(*model.Table) bool, tables ...*model.Table) *Pool {
	p := &Pool{rules: &proven, most: DefaultMost, partitionBytes: largePartition, known: map[string]bool{}, allow: allow, ends: map[string]bool{}, readers: map[string][]reader{},
		smaller: map[string][]string{}, trees: map[string]model.Tree{}}
	for _, t := range tables {
		p.Add(t)
	}
	return p
}

// Add adds a table unless the pool has it, it is not allowed or not valid, or there is no room. It reports whether it did.
func (p *Pool) Add(t *model.Table) bool { return p.addIfNew(t) }

func (p *Pool) addIfNew(t *model.Table) bool {
	if t == nil {
		return false
	}
	id := t.ID()
	if p.known[id] || p.allow != nil && !t.Existing && !p.allow(t) || t.Validate() != nil {
		return false
	}
	if p.isFull() {
		p.noteCut("the pool is cut off at %d tables", p.most)
		return false
	}
	p.known[id] = true
	p.Tables = append(p.Tables, t)
	return true
}

// Limit is how many tables the pool has room for, in place of DefaultMost.
func (p *Pool) Limit(most int) { p.most = most }

func (p *Pool) isFull() bool { return len(p.Tables) >= p.most }

func (p *Pool) noteCut(format string, args ...any) {
	what := fmt.Sprintf(format, args...)
	if !slices.Contains(p.Truncated, what) {
		p.Truncated = append(p.Truncated, what)
	}
}

// Workload returns the candidates of a workload (algorithm 4). Existing tables are not among them.
func Workload(w *workload.Workload, o Options) *Pool {
	if o.Sparing && !o.Once {
		narrow := o
		narrow.Once = true
		if p := enumeratePool(w, narrow, &proven); p.isFull() {
			p.noteCut("queries are cut at one edge at most: tables of other parts have no room")
			return p
		}
	}
	p := enumeratePool(w, o, &proven)
	if p.isFull() {
		if narrow := withoutWidest(w, o); narrow != nil {
			return narrow
		}
	}
	return p
}

// withoutWidest returns the candidates over at most wholeParts entities, if there is room for all of those and every query can be answered over them; else nil. Tables over more entities are
// what is dearest to keep, and each brings others for what writes have to read for it: where those fill the pool, narrower ones that would be chosen are not there.
func withoutWidest(w *workload.Workload, o Options) *Pool {
	wide := func(s *workload.Statement) bool { return s.Query != nil && len(s.Query.Tree.Entities) > wholeParts }
	if !slices.ContainsFunc(w.Statements, wide) {
		return nil
	}
	may := o.Allow
	o.Allow = func(t *model.Table) bool { return len(t.Tree.Entities) <= wholeParts && (may == nil || may(t)) }
	p := enumeratePool(w, o, &proven)
	if p.isFull() {
		return nil
	}
	for _, s := range w.Statements {
		if !wide(s) {
			continue
		}
		if space, err := plan.NewSpace(s.Query, p.Tables, o.Arithmetic); err != nil || len(space.Arcs) == 0 {
			return nil
		}
	}
	p.noteCut("tables over more than %d entities are left out: with them there is no room for all", wholeParts)
	return p
}

func enumeratePool(w *workload.Workload, o Options, r *rules) *Pool {
	p := NewPool(o.Allow)
	p.rules = r
	if o.Most > 0 {
		p.most = o.Most
	}
	if o.PartitionBytes > 0 {
		p.partitionBytes = o.PartitionBytes
	}
	p.indexes, p.collections, p.once = o.Indexes, o.Collections, o.Once
	e := &enumeration{pool: p, writes: o.Arithmetic, asked: map[string]bool{}, over: map[string][]*piece{}}
	if e.writes == nil {
		e.writes = plan.Means{}
	}
	for _, s := range w.Statements {
		if s.Write != nil {
			e.written = append(e.written, s.Write)
		}
	}
	sort.SliceStable(e.written, func(i, j int) bool { return e.written[i].String() < e.written[j].String() })
	queries := heaviestFirst(w)
	for _, t := range LookUps(w.Tables, queries) {
		p.addIfNew(t)
	}
	for _, q := range queries {
		e.addQuery(q)
	}
	for level := range levels {
		e.runLevel(level)
		e.combineTables()
	}
	p.uniteAcross()
	e.runLevel(exact) // what writes need for those
	for _, t := range p.Tables {
		t.Static = p.rules.statics(e, t)
	}
	return p
}

// heaviestFirst returns the queries, those of the greatest weight first: if there is no room for all candidates, it is the
// light ones' that are left out, and the same whatever the order of the statements.
func heaviestFirst(w *workload.Workload) []*workload.Query {
	type weighed struct {
		query  *workload.Query
		weight float64
		text   string
	}
	var list []weighed
	for _, s := range w.Statements {
		if s.Query == nil {
			continue
		}
		heaviest := s.Weight
		for _, x := range s.Weights {
			heaviest = max(heaviest, x)
		}
		list = append(list, weighed{s.Query, heaviest, s.Query.String()})
	}
	sort.SliceStable(list, func(i, j int) bool {
		if list[i].weight != list[j].weight {
			return list[i].weight > list[j].weight
		}
		return list[i].text < list[j].text
	})
	queries := make([]*workload.Query, len(list))
	for i, x := range list {
		queries[i] = x.query
	}
	return queries
}

// enumeration is a workload's, under way. It goes through the levels, each for all queries and then, to a fix-point, for
// the support queries that writes need for the tables proposed so far.
type enumeration struct {
	pool    *Pool
	writes  plan.Arithmetic
	written []*workload.Write
	asked   map[string]bool
	parts   []*piece
	over    map[string][]*piece // by the tree's key
	checked int                 // tables whose support queries have been asked
}

// piece is a part of which tables are proposed.
type piece struct {
	part
	done  int  // levels
	first bool // its tables have been proposed before all others
}

// addQuery adds a query, unless it was asked.
func (e *enumeration) addQuery(q *workload.Query) {
	key := q.Key()
	if e.asked[key] {
		return
	}
	e.asked[key] = true
	parts, cut := newQueryShape(q, e.pool.rules).queryParts(e.pool.rules, e.pool.once)
	if cut {
		e.pool.noteCut("%s: of a graph of %d entities not all parts are tried", q, len(q.Tree.Entities))
	}
	for _, x := range parts {
		key, one := x.tree.Key(), &piece{part: x}
		e.parts, e.over[key] = append(e.parts, one), append(e.over[key], one)
		if e.pool.noteReader(x) { // the others' keys may be of use in another order now
			for _, other := range e.over[key] {
				other.done = 0
			}
			for larger, list := range e.pool.smaller {
				if slices.Contains(list, key) {
					for _, other := range e.over[larger] {
						other.done = 0
					}
				}
			}
		}
	}
}

// runLevel adds the candidates of all queries up to a level, and of the support queries that those need, and of those that
// these need, until there are no new ones. Support queries are over parts of the tables' trees and ask for fields of
// theirs, of which there are finitely many, so it ends; the pool's limit ends it earlier.
func (e *enumeration) runLevel(level int) {
	for again := level == exact; again && !e.pool.isFull(); { // what answers each query by one read comes before all else
		e.addSupport()
		again = false
		for _, x := range e.parts {
			if x.entry == nil && len(x.exits) == 0 && !x.first {
				x.first, again = true, true
				e.pool.addForms(x.part, exact)
			}
		}
	}
	for again := true; again && !e.pool.isFull(); {
		again = false
		for _, x := range e.parts {
			for ; x.done <= level && !e.pool.isFull(); x.done++ {
				e.pool.addForms(x.part, x.done)
				again = true
			}
		}
		e.addSupport()
	}
	if e.pool.isFull() {
		e.pool.noteCut("the pool is cut off at %d tables: %s are not all there", e.pool.most, levelNames[level])
	}
}

// addSupport asks the support queries of the tables that are new.
func (e *enumeration) addSupport() {
	for ; e.checked < len(e.pool.Tables); e.checked++ {
		t := e.pool.Tables[e.checked]
		for _, w := range e.written {
			if !e.writes.Modifies(w, t) {
				continue
			}
			for _, s := range e.writes.SupportQueries(w, t) {
				e.addQuery(s.Query)
				if e.writes.Shares() { // NoSE's plans read by nothing but the keys that were found
					for _, own := range e.pool.rules.own(t, s.Query) {
						e.pool.addIfNew(own)
					}
				}
			}
		}
	}
}

// LookUps returns the verified look-up tables for queries over existing tables: for each table and each of its columns
// that a query asks by and that its partition key does not begin with, [column][primary key of the table][].
func LookUps(tables []*model.Table, queries []*workload.Query) []*model.Table {
	var list []*model.Table
	for _, base := range tables {
		if !base.Existing || base.Base != nil {
			continue
		}
		done := map[model.Field]bool{}
		for _, q := range queries {
			for _, p := range q.Where {
				if p.Op != workload.Equal || done[p.Field] || !base.Has(p.Field) || slices.Contains(base.Partition, p.Field) {
					continue
				}
				done[p.Field] = true
				t := &model.Table{Tree: base.Tree, Keyspace: base.Keyspace, Partition: []model.Field{p.Field}, Base: base, Columns: base.Columns, Types: base.Types}
				for _, k := range base.Key() {
					if k != p.Field {
						t.Clustering = append(t.Clustering, k)
					}
				}
				list = append(list, t)
			}
		}
	}
	return list
}
