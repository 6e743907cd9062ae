package model

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
)

// Graph is an entity graph.
type Graph struct {
	Entities      []*Entity
	Relationships []*Relationship

	further occurrences // of entities that trees meet more than once
}

// Entity is an entity set, or a further occurrence of one in a tree (see Graph.Occurrence).
type Entity struct {
	Name       string
	Count      float64 // number of entities
	Key        []*Attribute
	Alternate  [][]*Attribute // further keys: each of them names one entity too
	Attributes []*Attribute   // all of them, the keys' too
	Hierarchy  *Hierarchy     // of which it is the supertype; nil: none

	// Of is the entity that this is a further occurrence of, nil for entities of the graph; Nth is its number, from 2 on.
	Of  *Entity
	Nth int
}

// Attribute is a property of an entity.
type Attribute struct {
	Name     string
	Type     string  // CQL type
	Size     float64 // mean size of a value, bytes; 0: what TypeSize says
	Distinct float64 // number of distinct values; 0: 2 for a boolean, else the entity's count
	Null     float64 // share of entities without a value, 0 to 1
	// Effective is the number of distinct values that NoSE's code takes it to have, where that is not Distinct; 0: it is.
	// Only costs that follow NoSE's arithmetic look at it.
	Effective float64
	// Copied is what the attribute of a weak entity's key, or of a reified relationship's, always equals; nil for all others.
	Copied *Copy
}

// Copy says whose value an attribute has: that of the entity which Edge leads to.
type Copy struct {
	Edge *Relationship
	Of   *Attribute
}

// Kind is the cardinality of a relationship, read from From to To.
type Kind string

// The kinds. ManyToOne: many From have one To, as with a foreign key in From.
const (
	OneToOne   Kind = "1:1"
	OneToMany  Kind = "1:n"
	ManyToOne  Kind = "n:1"
	ManyToMany Kind = "m:n"
)

// Relationship is an edge of the graph. It has two ends, each with a role name by which it is followed in paths.
type Relationship struct {
	Name     string // unique in the graph
	From, To *Entity
	Kind     Kind
	Forward  string // role of To as seen from From: reservation.guest
	Backward string // role of From as seen from To: guest.reservations
	// Degree is the mean number of To that one From is related to; 0: derived from the counts (one for a to-one
	// relationship that is not Optional, else so that every entity of the larger side is related once).
	Degree float64
	// Most is the greatest number of To that one From is related to, 0: not known; MostBack that of From for one To.
	Most, MostBack float64
	// Reached is how many different To there are that some From is related to; 0: derived from the counts, as if partners were
	// drawn at random. Statements ask by those: who has 12,000 orders of 200 of 20,000 users asks for orders of one of the 200.
	Reached float64
	// Optional: there may be entities on the many side (From, if 1:1) without a partner. A table over the relationship
	// has no rows for those.
	Optional bool

	// Of is the relationship that this is an occurrence of, between occurrences of its ends; nil for those of the graph.
	Of *Relationship
}

// Field is an attribute of an entity. It is comparable.
type Field struct {
	Entity    *Entity
	Attribute *Attribute
}

// String returns Entity.attribute.
func (f Field) String() string {
	if f.Entity == nil || f.Attribute == nil {
		return "(no field)"
	}
	return f.Entity.Name + "." + f.Attribute.Name
}

// IsZero tells whether f is no field.
func (f Field) IsZero() bool { return f.Attribute == nil }

// IsKey tells whether f is part of its entity's key.
func (f Field) IsKey() bool {
	for _, k := range f.Entity.Key {
		if k == f.Attribute {
			return true
		}
	}
	return false
}

// Distinct is the number of distinct values of f, at least 1.
func (f Field) Distinct() float64 {
	d := f.Attribute.Distinct
	switch {
	case d > 0:
	case f.Attribute.Type == "boolean":
		d = 2
	default:
		d = f.Entity.Count * (1 - f.Attribute.Null)
	}
	return max(1, d)
}

// Size is the mean size of a value, bytes.
func (f Field) Size() float64 {
	if f.Attribute.Size > 0 {
		return f.Attribute.Size
	}
	return TypeSize(f.Attribute.Type)
}

