package infer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/correction"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/schema"
)

// Comparison is what is inferred now, and, if a model file was given, what it would make of it.
type Comparison struct {
	File string `json:"file,omitempty"` // the model file of what is inferred now, with the corrections in force

	// Of a file that was given: its corrections, with pins written down; what pins became; and how the model would differ with them.
	Corrections correction.List `json:"corrections"`
	Notes       []string        `json:"notes,omitempty"`
	Changes     []Difference    `json:"changes"`
	States      []Corrected     `json:"states,omitempty"` // what would become of its corrections
	// Unused is what else the file says otherwise than what is inferred with its corrections: nothing of it is taken.
	Unused []Difference `json:"unused,omitempty"`
	// Since is how what is inferred now, with the corrections in force, differs from the file.
	Since []Difference `json:"since,omitempty"`
}

// Difference is one thing that two models say otherwise.
type Difference struct {
	What   string `json:"what"` // entity, relationship, table, statement, weight, count or correction
	Name   string `json:"name"`
	Before string `json:"before,omitempty"` // "": it was not there
	After  string `json:"after,omitempty"`  // "": it is gone
}

// String says it on one line.
func (d *Difference) String() string {
	switch {
	case d.Before == "":
		return fmt.Sprintf("+ %s %s: %s", d.What, d.Name, d.After)
	case d.After == "":
		return fmt.Sprintf("- %s %s: %s", d.What, d.Name, d.Before)
	}
	return fmt.Sprintf("~ %s %s: %s, was %s", d.What, d.Name, d.After, d.Before)
}

// InvalidError says what is wrong with a model file, and where.
type InvalidError struct{ Text string }

func (e *InvalidError) Error() string { return e.Text }

// fileName is what a model file is called in messages: it came without a name.
const fileName = "model file"

// File writes the model and its workload as a file that designs, and imports, read.
func (m *Model) File() (string, error) {
	w := readable(m.Workload)
	if n := len(m.Unexplained); n > 0 {
		w.Notes = append(w.Notes, fmt.Sprintf("%d statements are not in it: the model has no place for them, `helenus model` says which and why.", n))
	}
	if len(m.mirrored) > 0 {
		w.Notes = append(w.Notes, fmt.Sprintf("Reads of materialised views (%s) are in it as reads of what these hold; the views, which the database writes, are not among its tables.", strings.Join(m.mirrored, ", ")))
	}
	var b strings.Builder
	if err := workload.Save(&b, w); err != nil {
		return "", err
	}
	read, err := workload.Read(fileName, []byte(b.String()))
	if err != nil { // rather here than when a design is asked for
		return "", errors.Join(errors.New("the model file that was made can not be read again (please report this)"), err)
	}
	if w.Exported, err = digestOfFile(read); err != nil {
		return "", err
	}
	b.Reset()
	err = workload.Save(&b, w)
	return b.String(), err
}

// digestOfFile names all that a model file says besides its corrections. It is of what was read, not of the text: comments and line breaks are free.
func digestOfFile(w *workload.Workload) (string, error) {
	own := *w
	own.Exported, own.Corrections = "", nil
	h := sha256.New()
	if err := workload.Save(h, &own); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil))[:16], nil
}

// readable is a workload without the tables that can not be read again: those of which rows can share a primary key. A note names them.
func readable(w *workload.Workload) *workload.Workload {
	own := *w
	own.Notes, own.Tables = slices.Clone(w.Notes), nil
	for _, t := range w.Tables {
		if t.Identifies() {
			own.Tables = append(own.Tables, t)
			continue
		}
		own.Notes = append(own.Notes, fmt.Sprintf("Table %s.%s is not in it: by what is inferred its primary key does not tell its rows apart.", t.Keyspace, t.Name))
	}
	return &own
}

// Compare says what is inferred now with the corrections in force, and what a model file would make of it. file may be empty: there is none.
// What is wrong with it is an InvalidError. A line that is in force already may name what is gone; a new one must name what is there.
func Compare(_ context.Context, snapshot *capture.Snapshot, s *schema.Schema, stats []schema.Stats, inForce correction.List, file string) (*Comparison, error) {
	now, err := WithCorrections(snapshot, s, stats, inForce)
	if err != nil {
		return nil, err
	}
	out := &Comparison{Changes: []Difference{}}
	if out.File, err = now.File(); err != nil || file == "" {
		return out, err
	}
	w, err := workload.Read(fileName, []byte(file))
	if err != nil {
		return nil, &InvalidError{err.Error()}
	}
	for i := range w.Corrections {
		if c := &w.Corrections[i]; !inForce.Has(c) {
			if why := Gone(c, s); why != "" {
				return nil, &InvalidError{model.Show(correction.Place(fileName, []byte(file), i).Wrong(fileName, "correction %d (%s): %s%s", i+1, c, why, nearest(c, s)), []byte(file)).Error()}
			}
		}
	}
	out.Corrections, out.Notes = now.Pinned(w.Corrections)
	if i, why := out.Corrections.Contradiction(); i >= 0 {
		return nil, &InvalidError{fmt.Sprintf("%s: with what is pinned, %s", fileName, why)}
	}
	then, err := WithCorrections(snapshot, s, stats, out.Corrections)
	if err != nil {
		return nil, err
	}
	out.States = then.Corrections
	was, is := readable(now.Workload), readable(then.Workload) // as files have them
	out.Changes = append(out.Changes, differences(was, is, drift)...)
	out.Since = differences(w, was, drift)
	out.Unused = unused(w, was, is)
	return out, nil
}

