//go:build race

package proxy_test

// raced tells that the race detector is at work, under which pools forget what they are given.
const raced = true