// TypeSize is the size of a value of a CQL type, bytes; for types of variable size a guess.
func TypeSize(cqlType string) float64 {
	switch strings.ToLower(cqlType) {
	case "boolean", "tinyint":
		return 1
	case "smallint":
		return 2
	case "int", "float", "date":
		return 4
	case "bigint", "double", "timestamp", "time", "counter":
		return 8
	case "uuid", "timeuuid", "inet", "duration", "decimal", "varint":
		return 16
	}
	return 20
}

// Attribute returns the attribute of that name, or nil.
func (e *Entity) Attribute(name string) *Attribute {
	for _, a := range e.Attributes {
		if a.Name == name {
			return a
		}
	}
	for _, a := range e.Attributes {
		if strings.EqualFold(a.Name, name) {
			return a
		}
	}
	return nil
}

// Field returns the field of an attribute name, the zero Field if there is none.
func (e *Entity) Field(name string) Field {
	if a := e.Attribute(name); a != nil {
		return Field{e, a}
	}
	return Field{}
}

// KeyFields returns the key as fields.
func (e *Entity) KeyFields() []Field {
	fields := make([]Field, len(e.Key))
	for i, a := range e.Key {
		fields[i] = Field{e, a}
	}
	return fields
}

// Other returns the end of r that is not e, nil if e is none of its ends.
func (r *Relationship) Other(e *Entity) *Entity {
	switch e {
	case r.From:
		return r.To
	case r.To:
		return r.From
	}
	return nil
}

// ToOne tells whether an entity of e is related to at most one of the other end.
func (r *Relationship) ToOne(e *Entity) bool {
	switch r.Kind {
	case OneToOne:
		return true
	case ManyToOne:
		return e == r.From
	case OneToMany:
		return e == r.To
	}
	return false
}

// Role is the name by which r is followed from e.
func (r *Relationship) Role(e *Entity) string {
	if e == r.From {
		return r.Forward
	}
	return r.Backward
}

// Pairs is the number of related pairs.
func (r *Relationship) Pairs() float64 {
	if r.Degree > 0 {
		return r.From.Count * r.Degree
	}
	switch r.Kind {
	case OneToOne:
		return min(r.From.Count, r.To.Count)
	case ManyToOne:
		return r.From.Count
	case OneToMany:
		return r.To.Count
	}
	return max(r.From.Count, r.To.Count)
}

// among is how many entities of an end are partners at all, as far as it is known: all of them, else.
func (r *Relationship) among(e *Entity) float64 {
	if e == r.To && r.Reached > 0 {
		return min(r.Reached, max(1, e.Count))
	}
	return max(1, e.Count)
}

// Asked is how many entities of e a statement over the tree may ask for by key: those that have a partner over each of its edges, as far
// as it is known how many these are.
func (t Tree) Asked(e *Entity) float64 {
	asked := max(1, e.Count)
	for _, r := range t.Edges {
		if r.Other(e) != nil {
			asked = min(asked, r.among(e))
		}
	}
	return asked
}

// Entity returns the entity of that name, or nil. Names that differ in case only are told apart if both exist.
func (g *Graph) Entity(name string) *Entity {
	for _, e := range g.Entities {
		if e.Name == name {
			return e
		}
	}
	for _, e := range g.Entities {
		if strings.EqualFold(e.Name, name) {
			return e
		}
	}
	return nil
}

// Field finds "Entity.attribute", or that of a further occurrence, "Entity#2.attribute".
func (g *Graph) Field(name string) (Field, error) {
	entity, attribute, ok := strings.Cut(name, ".")
	if !ok {
		return Field{}, fmt.Errorf("%q is not a field: write Entity.attribute", name)
	}
	e, err := g.occurrence(entity)
	if err != nil {
		return Field{}, err
	}
	return e.known(attribute)
}

// Relationship returns the relationship of that name, or nil.
func (g *Graph) Relationship(name string) *Relationship {
	for _, r := range g.Relationships {
		if r.Name == name {
			return r
		}
	}
	return nil
}

