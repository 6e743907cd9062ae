package cql

import (
	"bufio"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestGrammar compares with what the server's own parser said; testdata/grammar.txt explains its lines.
func TestGrammar(t *testing.T) {
	f, err := os.Open(filepath.Join("testdata", "grammar.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	marks := map[string]int{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := lines.Text()
		if strings.HasPrefix(line, "#") {
			continue
		}
		mark, quoted, _ := strings.Cut(line, "\t")
		text, err := strconv.Unquote(quoted)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		marks[mark]++
		_, err = Parse(text)
		if wanted := mark == "ok" || mark == "laxer"; (err == nil) != wanted {
			t.Errorf("%s\t%s\n%v", mark, quoted, err)
		}
	}
	if marks["ok"] < 400 || marks["error"] < 300 {
		t.Errorf("the recorded answers are gone: %v", marks)
	}
}
