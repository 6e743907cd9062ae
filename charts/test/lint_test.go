package test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// builtin are the panels that each Grafana has.
var builtin = []string{"row", "stat", "timeseries", "table", "state-timeline", "bargauge"}

// consoles are the pages of the console that dashboards may link to.
var consoles = regexp.MustCompile(`^\$\{console\}/ui/(changes/\$\{__value\.raw\}|statements/\$\{__value\.raw\})?$`)

// complaints of a linter: the rules of grafana/dashboard-linter, and of operations.md 4.5. The name of each begins its complaint.
func (d *dashboard) lint(uids map[string]*dashboard) (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	if d.UID == "" || len(d.UID) > 40 || d.file != d.UID+".json" {
		say("uid: %q of file %s", d.UID, d.file)
	}
	if d.Editable == nil || *d.Editable {
		say("uneditable: it can be edited where it is provisioned")
	}
	if d.Title == "" {
		say("title: none")
	}
	d.lintVariables(say)
	ids := map[int]bool{}
	titles := map[string]bool{}
	heading := ""
	for i := range d.Panels {
		p := &d.Panels[i]
		if ids[p.ID] || p.ID < 1 {
			say("panel-id: %d of %s", p.ID, p.Title)
		}
		ids[p.ID] = true
		if p.Type == "row" {
			heading = p.Title
		} else if titles[heading+p.Title] {
			say("panel-title: twice %s", p.Title)
		}
		titles[heading+p.Title] = true
		g := p.GridPos
		if g.W < 1 || g.H < 1 || g.X < 0 || g.Y < 0 || g.X+g.W > 24 {
			say("grid: %s lies outside: %+v", p.Title, g)
		}
		for k := range d.Panels[:i] {
			o := d.Panels[k].GridPos
			if g.X < o.X+o.W && o.X < g.X+g.W && g.Y < o.Y+o.H && o.Y < g.Y+g.H {
				say("grid: %s lies over %s", p.Title, d.Panels[k].Title)
			}
		}
		if !slices.Contains(builtin, p.Type) {
			say("plugin: %s is a %s", p.Title, p.Type)
		}
		if p.Type != "row" {
			p.lint(say)
		}
	}
	d.lintLinks(uids, say)
	return wrong
}

func (d *dashboard) lintVariables(say func(string, ...any)) {
	found := map[string]variable{}
	for _, v := range d.Templating.List {
		found[v.Name] = v
		switch v.Type {
		case "query":
			if v.Refresh != 2 {
				say("template-on-time-change-reload: variable %s", v.Name)
			}
			if v.Datasource.UID != "${datasource}" {
				say("template-datasource: variable %s", v.Name)
			}
			if !v.Multi || !v.IncludeAll || v.AllValue == "" {
				say("template-multi: variable %s", v.Name)
			}
		case "datasource", "textbox":
		default:
			say("template-type: variable %s is a %s", v.Name, v.Type)
		}
	}
	if v := found["datasource"]; v.Type != "datasource" || v.Query != "prometheus" {
		say("template-datasource: there must be one variable datasource of Prometheus")
	}
	for name, all := range map[string]string{"job": ".+", "instance": ".+", "cluster": ".*", "dc": ".*"} {
		if found[name].AllValue != all {
			say("template-%s: all of it is %q, not %q", name, found[name].AllValue, all)
		}
	}
}

func (p *panel) lint(say func(string, ...any)) {
	if p.Datasource.UID != "${datasource}" {
		say("panel-datasource: %s", p.Title)
	}
	if p.FieldConfig.Defaults.Unit == "" {
		say("panel-units: %s", p.Title)
	}
	// What good looks like, and what to do when it does not.
	if !strings.Contains(p.Description, "Good: ") && !strings.Contains(p.Description, "Good looks") || len(p.Description) < 40 {
		say("panel-description: %s does not say what good looks like", p.Title)
	}
	if len(p.Targets) == 0 {
		say("panel-no-targets: %s", p.Title)
	}
	for _, x := range p.Targets {
		if x.Datasource.UID != "${datasource}" {
			say("target-datasource: %s", p.Title)
		}
		if x.Instant == x.Range {
			say("target-instant: %s is instant %v, range %v", p.Title, x.Instant, x.Range)
		}
		if p.Type == "table" && x.Format != "table" {
			say("target-format: %s", p.Title)
		}
		tree, err := grammar.ParseExpr(plain.Replace(x.Expr))
		if err != nil {
			say("target-promql: %s: %v", p.Title, err)
			continue
		}
		p.lintExpr(tree, x.Expr, say)
	}
}

