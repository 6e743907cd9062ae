package plan

import (
	"encoding/json"
	"fmt"

	"github.com/helenus-db/helenus/capture/schema"
)

// Existing is the kind of a change that finds rows by a table which the application keeps itself.
const Existing = "existing"

// Copied is what a change of the kind Existing knows of its own (Rewrite.Own): how a table of the application holds the rows of the base.
type Copied struct {
	As      schema.Table      `json:"as"`      // the table, as it was when it was advised
	Columns map[string]string `json:"columns"` // its columns, and those of the base that they hold
	// Coverage is the share of the base's rows that it was measured to have.
	Coverage float64 `json:"coverage"`
}

// Column is the column of the table that holds one of the base, "" if none does.
func (c *Copied) Column(of string) string {
	found := ""
	for own, base := range c.Columns {
		if base == of && (found == "" || own < found) {
			found = own
		}
	}
	return found
}

// Asked lists the columns of the base that the table is keyed by, in the order of its partition key; nil if it is keyed by something that the base does not have.
func (c *Copied) Asked() []string {
	var asked []string
	for _, p := range c.As.PartitionKey() {
		of := c.Columns[p.Name]
		if of == "" {
			return nil
		}
		asked = append(asked, of)
	}
	return asked
}

// ReadCopied reads it from a change.
func ReadCopied(r *Rewrite) (*Copied, error) {
	c := &Copied{}
	if err := json.Unmarshal(r.Own, c); err != nil {
		return nil, fmt.Errorf("what the change says of the table that it reads can not be read: %w", err)
	}
	return c, nil
}

// Kept is the table of the application, with its keyspace, by which a change finds rows; "" if it does so by a table that it makes.
func (r *Rewrite) Kept() string {
	if r.Kind != Existing {
		return ""
	}
	c, err := ReadCopied(r)
	if err != nil {
		return ""
	}
	return c.As.Keyspace + "." + c.As.Name
}
