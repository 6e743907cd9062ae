package cql

import (
	"bufio"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// seed gives a fuzz function the recorded grammar as its seeds.
func seed(f *testing.F) {
	file, err := os.Open(filepath.Join("testdata", "grammar.txt"))
	if err != nil {
		f.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if _, quoted, ok := strings.Cut(lines.Text(), "\t"); ok {
			if text, err := strconv.Unquote(quoted); err == nil {
				f.Add(text)
			}
		}
	}
}

// FuzzParse: no text breaks the parser, and a tree prints to a text of the same tree.
func FuzzParse(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, text string) {
		st, err := Parse(text)
		if err != nil {
			return
		}
		printed := st.String()
		again, err := Parse(printed)
		if err != nil {
			t.Fatalf("%q\n%q\n%v", text, printed, err)
		}
		if diff := cmp.Diff(st, again, same); diff != "" {
			t.Fatalf("%q\n%q\n%s", text, printed, diff)
		}
		if third := again.String(); third != printed {
			t.Fatalf("%q\n%q\n%q", text, printed, third)
		}
	})
}

// FuzzFingerprintText: every text has a fingerprint, the same for the printed statement, and not much longer than it.
func FuzzFingerprintText(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, text string) {
		print, normalised, st, err := FingerprintText(text, "ks")
		if len(normalised) > 8*len(text)+64 {
			t.Fatalf("%q: %d bytes", text, len(normalised))
		}
		if (st == nil) != (err != nil) {
			t.Fatalf("%q: %v %v", text, st, err)
		}
		if st == nil {
			return
		}
		if again, n, _, _ := FingerprintText(st.String(), "ks"); again != print {
			t.Fatalf("%q\n%q\n%q", text, normalised, n)
		}
		if c := Clone(st); Fingerprint(c, "ks") != print || len(Markers(c)) != len(Markers(st)) {
			t.Fatalf("%q: the copy differs", text)
		}
	})
}
