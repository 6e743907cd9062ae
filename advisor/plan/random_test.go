package plan_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
)

// maker draws models, data, queries and tables.
type maker struct {
	*rand.Rand
	world *world
	graph *model.Graph
}

func (m *maker) chance(p float64) bool { return m.Float64() < p }

func pick[T any](m *maker, list []T) T { return list[m.IntN(len(list))] }

// some draws some of a list, in any order.
func some[T any](m *maker, list []T, p float64) []T {
	var drawn []T
	for _, i := range m.Perm(len(list)) {
		if m.chance(p) {
			drawn = append(drawn, list[i])
		}
	}
	return drawn
}

func newMaker(seed uint64) *maker {
	m := &maker{Rand: rand.New(rand.NewPCG(seed, 6)), graph: &model.Graph{}, world: &world{rows: map[*model.Entity][]map[*model.Attribute]string{}, links: map[*model.Relationship][][2]int{}}}
	for i := range 2 + m.IntN(3) {
		e := &model.Entity{Name: string(rune('A' + i)), Count: float64(2 + m.IntN(4))}
		for j := range 1 + m.IntN(10)/9 {
			e.Key = append(e.Key, &model.Attribute{Name: fmt.Sprintf("id%d", j), Type: "int"})
		}
		e.Attributes = append(e.Attributes, e.Key...)
		for j := range 1 + m.IntN(3) {
			a := &model.Attribute{Name: string(rune('x' + j)), Type: pick(m, []string{"int", "text"}), Distinct: 3}
			if m.chance(0.15) {
				a.Null = 0.3
			}
			e.Attributes = append(e.Attributes, a)
		}
		m.graph.Entities = append(m.graph.Entities, e)
		var rows []map[*model.Attribute]string
		for n := range int(e.Count) {
			row := map[*model.Attribute]string{}
			for j, k := range e.Key {
				if row[k] = strconv.Itoa(n); len(e.Key) > 1 {
					row[k] = strconv.Itoa([]int{n / 2, n % 2}[j])
				}
			}
			for _, a := range e.Attributes[len(e.Key):] {
				if row[a] = strconv.Itoa(m.IntN(3)); m.chance(0.3) {
					row[a] += strconv.Itoa(m.IntN(2))
				}
				if m.chance(a.Null) {
					row[a] = null
				}
			}
			rows = append(rows, row)
		}
		m.world.rows[e] = rows
		if m.chance(0.2) {
			m.alternate(e)
		}
	}
	for i := range len(m.graph.Entities) - 1 + m.IntN(3) {
		from, to := pick(m, m.graph.Entities), pick(m, m.graph.Entities)
		if i < len(m.graph.Entities)-1 {
			from, to = m.graph.Entities[i+1], m.graph.Entities[m.IntN(i+1)]
		}
		if m.chance(0.5) {
			from, to = to, from
		}
		m.relate(fmt.Sprintf("r%d", i), from, to)
	}
	return m
}

// alternate gives an entity a further key.
func (m *maker) alternate(e *model.Entity) {
	a := &model.Attribute{Name: "alt", Type: "text"}
	e.Attributes = append(e.Attributes, a)
	e.Alternate = [][]*model.Attribute{{a}}
	for i, n := range m.Perm(int(e.Count)) {
		m.world.rows[e][i][a] = strconv.Itoa(n)
	}
}

