package match

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/datastax/go-cassandra-native-protocol/frame"
	"github.com/datastax/go-cassandra-native-protocol/message"
	"github.com/datastax/go-cassandra-native-protocol/primitive"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/internal/cassandra/cassandratest"
	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/rewrite/kind"
)

// peer is a connection to Cassandra on which anything can be said, right or wrong.
type peer struct {
	testing.TB
	conn  net.Conn
	codec frame.Codec
}

const version = primitive.ProtocolVersion4

func (p *peer) ask(m message.Message) message.Message {
	p.Helper()
	_ = p.conn.SetDeadline(time.Now().Add(30 * time.Second))
	if err := p.codec.EncodeFrame(frame.NewFrame(version, 1, m), p.conn); err != nil {
		p.Fatal(err)
	}
	f, err := p.codec.DecodeFrame(p.conn)
	if err != nil {
		p.Fatal(err)
	}
	return f.Body.Message
}

func (p *peer) do(text string) {
	p.Helper()
	if e, ok := p.ask(&message.Query{Query: text, Options: &message.QueryOptions{Consistency: primitive.ConsistencyLevelOne}}).(message.Error); ok {
		p.Fatalf("%s: %s", text, e.GetErrorMessage())
	}
}

func (p *peer) rows(text string) message.RowSet {
	p.Helper()
	m := p.ask(&message.Query{Query: text, Options: &message.QueryOptions{Consistency: primitive.ConsistencyLevelOne}})
	r, ok := m.(*message.RowsResult)
	if !ok {
		p.Fatalf("%s: %v", text, m)
	}
	return r.Data
}

// said is one statement with what is sent along.
type said struct {
	how    string // query, execute, batch, batch of prepared
	text   string
	values []proxy.Value
}

func (s said) String() string {
	var values []string
	for _, v := range s.values {
		switch {
		case v.Unset:
			values = append(values, v.Name+" unset")
		case v.Null:
			values = append(values, v.Name+" null")
		case len(v.Bytes) > 100:
			values = append(values, fmt.Sprintf("%s %d bytes", v.Name, len(v.Bytes)))
		default:
			values = append(values, v.Name+" "+hex.EncodeToString(v.Bytes))
		}
	}
	return fmt.Sprintf("%s %s [%s]", s.how, s.text, strings.Join(values, ","))
}

// say sends a statement. variables are what Cassandra calls the values of one that was prepared.
func (p *peer) say(s said) (answer message.Message, variables []proxy.Column) {
	o := &message.QueryOptions{Consistency: primitive.ConsistencyLevelOne}
	for _, v := range s.values {
		x := primitive.NewValue(v.Bytes)
		if v.Unset {
			x = primitive.NewUnsetValue()
		}
		if v.Name == "" {
			o.PositionalValues = append(o.PositionalValues, x)
			continue
		}
		if o.NamedValues == nil {
			o.NamedValues = map[string]*primitive.Value{}
		}
		o.NamedValues[v.Name] = x
	}
	var id []byte
	if s.how == "execute" || s.how == "batch of prepared" {
		answer = p.ask(&message.Prepare{Query: s.text})
		prepared, ok := answer.(*message.PreparedResult)
		if !ok {
			return answer, nil
		}
		id = prepared.PreparedQueryId
		for _, c := range prepared.VariablesMetadata.Columns {
			variables = append(variables, proxy.Column{Name: c.Name})
		}
	}
	switch s.how {
	case "query":
		return p.ask(&message.Query{Query: s.text, Options: o}), nil
	case "execute":
		return p.ask(&message.Execute{QueryId: id, Options: o}), variables
	}
	child := &message.BatchChild{Id: id, Values: o.PositionalValues}
	if id == nil {
		child.Query = s.text
	}
	return p.ask(&message.Batch{Children: []*message.BatchChild{child}, Consistency: primitive.ConsistencyLevelOne}), variables
}

// column is a column of a test table with a value that is certainly right.
type column struct{ name, kind, good string }

