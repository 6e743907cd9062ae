package calibrate

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/plan"
)

// Parameter is what the fit says of one parameter of the model.
type Parameter struct {
	Key    string  `json:"key"` // in the file
	Value  float64 `json:"value"`
	Error  float64 `json:"error,omitempty"` // half of the interval that holds it with 95 % confidence
	Fitted bool    `json:"fitted"`
	Why    string  `json:"why,omitempty"` // it is not, or should not be believed
}

// Fitted is a measurement beside what the fitted model predicts.
type Fitted struct {
	Measurement
	Predicted float64 `json:"predicted_ms"`
	Weight    float64 `json:"weight"` // in the fit; the lower, the worse it fits
}

// Error is the relative error of the prediction: 0.1 is ten per cent too much.
func (f *Fitted) Error() float64 { return f.Predicted/f.Median - 1 }

// Result is a calibration.
type Result struct {
	Cluster    Facts       `json:"cluster"`
	Parameters []Parameter `json:"parameters"`
	Shapes     []Fitted    `json:"shapes"`
	R2         float64     `json:"r2"`           // of the logarithms
	MedianOff  float64     `json:"median_error"` // relative
	MostOff    float64     `json:"worst_error"`
	Notes      []string    `json:"notes,omitempty"`
	model      *cost.Cassandra
}

// Model is the model with the parameters.
func (r *Result) Model() *cost.Cassandra { return r.model }

// field finds a parameter by its key.
func field(p *cost.CassandraParameters, key string) *float64 {
	v := reflect.ValueOf(p).Elem()
	for i := range v.NumField() {
		if k, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ","); k == key {
			f, _ := v.Field(i).Addr().Interface().(*float64)
			return f
		}
	}
	return nil
}

// keys of all parameters that are numbers, as they stand in the file.
func keys() []string {
	var out []string
	t := reflect.TypeFor[cost.CassandraParameters]()
	for i := range t.NumField() {
		if key, _, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ","); t.Field(i).Type.Kind() == reflect.Float64 {
			out = append(out, key)
		}
	}
	return out
}

// times are the keys of the parameters in which latencies are linear.
func times() []string {
	return slices.DeleteFunc(keys(), func(k string) bool { return !strings.HasSuffix(k, "_ms") })
}

// given are parameters that follow from the cluster, and judged those that a calibration does not touch.
var (
	given  = []string{"nodes", "replication"}
	judged = map[string]string{
		"partition_bytes":      "not measured: partitions of that size are not made for a test",
		"partition_bytes_most": "not measured: a limit, not a time",
		"large":                "not measured: partitions of that size are not made for a test",
		"hot":                  "not measured: a matter of load, not of one request",
	}
)

// curve is a parameter in which latencies are not linear: it is found by search, between bounds.
type curve struct {
	key         string
	least, most float64
}

// passes over all curves.
const passes = 2

var curves = []curve{{"parallel", 1, parallel}, {"spread", 0.01, 1}}

// Fit finds the parameters. The same measurements give the same.
//
// Latencies are linear in the times, so the columns of a least squares problem are what the model itself answers when one time
// is made longer (Shape.predict): the fit knows nothing of the model's form. Around it, what is not linear is searched, one
// parameter after the other, by golden sections.
func Fit(set *Set) (*Result, error) {
	base := cost.CassandraParameters{Nodes: float64(set.Cluster.Nodes), Replication: float64(set.Cluster.Replication), Consistency: set.Cluster.Consistency}
	m, err := cost.NewCassandra(base)
	if err != nil {
		return nil, fmt.Errorf("calibrate: %w", err)
	}
	if len(set.Measurements) == 0 {
		return nil, errNothing
	}
	for i := range set.Measurements {
		if x := &set.Measurements[i]; !(x.Median > 0 && x.Median < math.MaxFloat32) {
			return nil, fmt.Errorf("calibrate: %s took %g ms", x.Name, x.Median)
		}
	}
	f := &fitting{set: set, keys: times()}
	for i := range set.Measurements {
		f.steps = append(f.steps, set.Measurements[i].step())
	}
	p := m.Parameters()
	// Times are expected to be in proportion to the defaults.
	ratios := make([]float64, len(set.Measurements))
	for i := range set.Measurements {
		ratios[i] = set.Measurements[i].Median / set.Measurements[i].predict(m)
	}
	p = p.Scaled(medianOf(ratios))
	blind, err := f.blind(p)
	if err != nil {
		return nil, err
	}
	open := slices.DeleteFunc(slices.Clone(curves), func(c curve) bool { return blind[c.key] })
	for pass := range passes {
		if pass > 0 && len(open) < 2 {
			break // there is none to be adjusted to
		}
		for _, c := range open {
			at := field(&p, c.key)
			*at = golden(func(v float64) float64 { *at = v; return f.loss(p) }, c.least, c.most)
		}
	}
	l, used, err := f.problem(p)
	if err != nil {
		return nil, err
	}
	s, err := l.solve()
	if err != nil {
		return nil, err
	}
	r := &Result{Cluster: set.Cluster, Notes: set.Notes}
	for j, key := range used {
		*field(&p, key) = s.coefficients[j]
	}
	if r.model, err = cost.NewCassandra(p); err != nil {
		return nil, fmt.Errorf("calibrate: what was fitted is no model: %w", err)
	}
	r.describe(p, l, s, used, blind)
	r.judge(set, s)
	return r, nil
}

