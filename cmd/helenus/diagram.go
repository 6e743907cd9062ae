package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/diagram"
	"github.com/helenus-db/helenus/advisor/diagram/mermaid"
	"github.com/helenus-db/helenus/advisor/diagram/picture"
	"github.com/helenus-db/helenus/advisor/diagram/svg"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/internal/words"
)

// diagramFlags are what `helenus diagram` is asked for.
type diagramFlags struct {
	solver solverFlag
	remote
	kind, schema, format, theme, mix, out string
	keyspaces                             []string
	designed, live, json                  bool
}

func diagramCommand() *cobra.Command {
	var f diagramFlags
	c := &cobra.Command{
		Use: "diagram [FILE | --live]", Short: "Draw a model, a workflow, or tables with their access patterns, as SVG or Mermaid text",
		Args: usage(cobra.MaximumNArgs(1)),
		Long: `Diagram draws FILE, a model and a workload in YAML as for helenus design, or definitions in CQL, or with --live
what a running process has found. Kinds:
  er        entities, attributes with keys underlined, relationships with cardinalities
  logical   Chebotko diagram: tables with keys, collections, counters, and the queries that come to them
  physical  the same with CQL types: all that is needed to make the tables
  workflow  the statements of the application, and which of them can follow which
What a diagram does not show is listed below it. docs/diagrams.md explains the notation.

` + exitsText(exitDone, exitFailed, exitUsage, exitUnreachable),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args) },
	}
	f.reach(c) // -o is the file, and forms are of pictures
	flags := c.Flags()
	f.solver.flags(flags)
	flags.StringVar(&f.kind, "kind", "", "er, logical, physical or workflow; default: er, of CQL physical")
	flags.StringVar(&f.schema, "schema", "", "SCHEMA: the tables to draw: the name of one of the file's schemas, or a file of tables in YAML or CQL; default: the file's tables; if it has none, --designed")
	flags.BoolVar(&f.designed, "designed", false, "draw the tables that helenus design chooses")
	flags.StringVar(&f.mix, "mix", "", "the mix of weights to design for, and whose statements to draw; default: what the file says")
	flags.BoolVar(&f.live, "live", false, "draw what the running process has found")
	flags.StringSliceVar(&f.keyspaces, "keyspaces", nil, "with --live, of kinds logical and physical: the keyspaces to draw, comma separated; default: all of the applications")
	flags.StringVar(&f.format, "format", "svg", "svg, mermaid or json")
	flags.BoolVar(&f.json, "json", false, "short for --format json")
	flags.StringVar(&f.theme, "theme", string(svg.Auto), "colours of an SVG: auto (those that the reader prefers), light or dark")
	flags.StringVarP(&f.out, "out", "o", "", "the file to write; default: standard output")
	return c
}

// formats are what a picture can be written as.
var formats = []string{"svg", "mermaid", "json"}

func (f *diagramFlags) run(c *cobra.Command, args []string) error {
	if err := f.check(args); err != nil {
		return usageError{err}
	}
	var p *picture.Picture
	var err error
	if f.live {
		p, err = f.drawnLive(c)
	} else {
		p, err = f.drawn(c, args[0])
	}
	if err != nil {
		return err
	}
	write := func(w io.Writer) error { return p.SVG(w, svg.Theme(f.theme)) }
	switch f.format {
	case "mermaid":
		write = func(w io.Writer) error { return mermaid.Write(w, p) }
	case "json":
		write = func(w io.Writer) error {
			return words.JSON(w, p)
		}
	}
	if f.out == "" {
		return write(c.OutOrStdout())
	}
	return writeWhole(f.out, write)
}

// check refuses flags that do not fit together.
func (f *diagramFlags) check(args []string) error {
	one := func(flag, value string, known []string) error {
		if value != "" && !slices.Contains(known, value) {
			return fmt.Errorf("--%s: %w", flag, &model.NameError{What: flag, Name: value, Known: known})
		}
		return nil
	}
	if f.json {
		f.format = "json"
	}
	if err := errors.Join(one("kind", f.kind, texts(picture.Kinds)), one("format", f.format, formats), one("theme", f.theme, texts(svg.Themes))); err != nil {
		return err
	}
	tables := f.kind == string(picture.Logical) || f.kind == string(picture.Physical)
	switch {
	case f.live == (len(args) == 1):
		return errors.New("name a FILE, or say --live, one of the two")
	case f.live && (f.designed || f.schema != "" || f.mix != ""):
		return errors.New("--designed, --schema and --mix are about a FILE: leave them out with --live")
	case len(f.keyspaces) > 0 && (!f.live || !tables):
		return errors.New("--keyspaces chooses tables of a running process: leave it out, or say --live and --kind logical or physical")
	case f.designed && f.schema != "":
		return errors.New("--designed, --schema: both say which tables to draw; give one")
	case (f.designed || f.schema != "") && f.kind == "":
		f.kind = string(picture.Physical)
	case (f.designed || f.schema != "") && !tables:
		return fmt.Errorf("--kind %s shows no tables: leave --designed and --schema out", f.kind)
	}
	return nil
}

