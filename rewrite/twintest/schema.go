package twintest

import (
	"encoding/binary"
	"fmt"

	"github.com/datastax/go-cassandra-native-protocol/primitive"
)

// Tables is the base that the Forms write to, of a keyspace @. stays is looked up by guest and by ticket, fleeting, whose rows
// expire, by guest; tally is a table of counters beside them. What begins with made_ is only ever set by functions
// of Cassandra.
var Tables = []string{
	`CREATE TABLE @.stays (room text, day int, n int, guest text, ticket timeuuid, status text, note text, level int,
		tags set<text>, log list<text>, attrs map<text, text>, made_at timeuuid, made_id uuid, made_on timestamp, owner text static,
		PRIMARY KEY ((room), day, n)) WITH CLUSTERING ORDER BY (day DESC, n ASC)`,
	`CREATE TABLE @.fleeting (room text, n int, guest text, note text, PRIMARY KEY ((room), n)) WITH default_time_to_live = 86400`,
	`CREATE TABLE @.tally (room text, what text, hits counter, PRIMARY KEY ((room), what))`,
}

// LookUp is a column by which a table is looked up, and the statement that does.
type LookUp struct{ Table, Column, Text string }

// LookUps are those of the Tables.
var LookUps = []LookUp{
	{"stays", "guest", "SELECT room, day, n, guest, ticket, status, note, owner FROM @.stays WHERE guest = ? ALLOW FILTERING"},
	{"stays", "ticket", "SELECT room, day, n, guest, ticket, note FROM @.stays WHERE ticket = ? ALLOW FILTERING"},
	{"fleeting", "guest", "SELECT room, n, guest, note FROM @.fleeting WHERE guest = ? ALLOW FILTERING"},
}

// kind is how the cells of a column are compared.
type kind int

const (
	plain   kind = iota
	many         // a collection: each element has a WRITETIME and a TTL of its own
	counter      // has neither
	unlike       // made up by Cassandra: there or not
)

type column struct {
	name string
	kind kind
}

// shape is a table as it is compared. The first column of the key is the room.
type shape struct {
	name    string
	key     []string
	columns []column
}

var shapes = []shape{
	{"stays", []string{"room", "day", "n"}, []column{
		{"guest", plain}, {"ticket", plain}, {"status", plain}, {"note", plain}, {"level", plain}, {"tags", many}, {"log", many}, {"attrs", many},
		{"made_at", unlike}, {"made_id", unlike}, {"made_on", unlike}, {"owner", plain}}},
	{"fleeting", []string{"room", "n"}, []column{{"guest", plain}, {"note", plain}}},
	{"tally", []string{"room", "what"}, []column{{"hits", counter}}},
}

// Text is a text as it is bound.
func Text(s string) Value { return primitive.NewValue([]byte(s)) }

// Int is an int as it is bound.
func Int(n int) Value {
	return primitive.NewValue(binary.BigEndian.AppendUint32(nil, uint32(n))) //nolint:gosec // two's complement is meant
}

// Bigint is a bigint, or a timestamp, as it is bound.
func Bigint(n int64) Value {
	return primitive.NewValue(binary.BigEndian.AppendUint64(nil, uint64(n))) //nolint:gosec // two's complement is meant
}

// Raw are any bytes.
func Raw(b []byte) Value { return primitive.NewValue(b) }

// Null is a null.
func Null() Value { return primitive.NewNullValue() }

// Unset is no value at all: what it would set stays as it is.
func Unset() Value { return primitive.NewUnsetValue() }

// Ticket is the n-th timeuuid, as bytes.
func Ticket(n int) []byte {
	b := make([]byte, 16)
	binary.BigEndian.PutUint32(b, uint32(n)) //nolint:gosec // small
	b[6], b[8] = 0x10, 0x80
	return b
}

// TicketText is the same as CQL writes it.
func TicketText(n int) string {
	b := Ticket(n)
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:16])
}