// relate draws a relationship and its pairs.
func (m *maker) relate(name string, from, to *model.Entity) {
	r := &model.Relationship{Name: name, From: from, To: to, Forward: name, Backward: name + "b", Kind: pick(m, []model.Kind{model.OneToOne, model.ManyToOne, model.OneToMany, model.ManyToMany}), Optional: m.chance(0.4)}
	if r.Kind == model.OneToOne && !r.Optional && from.Count > to.Count {
		r.Optional = true
	}
	m.graph.Relationships = append(m.graph.Relationships, r)
	var pairs [][2]int
	nf, nt := int(from.Count), int(to.Count)
	switch r.Kind {
	case model.OneToOne:
		perm := m.Perm(nt)
		for i := range min(nf, nt) {
			if !r.Optional || m.chance(0.6) {
				pairs = append(pairs, [2]int{i, perm[i]})
			}
		}
	case model.ManyToOne:
		for i := range nf {
			if !r.Optional || m.chance(0.6) {
				pairs = append(pairs, [2]int{i, m.IntN(nt)})
			}
		}
	case model.OneToMany:
		for j := range nt {
			if !r.Optional || m.chance(0.6) {
				pairs = append(pairs, [2]int{m.IntN(nf), j})
			}
		}
	case model.ManyToMany:
		for i := range nf {
			for j := range nt {
				if m.chance(0.4) {
					pairs = append(pairs, [2]int{i, j})
				}
			}
		}
	}
	m.world.links[r] = pairs
}

// grow adds an entity to a tree, or a first one.
func (m *maker) grow(t model.Tree) model.Tree {
	if len(t.Entities) == 0 {
		return model.Tree{Entities: []*model.Entity{pick(m, m.graph.Entities)}}
	}
	at := pick(m, t.Entities)
	edges := m.graph.Edges(at.Base())
	if len(edges) == 0 {
		return t
	}
	r := pick(m, edges)
	forward := r.From == at.Base() && (r.To != at.Base() || m.chance(0.5))
	other := r.To
	if !forward {
		other = r.From
	}
	nth := 1
	for _, e := range t.Entities {
		if e.Base() == other {
			nth++
		}
	}
	added := m.graph.Occurrence(other, nth)
	edge := m.graph.Between(r, at, added)
	if !forward {
		edge = m.graph.Between(r, added, at)
	}
	return model.Tree{Entities: append(slices.Clone(t.Entities), added), Edges: append(slices.Clone(t.Edges), edge)}
}

// renumber names a tree's occurrences anew: any of them may be the first.
func (m *maker) renumber(t model.Tree) (model.Tree, map[*model.Entity]*model.Entity) {
	count, to := map[*model.Entity]int{}, map[*model.Entity]*model.Entity{}
	for _, i := range m.Perm(len(t.Entities)) {
		e := t.Entities[i]
		count[e.Base()]++
		to[e] = m.graph.Occurrence(e, count[e.Base()])
	}
	made := model.Tree{}
	for _, e := range t.Entities {
		made.Entities = append(made.Entities, to[e])
	}
	for _, r := range t.Edges {
		made.Edges = append(made.Edges, m.graph.Between(r, to[r.From], to[r.To]))
	}
	return made, to
}

func fieldsIn(t model.Tree) []model.Field {
	var list []model.Field
	for _, e := range t.Entities {
		for _, a := range e.Attributes {
			list = append(list, model.Field{Entity: e, Attribute: a})
		}
	}
	return list
}

// query draws a query of the whole language.
func (m *maker) query() *asked {
	tree := model.Tree{}
	for range 1 + m.IntN(4) {
		tree = m.grow(tree)
	}
	all := fieldsIn(tree)
	q := &asked{Query: &workload.Query{Tree: tree}, values: map[string][]string{}, known: map[model.Field]string{}}
	var sample related
	if rows := m.world.join(tree); len(rows) > 0 {
		sample = pick(m, rows)
	}
	value := func(f model.Field) string {
		if sample != nil && m.chance(0.85) {
			if v := m.world.value(sample, f); v != null {
				return v
			}
		}
		return strconv.Itoa(m.IntN(3))
	}
	compare := func(f model.Field, op workload.Op) {
		p := workload.Predicate{Field: f, Op: op, Value: fmt.Sprintf("?p%d", len(q.Where))}
		q.values[p.Value] = []string{value(f)}
		if op == workload.In {
			p.Items = 2
			q.values[p.Value] = append(q.values[p.Value], value(f), strconv.Itoa(m.IntN(4)))
		}
		q.Where = append(q.Where, p)
	}
	for range m.IntN(4) {
		f := pick(m, all)
		switch m.IntN(10) {
		case 0:
			compare(f, workload.NotEqual)
		case 1:
			compare(f, workload.Like)
			q.values[q.Where[len(q.Where)-1].Value][0] = strconv.Itoa(m.IntN(3))
		case 2:
			compare(f, workload.In)
		case 3:
			compare(f, pick(m, []workload.Op{workload.Greater, workload.GreaterOrEqual}))
			if m.chance(0.5) {
				compare(f, pick(m, []workload.Op{workload.Less, workload.LessOrEqual}))
			}
		case 4:
			compare(f, pick(m, []workload.Op{workload.Less, workload.LessOrEqual}))
		default:
			compare(f, workload.Equal)
		}
	}
	if m.chance(0.15) { // one entity by its key, and what else is known of it
		e := pick(m, tree.Entities)
		for _, k := range e.KeyFields() {
			compare(k, workload.Equal)
		}
		if sample != nil {
			for _, p := range q.Where[len(q.Where)-len(e.Key):] {
				q.values[p.Value][0] = m.world.value(sample, p.Field)
			}
			for _, f := range some(m, fieldsIn(model.Tree{Entities: []*model.Entity{e}}), 0.3) {
				if v := m.world.value(sample, f); v != null && !f.IsKey() {
					q.Known, q.known[f] = append(q.Known, f), v
				}
			}
		}
	}
	m.finish(q, all)
	return q
}

