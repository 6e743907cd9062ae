package rewrite

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/helenus-db/helenus/rewrite/migrate"
)

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

var (
	descInfo = describe("helenus_change_info", "A change that was approved, and has not ended longest ago; always 1. Structure is the table that it makes, with the keyspace if that is not the application's.",
		"change_id", "keyspace", "table", "structure")
	descState = describe("helenus_change_state", "1 for the state that a change is in, 0 for all others.", "change_id", "state")
	descReads = describe("helenus_change_reads_total",
		"Reads of statements that a change may answer: served by it, run as written (original), or run as written after it failed or did not suit (fallback).",
		"change_id", "result")
	descRefused = describe("helenus_change_condition",
		"1 for a condition (docs/conditions.md) because of which a change is suspended, has failed, or is verified again.", "change_id", "condition")
	descUnserved = describe("helenus_change_reads_not_served_total",
		"Reads of statements that a change may answer and that ran as written, by why: text (sent as a QUERY in a form that only Cassandra reads), unprepared (its metadata is not known), pages (a further page), consistency (serial), options (tracing, a payload, another number of values), role (Cassandra does not let the client's role read it), state (the change does not serve now), control (one of some, to compare with), busy (too many at once), or, after the change was asked, failed, unsuited (too much for it) or touched (turned back meanwhile).",
		"change_id", "reason")
	descWrites = describe("helenus_change_writes_total",
		"Entries of writes: written first (written), not to be written (failed), and writes that went on without theirs (missed); after a missed one reads run as written until it is verified again.", "change_id", "result")
	descTouched = describe("helenus_change_touched_total",
		"Statements of clients that changed, or may have changed, a table of a change; after each its reads run as written until it is verified again.", "change_id")
	descOthers = describe("helenus_cluster_others",
		"Who else is connected to the cluster, as last seen: processes of helenus with another state (helenus), kinds of connections that do not come through a helenus (client).", "kind")
	descDivergent = describe("helenus_change_divergent_rows",
		"Rows that the last verification pass found in only one of the base and the change's tables: missing (a base row without entry, a fault) or orphan (an entry without base row, harmless).",
		"change_id", "reason")
	descClean    = describe("helenus_change_last_clean_pass_timestamp_seconds", "When a verification pass last found nothing missing, Unix time.", "change_id")
	descRepairs  = describe("helenus_change_repairs_total", "Missing entries that verification wrote, since the change began.", "change_id")
	descRatio    = describe("helenus_change_progress_ratio", "How much of the work of the present state is done, 0 to 1.", "change_id")
	descETA      = describe("helenus_change_eta_seconds", "Estimated seconds until the work of the present state is done; absent before 1 % is done.", "change_id")
	descFilled   = describe("helenus_change_rows_filled", "Rows of the base table whose entry was filled, in parts of the ring that are done.", "change_id")
	descToFill   = describe("helenus_change_rows_to_fill", "Rows of the base table that are to be filled, the filled ones included: estimated from the part of the ring that is done, and absent before 1 % is.", "change_id")
	descStarted  = describe("helenus_change_state_start_timestamp_seconds", "When the present state was entered, Unix time.", "change_id")
	descWaiting  = describe("helenus_change_throttled", "1 if a change waits; reason is cassandra (a statement of ours failed, and is tried again), held (a person orders the cut-over), paused (a person has, and lets it go on), throttled (it goes on, at the rate that a person ordered), requests (some from before do not end), unreadable (a client's can not be read) or bulk (somebody else is to fill its table); the text is in `helenus changes`.", "change_id", "reason")
	descCompared = describe("helenus_change_compared_reads_total", "Reads compared in shadow that agreed, by what with: the answer to the application's read (read), to one of our own (own), or what the base's token ranges hold (ranges). Begun anew after an unexplained difference.", "change_id", "source")
	descDiffered = describe("helenus_change_differences_total", "Reads compared in shadow that differed: explained (they agreed when read again) or unexplained (it answers otherwise: the change is suspended).", "change_id", "result")
	descLatency  = describe("helenus_change_latency_seconds",
		"Latency of the statements of a change, as clients see it. Side is before (until it was approved), after (since it serves) or control (as written, while it serves; of writes their own part); kind is read or write.",
		"change_id", "side", "kind")
	descGain = describe("helenus_change_gain_ratio",
		"How many times faster the reads of a change are at the median: promised by the advice, and measured since it serves; below 1 they are slower.", "change_id", "source")
	descSaved = describe("helenus_change_saved_seconds", "Time that the reads of a change took less than as many as written would have, since it serves; negative: more.", "change_id")

	descDecisions = describe("helenus_change_decisions_total",
		"Decisions about changes in this process, and who took them: a person, a calendar that a person approved, or the guard that watches over changes.", "decision", "by")
	descRechecked   = describe("helenus_change_rechecked_total", "Rows that CDC agents told of, and that were compared with their entries.", "change_id")
	descAround      = describe("helenus_change_written_around_total", "Rows that CDC agents told of and that had no entry: somebody writes around Helenus. They were repaired; reads missed them until then.", "change_id")
	descAgent       = describe("helenus_cdc_last_report_timestamp_seconds", "When the CDC agent of a node reported last.", "node")
	descAgentBehind = describe("helenus_cdc_behind_bytes", "Bytes of the commit log that the CDC agent of a node has yet to read, as it reported last.", "node")
	descAgentUnread = describe("helenus_cdc_unread_total", "Mutations, or parts of the commit log, that the CDC agent of a node could not read.", "node")

	descUnlisted = describe("helenus_change_unlisted", "Changes that are left out of these metrics because there are more than 100: those that ended longest ago, and then of those under way the last by id.")
	descOrders   = describe("helenus_orders_pending", "Orders (roll-back, suspension, bypass, drop) that are in force and could not be stored yet; they are stored again and again until they are.")

	descriptions = []*prometheus.Desc{descInfo, descState, descLatency, descGain, descSaved, descReads, descUnserved, descRefused, descWrites, descTouched, descOthers, descDivergent, descClean, descRepairs,
		descRatio, descETA, descFilled, descToFill, descStarted, descWaiting, descCompared, descDiffered, descDecisions, descUnlisted, descOrders,
		descRechecked, descAround, descAgent, descAgentBehind, descAgentUnread}
)

