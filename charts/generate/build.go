package main

import (
	"fmt"
	"strings"
)

// page is a dashboard while it is built: panels flow from left to right, and begin a new line where there is no room.
type page struct {
	dashboard
	x, y, height int
	tables       bool // it has the variables keyspace and table
}

const width = 24 // of Grafana's grid

// dashboards that link to each other have this tag.
const tag = "helenus"

// newPage begins a dashboard. With tables it has the variables keyspace and table.
func newPage(name, title, description string, tables bool, more ...variable) *page {
	p := &page{tables: tables}
	p.Title, p.UID, p.Description = "Helenus / "+title, "helenus-"+name, description
	p.Tags, p.GraphTooltip, p.SchemaVersion, p.Version, p.Refresh = []string{tag}, 1, 39, 1, "30s"
	p.Time, p.Timezone = timeRange{"now-1h", "now"}, "browser"
	p.Links = []dashLink{
		{Title: "Dashboards", Type: "dashboards", Tags: []string{tag}, AsDropdown: true, IncludeVars: true, KeepTime: true},
		{Title: "Console", Type: "link", URL: "${console}/ui/", TargetBlank: true},
	}
	p.Templating.List = []variable{
		{Name: "datasource", Label: "Data source", Type: "datasource", Query: "prometheus"},
		{Name: "console", Label: "Console", Type: "textbox", Query: "http://127.0.0.1:19080", Current: &current{"http://127.0.0.1:19080", "http://127.0.0.1:19080"}},
		labels("job", "Job", "helenus_build_info", "", ".+"),
		// What a cluster and a data centre are called is added by whoever scrapes; without such labels all is chosen.
		labels("cluster", "Cluster", "helenus_build_info", `job=~"$job"`, ".*"),
		labels("dc", "Data centre", "helenus_build_info", `job=~"$job",cluster=~"$cluster"`, ".*"),
		labels("instance", "Instance", "helenus_build_info", `job=~"$job",cluster=~"$cluster",dc=~"$dc"`, ".+"),
	}
	if tables {
		p.Templating.List = append(p.Templating.List,
			labels("keyspace", "Keyspace", "helenus_table_executions_total", chosen, ".*"),
			labels("table", "Table", "helenus_table_executions_total", chosen+`,keyspace=~"$keyspace"`, ".*"))
	}
	p.Templating.List = append(p.Templating.List, more...)
	p.Annotations.List = []annotation{
		{Name: "Annotations & Alerts", Datasource: source{"grafana", "-- Grafana --"}, BuiltIn: 1, Type: "dashboard", Enable: true, Hide: true, IconColor: "rgba(0, 211, 255, 1)"},
		{
			Name: "Changes", Datasource: prometheusSource, Enable: true, IconColor: "blue", UseValueForTime: true,
			Expr:        selectors.Replace(`1000 * max by (change_id) (helenus_change_state_start_timestamp_seconds{@}) * on (change_id) group_right () (max by (change_id, state) (helenus_change_state{@}) == 1)`),
			TitleFormat: "{{change_id}}", TextFormat: "{{state}}",
		},
	}
	return p
}

// labels is a variable with the values of a label of a metric; all, if all are chosen, or there are none.
func labels(name, label, metric, where, all string) variable {
	of := metric
	if where != "" {
		of += "{" + where + "}"
	}
	query := fmt.Sprintf("label_values(%s, %s)", of, name)
	return variable{
		Name: name, Label: label, Type: "query", Query: labelQuery{query, name}, Definition: query, Datasource: &prometheusSource,
		Multi: true, IncludeAll: true, AllValue: all, Refresh: 2, Sort: 1, Current: &current{[]string{"All"}, []string{"$__all"}},
	}
}

// row begins a new row of panels, with a heading.
func (p *page) row(title string) {
	p.newline()
	open := false
	p.Panels = append(p.Panels, panel{ID: len(p.Panels) + 1, Type: "row", Title: title, GridPos: gridPos{H: 1, W: width, Y: p.y}, Collapsed: &open})
	p.y++
}

func (p *page) newline() {
	p.y += p.height
	p.x, p.height = 0, 0
}

// add places a panel of a size.
func (p *page) add(w, h int, x panel) {
	if p.x+w > width {
		p.newline()
	}
	x.ID, x.GridPos, x.Datasource = len(p.Panels)+1, gridPos{H: h, W: w, X: p.x, Y: p.y}, &prometheusSource
	p.x += w
	p.height = max(p.height, h)
	p.Panels = append(p.Panels, x)
}

