package rewrite

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/helenus-db/helenus/rewrite/exec"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// toldOf is a report of one row of the base, or, with a room alone, of a partition.
func toldOf(keys ...[]byte) *CDCReport {
	return &CDCReport{Node: "10.0.0.1", Rows: []CDCRow{{Keyspace: "hotel", Table: "stays", ID: "1", Key: keys}}}
}

// A row that was written around us is found when an agent tells of it, repaired, counted and noted; reads go on being served.
func TestWritesAroundAreRepaired(t *testing.T) {
	serving(t, func(t *testing.T, w *world) {
		w.past("around", "guest1")
		for i, want := range []CDCFindings{{1, 1}, {1, 0}} { // a second time there is nothing to do
			found, err := w.engine.Told(context.Background(), toldOf(str("around"), num(1), num(1)))
			if err != nil || found != want {
				t.Errorf("time %d: %+v, %v", i, found, err)
			}
		}
		if !w.served("guest1") { // as the base has it
			t.Error("reads are not served")
		}
		m := w.migration()
		if m.State != migrate.Serving || !slices.ContainsFunc(m.Events, func(e migrate.Event) bool {
			return strings.HasPrefix(e.Text, "1 rows were written around Helenus, as the CDC agent of 10.0.0.1 tells")
		}) {
			t.Errorf("%s: %+v", m.State, m.Events)
		}
	})
}

// What we wrote ourselves, what was deleted, and what has no value needs nothing.
func TestOwnWritesAreNoWritesAround(t *testing.T) {
	serving(t, func(t *testing.T, w *world) {
		w.ask(insertRow, str("own"), num(1), num(1), str("guest2"), str("x"))
		must(t, w.db.Write(insertRow, [][]byte{str("none"), num(1), num(1), nil, str("x")}, time.Now().UnixMicro()))
		for _, room := range []string{"own", "none", "never was"} {
			found, err := w.engine.Told(context.Background(), toldOf(str(room), num(1), num(1)))
			if err != nil || found.Around != 0 {
				t.Errorf("%s: %+v, %v", room, found, err)
			}
		}
	})
}

// Of a partition all rows are compared.
func TestPartitionsAreRechecked(t *testing.T) {
	serving(t, func(t *testing.T, w *world) {
		for n := range 3 {
			must(t, w.db.Write(insertRow, [][]byte{str("whole"), num(n), num(1), str("guest3"), str("x")}, time.Now().UnixMicro()))
		}
		found, err := w.engine.Told(context.Background(), toldOf(str("whole")))
		if err != nil || found != (CDCFindings{3, 3}) {
			t.Errorf("%+v, %v", found, err)
		}
	})
}

// Rows of another table, or of one of the same name that is gone, are nothing to us; what is no report is refused; and what can not be
// compared is to be told again.
func TestReports(t *testing.T) {
	serving(t, func(t *testing.T, w *world) {
		for name, change := range map[string]func(*CDCReport){
			"another keyspace": func(r *CDCReport) { r.Rows[0].Keyspace = "other" },
			"another table":    func(r *CDCReport) { r.Rows[0].Table = "guests" },
			"a table before":   func(r *CDCReport) { r.Rows[0].ID = "0" },
		} {
			r := toldOf(str("room1"), num(1), num(1))
			change(r)
			if found, err := w.engine.Told(context.Background(), r); err != nil || found.Rechecked != 0 {
				t.Errorf("%s: %+v, %v", name, found, err)
			}
		}
		for name, r := range map[string]*CDCReport{
			"no node":    {Node: "node1"},
			"half a key": toldOf(str("room1"), num(1)),
			"null":       toldOf(str("room1"), nil, num(1)),
			"unread":     {Node: "10.0.0.1", Unread: -1},
			"behind":     {Node: "10.0.0.1", Behind: -1},
			"too many":   {Node: "10.0.0.1", Rows: make([]CDCRow, MaxCDCRows+1)},
		} {
			if _, err := w.engine.Told(context.Background(), r); !errors.Is(err, ErrCDCReport) {
				t.Errorf("%s: %v", name, err)
			}
		}
		w.db.Before.Set(func(context.Context, exec.Query) error { return exec.ErrNoConnection })
		if _, err := w.engine.Told(context.Background(), toldOf(str("room1"), num(1), num(1))); !errors.Is(err, exec.ErrNoConnection) {
			t.Errorf("Cassandra is away: %v", err)
		}
		w.db.Before.Clear()
	})
}

// Agents are told of the tables of keyspaces with a change, and by which columns its base is watched.
func TestCDCTables(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.fill(3, 1)
		w.boot(quick())
		defer func() { w.stop() }()
		if all, err := w.engine.CDCTables(); err != nil || len(all) != 0 {
			t.Errorf("before there is a change: %+v, %v", all, err)
		}
		must(t, w.approve("m1"))
		w.await(migrate.Serving)
		all, err := w.engine.CDCTables()
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range all {
			if watched := x.Name == "stays"; watched != (len(x.Watch) == 1 && x.Watch[0] == "guest") {
				t.Errorf("%s is watched by %q", x.Name, x.Watch)
			}
		}
		if len(all) < 2 { // ours are of the same keyspace
			t.Errorf("%+v", all)
		}
	})
}

// Without agents a sweep that finds a row without entry stops; where one is at work on each node, such rows are on their way to us.
func TestSweepsWithAgents(t *testing.T) {
	for _, c := range []struct {
		name   string
		agents []string
		want   migrate.State
	}{
		{"none", nil, migrate.Suspended},
		{"one of two nodes", []string{"10.0.0.1"}, migrate.Suspended},
		{"both", []string{"10.0.0.1", "10.0.0.2"}, migrate.Serving},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.nodes = func() []string { return []string{"10.0.0.1:9042", "10.0.0.2:9042"} }
				w.fill(6, 2)
				w.boot(quick())
				defer func() { w.stop() }()
				must(t, w.approve("m1"))
				w.await(migrate.Serving)
				repaired := w.migration().Repaired
				for range 65 * 6 { // a sweep comes every hour
					for _, node := range c.agents {
						if _, err := w.engine.Told(context.Background(), &CDCReport{Node: node}); err != nil {
							t.Fatal(err)
						}
					}
					w.past("late", "guest1")
					time.Sleep(10 * time.Second)
				}
				synctest.Wait()
				if m := w.migration(); m.State != c.want || m.Repaired <= repaired {
					t.Errorf("%s, %d repaired: %s", m.State, m.Repaired-repaired, m.Reason)
				}
			})
		})
	}
}
