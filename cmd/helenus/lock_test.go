//go:build unix

package main

import (
	"strings"
	"testing"
)

// TestMembersShareNoDirectory: they would write over each other's history. Who ends leaves it to the next.
func TestMembersShareNoDirectory(t *testing.T) {
	dir := t.TempDir()
	one, err := claim(dir)
	if err != nil || one == nil {
		t.Fatal(one, err)
	}
	if _, err := claim(dir); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("claimed twice: %v", err)
	}
	if err := one.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := claim(dir)
	if err != nil {
		t.Fatal(err)
	}
	_ = again.Close()
	if none, err := claim("/nonexistent"); none != nil || err != nil {
		t.Errorf("where nothing can be written: %v, %v", none, err)
	}
}
