package model

import (
	"bytes"
	"fmt"
	"io"
)

// Document is a graph as it stands in YAML files (docs/schema/model.json).
type Document struct {
	Entities      []EntityDocument       `yaml:"entities"`
	Relationships []RelationshipDocument `yaml:"relationships,omitempty"`
}

// EntityDocument is an entity in a file.
type EntityDocument struct {
	Name       Placed              `yaml:"name"`
	Count      float64             `yaml:"count"`
	Key        []Placed            `yaml:"key,flow"`
	Attributes []AttributeDocument `yaml:"attributes"`
}

// AttributeDocument is an attribute in a file.
type AttributeDocument struct {
	Name      Placed  `yaml:"name"`
	Type      string  `yaml:"type"`
	Size      float64 `yaml:"size,omitempty"`
	Distinct  float64 `yaml:"distinct,omitempty"`
	Effective float64 `yaml:"effective,omitempty"`
}

// RelationshipDocument is a relationship in a file.
type RelationshipDocument struct {
	Name     Placed  `yaml:"name"`
	From     Placed  `yaml:"from"`
	To       Placed  `yaml:"to"`
	Kind     Placed  `yaml:"kind"`
	Forward  string  `yaml:"forward"`
	Backward string  `yaml:"backward"`
	Degree   float64 `yaml:"degree,omitempty"`
	Optional bool    `yaml:"optional,omitempty"`
}

// TableDocument is an existing table in a file.
type TableDocument struct {
	Keyspace   string          `yaml:"keyspace,omitempty"`
	Name       Placed          `yaml:"name"`
	Paths      []Placed        `yaml:"paths,omitempty"` // relationships, where the fields alone leave a choice
	Partition  []Placed        `yaml:"partition,flow"`
	Clustering []Placed        `yaml:"clustering,flow,omitempty"`
	Values     []Placed        `yaml:"values,flow,omitempty"`
	Indexes    []IndexDocument `yaml:"indexes,omitempty"`
	Scan       bool            `yaml:"scan,omitempty"`
	Rows       float64         `yaml:"rows,omitempty"`
}

// IndexDocument is a secondary index in a file.
type IndexDocument struct {
	Name  string `yaml:"name"`
	Field Placed `yaml:"field"`
}

// Graph makes a graph of the document. Errors are *FileError with the place in file.
func (d *Document) Graph(file string) (*Graph, error) {
	g := &Graph{}
	for _, ed := range d.Entities {
		e := &Entity{Name: ed.Name.Text, Count: ed.Count}
		for _, ad := range ed.Attributes {
			e.Attributes = append(e.Attributes, &Attribute{Name: ad.Name.Text, Type: ad.Type, Size: ad.Size, Distinct: ad.Distinct, Effective: ad.Effective})
		}
		for _, k := range ed.Key {
			a := e.Attribute(k.Text)
			if a == nil {
				return nil, k.Wrong(file, "%s", &NameError{What: "attribute of " + e.Name, Name: k.Text, Known: e.names()})
			}
			e.Key = append(e.Key, a)
		}
		alone := &Graph{Entities: []*Entity{e}}
		if err := alone.Validate(); err != nil {
			return nil, ed.Name.Wrong(file, "%s", err)
		}
		if g.Entity(e.Name) != nil {
			return nil, ed.Name.Wrong(file, "entity %s is there twice", e.Name)
		}
		g.Entities = append(g.Entities, e)
	}
	for _, rd := range d.Relationships {
		r := &Relationship{Name: rd.Name.Text, Kind: Kind(rd.Kind.Text), Forward: rd.Forward, Backward: rd.Backward, Degree: rd.Degree, Optional: rd.Optional}
		for _, end := range []struct {
			name Placed
			to   **Entity
		}{{rd.From, &r.From}, {rd.To, &r.To}} {
			if *end.to = g.Entity(end.name.Text); *end.to == nil {
				return nil, end.name.Wrong(file, "%s", &NameError{What: "entity", Name: end.name.Text, Known: g.names()})
			}
		}
		if g.Relationship(r.Name) != nil {
			return nil, rd.Name.Wrong(file, "relationship %s is there twice", r.Name)
		}
		alone := &Graph{Relationships: []*Relationship{r}}
		if err := alone.Validate(); err != nil {
			return nil, rd.Name.Wrong(file, "%s", err)
		}
		g.Relationships = append(g.Relationships, r)
	}
	return g, nil
}

// Table makes an existing table of the document. Errors are *FileError with the place in file.
func (d *TableDocument) Table(file string, g *Graph) (*Table, error) {
	t, err := d.Candidate(file, g)
	if err == nil {
		t.Existing = true
	}
	return t, err
}