// Edges returns the relationships that e is an end of, in the order of the graph.
func (g *Graph) Edges(e *Entity) []*Relationship {
	var edges []*Relationship
	for _, r := range g.Relationships {
		if r.From == e || r.To == e {
			edges = append(edges, r)
		}
	}
	return edges
}

func (g *Graph) names() []string {
	names := make([]string, len(g.Entities))
	for i, e := range g.Entities {
		names[i] = e.Name
	}
	return names
}

func (e *Entity) names() []string {
	names := make([]string, len(e.Attributes))
	for i, a := range e.Attributes {
		names[i] = a.Name
	}
	return names
}

// notInNames are what paths are made of, besides names.
const notInNames = ".,# \t\r\n"

// Validate returns what is wrong with the graph, all of it: names missing or used twice, entities without a key,
// numbers that are no counts, relationships that lead nowhere or contradict their own kind.
func (g *Graph) Validate() error {
	var errs []error
	wrong := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	entities := map[string]bool{}
	for _, e := range g.Entities {
		if e.Name == "" || strings.ContainsAny(e.Name, notInNames) {
			wrong("entity %q: a name has no dots, commas, # or blanks and is not empty", e.Name)
		}
		if entities[e.Name] {
			wrong("entity %s is there twice", e.Name)
		}
		entities[e.Name] = true
		if !isCount(e.Count) {
			wrong("entity %s: count %g is not a number of entities (1 or more)", e.Name, e.Count)
		}
		if len(e.Key) == 0 {
			wrong("entity %s has no key", e.Name)
		}
		attributes := map[string]bool{}
		for _, a := range e.Attributes {
			if reason := a.wrong(e); reason != "" {
				wrong("%s", reason)
			} else if attributes[a.Name] {
				wrong("entity %s has attribute %s twice", e.Name, a.Name)
			}
			attributes[a.Name] = true
		}
		for _, k := range e.Key {
			if k == nil || !attributes[k.Name] {
				wrong("entity %s: a key attribute is not among its attributes", e.Name)
			} else if strings.EqualFold(k.Type, "duration") {
				wrong("entity %s: key attribute %s is a duration, which Cassandra takes in no key", e.Name, k.Name)
			}
		}
		for _, key := range e.Alternate {
			for _, k := range key {
				if k == nil || !slices.Contains(e.Attributes, k) {
					wrong("entity %s: an attribute of an alternate key is not among its attributes", e.Name)
				}
			}
		}
	}
	relationships := map[string]bool{}
	for _, r := range g.Relationships {
		switch {
		case r.Name == "":
			wrong("a relationship has no name")
		case relationships[r.Name]:
			wrong("relationship %s is there twice", r.Name)
		case r.From == nil || r.To == nil:
			wrong("relationship %s lacks an end", r.Name)
		case r.From == r.To && r.Forward == r.Backward:
			wrong("relationship %s leads from %s to itself: its two roles need different names", r.Name, r.From.Name)
		case r.Kind != OneToOne && r.Kind != OneToMany && r.Kind != ManyToOne && r.Kind != ManyToMany:
			wrong("relationship %s: kind %q is none of 1:1, 1:n, n:1, m:n", r.Name, r.Kind)
		case r.Forward == "" || r.Backward == "":
			wrong("relationship %s lacks a role name", r.Name)
		case strings.ContainsAny(r.Forward+r.Backward, notInNames):
			wrong("relationship %s: the name of a role has no dots, commas, # or blanks", r.Name)
		case r.Degree < 0 || math.IsNaN(r.Degree) || r.Degree > 1e15:
			wrong("relationship %s: degree %g is not a mean number of partners", r.Name, r.Degree)
		case (r.Kind == ManyToOne || r.Kind == OneToOne) && r.Degree > 1:
			wrong("relationship %s: degree %g, but each %s has one %s at most", r.Name, r.Degree, r.From.Name, r.To.Name)
		case r.Most != 0 && (!isCount(r.Most) || r.Most < r.Degree):
			wrong("relationship %s: most %g is not a greatest number of partners, which the mean (%g) does not exceed", r.Name, r.Most, r.Degree)
		case r.Reached != 0 && !isCount(r.Reached):
			wrong("relationship %s: reached %g is not a number of entities", r.Name, r.Reached)
		case r.MostBack != 0 && !isCount(r.MostBack):
			wrong("relationship %s: most_back %g is not a greatest number of partners", r.Name, r.MostBack)
		case (r.Kind == ManyToOne || r.Kind == OneToOne) && r.Most > 1, (r.Kind == OneToMany || r.Kind == OneToOne) && r.MostBack > 1:
			wrong("relationship %s is %s: the greatest number of partners on its one side is 1", r.Name, r.Kind)
		}
		relationships[r.Name] = true
	}
	return errors.Join(errs...)
}

