package main

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/capture/trace"
)

// TestRoundsOfTheSameTraffic: two rounds over the same traffic make the same model file, byte for byte. If executions that were under way together were noted in
// another order, decoys are others, so that weights, which are estimates, differ by little; paths do not. With less traffic weights differ, and so do statements that are a few executions; what was exported then and edited by nobody is not called edited.
func TestRoundsOfTheSameTraffic(t *testing.T) {
	for _, v := range []variant{{&hospital, "grown, copied", false, 8, 1}, {&applications[0], "denormalised", true, 64, 1}} {
		o := v.observe()
		first := o.file(t)
		if again := o.file(t); again != first {
			t.Errorf("%s: another file the second time:\n%s\n%s", v, first, again)
		}
		o.snapshot = o.site.capture()
		if again := o.file(t); again != first {
			t.Errorf("%s: another file of the same traffic:\n%s\n%s", v, first, again)
		}

		executions := o.site.out
		o.site.out = reordered(executions)
		if first := executions[0]; o.site.out[0] == first && o.site.out[1] == executions[1] {
			t.Fatal("the order is the same")
		}
		o.snapshot = o.site.capture()
		alikeButForWeights(t, first, o.file(t))

		o.site.out = executions[:len(executions)*7/10]
		c, err := infer.Compare(t.Context(), o.site.capture(), o.schema, o.stats, nil, first)
		if err != nil {
			t.Fatal(err)
		}
		for i := range c.Unused {
			t.Errorf("%s: nobody edited %s", v, &c.Unused[i])
		}
		if len(c.Since) == 0 {
			t.Errorf("%s: with a third less of the traffic nothing differs: the test tests nothing", v)
		}
	}
}

// file is the model file of what was observed.
func (o *observed) file(t *testing.T) string {
	t.Helper()
	m, err := infer.WithCorrections(o.snapshot, o.schema, o.stats, nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := m.File()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// reordered has executions come up to 20 ms late, as connections are read one after the other.
func reordered(executions []*trace.Execution) []*trace.Execution {
	random := rand.New(rand.NewPCG(1, 2)) // #nosec G404 -- the same order each time
	late := map[*trace.Execution]int64{}
	for _, e := range executions {
		late[e] = e.End + random.Int64N(int64(20*time.Millisecond))
	}
	out := slices.Clone(executions)
	slices.SortStableFunc(out, func(a, b *trace.Execution) int { return int(late[a] - late[b]) })
	return out
}

// alikeButForWeights: of two model files entities, relationships, tables and paths are the same. What is left of a statement when its paths are taken away may
// come and go where it is next to nothing.
func alikeButForWeights(t *testing.T, first, second string) {
	t.Helper()
	a, err := workload.Read("first", []byte(first))
	if err != nil {
		t.Fatal(err)
	}
	b, err := workload.Read("second", []byte(second))
	if err != nil {
		t.Fatal(err)
	}
	if x, y := model.NewDocument(a.Graph), model.NewDocument(b.Graph); !reflect.DeepEqual(x, y) || len(a.Tables) != len(b.Tables) {
		t.Errorf("another model: %+v\n%+v", x, y)
	}
	sum := 0.0
	for _, s := range a.Statements {
		sum += s.Weight
	}
	for _, two := range [][2]*workload.Workload{{a, b}, {b, a}} {
		for _, s := range two[0].Statements {
			switch o := two[1].Statement(s.ID); {
			case o == nil && (strings.HasPrefix(s.ID, "p-") || s.Weight > 0.01*sum):
				t.Errorf("%s, %g times a second, is in one of them only: %s", s.ID, s.Weight, s)
			case o != nil && (o.String() != s.String() || math.Abs(o.Weight-s.Weight) > 0.01*sum):
				t.Errorf("%s: %s, %g times a second; %s, %g", s.ID, s, s.Weight, o, o.Weight)
			}
		}
	}
}
