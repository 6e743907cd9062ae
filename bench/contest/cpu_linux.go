package contest

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// processorTime is what a process has used of the processors so far, all its threads together; 0 if the process is not
// known (pid 0) or gone. It is the process's CPU clock, of nanoseconds, which any process may read.
func processorTime(pid int) time.Duration {
	if pid <= 0 {
		return 0
	}
	// The kernel's name for it: the complement of the id, and below it which clock of the process (2: as scheduled).
	const scheduled = 2
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|scheduled), &t); err != nil { //nolint:gosec // process ids are below 2^22
		return 0
	}
	return time.Duration(t.Nano())
}

// diskBytes is what a process has had read from the disk and written to it so far; false if that is not known.
func diskBytes(pid int) (d Disk, ok bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid))
	if err != nil {
		return d, false
	}
	for line := range strings.SplitSeq(string(text), "\n") {
		name, value, _ := strings.Cut(line, ": ")
		n, err := strconv.ParseFloat(value, 64)
		switch {
		case err != nil:
		case name == "read_bytes":
			d.Read, ok = n, true
		case name == "write_bytes":
			d.Written = n
		}
	}
	return d, ok
}