// wrong says what is wrong with an attribute, "" if nothing is.
func (a *Attribute) wrong(e *Entity) string {
	switch {
	case a.Name == "" || strings.ContainsAny(a.Name, ". \t\n"):
		return fmt.Sprintf("entity %s: attribute %q: a name has no dots or blanks and is not empty", e.Name, a.Name)
	case a.Type == "":
		return fmt.Sprintf("attribute %s.%s has no type", e.Name, a.Name)
	case a.Size < 0 || math.IsNaN(a.Size) || a.Size > 1e9:
		return fmt.Sprintf("attribute %s.%s: size %g is not a number of bytes", e.Name, a.Name, a.Size)
	case a.Distinct != 0 && !isCount(a.Distinct):
		return fmt.Sprintf("attribute %s.%s: distinct %g is not a number of values (1 or more)", e.Name, a.Name, a.Distinct)
	case math.IsNaN(a.Null) || a.Null < 0 || a.Null > 1:
		return fmt.Sprintf("attribute %s.%s: absent %g is not a share of 0 to 1", e.Name, a.Name, a.Null)
	case a.Effective != 0 && !isCount(a.Effective):
		return fmt.Sprintf("attribute %s.%s: effective %g is not a number of values (1 or more)", e.Name, a.Name, a.Effective)
	}
	return ""
}

func isCount(n float64) bool { return n >= 1 && n <= 1e15 }

// SortFields sorts fields by name, in place, and returns them.
func SortFields(fields []Field) []Field {
	sort.Slice(fields, func(i, j int) bool { return fields[i].String() < fields[j].String() })
	return fields
}

// NameError tells of a name that is not known.
type NameError struct {
	What  string // what it should have been: "entity", "attribute of Room"
	Name  string
	Known []string
}

func (e *NameError) Error() string {
	if near := Nearest(e.Name, e.Known); near != "" {
		return fmt.Sprintf("no %s is called %q; nearest is %q", e.What, e.Name, near)
	}
	text := fmt.Sprintf("no %s is called %q", e.What, e.Name)
	if n := len(e.Known); n > 0 && n <= fewNames {
		text += "; there are " + strings.Join(e.Known, ", ")
	}
	return text
}

// fewNames are as many as are said where none is near.
const fewNames = 12

// Nearest returns the known name with the fewest differing letters, "" if nothing is near.
func Nearest(name string, known []string) string {
	best, least := "", len(name)/2+2
	for _, k := range known {
		if d := distance(strings.ToLower(name), strings.ToLower(k)); d < least {
			best, least = k, d
		}
	}
	for _, k := range known { // what only lacks its end
		if best == "" && len(name) > 2 && strings.HasPrefix(strings.ToLower(k), strings.ToLower(name)) {
			best = k
		}
	}
	return best
}

// distance is the Levenshtein distance; names longer than 64 bytes are cut.
func distance(a, b string) int {
	a, b = a[:min(len(a), 64)], b[:min(len(b), 64)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := diagonal
			if a[i-1] != b[j-1] {
				change++
			}
			diagonal = row[j]
			row[j] = min(change, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}

// AppendNew adds those of more that are not among fields yet.
func AppendNew(fields []Field, more ...Field) []Field {
	for _, f := range more {
		if !slices.Contains(fields, f) {
			fields = append(fields, f)
		}
	}
	return fields
}
