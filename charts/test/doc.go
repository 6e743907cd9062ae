// Package test tests the dashboards, rules and runbooks of charts: that they name what the program has, keep the rules of a good dashboard,
// give rows on a real run, and that each alert fires when it should and only then; and the Helm chart: what it makes of a matrix of values. It is
// a module of its own, as Prometheus, Helm and Kubernetes bring some three hundred others, which the product does not need.
package test
