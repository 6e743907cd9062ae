package enumerate

import (
	"fmt"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
)

// maxTables is the greatest number of candidates of a pool.
const maxTables = 2000

// Pool is a set of candidate tables, in a fixed order.
type Pool struct {
	Tables    []*model.Table
	Truncated []string // what limits have cut off

	known map[string]bool
	allow func(*model.Table) bool
}

// Options say what to propose. The zero value proposes everything.
type Options struct {
	Allow     func(*model.Table) bool // candidates for which it is false are left out; nil: none
	NoRelax   bool                    // do not relax queries
	NoCombine bool                    // do not unite tables
	// Arithmetic says which support queries writes need; nil: plan.Means.
	Arithmetic plan.Arithmetic
}

// NewPool returns a pool of the given tables.
func NewPool(allow func(*model.Table) bool, tables ...*model.Table) *Pool {
	p := &Pool{known: map[string]bool{}, allow: allow}
	for _, t := range tables {
		p.Add(t)
	}
	return p
}

// Add adds a table unless the pool has it, it is not allowed, or there is no room. It tells whether it did.
func (p *Pool) Add(t *model.Table) bool { return p.add(t) }

func (p *Pool) add(t *model.Table) bool {
	id := t.ID()
	if p.known[id] || p.allow != nil && !t.Existing && !p.allow(t) || t.Validate() != nil {
		return false
	}
	if len(p.Tables) >= maxTables {
		p.cut(fmt.Sprintf("the pool is cut off at %d tables", maxTables))
		return false
	}
	p.known[id] = true
	p.Tables = append(p.Tables, t)
	return true
}

func (p *Pool) cut(what string) {
	for _, x := range p.Truncated {
		if x == what {
			return
		}
	}
	p.Truncated = append(p.Truncated, what)
}

// Query adds the candidates of one query.
func (p *Pool) Query(q *workload.Query, relax bool) {
	e := &enumerator{relax: relax, pool: p, seen: map[string]bool{}}
	e.query(q, nil)
	if e.truncated {
		p.cut(fmt.Sprintf("%s: cut off at %d partial queries", q, maxQueries))
	}
}

// Workload returns the candidates of a workload (algorithm 4). Existing tables are not among them.
func Workload(w *workload.Workload, o Options) *Pool {
	p := NewPool(o.Allow)
	if o.Arithmetic == nil {
		o.Arithmetic = plan.Means{}
	}
	var queries []*workload.Query
	for _, s := range w.Statements {
		if s.Query != nil {
			queries = append(queries, s.Query)
			p.Query(s.Query, !o.NoRelax)
		}
	}
	for _, t := range LookUps(w.Tables, queries) {
		p.add(t)
	}
	asked := map[string]bool{}
	for range 2 { // support queries need tables, which need support queries
		tables := p.Tables
		for _, s := range w.Statements {
			if s.Write == nil {
				continue
			}
			for _, t := range tables {
				if !o.Arithmetic.Modifies(s.Write, t) {
					continue
				}
				for _, support := range o.Arithmetic.SupportQueries(s.Write, t) {
					if key := support.Query.Key(); !asked[key] {
						asked[key] = true
						p.Query(support.Query, false)
					}
				}
			}
		}
	}
	if !o.NoCombine {
		p.Combine()
	}
	return p
}

// Combine adds the union of each two tables over the same graph with the same partition key, no clustering key and
// different values (section 4.1.3), and the union of all such tables.
func (p *Pool) Combine() {
	groups := map[string][]*model.Table{}
	var order []string
	for _, t := range p.Tables {
		if len(t.Clustering) > 0 || t.Existing || t.Base != nil {
			continue
		}
		alike := &model.Table{Tree: t.Tree, Partition: t.Partition}
		key := alike.ID()
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], t)
	}
	for _, key := range order {
		group := groups[key]
		all := group[0]
		for i, a := range group {
			for _, b := range group[:i] {
				p.add(unite(a, b))
			}
			all = unite(all, a)
		}
		p.add(all)
	}
}

func unite(a, b *model.Table) *model.Table {
	return &model.Table{Tree: a.Tree, Partition: a.Partition, Values: model.AppendNew(a.Values[:len(a.Values):len(a.Values)], b.Values...)}
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
				if p.Op != workload.Equal || done[p.Field] || !base.Has(p.Field) || contains(base.Partition, p.Field) {
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

func contains(fields []model.Field, f model.Field) bool {
	for _, x := range fields {
		if x == f {
			return true
		}
	}
	return false
}
