package verify

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/bench/reference"
	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/planrun"
)

// oracle is what is true: the entities in an engine that knows nothing of plans.
type oracle interface {
	// Answer is a query's, by its definition. Check tells whether another is as good: a *reference.WrongError if not.
	Answer(q *workload.Query, with reference.Parameters) ([][]any, error)
	Check(q *workload.Query, with reference.Parameters, rows [][]any) error
	Apply(w *workload.Write, with reference.Parameters) error
	// Contents hands over what a table must hold: its fields, in the order of Table.Fields, and then the number of its bucket.
	Contents(t *model.Table, row func([]any) error) error
	// Draw draws parameters of a statement, of which most meet something; reference.ErrNothing if there are none that the
	// model allows.
	Draw(s *workload.Statement, rng *rand.Rand) (reference.Parameters, error)
	Close() error
}

// place is a design's tables on the cluster, loaded from an oracle.
type place struct {
	oracle  oracle
	session exec.Session
}

// check compares one design.
type check struct {
	design *Design
	seed   uint64
	// fresh makes the design's tables anew, with the data that it began with, in place of those before.
	fresh   func(ctx context.Context) (*place, error)
	at      *place
	draws   int // parameters of each query
	updates int
	every   int // updates between comparisons
	told    func(done float64)

	graph   *model.Graph
	reads   [][]*planrun.Program // by query and plan
	writes  []*planrun.WriteProgram
	refused []string // by write: why it was not applied last
	applied []int    // by write
	report  *Report  // counts
	found   []Difference
}

// mostFound is how many differences of one design are told of; a design with one mistake has many.
const mostFound = 3

// errEnough ends a design's comparison.
var errEnough = errors.New("differences enough")

