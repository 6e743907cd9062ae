package model

import (
	"fmt"
	"io"
)

// Save writes a graph as YAML.
func Save(w io.Writer, g *Graph) error {
	data, err := MarshalYAML(NewDocument(g))
	if err != nil {
		return fmt.Errorf("model: %w", err)
	}
	_, err = w.Write(data)
	return err
}
