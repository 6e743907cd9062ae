package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// HELENUS_SOAK says for how long to soak: `make test-long` does, a minute or two show whether the soak itself works.
func TestSoak(t *testing.T) {
	length, err := time.ParseDuration(os.Getenv("HELENUS_SOAK"))
	if err != nil {
		t.Skip("HELENUS_SOAK is not set to a duration: make test-long does")
	}
	helenus := filepath.Join(t.TempDir(), "helenus")
	if out, err := exec.Command("go", "build", "-tags", "soak", "-o", helenus, "../../cmd/helenus").CombinedOutput(); err != nil { //nolint:gosec // our own program
		t.Fatalf("%v: %s", err, out)
	}
	wrong, err := run(t.Context(), settings{helenus: helenus, length: length, kill: max(length/4, 10*time.Second), stops: 1, writers: 8, rows: 20_000, seed: 27})
	if err != nil || wrong {
		t.Errorf("wrong: %v, %v", wrong, err)
	}
}

// Contended rooms are quiet while no write is under way, and no two writes have one timestamp in a row.
func TestContendedRoomsAreQuietBetweenWrites(t *testing.T) {
	var c contended
	first := c.begin(3)
	if _, quiet := c.quiet()[contendedRoom(3)]; quiet {
		t.Error("a room is quiet while it is written")
	}
	second := c.begin(4)
	c.end(3)
	if n, quiet := c.quiet()[contendedRoom(3)]; !quiet || n != 1 {
		t.Errorf("%v, %d writes, after one", quiet, n)
	}
	if first == second {
		t.Error("two writes have one timestamp")
	}
}
