package trial

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/schema"

	"github.com/helenus-db/helenus/advisor/trial/memory"
)

// Ask is a question and how it is asked afterwards.
type Ask struct {
	Old *cql.Select
	New Way
}

// Way is how a question is asked: a SELECT, or one for each of several values, and what the client does with the rows.
type Way struct {
	Select *cql.Select
	// Each is the column of the values that it is said for, one by one: of the old statement's IN, or of a bucket.
	Each    string
	Buckets int // of Each; 0: it is the IN's values
	// Where leaves rows out, by columns of the answer.
	Where []cql.Relation
	// Order merges the rows of several answers, and Limit cuts what came of it: the old statement's.
	Order []cql.Ordering
	Limit cql.Term
}

// client tells whether it takes more than the statement.
func (w *Way) client() bool { return w.Each != "" || len(w.Where) > 0 }

// at is what a value of a question is known by: its column and how it is compared.
func at(column string, op cql.Op) string { return column + " " + op.String() }

// limits are known by these.
const (
	limitKey = "limit"
	perKey   = "per partition limit"
)

// values are those that a question is asked with, by at.
type values map[string]memory.Value

// bind gives a statement's markers their values, and takes limits for those of the question; it says what to run.
func (v values) bind(s *cql.Select, alias func(column string) string) (*cql.Select, memory.Args, error) {
	own := cql.Clone(s).(*cql.Select) //nolint:forcetypeassert // of its own kind
	args := memory.Args{}
	for i := range own.Where {
		w := &own.Where[i]
		if _, fixed := w.Value.(*cql.Literal); fixed || w.Element != nil || len(w.Columns) != 1 {
			if len(markers(w)) > 0 {
				return nil, nil, &memory.UnknownError{What: "the condition on (" + strings.Join(w.Columns, ", ") + ")"}
			}
			continue
		}
		value, ok := v[at(alias(w.Columns[0]), w.Op)]
		if !ok {
			return nil, nil, fmt.Errorf("nothing is bound to %s %s", w.Columns[0], w.Op)
		}
		name := fmt.Sprintf("w%d", i)
		w.Value, args[name] = &cql.Marker{Name: name}, value
	}
	for _, l := range []struct {
		term *cql.Term
		key  string
	}{{&own.Limit, limitKey}, {&own.PerPartitionLimit, perKey}} {
		if *l.term != nil {
			*l.term, args[l.key] = &cql.Marker{Name: l.key}, v[l.key]
		}
	}
	return own, args, nil
}

func markers(w *cql.Relation) []*cql.Marker {
	return cql.Markers(&cql.Select{Where: []cql.Relation{*w}})
}

// ask asks in the new way.
func (w *Way) ask(s *memory.Store, c *Copy, v values) (*memory.Answer, error) {
	alias := func(column string) string { return column }
	if c != nil {
		alias = c.source
	}
	list := []string{""}
	switch in := v[at(w.Each, cql.OpIn)].(type) {
	case memory.List:
		list = memory.SetOf(in...)
	default:
		if w.Each != "" {
			list = nil
			for n := range w.Buckets {
				list = append(list, strconv.Itoa(n))
			}
		}
	}
	out := &memory.Answer{}
	for _, one := range list {
		own := values{}
		for k, x := range v {
			own[k] = x
		}
		if w.Each != "" {
			own[at(w.Each, cql.OpEQ)] = one
		}
		// An element of a collection is asked for by =, in its own column.
		if c != nil && c.Element != nil {
			own[at(c.Element.Column, cql.OpEQ)] = v[at(c.Element.Column, cql.OpContains)]
		}
		st, args, err := own.bind(w.Select, alias)
		if err != nil {
			return nil, err
		}
		a, err := s.Select(st, args)
		if err != nil {
			return nil, err
		}
		out.Columns = a.Columns
		out.Rows = append(out.Rows, a.Rows...)
	}
	return out, w.finish(out, v)
}

// finish does the client's part.
func (w *Way) finish(a *memory.Answer, v values) error {
	if !w.client() {
		return nil
	}
	column := func(name string) (int, error) {
		if i := slices.Index(a.Columns, name); i >= 0 {
			return i, nil
		}
		return 0, fmt.Errorf("the client has to look at %s, which is not asked for", name)
	}
	var failed error
	for i := range w.Where {
		r := w.Where[i]
		args := memory.Args{"v": v[at(r.Columns[0], r.Op)]}
		if _, ok := r.Value.(*cql.Marker); ok {
			r.Value = &cql.Marker{Name: "v"}
		}
		a.Rows = slices.DeleteFunc(a.Rows, func(row []memory.Value) bool {
			ok, err := memory.Matches(&r, args, func(name string) (memory.Value, error) {
				n, err := column(name)
				return row[n], err
			})
			failed = errors.Join(failed, err)
			return !ok
		})
	}
	var by []int
	for _, o := range w.Order {
		n, err := column(o.Column)
		failed = errors.Join(failed, err)
		by = append(by, n)
	}
	if failed != nil {
		return failed
	}
	slices.SortStableFunc(a.Rows, func(x, y []memory.Value) int {
		for i, o := range w.Order {
			d := strings.Compare(memory.Text(x[by[i]]), memory.Text(y[by[i]]))
			if d != 0 && o.Descending {
				return -d
			}
			if d != 0 {
				return d
			}
		}
		return 0
	})
	if n, ok := v[limitKey].(string); ok && w.Limit != nil {
		most, _ := strconv.Atoi(n) // we made it
		a.Rows = a.Rows[:min(most, len(a.Rows))]
	}
	return nil
}

