package workload

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/helenus-db/helenus/advisor/correction"
	"github.com/helenus-db/helenus/advisor/model"
)

// document is a workload file (docs/schema/workload.json).
type document struct {
	Name       model.Placed                     `yaml:"name"`
	Notes      []string                         `yaml:"notes,omitempty"`
	Exported   string                           `yaml:"exported,omitempty"`
	Model      model.Document                   `yaml:"model"`
	Mix        model.Placed                     `yaml:"mix,omitempty"`
	Mixes      []model.Placed                   `yaml:"mixes,flow,omitempty"`
	Interval   intervals                        `yaml:"interval,flow,omitempty"`
	Statements []statementDocument              `yaml:"statements"`
	Tables     []model.TableDocument            `yaml:"tables,omitempty"`
	Schemas    map[string][]model.TableDocument `yaml:"schemas,omitempty"`
	SpaceLimit float64                          `yaml:"space_limit,omitempty"`
	Safety     *safetyDocument                  `yaml:"safety,omitempty"`

	Corrections []correction.Document `yaml:"corrections,omitempty"`
}

type statementDocument struct {
	ID          model.Placed    `yaml:"id"`
	Text        model.Placed    `yaml:"text"`
	Weight      model.Number    `yaml:"weight,omitempty"`
	Weights     map[string]rate `yaml:"weights,omitempty"`
	Steps       []float64       `yaml:"steps,flow,omitempty"`
	Group       string          `yaml:"group,omitempty"`
	Transaction string          `yaml:"transaction,omitempty"`
	Consistency model.Placed    `yaml:"consistency,omitempty"`
	Ceiling     float64         `yaml:"ceiling,omitempty"`
	Returned    float64         `yaml:"returned,omitempty"`
	Sources     []string        `yaml:"sources,omitempty"`
}

// rate is a weight: a number, or a list of one for each time step.
type rate struct {
	mean  float64
	steps []float64
}

// UnmarshalYAML takes a number or a list.
func (r *rate) UnmarshalYAML(decode func(any) error) error {
	if decode(&r.mean) == nil {
		return nil
	}
	if err := decode(&r.steps); err != nil {
		return err
	}
	r.mean = mean(r.steps)
	return nil
}

// MarshalYAML writes the list if there is one.
func (r rate) MarshalYAML() (any, error) {
	if len(r.steps) > 0 {
		return r.steps, nil
	}
	return r.mean, nil
}

func mean(list []float64) float64 {
	sum := 0.0
	for _, x := range list {
		sum += x
	}
	return sum / float64(max(1, len(list)))
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
	return readAs(name, data, (*model.TableDocument).Table)
}

// ReadAsIs reads what Read does, also where rows of the existing tables can share a primary key: nothing can be planned for
// such, but they can be looked at.
func ReadAsIs(name string, data []byte) (*Workload, error) {
	return readAs(name, data, (*model.TableDocument).AsIs)
}

// existing is how an existing table is made of its document.
type existing = func(*model.TableDocument, string, *model.Graph) (*model.Table, error)

func readAs(name string, data []byte, made existing) (*Workload, error) {
	w, err := read(name, data, made)
	if err != nil {
		return nil, model.Show(err, data)
	}
	return w, nil
}

