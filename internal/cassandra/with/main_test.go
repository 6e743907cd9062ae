package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/internal/long"
)

func TestUsage(t *testing.T) {
	for _, tt := range []struct {
		args   string
		status int
		says   string
	}{
		{"-h", 0, "-version"},
		{"-no-such-flag", statusUsage, "no-such-flag"},
		{"-nodes 9 true", statusFailure, "1 to 3"},
		{"-port 70000 true", statusFailure, "no port"},
		{"-version latest true", statusFailure, "no version"},
		{"-host example.org true", statusFailure, "127.0.0.0/8"},
	} {
		var out, complaints bytes.Buffer
		t.Setenv("HELENUS_CACHE", cache(t))
		if status := run(context.Background(), strings.Fields(tt.args), &out, &complaints); status != tt.status || !strings.Contains(complaints.String(), tt.says) {
			t.Errorf("with %s: status %d: %s", tt.args, status, complaints.String())
		}
	}
}

// cache returns a cache that seems to hold Cassandra, and a Java that only knows its version.
func cache(t *testing.T) string {
	dir := t.TempDir()
	lib, bin := filepath.Join(dir, "cassandra-5.0.8"), filepath.Join(dir, "jdk", "bin")
	for _, d := range []string{lib, bin} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for path, text := range map[string]string{
		filepath.Join(lib, "cassandra-all-5.0.8.jar"): "",
		filepath.Join(lib, "jamm-1.jar"):              "",
		filepath.Join(bin, "java"):                    "#!/bin/sh\necho 'openjdk version \"17.0.1\"'\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("JAVA_HOME", filepath.Join(dir, "jdk"))
	return dir
}

func TestCommandEndsWithItsOwnStatus(t *testing.T) {
	for _, tt := range []struct {
		script, says string
		status       int
	}{
		{"echo $HELENUS_TEST_CASSANDRA", "127.0.0.1:1,127.0.0.2:1", 0},
		{"exit 3", "", 3},
		{"kill -9 $$", "killed", statusFailure},
	} {
		var out bytes.Buffer
		if status := command(context.Background(), []string{"sh", "-c", tt.script}, "127.0.0.1:1,127.0.0.2:1", &out, &out); status != tt.status || !strings.Contains(out.String(), tt.says) {
			t.Errorf("%s: status %d: %s", tt.script, status, out.String())
		}
	}
	var out bytes.Buffer
	if status := command(context.Background(), []string{"/no/such/program"}, "", &out, &out); status != statusFailure {
		t.Errorf("a program that is not there ended with %d", status)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if status := command(ctx, []string{"sleep", "60"}, "", &out, &out); status == 0 {
		t.Error("an interrupted command succeeded")
	}
}

func TestOnCassandra(t *testing.T) {
	long.Only(t, "a cluster of its own; all tests that run before Cassandra run so")
	if os.Getenv(variable) == "" {
		t.Skip("HELENUS_TEST_CASSANDRA is not set: needs a real Cassandra (make test)")
	}
	dir := t.TempDir()
	var out, progress bytes.Buffer
	if status := run(context.Background(), []string{"-dir", dir, "sh", "-c", "echo at $HELENUS_TEST_CASSANDRA; exit 7"}, &out, &progress); status != 7 {
		t.Fatalf("status %d: %s", status, progress.String())
	}
	address, err := os.ReadFile(filepath.Join(dir, "ADDRESS"))
	if err != nil {
		t.Fatal(err)
	}
	if out.String() != "at "+string(address) {
		t.Errorf("the command was told %q, the file says %q", out.String(), address)
	}
}
