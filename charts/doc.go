// Package charts is the place of the Helm chart, the Grafana dashboards and the Prometheus rules. It holds nothing yet: the
// metrics that they will read are served by `helenus run` and listed in docs/metrics.md.
//
// It imports nothing.
package charts