// compare asks both ways and says how the answers differ; and how many rows meet the question's conditions.
func (k *Ask) compare(old, now *memory.Store, c *Copy, t *schema.Table, v values) (int, error) {
	plain := func(column string) string { return column }
	st, args, err := v.bind(k.Old, plain)
	if err != nil {
		return 0, err
	}
	want, err := old.Select(st, args)
	if err != nil {
		return 0, err
	}
	unlimited := *st
	unlimited.Limit = nil
	all, err := old.Select(&unlimited, args)
	if err != nil {
		return 0, err
	}
	meets, err := old.Select(&cql.Select{Table: st.Table, Where: st.Where}, args)
	if err != nil {
		return 0, err
	}
	got, err := k.New.ask(now, c, v)
	if err != nil {
		return 0, err
	}
	return len(meets.Rows), k.differ(t, want, got, all)
}

// differ says how an answer differs from the one wanted; all is that without its LIMIT.
func (k *Ask) differ(t *schema.Table, want, got, all *memory.Answer) error {
	if len(got.Columns) < len(want.Columns) || !slices.Equal(got.Columns[:len(want.Columns)], want.Columns) {
		return fmt.Errorf("the columns of %s are (%s), and were (%s)", k.New.Select, strings.Join(got.Columns, ", "), strings.Join(want.Columns, ", "))
	}
	lines := func(a *memory.Answer) []string {
		out := make([]string, len(a.Rows))
		for i, r := range a.Rows {
			for _, x := range r[:len(want.Columns)] {
				out[i] += memory.Text(x) + ", "
			}
			out[i] = "(" + strings.TrimSuffix(out[i], ", ") + ")"
		}
		return out
	}
	was, is, every := lines(want), lines(got), lines(all)
	differ := func(how string) error {
		return &DifferError{Statement: k.Old.String(), How: how, Was: was, Is: is}
	}
	switch {
	case len(was) != len(is):
		return differ(fmt.Sprintf("%d rows, and were %d", len(is), len(was)))
	case k.inOrder(t):
		if !slices.Equal(was, is) {
			return differ("other rows, or in another order")
		}
	case !within(is, every) || k.Old.Limit == nil && !within(every, is):
		return differ("other rows")
	case !slices.Equal(k.sortedBy(want, want.Columns), k.sortedBy(got, want.Columns)):
		return differ("rows in another order")
	}
	return nil
}

// sortedBy lists what the rows of an answer have in the columns that they are sorted by, as far as these are among those asked for.
func (k *Ask) sortedBy(a *memory.Answer, asked []string) []string {
	var out []string
	for _, r := range a.Rows {
		for _, o := range k.Old.OrderBy {
			if n := slices.Index(asked, o.Column); n >= 0 {
				out = append(out, memory.Text(r[n]))
			}
		}
	}
	return out
}

// inOrder tells whether the old statement promises an order of all rows: it is about one partition, whose rows lie in the order of their key.
func (k *Ask) inOrder(t *schema.Table) bool {
	for _, c := range t.PartitionKey() {
		if !slices.ContainsFunc(k.Old.Where, func(w cql.Relation) bool {
			return w.Op == cql.OpEQ && len(w.Columns) == 1 && w.Columns[0] == c.Name && w.Element == nil && !w.Token
		}) {
			return false
		}
	}
	n := 0
	for _, c := range t.ClusteringKey() {
		if n < len(k.Old.OrderBy) && k.Old.OrderBy[n].Column == c.Name && (k.Old.OrderBy[n].Descending != c.Descending) == (k.Old.OrderBy[0].Descending != t.Column(k.Old.OrderBy[0].Column).Descending) {
			n++
		}
	}
	return n == len(k.Old.OrderBy) // else the client sorts, and of rows that agree none is the first
}

// within tells whether a list has nothing that another one has not as often.
func within(part, whole []string) bool {
	count := map[string]int{}
	for _, x := range whole {
		count[x]++
	}
	for _, x := range part {
		if count[x]--; count[x] < 0 {
			return false
		}
	}
	return true
}

// DifferError tells of an answer that a change would change.
type DifferError struct {
	Statement, How string
	Was, Is        []string
}

func (e *DifferError) Error() string {
	return fmt.Sprintf("%s would answer with %s: on generated rows it was %s and would be %s", e.Statement, e.How, short(e.Was), short(e.Is))
}

// short writes a few rows.
func short(list []string) string {
	const most = 4
	text := strings.Join(list[:min(most, len(list))], " ")
	if len(list) > most {
		text += " ..."
	}
	if text == "" {
		return "nothing"
	}
	return text
}
