package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/prometheus/common/model"
)

// Size is a number of bytes, written 512MiB, 2GB or 1048576: KB, MB, GB, TB count in thousands, KiB, MiB, GiB, TiB in 1,024s.
type Size int64

// Set reads a size. It is a pflag.Value.
func (s *Size) Set(text string) error {
	text = strings.TrimSpace(text)
	if v, err := strconv.ParseFloat(text, 64); err == nil && v >= 0 && v < math.MaxInt64 {
		*s = Size(v) // 2e9, too
		return nil
	}
	n, err := humanize.ParseBytes(text)
	if err != nil || n > math.MaxInt64 {
		return fmt.Errorf("%q is not a number of bytes, such as 512MiB or 2GB", text)
	}
	*s = Size(n)
	return nil
}

// String is the size as Set reads it, exactly: in the largest of 1,024s that divides it, or in bytes.
func (s Size) String() string {
	units := []string{"", "KiB", "MiB", "GiB", "TiB"}
	n, unit := int64(s), 0
	for n != 0 && n%1024 == 0 && unit < len(units)-1 {
		n /= 1024
		unit++
	}
	return strconv.FormatInt(n, 10) + units[unit]
}

// Type is what help calls it.
func (s Size) Type() string { return "size" }

// parseCount reads a whole number: 20000, or 20k, 1.5M, 2G.
func parseCount(text string) (int, error) {
	if n, err := strconv.Atoi(text); err == nil {
		return n, nil
	}
	number := strings.ReplaceAll(strings.TrimSpace(text), "K", "k") // as people write it; SI has k
	v, unit, err := humanize.ParseSI(number)
	if err != nil || unit != "" || v != math.Trunc(v) || math.Abs(v) > 1<<53 {
		return 0, fmt.Errorf("%q is not a whole number, such as 20000, 20k or 1.5M", text)
	}
	return int(v), nil
}

// Duration reads a duration as settings have it, for the command line.
func Duration(text string) (time.Duration, error) { return parseDuration(text) }

// parseDuration reads a duration: Go's (90s, 1h30m), or with days and weeks (30d, 1w2d).
func parseDuration(text string) (time.Duration, error) {
	if d, err := time.ParseDuration(text); err == nil {
		return d, nil
	}
	d, err := model.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%q is not a duration such as 30s, 10m or 30d", text)
	}
	return time.Duration(d), nil
}