// unused is what a file says that is neither as it is inferred now, nor as it would be with the file's corrections: what somebody edited. Weights go with
// the traffic, so they are compared in multiples of what all have become since.
func unused(w, now, then *workload.Workload) (out []Difference) {
	if digest, err := digestOfFile(w); err == nil && digest == w.Exported { // nothing was: what differs, traffic brought since
		return nil
	}
	var ratios []float64
	for _, s := range w.Statements {
		if t := then.Statement(s.ID); t != nil && s.Weight > 0 {
			ratios = append(ratios, t.Weight/s.Weight)
		}
	}
	scaled := *w
	if slices.Sort(ratios); len(ratios) > 0 {
		scaled.Statements = slices.Clone(w.Statements)
		for i, s := range scaled.Statements {
			own := *s
			own.Weight *= ratios[len(ratios)/2]
			scaled.Statements[i] = &own
		}
	}
	also := map[[2]string]bool{}
	for _, d := range differences(&scaled, now, edited) {
		also[[2]string{d.What, d.Name}] = true
	}
	for _, d := range differences(&scaled, then, edited) {
		if d.What != "correction" && also[[2]string{d.What, d.Name}] {
			out = append(out, d)
		}
	}
	return out
}

// nearest names a table that may have been meant.
func nearest(c *correction.Correction, s *schema.Schema) string {
	var known []string
	for i := range s.Keyspaces {
		for j := range s.Keyspaces[i].Tables {
			known = append(known, s.Keyspaces[i].Name+"."+s.Keyspaces[i].Tables[j].Name)
		}
	}
	for _, name := range c.Named() {
		keyspace, tableName, column := correction.Parts(name)
		t := s.Table(keyspace, tableName)
		if t == nil {
			if near := model.Nearest(keyspace+"."+tableName, known); near != "" {
				return "; nearest is " + near
			}
			return ""
		}
		if column != "" && t.Column(column) == nil {
			var columns []string
			for _, x := range t.Columns {
				columns = append(columns, x.Name)
			}
			if near := model.Nearest(column, columns); near != "" {
				return "; nearest is " + near
			}
			return "; it has " + strings.Join(columns, ", ")
		}
	}
	return ""
}

// By how much a weight or a size must differ to be told: traffic is never the same twice, but people edit on purpose.
const (
	drift  = 0.05
	edited = 0.5
)

// differences compares two models with their workloads, in a fixed order.
func differences(a, b *workload.Workload, least float64) (out []Difference) {
	out = append(out, compared("entity", entitiesOf(a), entitiesOf(b))...)
	out = append(out, compared("relationship", relationshipsOf(a), relationshipsOf(b))...)
	out = append(out, compared("table", tablesOf(a), tablesOf(b))...)
	out = append(out, compared("statement", textsOf(a), textsOf(b))...)
	for _, s := range a.Statements {
		if t := b.Statement(s.ID); t != nil && s.String() == t.String() && differ(s.Weight, t.Weight, least) {
			out = append(out, Difference{"weight", s.ID, weight(s.Weight), weight(t.Weight)})
		}
	}
	for i := range a.Graph.Entities {
		e := a.Graph.Entities[i]
		if f := b.Graph.Entity(e.Name); f != nil && differ(e.Count, f.Count, least) {
			out = append(out, Difference{"count", e.Name, count(e.Count), count(f.Count)})
		}
	}
	return append(out, Corrections(a.Corrections, b.Corrections)...)
}

func weight(w float64) string { return fmt.Sprintf("%.3g executions a second", w) }

func differ(a, b, least float64) bool { return math.Abs(a-b) > least*max(math.Abs(a), math.Abs(b)) }

// named is what is compared, by name, in order.
type named struct{ name, text string }

func compared(what string, before, after []named) (out []Difference) {
	was, is := map[string]string{}, map[string]string{}
	for _, x := range before {
		was[x.name] = x.text
	}
	for _, x := range after {
		is[x.name] = x.text
	}
	for _, x := range before {
		if text, still := is[x.name]; !still || text != x.text {
			out = append(out, Difference{what, x.name, x.text, text})
		}
	}
	for _, x := range after {
		if _, known := was[x.name]; !known {
			out = append(out, Difference{what, x.name, "", x.text})
		}
	}
	return out
}

func entitiesOf(w *workload.Workload) (out []named) {
	for _, e := range w.Graph.Entities {
		var keys, attributes []string
		for _, k := range e.Key {
			keys = append(keys, k.Name)
		}
		for _, a := range e.Attributes {
			attributes = append(attributes, a.Name)
		}
		out = append(out, named{e.Name, fmt.Sprintf("key %s, attributes %s", strings.Join(keys, ", "), strings.Join(attributes, ", "))})
	}
	return out
}

func relationshipsOf(w *workload.Workload) (out []named) {
	for _, r := range w.Graph.Relationships {
		out = append(out, named{r.Name, fmt.Sprintf("%s.%s -> %s.%s (%s)", r.From.Name, r.Forward, r.To.Name, r.Backward, r.Kind)})
	}
	return out
}

func tablesOf(w *workload.Workload) (out []named) {
	for _, t := range w.Tables {
		out = append(out, named{t.Keyspace + "." + t.Name, t.String()})
	}
	return out
}

func textsOf(w *workload.Workload) (out []named) {
	for _, s := range w.Statements {
		out = append(out, named{s.ID, s.String()})
	}
	return out
}

// Corrections compares two lists of corrections.
func Corrections(before, after correction.List) []Difference {
	out := []Difference{}
	for i := range before {
		if c := &before[i]; !after.Has(c) {
			out = append(out, Difference{"correction", fmt.Sprint(i + 1), c.String(), ""})
		}
	}
	for i := range after {
		if c := &after[i]; !before.Has(c) {
			out = append(out, Difference{"correction", fmt.Sprint(i + 1), "", c.String()})
		}
	}
	return out
}
