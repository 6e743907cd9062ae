//go:build !race

package proxytest

// Race tells that the race detector is on.
const Race = false