func read(name string, data []byte, made existing) (*Workload, error) {
	var d document
	if err := model.DecodeYAML(name, data, &d); err != nil {
		return nil, err
	}
	g, err := d.Model.Graph(name)
	if err != nil {
		return nil, err
	}
	w := &Workload{Name: d.Name.Text, Notes: d.Notes, Graph: g, Mix: d.Mix.Text, SpaceLimit: d.SpaceLimit, Exported: d.Exported}
	if !IsWeight(d.SpaceLimit) {
		return nil, d.Name.Wrong(name, "space_limit %g is not a number of bytes", d.SpaceLimit)
	}
	if w.Corrections, err = correction.Read(name, d.Corrections); err != nil {
		return nil, err
	}
	for _, m := range d.Mixes {
		w.Mixes = append(w.Mixes, m.Text)
	}
	for i := range d.Statements {
		s, err := d.Statements[i].statement(name, data, w)
		if err != nil {
			return nil, err
		}
		w.Statements = append(w.Statements, s)
	}
	if err := d.time(name, w); err != nil {
		return nil, err
	}
	if err := d.safety(name, w); err != nil {
		return nil, err
	}
	if w.Tables, err = tables(name, g, d.Tables, made); err != nil {
		return nil, err
	}
	for _, schema := range slices.Sorted(maps.Keys(d.Schemas)) {
		if w.Schemas == nil {
			w.Schemas = map[string][]*model.Table{}
		}
		if w.Schemas[schema], err = tables(name, g, d.Schemas[schema], (*model.TableDocument).Candidate); err != nil {
			return nil, err
		}
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

// tables reads a list of tables: existing ones, or those of a schema.
func tables(file string, g *model.Graph, list []model.TableDocument, made existing) ([]*model.Table, error) {
	var tables []*model.Table
	names := map[[2]string]bool{}
	for i := range list {
		t, err := made(&list[i], file, g)
		if err != nil {
			return nil, err
		}
		name := [2]string{t.Keyspace, t.Name}
		if names[name] {
			return nil, list[i].Name.Wrong(file, "table %s is there twice", t.Name)
		}
		names[name] = true
		tables = append(tables, t)
	}
	return tables, nil
}

func (d *statementDocument) statement(file string, data []byte, w *Workload) (*Statement, error) {
	if d.ID.Text == "" {
		return nil, d.Text.Wrong(file, "the statement has no id")
	}
	if w.Statement(d.ID.Text) != nil {
		return nil, d.ID.Wrong(file, "statement %s is there twice", d.ID.Text)
	}
	s, err := Parse(w.Graph, d.Text.Text)
	if err != nil {
		return nil, At(file, data, d.Text, d.ID.Text, err)
	}
	s.ID, s.Weight, s.Steps, s.Sources = d.ID.Text, d.Weight.Value, d.Steps, d.Sources
	s.Group, s.Transaction, s.Consistency, s.Ceiling = d.Group, d.Transaction, strings.ToUpper(d.Consistency.Text), d.Ceiling
	if s.Consistency != "" && !slices.Contains(consistencies, s.Consistency) {
		return nil, d.Consistency.Wrong(file, "statement %s: %s", s.ID, &model.NameError{What: "consistency level", Name: d.Consistency.Text, Known: consistencies})
	}
	if !IsWeight(d.Ceiling) {
		return nil, d.ID.Wrong(file, "statement %s: ceiling %g is not a number of milliseconds", s.ID, d.Ceiling)
	}
	switch {
	case !IsWeight(d.Returned):
		return nil, d.ID.Wrong(file, "statement %s: returned %g is not a number of rows", s.ID, d.Returned)
	case s.Query != nil:
		s.Query.Returned = d.Returned
	case d.Returned != 0:
		return nil, d.ID.Wrong(file, "statement %s returns no rows: returned is of queries", s.ID)
	}
	if err := d.weights(file, s, w.Mixes); err != nil {
		return nil, err
	}
	return s, nil
}

var consistencies = []string{"ANY", "ONE", "TWO", "THREE", "QUORUM", "ALL", "LOCAL_QUORUM", "EACH_QUORUM", "LOCAL_ONE", "SERIAL", "LOCAL_SERIAL"}

// weights takes the statement's weights over.
func (d *statementDocument) weights(file string, s *Statement, mixes []string) error {
	if len(d.Steps) > 0 {
		if !d.Weight.IsZero() {
			return d.Weight.Wrong(file, "statement %s has a weight and steps: the steps are weights", s.ID)
		}
		s.Weight = mean(d.Steps)
	}
	if !IsWeight(d.Weight.Value) {
		return d.Weight.Wrong(file, "statement %s: weight %g is not a rate: 0 to 1e15", s.ID, d.Weight.Value)
	}
	all := slices.Clone(d.Steps)
	for _, mix := range slices.Sorted(maps.Keys(d.Weights)) {
		if !slices.Contains(mixes, mix) {
			return d.ID.Wrong(file, "statement %s: %s", s.ID, &model.NameError{What: "mix", Name: mix, Known: mixes})
		}
		if s.Weights == nil {
			s.Weights = map[string]float64{}
		}
		r := d.Weights[mix]
		s.Weights[mix] = r.mean
		all = append(append(all, r.mean), r.steps...)
		if len(r.steps) > 0 {
			if s.MixSteps == nil {
				s.MixSteps = map[string][]float64{}
			}
			s.MixSteps[mix] = r.steps
		}
	}
	for _, weight := range all {
		if !IsWeight(weight) {
			return d.ID.Wrong(file, "statement %s: weight %g is not a rate", s.ID, weight)
		}
	}
	return nil
}

// IsWeight tells whether w can be a weight: 0 to 1e15.
func IsWeight(w float64) bool { return w >= 0 && w <= 1e15 && !math.IsNaN(w) }

// At puts an error of a statement's text at its place in a file with that content.
func At(file string, data []byte, text model.Placed, id string, err error) error {
	var syntax *SyntaxError
	if !errors.As(err, &syntax) {
		return text.Wrong(file, "statement %s: %s", id, err)
	}
	at := &model.FileError{File: file, Line: text.Line, Column: text.Column, Length: syntax.Length, Reason: fmt.Sprintf("statement %s: %s", id, syntax.Reason)}
	if data != nil {
		at.Underlined = syntax.Underlined()
		locate(at, string(data), text.Text, min(syntax.Offset, len(text.Text)))
	}
	return at
}

// locate moves an error from the start of a scalar to an offset in its value. YAML may have folded lines: blanks of the
// value are any blanks of the file. Where quotes or escapes make the two differ otherwise it stops.
func locate(at *model.FileError, data, text string, offset int) {
	lines := strings.SplitAfter(data, "\n")
	if at.Line < 1 || at.Line > len(lines) {
		return
	}
	source := strings.Join(lines[at.Line-1:], "")
	start := model.Offset(lines[at.Line-1], at.Column)
	i, rest := start, text
	if i < len(source) && (source[i] == '\'' || source[i] == '"') {
		i++
	} else if i < len(source) && (source[i] == '|' || source[i] == '>') {
		for i < len(source) && source[i] != '\n' {
			i++
		}
	}
	blank := func(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
	for done := 0; ; {
		for i < len(source) && blank(source[i]) && (rest == "" || !blank(rest[0]) || done == 0) {
			i++
		}
		if done >= offset || i >= len(source) || rest == "" || !blank(rest[0]) && rest[0] != source[i] {
			break
		}
		if blank(rest[0]) {
			for i < len(source) && blank(source[i]) {
				i++
			}
			for rest != "" && blank(rest[0]) {
				rest, done = rest[1:], done+1
			}
			continue
		}
		rest, done, i = rest[1:], done+1, i+1
	}
	before := source[:min(i, len(source))]
	newlines := strings.Count(before, "\n")
	at.Line += newlines
	at.Column = utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
}

// Save writes the workload as YAML that Read reads.
func Save(w io.Writer, work *Workload) error {
	d := document{Name: model.Placed{Text: work.Name}, Notes: work.Notes, Exported: work.Exported, Model: model.NewDocument(work.Graph), Mix: model.Placed{Text: work.Mix}, Interval: newIntervals(work.Interval), SpaceLimit: work.SpaceLimit, Safety: work.Safety.document(),
		Corrections: correction.NewDocuments(work.Corrections)}
	for _, m := range work.Mixes {
		d.Mixes = append(d.Mixes, model.Placed{Text: m})
	}
	for _, s := range work.Statements {
		d.Statements = append(d.Statements, newStatementDocument(s))
	}
	for _, t := range work.Tables {
		d.Tables = append(d.Tables, model.NewTableDocument(t))
	}
	for name, list := range work.Schemas {
		if d.Schemas == nil {
			d.Schemas = map[string][]model.TableDocument{}
		}
		for _, t := range list {
			d.Schemas[name] = append(d.Schemas[name], model.NewTableDocument(t))
		}
	}
	data, err := model.MarshalYAML(d)
	if err != nil {
		return fmt.Errorf("workload: %w", err)
	}
	_, err = w.Write(data)
	return err
}

func newStatementDocument(s *Statement) statementDocument {
	d := statementDocument{
		ID: model.Placed{Text: s.ID}, Text: model.Placed{Text: s.String()}, Group: s.Group, Transaction: s.Transaction,
		Consistency: model.Placed{Text: s.Consistency}, Ceiling: s.Ceiling, Sources: s.Sources,
	}
	if s.Query != nil {
		d.Returned = s.Query.Returned
	}
	if len(s.Weights) == 0 {
		if d.Steps = s.Steps; len(s.Steps) == 0 {
			d.Weight.Value = s.Weight
		}
		return d
	}
	d.Weights = map[string]rate{}
	for mix, weight := range s.Weights {
		d.Weights[mix] = rate{mean: weight, steps: s.MixSteps[mix]}
	}
	return d
}
