package planrun

import (
	"context"
	"fmt"
	"math"
	"math/big"

	"gopkg.in/inf.v0"

	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/rewrite/exec"
)

// Aggregates are the same whether the server or the client groups. count is a bigint; sum one, too, of whole numbers, a
// double of floating ones, and of its own type else; avg is a double, of decimals a decimal; min and max are of the field's
// type. Null counts for nothing: the sum of no values is 0, and their min, max and avg are null. The server is asked for
// sum and count where avg is wanted, and adds in wide types: its own avg of whole numbers has no fraction, and its sum of
// ints overflows as an int does. (A sum that is no bigint any more wraps round, in Cassandra and here.)

// averageDigits is how many digits after the point an average of decimals has at least.
const averageDigits = 10

// mostScale is the scale of decimals that are added: a sum has the digits of all of them.
const mostScale = 10_000

// aggregateType is the CQL type of an aggregate.
func aggregateType(a workload.Aggregate) string {
	if a.Func == "count" {
		return "bigint"
	}
	if a.Func == "min" || a.Func == "max" {
		return a.Field.Attribute.Type
	}
	return aggregateTypeOf(a.Func, typeOf(a.Field.Attribute.Type))
}

// aggregate is one of a group's.
type aggregate struct {
	function string
	source   int // slot of what it is of; -1: count(*)
	slot     int // where it goes
	type_    cellType
}

// grouping makes one row of each group.
type grouping struct {
	by         []alike
	aggregates []aggregate
}

func (g *grouping) run(_ context.Context, r *running, hands []hand) ([]hand, error) {
	return g.of(r.width, hands)
}

// of groups rows: the first of each group stays, in their order, and gets the aggregates. Of no rows at all there is one
// group if there is nothing to group by.
func (g *grouping) of(width int, hands []hand) ([]hand, error) {
	var (
		key    []byte
		groups = map[string]int{}
		made   []hand
		states [][]state
	)
	if len(g.by) == 0 && len(hands) == 0 {
		made, states = []hand{make(hand, width)}, [][]state{make([]state, len(g.aggregates))}
	}
	for _, h := range hands {
		key = keyOf(key[:0], h, g.by)
		n, ok := groups[string(key)]
		if !ok {
			n = len(made)
			groups[string(key)] = n
			made, states = append(made, h), append(states, make([]state, len(g.aggregates)))
		}
		for i := range g.aggregates {
			a := &g.aggregates[i]
			if a.source < 0 {
				states[n][i].count++
			} else if err := states[n][i].add(a, h[a.source]); err != nil {
				return nil, err
			}
		}
	}
	for n, h := range made {
		for i := range g.aggregates {
			cell, err := states[n][i].result(&g.aggregates[i])
			if err != nil {
				return nil, err
			}
			h[g.aggregates[i].slot] = cell
		}
	}
	return made, nil
}

// state is an aggregate in the making.
type state struct {
	count    int64
	whole    int64
	floating float64
	lost     float64 // what adding to floating has rounded off
	varint   *big.Int
	decimal  *inf.Dec
	best     []byte
}

func (s *state) add(a *aggregate, cell []byte) error {
	if cell == nil || len(cell) == 0 && a.type_.kind != text && a.type_.kind != blob {
		return nil
	}
	s.count++
	switch a.function {
	case "count":
		return nil
	case "min", "max":
		if s.best != nil {
			if c := a.type_.compare(cell, s.best); c == 0 || c < 0 != (a.function == "min") {
				return nil
			}
		}
		s.best = cell
		return nil
	}
	if a.type_.width > 0 && len(cell) != a.type_.width || a.type_.kind == decimal && len(cell) < 5 {
		return &TypeError{a.type_.name, cell}
	}
	switch a.type_.kind {
	case whole:
		s.whole += signed(cell)
	case floating:
		// Kahan's sum, as in Cassandra.
		y := float(cell) - s.lost
		t := s.floating + y
		if s.lost = t - s.floating - y; math.IsInf(t, 0) || math.IsNaN(t) {
			s.lost = 0
		}
		s.floating = t
	case varint:
		if s.varint == nil {
			s.varint = new(big.Int)
		}
		s.varint.Add(s.varint, bigInt(cell))
	case decimal:
		d := decimalOf(cell)
		if s.decimal == nil {
			s.decimal = new(inf.Dec)
		}
		if d.Scale() > mostScale || d.Scale() < -mostScale {
			return fmt.Errorf("a decimal of scale %d: sums are made of those up to %d", d.Scale(), mostScale)
		}
		s.decimal.Add(s.decimal, d)
	}
	return nil
}