var counters = regexp.MustCompile(`_(total|bucket|sum|count)$`)

func (p *panel) lintExpr(tree parser.Expr, text string, say func(string, ...any)) {
	for range regexp.MustCompile(`rate\([^[]*\[[^$]`).FindAllString(text, -1) {
		say("target-rate-interval: %s: %s", p.Title, text)
	}
	parser.Inspect(tree, func(n parser.Node, path []parser.Node) error {
		s, ok := n.(*parser.VectorSelector)
		if !ok {
			return nil
		}
		for _, want := range []string{"job", "instance", "cluster", "dc"} {
			if !slices.ContainsFunc(s.LabelMatchers, func(m *labels.Matcher) bool { return m.Name == want && m.Type == labels.MatchRegexp }) {
				say("target-%s: %s: %s is not chosen by it", want, p.Title, s.Name)
			}
		}
		rated := false
		for _, above := range path {
			if c, ok := above.(*parser.Call); ok && (c.Func.Name == "rate" || c.Func.Name == "increase") {
				rated = true
			}
		}
		// Some count since they began, which is what is asked: differences, and latencies of one change.
		whole := s.Name == "helenus_change_differences_total" || s.Name == "helenus_change_latency_seconds_bucket"
		if counters.MatchString(s.Name) != rated && !whole {
			say("target-counter-agg: %s: %s is a counter: %v, and rated: %v", p.Title, s.Name, !rated, rated)
		}
		return nil
	})
}

func (d *dashboard) lintLinks(uids map[string]*dashboard, say func(string, ...any)) {
	resolve := func(where, url string) {
		switch rest, ok := strings.CutPrefix(url, "/d/"); {
		case ok:
			uid, query, _ := strings.Cut(rest, "?")
			to := uids[uid]
			if to == nil {
				say("link: %s leads to the dashboard %s, which there is not", where, uid)
				return
			}
			for pair := range strings.SplitSeq(query, "&") {
				name, _, ok := strings.Cut(pair, "=")
				name = strings.TrimPrefix(name, "var-")
				if !ok {
					name, _, _ = strings.Cut(strings.Trim(name, "${}"), ":")
				}
				if name != "__url_time_range" && !slices.ContainsFunc(to.Templating.List, func(v variable) bool { return v.Name == name }) {
					say("link: %s gives %s a variable %s, which it has not", where, uid, name)
				}
			}
		case !consoles.MatchString(url):
			say("link: %s leads to %s", where, url)
		}
	}
	for _, l := range d.Links {
		switch l.Type {
		case "dashboards":
			if !slices.Contains(d.Tags, "helenus") {
				say("link: it lacks the tag by which others find it")
			}
		default:
			resolve("the dashboard", l.URL)
		}
	}
	d.each(func(p *panel) {
		for _, o := range p.FieldConfig.Overrides {
			for _, x := range o.Properties {
				if x.ID != "links" {
					continue
				}
				for _, l := range x.Value.([]any) {
					resolve(p.Title, l.(map[string]any)["url"].(string))
				}
			}
		}
	})
}

func TestDashboardsKeepTheRules(t *testing.T) {
	all := dashboards(t)
	uids := map[string]*dashboard{}
	for _, d := range all {
		if uids[d.UID] != nil {
			t.Errorf("two dashboards have the uid %s", d.UID)
		}
		uids[d.UID] = d
	}
	for _, d := range all {
		for _, c := range d.lint(uids) {
			t.Errorf("%s: %s", d.file, c)
		}
	}
}

