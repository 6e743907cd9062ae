package planrun_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/planrun"
)

// kept is a fake that takes writes, as Cassandra does: with timestamps, row markers, tombstones, and static columns that
// outlive their rows.
type kept struct {
	*fake
	mu     sync.Mutex
	cells  map[string]*cellsOf // by table
	writes int
	fail   func(n int) error // the n-th write or batch, from 0
}

type cellsOf struct {
	*stored
	changed bool
	records map[string]*record // by primary key; static columns by the partition key alone
}

// record is a row: when it was inserted, deleted, and each cell set.
type record struct {
	key             []any
	marker, deleted int64
	at              map[string]int64
	value           map[string]any
}

func (t *cellsOf) record(key []any) *record {
	id := fmt.Sprintf("%#v", key)
	if t.records[id] == nil {
		t.records[id] = &record{key: key, at: map[string]int64{}, value: map[string]any{}}
	}
	return t.records[id]
}

func (t *cellsOf) static(name string) bool {
	return slices.ContainsFunc(t.Static, func(f model.Field) bool { return t.ColumnName(f) == name })
}

func newKept(w *world, tables []*model.Table) *kept {
	k := &kept{fake: &fake{tables: map[string]*stored{}}, cells: map[string]*cellsOf{}}
	for _, table := range tables {
		s := w.store(table)
		c := &cellsOf{stored: columnsOf(table), records: map[string]*record{}}
		for _, row := range s.rows {
			c.insert(s.names, row, 1)
		}
		k.cells[table.Name] = c
		k.tables[table.Name] = k.arrange(c)
	}
	return k
}

// insert takes the values of columns, the key's first.
func (t *cellsOf) insert(names []string, values []any, at int64) {
	set := func(r *record, i int) {
		switch old, met := r.value[names[i]]; {
		case met && at < r.at[names[i]], met && at == r.at[names[i]] && old == nil:
		default:
			r.value[names[i]], r.at[names[i]] = values[i], at
		}
	}
	key := min(t.key, len(names))
	for i, n := range names {
		if key == t.key && i < t.key && n != t.names[i] {
			key = t.partition
		}
	}
	for i := t.partition; i < len(names); i++ {
		if t.static(names[i]) {
			set(t.record(values[:t.partition]), i)
		} else if i >= t.key && key == t.key {
			set(t.record(values[:t.key]), i)
		}
	}
	if key == t.key {
		r := t.record(values[:t.key])
		r.marker = max(r.marker, at)
	}
}

// rows are those that are there, with null for the clustering key where there is none but static columns.
func (t *cellsOf) rows() [][]any {
	var rows [][]any
	full := map[string]bool{}
	live := func(r *record, name string) (any, bool) {
		v := r.value[name]
		return v, v != nil && r.at[name] > r.deleted
	}
	for _, r := range t.records {
		if len(r.key) != t.key {
			continue
		}
		row := make([]any, len(t.names))
		copy(row, r.key)
		there := r.marker > r.deleted
		for i := t.key; i < len(t.names); i++ {
			from := r
			if t.static(t.names[i]) {
				from = t.record(r.key[:t.partition])
			}
			v, ok := live(from, t.names[i])
			if ok {
				row[i] = v
				there = there || from == r
			}
		}
		if there {
			rows = append(rows, row)
			full[fmt.Sprintf("%#v", r.key[:t.partition])] = true
		}
	}
	for id, r := range t.records {
		if len(r.key) == t.key || full[id] {
			continue
		}
		row, there := make([]any, len(t.names)), false
		copy(row, r.key)
		for i := t.key; i < len(t.names); i++ {
			if v, ok := live(r, t.names[i]); ok {
				row[i], there = v, true
			}
		}
		if there {
			rows = append(rows, row)
		}
	}
	return rows
}

// arrange makes what the fake reads.
func (k *kept) arrange(t *cellsOf) *stored {
	s := columnsOf(t.Table)
	s.rows = t.rows()
	sort.SliceStable(s.rows, func(i, j int) bool {
		a, b := s.rows[i], s.rows[j]
		if c := strings.Compare(s.token(a), s.token(b)); c != 0 {
			return c < 0
		}
		for n, f := range s.Clustering {
			if c := order(a[s.partition+n], b[s.partition+n]); c != 0 {
				return c < 0 != slices.Contains(s.Desc, f)
			}
		}
		return false
	})
	return s
}

// fresh brings what the fake reads up to date.
func (k *kept) fresh() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, t := range k.cells {
		if t.changed {
			t.changed, k.tables[t.Name] = false, k.arrange(t)
		}
	}
}

// Query implements exec.Session.
func (k *kept) Query(ctx context.Context, q exec.Query) (exec.Answer, error) {
	if strings.HasPrefix(q.Text, "SELECT ") {
		return k.fake.Query(ctx, q)
	}
	return exec.Answer{}, k.Batch(ctx, []exec.Query{q})
}

