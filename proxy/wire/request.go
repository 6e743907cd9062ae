package wire

import "slices"

// Flags of a request's parameters: one byte in versions 3 and 4, four bytes in version 5.
const (
	ParamValues       uint32 = 0x01
	ParamSkipMetadata uint32 = 0x02
	ParamPageSize     uint32 = 0x04
	ParamPagingState  uint32 = 0x08
	ParamSerial       uint32 = 0x10
	ParamTimestamp    uint32 = 0x20
	ParamNames        uint32 = 0x40
	ParamKeyspace     uint32 = 0x80  // version 5
	ParamNow          uint32 = 0x100 // version 5

	paramKnown = ParamValues | ParamSkipMetadata | ParamPageSize | ParamPagingState | ParamSerial | ParamTimestamp |
		ParamNames | ParamKeyspace | ParamNow
)

// Consistency levels that make a read serial.
const (
	Serial      uint16 = 0x0008
	LocalSerial uint16 = 0x0009
)

// View is a QUERY, an EXECUTE or a BATCH as its body says, for all who want something of it: it is gone over once, and of an EXECUTE
// further than its beginning only when somebody asks. It keeps where things are, so that it holds for a copy of the body too (On). The
// zero View is of nothing.
type View struct {
	// Of every request; known once Head was asked.
	Consistency uint16
	Flags       uint32 // of the parameters
	Unknown     bool   // has flags that the version does not define

	// What follows the flags; known once Whole was asked.
	SerialConsistency uint16 // 0 if not sent
	PageSize          int32
	NowSeconds        int32 // what the time is to be taken for, if Flags has ParamNow
	Timestamp         int64
	Kind              byte // of a BATCH

	header           Header
	body             []byte
	read             extent
	statement        place // the text, or the id
	metadataID       place // EXECUTE, version 5
	paging, keyspace place
	valuesAt         int // of the number of values; 0 if there are none
	children         []child
}

// extent is how far a View's body was read.
type extent uint8

const (
	unread  extent = iota
	unknown        // not even the beginning can be read
	begun
	broken // what follows the beginning can not be read
	whole
)

// place is where something is in a body; the zero place is nowhere, as nothing is at its beginning that is not the length of something.
type place struct{ from, to int }

func (v *View) at(p place) []byte {
	if p.from == 0 {
		return nil
	}
	return v.body[p.from:p.to:p.to]
}

// child is one statement of a BATCH.
type child struct {
	statement place
	valuesAt  int
	text      bool
}

// keptChildren is how many children a View has room for when it is used again.
const keptChildren = 1 << 10

// See makes v that of another request. body may be only the beginning of an EXECUTE's.
func (v *View) See(h Header, body []byte) {
	v.header, v.body, v.read = h, body, unread
}

// Forget lets go of the body.
func (v *View) Forget() { v.body, v.read = nil, unknown }

// On returns the view for a copy of the body. It is not changed by what becomes of v.
func (v *View) On(body []byte) View {
	n := *v
	n.body, n.children = body, slices.Clone(v.children)
	return n
}

// Head reads the beginning: as far as the parameters' flags; a BATCH's is all of it. It reports whether it can be read.
func (v *View) Head() bool {
	if v.read == unread {
		v.begin()
	}
	return v.read > unknown
}

// Whole reads all. It reports whether it can be read.
func (v *View) Whole() bool {
	if v.Head() && v.read == begun {
		v.finish()
	}
	return v.read == whole
}

// begin reads the beginning.
func (v *View) begin() {
	r := NewReader(v.body)
	r.SkipRequestPrefix(v.header.Flags)
	v.metadataID = place{}
	switch v.header.Opcode {
	case OpBatch:
		v.readChildren(&r)
	case OpExecute:
		v.statement = r.place(int(r.Short()))
		if v.header.Version >= 5 {
			v.metadataID = r.place(int(r.Short()))
		}
	default:
		v.statement = r.place(int(r.Int()))
	}
	v.Consistency = r.Short()
	known := paramKnown
	if v.header.Version >= 5 {
		v.Flags = uint32(r.Int())
	} else {
		v.Flags, known = uint32(r.Byte()), known&0x7F
	}
	v.Unknown = v.Flags&^known != 0
	if v.read = begun; r.bad {
		v.read = unknown
	}
	v.valuesAt = r.off // until finish knows better
}

// place steps over n bytes and returns where they are.
func (r *Reader) place(n int) place {
	from := r.off
	r.Take(n)
	return place{from, r.off}
}

func (v *View) readChildren(r *Reader) {
	v.Kind = r.Byte()
	if v.children = v.children[:0]; cap(v.children) > keptChildren {
		v.children = nil
	}
	for n := int(r.Short()); n > 0 && !r.bad; n-- {
		var c child
		switch r.Byte() {
		case 0:
			c.text = true
			c.statement = r.place(int(r.Int()))
		case 1:
			c.statement = r.place(int(r.Short()))
		default:
			r.bad = true
		}
		c.valuesAt = r.off
		skipValues(r, false) // names in a BATCH were specified so that they can not be read; Cassandra refuses them
		v.children = append(v.children, c)
	}
}

