package neutral

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
)

// Is tells whether a YAML file is in the neutral form: whether its entities have fields, where ours have attributes.
func Is(data []byte) bool {
	var shape struct {
		Model struct {
			Entities []map[string]any `yaml:"entities"`
		} `yaml:"model"`
	}
	if decode("", data, &shape) != nil || len(shape.Model.Entities) == 0 {
		return false
	}
	_, fields := shape.Model.Entities[0]["fields"]
	return fields
}

// Load reads a file in the neutral form.
func Load(name string) (*workload.Workload, error) {
	data, err := model.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("neutral: %w", err)
	}
	return Read(name, data)
}

// Read reads the content of a file; name is for messages. Errors are *model.FileError with the place.
func Read(name string, data []byte) (*workload.Workload, error) {
	w, err := read(name, data)
	if err != nil {
		return nil, model.Show(err, data)
	}
	return w, nil
}

func read(name string, data []byte) (*workload.Workload, error) {
	var d document
	if err := decode(name, data, &d); err != nil {
		return nil, err
	}
	g, err := d.Model.graph(name)
	if err != nil {
		return nil, err
	}
	w := &workload.Workload{Name: d.Name.Text, Graph: g, Mixes: d.Mixes, Mix: d.DefaultMix}
	for _, source := range d.Sources {
		w.Notes = append(w.Notes, "Source: "+source)
	}
	w.Notes = append(w.Notes, d.Notes...)
	if w.Mix == "" && len(w.Mixes) > 0 {
		w.Mix = w.Mixes[0]
	}
	for i := range d.Statements {
		if err := d.Statements[i].add(name, data, w, i+1); err != nil {
			return nil, err
		}
	}
	if err := d.time(name, w); err != nil {
		return nil, err
	}
	for _, schema := range slices.Sorted(maps.Keys(d.Schemas)) {
		if w.Schemas == nil {
			w.Schemas = map[string][]*model.Table{}
		}
		for _, f := range d.Schemas[schema].Families {
			t, err := f.document().Candidate(name, g)
			if err != nil {
				return nil, err
			}
			w.Schemas[schema] = append(w.Schemas[schema], t)
		}
	}
	if w.Mix != "" {
		if err := w.SetMix(w.Mix); err != nil {
			return nil, d.Name.Wrong(name, "%s", err)
		}
	}
	return w, nil
}

// time takes the length of time steps over, and checks their number.
func (d *document) time(file string, w *workload.Workload) error {
	if interval := d.Settings.Interval; interval.Line > 0 {
		seconds := interval.Value
		if !(seconds > 0 && seconds <= 1e9) {
			return interval.Wrong(file, "an interval of %g seconds: it must be above 0", seconds)
		}
		w.Interval = []time.Duration{time.Duration(seconds * float64(time.Second))}
	}
	if steps := d.Settings.Steps; steps.Value != 0 && w.TimeSteps() > 0 && steps.Value != float64(w.TimeSteps()) {
		return steps.Wrong(file, "there are to be %g time steps, but statement weights are of %d", steps.Value, w.TimeSteps())
	}
	var wrong *workload.TimeError
	if err := w.CheckTime(); !errors.As(err, &wrong) {
		return err
	}
	return d.Statements[max(0, wrong.Statement)].Text.Wrong(file, "%s", wrong.Reason)
}

func (d *familyDocument) document() *model.TableDocument {
	t := &model.TableDocument{Name: d.Name, Partition: d.Partition, Clustering: d.Clustering, Values: d.Values}
	if d.Path.Text != "" {
		t.Paths = []model.Placed{d.Path}
	}
	return t
}

// paper puts right what figure 10 of the paper calls by another name than its own model (N-36).
var paper = map[string]string{"User": "Guest"}