// finish draws what is selected, grouped, ordered and limited.
func (m *maker) finish(q *asked, all []model.Field) {
	drawn := func(from []model.Field) []model.Field {
		list := some(m, from, 0.3)
		return model.AppendNew(list, pick(m, from))
	}
	from := all
	switch {
	case m.chance(0.2):
		if m.chance(0.8) {
			q.GroupBy = drawn(all)
			q.Select, from = some(m, q.GroupBy, 0.7), q.GroupBy
		} else {
			from = nil
		}
		for range m.IntN(3) + 1 {
			a := workload.Aggregate{Func: pick(m, []string{"count", "sum", "min", "max", "avg"}), Field: pick(m, all)}
			if a.Func == "count" && m.chance(0.7) {
				a.Field = model.Field{}
			}
			q.Aggregates = append(q.Aggregates, a)
		}
	default:
		q.Select = drawn(all)
		if q.Distinct = m.chance(0.25); q.Distinct {
			from = q.Select
		}
	}
	if len(from) == 0 {
		return
	}
	if m.chance(0.45) {
		by := from
		if m.chance(0.2) { // groups in the order of their first rows
			by = all
		}
		for _, f := range drawn(by) {
			if len(q.OrderBy) < 3 {
				q.OrderBy = append(q.OrderBy, workload.Order{Field: f, Desc: m.chance(0.4)})
			}
		}
	}
	if m.chance(0.3) {
		q.Limit = 1 + m.IntN(4)
	}
	if m.chance(0.15) {
		q.PerLimit, q.Per = 1+m.IntN(2), drawn(from)
	}
}

