package main

import (
	"fmt"
	"io"

	"github.com/helenus-db/helenus/internal/words"
)

// row is a line of the table.
type row struct {
	What     string  `json:"what"`
	Direct   float64 `json:"direct,omitempty"`
	Splice   float64 `json:"splice,omitempty"`
	Helenus  float64 `json:"helenus"`
	Unit     string  `json:"unit"`
	Measured float64 `json:"measured"`        // what is judged: a ratio, or a figure in Unit
	Ratio    bool    `json:"ratio,omitempty"` // Measured is a ratio
	Must     float64 `json:"must,omitempty"`  // Measured may not be above; 0: it is not judged
	OK       bool    `json:"ok"`
	Note     string  `json:"note,omitempty"`
}

// judge fills in OK.
func (r row) judge() row {
	r.OK = r.Must == 0 || r.Measured <= r.Must
	return r
}

func write(out io.Writer, rows []row, asJSON bool) error {
	if asJSON {
		return words.JSON(out, rows)
	}
	fmt.Fprintf(out, "%-68s %9s %9s %9s  %-8s %9s %9s\n", "", "direct", "splice", "helenus", "", "measured", "must be")
	for _, r := range rows {
		measured, must := r.figure(r.Measured), ""
		verdict := ""
		if r.Must > 0 {
			must = "<= " + r.figure(r.Must)
			verdict = map[bool]string{true: "ok", false: "FAILED"}[r.OK]
		}
		fmt.Fprintf(out, "%-68s %9s %9s %9s  %-8s %9s %9s  %s\n", r.What, plain(r.Direct), plain(r.Splice), plain(r.Helenus), r.Unit, measured, must, verdict)
		if r.Note != "" {
			fmt.Fprintf(out, "%-68s   %s\n", "", r.Note)
		}
	}
	return nil
}

func plain(v float64) string {
	switch {
	case v == 0:
		return "-"
	case v < 0.01:
		return fmt.Sprintf("%.4f", v)
	case v < 100:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

func (r row) figure(v float64) string {
	if r.Ratio {
		return fmt.Sprintf("%.2fx", v)
	}
	if v == 0 {
		return "0"
	}
	return plain(v)
}
