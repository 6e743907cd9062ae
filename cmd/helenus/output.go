package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"
)

// form is how a command prints what the process answered.
type form string

// The forms of output.
const (
	asTable form = "table"
	asWide  form = "wide" // a table with all columns, of which nothing is cut
	asJSON  form = "json"
	asYAML  form = "yaml"
)

var forms = []string{string(asTable), string(asWide), string(asJSON), string(asYAML)}

// String is the form.
func (o *form) String() string { return string(*o) }

// Type is how help calls it.
func (*form) Type() string { return "form" }

// Set takes one of the forms.
func (o *form) Set(text string) error {
	for _, one := range forms {
		if text == one {
			*o = form(text)
			return nil
		}
	}
	return fmt.Errorf("it may be %s%s", strings.Join(forms, ", "), alike(text, forms))
}

// flags adds -o, and --json as its short form.
func (o *form) flags(c *cobra.Command) {
	*o = asTable
	c.Flags().VarP(o, "output", "o", "how to print: table, wide (all columns, nothing cut), json or yaml")
	c.Flags().Var((*jsonFlag)(o), "json", "short for -o json")
	c.Flags().Lookup("json").NoOptDefVal = "true"
	offer(c, "output", forms...)
}

// structured tells whether a program is to read it.
func (o form) structured() bool { return o == asJSON || o == asYAML }

// write writes a document of JSON in the form that was asked for.
func (o form) write(w io.Writer, document []byte) error {
	if o == asYAML {
		converted, err := yaml.JSONToYAML(document)
		if err != nil {
			return fmt.Errorf("as YAML: %w", err)
		}
		document = converted
	}
	_, err := w.Write(document)
	return err
}

// encode is write for a value.
func (o form) encode(w io.Writer, v any) error {
	document, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return o.write(w, append(document, '\n'))
}

// by is write for what writes its JSON itself.
func (o form) by(w io.Writer, document func(io.Writer) error) error {
	var b bytes.Buffer
	if err := document(&b); err != nil {
		return err
	}
	return o.write(w, b.Bytes())
}

// jsonFlag is --json, by the form that it sets.
type jsonFlag form

// String is its value.
func (f *jsonFlag) String() string { return strconv.FormatBool(form(*f) == asJSON) }

// Type is how help calls it.
func (*jsonFlag) Type() string { return "bool" }

// Set chooses JSON.
func (f *jsonFlag) Set(text string) error {
	on, err := strconv.ParseBool(text)
	switch {
	case err != nil:
		return err
	case on:
		*f = jsonFlag(asJSON)
	case form(*f) == asJSON:
		*f = jsonFlag(asTable)
	}
	return nil
}

// wideWriter is where a wide table is written to.
type wideWriter struct{ io.Writer }

// paper is where people read in the form that was asked for.
func (o form) paper(w io.Writer) io.Writer {
	if o == asWide {
		return wideWriter{w}
	}
	return w
}

// sheet is a plain table: columns, two spaces between, no frame.
type sheet struct {
	heads []any
	rows  [][]any
}

// wideOnly is the head of a column that only a wide table has.
type wideOnly string

// clipped is a text of a cell, which only a wide table shows whole.
type clipped struct {
	text string
	n    int
}

// cut is a text that takes n characters at most.
func cut(s string, n int) clipped { return clipped{s, n} }

func newTable(heads ...any) *sheet { return &sheet{heads: heads} }

// AppendRow adds a row, a cell for each head.
func (t *sheet) AppendRow(row []any) { t.rows = append(t.rows, row) }

// Length is how many rows there are.
func (t *sheet) Length() int { return len(t.rows) }

// cells are those of a row that are shown.
func (t *sheet) cells(row []any, wide bool) (shown []any) {
	for i, cell := range row {
		if _, only := t.heads[i].(wideOnly); only && !wide {
			continue
		}
		switch x := cell.(type) {
		case clipped:
			cell = short(x.text, x.n)
			if wide {
				cell = strings.Join(strings.Fields(x.text), " ")
			}
		case wideOnly:
			cell = string(x)
		}
		shown = append(shown, cell)
	}
	return shown
}

// render writes a table.
func render(w io.Writer, t *sheet) error {
	_, wide := w.(wideWriter)
	out := table.NewWriter()
	style := table.StyleDefault
	style.Options = table.OptionsNoBordersAndSeparators
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	out.SetStyle(style)
	out.AppendHeader(t.cells(t.heads, wide))
	for _, row := range t.rows {
		out.AppendRow(t.cells(row, wide))
	}
	for line := range strings.SplitSeq(out.Render(), "\n") {
		if _, err := fmt.Fprintf(w, "%s\n", strings.TrimRight(line, " ")); err != nil {
			return err
		}
	}
	return nil
}