// table draws a table that may serve a query: over part of its tree, all of it, or more.
func (m *maker) table(q *asked) *model.Table {
	tree := q.Tree
	if m.chance(0.6) {
		want := 1 + m.IntN(len(q.Tree.Entities))
		start := pick(m, q.Tree.Entities)
		tree = q.Tree.Reach(start, func(r *model.Relationship, _ *model.Entity) bool {
			want--
			return want > 0
		})
	}
	if m.chance(0.3) {
		tree = m.beyond(tree)
	}
	made, to := m.renumber(tree)
	moved := func(f model.Field) model.Field { return model.Field{Entity: to[f.Entity], Attribute: f.Attribute} }
	all := fieldsIn(made)
	var points, ranges []model.Field
	for _, p := range q.Where {
		if to[p.Field.Entity] == nil {
			continue
		}
		if isPoint(p.Op) {
			points = model.AppendNew(points, moved(p.Field))
		} else {
			ranges = model.AppendNew(ranges, moved(p.Field))
		}
	}
	var keys, ordered []model.Field
	for _, e := range made.Entities {
		keys = append(keys, e.KeyFields()...)
	}
	for _, o := range q.OrderBy {
		if to[o.Field.Entity] != nil {
			ordered = model.AppendNew(ordered, moved(o.Field))
		}
	}
	t := &model.Table{Tree: made}
	add := func(list *[]model.Field, fields ...model.Field) {
		for _, f := range fields {
			if !t.Has(f) {
				*list = append(*list, f)
			}
		}
	}
	switch {
	case m.chance(0.6):
		add(&t.Partition, some(m, points, 0.7)...)
	case m.chance(0.7):
		add(&t.Partition, pick(m, made.Entities).KeyFields()...)
	default:
		add(&t.Partition, pick(m, all))
	}
	if m.chance(0.15) || len(t.Partition) == 0 && m.chance(0.5) {
		t.Bucket = &model.Bucket{Count: 1}
		if m.chance(0.7) {
			t.Bucket = &model.Bucket{Of: pick(m, all), Count: 3}
			if t.Bucket.Of.Attribute.Null > 0 {
				t.Bucket.Of = keys[0]
			}
			if m.chance(0.5) {
				t.Bucket.Width, t.Bucket.Count = 2, 5
			}
		}
	}
	if len(t.Partition) == 0 && t.Bucket == nil {
		add(&t.Partition, pick(m, made.Entities).KeyFields()...)
	}
	add(&t.Clustering, some(m, points, 0.5)...)
	if groups := len(q.GroupBy); groups > 0 && m.chance(0.5) {
		for _, f := range q.GroupBy {
			if to[f.Entity] != nil {
				add(&t.Clustering, moved(f))
			}
		}
	}
	add(&t.Clustering, ordered[:m.IntN(len(ordered)+1)]...)
	add(&t.Clustering, some(m, ranges, 0.5)...)
	if m.chance(0.2) {
		add(&t.Clustering, pick(m, all))
	}
	for _, i := range m.Perm(len(keys)) {
		add(&t.Clustering, keys[i])
	}
	for _, f := range all {
		if m.chance(0.6) {
			add(&t.Values, f)
		}
	}
	flip := m.chance(0.3)
	for _, o := range q.OrderBy {
		if to[o.Field.Entity] != nil && slices.Contains(t.Clustering, moved(o.Field)) && o.Desc != flip && m.chance(0.8) {
			t.Desc = model.AppendNew(t.Desc, moved(o.Field))
		}
	}
	t.Desc = model.AppendNew(t.Desc, some(m, t.Clustering, 0.1)...)
	for _, f := range t.Values { // what the partition's entity has once
		for _, e := range made.Entities {
			if keyIn(t.Partition, e) && made.Determined(e).Has(f.Entity) && !slices.Contains(t.Static, f) && m.chance(0.5) {
				t.Static = append(t.Static, f)
			}
		}
	}
	for m.chance(0.35) {
		m.nest(t)
	}
	t.ScanAllowed = m.chance(0.2)
	if m.chance(0.25) {
		for _, f := range append(slices.Clone(t.Clustering), t.Values...) {
			if (slices.Contains(points, f) || slices.Contains(ranges, f)) && m.chance(0.7) {
				t.Indexes = append(t.Indexes, model.Index{Name: "i" + f.String(), Field: f, SAI: m.chance(0.6)})
			}
		}
	}
	return t
}

