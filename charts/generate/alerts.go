package main

// alerts are all of them, by what is in danger: the application's requests, true answers, what Helenus knows, and what waits for people.
func alerts() []alert {
	var all []alert
	for _, group := range [][]alert{pathAlerts(), answerAlerts(), stateAlerts(), peopleAlerts()} {
		all = append(all, group...)
	}
	return all
}

// pathAlerts are about the application's requests.
func pathAlerts() []alert {
	return []alert{
		{
			name: "HelenusAbsent", expr: `absent(helenus_build_info)`, wait: "5m", severity: "critical",
			summary: "Prometheus sees no Helenus", describe: "No instance of Helenus was scraped for 5 minutes.",
			means: "No instance answers on its admin port, or Prometheus does not scrape it any more. Applications are connected through Helenus, so if the processes are down their requests fail.",
			look:  []string{"`up` of the scrape job, and the targets page of Prometheus.", "Whether the processes run, and the end of their logs.", "Whether the CQL port takes connections: `cqlsh HOST PORT`."},
			do:    []string{"If the processes are down, start them; they serve once Cassandra is reached, and changes are taken on where they were.", "If applications must go on meanwhile, point them at Cassandra. Roll back changes before they write there: what is written past Helenus is missing in answers until a sweep finds it.", "If only the scrape is broken, mend its target, port (setting admin) or network policy."},
		},
		{
			name: "HelenusNotReady", expr: `max by (job, instance) (helenus_proxy_ready) == 0 unless on (job, instance) helenus_proxy_draining == 1`, wait: "2m", severity: "critical",
			summary: "An instance does not reach Cassandra", describe: "{{ $labels.instance }} has had no control connection to Cassandra for 2 minutes.",
			means: "Its control connection is down and can not be made again. New connections of applications are refused if no node answers; those that exist may still work.",
			look:  []string{"`/readyz` of the instance: it says what is missing.", "Proxy, Connections that ended: `unreachable` counts clients that no node answered.", "Whether Cassandra's nodes are up, and whether the contact points in the settings are still right."},
			do:    []string{"If Cassandra is down, that comes first; Helenus connects by itself when it is back.", "If its password or its certificates changed, give Helenus the new ones.", "If only this instance is cut off, take it out of service until its network works."},
		},
		{
			name: "HelenusAddsLatency", expr: "histogram_quantile(0.99, sum by (job, instance, le) (rate(helenus_proxy_added_seconds_bucket[5m]))) > 0.005\nand sum by (job, instance) (rate(helenus_proxy_requests_total[5m])) > 10", wait: "10m", severity: "warning",
			summary: "Helenus adds more than 5 ms at p99", describe: "{{ $labels.instance }} adds {{ $value | humanizeDuration }} at p99 for 10 minutes.",
			means: "Requests and answers wait inside Helenus. It should be tens of microseconds.",
			look:  []string{"Overview, Processor: is the instance at the limit of its cores?", "Overview, Memory: does it spend its time on collecting garbage?", "Proxy, Connections that ended: `stalled` counts sides that did not take what was sent."},
			do:    []string{"Give it more processor time, or add an instance.", "If rounds of advice take it (Recommendations, How long a round takes), advise less often (`advise-every`).", "If nothing explains it, take a profile (`--pprof`) and send it to us."},
		},
		{
			name: "HelenusRefusesRequests", expr: "sum by (job, instance) (rate(helenus_proxy_requests_refused_total[5m])) > 0.01 * sum by (job, instance) (rate(helenus_proxy_requests_total[5m]))", wait: "5m", severity: "critical",
			summary: "Helenus answers more than 1 % of requests with errors of its own", describe: "{{ $labels.instance }} refuses {{ $value }} requests each second.",
			means: "Requests are answered without Cassandra: a limit is reached, no node is reachable, or Cassandra was late.",
			look:  []string{"Proxy, Refusals: the error says what it is.", "Proxy, Cassandra was late.", "`/readyz`."},
			do:    []string{"Overloaded: a client sends more than `max-requests-per-client`; mend the client or raise the limit.", "Unavailable: see HelenusNotReady.", "Time-outs: Cassandra hangs; look there first. If requests are rightly long, raise `request-timeout`."},
		},
		{
			name: "HelenusLosesConnections", expr: `sum by (job, instance, reason) (rate(helenus_proxy_connections_closed_total{reason!~"client|cassandra|drained"}[5m])) > 0.1`, wait: "10m", severity: "warning",
			summary: "Client connections are refused or break", describe: "{{ $value }} connections each second end on {{ $labels.instance }} as {{ $labels.reason }}.",
			means: "Connections end for a reason that is neither the client's wish, nor Cassandra's, nor a drain.",
			look:  []string{"The label `reason`; docs/metrics.md says what each means.", "`helenus connections`: who is connected, from where, with what driver.", "The log, which names the address."},
			do:    []string{"refused: raise `max-connections`, or look why a client opens so many.", "unreachable: see HelenusNotReady.", "untrusted, without_tls: the client's TLS settings.", "malformed, unfinished: something that is no driver talks to the port; keep it out.", "stalled: a client does not read its answers."},
		},
		{
			name: "HelenusNodesUnlistened", expr: `max by (job, instance) (helenus_proxy_nodes_unlistened) > 0`, wait: "10m", severity: "warning",
			summary: "Nodes of Cassandra have no listener", describe: "{{ $value }} nodes can not be reached through {{ $labels.instance }}.",
			means: "With the topology mirror each node has a listener. Some could not be opened, so clients do not send anything to these nodes.",
			look:  []string{"The log: which address could not be listened on, and why.", "Fleet, Nodes and Listeners."},
			do:    []string{"Free the address or port (docs/proxy.md says which are taken).", "With one address alone, use the topology single."},
		},
		{
			name: "HelenusCutsConnections", expr: `sum by (job, instance) (increase(helenus_proxy_connections_cut_total[15m])) > 0`, severity: "info",
			summary: "A drain cut connections", describe: "{{ $value }} connections of {{ $labels.instance }} were cut with requests under way.",
			means: "When an instance stopped, some connections were not quiet before `drain-timeout` was over. Their requests had no answer.",
			look:  []string{"Whether the driver tries again (idempotent statements).", "How long the longest requests take: Proxy, Requests by node."},
			do:    []string{"Raise `drain-timeout`, and with it the time that the service manager or Kubernetes gives to stop."},
		},
		{
			name: "HelenusCertificateExpires", expr: `min by (job, instance, side, kind) (helenus_tls_certificate_expiry_timestamp_seconds - time()) < 14 * 86400`, wait: "1h", severity: "warning",
			summary: "A certificate expires within 14 days", describe: "The {{ $labels.kind }} certificate for the side {{ $labels.side }} of {{ $labels.instance }} expires in {{ $value | humanizeDuration }}.",
			means: "When it has expired no new TLS connection can be made on that side. Those that exist go on.",
			look:  []string{"Proxy, TLS.", "side client: what applications are shown; side cassandra: between Helenus and the nodes. kind own: shown by us; ca: what we trust."},
			do:    []string{"Put the new files in place of the old ones, certificate and key together. They are used within a second, without a restart.", "Check that Proxy, Files not usable stays 0."},
		},
		{
			name: "HelenusTLSFilesStale", expr: `max by (job, instance, side) (helenus_tls_files_stale) == 1`, wait: "5m", severity: "critical",
			summary: "TLS files on disk can not be used", describe: "{{ $labels.instance }} uses older TLS files for the side {{ $labels.side }}, as those on disk can not be used.",
			means: "The files were changed, and what is there now does not load. Helenus goes on with what it had; after a restart it would have nothing.",
			look:  []string{"The log: it says which file and what is wrong.", "Whether certificate and key belong together."},
			do:    []string{"Mend the files before the instance is restarted."},
		},
		{
			name: "HelenusPanics", expr: `sum by (job, instance, part) (increase(helenus_panics_total[15m])) > 0`, severity: "warning",
			summary: "A part of Helenus panicked", describe: "{{ $labels.part }} of {{ $labels.instance }} panicked; it was caught and the part goes on.",
			means: "A defect of Helenus. The application's statements go on as they were written; if the part has to do with changes, their reads were turned back until verified.",
			look:  []string{"The log: the stack, at level error.", "Change: what state the changes are in now."},
			do:    []string{"Send the stack to us.", "If it comes again and again, `helenus bypass on` takes rewriting out of the path."},
		},
	}
}