// Batch implements exec.Batcher.
func (k *kept) Batch(ctx context.Context, list []exec.Query) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	n := k.writes
	k.writes++
	if k.fail != nil {
		if err := k.fail(n); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, q := range list {
		if err := k.write(q); err != nil {
			return err
		}
	}
	return nil
}

func (k *kept) write(q exec.Query) error {
	statement, err := cql.Parse(q.Text)
	if err != nil {
		return refuse("%v", err)
	}
	var ref cql.TableRef
	var names []string
	switch s := statement.(type) {
	case *cql.Insert:
		ref, names = s.Table, s.Columns
	case *cql.Delete:
		ref = s.Table
		for _, r := range s.Where {
			names = append(names, r.Columns[0])
		}
	}
	t := k.cells[ref.Table]
	if t == nil {
		return refuse("unconfigured table %s", ref.Table)
	}
	if q.Timestamp == 0 || q.Routed != t.partition || len(names) != len(q.Values) {
		return refuse("a write without a timestamp, or a routing key: %s", q.Text)
	}
	var kept []string
	var values []any
	for i, name := range names {
		at := slices.Index(t.names, name)
		if at < 0 || i < t.partition && at != i {
			return refuse("%s is no column of %s, or not in its place", name, t.Name)
		}
		if exec.IsUnset(q.Values[i]) {
			if at < t.key {
				return refuse("a column of the key is unset")
			}
			continue
		}
		v, err := planrun.Decode(t.types[at], q.Values[i])
		if err != nil || v == nil && at < t.key {
			return refuse("Invalid null value in condition for column %s (%v)", name, err)
		}
		kept, values = append(kept, name), append(values, v)
	}
	if _, ok := statement.(*cql.Insert); ok {
		t.insert(kept, values, q.Timestamp)
	} else if r := t.record(values); len(values) == t.key {
		r.deleted = max(r.deleted, q.Timestamp)
	}
	t.changed = true
	return nil
}

// differences between a table and what it must hold.
func differences(is *stored, must *stored) []string {
	rows := func(s *stored) map[string]bool {
		all := map[string]bool{}
		for _, row := range s.rows {
			if !slices.Contains(row[:s.key], nil) {
				all[fmt.Sprintf("%v", row)] = true
			}
		}
		return all
	}
	var list []string
	a, b := rows(is), rows(must)
	for row := range a {
		if !b[row] {
			list = append(list, "is there and must not: "+row)
		}
	}
	for row := range b {
		if !a[row] {
			list = append(list, "must be there and is not: "+row)
		}
	}
	slices.Sort(list)
	return list
}

// plainTables are those by which everything can be found: of each entity by its key, and each relationship both ways.
func plainTables(g *model.Graph) []*model.Table {
	var list []*model.Table
	for _, e := range g.Entities {
		list = append(list, &model.Table{Name: fmt.Sprintf("e%d", len(list)), Tree: model.Tree{Entities: []*model.Entity{e}}, Partition: e.KeyFields(), ScanAllowed: true,
			Values: slices.DeleteFunc(fieldsIn(model.Tree{Entities: []*model.Entity{e}}), model.Field.IsKey)})
	}
	for _, r := range g.Relationships {
		from, to := r.From, r.To
		if from == to {
			to = g.Occurrence(to, 2)
		}
		for _, ends := range [][2]*model.Entity{{from, to}, {to, from}} {
			list = append(list, &model.Table{Name: fmt.Sprintf("e%d", len(list)), Tree: model.Tree{Entities: ends[:], Edges: []*model.Relationship{g.Between(r, from, to)}},
				Partition: ends[0].KeyFields(), Clustering: ends[1].KeyFields(), ScanAllowed: true})
		}
	}
	return list
}

// writePlans plans a write for all tables, each support query by a plan that is drawn.
func writePlans(t testing.TB, w *world, write *workload.Write, tables []*model.Table) []*plan.WritePlan {
	t.Helper()
	var plans []*plan.WritePlan
	for _, table := range tables {
		if !plan.Modifies(write, table) {
			continue
		}
		p := &plan.WritePlan{Write: write, Table: table, Steps: plan.WriteSteps(write, table)}
		for _, s := range plan.SupportQueries(write, table) {
			space, err := plan.NewSpace(s.Query, tables, nil)
			if err != nil {
				t.Fatal(err)
			}
			p.Support = append(p.Support, pick(w, space.Plans(20)))
		}
		plans = append(plans, p)
	}
	return plans
}

func (d *drawn) all(g *model.Graph) []*model.Table {
	tables := plainTables(g)
	for _, list := range d.tables {
		for _, t := range list {
			if len(d.world.join(t.Tree)) < 300 {
				tables = append(tables, t)
			}
		}
	}
	return tables
}

// keeper is a database of tables that a test can look into.
type keeper interface {
	exec.Session
	holds(t testing.TB, table *model.Table) *stored
	// failing makes one of the next writes fail, of so many, until the returned function is called.
	failing(within int) func()
}

