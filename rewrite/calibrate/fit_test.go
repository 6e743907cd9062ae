package calibrate_test

import (
	"bytes"
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/rewrite/calibrate"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestGolden: the same measurements, of a real cluster, give the same parameters, texts and chart, byte for byte.
func TestGolden(t *testing.T) {
	data, err := os.ReadFile("testdata/measured.json")
	if err != nil {
		t.Fatal(err)
	}
	set, err := calibrate.Read("measured.json", data)
	if err != nil {
		t.Fatal(err)
	}
	r, err := calibrate.Fit(set)
	if err != nil {
		t.Fatal(err)
	}
	var parameters, text, plot, again bytes.Buffer
	for w, write := range map[*bytes.Buffer]func() error{
		&parameters: func() error { return r.WriteParameters(&parameters) },
		&text:       func() error { return r.Text(&text) },
		&plot:       func() error { return r.Plot(&plot) },
		&again:      func() error { return r.JSON(&again) },
	} {
		if err := write(); err != nil || w.Len() == 0 {
			t.Fatalf("%d bytes, %v", w.Len(), err)
		}
	}
	golden(t, "calibration.yaml", parameters.Bytes())
	golden(t, "calibration.txt", text.Bytes())
	golden(t, "calibration.svg", plot.Bytes())
	reread, err := calibrate.Read("again", again.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(set, reread); diff != "" {
		t.Errorf("what --json prints is not what --measurements reads:\n%s", diff)
	}

	// N-35: the file is a cost model like any other.
	file := filepath.Join(t.TempDir(), "calibration.yaml")
	if err := os.WriteFile(file, parameters.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	m, err := cost.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	c, ok := m.(*cost.Cassandra)
	if !ok {
		t.Fatalf("the file is a model %s", m.Name())
	}
	for i := range r.Shapes {
		s := &r.Shapes[i]
		step := &plan.Step{Kind: plan.Filter, Rows: s.Rows}
		if price := c.Step(step, false); price != (cost.Cost{}) { // N-33
			t.Errorf("a filter of %g rows costs %v", s.Rows, price)
		}
	}
	own := reflect.ValueOf(r.Model().Parameters())
	for i, v := 0, reflect.ValueOf(c.Parameters()); i < v.NumField(); i++ {
		name := v.Type().Field(i).Name
		if v.Field(i).Kind() != reflect.Float64 {
			continue
		}
		if a, b := v.Field(i).Float(), own.Field(i).Float(); math.Abs(a-b) > 0.001*math.Abs(b) {
			t.Errorf("%s is %g in the file, %g was fitted", name, a, b)
		}
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (run with -update if the change is meant; -want +got):\n%s", file, diff)
	}
}

// synthetic are the measurements that a cluster with these parameters would give: each shape some times, with noise, and with
// accidents.
func synthetic(p cost.CassandraParameters, times int, noise, accidents float64, r *rand.Rand) (*calibrate.Set, *cost.Cassandra, error) {
	m, err := cost.NewCassandra(p)
	if err != nil {
		return nil, nil, err
	}
	p = m.Parameters()
	set := &calibrate.Set{Cluster: calibrate.Facts{Version: "made up", DataCentre: "dc", Nodes: int(p.Nodes), Replication: int(p.Replication), Consistency: p.Consistency}}
	shapes, err := calibrate.Shapes(false, int(p.Replication))
	if err != nil {
		return nil, nil, err
	}
	for _, s := range shapes {
		samples := make([]float64, times)
		for i := range samples {
			if samples[i] = calibrate.Predict(&s, m) * math.Exp(noise*r.NormFloat64()); r.Float64() < accidents {
				samples[i] *= 2 + 20*r.Float64()
			}
		}
		set.Measurements = append(set.Measurements, calibrate.Summary(s, samples))
	}
	return set, m, nil
}

// TestRecovered: parameters that are known, on clusters of any shape, are found again from requests that take a tenth
// more or less, one of twenty much longer. N-31 (a linear fit of what was measured over widths and numbers of gets).
// HELENUS_CALIBRATE_CASES raises the number of clusters.
func TestRecovered(t *testing.T) {
	cases := 12
	if n, err := strconv.Atoi(os.Getenv("HELENUS_CALIBRATE_CASES")); err == nil {
		cases = n
	}
	for seed := range cases {
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		p := cost.Default().Parameters()
		p.Nodes = float64(1 + r.IntN(6))
		p.Replication = float64(1 + r.IntN(int(min(3, p.Nodes))))
		p.Consistency = []string{"ONE", "QUORUM", "ALL"}[r.IntN(3)]
		p.Parallel = 1.5 + 6.5*r.Float64()
		if p.Replication > 1 { // else it can not be told, and is left
			p.Spread = 0.2 + 0.7*r.Float64()
		}
		p.Cell, p.ScanCell, p.BatchStart, p.Tombstone = 0.0005, 0.0002, 0.3, 0.001
		p = p.Scaled(math.Exp(3*r.Float64() - 1.5))
		v := reflect.ValueOf(&p).Elem()
		known := map[string]float64{}
		for i := range v.NumField() {
			key, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ",")
			if v.Field(i).Kind() != reflect.Float64 {
				continue
			}
			if strings.HasSuffix(key, "_ms") {
				v.Field(i).SetFloat(v.Field(i).Float() * math.Exp(1.4*r.Float64()-0.7))
			}
			known[key] = v.Field(i).Float()
		}
		set, truth, err := synthetic(p, 100, 0.1, 0.05, r)
		if err != nil {
			t.Fatal(err)
		}
		result, err := calibrate.Fit(set)
		if err != nil {
			t.Fatal(err)
		}
		var off []float64
		for i := range set.Measurements {
			s := &set.Measurements[i].Shape
			off = append(off, math.Abs(calibrate.Predict(s, result.Model())/calibrate.Predict(s, truth)-1))
		}
		slices.Sort(off)
		if median, most := off[len(off)/2], off[len(off)*9/10]; median > 0.03 || most > 0.1 {
			t.Errorf("cluster %d: predictions are off by %.3f (median), %.3f (nine of ten)", seed, median, most)
		}
		certain := 0
		for _, x := range result.Parameters {
			if !x.Fitted || x.Error == 0 || x.Error > 0.2*x.Value {
				continue
			}
			// What is said to be certain to a fifth is right to a third, or to three times what it is said to be certain to.
			if certain++; math.Abs(x.Value-known[x.Key]) > max(0.33*known[x.Key], 3*x.Error) {
				t.Errorf("cluster %d (%g nodes, replication %g, %s): %s is %.5g +- %.2g, and was %.5g", seed, p.Nodes, p.Replication, p.Consistency, x.Key, x.Value, x.Error, known[x.Key])
			}
		}
		if certain < 10 {
			t.Errorf("cluster %d: only %d parameters are certain to a fifth", seed, certain)
		}
	}
}

// TestExact: without noise every time is found to a thousandth, and nothing is left open on one node but what only several show.
func TestExact(t *testing.T) {
	p := cost.CassandraParameters{Nodes: 1, Consistency: "ONE", Parallel: 3, Cell: 0.0004, ScanCell: 0.0002, BatchStart: 0.3, Request: 0.21, Replica: 0.13, Put: 0.17}
	set, truth, err := synthetic(p, 1, 0, 0, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	r, err := calibrate.Fit(set)
	if err != nil {
		t.Fatal(err)
	}
	want, got := reflect.ValueOf(truth.Parameters()), reflect.ValueOf(r.Model().Parameters())
	for i := range want.NumField() {
		if want.Field(i).Kind() == reflect.Float64 && math.Abs(got.Field(i).Float()/want.Field(i).Float()-1) > 0.001 {
			t.Errorf("%s is %g, and was %g", want.Type().Field(i).Name, got.Field(i).Float(), want.Field(i).Float())
		}
	}
	var open []string
	for _, x := range r.Parameters {
		if !x.Fitted {
			open = append(open, x.Key)
			if x.Why == "" {
				t.Errorf("%s is not fitted, and it is not said why", x.Key)
			}
		}
	}
	if diff := cmp.Diff([]string{"nodes", "replication", "spread", "partition_bytes", "partition_bytes_most", "large", "hot"}, open); diff != "" {
		t.Errorf("not fitted (-want +got):\n%s", diff)
	}
	if r.R2 < 0.99999 {
		t.Errorf("R2 is %g", r.R2)
	}
}

// TestTold: what can not be told apart keeps its default's share, and that is said.
func TestTold(t *testing.T) {
	set, truth, err := synthetic(cost.CassandraParameters{Nodes: 1, Consistency: "ONE"}, 1, 0, 0, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		without func(m calibrate.Measurement) bool
		open    []string
	}{
		"an answer that no replica has a part in": {func(m calibrate.Measurement) bool { return m.Unasked },
			[]string{"request_ms", "replica_ms", "put_ms", "batch_ms", "index_node_ms", "sai_node_ms", "scan_node_ms"}},
		"storage-attached indexes": {func(m calibrate.Measurement) bool { return m.SAI }, []string{"sai_node_ms", "sai_row_ms", "sai_put_ms"}},
		"collections":              {func(m calibrate.Measurement) bool { return m.Family == "collections" }, []string{"element_ms"}},
		"scans but of one size":    {func(m calibrate.Measurement) bool { return m.Kind == plan.Scan && m.Scanned != 1000 }, []string{"scan_node_ms", "scan_row_ms", "scan_cell_ms"}},
	} {
		less := *set
		less.Measurements = slices.DeleteFunc(slices.Clone(set.Measurements), c.without)
		r, err := calibrate.Fit(&less)
		if err != nil {
			t.Fatal(err)
		}
		var open []string
		for _, x := range r.Parameters {
			if strings.HasSuffix(x.Key, "_ms") && !x.Fitted {
				open = append(open, x.Key)
			}
		}
		if diff := cmp.Diff(c.open, open); diff != "" {
			t.Errorf("without %s (-want +got):\n%s", name, diff)
		}
		for i := range r.Shapes {
			s := &r.Shapes[i].Shape
			if p, q := calibrate.Predict(s, r.Model()), calibrate.Predict(s, truth); math.Abs(p/q-1) > 0.02 {
				t.Errorf("without %s: %s is predicted to take %g, not %g", name, s.Name, p, q)
			}
		}
	}
}

// TestTurns: an operation's runs follow each other, and the first of each turn, which follows something else, is not counted.
func TestTurns(t *testing.T) {
	times := map[string]int{"get": 2, "scan": 1, "put": 3}
	var ran []string
	rounds, kept, err := calibrate.Rounds(t.Context(), 0, times, func(name string) { ran = append(ran, name) })
	if err != nil {
		t.Fatal(err)
	}
	for i := range kept {
		if x := &kept[i]; x.Count != rounds*times[x.Name] {
			t.Errorf("%s: %d of %d rounds' %d runs are counted", x.Name, x.Count, rounds, times[x.Name])
		}
	}
	for at := 0; at < len(ran); {
		turn := ran[at : at+1+times[ran[at]]]
		if slices.ContainsFunc(turn, func(name string) bool { return name != turn[0] }) {
			t.Fatalf("a turn of %q", turn)
		}
		at += len(turn)
	}
}

func TestRefusedMeasurements(t *testing.T) {
	for text, says := range map[string]string{
		"": "unexpected end", "{}": "no measurements", `{"measurements":[{"name":"x","kind":"dance","median_ms":1}]}`: "no kind of step",
		`{"measurements":[{"name":"x","kind":"get","median_ms":-1}]}`:              "-1 ms",
		`{"measurements":[{"name":"x","kind":"get","rows":-3,"median_ms":1}]}`:     "no number that it could have",
		`{"measurements":[{"name":"x","kind":"get","columns":1e9,"median_ms":1}]}`: "columns",
	} {
		if _, err := calibrate.Read("file", []byte(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", text, err, says)
		}
	}
	if _, err := calibrate.Fit(&calibrate.Set{Cluster: calibrate.Facts{Nodes: 1, Replication: 1, Consistency: "ONE"}}); err == nil {
		t.Error("nothing was fitted")
	}
	if _, err := calibrate.Fit(&calibrate.Set{Cluster: calibrate.Facts{Nodes: 1, Replication: 2, Consistency: "ONE"}}); err == nil {
		t.Error("two replicas on one node")
	}
}

// FuzzFit: whatever can be read can be fitted and written, or is refused.
func FuzzFit(f *testing.F) {
	f.Add([]byte(`{"cluster":{"nodes":1,"replication":1,"consistency":"ONE"},"measurements":[{"name":"a","family":"f","kind":"get","requests":1,"rows":3,"columns":2,"median_ms":1,"p25_ms":1,"p75_ms":2,"count":3}]}`))
	f.Add([]byte(`{"cluster":{"nodes":3,"replication":3,"consistency":"QUORUM"},"shapes":[{"name":"b","family":"f","kind":"scan","requests":1,"scanned":30,"median_ms":1e-9,"p75_ms":1e11}]}`))
	f.Add([]byte(`{"measurements":[{"name":"c","kind":"sort","median_ms":1}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		set, err := calibrate.Read("file", data)
		if err != nil || len(set.Measurements) > 20 {
			return
		}
		r, err := calibrate.Fit(set)
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err := r.WriteParameters(&out); err != nil {
			t.Fatal(err)
		}
		if _, err := cost.ReadCassandra("written", out.Bytes()); err != nil {
			t.Fatalf("what was written can not be read: %v\n%s", err, out.Bytes())
		}
		if err := r.Text(&out); err != nil {
			t.Fatal(err)
		}
	})
}
