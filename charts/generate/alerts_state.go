package main

// stateAlerts are about what Helenus knows and keeps.
func stateAlerts() []alert {
	return []alert{
		{
			name: "HelenusOrdersPending", expr: `max by (job, instance) (helenus_orders_pending) > 0`, wait: "5m", severity: "critical",
			summary: "Orders that hold could not be stored", describe: "{{ $value }} orders of {{ $labels.instance }} are in force and not stored.",
			means: "A roll-back, a suspension or a bypass holds in this process, but would be forgotten by a restart. It is tried again all the time.",
			look:  []string{"`/readyz`, which names them.", "The disk of the state directory: full, read-only, its permissions."},
			do:    []string{"Do not restart the instance before this is over.", "Free space or mend the permissions; the orders are stored by themselves."},
		},
		{
			name: "HelenusStateDamaged", expr: `max by (job, instance) (helenus_state_damaged) == 1`, severity: "critical",
			summary: "The state was damaged and set aside", describe: "{{ $labels.instance }} does not know its decisions and changes, or keeps them in memory only.",
			means: "Files of the state directory could not be read. Helenus forwards as always; it serves no change whose state it does not know, and a table of a change that is not known gets no entries.",
			look:  []string{"`/readyz`, which says what was lost and where the damaged files are.", "The disk: errors, a snapshot that was restored in part."},
			do:    []string{"With a sound copy of `helenus.db`: stop the process, put the copy in its place, start it, and `helenus verify` each change.", "Without one: remove what was set aside (keep a copy, and send it to us), and approve again what served; docs/operating.md says what becomes of the tables.", "No directory, or a disk that is full or read-only: mend that, and restart."},
		},
		{
			name: "HelenusHistoryNotWritable", expr: `min by (job, instance) (helenus_history_writable) == 0`, wait: "15m", severity: "warning",
			summary: "The history can not be written", describe: "{{ $labels.instance }} keeps what it counted in memory, as the history can not be written.",
			means: "Advice goes on with what is in memory. A restart loses it, and after a while old windows are dropped.",
			look:  []string{"The disk of the state directory.", "Fleet, Windows that wait."},
			do:    []string{"Free space, or mend the permissions."},
		},
		{
			name: "HelenusAdviceFails", expr: "sum by (job, instance) (increase(helenus_advisor_rounds_total{result!=\"ok\"}[30m])) > 2\nunless on (job, instance) sum by (job, instance) (increase(helenus_advisor_rounds_total{result=\"ok\"}[30m])) > 0", wait: "5m", severity: "warning",
			summary: "No advice can be worked out", describe: "{{ $value }} rounds of {{ $labels.instance }} failed within 30 minutes, and none was good.",
			means: "Recommendations are those of the last good round. The application's requests are not touched by this.",
			look:  []string{"Recommendations, Rounds of advice: failed, or killed for memory or time.", "`/readyz` and the log: why."},
			do:    []string{"killed-memory, killed-time: raise `advise-memory` or `advise-time`, or name fewer `keyspaces`.", "failed: the log names the cause; if it is a defect, send it to us."},
		},
		{
			name: "HelenusStatementsUncounted", expr: `sum by (job, instance) (rate(helenus_capture_dropped_total[15m])) > 0.1 * sum by (job, instance) (rate(helenus_statement_executions_total[15m]))`, wait: "30m", severity: "info",
			summary: "Many statements have no record of their own", describe: "{{ $value }} executions each second of {{ $labels.instance }} are counted under 'other'.",
			means: "There are more different statements than records. The dearest keep theirs, so advice is still right for them.",
			look:  []string{"Workload, What is known of it.", "`helenus statements`: texts that differ in a value alone."},
			do:    []string{"Have the application prepare its statements, with values bound.", "Or raise `capture-memory`."},
		},
	}
}

// peopleAlerts are about what waits for people, and what people do.
func peopleAlerts() []alert {
	return []alert{
		{
			name: "HelenusRecommendationPending", expr: "max by (job, change_id, title) (helenus_recommendation_info{state=\"open\",eligible=\"true\"})\nand on (job, change_id) max by (job, change_id) (helenus_recommendation_saved_seconds_per_second) > 0.01", wait: "1h", severity: "info",
			summary: "A recommendation waits for a decision", describe: "{{ $labels.change_id }} ({{ $labels.title }}) can be approved.",
			means: "Helenus has found something that it can carry out by itself, and that saves more than 10 ms of work in each second. Nothing happens before somebody approves it.",
			look:  []string{"Recommendations, and the page of the recommendation in the console.", "`helenus explain CHANGE`: why, what it costs, what the risks are."},
			do:    []string{"Approve it, or dismiss it with a reason (`helenus approve`, `helenus dismiss --why`, `helenus snooze --for`)."},
		},
		{
			name: "HelenusBypassed", expr: `max by (job, instance) (helenus_proxy_bypass) == 1`, wait: "1h", severity: "warning",
			summary: "Rewriting has been switched off for an hour", describe: "{{ $labels.instance }} bypasses all rewriting.",
			means: "A person switched it off. Reads run as written and entries are not written, so changes must be verified before they serve again.",
			look:  []string{"`/readyz`: who, and since when."},
			do:    []string{"`helenus bypass off` once the reason is gone, then `helenus resume` for each change."},
		},
		{
			name: "HelenusTokenGuessed", expr: `sum by (job, instance) (increase(helenus_admin_unauthorised_total{token="wrong"}[15m])) > 20`, severity: "warning",
			summary: "Somebody uses wrong tokens at the admin port", describe: "{{ $value }} requests with a wrong token on {{ $labels.instance }} within 15 minutes.",
			means: "A client has an old token, or somebody tries to guess one.",
			look:  []string{"The log: addresses of the requests.", "Proxy, Admin port."},
			do:    []string{"Give the client the token of now (STATE-DIR/admin.token).", "Keep others from the admin port: bind it to loopback, or use a network policy."},
		},
	}
}
