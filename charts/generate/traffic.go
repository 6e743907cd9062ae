package main

// workload answers: what does the application ask, and what of that is dear?
func workload() *page {
	p := newPage("workload", "Workload", "What applications ask of Cassandra: statements, tables, joins by hand, errors and slow requests.", true)
	p.row("What is asked, and what is dear?")
	p.stat(4, "Executions", "Statements executed each second, those in batches included. Good: what the applications say they send.", "reqps", `sum(rate(helenus_statement_executions_total{%}[$__rate_interval]))`, neutral)
	p.stat(4, "Time in requests", "Time that requests take together, in each second: 1 s/s is one request always under way. Good: it falls when advice is followed. If it rises: the table below says which statement it is.", "suffix: s/s",
		`sum(rate(helenus_statement_latency_seconds_sum{%}[$__rate_interval]))`, neutral)
	p.stat(4, "Latency at p99", "99 of 100 statements take less. Good: what the application needs. If not: the first rows of the table.", tookUnit, quantile("0.99", "", `helenus_statement_latency_seconds{%}`), neutral)
	p.stat(4, "Failed", "Executions answered by an error, each second. Good: 0. If not: Errors, below, names them with their table.", "reqps", orZero(`sum(rate(helenus_statement_errors_total{%}[$__rate_interval]))`), levels("green", from(0.01, "yellow")))
	p.stat(4, "Slow", "Requests that took at least the setting slow-request, each second. Good: 0. If not: the log has a line for each, without values.", "reqps", orZero(`sum(rate(helenus_slow_requests_total{@}[$__rate_interval]))`), levels("green", from(0.1, "yellow")))
	p.stat(4, "Joins by hand", "Joins that the application does by feeding one statement's answer to the next. Good: few. If not: Joins, below, and the console's joins page; advice on them is given.", "short", `max(helenus_flows{@})`, neutral)
	p.table(11, "Statements", "One row a statement, the one that takes most time first. Good: no single one takes most of it. Click a fingerprint for its text, its plan and its history in the console.", "fingerprint", "time",
		[]column{
			{from: "fingerprint", title: "statement", link: toStatement}, {from: "keyspace", title: "keyspace"}, {from: "table", title: "table"}, {from: "kind", title: "kind"},
			{from: value(0, 3), title: "time", unit: "suffix: ms/s"}, {from: value(1, 3), title: "runs", unit: "reqps"}, {from: value(2, 3), title: "mean", unit: "s"},
		},
		`1000 * sum by (fingerprint, keyspace, table, kind) (rate(helenus_statement_latency_seconds_sum{%}[$__rate_interval]))`,
		`sum by (fingerprint) (rate(helenus_statement_executions_total{%}[$__rate_interval]))`,
		`sum by (fingerprint) (rate(helenus_statement_latency_seconds_sum{%}[$__rate_interval])) / (sum by (fingerprint) (rate(helenus_statement_latency_seconds_count{%}[$__rate_interval])) > 0)`)
	p.row("Statements over time")
	p.lines(12, "The ten that take most time", "Good: even. A statement that comes on top anew was changed or asks for more rows: click its fingerprint in the table.", "suffix: s/s",
		query{`topk(10, sum by (fingerprint, table, kind) (rate(helenus_statement_latency_seconds_sum{%}[$__rate_interval])))`, "{{kind}} {{table}} {{fingerprint}}"})
	p.lines(12, "Latency by kind, p99", "Good: level. If one kind rises alone: look at its statements; if all do: at Cassandra.", tookUnit,
		query{quantile("0.99", "kind", `helenus_statement_latency_seconds{%}`), "{{kind}}"})
	p.row("Tables")
	p.lines(12, "Executions by table", "Good: what the application does. A table that is read much and written little is a good place for a look-up.", "reqps",
		query{`topk(20, sum by (keyspace, table, kind) (rate(helenus_table_executions_total{%}[$__rate_interval])))`, "{{keyspace}}.{{table}} {{kind}}"})
	p.lines(12, "Time by table", "Good: no table takes most. The one that does is where advice pays: Recommendations.", "suffix: s/s",
		query{`topk(20, sum by (keyspace, table, kind) (rate(helenus_table_latency_seconds_total{%}[$__rate_interval])))`, "{{keyspace}}.{{table}} {{kind}}"})
	p.row("Joins by hand")
	p.table(8, "Joins", "The columns that values travel between, the join that is followed most first. Good: few values for each first answer. Many values: a chain of requests for one page of the application; see Recommendations.", "flow", "values",
		[]column{
			{from: "flow", title: "join"}, {from: "from_table", title: "from table"}, {from: "from_column", title: "column"}, {from: "to_table", title: "to table"}, {from: "to_column", title: "into"}, {from: "shape", title: "shape"},
			{from: value(1, 4), title: "followed", unit: "percentunit"}, {from: value(2, 4), title: "values"}, {from: value(3, 4), title: "lag", unit: "s"},
		},
		`max by (flow, from_table, from_column, to_table, to_column, shape) (helenus_flow_info{@})`,
		`max by (flow) (helenus_flow_followed_ratio{@})`, `max by (flow) (helenus_flow_values{@})`, `max by (flow) (helenus_flow_lag_seconds{@})`)
	p.row("Errors and slow requests")
	p.lines(12, "Errors by name and table", "Good: none. Invalid or Syntax: the application's code; timeouts and Unavailable: the cluster.", "reqps",
		query{orZero(`sum by (error, keyspace, table) (rate(helenus_statement_errors_total{%}[$__rate_interval]))`), "{{error}} {{keyspace}}.{{table}}"})
	p.lines(12, "Slow requests", "Requests above the setting slow-request, and those of them without a line in the log as there were more than 10 in a second. Good: none. If not: search the log for \"slow request\".", "reqps",
		query{`sum by (instance) (rate(helenus_slow_requests_total{@}[$__rate_interval]))`, "{{instance}}"},
		query{`sum by (instance) (rate(helenus_slow_requests_unlogged_total{@}[$__rate_interval]))`, "{{instance}} unlogged"})
	p.row("What is known of it")
	p.lines(8, "Statements known", "Different statements with a record of their own. Good: level. If it grows without end: the application puts values into its texts; prepare them.", "short",
		query{`sum by (instance) (helenus_capture_statements{@})`, "{{instance}}"})
	p.lines(8, "Memory of the records", "Good: level, within the setting for it. At the limit, light statements lose their own record.", "bytes",
		query{`sum by (instance) (helenus_capture_memory_bytes{@})`, "{{instance}}"})
	p.lines(8, "Not counted under their own name", "Executions without a record of their own (dropped), of ids whose text is unknown (unknown), records lost to heavier ones (forgotten), series left out of a scrape. Good: 0. dropped or forgotten: too many different texts; unknown: clients connected before Helenus did, it ends as they reconnect.", "ops",
		query{`sum(rate(helenus_capture_dropped_total{@}[$__rate_interval]))`, "dropped"},
		query{`sum(rate(helenus_capture_unknown_total{@}[$__rate_interval]))`, "unknown"},
		query{`sum(rate(helenus_capture_forgotten_total{@}[$__rate_interval]))`, "forgotten"},
		query{`sum(helenus_metric_series_dropped{@})`, "series left out"})
	return p
}