func (k *kept) holds(_ testing.TB, table *model.Table) *stored {
	k.fresh()
	return k.tables[table.Name]
}

func (k *kept) failing(within int) func() {
	down := k.writes + within
	k.fail = func(n int) error {
		if n == down {
			return errFake
		}
		return nil
	}
	return func() { k.fail = nil }
}

// tally counts what was run.
type tally struct {
	writes map[workload.WriteKind]int
	again  int // applied again after a failure
}

// run runs writes with drawn parameters, some of them failing half way and applied again, and holds each table against one
// that is made anew from the data.
func (n *tally) run(t *testing.T, seed uint64, w *world, g *model.Graph, tables []*model.Table, writes []*workload.Write, times int, db keeper) *world {
	t.Helper()
	for _, write := range writes {
		program, err := planrun.CompileWrite(write, writePlans(t, w, write, tables))
		if err != nil {
			t.Fatalf("seed %d: %v: %s", seed, err, write)
		}
		for range times {
			told := w.tell(write, g)
			after := w.clone()
			if !after.apply(told, g) {
				continue
			}
			n.writes[write.Kind]++
			o := planrun.RunOptions{Parallel: 1 + int(seed%4), Logged: seed%3 == 0}
			mend := func() {}
			if w.chance(0.3) {
				mend = db.failing(w.random.IntN(2))
			}
			err := program.Run(context.Background(), db, told.parameters(t), o)
			mend()
			var half *planrun.WriteError
			if errors.As(err, &half) && half.Effects != nil && errors.Is(err, errFake) {
				n.again++
				err = half.Effects.Apply(context.Background(), db, o)
			}
			if err != nil {
				t.Fatalf("seed %d: %v: %s %v", seed, err, write, told.values)
			}
			w = after
			for _, table := range tables {
				if list := differences(db.holds(t, table), w.store(table)); len(list) > 0 {
					t.Fatalf("seed %d: %s\nwith %v leaves %s of %s\n%s", seed, write, told.values, table.CQL("", table.Name), table.Tree.Path(), strings.Join(list, "\n"))
				}
			}
		}
	}
	return w
}

// TestTablesStayTrue runs random writes over random tables against a Cassandra in memory.
func TestTablesStayTrue(t *testing.T) {
	n := tally{writes: map[workload.WriteKind]int{}}
	for seed := range number(t, "HELENUS_TEST_WORLDS", 20) {
		d := draw(seed)
		if !d.world.lawful(d.graph) {
			continue
		}
		tables := d.all(d.graph)
		n.run(t, seed, d.world, d.graph, tables, d.writes, 4, newKept(d.world, tables))
	}
	t.Logf("%v writes, %d applied again", n.writes, n.again)
	for _, kind := range []workload.WriteKind{workload.Insert, workload.Update, workload.Delete, workload.Connect, workload.Disconnect} {
		if n.writes[kind] == 0 {
			t.Errorf("no write was: %s", kind)
		}
	}
	if n.again == 0 {
		t.Error("no write failed half way")
	}
}

// application is a model of ours with its own writes, over its schemas and random tables for its queries.
func application(t testing.TB, name string, seed uint64) (*world, *model.Graph, []*model.Table, []*workload.Write) {
	t.Helper()
	work, err := workload.Load("../../examples/designs/" + name + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(work.Graph, seed)
	tables := plainTables(work.Graph)
	for _, schema := range slices.Sorted(maps.Keys(work.Schemas)) {
		for i, x := range work.Schemas[schema] {
			if own := *x; !own.Existing && own.Base == nil {
				own.Keyspace, own.Name = "", fmt.Sprintf("%s%d", schema, i)
				tables = append(tables, &own)
			}
		}
	}
	var writes []*workload.Write
	for _, s := range work.Statements {
		if s.Write != nil {
			writes = append(writes, s.Write)
			continue
		}
		for range 2 {
			if x := w.table(work.Graph, s.Query, fmt.Sprintf("q%d", len(tables))); x != nil {
				tables = append(tables, x)
			}
		}
	}
	tables = slices.DeleteFunc(tables, func(x *model.Table) bool { return len(w.join(x.Tree)) > 400 })
	return w, work.Graph, tables, writes
}

var applications = []string{"rubis", "eac", "hotel", "nose-hotel", "twissandra"}

// TestApplicationsStayTrue runs the writes of whole applications over the designs that are known for them.
func TestApplicationsStayTrue(t *testing.T) {
	for _, name := range applications {
		t.Run(name, func(t *testing.T) {
			n := tally{writes: map[workload.WriteKind]int{}}
			for seed := range number(t, "HELENUS_TEST_WORLDS", 2) {
				w, g, tables, writes := application(t, name, seed)
				n.run(t, seed, w, g, tables, writes, 4, newKept(w, tables))
			}
			t.Logf("%v writes, %d applied again", n.writes, n.again)
			if len(n.writes) == 0 || name == "hotel" && n.writes[workload.Connect] == 0 {
				t.Error("nothing was written, or nobody was connected")
			}
		})
	}
}
