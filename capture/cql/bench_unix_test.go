//go:build unix

package cql

import (
	"strings"
	"syscall"
	"testing"
	"time"
)

// cpu is the time that this process has computed. On a machine with other work the clock on the wall says little.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// measure runs do b.N times and reports its processor time, and with bytes the speed that is.
func measure(b *testing.B, bytes int, do func()) {
	b.ReportAllocs()
	start := cpu()
	n := 0
	for b.Loop() {
		do()
		n++
	}
	used := cpu() - start
	b.ReportMetric(float64(used.Nanoseconds())/float64(n), "cpu-ns/op")
	if bytes > 0 {
		b.ReportMetric(float64(bytes)*float64(n)/1e6/used.Seconds(), "cpu-MB/s")
	}
}

func BenchmarkParse(b *testing.B) {
	for name, text := range map[string]string{
		"select": typical,
		"insert": "INSERT INTO hotels.reservations_by_guest (guest_id, month, arrival, name, address) VALUES (?, ?, ?, ?, ?) USING TTL 86400",
		"batch":  "BEGIN BATCH " + strings.Repeat("UPDATE hotels.rooms SET rate = 12.50, tags = tags + {'sea', 'quiet'} WHERE hotel_id = 550e8400-e29b-41d4-a716-446655440000 AND room = 7;", 50) + " APPLY BATCH",
		"table":  "CREATE TABLE IF NOT EXISTS hotels.rooms (hotel_id uuid, room int, rate decimal, tags set<text>, PRIMARY KEY (hotel_id, room)) WITH comment = 'rooms' AND gc_grace_seconds = 864000",
	} {
		b.Run(name, func(b *testing.B) {
			measure(b, len(text), func() {
				if _, err := Parse(text); err != nil {
					b.Fatal(err)
				}
			})
		})
	}
}

func BenchmarkFingerprint(b *testing.B) {
	st, err := Parse(typical)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("tree", func(b *testing.B) { measure(b, 0, func() { _ = Fingerprint(st, "hotels") }) })
	b.Run("text", func(b *testing.B) {
		measure(b, len(typical), func() { _, _, _, _ = FingerprintText(typical, "hotels") })
	})
	b.Run("shape", func(b *testing.B) { // of a text that was never seen, but one like it was
		room := make([]byte, 0, 1024)
		measure(b, len(typical), func() { _, _ = AppendShape(room, typical) })
	})
}
