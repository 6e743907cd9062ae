package workload

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/model"
)

type schema struct {
	Properties map[string]*schema
	Items      *schema
}

// TestSchemas compares the published JSON Schemas with the keys that the reader knows.
func TestSchemas(t *testing.T) {
	for name, root := range map[string]reflect.Type{"workload": reflect.TypeFor[document](), "model": reflect.TypeFor[model.Document]()} {
		data, err := os.ReadFile(filepath.Clean("../../docs/schema/" + name + ".json"))
		if err != nil {
			t.Fatal(err)
		}
		var s schema
		if err := json.Unmarshal(data, &s); err != nil {
			t.Fatal(err)
		}
		compare(t, name, &s, root)
	}
}

func compare(t *testing.T, at string, s *schema, typ reflect.Type) {
	for typ.Kind() == reflect.Slice || typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
		if s.Items != nil {
			s = s.Items
		}
	}
	if typ.Kind() != reflect.Struct || typ == reflect.TypeFor[model.Placed]() || typ == reflect.TypeFor[model.Number]() {
		return
	}
	var keys, properties []string
	for i := range typ.NumField() {
		key, _, _ := strings.Cut(typ.Field(i).Tag.Get("yaml"), ",")
		if key == "-" {
			continue
		}
		keys = append(keys, key)
		if sub := s.Properties[key]; sub != nil {
			compare(t, at+"."+key, sub, typ.Field(i).Type)
		}
	}
	for p := range s.Properties {
		properties = append(properties, p)
	}
	sort.Strings(keys)
	sort.Strings(properties)
	if !slices.Equal(keys, properties) {
		t.Errorf("%s: the reader knows %q, the schema %q", at, keys, properties)
	}
}
