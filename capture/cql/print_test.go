package cql

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// same compares trees.
var same = cmpopts.EquateEmpty()

func TestPrintedTreeParsesToItself(t *testing.T) {
	dump := os.Getenv("DUMP")
	var out []byte
	rapid.Check(t, func(t *rapid.T) {
		st := trees{t}.statement()
		text := st.String()
		out = append(append(out, text...), 0)
		again, err := Parse(text)
		if err != nil {
			t.Fatalf("%s\n%v", text, err)
		}
		if diff := cmp.Diff(st, again, same); diff != "" {
			t.Fatalf("%s\n%s", text, diff)
		}
	})
	if dump != "" {
		_ = os.WriteFile(dump, out, 0o600)
	}
}
