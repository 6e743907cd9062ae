package main

import (
	"fmt"
	"strings"
)

// alert is a rule and its runbook.
type alert struct {
	name     string
	expr     string
	wait     string // how long it must hold
	severity string // critical: somebody gets up; warning: within the day; info: when there is time
	summary  string // one line
	describe string // with the values of the series
	means    string // the runbook: what is the case
	look     []string
	do       []string
}

// runbooks is where they can be read.
const runbooks = "https://github.com/helenus-db/helenus/blob/main/docs/runbooks/"

// generated is the first line of all that this program writes.
const generated = "Written by charts/generate (go generate ./charts); change it there."

// alertRules is the rule file of all alerts.
func alertRules(all []alert) []byte {
	var b strings.Builder
	b.WriteString("# " + generated + "\ngroups:\n  - name: helenus\n    rules:\n")
	for _, a := range all {
		fmt.Fprintf(&b, "      - alert: %s\n        expr: |-\n          %s\n", a.name, strings.ReplaceAll(a.expr, "\n", "\n          "))
		if a.wait != "" {
			fmt.Fprintf(&b, "        for: %s\n", a.wait)
		}
		fmt.Fprintf(&b, "        labels:\n          severity: %s\n        annotations:\n          summary: %s\n          description: %s\n          runbook_url: %s%s.md\n",
			a.severity, quoted(a.summary), quoted(a.describe), runbooks, a.name)
	}
	return []byte(b.String())
}

// quoted is a string of YAML in single quotes, in which only these are special.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// runbook is the page of an alert.
func (a *alert) runbook() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n<!-- %s -->\n\n%s. Severity: %s", a.name, generated, strings.TrimSuffix(a.summary, "."), a.severity)
	if a.wait != "" {
		fmt.Fprintf(&b, "; it has held for %s", a.wait)
	}
	fmt.Fprintf(&b, ".\n\n```\n%s\n```\n\n## What it means\n\n%s\n\n## What to look at\n\n", a.expr, a.means)
	for _, line := range a.look {
		b.WriteString("- " + line + "\n")
	}
	b.WriteString("\n## What to do\n\n")
	for i, line := range a.do {
		fmt.Fprintf(&b, "%d. %s\n", i+1, line)
	}
	return []byte(b.String())
}

// runbookIndex lists all of them.
func runbookIndex(all []alert) []byte {
	var b strings.Builder
	b.WriteString("# Runbooks\n\n<!-- " + generated + " -->\n\nOne page for each alert of [charts/rules/alerts.yaml](../../charts/rules/alerts.yaml): what it means, what to look at, what to do.\n\n" +
		"critical: answers or the application's requests are in danger, or may be soon. warning: look within the day. info: when there is time.\n\n| alert | severity | in a line |\n| --- | --- | --- |\n")
	for _, a := range all {
		fmt.Fprintf(&b, "| [%s](%s.md) | %s | %s |\n", a.name, a.name, a.severity, strings.ReplaceAll(a.summary, "|", "\\|"))
	}
	return []byte(b.String())
}

// recording is a rule that keeps an expression's value, so that long ranges are cheap.
type recording struct{ name, expr string }

func recordingRules(all []recording) []byte {
	var b strings.Builder
	b.WriteString("# " + generated + "\ngroups:\n  - name: helenus-recording\n    rules:\n")
	for _, r := range all {
		fmt.Fprintf(&b, "      - record: %s\n        expr: |-\n          %s\n", r.name, r.expr)
	}
	return []byte(b.String())
}

func recordings() []recording {
	return []recording{
		{"instance:helenus_proxy_requests:rate5m", `sum by (job, instance) (rate(helenus_proxy_requests_total{class!="other"}[5m]))`},
		{"instance:helenus_proxy_added_seconds:p99_5m", `histogram_quantile(0.99, sum by (job, instance, le) (rate(helenus_proxy_added_seconds_bucket[5m])))`},
		{"instance_class:helenus_proxy_request_duration_seconds:p99_5m", `histogram_quantile(0.99, sum by (job, instance, class, le) (rate(helenus_proxy_request_duration_seconds_bucket[5m])))`},
		{"fingerprint:helenus_statement_latency_seconds:rate5m", `sum by (job, fingerprint, keyspace, table, kind) (rate(helenus_statement_latency_seconds_sum[5m]))`},
		{"table:helenus_table_executions:rate5m", `sum by (job, keyspace, table, kind) (rate(helenus_table_executions_total[5m]))`},
		{"change:helenus_change_served:ratio_rate5m", `sum by (job, change_id) (rate(helenus_change_reads_total{result="served"}[5m])) / sum by (job, change_id) (rate(helenus_change_reads_total[5m]))`},
		{"job:helenus_recommendation_saved_seconds_per_second:open", `sum by (job) (max by (job, change_id) (helenus_recommendation_saved_seconds_per_second) and on (job, change_id) max by (job, change_id) (helenus_recommendation_state{state="open"} == 1))`},
	}
}
