package rewrite

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// series are the values of some metrics by name and labels' values, those that are 0 left out.
func series(t *testing.T, e *Engine, names ...string) map[string]float64 {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	must(t, registry.Register(e))
	families, err := registry.Gather()
	must(t, err)
	out := map[string]float64{}
	for _, f := range families {
		if !slices.Contains(names, f.GetName()) {
			continue
		}
		for _, m := range f.GetMetric() {
			name := strings.TrimPrefix(f.GetName(), "helenus_change_")
			for _, l := range m.GetLabel() {
				name += " " + l.GetValue()
			}
			if v := m.GetGauge().GetValue() + m.GetCounter().GetValue(); v != 0 {
				out[name] = v
			}
		}
	}
	return out
}

// Each read that is not served is counted under its reason, and they add up to those that ran as written.
func TestUnservedReasons(t *testing.T) {
	serving(t, func(t *testing.T, w *world) {
		const name = "helenus_change_reads_not_served_total"
		before := series(t, w.engine, name)
		for reason, change := range map[string]func(*proxy.Request){
			"text":        func(r *proxy.Request) { r.Opcode, r.Prepared, r.SkipMetadata = proxy.OpQuery, nil, true }, // its answer could not be made without
			"unprepared":  func(r *proxy.Request) { r.Prepared = nil },
			"pages":       func(r *proxy.Request) { r.PagingState = []byte{1} },
			"consistency": func(r *proxy.Request) { r.Consistency = uint16(gocql.Serial) },
			"options":     func(r *proxy.Request) { r.Flags |= flagTracing },
			"role":        func(r *proxy.Request) { r.Client = &proxy.Client{User: true} },
		} {
			w.engine.active["m1"].turn.Store(1) // none is a control
			if got := w.send(byGuest, change, str("guest1")); !got.forwarded {
				t.Errorf("%s: served", reason)
			}
			now := series(t, w.engine, name)
			for other, n := range now {
				want := before[other]
				if other == "reads_not_served_total m1 "+reason {
					want++
				}
				if n != want {
					t.Errorf("%s: %s is %v, was %v", reason, other, n, before[other])
				}
			}
			if len(now) < len(before) || now["reads_not_served_total m1 "+reason] == 0 {
				t.Errorf("%s is not counted: %v", reason, now)
			}
			before = now
		}
		sum := 0.0
		for _, n := range before {
			sum += n
		}
		reads := series(t, w.engine, "helenus_change_reads_total")
		if got := reads["reads_total m1 original"] + reads["reads_total m1 fallback"]; got != sum || sum == 0 {
			t.Errorf("%v reads as written, %v with a reason", got, sum)
		}
	})
}

// A change is in one state, decisions tell who took them, and what was filled is known.
func TestStatesAndDecisions(t *testing.T) {
	serving(t, func(t *testing.T, w *world) {
		names := []string{"helenus_change_state", "helenus_change_decisions_total", "helenus_change_throttled"}
		want := map[string]float64{"state m1 serving": 1, "decisions_total person approved": 1}
		relabelled := func() map[string]float64 {
			out := map[string]float64{}
			for k, v := range series(t, w.engine, names...) {
				if f := strings.Fields(k); f[0] == "decisions_total" { // labels are by name: by, decision
					k = fmt.Sprint(f[0], " ", f[1], " ", f[2])
				}
				out[k] = v
			}
			return out
		}
		if d := cmp.Diff(want, relabelled()); d != "" {
			t.Error(d)
		}
		rows := series(t, w.engine, "helenus_change_rows_filled", "helenus_change_rows_to_fill")
		if rows["rows_filled m1"] == 0 || rows["rows_filled m1"] != rows["rows_to_fill m1"] {
			t.Errorf("rows: %v", rows)
		}
		must(t, w.engine.manager.Suspend(t.Context(), "m1", "a test", false))
		must(t, w.engine.Resume(t.Context(), "m1", "ann"))
		w.await(migrate.Serving)
		must(t, w.engine.manager.Reverify(t.Context(), "m1", "a test"))
		w.await(migrate.Serving)
		must(t, w.engine.Rollback(t.Context(), "m1", "calendar r-1"))
		w.await(migrate.RolledBack)
		must(t, w.engine.Drop(t.Context(), "m1", "ann"))
		want = map[string]float64{"state m1 dropped": 1, "decisions_total person approved": 1, "decisions_total guard suspended": 1, "decisions_total person resumed": 1,
			"decisions_total guard turned-back": 1, "decisions_total calendar rolled-back": 1, "decisions_total person dropped": 1}
		if d := cmp.Diff(want, relabelled()); d != "" {
			t.Error(d)
		}
	})
}

// There are metrics of at most so many changes: those under way, and then the latest to end.
func TestListed(t *testing.T) {
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var all []migrate.Change
	for n := range maxListed + 20 {
		state := migrate.Dropped
		if n%2 == 0 {
			state = migrate.Serving
		}
		all = append(all, migrate.Change{ID: fmt.Sprintf("r-%04d", n), State: state, Progress: migrate.Progress{Started: began.Add(time.Duration(n) * time.Hour)}})
	}
	chosen, left := listed(all)
	if left != 20 || len(chosen) != maxListed {
		t.Fatalf("%d listed, %d left", len(chosen), left)
	}
	for n := range all {
		at := slices.IndexFunc(chosen, func(m migrate.Change) bool { return m.ID == all[n].ID })
		if want := n%2 == 0 || n > 40; want != (at >= 0) {
			t.Errorf("%s (%s) is listed: %v", all[n].ID, all[n].State, !want)
		}
	}
	if some, none := listed(all[:3]); len(some) != 3 || none != 0 {
		t.Errorf("%d of 3 are listed, %d left", len(some), none)
	}
}

// What a read adds to the metrics on its way takes no memory.
func TestCountingAllocatesNothing(t *testing.T) {
	var c counts
	r := &proxy.Request{Opcode: proxy.OpExecute, Prepared: &proxy.Prepared{ResultMetadata: []byte{0}}, PagingState: []byte{1}}
	if n := testing.AllocsPerRun(100, func() {
		if why, ok := plain(r, nil); !ok {
			c.unserved(why)
		}
	}); n != 0 || c.asWritten[becausePages].Load() == 0 {
		t.Errorf("%v allocations, %d counted", n, c.asWritten[becausePages].Load())
	}
}