const (
	uuid4 = "5b6962dd-3f90-4c93-8f61-eabfa4a803e2"
	uuid1 = "5b6962dd-3f90-1c93-8f61-eabfa4a803e2"
)

// types are the native types with a literal of each.
var types = []column{
	{"ascii", "ascii", "'a'"}, {"text", "text", "'a'"}, {"int", "int", "1"}, {"bigint", "bigint", "1"}, {"smallint", "smallint", "1"}, {"tinyint", "tinyint", "1"},
	{"uuid", "uuid", uuid4}, {"timeuuid", "timeuuid", uuid1}, {"inet", "inet", "'1.2.3.4'"}, {"timestamp", "timestamp", "'2020-01-02T03:04:05Z'"},
	{"date", "date", "'2020-01-02'"}, {"time", "time", "'12:34:56'"}, {"blob", "blob", "0xab"}, {"boolean", "boolean", "true"},
	{"varint", "varint", "1"}, {"decimal", "decimal", "1.5"}, {"float", "float", "1.5"}, {"double", "double", "1.5"},
	{"list", "frozen<list<int>>", "[1, 2]"}, {"set", "frozen<set<text>>", "{'a', 'b'}"},
}

// literals are written in the place of every type.
var literals = strings.Split(strings.NewReplacer("U4", uuid4, "U1", uuid1).Replace(`null|''|'x'|'5'|5|-5|007|127|128|-128|-129|32767|32768|2147483647|2147483648|-2147483648|-2147483649|`+
	`9223372036854775807|9223372036854775808|-9223372036854775808|123456789012345678901234567890|-123456789012345678901234567890|-255|-256|-32768|1.5|-0.0|1e3|1.|1e400|1.50|-12.345|NaN|Infinity|-Infinity|true|FALSE|'true'|`+
	`0x|0xff|0xFFF|0Xab|'0xff'|U4|U1|'U4'|5B6962DD-3F90-1C93-8F61-EABFA4A803E2|'2020-01-02'|'0000-01-01'|'1582-10-10'|'1969-12-31'|'2020-1-2'|'2020-02-30'|'9999-12-31'|'10000-01-01'|'now'|`+
	`'2020-01-02 03:04:05.678+0000'|'2020-01-02T03:04:05.678Z'|'2020-01-02T03:04:05+02:00'|'2020-01-02 03:04Z'|'2020-01-02 03:04:05'|'2020-01-02 03:04:05.6Z'|'2020-01-02 03:04:05-0130'|'2020-01-02T03:04:05.678-07'|`+
	`'1900-01-01T00:00:00Z'|'1500-03-01T00:00:00Z'|'0001-01-01T00:00:00Z'|'2020-02-30T00:00:00Z'|'2020-02-28T24:00:00Z'|'2020-02-28T23:59:60Z'|'2020-01-02T03:04:05.678+00:00'|`+
	`'12:34:56'|'12:34:56.7'|'12:34:56.789'|'12:34:56.123456789'|'23:59:59.999999999'|'24:00:00'|'12:34'|'1:2:3'|45296000000000|86400000000000|`+
	`'1.2.3.4'|'::1'|'::ffff:1.2.3.4'|'::1.2.3.4'|'2001:DB8::1'|'fe80::1%lo'|'1.2'|'010.1.1.1'|'256.1.1.1'|'é'|$$x'y$$|'it''s'|1h30m|PT1H|(int)5|(text)'x'|1+0|-(5)|now()|uuid()|(5)|('x')|`+
	`[]|[1]|[-1,2,300]|['x']|[null]|{}|{'b','a','b'}|{1}|{'é','b'}|{'k':1}|2147483649|4294967295|4294967296|19000`), "|")

