package planrun_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"
	"go.uber.org/goleak"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/internal/cassandra/cassandratest"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/planrun"
)

// shop is a plan of three steps: the items of a category, the bids of each, and a filter.
type shop struct {
	plan  *plan.Plan
	db    *fake
	items *model.Table
	with  planrun.Parameters
}

const categoryItems, itemBids = 20, 3

func newShop(t testing.TB) *shop {
	t.Helper()
	attribute := func(name, cqlType string) *model.Attribute { return &model.Attribute{Name: name, Type: cqlType} }
	id, category, bid, amount := attribute("id", "int"), attribute("category", "text"), attribute("bid", "int"), attribute("amount", "bigint")
	item := &model.Entity{Name: "Item", Count: categoryItems, Key: []*model.Attribute{id}, Attributes: []*model.Attribute{id, category}}
	bids := &model.Entity{Name: "Bid", Count: categoryItems * itemBids, Key: []*model.Attribute{bid}, Attributes: []*model.Attribute{bid, amount}}
	of := &model.Relationship{Name: "of", From: bids, To: item, Kind: model.ManyToOne, Forward: "item", Backward: "bids"}
	f := func(e *model.Entity, a *model.Attribute) model.Field { return model.Field{Entity: e, Attribute: a} }
	s := &shop{items: &model.Table{Tree: model.Tree{Entities: []*model.Entity{item}}, Partition: []model.Field{f(item, category)}, Clustering: []model.Field{f(item, id)}, Name: "items", Keyspace: "k"}}
	both := model.Tree{Entities: []*model.Entity{item, bids}, Edges: []*model.Relationship{of}}
	second := &model.Table{Tree: both, Partition: []model.Field{f(item, id)}, Clustering: []model.Field{f(bids, bid)}, Values: []model.Field{f(bids, amount)}, Name: "bids", Keyspace: "k"}
	q := &workload.Query{Tree: both, Select: []model.Field{f(item, id), f(bids, amount)}, Where: []workload.Predicate{
		{Field: f(item, category), Op: workload.Equal, Value: "?category"}, {Field: f(bids, amount), Op: workload.GreaterOrEqual, Value: "?"}}}
	s.plan = &plan.Plan{Query: q, Steps: []plan.Step{
		{Kind: plan.Get, Table: s.items, Partition: []plan.Binding{{Field: f(item, category), Op: workload.Equal, Value: "?category"}}, Fields: s.items.Fields()},
		{Kind: plan.Get, Table: second, Partition: []plan.Binding{{Field: f(item, id), Op: workload.Equal}}, Fields: second.Fields()},
		{Kind: plan.Filter, Where: []plan.Binding{{Field: f(bids, amount), Op: workload.GreaterOrEqual, Value: "?"}}},
	}}
	s.with = planrun.Parameters{"?category": {[]byte("toys")}, "Bid.amount >=": {exec.FromInt64(0)}}
	first, other := columnsOf(s.items), columnsOf(second)
	for i := range categoryItems {
		first.rows = append(first.rows, []any{"toys", int64(i)})
		for j := range itemBids {
			other.rows = append(other.rows, []any{int64(i), int64(j), int64(i * j)})
		}
	}
	s.db = &fake{tables: map[string]*stored{"items": first, "bids": other}}
	return s
}

func (s *shop) run(ctx context.Context, t testing.TB, o planrun.RunOptions) (*planrun.Rows, error) {
	t.Helper()
	program, err := planrun.Compile(s.plan)
	if err != nil {
		t.Fatal(err)
	}
	return program.Run(ctx, s.db, s.with, o)
}

func TestStepsAreTakenDown(t *testing.T) {
	s := newShop(t)
	at := time.Unix(0, 0)
	account := &planrun.Account{Now: func() time.Time { at = at.Add(time.Second); return at }}
	rows, err := s.run(context.Background(), t, planrun.RunOptions{Account: account})
	if err != nil || len(rows.Cells) != categoryItems*itemBids {
		t.Fatal(rows, err)
	}
	for i, want := range []planrun.StepAccount{
		{Requests: 1, Rows: categoryItems, Bytes: 4 * categoryItems, Left: categoryItems, Time: time.Second},
		{Requests: categoryItems, Rows: categoryItems * itemBids, Bytes: 8 * categoryItems * itemBids, Left: categoryItems * itemBids, Time: time.Second},
		{Left: categoryItems * itemBids, Time: time.Second},
	} {
		if account.Steps[i] != want {
			t.Errorf("step %d: %+v, want %+v", i+1, account.Steps[i], want)
		}
	}
}

