//go:build !linux

package contest

import "time"

// processorTime is not known here.
func processorTime(int) time.Duration { return 0 }

// diskBytes is not known here.
func diskBytes(int) (d Disk, ok bool) { return d, false }
