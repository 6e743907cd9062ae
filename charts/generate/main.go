// Command generate writes the Grafana dashboards, the Prometheus rules, the runbooks, and of the Helm chart the schema of its values and
// its README. `go generate ./charts` runs it in the folder charts; what it writes is committed, and a test holds it to that.
package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// chartReadme is the README of the Helm chart, without the table of its values.
//
//go:embed readme.md
var chartReadme string

func main() {
	if err := run("."); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

// run writes all files below the folder charts, and the runbooks beside it.
func run(charts string) error {
	files, err := generate(charts)
	if err != nil {
		return err
	}
	for name, text := range files {
		name = filepath.Join(charts, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil { //nolint:gosec // a folder of the source
			return err
		}
		if err := os.WriteFile(name, text, 0o644); err != nil { //nolint:gosec // a file of the source
			return err
		}
	}
	return nil
}

// pages are all dashboards.
func pages() []*page {
	return []*page{overview(), recommendations(), change(), workload(), proxy(), fleet()}
}

// generate returns all files by their name, from the folder charts.
func generate(charts string) (map[string][]byte, error) {
	values, err := os.ReadFile(filepath.Join(charts, "helenus", "values.yaml")) //nolint:gosec // a file of the source
	if err != nil {
		return nil, err
	}
	files, err := chartFiles(values)
	if err != nil {
		return nil, err
	}
	for _, p := range pages() {
		var text bytes.Buffer
		out := json.NewEncoder(&text)
		out.SetEscapeHTML(false)
		out.SetIndent("", "  ")
		if err := out.Encode(p.dashboard); err != nil {
			return nil, fmt.Errorf("dashboard %s: %w", p.UID, err)
		}
		files["dashboards/"+p.UID+".json"] = text.Bytes()
	}
	files["rules/alerts.yaml"] = alertRules(alerts())
	files["rules/recording.yaml"] = recordingRules(recordings())
	for _, a := range alerts() {
		files["../docs/runbooks/"+a.name+".md"] = a.runbook()
	}
	files["../docs/runbooks/README.md"] = runbookIndex(alerts())
	return files, nil
}
