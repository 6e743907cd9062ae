package solve

import (
	"fmt"
	"math"
)

// Problem is a mixed integer linear program: minimise the sum of cost times value over the columns, each column
// within its bounds, each row's sum within its bounds. A bound may be infinite (math.Inf).
type Problem struct {
	Columns []Column
	Rows    []Row

	// Start is nil or one value per column: a solution to begin from. It need not be feasible or complete; what
	// cannot be kept is repaired. It never makes an answer worse, and a feasible one is a floor: the answer is at least
	// as good, whatever limit strikes.
	Start []float64

	// Bare: the exact engine branches at once, without cuts and heuristics of its own. They are most of its time where cuts do not lift the bound and Start is
	// good. And with Limits.Gap it does not look for what costs less than the best so far by no more than that share of what Start costs: many solutions that are
	// nearly as good are met once. Solution.Bound says so.
	Bare bool

	// Unranged: nobody asks a relaxation for its ranges. They take longer than solving does where problems are large, and clp has crashed over them.
	Unranged bool
}

// Column is one variable.
type Column struct {
	Name         string // for error messages and reports; empty or unique
	Cost         float64
	Lower, Upper float64
	Integer      bool
}

// Row is one constraint: Lower <= sum of the terms <= Upper.
type Row struct {
	Name         string // for error messages and reports; empty or unique
	Terms        []Term
	Lower, Upper float64
}

// Term is one coefficient of a row.
type Term struct {
	Column      int // index into Problem.Columns
	Coefficient float64
}

// largest is the greatest magnitude of a finite number in a problem. Beyond it the engines' tolerances mean nothing
// (and they take 1e30 for infinite).
const largest = 1e20

// Tolerance is how far a row may be overstepped, per unit of its bound (at least one unit), and a value of an integer
// column may be away from an integer.
const Tolerance = 1e-6

// InvalidError says which part of a problem is not well formed. The problem must be built differently; solving it again
// cannot help.
type InvalidError struct {
	Part   string // "column", "row" or "start"
	Index  int    // of the column or row
	Name   string // its name, may be empty
	Reason string
}

func (e *InvalidError) Error() string {
	return fmt.Sprintf("solve: problem not valid: %s: %s", partLabel(e.Part, e.Index, e.Name), e.Reason)
}

// InfeasibleError says which row or column a vector of values breaks, see Problem.Check.
type InfeasibleError struct {
	Part         string // "column" or "row"
	Index        int
	Name         string
	Value        float64 // what it comes to
	Lower, Upper float64 // what is allowed
	Fraction     bool    // the bounds hold, but the column must be an integer
}

func (e *InfeasibleError) Error() string {
	if e.Fraction {
		return fmt.Sprintf("solve: values not feasible: %s is %g and must be an integer", partLabel(e.Part, e.Index, e.Name), e.Value)
	}
	return fmt.Sprintf("solve: values not feasible: %s is %g and must lie in [%g, %g]", partLabel(e.Part, e.Index, e.Name), e.Value, e.Lower, e.Upper)
}

func partLabel(part string, index int, name string) string {
	if name == "" {
		return fmt.Sprintf("%s %d", part, index)
	}
	return fmt.Sprintf("%s %d (%q)", part, index, name)
}

// Validate returns an *InvalidError for the first part that is not well formed: a number that is not a number or too
// large, bounds that cross, a term of no column or of a column twice, a name used twice, a start of the wrong length.
// A well-formed problem may still have no solution.
func (p *Problem) Validate() error {
	if len(p.Columns) > math.MaxInt32 || len(p.Rows) > math.MaxInt32 {
		return &InvalidError{Part: "row", Index: len(p.Rows), Reason: "too many columns or rows (the limit is 2^31-1)"}
	}
	columns := make(map[string]int, len(p.Columns))
	for i, c := range p.Columns {
		reason := badBounds(c.Lower, c.Upper)
		if reason == "" && !Finite(c.Cost) {
			reason = fmt.Sprintf("cost %g is not a usable number", c.Cost)
		}
		if reason == "" {
			reason = nameTaken(columns, c.Name, i)
		}
		if reason != "" {
			return &InvalidError{Part: "column", Index: i, Name: c.Name, Reason: reason}
		}
	}
	rows := make(map[string]int, len(p.Rows))
	seen := make([]int, len(p.Columns)) // last row, plus one, that named the column
	for i, r := range p.Rows {
		reason := badBounds(r.Lower, r.Upper)
		if reason == "" {
			reason = nameTaken(rows, r.Name, i)
		}
		for _, t := range r.Terms {
			if reason != "" {
				break
			}
			reason = p.badTerm(t, seen, i)
		}
		if reason != "" {
			return &InvalidError{Part: "row", Index: i, Name: r.Name, Reason: reason}
		}
	}
	return p.validateStart()
}