// documents are values in JSON.
var documents = strings.Split(strings.NewReplacer("U4", uuid4, "U1", uuid1).Replace(`null|"x"|""|5|-5|-0|"5"|"+5"|" 5"|128|40000|2147483647|2147483648|-2147483648|9223372036854775808|5.0|1e2|1.5|"1.5"|"NaN"|true|"true"|"TRUE"|"yes"|`+
	`"0xff"|"0XFF"|"ff"|"0xf"|"U4"|"U1"|"2020-01-02"|"2020-01-02T03:04:05Z"|"2020-01-02 03:04:05.678+0000"|"2020-01-02 03:04:05"|1577934245000|"1577934245000"|"12:34:56"|"12:34:56.7"|"1.2.3.4"|"::1"|`+
	`[]|[1,2]|["b","a","b"]|{}|{"a":1}|"\u0041\n"|"\ud800"|"\ud83d\ude00"|"é"|"'"|[1,|nul|01|'x'|"a	b"|"2147483648"|"-129"`), "|")

// sampler draws statements.
type sampler struct {
	*rand.Rand
	table *schema.Table
	good  map[string]string // by column, as a literal
	more  []proxy.Value     // the values drawn so far
	named bool
}

func (s *sampler) chance(percent int) bool { return s.IntN(100) < percent }

func (s *sampler) one(of []string) string { return of[s.IntN(len(of))] }

// bytes draws something that is sent for a type: mostly of the right form.
func (s *sampler) bytes(kind string) proxy.Value {
	length := []int{0, 1, 2, 3, 4, 8, 16, 17}[s.IntN(8)]
	if sizes, ok := sizes[kind]; ok && s.chance(70) {
		length = sizes[len(sizes)-1]
	} else if kind == "text" && s.chance(15) {
		length = []int{65532, 65535, 65536, 70000}[s.IntN(4)]
	}
	b := make([]byte, length)
	for i := range b {
		b[i] = byte(s.IntN(128))
		if kind != "text" && kind != "ascii" && s.chance(20) || length < 20 && s.chance(10) {
			b[i] = byte(s.IntN(256))
		}
	}
	if kind == "timeuuid" && length == 16 && s.chance(80) {
		b[6], b[8] = b[6]&0x0F|0x10, b[8]&0x3F|0x80
	}
	if strings.HasPrefix(kind, "frozen<") {
		b, _ = hex.DecodeString("00000001000000040000000" + strconv.Itoa(s.IntN(9)))
	}
	return proxy.Value{Bytes: b}
}

// value draws a value of a column: a literal, or a marker with what is bound to it.
func (s *sampler) value(name, kind string, odd bool) string {
	if !odd && s.chance(50) {
		return s.good[name]
	}
	if odd && s.chance(50) {
		if s.chance(30) {
			return s.good[name]
		}
		return s.one(literals)
	}
	v := proxy.Value{}
	b, state := literal(literalOf(s.good[name]), kind)
	switch {
	case !odd && state == known:
		v.Bytes = b
	case odd && s.chance(10):
		v.Null = true
	case odd && s.chance(10):
		v.Unset = true
	default:
		v = s.bytes(kind)
	}
	return s.marker(v)
}

// marker binds a value.
func (s *sampler) marker(v proxy.Value) string {
	text := "?"
	if s.named {
		v.Name = fmt.Sprintf("v%d", len(s.more))
		text = ":" + v.Name
	}
	s.more = append(s.more, v)
	return text
}

func literalOf(text string) cql.Term {
	st, err := cql.Parse("INSERT INTO t (a) VALUES (" + text + ")")
	if err != nil {
		return nil
	}
	return st.(*cql.Insert).Values[0]
}

// number draws a time to live or a timestamp.
func (s *sampler) number(width int, some ...string) string {
	switch s.IntN(6) {
	case 0:
		return s.marker(proxy.Value{Null: true})
	case 1:
		return s.marker(proxy.Value{Unset: true})
	case 2:
		return s.marker(proxy.Value{Bytes: make([]byte, []int{0, 3, 4, 8}[s.IntN(4)])})
	case 3:
		n, err := strconv.ParseInt(s.one(some), 10, 64)
		if err != nil {
			n = -1
		}
		return s.marker(proxy.Value{Bytes: binary.BigEndian.AppendUint64(nil, uint64(n))[8-width:]})
	}
	return s.one(some)
}