// query is one expression of a panel, and what its series are called.
type query struct{ expr, legend string }

// targets makes the queries of a panel; instant ones give the value now.
func targets(instant bool, queries []query) (all []target) {
	for i, q := range queries {
		all = append(all, target{RefID: string(rune('A' + i)), Datasource: prometheusSource, Expr: selectors.Replace(q.expr), LegendFormat: q.legend, Instant: instant, Range: !instant})
	}
	return all
}

func number(v float64) *float64 { return &v }

// levels are thresholds: the colour of the lowest values, and then from a value on another.
func levels(lowest string, more ...step) *thresholds {
	return &thresholds{Mode: "absolute", Steps: append([]step{{Color: lowest}}, more...)}
}

func from(v float64, color string) step { return step{color, &v} }

// neutral is for numbers that are neither good nor bad.
var neutral = levels("text")

// stat shows a number, and how it went.
func (p *page) stat(w int, title, description, unit, expr string, t *thresholds) {
	p.names(w, title, description, unit, query{expr, "__auto"}, t, "value")
}

// name shows what a series is called.
func (p *page) name(w int, title, description string, q query) {
	p.names(w, title, description, "short", q, neutral, "name")
}

func (p *page) names(w int, title, description, unit string, q query, t *thresholds, mode string) {
	color := "value"
	if len(t.Steps) == 1 {
		color = "none"
	}
	p.add(w, 4, panel{
		Type: "stat", Title: title, Description: description,
		FieldConfig: &fieldConfig{Defaults: defaults{Unit: unit, NoValue: "none", Color: map[string]any{"mode": "thresholds"}, Thresholds: t}, Overrides: []override{}},
		Options: map[string]any{
			"colorMode": color, "graphMode": "none", "justifyMode": "auto", "orientation": "auto", "textMode": mode,
			"reduceOptions": map[string]any{"calcs": []string{"lastNotNull"}, "fields": "", "values": false},
		},
		Targets: targets(true, []query{q}),
	})
}

// lines shows series over time.
func (p *page) lines(w int, title, description, unit string, queries ...query) {
	p.add(w, 8, panel{
		Type: "timeseries", Title: title, Description: description,
		FieldConfig: &fieldConfig{Defaults: defaults{
			Unit: unit, Min: number(0), Color: map[string]any{"mode": "palette-classic"},
			Custom: map[string]any{"drawStyle": "line", "lineWidth": 1, "fillOpacity": 0, "showPoints": "never", "spanNulls": false},
		}, Overrides: []override{}},
		Options: map[string]any{
			"legend":  map[string]any{"displayMode": "list", "placement": "bottom", "showLegend": true},
			"tooltip": map[string]any{"mode": "multi", "sort": "desc"},
		},
		Targets: targets(false, queries),
	})
}

// stacked is lines that add up.
func (p *page) stacked(w int, title, description, unit string, queries ...query) {
	p.lines(w, title, description, unit, queries...)
	custom := p.Panels[len(p.Panels)-1].FieldConfig.Defaults.Custom
	custom["stacking"], custom["fillOpacity"] = map[string]any{"mode": "normal", "group": "A"}, 30
}

// events shows how often something happened, as bars.
func (p *page) events(w int, title, description, unit string, queries ...query) {
	p.lines(w, title, description, unit, queries...)
	custom := p.Panels[len(p.Panels)-1].FieldConfig.Defaults.Custom
	custom["drawStyle"], custom["fillOpacity"] = "bars", 60
}

// states shows when a series that is 1 or absent was 1.
func (p *page) states(w, h int, title, description string, q query) {
	p.add(w, h, panel{
		Type: "state-timeline", Title: title, Description: description,
		FieldConfig: &fieldConfig{Defaults: defaults{
			Unit: "short", Color: map[string]any{"mode": "thresholds"}, Thresholds: levels("blue"),
			Mappings: []mapping{{Type: "value", Options: map[string]mapped{"1": {Text: " ", Color: "blue"}}}},
			Custom:   map[string]any{"fillOpacity": 80, "lineWidth": 0},
		}, Overrides: []override{}},
		Options: map[string]any{
			"alignValue": "left", "mergeValues": true, "rowHeight": 0.8, "showValue": "never",
			"legend": map[string]any{"displayMode": "list", "placement": "bottom", "showLegend": false}, "tooltip": map[string]any{"mode": "single"},
		},
		Targets: targets(false, []query{q}),
	})
}

