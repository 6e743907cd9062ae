package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/given"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
)

// schemaNamed returns the tables of SCHEMA: of the schema of that name in the workload's file, else of the file of that
// name. A schema called after the workload, with an underscore, may be named by what follows that. They are copies, which
// the caller may change.
func schemaNamed(w *workload.Workload, name string) ([]*model.Table, error) {
	list, ok := w.Schemas[name]
	if !ok {
		list, ok = w.Schemas[w.Name+"_"+name]
	}
	if !ok {
		var err error
		list, err = given.Load(name, w.Graph)
		if errors.Is(err, fs.ErrNotExist) {
			known := slices.Sorted(maps.Keys(w.Schemas))
			if len(known) == 0 {
				return nil, fmt.Errorf("there is no file %s, and the workload has no schemas", name)
			}
			return nil, fmt.Errorf("there is no file %s, and %w", name, &model.NameError{What: "schema of the workload", Name: name, Known: known})
		}
		if err != nil {
			return nil, err
		}
	}
	tables := make([]*model.Table, len(list))
	for i, t := range list {
		own := *t
		tables[i] = &own
	}
	return tables, nil
}

// keep makes tables of a schema such that are there and stay.
func keep(tables []*model.Table) []*model.Table {
	for _, t := range tables {
		t.Kept = true
	}
	return tables
}

// isDesigned tells whether the tables to look at are those that helenus design chooses for a file: asked for by --designed, or since the
// file has none of its own and --schema names no others. The latter is said, with the schemas that could be named.
func isDesigned(out io.Writer, file string, w *workload.Workload, schema string, designed bool) (bool, error) {
	if designed || schema != "" || len(w.Tables) > 0 {
		return designed, nil
	}
	others := ""
	if len(w.Schemas) > 0 {
		others = "; --schema names others: " + strings.Join(slices.Sorted(maps.Keys(w.Schemas)), ", ")
	}
	if len(w.Statements) == 0 {
		return false, usageError{fmt.Errorf("%s has no tables, and no statements to design any for%s", file, others)}
	}
	_, err := fmt.Fprintf(out, "%s has no tables of its own: these are those that helenus design chooses%s\n", file, others)
	return true, err
}
