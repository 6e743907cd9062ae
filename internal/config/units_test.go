package config

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestUnits(t *testing.T) {
	for text, want := range map[string]Size{"0": 0, "16777216": 16 << 20, "16MiB": 16 << 20, "2GB": 2e9, "500 MB": 500e6, "1.5GiB": 3 << 29, "2e9": 2e9, "1kb": 1000, "7B": 7} {
		var s Size
		if err := s.Set(text); err != nil || s != want {
			t.Errorf("%q: %d, %v", text, s, err)
		}
	}
	for _, text := range []string{"", "-1", "-1MB", "much", "1XB", "NaN", "Inf", "1e30", "99999999TB", "0x10"} {
		var s Size
		if err := s.Set(text); err == nil {
			t.Errorf("%q is %d bytes", text, s)
		}
	}
	for text, want := range map[string]int{"0": 0, "20000": 20000, "20k": 20000, "20K": 20000, "1.5M": 1500000, "2G": 2e9, "-1": -1} {
		if n, err := parseCount(text); err != nil || n != want {
			t.Errorf("%q: %d, %v", text, n, err)
		}
	}
	for _, text := range []string{"", "many", "1.5", "20kB", "1.0001k", "5m", "1e400", "1Q"} {
		if n, err := parseCount(text); err == nil {
			t.Errorf("%q is %d", text, n)
		}
	}
	for text, want := range map[string]time.Duration{"0s": 0, "0": 0, "90s": 90 * time.Second, "1h30m": 90 * time.Minute, "30d": 720 * time.Hour, "1w2d": 216 * time.Hour} {
		if d, err := parseDuration(text); err != nil || d != want {
			t.Errorf("%q: %s, %v", text, d, err)
		}
	}
	for _, text := range []string{"", "5", "d", "1 day", "ten"} {
		if d, err := parseDuration(text); err == nil {
			t.Errorf("%q is %s", text, d)
		}
	}
}

func TestSizesReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := Size(rapid.Int64Range(0, 1<<52).Draw(t, "bytes")) << rapid.IntRange(0, 10).Draw(t, "shift")
		var got Size
		if err := got.Set(want.String()); err != nil || got != want {
			t.Fatalf("%d is written %s and read %d: %v", want, want, got, err)
		}
	})
}
