package wire

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

// Params are the parameters of a QUERY, an EXECUTE or a BATCH.
type Params struct {
	Consistency       uint16
	Flags             uint32
	PageSize          int32
	PagingState       []byte
	SerialConsistency uint16 // 0 if not sent
	Timestamp         int64
	Keyspace          []byte // specified for version 5
	NowSeconds        int32  // likewise: what the time is to be taken for, if Flags has ParamNow
	Unknown           bool   // has flags that the version does not define

	valuesAt int // of the number of values; 0 if there are none
	names    bool
}

// Statement is the text or the prepared id of a QUERY, PREPARE or EXECUTE, or of one child of a BATCH.
type Statement struct {
	Text       []byte // nil for EXECUTE
	ID         []byte
	MetadataID []byte // EXECUTE, version 5
	textAt     int    // of the text's length
	idAt       int    // of the id's length
}

// Request is a QUERY or an EXECUTE.
type Request struct {
	Statement
	Params
}

// Head is the beginning of an EXECUTE: all that is wanted of one on its way.
type Head struct {
	ID          []byte
	Consistency uint16
	Flags       uint32 // of the parameters
}

// ParseHead reads the beginning of an EXECUTE's body, as far as the consistency and the flags. ok is false if the body ends
// before.
func ParseHead(version, flags byte, body []byte) (q Head, ok bool) {
	r := NewReader(body)
	r.SkipRequestPrefix(flags)
	q.ID = r.String()
	if version >= 5 {
		r.String() // the metadata's id
	}
	q.Consistency = r.Short()
	if version >= 5 {
		q.Flags = uint32(r.Int())
	} else {
		q.Flags = uint32(r.Byte())
	}
	return q, !r.bad
}

func readHead(r *Reader, q *Request, opcode, version, flags byte) {
	r.SkipRequestPrefix(flags)
	if opcode == OpExecute {
		q.idAt = r.off
		q.ID = r.String()
		if version >= 5 {
			q.MetadataID = r.String()
		}
	} else {
		q.textAt = r.off
		q.Text = r.LongString()
	}
	q.Consistency = r.Short()
	readFlags(r, &q.Params, version)
}

func readFlags(r *Reader, p *Params, version byte) {
	if version >= 5 {
		p.Flags = uint32(r.Int())
	} else {
		p.Flags = uint32(r.Byte())
	}
	known := paramKnown
	if version < 5 {
		known &= 0x7F
	}
	p.Unknown = p.Flags&^known != 0
}

// ParseRequest reads the whole body of a QUERY or an EXECUTE. ok is false if it is malformed.
func ParseRequest(opcode, version, flags byte, body []byte) (q Request, ok bool) {
	r := NewReader(body)
	readHead(&r, &q, opcode, version, flags)
	readParams(&r, &q.Params)
	return q, !r.bad
}

