package rehearse_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/advisor/solve/coin"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/bench/generate"
	"github.com/helenus-db/helenus/rewrite/rehearse"
)

func TestMain(m *testing.M) {
	coin.ServeIfWorker()
	os.Exit(m.Run())
}

func chosen(t *testing.T, w *workload.Workload) *design.Design {
	t.Helper()
	d, err := design.Choose(context.Background(), w, design.Options{Solver: solve.New(solve.Config{}), Limits: solve.Limits{Nodes: 50, Wall: 3 * time.Second, Gap: 0.05}})
	if err != nil {
		t.Fatalf("%s: %v", w.Name, err)
	}
	return d
}

func tried(t *testing.T, w *workload.Workload, d *design.Design) *design.Trial {
	t.Helper()
	x, err := rehearse.Design(context.Background(), w, d)
	if err != nil {
		t.Fatalf("%s: %v", w.Name, err)
	}
	return x
}

// some are workloads whose designs are made soon.
func some(t *testing.T) (list []*workload.Workload) {
	t.Helper()
	for _, name := range []string{"figure7", "killrvideo", "rubis", "twissandra"} {
		w, err := workload.Load(filepath.Join("../../examples/designs", name+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		if len(w.Mixes) > 0 {
			if err := w.SetMix(w.Mixes[0]); err != nil {
				t.Fatal(err)
			}
			w, _ = w.In(w.Mixes[0])
		}
		list = append(list, w)
	}
	for _, n := range []uint64{1, 3, 4, 6, 8, 9, 11, 13, 14, 16, 17, 18, 19, 20, 21, 23} {
		list = append(list, generate.Varied(n))
	}
	return list
}

// What a write is given is that of what it writes: the room of a booking that goes to another guest, and not one that this guest has booked. Which of them is asked was a matter of
// chance once, so it is tried several times.
func TestGivenIsOfWhatIsWritten(t *testing.T) {
	w, err := workload.Load("../../examples/designs/hotel.yaml")
	if err != nil {
		t.Fatal(err)
	}
	d := chosen(t, w)
	for range 6 {
		x := tried(t, w, d)
		for _, c := range x.Wrong {
			t.Fatalf("a design that is right: %s", c)
		}
		if len(x.Untried) > 0 {
			t.Fatalf("not tried: %v", x.Untried)
		}
	}
}

// Designs that are right pass, whatever the workload has, and most of it is tried.
func TestRightDesignsPass(t *testing.T) {
	statements, untried := 0, 0
	for _, w := range some(t) {
		d := chosen(t, w)
		x := tried(t, w, d)
		for _, c := range x.Wrong {
			t.Errorf("%s: %s", w.Name, c)
		}
		for _, u := range x.Untried {
			t.Logf("%s: %s: %s", w.Name, u.Statement, u.Reason)
		}
		statements, untried = statements+len(d.Statements), untried+len(x.Untried)
		if again := tried(t, w, d); len(again.Untried) != len(x.Untried) {
			t.Errorf("%s: another trial of the same design has other results", w.Name)
		}
	}
	if untried*10 > statements {
		t.Errorf("%d of %d statements were not tried", untried, statements)
	}
}

// broken are what may go wrong with a plan or with its tables: each changes a design in place, and tells whether it found what to change.
var broken = map[string]func(d *design.Design, s *design.Statement) bool{
	"a limit is lost": func(_ *design.Design, s *design.Statement) bool {
		return each(s, func(x *plan.Step) bool { lost := x.Limit > 0; x.Limit = 0; return lost && x.Kind != plan.Limit })
	},
	"a step of the client is lost": func(_ *design.Design, s *design.Statement) bool {
		if s.Plan == nil {
			return false
		}
		n := len(s.Plan.Steps)
		s.Plan.Steps = slices.DeleteFunc(slices.Clone(s.Plan.Steps), func(x plan.Step) bool {
			return x.Kind == plan.Filter || x.Kind == plan.Sort || x.Kind == plan.Distinct || x.Kind == plan.Limit
		})
		return len(s.Plan.Steps) < n
	},
	"a partition is read the other way round": func(_ *design.Design, s *design.Statement) bool {
		if s.Plan == nil || s.Statement.Query.Limit == 0 || len(s.Statement.Query.OrderBy) == 0 {
			return false
		}
		return each(s, func(x *plan.Step) bool { x.Reverse = !x.Reverse; return x.Table != nil })
	},
	"a range is lost": func(_ *design.Design, s *design.Statement) bool {
		return each(s, func(x *plan.Step) bool {
			n := len(x.Clustering)
			x.Clustering = slices.DeleteFunc(slices.Clone(x.Clustering), func(b plan.Binding) bool { return b.Op != workload.Equal && b.Op != "" })
			return len(x.Clustering) < n
		})
	},
	"a table is not written": func(_ *design.Design, s *design.Statement) bool {
		lost := len(s.Writes) > 0
		s.Writes = nil
		return lost
	},
	"the last column of a key is lost": func(d *design.Design, s *design.Statement) bool {
		if s.Plan == nil {
			return false
		}
		for _, t := range d.Tables {
			if n := len(t.Table.Clustering); n > 0 && t.IsNew() && slices.Contains(t.Statements, s.Statement.ID) {
				last := t.Table.Clustering[n-1]
				t.Table.Clustering = t.Table.Clustering[:n-1]
				t.Table.Values = append(slices.Clone(t.Table.Values), last)
				t.Table.Desc = slices.DeleteFunc(slices.Clone(t.Table.Desc), func(f model.Field) bool { return f == last })
				return true
			}
		}
		return false
	},
}

func each(s *design.Statement, change func(x *plan.Step) bool) (changed bool) {
	if s.Plan == nil {
		return false
	}
	for i := range s.Plan.Steps {
		changed = change(&s.Plan.Steps[i]) || changed
	}
	return changed
}

const shop = `
name: shop
model:
  entities:
  - {name: Customer, count: 10000, key: [cid], attributes: [{name: cid, type: uuid}, {name: city, type: text, distinct: 50}, {name: name, type: text}]}
  - name: Order
    count: 1000000
    key: [oid]
    attributes:
    - {name: oid, type: uuid}
    - {name: at, type: timestamp}
    - {name: status, type: text, distinct: 5}
    - {name: total, type: double}
  relationships:
  - {name: by, from: Order, to: Customer, kind: "n:1", forward: customer, backward: orders}
statements:
- {id: newest, weight: 50, text: "SELECT Order.at, Order.total FROM Order.customer WHERE Customer.cid = ? ORDER BY Order.at DESC LIMIT 20"}
- {id: since, weight: 20, text: "SELECT Order.oid, Order.at, Order.status FROM Order.customer WHERE Customer.cid = ? AND Order.at >= ? AND Order.total > 10 ORDER BY Order.at"}
- {id: town, weight: 5, text: "SELECT Customer.name, Order.total FROM Order.customer WHERE Customer.city = ? AND Order.status = 'open'"}
- {id: order, weight: 20, text: "SELECT Order.status, Order.total FROM Order WHERE Order.oid = ?"}
- {id: place, weight: 5, text: "INSERT INTO Order SET oid = ?, at = ?, status = ?, total = ? AND CONNECT TO customer(?)"}
- {id: pay, weight: 5, text: "UPDATE Order SET status = ? WHERE Order.oid = ?"}
- {id: move, weight: 1, text: "UPDATE Customer SET city = ? WHERE Customer.cid = ?"}
- {id: cancel, weight: 1, text: "DELETE FROM Order WHERE Order.oid = ?"}
`

// kept returns what sets a design back as it is.
func kept(d *design.Design) (restore func()) {
	tables, statements := make([]model.Table, len(d.Tables)), make([]design.Statement, len(d.Statements))
	steps := make([][]plan.Step, len(d.Statements))
	for i, t := range d.Tables {
		tables[i] = *t.Table
	}
	for i, s := range d.Statements {
		if statements[i] = *s; s.Plan != nil {
			steps[i] = slices.Clone(s.Plan.Steps)
		}
	}
	return func() {
		for i, t := range d.Tables {
			*t.Table = tables[i]
		}
		for i, s := range d.Statements {
			if *s = statements[i]; s.Plan != nil {
				s.Plan.Steps = slices.Clone(steps[i])
			}
		}
	}
}

// What is broken is caught, by a counter-example or because it can not be run.
func TestBrokenDesignsAreCaught(t *testing.T) {
	w, err := workload.Read("shop.yaml", []byte(shop))
	if err != nil {
		t.Fatal(err)
	}
	d := chosen(t, w)
	if x := tried(t, w, d); len(x.Wrong)+len(x.Untried) > 0 {
		t.Fatalf("as it is: %+v", x)
	}
	restore := kept(d)
	for name, change := range broken {
		made := 0
		for _, s := range d.Statements {
			restore()
			if !change(d, s) {
				continue
			}
			made++
			if x, err := rehearse.Design(context.Background(), w, d); err == nil && len(x.Wrong)+len(x.Untried) == 0 {
				t.Errorf("%s: nobody noticed it of %s", name, s.Statement)
			}
		}
		if made == 0 {
			t.Errorf("%s: there was nothing to break", name)
		}
	}
}