// run compares queries, then updates, then queries again. The error is the context's, or that Cassandra is away.
func (c *check) run(ctx context.Context) error {
	err := c.all(ctx)
	if c.at != nil {
		err = errors.Join(err, c.at.oracle.Close())
	}
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

func (c *check) all(ctx context.Context) error {
	if err := c.begin(ctx); err != nil {
		return err
	}
	c.count()
	if err := c.tables(ctx, c.design.Tables, Difference{Reason: "the table was not loaded as the reference has it"}); err != nil {
		return err
	}
	if err := c.queries(ctx, 0, c.draws); err != nil {
		return err
	}
	if len(c.writes) == 0 || c.updates == 0 {
		return nil
	}
	if err := c.update(ctx); err != nil {
		return err
	}
	return c.queries(ctx, c.draws, c.draws/3)
}

// begin makes the design's tables, and closes what was there before.
func (c *check) begin(ctx context.Context) error {
	if c.at != nil {
		if err := c.at.oracle.Close(); err != nil {
			return err
		}
		c.at = nil
	}
	at, err := c.fresh(ctx)
	if err != nil {
		return err
	}
	c.at = at
	return c.compile() // tables have new names
}

// compile makes programs of all plans.
func (c *check) compile() error {
	c.reads, c.writes = nil, nil
	for _, r := range c.design.Reads {
		programs := make([]*planrun.Program, len(r.Plans))
		for i, p := range r.Plans {
			program, err := planrun.Compile(p)
			if err != nil {
				if err := c.differs(c.answered(r.Statement, nil, p), "the plan can not be run: "+err.Error()); err != nil {
					return err
				}
			}
			programs[i] = program
		}
		c.reads = append(c.reads, programs)
	}
	for _, w := range c.design.Writes {
		program, err := planrun.CompileWrite(w.Statement.Write, w.Plans)
		if err != nil {
			if err := c.differs(c.written(w, nil), "the maintenance can not be run: "+err.Error()); err != nil {
				return err
			}
		}
		c.writes = append(c.writes, program)
	}
	return nil
}

// count takes down what will be compared.
func (c *check) count() {
	c.report.Queries += len(c.design.Reads)
	c.report.Writes += len(c.design.Writes)
	c.refused, c.applied = make([]string, len(c.design.Writes)), make([]int, len(c.design.Writes))
	for _, r := range c.design.Reads {
		c.report.Plans += len(r.Plans)
		for _, p := range r.Plans {
			c.report.meets(p)
		}
	}
}

// random numbers of draw n of a statement: the same whatever was drawn for others.
func (c *check) random(kind, statement, n int) *rand.Rand {
	return rand.New(rand.NewPCG(c.seed, uint64(kind)<<56|uint64(statement)<<32|uint64(n))) // #nosec G115 G404 -- the same seed, the same parameters
}

// queries compares the answers of all queries by all plans, for draws from a number on.
func (c *check) queries(ctx context.Context, from, draws int) error {
	for i, r := range c.design.Reads {
		for n := from; n < from+draws; n++ {
			if err := ctx.Err(); err != nil {
				return err
			}
			with, err := c.at.oracle.Draw(r.Statement, c.random(1, i, n))
			if errors.Is(err, reference.ErrNothing) {
				break
			}
			if err != nil {
				return fmt.Errorf("drawing parameters of %s: %w", r.Statement.ID, err)
			}
			if err := c.query(ctx, i, with, planrun.RunOptions{PageSize: []int{0, 3}[n%2]}); err != nil {
				return err
			}
		}
	}
	return nil
}

// query compares one answer by all plans.
func (c *check) query(ctx context.Context, i int, with reference.Parameters, o planrun.RunOptions) error {
	r := c.design.Reads[i]
	q := r.Statement.Query
	rows, err := c.at.oracle.Answer(q, with)
	if err != nil {
		return fmt.Errorf("the reference's answer to %s (%s): %w", r.Statement.ID, r.Statement, err)
	}
	parameters, err := with.Cells(q.Parameters())
	if err != nil {
		return fmt.Errorf("statement %s: %w", r.Statement.ID, err)
	}
	for n, program := range c.reads[i] {
		if program == nil {
			continue
		}
		c.report.Answers++
		if len(rows) > 0 {
			c.report.Filled++
		}
		d := c.answered(r.Statement, with, r.Plans[n])
		answer, err := program.Run(ctx, c.at.session, parameters, o)
		if err != nil {
			if err := c.failed(ctx, d, err); err != nil {
				return err
			}
			continue
		}
		got, err := answer.Values()
		if err != nil {
			if err := c.differs(d, err.Error()); err != nil {
				return err
			}
			continue
		}
		var wrong *reference.WrongError
		switch err := c.at.oracle.Check(q, with, got); {
		case errors.As(err, &wrong):
			d.Missing, d.Extra = apart(inLines(rows), inLines(got), 10)
			if err := c.differs(d, "the answer is wrong: "+wrong.Reason); err != nil {
				return err
			}
		case err != nil:
			return fmt.Errorf("the reference's check of %s (%s): %w", r.Statement.ID, r.Statement, err)
		}
	}
	return nil
}

func inLines(rows [][]any) []string {
	list := make([]string, len(rows))
	for i, row := range rows {
		list[i] = canonical(row)
	}
	return list
}

// update applies random updates to both, and compares the tables every so often. Where they differ, all begins anew, and what
// was found is reduced to the first update after which they do.
func (c *check) update(ctx context.Context) error {
	for n := 0; n < c.updates; {
		to := min(n+c.every, c.updates)
		before := len(c.found)
		touched, last, err := c.apply(ctx, n, to)
		if err != nil {
			return err
		}
		if last.Statement != "" {
			err = c.tables(ctx, touched, last)
		}
		if len(c.found) > before && c.every > 1 && c.found[before].Kind == "table" {
			return c.reduce(ctx, n, to, before)
		}
		if err != nil || len(c.found) > before {
			return errors.Join(err, errEnough) // the tables are not what they should be any more
		}
		n = to
		c.told(float64(n) / float64(c.updates))
	}
	return c.tables(ctx, c.design.Tables, Difference{Reason: "the table is not what it should be after all updates, of which none seemed to touch it"})
}

// reduce finds the update among some after which tables differ first.
func (c *check) reduce(ctx context.Context, from, to, before int) error {
	whole := slices.Clone(c.found[before:])
	c.found = c.found[:before]
	if err := c.begin(ctx); err != nil {
		return err
	}
	if _, _, err := c.apply(ctx, 0, from); err != nil {
		return err
	}
	for n := from; n < to; n++ {
		touched, last, err := c.apply(ctx, n, n+1)
		if err == nil && last.Statement != "" {
			err = c.tables(ctx, touched, last)
		}
		if err != nil {
			return err
		}
		if len(c.found) > before {
			return errEnough
		}
	}
	for i := range whole {
		whole[i].Reason += fmt.Sprintf(" (after updates %d to %d; one by one they did no harm)", from+1, to)
	}
	c.found = append(c.found, whole...)
	return errEnough
}

// apply draws updates, by number, and applies them to the reference and to the tables. It returns what was touched, and the
// last of them in words.
func (c *check) apply(ctx context.Context, from, to int) (touched []*model.Table, last Difference, err error) {
	for n := from; n < to; n++ {
		if err := ctx.Err(); err != nil {
			return touched, last, err
		}
		rng := c.random(2, 0, n)
		i := rng.IntN(len(c.writes))
		w := c.design.Writes[i]
		with, err := c.at.oracle.Draw(w.Statement, rng)
		if errors.Is(err, reference.ErrNothing) || c.writes[i] == nil {
			c.refused[i] = reference.ErrNothing.Error()
			continue
		}
		if err != nil {
			return touched, last, fmt.Errorf("drawing parameters of %s: %w", w.Statement.ID, err)
		}
		reason, err := c.breaks(w.Statement.Write, with)
		if err != nil {
			return touched, last, err
		}
		if reason != "" {
			c.refused[i] = reason
			continue
		}
		parameters, err := with.Cells(w.Statement.Write.Parameters())
		if err != nil {
			return touched, last, fmt.Errorf("statement %s: %w", w.Statement.ID, err)
		}
		last = c.written(w, with)
		last.Reason = fmt.Sprintf("the table is not what it should be after update %d", n+1)
		if err := c.writes[i].Run(ctx, c.at.session, parameters, planrun.RunOptions{Logged: n%3 == 0}); err != nil {
			if err := c.failed(ctx, last, err); err != nil {
				return touched, last, err
			}
			return touched, Difference{}, nil
		}
		if err := c.at.oracle.Apply(w.Statement.Write, with); err != nil {
			return touched, last, fmt.Errorf("the reference's update by %s (%s): %w", w.Statement.ID, w.Statement, err)
		}
		c.applied[i]++
		c.report.Updates++
		c.report.count(string(w.Statement.Write.Kind))
		for _, t := range c.design.Tables {
			if plan.Modifies(w.Statement.Write, t) && !slices.Contains(touched, t) {
				touched = append(touched, t)
			}
		}
	}
	return touched, last, nil
}

// breaks says how a write would break the model's word, "" if it would not. One that would is not applied.
func (c *check) breaks(w *workload.Write, with reference.Parameters) (string, error) {
	for _, b := range w.Breaches(c.graph) {
		if b.Query == nil {
			return b.Reason, nil
		}
		own := maps.Clone(with)
		for name, of := range b.With {
			own[name] = with[of]
		}
		rows, err := c.at.oracle.Answer(b.Query, own)
		if err != nil {
			return "", fmt.Errorf("asking the reference what would be left without a partner: %w", err)
		}
		if len(rows) > 0 {
			return b.Reason, nil
		}
	}
	return "", nil
}

// untried tells of writes that were never applied.
func (c *check) untried() (list []Missing) {
	for i, w := range c.design.Writes {
		if c.updates > 0 && c.applied[i] == 0 && c.refused[i] != "" {
			list = append(list, Missing{w.Statement.ID, c.refused[i]})
		}
	}
	return list
}

// tables compares what tables hold with what they should: their rows, then the elements of their collections.
func (c *check) tables(ctx context.Context, list []*model.Table, d Difference) error {
	for _, t := range list {
		if err := c.compare(ctx, t, t.Plain(), func(row func([]any) error) error { return c.rows(ctx, t, row) }, d); err != nil {
			return err
		}
		for _, n := range t.Nests {
			if err := c.compare(ctx, t, t.Spread(n), func(row func([]any) error) error { return c.elements(ctx, t, n, row) }, d); err != nil {
				return err
			}
		}
		c.report.Contents++
	}
	return nil
}

// compare compares what is held with the contents of a table by definition.
func (c *check) compare(ctx context.Context, t, definition *model.Table, held func(row func([]any) error) error, d Difference) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var want, got []string
	if err := c.at.oracle.Contents(definition, func(row []any) error { want = append(want, canonical(row)); return nil }); err != nil {
		return fmt.Errorf("the reference's contents of %s: %w", t, err)
	}
	if err := held(func(row []any) error { got = append(got, canonical(row)); return nil }); err != nil {
		return c.failed(ctx, d, err)
	}
	if d.Missing, d.Extra = apart(want, got, 10); len(d.Missing)+len(d.Extra) == 0 {
		return nil
	}
	d.Kind, d.Table = "table", text([]*model.Table{t})
	return c.add(d)
}

