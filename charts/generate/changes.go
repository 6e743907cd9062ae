package main

// recommendationStates are the colours of the states, which are named beside.
var recommendationStates = []mapping{{Type: "value", Options: map[string]mapped{
	"open": {Text: "open", Color: "yellow"}, "approved": {Text: "approved", Color: "green", Index: 1}, "rejected": {Text: "rejected", Color: "text", Index: 2},
	"superseded": {Text: "superseded", Color: "text", Index: 3}, "expired": {Text: "expired", Color: "text", Index: 4},
}}}

// recommendations answers: what should I do?
func recommendations() *page {
	p := newPage("recommendations", "Recommendations", "What Helenus advises, what each would save and cost, and what became of it. Approval is in the console, never here.", true)
	p.row("What should I do?")
	p.stat(4, "Can be approved", "Open recommendations that Helenus can carry out by itself. Good: 0, as all are decided. If not: open the first of the table in the console, and approve or dismiss it.", "short",
		orZero(`count(max by (change_id) (helenus_recommendation_info{%,state="open",eligible="true"}))`), levels("green", from(1, "yellow")))
	p.stat(4, "Advice to people", "Open recommendations that Helenus can not carry out: the application or the schema has to change, or a condition refuses. Good: known to whoever owns the table. The console says what stands in the way.", "short",
		orZero(`count(max by (change_id) (helenus_recommendation_info{%,state="open",eligible="false"}))`), neutral)
	p.stat(4, "Would save", "Work in ms each second that the open recommendations would save together. Good: little is left. The table says which one saves most.", "suffix: ms/s",
		orZero(`1000 * sum(max by (change_id) (helenus_recommendation_saved_seconds_per_second{@}) and on (change_id) max by (change_id) (helenus_recommendation_info{%,state="open"}))`), neutral)
	p.stat(4, "Latest round", "How long ago advice was last worked out. Good: less than a few times the setting advise-every. If not: the rounds below say how they end, the log why.", "s",
		`time() - max(helenus_advisor_last_round_timestamp_seconds{@})`, levels("green", from(900, "yellow"), from(3600, "red")))
	p.stat(4, "Statements without advice", "Statements of the latest round that led to no advice. Good: most of them, as they are cheap already. `helenus explain` says of each why.", "short",
		orZero(`max(helenus_advisor_dismissed_statements{@})`), neutral)
	p.stat(4, "Not understood", "Statements of the latest round that the model can not express. Good: 0. If not: no advice is given for them; the console's statements page says what they are.", "short",
		orZero(`max(helenus_advisor_unexplained_statements{@})`), levels("green", from(1, "yellow")))
	const known = ` and on (change_id) max by (change_id) (helenus_recommendation_info{%})`
	p.table(11, "Recommendations", "One row each, the one that saves most first. Good: the rows on top are approved or dismissed with a reason. Click an id for the reasons, the numbers and the buttons.", "change_id", "saves",
		[]column{
			{from: "change_id", title: "id", link: toChange}, {from: "title", title: "what"}, {from: "keyspace", title: "keyspace"}, {from: "table", title: "table"}, {from: "kind", title: "kind"},
			{from: "state", title: "state", colours: recommendationStates}, {from: "eligible", title: "Helenus can do it"}, {from: value(1, 7), title: "saves", unit: "suffix: ms/s"}, {from: value(2, 7), title: "of its reads", unit: "percentunit"},
			{from: value(3, 7), title: "dearest write", unit: "suffix: x"}, {from: value(4, 7), title: "storage", unit: "decbytes"}, {from: value(5, 7), title: "confidence", unit: "percentunit"},
			{from: value(6, 7), title: "first advised", unit: "dateTimeFromNow"},
		},
		`max by (change_id, title, keyspace, table, kind, state, eligible) (helenus_recommendation_info{%})`,
		`1000 * max by (change_id) (helenus_recommendation_saved_seconds_per_second{@})`+known,
		`max by (change_id) (helenus_recommendation_benefit_ratio{@})`+known,
		`max by (change_id) (helenus_recommendation_write_cost_ratio{@})`+known,
		`max by (change_id) (helenus_recommendation_storage_bytes{@})`+known,
		`max by (change_id) (helenus_recommendation_confidence_ratio{@})`+known,
		`1000 * max by (change_id) (helenus_recommendation_created_timestamp_seconds{@})`+known)
	p.row("Why these")
	p.lines(12, "Would save, by recommendation", "What each would save, over time. Good: level, so that it is worth a decision. If it comes and goes: the statement runs in bursts; a calendar may be the answer.", "suffix: ms/s",
		query{`1000 * max by (change_id) (helenus_recommendation_saved_seconds_per_second{@})` + known, "{{change_id}}"})
	p.stacked(12, "Recommendations by state", "How many are in which state. Good: open does not grow. If it does: nobody decides; see the alert HelenusRecommendationPending.", "short",
		query{`sum by (state) (max by (change_id, state) (helenus_recommendation_state{@}))`, "{{state}}"})
	p.table(9, "Statements behind them", "The statements that each recommendation is about: how often they run and what they take. Good: the ones that you know to be slow. If a statement is missing from the list, it is rare: Workload has it.", "", "time",
		[]column{
			{from: "change_id", title: "id", link: toChange}, {from: "role", title: "role"}, {from: "fingerprint", title: "statement", link: toStatement},
			{from: value(0, 2), title: "runs", unit: "reqps"}, {from: value(1, 2), title: "time", unit: "suffix: ms/s"},
		},
		`max by (change_id, fingerprint, role) (helenus_change_statement_info{@}) * on (fingerprint) group_left () sum by (fingerprint) (rate(helenus_statement_executions_total{%}[$__rate_interval]))`,
		`1000 * max by (change_id, fingerprint, role) (helenus_change_statement_info{@}) * on (fingerprint) group_left () sum by (fingerprint) (rate(helenus_statement_latency_seconds_sum{%}[$__rate_interval]))`)
	p.row("How advice is made")
	p.events(8, "Rounds of advice", "Rounds by how they ended. Good: ok alone. killed-memory or killed-time: the model is too large for what a round may take; raise its limits or name fewer keyspaces.", "short",
		query{`sum by (result) (increase(helenus_advisor_rounds_total{@}[$__rate_interval]))`, "{{result}}"})
	p.lines(8, "How long a round takes", "Good: well below the setting advise-every. If not: name fewer keyspaces, or advise less often.", "s",
		query{`max by (instance) (helenus_advisor_last_round_duration_seconds{@})`, "{{instance}}"})
	p.events(8, "Decisions", "What people decided about recommendations. Good: somebody decides. Many reject: tell us why, so that advice gets better.", "short",
		query{`sum by (decision) (increase(helenus_recommendation_decisions_total{@}[$__rate_interval]))`, "{{decision}}"})
	return p
}

