package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/helenus-db/helenus/advisor/diagram"
	"github.com/helenus-db/helenus/advisor/diagram/picture"
	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/capture/report"
	"github.com/helenus-db/helenus/capture/schema"
)

// liveQueries is how many queries a diagram of a running process shows.
const liveQueries = 40

// drawnLive makes the picture of what the running process has found.
func (f *diagramFlags) drawnLive(c *cobra.Command) (*picture.Picture, error) {
	client, err := f.client()
	if err != nil {
		return nil, err
	}
	switch kind := picture.Kind(f.kind); kind {
	case picture.Logical, picture.Physical:
		var cluster schema.Schema
		if err := client.Get(c.Context(), "schema", &cluster); err != nil {
			return nil, err
		}
		if err := f.among(&cluster); err != nil {
			return nil, err
		}
		s, err := diagram.Live("live schema", &cluster)
		if err != nil {
			return nil, err
		}
		if len(s.Tables) == 0 {
			return nil, fmt.Errorf("there are no tables to draw: the application's keyspaces are empty")
		}
		var said report.Statements
		if err := client.Get(c.Context(), "statements", &said); err != nil {
			return nil, err
		}
		s.Observed(said.Statements, said.Feeds, liveQueries)
		return s.Picture(kind), nil
	default:
		var d infer.Description
		if err := client.Get(c.Context(), "model", &d); err != nil {
			return nil, err
		}
		w, missing := diagram.Inferred("inferred model", &d, kind == picture.Workflow)
		var p *picture.Picture
		if kind == picture.Workflow {
			p = diagram.Workflow(w)
		} else {
			p = diagram.ER(w.Name, w.Graph)
			diagram.Sure(p, &d)
		}
		diagram.Unshown(p, missing)
		return p, nil
	}
}

// among leaves of a schema the keyspaces that are asked for.
func (f *diagramFlags) among(s *schema.Schema) error {
	if len(f.keyspaces) == 0 {
		return nil
	}
	var names []string
	for i := range s.Keyspaces {
		names = append(names, s.Keyspaces[i].Name)
	}
	for _, name := range f.keyspaces {
		if !slices.Contains(names, name) {
			return usageError{fmt.Errorf("--keyspaces: %w", &model.NameError{What: "keyspace", Name: name, Known: names})}
		}
	}
	s.Keyspaces = slices.DeleteFunc(s.Keyspaces, func(k schema.Keyspace) bool { return !slices.Contains(f.keyspaces, k.Name) })
	return nil
}
