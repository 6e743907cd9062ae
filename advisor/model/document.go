package model

import (
	"strings"
)

// Document is a graph as it stands in YAML files (docs/schema/model.json).
type Document struct {
	Entities      []EntityDocument       `yaml:"entities"`
	Relationships []RelationshipDocument `yaml:"relationships,omitempty"`
}

// EntityDocument is an entity in a file.
type EntityDocument struct {
	Name       Placed              `yaml:"name"`
	Count      Number              `yaml:"count"`
	Key        []Placed            `yaml:"key,flow"`
	Alternate  [][]Placed          `yaml:"alternate,flow,omitempty"` // further keys
	Owner      Placed              `yaml:"owner,omitempty"`          // of a weak entity: the role of what its key is unique within
	Attributes []AttributeDocument `yaml:"attributes"`
	Hierarchy  *HierarchyDocument  `yaml:"hierarchy,omitempty"`
}

// AttributeDocument is an attribute in a file.
type AttributeDocument struct {
	Name      Placed  `yaml:"name"`
	Type      string  `yaml:"type"`
	Size      float64 `yaml:"size,omitempty"`
	Distinct  float64 `yaml:"distinct,omitempty"`
	Null      float64 `yaml:"absent,omitempty"` // not null, which YAML would take for no key
	Effective float64 `yaml:"effective,omitempty"`
	Copy      Placed  `yaml:"copy,omitempty"` // role.attribute: what it always equals
}

// RelationshipDocument is a relationship in a file.
type RelationshipDocument struct {
	Name       Placed              `yaml:"name"`
	From       Placed              `yaml:"from"`
	To         Placed              `yaml:"to"`
	Kind       Placed              `yaml:"kind"`
	Forward    string              `yaml:"forward"`
	Backward   string              `yaml:"backward"`
	Degree     float64             `yaml:"degree,omitempty"`
	Most       float64             `yaml:"most,omitempty"`
	MostBack   float64             `yaml:"most_back,omitempty"`
	Reached    float64             `yaml:"reached,omitempty"`
	Optional   bool                `yaml:"optional,omitempty"`
	Attributes []AttributeDocument `yaml:"attributes,omitempty"`
}

// TableDocument is an existing table in a file.
type TableDocument struct {
	Keyspace   string          `yaml:"keyspace,omitempty"`
	Name       Placed          `yaml:"name"`
	Paths      []Placed        `yaml:"paths,omitempty"` // relationships, where the fields alone leave a choice
	Partition  []Placed        `yaml:"partition,flow"`
	Clustering []Placed        `yaml:"clustering,flow,omitempty"`
	Values     []Placed        `yaml:"values,flow,omitempty"`
	Desc       []Placed        `yaml:"desc,flow,omitempty"`   // of clustering
	Static     []Placed        `yaml:"static,flow,omitempty"` // of values
	Nests      []NestDocument  `yaml:"collections,omitempty"`
	Bucket     *BucketDocument `yaml:"bucket,omitempty"`
	Indexes    []IndexDocument `yaml:"indexes,omitempty"`
	Scan       bool            `yaml:"scan,omitempty"`
	Rows       float64         `yaml:"rows,omitempty"`
}

// IndexDocument is a secondary index in a file.
type IndexDocument struct {
	Name  string `yaml:"name"`
	Field Placed `yaml:"field"`
	SAI   bool   `yaml:"sai,omitempty"`
}

// NestDocument is a collection of a table in a file.
type NestDocument struct {
	Of     Placed   `yaml:"of"` // Entity.role: whose partners the elements are
	Key    Placed   `yaml:"key"`
	Values []Placed `yaml:"values,flow,omitempty"`
}

// BucketDocument is the made-up part of a partition key in a file.
type BucketDocument struct {
	Of    Placed  `yaml:"of,omitempty"`
	Width float64 `yaml:"width,omitempty"` // seconds
	Count float64 `yaml:"count"`
}