// change answers: did it work? And, while it is carried out: how far is it, what does it wait for?
func change() *page {
	p := newPage("change", "Change", "An approved change: how far it is, what it waits for, what was before and what is since, what was promised and what was measured, and whether its answers are true.", false,
		variable{
			Name: "change", Label: "Change", Type: "query", Query: labelQuery{"label_values(helenus_change_info{" + chosen + "}, change_id)", "change"},
			Definition: "label_values(helenus_change_info{" + chosen + "}, change_id)", Datasource: &prometheusSource, Multi: true, IncludeAll: true, AllValue: ".+", Refresh: 2, Sort: 1,
			Current: &current{[]string{"All"}, []string{"$__all"}},
		})
	p.row("Did it work?")
	p.name(4, "State", "The state of each chosen change. Good: serving. suspended or failed: its reads run as written; the console says why, and `helenus resume` goes on once the cause is gone.",
		query{`max by (change_id, state) (helenus_change_state{@,change_id=~"$change"}) == 1`, "{{state}}"})
	p.stat(4, "Promised", "How many times faster its reads were to be at the median. Good: well above 1; otherwise it should not have been approved.", "suffix: x",
		orZero(`max by (change_id) (helenus_change_gain_ratio{@,change_id=~"$change",source="promised"})`), neutral)
	p.stat(4, "Measured", "How many times faster its reads are at the median since it serves. Good: near what was promised. Below 1: it is slower; the guard rolls it back by itself. 0: nothing is measured yet.", "suffix: x",
		orZero(`max by (change_id) (helenus_change_gain_ratio{@,change_id=~"$change",source="measured"})`), neutral)
	p.stat(4, "Served", "Share of the reads it may answer that it answers. Good: above 90 %. If not: Reads not served, below, names the reason.", "percentunit",
		orZero(`sum(rate(helenus_change_reads_total{@,change_id=~"$change",result="served"}[$__rate_interval])) / sum(rate(helenus_change_reads_total{@,change_id=~"$change"}[$__rate_interval]))`),
		levels("text", from(0.9, "green")))
	p.stat(4, "Differences", "Compared reads that the change answered otherwise than Cassandra, and nothing explains it. Good: 0. If not: it is suspended; see the runbook HelenusShadowDifference before anybody resumes it.", "short",
		`sum(max by (change_id) (helenus_change_differences_total{@,change_id=~"$change",result="unexplained"}))`, levels("green", from(1, "red")))
	p.stat(4, "Saved", "Time that its reads took less than as many as written would have. Good: it grows. Below 0: it is slower.", "s",
		orZero(`sum(max by (change_id) (helenus_change_saved_seconds{@,change_id=~"$change"}))`), levels("red", from(0, "green")))
	p.table(6, "Chosen changes", "One row each: what it makes of which table, its state and since when, the one that changed last first. Good: serving, for long. Click an id for its log and the buttons in the console.", "change_id", "since",
		[]column{
			{from: "change_id", title: "id", link: toChange}, {from: "keyspace", title: "keyspace"}, {from: "table", title: "table"}, {from: "structure", title: "makes"}, {from: "state", title: "state"},
			{from: value(1, 2), title: "since", unit: "dateTimeFromNow"},
		},
		`max by (change_id, state) (helenus_change_state{@,change_id=~"$change"} == 1) * on (change_id) group_left (keyspace, table, structure) max by (change_id, keyspace, table, structure) (helenus_change_info{@})`,
		`1000 * max by (change_id) (helenus_change_state_start_timestamp_seconds{@,change_id=~"$change"})`)
	p.row("How far is it?")
	p.states(16, 8, "Phases", "The states that it went through. Good: from approved through backfill, verify and shadow to serving, each once. Back and forth between serving and verify: writes can not be followed; see Writes, below.",
		query{`max by (change_id, state) (helenus_change_state{@,change_id=~"$change"}) == 1`, "{{change_id}} {{state}}"})
	p.bars(8, 4, "Progress of the present phase", "How much of the present state's work is done. Good: it moves. If not: Waits for, below. While it serves: of the present sweep.",
		query{`max by (change_id) (helenus_change_progress_ratio{@,change_id=~"$change"})`, "{{change_id}}"})
	p.stat(8, "Time left in this phase", "Estimated from what is done, once 1 % is. Good: it falls. 0: nothing to wait for, or not known yet. While it serves: of the present sweep.", "s",
		orZero(`max by (change_id) (helenus_change_eta_seconds{@,change_id=~"$change"})`), neutral)
	p.lines(12, "Rows filled of rows to fill", "Rows whose entry was filled, and how many there are by what is done of the ring. Good: they meet. If filled stands still: Waits for, beside.", "short",
		query{`max by (change_id) (helenus_change_rows_filled{@,change_id=~"$change"})`, "{{change_id}} filled"},
		query{`max by (change_id) (helenus_change_rows_to_fill{@,change_id=~"$change"})`, "{{change_id}} to fill"})
	p.lines(12, "Waits for", "1 while it waits, by what for. Good: 0. cassandra: a statement of ours fails and is tried again, so look at the cluster's load; requests: some from before it began do not end; unreadable: a client's compression hides its writes; paused and throttled: a person ordered its pace (`helenus throttle`).", "short",
		query{`max by (change_id, reason) (helenus_change_throttled{@,change_id=~"$change"})`, "{{change_id}} {{reason}}"})
	p.row("Before and after")
	const side = `side=~"before|after|control"`
	p.lines(8, "Reads at the median", "Latency of its reads as clients see it: before it was approved, since it serves (after), and those that run as written meanwhile (control). Good: after is far below both. If control fell too, the cluster is less busy than it was.", tookUnit,
		query{`histogram_quantile(0.5, sum by (le, side) (max by (le, side, change_id) (helenus_change_latency_seconds_bucket{@,change_id=~"$change",kind="read",` + side + `})))`, "{{side}}"})
	p.lines(8, "Writes at the median", "Latency of the writes that have to keep it true: before, after, and their own part without the entry (control). Good: after is no more above before than the advice said. If it is: the cluster takes long for the entries.", tookUnit,
		query{`histogram_quantile(0.5, sum by (le, side) (max by (le, side, change_id) (helenus_change_latency_seconds_bucket{@,change_id=~"$change",kind="write",` + side + `})))`, "{{side}}"})
	p.lines(8, "Promised and measured", "How many times faster reads are. Good: measured is near promised. If it is far below: the values that are asked for now have more rows than those that the advice was made from.", "suffix: x",
		query{`max by (change_id, source) (helenus_change_gain_ratio{@,change_id=~"$change"})`, "{{change_id}} {{source}}"})
	p.row("Are its answers true?")
	p.lines(8, "Rows in only one table", "What the last verification pass found: missing (a row without entry, a fault that it repairs) and orphan (an entry without row, harmless). Good: missing is 0. If not: something writes past Helenus; see the runbook HelenusChangeDivergent.", "short",
		query{orZero(`max by (change_id, reason) (helenus_change_divergent_rows{@,change_id=~"$change"})`), "{{change_id}} {{reason}}"})
	p.lines(8, "Compared reads", "Reads whose answer was compared with Cassandra's own, by where that came from, and those that differed. Good: some each minute, none unexplained. If none are compared: nobody reads.", "reqps",
		query{rate("source", `helenus_change_compared_reads_total{@,change_id=~"$change"}`), "agreed: {{source}}"},
		query{rate("result", `helenus_change_differences_total{@,change_id=~"$change"}`), "differed: {{result}}"})
	p.lines(8, "Since the last clean pass", "How long ago a whole pass of verification found nothing missing. Good: below twice the setting sweep-every. If not: passes fail or find something; the console's log of the change says which.", "s",
		query{orZero(`time() - max by (change_id) (helenus_change_last_clean_pass_timestamp_seconds{@,change_id=~"$change"})`), "{{change_id}}"})
	p.row("Requests")
	p.stacked(8, "Reads", "Served from the change, run as written (original), or fallen back. Good: served. Much fallback: its answers are too large, or Cassandra fails on it.", "reqps",
		query{rate("result", `helenus_change_reads_total{@,change_id=~"$change"}`), "{{result}}"})
	p.lines(8, "Reads not served, by reason", "Good: control alone. For each other reason there is something to do: prepare (text, unprepared), log in without a role of its own (role), larger pages (pages), wait (state, touched).", "reqps",
		query{some(rate("reason", `helenus_change_reads_not_served_total{@,change_id=~"$change"}`)), "{{reason}}"})
	p.lines(8, "Writes, and who else writes", "Entries written first, failed or missed, and statements of clients on the change's own table (touched). Good: written alone. missed: Cassandra could not take an entry, reads run as written until verified; touched: somebody writes our table, keep them out.", "reqps",
		query{rate("result", `helenus_change_writes_total{@,change_id=~"$change"}`), "{{result}}"},
		query{`sum(rate(helenus_change_touched_total{@,change_id=~"$change"}[$__rate_interval]))`, "touched"})
	p.row("Decisions and housekeeping")
	p.events(8, "Decisions", "What was decided about changes, and by whom. Good: people's alone. The guard's: a change was stopped to keep answers true; its log says why.", "short",
		query{some(`sum by (decision, by) (increase(helenus_change_decisions_total{@}[$__rate_interval]))`), "{{decision}} by {{by}}"})
	p.lines(8, "Entries looked at", "Entries whose value was replaced: removed, kept, left, dropped (no room) or failed. Good: removed keeps pace with writes. dropped or failed: harmless, the sweeper finds them; Cassandra is slow.", "ops",
		query{rate("outcome", `helenus_change_reconciled_total{@}`), "{{outcome}}"})
	p.lines(8, "Entries that wait", "Good: near 0. If it stays high: Cassandra takes long for our deletions; the queue holds 10,000.", "short",
		query{`sum by (instance) (helenus_change_reconcile_pending{@})`, "{{instance}}"})
	return p
}
