package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/helenus-db/helenus/internal/config"
)

var update = flag.Bool("update", false, "write golden files")

// assembled is a process that is wired and not running.
func assembled(t *testing.T) *helenus {
	t.Helper()
	s := config.Defaults()
	s.Listen, s.Admin, s.StateDir = "127.0.0.1:0", "127.0.0.1:0", t.TempDir()
	h, err := assemble(context.Background(), s, &inheritance{}, logger(s))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.close)
	return h
}

var describes = regexp.MustCompile(`fqName: "([^"]*)", help: "([^"]*)".*variableLabels: \{([^}]*)\}`)

// TestMetricsDocumentation keeps docs/metrics.md what the program says: every metric has our prefix and a help text.
func TestMetricsDocumentation(t *testing.T) {
	h := assembled(t)
	var rows []string
	for _, c := range h.collectors() {
		all := make(chan *prometheus.Desc)
		go func() {
			c.Describe(all)
			close(all)
		}()
		for d := range all {
			m := describes.FindStringSubmatch(d.String())
			if m == nil || !strings.HasPrefix(m[1], "helenus_") || len(m[2]) < 10 || !strings.HasSuffix(m[2], ".") {
				t.Errorf("a metric needs the prefix helenus_ and a help text that is a sentence: %s", d)
				continue
			}
			labels := strings.ReplaceAll(m[3], ",", ", ")
			rows = append(rows, fmt.Sprintf("| `%s` | %s | %s |\n", m[1], labels, m[2]))
		}
	}
	slices.Sort(rows)
	want := "# Metrics\n\nServed at `/metrics` on the admin address, beside the Go runtime's own. No label holds CQL text or values. This page is written from\nthe program (`go test ./cmd/helenus -update`).\n\n| metric | labels | what it is |\n| --- | --- | --- |\n" + strings.Join(slices.Compact(rows), "")
	const path = "../../docs/metrics.md"
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil { //nolint:gosec // a page of documentation
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("docs/metrics.md is not what the program says; run: go test ./cmd/helenus -update")
	}
}

// TestMetricsFitTogether gathers what a process that just began has: no name twice, no label that is not described, names as Prometheus wants them.
func TestMetricsFitTogether(t *testing.T) {
	h := assembled(t)
	registry := prometheus.NewPedanticRegistry()
	for _, c := range h.collectors() {
		if err := registry.Register(c); err != nil {
			t.Error(err)
		}
	}
	problems, err := testutil.GatherAndLint(registry)
	if err != nil || len(problems) > 0 {
		t.Errorf("%v %v", problems, err)
	}
	if n, err := testutil.GatherAndCount(registry, "helenus_build_info"); n != 1 || err != nil {
		t.Errorf("%d series say what runs here: %v", n, err)
	}
}