// TestFailures lets the n-th request fail, for each n: the error names the step and its table, what happened and what to
// do, nothing is answered, and no goroutine is left behind.
func TestFailures(t *testing.T) {
	defer goleak.VerifyNone(t, cassandratest.Outliving())
	for _, c := range []struct {
		name string
		err  error
		want error
	}{
		{"unavailable", &refusal{gocql.ErrCodeUnavailable, "too few replicas"}, planrun.ErrUnavailable},
		{"overloaded", &refusal{gocql.ErrCodeOverloaded, "busy"}, planrun.ErrUnavailable},
		{"read time-out", &refusal{gocql.ErrCodeReadTimeout, "too slow"}, planrun.ErrTimeout},
		{"no answer", gocql.ErrTimeoutNoResponse, planrun.ErrTimeout},
		{"no connections", gocql.ErrNoConnections, planrun.ErrUnavailable},
		{"no table", refuse("table bids does not exist"), planrun.ErrNoTable},
		{"unconfigured", refuse("unconfigured table bids"), planrun.ErrNoTable},
		{"column", refuse("Undefined column name amount in table k.bids"), planrun.ErrMismatch},
		{"key", refuse("Cannot execute this query as it might involve data filtering: use ALLOW FILTERING"), planrun.ErrMismatch},
		{"refused", &refusal{gocql.ErrCodeUnauthorized, "no SELECT permission"}, planrun.ErrRefused},
	} {
		for n := range 1 + categoryItems {
			s := newShop(t)
			s.db.before = func(i int, _ exec.Query) error {
				if i == n {
					return c.err
				}
				return nil
			}
			rows, err := s.run(context.Background(), t, planrun.RunOptions{Parallel: 1 + n%5})
			var step *planrun.StepError
			table := map[bool]string{true: "k.items", false: "k.bids"}[n == 0]
			if rows != nil || !errors.As(err, &step) || !errors.Is(err, c.want) || !errors.Is(err, c.err) || step.Step != min(n, 1)+1 || step.Table != table || !strings.Contains(err.Error(), table) {
				t.Fatalf("%s, request %d: %v", c.name, n, err)
			}
		}
	}
}

func TestCancelAndDeadline(t *testing.T) {
	defer goleak.VerifyNone(t, cassandratest.Outliving())
	for n := range 1 + categoryItems {
		s := newShop(t)
		ctx, cancel := context.WithCancel(context.Background())
		s.db.before = func(i int, _ exec.Query) error {
			if i == n {
				cancel()
			}
			return nil
		}
		if rows, err := s.run(ctx, t, planrun.RunOptions{Parallel: 3}); rows != nil || !errors.Is(err, planrun.ErrCancelled) {
			t.Fatalf("cancelled at request %d: %v %v", n, rows, err)
		}
	}
	s := newShop(t)
	ctx, cancel := context.WithDeadline(context.Background(), time.Unix(0, 0))
	defer cancel()
	if rows, err := s.run(ctx, t, planrun.RunOptions{}); rows != nil || !errors.Is(err, planrun.ErrTimeout) {
		t.Error("after the deadline:", rows, err)
	}
}

// TestParallelIsBounded counts requests under way.
func TestParallelIsBounded(t *testing.T) {
	s := newShop(t)
	slots := make(chan struct{}, 4)
	s.db.before = func(int, exec.Query) error {
		select {
		case slots <- struct{}{}:
			time.Sleep(time.Millisecond)
			<-slots
			return nil
		default:
			return errFake
		}
	}
	if _, err := s.run(context.Background(), t, planrun.RunOptions{Parallel: 4}); err != nil {
		t.Error(err)
	}
}

func TestTooManyRows(t *testing.T) {
	for _, most := range []int{1, categoryItems - 1, categoryItems, categoryItems*itemBids - 1, categoryItems * itemBids} {
		s := newShop(t)
		rows, err := s.run(context.Background(), t, planrun.RunOptions{MaxRows: most, Parallel: 2})
		var step *planrun.StepError
		switch {
		case most >= categoryItems*itemBids:
			if err != nil || len(rows.Cells) != most {
				t.Error(rows, err)
			}
		case !errors.Is(err, exec.ErrTooManyRows) || !errors.As(err, &step) || step.Step != map[bool]int{true: 1, false: 2}[most < categoryItems]:
			t.Errorf("more than %d rows: %v", most, err)
		}
	}
}

