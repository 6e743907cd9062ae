package product

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// LoadAverage is how many processes wanted a processor in the last minute; 0 where the kernel does not say.
func LoadAverage() float64 {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	var load float64
	if _, err := fmt.Sscan(string(text), &load); err != nil {
		return 0
	}
	return load
}

// Idle is for how long all processors together were idle since the machine began, and how long that is, in the kernel's ticks.
func Idle() (idle, total uint64, err error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, 0, err
	}
	first, _, _ := strings.Cut(string(text), "\n")
	for i, field := range strings.Fields(first)[1:] {
		n, err := strconv.ParseUint(field, 10, 64)
		if err != nil {
			return 0, 0, fmt.Errorf("/proc/stat says %q: %w", first, err)
		}
		if i < 8 { // guests are in user time already
			total += n
		}
		if i == 3 || i == 4 { // idle, and idle for the disk
			idle += n
		}
	}
	return idle, total, nil
}
