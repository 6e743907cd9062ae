// Package statement is what Cassandra said of prepared statements: what its answer to a PREPARE holds, and a table of them for the whole proxy. It
// imports proxy/wire only.
package statement

import (
	"bytes"

	"github.com/helenus-db/helenus/proxy/wire"
)

// Column is one bind variable or one result column of a prepared statement.
type Column struct {
	Keyspace, Table, Name string
	Type                  Type
}

// Type is a CQL type as the protocol writes it. Codes that this program does not know are kept with their bytes.
type Type struct {
	Code     uint16 // wire.TypeCustom, ...
	Custom   string // class name, for code 0
	Keyspace string // user-defined types
	Name     string
	Fields   []string // field names of a user-defined type
	Elements []Type   // list, set: 1; map: 2; tuple, user-defined type: n
}

// Prepared is Cassandra's answer to a PREPARE.
type Prepared struct {
	ID               string // prepared id, raw bytes
	Keyspace         string // keyspace in use when it was prepared
	Text             string // what the client sent
	Version          byte   // protocol version it was prepared with
	ResultMetadataID string // v5
	Variables        []Column
	PartitionKey     []int // indexes into Variables, in partition key order; empty if not all are bound
	Results          []Column
	// ResultMetadata is the metadata of the answer as received (flags, column count, ... ), the very bytes that
	// begin a ROWS answer after its kind; nil if the statement returns nothing.
	ResultMetadata []byte
}

// Read reads a RESULT Prepared after its kind into p. What can not be read (a type of a later Cassandra) is left
// out: the id, which comes first, is all that a later EXECUTE needs to be known again. It reports whether there is one.
func (p *Prepared) Read(r *wire.Reader) bool {
	p.ID = string(r.String())
	if p.Version >= 5 {
		p.ResultMetadataID = string(r.String())
	}
	if r.Bad() {
		return false
	}
	m := wire.ReadMetadata(r)
	var key []int
	if p.Version >= 4 {
		for n := int(r.Int()); n > 0 && !r.Bad(); n-- {
			key = append(key, int(r.Short()))
		}
	}
	variables := readColumns(r, m)
	if r.Bad() {
		return true
	}
	p.Variables, p.PartitionKey = variables, key
	for _, k := range key {
		if k >= len(variables) {
			p.PartitionKey = nil
		}
	}
	rest := r.Rest()
	from := r.Offset()
	m = wire.ReadMetadata(r)
	results := readColumns(r, m)
	if r.Bad() || len(results) == 0 {
		return true
	}
	p.Results = results
	p.ResultMetadata = bytes.Clone(rest[:r.Offset()-from])
	return true
}

// readColumns reads the columns that follow a metadata's head.
func readColumns(r *wire.Reader, m wire.Metadata) []Column {
	if m.Flags&wire.MetaNoMetadata != 0 {
		return nil
	}
	var keyspace, table string
	global := m.Flags&wire.MetaGlobalTable != 0
	if global {
		keyspace, table = string(r.String()), string(r.String())
	}
	var columns []Column
	for n := m.Columns; n > 0 && !r.Bad(); n-- {
		c := Column{Keyspace: keyspace, Table: table}
		if !global {
			c.Keyspace, c.Table = string(r.String()), string(r.String())
		}
		c.Name = string(r.String())
		c.Type = readType(r, 0)
		columns = append(columns, c)
	}
	return columns
}

// maxTypeDepth bounds the nesting of types that is followed.
const maxTypeDepth = 32

func readType(r *wire.Reader, depth int) (t Type) {
	if depth > maxTypeDepth {
		r.Fail()
		return t
	}
	t.Code = r.Short()
	element := func() { t.Elements = append(t.Elements, readType(r, depth+1)) }
	switch t.Code {
	case wire.TypeCustom:
		t.Custom = string(r.String())
	case wire.TypeList, wire.TypeSet:
		element()
	case wire.TypeMap:
		element()
		element()
	case wire.TypeUDT:
		t.Keyspace, t.Name = string(r.String()), string(r.String())
		for n := r.Short(); n > 0 && !r.Bad(); n-- {
			t.Fields = append(t.Fields, string(r.String()))
			element()
		}
	case wire.TypeTuple:
		for n := r.Short(); n > 0 && !r.Bad(); n-- {
			element()
		}
	}
	return t
}