// nest draws a collection for a table, if one over the relationship drawn can be.
func (m *maker) nest(t *model.Table) {
	owner := pick(m, t.Tree.Entities)
	edges := m.graph.Edges(owner.Base())
	if len(edges) == 0 {
		return
	}
	r := pick(m, edges)
	forward := r.From == owner.Base() && (r.To != owner.Base() || m.chance(0.5))
	hang := func(r *model.Relationship, at *model.Entity, forward bool) (*model.Entity, *model.Relationship) {
		other := r.To
		if !forward {
			other = r.From
		}
		added := m.graph.Occurrence(other, 20+m.IntN(40))
		if forward {
			return added, m.graph.Between(r, at, added)
		}
		return added, m.graph.Between(r, added, at)
	}
	first, edge := hang(r, owner, forward)
	n := &model.Nest{Edge: edge, Tree: model.Tree{Entities: []*model.Entity{first}}}
	for _, r := range m.graph.Edges(first.Base()) { // and what it has one of
		if forward := r.From == first.Base(); r.From != r.To && r.Base() != edge.Base() && m.chance(0.4) {
			added, edge := hang(r, first, forward)
			if edge.ToOne(first) {
				n.Tree.Entities, n.Tree.Edges = append(n.Tree.Entities, added), append(n.Tree.Edges, edge)
			}
		}
	}
	n.Key = pick(m, fieldsIn(model.Tree{Entities: n.Tree.Entities[:1]}))
	if m.chance(0.8) {
		n.Key = first.KeyFields()[0]
	}
	for _, f := range some(m, fieldsIn(n.Tree), 0.6) {
		if f != n.Key {
			n.Values = append(n.Values, f)
		}
	}
	before := t.Nests
	t.Nests = append(t.Nests, n)
	if t.Validate() != nil {
		t.Nests = before
	}
}

func keyIn(fields []model.Field, e *model.Entity) bool {
	for _, k := range e.KeyFields() {
		if !slices.Contains(fields, k) {
			return false
		}
	}
	return true
}

// beyond grows a tree of which the occurrences are numbered by another tree's: it takes numbers that are free in both.
func (m *maker) beyond(t model.Tree) model.Tree {
	at := pick(m, t.Entities)
	edges := m.graph.Edges(at.Base())
	if len(edges) == 0 {
		return t
	}
	r := pick(m, edges)
	other := r.To
	if other == at.Base() {
		other = r.From
	}
	added := m.graph.Occurrence(other, 9)
	edge := m.graph.Between(r, at, added)
	if r.From != at.Base() {
		edge = m.graph.Between(r, added, at)
	}
	return model.Tree{Entities: append(slices.Clone(t.Entities), added), Edges: append(slices.Clone(t.Edges), edge)}
}

// worlds is how many random models are drawn; HELENUS_TEST_WORLDS draws more.
func worlds(t *testing.T, n int) uint64 {
	if text := os.Getenv("HELENUS_TEST_WORLDS"); text != "" {
		more, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		n = more
	}
	return uint64(n)
}

// TestEveryPlanAnswers runs every plan of random spaces: N-21 (steps), N-22 and N-23 (all ways, over tables that hold
// more), N-24 (any order), N-28 (sorted where asked), N-5 (bag semantics).
func TestEveryPlanAnswers(t *testing.T) {
	ran := map[string]int{}
	plans, spaces, answered := 0, 0, 0
	for seed := range worlds(t, 150) {
		m := newMaker(seed)
		for range 6 {
			q := m.query()
			var tables []*model.Table
			data := map[*model.Table]*stored{}
			for range 3 + m.IntN(6) {
				table := m.table(q)
				tables = append(tables, table)
				data[table] = m.world.store(table)
			}
			s, err := plan.NewSpace(q.Query, tables, nil)
			if err != nil {
				t.Fatal(err)
			}
			whole := q.answer(m.world)
			spaces++
			if len(s.Arcs) > 0 {
				answered++
			}
			for _, p := range s.Plans(200) {
				plans++
				run := &machine{world: m.world, asked: q, tables: data, ran: ran}
				got, err := run.run(p)
				wrong := ""
				if err == nil {
					wrong = q.wrong(got, whole)
				}
				if err != nil || wrong != "" {
					t.Fatalf("seed %d: %v %s\nquery %s\n%s\nplan\n%s\n%s", seed, err, wrong, describe(q), values(q), p, tablesOf(p))
				}
			}
		}
	}
	t.Logf("%d plans of %d spaces, %d of them not empty; met %v", plans, spaces, answered, ran)
	if answered*4 < spaces {
		t.Errorf("only %d of %d spaces have plans", answered, spaces)
	}
	for _, feature := range []string{"get", "index get", "scan", "filter", "sort", "limit", "limit each", "group", "distinct", "embedding", "reverse", "bucket told", "several buckets",
		"limit on the server", "per partition limit", "group on the server", "multi-get", "clustering IN", "clustering LIKE", "index in one partition", "several indexes", "unnest", "several nests"} {
		if ran[feature] == 0 {
			t.Errorf("no plan has met: %s", feature)
		}
	}
}

