package data

import (
	"encoding/binary"
	"math"
	"math/big"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"

	"github.com/helenus-db/helenus/advisor/model"
)

// Begin is when the year begins that times lie in.
var Begin = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

const year = 365 * 24 * time.Hour

// column makes one of an attribute. What different number its values have is what the model says, as far as the type can.
func (k *keys) column(x *entity, a *model.Attribute) (*column, error) {
	c := &column{entity: x, seed: hash(x.seed, a.Name), of: x.count}
	if a.Null > 0 {
		c.null = uint64(a.Null * (1 << 63))
	}
	f := model.Field{Entity: x.Entity, Attribute: a}
	if a.Distinct > 0 || a.Type == "boolean" {
		c.of = uint64(min(f.Distinct(), 1<<48))
	}
	kind := strings.ToLower(strings.TrimSpace(a.Type))
	var ok bool
	if c.most, ok = capacity[kind]; !ok {
		return nil, &ModelError{"attribute " + f.String(), "values of type " + a.Type + " are not made"}
	}
	c.of = min(c.of, c.most)
	c.make = maker(kind, f, c.seed, c.of)
	if list := k.literals[a]; len(list) > 0 {
		plain := c.make
		c.make = func(n uint64) any {
			if n < uint64(len(list)) {
				return list[n]
			}
			return plain(n)
		}
	}
	return c, nil
}

// capacity is how many different values are made of a type.
var capacity = map[string]uint64{
	"boolean": 2, "tinyint": 1 << 7, "smallint": 1 << 15, "int": 1<<31 - 1, "bigint": 1 << 60, "counter": 1 << 60, "varint": 1 << 60,
	"float": 1 << 30, "double": 1 << 50, "decimal": 1 << 50, "text": 1 << 60, "varchar": 1 << 60, "ascii": 1 << 60, "blob": 1 << 60,
	"uuid": 1 << 60, "timeuuid": 1 << 55, "timestamp": 1 << 40, "date": 1 << 20, "time": 86_400_000, "inet": 1 << 24,
}

// maker returns what makes the nth of the different values of a type.
func maker(kind string, f model.Field, seed, of uint64) func(uint64) any {
	step := func(span uint64) uint64 { return max(1, span/max(1, of)) }
	switch kind {
	case "boolean":
		return func(n uint64) any { return n%2 == 1 }
	case "tinyint", "smallint", "int", "bigint", "counter":
		return func(n uint64) any { return int64(n) + 1 }
	case "varint":
		return func(n uint64) any { return big.NewInt(int64(n) + 1) }
	case "float":
		return func(n uint64) any {
			if n >= 1<<21 { // quarters are exact up to there; further ones are the next floats
				return float64(math.Float32frombits(math.Float32bits(1<<20) + uint32(n)))
			}
			return float64(n+1) / 4
		}
	case "double":
		return func(n uint64) any { return float64(n+1) / 4 }
	case "decimal":
		return func(n uint64) any { return inf.NewDec(int64(n)+1, 2) }
	case "uuid":
		return func(n uint64) any { return identifier(seed, n) }
	case "timeuuid":
		ticks := step(uint64(year / 100))
		return func(n uint64) any { return timed(seed, n*ticks) }
	case "timestamp":
		millis := step(uint64(year / time.Millisecond))
		return func(n uint64) any { return Begin.Add(time.Duration(n*millis) * time.Millisecond) }
	case "date":
		days := step(uint64(year / (24 * time.Hour)))
		return func(n uint64) any { return Begin.AddDate(0, 0, int(n*days)) }
	case "time":
		nanos := step(uint64(24 * time.Hour))
		return func(n uint64) any { return time.Duration(n * nanos) }
	case "inet":
		return func(n uint64) any { return net.IPv4(10, byte(n>>16), byte(n>>8), byte(n)).To4() }
	case "blob":
		return func(n uint64) any { return filled(seed, n, f.Size()) }
	}
	words := vocabulary(f.Attribute.Name)
	return func(n uint64) any { return phrase(words, mix(seed, n), n, f.Size()) }
}