// Candidate makes a table of the document that is not Existing: one of a schema to plan on. Errors as of Table.
func (d *TableDocument) Candidate(file string, g *Graph) (*Table, error) {
	var lists [3][]Field
	for i, names := range [][]Placed{d.Partition, d.Clustering, d.Values} {
		for _, name := range names {
			f, err := g.Field(name.Text)
			if err != nil {
				return nil, name.Wrong(file, "%s", err)
			}
			lists[i] = append(lists[i], f)
		}
	}
	edges, err := d.edges(file, g)
	if err != nil {
		return nil, err
	}
	t := &Table{Partition: lists[0], Clustering: lists[1], Values: lists[2]}
	if len(t.Partition) == 0 {
		return nil, d.Name.Wrong(file, "table %s has no partition key", d.Name.Text)
	}
	if t, err = NewTable(g, lists[0], lists[1], lists[2], edges...); err != nil {
		return nil, d.Name.Wrong(file, "%s", err)
	}
	t.Keyspace, t.Name, t.ScanAllowed, t.Count = d.Keyspace, d.Name.Text, d.Scan, d.Rows
	if !(d.Rows >= 0 && d.Rows <= 1e15) {
		return nil, d.Name.Wrong(file, "table %s: %g is not a number of rows", t.Name, d.Rows)
	}
	for _, i := range d.Indexes {
		f, err := g.Field(i.Field.Text)
		if err != nil {
			return nil, i.Field.Wrong(file, "%s", err)
		}
		t.Indexes = append(t.Indexes, Index{Name: i.Name, Field: f})
	}
	if err := t.Validate(); err != nil {
		return nil, d.Name.Wrong(file, "%s", err)
	}
	return t, nil
}

// edges follows the table's paths.
func (d *TableDocument) edges(file string, g *Graph) ([]*Relationship, error) {
	var edges []*Relationship
	for _, path := range d.Paths {
		names := bytes.Split([]byte(path.Text), []byte("."))
		e := g.Entity(string(names[0]))
		if e == nil {
			return nil, path.Wrong(file, "%s", &NameError{What: "entity", Name: string(names[0]), Known: g.names()})
		}
		for _, name := range names[1:] {
			r, to, err := g.Step(e, string(name))
			if err != nil {
				return nil, path.Wrong(file, "%s", err)
			}
			known := false
			for _, x := range edges {
				known = known || x == r
			}
			if !known {
				edges = append(edges, r)
			}
			e = to
		}
	}
	return edges, nil
}

// NewDocument returns the document of a graph.
func NewDocument(g *Graph) Document {
	var d Document
	for _, e := range g.Entities {
		ed := EntityDocument{Name: Placed{Text: e.Name}, Count: e.Count}
		for _, k := range e.Key {
			ed.Key = append(ed.Key, Placed{Text: k.Name})
		}
		for _, a := range e.Attributes {
			ed.Attributes = append(ed.Attributes, AttributeDocument{Placed{Text: a.Name}, a.Type, a.Size, a.Distinct, a.Effective})
		}
		d.Entities = append(d.Entities, ed)
	}
	for _, r := range g.Relationships {
		d.Relationships = append(d.Relationships, RelationshipDocument{Placed{Text: r.Name}, Placed{Text: r.From.Name}, Placed{Text: r.To.Name},
			Placed{Text: string(r.Kind)}, r.Forward, r.Backward, r.Degree, r.Optional})
	}
	return d
}

// NewTableDocument returns the document of an existing table.
func NewTableDocument(t *Table) TableDocument {
	d := TableDocument{Keyspace: t.Keyspace, Name: Placed{Text: t.Name}, Scan: t.ScanAllowed, Rows: t.Count}
	for _, list := range []struct {
		fields []Field
		to     *[]Placed
	}{{t.Partition, &d.Partition}, {t.Clustering, &d.Clustering}, {t.Values, &d.Values}} {
		for _, f := range list.fields {
			*list.to = append(*list.to, Placed{Text: f.String()})
		}
	}
	for _, r := range t.Tree.Edges {
		d.Paths = append(d.Paths, Placed{Text: r.From.Name + "." + r.Forward})
	}
	for _, i := range t.Indexes {
		d.Indexes = append(d.Indexes, IndexDocument{i.Name, Placed{Text: i.Field.String()}})
	}
	return d
}

// Load reads a graph from a YAML file that holds nothing else.
func Load(name string) (*Graph, error) {
	data, err := ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	var d Document
	if err := DecodeYAML(name, data, &d); err != nil {
		return nil, err
	}
	return d.Graph(name)
}

// Save writes a graph as YAML.
func Save(w io.Writer, g *Graph) error {
	data, err := MarshalYAML(NewDocument(g))
	if err != nil {
		return fmt.Errorf("model: %w", err)
	}
	_, err = w.Write(data)
	return err
}
