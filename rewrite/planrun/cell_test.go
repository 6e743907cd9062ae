package planrun_test

import (
	"bytes"
	"errors"
	"math"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"
	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/rewrite/planrun"
)

var natives = map[string]gocql.Type{
	"tinyint": gocql.TypeTinyInt, "smallint": gocql.TypeSmallInt, "int": gocql.TypeInt, "bigint": gocql.TypeBigInt, "counter": gocql.TypeCounter,
	"float": gocql.TypeFloat, "double": gocql.TypeDouble, "text": gocql.TypeText, "varchar": gocql.TypeVarchar, "ascii": gocql.TypeAscii,
	"boolean": gocql.TypeBoolean, "timestamp": gocql.TypeTimestamp, "date": gocql.TypeDate, "time": gocql.TypeTime, "uuid": gocql.TypeUUID,
	"timeuuid": gocql.TypeTimeUUID, "blob": gocql.TypeBlob, "inet": gocql.TypeInet, "decimal": gocql.TypeDecimal, "varint": gocql.TypeVarint,
}

// TestCellsAreThoseOfGocql encodes values as the driver does.
func TestCellsAreThoseOfGocql(t *testing.T) {
	u := gocql.UUIDFromTime(time.Unix(1e9, 0))
	for cqlType, values := range map[string][]any{
		"tinyint": {int64(-128), int64(127)}, "smallint": {int64(-32768), int64(5)}, "int": {int64(0), int64(math.MinInt32)},
		"bigint": {int64(math.MinInt64), int64(7)}, "counter": {int64(3)}, "double": {0.0, -1.5, math.Inf(1)},
		"text": {"", "a\u00e9\U0001F600"}, "varchar": {"x"}, "ascii": {"x"}, "boolean": {true, false},
		"timestamp": {time.UnixMilli(-1).UTC(), time.UnixMilli(1e12).UTC()}, "date": {time.Unix(0, 0).UTC(), time.Date(1969, 12, 31, 0, 0, 0, 0, time.UTC)},
		"time": {time.Duration(0), 24*time.Hour - 1}, "uuid": {u}, "timeuuid": {u}, "blob": {[]byte{}, []byte{1, 2}},
		"inet": {net.IPv4(10, 0, 0, 1).To4(), net.ParseIP("::1")}, "decimal": {inf.NewDec(-128, 3), inf.NewDec(0, -2)},
		"varint": {big.NewInt(0), big.NewInt(127), big.NewInt(128), big.NewInt(-128), big.NewInt(-129), big.NewInt(-1), new(big.Int).Lsh(big.NewInt(-1), 70)},
	} {
		for _, v := range values {
			want, err := gocql.Marshal(gocql.NewNativeType(4, natives[cqlType], ""), v)
			if err != nil {
				t.Fatal(cqlType, v, err)
			}
			got, err := planrun.Encode(cqlType, v)
			if err != nil || got == nil || !bytes.Equal(got, want) {
				t.Errorf("%s %v: %x %v, the driver has %x", cqlType, v, got, err, want)
			}
			back, err := planrun.Decode(cqlType, got)
			if again, _ := planrun.Encode(cqlType, back); err != nil || !bytes.Equal(again, got) {
				t.Errorf("%s %v comes back as %v: %v", cqlType, v, back, err)
			}
		}
		for _, null := range [][]byte{nil} {
			if v, err := planrun.Decode(cqlType, null); v != nil || err != nil {
				t.Errorf("%s: null is %v %v", cqlType, v, err)
			}
		}
	}
}

func TestLiterals(t *testing.T) {
	for _, c := range []struct {
		cqlType, literal string
		want             any
	}{
		{"int", "-7", int64(-7)}, {"double", "2.5", 2.5}, {"float", "2", 2.0}, {"boolean", "TRUE", true}, {"date", "1970-01-02", time.Unix(86400, 0).UTC()},
		{"timestamp", "1970-01-01T00:00:01Z", time.Unix(1, 0).UTC()}, {"timestamp", "2001-02-03 04:05:06.789", time.Date(2001, 2, 3, 4, 5, 6, 789e6, time.UTC)},
		{"timestamp", "1500", time.UnixMilli(1500).UTC()}, {"time", "00:00:01.5", 1500 * time.Millisecond}, {"blob", "0x0102", []byte{1, 2}}, {"decimal", "1.50", inf.NewDec(150, 2)},
		{"varint", "-300", big.NewInt(-300)}, {"inet", "10.0.0.1", net.IPv4(10, 0, 0, 1)}, {"uuid", "00000000-0000-4000-8000-000000000001", gocql.UUID{6: 0x40, 8: 0x80, 15: 1}},
	} {
		got, err := planrun.Encode(c.cqlType, c.literal)
		want, _ := planrun.Encode(c.cqlType, c.want)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s %s: %x %v, want %x", c.cqlType, c.literal, got, err, want)
		}
	}
	for _, c := range []struct {
		cqlType string
		value   any
	}{
		{"int", "x"}, {"int", int64(1 << 40)}, {"tinyint", int64(128)}, {"boolean", "yes"}, {"date", "soon"}, {"uuid", "1"}, {"text", int64(1)}, {"ascii", "\u00e9"}, {"text", "\xff"},
		{"timeuuid", gocql.UUID{6: 0x40}}, {"list<int>", int64(1)}, {"inet", "here"}, {"int", 1.5}, {"time", 25 * time.Hour}, {"bigint", new(big.Int).Lsh(big.NewInt(1), 80)},
	} {
		var wrong *planrun.TypeError
		if cell, err := planrun.Encode(c.cqlType, c.value); !errors.As(err, &wrong) || wrong.Type != c.cqlType || !strings.Contains(err.Error(), c.cqlType) {
			t.Errorf("%v as %s: %x %v", c.value, c.cqlType, cell, err)
		}
	}
}

