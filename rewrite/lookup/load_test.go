package lookup

import (
	"fmt"
	"testing"
)

// TestWhatIsRememberedIsBounded: a client may make any number of texts.
func TestWhatIsRememberedIsBounded(t *testing.T) {
	var r remembered
	if r.keep("a", 1) != 1 || r.keep("a", 2) != 1 {
		t.Error("what is there is not kept")
	}
	for i := range 3 * mostTexts {
		r.keep(fmt.Sprint("text ", i), i)
	}
	n := 0
	r.Range(func(any, any) bool { n++; return true })
	if n > mostTexts {
		t.Errorf("%d texts are remembered", n)
	}
}
