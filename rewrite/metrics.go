package rewrite

import (
	"slices"
	"sort"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/helenus-db/helenus/rewrite/condition"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// counts of one migration since the process began.
type counts struct {
	served, original, fallback atomic.Int64  // reads
	written, failed            atomic.Int64  // writes
	missed                     atomic.Uint64 // writes that went on without their entry
	touched                    atomic.Int64  // statements of clients on our table

	conditions [len(condition.All)]atomic.Int64 // reads that ran as written because of each
}

// broken counts a read that ran as written because of a condition.
func (c *counts) broken(id condition.ID) {
	if x := condition.Find(id); x != nil {
		c.conditions[x.Index()].Add(1)
	}
}

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

var (
	descReads = describe("helenus_rewrite_reads_total",
		"Reads of statements that a look-up may answer: served from it, run as written (original), or run as written after the look-up failed or did not suit (fallback).",
		"migration", "result")
	descBroken = describe("helenus_rewrite_conditions_total",
		"Executions of reads that a look-up may answer which ran as written because of a condition (docs/conditions.md).",
		"migration", "condition")
	descRefused = describe("helenus_migration_condition",
		"1 for a condition (docs/conditions.md) because of which a migration is suspended, has failed, or is verified again.", "migration_id", "condition")
	descWrites = describe("helenus_rewrite_writes_total",
		"Writes whose entry was written first (written), or that were refused because it could not be (failed).", "migration", "result")
	descTouched = describe("helenus_rewrite_touched_total",
		"Statements of clients that changed, or may have changed, the look-up table of a migration; after each its reads run as written until it is verified again.", "migration")
	descOthers = describe("helenus_cluster_others",
		"Who else is connected to the cluster, as last seen: processes of helenus with another state (helenus), kinds of connections that do not come through a helenus (client).", "kind")
	descDivergent = describe("helenus_view_divergent_rows",
		"Rows that the last verification pass found in only one of base and look-up: missing (a base row without entry, a fault) or orphan (an entry without base row, harmless).",
		"view", "reason")
	descClean   = describe("helenus_view_last_clean_pass_timestamp_seconds", "When a verification pass last found nothing missing, Unix time.", "view")
	descRepairs = describe("helenus_view_repairs_total", "Missing entries that verification wrote, since the migration began.", "view")
	descPending = describe("helenus_view_reconcile_pending", "Entries that wait to be looked at, because the value they stand for was replaced.")
	descGarbage = describe("helenus_view_reconciled_total",
		"Entries that were looked at: removed, kept (right after all), left (not shown to be safe to remove), dropped (queue full) or failed. What was not removed is the sweeper's.",
		"outcome")
	descPhase    = describe("helenus_migration_phase", "1 for the state that a migration is in.", "migration_id", "phase")
	descRatio    = describe("helenus_migration_progress_ratio", "How much of the work of the present state is done, 0 to 1.", "migration_id")
	descETA      = describe("helenus_migration_eta_seconds", "Estimated seconds until the work of the present state is done; absent before 1 % is done.", "migration_id")
	descStarted  = describe("helenus_migration_phase_start_timestamp_seconds", "When the present state was entered, Unix time.", "migration_id")
	descWaiting  = describe("helenus_migration_throttled", "1 if a migration waits; reason is cassandra (a statement of ours failed, and is tried again), requests (some from before do not end) or unreadable (a client's can not be read); the text is in `helenus migrations`.", "migration_id", "reason")
	descCompared = describe("helenus_migration_compared_reads", "Reads compared in shadow since the last clean verification.", "migration_id")
	descLatency  = describe("helenus_change_latency_seconds",
		"Latency of the statements of a change, as clients see it. Side is before (until it was approved), after (since it serves) or control (as written, while it serves; of writes their own part); kind is read or write.",
		"change_id", "side", "kind")
	descGain = describe("helenus_change_gain_ratio",
		"How many times faster the reads of a change are at the median: promised by the advice, and measured since it serves; below 1 they are slower.", "change_id", "source")
	descSaved = describe("helenus_change_saved_seconds", "Time that the reads of a change took less than as many as written would have, since it serves; negative: more.", "change_id")

	descOrders = describe("helenus_orders_pending", "Orders (roll-back, suspension, bypass, drop) that are in force and could not be stored yet; they are stored again and again until they are.")

	descriptions = []*prometheus.Desc{descLatency, descGain, descSaved, descReads, descBroken, descRefused, descWrites, descTouched, descOthers, descDivergent, descClean, descRepairs, descPending, descGarbage,
		descPhase, descRatio, descETA, descStarted, descWaiting, descCompared, descOrders}
)

// Describe implements prometheus.Collector.
func (e *Engine) Describe(c chan<- *prometheus.Desc) {
	for _, d := range descriptions {
		c <- d
	}
}

// Collect implements prometheus.Collector.
func (e *Engine) Collect(c chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		c <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	total := func(d *prometheus.Desc, v int64, labels ...string) {
		c <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), labels...)
	}
	e.mu.Lock()
	list := make([]*active, 0, len(e.active))
	for _, a := range e.active {
		list = append(list, a)
	}
	e.mu.Unlock()
	sort.Slice(list, func(i, j int) bool { return list[i].id < list[j].id })
	for _, a := range list {
		total(descReads, a.counts.served.Load(), a.id, "served")
		total(descReads, a.counts.original.Load(), a.id, "original")
		total(descReads, a.counts.fallback.Load(), a.id, "fallback")
		for i, c := range condition.All {
			if slices.Contains(c.Where, condition.OfExecution) {
				total(descBroken, a.counts.conditions[i].Load(), a.id, string(c.ID))
			}
		}
		total(descWrites, a.counts.written.Load(), a.id, "written")
		total(descWrites, a.counts.failed.Load(), a.id, "failed")
		total(descTouched, a.counts.touched.Load(), a.id)
	}
	gauge(descOrders, float64(e.manager.Backlog()))
	gauge(descOthers, float64(e.others.helenus.Load()), "helenus")
	gauge(descOthers, float64(e.others.clients.Load()), "client")
	garbage := e.maintainer.Counts()
	gauge(descPending, float64(garbage.Pending))
	total(descGarbage, garbage.Removed, "removed")
	total(descGarbage, garbage.Kept, "kept")
	total(descGarbage, garbage.Left, "left")
	total(descGarbage, garbage.Dropped, "dropped")
	total(descGarbage, garbage.Failed, "failed")
	views := map[string]bool{} // a table may have had several migrations; the one that holds it speaks for it
	for _, m := range e.manager.Migrations() {
		gauge(descPhase, 1, m.ID, string(m.State))
		gauge(descStarted, float64(m.Progress.Started.UnixNano())/1e9, m.ID)
		gauge(descCompared, float64(m.Compared), m.ID)
		for _, c := range m.Conditions {
			gauge(descRefused, 1, m.ID, string(c.ID))
		}
		if !m.Active() {
			continue
		}
		e.gained(c, m.ID)
		gauge(descRatio, m.Progress.Ratio, m.ID)
		if m.Progress.ETA > 0 {
			gauge(descETA, m.Progress.ETA.Seconds(), m.ID)
		}
		if m.Progress.Throttled != "" {
			reason := "cassandra"
			switch m.Progress.Throttled {
			case migrate.WaitsForRequests:
				reason = "requests"
			case Unreadable:
				reason = "unreadable"
			}
			gauge(descWaiting, 1, m.ID, reason)
		}
		if view := m.LookUp.Keyspace + "." + m.LookUp.Table; !views[view] && m.Passes > 0 {
			views[view] = true
			gauge(descDivergent, float64(m.Last.Missing), view, "missing")
			gauge(descDivergent, float64(m.Last.Orphans), view, "orphan")
			total(descRepairs, m.Repaired, view)
			if !m.Clean.IsZero() {
				gauge(descClean, float64(m.Clean.UnixNano())/1e9, view)
			}
		}
	}
}
