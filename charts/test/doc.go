// Package test tests the dashboards, rules and runbooks of charts: that they name what the program has, keep the rules of a good dashboard,
// give rows on a real run, and that each alert fires when it should and only then. It is a module of its own, as Prometheus brings some
// two hundred others, which the product does not need.
package test