// bars shows ratios from 0 to 1.
func (p *page) bars(w, h int, title, description string, q query) {
	p.add(w, h, panel{
		Type: "bargauge", Title: title, Description: description,
		FieldConfig: &fieldConfig{Defaults: defaults{Unit: "percentunit", Min: number(0), Max: number(1), Color: map[string]any{"mode": "thresholds"}, Thresholds: levels("blue")}, Overrides: []override{}},
		Options: map[string]any{
			"displayMode": "basic", "orientation": "horizontal", "showUnfilled": true,
			"reduceOptions": map[string]any{"calcs": []string{"lastNotNull"}, "fields": "", "values": false},
		},
		Targets: targets(true, []query{q}),
	})
}

// column is one of a table: a label of the first query, or the value of a query.
type column struct {
	from  string // label, or "Value #A"
	title string
	unit  string
	link  *link

	colours []mapping
}

// toChange leads from a change's id to its page in the console, toStatement from a fingerprint to the statement's.
var (
	toChange    = &link{"Open in the console", "${console}/ui/changes/${__value.raw}", true}
	toDashboard = &link{"What became of it", "/d/helenus-change?var-change=${__value.raw}&${datasource:queryparam}&${console:queryparam}&${__url_time_range}", false}
	toStatement = &link{"Open in the console", "${console}/ui/statements/${__value.raw}", true}
)

// table shows what queries give now, joined by a label that is another in each row, or, for "", by all labels that they share, in columns; by is the title of the column that it is sorted by, the largest first.
func (p *page) table(h int, title, description, join, by string, columns []column, queries ...string) {
	var all []query
	for _, q := range queries {
		all = append(all, query{expr: q})
	}
	ts := targets(true, all)
	for i := range ts {
		ts[i].Format = "table"
	}
	names, order, shown := map[string]any{}, map[string]any{}, []any{}
	overrides := []override{}
	for i, c := range columns {
		names[c.from], order[c.from] = c.title, i
		shown = append(shown, c.from)
		o := override{Matcher: matcher{"byName", c.title}}
		if c.unit != "" {
			o.Properties = append(o.Properties, property{"unit", c.unit})
		}
		if c.colours != nil {
			o.Properties = append(o.Properties, property{"mappings", c.colours}, property{"custom.cellOptions", map[string]any{"type": "color-text"}})
		}
		if c.link != nil {
			links := []link{*c.link}
			if c.link == toChange {
				links = append(links, *toDashboard)
			}
			o.Properties = append(o.Properties, property{"links", links})
		}
		if len(o.Properties) > 0 {
			overrides = append(overrides, o)
		}
	}
	steps := []transformation{}
	switch {
	case join == "":
		steps = append(steps, transformation{"merge", map[string]any{}})
	case len(ts) > 1:
		steps = append(steps, transformation{"joinByField", map[string]any{"byField": join, "mode": "outer"}})
	}
	steps = append(steps,
		transformation{"filterFieldsByName", map[string]any{"include": map[string]any{"names": shown}}},
		transformation{"organize", map[string]any{"excludeByName": map[string]any{}, "indexByName": order, "renameByName": names}},
		transformation{"sortBy", map[string]any{"fields": map[string]any{}, "sort": []any{map[string]any{"field": by, "desc": true}}}})
	p.add(width, h, panel{
		Type: "table", Title: title, Description: description,
		FieldConfig: &fieldConfig{Defaults: defaults{Unit: "short", Custom: map[string]any{"align": "auto", "filterable": true}}, Overrides: overrides},
		Options:     map[string]any{"cellHeight": "sm", "showHeader": true, "footer": map[string]any{"show": false}},
		Targets:     ts, Transformations: steps,
	})
}

// value is the name of the column with the value of the query at a place, as Grafana calls it: with one query alone there is no letter.
func value(place, of int) string {
	if of == 1 {
		return "Value"
	}
	return "Value #" + string(rune('A'+place))
}

// rate is the sum of a counter's rate by some labels.
func rate(by, series string) string {
	return fmt.Sprintf("sum by (%s) (rate(%s[$__rate_interval]))", by, series)
}

// orZero is 0 where there is nothing: what has never happened has no series.
func orZero(expr string) string { return "(" + expr + ") or on () vector(0)" }

// some leaves out the series that are 0; it is 0 where all are.
func some(expr string) string { return "(" + expr + " > 0) or on () vector(0)" }

// quantile is a quantile of a histogram, by some labels.
func quantile(q, by, series string) string {
	if by != "" {
		by = ", " + by
	}
	return fmt.Sprintf("histogram_quantile(%s, sum by (le%s) (rate(%s[$__rate_interval])))", q, by, strings.Replace(series, "{", "_bucket{", 1))
}
