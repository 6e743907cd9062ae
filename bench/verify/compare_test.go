package verify

import (
	"testing"
	"time"
)

func TestWords(t *testing.T) {
	got := canonical([]any{nil, "", "null", int64(3), 3.0, 3.5, true, time.Unix(0, 0), []byte{1}, []any{int64(1), nil}})
	if want := `null, "", "null", 3, 3, 3.5, true, 1970-01-01T00:00:00.000, 0x01, (1, null)`; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	missing, extra := apart([]string{"a", "a", "b", "c"}, []string{"a", "c", "d"}, 1)
	if len(missing) != 2 || missing[0] != "a" || missing[1] != "and 1 more" || len(extra) != 1 || extra[0] != "d" {
		t.Errorf("%q %q", missing, extra)
	}
}
