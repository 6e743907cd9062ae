package timeline

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/solve"
)

// TestGiven: a calendar of tables that are given costs and says what the one did that they were taken from.
func TestGiven(t *testing.T) {
	w, o := weighed(t, 0.99)
	chosen, err := prepared(t, w, o).findCalendar(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var tables [][]*model.Table
	for _, s := range chosen.Steps {
		var list []*model.Table
		for _, x := range s.Tables {
			list = append(list, x.Table)
		}
		tables = append(tables, list)
	}
	o.Solver, o.Candidates = solve.New(solve.Config{}), nil
	given, err := Given(context.Background(), w, o, tables)
	if err != nil {
		t.Fatal(err)
	}
	if err := given.Check(); err != nil {
		t.Errorf("W-53: %v", err)
	}
	if math.Abs(given.Cost-chosen.Cost) > 1e-9*chosen.Cost || given.Proven || given.Bound > chosen.Cost || changes(given) != changes(chosen) {
		t.Errorf("%g, at least %g, %d changes; it was chosen with %g and %d", given.Cost, given.Bound, changes(given), chosen.Cost, changes(chosen))
	}
	for i, s := range given.Steps {
		if s.kinds() != chosen.Steps[i].kinds() || strings.Join(s.Created, " ") != strings.Join(chosen.Steps[i].Created, " ") {
			t.Errorf("step %d: %s, %v; it was chosen with %s, %v", i, s.kinds(), s.Created, chosen.Steps[i].kinds(), chosen.Steps[i].Created)
		}
	}
	for name, c := range map[string]struct {
		tables [][]*model.Table
		with   Options
		want   string
	}{
		"too few steps":    {tables[:2], o, "tables are given for 2 steps: there are 4"},
		"no answer":        {[][]*model.Table{tables[0], tables[1], tables[2], {}}, o, "step 3: its tables do not answer every statement"},
		"does not fit":     {tables, Options{Solver: o.Solver, Space: 1e6}, "space"},
		"a share of space": {tables, Options{Solver: o.Solver, SpaceShare: 0.5}, "a share of space"},
	} {
		var input *InputError
		if _, err := Given(context.Background(), w, c.with, c.tables); !errors.As(err, &input) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