// identifier is a random UUID (version 4) of a number, another one for each: its lower half is a bijection of the number.
func identifier(seed, n uint64) gocql.UUID {
	var id gocql.UUID
	const low = 1<<62 - 1
	x := (n ^ seed) & low
	x = x * (mix(seed, 7) | 1) & low
	x ^= x >> 31
	x = x * (mix(seed, 8) | 1) & low
	binary.BigEndian.PutUint64(id[:8], mix(seed, n)&^0xf000|0x4000)
	binary.BigEndian.PutUint64(id[8:], x|1<<63)
	return id
}

// timed is a time-based UUID (version 1), so many tenths of microseconds after Begin.
func timed(seed, ticks uint64) gocql.UUID {
	const epoch = 0x01b21dd213814000 // 1970 in the Gregorian calendar's ticks
	at := epoch + uint64(Begin.UnixNano()/100) + ticks
	var id gocql.UUID
	binary.BigEndian.PutUint32(id[:], uint32(at))
	binary.BigEndian.PutUint16(id[4:], uint16(at>>32))
	binary.BigEndian.PutUint16(id[6:], uint16(at>>48)|0x1000)
	binary.BigEndian.PutUint64(id[8:], mix(seed, ticks)>>2|1<<63)
	return id
}

// length is that of value n: about the mean, and on the mean so.
func length(drawn uint64, mean float64) int {
	return int(math.Round(mean * (0.75 + 0.5*float64(drawn>>11)/(1<<53))))
}

// filled are bytes that begin with a number.
func filled(seed, n uint64, mean float64) []byte {
	drawn := mix(seed, n)
	size := length(drawn, mean)
	b := make([]byte, 0, max(size, 8)+8)
	b = binary.BigEndian.AppendUint64(b, n)
	for len(b) < size {
		drawn = mix(drawn, n)
		b = binary.LittleEndian.AppendUint64(b, drawn)
	}
	return b[:max(size, 8)]
}

// phrase is a text of about a length: a word, the number, and words. Its only digits are the number's, so that no two numbers
// have the same.
func phrase(words []string, drawn, n uint64, mean float64) string {
	size := length(mix(drawn, 1), mean)
	b := make([]byte, 0, size+16)
	number := strconv.AppendUint(nil, n, 10)
	first := words[drawn%uint64(len(words))]
	b = append(b, first[:max(0, min(len(first), size-len(number)))]...)
	b = append(b, number...)
	for x := drawn; len(b) < size; {
		x = mix(x, 2)
		b = append(append(b, ' '), plain[x%uint64(len(plain))]...)
	}
	if end := max(size, 0); len(b) > end && end > len(first)+len(number) {
		b = b[:end]
	}
	return string(b)
}

var (
	people = strings.Fields("ada alan anne bela carl clara dana emil erik fay gina hana hugo ida ines ivan jan jana karl kim lea leo lina luis mara max mia nele nina noah olga otto paul pia rosa sam sara tom uli vera wim yara zoe")
	places = strings.Fields("Aarhus Athens Basel Bergen Bern Bonn Bremen Cork Dakar Delft Essen Faro Genoa Ghent Graz Haifa Ibadan Jena Kassel Kyoto Lagos Leeds Lima Linz Lyon Malaga Nancy Osaka Oslo Paris Porto Quito Riga Rome Sofia Tallinn Turin Ulm Vigo Zagreb")
	plain  = strings.Fields("amber apple arrow basin birch blade bread brick brook cedar chair chalk cliff cloud coral crane delta drift eagle ember fable field flint frost glass grain grove harbor hazel honey ivory jewel kettle lantern linen maple marble meadow mirror moss north ocean olive orbit paper pebble pine plum quartz raven reed river saddle sage shell silver slate spark stone storm thread timber topaz tulip umber velvet walnut willow winter yarn")
)

// vocabulary is a list of words that go with an attribute's name.
func vocabulary(name string) []string {
	name = strings.ToLower(name)
	for _, about := range []struct {
		parts string
		words []string
	}{
		{"city country region state address street place", places},
		{"user nick first last guest person email author player friend follower owner", people},
	} {
		for _, part := range strings.Fields(about.parts) {
			if strings.Contains(name, part) {
				return about.words
			}
		}
	}
	return plain
}
