package options

import (
	"io"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/internal/words"
)

// The report in JSON.
type (
	reportJSON struct {
		Name        string       `json:"name"`
		Mix         string       `json:"mix,omitempty"`
		Indexes     int          `json:"indexes"`
		Score       string       `json:"score"`
		Fields      int          `json:"fields"`
		Combined    float64      `json:"combined"` // schemas before merging
		Looked      float64      `json:"looked_at"`
		Merged      float64      `json:"merged"` // different schemas after merging
		Made        int          `json:"options_made"`
		Queries     []queryJSON  `json:"queries"`
		Groups      []groupJSON  `json:"groups,omitempty"`
		Options     []optionJSON `json:"options"`
		Unsupported []Remark     `json:"unsupported"`
		Cut         []string     `json:"cut"`
		Remarks     []Remark     `json:"remarks"`
	}
	queryJSON struct {
		ID       string      `json:"id"`
		Selected []string    `json:"selected"`
		Filters  []string    `json:"filters"`
		Count    int         `json:"variant_count"`
		Variants []tableJSON `json:"variants,omitempty"`
	}
	groupJSON struct {
		Queries []string      `json:"queries"`
		Steps   []stepJSON    `json:"steps"`
		Schemas [][]tableJSON `json:"schemas"`
	}
	stepJSON struct {
		Before []tableJSON   `json:"before"`
		After  [][]tableJSON `json:"after"`
	}
	optionJSON struct {
		Rank     int         `json:"rank"`
		Name     string      `json:"name"`
		Given    bool        `json:"given,omitempty"`
		Score    float64     `json:"score"`
		Metrics  metricsJSON `json:"metrics"`
		Tables   []tableJSON `json:"tables"`
		Writes   []writeJSON `json:"writes"`
		Warnings []string    `json:"warnings,omitempty"`
	}
	metricsJSON struct {
		Tables         int     `json:"tables"`
		Indexes        int     `json:"indexes"`
		Columns        int     `json:"columns"`
		AvgIndexes     float64 `json:"average_indexes"`
		AvgDuplication float64 `json:"average_duplication"`
		WriteRequests  float64 `json:"write_requests"`
		WriteMean      float64 `json:"write_requests_unweighted"`
		Storage        float64 `json:"storage"`
		JoinRows       float64 `json:"join_rows_at_most"`
		Read           float64 `json:"read"`
		Surplus        float64 `json:"surplus"`
	}
	tableJSON struct {
		Purpose  string     `json:"purpose"`
		For      string     `json:"for,omitempty"`
		Key      []string   `json:"key"`
		Indexes  [][]string `json:"indexes"`
		Rest     []string   `json:"rest"`
		Notation string     `json:"notation"` // [partition][clustering][values], as Cassandra has it
	}
	writeJSON struct {
		Statement string `json:"statement"`
		Reads     int    `json:"reads"`
		Writes    int    `json:"writes"`
	}
)

// JSON writes the report; top bounds how many options are part of it, besides designs that were given.
func (r *Report) JSON(w io.Writer, top int) error {
	d := reportJSON{
		Name: r.Name, Mix: r.Mix, Indexes: r.Indexes, Score: r.Score, Fields: r.Fields, Combined: r.Combined, Looked: r.Looked, Merged: r.Merged, Made: r.madeCount(),
		Queries: []queryJSON{}, Options: []optionJSON{}, Unsupported: nonNil(r.Unsupported), Cut: nonNil(r.Cut), Remarks: nonNil(r.Remarks),
	}
	for _, q := range r.Queries {
		x := queryJSON{ID: q.ID, Selected: model.Names(q.Selected), Filters: model.Names(q.Filters), Count: len(q.Variants)}
		if r.Groups != nil {
			x.Variants = tablesJSON(q.Variants)
		}
		d.Queries = append(d.Queries, x)
	}
	for _, g := range r.Groups {
		x := groupJSON{Queries: g.Queries, Steps: []stepJSON{}, Schemas: schemasJSON(g.Schemas)}
		for _, s := range g.Steps {
			x.Steps = append(x.Steps, stepJSON{tablesJSON(s.Before), schemasJSON(s.After)})
		}
		d.Groups = append(d.Groups, x)
	}
	for _, o := range r.Best(top) {
		x := optionJSON{Rank: o.Rank, Name: o.Name, Given: o.Given, Score: o.Score, Metrics: metricsJSON(o.Metrics), Tables: tablesJSON(o.Tables), Writes: []writeJSON{}, Warnings: o.Warnings}
		for _, c := range o.Writes {
			x.Writes = append(x.Writes, writeJSON{c.Statement, c.Reads, c.Writes})
		}
		d.Options = append(d.Options, x)
	}
	return words.JSON(w, d)
}

// nonNil is the list, empty instead of null.
func nonNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func tablesJSON(list []*Table) []tableJSON {
	out := make([]tableJSON, len(list))
	for i, t := range list {
		out[i] = tableJSON{Purpose: string(t.Purpose), For: t.For, Key: model.Names(t.Key()), Indexes: [][]string{}, Rest: model.Names(t.Rest()), Notation: t.Physical().String()}
		for _, x := range t.Indexes() {
			out[i].Indexes = append(out[i].Indexes, model.Names(x))
		}
	}
	return out
}

func schemasJSON(list [][]*Table) [][]tableJSON {
	out := make([][]tableJSON, len(list))
	for i, s := range list {
		out[i] = tablesJSON(s)
	}
	return out
}