func describe(q *asked) string {
	return fmt.Sprintf("%s DISTINCT %v GROUP BY %v %v LIMIT %d PER %v %d GIVEN %v", q.Query, q.Distinct, q.GroupBy, q.Aggregates, q.Limit, q.Per, q.PerLimit, q.Known)
}

func values(q *asked) string { return fmt.Sprint(q.values, q.known) }

func tablesOf(p *plan.Plan) string {
	var lines []string
	for _, t := range p.Tables() {
		for _, n := range t.Nests {
			lines = append(lines, fmt.Sprintf("  nest over %s %s %s-%s of %s, key %s, values %v", n.Edge.Name, n.Edge.Kind, n.Edge.From.Name, n.Edge.To.Name, n.Tree.Path(), n.Key, n.Values))
		}
		lines = append(lines, fmt.Sprintf("%s desc %v static %v bucket %v indexes %v over %s %s", t, t.Desc, t.Static, t.Bucket, t.Indexes, t.Tree.Path(), t.Tree.Key()))
		for _, r := range t.Tree.Edges {
			lines = append(lines, fmt.Sprintf("  %s %s %s-%s optional %v", r.Name, r.Kind, r.From.Name, r.To.Name, r.Optional))
		}
	}
	return strings.Join(lines, "\n")
}

// TestNothingCheapIsLost compares spaces with those from which nothing is left out: whatever tables are allowed and
// whatever things cost, the cheapest plan costs the same (N-25: the space stays small; N-30).
func TestNothingCheapIsLost(t *testing.T) {
	arcs, whole := 0, 0
	for seed := range worlds(t, 100) {
		m := newMaker(seed)
		for range 4 {
			q := m.query()
			var tables []*model.Table
			for range 4 + m.IntN(8) {
				tables = append(tables, m.table(q))
			}
			small, err := plan.NewSpace(q.Query, tables, nil)
			if err != nil {
				t.Fatal(err)
			}
			large, err := plan.NewWholeSpace(q.Query, tables)
			if err != nil {
				t.Fatal(err)
			}
			arcs, whole = arcs+len(small.Arcs), whole+len(large.Arcs)
			for range 12 {
				prices := m.prices()
				allowed := map[*model.Table]bool{}
				for _, table := range tables {
					allowed[table] = m.chance(0.6)
				}
				is := func(table *model.Table) bool { return allowed[table] }
				one, got := small.Cheapest(prices, is)
				other, want := large.Cheapest(prices, is)
				if (one == nil) != (other == nil) || math.Abs(got-want) > 1e-9*(1+want) {
					t.Fatalf("seed %d: the cheapest plan costs %g, %g if nothing is left out: %s", seed, got, want, describe(q))
				}
			}
		}
	}
	t.Logf("%d of %d arcs", arcs, whole)
	if arcs >= whole {
		t.Error("nothing is left out")
	}
}

// prices draws a cost model: linear, and the first read may be cheaper.
func (m *maker) prices() func(*plan.Arc) float64 {
	draw := func() float64 { return float64(m.IntN(3)) * m.Float64() }
	request, row, size, scanned, sort, group, first := draw(), draw(), draw(), draw(), draw(), draw(), m.Float64()
	return func(a *plan.Arc) float64 {
		sum := 0.0
		for i := range a.Steps {
			s := &a.Steps[i]
			price := s.Requests*request + s.Rows*row + s.Bytes*size + s.Scanned*scanned
			switch s.Kind {
			case plan.Filter, plan.Limit, plan.LimitEach:
				price = 0
			case plan.Sort:
				price += sort
			case plan.Group, plan.Distinct:
				price += group
			}
			if a.From == plan.SourceState && i == 0 {
				price *= first
			}
			sum += price
		}
		return sum
	}
}