// What is compared is a total order, in which equal cells are those of equal values.
func TestDecimals(t *testing.T) {
	cell := func(unscaled int64, scale int32) []byte {
		c, err := planrun.Encode("decimal", inf.NewDec(unscaled, inf.Scale(scale)))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	for _, c := range []struct {
		a, b []byte
		want int
	}{
		{cell(10, 1), cell(1, 0), 0}, {cell(-10, 1), cell(-1, 0), 0}, {cell(0, 5), cell(0, -5), 0}, {cell(15, 1), cell(149, 2), 1}, {cell(-15, 1), cell(-149, 2), -1},
		{cell(9, 0), cell(10, 0), -1}, {cell(1, math.MaxInt32), cell(1, math.MinInt32), -1}, {cell(-1, math.MinInt32), cell(1, math.MaxInt32), -1}, {cell(12, 0), cell(120, 1), 0}, {cell(12, 0), cell(1201, 2), -1},
	} {
		if got := planrun.Compare("decimal", c.a, c.b); got != c.want {
			t.Errorf("%x and %x: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestCompareIsAnOrder(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		cqlType := rapid.SampledFrom([]string{"int", "double", "text", "uuid", "timeuuid", "varint", "decimal", "date", "boolean", "inet", "unheard of"}).Draw(r, "type")
		cell := rapid.OneOf(rapid.Just([]byte(nil)), rapid.SliceOfN(rapid.Byte(), 0, 17), rapid.SliceOfN(rapid.Byte(), 4, 4), rapid.SliceOfN(rapid.Byte(), 16, 16))
		a, b, c := cell.Draw(r, "a"), cell.Draw(r, "b"), cell.Draw(r, "c")
		ab, bc, ac := planrun.Compare(cqlType, a, b), planrun.Compare(cqlType, b, c), planrun.Compare(cqlType, a, c)
		if ab != -planrun.Compare(cqlType, b, a) || planrun.Compare(cqlType, a, a) != 0 {
			r.Fatalf("%x and %x", a, b)
		}
		same := func(x []byte) bool { return len(x) == len(a) } // cells that do not fit their type have no order among those that do
		if same(b) && same(c) && ab <= 0 && bc <= 0 && ac > 0 {
			r.Fatalf("%x, %x, %x", a, b, c)
		}
	})
}

// Texts with a prefix are those from it up to what comes after.
func TestAfter(t *testing.T) {
	texts := rapid.StringOf(rapid.RuneFrom([]rune{0, 'a', 'b', 0x7e, 0x7f, 0x80, 0x7ff, 0xd7ff, 0xe000, 0xffff, 0x10000, 0x10ffff}))
	rapid.Check(t, func(r *rapid.T) {
		prefix, text := texts.Draw(r, "prefix"), texts.Draw(r, "text")
		if rapid.Bool().Draw(r, "longer") {
			text = prefix + text
		}
		upper, ok := planrun.After([]byte(prefix), false)
		if within := text >= prefix && (!ok || text < string(upper)); within != strings.HasPrefix(text, prefix) {
			r.Fatalf("%q begins with %q: %t, but lies between it and %q: %t", text, prefix, !within, upper, within)
		}
	})
	if upper, ok := planrun.After([]byte("a\x7f"), true); !ok || string(upper) != "b" {
		t.Errorf("ascii: %q", upper)
	}
}

// FuzzDecode: no cell of any type is more than an error, and what is decoded has one meaning.
func FuzzDecode(f *testing.F) {
	f.Add("decimal", []byte{0, 0, 0, 2, 1})
	f.Add("inet", []byte{127, 0, 0, 1})
	f.Add("varint", []byte{0xff, 0x7f})
	f.Add("text", []byte("\xff"))
	f.Fuzz(func(t *testing.T, cqlType string, cell []byte) {
		v, err := planrun.Decode(cqlType, cell)
		if err != nil || v == nil {
			return
		}
		again, err := planrun.Encode(cqlType, v)
		if err != nil {
			if cqlType != "time" && !strings.EqualFold(cqlType, "timeuuid") && !strings.EqualFold(cqlType, "ascii") { // may hold what is none
				t.Fatalf("%s %x: %v is not encoded: %v", cqlType, cell, v, err)
			}
			return
		}
		if f, ok := v.(float64); (!ok || !math.IsNaN(f)) && planrun.Compare(cqlType, again, cell) != 0 {
			t.Fatalf("%s %x comes back as %x", cqlType, cell, again)
		}
	})
}

// FuzzEncodeLiteral: no text is more than an error.
func FuzzEncodeLiteral(f *testing.F) {
	for cqlType := range natives {
		f.Add(cqlType, "1e5")
	}
	f.Fuzz(func(t *testing.T, cqlType, literal string) {
		cell, err := planrun.Encode(cqlType, literal)
		if err != nil {
			return
		}
		if _, err := planrun.Decode(cqlType, cell); err != nil {
			t.Fatalf("%s %q: %x: %v", cqlType, literal, cell, err)
		}
	})
}