func (d *statementDocument) add(file string, data []byte, w *workload.Workload, position int) error {
	text := d.Text.Text
	s, err := workload.Parse(w.Graph, text)
	if name := (*model.NameError)(nil); errors.As(err, &name) && paper[name.Name] != "" && w.Graph.Entity(paper[name.Name]) != nil {
		w.Notes = append(w.Notes, fmt.Sprintf("%s is called %s in %q.", paper[name.Name], name.Name, text))
		text = regexp.MustCompile(`\b`+name.Name+`\b`).ReplaceAllString(text, paper[name.Name])
		s, err = workload.Parse(w.Graph, text)
	}
	if order := (*workload.GroupError)(nil); errors.As(err, &order) && order.Ordered {
		if s, err = workload.ParseLoosely(w.Graph, text); err == nil {
			w.Notes = append(w.Notes, fmt.Sprintf("Left out of the order of %s: %s, of which a group has several values.", d.id(w, position), dropOrder(s.Query)))
		}
	}
	if err != nil {
		return workload.At(file, data, d.Text, d.id(w, position), err)
	}
	s.ID, s.Group, s.Weight = d.id(w, position), d.Group, 1
	w.Statements = append(w.Statements, s)
	return d.weights(file, w, s)
}

// dropOrder takes the fields out of ORDER BY that GROUP BY does not name, and tells which those are.
func dropOrder(q *workload.Query) string {
	var dropped []string
	q.OrderBy = slices.DeleteFunc(q.OrderBy, func(o workload.Order) bool {
		drop := !slices.Contains(q.GroupBy, o.Field)
		if drop {
			dropped = append(dropped, o.Field.String())
		}
		return drop
	})
	return strings.Join(dropped, ", ")
}

var comment = regexp.MustCompile(`--\s*([\w-]+)\s*$`)

// id is the statement's own, or what its comment says (q7 for 7), or qN for its position N; with a number if it is taken.
func (d *statementDocument) id(w *workload.Workload, position int) string {
	id := d.ID
	if found := comment.FindStringSubmatch(d.Text.Text); id == "" && found != nil {
		if id = found[1]; strings.Trim(id, "0123456789") == "" {
			id = "q" + id
		}
	}
	if id == "" {
		id = "q" + strconv.Itoa(position)
	}
	for n, first := 2, id; w.Statement(id) != nil; n++ {
		id = first + "-" + strconv.Itoa(n)
	}
	return id
}

// weights takes over a number, or one for each mix, or lists for time steps.
func (d *statementDocument) weights(file string, w *workload.Workload, s *workload.Statement) error {
	wrong := func(v any) error { return d.Text.Wrong(file, "statement %s: weight %v is not a rate", s.ID, v) }
	if d.Weight != nil {
		weight, steps, ok := rate(d.Weight)
		if !ok {
			return wrong(d.Weight)
		}
		s.Weight, s.Steps = weight, steps
	}
	for _, mix := range slices.Sorted(maps.Keys(d.Weights)) {
		if !slices.Contains(w.Mixes, mix) {
			return d.Text.Wrong(file, "statement %s: %s", s.ID, &model.NameError{What: "mix", Name: mix, Known: w.Mixes})
		}
		weight, steps, ok := rate(d.Weights[mix])
		if !ok {
			return wrong(d.Weights[mix])
		}
		if s.Weights == nil {
			s.Weights = map[string]float64{}
		}
		if s.Weights[mix] = weight; steps != nil {
			if s.MixSteps == nil {
				s.MixSteps = map[string][]float64{}
			}
			s.MixSteps[mix] = steps
		}
	}
	return nil
}

// rate reads a number, or a list of numbers and their mean.
func rate(v any) (float64, []float64, bool) {
	var x float64
	switch v := v.(type) {
	case uint64:
		x = float64(v)
	case int64:
		x = float64(v)
	case float64:
		x = v
	case []any:
		var list []float64
		for _, item := range v {
			step, nested, ok := rate(item)
			if !ok || nested != nil {
				return 0, nil, false
			}
			list = append(list, step)
			x += step
		}
		return x / float64(max(1, len(list))), list, len(list) > 0
	}
	return x, nil, workload.IsWeight(x) && v != nil
}
