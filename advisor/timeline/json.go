package timeline

import (
	"io"
	"math"

	"github.com/helenus-db/helenus/internal/words"
)

// The calendar in JSON (docs/schema/timeline.json).
type (
	calendarJSON struct {
		Name       string             `json:"name"`
		Mix        string             `json:"mix,omitempty"`
		Model      string             `json:"cost_model"`
		Unit       string             `json:"unit"`
		Status     string             `json:"status"`
		Cost       float64            `json:"cost"`
		Bound      float64            `json:"bound"`
		Gap        float64            `json:"gap"`
		Mode       string             `json:"mode"`
		Space      float64            `json:"space,omitempty"`
		Full       float64            `json:"space_full,omitempty"`
		Steps      []stepJSON         `json:"steps"`
		Baselines  []baselineJSON     `json:"baselines"`
		Candidates int                `json:"candidates"`
		Kept       int                `json:"promising,omitempty"`
		Locals     int                `json:"local_programs,omitempty"`
		Rounds     int                `json:"rounds"`
		Engine     string             `json:"engine"`
		Stopped    string             `json:"stopped,omitempty"`
		Notes      []string           `json:"notes,omitempty"`
		Truncated  []string           `json:"truncated,omitempty"`
		Elapsed    map[string]float64 `json:"elapsed_ms"`
	}
	stepJSON struct {
		Step          int             `json:"step"`
		Seconds       float64         `json:"seconds"`
		Cost          float64         `json:"cost"`
		MigrationCost float64         `json:"migration_cost"`
		Bytes         float64         `json:"bytes"`
		Tables        []tableJSON     `json:"tables"`
		Created       []string        `json:"created"`
		Dropped       []string        `json:"dropped"`
		Plans         []planJSON      `json:"plans"`
		Migrations    []migrationJSON `json:"migrations"`
	}
	tableJSON struct {
		Name     string   `json:"name"`
		Existing bool     `json:"existing"`
		Notation string   `json:"notation"`
		Path     string   `json:"path"`
		Bytes    float64  `json:"bytes"`
		CQL      []string `json:"cql,omitempty"`
	}
	planJSON struct {
		Statement string   `json:"statement"`
		Rate      float64  `json:"rate"`
		Cost      float64  `json:"cost"`
		Latency   float64  `json:"latency"`
		Total     float64  `json:"total"`
		Kind      string   `json:"kind"`
		Tables    []string `json:"tables"`
		Changed   bool     `json:"changed"`
	}
	migrationJSON struct {
		Table   string       `json:"table"`
		Query   string       `json:"query"`
		Of      string       `json:"of,omitempty"`
		Sources []sourceJSON `json:"sources"`
		Plan    []string     `json:"plan,omitempty"`
		Extract float64      `json:"extract"`
		Load    float64      `json:"load"`
		Keep    float64      `json:"keep"`
		Seconds float64      `json:"seconds"`
		Rows    float64      `json:"rows"`
		Bytes   float64      `json:"bytes"`
	}
	sourceJSON struct {
		Table string   `json:"table"`
		On    []string `json:"on,omitempty"`
	}
	baselineJSON struct {
		Name   string    `json:"name"`
		Cost   float64   `json:"cost"`
		Less   float64   `json:"less"`
		Steps  []float64 `json:"steps"`
		Tables int       `json:"tables"`
		Bytes  float64   `json:"bytes"`
		Proven bool      `json:"proven"`
	}
)

// JSON writes the calendar for programs. The same calendar writes the same bytes, but for elapsed_ms.
func (c *Calendar) JSON(w io.Writer) error {
	out := calendarJSON{Name: c.Name, Mix: c.Mix, Model: c.Model, Unit: c.Unit, Status: "feasible", Cost: c.Cost, Bound: c.Bound, Gap: c.Gap, Mode: "exact",
		Space: math.Floor(c.Space), Full: math.Round(c.Full), Steps: []stepJSON{}, Baselines: []baselineJSON{}, Candidates: c.Candidates, Kept: c.Kept,
		Locals: c.Locals, Rounds: c.Rounds, Engine: c.Engine, Stopped: c.Stopped, Notes: c.Notes, Truncated: c.Truncated, Elapsed: map[string]float64{}}
	if c.Proven {
		out.Status = "optimal"
	}
	if c.Pruned {
		out.Mode = "pruned"
	}
	for _, p := range c.Phases {
		out.Elapsed[p.Name] += float64(p.Duration.Microseconds()) / 1000
	}
	out.Elapsed["total"] = float64(c.Duration.Microseconds()) / 1000
	for _, s := range c.Steps {
		out.Steps = append(out.Steps, s.json())
	}
	for _, b := range c.Baselines {
		out.Baselines = append(out.Baselines, baselineJSON{b.Name, b.Cost, c.Less(b), b.Steps, b.Tables, math.Round(b.Bytes), b.Proven})
	}
	return words.JSON(w, out)
}

func (x *Step) json() stepJSON {
	j := stepJSON{Step: x.Number, Seconds: x.Duration.Seconds(), Cost: x.Cost, MigrationCost: x.MigrationCost, Bytes: math.Round(x.Bytes), Tables: []tableJSON{},
		Created: append([]string{}, x.Created...), Dropped: append([]string{}, x.Dropped...), Plans: []planJSON{}, Migrations: []migrationJSON{}}
	for _, t := range x.Tables {
		j.Tables = append(j.Tables, tableJSON{t.Name, !t.IsNew(), t.Table.String(), t.Table.Whole().Path(), math.Round(t.Bytes), t.DDL()})
	}
	for _, p := range x.Plans {
		j.Plans = append(j.Plans, planJSON{p.Statement.Statement.ID, p.Rate, p.Cost.Work, p.Cost.Latency, p.Total, p.planKind(), append([]string{}, p.Tables...), p.Changed})
	}
	for _, m := range x.Migrations {
		y := migrationJSON{Table: m.Table, Query: m.Question.String(), Of: m.Of, Sources: []sourceJSON{}, Extract: m.Extract, Load: m.Load, Keep: m.Keep,
			Seconds: m.Estimated.Seconds(), Rows: math.Round(m.Rows), Bytes: math.Round(m.Bytes)}
		for _, s := range m.Sources {
			z := sourceJSON{Table: s.Name}
			for _, f := range s.On {
				z.On = append(z.On, f.String())
			}
			y.Sources = append(y.Sources, z)
		}
		if m.Plan != nil {
			for i := range m.Plan.Steps {
				y.Plan = append(y.Plan, m.Plan.Steps[i].Text(x.tableNamer(m)))
			}
		}
		j.Migrations = append(j.Migrations, y)
	}
	return j
}