// Graph makes a graph of the document. Errors are *FileError with the place in file.
func (d *Document) Graph(file string) (*Graph, error) {
	g := &Graph{}
	for i := range d.Entities {
		e, err := d.Entities[i].entity(file)
		if err != nil {
			return nil, err
		}
		if g.Entity(e.Name) != nil {
			return nil, d.Entities[i].Name.Wrong(file, "entity %s is there twice", e.Name)
		}
		g.Entities = append(g.Entities, e)
	}
	for i := range d.Relationships {
		if err := d.Relationships[i].add(file, g); err != nil {
			return nil, err
		}
	}
	for i := range d.Entities {
		if err := d.Entities[i].copies(file, g, g.Entities[i]); err != nil {
			return nil, err
		}
	}
	if err := d.own(file, g); err != nil {
		return nil, err
	}
	for i, e := range g.Entities[:len(d.Entities)] {
		if err := d.Entities[i].hierarchy(file, e); err != nil {
			return nil, err
		}
		if err := (&Graph{Entities: []*Entity{e}}).Validate(); err != nil {
			return nil, d.Entities[i].Name.Wrong(file, "%s", err)
		}
	}
	for i := range d.Relationships {
		if err := d.Relationships[i].reify(file, g); err != nil {
			return nil, err
		}
	}
	return g, nil
}

func (d *EntityDocument) entity(file string) (*Entity, error) {
	if !isCount(d.Count.Value) {
		return nil, d.Count.at(d.Name).Wrong(file, "entity %s: count %g is not a number of entities (1 or more)", d.Name.Text, d.Count.Value)
	}
	e := &Entity{Name: d.Name.Text, Count: d.Count.Value, Attributes: attributes(d.Attributes)}
	for i, a := range e.Attributes {
		if reason := a.wrong(e); reason != "" {
			return nil, d.Attributes[i].Name.Wrong(file, "%s", reason)
		}
	}
	for i, key := range append([][]Placed{d.Key}, d.Alternate...) {
		var found []*Attribute
		for _, k := range key {
			a := e.Attribute(k.Text)
			if a == nil {
				return nil, k.Wrong(file, "%s", &NameError{What: "attribute of " + e.Name, Name: k.Text, Known: e.names()})
			}
			found = append(found, a)
		}
		switch {
		case i == 0:
			e.Key = found
		case len(found) == 0:
			return nil, d.Name.Wrong(file, "entity %s: an alternate key has no attributes", e.Name)
		default:
			e.Alternate = append(e.Alternate, found)
		}
	}
	return e, nil
}

func attributes(list []AttributeDocument) []*Attribute {
	var made []*Attribute
	for _, d := range list {
		made = append(made, &Attribute{Name: d.Name.Text, Type: d.Type, Size: d.Size, Distinct: d.Distinct, Null: d.Null, Effective: d.Effective})
	}
	return made
}

func (d *RelationshipDocument) add(file string, g *Graph) error {
	r := &Relationship{Name: d.Name.Text, Kind: Kind(d.Kind.Text), Forward: d.Forward, Backward: d.Backward, Degree: d.Degree, Most: d.Most, MostBack: d.MostBack, Reached: d.Reached, Optional: d.Optional}
	for _, end := range []struct {
		name Placed
		to   **Entity
	}{{d.From, &r.From}, {d.To, &r.To}} {
		if *end.to = g.Entity(end.name.Text); *end.to == nil {
			return end.name.Wrong(file, "%s", &NameError{What: "entity", Name: end.name.Text, Known: g.names()})
		}
	}
	if g.Relationship(r.Name) != nil {
		return d.Name.Wrong(file, "relationship %s is there twice", r.Name)
	}
	alone := &Graph{Relationships: []*Relationship{r}}
	if err := alone.Validate(); err != nil {
		return d.Name.Wrong(file, "%s", err)
	}
	g.Relationships = append(g.Relationships, r)
	return nil
}

// Table makes an existing table of the document. Errors are *FileError with the place in file.
func (d *TableDocument) Table(file string, g *Graph) (*Table, error) {
	t, err := d.AsIs(file, g)
	if err == nil && !t.Identifies() {
		err = d.Name.Wrong(file, "%s", t.overwrites())
	}
	return t, err
}

