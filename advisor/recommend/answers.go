package recommend

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/advisor/lint"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/trial"
	"github.com/helenus-db/helenus/advisor/trial/memory"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/schema"
)

// found is what is known of one row of a join: values of fields.
type found = trial.Row

// tryAnswers tries a change before anybody is told of it: on generated rows the statements are said one after the other, as the application
// does, and the plan over the new tables is carried out, whose rows are the join of those of the old ones. It returns why answers
// would differ, or why nobody can tell; nil if they are the same.
func (k *maker) tryAnswers(j *joined, tables []*design.Table, d *design.Design) error {
	const rounds, seed = 6, 36
	for round := range uint64(rounds) {
		t := &joinTrial{maker: k, joined: j, rand: rand.New(rand.NewPCG(seed, round))} //nolint:gosec // a test of ours, no secret
		if err := t.makeRows(tables); err != nil {
			return err
		}
		for range 6 {
			t.drawValues()
			was, err := t.runByHand(0, nil)
			if err != nil {
				return err
			}
			is, err := t.runPlan(d.Statements[0].Plan)
			if err != nil {
				return err
			}
			if err := t.compareRows(was, is); err != nil {
				return err
			}
		}
		if err := t.tryWrites(tables, d); err != nil {
			return err
		}
	}
	return nil
}

// joinTrial is a trial of one join by hand.
type joinTrial struct {
	*maker
	*joined
	rand  *rand.Rand
	store *memory.Store
	all   *schema.Schema // with the new tables
	rows  []found        // of the join of all tables
	asked map[string]memory.Value
	limit string
}

// bindingKey is what a value that the application asks by is known by.
func bindingKey(f model.Field, op string) string { return f.String() + " " + op }

