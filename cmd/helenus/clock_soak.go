//go:build soak

package main

import (
	"os"
	"strings"
	"sync"
	"time"
)

// The soak (bench/soak) sets the clock of its helenus apart from the machine's, by as much as the file says that this
// variable names: a Go duration. Only programs built with the tag soak know of it.
const clockVariable = "HELENUS_SOAK_CLOCK"

var apart struct {
	sync.Mutex
	read time.Time
	by   time.Duration
}

// clock is what changes tell the time by. The file is read again after 20 ms.
func clock() time.Time {
	apart.Lock()
	defer apart.Unlock()
	now := time.Now()
	if now.Sub(apart.read) > 20*time.Millisecond {
		apart.read = now
		if text, err := os.ReadFile(os.Getenv(clockVariable)); err == nil {
			if by, err := time.ParseDuration(strings.TrimSpace(string(text))); err == nil { // else it is just being written
				apart.by = by
			}
		}
	}
	return now.Add(apart.by)
}
