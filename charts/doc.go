// Package charts is the place of the Grafana dashboards (dashboards), and of the Prometheus rules and alerts (rules) with a runbook for
// each (docs/runbooks). All are written by the program in generate; README.md says how to import them. What they may name is what
// docs/metrics.md lists: the tests of module test hold them to it. The Helm chart is in helenus; the same program writes its schema of
// values and its README from values.yaml and the settings of `helenus run`.
//
// It imports nothing.
package charts

//go:generate go run ./generate
