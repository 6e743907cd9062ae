package design

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/safety"
	"github.com/helenus-db/helenus/advisor/workload"
)

// Safety says what to do about new tables that are not safe: in one partition of which several writers can meet (package
// safety). What is safe if something holds counts as safe, and says so. Tables that are there are what they are.
type Safety struct {
	Principal safety.Principal
	Require   bool           // unsafe tables are no candidates
	Classes   []safety.Class // only writes of these classes must not meet; empty: none must
	Penalty   float64        // cost of each execution of a write to an unsafe table, besides its own
}

// SafetyOf is what a workload says, nil if it says nothing.
func SafetyOf(w *workload.Workload) (*Safety, error) {
	if w.Safety == nil {
		return nil, nil //nolint:nilnil // nothing is no error
	}
	p, err := safety.PrincipalOf(w)
	if err != nil {
		return nil, fmt.Errorf("design: %w", err)
	}
	s := &Safety{Principal: p, Require: w.Safety.Require, Penalty: w.Safety.Penalty}
	for _, c := range w.Safety.Classes {
		s.Classes = append(s.Classes, safety.Class(c))
	}
	return s, nil
}

// UnsafeError says that a statement can be answered, but by unsafe tables alone.
type UnsafeError struct {
	Statement, Query string
	Table            *model.Table // of the cheapest plan without the demand
	Reason           string       // why it is not safe
}

func (e *UnsafeError) Error() string {
	return fmt.Sprintf("design: statement %s (%s) can not be had safely: the best tables for it that are left hold %s, which is %s",
		e.Statement, e.Query, e.Table, e.Reason)
}

// safetyCheck remembers what was found of tables. nil: nobody asks.
type safetyCheck struct {
	*Safety
	work *workload.Workload
	of   map[string]verdict // by ID
}

type verdict struct {
	unsafe bool // by the classes asked for
	text   string
}

// safetyChecker prepares the check of what the options, or else the workload, ask for.
func (o *Options) safetyChecker(w *workload.Workload) (*safetyCheck, error) {
	s := o.Safety
	if s == nil {
		var err error
		if s, err = SafetyOf(w); err != nil || s == nil {
			return nil, err
		}
	}
	return &safetyCheck{s, w, map[string]verdict{}}, nil
}

// verdictOf checks a table, once.
func (c *safetyCheck) verdictOf(t *model.Table) verdict {
	if v, known := c.of[t.ID()]; known {
		return v
	}
	encoded := safety.Encode(c.work, []*model.Table{t}, c.Principal)[0]
	a, class, err := safety.Meet(encoded, safety.Partition)
	v := verdict{}
	switch {
	case err != nil: // what can not be checked is not known to be safe
		v = verdict{true, "not checked: " + err.Error()}
	case a.Safe && a.ReadOnly:
		v.text = string(safety.Safe) + ", nothing writes it"
	case a.Safe && c.Principal.Guessed:
		v.text = string(safety.SafeIf) + " the writers are of entity " + c.Principal.Name()
	case a.Safe:
		v.text = string(safety.Safe)
	case len(a.If) > 0:
		v.text = string(safety.SafeIf)
		for _, f := range a.If {
			v.text += " " + f.Name
		}
	default:
		v.unsafe = len(c.Classes) == 0 || slices.Contains(c.Classes, class)
		one, other := a.Witness.Writes[0].Write.ID, a.Witness.Writes[1].Write.ID
		v.text = fmt.Sprintf("%s: %s by two writers meet in one partition (%s)", safety.Unsafe, one, class)
		if one != other {
			v.text = fmt.Sprintf("%s: %s and %s by two writers meet in one partition (%s)", safety.Unsafe, one, other, class)
		}
	}
	c.of[t.ID()] = v
	return v
}

// refusesTable reports whether a table must not be a candidate.
func (c *safetyCheck) refusesTable(t *model.Table) bool {
	return c != nil && c.Require && c.verdictOf(t).unsafe
}

// explainUnsafe makes a query that has no plan one that has none safely, if it would have one otherwise: the tables of its cheapest
// plan then hold an unsafe one.
func (c *safetyCheck) explainUnsafe(ctx context.Context, w *workload.Workload, o Options, err error) error {
	var none *UnanswerableError
	if c == nil || !c.Require || !errors.As(err, &none) {
		return err
	}
	free := *c.Safety
	free.Require, free.Penalty = false, 0
	o.Safety = &free
	t, _, failed := prepareTask(ctx, w, &o)
	if failed != nil {
		return err // it has no plan at all
	}
	for _, d := range t.demands {
		if t.work.Statements[d.statement].ID != none.Statement {
			continue
		}
		path, _ := d.space.CheapestPath(t.priceOf(d), everything)
		if table := c.firstUnsafe(path); table != nil {
			return &UnsafeError{Statement: none.Statement, Query: none.Query, Table: table, Reason: c.verdictOf(table).text}
		}
	}
	return err
}

// firstUnsafe is the first unsafe new table of a plan, nil if there is none.
func (c *safetyCheck) firstUnsafe(path []*plan.Arc) *model.Table {
	for _, a := range path {
		if !a.Table.Existing && !a.Table.Kept && c.verdictOf(a.Table).unsafe {
			return a.Table
		}
	}
	return nil
}

// chargePenalties charges the writes to unsafe candidates.
func (t *task) chargePenalties(c *safetyCheck) {
	t.safe = c
	if c == nil || c.Penalty == 0 {
		return
	}
	t.penalties = make([]float64, len(t.candidates))
	for n, table := range t.candidates {
		if table.Kept || !c.verdictOf(table).unsafe {
			continue
		}
		t.penalties[n] = c.Penalty
		for i, s := range t.work.Statements {
			if s.Write != nil && t.arithmetic.Modifies(s.Write, table) {
				t.puts[i][n] += c.Penalty
			}
		}
	}
}

// penaltyOf is what an execution of a write to a candidate costs besides its own work.
func (t *task) penaltyOf(candidate int) float64 {
	if len(t.penalties) == 0 {
		return 0
	}
	return t.penalties[candidate]
}

// judgeSafety says of the new tables of a design whether they are safe, and what was charged.
func (t *task) judgeSafety(d *Design, chosen selection) {
	if t.safe == nil {
		return
	}
	for _, x := range d.Tables {
		if x.IsNew() {
			x.Safety = t.safe.verdictOf(x.Table).text
		}
	}
	for n, table := range t.candidates {
		for i, s := range t.work.Statements {
			if chosen[n] && s.Write != nil && t.arithmetic.Modifies(s.Write, table) {
				d.Penalty += t.weights[i] * t.penaltyOf(n)
			}
		}
	}
}
