//go:build !linux

package fleet

import "time"

var began = time.Now()

// Elapsed is the time that has passed since some beginning, as the runtime counts it.
func Elapsed() time.Duration { return time.Since(began) }
