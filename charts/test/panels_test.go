package test

import (
	"bufio"
	"compress/gzip"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/util/teststorage"
)

// asker evaluates expressions at a time on what was loaded.
type asker struct {
	engine  *promql.Engine
	storage *teststorage.TestStorage
}

func load(t *testing.T, series string) asker {
	t.Helper()
	return asker{promqltest.NewTestEngine(t, false, 5*time.Minute, 1_000_000), promqltest.LoadedStorage(t, series)}
}

// at is the value of an expression, as many samples as it has.
func (a asker) at(t *testing.T, expr string, at time.Duration) (promql.Vector, error) {
	q, err := a.engine.NewInstantQuery(t.Context(), a.storage, nil, expr, time.Unix(0, 0).Add(at))
	if err != nil {
		return nil, err
	}
	defer q.Close()
	result := q.Exec(t.Context())
	if result.Err != nil {
		return nil, result.Err
	}
	v, err := result.Vector()
	if err != nil {
		return nil, err
	}
	out := make(promql.Vector, len(v))
	copy(out, v) // it is the query's, and that is closed
	return out, nil
}

// recordedSeries are the recorded scrapes as promqltest loads series; where a series was not there yet is a gap.
func recordedSeries(t *testing.T) string {
	t.Helper()
	values := map[string][]string{}
	var names []string
	for i := range recorded {
		file, err := os.Open(scrapeFile(i))
		if err != nil {
			t.Fatalf("%v; record them: HELENUS_TEST_LONG=1 bin/with go test -run RealRun -update", err)
		}
		defer file.Close()
		unpacked, err := gzip.NewReader(file)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(unpacked)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			line := lines.Text()
			at := strings.LastIndexByte(line, ' ')
			if strings.HasPrefix(line, "#") || at < 0 {
				continue
			}
			series := line[:at]
			if open := strings.IndexByte(series, '{'); open < 0 {
				series += `{job="helenus",instance="127.0.0.1:19080"}`
			} else {
				series = series[:open+1] + `job="helenus",instance="127.0.0.1:19080",` + series[open+1:]
			}
			if values[series] == nil {
				names = append(names, series)
			}
			for len(values[series]) < i {
				values[series] = append(values[series], "_")
			}
			values[series] = append(values[series], line[at+1:])
		}
	}
	var text strings.Builder
	fmt.Fprintf(&text, "load %v\n", recordEvery)
	for _, series := range names {
		fmt.Fprintf(&text, "  %s %s\n", series, strings.Join(values[series], " "))
	}
	return text.String()
}

var show = flag.Bool("show", false, "print what the panels show of the recorded scrapes")

// TestPanelsOnRecordedScrapes is TestPanelsOnARealRun on the scrapes that it kept: the dashboards fit what the program said then. What it
// says now TestDashboardsNameWhatThereIs knows.
func TestPanelsOnRecordedScrapes(t *testing.T) {
	a := load(t, recordedSeries(t))
	everyPanel(t, func(expr string) (int, error) {
		v, err := a.at(t, plain.Replace(expr), (recorded-1)*recordEvery)
		return len(v), err
	}, quiet)
	if *show {
		print(t, a)
	}
}

// print shows dashboards as text, for a person to look at.
func print(t *testing.T, a asker) {
	for _, d := range dashboards(t) {
		t.Logf("== %s", d.Title)
		for _, p := range d.Panels {
			t.Logf("-- %s (%s, %s)", p.Title, p.Type, p.FieldConfig.Defaults.Unit)
			for _, x := range p.Targets {
				v, _ := a.at(t, plain.Replace(x.Expr), (recorded-1)*recordEvery)
				for _, s := range v {
					name := braces.ReplaceAllStringFunc(x.LegendFormat, func(m string) string { return s.Metric.Get(braces.FindStringSubmatch(m)[1]) })
					if p.Type == "table" {
						name = s.Metric.String()
					}
					t.Logf("   %-50s %.6g", name, s.F)
				}
			}
		}
	}
}