// AsIs makes an existing table of the document, also one whose rows can share a primary key, so that they overwrite each
// other. Errors as of Table.
func (d *TableDocument) AsIs(file string, g *Graph) (*Table, error) {
	t, err := d.table(file, g, true)
	if err != nil {
		return nil, err
	}
	if len(d.Nests) > 0 {
		return nil, d.Name.Wrong(file, "table %s: the collections of an application's own tables are its own matter: describe them as attributes", t.Name)
	}
	return t, nil
}

// Candidate makes a table of the document that is not Existing: one of a schema to plan on. Errors as of Table.
func (d *TableDocument) Candidate(file string, g *Graph) (*Table, error) {
	return d.table(file, g, false)
}

func (d *TableDocument) table(file string, g *Graph, existing bool) (*Table, error) {
	scope := &Scope{Graph: g}
	for _, path := range d.Paths {
		if _, err := scope.Path(path.Text); err != nil {
			return nil, path.Wrong(file, "%s", err)
		}
	}
	var lists [5][]Field
	for i, names := range [][]Placed{d.Partition, d.Clustering, d.Values, d.Desc, d.Static} {
		for _, name := range names {
			f, err := scope.Field(name.Text)
			if err != nil {
				return nil, name.Wrong(file, "%s", err)
			}
			lists[i] = append(lists[i], f)
		}
	}
	if len(lists[0]) == 0 && d.Bucket == nil {
		return nil, d.Name.Wrong(file, "table %s has no partition key", d.Name.Text)
	}
	t := &Table{Existing: existing, Tree: scope.Tree, Partition: lists[0], Clustering: lists[1], Values: lists[2], Desc: lists[3], Static: lists[4]}
	if err := d.options(file, t, scope); err != nil {
		return nil, err
	}
	if len(d.Paths) == 0 && len(scope.Tree.Entities) == 0 {
		var entities []*Entity
		fields := t.Fields()
		for _, n := range t.Nests {
			fields = append(fields, n.Fields()...)
		}
		for _, f := range fields {
			if !contains(entities, f.Entity) {
				entities = append(entities, f.Entity)
			}
		}
		if len(entities) == 0 {
			return nil, d.Name.Wrong(file, "table %s has no fields", d.Name.Text)
		}
		var err error
		if t.Tree, err = g.Connect(entities); err != nil {
			return nil, d.Name.Wrong(file, "table %s: %s", d.Name.Text, err)
		}
	}
	if err := d.nest(file, t); err != nil {
		return nil, err
	}
	if err := t.Validate(); err != nil {
		return nil, d.Name.Wrong(file, "%s", err)
	}
	return t, nil
}

// nest cuts off the table's tree what its collections hold.
func (d *TableDocument) nest(file string, t *Table) error {
	for i, n := range t.Nests {
		of := d.Nests[i].Of
		name, role, _ := strings.Cut(of.Text, ".")
		for _, r := range t.Tree.Edges {
			for _, owner := range []*Entity{r.From, r.To} {
				if n.Edge == nil && owner.Name == name && r.Role(owner) == role {
					n.Edge = r
					t.Tree, n.Tree = t.Tree.Cut(r, owner)
				}
			}
		}
		if n.Edge == nil {
			return of.Wrong(file, "table %s: no relationship %s leads from what it is over to the fields of the collection: write Entity.role", t.Name, of.Text)
		}
	}
	return nil
}

// options takes over what is not a list of columns.
func (d *TableDocument) options(file string, t *Table, scope *Scope) error {
	t.Keyspace, t.Name, t.ScanAllowed, t.Count = d.Keyspace, d.Name.Text, d.Scan, d.Rows
	if !(d.Rows >= 0 && d.Rows <= 1e15) {
		return d.Name.Wrong(file, "table %s: %g is not a number of rows", t.Name, d.Rows)
	}
	for _, i := range d.Indexes {
		f, err := scope.Field(i.Field.Text)
		if err != nil {
			return i.Field.Wrong(file, "%s", err)
		}
		t.Indexes = append(t.Indexes, Index{Name: i.Name, Field: f, SAI: i.SAI})
	}
	for i := range d.Nests {
		n := &Nest{}
		for _, name := range append([]Placed{d.Nests[i].Key}, d.Nests[i].Values...) {
			f, err := scope.Field(name.Text)
			if err != nil {
				return name.Wrong(file, "%s", err)
			}
			n.Values = append(n.Values, f)
		}
		n.Key, n.Values = n.Values[0], n.Values[1:]
		t.Nests = append(t.Nests, n)
	}
	if d.Bucket == nil {
		return nil
	}
	t.Bucket = &Bucket{Width: d.Bucket.Width, Count: d.Bucket.Count}
	if !d.Bucket.Of.IsZero() {
		f, err := scope.Field(d.Bucket.Of.Text)
		if err != nil {
			return d.Bucket.Of.Wrong(file, "%s", err)
		}
		t.Bucket.Of = f
	}
	return nil
}

