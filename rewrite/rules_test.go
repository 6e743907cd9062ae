package rewrite

import (
	"fmt"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/proxy"
)

// Texts that are never said again, with large literals, do not fill the memory, whether they write the base or another table.
func TestTextsAreBounded(t *testing.T) {
	serving(t, func(t *testing.T, w *world) {
		set, long := w.engine.rules.Load(), strings.Repeat("x", maxText/2)
		for i := range 1000 {
			for _, text := range []string{"INSERT INTO hotel.others (room, note) VALUES ('%d', '%s')", "INSERT INTO hotel.stays (room, day, n, guest, status) VALUES ('%d', 1, 1, 'ann', '%s')"} {
				text = fmt.Sprintf(text, i, long)
				if r := set.rule("hotel", text); r != set.rule("hotel", text) {
					t.Fatal("a text is compiled each time that it is said")
				}
			}
		}
		kept := 0
		for text := range set.texts {
			kept += 2 * len(text)
		}
		if kept != set.kept || kept > maxKept || kept < maxKept/4 {
			t.Errorf("%d bytes are kept, and %d counted", kept, set.kept)
		}
	})
}

// TestDescriptionsAreBounded: what answers look like is kept of so many texts, and of none that is long.
func TestDescriptionsAreBounded(t *testing.T) {
	var l looks
	for i := range 3 * maxLooks {
		l.keep(lookKey{fmt.Sprint("SELECT room AS a", i), 4}, &proxy.Prepared{})
	}
	l.keep(lookKey{strings.Repeat("x", maxLookText+1), 4}, &proxy.Prepared{})
	n := 0
	l.byText.Range(func(key, _ any) bool {
		n++
		if len(key.(lookKey).text) > maxLookText {
			t.Error("a long text is kept")
		}
		return true
	})
	if n == 0 || n > maxLooks {
		t.Errorf("%d are kept", n)
	}
}