func (s *sampler) using(stamped bool) string {
	var out []string
	if s.chance(8) {
		out = append(out, "TTL "+s.number(4, "0", "1000", "-1", "630720000", "630720001", "2147483647", "2147483648"))
	}
	if stamped && s.chance(6) {
		now := strconv.FormatInt(time.Now().UnixMicro(), 10)
		out = append(out, "TIMESTAMP "+s.number(8, now, now, now, "9223372036854775808"))
	}
	if out == nil {
		return ""
	}
	return " USING " + strings.Join(out, " AND ")
}

// draw draws a statement that sets a column.
func (s *sampler) draw(by schema.Column) said {
	s.more = nil
	out := said{how: s.one([]string{"query", "execute", "batch", "batch of prepared"})}
	s.named = out.how == "query" && s.chance(20)
	key := s.table.PrimaryKey()
	odd := s.IntN(len(key) + 3) // which value is drawn at random: a key, or the column
	name := s.table.Keyspace + "." + s.table.Name
	switch s.IntN(5) {
	case 0, 1:
		columns, values := []string{}, []string{}
		for i, k := range key {
			if s.chance(1) {
				continue
			}
			columns, values = append(columns, k.Name), append(values, s.value(k.Name, k.Type, i == odd))
		}
		columns, values = append(columns, by.Name), append(values, s.value(by.Name, by.Type, odd >= len(key)))
		if s.chance(2) {
			columns, values = append(columns, by.Name), append(values, s.good[by.Name])
		}
		out.text = "INSERT INTO " + name + " (" + strings.Join(columns, ", ") + ") VALUES (" + strings.Join(values, ", ") + ")"
		if s.chance(5) {
			out.text += " IF NOT EXISTS"
		}
		out.text += s.using(true)
	case 2:
		text := s.json(key, by, odd)
		if s.chance(50) {
			text = s.marker(proxy.Value{Bytes: []byte(text)})
		} else {
			text = "'" + strings.ReplaceAll(text, "'", "''") + "'"
		}
		out.text = "INSERT INTO " + name + " JSON " + text + s.one([]string{"", "", " DEFAULT UNSET", " DEFAULT NULL"}) + s.using(true)
	default:
		set := by.Name + " = "
		if s.chance(2) {
			set += by.Name + " + "
		}
		out.text = "UPDATE " + name + s.using(true) + " SET " + set + s.value(by.Name, by.Type, odd >= len(key)) + " WHERE " + s.where(key, odd)
		if s.chance(3) {
			out.text += " IF " + by.Name + " = null"
		}
	}
	if s.chance(5) && !strings.HasPrefix(out.how, "batch") {
		out.text = "BEGIN BATCH " + out.text + "; APPLY BATCH"
	}
	out.values = s.more
	switch n := len(out.values); {
	case n > 0 && s.chance(3):
		out.values = out.values[:s.IntN(n)]
	case s.chance(1):
		v := proxy.Value{Bytes: []byte{1}}
		if s.named {
			v.Name = "other"
		}
		out.values = append(out.values, v)
	}
	return out
}

