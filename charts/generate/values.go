package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/helenus-db/helenus/internal/config"
)

// chartValue is one of the Helm chart: a line of values.yaml with a comment above it.
type chartValue struct {
	path    []string
	help    string
	schema  map[string]any // what @schema says beside the type of its default
	setting bool           // it holds settings of `helenus run`
	def     any
}

// owned are settings that the chart sets itself, from values of its own or from secrets.
var owned = []string{
	"contact-points", "username", "password", "listen", "topology", "fleet", "advertise", "listen-tls-cert", "listen-tls-key", "listen-tls-client-ca",
	"cassandra-tls", "cassandra-tls-ca", "cassandra-tls-cert", "cassandra-tls-key", "cassandra-tls-server-name", "cassandra-tls-verify",
	"admin", "admin-token", "admin-hosts", "admin-web-config", "metrics-token", "state-dir", "drain-timeout", "drain-grace", "sample-secret",
	"webhooks", "webhooks-slack", "webhook-secret", "webhook-console", "openid-secret",
}

var keyLine = regexp.MustCompile(`^( *)([A-Za-z]+):(.*)$`)

// readValues reads the values of the chart, with what their comments say, in their order.
func readValues(text []byte) (all []chartValue, err error) {
	var tree map[string]any
	if err := yaml.Unmarshal(text, &tree); err != nil {
		return nil, fmt.Errorf("values.yaml: %w", err)
	}
	var path, comment []string
	inside := -1 // depth of the value whose default the lines belong to; -1: none
	for n, line := range strings.Split(string(text), "\n") {
		if trimmed := strings.TrimSpace(line); strings.HasPrefix(trimmed, "#") {
			comment = append(comment, strings.TrimSpace(strings.TrimPrefix(trimmed, "#")))
			continue
		}
		m := keyLine.FindStringSubmatch(line)
		if m == nil {
			comment = nil
			continue
		}
		depth := len(m[1]) / 2
		if inside >= 0 && depth > inside {
			continue
		}
		inside = -1
		if depth > len(path) {
			return nil, fmt.Errorf("values.yaml:%d: it is indented more than what it belongs to", n+1)
		}
		path = append(slices.Clone(path[:depth]), m[2])
		switch {
		case len(comment) > 0:
			v, err := newValue(path, comment, tree)
			if err != nil {
				return nil, fmt.Errorf("values.yaml:%d: %s: %w", n+1, strings.Join(path, "."), err)
			}
			all, inside = append(all, v), depth
		case strings.TrimSpace(m[3]) != "":
			return nil, fmt.Errorf("values.yaml:%d: %s has no comment", n+1, strings.Join(path, "."))
		}
		comment = nil
	}
	return all, nil
}

func newValue(path, comment []string, tree map[string]any) (v chartValue, err error) {
	v = chartValue{path: path, schema: map[string]any{}}
	var words []string
	for _, line := range comment {
		switch rest, schema := strings.CutPrefix(line, "@schema "); {
		case schema:
			if err := json.Unmarshal([]byte(rest), &v.schema); err != nil {
				return v, fmt.Errorf("@schema: %w", err)
			}
		case line == "@settings":
			v.setting = true
		default:
			words = append(words, line)
		}
	}
	v.help = strings.Join(words, " ")
	v.def = tree
	for _, key := range path {
		in, _ := v.def.(map[string]any)
		v.def = in[key]
	}
	if _, open := v.schema["additionalProperties"]; !open && !v.setting {
		if _, object := v.def.(map[string]any); object {
			return v, fmt.Errorf("@schema must say which additionalProperties it may have")
		}
	}
	if _, said := v.schema["items"]; !said {
		if _, list := v.def.([]any); list {
			return v, fmt.Errorf("@schema must say what its items are")
		}
	}
	return v, nil
}

// valuesSchema is the JSON Schema of all: what is not there is refused.
func valuesSchema(all []chartValue) map[string]any {
	root := closed(map[string]any{})
	root["$schema"] = "http://json-schema.org/draft-07/schema#"
	root["title"] = "Values of the chart helenus"
	in(root)["global"] = map[string]any{"type": "object", "description": "What Helm hands to all charts; not used"}
	for _, v := range all {
		at := in(root)
		for _, key := range v.path[:len(v.path)-1] {
			if at[key] == nil {
				at[key] = closed(map[string]any{})
			}
			at = in(at[key].(map[string]any)) //nolint:forcetypeassert // made here
		}
		one := map[string]any{"description": v.help, "type": typeOf(v.def)}
		if v.setting {
			one = closed(settingsSchema())
			one["description"] = v.help
		}
		maps.Copy(one, v.schema)
		at[v.path[len(v.path)-1]] = one
	}
	return root
}

func closed(properties map[string]any) map[string]any {
	return map[string]any{"type": "object", "additionalProperties": false, "properties": properties}
}

// in are the properties of an object's schema.
func in(object map[string]any) map[string]any {
	return object["properties"].(map[string]any) //nolint:forcetypeassert // closed made it
}

func typeOf(v any) string {
	switch v.(type) {
	case bool:
		return "boolean"
	case string:
		return "string"
	case map[string]any:
		return "object"
	case []any:
		return "array"
	}
	return "integer"
}

// settingsSchema is what each setting may be as YAML, but for those that the chart sets.
func settingsSchema() map[string]any {
	types := map[string]any{
		"bool": "boolean", "string": "string", "duration": "string", "int": []string{"integer", "string"}, "size": []string{"integer", "string"},
		"list": []string{"array", "string"},
	}
	all := map[string]any{}
	for _, s := range config.All() {
		if slices.Contains(owned, s.Name) {
			continue
		}
		one := map[string]any{"type": types[s.Type], "description": s.Help}
		if s.Type == "list" {
			one["items"] = map[string]any{"type": "string"}
		}
		all[s.Name] = one
	}
	return all
}

// valuesTable is the table of README.md.
func valuesTable(all []chartValue) (string, error) {
	var b strings.Builder
	b.WriteString("| value | default | |\n| --- | --- | --- |\n")
	for _, v := range all {
		var def bytes.Buffer
		out := json.NewEncoder(&def)
		out.SetEscapeHTML(false)
		if err := out.Encode(v.def); err != nil {
			return "", err
		}
		help := v.help
		if of, ok := v.schema["enum"].([]any); ok {
			var words []string
			for _, one := range of {
				words = append(words, fmt.Sprintf("`%v`", one))
			}
			help += " (" + strings.Join(words, ", ") + ")"
		}
		fmt.Fprintf(&b, "| `%s` | `%s` | %s |\n", strings.Join(v.path, "."), strings.TrimSpace(def.String()), strings.ReplaceAll(help, "|", "\\|"))
	}
	return b.String(), nil
}

// chartFiles are what is written of the Helm chart's values.yaml.
func chartFiles(values []byte) (map[string][]byte, error) {
	all, err := readValues(values)
	if err != nil {
		return nil, err
	}
	var schema bytes.Buffer
	out := json.NewEncoder(&schema)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	if err := out.Encode(valuesSchema(all)); err != nil {
		return nil, err
	}
	table, err := valuesTable(all)
	if err != nil {
		return nil, err
	}
	return map[string][]byte{
		"helenus/values.schema.json": schema.Bytes(),
		"helenus/README.md":          []byte(strings.ReplaceAll(chartReadme, "VALUES\n", table)),
	}, nil
}
