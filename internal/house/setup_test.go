package house

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestSetupNamesWhatIsMissing runs .ci/setup on machines that lack everything, as its PATH shows them.
func TestSetupNamesWhatIsMissing(t *testing.T) {
	script, err := filepath.Abs("../../.ci/setup")
	if err != nil {
		t.Fatal(err)
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal(err)
	}
	const goFits, notRoot = "echo go1.26.0", "echo 1000"
	tests := []struct {
		name     string
		purpose  string
		programs map[string]string // what the PATH holds, as shell scripts
		says     []string
	}{
		{"no purpose", "", nil, []string{"usage: .ci/setup build|demo [keep]|test|long|drivers"}},
		{"no Go", "demo", nil, []string{"Go 1.26 or newer is missing (found: none)"}},
		{"old Go", "demo", map[string]string{"go": "[ $1 = version ] && echo go version go1.19.8 || echo go1.19.8"},
			[]string{"Go 1.26 or newer is missing (found: go version go1.19.8)"}},
		{"Debian, not root", "demo", map[string]string{"go": goFits, "id": notRoot, "apt-get": "echo installed; exit 1", "uname": "echo Linux"},
			[]string{"Maven", "COIN-OR CBC", "sudo apt-get update && sudo apt-get install -y git make", "coinor-libclp-dev coinor-libcbc-dev"}},
		{"Debian, root, where the installation changes nothing", "demo", map[string]string{"go": goFits, "id": "echo 0", "apt-get": "echo ran $1 >&2", "uname": "echo Linux"},
			[]string{"setup: installing git make openjdk-17-jdk-headless maven", "ran update", "ran install", "still not to be found"}},
		{"to build, without Java", "build", map[string]string{"go": goFits, "id": notRoot, "apt-get": "exit 1", "uname": "echo Linux"},
			[]string{"apt-get install -y git make gcc g++ pkg-config coinor-libclp-dev coinor-libcbc-dev zlib1g-dev\n"}},
		{"Fedora", "test", map[string]string{"go": goFits, "id": notRoot, "dnf": "exit 1", "uname": "echo Linux"},
			[]string{"sudo dnf install -y git make", "coin-or-Cbc-devel"}},
		{"elsewhere", "test", map[string]string{"go": goFits, "id": notRoot, "uname": "echo Darwin"},
			[]string{"with your package manager", "run on Linux only"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bin := t.TempDir()
			for name, text := range tt.programs {
				if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.Command(bash, script, tt.purpose)
			cmd.Env = []string{"PATH=" + bin, "HOME=" + bin}
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 2 {
				t.Errorf("ended with %v, want status 2", err)
			}
			for _, want := range tt.says {
				if !strings.Contains(string(out), want) {
					t.Errorf("does not say %q:\n%s", want, out)
				}
			}
		})
	}
}