// answerAlerts are about answers of changes being true, and changes being of use.
func answerAlerts() []alert {
	return []alert{
		{
			name: "HelenusShadowDifference", expr: `sum by (job, change_id) (increase(helenus_change_differences_total{result="unexplained"}[30m])) > 0`, severity: "critical",
			summary: "A change answered otherwise than Cassandra", describe: "A compared read of {{ $labels.change_id }} differed, and nothing explains it. The change is suspended.",
			means: "A read was answered from the look-up and from the table, several times, and the answers stayed different. Reads run as written since. Before that some may have been answered wrongly.",
			look:  []string{"`helenus changes CHANGE`: the difference, with digests.", "Change, Rows in only one table, and Writes, and who else writes.", "Whether something writes past Helenus: Overview, Other writers."},
			do:    []string{"Do not resume it before the cause is known.", "If something writes past Helenus, send it through Helenus, then `helenus resume CHANGE`: it is verified before it serves.", "If nothing explains it, `helenus rollback CHANGE`, keep its table, and tell us."},
		},
		{
			name: "HelenusChangeDivergent", expr: `max by (job, change_id) (helenus_change_divergent_rows{reason="missing"}) > 0`, wait: "5m", severity: "critical",
			summary: "Rows of a table are missing in a change", describe: "The last pass over {{ $labels.change_id }} found {{ $value }} rows without entry.",
			means: "Verification compared both tables and found rows that the look-up lacks. It wrote them, but reads before may have missed them; a change that served is suspended.",
			look:  []string{"Overview, Other writers: who writes to the table past Helenus (bulk loaders, repairs by hand, another data centre's applications)?", "Change, Writes, and who else writes: entries that were missed.", "`helenus changes CHANGE`."},
			do:    []string{"Send all writers of the table through Helenus.", "`helenus verify CHANGE` until a pass is clean, then `helenus resume CHANGE`.", "If there is a writer that can not be moved, roll the change back."},
		},
		{
			name: "HelenusNoCleanPass", expr: "max by (job, change_id) (time() - helenus_change_last_clean_pass_timestamp_seconds) > 6 * 3600\nand on (job, change_id) max by (job, change_id) (helenus_change_state{state=\"serving\"}) == 1", wait: "15m", severity: "warning",
			summary: "A change that serves was not verified for 6 hours", describe: "The last clean pass over {{ $labels.change_id }} was {{ $value | humanizeDuration }} ago.",
			means: "While a change serves, both tables are compared every `sweep-every` (an hour). These passes fail, or take longer than that.",
			look:  []string{"The log: why a pass failed.", "Change, Waits for.", "Whether `sweep-every` was set above 6 hours; then raise this alert's limit."},
			do:    []string{"If Cassandra times out on scans, look at its load; passes go on by themselves.", "`helenus verify CHANGE` runs one now."},
		},
		{
			name: "HelenusWritesMissed", expr: `sum by (job, change_id) (increase(helenus_change_writes_total{result="missed"}[15m])) > 0`, wait: "5m", severity: "warning",
			summary: "Writes went on without their entry", describe: "{{ $value }} writes of {{ $labels.change_id }} went on without their entry; its reads run as written until it is verified.",
			means: "Cassandra could not take an entry in time. The application's write was carried out, as that comes first, and reads were turned back.",
			look:  []string{"Cassandra's load, and whether nodes are down.", "Change, Phases: does it come back to serving by itself?"},
			do:    []string{"Nothing, if it was short: the change is verified and serves again.", "If it comes again and again, the cluster can not carry the entries: roll the change back, or give the cluster room."},
		},
		{
			name: "HelenusTableTouched", expr: `sum by (job, change_id) (increase(helenus_change_touched_total[15m])) > 0`, severity: "warning",
			summary: "A client changes the table of a change", describe: "Statements of a client changed, or may have changed, the table of {{ $labels.change_id }}.",
			means: "The look-up's table is Helenus's alone. After each such statement its reads run as written until it is verified again.",
			look:  []string{"`helenus changes CHANGE`: when, and by which statement.", "`helenus connections`: who is connected."},
			do:    []string{"Take the right to modify the table from that role.", "If the table was altered or dropped, roll the change back."},
		},
		{
			name: "HelenusOtherInstance", expr: `max by (job, instance) (helenus_cluster_others{kind="helenus"}) > 0`, wait: "1m", severity: "critical",
			summary: "Another Helenus with a state of its own is connected to the cluster", describe: "{{ $labels.instance }} sees {{ $value }} other processes of Helenus on its cluster.",
			means: "What is written through the other one is not seen here, so answers would be wrong: changes are suspended, and none is taken on.",
			look:  []string{"The log: address and owner of the other one."},
			do:    []string{"Stop the other one, or send its applications through this one.", "Then `helenus resume CHANGE`."},
		},
		{
			name: "HelenusOtherWriters", expr: "max by (job, instance) (helenus_cluster_others{kind=\"client\"}) > 0\nand on (job) max by (job) (helenus_change_state{state=\"serving\"}) == 1", wait: "15m", severity: "warning",
			summary: "Clients are connected past Helenus while a change serves", describe: "{{ $labels.instance }} sees {{ $value }} kinds of connections that do not come through Helenus.",
			means: "If they write to a table with a change, answers lack that until a sweep finds it. If they only read, nothing is wrong.",
			look:  []string{"The log: user, driver and address of each.", "`helenus changes`: which tables have changes."},
			do:    []string{"Send them through Helenus, or make sure that their role may only read."},
		},
		{
			name: "HelenusWritesAround", expr: "sum by (job, change_id) (increase(helenus_change_written_around_total[15m])) > 0", severity: "warning",
			summary: "Rows of a table with a change are written around Helenus", describe: "CDC agents told of {{ $value }} rows of {{ $labels.change_id }} without entry.",
			means: "Who wrote them does not come through Helenus. The rows have their entries by now; reads missed them for the seconds until an agent told.",
			look:  []string{"`helenus changes CHANGE`: when, on which node, the first keys.", "HelenusOtherWriters, and the log: who is connected past Helenus."},
			do:    []string{"Send them through Helenus, or make sure that their role may only read."},
		},
		{
			name: "HelenusSlowerThanBefore", expr: "max by (job, change_id) (helenus_change_gain_ratio{source=\"measured\"}) < 1\nand on (job, change_id) max by (job, change_id) (helenus_change_state{state=\"serving\"}) == 1", wait: "10m", severity: "warning",
			summary: "A change makes its reads slower", describe: "Reads of {{ $labels.change_id }} are {{ $value }} times as fast as without it.",
			means: "At the median its reads take longer than as many as written. The guard rolls such a change back once it is sure.",
			look:  []string{"Change, Before and after: has control become faster, or after slower?", "Workload: how many rows do its reads ask for now?"},
			do:    []string{"Nothing, if the guard acts; its reason is in the log of the change.", "`helenus rollback CHANGE` does it now. Writes are cheaper again at once."},
		},
		{
			name: "HelenusChangeSuspended", expr: `max by (job, change_id, state) (helenus_change_state{state=~"suspended|failed"}) == 1`, wait: "5m", severity: "warning",
			summary: "A change is suspended or failed", describe: "{{ $labels.change_id }} is {{ $labels.state }}: its reads run as written until a person decides.",
			means: "Something made it doubtful that its answers are true, or it can not go on. The application gets what it would without Helenus.",
			look:  []string{"`helenus changes CHANGE`: the reason, and what to do about it.", "Change, Are its answers true?"},
			do:    []string{"Mend what the reason names, then `helenus resume CHANGE`: it is verified before it serves.", "Or `helenus rollback CHANGE`."},
		},
		{
			name: "HelenusChangeStalled", expr: "changes(helenus_change_progress_ratio[30m]) == 0\nand on (job, instance, change_id) (helenus_change_state{state=~\"backfill|verify\"} == 1)\nand on (job, instance, change_id) (helenus_change_progress_ratio < 1)\nunless on (job, instance, change_id) (helenus_change_throttled{reason=~\"bulk|paused\"} == 1)", wait: "15m", severity: "warning",
			summary: "A change does not get on", describe: "{{ $labels.change_id }} has made no progress for 30 minutes.",
			means: "It fills or verifies its table, and no part of the ring was done meanwhile.",
			look:  []string{"Change, Waits for.", "`helenus changes CHANGE`: what it waits for, in words.", "Cassandra: time-outs of scans, nodes that are down."},
			do:    []string{"Mend the cluster; it goes on by itself from where it was.", "If its pace is very low (`backfill-rate`, or what a person ordered), raise it while it goes on: `helenus throttle CHANGE --rate N`."},
		},
		{
			name: "HelenusChangeThrottled", expr: `max by (job, change_id, reason) (helenus_change_throttled{reason!~"bulk|throttled"}) == 1`, wait: "15m", severity: "warning",
			summary: "A change has been waiting for 15 minutes", describe: "{{ $labels.change_id }} waits: {{ $labels.reason }}.",
			means: "cassandra: a statement of ours fails and is tried again. requests: some that began before it do not end. unreadable: the requests of a client can not be read, so its writes can not be seen. paused: a person has paused it. held: it is ready, and a person orders the cut-over.",
			look:  []string{"`helenus changes CHANGE`.", "`helenus connections`, for unreadable: which driver, and its compression."},
			do:    []string{"cassandra: look at the cluster.", "requests: find the client that holds a request open; restart it if need be.", "unreadable: have its driver use lz4, snappy or no compression.", "paused: `helenus throttle CHANGE --resume`, or its page in the console, once nothing speaks against it.", "held: `helenus cut-over CHANGE`."},
		},
		{
			name: "HelenusGarbageDropped", expr: `sum by (job, instance) (increase(helenus_change_reconciled_total{outcome=~"dropped|failed"}[1h])) > 1000`, severity: "info",
			summary: "Entries that are out of date stay longer than they should", describe: "{{ $value }} entries were not looked at within the hour; the sweeper finds them.",
			means: "Writes replace values faster than old entries are removed. Answers are right, since each entry is checked against its row, but tables grow and reads have more to check.",
			look:  []string{"Change, Entries that wait.", "Cassandra's latency for writes."},
			do:    []string{"Nothing, if it is a bulk load.", "If it stays, the cluster is too busy for this change."},
		},
		{
			name: "HelenusCalendarFailing", expr: `max by (job, instance) (helenus_calendar_failing) == 1`, wait: "15m", severity: "warning",
			summary: "A calendar can not do what is due", describe: "{{ $labels.instance }} can not carry out what its calendar says.",
			means: "A table that should be made or dropped by now is not. What serves goes on.",
			look:  []string{"The log.", "Fleet, Calendars, and `helenus changes`."},
			do:    []string{"Mend what the log names: Cassandra, or the state directory."},
		},
		{
			name: "HelenusCalendarOff", expr: `max by (job, change_id) (helenus_calendar_off_ratio) > 1`, wait: "1h", severity: "info",
			summary: "Traffic no longer follows the cycle of a calendar", describe: "The last days of {{ $labels.change_id }} were {{ $value }} times off what still holds.",
			means: "The calendar was made for a rhythm that the application has left, so its tables may come and go at the wrong time. Answers are right all the same. When it no longer holds the calendar is withdrawn by itself: no further change begins, and what serves is left or dropped, as its limits say.",
			look:  []string{"`helenus recommendations`: is there a new one?"},
			do:    []string{"Nothing, or withdraw the calendar now (`helenus rollback CALENDAR`), and approve the new advice if there is one."},
		},
	}
}
