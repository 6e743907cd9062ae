// Package given reads tables that somebody already has from a file, to plan on or to compare with: `helenus design
// --existing` and `--compare`.
//
// Three forms, told apart by what stands in them:
//   - ours: YAML with `tables`, as in a workload file, or such a file itself;
//   - neutral: YAML with `column_families` (name, partition, clustering, values, path), as in NoSE's published schemas;
//   - CQL: CREATE TABLE and CREATE INDEX statements, as DESCRIBE or `helenus design --out` writes them (cql.go).
//
// The tables are not Existing: who reads them decides what they are. LoadExisting reads them as they are, also such whose rows
// would overwrite each other. It imports advisor/model and capture/cql.
package given

import (
	"fmt"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/capture/cql"
)

// file is a file of tables, in our form or the neutral one.
type file struct {
	Name     any     `yaml:"name"`
	Source   any     `yaml:"source"`
	Sources  any     `yaml:"sources"`
	Notes    any     `yaml:"notes"`
	Tables   []table `yaml:"tables"`
	Families []table `yaml:"column_families"`
}

// table is a table in either form.
type table struct {
	Keyspace   string                `yaml:"keyspace"`
	Name       model.Placed          `yaml:"name"`
	Path       model.Placed          `yaml:"path"`
	Paths      []model.Placed        `yaml:"paths"`
	Partition  []model.Placed        `yaml:"partition"`
	Clustering []model.Placed        `yaml:"clustering"`
	Values     []model.Placed        `yaml:"values"`
	Nests      []model.NestDocument  `yaml:"collections"`
	Indexes    []model.IndexDocument `yaml:"indexes"`
	Rows       float64               `yaml:"rows"`

	// What the neutral form notes of NoSE's own estimates: passed over.
	Entities  any `yaml:"entities"`
	Entries   any `yaml:"nose_entries"`
	EntrySize any `yaml:"nose_entry_size"`
	Size      any `yaml:"nose_size"`
	Hashes    any `yaml:"nose_hash_count"`
	PerHash   any `yaml:"nose_rows_per_partition"`
}

// Load reads a file of tables over a graph. Errors are *model.FileError, with the place where there is one, or those of
// opening it.
func Load(name string, g *model.Graph) ([]*model.Table, error) { return load(name, g, false) }

// LoadExisting reads a file of tables as those of an application: they are Existing, and may be wrong in that their primary
// key does not tell rows apart. Errors are those of Load.
func LoadExisting(name string, g *model.Graph) ([]*model.Table, error) { return load(name, g, true) }

func load(name string, g *model.Graph, existing bool) ([]*model.Table, error) {
	data, err := model.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("given: %w", err)
	}
	return read(name, data, g, existing)
}

// Read reads the content of a file of tables; name is for messages.
func Read(name string, data []byte, g *model.Graph) ([]*model.Table, error) {
	return read(name, data, g, false)
}

func read(name string, data []byte, g *model.Graph, existing bool) ([]*model.Table, error) {
	var tables []*model.Table
	var err error
	if cql.IsDefinitions(string(data)) {
		tables, err = readCQL(name, string(data), g, existing)
	} else {
		tables, err = readYAML(name, data, g, existing)
	}
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, t := range tables {
		if seen[t.Keyspace+"."+t.Name] {
			return nil, &model.FileError{File: name, Reason: fmt.Sprintf("table %s is there twice", t.Name)}
		}
		seen[t.Keyspace+"."+t.Name] = true
	}
	if len(tables) == 0 {
		return nil, &model.FileError{File: name, Reason: "there are no tables in it: expected tables or column_families in YAML, or CREATE TABLE statements"}
	}
	return tables, nil
}

func readYAML(name string, data []byte, g *model.Graph, existing bool) ([]*model.Table, error) {
	var f file
	if err := model.DecodeYAML(name, data, &f); err != nil {
		return nil, err
	}
	var tables []*model.Table
	for _, d := range append(f.Tables, f.Families...) {
		t, err := d.read(name, g, existing)
		if err != nil {
			return nil, err
		}
		tables = append(tables, t)
	}
	return tables, nil
}

func (d *table) read(file string, g *model.Graph, existing bool) (*model.Table, error) {
	doc := model.TableDocument{Keyspace: d.Keyspace, Name: d.Name, Paths: d.Paths, Partition: d.Partition, Clustering: d.Clustering, Values: d.Values, Nests: d.Nests, Indexes: d.Indexes, Rows: d.Rows}
	if strings.Contains(d.Path.Text, ".") {
		doc.Paths = append(doc.Paths, d.Path)
	}
	made := doc.Candidate
	if existing {
		made = doc.AsIs
	}
	t, err := made(file, g)
	if err != nil {
		return nil, err
	}
	if t.Name == "" {
		return nil, &model.FileError{File: file, Reason: fmt.Sprintf("table %s has no name", t)}
	}
	return t, nil
}