// finish reads what the flags say follows them. It does so as Cassandra does: the same for QUERY, EXECUTE and BATCH,
// whatever of it makes sense there, and the keyspace in every version. What comes with flags that this package does not
// know comes last.
func (v *View) finish() {
	r := Reader{b: v.body, off: v.valuesAt}
	if v.Flags&ParamValues != 0 {
		skipValues(&r, v.Flags&ParamNames != 0)
	} else {
		v.valuesAt = 0
	}
	v.PageSize, v.SerialConsistency, v.Timestamp, v.NowSeconds = 0, 0, 0, 0
	v.paging, v.keyspace = place{}, place{}
	if v.Flags&ParamPageSize != 0 {
		v.PageSize = r.Int()
	}
	if v.Flags&ParamPagingState != 0 {
		if n := r.Int(); n >= 0 {
			v.paging = r.place(int(n))
		}
	}
	if v.Flags&ParamSerial != 0 {
		v.SerialConsistency = r.Short()
	}
	if v.Flags&ParamTimestamp != 0 {
		v.Timestamp = r.Long()
	}
	if v.Flags&ParamKeyspace != 0 {
		v.keyspace = r.place(int(r.Short()))
	}
	if v.Flags&ParamNow != 0 {
		v.NowSeconds = r.Int()
	}
	if v.read = whole; r.bad {
		v.read = broken
	}
}

func skipValues(r *Reader, names bool) {
	for n := int(r.Short()); n > 0 && !r.bad; n-- {
		if names {
			r.String()
		}
		r.Value()
	}
}

// Text is that of a QUERY.
func (v *View) Text() []byte { return v.at(v.statement) }

// ID is the prepared id of an EXECUTE.
func (v *View) ID() []byte { return v.at(v.statement) }

// MetadataID is that of the result's metadata as the client knows it: of an EXECUTE, in version 5.
func (v *View) MetadataID() []byte { return v.at(v.metadataID) }

// PagingState is nil if none was sent. Like all that follows, it is known once Whole was asked.
func (v *View) PagingState() []byte { return v.at(v.paging) }

// Keyspace is that which the request names itself, nil for none; specified for version 5.
func (v *View) Keyspace() []byte { return v.at(v.keyspace) }

// Values calls f for each bound value, in order; name is nil if it is positional, n is the value's length, -1 for null, -2 for not set.
// They are read from body: the one that v is of, or a copy.
func (v *View) Values(body []byte, f func(name, value []byte, n int32)) {
	if v.read == whole && v.valuesAt > 0 {
		readValues(body, v.valuesAt, v.header.Version, v.Flags&ParamNames != 0, f)
	}
}

func readValues(body []byte, at int, version byte, names bool, f func(name, value []byte, n int32)) {
	r := Reader{b: body, off: at}
	for c := int(r.Short()); c > 0 && !r.bad; c-- {
		var name []byte
		if names {
			name = r.String()
		}
		if v, n := r.Value(); !r.bad {
			if n < 0 && version < 4 { // which has nothing that is not set
				n = -1
			}
			f(name, v, n)
		}
	}
}

// Child is one statement of a BATCH.
type Child struct {
	Text     []byte // nil for an id
	ID       []byte
	valuesAt int
	version  byte
}

// Children is how many statements a BATCH has.
func (v *View) Children() int { return len(v.children) }

// Child is the one of a number.
func (v *View) Child(n int) Child {
	c := &v.children[n]
	if c.text {
		return Child{Text: v.at(c.statement), valuesAt: c.valuesAt, version: v.header.Version}
	}
	return Child{ID: v.at(c.statement), valuesAt: c.valuesAt, version: v.header.Version}
}

// Values is as View.Values.
func (c *Child) Values(body []byte, f func(name, value []byte, n int32)) {
	readValues(body, c.valuesAt, c.version, false, f)
}

// Prepare is a PREPARE.
type Prepare struct {
	Text     []byte
	Keyspace []byte // version 5, nil if not sent
}

// ParsePrepare reads the body of a PREPARE. ok is false if it is malformed.
func ParsePrepare(version, flags byte, body []byte) (p Prepare, ok bool) {
	r := NewReader(body)
	r.SkipRequestPrefix(flags)
	p.Text = r.LongString()
	if version >= 5 {
		if f := r.Int(); f&0x01 != 0 {
			p.Keyspace = r.String()
		}
	}
	return p, !r.bad
}

// AppendText appends the body of the QUERY with text instead of its own.
func (v *View) AppendText(b []byte, text string) []byte {
	b = AppendLongString(append(b, v.body[:v.statement.from-4]...), text)
	return append(b, v.body[v.statement.to:]...)
}

// AppendExecute appends the body of an EXECUTE of ours: values in order, nil is null.
func AppendExecute(b []byte, version byte, id, metadataID string, consistency uint16, skipMetadata bool, values [][]byte) []byte {
	b = AppendString(b, id)
	if version >= 5 {
		b = AppendString(b, metadataID)
	}
	flags := ParamValues
	if skipMetadata {
		flags |= ParamSkipMetadata
	}
	b = AppendShort(b, consistency)
	if version >= 5 {
		b = AppendInt(b, int32(flags))
	} else {
		b = append(b, byte(flags))
	}
	b = AppendShort(b, uint16(len(values)))
	for _, v := range values {
		b = AppendBytes(b, v)
	}
	return b
}

// AppendID appends the body of the EXECUTE with another prepared id, and in version 5 another id of the result's metadata.
func (v *View) AppendID(b []byte, id, metadataID string) []byte {
	b = AppendString(append(b, v.body[:v.statement.from-2]...), id)
	end := v.statement.to
	if v.header.Version >= 5 {
		b, end = AppendString(b, metadataID), v.metadataID.to
	}
	return append(b, v.body[end:]...)
}

// AppendBatch appends the body of the BATCH, with what instead has for each child in the place of its text or id; "" leaves it.
func (v *View) AppendBatch(b []byte, instead []string) []byte {
	from := 0
	for n, c := range v.children {
		switch other := instead[n]; {
		case other == "":
			continue
		case c.text:
			b = AppendLongString(append(b, v.body[from:c.statement.from-4]...), other)
		default:
			b = AppendString(append(b, v.body[from:c.statement.from-2]...), other)
		}
		from = c.statement.to
	}
	return append(b, v.body[from:]...)
}
