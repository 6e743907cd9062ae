package options

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// schemaOf makes a JSON Schema of a type by its tags.
func schemaOf(t reflect.Type) map[string]any {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	s := map[string]any{}
	switch t.Kind() {
	case reflect.Struct:
		properties, required := map[string]any{}, []string{}
		for i := range t.NumField() {
			key, rest, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
			properties[key] = schemaOf(t.Field(i).Type)
			if !strings.Contains(rest, "omit") {
				required = append(required, key)
			}
		}
		s["type"], s["additionalProperties"], s["properties"], s["required"] = "object", false, properties, required
	case reflect.Slice:
		s["type"], s["items"] = "array", schemaOf(t.Elem())
	case reflect.Map:
		s["type"], s["additionalProperties"] = "object", schemaOf(t.Elem())
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

// TestSchema compares the published JSON Schema with what is written. UPDATE_SCHEMA=1 writes it.
func TestSchema(t *testing.T) {
	const name = "../../docs/schema/options.json"
	s := schemaOf(reflect.TypeFor[reportJSON]())
	s["$schema"], s["title"] = "https://json-schema.org/draft/2020-12/schema", "Helenus options"
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		t.Fatal(err)
	}
	if os.Getenv("UPDATE_SCHEMA") != "" {
		if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(data), b.String()); diff != "" {
		t.Errorf("run with UPDATE_SCHEMA=1\n%s", diff)
	}
	for _, key := range []string{`""`} {
		if strings.Contains(b.String(), key+":") {
			t.Errorf("a field has no name in JSON")
		}
	}
}