// proxy answers: does the data path do what it should?
func proxy() *page {
	p := newPage("proxy", "Proxy", "The data path: latency that Helenus adds, connections, refusals, drains, TLS and the admin port.", false)
	p.row("Does the data path do what it should?")
	p.stat(4, "Added at p99", "Good: below 1 ms. If not: too little processor time, or a client that does not take its answers.", tookUnit, quantile("0.99", "", "helenus_proxy_added_seconds{@}"), levels("green", from(0.001, "yellow"), from(0.005, "red")))
	p.stat(4, "Connections", "Client connections now. Good: what the drivers' pools add up to, below the setting max-connections.", "short", `sum(helenus_proxy_connections{@})`, neutral)
	p.stat(4, "In flight", "Requests under way. Good: small and even. If it climbs: Cassandra does not answer.", "short", `sum(helenus_proxy_in_flight_requests{@})`, neutral)
	p.stat(4, "Refused", "Requests each second that Helenus answered with an error of its own. Good: 0. If not: Refusals, below, names the error.", "reqps", orZero(`sum(rate(helenus_proxy_requests_refused_total{@}[$__rate_interval]))`), levels("green", from(0.01, "yellow")))
	p.stat(4, "Lost connections", "Connections each second that ended otherwise than by the client, Cassandra or a drain. Good: 0. If not: Connections that ended, below, gives the reason.", "cps",
		orZero(`sum(rate(helenus_proxy_connections_closed_total{@,reason!~"client|cassandra|drained"}[$__rate_interval]))`), levels("green", from(0.01, "yellow")))
	p.stat(4, "Draining", "Instances that drain now. Good: 0, but while one is stopped or updated. If it stays: clients keep their connections busy; they are cut at the setting drain-timeout.", "short", `sum(helenus_proxy_draining{@})`, levels("green", from(1, "yellow")))
	p.row("Latency")
	p.lines(12, "Added by Helenus", "From the read that completed a message to the end of the write that sent it on. Good: tens of microseconds. If not: look at the processor (Overview).", tookUnit,
		query{quantile("0.5", "direction", `helenus_proxy_added_seconds{@}`), "{{direction}} p50"},
		query{quantile("0.99", "direction", `helenus_proxy_added_seconds{@}`), "{{direction}} p99"})
	p.lines(12, "Requests by node, p99", "From reading a request to handing its answer over, by the node of Cassandra that answered. Good: alike. If one node is slower: look at that node.", tookUnit,
		query{quantile("0.99", "node", `helenus_proxy_request_duration_seconds{@,class!="other"}`), "{{node}}"})
	p.row("Connections")
	p.lines(8, "Connections by node", "Good: even over the nodes. 'any': none is reached yet. All on one node: the drivers do not see the others; check the setting topology.", "short",
		query{`sum by (node) (helenus_proxy_connections{@})`, "{{node}}"})
	p.lines(8, "Connections that came", "Good: near 0 between deployments. If it is steady: clients reconnect all the time; the panel beside says why they end.", "cps",
		query{`sum by (listen) (rate(helenus_proxy_connections_accepted_total{@}[$__rate_interval]))`, "{{listen}}"})
	p.lines(8, "Connections that ended", "By reason. Good: client alone. refused: too many; unreachable: no node answered; malformed, unfinished, untrusted, without_tls: what the client does; stalled: somebody does not read.", "cps",
		query{orZero(rate("reason", `helenus_proxy_connections_closed_total{@}`)), "{{reason}}"})
	p.row("Refusals and time-outs")
	p.lines(8, "Refusals", "Requests answered with an error of our own, and those refused as one client sent too many. Good: 0. Overloaded: limits are reached; Unavailable: no node is.", "reqps",
		query{orZero(rate("error", `helenus_proxy_requests_refused_total{@}`)), "{{error}}"},
		query{`sum(rate(helenus_proxy_requests_limited_total{@}[$__rate_interval]))`, "limited"},
		query{orZero(rate("reason", `helenus_proxy_frames_refused_total{@}`)), "frame: {{reason}}"})
	p.lines(8, "Cassandra was late", "Requests that Helenus answered as Cassandra did not in time, late answers that were dropped, connections closed because of too many. Good: 0. If not: Cassandra hangs, or request-timeout is too short.", "reqps",
		query{`sum(rate(helenus_proxy_request_timeouts_total{@}[$__rate_interval]))`, "timed out"},
		query{`sum(rate(helenus_proxy_late_answers_total{@}[$__rate_interval]))`, "answered late"},
		query{`sum(rate(helenus_proxy_connections_stuck_total{@}[$__rate_interval]))`, "closed"})
	p.events(8, "Drains", "Drains, connections that ended quietly in one, and those that were cut. Good: cut is 0, drains only where an instance stopped. If not: raise drain-timeout above the longest request.", "short",
		query{`sum(increase(helenus_proxy_drains_total{@}[$__rate_interval]))`, "drains"},
		query{`sum(increase(helenus_proxy_connections_drained_total{@}[$__rate_interval]))`, "drained"},
		query{`sum(increase(helenus_proxy_connections_cut_total{@}[$__rate_interval]))`, "cut"})
	p.row("What passes")
	p.lines(8, "Bytes", "Bodies of requests (up) and answers (down). Good: it fits the network. A rise of down without one of requests: answers grew.", "Bps",
		query{`sum(rate(helenus_proxy_request_bytes_total{@}[$__rate_interval]))`, "up"},
		query{`sum(rate(helenus_proxy_response_bytes_total{@}[$__rate_interval]))`, "down"})
	p.lines(8, "Taken by rewriting", "Requests that a change took, and those that it answered. Good: what Change shows. 0 with changes that serve: rewriting is bypassed.", "reqps",
		query{`sum(rate(helenus_proxy_requests_taken_total{@}[$__rate_interval]))`, "taken"},
		query{`sum(rate(helenus_proxy_requests_rewritten_total{@}[$__rate_interval]))`, "answered"})
	p.lines(8, "Ids of unknown statements", "Executions of ids that were prepared elsewhere (unresolved) and texts that were looked up (resolved). Good: a few after a start. If it stays: system.prepared_statements can not be read; see limits.", "ops",
		query{`sum(rate(helenus_proxy_unresolved_total{@}[$__rate_interval]))`, "unresolved"},
		query{`sum(rate(helenus_proxy_resolved_total{@}[$__rate_interval]))`, "resolved"})
	p.row("TLS")
	p.stat(8, "Days to the first expiry", "Until the first certificate expires, on either side. Good: above 14. If not: renew it; changed files are used within a second, no restart. 'none': no TLS is spoken.", "short",
		`min((helenus_tls_certificate_expiry_timestamp_seconds{@} - time()) / 86400)`, levels("red", from(2, "yellow"), from(14, "green")))
	p.stat(8, "Files not usable", "Sides whose TLS files on disk can not be used, so that older ones are. Good: 0. If not: the log says what is wrong with them. 'none': no TLS is spoken.", "short",
		`sum(helenus_tls_files_stale{@})`, levels("green", from(1, "red")))
	p.stat(8, "Reloads that failed", "In the chosen time. Good: 0. If not: certificate and key do not belong together, or only one of them was replaced. 'none': no TLS is spoken.", "short",
		`sum(increase(helenus_tls_reload_errors_total{@}[$__range]))`, levels("green", from(0.5, "yellow")))
	p.row("Admin port")
	p.lines(8, "Admin requests", "By kind of route and status. Good: metrics and health with 200. 401: somebody lacks the token; 5xx: the log says what failed.", "reqps",
		query{`sum by (route, code) (rate(helenus_admin_requests_total{@}[$__rate_interval]))`, "{{route}} {{code}}"})
	p.lines(8, "Admin connections", "Now, and closed since there were too many. Good: a few, none closed. If not: something keeps connections; find it with `ss`.", "short",
		query{`sum(helenus_admin_connections{@})`, "open"},
		query{`sum by (reason) (increase(helenus_admin_closed_connections_total{@}[$__rate_interval]))`, "closed: {{reason}}"})
	p.lines(8, "Refused for their token", "Requests without the token (missing) or with a wrong one. Good: 0. Many wrong: somebody guesses, or an old token is still in use.", "reqps",
		query{`sum by (token) (rate(helenus_admin_unauthorised_total{@}[$__rate_interval]))`, "{{token}}"})
	return p
}

