package planrun

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/rewrite/exec"
)

// read is a step that reads a table, ready to be run: one request for each distinct combination of what the rows at hand
// have for its bindings, or several, of IN and of buckets. Each row at hand is joined to the rows that its requests find.
type read struct {
	number    int
	kind      plan.Kind
	table     string
	text      string
	like      bool
	unbounded string   // the same without the upper bound of LIKE, where there is no greater text; "" if nothing is LIKE
	keys      []source // of the partition key, in its order; IN makes several requests
	bucket    *buckets
	rest      []source // of what follows in the text
	fed       []int    // slots that bindings take values from
	single    bool     // one request at most, whatever is at hand
	routed    bool     // the values of keys, and the bucket, are the whole partition key

	columns int // of the answer
	targets []target
	marker  int // column of the answer that is null in a partition of static columns alone, which is no row; -1: none
	checks  []check
	left    []condition // that the server could not check
	// grouping: the rows of each request are grouped, by the server (served) if it can check all conditions.
	grouping *grouping
	served   []server
	limit    int // rows kept of each request
}

// source is where a bound value comes from: a slot of the rows at hand, or an operand.
type source struct {
	slot    int // -1: operand
	operand int
	like    bool // two bounds of a prefix
	ascii   bool
	list    bool // the values are bound as one list
	several bool // each value is a request of its own
	convert converter
}

// target puts a column of the answer into a slot.
type target struct {
	slot    int
	convert converter
}

// server is where the server's part of an aggregate begins in a row of its answer.
type server struct {
	aggregate *aggregate
	column    int
}

// check compares what a base row has with what the look-up table was asked for.
type check struct {
	condition
	fed bool // with what was at hand before
}

// buckets says which buckets a request needs.
type buckets struct {
	of     *model.Bucket
	points []source
	from   []source // lower bounds
	to     []source
}

// errNoRow says that a value is bound which no row has: null, or an empty partition key.
var errNoRow = errors.New("no row")

func (s *read) fail(reason error, err error) error {
	return &StepError{Step: s.number, Kind: s.kind, Table: s.table, Text: s.text, Reason: reason, Err: err}
}

// failed wraps what went wrong with a request.
func (s *read) failed(ctx context.Context, err error) error {
	if cause := ctx.Err(); cause != nil && !errors.Is(err, exec.ErrTooManyRows) {
		return s.fail(reason(cause), err) // the driver does not always say so
	}
	return s.fail(reason(err), err)
}

// only runs a read that is the whole plan and one request.
func (s *read) only(ctx context.Context, r *running) ([][][]byte, error) {
	list, err := s.requests(r, nil, nil)
	if err != nil {
		return nil, s.fail(ErrPlan, err)
	}
	if len(list) == 0 {
		return nil, nil
	}
	answer, err := r.session.Query(ctx, list[0])
	if err == nil && len(answer.Rows) > r.maxRows() {
		err = exec.ErrTooManyRows
	}
	if err != nil {
		return nil, s.failed(ctx, err)
	}
	return answer.Rows, nil
}

// request is one of the read's.
func (s *read) request(r *running, text string, values [][]byte) exec.Query {
	q := exec.Query{Text: text, Values: values, Consistency: r.consistency(), PageSize: r.PageSize, Most: r.maxRows()}
	if s.routed {
		if q.Routed = len(s.keys); s.bucket != nil {
			q.Routed++
		}
	}
	return q
}

// requests appends those that a row at hand asks for; none if it has no value for a binding.
func (s *read) requests(r *running, list []exec.Query, h hand) ([]exec.Query, error) {
	width := len(s.keys) + len(s.rest) + 1
	if s.like {
		width++
	}
	values := make([][]byte, 0, width)
	numbers := []int64(nil)
	if s.bucket != nil {
		var err error
		if numbers, err = s.bucket.numbers(r, h); err != nil || len(numbers) == 0 {
			return list, ignore(err)
		}
	}
	several := false
	for i := range s.keys {
		k := &s.keys[i]
		if k.several {
			several = true
			values = append(values, nil)
			continue
		}
		cell, err := k.value(r, h)
		if err != nil || len(cell) == 0 && len(s.keys) == 1 && s.bucket == nil {
			return list, ignore(err)
		}
		values = append(values, cell)
	}
	if s.bucket != nil {
		values = append(values, s.bucket.of.Cell(numbers[0]))
	}
	text := s.text
	for i := range s.rest {
		x := &s.rest[i]
		switch {
		case x.like:
			prefix := r.values[x.operand][0]
			values = append(values, prefix)
			if upper, ok := after(prefix, x.ascii); ok {
				values = append(values, upper)
			} else {
				text = s.unbounded
			}
		case x.list:
			cell, err := listCell(x, r.values[x.operand])
			if err != nil {
				return list, err
			}
			values = append(values, cell)
		default:
			cell, err := x.value(r, h)
			if err != nil {
				return list, ignore(err)
			}
			values = append(values, cell)
		}
	}
	if !several && len(numbers) < 2 {
		return append(list, s.request(r, text, values)), nil
	}
	return s.product(r, list, s.request(r, text, values), 0, numbers)
}