// fitting is the problem for given curves.
type fitting struct {
	set   *Set
	keys  []string
	steps []*plan.Step // of the measurements
}

// problem makes the least squares problem of the times that show in any measurement.
func (f *fitting) problem(p cost.CassandraParameters) (l *linear, used []string, err error) {
	l = &linear{}
	none := p
	for _, key := range f.keys {
		*field(&none, key) = tiny
	}
	zero, err := cost.NewCassandra(none)
	if err != nil {
		return nil, nil, fmt.Errorf("calibrate: %w", err)
	}
	for i := range f.set.Measurements {
		m := &f.set.Measurements[i]
		l.y, l.spread = append(l.y, m.Median), append(l.spread, m.spread())
	}
	l.x = make([][]float64, len(l.y))
	for _, key := range f.keys {
		one := none
		*field(&one, key) = 1
		with, err := cost.NewCassandra(one)
		if err != nil {
			return nil, nil, fmt.Errorf("calibrate: %w", err)
		}
		column, shows := make([]float64, len(l.y)), false
		for i := range f.set.Measurements {
			m := &f.set.Measurements[i]
			if column[i] = m.price(with, f.steps[i]) - m.price(zero, f.steps[i]); column[i] > 1e-9 {
				shows = true
			}
		}
		if !shows {
			continue
		}
		used = append(used, key)
		expected := *field(&p, key)
		if expected == 0 { // of those that are none unless they are measured
			expected = map[string]float64{"cell_ms": p.Row / 10, "scan_cell_ms": p.Scanned / 10, "batch_start_ms": p.Request}[key]
		}
		l.expected, l.least = append(l.expected, expected), append(l.least, expected/1000)
		for i := range column {
			l.x[i] = append(l.x[i], column[i])
		}
	}
	return l, used, nil
}

// blind are the curves whose effect the times could have as well: those that can not be told from them. It is judged where the times
// fit best, with the curves as expected.
func (f *fitting) blind(p cost.CassandraParameters) (map[string]bool, error) {
	out := map[string]bool{}
	l, used, err := f.problem(p)
	if err != nil {
		return nil, err
	}
	s, err := l.solve()
	if err != nil {
		return nil, err
	}
	for j, key := range used {
		*field(&p, key) = s.coefficients[j]
	}
	for _, c := range curves {
		bent := p
		at := field(&bent, c.key)
		step := 0.01 * *at
		if *at+step > c.most {
			step = -step
		}
		*at += step
		before, err := cost.NewCassandra(p)
		if err != nil {
			return nil, fmt.Errorf("calibrate: %w", err)
		}
		after, err := cost.NewCassandra(bent)
		if err != nil {
			return nil, fmt.Errorf("calibrate: %w", err)
		}
		wider := &linear{x: make([][]float64, len(l.x)), y: l.y, spread: l.spread, expected: append(slices.Clone(l.expected), *at), least: append(slices.Clone(l.least), 0)}
		size := 0.0
		for i := range l.x {
			m := &f.set.Measurements[i]
			d := (m.price(after, f.steps[i]) - m.price(before, f.steps[i])) / step
			wider.x[i] = append(slices.Clone(l.x[i]), d)
			size = max(size, math.Abs(d)/m.Median)
		}
		wide := &solution{weights: s.weights, coefficients: append(slices.Clone(s.coefficients), 0)}
		wider.certainty(wide)
		out[c.key] = size < 1e-6 || wide.share[len(used)] <= separable
	}
	return out, nil
}

