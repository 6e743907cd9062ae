package main

import (
	"runtime/debug"

	"github.com/prometheus/client_golang/prometheus"
)

// build is what this program was made from.
type build struct{ version, revision, goVersion string }

// built reads it: the Makefile gives the version from git, else it is the module's own.
func built() build {
	b := build{version: version}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	b.goVersion = info.GoVersion
	if b.version == "" {
		b.version = info.Main.Version
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			b.revision = s.Value
		}
	}
	return b
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
