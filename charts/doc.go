// Package charts is the place of the Grafana dashboards (dashboards), and of the Prometheus rules and alerts (rules) with a runbook for
// each (docs/runbooks). All are written by the program in generate; README.md says how to import them. What they may name is what
// docs/metrics.md lists: the tests of module test hold them to it.
//
// It imports nothing.
package charts

//go:generate go run ./generate
