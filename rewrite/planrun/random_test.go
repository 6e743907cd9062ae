package planrun_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/bench/generate"
	"github.com/helenus-db/helenus/internal/cassandra/cassandratest"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/planrun"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, cassandratest.Outliving()) }

func (w *world) chance(p float64) bool { return w.random.Float64() < p }

func pick[T any](w *world, list []T) T { return list[w.random.IntN(len(list))] }

func some[T any](w *world, list []T, p float64) []T {
	var drawn []T
	for _, i := range w.random.Perm(len(list)) {
		if w.chance(p) {
			drawn = append(drawn, list[i])
		}
	}
	return drawn
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

// part cuts a tree, or lets it grow beyond, and numbers its occurrences anew.
func (w *world) part(g *model.Graph, tree model.Tree) (model.Tree, map[*model.Entity]*model.Entity) {
	if w.chance(0.6) {
		want := 1 + w.random.IntN(len(tree.Entities))
		tree = tree.Reach(pick(w, tree.Entities), func(*model.Relationship, *model.Entity) bool { want--; return want > 0 })
	}
	at := pick(w, tree.Entities)
	if ways := g.Ways(at); w.chance(0.25) && len(ways) > 0 {
		way := pick(w, ways)
		to := g.Occurrence(way.To(), 9)
		tree = model.Tree{Entities: append(slices.Clone(tree.Entities), to), Edges: append(slices.Clone(tree.Edges), way.Between(g, at, to))}
	}
	count, as := map[*model.Entity]int{}, map[*model.Entity]*model.Entity{}
	made := model.Tree{Entities: make([]*model.Entity, len(tree.Entities))}
	for _, i := range w.random.Perm(len(tree.Entities)) {
		e := tree.Entities[i]
		count[e.Base()]++
		as[e] = g.Occurrence(e, count[e.Base()])
		made.Entities[i] = as[e]
	}
	for _, r := range tree.Edges {
		made.Edges = append(made.Edges, g.Between(r, as[r.From], as[r.To]))
	}
	return made, as
}

// table draws one that may serve a query: over part of its tree, all of it, or more.
func (w *world) table(g *model.Graph, q *workload.Query, name string) *model.Table {
	made, as := w.part(g, q.Tree)
	moved := func(f model.Field) model.Field { return model.Field{Entity: as[f.Entity], Attribute: f.Attribute} }
	t := &model.Table{Tree: made, Name: name}
	add := func(list *[]model.Field, fields ...model.Field) {
		for _, f := range fields {
			if f.Entity != nil && !t.Has(f) {
				*list = append(*list, f)
			}
		}
	}
	var points, ranges, keys []model.Field
	for _, p := range q.Where {
		switch {
		case as[p.Field.Entity] == nil:
		case p.Op == workload.Equal || p.Op == workload.In:
			points = append(points, moved(p.Field))
		default:
			ranges = append(ranges, moved(p.Field))
		}
	}
	for _, e := range made.Entities {
		keys = append(keys, e.KeyFields()...)
	}
	switch all := fieldsIn(made); {
	case w.chance(0.6):
		add(&t.Partition, some(w, points, 0.7)...)
	case w.chance(0.7):
		add(&t.Partition, pick(w, made.Entities).KeyFields()...)
	default:
		add(&t.Partition, pick(w, all))
	}
	if w.chance(0.15) || len(t.Partition) == 0 && w.chance(0.5) {
		if t.Bucket = (&model.Bucket{Count: 1}); w.chance(0.8) {
			t.Bucket = &model.Bucket{Of: pick(w, append(slices.Clone(keys), ranges...)), Count: 3}
			if kind := t.Bucket.Of.Attribute.Type; kind == "int" || kind == "bigint" || kind == "timestamp" || kind == "date" {
				t.Bucket.Width, t.Bucket.Count = map[string]float64{"int": 2, "bigint": 2}[kind], 5
				if t.Bucket.Width == 0 {
					t.Bucket.Width = 2 * 86400
				}
			}
		}
	}
	if len(t.Partition) == 0 && t.Bucket == nil {
		add(&t.Partition, pick(w, made.Entities).KeyFields()...)
	}
	add(&t.Clustering, some(w, points, 0.5)...)
	for _, f := range q.GroupBy {
		if w.chance(0.6) {
			add(&t.Clustering, moved(f))
		}
	}
	for _, o := range q.OrderBy {
		if w.chance(0.7) {
			add(&t.Clustering, moved(o.Field))
		}
	}
	add(&t.Clustering, some(w, ranges, 0.6)...)
	for _, i := range w.random.Perm(len(keys)) {
		add(&t.Clustering, keys[i])
	}
	for _, f := range fieldsIn(made) {
		if w.chance(0.6) {
			add(&t.Values, f)
		}
	}
	flip := w.chance(0.3)
	for _, o := range q.OrderBy {
		if slices.Contains(t.Clustering, moved(o.Field)) && o.Desc != flip {
			t.Desc = model.AppendNew(t.Desc, moved(o.Field))
		}
	}
	for _, f := range t.Values { // what the partition's entity has once
		for _, e := range made.Entities {
			keyed := !slices.ContainsFunc(e.KeyFields(), func(k model.Field) bool { return !slices.Contains(t.Partition, k) })
			if keyed && len(t.Clustering) > 0 && made.Determined(e).Has(f.Entity) && !slices.Contains(t.Static, f) && w.chance(0.5) {
				t.Static = append(t.Static, f)
			}
		}
	}
	t.ScanAllowed = w.chance(0.2)
	for _, f := range append(slices.Clone(t.Clustering), t.Values...) {
		if (slices.Contains(points, f) || slices.Contains(ranges, f)) && w.chance(0.2) && !slices.Contains(t.Static, f) {
			t.Indexes = append(t.Indexes, model.Index{Name: name + "_" + t.ColumnName(f) + "_idx", Field: f, SAI: w.chance(0.7)})
		}
	}
	for _, f := range t.Fields() { // columns of another type than the attribute's
		if wider := map[string]string{"int": "bigint", "text": "varchar"}[f.Attribute.Type]; wider != "" && w.chance(0.1) && !slices.Contains(q.Select, f) {
			if t.Types == nil {
				t.Types = map[model.Field]string{}
			}
			t.Types[f] = wider
		}
	}
	if t.Validate() != nil {
		return nil // a bucket of what is not there, say
	}
	return t
}

// number is how often something random is tried; an environment variable says more.
func number(t testing.TB, variable string, n int) uint64 {
	if text := os.Getenv(variable); text != "" {
		more, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		n = more
	}
	return uint64(n)
}

// drawn is a random model with data, its queries, and tables for each.
type drawn struct {
	world   *world
	queries []*asked
	tables  [][]*model.Table
	writes  []*workload.Write
	graph   *model.Graph
}

func draw(seed uint64) *drawn {
	made := generate.Varied(seed)
	d := &drawn{world: newWorld(made.Graph, seed), graph: made.Graph}
	for _, s := range made.Statements {
		q := s.Query
		if q == nil {
			d.writes = append(d.writes, s.Write)
			continue
		}
		if d.world.chance(0.3) { // a plain ? for each
			for i := range q.Where {
				q.Where[i].Value = "?"
			}
		}
		if d.world.chance(0.1) && len(q.Where) > 0 { // the same condition again
			q.Where = append(q.Where, q.Where[0])
		}
		if len(q.Aggregates) > 0 || len(q.GroupBy) > 0 {
			q.Select = q.GroupBy
		}
		q.Select = model.AppendNew(model.AppendNew(q.Select, q.Ordered()...), q.Per...)
		var tables []*model.Table
		for range 4 + d.world.random.IntN(8) {
			if t := d.world.table(made.Graph, q, fmt.Sprintf("t%d_%d", len(d.queries), len(tables))); t != nil {
				tables = append(tables, t)
			}
		}
		d.queries, d.tables = append(d.queries, d.world.ask(q)), append(d.tables, tables)
	}
	return d
}

// TestProgramsAnswer runs every plan of random spaces over random tables against a Cassandra in memory: each answers what
// the query asks by definition.
func TestProgramsAnswer(t *testing.T) {
	met := map[string]int{}
	plans := 0
	const usual = 80
	worlds := number(t, "HELENUS_TEST_WORLDS", usual)
	for seed := range worlds {
		d := draw(seed)
		for i, a := range d.queries {
			db := &fake{tables: map[string]*stored{}, met: met}
			for _, table := range d.tables[i] {
				db.tables[table.Name] = d.world.store(table)
			}
			plans += check(t, seed, d, i, db, met, a.answer(d.world))
		}
	}
	t.Logf("%d plans; met %v", plans, met)
	for _, feature := range []string{"get", "index get", "scan", "filter", "sort", "limit", "limit each", "group", "distinct", "embedding", "reverse", "buckets told", "bucket",
		"per partition limit", "GROUP BY", "aggregates", "IN of a partition key", "clustering IN", "clustering LIKE", "index in a partition", "fed", "static", "other type"} {
		if met[feature] == 0 && worlds >= usual {
			t.Errorf("no plan has met: %s", feature)
		}
	}
}

// check runs the plans of a query, and returns how many.
func check(t *testing.T, seed uint64, d *drawn, i int, db exec.Session, met map[string]int, whole []line) int {
	t.Helper()
	a := d.queries[i]
	space, err := plan.NewSpace(a.Query, d.tables[i], nil)
	if err != nil {
		t.Fatal(err)
	}
	plans := space.Plans(60)
	for _, p := range plans {
		for n := range p.Steps {
			note(&p.Steps[n], met)
		}
		wrong := ""
		var rows *planrun.Rows
		program, err := planrun.Compile(p)
		if err == nil {
			account := &planrun.Account{}
			options := planrun.RunOptions{Parallel: 1 + int(seed%4)}
			if seed%2 == 0 {
				options.Account = account
			}
			if rows, err = program.Run(context.Background(), db, a.parameters(t), options); err == nil {
				if wrong = a.wrong(rows, whole); wrong == "" && seed%2 == 0 && account.Steps[len(account.Steps)-1].Left != len(rows.Cells) {
					wrong = "the account is wrong"
				}
			}
		}
		if err != nil || wrong != "" {
			t.Fatalf("seed %d: %v %s\nquery %s\nvalues %q\n%s\n%s", seed, err, wrong, a.Query, a.values, p, tablesOf(p))
		}
	}
	return len(plans)
}

func note(s *plan.Step, met map[string]int) {
	met[string(s.Kind)]++
	has := func(feature string, there bool) {
		if there {
			met[feature]++
		}
	}
	has("embedding", s.As != nil)
	has("buckets told", len(s.Bucket) > 0)
	has("bucket", s.Table != nil && s.Table.Bucket != nil)
	has("static", s.Table != nil && len(s.Table.Static) > 0)
	has("other type", s.Table != nil && len(s.Table.Types) > 0)
	has("index in a partition", s.Kind == plan.IndexGet && len(s.Partition) > 0)
	for _, b := range s.Partition {
		has("IN of a partition key", b.Op == workload.In)
		has("fed", b.Value == "")
	}
	for _, b := range s.Clustering {
		has("clustering LIKE", b.Op == workload.Like)
	}
}

func tablesOf(p *plan.Plan) string {
	var lines []string
	for _, t := range p.Tables() {
		lines = append(lines, fmt.Sprintf("%s %s indexes %v over %s", t.CQL("", t.Name), t, t.Indexes, t.Tree.Path()))
	}
	return strings.Join(lines, "\n")
}
