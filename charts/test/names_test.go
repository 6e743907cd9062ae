package test

import (
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
)

// complaints are what is wrong with an expression: it does not parse, or it names a metric or a label that there is not.
func complaints(known map[string]metric, expr string) (wrong []string) {
	tree, err := grammar.ParseExpr(plain.Replace(expr))
	if err != nil {
		return []string{err.Error()}
	}
	// A label of a by, an on or a group_left must be one of some metric of the expression.
	there := map[string]bool{}
	parser.Inspect(tree, func(n parser.Node, _ []parser.Node) error {
		if s, ok := n.(*parser.VectorSelector); ok {
			for l := range known[s.Name].labels {
				there[l] = true
			}
		}
		return nil
	})
	parser.Inspect(tree, func(n parser.Node, _ []parser.Node) error {
		switch n := n.(type) {
		case *parser.VectorSelector:
			m, ok := known[n.Name]
			if !ok {
				wrong = append(wrong, "there is no metric "+n.Name)
				return nil
			}
			for _, match := range n.LabelMatchers {
				if match.Name != model.MetricNameLabel && !m.labels[match.Name] {
					wrong = append(wrong, n.Name+" has no label "+match.Name)
				}
			}
		case *parser.AggregateExpr:
			for _, l := range n.Grouping {
				if !there[l] {
					wrong = append(wrong, "nothing in it has the label "+l)
				}
			}
		case *parser.BinaryExpr:
			if n.VectorMatching == nil {
				return nil
			}
			for _, l := range append(slices.Clone(n.VectorMatching.MatchingLabels), n.VectorMatching.Include...) {
				if !there[l] {
					wrong = append(wrong, "nothing in it has the label "+l)
				}
			}
		}
		return nil
	})
	return wrong
}

// The checker finds what is wrong, and nothing else.
func TestComplaints(t *testing.T) {
	known := registry(t)
	for expr, want := range map[string]string{
		`sum by (class) (rate(helenus_proxy_requests_total{job=~"$job",class="query"}[$__rate_interval]))`: "",
		`histogram_quantile(0.9, sum by (le) (rate(helenus_proxy_added_seconds_bucket[5m])))`:              "",
		`helenus_migration_phase`:                              "there is no metric helenus_migration_phase",
		`helenus_change_state{phase="serving"}`:                "helenus_change_state has no label phase",
		`sum by (migration_id) (helenus_change_state)`:         "nothing in it has the label migration_id",
		`helenus_change_state * on (view) helenus_change_info`: "nothing in it has the label view",
		`sum(`: "parse error",
	} {
		got := strings.Join(complaints(known, expr), "; ")
		if (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", expr, got, want)
		}
	}
}

var braces = regexp.MustCompile(`\{\{\s*([a-zA-Z_]+)\s*\}\}`)

// Every expression of the dashboards parses, and names only what the registry has.
func TestDashboardsNameWhatThereIs(t *testing.T) {
	known := registry(t)
	seen := 0
	for _, d := range dashboards(t) {
		for _, a := range d.Annotations.List {
			if a.Expr != "" {
				for _, c := range complaints(known, a.Expr) {
					t.Errorf("%s, annotation %s: %s\n%s", d.file, a.Name, c, a.Expr)
				}
			}
		}
		for _, v := range d.Templating.List {
			inner, ok := strings.CutPrefix(v.Definition, "label_values(")
			if !ok {
				continue
			}
			at := strings.LastIndex(inner, ", ")
			selector, label := inner[:at], strings.TrimSuffix(inner[at+2:], ")")
			for _, c := range complaints(known, "count by ("+label+") ("+selector+")") {
				t.Errorf("%s, variable %s: %s", d.file, v.Name, c)
			}
		}
		d.each(func(p *panel) {
			for _, x := range p.Targets {
				seen++
				for _, c := range complaints(known, x.Expr) {
					t.Errorf("%s, %s: %s\n%s", d.file, p.Title, c, x.Expr)
				}
				for _, m := range braces.FindAllStringSubmatch(x.LegendFormat, -1) {
					if !strings.Contains(x.Expr, m[1]) {
						t.Errorf("%s, %s: the legend names %s, which the expression does not keep", d.file, p.Title, m[1])
					}
				}
			}
		})
	}
	if seen < 100 {
		t.Errorf("only %d expressions", seen)
	}
}

func rules(t *testing.T) (all []rulefmt.Rule) {
	t.Helper()
	for _, name := range []string{"../rules/alerts.yaml", "../rules/recording.yaml"} {
		groups, errs := rulefmt.ParseFile(name, false, model.UTF8Validation, grammar, slog.New(slog.DiscardHandler))
		if len(errs) > 0 {
			t.Fatalf("%s: %v", name, errs)
		}
		for _, g := range groups.Groups {
			all = append(all, g.Rules...)
		}
	}
	return all
}

// So do the rules.
func TestRulesNameWhatThereIs(t *testing.T) {
	known := registry(t)
	for _, r := range rules(t) {
		for _, c := range complaints(known, r.Expr) {
			t.Errorf("%s%s: %s\n%s", r.Alert, r.Record, c, r.Expr)
		}
	}
}

var templated = regexp.MustCompile(`\$labels\.([a-z_]+)`)