func TestParameters(t *testing.T) {
	for _, c := range []struct {
		with planrun.Parameters
		want string
	}{
		{planrun.Parameters{"?category": {[]byte("toys")}}, `parameter "Bid.amount >=" has no value: give one`},
		{planrun.Parameters{"?category": {}, "Bid.amount >=": {nil}}, `parameter "?category" has 0 values, and needs 1`},
		{planrun.Parameters{"?category": {nil}, "Bid.amount >=": {nil}}, ""},
		{planrun.Parameters{"?category": {[]byte("")}, "Bid.amount >=": {exec.FromInt64(1)}}, ""}, // no partition has the empty key
	} {
		s := newShop(t)
		s.with = c.with
		rows, err := s.run(context.Background(), t, planrun.RunOptions{})
		var wrong *planrun.ParameterError
		if c.want == "" {
			if err != nil || len(rows.Cells) != 0 || len(s.db.sent) != 0 {
				t.Errorf("%v: %v %v, and %d requests", c.with, rows, err, len(s.db.sent))
			}
		} else if !errors.As(err, &wrong) || err.Error() != c.want {
			t.Errorf("%v: %v", c.with, err)
		}
	}
}

// TestPlansThatCanNotBeExecuted changes a plan so that it makes no sense: the error says which step, and why.
func TestPlansThatCanNotBeExecuted(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*plan.Plan)
		want   string
	}{
		"no key":         {func(p *plan.Plan) { p.Steps[0].Partition = nil }, "step 1, get k.items: the plan can not be executed (0 of the 1 columns of its partition key are bound)"},
		"not read":       {func(p *plan.Plan) { p.Steps[0].Fields = nil }, "Item.id is not at hand"},
		"no table":       {func(p *plan.Plan) { p.Steps[1].Table = &model.Table{} }, "its table has no name"},
		"two steps":      {func(p *plan.Plan) { p.Steps[1].Kind = plan.Scan }, "it scans after another step"},
		"a put":          {func(p *plan.Plan) { p.Steps[2].Kind = plan.Put }, "a query has no such step"},
		"filter":         {func(p *plan.Plan) { p.Steps[2].Where[0].Field = p.Query.Where[0].Field }, "the query has no condition Item.category >= ?"},
		"no steps":       {func(p *plan.Plan) { p.Steps = nil }, "it has no steps"},
		"no groups":      {func(p *plan.Plan) { p.Query.Aggregates = []workload.Aggregate{{Func: "count"}} }, "no step makes the groups"},
		"other literals": {func(p *plan.Plan) { p.Query.Where[1].Value = "'a'" }, "is no value of the CQL type bigint"},
		"out of order":   {func(p *plan.Plan) { p.Steps[0].Clustering = p.Steps[0].Partition }, "is bound out of order"},
	} {
		s := newShop(t)
		c.change(s.plan)
		if _, err := planrun.Compile(s.plan); err == nil || !strings.Contains(err.Error(), c.want) || !errors.Is(err, planrun.ErrPlan) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

// TestLookUp runs a verified look-up: what the base has no longer, and what it has otherwise, is dropped.
func TestLookUp(t *testing.T) {
	p, base := userByID()
	id, name := base.Partition[0], base.Values[0]
	lookUp := &model.Table{Tree: base.Tree, Partition: []model.Field{name}, Clustering: []model.Field{id}, Name: "by_name", Keyspace: "k", Base: base}
	p.Query = &workload.Query{Tree: base.Tree, Select: []model.Field{id, name}, Where: []workload.Predicate{{Field: name, Op: workload.Equal, Value: "?"}}}
	space, err := plan.NewSpace(p.Query, []*model.Table{lookUp, base}, nil)
	if err != nil {
		t.Fatal(err)
	}
	plans := space.Plans(10)
	if len(plans) != 1 || !plans[0].Steps[1].Verify {
		t.Fatal(plans)
	}
	program, err := planrun.Compile(plans[0])
	if err != nil {
		t.Fatal(err)
	}
	entries, rows := columnsOf(lookUp), columnsOf(base)
	for i := range 6 {
		entries.rows = append(entries.rows, []any{"Ada", int64(i)})
		if i != 2 {
			rows.rows = append(rows.rows, []any{int64(i), map[bool]any{true: "Ada", false: "Grace"}[i%2 == 0]})
		}
	}
	rows.rows = append(rows.rows, []any{int64(9), nil})
	entries.rows = append(entries.rows, []any{"Ada", int64(9)})
	got, err := program.Run(context.Background(), &fake{tables: map[string]*stored{"by_name": entries, "users": rows}}, planrun.Parameters{"User.name =": {[]byte("Ada")}}, planrun.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if text := fmt.Sprintf("%q", got.Cells); text != fmt.Sprintf("%q", [][][]byte{{exec.FromInt32(0), []byte("Ada")}, {exec.FromInt32(4), []byte("Ada")}}) {
		t.Error(text)
	}
}

// TestGiven binds what the application knows besides.
func TestGiven(t *testing.T) {
	p, table := userByID()
	id, name := table.Partition[0], table.Values[0]
	table.Partition, table.Values = []model.Field{name}, nil
	table.Clustering = []model.Field{id}
	p.Query = &workload.Query{Tree: table.Tree, Select: []model.Field{id, name}, Where: []workload.Predicate{{Field: id, Op: workload.Equal, Value: "7"}}, Known: []model.Field{name}}
	space, err := plan.NewSpace(p.Query, []*model.Table{table}, nil)
	if err != nil {
		t.Fatal(err)
	}
	program, err := planrun.Compile(space.Plans(1)[0])
	if err != nil {
		t.Fatal(err)
	}
	rows := columnsOf(table)
	rows.rows = [][]any{{"Ada", int64(7)}, {"Grace", int64(8)}}
	db := &fake{tables: map[string]*stored{"users": rows}}
	for given, want := range map[string]int{"Ada": 1, "Grace": 0} {
		got, err := program.Run(context.Background(), db, planrun.Parameters{"GIVEN User.name": {[]byte(given)}}, planrun.RunOptions{})
		if err != nil || len(got.Cells) != want || want == 1 && string(got.Cells[0][1]) != given {
			t.Error(given, got, err)
		}
	}
}

// TestPrefixes sends LIKE as two bounds, or as one where no text comes after all that have the prefix.
func TestPrefixes(t *testing.T) {
	p, table := userByID()
	id, name := table.Partition[0], table.Values[0]
	table.Clustering, table.Values = []model.Field{name}, nil
	where := append(p.Query.Where, workload.Predicate{Field: name, Op: workload.Like, Value: "?"})
	p.Query.Where = where
	p.Query.Select = []model.Field{name}
	p.Steps[0].Clustering = []plan.Binding{{Field: name, Op: workload.Like, Value: "?"}}
	program, err := planrun.Compile(p)
	if err != nil {
		t.Fatal(err)
	}
	rows := columnsOf(table)
	for _, text := range []string{"", "A", "Ada", "Ada\U0010FFFFx", "Adb", "\U0010FFFF", "\U0010FFFFz"} {
		rows.rows = append(rows.rows, []any{int64(7), text})
	}
	for pattern, want := range map[string]int{"%": 7, "Ada%": 2, "Ada\U0010FFFF%": 1, "\U0010FFFF%": 2, "B%": 0} {
		db := &fake{tables: map[string]*stored{"users": rows}}
		with := planrun.Parameters{id.String() + " =": {exec.FromInt32(7)}, name.String() + " LIKE": {[]byte(pattern)}}
		got, err := program.Run(context.Background(), db, with, planrun.RunOptions{})
		if err != nil || len(got.Cells) != want {
			t.Errorf("%q: %v %v, want %d rows", pattern, got, err, want)
		}
	}
	for _, pattern := range []string{"Ada", "A%a%", "A_%", ""} {
		var wrong *planrun.ParameterError
		with := planrun.Parameters{id.String() + " =": {exec.FromInt32(7)}, name.String() + " LIKE": {[]byte(pattern)}}
		if _, err := program.Run(context.Background(), &fake{}, with, planrun.RunOptions{}); !errors.As(err, &wrong) {
			t.Errorf("%q: %v", pattern, err)
		}
	}
}
