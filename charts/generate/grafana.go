package main

import "strings"

// The part of Grafana's dashboard model that is used here; fields are in the order in which they are written.

type dashboard struct {
	Title         string     `json:"title"`
	UID           string     `json:"uid"`
	Description   string     `json:"description"`
	Tags          []string   `json:"tags"`
	Editable      bool       `json:"editable"`
	GraphTooltip  int        `json:"graphTooltip"` // 1: one crosshair for all panels
	SchemaVersion int        `json:"schemaVersion"`
	Version       int        `json:"version"`
	Refresh       string     `json:"refresh"`
	Time          timeRange  `json:"time"`
	Timezone      string     `json:"timezone"`
	Links         []dashLink `json:"links"`
	Templating    struct {
		List []variable `json:"list"`
	} `json:"templating"`
	Annotations struct {
		List []annotation `json:"list"`
	} `json:"annotations"`
	Panels []panel `json:"panels"`
}

type timeRange struct {
	From string `json:"from"`
	To   string `json:"to"`
}

type dashLink struct {
	Title       string   `json:"title"`
	Type        string   `json:"type"`
	Tags        []string `json:"tags,omitempty"`
	URL         string   `json:"url,omitempty"`
	AsDropdown  bool     `json:"asDropdown"`
	IncludeVars bool     `json:"includeVars"`
	KeepTime    bool     `json:"keepTime"`
	TargetBlank bool     `json:"targetBlank"`
}

type source struct {
	Type string `json:"type"`
	UID  string `json:"uid"`
}

// prometheusSource is the one that the variable datasource names.
var prometheusSource = source{"prometheus", "${datasource}"}

type variable struct {
	Name       string   `json:"name"`
	Label      string   `json:"label"`
	Type       string   `json:"type"`
	Query      any      `json:"query"`
	Datasource *source  `json:"datasource,omitempty"`
	Definition string   `json:"definition,omitempty"`
	Multi      bool     `json:"multi,omitempty"`
	IncludeAll bool     `json:"includeAll,omitempty"`
	AllValue   string   `json:"allValue,omitempty"`
	Refresh    int      `json:"refresh,omitempty"` // 2: when the time range changes
	Sort       int      `json:"sort,omitempty"`    // 1: by name
	Current    *current `json:"current,omitempty"`
}

type current struct {
	Text  any `json:"text"`
	Value any `json:"value"`
}

type labelQuery struct {
	Query string `json:"query"`
	RefID string `json:"refId"`
}

type annotation struct {
	Name            string `json:"name"`
	BuiltIn         int    `json:"builtIn,omitempty"`
	Type            string `json:"type,omitempty"`
	Datasource      source `json:"datasource"`
	Enable          bool   `json:"enable"`
	Hide            bool   `json:"hide"`
	IconColor       string `json:"iconColor"`
	Expr            string `json:"expr,omitempty"`
	TitleFormat     string `json:"titleFormat,omitempty"`
	TextFormat      string `json:"textFormat,omitempty"`
	UseValueForTime bool   `json:"useValueForTime,omitempty"`
}

type panel struct {
	ID              int              `json:"id"`
	Type            string           `json:"type"`
	Title           string           `json:"title"`
	Description     string           `json:"description,omitempty"`
	GridPos         gridPos          `json:"gridPos"`
	Collapsed       *bool            `json:"collapsed,omitempty"` // of rows
	Panels          []panel          `json:"panels,omitempty"`
	Datasource      *source          `json:"datasource,omitempty"`
	FieldConfig     *fieldConfig     `json:"fieldConfig,omitempty"`
	Options         map[string]any   `json:"options,omitempty"`
	Targets         []target         `json:"targets,omitempty"`
	Transformations []transformation `json:"transformations,omitempty"`
}

type gridPos struct {
	H int `json:"h"`
	W int `json:"w"`
	X int `json:"x"`
	Y int `json:"y"`
}

type target struct {
	RefID        string `json:"refId"`
	Datasource   source `json:"datasource"`
	Expr         string `json:"expr"`
	LegendFormat string `json:"legendFormat,omitempty"`
	Format       string `json:"format,omitempty"`
	Instant      bool   `json:"instant,omitempty"`
	Range        bool   `json:"range,omitempty"`
}

type fieldConfig struct {
	Defaults  defaults   `json:"defaults"`
	Overrides []override `json:"overrides"`
}

type defaults struct {
	Unit       string         `json:"unit"`
	Decimals   *int           `json:"decimals,omitempty"`
	Min        *float64       `json:"min,omitempty"`
	Max        *float64       `json:"max,omitempty"`
	NoValue    string         `json:"noValue,omitempty"`
	Color      map[string]any `json:"color,omitempty"`
	Thresholds *thresholds    `json:"thresholds,omitempty"`
	Mappings   []mapping      `json:"mappings,omitempty"`
	Custom     map[string]any `json:"custom,omitempty"`
}

type thresholds struct {
	Mode  string `json:"mode"`
	Steps []step `json:"steps"`
}

type step struct {
	Color string   `json:"color"`
	Value *float64 `json:"value"` // null: from the lowest on
}

type mapping struct {
	Type    string            `json:"type"`
	Options map[string]mapped `json:"options"`
}

type mapped struct {
	Color string `json:"color,omitempty"`
	Text  string `json:"text"`
	Index int    `json:"index"`
}

type override struct {
	Matcher    matcher    `json:"matcher"`
	Properties []property `json:"properties"`
}

type matcher struct {
	ID      string `json:"id"`
	Options string `json:"options"`
}

type property struct {
	ID    string `json:"id"`
	Value any    `json:"value"`
}

type link struct {
	Title       string `json:"title"`
	URL         string `json:"url"`
	TargetBlank bool   `json:"targetBlank"`
}

type transformation struct {
	ID      string         `json:"id"`
	Options map[string]any `json:"options"`
}

// Selectors that expressions write in short: {@ is all series of the chosen instances, {% those of the chosen tables besides.
const (
	chosen      = `job=~"$job",cluster=~"$cluster",dc=~"$dc",instance=~"$instance"`
	chosenTable = chosen + `,keyspace=~"$keyspace",table=~"$table"`
)

var selectors = strings.NewReplacer("{@", "{"+chosen, "{%", "{"+chosenTable)
