package lint

import (
	"io"
	"path/filepath"
	"strings"
)

// Places says where things stand, for SARIF: the file of the workload and, if it is another, that of the tables. The zero value is
// a live cluster, in which findings have names and no files.
type Places struct {
	File, Text             string
	TablesFile, TablesText string
}

// SARIF 2.1.0 (OASIS), as far as a report has something to say.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool       `json:"tool"`
		ColumnKind string          `json:"columnKind"`
		Results    []sarifResult   `json:"results"`
		Properties sarifProperties `json:"properties,omitempty"`
	}
	sarifProperties map[string]any
	sarifTool       struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version,omitempty"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifRule struct {
		ID      string    `json:"id"`
		Name    string    `json:"name"`
		Short   sarifText `json:"shortDescription"`
		Full    sarifText `json:"fullDescription"`
		Help    sarifText `json:"help"`
		Default struct {
			Level Severity `json:"level"`
		} `json:"defaultConfiguration"`
		Properties sarifProperties `json:"properties"`
	}
	sarifResult struct {
		RuleID    string            `json:"ruleId"`
		RuleIndex int               `json:"ruleIndex"`
		Level     Severity          `json:"level"`
		Message   sarifText         `json:"message"`
		Locations []sarifLocation   `json:"locations"`
		Prints    map[string]string `json:"partialFingerprints"`
		// Properties hold the fix: it is CQL, and no change of the file.
		Properties sarifProperties `json:"properties,omitempty"`
	}
	sarifLocation struct {
		Physical *sarifPhysical `json:"physicalLocation,omitempty"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifPhysical struct {
		Artifact struct {
			URI string `json:"uri"`
		} `json:"artifactLocation"`
		Region *sarifRegion `json:"region,omitempty"`
	}
	sarifRegion struct {
		StartLine int `json:"startLine"`
	}
	sarifLogical struct {
		Name string `json:"name"`
		Kind string `json:"kind"`
	}
)

// sarifSchema is where the format is defined.
const sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

// SARIF writes the report as a SARIF log, the version being that of the tool.
func (r *Report) SARIF(w io.Writer, version string, at Places) error {
	run := sarifRun{ColumnKind: "unicodeCodePoints", Results: []sarifResult{}}
	run.Tool.Driver = sarifDriver{Name: "helenus lint", Version: version}
	numbers := map[string]int{}
	for i, x := range Rules {
		numbers[x.ID] = i
		rule := sarifRule{ID: x.ID, Name: pascalCase(x.Name), Short: sarifText{x.Says}, Full: sarifText{x.Why}, Help: sarifText{x.Says + " " + x.Why + " Fix: " + x.Fix + ". See docs/rules.md."},
			Properties: sarifProperties{"method": x.Method}}
		rule.Default.Level = x.Severity
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, rule)
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		one := sarifResult{
			RuleID: f.Rule, RuleIndex: numbers[f.Rule], Level: f.Severity, Message: sarifText{f.sarifMessage()},
			Locations: []sarifLocation{at.locationOf(f)}, Prints: map[string]string{"finding/v1": f.key() + " " + strings.Join(f.Columns, ",")},
		}
		if f.Fix != nil {
			one.Properties = sarifProperties{"cql": f.Fix.CQL, "statements": append([]string{}, f.Fix.Statements...), "says": f.Fix.Says}
		} else {
			one.Properties = sarifProperties{"noFix": f.NoFix}
		}
		run.Results = append(run.Results, one)
	}
	if len(r.Unsupported) > 0 {
		run.Properties = sarifProperties{"unsupported": r.Unsupported}
	}
	return encodeJSON(w, sarifLog{Schema: sarifSchema, Version: "2.1.0", Runs: []sarifRun{run}})
}

// sarifMessage is what people see of a finding in their reports.
func (f *Finding) sarifMessage() string {
	where := f.Table
	if f.Statement != "" {
		where = strings.TrimPrefix(where+", statement "+f.Statement, ", ")
	}
	text := where + ": " + f.Reason + "."
	if f.Fix != nil {
		text += " Fix: " + f.Fix.Says
	}
	return text
}

// locationOf says where a finding stands.
func (p Places) locationOf(f *Finding) sarifLocation {
	var out sarifLocation
	if f.Statement != "" {
		out.Logical = append(out.Logical, sarifLogical{f.Statement, "member"})
	}
	for _, name := range strings.Split(f.Table, ", ") {
		if name != "" {
			out.Logical = append(out.Logical, sarifLogical{name, "object"})
		}
	}
	if p.File == "" {
		return out
	}
	var line int
	file := p.File
	switch {
	case f.Statement != "":
		line = lineOf(p.Text, "id:", f.Statement)
	case p.TablesFile != "":
		file = p.TablesFile
		if line = lineOf(p.TablesText, "name:", f.on.Table); line == 1 {
			line = lineOf(p.TablesText, "table", f.on.Table)
		}
	default:
		line = lineOf(p.Text, "name:", f.on.Table)
	}
	out.Physical = &sarifPhysical{Region: &sarifRegion{line}}
	out.Physical.Artifact.URI = fileURI(file)
	return out
}

// fileURI is that of a file: relative ones stay so.
func fileURI(file string) string {
	path := strings.NewReplacer("%", "%25", " ", "%20", "#", "%23", "?", "%3F").Replace(filepath.ToSlash(file))
	if filepath.IsAbs(file) {
		return "file://" + path
	}
	return path
}

// lineOf is the number of the first line that has a word after another; 1 if there is none.
func lineOf(text, before, word string) int {
	for i, line := range strings.Split(text, "\n") {
		at := strings.Index(strings.ToLower(line), before)
		if at < 0 {
			continue
		}
		for _, part := range strings.FieldsFunc(line[at+len(before):], func(r rune) bool { return strings.ContainsRune(" ,{}()'\";.:", r) }) {
			if strings.EqualFold(part, word) {
				return i + 1
			}
			if before != "table" {
				break
			}
		}
	}
	return 1
}

// pascalCase writes key-missing as KeyMissing.
func pascalCase(name string) string {
	var b strings.Builder
	for _, part := range strings.Split(name, "-") {
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return b.String()
}
