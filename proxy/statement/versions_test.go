package statement

import "testing"

func TestAlike(t *testing.T) {
	of := func(code uint16, elements ...Type) Type { return Type{Code: code, Elements: elements} }
	duration := Type{Custom: classes[4]}
	for i, c := range []struct {
		said, to byte
		result   Type
		alike    bool
	}{
		{5, 3, of(0x0D), true}, {3, 5, of(0x09), true}, {5, 5, of(0x15), true}, {3, 3, duration, true},
		{5, 3, of(0x13), false}, {5, 4, of(0x13), true}, {4, 5, of(0x14), true}, {4, 3, of(0x11), false}, {5, 3, of(0x12), false},
		{5, 4, of(0x15), false}, {4, 5, duration, false}, {3, 4, duration, false},
		{5, 4, of(0x20, of(0x30, of(0x0D), of(0x15))), false}, {5, 4, of(0x21, of(0x13), of(0x0D)), true},
		{5, 4, Type{Custom: "org.apache.cassandra.db.marshal.VectorType(org.apache.cassandra.db.marshal.FloatType,3)"}, true},
	} {
		p := Prepared{Version: c.said, Results: []Column{{Type: of(0x0D)}, {Type: c.result}}}
		if got := p.Alike(c.to); got != c.alike {
			t.Errorf("%d: what version %d was told of %+v is told version %d: %t", i, c.said, c.result, c.to, got)
		}
	}
}