func (p *Problem) badTerm(t Term, seen []int, row int) string {
	switch {
	case t.Column < 0 || t.Column >= len(p.Columns):
		return fmt.Sprintf("a term names column %d, but there are %d columns", t.Column, len(p.Columns))
	case !Finite(t.Coefficient):
		return fmt.Sprintf("coefficient %g of %s is not a usable number", t.Coefficient, partLabel("column", t.Column, p.Columns[t.Column].Name))
	case seen[t.Column] == row+1:
		return fmt.Sprintf("two terms name %s", partLabel("column", t.Column, p.Columns[t.Column].Name))
	}
	seen[t.Column] = row + 1
	return ""
}

func (p *Problem) validateStart() error {
	if p.Start == nil {
		return nil
	}
	if len(p.Start) != len(p.Columns) {
		return &InvalidError{Part: "start", Index: len(p.Start), Reason: fmt.Sprintf("%d values for %d columns", len(p.Start), len(p.Columns))}
	}
	for i, v := range p.Start {
		if !Finite(v) {
			return &InvalidError{Part: "start", Index: i, Name: p.Columns[i].Name, Reason: fmt.Sprintf("value %g is not a usable number", v)}
		}
	}
	return nil
}

// Finite reports whether a number is one that a problem may hold.
func Finite(v float64) bool { return math.Abs(v) <= largest } // false for NaN too

func badBounds(lower, upper float64) string {
	switch {
	case !Finite(lower) && !math.IsInf(lower, -1):
		return fmt.Sprintf("lower bound %g is not a usable number", lower)
	case !Finite(upper) && !math.IsInf(upper, 1):
		return fmt.Sprintf("upper bound %g is not a usable number", upper)
	case lower > upper:
		return fmt.Sprintf("lower bound %g is above upper bound %g", lower, upper)
	}
	return ""
}

func nameTaken(names map[string]int, name string, i int) string {
	if name == "" {
		return ""
	}
	if first, ok := names[name]; ok {
		return fmt.Sprintf("number %d has the same name", first)
	}
	names[name] = i
	return ""
}

// Objective is the cost of values, one per column.
func (p *Problem) Objective(values []float64) float64 {
	sum := 0.0
	for i, c := range p.Columns {
		sum += c.Cost * values[i]
	}
	return sum
}

// Check returns nil if values is a feasible solution, within a tolerance of a millionth, and otherwise an
// *InfeasibleError for the first column or row it breaks.
func (p *Problem) Check(values []float64) error {
	if len(values) != len(p.Columns) {
		return &InvalidError{Part: "start", Index: len(values), Reason: fmt.Sprintf("%d values for %d columns", len(values), len(p.Columns))}
	}
	for i, c := range p.Columns {
		v := values[i]
		if !withinBounds(v, c.Lower, c.Upper) {
			return &InfeasibleError{Part: "column", Index: i, Name: c.Name, Value: v, Lower: c.Lower, Upper: c.Upper}
		}
		if c.Integer && math.Abs(v-math.Round(v)) > Tolerance {
			return &InfeasibleError{Part: "column", Index: i, Name: c.Name, Value: v, Lower: c.Lower, Upper: c.Upper, Fraction: true}
		}
	}
	for i, r := range p.Rows {
		sum := 0.0
		for _, t := range r.Terms {
			sum += t.Coefficient * values[t.Column]
		}
		if !withinBounds(sum, r.Lower, r.Upper) {
			return &InfeasibleError{Part: "row", Index: i, Name: r.Name, Value: sum, Lower: r.Lower, Upper: r.Upper}
		}
	}
	return nil
}

func withinBounds(v, lower, upper float64) bool { // false for NaN
	return v >= lower-rowTolerance(lower) && v <= upper+rowTolerance(upper)
}

func rowTolerance(bound float64) float64 {
	if math.IsInf(bound, 0) {
		return 0
	}
	return Tolerance * max(1, math.Abs(bound))
}

// Integers reports whether any column must be an integer.
func (p *Problem) Integers() bool {
	for _, c := range p.Columns {
		if c.Integer {
			return true
		}
	}
	return false
}

// Snap returns values with integer columns rounded and all columns clamped into their bounds if that is feasible, else
// the values as they are: engines answer 0.9999998 where they mean 1.
func (p *Problem) Snap(values []float64) []float64 {
	snapped := make([]float64, len(values))
	for i, c := range p.Columns {
		v := values[i]
		if c.Integer {
			v = math.Round(v)
		}
		snapped[i] = min(max(v, c.Lower), c.Upper) + 0 // plus zero: no negative zero
	}
	if p.Check(snapped) == nil {
		return snapped
	}
	return values
}

// Floor is a bound below every solution, from the column bounds alone.
func (p *Problem) Floor() float64 {
	sum := 0.0
	for _, c := range p.Columns {
		switch {
		case c.Cost > 0:
			sum += c.Cost * c.Lower
		case c.Cost < 0:
			sum += c.Cost * c.Upper
		}
	}
	return sum
}
