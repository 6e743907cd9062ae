package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/helenus-db/helenus/bench/product"
)

// startPrometheus has one scrape Helenus, with the recording rules and alerts of charts/rules, where the demo is left running for people to look at.
func (d *demo) startPrometheus(context.Context) error {
	if !d.keep {
		return nil
	}
	program, err := exec.LookPath("prometheus")
	if err != nil {
		d.say("no Prometheus is started: %v", err)
		return nil
	}
	ports, err := product.FreePorts(1)
	if err != nil {
		return err
	}
	config := filepath.Join(d.dir, "prometheus.yaml")
	text := fmt.Sprintf("global: {scrape_interval: 5s, evaluation_interval: 5s}\nrule_files: [%q]\nscrape_configs:\n- job_name: helenus\n  static_configs: [{targets: [%q]}]\n",
		filepath.Join(d.charts(), "rules", "*.yaml"), d.admin)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return err
	}
	d.prometheus = ports[0]
	_, err = d.programs.start("prometheus", program, "--config.file", config, "--storage.tsdb.path", filepath.Join(d.dir, "prometheus"), "--web.listen-address", d.prometheus)
	return err
}

// charts is the folder with dashboards and rules.
func (d *demo) charts() string { return filepath.Join(filepath.Dir(d.programs.bin), "charts") }
