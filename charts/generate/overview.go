package main

// tookUnit is the unit of latencies.
const tookUnit = "s"

// overview answers: is it healthy, what does it cost, what would it save.
func overview() *page {
	p := newPage("overview", "Overview", "Is it healthy, what does it cost the application, what does it save, and what waits for a person.", false)
	p.row("Is it healthy, what does it cost, what would it save?")
	p.stat(3, "Instances that forward", "Share of the instances that reach Cassandra and do not drain. Good: 100 %. If not: Fleet shows which one; its /readyz says why.", "percentunit",
		`avg(helenus_proxy_ready{@})`, levels("red", from(1, "green")))
	p.stat(3, "Requests", "Requests answered for applications, each second. Good: what the applications send. None: nobody is connected (Proxy, connections), or their port is another.", "reqps",
		`sum(rate(helenus_proxy_requests_total{@,class!="other"}[$__rate_interval]))`, neutral)
	p.stat(3, "Added at p99", "Time that 99 of 100 requests and answers spend less than in Helenus itself. Good: below 1 ms. If not: it lacks processor time (What it costs, below), or a client does not take its answers (Proxy).", tookUnit,
		quantile("0.99", "", "helenus_proxy_added_seconds{@}"), levels("green", from(0.001, "yellow"), from(0.005, "red")))
	p.stat(3, "Errors", "Share of the requests answered with an error, Cassandra's own included. Good: what the application had without Helenus. If it rose: Errors, below, names them; Workload names the statements.", "percentunit",
		`((sum(rate(helenus_proxy_errors_total{@}[$__rate_interval])) or vector(0)) + (sum(rate(helenus_proxy_requests_refused_total{@}[$__rate_interval])) or vector(0))) / sum(rate(helenus_proxy_requests_total{@}[$__rate_interval]))`,
		levels("green", from(0.01, "yellow"), from(0.05, "red")))
	p.stat(3, "Changes that serve", "Approved changes that answer reads now. Good: all that were approved and are verified. Fewer: Change shows in what state the others are.", "short",
		orZero(`sum(max by (change_id) (helenus_change_state{@,state="serving"}))`), neutral)
	p.stat(3, "Waits for a person", "Recommendations that can be approved, and changes that are suspended or failed. Good: 0. If not: Recommendations lists what can be approved, Change what stopped.", "short",
		`(count(max by (change_id) (helenus_recommendation_info{@,state="open",eligible="true"})) or vector(0)) + (sum(max by (change_id) (helenus_change_state{@,state=~"suspended|failed"})) or vector(0))`,
		levels("green", from(1, "yellow")))
	p.stat(3, "Would save", "Work of cluster and clients, in ms each second, that following all open recommendations would save, their writes already charged. Good: little is left. If it is much: Recommendations, the first row of the table.", "suffix: ms/s",
		orZero(`1000 * sum(max by (change_id) (helenus_recommendation_saved_seconds_per_second{@}) and on (change_id) max by (change_id) (helenus_recommendation_state{@,state="open"} == 1))`), neutral)
	p.stat(3, "Saved so far", "Time that reads of the changes in force took less than as many as written would have. Good: it grows. Below 0: a change is slower than what was before; Change shows which one, and the guard rolls it back.", "s",
		orZero(`sum(max by (change_id) (helenus_change_saved_seconds{@}))`), levels("red", from(0, "green")))

	p.row("What applications see")
	p.lines(8, "Requests by class", "Requests answered, by class. Good: even, or with the rhythm of the day. A drop to 0: applications lost their connections; a rise of prepare: a client prepares anew for each request, mend it there.", "reqps",
		query{rate("class", `helenus_proxy_requests_total{@,class!="other"}`), "{{class}}"})
	p.lines(8, "Latency", "Time from reading a request to handing its answer over, Cassandra's included. Good: as before Helenus. If it rose and Added at p99 did not, Cassandra is slower: Workload shows for which statements.", tookUnit,
		query{quantile("0.5", "class", `helenus_proxy_request_duration_seconds{@,class!="other"}`), "{{class}} p50"},
		query{quantile("0.99", "class", `helenus_proxy_request_duration_seconds{@,class!="other"}`), "{{class}} p99"})
	p.lines(8, "Errors by name", "Errors of Cassandra that were handed over, and Helenus's own refusals. Good: none, or what the application provokes. ReadTimeout or WriteTimeout: Cassandra is overloaded; Overloaded of Helenus: see Proxy, refusals.", "reqps",
		query{orZero(rate("error", `helenus_proxy_errors_total{@}`)), "{{error}}"},
		query{rate("error", `helenus_proxy_requests_refused_total{@}`), "refused: {{error}}"})

	p.row("What it costs")
	p.lines(8, "Added by Helenus", "Time that requests and answers (response) spend in Helenus itself. Good: tens of microseconds. If not: look at the processor beside it, and at Proxy for clients that do not take their answers.", tookUnit,
		query{quantile("0.5", "direction", `helenus_proxy_added_seconds{@}`), "{{direction}} p50"},
		query{quantile("0.99", "direction", `helenus_proxy_added_seconds{@}`), "{{direction}} p99"})
	p.lines(8, "Processor", "Cores that each instance uses. Good: well below what it may have. At its limit: give it more, or add an instance.", "short",
		query{`sum by (instance) (rate(process_cpu_seconds_total{@}[$__rate_interval]))`, "{{instance}}"})
	p.lines(8, "Memory", "Resident memory of each instance. Good: level after the first hour. If it grows without end: take a heap profile (--pprof) and tell us.", "bytes",
		query{`sum by (instance) (process_resident_memory_bytes{@})`, "{{instance}}"})

	p.row("What changes do")
	p.stacked(12, "Reads that a change may answer", "Reads of statements that approved changes are about: served from them, run as written, or fallen back. Good: served is most of it. If original is: the panel beside it says why.", "reqps",
		query{orZero(rate("result", `helenus_change_reads_total{@}`)), "{{result}}"})
	p.lines(12, "Reads not served, by reason", "Why reads ran as written. Good: control alone (a few, to compare with). text: the application does not prepare; role: it logs in as a user; pages and consistency: the statement asks for what a change can not answer; state: the change does not serve (Change says why).", "reqps",
		query{some(rate("reason", `helenus_change_reads_not_served_total{@}`)), "{{reason}}"})

	p.row("What must not be")
	p.stat(4, "Rewriting switched off", "Instances whose rewriting is bypassed by a person. Good: 0. If not: `helenus bypass off` once the reason is gone.", "short", `sum(helenus_proxy_bypass{@})`, levels("green", from(1, "yellow")))
	p.stat(4, "Orders not stored", "Orders in force that could not be saved yet. Good: 0. If not: the state directory can not be written; free space or mend its permissions before a restart.", "short", `sum(helenus_orders_pending{@})`, levels("green", from(1, "red")))
	p.stat(4, "State damaged", "Instances whose state was damaged and set aside. Good: 0. If not: /readyz says what was lost; see the runbook HelenusStateDamaged.", "short", `sum(helenus_state_damaged{@})`, levels("green", from(1, "red")))
	p.stat(4, "History not writable", "Instances that keep what they count in memory only. Good: 0. If not: the disk of the state directory is full or read-only.", "short", `count(helenus_history_writable{@} == 0) or vector(0)`, levels("green", from(1, "yellow")))
	p.stat(4, "Panics caught", "Panics in the chosen time; each is a defect of Helenus, and its part was restarted. Good: 0. If not: the log has the stack; send it to us.", "short", `sum(increase(helenus_panics_total{@}[$__range]))`, levels("green", from(0.5, "red")))
	p.stat(4, "Other writers", "Connections to the cluster that do not come through Helenus, by kind, and other Helenus with a state of their own. Good: 0. If not: what they write to a table with a change is missing in answers until a sweep finds it; send them through Helenus.", "short",
		`sum(max by (kind) (helenus_cluster_others{@}))`, levels("green", from(1, "yellow")))
	return p
}
