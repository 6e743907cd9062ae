package planrun

import (
	"context"
	"fmt"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/rewrite/exec"
)

// Parameters are the values of a statement's parameters, as cells of their fields' types, by workload.Parameter.Name;
// several for IN. A nil cell is null, with which no comparison holds.
type Parameters map[string][][]byte

// RunOptions say how a program is run. The zero value will do.
type RunOptions struct {
	// Parallel is how many requests of one step are under way at once; 0: 8.
	Parallel    int
	Consistency gocql.Consistency // Any, the zero value, stands for LocalOne
	PageSize    int               // rows; 0: the session's own
	// MaxRows is how many rows a step may read, or have at hand; 0: a million. More is an error (ErrTooManyRows).
	MaxRows int
	Logged  bool     // the deletes and puts of a write go in logged batches
	Account *Account // takes down what each step does; nil: nobody asks
}

const (
	defaultParallel = 8
	defaultMaxRows  = 1_000_000
)

func (o RunOptions) parallel() int {
	if o.Parallel > 0 {
		return o.Parallel
	}
	return defaultParallel
}

func (o RunOptions) maxRows() int {
	if o.MaxRows > 0 {
		return o.MaxRows
	}
	return defaultMaxRows
}

func (o RunOptions) consistency() gocql.Consistency {
	if o.Consistency == gocql.Any {
		return gocql.LocalOne
	}
	return o.Consistency
}

// Account is what the steps of one run did; for one run at a time.
type Account struct {
	Now   func() time.Time // nil: time.Now
	Steps []StepAccount    // of the plan, in order
}

// StepAccount is what one step did.
type StepAccount struct {
	Requests int           // sent
	Rows     int           // that they returned
	Bytes    int           // of the cells in those
	Left     int           // rows at hand after the step
	Time     time.Duration // of the whole step
}

func (a *Account) now() time.Time {
	if a.Now != nil {
		return a.Now()
	}
	return time.Now()
}

// Column is a column of an answer: a field or an aggregate.
type Column struct {
	Field     model.Field        // zero if it is an aggregate
	Aggregate workload.Aggregate // its Func is "" if it is a field
	Type      string             // CQL type of the cells
}

// Name is what the query calls the column: Entity.attribute or func(Entity.attribute).
func (c Column) Name() string {
	if c.Aggregate.Func != "" {
		return c.Aggregate.String()
	}
	return c.Field.String()
}

// Rows is an answer: what the query selects, then its aggregates. The cells may share memory.
type Rows struct {
	Columns []Column
	Cells   [][][]byte // by row and column
}

// Values decodes the rows, see Decode.
func (r *Rows) Values() ([][]any, error) {
	list := make([][]any, len(r.Cells))
	for n, row := range r.Cells {
		values := make([]any, len(row))
		for i, cell := range row {
			var err error
			if values[i], err = Decode(r.Columns[i].Type, cell); err != nil {
				return nil, fmt.Errorf("column %s: %w", r.Columns[i].Name(), err)
			}
		}
		list[n] = values
	}
	return list, nil
}

// Program is a plan that is ready to be run any number of times, also at once. Its texts are made once.
type Program struct {
	columns  []Column
	out      []int // slots of the columns
	width    int   // slots of a hand
	operands []operand
	where    int       // the first so many operands are the query's conditions
	filled   []filling // what a hand has at the start
	steps    []operation
	direct   bool // one read whose rows are the answer as they are
}

// filling puts the value of an operand into a slot.
type filling struct{ slot, operand int }

// hand is a row at hand in the client: cells by slot.
type hand [][]byte

// operation is a step that is ready to be run.
type operation interface {
	run(ctx context.Context, r *running, hands []hand) ([]hand, error)
}

// running is one run of a program.
type running struct {
	RunOptions
	session exec.Session
	values  [][][]byte // by operand
	never   bool       // a condition compares with null: no row satisfies it
	width   int
	step    *StepAccount // of the step that runs; nil if nobody asks
}

