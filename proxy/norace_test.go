//go:build !race

package proxy_test

const raced = false
