//go:build race

package rewrite

const raced = true // the race detector makes exploring twenty times slower