// Run answers the plan's query. Errors are a *ParameterError if a value is missing or of no use, else a *StepError, which
// says what to do. No goroutine is left behind, and none is started for a single request.
func (p *Program) Run(ctx context.Context, s exec.Session, with Parameters, o RunOptions) (*Rows, error) {
	r := running{RunOptions: o, session: s, width: p.width}
	if err := p.resolve(&r, with); err != nil {
		return nil, err
	}
	if o.Account != nil {
		o.Account.Steps = make([]StepAccount, len(p.steps))
	}
	if p.direct && o.Account == nil && !r.never {
		cells, err := p.steps[0].(*read).only(ctx, &r)
		return &Rows{p.columns, cells}, err
	}
	var hands []hand
	if !r.never {
		first := make(hand, p.width)
		for _, f := range p.filled {
			first[f.slot] = r.values[f.operand][0]
		}
		hands = []hand{first}
	}
	for i, step := range p.steps {
		var start time.Time
		if o.Account != nil {
			r.step, start = &o.Account.Steps[i], o.Account.now()
		}
		var err error
		if hands, err = step.run(ctx, &r, hands); err != nil {
			return nil, err
		}
		if o.Account != nil {
			r.step.Left, r.step.Time = len(hands), o.Account.now().Sub(start)
		}
	}
	return &Rows{p.columns, p.project(hands)}, nil
}

// project makes the answer's rows of those at hand.
func (p *Program) project(hands []hand) [][][]byte {
	cells := make([][]byte, 0, len(hands)*len(p.out))
	rows := make([][][]byte, len(hands))
	for i, h := range hands {
		start := len(cells)
		for _, slot := range p.out {
			cells = append(cells, h[slot])
		}
		rows[i] = cells[start:len(cells):len(cells)]
	}
	return rows
}

// Columns are those of the answer.
func (p *Program) Columns() []Column { return p.columns }

// operand is what a condition compares with.
type operand struct {
	parts []part
	op    workload.Op
	type_ string
}

// part is a literal, or values of a parameter.
type part struct {
	name  string
	index int // of the parameter's values; -1: all of them
	items int // how many values the parameter must have; 0: any number
	cell  []byte
}

// ParameterError says that the value of a parameter is missing or of no use.
type ParameterError struct {
	Name   string // see workload.Parameter
	Reason string
}

func (e *ParameterError) Error() string {
	return fmt.Sprintf("parameter %q %s", e.Name, e.Reason)
}

// resolve gives the operands their values.
func (p *Program) resolve(r *running, with Parameters) error {
	r.values = make([][][]byte, len(p.operands))
	for i := range p.operands {
		values, err := p.operands[i].values(with)
		if err != nil {
			return err
		}
		r.values[i] = values
		r.never = r.never || i < p.where && (len(values) == 0 || values[0] == nil)
	}
	return nil
}

// values are what an operand stands for: one cell; of IN any number, each once and none of them null; of LIKE the prefix.
func (o *operand) values(with Parameters) ([][]byte, error) {
	if len(o.parts) == 1 && o.op != workload.In && o.op != workload.Like {
		return o.parts[0].values(with) // nothing to make of it
	}
	var list [][]byte
	for i := range o.parts {
		values, err := o.parts[i].values(with)
		if err != nil {
			return nil, err
		}
		list = append(list, values...)
	}
	if o.op == workload.Like {
		if list[0] == nil {
			return list, nil
		}
		prefix, ok := prefixOf(list[0])
		if !ok {
			return nil, &ParameterError{o.parts[0].name, "is no pattern of LIKE: give a prefix and one % after it, and no other % or _"}
		}
		return [][]byte{prefix}, nil
	}
	return unique(o.type_, list), nil
}

func (x *part) values(with Parameters) ([][]byte, error) {
	if x.name == "" {
		return [][]byte{x.cell}, nil
	}
	values, ok := with[x.name]
	switch {
	case !ok:
		return nil, &ParameterError{x.name, "has no value: give one"}
	case x.items > 0 && len(values) != x.items:
		return nil, &ParameterError{x.name, fmt.Sprintf("has %d values, and needs %d", len(values), x.items)}
	case x.index >= 0:
		return values[x.index : x.index+1], nil
	}
	return values, nil
}
