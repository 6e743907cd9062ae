package design_test

import (
	"context"
	"math"
	"testing"

	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
)

// TestOver names each of figure 7's plans (N-22), and some that are none: the design over it costs what the best one
// costs of those that keep its tables and can answer the query by nothing else.
func TestOver(t *testing.T) {
	w, err := workload.Load("../../examples/designs/figure7.yaml")
	if err != nil {
		t.Fatal(err)
	}
	tables := map[string]*model.Table{}
	o := design.Options{Solver: solver(), NoEnumeration: true}
	for _, x := range w.Schemas["paper"] {
		tables[x.Name] = x
		o.Candidates = append(o.Candidates, x)
	}
	ctx := context.Background()
	s, err := design.NewStudy(ctx, w, o)
	if err != nil {
		t.Fatal(err)
	}
	best, err := s.Design(ctx)
	if err != nil {
		t.Fatal(err)
	}
	same := 0
	for _, c := range []struct {
		plan, forbidden []string
		possible        bool
	}{
		{[]string{"CF1"}, []string{"CF2", "CF3", "CF4"}, true},
		{[]string{"CF2", "CF5"}, []string{"CF1", "CF3", "CF4"}, true},
		{[]string{"CF3", "CF4", "CF5"}, []string{"CF1", "CF2"}, true},
		{[]string{"CF4", "CF5"}, nil, false},
		{[]string{"CF2"}, nil, false},
	} {
		var over []*model.Table
		for _, name := range c.plan {
			over = append(over, tables[name])
		}
		x, err := s.Over(ctx, "rooms", over)
		if err != nil {
			t.Fatal(err)
		}
		if x.Possible != c.possible {
			t.Errorf("%s: %+v", x.Condition, x)
		}
		if !c.possible {
			continue
		}
		if x.Same {
			same++
		}
		other := o
		var forbidden []*model.Table
		for _, name := range c.forbidden {
			forbidden = append(forbidden, tables[name])
		}
		other.Allow = allBut(forbidden...)
		want, err := design.Choose(ctx, w, other)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(x.Cost-want.After) > 1e-9*want.After || math.Abs(x.Worse-(want.After-best.After)) > 1e-9*want.After {
			t.Errorf("%s costs %g, %g worse; designed without the other ways %g, best %g", x.Condition, x.Cost, x.Worse, want.After, best.After)
		}
	}
	if same != 1 {
		t.Errorf("%d of the plans are the best design's", same)
	}
	if _, err := s.Over(ctx, "new-rate", nil); err == nil {
		t.Error("a write has a plan by name")
	}
}
