package words

import (
	"encoding/json"
	"io"
)

// JSON writes v as JSON that people can read, too: indented, and with <, > and & as they are.
func JSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
