package words_test

import (
	"testing"
	"time"

	"github.com/helenus-db/helenus/internal/words"
)

func TestNumbersAsPeopleSayThem(t *testing.T) {
	for got, want := range map[string]string{
		words.Three(0): "0", words.Count(56905.3): "56,905", words.Count(999.6): "1,000", words.Count(12.34): "12.3", words.Three(0.5): "0.5", words.Three(9.994): "9.99", words.Three(9.996): "10", words.Three(12.34): "12.3", words.Three(99.96): "100", words.Three(464.4): "464",
		words.Millis(0.04): "40 µs", words.Millis(2500): "2.5 s", words.Millis(300_000): "5 min", words.Span(3 * time.Hour): "3 h", words.Span(50 * time.Hour): "2 days",
		words.Size(999): "999 B", words.Size(13_600_000): "13.6 MB", words.Count(1234567): "1,234,567", words.Count(-1234): "-1,234", words.Count(uint64(12)): "12", words.Count(0.5): "0.5",
		words.Rate(4200): "4,200 a second", words.Rate(0.2): "12 a minute", words.Rate(0.001): "3.6 an hour", words.Rate(0): "never",
		words.Plural(1, "row", "rows"): "1 row", words.Plural(2000, "row", "rows"): "2,000 rows",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestPrintable(t *testing.T) {
	for said, want := range map[string]string{"a b": "a b", "a\tb\n": "a b ", "a\x00b\u200b": "a\ufffdb\ufffd", "größe 🏨": "größe 🏨"} {
		if got := words.Printable(said); got != want {
			t.Errorf("%q is %q, not %q", said, got, want)
		}
	}
}