// fleet answers: are all instances alike and well?
func fleet() *page {
	p := newPage("fleet", "Fleet", "All instances side by side: versions, load, what they see of the cluster, their state on disk, and calendars.", false)
	p.row("Are all instances well, and alike?")
	p.stat(4, "Instances", "That Prometheus scrapes. Good: as many as were deployed. Fewer: one is down or not scraped.", "short", `count(helenus_build_info{@})`, neutral)
	p.stat(4, "Ready", "Good: all of them. If not: the table says which one; its /readyz says why.", "short", `sum(helenus_proxy_ready{@})`, neutral)
	p.stat(4, "Versions", "Different versions in use. Good: 1, but during an update. If it stays: an update did not finish.", "short", `count(count by (version, revision) (helenus_build_info{@}))`, levels("green", from(2, "yellow")))
	p.stat(4, "Nodes without listener", "Nodes of Cassandra that clients do not see through Helenus. Good: 0. If not: a port is taken; the log says which.", "short", `sum(helenus_proxy_nodes_unlistened{@})`, levels("green", from(1, "yellow")))
	p.stat(4, "Other Helenus", "Processes of helenus with another state on the same cluster. Good: 0. If not: changes are suspended, as what is written through it is not seen here; stop it or share one.", "short", `max(helenus_cluster_others{@,kind="helenus"})`, levels("green", from(1, "red")))
	p.stat(4, "Connected past Helenus", "Kinds of connections that do not come through Helenus. Good: 0, or readers only. If not: send them through it before a change is approved.", "short", `max(helenus_cluster_others{@,kind="client"})`, levels("green", from(1, "yellow")))
	p.table(9, "Side by side", "One row each. Good: alike. An instance with far more requests than the others: drivers do not balance; check the setting topology.", "instance", "requests",
		[]column{
			{from: "instance", title: "instance"}, {from: "version", title: "version"}, {from: "revision", title: "revision"}, {from: "goversion", title: "Go"},
			{from: value(1, 7), title: "ready"}, {from: value(2, 7), title: "requests", unit: "reqps"}, {from: value(3, 7), title: "connections"}, {from: value(4, 7), title: "cores"}, {from: value(5, 7), title: "memory", unit: "bytes"},
			{from: value(6, 7), title: "up for", unit: "s"},
		},
		`max by (instance, version, revision, goversion) (helenus_build_info{@})`,
		`max by (instance) (helenus_proxy_ready{@})`,
		`sum by (instance) (rate(helenus_proxy_requests_total{@}[$__rate_interval]))`,
		`sum by (instance) (helenus_proxy_connections{@})`,
		`sum by (instance) (rate(process_cpu_seconds_total{@}[$__rate_interval]))`,
		`sum by (instance) (process_resident_memory_bytes{@})`,
		`time() - max by (instance) (process_start_time_seconds{@})`)
	p.row("Load")
	p.lines(8, "Requests", "By instance. Good: alike. If one has most of them: drivers do not balance; see the table.", "reqps", query{`sum by (instance) (rate(helenus_proxy_requests_total{@}[$__rate_interval]))`, "{{instance}}"})
	p.lines(8, "Processor", "Cores by instance. Good: in proportion to requests. If one uses more: it works out advice, or fills a change.", "short", query{`sum by (instance) (rate(process_cpu_seconds_total{@}[$__rate_interval]))`, "{{instance}}"})
	p.lines(8, "Goroutines", "By instance. Good: in proportion to connections. If it grows without end: tell us, with /debug/pprof/goroutine.", "short", query{`sum by (instance) (go_goroutines{@})`, "{{instance}}"})
	p.row("What they see of the cluster")
	p.lines(8, "Nodes", "Nodes of Cassandra, as each instance last read them. Good: the same for all. If not: one of them lost its control connection.", "short", query{`max by (instance) (helenus_proxy_nodes{@})`, "{{instance}}"})
	p.lines(8, "Listeners", "For applications. Good: one for each node with the topology mirror, else one.", "short", query{`max by (instance) (helenus_proxy_listeners{@})`, "{{instance}}"})
	p.lines(8, "Events about nodes", "Sent to clients by Helenus itself, and statements about nodes that could not be rewritten. Good: few, and 0 of the latter. If not: a driver asks for the topology in a way that we do not know; tell us which.", "ops",
		query{`sum by (instance) (rate(helenus_proxy_topology_events_total{@}[$__rate_interval]))`, "{{instance}} events"},
		query{`sum by (instance) (rate(helenus_proxy_topology_unread_total{@}[$__rate_interval]))`, "{{instance}} not rewritten"})
	p.row("Their state on disk")
	p.lines(8, "History", "Size on disk. Good: level once the oldest windows are merged. If the disk fills: lower the settings of the history.", "bytes", query{`sum by (instance) (helenus_history_bytes{@})`, "{{instance}}"})
	p.lines(8, "Windows that wait", "In memory, to be written. Good: 0 or 1. If it grows: the disk is full or read-only.", "short", query{`sum by (instance) (helenus_history_waiting_windows{@})`, "{{instance}}"})
	p.events(8, "Failed writes of the history", "Good: 0. If not: the log says what the disk answered.", "short", query{`sum by (instance) (increase(helenus_history_failures_total{@}[$__rate_interval]))`, "{{instance}}"})
	p.row("Calendars")
	p.states(8, 8, "State of calendars", "Following: changes begin when they are due. Good: following, or nothing where no calendar was approved. paused: a person has to resume it.",
		query{`max by (change_id, state) (helenus_calendar_state{@}) == 1`, "{{change_id}} {{state}}"})
	p.lines(8, "Tables of calendars", "By stage: out, coming, there, going. Good: there changes with the cycle. coming for long: a fill is slow; see Change.", "short",
		query{`max by (change_id, stage) (helenus_calendar_tables{@})`, "{{change_id}} {{stage}}"})
	p.lines(8, "Due, and not done", "Changes that wait for an approval, a window or a limit, and 1 while nothing can be done. Good: 0. If not: `helenus changes` says what each waits for.", "short",
		query{`max by (change_id) (helenus_calendar_waiting_changes{@})`, "{{change_id}} wait"},
		query{`max by (instance) (helenus_calendar_failing{@})`, "{{instance}} fails"})
	return p
}