// A table's rows are joined by a field that is another in each row of each of its queries; or all its queries have the same labels. Its columns are
// labels of the first query, or values.
func TestTablesJoin(t *testing.T) {
	a := load(t, recordedSeries(t))
	for _, d := range dashboards(t) {
		d.each(func(p *panel) {
			if p.Type != "table" {
				return
			}
			by := ""
			if p.Transformations[0].ID == "joinByField" {
				by = p.Transformations[0].Options["byField"].(string)
			}
			have := map[string]bool{}
			labels := ""
			for _, x := range p.Targets {
				v, err := a.at(t, plain.Replace(x.Expr), (recorded-1)*recordEvery)
				if err != nil || len(v) == 0 {
					t.Fatalf("%s: %v %v", p.Title, v, err)
				}
				have["Value #"+x.RefID], have["Value"] = true, len(p.Targets) == 1
				seen, names := map[string]bool{}, map[string]bool{}
				for _, s := range v {
					key := s.Metric.String()
					if by != "" {
						key = s.Metric.Get(by)
					}
					if seen[key] || key == "" {
						t.Errorf("%s: two rows have %s %q\n%s", p.Title, by, key, x.Expr)
					}
					seen[key] = true
					for name := range s.Metric.Map() {
						names[name] = true
						have[name] = have[name] || x.RefID == "A"
					}
				}
				all := strings.Join(slices.Sorted(maps.Keys(names)), " ")
				if by == "" && labels != "" && all != labels {
					t.Errorf("%s: queries with the labels %s and %s are merged", p.Title, labels, all)
				}
				labels = all
			}
			for _, step := range p.Transformations {
				if step.ID != "organize" {
					continue
				}
				for name := range step.Options["renameByName"].(map[string]any) {
					if !have[name] && name != "revision" { // which a build outside of a checkout lacks
						t.Errorf("%s has no column %s", p.Title, name)
					}
				}
			}
		})
	}
}

// What is recorded is what the program still has.
func TestRecordedScrapesAreOfThisProgram(t *testing.T) {
	known := registry(t)
	for line := range strings.SplitSeq(recordedSeries(t), "\n") {
		name, _, ok := strings.Cut(strings.TrimSpace(line), "{")
		if _, there := known[name]; ok && strings.HasPrefix(name, "helenus_") && !there {
			t.Errorf("the recorded scrapes have %s, which docs/metrics.md has not: record them anew", name)
		}
	}
}

// What a run leaves empty has rows when there is what it is about.
func TestPanelsOnMadeUpSeries(t *testing.T) {
	a := load(t, `load 15s
  helenus_tls_certificate_expiry_timestamp_seconds{job="helenus",instance="a",side="client",kind="own"} 864000x20
  helenus_tls_files_stale{job="helenus",instance="a",side="client"} 0x20
  helenus_tls_reload_errors_total{job="helenus",instance="a",side="client"} 0x20
  helenus_calendar_state{job="helenus",instance="a",change_id="r-1",state="following"} 1x20
  helenus_calendar_state{job="helenus",instance="a",change_id="r-1",state="paused"} 0x20
  helenus_calendar_tables{job="helenus",instance="a",change_id="r-1",stage="there"} 2x20
`)
	for _, d := range dashboards(t) {
		d.each(func(p *panel) {
			if quiet[d.UID+"/"+p.Title] == "" {
				return
			}
			v, err := a.at(t, plain.Replace(p.Targets[0].Expr), 5*time.Minute)
			if err != nil || len(v) != 1 {
				t.Errorf("%s/%s: %v %v", d.UID, p.Title, v, err)
			}
			if p.Title == "Days to the first expiry" && len(v) == 1 && (v[0].F < 9.9 || v[0].F > 10) {
				t.Errorf("%s: %v", p.Title, v[0].F)
			}
		})
	}
}

// Where there is more than one instance, what they all say of a change is counted once, and of all instances only those chosen.
func TestPanelsOnTwoInstances(t *testing.T) {
	a := load(t, `load 15s
  helenus_change_state{job="helenus",instance="a",change_id="r-1",state="serving"} 1x20
  helenus_change_state{job="helenus",instance="b",change_id="r-1",state="serving"} 1x20
  helenus_proxy_ready{job="helenus",instance="a"} 1x20
  helenus_proxy_ready{job="helenus",instance="b",cluster="east",dc="one"} 0x20
  helenus_recommendation_saved_seconds_per_second{job="helenus",instance="a",change_id="r-2"} 0.5x20
  helenus_recommendation_saved_seconds_per_second{job="helenus",instance="b",change_id="r-2"} 0.5x20
  helenus_recommendation_state{job="helenus",instance="a",change_id="r-2",state="open"} 1x20
  helenus_recommendation_state{job="helenus",instance="b",change_id="r-2",state="open"} 1x20
`)
	for _, d := range dashboards(t) {
		d.each(func(p *panel) {
			want, ok := map[string]float64{"helenus-overview/Changes that serve": 1, "helenus-overview/Instances that forward": 0.5, "helenus-overview/Would save": 500}[d.UID+"/"+p.Title]
			if !ok {
				return
			}
			v, err := a.at(t, plain.Replace(p.Targets[0].Expr), 4*time.Minute)
			if err != nil || len(v) != 1 || v[0].F != want {
				t.Errorf("%s: %v %v, want %v", p.Title, v, err, want)
			}
			if p.Title == "Instances that forward" {
				east := strings.Replace(p.Targets[0].Expr, "$cluster", "east", 1)
				if v, err := a.at(t, plain.Replace(east), 4*time.Minute); err != nil || len(v) != 1 || v[0].F != 0 {
					t.Errorf("%s in the cluster east: %v %v", p.Title, v, err)
				}
			}
		})
	}
}