// result is the aggregate's cell.
func (s *state) result(a *aggregate) ([]byte, error) {
	switch a.function {
	case "count":
		return exec.FromInt64(s.count), nil
	case "min", "max":
		return s.best, nil
	}
	sum := any(s.whole)
	switch a.type_.kind {
	case floating:
		sum = s.floating
	case varint:
		if sum = new(big.Int); s.varint != nil {
			sum = s.varint
		}
	case decimal:
		if sum = new(inf.Dec); s.decimal != nil {
			sum = s.decimal
		}
	}
	return finish(a, sum, s.count)
}

// finish makes sum or avg of a sum and a count.
func finish(a *aggregate, sum any, count int64) ([]byte, error) {
	cqlType := aggregateTypeOf(a.function, a.type_)
	if a.function == "sum" {
		return Encode(cqlType, sum)
	}
	if count == 0 {
		return nil, nil
	}
	switch v := sum.(type) {
	case int64:
		sum = float64(v) / float64(count)
	case float64:
		sum = v / float64(count)
	case *big.Int:
		sum, _ = new(big.Float).Quo(new(big.Float).SetInt(v), new(big.Float).SetInt64(count)).Float64()
	case *inf.Dec:
		sum = new(inf.Dec).QuoRound(v, inf.NewDec(count, 0), max(v.Scale(), averageDigits), inf.RoundHalfEven)
	}
	return Encode(cqlType, sum)
}

// aggregateTypeOf is the type of a sum or an average.
func aggregateTypeOf(function string, of cellType) string {
	switch {
	case of.kind == decimal:
		return "decimal"
	case of.kind == floating || function == "avg":
		return "double"
	case of.kind == varint:
		return "varint"
	}
	return "bigint"
}

// selected are the expressions by which the server is asked for an aggregate of a column.
func selected(function, column string, of cellType) []string {
	if function == "count" {
		return []string{"count(" + column + ")"}
	}
	if function == "min" || function == "max" {
		return []string{function + "(" + column + ")"}
	}
	wide := column
	switch {
	case of.kind == whole && of.width < 8:
		wide = "CAST(" + column + " AS bigint)"
	case of.kind == floating && of.width < 8:
		wide = "CAST(" + column + " AS double)"
	}
	list := []string{"sum(" + wide + ")"}
	if function == "avg" {
		list = append(list, "count("+column+")")
	}
	return list
}

// served makes an aggregate's cell of what the server answered to those expressions.
func served(a *aggregate, cells [][]byte) ([]byte, error) {
	switch a.function {
	case "count", "min", "max":
		return cells[0], nil
	}
	cqlType := aggregateTypeOf("sum", a.type_)
	sum, err := Decode(cqlType, cells[0])
	if err != nil {
		return nil, err
	}
	if sum == nil { // of nothing
		zero, err := Encode(cqlType, 0)
		if err != nil {
			return nil, err
		}
		if sum, err = Decode(cqlType, zero); err != nil {
			return nil, err
		}
	}
	count := int64(0)
	if a.function == "avg" {
		n, ok := exec.Int64(cells[1])
		if !ok {
			return nil, fmt.Errorf("a count of %d bytes", len(cells[1]))
		}
		count = n
	}
	return finish(a, sum, count)
}
