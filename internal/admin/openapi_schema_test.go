package admin

import (
	"encoding"
	"encoding/json"
	"path"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/capture"
)

// object is a piece of the OpenAPI document.
type object = map[string]any

// schemas makes the schemas of Go types, those of structs by their name.
type schemas struct {
	t    *testing.T
	made object
}

// own are types that write themselves as JSON.
func (s *schemas) own(t reflect.Type) object {
	switch t {
	case reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}
	case reflect.TypeFor[time.Duration]():
		return object{"type": "integer", "format": "int64", "description": "nanoseconds"}
	case reflect.TypeFor[json.RawMessage]():
		return object{}
	case reflect.TypeFor[capture.Tally]():
		return object{"type": "object", "additionalProperties": object{"type": "integer"}}
	case reflect.TypeFor[plan.Verdict]():
		return s.named(t, func() object {
			out := s.fields(t)
			in := out["properties"].(object) //nolint:forcetypeassert // fields made it
			in["title"], in["link"] = object{"type": "string"}, object{"type": "string"}
			return out
		})
	}
	writes := func(i reflect.Type) bool { return t.Implements(i) || reflect.PointerTo(t).Implements(i) }
	if t.Kind() != reflect.Pointer && t.Kind() != reflect.Interface {
		if writes(reflect.TypeFor[json.Marshaler]()) {
			s.t.Fatalf("%v writes itself as JSON: say here how", t)
		}
		if writes(reflect.TypeFor[encoding.TextMarshaler]()) {
			return object{"type": "string"}
		}
	}
	return nil
}

func (s *schemas) of(t reflect.Type) object {
	if known := s.own(t); known != nil {
		return known
	}
	switch t.Kind() {
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.String:
		return object{"type": "string"}
	case reflect.Float32, reflect.Float64:
		return object{"type": "number"}
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return object{"type": "string", "format": "byte", "nullable": true}
		}
		return object{"type": "array", "items": s.of(t.Elem()), "nullable": true}
	case reflect.Array:
		return object{"type": "array", "items": s.of(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": s.of(t.Elem()), "nullable": true}
	case reflect.Pointer:
		in := s.of(t.Elem())
		if _, ref := in["$ref"]; ref {
			return object{"allOf": []any{in}, "nullable": true}
		}
		in["nullable"] = true
		return in
	case reflect.Interface:
		return object{}
	case reflect.Struct:
		return s.named(t, func() object { return s.fields(t) })
	}
	if t.Kind() >= reflect.Int && t.Kind() <= reflect.Uint64 {
		return object{"type": "integer"}
	}
	s.t.Fatalf("no schema for %v", t)
	return nil
}

func (s *schemas) named(t reflect.Type, make func() object) object {
	name := path.Base(t.PkgPath()) + "." + t.Name()
	if t.Name() == "" {
		return make()
	}
	if _, ok := s.made[name]; !ok {
		s.made[name] = nil // it may have itself within
		s.made[name] = make()
	}
	return object{"$ref": "#/components/schemas/" + name}
}

// fields are those of a struct, as encoding/json writes them. What is not there is not allowed: a field that is added must be documented.
func (s *schemas) fields(t reflect.Type) object {
	properties, required := object{}, []any{}
	var add func(t reflect.Type, optional bool)
	add = func(t reflect.Type, optional bool) {
		var embedded []reflect.StructField
		for i := range t.NumField() {
			f := t.Field(i)
			tag, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			if f.Anonymous && tag == "" {
				embedded = append(embedded, f)
				continue
			}
			if !f.IsExported() || tag == "-" {
				continue
			}
			if tag == "" {
				tag = f.Name
			}
			if _, outer := properties[tag]; outer {
				continue
			}
			properties[tag] = s.of(f.Type)
			if !strings.Contains(options, "omit") && !optional {
				required = append(required, tag)
			}
		}
		for _, f := range embedded {
			in := f.Type
			if in.Kind() == reflect.Pointer {
				in = in.Elem()
			}
			add(in, optional || f.Type.Kind() == reflect.Pointer)
		}
	}
	add(t, false)
	out := object{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		out["required"] = required
	}
	return out
}
