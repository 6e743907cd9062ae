package wire

import (
	"testing"
)

// tail is parameters with everything in them, as Cassandra reads them: in the order of the flags' bits, those it does not
// know skipped, of QUERY, EXECUTE and BATCH alike, in every version.
func tail(version byte, flags uint32) []byte {
	b := AppendShort(nil, 4)
	if version >= 5 {
		b = AppendInt(b, int32(flags))
	} else {
		b = append(b, byte(flags))
	}
	if flags&ParamValues != 0 {
		b = AppendShort(b, 1)
		if flags&ParamNames != 0 {
			b = AppendString(b, "name")
		}
		b = AppendBytes(b, []byte("value"))
	}
	if flags&ParamPageSize != 0 {
		b = AppendInt(b, 5000)
	}
	if flags&ParamPagingState != 0 {
		b = AppendBytes(b, []byte("state"))
	}
	if flags&ParamSerial != 0 {
		b = AppendShort(b, LocalSerial)
	}
	if flags&ParamTimestamp != 0 {
		b = AppendLong(b, 77)
	}
	if flags&ParamKeyspace != 0 {
		b = AppendString(b, "ks")
	}
	if flags&ParamNow != 0 {
		b = AppendInt(b, 1)
	}
	return b
}

// TestParamsAreReadAsCassandraReadsThem: a write that it understands and this package does not would go by unseen.
func TestParamsAreReadAsCassandraReadsThem(t *testing.T) {
	for _, version := range []byte{3, 4, 5} {
		most := uint32(0x100)
		if version >= 5 {
			most = 0x400 // one bit that nobody knows
		}
		for flags := range most {
			body := tail(version, flags)
			query := append(AppendLongString(nil, "text"), body...)
			var q, p View
			if q.See(Header{Version: version, Opcode: OpQuery}, query); !q.Whole() {
				t.Fatalf("v%d QUERY with flags %#x is not read", version, flags)
			}
			batch := append(AppendShort([]byte{0}, 1), 0)
			batch = append(AppendShort(AppendLongString(batch, "text"), 0), body...)
			if p.See(Header{Version: version, Opcode: OpBatch}, batch); !p.Whole() {
				t.Fatalf("v%d BATCH with flags %#x is not read", version, flags)
			}
			for name, p := range map[string]*View{"QUERY": &q, "BATCH": &p} {
				if (string(p.Keyspace()) == "ks") != (flags&ParamKeyspace != 0) || (p.Timestamp == 77) != (flags&ParamTimestamp != 0) ||
					(p.SerialConsistency == LocalSerial) != (flags&ParamSerial != 0) {
					t.Fatalf("v%d %s with flags %#x is read as %+v", version, name, flags, p)
				}
			}
		}
	}
}

// TestRowsAreCountedWithoutMetadata: a client that skips it gets fewer bytes than there are columns if there are no rows.
func TestRowsAreCountedWithoutMetadata(t *testing.T) {
	for _, columns := range []int{1, 30, 5000} {
		r := NewReader(AppendRows(nil, AppendNoMetadata(nil, columns), nil))
		r.Int()
		if m, rows := CountRows(&r); rows != 0 || m.Columns != int32(columns) {
			t.Errorf("%d columns: %+v, %d rows", columns, m, rows)
		}
	}
}
