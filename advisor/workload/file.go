package workload

import (
	"errors"
	"fmt"
	"io"
	"math"
	"sort"
	"unicode/utf8"

	"github.com/goccy/go-yaml"

	"github.com/helenus-db/helenus/advisor/model"
)

// document is a workload file (docs/schema/workload.json).
type document struct {
	Name       model.Placed          `yaml:"name"`
	Notes      []string              `yaml:"notes,omitempty"`
	Model      model.Document        `yaml:"model"`
	Mix        model.Placed          `yaml:"mix,omitempty"`
	Mixes      []model.Placed        `yaml:"mixes,flow,omitempty"`
	Statements []statementDocument   `yaml:"statements"`
	Tables     []model.TableDocument `yaml:"tables,omitempty"`
	SpaceLimit float64               `yaml:"space_limit,omitempty"`
}

type statementDocument struct {
	ID      model.Placed       `yaml:"id"`
	Text    model.Placed       `yaml:"text"`
	Weight  float64            `yaml:"weight,omitempty"`
	Weights map[string]float64 `yaml:"weights,omitempty"`
	Sources []string           `yaml:"sources,omitempty"`
}

// Load reads a workload file: model, statements, existing tables. Errors name file, line and column.
func Load(name string) (*Workload, error) {
	data, err := model.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("workload: %w", err)
	}
	return Read(name, data)
}

// Read reads the content of a workload file; name is for messages.
func Read(name string, data []byte) (*Workload, error) {
	var d document
	if err := model.DecodeYAML(name, data, &d); err != nil {
		return nil, err
	}
	g, err := d.Model.Graph(name)
	if err != nil {
		return nil, err
	}
	w := &Workload{Name: d.Name.Text, Graph: g, Mix: d.Mix.Text, SpaceLimit: d.SpaceLimit}
	if !isWeight(d.SpaceLimit) {
		return nil, d.Name.Wrong(name, "space_limit %g is not a number of bytes", d.SpaceLimit)
	}
	for _, m := range d.Mixes {
		w.Mixes = append(w.Mixes, m.Text)
	}
	for i := range d.Statements {
		s, err := d.Statements[i].statement(name, w)
		if err != nil {
			return nil, err
		}
		w.Statements = append(w.Statements, s)
	}
	for i := range d.Tables {
		t, err := d.Tables[i].Table(name, g)
		if err != nil {
			return nil, err
		}
		for _, other := range w.Tables {
			if other.ID() == t.ID() {
				return nil, d.Tables[i].Name.Wrong(name, "table %s is there twice", t.Name)
			}
		}
		w.Tables = append(w.Tables, t)
	}
	if w.Mix == "" && len(w.Mixes) > 0 {
		w.Mix = w.Mixes[0]
	}
	if w.Mix != "" {
		if err := w.SetMix(w.Mix); err != nil {
			return nil, d.Mix.Wrong(name, "%s", err)
		}
	}
	return w, nil
}

func (d *statementDocument) statement(file string, w *Workload) (*Statement, error) {
	if d.ID.Text == "" {
		return nil, d.Text.Wrong(file, "the statement has no id")
	}
	if w.Statement(d.ID.Text) != nil {
		return nil, d.ID.Wrong(file, "statement %s is there twice", d.ID.Text)
	}
	s, err := Parse(w.Graph, d.Text.Text)
	if err != nil {
		return nil, d.wrong(file, err)
	}
	s.ID, s.Weight, s.Sources = d.ID.Text, d.Weight, d.Sources
	if len(d.Weights) > 0 {
		s.Weights = d.Weights
	}
	if !isWeight(s.Weight) {
		return nil, d.ID.Wrong(file, "statement %s: weight %g is not a rate", s.ID, s.Weight)
	}
	mixes := make([]string, 0, len(d.Weights))
	for mix := range d.Weights {
		mixes = append(mixes, mix)
	}
	sort.Strings(mixes)
	for _, mix := range mixes {
		known := false
		for _, m := range w.Mixes {
			known = known || m == mix
		}
		switch {
		case !known:
			return nil, d.ID.Wrong(file, "statement %s: %s", s.ID, &model.NameError{What: "mix", Name: mix, Known: w.Mixes})
		case !isWeight(d.Weights[mix]):
			return nil, d.ID.Wrong(file, "statement %s: weight %g is not a rate", s.ID, d.Weights[mix])
		}
	}
	return s, nil
}

func isWeight(w float64) bool { return w >= 0 && w <= 1e15 && !math.IsNaN(w) }

// wrong puts a syntax error at its place in the file. That is exact where the text stands on one line without escapes.
func (d *statementDocument) wrong(file string, err error) error {
	var syntax *SyntaxError
	if !errors.As(err, &syntax) {
		return d.Text.Wrong(file, "statement %s: %s", d.ID.Text, err)
	}
	at := d.Text
	if !containsBreak(at.Text[:min(syntax.Offset, len(at.Text))]) {
		at.Column += utf8.RuneCountInString(at.Text[:min(syntax.Offset, len(at.Text))])
	}
	return at.Wrong(file, "statement %s: %s", d.ID.Text, syntax.Reason)
}

func containsBreak(s string) bool {
	for _, r := range s {
		if r == '\n' {
			return true
		}
	}
	return false
}

// Save writes the workload as YAML that Read reads.
func Save(w io.Writer, work *Workload) error {
	d := document{Name: model.Placed{Text: work.Name}, Model: model.NewDocument(work.Graph), Mix: model.Placed{Text: work.Mix}, SpaceLimit: work.SpaceLimit}
	for _, m := range work.Mixes {
		d.Mixes = append(d.Mixes, model.Placed{Text: m})
	}
	for _, s := range work.Statements {
		d.Statements = append(d.Statements, statementDocument{ID: model.Placed{Text: s.ID}, Text: model.Placed{Text: s.String()},
			Weight: s.Weight, Weights: s.Weights, Sources: s.Sources})
	}
	for _, t := range work.Tables {
		d.Tables = append(d.Tables, model.NewTableDocument(t))
	}
	data, err := yaml.Marshal(d)
	if err != nil {
		return fmt.Errorf("workload: %w", err)
	}
	_, err = w.Write(data)
	return err
}
