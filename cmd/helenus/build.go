package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"
)

// version and revision are set by the linker (make), from git.
var version, revision string

// development is the version of what was built otherwise.
const development = "devel"

// build is what this program was made from.
type build struct {
	version, revision, goVersion string
}

// built reads it: what the linker was told, else the module's version (go install ...@v1.2.3), and the commit that Go noted. Whoever built it without
// either has a devel, which says nothing of what it is.
func built() build {
	b := build{version: version, revision: revision, goVersion: runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	if b.version == "" && strings.HasPrefix(info.Main.Version, "v") {
		b.version = strings.TrimPrefix(info.Main.Version, "v")
	}
	if b.version == "" {
		b.version = development
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && b.revision == "" {
			b.revision = s.Value
		}
	}
	return b
}

// text is one line of it.
func (b build) text() string {
	text := "helenus " + b.version
	if b.revision != "" {
		text += " (" + b.revision + ")"
	}
	return fmt.Sprintf("%s %s %s/%s\n", text, b.goVersion, runtime.GOOS, runtime.GOARCH)
}

func versionCommand() *cobra.Command {
	var o form
	c := &cobra.Command{
		Use: "version", Short: "Print what this is: version, commit, Go", Args: usage(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			b := built()
			if o.structured() {
				return o.encode(c.OutOrStdout(), struct {
					Version  string `json:"version"`
					Revision string `json:"revision,omitempty"`
					Go       string `json:"go"`
					OS       string `json:"os"`
					Arch     string `json:"arch"`
				}{b.version, b.revision, b.goVersion, runtime.GOOS, runtime.GOARCH})
			}
			_, err := fmt.Fprint(c.OutOrStdout(), b.text())
			return err
		},
	}
	o.flags(c)
	return c
}

// metric is always 1; its labels say what runs where.
func (b build) metric() prometheus.Collector {
	return constant{prometheus.MustNewConstMetric(prometheus.NewDesc("helenus_build_info",
		"What runs here: the version of helenus, the commit that it was built from if that is known, and the version of Go; always 1.", []string{"version", "revision", "goversion"}, nil),
		prometheus.GaugeValue, 1, b.version, b.revision, b.goVersion)}
}

// constant is a metric that never changes.
type constant struct{ prometheus.Metric }

// Describe implements prometheus.Collector.
func (c constant) Describe(ch chan<- *prometheus.Desc) { ch <- c.Desc() }

// Collect implements prometheus.Collector.
func (c constant) Collect(ch chan<- prometheus.Metric) { ch <- c.Metric }