// TestLinterBites breaks a good dashboard in each way once.
func TestLinterBites(t *testing.T) {
	text, err := os.ReadFile("../dashboards/helenus-recommendations.json")
	if err != nil {
		t.Fatal(err)
	}
	uids := map[string]*dashboard{}
	for _, d := range dashboards(t) {
		uids[d.UID] = d
	}
	for rule, change := range map[string][2]string{
		"uneditable":                     {`"editable": false`, `"editable": true`},
		"uid":                            {`"uid": "helenus-recommendations"`, `"uid": "other"`},
		"panel-id":                       {`"id": 3,`, `"id": 2,`},
		"grid":                           {`"x": 4,`, `"x": 3,`},
		"plugin":                         {`"type": "stat"`, `"type": "grafana-polystat-panel"`},
		"panel-units":                    {`"unit": "short"`, `"unit": ""`},
		"panel-description":              {`Good: 0, as all are decided.`, ``},
		"panel-datasource":               {"\"datasource\": {\n        \"type\": \"prometheus\",\n        \"uid\": \"${datasource}\"\n      }", "\"datasource\": {\n        \"type\": \"prometheus\",\n        \"uid\": \"P1\"\n      }"},
		"template-on-time-change-reload": {`"refresh": 2`, `"refresh": 1`},
		"template-multi":                 {`"multi": true`, `"multi": false`},
		"template-instance":              {`"name": "instance"`, `"name": "pod"`},
		"target-rate-interval":           {`[$__rate_interval]`, `[5m]`},
		"target-job":                     {`helenus_recommendation_info{job=~\"$job\",`, `helenus_recommendation_info{`},
		"target-counter-agg":             {`increase(helenus_advisor_rounds_total{job=~\"$job\",cluster=~\"$cluster\",dc=~\"$dc\",instance=~\"$instance\"}[$__rate_interval])`, `helenus_advisor_rounds_total{job=~\"$job\",cluster=~\"$cluster\",dc=~\"$dc\",instance=~\"$instance\"}`},
		"link":                           {`${console}/ui/changes/`, `${console}/ui/change/`},
	} {
		broken := strings.Replace(string(text), change[0], change[1], 1)
		if broken == string(text) {
			t.Errorf("%s: the dashboard does not hold %s", rule, change[0])
			continue
		}
		d := &dashboard{file: "helenus-recommendations.json"}
		if err := json.Unmarshal([]byte(broken), d); err != nil {
			t.Errorf("%s: %v", rule, err)
			continue
		}
		found := d.lint(uids)
		if !slices.ContainsFunc(found, func(c string) bool { return strings.HasPrefix(c, rule+":") }) {
			t.Errorf("%s: not found: %v", rule, found)
		}
	}
}

// Each alert says how bad it is, what is the case and what to do, and its runbook is there.
func TestAlertsHaveRunbooks(t *testing.T) {
	pages := map[string]bool{}
	for _, r := range rules(t) {
		if r.Alert == "" {
			continue
		}
		if !slices.Contains([]string{"critical", "warning", "info"}, r.Labels["severity"]) || r.Annotations["summary"] == "" || r.Annotations["description"] == "" {
			t.Errorf("%s: %v %v", r.Alert, r.Labels, r.Annotations)
		}
		name := r.Alert + ".md"
		pages[name] = true
		if !strings.HasSuffix(r.Annotations["runbook_url"], "/docs/runbooks/"+name) {
			t.Errorf("%s: its runbook is at %s", r.Alert, r.Annotations["runbook_url"])
		}
		text, err := os.ReadFile(filepath.Join("../../docs/runbooks", name))
		if err != nil {
			t.Error(err)
		}
		for _, part := range []string{"# " + r.Alert, "## What it means\n\n", "## What to look at\n\n- ", "## What to do\n\n1. "} {
			if !strings.Contains(string(text), part) {
				t.Errorf("%s has no part %q", name, part)
			}
		}
	}
	files, err := filepath.Glob("../../docs/runbooks/Helenus*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !pages[filepath.Base(f)] {
			t.Errorf("%s is of no alert", f)
		}
	}
}
