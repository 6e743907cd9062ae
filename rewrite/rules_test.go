package rewrite

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/rewrite/migrate"
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

// TestBehindUSE: in which keyspace a text is said is not known while a USE is under way. One that names its own is answered, and followed, as ever; another is not
// answered, and what it may have written is verified.
func TestBehindUSE(t *testing.T) {
	refusal := proxy.Response{Opcode: proxy.OpError, Failed: true, ErrorCode: 0x2200}
	bare := func(text string) string { return strings.ReplaceAll(text, "hotel.", "") }
	const insert = "INSERT INTO hotel.stays (room, day, n, guest) VALUES ('a', 1, 1, 'ann')"
	for text, want := range map[string]string{
		byGuest: "sure", bare(byGuest): "none", insert: "sure", bare(insert): "verified", "UPDATE stays SET status = 'x' WHERE room = 'a' AND day = 1 AND n = 1": "none", "INSERT INTO rooms (a, guest) VALUES (1, 'ann')": "none",
		"BEGIN BATCH " + insert + "; " + bare(insert) + "; APPLY BATCH": "verified", "BEGIN BATCH " + insert + "; APPLY BATCH": "sure",
		"TRUNCATE stays": "emptied", "DELETE FROM stays_by_guest WHERE guest = 'ann'": "emptied", "DROP TABLE stays": "emptied",
	} {
		t.Run(text, func(t *testing.T) {
			serving(t, func(t *testing.T, w *world) {
				say := func(answer proxy.Response) string {
					before := len(w.migration().Events)
					r := &proxy.Request{Opcode: proxy.OpQuery, Version: 4, Text: text, Keyspace: "other", Consistency: 1, Responder: &asked{w: w, answer: answer}, Client: &proxy.Client{}}
					if r.Rule = w.engine.Unsure(text); r.Rule == nil {
						return "none"
					}
					if own := r.Rule.(*rule); own.read == nil && !w.engine.Take(r) {
						t.Error("not taken")
					}
					synctest.Wait()
					for _, e := range w.migration().Events[before:] {
						switch {
						case strings.HasPrefix(e.Text, "turned back until verified"):
							return "verified"
						case strings.HasPrefix(e.Text, "emptied, and filled anew"):
							return "emptied"
						}
					}
					return "sure"
				}
				if got := say(refusal); got != "sure" && got != want {
					t.Errorf("refused: %s", got)
				}
				if got := say(proxy.Response{Opcode: proxy.OpResult}); got != want {
					t.Errorf("%s, not %s", got, want)
				}
				w.await(migrate.Serving)
			})
		})
	}
}
