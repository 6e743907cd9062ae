package cql
import "testing"
func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	b.SetBytes(int64(len(typical)))
	for b.Loop() {
		_, _ = Parse(typical)
	}
}
func BenchmarkFingerprintTree(b *testing.B) {
	b.ReportAllocs()
	st, _ := Parse(typical)
	for b.Loop() {
		_ = Fingerprint(st, "hotels")
	}
}
