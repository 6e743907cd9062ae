package wire

import (
	"bytes"
	"encoding/binary"
)

// Kinds of RESULT messages.
const (
	ResultVoid         int32 = 1
	ResultRows         int32 = 2
	ResultSetKeyspace  int32 = 3
	ResultPrepared     int32 = 4
	ResultSchemaChange int32 = 5
)

// Flags of a result's metadata.
const (
	MetaGlobalTable int32 = 0x01
	MetaMorePages   int32 = 0x02
	MetaNoMetadata  int32 = 0x04
	MetaChanged     int32 = 0x08 // version 5
)

// maxTypeDepth bounds the nesting of types that is followed; Cassandra's own limit is far below.
const maxTypeDepth = 32

// Codes of types (native_protocol_v5.spec, 4.2.5.2). Custom ones and collections, user-defined types and tuples have something after their code.
const (
	TypeCustom    uint16 = 0x0000
	TypeASCII     uint16 = 0x0001
	TypeBigint    uint16 = 0x0002
	TypeBlob      uint16 = 0x0003
	TypeBoolean   uint16 = 0x0004
	TypeCounter   uint16 = 0x0005
	TypeDecimal   uint16 = 0x0006
	TypeDouble    uint16 = 0x0007
	TypeFloat     uint16 = 0x0008
	TypeInt       uint16 = 0x0009
	TypeTimestamp uint16 = 0x000B
	TypeUUID      uint16 = 0x000C
	TypeVarchar   uint16 = 0x000D
	TypeVarint    uint16 = 0x000E
	TypeTimeuuid  uint16 = 0x000F
	TypeInet      uint16 = 0x0010
	TypeDate      uint16 = 0x0011
	TypeTime      uint16 = 0x0012
	TypeSmallint  uint16 = 0x0013
	TypeTinyint   uint16 = 0x0014
	TypeDuration  uint16 = 0x0015
	TypeList      uint16 = 0x0020
	TypeMap       uint16 = 0x0021
	TypeSet       uint16 = 0x0022
	TypeUDT       uint16 = 0x0030
	TypeTuple     uint16 = 0x0031
)

// Metadata is the head of a result's metadata: all but the columns.
type Metadata struct {
	Flags       int32
	Columns     int32
	PagingState []byte
	ID          []byte // version 5, if MetaChanged
}

// ReadMetadata reads the head of a result's metadata; the columns follow in r unless MetaNoMetadata.
func ReadMetadata(r *Reader) (m Metadata) {
	m.Flags = r.Int()
	m.Columns = r.Int()
	if m.Flags&MetaMorePages != 0 {
		m.PagingState = r.Bytes()
	}
	if m.Flags&MetaChanged != 0 {
		m.ID = r.String()
	}
	if m.Columns < 0 || (m.Flags&MetaNoMetadata == 0 && int(m.Columns) > len(r.b)) {
		r.bad = true
	}
	return m
}

// Columns reads the specifications of a metadata's columns, if it has them, and calls f (may be nil) with each name.
func Columns(r *Reader, m Metadata, f func(name []byte)) {
	if m.Flags&MetaNoMetadata != 0 {
		return
	}
	if m.Flags&MetaGlobalTable != 0 {
		r.String()
		r.String()
	}
	for n := m.Columns; n > 0 && !r.bad; n-- {
		if m.Flags&MetaGlobalTable == 0 {
			r.String()
			r.String()
		}
		name := r.String()
		SkipType(r)
		if f != nil && !r.bad {
			f(name)
		}
	}
}

// SkipType steps over a type. Codes that are not known are taken to have nothing after them, as all plain ones have.
func SkipType(r *Reader) { skipType(r, 0) }

func skipType(r *Reader, depth int) {
	if depth > maxTypeDepth {
		r.bad = true
		return
	}
	switch r.Short() {
	case TypeCustom:
		r.String()
	case TypeList, TypeSet:
		skipType(r, depth+1)
	case TypeMap:
		skipType(r, depth+1)
		skipType(r, depth+1)
	case TypeUDT:
		r.String()
		r.String()
		for n := r.Short(); n > 0 && !r.bad; n-- {
			r.String()
			skipType(r, depth+1)
		}
	case TypeTuple:
		for n := r.Short(); n > 0 && !r.bad; n-- {
			skipType(r, depth+1)
		}
	}
}

// What an answer says of a conditional write.
const (
	Applied    byte = 1
	NotApplied byte = 2
)

// Counted is what the beginning of a Rows answer tells.
type Counted struct {
	More    bool // there are more pages
	Rows    int  // -1 if the bytes do not reach that far (the caller may hold only the beginning of a long answer)
	Applied byte // of a conditional write: Applied or NotApplied; else 0
}

// countRows reads the beginning of a Rows answer, after its kind, up to the number of rows, and whether the first column is "[applied]". rows is -1 if the bytes do
// not reach that far (the caller may hold only the beginning of a long answer).
func countRows(r *Reader) (m Metadata, rows int, conditional bool) {
	m = ReadMetadata(r)
	n := 0
	Columns(r, m, func(name []byte) {
		if n++; n == 1 {
			conditional = string(name) == "[applied]"
		}
	})
	rows = int(r.Int())
	if r.bad || rows < 0 {
		rows = -1
	}
	return m, rows, conditional
}

// CountKnownRows is that of an answer that may begin with metadata that was read before, known (nil if there is none):
// if it does, that is not read again. It also reads whether a conditional write was applied, whose metadata is never known.
func CountKnownRows(r *Reader, known []byte) (c Counted) {
	if len(known) >= 8 && bytes.HasPrefix(r.Rest(), known) {
		c.More = int32(binary.BigEndian.Uint32(known))&MetaMorePages != 0
		r.Take(len(known))
		if c.Rows = int(r.Int()); r.bad || c.Rows < 0 {
			c.Rows = -1
		}
		return c
	}
	m, rows, conditional := countRows(r)
	c.More, c.Rows = m.Flags&MetaMorePages != 0, rows
	if conditional && rows > 0 {
		switch cell := r.Bytes(); {
		case len(cell) != 1:
		case cell[0] != 0:
			c.Applied = Applied
		default:
			c.Applied = NotApplied
		}
	}
	return c
}

// AppendError appends the body of an ERROR message. Those codes that carry more than a message (Unprepared, Unavailable,
// ...) need it appended after.
func AppendError(b []byte, code int32, message string) []byte {
	return AppendString(AppendInt(b, code), message)
}

// AppendRows appends the body of a RESULT Rows message: metadata as given (flags, number of columns, ...), then rows.
func AppendRows(b, metadata []byte, rows [][][]byte) []byte {
	b = AppendInt(b, ResultRows)
	b = append(b, metadata...)
	b = AppendInt(b, int32(len(rows)))
	for _, row := range rows {
		for _, cell := range row {
			b = AppendBytes(b, cell)
		}
	}
	return b
}

// AppendSkipped appends what is left of an answer's metadata for a client that asked to skip it: Cassandra leaves the flag there that all columns are of one table.
func AppendSkipped(b, metadata []byte, columns int) []byte {
	r := NewReader(metadata)
	return AppendInt(AppendInt(b, r.Int()&MetaGlobalTable|MetaNoMetadata), int32(columns))
}

// AppendNoMetadata appends metadata that describes no column.
func AppendNoMetadata(b []byte, columns int) []byte {
	return AppendInt(AppendInt(b, MetaNoMetadata), int32(columns))
}