// tiny is a time that is as good as none; the model takes 0 for its default.
const tiny = 1e-15

// loss is how badly the best fit with given curves fits.
func (f *fitting) loss(p cost.CassandraParameters) float64 {
	l, _, err := f.problem(p)
	if err != nil {
		return math.Inf(1)
	}
	s, err := l.solve()
	if err != nil {
		return math.Inf(1)
	}
	sum := 0.0
	for i, r := range l.residuals(s.coefficients) {
		sum += r / l.deviation(i)
	}
	return sum
}

// golden finds where a function is least, by golden sections, after a look at a few places.
func golden(f func(float64) float64, least, most float64) float64 {
	const places, ratio = 7, 0.6180339887498949
	best, at := math.Inf(1), 0
	for i := range places + 1 {
		if v := f(least + (most-least)*float64(i)/places); v < best {
			best, at = v, i
		}
	}
	a, b := least+(most-least)*float64(max(0, at-1))/places, least+(most-least)*float64(min(places, at+1))/places
	c, d := b-(b-a)*ratio, a+(b-a)*ratio
	fc, fd := f(c), f(d)
	for range 12 {
		if fc <= fd {
			b, d, fd = d, c, fc
			c = b - (b-a)*ratio
			fc = f(c)
		} else {
			a, c, fc = c, d, fd
			d = a + (b-a)*ratio
			fd = f(d)
		}
	}
	return (a + b) / 2
}

// describe lists the parameters, and says which were not told.
func (r *Result) describe(p cost.CassandraParameters, l *linear, s *solution, used []string, blind map[string]bool) {
	defaults, _ := cost.NewCassandra(cost.CassandraParameters{Nodes: p.Nodes, Replication: p.Replication})
	d := defaults.Parameters()
	for _, key := range keys() {
		x := Parameter{Key: key, Value: *field(&p, key)}
		at := slices.Index(used, key)
		switch {
		case slices.Contains(given, key):
			x.Why = "the cluster's"
		case judged[key] != "":
			x.Why = "the default; " + judged[key]
		case blind[key]:
			x.Why = "the default; " + unseen(key, &r.Cluster)
		case slices.ContainsFunc(curves, func(c curve) bool { return c.key == key }):
			x.Fitted = true
		case at < 0:
			x.Why = "the default, scaled to this cluster; nothing that was measured shows it"
			if x.Value == *field(&d, key) {
				x.Why = "the default; nothing that was measured shows it"
			}
		case s.share[at] <= separable:
			x.Why = "the default's share of a time that can not be told apart here from that of others"
		default:
			x.Fitted, x.Error = true, 1.96*s.errors[at]
			if x.Value <= 1.001*l.least[at] {
				x.Why = "too little to be measured here"
			} else if x.Error > x.Value {
				x.Why = "uncertain: it may be nothing"
			}
		}
		r.Parameters = append(r.Parameters, x)
	}
}

// unseen says why a curve shows in nothing.
func unseen(key string, f *Facts) string {
	if key == "spread" && f.Replication == 1 {
		return "with one replica of each row nothing waits for the slower of two"
	}
	if key == "spread" {
		return "nothing that was measured waits for the slower of two"
	}
	return "nothing that was measured shows it"
}

// judge compares measurements and predictions.
func (r *Result) judge(set *Set, s *solution) {
	var off, logs []float64
	for i := range set.Measurements {
		f := Fitted{Measurement: set.Measurements[i], Weight: s.weights[i]}
		f.Predicted = f.predict(r.model)
		r.Shapes = append(r.Shapes, f)
		off, logs = append(off, math.Abs(f.Error())), append(logs, math.Log(f.Median))
	}
	r.MedianOff, r.MostOff = medianOf(off), slices.Max(off)
	mean := 0.0
	for _, v := range logs {
		mean += v / float64(len(logs))
	}
	around, within := 0.0, 0.0
	for i := range r.Shapes {
		around += (logs[i] - mean) * (logs[i] - mean)
		d := logs[i] - math.Log(r.Shapes[i].Predicted)
		within += d * d
	}
	if around > 0 {
		r.R2 = 1 - within/around
	}
}

// medianOf does not touch the list.
func medianOf(list []float64) float64 {
	list = slices.Clone(list)
	slices.Sort(list)
	return quantile(list, 0.5)
}