// maxListed is how many changes have metrics: each has at most some 160 series, histograms included.
const maxListed = 100

// listed chooses the changes that have metrics, by id: those under way first, then the latest to end.
func listed(all []migrate.Change) (chosen []migrate.Change, left int) {
	if left = len(all) - maxListed; left <= 0 {
		return all, 0
	}
	order := func(a, b migrate.Change) int {
		switch {
		case a.Active() != b.Active() && a.Active():
			return -1
		case a.Active() != b.Active():
			return 1
		case !a.Active() && !a.Progress.Started.Equal(b.Progress.Started):
			return b.Progress.Started.Compare(a.Progress.Started)
		}
		return cmp.Compare(a.ID, b.ID)
	}
	chosen = slices.SortedFunc(slices.Values(all), order)[:maxListed]
	slices.SortFunc(chosen, func(a, b migrate.Change) int { return cmp.Compare(a.ID, b.ID) })
	return chosen, left
}

// Describe implements prometheus.Collector.
func (e *Engine) Describe(c chan<- *prometheus.Desc) {
	for _, d := range descriptions {
		c <- d
	}
	for _, r := range e.runners {
		if own, ok := r.(prometheus.Collector); ok {
			own.Describe(c)
		}
	}
}

// sink sends metrics.
type sink chan<- prometheus.Metric

func (c sink) gauge(d *prometheus.Desc, v float64, labels ...string) {
	c <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
}

func (c sink) total(d *prometheus.Desc, v int64, labels ...string) {
	c <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), labels...)
}

func (c sink) flag(d *prometheus.Desc, on bool, labels ...string) {
	v := 0.0
	if on {
		v = 1
	}
	c.gauge(d, v, labels...)
}

// seconds is a time as metrics give it.
func seconds(t time.Time) float64 { return float64(t.UnixNano()) / 1e9 }