// product appends a request for each combination of the values of IN, and of buckets.
func (s *read) product(r *running, list []exec.Query, q exec.Query, at int, numbers []int64) ([]exec.Query, error) {
	if at == len(s.keys) {
		if s.bucket == nil {
			return append(list, with(q, slices.Clone(q.Values))), nil
		}
		for _, n := range numbers {
			values := slices.Clone(q.Values)
			values[at] = s.bucket.of.Cell(n)
			list = append(list, with(q, values))
		}
		return list, nil
	}
	k := &s.keys[at]
	if !k.several {
		return s.product(r, list, q, at+1, numbers)
	}
	for _, cell := range r.values[k.operand] {
		cell, err := k.converted(cell)
		if err != nil || len(cell) == 0 && len(s.keys) == 1 && s.bucket == nil {
			if err != nil {
				return list, err
			}
			continue
		}
		q.Values[at] = cell
		if list, err = s.product(r, list, q, at+1, numbers); err != nil {
			return list, err
		}
		if len(list) > r.maxRows() {
			return list, exec.ErrTooManyRows
		}
	}
	return list, nil
}

func ignore(err error) error {
	if errors.Is(err, errNoRow) {
		return nil
	}
	return err
}

// value is what a source has for a row at hand.
func (x *source) value(r *running, h hand) ([]byte, error) {
	var cell []byte
	if x.slot >= 0 {
		cell = h[x.slot]
	} else {
		cell = r.values[x.operand][0]
	}
	if cell == nil {
		return nil, errNoRow
	}
	return x.converted(cell)
}

func (x *source) converted(cell []byte) ([]byte, error) {
	if x.convert == nil {
		return cell, nil
	}
	return x.convert(cell)
}

// listCell is a list in CQL's binary form.
func listCell(x *source, values [][]byte) ([]byte, error) {
	cell := exec.FromInt32(int32(len(values))) // #nosec G115 -- as many as a caller gave
	for _, v := range values {
		v, err := x.converted(v)
		if err != nil {
			return nil, err
		}
		cell = append(binary.BigEndian.AppendUint32(cell, uint32(len(v))), v...) // #nosec G115
	}
	return cell, nil
}

// numbers are the buckets that a row at hand asks for.
func (b *buckets) numbers(r *running, h hand) ([]int64, error) {
	if len(b.points) > 0 {
		x := &b.points[0]
		if !x.several {
			cell, err := x.value(r, h)
			if err != nil {
				return nil, err
			}
			return []int64{b.of.Number(cell)}, nil
		}
		var list []int64
		for _, v := range r.values[x.operand] {
			if n := b.of.Number(v); !slices.Contains(list, n) {
				list = append(list, n)
			}
		}
		return list, nil
	}
	bounds := [2][]byte{}
	for i, sources := range [2][]source{b.from, b.to} {
		if len(sources) > 0 {
			var err error
			if bounds[i], err = sources[0].value(r, h); err != nil {
				return nil, err
			}
		}
	}
	return b.of.Between(bounds[0], bounds[1]), nil
}

// combination is one distinct combination of what rows at hand have for the bindings, with the requests that it asks for.
type combination struct{ first, end int }