// makeRows makes rows of the old tables, and of the new ones.
func (t *joinTrial) makeRows(tables []*design.Table) error {
	all := t.Schema
	for _, n := range tables {
		var err error
		if all, err = lint.Define(all, n.Table.Keyspace, n.CQL); err != nil {
			return fmt.Errorf("its table could not be tried: %w", err)
		}
		for _, c := range all.Table(n.Table.Keyspace, n.Name).PartitionKey() { // rows that are made have no such values
			if !schema.Findable(c.Type) {
				return fmt.Errorf("%s of its key is of type %s, of which Cassandra takes values of different bytes for equal: it would not find all of them", c.Name, c.Type)
			}
		}
	}
	t.all = all
	t.store = memory.New(all, t.joined.reads[0].access.Keyspace)
	t.rows = []found{{}}
	seen := map[*schema.Table]bool{}
	for _, r := range t.joined.reads {
		base := t.Schema.Table(r.access.Keyspace, r.access.Table)
		if base == nil || seen[base] {
			continue
		}
		seen[base] = true
		list, err := t.fillTable(base)
		if err != nil {
			return err
		}
		t.rows = naturalJoin(t.rows, list)
	}
	for _, n := range tables {
		name := model.Quote(n.Name)
		if n.Table.Keyspace != "" {
			name = model.Quote(n.Table.Keyspace) + "." + name
		}
		var columns, values []string
		fields := n.Table.Fields()
		for i, f := range fields {
			columns, values = append(columns, model.Quote(n.Table.ColumnName(f))), append(values, ":v"+strconv.Itoa(i))
		}
		if len(n.Table.Nests) > 0 || n.Table.Bucket != nil {
			return errors.New("a table with collections of rows, or with buckets, can not be tried")
		}
		put, err := cql.Parse(fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", name, strings.Join(columns, ", "), strings.Join(values, ", ")))
		if err != nil {
			return err
		}
		for _, row := range t.rows {
			args := memory.Args{}
			for i, f := range fields {
				v, known := row[f]
				if !known {
					return fmt.Errorf("%s holds %s, which none of the statements reads", n.Name, f)
				}
				args["v"+strconv.Itoa(i)] = v
			}
			if err := t.store.Write(put, args); err != nil {
				return err
			}
		}
	}
	return nil
}

// fieldValues is how many values a field has: few, so that rows meet.
const fieldValues = 4

// fillTable makes rows of a table, and returns all that it has.
func (t *joinTrial) fillTable(base *schema.Table) ([]found, error) {
	insert := &cql.Insert{Table: cql.TableRef{Keyspace: base.Keyspace, Table: base.Name}}
	for _, c := range base.Columns {
		insert.Columns, insert.Values = append(insert.Columns, c.Name), append(insert.Values, &cql.Marker{Name: c.Name})
	}
	key := base.PrimaryKey()
	for n := range 24 {
		args := memory.Args{}
		for _, c := range base.Columns {
			v := strconv.Itoa(t.rand.IntN(fieldValues))
			switch {
			case memory.Collection(c.Type) != "":
				args[c.Name] = nil
				continue
			case len(key) == 1 && c.Name == key[0].Name && n < fieldValues: // what others refer to is there
				v = strconv.Itoa(n)
			}
			args[c.Name] = v
		}
		if err := t.store.Write(insert, args); err != nil {
			return nil, fmt.Errorf("its tables could not be tried: %w", err)
		}
	}
	a, err := t.store.Select(&cql.Select{Table: insert.Table}, nil)
	if err != nil {
		return nil, err
	}
	return t.rowsInModel(base, a), nil
}

// rowsInModel says what rows of a table are in terms of the model.
func (t *joinTrial) rowsInModel(base *schema.Table, a *memory.Answer) []found {
	var out []found
	for _, r := range a.Rows {
		row := found{}
		for i, c := range a.Columns {
			if f := t.model.Field(base.Keyspace, base.Name, c); !f.IsZero() {
				row[f] = r[i]
			}
		}
		out = append(out, row)
	}
	return out
}

// naturalJoin joins rows by the fields that they share.
func naturalJoin(left, right []found) []found {
	var out []found
	for _, l := range left {
		for _, r := range right {
			row, fits := found{}, true
			for f, v := range l {
				row[f] = v
			}
			for f, v := range r {
				if have, shared := row[f]; shared && memory.Text(have) != memory.Text(v) {
					fits = false
				}
				row[f] = v
			}
			if fits {
				out = append(out, row)
			}
		}
	}
	return out
}

// drawValues draws what the application asks by.
func (t *joinTrial) drawValues() {
	t.asked, t.limit = map[string]memory.Value{}, strconv.Itoa(1+t.rand.IntN(3))
	row := found{}
	if len(t.rows) > 0 {
		row = t.rows[t.rand.IntN(len(t.rows))]
	}
	for _, p := range t.joined.asked.Query.Where {
		v, ok := row[p.Field]
		if !ok || v == nil {
			v = strconv.Itoa(t.rand.IntN(fieldValues))
		}
		t.asked[bindingKey(p.Field, string(p.Op))] = v
	}
}

// runByHand says the statements as the application does: the n-th with values of a row that the ones before returned, and for each of its rows
// those that it feeds.
func (t *joinTrial) runByHand(n int, given found) ([]found, error) {
	u := t.joined.reads[n]
	parsed, err := u.statement.Parse()
	if err != nil {
		return nil, err
	}
	s, ok := cql.Clone(parsed).(*cql.Select)
	base := t.Schema.Table(u.access.Keyspace, u.access.Table)
	if !ok || base == nil {
		return nil, fmt.Errorf("%s could not be tried", u.statement.Text)
	}
	s.Table = s.Table.In(u.access.Keyspace)
	args := memory.Args{}
	for i := range s.Where {
		w := &s.Where[i]
		m, marker := w.Value.(*cql.Marker)
		for _, c := range w.Columns {
			if more := base.FindsMore(c); more != "" {
				return nil, fmt.Errorf("%s: another table would not", more)
			}
		}
		if len(w.Columns) != 1 || !marker {
			continue
		}
		f := t.model.Field(base.Keyspace, base.Name, w.Columns[0])
		v, fed := given[f]
		if !fed {
			if v, ok = t.asked[bindingKey(f, w.Op.String())]; !ok {
				return nil, fmt.Errorf("nothing is known to ask %s by", f)
			}
		}
		if w.Op == cql.OpIn {
			v = memory.List{memory.Text(v)}
		}
		args[memory.Key(m)] = v
	}
	if s.Limit != nil {
		s.Limit, args["limit"] = &cql.Marker{Name: "limit"}, t.limit
	}
	a, err := t.store.Select(s, args)
	if err != nil {
		return nil, fmt.Errorf("it could not be tried: %w", err)
	}
	out := t.rowsInModel(base, a)
	for i, row := range out {
		for f, v := range given {
			if _, own := row[f]; !own {
				out[i][f] = v
			}
		}
	}
	for m := n + 1; m < len(t.joined.reads); m++ {
		if !slices.ContainsFunc(t.feeds, func(f infer.Join) bool {
			return f.Feed.From.Fingerprint == u.statement.Fingerprint && f.Feed.To.Fingerprint == t.joined.reads[m].statement.Fingerprint
		}) {
			continue
		}
		var longer []found
		for _, row := range out {
			more, err := t.runByHand(m, row)
			if err != nil {
				return nil, err
			}
			longer = append(longer, more...)
		}
		out = longer
	}
	return out, nil
}

// runPlan carries a plan out.
func (t *joinTrial) runPlan(p *plan.Plan) ([]found, error) {
	rows := []found{{}}
	for i := range p.Steps {
		s := &p.Steps[i]
		switch s.Kind {
		case plan.Get, plan.IndexGet:
			var next []found
			for _, row := range rows {
				more, err := t.runGet(s, row)
				if err != nil {
					return nil, err
				}
				next = append(next, naturalJoin([]found{row}, more)...)
			}
			rows = next
		case plan.Filter:
			rows = slices.DeleteFunc(rows, func(row found) bool {
				return slices.ContainsFunc(s.Where, func(b plan.Binding) bool {
					return !trial.Meets(row[b.Field], b.Op, t.asked[bindingKey(b.Field, string(b.Op))])
				})
			})
		case plan.Sort:
			slices.SortStableFunc(rows, func(a, b found) int { return trial.Compare(a, b, s.Order) })
		case plan.Limit:
			n, _ := strconv.Atoi(t.limit) // made by draw
			rows = rows[:min(n, len(rows))]
		default:
			return nil, fmt.Errorf("step %s could not be tried", s.Kind)
		}
	}
	return rows, nil
}

// runGet reads a table as a step says, in the words that the sketch has for it.
func (t *joinTrial) runGet(s *plan.Step, row found) ([]found, error) {
	name := model.Quote(s.Table.Keyspace) + "." + model.Quote(s.Table.Name)
	text, _ := selectText(s, name)
	parsed, err := cql.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", text, err)
	}
	st, ok := parsed.(*cql.Select)
	if !ok {
		return nil, fmt.Errorf("%s is no SELECT", text)
	}
	args := memory.Args{}
	for i, b := range slices.Concat(s.Partition, s.Clustering, s.Where) {
		m, ok := st.Where[i].Value.(*cql.Marker)
		if !ok {
			continue
		}
		v := row[b.Field]
		if b.Value != "" {
			v = t.asked[bindingKey(b.Field, string(b.Op))]
			if b.Op == "" {
				v = t.asked[bindingKey(b.Field, string(workload.Equal))]
			}
		}
		args[memory.Key(m)] = v
	}
	if st.Limit != nil {
		st.Limit, args["limit"] = &cql.Marker{Name: "limit"}, t.limit
	}
	a, err := t.store.Select(st, args)
	if err != nil {
		return nil, err
	}
	var out []found
	for _, r := range a.Rows {
		one := found{}
		for i, f := range s.Fields {
			one[f] = r[i]
		}
		out = append(out, one)
	}
	return out, nil
}