func texts[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, x := range list {
		out[i] = string(x)
	}
	return out
}

// drawn makes the picture of a file.
func (f *diagramFlags) drawn(c *cobra.Command, file string) (*picture.Picture, error) {
	data, err := model.ReadFile(file)
	if err != nil {
		return nil, usageError{err}
	}
	if cql.IsDefinitions(string(data)) {
		p, err := f.cql(file, data)
		if err != nil {
			return nil, usageError{err}
		}
		return p, nil
	}
	w, err := loadWorkload(file)
	if err == nil && f.mix != "" {
		if err = w.SetMix(f.mix); err != nil {
			err = fmt.Errorf("--mix: %w", err)
		}
	}
	if err != nil {
		return nil, usageError{err}
	}
	w, _ = w.In(w.Mix)
	switch picture.Kind(f.kind) {
	case picture.Workflow:
		if len(w.Statements) == 0 {
			return nil, usageError{fmt.Errorf("%s: there are no statements, so there is no workflow to draw", file)}
		}
		return diagram.Workflow(w), nil
	case picture.Logical, picture.Physical:
		var err error
		if f.designed, err = isDesigned(c.ErrOrStderr(), file, w, f.schema, f.designed); err != nil {
			return nil, err
		}
		s, err := f.schemaOf(c.Context(), file, w)
		if err != nil {
			return nil, err
		}
		return s.Picture(picture.Kind(f.kind)), nil
	}
	return diagram.ER(w.Name, w.Graph), nil
}

// cql makes the picture of definitions.
func (f *diagramFlags) cql(file string, data []byte) (*picture.Picture, error) {
	switch {
	case f.kind == "":
		f.kind = string(picture.Physical)
	case f.kind == string(picture.ER) || f.kind == string(picture.Workflow):
		return nil, fmt.Errorf("%s: CQL defines tables, which say neither what is related nor what is asked: --kind logical and physical draw them", file)
	}
	if f.designed || f.schema != "" || f.mix != "" {
		return nil, fmt.Errorf("%s: these are the tables to draw: leave --designed, --schema and --mix out", file)
	}
	s, err := diagram.ReadCQL(file, string(data))
	if err != nil {
		return nil, model.Show(err, data)
	}
	s.Name = strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	return s.Picture(picture.Kind(f.kind)), nil
}

// schemaOf is the schema to draw of a workload's file, with the ways of its queries.
func (f *diagramFlags) schemaOf(ctx context.Context, file string, w *workload.Workload) (*diagram.Schema, error) {
	queries := *w
	o := design.Options{Solver: f.solver.process()}
	tables := w.Tables
	switch {
	case f.designed:
		if len(w.Statements) == 0 {
			return nil, usageError{fmt.Errorf("--designed: %s has no statements to design for", file)}
		}
	default:
		if f.schema != "" {
			var err error
			if tables, err = schemaNamed(w, f.schema); err != nil {
				return nil, usageError{fmt.Errorf("--schema: %w", err)}
			}
		}
		queries.Tables = nil
		queries.Statements = slices.DeleteFunc(slices.Clone(w.Statements), (*workload.Statement).IsWrite)
		copies := make([]*model.Table, len(tables))
		for i, t := range tables {
			own := *t
			if own.Existing {
				own.Existing, own.Kept = false, true
			}
			copies[i] = &own
		}
		if f.schema == "" {
			queries.Tables = tables
		} else {
			o.Candidates = keep(copies)
		}
		o.OnlyExisting = true
	}
	plans := map[int]*plan.Plan{}
	names := map[*model.Table][2]string{}
	var d *design.Design
	if len(queries.Statements) > 0 {
		var err error
		var coded exitError
		d, _, _, err = choose(ctx, &queries, o, !f.designed)
		if err != nil && (f.designed || !errors.As(err, &coded) || coded.code != exitNoPlan) {
			return nil, explained(err)
		}
	}
	if d != nil {
		if f.designed {
			tables = nil
		}
		for _, t := range d.Tables {
			own := *t.Table
			own.Name = t.Name
			names[t.Table] = [2]string{own.Keyspace, own.Name}
			if f.designed {
				tables = append(tables, &own)
			}
		}
		for _, s := range d.Statements {
			at := slices.IndexFunc(w.Statements, func(x *workload.Statement) bool { return x.ID == s.Statement.ID })
			if at >= 0 && s.Plan != nil {
				plans[at] = s.Plan
			}
		}
	}
	s, err := diagram.Tables(w.Name, tables)
	if err != nil {
		return nil, usageError{fmt.Errorf("%s: %w", file, err)}
	}
	if f.designed {
		s.Name += ", designed"
	} else if f.schema != "" {
		s.Name += ", " + strings.TrimSuffix(filepath.Base(f.schema), filepath.Ext(f.schema))
	}
	s.Access(w, plans, func(t *model.Table) (string, string) {
		if n, ok := names[t]; ok {
			return n[0], n[1]
		}
		return t.Keyspace, t.Name
	})
	return s, nil
}