func (s *sampler) where(key []schema.Column, odd int) string {
	var out []string
	for i, k := range key {
		switch {
		case s.chance(1):
			continue
		case s.chance(1):
			out = append(out, k.Name+" > "+s.value(k.Name, k.Type, false))
		case s.chance(10):
			list := []string{s.good[k.Name]}
			for range s.IntN(3) {
				list = append(list, s.value(k.Name, k.Type, i == odd))
			}
			out = append(out, k.Name+" IN ("+strings.Join(list, ", ")+")")
		case s.chance(5):
			b := []byte{}
			n := s.IntN(3)
			for range n {
				v := s.bytes(k.Type)
				b = append(binary.BigEndian.AppendUint32(b, uint32(len(v.Bytes))), v.Bytes...)
			}
			if i == odd && s.chance(30) {
				n, b = n+1, append(b, 0xFF, 0xFF, 0xFF, 0xFF)
			}
			out = append(out, k.Name+" IN "+s.marker(proxy.Value{Bytes: append(binary.BigEndian.AppendUint32(nil, uint32(n)), b...)}))
		default:
			out = append(out, k.Name+" = "+s.value(k.Name, k.Type, i == odd))
		}
	}
	if s.chance(1) {
		out = append(out, "extra = 1")
	}
	if s.chance(1) {
		out = append(out, key[0].Name+" = "+s.good[key[0].Name])
	}
	if out == nil {
		return key[0].Name + " = null"
	}
	return strings.Join(out, " AND ")
}

func (s *sampler) json(key []schema.Column, by schema.Column, odd int) string {
	var out []string
	field := func(name, value string) {
		switch s.IntN(20) {
		case 0:
			name = strings.ToUpper(name)
		case 1:
			name = `\"` + name + `\"`
		case 2:
			out = append(out, `"`+name+`": `+s.one(documents))
		case 3:
			out = append(out, `"`+strings.ToUpper(name)+`": `+s.one(documents))
		}
		out = append(out, `"`+name+`": `+value)
	}
	for i, c := range append(slices.Clone(key), by) {
		good := s.good[c.Name]
		switch {
		case good[0] == '\'':
			good = `"` + strings.Trim(good, "'") + `"`
		case good[0] == '{':
			good = `["a", "b"]`
		case good == "1.5":
			good = "1" // what has a fraction is unknown
		case c.Type == "uuid" || c.Type == "timeuuid" || c.Type == "blob":
			good = `"` + good + `"`
		}
		if min(i, odd) == i && odd >= i && (i == odd || i == len(key)) {
			good = s.one(documents)
		}
		if !s.chance(1) {
			field(c.Name, good)
		}
	}
	if s.chance(2) {
		field("nobody", "5")
	}
	text := "{" + strings.Join(out, ", ") + "}"
	switch s.IntN(30) {
	case 0:
		text = text[:s.IntN(len(text))]
	case 1:
		text += s.one([]string{" x", "}", "{}", ","})
	case 2:
		text = s.one([]string{"\uFEFF", " \t\n", "/* */", "[", "\u00a0", "\v"}) + text
	case 3:
		text = s.one([]string{"", "null", "5", "\"\"", "[]", "{}", "{\"\":1}", "{\"\\\"\": 1}"})
	}
	return text
}

// tables are the base tables that statements are drawn for, each with the columns that they set.
func tables(keyspace string) (out []*schema.Table, good map[string]string) {
	good = map[string]string{"id": "'k'", "v": "'v'"}
	id := schema.Column{Name: "id", Kind: schema.PartitionKey, Type: "text"}
	values := &schema.Table{Keyspace: keyspace, Name: "vals", Columns: []schema.Column{id}}
	v := schema.Column{Name: "v", Kind: schema.Regular, Position: -1, Type: "text"}
	p := schema.Column{Name: "p", Kind: schema.PartitionKey, Position: 1, Type: "int"}
	keys := &schema.Table{Keyspace: keyspace, Name: "keys", Columns: []schema.Column{id, p}}
	good["p"] = "1"
	for i, c := range types {
		good["v_"+c.name], good["c_"+c.name], good["k_"+c.name] = c.good, c.good, c.good
		if !schema.ByteEqual(c.kind) {
			continue // neither looked up by, nor in a key of a base
		}
		values.Columns = append(values.Columns, schema.Column{Name: "v_" + c.name, Kind: schema.Regular, Position: -1, Type: c.kind})
		out = append(out, &schema.Table{Keyspace: keyspace, Name: "one_" + c.name, Columns: []schema.Column{{Name: "k_" + c.name, Kind: schema.PartitionKey, Type: c.kind}, v}})
		keys.Columns = append(keys.Columns, schema.Column{Name: "c_" + c.name, Kind: schema.Clustering, Position: i, Type: c.kind, Descending: i%3 == 0})
	}
	keys.Columns = append(keys.Columns, v)
	return append(out, values, values, values, keys, keys, keys, keys), good
}

