package contest

import (
	"io"
	"math"
	"time"

	"github.com/helenus-db/helenus/internal/words"
)

// Result is everything that a contest came to, as it stands in the JSON file.
type Result struct {
	Workload   string             `json:"workload"`
	Command    string             `json:"command"`
	Started    time.Time          `json:"started"`
	Seconds    float64            `json:"seconds"`
	Scale      float64            `json:"scale"`
	Seed       uint64             `json:"seed"`
	Entities   map[string]float64 `json:"entities"` // how many of each there were
	Machine    Machine            `json:"machine"`
	Notes      []string           `json:"notes,omitempty"`
	Incomplete string             `json:"incomplete,omitempty"` // why there is not more
	Failures   int                `json:"failures"`             // requests that were sent anew after Cassandra had failed
	Left       map[string]string  `json:"left_out,omitempty"`   // statements that no entry runs, and why

	CostModel  string      `json:"cost_model"`
	Entries    []*Side     `json:"entries"`
	Requests   []Row       `json:"requests"`
	Mixes      []Mix       `json:"mixes"`
	Disk       *Disk       `json:"disk,omitempty"`
	Splits     []Split     `json:"traced,omitempty"`
	Prediction *Prediction `json:"prediction,omitempty"`
	Growth     []Growth    `json:"growth,omitempty"` // of the advisor's running time
}

// Machine says what it ran on.
type Machine struct {
	Processors int     `json:"processors"`
	Model      string  `json:"model,omitempty"`
	Memory     float64 `json:"memory_bytes,omitempty"`
	System     string  `json:"system"`
	Go         string  `json:"go"`
	Cassandra  string  `json:"cassandra"`
	Heap       string  `json:"heap,omitempty"`
	Load       float64 `json:"load_average,omitempty"` // of the last minute, when it began
}

// Disk is what Cassandra had read from the disk and written to it while requests were measured, in bytes: what the operating system's
// cache has is not read from the disk.
type Disk struct {
	Read    float64 `json:"read_bytes"`
	Written float64 `json:"written_bytes"`
}

// Side is one entry: a design, its tables, and what it took to fill them.
type Side struct {
	Name    string       `json:"name"`
	Mix     string       `json:"mix,omitempty"` // that it was designed for; "" for a schema made by hand
	Tables  []*TableSize `json:"tables"`
	Rows    float64      `json:"rows"`
	Bytes   float64      `json:"bytes_on_disk,omitempty"`
	Said    float64      `json:"bytes_predicted"` // uncompressed
	Seconds float64      `json:"load_seconds"`
	Missing []string     `json:"missing,omitempty"` // statements that it has no plan for
}

// TableSize is a table of an entry.
type TableSize struct {
	Name  string  `json:"name"`
	Table string  `json:"table"`
	Rows  float64 `json:"rows"`
	Bytes float64 `json:"bytes_on_disk,omitempty"`
	Said  float64 `json:"bytes_predicted"`
}

// Row is what one kind of request took over each entry's tables, and each of its statements.
type Row struct {
	Request    string             `json:"request"`
	Statement  string             `json:"statement,omitempty"` // "": the request as a whole
	Text       string             `json:"text,omitempty"`
	Weights    map[string]float64 `json:"weights,omitempty"`
	Took       map[string]Figures `json:"took"`                 // by entry
	Said       map[string]Said    `json:"predicted,omitempty"`  // by entry; of statements
	Statements []string           `json:"statements,omitempty"` // of a request
}

// Said is what the cost model foretold of a statement, milliseconds.
type Said struct {
	Work    float64 `json:"work_ms"`
	Latency float64 `json:"latency_ms"`
}

// Mix is a mix of requests: means weighted by how often each is sent.
type Mix struct {
	Name    string             `json:"name"`
	Ours    string             `json:"ours"` // the entry that was designed for it
	Means   map[string]float64 `json:"mean_ms"`
	Servers map[string]float64 `json:"server_cpu_ms,omitempty"`
	Clients map[string]float64 `json:"client_cpu_ms,omitempty"`
	// Factors are the means by that of Ours.
	Factors map[string]float64 `json:"factors"`
}