// answered is a difference of a query, but for what differs.
func (c *check) answered(s *workload.Statement, with reference.Parameters, p *plan.Plan) Difference {
	return Difference{Kind: "answer", Statement: s.ID, Text: s.String(), Parameters: inWords(with), Plan: p.String(), Tables: text(p.Tables())}
}

// written is a difference of a write, but for what differs.
func (c *check) written(w Write, with reference.Parameters) Difference {
	d := Difference{Statement: w.Statement.ID, Text: w.Statement.String(), Parameters: inWords(with), Kind: "table"}
	var steps []string
	for _, p := range w.Plans {
		for _, s := range p.Support {
			steps = append(steps, fmt.Sprintf("for %s: %s", p.Table.Name, s.Query), s.String())
		}
		for i := range p.Steps {
			steps = append(steps, p.Steps[i].String())
		}
	}
	d.Plan, d.Tables = strings.Join(steps, "\n"), text(c.design.Tables)
	return d
}

func inWords(with reference.Parameters) map[string]string {
	made := map[string]string{}
	for name, values := range with {
		made[name] = canonical(values)
	}
	return made
}

// failed takes down that a statement failed, unless Cassandra is away, or the context ended: then it returns the error.
func (c *check) failed(ctx context.Context, d Difference, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if away(err) {
		return err
	}
	d.Kind = "error"
	return c.differs(d, "it failed: "+err.Error())
}

func (c *check) differs(d Difference, reason string) error {
	d.Reason = reason
	return c.add(d)
}

func (c *check) add(d Difference) error {
	d.Design = c.design.Name
	if c.found = append(c.found, d); len(c.found) >= mostFound {
		return errEnough
	}
	return nil
}
