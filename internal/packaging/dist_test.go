package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestMain makes the test binary a helenus that prints completions.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "completion" {
		_, _ = os.Stdout.WriteString("# completion of " + os.Args[2] + "\n")
		return
	}
	var err error
	if shelf, err = os.MkdirTemp("", "helenus-dist-"); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(shelf)
	os.Exit(code)
}

// shelf is where that release is.
var shelf string

// once is a release for all tests that only look at one.
var once *release

// made is a release of two copies of this test binary.
func made(t *testing.T) *release {
	t.Helper()
	if once == nil {
		once = remade(t, shelf)
	}
	return once
}

func remade(t *testing.T, out string) *release {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	programs := t.TempDir()
	for _, name := range []string{"helenus", "helenus-solver"} {
		if err := os.Link(self, filepath.Join(programs, name)); err != nil {
			if err := os.Symlink(self, filepath.Join(programs, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	r := &release{programs: programs, source: "../..", out: filepath.Join(out, "dist"), version: "1.2.3+4.gabc", arch: "amd64", at: time.Unix(1_700_000_000, 0).UTC()}
	if err := r.make(); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestTheSameBytes(t *testing.T) {
	first, second := made(t), remade(t, t.TempDir())
	sums := func(r *release) string {
		text, err := os.ReadFile(filepath.Join(r.out, "SHA256SUMS"))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if a, b := sums(first), sums(second); a != b {
		t.Errorf("made twice:\n%s\n%s", a, b)
	}
	for _, want := range []string{"helenus_1.2.3+4.gabc_amd64.deb", "helenus-solver_1.2.3+4.gabc_amd64.deb", "helenus-1.2.3+4.gabc-1.x86_64.rpm", "helenus-solver-1.2.3+4.gabc-1.x86_64.rpm",
		"helenus-1.2.3+4.gabc-linux-amd64.tar.gz", "helenus-1.2.3+4.gabc.cdx.json"} {
		if !strings.Contains(sums(first), "  "+want+"\n") {
			t.Errorf("%s is not among\n%s", want, sums(first))
		}
	}
	check := exec.Command("sha256sum", "--check", "--strict", "SHA256SUMS")
	check.Dir = first.out
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestWhatThePackagesHold(t *testing.T) {
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		t.Skip("no dpkg-deb here")
	}
	r := made(t)
	ask := func(args ...string) string {
		out, err := exec.Command("dpkg-deb", args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	file := filepath.Join(r.out, "helenus_1.2.3+4.gabc_amd64.deb")
	list := ask("--contents", file)
	for _, want := range []string{`-rwxr-xr-x root/root .* \./usr/bin/helenus\n`, `-rw-r----- root/root .* \./etc/helenus/helenus\.yaml\n`, `\./usr/lib/systemd/system/helenus\.service\n`, `\./usr/lib/systemd/system/helenus\.socket\n`,
		`\./usr/share/man/man1/helenus-approve\.1\.gz\n`, `\./usr/share/bash-completion/completions/helenus\n`, `\./usr/share/zsh/vendor-completions/_helenus\n`, `\./usr/share/fish/vendor_completions\.d/helenus\.fish\n`, `\./usr/share/doc/helenus/copyright\n`} {
		if !regexp.MustCompile(want).MatchString(list) {
			t.Errorf("no %s in\n%s", want, list)
		}
	}
	control := ask("--field", file)
	for _, want := range []string{"Package: helenus\n", "Version: 1.2.3+4.gabc\n", "Recommends: helenus-solver\n", "Architecture: amd64\n"} {
		if !strings.Contains(control, want) {
			t.Errorf("no %q in\n%s", want, control)
		}
	}
	if needs := ask("--field", filepath.Join(r.out, "helenus-solver_1.2.3+4.gabc_amd64.deb"), "Depends"); !strings.Contains(needs, "coinor-libcbc3") {
		t.Errorf("the solver depends on %s", needs)
	}
}

func TestTheTarball(t *testing.T) {
	r := made(t)
	file, err := os.Open(filepath.Join(r.out, "helenus-1.2.3+4.gabc-linux-amd64.tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	packed, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for in := tar.NewReader(packed); ; {
		head, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if !head.ModTime.Equal(r.at) {
			t.Errorf("%s is of %v", head.Name, head.ModTime)
		}
		names = append(names, strings.TrimPrefix(head.Name, "helenus-1.2.3+4.gabc-linux-amd64/"))
	}
	for _, want := range []string{"helenus", "helenus-solver", "LICENSE", "helenus.yaml", "man/helenus.1"} {
		if !slices.Contains(names, want) {
			t.Errorf("no %s in %v", want, names)
		}
	}
}

func TestTheBillNamesModulesAndLibraries(t *testing.T) {
	r := made(t)
	text, err := os.ReadFile(filepath.Join(r.out, "helenus-1.2.3+4.gabc.cdx.json"))
	if err != nil {
		t.Fatal(err)
	}
	var bill struct {
		Format     string `json:"bomFormat"`
		Components []struct {
			URL string `json:"purl"`
		} `json:"components"`
	}
	if err := json.Unmarshal(text, &bill); err != nil || bill.Format != "CycloneDX" {
		t.Fatalf("%v %s", err, bill.Format)
	}
	if !bytes.Contains(text, []byte("pkg:golang/github.com/goreleaser/nfpm/v2@v")) || !bytes.Contains(text, []byte("pkg:golang/std@1.")) {
		t.Errorf("what this program is made of is not in it: %d components", len(bill.Components))
	}
}

// TestContainerfile: what it copies is there, what it has made is a target, and what it installs is what .ci/setup and the packages name.
func TestContainerfile(t *testing.T) {
	text, err := os.ReadFile("Containerfile")
	if err != nil {
		t.Fatal(err)
	}
	setup, err := os.ReadFile("../../.ci/setup")
	if err != nil {
		t.Fatal(err)
	}
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	stages := strings.Split(string(text), "\nFROM ")
	if len(stages) != 3 || !strings.Contains(string(makefile), "\nprograms:\n") || !strings.Contains(stages[1], "RUN make programs ") {
		t.Fatalf("%d stages", len(stages)-1)
	}
	for _, library := range regexp.MustCompile(`coinor-\S+`).FindAllString(stages[1], -1) {
		if !bytes.Contains(setup, []byte(library)) {
			t.Errorf(".ci/setup knows no %s", library)
		}
	}
	for _, library := range regexp.MustCompile(`coinor-\S+`).FindAllString(stages[2], -1) {
		if !slices.Contains(systems["deb"].solver, library) {
			t.Errorf("the package of the solver does not depend on %s", library)
		}
	}
	if !strings.Contains(stages[2], "USER 65532:65532") || strings.Contains(stages[2], "gcc") {
		t.Error("the image runs as root, or has a compiler")
	}
}