// Collect implements prometheus.Collector.
func (e *Engine) Collect(ch chan<- prometheus.Metric) {
	c := sink(ch)
	c.gauge(descOrders, float64(e.manager.Backlog()))
	c.gauge(descOthers, float64(e.others.helenus.Load()), "helenus")
	c.gauge(descOthers, float64(e.others.clients.Load()), "client")
	c.agents(&e.agents)
	for _, act := range migrate.Acts {
		for _, by := range migrate.Deciders {
			c.total(descDecisions, e.manager.Decided(migrate.Decision{Act: act, By: by}), string(act), string(by))
		}
	}
	for _, r := range e.runners {
		if own, ok := r.(prometheus.Collector); ok {
			own.Collect(ch)
		}
	}

	e.mu.Lock()
	counted := make(map[string]*counts, len(e.active))
	for id, a := range e.active {
		counted[id] = a.counts
	}
	e.mu.Unlock()
	changes, left := listed(e.manager.Migrations())
	c.gauge(descUnlisted, float64(left))
	for i := range changes {
		m := &changes[i]
		c.change(m)
		if n := counted[m.ID]; n != nil {
			c.requests(m.ID, n)
		}
		if m.Active() {
			e.gained(ch, m.ID)
		}
	}
}

// requests tells what became of the requests that a change in force is about.
func (c sink) requests(id string, n *counts) {
	c.total(descReads, n.served.Load(), id, "served")
	c.total(descReads, n.between(0, becauseFailed), id, "original")
	c.total(descReads, n.between(becauseFailed, unservedEnd), id, "fallback")
	for why, name := range unservedNames {
		c.total(descUnserved, n.asWritten[why].Load(), id, name)
	}
	c.total(descWrites, n.written.Load(), id, "written")
	c.total(descWrites, n.failed.Load(), id, "failed")
	c.total(descWrites, int64(n.missed.Load()), id, "missed") //nolint:gosec // counts of one process
	c.total(descTouched, n.touched.Load(), id)
	c.total(descRechecked, n.rechecked.Load(), id)
	c.total(descAround, n.around.Load(), id)
}

// change tells where a change stands.
func (c sink) change(m *migrate.Change) {
	structure := m.Rewrite.Table
	if m.Rewrite.Home() != m.Rewrite.Keyspace {
		structure = m.Rewrite.FullTable()
	}
	c.gauge(descInfo, 1, m.ID, m.Rewrite.Keyspace, m.Rewrite.Base, structure)
	for _, s := range migrate.States {
		c.flag(descState, s == m.State, m.ID, string(s))
	}
	c.gauge(descStarted, seconds(m.Progress.Started), m.ID)
	c.total(descCompared, m.ByReads, m.ID, "read")
	c.total(descCompared, m.ByOwn, m.ID, "own")
	c.total(descCompared, m.ByRanges, m.ID, "ranges")
	c.total(descDiffered, m.Explained, m.ID, "explained")
	c.total(descDiffered, m.Differed, m.ID, "unexplained")
	for _, broken := range m.Conditions {
		c.gauge(descRefused, 1, m.ID, broken.ID.Label())
	}
	if !m.Active() {
		return
	}
	c.gauge(descRatio, m.Progress.Ratio, m.ID)
	if m.Progress.ETA > 0 {
		c.gauge(descETA, m.Progress.ETA.Seconds(), m.ID)
	}
	c.gauge(descFilled, float64(m.Entries), m.ID)
	switch filling := m.State == migrate.Backfill; {
	case filling && m.Progress.Ratio >= 0.01:
		c.gauge(descToFill, max(math.Round(float64(m.Entries)/m.Progress.Ratio), float64(m.Entries)), m.ID)
	case !filling && m.Entries > 0:
		c.gauge(descToFill, float64(m.Entries), m.ID)
	}
	waits := ""
	switch m.Progress.Throttled {
	case "":
		if m.IsThrottled() {
			waits = "throttled"
		}
	case migrate.Paused:
		waits = "paused"
	case migrate.WaitsForRequests:
		waits = "requests"
	case Unreadable:
		waits = "unreadable"
	case migrate.WaitsForBulk:
		waits = "bulk"
	case migrate.Held:
		waits = "held"
	default:
		waits = "cassandra"
	}
	for _, reason := range []string{"bulk", "cassandra", "held", "paused", "requests", "throttled", "unreadable"} {
		c.flag(descWaiting, waits == reason, m.ID, reason)
	}
	if m.Passes > 0 {
		c.gauge(descDivergent, float64(m.Last.Missing), m.ID, "missing")
		c.gauge(descDivergent, float64(m.Last.Orphans), m.ID, "orphan")
		c.total(descRepairs, m.Repaired, m.ID)
		if !m.Clean.IsZero() {
			c.gauge(descClean, seconds(m.Clean), m.ID)
		}
	}
}