// run implements operation.
func (s *read) run(ctx context.Context, r *running, hands []hand) ([]hand, error) {
	var (
		requests []exec.Query
		of       = make([]int, len(hands)) // the combination of each row at hand
		combined []combination
		met      map[string]int
		key      []byte
	)
	if len(s.fed) > 0 && len(hands) > 1 {
		met = make(map[string]int, len(hands))
	}
	for i, h := range hands {
		if i > 0 && met == nil {
			continue // of[i] is 0: nothing tells the rows at hand apart
		}
		if met != nil {
			key = appendKey(key[:0], h, s.fed)
			if n, ok := met[string(key)]; ok {
				of[i] = n
				continue
			}
			met[string(key)] = len(combined)
		}
		start := len(requests)
		var err error
		if requests, err = s.requests(r, requests, h); err != nil {
			if errors.Is(err, exec.ErrTooManyRows) {
				return nil, s.fail(exec.ErrTooManyRows, nil)
			}
			return nil, s.fail(ErrPlan, err)
		}
		of[i] = len(combined)
		combined = append(combined, combination{start, len(requests)})
	}
	answers, err := gather(ctx, r.session, requests, r.parallel(), r.maxRows())
	if err != nil {
		return nil, s.failed(ctx, err)
	}
	if r.step != nil {
		r.step.took(answers)
	}
	return s.join(r, hands, of, combined, answers)
}

// took takes down what requests returned.
func (a *StepAccount) took(answers []exec.Answer) {
	a.Requests += len(answers)
	for i := range answers {
		a.Rows += len(answers[i].Rows)
		for _, row := range answers[i].Rows {
			for _, cell := range row {
				a.Bytes += len(cell)
			}
		}
	}
}

// join makes rows at hand of those at hand and what was found for each, in the order of the rows at hand.
func (s *read) join(r *running, hands []hand, of []int, combined []combination, answers []exec.Answer) ([]hand, error) {
	total := 0
	for i := range hands {
		for _, a := range answers[combined[of[i]].first:combined[of[i]].end] {
			total += len(a.Rows)
		}
		if total > r.maxRows() {
			return nil, s.fail(exec.ErrTooManyRows, nil)
		}
	}
	cells := make([][]byte, total*r.width)
	found := make([]hand, 0, total)
	for i, h := range hands {
		for _, a := range answers[combined[of[i]].first:combined[of[i]].end] {
			start := len(found)
			for _, row := range a.Rows {
				if s.marker >= 0 && row[s.marker] == nil {
					continue
				}
				more := hand(cells[:r.width:r.width])
				copy(more, h)
				if err := s.fill(more, row); err != nil {
					return nil, err
				}
				if s.passes(r, h, more) {
					found, cells = append(found, more), cells[r.width:]
				}
			}
			if s.grouping != nil && s.served == nil {
				made, err := s.grouping.of(r.width, found[start:])
				if err != nil {
					return nil, s.fail(ErrPlan, err)
				}
				found = append(found[:start], made...)
			}
			if s.limit > 0 && len(found)-start > s.limit {
				found = found[:start+s.limit]
			}
		}
	}
	if s.grouping != nil && len(found) == 0 && len(s.grouping.by) == 0 {
		return s.grouping.of(r.width, nil)
	}
	return found, nil
}

func (s *read) fill(h hand, row [][]byte) error {
	if len(row) < s.columns {
		return s.fail(ErrMismatch, errors.New("an answer with too few columns"))
	}
	for i, t := range s.targets {
		cell := row[i]
		if t.convert != nil && cell != nil {
			var err error
			if cell, err = t.convert(cell); err != nil {
				return s.fail(ErrMismatch, err)
			}
		}
		h[t.slot] = cell
	}
	for _, x := range s.served {
		cell, err := served(x.aggregate, row[x.column:])
		if err != nil {
			return s.fail(ErrMismatch, err)
		}
		h[x.aggregate.slot] = cell
	}
	return nil
}

// passes tells whether a row satisfies what is still to be checked.
func (s *read) passes(r *running, before, h hand) bool {
	for i := range s.left {
		if x := &s.left[i]; !x.holds(h[x.slot], r.values[x.operand]) {
			return false
		}
	}
	for i := range s.checks {
		x := &s.checks[i]
		var with [][]byte
		if x.fed {
			with = before[x.slot : x.slot+1]
		} else {
			with = r.values[x.operand]
		}
		if !x.holds(h[x.slot], with) {
			return false
		}
	}
	return true
}

// with is the same statement with other values.
func with(q exec.Query, values [][]byte) exec.Query {
	q.Values = values
	return q
}
