package design_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/solve"
	"github.com/helenus-db/helenus/advisor/solve/coin"
	"github.com/helenus-db/helenus/advisor/workload"
)

func TestMain(m *testing.M) {
	coin.ServeIfWorker()
	flag.Parse()
	if err := flag.Set("rapid.checks", "15"); err != nil { // each check starts two processes
		panic(err)
	}
	os.Exit(m.Run())
}

func load(t testing.TB, name string) *workload.Workload {
	t.Helper()
	w, err := workload.Load("../../examples/designs/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func solver() solve.Solver { return solve.New(solve.Config{}) }

func choose(t testing.TB, w *workload.Workload, o design.Options) *design.Design {
	t.Helper()
	if o.Solver == nil {
		o.Solver = solver()
	}
	d, err := design.Choose(context.Background(), w, o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// table makes a candidate of "partition|clustering|values".
func table(t testing.TB, g *model.Graph, paths, text string) *model.Table {
	t.Helper()
	d := model.TableDocument{Name: model.Placed{Text: "t"}}
	for _, p := range strings.Fields(paths) {
		d.Paths = append(d.Paths, model.Placed{Text: p})
	}
	for i, list := range strings.Split(text, "|") {
		to := []*[]model.Placed{&d.Partition, &d.Clustering, &d.Values}[i]
		for _, name := range strings.Fields(list) {
			*to = append(*to, model.Placed{Text: name})
		}
	}
	made, err := d.Table("test", g)
	if err != nil {
		t.Fatal(err)
	}
	made.Existing, made.Name = false, ""
	return made
}

// figure16 are the column families that the paper shows for EasyAntiCheat.
func figure16(t testing.TB, g *model.Graph) []*model.Table {
	return []*model.Table{
		table(t, g, "PlayerState.session Session.player Session.server", "Server.ServerID|PlayerState.ServerTimestamp Player.PlayerID PlayerState.StateID Session.SessionID|Player.IsAdmin PlayerState.PosX PlayerState.PosY PlayerState.PosZ"),
		table(t, g, "", "Server.ServerID||Server.ServerName Server.ServerIP"),
		table(t, g, "Session.player", "Player.PlayerID|Session.SessionID|"),
		table(t, g, "Session.player Session.server", "Session.SessionID|Player.PlayerID Server.ServerID Player.IsAdmin|"),
		table(t, g, "", "Player.PlayerID||Player.IsAdmin"),
	}
}

func TestEasyAntiCheat(t *testing.T) {
	w := load(t, "eac.yaml")
	t.Run("N-47 weights are 20 reads and 80 writes", func(t *testing.T) {
		reads, writes := 0.0, 0.0
		for _, s := range w.Statements {
			if s.IsWrite() {
				writes += s.Weight
			} else {
				reads += s.Weight
			}
		}
		if reads != 20 || writes != 80 {
			t.Errorf("%g reads, %g writes", reads, writes)
		}
	})
	paper := choose(t, w, design.Options{Candidates: figure16(t, w.Graph), NoEnumeration: true})
	uses := func(d *design.Design, id string) []string {
		var list []string
		for _, s := range d.Statements {
			if s.Statement.ID != id {
				continue
			}
			if s.Plan != nil {
				for i := range s.Plan.Steps {
					step := &s.Plan.Steps[i]
					if step.Table != nil {
						list = append(list, step.Table.String())
					} else {
						list = append(list, step.String())
					}
				}
			}
			for _, p := range s.Writes {
				for _, support := range p.Support {
					list = append(list, "get "+support.Tables()[0].String())
				}
				list = append(list, "put "+p.Table.String())
			}
		}
		return list
	}
	const (
		cf1 = "[ServerID][ServerTimestamp, PlayerID, StateID, SessionID][IsAdmin, PosX, PosY, PosZ]"
		cf2 = "[ServerID][][ServerName, ServerIP]"
		cf3 = "[PlayerID][SessionID][]"
		cf4 = "[SessionID][PlayerID, ServerID, IsAdmin][]"
		cf5 = "[PlayerID][][IsAdmin]"
	)
	for _, c := range []struct {
		name, id string
		want     []string
	}{
		{"N-48 N-49 Q1: CF1, filter by player", "Q1", []string{cf1, "filter by PlayerID = ?"}},
		{"N-49 Q2: CF1 by time, filter by admin", "Q2", []string{cf1, "filter by IsAdmin = 0"}},
		{"N-49 Q3: CF2", "Q3", []string{cf2}},
		{"N-49 Q4: CF2 (the paper's text says CF3, which does not hold servers)", "Q4", []string{cf2}},
		{"N-49 Q5: CF3", "Q5", []string{cf3}},
		{"N-50 a state: get CF4, put CF1", "insert-state", []string{"get " + cf4, "put " + cf1}},
		{"N-50 N-52 a session: get CF5, put CF4, put CF3", "insert-session", []string{"put " + cf3, "get " + cf5, "put " + cf4}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := uses(paper, c.id)
			slices.Sort(got)
			slices.Sort(c.want)
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	t.Run("N-48 the design is not dearer than figure 16", func(t *testing.T) {
		// With our costs it is cheaper: states by session, found through sessions by server. It spares each of the 71
		// inserted states the support query that CF1 needs, for more gets in Q2.
		own := choose(t, w, design.Options{})
		if own.After > paper.After*(1+1e-9) || !own.Proven {
			t.Errorf("own design %.6g (proven %v), figure 16 %.6g", own.After, own.Proven, paper.After)
		}
		if again := choose(t, w, design.Options{}); text(t, again) != text(t, own) {
			t.Error("the same input gave another design")
		}
	})
	t.Run("N-48 N-29 figure 16 is an optimum with the fewest tables under NoSE's default costs", func(t *testing.T) {
		// Costs tie: any choice of 179 requests by five tables is an answer of NoSE's program. Among them ours is the
		// smallest; the figure's takes 64 MB more, as NoSE keeps the id of every entity in the key: CF1 has SessionID, which no
		// statement asks for. (And ours has IsAdmin before the time, so that Q2 needs no filter, at the same cost.)
		m, err := cost.ByName("nose:request_count")
		if err != nil {
			t.Fatal(err)
		}
		paper := choose(t, w, design.Options{Cost: m, Candidates: figure16(t, w.Graph), NoEnumeration: true})
		own := choose(t, w, design.Options{Cost: m})
		if paper.After != 179 || own.After != paper.After || !own.Proven || !own.Fewest || len(own.Tables) != 5 || len(paper.Tables) != 5 {
			t.Errorf("figure 16 costs %g with %d tables, our design %g with %d (proven %v, fewest %v)", paper.After, len(paper.Tables), own.After, len(own.Tables), own.Proven, own.Fewest)
		}
		for i, s := range own.Statements {
			if s.Cost.Work != paper.Statements[i].Cost.Work {
				t.Errorf("%s costs %g, over figure 16 %g", s.Statement.ID, s.Cost.Work, paper.Statements[i].Cost.Work)
			}
		}
		columns := func(d *design.Design) (list []string) {
			for _, x := range d.Tables {
				var names []string
				for _, f := range x.Table.Fields()[len(x.Table.Partition):] {
					if f.Attribute.Name != "SessionID" || len(x.Table.Tree.Entities) < 4 {
						names = append(names, f.Attribute.Name)
					}
				}
				slices.Sort(names)
				list = append(list, fmt.Sprint(x.Table.Partition[0].Attribute.Name, names))
			}
			slices.Sort(list)
			return list
		}
		if got, want := columns(own), columns(paper); !slices.Equal(got, want) { // N-52: in the key, or beside it
			t.Errorf("partitions and columns %q, figure 16 (without CF1's SessionID) %q", got, want)
		}
	})
	t.Run("N-51 more players a server make CF1 worse for Q1", func(t *testing.T) {
		crowded := load(t, "eac.yaml")
		crowded.Graph.Entity("Server").Count = 50
		bySession := table(t, crowded.Graph, "PlayerState.session Session.player Session.server", "Server.ServerID Player.PlayerID|PlayerState.ServerTimestamp PlayerState.StateID|PlayerState.PosX PlayerState.PosY PlayerState.PosZ")
		d := choose(t, crowded, design.Options{Candidates: append(figure16(t, crowded.Graph), bySession), NoEnumeration: true})
		if got := uses(d, "Q1"); got[0] == cf1 {
			t.Errorf("Q1 still reads CF1: %q", got)
		}
		calm := load(t, "eac.yaml")
		bySession = table(t, calm.Graph, "PlayerState.session Session.player Session.server", "Server.ServerID Player.PlayerID|PlayerState.ServerTimestamp PlayerState.StateID|PlayerState.PosX PlayerState.PosY PlayerState.PosZ")
		d = choose(t, calm, design.Options{Candidates: append(figure16(t, calm.Graph), bySession), NoEnumeration: true})
		if got := uses(d, "Q1"); got[0] != cf1 {
			t.Errorf("Q1 does not read CF1: %q", got)
		}
	})
}

func text(t testing.TB, d *design.Design) string {
	t.Helper()
	var b bytes.Buffer
	if err := d.Text(&b); err != nil {
		t.Fatal(err)
	}
	timeless := *d
	timeless.Phases, timeless.Duration = nil, 0
	if err := timeless.JSON(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestSection2(t *testing.T) {
	// N-7: POIs near the hotels that a guest booked. A design of one table; with many changes of POIs one that stores
	// each POI once.
	const model = `
name: section 2
model:
  entities:
  - {name: POI, count: 300, key: [POIID], attributes: [{name: POIID, type: uuid}, {name: POIName, type: text}, {name: POIDescription, type: text, size: 200}]}
  - {name: Hotel, count: 100, key: [HotelID], attributes: [{name: HotelID, type: uuid}]}
  - {name: Guest, count: 1000, key: [GuestID], attributes: [{name: GuestID, type: uuid}]}
  relationships:
  - {name: near, from: Hotel, to: POI, kind: "m:n", forward: pois, backward: hotels, degree: 5}
  - {name: booked, from: Guest, to: Hotel, kind: "m:n", forward: hotels, backward: guests, degree: 2}
statements:
- {id: of-guest, text: 'SELECT POI.POIID, POI.POIName, POI.POIDescription FROM POI.hotels.guests WHERE Guest.GuestID = ?', weight: 1}
- {id: change, text: 'UPDATE POI SET POIName = ?, POIDescription = ? WHERE POI.POIID = ?', weight: WEIGHT}
`
	described := func(weight string) string {
		w, err := workload.Read("section2.yaml", []byte(strings.ReplaceAll(model, "WEIGHT", weight)))
		if err != nil {
			t.Fatal(err)
		}
		if weight == "0" {
			w.Statements = w.Statements[:1]
		}
		var in []string
		for _, x := range choose(t, w, design.Options{}).Tables {
			if x.Table.Has(w.Graph.Entity("POI").Field("POIDescription")) {
				in = append(in, x.Table.Partition[0].String())
			}
		}
		return strings.Join(in, " ")
	}
	if got := described("0"); got != "Guest.GuestID" {
		t.Errorf("N-7: without changes descriptions are in tables by %s", got)
	}
	if got := described("100"); got != "POI.POIID" {
		t.Errorf("N-7: with many changes descriptions are in tables by %s", got)
	}
}

func TestSampleApplication(t *testing.T) {
	w := load(t, "hotel.yaml")
	on := func(nodes float64) cost.Model {
		m, err := cost.NewCassandra(cost.CassandraParameters{Nodes: nodes, Replication: 1})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	lookUps := func(nodes float64) *design.Design {
		return choose(t, w, design.Options{Allow: design.LookUpsOnly, Cost: on(nodes), Sensitivity: []string{"guest-reservations", "book"}})
	}
	one := lookUps(1)
	t.Run("one node: a look-up table for reservations by guest, none for hotels by city", func(t *testing.T) {
		var made []string
		for _, x := range one.Tables {
			if !x.Table.Existing {
				made = append(made, x.Table.String())
			}
		}
		if want := []string{"[guest_id][room_id, start_date, reservation_id][]"}; !slices.Equal(made, want) {
			t.Errorf("made %q, want %q", made, want)
		}
		if !one.Proven || one.After >= one.Before/2 {
			t.Errorf("proven %v, before %.4g, after %.4g", one.Proven, one.Before, one.After)
		}
	})
	t.Run("the plan reads the base rows again and checks", func(t *testing.T) {
		p := one.Statements[0].Plan
		if len(p.Steps) != 2 || p.Steps[0].Table.Base == nil || p.Steps[1].Table != p.Steps[0].Table.Base || !p.Steps[1].Verify {
			t.Errorf("plan:\n%s", p)
		}
		if current := one.Statements[0].Current; current.Steps[0].Kind != plan.Scan {
			t.Errorf("plan now:\n%s", current)
		}
	})
	t.Run("writes of the look-up cost a put each, no support query", func(t *testing.T) {
		for _, s := range one.Statements {
			for _, x := range s.Writes {
				if x.Table.Base != nil && (len(x.Support) > 0 || len(x.Steps) != 1 || x.Steps[0].Kind != plan.Put) {
					t.Errorf("%s: %d support queries, %v", s.Statement.ID, len(x.Support), x.Steps)
				}
			}
			if s.Statement.ID == "cancel" && s.Cost != s.CurrentCost {
				t.Error("cancel costs more, although a look-up keeps stale entries")
			}
		}
	})
	t.Run("why not for hotels by city", func(t *testing.T) {
		i := slices.IndexFunc(one.Rejected, func(r design.Rejection) bool { return r.Table.String() == "[city][hotel_id][]" })
		if i < 0 || !strings.Contains(one.Rejected[i].Reason, "hotels-of-city would take 5.6 instead of 2.45") {
			t.Errorf("rejected: %+v", one.Rejected)
		}
	})
	t.Run("many nodes: for hotels by city too", func(t *testing.T) {
		six := lookUps(6)
		if n := len(six.Tables); !slices.ContainsFunc(six.Tables, func(x *design.Table) bool { return x.Table.String() == "[city][hotel_id][]" }) {
			t.Errorf("%d tables, none of them by city", n)
		}
	})
	t.Run("sensitivity holds on both sides of the edge", func(t *testing.T) {
		s := one.Sensitive[0]
		if !s.Proven || s.Falls <= 0 || s.Falls >= s.Weight {
			t.Fatalf("%s", s)
		}
		for _, side := range []struct {
			factor float64
			tables int
		}{{0.99, 0}, {1.01, 1}} {
			moved := load(t, "hotel.yaml")
			moved.Statement(s.Statement).Weight = s.Falls * side.factor
			d := choose(t, moved, design.Options{Allow: design.LookUpsOnly, Cost: on(1)})
			n := 0
			for _, x := range d.Tables {
				if !x.Table.Existing {
					n++
				}
			}
			if n != side.tables {
				t.Errorf("at %g times the edge there are %d new tables, want %d", side.factor, n, side.tables)
			}
		}
	})
	t.Run("JSON and text", func(t *testing.T) {
		var b bytes.Buffer
		if err := one.JSON(&b); err != nil {
			t.Fatal(err)
		}
		var back map[string]any
		if err := json.Unmarshal(b.Bytes(), &back); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(text(t, one), "CREATE TABLE hotel.helenus_reservations_by_guest_id (\n      guest_id uuid,\n      room_id uuid,\n      start_date date,\n      reservation_id uuid,\n      PRIMARY KEY ((guest_id), room_id, start_date, reservation_id)") {
			t.Error(text(t, one))
		}
	})
	t.Run("arrivals: one table answers the chain", func(t *testing.T) {
		d := choose(t, only(w, "arrivals", "book", "extend"), design.Options{Allow: design.NoLookUps, Cost: on(1)})
		p := d.Statements[0].Plan
		first := p.Tables()[0].Partition[0].String() // both have equalities, and cost the same
		if len(p.Tables()) > 2 || first != "Hotel.city" && first != "Reservation.start_date" {
			t.Errorf("plan:\n%s", p)
		}
		if d.Statements[0].Cost.Work >= d.Statements[0].CurrentCost.Work/10 {
			t.Errorf("work %.3g, now %.3g", d.Statements[0].Cost.Work, d.Statements[0].CurrentCost.Work)
		}
	})
}

// only keeps some statements of a workload.
func only(w *workload.Workload, ids ...string) *workload.Workload {
	small := *w
	small.Statements = nil
	for _, s := range w.Statements {
		if slices.Contains(ids, s.ID) {
			small.Statements = append(small.Statements, s)
		}
	}
	return &small
}

func TestSpaceLimit(t *testing.T) {
	w := only(load(t, "nose-hotel.yaml"), "fig3")
	free := choose(t, w, design.Options{})
	size := 0.0
	for _, x := range free.Tables {
		size += x.Bytes
	}
	tight := choose(t, w, design.Options{SpaceLimit: size * 0.7})
	smaller := 0.0
	for _, x := range tight.Tables {
		smaller += x.Bytes
	}
	if smaller > size*0.7 || tight.After <= free.After {
		t.Errorf("N-26: %.4g bytes of %.4g allowed; work %.4g, without limit %.4g", smaller, size*0.7, tight.After, free.After)
	}
	if _, err := design.Choose(context.Background(), w, design.Options{Solver: solver(), SpaceLimit: 1}); !errors.Is(err, design.ErrSpace) {
		t.Errorf("one byte: %v", err)
	}
}

func TestUnanswerable(t *testing.T) {
	g := load(t, "nose-hotel.yaml").Graph
	s, err := workload.Parse(g, "SELECT Hotel.HotelName FROM Hotel")
	if err != nil {
		t.Fatal(err)
	}
	s.ID, s.Weight = "all", 1
	w := &workload.Workload{Graph: g, Statements: []*workload.Statement{s}}
	d := choose(t, w, design.Options{}) // N-6: NoSE refuses queries without an equality; here they read all of a table
	if steps := d.Statements[0].Plan.Steps; len(steps) != 1 || len(steps[0].Partition) > 0 {
		t.Errorf("N-6: %s", d.Statements[0].Plan)
	}
	_, err = design.Choose(context.Background(), w, design.Options{Solver: solver(), NoEnumeration: true})
	var none *design.UnanswerableError
	if !errors.As(err, &none) || none.Statement != "all" {
		t.Errorf("without a table: %v", err)
	}
}

func TestWithoutEngine(t *testing.T) {
	w := only(load(t, "nose-hotel.yaml"), "fig7")
	exact := choose(t, w, design.Options{})
	d := choose(t, w, design.Options{Solver: solve.Heuristic{}, Branching: -1})
	if d.After < exact.After*(1-1e-9) || d.After > exact.After*2 {
		t.Errorf("heuristic %.5g (proven %v), exact %.5g", d.After, d.Proven, exact.After)
	}
}

// TestBruteForce compares the design with the best over all subsets of a small pool and all plans.
func TestBruteForce(t *testing.T) {
	w := load(t, "eac.yaml")
	all := choose(t, only(w, "Q1", "Q2", "Q5", "insert-state", "insert-session"), design.Options{})
	var pool []*model.Table
	for _, r := range all.Rejected {
		pool = append(pool, r.Table)
	}
	for _, x := range all.Tables {
		pool = append(pool, x.Table)
	}
	pool = append(pool, figure16(t, w.Graph)...)
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(4, 7).Draw(rt, "tables")
		ids := rapid.Permutation([]string{"Q1", "Q2", "Q5"}).Draw(rt, "queries")[:2]
		small := only(w, append(ids, "insert-state", "insert-session")...)
		for _, s := range small.Statements {
			copied := *s
			copied.Weight = float64(rapid.IntRange(0, 40).Draw(rt, "weight of "+s.ID))
			small.Statements[slices.Index(small.Statements, s)] = &copied
		}
		picked := rapid.Permutation(pool).Draw(rt, "pool")[:n]
		least := math.Inf(1)
		m := cost.Default()
		for mask := 1; mask < 1<<n; mask++ {
			var tables []*model.Table
			for i, x := range picked {
				if mask&(1<<i) != 0 && !slices.ContainsFunc(tables, func(y *model.Table) bool { return y.ID() == x.ID() }) {
					tables = append(tables, x)
				}
			}
			least = min(least, work(small, m, tables))
		}
		d, err := design.Choose(context.Background(), small, design.Options{Solver: solver(), Candidates: picked, NoEnumeration: true})
		if math.IsInf(least, 1) {
			if err == nil {
				rt.Fatalf("a design of %g where there is none", d.After)
			}
			return
		}
		if err != nil {
			rt.Fatal(err)
		}
		if math.Abs(d.After-least) > 1e-6*(1+least) || !d.Proven {
			rt.Fatalf("designed %g (proven %v), the best of all subsets is %g", d.After, d.Proven, least)
		}
	})
}

// work is what a workload costs over exactly these tables, from plans alone; +Inf if they can not do it.
func work(w *workload.Workload, m cost.Model, tables []*model.Table) float64 {
	cheapest := func(q *workload.Query) float64 {
		s, err := plan.NewSpace(q, tables, nil)
		if err != nil {
			return math.Inf(1)
		}
		least := math.Inf(1)
		for _, p := range s.Plans(100000) {
			least = min(least, cost.Plan(m, p).Work)
		}
		return least
	}
	sum := 0.0
	for _, s := range w.Statements {
		if s.Query != nil {
			c := cheapest(s.Query)
			if math.IsInf(c, 1) {
				return c
			}
			sum += s.Weight * c
			continue
		}
		var asked []plan.Support
		for _, x := range tables {
			if !plan.Modifies(s.Write, x) {
				continue
			}
			sum += s.Weight * cost.Write(m, &plan.WritePlan{Steps: plan.WriteSteps(s.Write, x)}).Work
			asked = append(asked, plan.SupportQueries(s.Write, x)...)
		}
		for i, support := range asked {
			if held(asked, i) {
				continue
			}
			c := cheapest(support.Query)
			if math.IsInf(c, 1) {
				return c
			}
			sum += s.Weight * support.Times * c
		}
	}
	return sum
}

// held reports whether a support query need not be asked: it has been, or another is asked whose answer holds its own.
func held(asked []plan.Support, i int) bool {
	for j, other := range asked {
		if other.Times == asked[i].Times && (j < i && other.Query.Key() == asked[i].Query.Key() || plan.AnswerHolds(other.Query, asked[i].Query)) {
			return true
		}
	}
	return false
}

func TestTies(t *testing.T) {
	// N-29 N-30: of designs of equal cost the one with the fewest tables, of those the smallest; one plan each.
	w := load(t, "nose-hotel.yaml")
	w.Statements = nil
	for i, text := range []string{"SELECT Hotel.HotelName FROM Hotel WHERE Hotel.HotelID = ?", "SELECT Hotel.HotelPhone FROM Hotel WHERE Hotel.HotelID = ?"} {
		s, err := workload.Parse(w.Graph, text)
		if err != nil {
			t.Fatal(err)
		}
		s.ID, s.Weight = string(rune('a'+i)), 1
		w.Statements = append(w.Statements, s)
	}
	d := choose(t, w, design.Options{NoEnumeration: true, Cost: requests{}, Candidates: []*model.Table{
		table(t, w.Graph, "", "Hotel.HotelID||Hotel.HotelName"),
		table(t, w.Graph, "", "Hotel.HotelID||Hotel.HotelPhone"),
		table(t, w.Graph, "", "Hotel.HotelID||Hotel.HotelName Hotel.HotelPhone Hotel.HotelZip"),
		table(t, w.Graph, "", "Hotel.HotelID||Hotel.HotelName Hotel.HotelPhone"),
	}})
	if len(d.Tables) != 1 || d.Tables[0].Table.String() != "[HotelID][][HotelName, HotelPhone]" {
		t.Errorf("%d tables, the first is %s", len(d.Tables), d.Tables[0].Table)
	}
}

// TestLevelsAndLimits: a statement is priced at its consistency level, and tables whose partitions would be too large are
// left out of what is chosen from.
func TestLevelsAndLimits(t *testing.T) {
	work := func(level string) float64 {
		w := only(load(t, "nose-hotel.yaml"), "fig7")
		w.Statements[0].Consistency = level
		return choose(t, w, design.Options{}).After
	}
	if one, usual, all := work("ONE"), work(""), work("ALL"); one >= usual || usual >= all {
		t.Errorf("at ONE %g, at LOCAL_QUORUM %g, at ALL %g", one, usual, all)
	}
	w := only(load(t, "nose-hotel.yaml"), "fig7")
	free := choose(t, w, design.Options{})
	largest := 0.0
	for _, x := range free.Tables {
		largest = max(largest, cost.PartitionBytes(x.Table))
	}
	m, err := cost.NewCassandra(cost.CassandraParameters{PartitionBytes: largest / 4, PartitionMost: largest / 2})
	if err != nil {
		t.Fatal(err)
	}
	tight := choose(t, w, design.Options{Cost: m})
	for _, x := range tight.Tables {
		if cost.PartitionBytes(x.Table) > largest/2 {
			t.Errorf("%s has partitions of %g bytes, %g are allowed", x.Table, cost.PartitionBytes(x.Table), largest/2)
		}
	}
	if tight.After < free.After { // there may be one as cheap with smaller partitions
		t.Errorf("with a limit on partitions %g, without %g", tight.After, free.After)
	}
}

// allBut allows all tables but some.
func allBut(tables ...*model.Table) func(*model.Table) bool {
	return func(t *model.Table) bool {
		return !slices.ContainsFunc(tables, func(x *model.Table) bool { return x.ID() == t.ID() })
	}
}
