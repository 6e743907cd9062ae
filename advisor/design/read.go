package design

import (
	"fmt"

	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
)

// dropUnused drops the tables that no plan reads. A support query's plan may read a table that nothing else does.
func (t *task) dropUnused(c selection) selection {
	for {
		reads := append(selection(nil), t.fixed...)
		hurried, _, _ := t.ceilingPaths(c)
		for _, d := range t.demands {
			if !d.presentUnder(c) {
				continue
			}
			path := hurried[d]
			if path == nil {
				path, _ = d.space.CheapestPath(t.priceOf(d), t.allowedBy(c))
			}
			for _, a := range path {
				if n, ok := t.number[a.Table]; ok {
					reads[n] = true
				}
			}
		}
		same := true
		for n := range c {
			same = same && reads[n] == c[n]
		}
		if same {
			return c
		}
		c = reads
	}
}

// readDesign reads tables and plans off a choice.
func (t *task) readDesign(c selection, by string) *Design {
	d := &Design{work: t.work, Name: t.work.Name, Mix: t.work.Mix, Model: by, Answerable: true}
	none := make(selection, len(c)) // what there is without the design
	for n, table := range t.candidates {
		none[n] = table.Kept
	}
	readers := map[*model.Table][]string{}
	paid, before := map[*demand]bool{}, map[*demand]bool{} // support queries, by the first statement that asks
	hurried, _, _ := t.ceilingPaths(c)
	for i, s := range t.work.Statements {
		st := &Statement{Statement: s}
		if s.Query != nil {
			var current bool
			st.Plan, st.Cost, st.ByHand, _ = t.planOf(i, c)
			if st.Current, st.CurrentCost, _, current = t.planOf(i, none); !current {
				d.Answerable = false
			}
			for _, table := range st.Plan.Tables() {
				readers[table] = append(readers[table], s.ID)
			}
		} else {
			_, current, answerable := t.planWrites(i, none, nil, before, nil)
			st.CurrentCost, d.Answerable = current, d.Answerable && answerable
			st.Writes, st.Cost, _ = t.planWrites(i, c, readers, paid, hurried)
		}
		d.Before += s.Weight * st.CurrentCost.Work
		d.After += s.Weight * st.Cost.Work
		d.Statements = append(d.Statements, st)
	}
	for _, table := range t.existing {
		if len(readers[table]) > 0 {
			d.Tables = append(d.Tables, &Table{Table: table, Name: table.Name, Bytes: t.arithmetic.TableBytes(table), Statements: readers[table]})
		}
	}
	taken := map[string]bool{}
	for _, table := range t.existing {
		taken[table.Name] = true
	}
	for n, table := range t.candidates {
		if !c[n] {
			continue
		}
		name := table.Name
		if given := t.names[table]; given != "" {
			name = given
		}
		if name == "" {
			name = tableName(table, taken)
		}
		taken[name] = true
		made := &Table{Table: table, Name: name, Bytes: t.arithmetic.TableBytes(table), Statements: readers[table]}
		if !table.Kept {
			made.CQL = table.CQL(t.keyspaceFor(table), name)
		}
		d.Tables = append(d.Tables, made)
	}
	t.judgeSafety(d, c)
	return d
}

// keyspaceFor is where a candidate goes: where its base is, else where all existing tables are.
func (t *task) keyspaceFor(table *model.Table) string {
	if table.Keyspace != "" {
		return table.Keyspace
	}
	keyspace := ""
	for _, e := range t.existing {
		if keyspace != "" && e.Keyspace != keyspace {
			return ""
		}
		keyspace = e.Keyspace
	}
	return keyspace
}

// planOf is the cheapest plan of a query of the workload under a choice, what it costs, and whether it is what is done by hand; false if there is none.
func (t *task) planOf(statement int, c selection) (p *plan.Plan, price cost.Cost, byHand, ok bool) {
	d := t.queries[statement]
	path, work := d.space.CheapestPath(t.priceOf(d), t.allowedBy(c))
	if path == nil {
		return nil, cost.Cost{}, false, false
	}
	p = d.space.Plan(path)
	price, byHand = cost.Plan(t.models[statement], p), path[0].Hand != nil
	if byHand || t.price != nil { // more is known than what the steps say
		price.Work = work
	}
	return p, price, byHand, true
}

// planWrites plans a write: support queries, then what is written, for each table. Support queries that several tables need
// are planned with the first and paid once, also by a transaction: those in paid are; one that is part of another's answer is not asked. readers, if not nil, learns who reads which table. hurried are paths by which support queries are answered that need
// not be the cheapest. What it takes until done is reckoned as package cost does (Writes), with all that it has to know. False: a support query
// can not be answered.
func (t *task) planWrites(statement int, c selection, readers map[*model.Table][]string, paid map[*demand]bool, hurried map[*demand][]*plan.Arc) (plans []*plan.WritePlan, sum cost.Cost, ok bool) {
	s, m := t.work.Statements[statement], t.models[statement]
	for _, p := range t.asTheyAre[statement] {
		plans = append(plans, p)
		sum = sum.Plus(cost.Write(m, p))
	}
	ok = true
	for _, n := range t.written[statement] {
		if !c[n] {
			continue
		}
		table := t.candidates[n]
		if work, known := t.given(statement, table); known {
			plans, sum.Work = append(plans, &plan.WritePlan{Write: s.Write, Table: table}), sum.Work+work
			continue
		}
		p := &plan.WritePlan{Write: s.Write, Table: table, Steps: t.writeSteps(statement, n)}
		for _, d := range t.supports[kept{statement, n}] {
			if paid[d] {
				continue
			}
			paid[d] = true
			support := d.space.Plan(hurried[d])
			if hurried[d] == nil {
				support, _ = d.space.Cheapest(t.priceOf(d), t.allowedBy(c))
			}
			if support == nil {
				ok = false
				continue
			}
			if len(support.Steps) == 0 {
				continue // it is part of what is asked for another table
			}
			p.Support = append(p.Support, support)
			sum = sum.Plus(cost.Plan(m, support).Times(d.times))
			for _, read := range support.Tables() {
				if ids := readers[read]; readers != nil && (len(ids) == 0 || ids[len(ids)-1] != s.ID) {
					readers[read] = append(ids, s.ID)
				}
			}
		}
		plans = append(plans, p)
		for i := range p.Steps {
			sum = sum.Plus(m.Step(&p.Steps[i], false))
		}
		sum.Work += t.penaltyOf(n)
	}
	if unitOf(m.Name()) == "ms" {
		sum.Latency = t.writeLatency(statement, c, hurried)
	}
	return plans, sum, ok
}

// tableName makes a name of what a table is for: entities_by_partition_key.
func tableName(table *model.Table, taken map[string]bool) string {
	what := table.Tree.Entities[0]
	for _, e := range table.Tree.Entities { // the entity of which there is a row each
		if len(table.Tree.Determined(e).Entities) == len(table.Tree.Entities) {
			what = e
			break
		}
	}
	name := model.Identifier(what.Name)
	if table.Base != nil {
		name = "helenus_" + table.Base.Name
	}
	name += "_by"
	for _, f := range table.Partition {
		name += "_" + table.ColumnName(f)
	}
	name = name[:min(len(name), 44)]
	if !taken[name] {
		return name
	}
	for i := 2; ; i++ {
		if next := fmt.Sprintf("%s_%d", name, i); !taken[next] {
			return next
		}
	}
}