// compareRows says how answers differ: in the rows, or, where they are sorted, in their order.
func (t *joinTrial) compareRows(was, is []found) error {
	q := t.joined.asked.Query
	lines := func(rows []found) []string {
		out := make([]string, len(rows))
		for i, r := range rows {
			var parts []string
			for _, f := range q.Select {
				parts = append(parts, memory.Text(r[f]))
			}
			out[i] = "(" + strings.Join(parts, ", ") + ")"
		}
		return out
	}
	a, b := lines(was), lines(is)
	ordered := func(rows []found) bool {
		return slices.IsSortedFunc(rows, func(x, y found) int { return trial.Compare(x, y, q.OrderBy) })
	}
	how := ""
	switch sorted := len(q.OrderBy) > 0; {
	case sorted && ordered(was) != ordered(is):
		how = "in another order"
	default:
		slices.Sort(a)
		slices.Sort(b)
		if !slices.Equal(a, b) {
			how = "other rows"
		}
	}
	if how == "" {
		return nil
	}
	return fmt.Errorf("its answers would be %s: on generated rows %d and %d, %s and %s", how, len(a), len(b), firstRows(a), firstRows(b))
}

// firstRows writes the first of some rows.
func firstRows(list []string) string {
	const most = 3
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list[:min(most, len(list))], " ")
}
