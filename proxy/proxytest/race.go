//go:build race

package proxytest

// Race tells that the race detector is on. What is allocated then is not what the program allocates: pools drop at random, and
// every byte has shadows.
const Race = true
