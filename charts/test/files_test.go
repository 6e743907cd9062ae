package test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/promql/parser"
)

// dashboard is what the tests look at of one.
type dashboard struct {
	file        string
	Title       string
	UID         string
	Editable    *bool
	Tags        []string
	Links       []struct{ Type, URL string }
	Templating  struct{ List []variable }
	Panels      []panel
	Annotations struct {
		List []struct{ Name, Expr string }
	}
}

type variable struct {
	Name, Type, AllValue, Definition string
	Query                            any
	Multi, IncludeAll                bool
	Refresh                          int
	Datasource                       struct{ Type, UID string }
}

type panel struct {
	ID                       int
	Type, Title, Description string
	GridPos                  struct{ X, Y, W, H int }
	Datasource               struct{ Type, UID string }
	FieldConfig              struct {
		Defaults  struct{ Unit string }
		Overrides []struct {
			Matcher    struct{ ID, Options string }
			Properties []struct {
				ID    string
				Value any
			}
		}
	}
	Targets []struct {
		RefID, Expr, LegendFormat, Format string
		Instant, Range                    bool
		Datasource                        struct{ Type, UID string }
	}
	Transformations []struct {
		ID      string
		Options map[string]any
	}
}

func (d *dashboard) each(f func(p *panel)) {
	for i := range d.Panels {
		if d.Panels[i].Type != "row" {
			f(&d.Panels[i])
		}
	}
}

func dashboards(t *testing.T) (all []*dashboard) {
	t.Helper()
	names, err := filepath.Glob("../dashboards/*.json")
	if err != nil || len(names) < 6 {
		t.Fatalf("%d dashboards, %v", len(names), err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		d := &dashboard{file: filepath.Base(name)}
		if err := json.Unmarshal(text, d); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all = append(all, d)
	}
	return all
}

// metric is one of the registry: its labels.
type metric struct{ labels map[string]bool }

// added are labels that the scrape adds.
var added = []string{"job", "instance", "cluster", "dc"}

var row = regexp.MustCompile("^\\| `([a-z_0-9]+)` \\| ([^|]*) \\|")

// registry is what docs/metrics.md lists, which the tests of cmd/helenus keep equal to what the program registers, and what comes with Go.
func registry(t *testing.T) map[string]metric {
	t.Helper()
	all := map[string]metric{}
	list := func(name string, labels ...string) {
		m := metric{map[string]bool{}}
		for _, l := range append(labels, added...) {
			m.labels[l] = true
		}
		all[name] = m
	}
	for _, name := range []string{"process_cpu_seconds_total", "process_resident_memory_bytes", "process_start_time_seconds", "go_goroutines", "up"} {
		list(name)
	}
	file, err := os.Open("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		m := row.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		var labels []string
		for l := range strings.SplitSeq(m[2], ",") {
			if l = strings.TrimSpace(l); l != "" {
				labels = append(labels, l)
			}
		}
		list(m[1], labels...)
		// A histogram has these series; that it is one only its samples tell.
		if strings.HasSuffix(m[1], "_seconds") {
			list(m[1]+"_bucket", append(labels, "le")...)
			list(m[1]+"_sum", labels...)
			list(m[1]+"_count", labels...)
		}
	}
	if len(all) < 100 {
		t.Fatalf("docs/metrics.md lists %d metrics", len(all))
	}
	return all
}

// plain replaces what Grafana would: all is chosen, and a minute's range.
var plain = strings.NewReplacer("$__rate_interval", "1m", "$__range", "5m", "$__interval", "15s",
	"$job", ".+", "$instance", ".+", "$cluster", ".*", "$dc", ".*", "$keyspace", ".*", "$table", ".*", "$change", ".+")

// grammar parses expressions.
var grammar = parser.NewParser(parser.Options{})
