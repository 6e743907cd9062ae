package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCalibrateBadInput: each is refused before anything is measured, and leaves no file.
func TestCalibrateBadInput(t *testing.T) {
	dir := t.TempDir()
	broken := filepath.Join(dir, "broken.json")
	if err := os.WriteFile(broken, []byte(`{"measurements":[]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "out", "calibration.yaml")
	if err := os.Mkdir(filepath.Dir(out), 0o700); err != nil {
		t.Fatal(err)
	}
	away := freeAddress(t)
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"an unknown level":   {[]string{"--consistency", "QUROUM"}, exitUsage, "LOCAL_QUORUM"},
		"a level of writes":  {[]string{"--consistency", "ANY"}, exitUsage, "it may be ONE"},
		"an odd keyspace":    {[]string{"--keyspace", "a; DROP KEYSPACE b"}, exitUsage, "small letters"},
		"no time":            {[]string{"--budget", "0s"}, exitUsage, "--budget"},
		"nobody there":       {[]string{"--contact-point", away}, exitUnreachable, "connect to Cassandra"},
		"no host:port":       {[]string{"--contact-point", "cassandra:port"}, exitUsage, "host:port"},
		"nothing measured":   {[]string{"--measurements", broken}, exitUsage, "no measurements"},
		"no measurements":    {[]string{"--measurements", filepath.Join(dir, "none.json")}, exitUsage, "no such file"},
		"a folder not there": {[]string{"--measurements", measurements, "--out", filepath.Join(dir, "none", "x.yaml")}, exitUsage, "can not be written"},
		"a plot not there":   {[]string{"--measurements", measurements, "--plot", filepath.Join(dir, "none", "x.svg")}, exitUsage, "can not be written"},
	} {
		args := append([]string{"calibrate", "--out", out}, c.args...)
		if code, text := command(t, nil, args...); code != c.code || !strings.Contains(text, c.says) {
			t.Errorf("%s: exit code %d: %s, want %d, %q", name, code, text, c.code, c.says)
		}
	}
	if left, err := os.ReadDir(filepath.Dir(out)); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

const measurements = "../../rewrite/calibrate/testdata/measured.json"

// TestCalibratedDesign: N-35. The file that calibrate writes is taken by design, and by run.
func TestCalibratedDesign(t *testing.T) {
	dir := t.TempDir()
	out, plot, workload := filepath.Join(dir, "c.yaml"), filepath.Join(dir, "c.svg"), filepath.Join(dir, "w.yaml")
	code, text := command(t, nil, "calibrate", "--measurements", measurements, "--out", out, "--plot", plot)
	if code != 0 || !strings.Contains(text, "request_ms") || !strings.Contains(text, "wrote "+out) {
		t.Fatalf("exit code %d: %s", code, text)
	}
	if svg, err := os.ReadFile(plot); err != nil || !strings.Contains(string(svg), "</svg>") {
		t.Errorf("no chart: %v", err)
	}
	if err := os.WriteFile(workload, []byte(small), 0o600); err != nil {
		t.Fatal(err)
	}
	code, plain := command(t, nil, "design", workload)
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, plain)
	}
	if code, text = command(t, nil, "design", "--cost", out, workload); code != 0 || text == plain {
		t.Errorf("design: exit code %d, the same as by the defaults: %t: %s", code, text == plain, text)
	}
	if code, text = command(t, nil, "config", "check", "--cost", out); code != 0 || !strings.Contains(text, "cost: ") {
		t.Errorf("config check: exit code %d: %s", code, text)
	}
	if code, text = command(t, nil, "config", "check", "--cost", workload); code != exitUsage || !strings.Contains(text, "setting cost") {
		t.Errorf("config check of what is no parameters: exit code %d: %s", code, text)
	}
	p := newProcess(t, freeAddress(t))
	if code, text = command(t, nil, append(p.args, "--cost", filepath.Join(dir, "none.yaml"))...); code != exitUsage || !strings.Contains(text, "setting cost") {
		t.Errorf("run: exit code %d: %s", code, text)
	}
}