// Growth is how long the advisor takes for random workloads of a size.
type Growth struct {
	Scale   int     `json:"scale"`
	Seconds float64 `json:"seconds"` // median
	Least   float64 `json:"least_seconds"`
	Most    float64 `json:"most_seconds"`
	Runs    int     `json:"runs"`
}

// Substitute makes up an entry of others' figures: those of the requests named are another entry's.
type Substitute struct {
	Name, Of string
	Requests map[string]string // a request, and the one that stands for it
}

// Weigh makes the figures of a mix out of the rows: over each entry that ran all requests of the mix. ours is the entry
// that was designed for it. Entries made up of others' figures take part.
func (r *Result) Weigh(mix, ours string, entries []string, made []Substitute) Mix {
	m := Mix{Name: mix, Ours: ours, Means: map[string]float64{}, Servers: map[string]float64{}, Clients: map[string]float64{}, Factors: map[string]float64{}}
	for _, e := range entries {
		s := Substitute{Name: e, Of: e}
		for _, x := range made {
			if x.Name == e {
				s = x
			}
		}
		mean, server, client, ok := r.weighted(mix, s)
		if !ok {
			continue
		}
		m.Means[e], m.Servers[e], m.Clients[e] = mean, server, client
	}
	for e, mean := range m.Means {
		if own := m.Means[ours]; own > 0 {
			m.Factors[e] = mean / own
		}
	}
	return m
}

func (r *Result) weighted(mix string, s Substitute) (mean, server, client float64, ok bool) {
	sum := 0.0
	for i := range r.Requests {
		row := &r.Requests[i]
		w := row.Weights[mix]
		if row.Statement != "" || w == 0 {
			continue
		}
		if other := s.Requests[row.Request]; other != "" {
			if row = r.request(other); row == nil {
				return 0, 0, 0, false
			}
		}
		f, there := row.Took[s.Of]
		if !there || f.Count == 0 {
			return 0, 0, 0, false
		}
		sum += w
		mean += w * f.Mean
		server += w * f.Server
		client += w * f.Client
	}
	if sum == 0 {
		return 0, 0, 0, false
	}
	return mean / sum, server / sum, client / sum, true
}

func (r *Result) request(name string) *Row {
	for i := range r.Requests {
		if r.Requests[i].Request == name && r.Requests[i].Statement == "" {
			return &r.Requests[i]
		}
	}
	return nil
}

// Enter makes the rows of a tally.
func (r *Result) Enter(requests []*Request, mixes []string, tally *Tally, said func(entry, statement string) (Said, bool)) {
	for _, q := range requests {
		row := Row{Request: q.Name, Weights: map[string]float64{}, Took: map[string]Figures{}}
		for _, m := range mixes {
			if w := q.Weight(m); w > 0 {
				row.Weights[m] = w
			}
		}
		for _, s := range q.Statements {
			row.Statements = append(row.Statements, s.ID)
		}
		for name, all := range tally.Requests {
			if s := all[q.Name]; s != nil {
				row.Took[name] = s.Figures()
			}
		}
		r.Requests = append(r.Requests, row)
		for _, s := range q.Statements {
			line := Row{Request: q.Name, Statement: s.ID, Text: s.String(), Took: map[string]Figures{}, Said: map[string]Said{}}
			for name, all := range tally.Statements {
				series := all[Step{q.Name, s.ID}]
				if series == nil {
					continue
				}
				line.Took[name] = series.Figures()
				if said != nil {
					if x, ok := said(name, s.ID); ok {
						line.Said[name] = x
					}
				}
			}
			r.Requests = append(r.Requests, line)
		}
	}
	r.Failures += tally.Failures
}

// JSON writes the result for programs.
func (r *Result) JSON(w io.Writer) error {
	return words.JSON(w, r)
}

// rounded keeps four figures, so that texts do not claim more than was measured.
func rounded(x float64) float64 {
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return x
	}
	scale := math.Pow(10, 3-math.Floor(math.Log10(math.Abs(x))))
	return math.Round(x*scale) / scale
}