// NewDocument returns the document of a graph.
func NewDocument(g *Graph) Document {
	var d Document
	for _, e := range g.Entities {
		ed := EntityDocument{Name: Placed{Text: e.Name}, Count: Number{Value: e.Count}, Key: placed(e.Key), Hierarchy: newHierarchyDocument(e)}
		for _, key := range e.Alternate {
			ed.Alternate = append(ed.Alternate, placed(key))
		}
		for _, a := range e.Attributes {
			ed.Attributes = append(ed.Attributes, newAttributeDocument(e, a))
		}
		d.Entities = append(d.Entities, ed)
	}
	for _, r := range g.Relationships {
		d.Relationships = append(d.Relationships, RelationshipDocument{
			Name: Placed{Text: r.Name}, From: Placed{Text: r.From.Name}, To: Placed{Text: r.To.Name}, Kind: Placed{Text: string(r.Kind)},
			Forward: r.Forward, Backward: r.Backward, Degree: r.Degree, Most: r.Most, MostBack: r.MostBack, Reached: r.Reached, Optional: r.Optional,
		})
	}
	return d
}

func newAttributeDocument(e *Entity, a *Attribute) AttributeDocument {
	d := AttributeDocument{Name: Placed{Text: a.Name}, Type: a.Type, Size: a.Size, Distinct: a.Distinct, Null: a.Null, Effective: a.Effective}
	if a.Copied != nil {
		d.Copy = Placed{Text: a.Copied.Edge.Role(e) + "." + a.Copied.Of.Name}
	}
	return d
}

func placed(key []*Attribute) []Placed {
	names := make([]Placed, len(key))
	for i, a := range key {
		names[i] = Placed{Text: a.Name}
	}
	return names
}

// NewTableDocument returns the document of a table.
func NewTableDocument(t *Table) TableDocument {
	d := TableDocument{Keyspace: t.Keyspace, Name: Placed{Text: t.Name}, Scan: t.ScanAllowed, Rows: t.Count}
	for _, list := range []struct {
		fields []Field
		to     *[]Placed
	}{{t.Partition, &d.Partition}, {t.Clustering, &d.Clustering}, {t.Values, &d.Values}, {t.Desc, &d.Desc}, {t.Static, &d.Static}} {
		for _, f := range list.fields {
			*list.to = append(*list.to, Placed{Text: f.String()})
		}
	}
	if whole := t.Whole(); len(whole.Edges) > 0 || whole.repeats() {
		for _, path := range strings.Split(whole.Path(), ", ") {
			d.Paths = append(d.Paths, Placed{Text: path})
		}
	}
	for _, n := range t.Nests {
		owner := t.Owner(n)
		nd := NestDocument{Of: Placed{Text: owner.Name + "." + n.Edge.Role(owner)}, Key: Placed{Text: n.Key.String()}}
		for _, f := range n.Values {
			nd.Values = append(nd.Values, Placed{Text: f.String()})
		}
		d.Nests = append(d.Nests, nd)
	}
	for _, i := range t.Indexes {
		d.Indexes = append(d.Indexes, IndexDocument{i.Name, Placed{Text: i.Field.String()}, i.SAI})
	}
	if t.Bucket != nil {
		d.Bucket = &BucketDocument{Width: t.Bucket.Width, Count: t.Bucket.Count}
		if !t.Bucket.Of.IsZero() {
			d.Bucket.Of = Placed{Text: t.Bucket.Of.String()}
		}
	}
	return d
}
