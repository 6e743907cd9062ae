//go:build !soak

package main

import "time"

// clock is what changes tell the time by.
func clock() time.Time { return time.Now() }
