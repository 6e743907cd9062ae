package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// TestImage builds the Containerfile, without podman or docker, of which this project's machines have no engine: its steps are carried out one by one on bare Debians, what comes out is
// started as a container would be (as its user, without privileges, on a root that is only read, with its volume), and answers the probes of the chart.
func TestImage(t *testing.T) {
	const version = "9.8.7+6.gabc"
	image := build(t, map[string]string{"VERSION": version})
	if image.user != "65532:65532" || len(image.volumes) != 1 {
		t.Fatalf("user %q, volumes %v", image.user, image.volumes)
	}
	if out := image.run(t, "/usr/bin/helenus", "--version"); !strings.HasPrefix(out, "helenus "+version+" ") && !strings.HasPrefix(out, "helenus "+version+"\n") {
		t.Errorf("version: %s", out)
	}
	if out := image.run(t, "ldd", "/usr/bin/helenus-solver"); !strings.Contains(out, "libCbc") || strings.Contains(out, "not found") {
		t.Errorf("libraries of the solver: %s", out)
	}
	if out, err := image.try("sh", "-c", "command -v gcc go make"); err == nil {
		t.Errorf("the image has what only builds: %s", out)
	}

	listen, admin := free(t), free(t)
	cassandra := os.Getenv("HELENUS_TEST_CASSANDRA")
	ready := "/readyz"
	if cassandra == "" {
		cassandra, ready = free(t), "/healthz"
	}
	volume := t.TempDir()
	here(t, "cp", "-a", filepath.Join(image.root, image.volumes[0])+"/.", volume)
	here(t, "chown", image.user, volume)
	options := []string{"--read-only", "--tmpfs=/tmp", "--bind=" + volume + ":" + image.volumes[0], "--kill-signal=SIGTERM"}
	for _, set := range append(image.env, "HELENUS_LISTEN="+listen, "HELENUS_ADMIN="+admin, "HELENUS_CONTACT_POINTS="+cassandra) {
		options = append(options, "--setenv="+set)
	}
	user, group, _ := strings.Cut(image.user, ":")
	c := image.contained(options, append([]string{"setpriv", "--reuid=" + user, "--regid=" + group, "--clear-groups", "--no-new-privs", "--bounding-set=-all"}, append(image.entrypoint, image.cmd...)...)...)
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var log strings.Builder
	c.Stdout, c.Stderr = &log, &log
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for _, probe := range []string{"/healthz", ready} {
		soon(t, probe, func() error {
			answer, err := http.Get("http://" + admin + probe) //nolint:noctx // a test
			if err != nil {
				return err
			}
			defer func() { _ = answer.Body.Close() }()
			if body, _ := io.ReadAll(answer.Body); answer.StatusCode != http.StatusOK {
				return fmt.Errorf("%d: %s", answer.StatusCode, body)
			}
			return nil
		})
	}
	_ = c.Process.Signal(syscall.SIGTERM)
	if err := c.Wait(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Error(err)
	}
	if !strings.Contains(log.String(), "msg=listening") {
		t.Errorf("it said:\n%s", log.String())
	}
	if _, err := os.Stat(filepath.Join(volume, "helenus.db")); err != nil {
		t.Errorf("its state is not in the volume: %v", err)
	}
}

// image is a stage of the Containerfile, as far as it was carried out.
type image struct {
	*machine
	env             []string
	dir, user       string
	entrypoint, cmd []string
	volumes         []string
}

// build carries out the Containerfile, and returns its last stage.
func build(t *testing.T, given map[string]string) *image {
	t.Helper()
	text, err := os.ReadFile("Containerfile")
	if err != nil {
		t.Fatal(err)
	}
	stages, now := map[string]*image{}, (*image)(nil)
	for line := range strings.Lines(strings.ReplaceAll(string(text), "\\\n", " ")) {
		op, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		words := strings.Fields(rest)
		switch op {
		case "", "#", "EXPOSE":
		case "FROM":
			now = from(t, words[0])
			if len(words) == 3 {
				stages[words[2]] = now
			}
		case "RUN":
			now.carryOut(t, rest)
		case "COPY":
			now.copy(t, stages, words)
		case "WORKDIR":
			now.dir = rest
			here(t, "mkdir", "-p", filepath.Join(now.root, rest))
		case "ARG":
			now.env = append(now.env, rest+"="+given[rest])
		case "ENV":
			now.env = append(now.env, words...)
		case "USER":
			now.user = rest
		case "VOLUME":
			now.volumes = append(now.volumes, rest)
		case "ENTRYPOINT":
			err = json.Unmarshal([]byte(rest), &now.entrypoint)
		case "CMD":
			err = json.Unmarshal([]byte(rest), &now.cmd)
		default:
			t.Fatalf("%s: this test does not know it", line)
		}
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	}
	return now
}

// from is an image that others made, as near as a bare Debian comes: golang's has this machine's Go, git and make besides.
func from(t *testing.T, name string) *image {
	t.Helper()
	i := &image{machine: another(t), dir: "/"}
	switch {
	case name == "docker.io/library/debian:bookworm-slim":
	case strings.HasPrefix(name, "docker.io/library/golang:") && strings.HasSuffix(name, "-bookworm"):
		i.install(t, "git", "make", "ca-certificates")
		here(t, "cp", "-a", strings.TrimSpace(here(t, "go", "env", "GOROOT")), filepath.Join(i.root, "usr/local/go"))
		i.env = []string{"PATH=/usr/local/go/bin:/usr/sbin:/usr/bin:/sbin:/bin", "GOTOOLCHAIN=local"}
	default:
		t.Fatalf("%s: this test does not know it", name)
	}
	return i
}

// carryOut runs a line of a shell in a stage. Modules come from this machine's cache, and what is not there from the proxy, whom this machine's authorities vouch for.
func (i *image) carryOut(t *testing.T, line string) {
	t.Helper()
	modules := filepath.Join(strings.TrimSpace(here(t, "go", "env", "GOMODCACHE")), "cache", "download")
	options := []string{"--chdir=" + i.dir, "--bind-ro=" + modules + ":/modules", "--setenv=GOPROXY=file:///modules," + strings.TrimSpace(here(t, "go", "env", "GOPROXY"))}
	if authorities := "/etc/ssl/certs/ca-certificates.crt"; exec.Command("test", "-f", authorities).Run() == nil {
		options = append(options, "--bind-ro="+authorities+":/authorities.pem", "--setenv=SSL_CERT_FILE=/authorities.pem")
	}
	for _, set := range i.env {
		options = append(options, "--setenv="+set)
	}
	said(t, i.contained(options, "/bin/sh", "-c", line))
}

// copy copies what git knows of this tree, or files of another stage.
func (i *image) copy(t *testing.T, stages map[string]*image, words []string) {
	t.Helper()
	to := words[len(words)-1]
	into := filepath.Join(i.root, to)
	if !path.IsAbs(to) {
		into = filepath.Join(i.root, i.dir, to)
	}
	stage, ok := strings.CutPrefix(words[0], "--from=")
	switch {
	case ok && stages[stage] != nil:
		for _, file := range words[1 : len(words)-1] {
			here(t, "cp", "-a", filepath.Join(stages[stage].root, file), into)
		}
	case slices.Equal(words, []string{".", "."}):
		here(t, "sh", "-c", `cd ../.. && git ls-files -z | tar --null --files-from=- --create | tar --extract --no-same-owner --directory "$0"`, into)
	default:
		t.Fatalf("COPY %v: this test does not know it", words)
	}
}
