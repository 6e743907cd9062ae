package timeline

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
)

// CreateCQL writes the statements that make the tables which a step needs and the one before has not, with how each is
// filled as a comment.
func (x *Step) CreateCQL(w io.Writer) error {
	var b strings.Builder
	for _, t := range x.Tables {
		if !t.IsNew() || !slices.Contains(x.Created, t.Name) {
			continue
		}
		for _, m := range x.Migrations {
			if m.Table == t.Name {
				fmt.Fprintf(&b, "-- Filled during step %d from %s; about %v.\n", x.Number-1, m.sourcesText(), m.Estimated)
			}
		}
		for _, statement := range t.DDL() {
			b.WriteString(statement + ";\n")
		}
		b.WriteString("\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// DropCQL writes the statements that take away what the step before had and a step does not need.
func (x *Step) DropCQL(w io.Writer) error {
	var b strings.Builder
	for _, name := range x.Dropped {
		fmt.Fprintf(&b, "DROP TABLE IF EXISTS %s;\n", model.Quote(name))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
