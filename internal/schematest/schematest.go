// Package schematest holds the JSON Schemas of docs/schema to the types that are written: a field that is added, renamed or dropped
// without them fails the test. It imports nothing else of the project, and only tests import it.
package schematest

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Variable names the environment variable that has schemas written instead of compared.
const Variable = "UPDATE_SCHEMA"

// Check compares a published schema with that of a type. described says what fields mean, by their path ("queries.plan"); each has to be
// there.
func Check(t *testing.T, file, title string, of reflect.Type, described map[string]string) {
	t.Helper()
	w := writer{described: described, seen: map[string]bool{}}
	s := w.schema(of, "")
	for _, path := range w.nameless {
		t.Errorf("a field of %q has no name in JSON", path)
	}
	s["$schema"], s["title"] = "https://json-schema.org/draft/2020-12/schema", title
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		t.Fatal(err)
	}
	if os.Getenv(Variable) != "" {
		if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(file) //nolint:gosec // the project's own
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(data), b.String()); diff != "" {
		t.Errorf("run with %s=1\n%s", Variable, diff)
	}
	for path := range described {
		if !w.seen[path] {
			t.Errorf("%s is described, but not written", path)
		}
	}
}

type writer struct {
	described map[string]string
	seen      map[string]bool
	nameless  []string
}

// schema makes the schema of a type by its tags.
func (w *writer) schema(t reflect.Type, path string) map[string]any {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	s := map[string]any{}
	if text, ok := w.described[path]; ok && path != "" {
		s["description"], w.seen[path] = text, true
	}
	switch t.Kind() {
	case reflect.Struct:
		properties, required := map[string]any{}, []string{}
		for i := range t.NumField() {
			key, rest, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
			if key == "" {
				w.nameless = append(w.nameless, path)
			}
			properties[key] = w.schema(t.Field(i).Type, strings.TrimPrefix(path+"."+key, "."))
			if options := strings.Split(rest, ","); !slices.Contains(options, "omitempty") && !slices.Contains(options, "omitzero") {
				required = append(required, key)
			}
		}
		s["type"], s["additionalProperties"], s["properties"], s["required"] = "object", false, properties, required
	case reflect.Slice:
		items := w.schema(t.Elem(), path)
		delete(items, "description") // it is the list's
		s["type"], s["items"] = "array", items
	case reflect.Map:
		values := w.schema(t.Elem(), path)
		delete(values, "description")
		s["type"], s["additionalProperties"] = "object", values
	case reflect.Float64:
		s["type"] = "number"
	case reflect.Int:
		s["type"] = "integer"
	case reflect.Bool:
		s["type"] = "boolean"
	default:
		s["type"] = "string"
	}
	return s
}