// readParams reads what the flags say follows them. It does so as Cassandra does: the same for QUERY, EXECUTE and BATCH,
// whatever of it makes sense there, and the keyspace in every version. What comes with flags that this package does not
// know comes last.
func readParams(r *Reader, p *Params) {
	if p.Flags&ParamValues != 0 {
		p.valuesAt = r.off
		p.names = p.Flags&ParamNames != 0
		skipValues(r, p.names)
	}
	if p.Flags&ParamPageSize != 0 {
		p.PageSize = r.Int()
	}
	if p.Flags&ParamPagingState != 0 {
		p.PagingState = r.Bytes()
	}
	if p.Flags&ParamSerial != 0 {
		p.SerialConsistency = r.Short()
	}
	if p.Flags&ParamTimestamp != 0 {
		p.Timestamp = r.Long()
	}
	if p.Flags&ParamKeyspace != 0 {
		p.Keyspace = r.String()
	}
	if p.Flags&ParamNow != 0 {
		p.NowSeconds = r.Int()
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

// Values calls f for each bound value of the request that body holds, in order; name is nil if it is positional,
// n is the value's length, -1 for null, -2 for not set.
func (p *Params) Values(body []byte, f func(name, value []byte, n int32)) {
	if p.valuesAt == 0 {
		return
	}
	r := Reader{b: body, off: p.valuesAt}
	readValues(&r, p.names, f)
}

func readValues(r *Reader, names bool, f func(name, value []byte, n int32)) {
	for c := int(r.Short()); c > 0 && !r.bad; c-- {
		var name []byte
		if names {
			name = r.String()
		}
		if v, n := r.Value(); !r.bad {
			f(name, v, n)
		}
	}
}

// Child is one statement of a BATCH.
type Child struct {
	Statement
	valuesAt int
}

// Values is as Params.Values.
func (c *Child) Values(body []byte, f func(name, value []byte, n int32)) {
	r := Reader{b: body, off: c.valuesAt}
	readValues(&r, false, f)
}

// ParseBatch reads the whole body of a BATCH and calls f for each child, in order. ok is false if the
// body is malformed, f may then have been called for the children before.
func ParseBatch(version, flags byte, body []byte, f func(child Child)) (kind byte, p Params, ok bool) {
	r := NewReader(body)
	r.SkipRequestPrefix(flags)
	kind = r.Byte()
	var c Child
	for n := int(r.Short()); n > 0 && !r.bad; n-- {
		c = Child{}
		switch r.Byte() {
		case 0:
			c.textAt = r.off
			c.Text = r.LongString()
		case 1:
			c.idAt = r.off
			c.ID = r.String()
		default:
			r.bad = true
		}
		c.valuesAt = r.off
		skipValues(&r, false) // names in a BATCH were specified so that they can not be read; Cassandra refuses them
		if !r.bad && f != nil {
			f(c)
		}
	}
	p.Consistency = r.Short()
	readFlags(&r, &p, version)
	readParams(&r, &p)
	return kind, p, !r.bad
}

// Prepare is a PREPARE.
type Prepare struct {
	Statement
	Keyspace []byte // version 5, nil if not sent
}

// ParsePrepare reads the body of a PREPARE. ok is false if it is malformed.
func ParsePrepare(version, flags byte, body []byte) (p Prepare, ok bool) {
	r := NewReader(body)
	r.SkipRequestPrefix(flags)
	p.textAt = r.off
	p.Text = r.LongString()
	if version >= 5 {
		if f := r.Int(); f&0x01 != 0 {
			p.Keyspace = r.String()
		}
	}
	return p, !r.bad
}

// AppendText appends the body of the request that s was read from, with text instead of its own.
func (s *Statement) AppendText(b, body []byte, text string) []byte {
	b = append(b, body[:s.textAt]...)
	b = AppendLongString(b, text)
	return append(b, body[s.textAt+4+len(s.Text):]...)
}

// AppendID appends the body of the EXECUTE that s was read from, with another prepared id, and in version 5 another id of
// the result's metadata.
func (s *Statement) AppendID(b, body []byte, version byte, id, metadataID string) []byte {
	b = AppendString(append(b, body[:s.idAt]...), id)
	end := s.idAt + 2 + len(s.ID)
	if version >= 5 {
		b = AppendString(b, metadataID)
		end += 2 + len(s.MetadataID)
	}
	return append(b, body[end:]...)
}

// AppendBatch appends the body of a BATCH, with what instead gives for each child (by its number) in the place of its text or
// id; "" leaves it. A body that is malformed is appended as it is.
func AppendBatch(b, body []byte, version, flags byte, instead func(n int) string) []byte {
	start, from, n := len(b), 0, 0
	_, _, ok := ParseBatch(version, flags, body, func(c Child) {
		other := instead(n)
		n++
		switch {
		case other == "":
		case c.Text != nil:
			b = AppendLongString(append(b, body[from:c.textAt]...), other)
			from = c.textAt + 4 + len(c.Text)
		default:
			b = AppendString(append(b, body[from:c.idAt]...), other)
			from = c.idAt + 2 + len(c.ID)
		}
	})
	if !ok {
		return append(b[:start], body...)
	}
	return append(b, body[from:]...)
}