func create(t *schema.Table) string {
	var columns, partition, clustering, order []string
	for _, c := range t.Columns {
		columns = append(columns, c.Name+" "+c.Type)
	}
	for _, c := range t.PartitionKey() {
		partition = append(partition, c.Name)
	}
	for _, c := range t.ClusteringKey() {
		clustering = append(clustering, ", "+c.Name)
		order = append(order, c.Name+map[bool]string{true: " DESC", false: " ASC"}[c.Descending])
	}
	text := fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s.%s (%s, PRIMARY KEY ((%s)%s))", t.Keyspace, t.Name, strings.Join(columns, ", "), strings.Join(partition, ", "), strings.Join(clustering, ""))
	if order != nil {
		text += " WITH CLUSTERING ORDER BY (" + strings.Join(order, ", ") + ")"
	}
	return text
}

// TestCassandraAgrees is what Effect means: statements of all forms, right and wrong, are sent to a real Cassandra. What is
// Refused must change nothing there, and what an Effect knows is what a read shows afterwards. HELENUS_EFFECTS says how many.
func TestCassandraAgrees(t *testing.T) {
	point := cassandratest.ContactPoints(t)[0]
	conn, err := net.Dial("tcp", point)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	p := &peer{TB: t, conn: conn, codec: frame.NewCodec()}
	if m, ok := p.ask(message.NewStartup()).(*message.Ready); !ok {
		t.Fatalf("%v", m)
	}
	n, seed := 2000, uint64(1)
	if s := os.Getenv("HELENUS_EFFECTS"); s != "" {
		if n, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
		seed = uint64(time.Now().UnixNano())
	}
	keyspace := fmt.Sprintf("effects_%d", time.Now().UnixNano())
	p.do("CREATE KEYSPACE " + keyspace + " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	defer p.do("DROP KEYSPACE " + keyspace)
	bases, good := tables(keyspace)
	for i, b := range bases {
		if i == 0 || bases[i-1] != b {
			p.do(create(b))
		}
	}
	t.Logf("%d statements of seed %d", n, seed)
	s := &sampler{Rand: rand.New(rand.NewPCG(seed, 0)), good: good}
	counts, missed := map[string]int{}, map[string]int{}
	for range n {
		s.table = bases[s.IntN(len(bases))]
		var regular []schema.Column
		for _, c := range s.table.Columns {
			if c.Kind == schema.Regular {
				regular = append(regular, c)
			}
		}
		by := regular[s.IntN(len(regular))]
		st := s.draw(by)
		counts[p.agree(s.table, by, st, missed)]++
		if counts["wrong"] == 20 {
			break
		}
	}
	t.Logf("%v", counts)
	t.Logf("refused by Cassandra, not known to be: %v", missed)
	for _, kind := range []string{"refused", "known", "unknown value", "unknown rows", "not known to be refused"} {
		if counts[kind] < n/500 {
			t.Errorf("only %d of %d statements are %s", counts[kind], n, kind)
		}
	}
}

// agree sends one statement, holds what is in the table afterwards against its effect, and empties the table.
func (p *peer) agree(table *schema.Table, by schema.Column, s said, missed map[string]int) string {
	l, refusal := New(plan.Rewrite{Keyspace: table.Keyspace, Base: table.Name, Column: by.Name, Table: "entries"}, table)
	if refusal != nil {
		p.Fatal(refusal)
	}
	answer, variables := p.say(s)
	e, failed := answer.(message.Error)
	st, err := cql.Parse(s.text)
	if err != nil {
		if !failed {
			p.Errorf("%s: %v, but Cassandra took it", s, err)
			return "wrong"
		}
		return "not read"
	}
	writes := l.Writes(st, table.Keyspace)
	effect := Effect{}
	if len(writes) == 1 {
		effect = writes[0].Bind(kind.Values{Values: s.values, Variables: variables})
	}
	switch {
	case effect.Refused:
		n := p.rows("SELECT COUNT(*) FROM " + table.Keyspace + "." + table.Name)[0][0]
		if binary.BigEndian.Uint64(n) != 0 {
			p.Errorf("%s: refused by us, but Cassandra did it: %v", s, answer)
			p.empty(table)
			return "wrong"
		}
		if !failed {
			return "without effect" // IN of nothing: the rest of the statement is not looked at
		}
		return "refused"
	case failed:
		words := strings.Fields(e.GetErrorMessage())
		kind := strings.Join(words[:min(3, len(words))], " ")
		if missed[kind]++; missed[kind] == 1 {
			p.Logf("%s: %s", s, e.GetErrorMessage())
		}
		return "not known to be refused"
	}
	if r, ok := answer.(*message.RowsResult); ok && (len(r.Data) == 0 || !bytes.Equal(r.Data[0][0], []byte{1})) {
		p.empty(table)
		return "not applied"
	}
	key := table.PrimaryKey()
	var names []string
	for _, k := range key {
		names = append(names, k.Name)
	}
	rows := p.rows("SELECT " + strings.Join(names, ", ") + ", " + by.Name + " FROM " + table.Keyspace + "." + table.Name)
	defer p.empty(table)
	name := func(cells []message.Column) string {
		var out []string
		for _, c := range cells {
			out = append(out, hex.EncodeToString(c))
		}
		return strings.Join(out, " ")
	}
	want := map[string]bool{}
	for _, k := range effect.Keys {
		cells := make([]message.Column, len(k))
		for i := range k {
			cells[i] = k[i].Bytes
		}
		want[name(cells)] = true
	}
	set, wrong := map[string]bool{}, false
	errorf := func(format string, args ...any) {
		p.Errorf(format, args...)
		wrong = true
	}
	for _, r := range rows {
		at, v := name(r[:len(key)]), r[len(key)]
		switch {
		case v == nil:
			continue
		case effect.Unknown != nil && effect.Keys == nil:
		case !want[at]:
			errorf("%s: row %s has the value, but the effect is %s", s, at, show(effect))
		case effect.Unknown != nil:
		case Indexable(v) && !bytes.Equal(v, effect.Entry.Bytes), !Indexable(v) && (effect.Entry.Bytes != nil || effect.Clears):
			errorf("%s: the value is %x, but the effect is %s", s, v, show(effect))
		}
		set[at] = true
	}
	if effect.Entry.Bytes != nil && effect.Unknown == nil {
		for at := range want {
			if !set[at] && (!effect.HasTimestamp || effect.Timestamp > 1e15) { // else it is older than what emptied the table
				errorf("%s: no value in row %s, but the effect is %s", s, at, show(effect))
			}
		}
	}
	switch {
	case wrong:
		return "wrong"
	case effect.Unknown != nil && effect.Keys == nil:
		return "unknown rows"
	case effect.Unknown != nil:
		return "unknown value"
	}
	return "known"
}

func (p *peer) empty(table *schema.Table) {
	var names, where []string
	for _, k := range table.PartitionKey() {
		names, where = append(names, k.Name), append(where, k.Name+" = ?")
	}
	for _, r := range p.rows("SELECT DISTINCT " + strings.Join(names, ", ") + " FROM " + table.Keyspace + "." + table.Name) {
		o := &message.QueryOptions{Consistency: primitive.ConsistencyLevelOne}
		for _, c := range r {
			o.PositionalValues = append(o.PositionalValues, primitive.NewValue(c))
		}
		m := p.ask(&message.Query{Query: "DELETE FROM " + table.Keyspace + "." + table.Name + " WHERE " + strings.Join(where, " AND "), Options: o})
		if e, ok := m.(message.Error); ok {
			p.Fatal(e.GetErrorMessage())
		}
	}
}
