package options

import (
	"reflect"
	"testing"

	"github.com/helenus-db/helenus/internal/schematest"
)

// TestSchema compares the published JSON Schema with what is written. UPDATE_SCHEMA=1 writes it.
func TestSchema(t *testing.T) {
	schematest.Check(t, "../../docs/schema/options.json", "Helenus options", reflect.TypeFor[reportJSON](), nil)
}
