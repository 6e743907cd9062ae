package match

import (
	"fmt"
	"strings"

	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/rewrite/kind"
)

// texts are the statements of ours over one look-up. Values are bound in the order in which they are named here.
type texts struct {
	Put         string // column, key..., kind, id; timestamp
	PutTTL      string // column, key..., kind, id; timestamp, time to live
	Remove      string // timestamp; column, key..., kind, id
	Outdate     string // timestamp; column, key..., kind
	RowEntries  string // column, key... -> kind, id, WRITETIME, TTL
	BaseRow     string // key... -> key..., column, WRITETIME(column), TTL(column)
	Partition   string // partition key... -> key..., column, WRITETIME(column), TTL(column)
	ScanBase    string // first token, last token -> key..., column, WRITETIME(column), TTL(column)
	ScanEntries string // first token, last token -> key..., column, WRITETIME, TTL
	Sample      string // -> column
	PutPending  string // bucket, key..., id; timestamp
	DropPending string // timestamp; bucket, key..., id
	ScanPending string // bucket -> key..., id
}

// Put writes an entry: column, key..., kind, id, timestamp.
func (l *LookUp) Put() string { return l.text.Put }

// PutTTL writes an entry that expires: column, key..., kind, id, timestamp, time to live in seconds.
func (l *LookUp) PutTTL() string { return l.text.PutTTL }

// Remove deletes exactly one entry: timestamp, column, key..., kind, id.
func (l *LookUp) Remove() string { return l.text.Remove }

// Outdate deletes all entries of one value, row and kind up to a timestamp, those too that are still to come: timestamp, column, key..., kind.
func (l *LookUp) Outdate() string { return l.text.Outdate }

// RowEntries reads kind, id, writetime and time to live of the entries of one value and row: column, key...
func (l *LookUp) RowEntries() string { return l.text.RowEntries }

// BaseRow reads key..., column, WRITETIME(column) and TTL(column) of a row of the base: key...
func (l *LookUp) BaseRow() string { return l.text.BaseRow }

// BasePartition reads key..., column, WRITETIME(column) and TTL(column) of all rows of a partition of the base: partition key...
func (l *LookUp) BasePartition() string { return l.text.Partition }

// ScanBase reads key..., column, WRITETIME(column) and TTL(column) of the base after one token and up to another.
func (l *LookUp) ScanBase() string { return l.text.ScanBase }

// ScanEntries reads key..., column, writetime and time to live of the entries after one token and up to another. A row of the base that has
// several entries of one value comes as often, one right after the other.
func (l *LookUp) ScanEntries() string { return l.text.ScanEntries }

// Sample reads some distinct values of the column from the look-up, starting after a token.
func (l *LookUp) Sample() string { return l.text.Sample }

// PutPending notes that the value of a row is not known: bucket, key..., id, timestamp.
func (l *LookUp) PutPending() string { return l.text.PutPending }

// DropPending says that it is known again: timestamp, bucket, key..., id.
func (l *LookUp) DropPending() string { return l.text.DropPending }

// ScanPending reads key... and id of the rows of one bucket whose value is not known.
func (l *LookUp) ScanPending() string { return l.text.ScanPending }

// quote writes an identifier as CQL.
func quote(name string) string { return (&cql.ColumnRef{Name: name}).String() }

// LookUpName is the look-up table as CQL.
func (l *LookUp) LookUpName() string {
	return cql.TableRef{Keyspace: l.Home(), Table: l.Table}.String()
}

// PendingName is the table of the rows whose value is not known, as CQL.
func (l *LookUp) PendingName() string {
	return cql.TableRef{Keyspace: l.Home(), Table: l.PendingTable()}.String()
}

// PendingTable is its name without the keyspace. That of a look-up table with a longer name than is given now may be another's, too.
func (l *LookUp) PendingTable() string {
	return l.Table[:min(len(l.Table), schema.MaxLookUp)] + schema.PendingSuffix
}

// BaseName is the base table as CQL.
func (l *LookUp) BaseName() string {
	return cql.TableRef{Keyspace: l.Keyspace, Table: l.Rewrite.Base}.String()
}

func (l *LookUp) names() (key []string, all []string) {
	for _, k := range l.Key {
		key = append(key, quote(k.Name))
	}
	return key, append([]string{quote(l.By.Name)}, key...)
}

func equal(columns []string) string { return strings.Join(columns, " = ? AND ") + " = ?" }

func insert(table string, columns []string, more string) string {
	return fmt.Sprintf("INSERT INTO %s (%s%s) VALUES (%s", table, strings.Join(columns, ", "), more, strings.Repeat("?, ", len(columns)-1)+"?")
}

func (l *LookUp) write() texts {
	key, all := l.names()
	column, written := quote(l.By.Name), quote(l.Written)
	base, table, pending := l.BaseName(), l.LookUpName(), l.PendingName()
	token := "token(" + strings.Join(key[:l.Partition], ", ") + ")"
	whole := append(append([]string(nil), all...), quote(l.EntryKind), quote(l.EntryID))
	unknown := append(append([]string{quote(l.Bucket)}, key...), quote(l.EntryID))
	put := insert(table, whole, ", "+written) + ", true) USING TIMESTAMP ?"
	row := fmt.Sprintf("SELECT %s, %s, WRITETIME(%s), TTL(%s) FROM %s WHERE ", strings.Join(key, ", "), column, column, column, base)
	return texts{
		Put:        put,
		PutTTL:     put + " AND TTL ?",
		Remove:     fmt.Sprintf("DELETE FROM %s USING TIMESTAMP ? WHERE %s", table, equal(whole)),
		Outdate:    fmt.Sprintf("DELETE FROM %s USING TIMESTAMP ? WHERE %s", table, equal(whole[:len(whole)-1])),
		RowEntries: fmt.Sprintf("SELECT %s, %s, WRITETIME(%s), TTL(%s) FROM %s WHERE %s", quote(l.EntryKind), quote(l.EntryID), written, written, table, equal(all)),
		BaseRow:    row + equal(key),
		Partition:  row + equal(key[:l.Partition]),
		ScanBase:   row + fmt.Sprintf("%s > ? AND %s <= ?", token, token),
		ScanEntries: fmt.Sprintf("SELECT %s, %s, WRITETIME(%s), TTL(%s) FROM %s WHERE token(%s) > ? AND token(%s) <= ?",
			strings.Join(key, ", "), column, written, written, table, column, column),
		Sample:      fmt.Sprintf("SELECT DISTINCT %s FROM %s WHERE token(%s) > ? LIMIT ?", column, table, column),
		PutPending:  insert(pending, unknown, "") + ") USING TIMESTAMP ?",
		DropPending: fmt.Sprintf("DELETE FROM %s USING TIMESTAMP ? WHERE %s", pending, equal(unknown)),
		ScanPending: fmt.Sprintf("SELECT %s, %s FROM %s WHERE %s = ?", strings.Join(key, ", "), quote(l.EntryID), pending, quote(l.Bucket)),
	}
}

// FormerRow is the statement that reads, for several look-ups over one base, what they are keyed by: for each the
// column, its WRITETIME and its TTL. The values are the key of the row.
func FormerRow(lookups []*LookUp) string {
	var b strings.Builder
	b.WriteString("SELECT ")
	for i, l := range lookups {
		if i > 0 {
			b.WriteString(", ")
		}
		column := quote(l.By.Name)
		b.WriteString(column + ", WRITETIME(" + column + "), TTL(" + column + ")")
	}
	key, _ := lookups[0].names()
	return b.String() + " FROM " + lookups[0].BaseName() + " WHERE " + equal(key)
}

// Find reads the keys of the entries of one value: columns of Asked, limit.
func (l *LookUp) Find() string {
	if l.foreign != nil {
		return l.foreign.find()
	}
	key, _ := l.names()
	return fmt.Sprintf("SELECT %s FROM %s WHERE %s = ? LIMIT ?", strings.Join(key, ", "), l.LookUpName(), quote(l.By.Name))
}

// Create is the statement that makes the look-up table for a change.
func (l *LookUp) Create(migration string) string {
	var b strings.Builder
	column := quote(l.By.Name)
	fmt.Fprintf(&b, "CREATE TABLE IF NOT EXISTS %s (\n    %s %s,\n", l.LookUpName(), column, l.By.Type)
	key, order := l.defineKey(&b)
	kind, id := quote(l.EntryKind), quote(l.EntryID)
	fmt.Fprintf(&b, "    %s tinyint,\n    %s bigint,\n    %s boolean,\n    PRIMARY KEY ((%s), %s, %s, %s)\n", kind, id, quote(l.Written), column, key, kind, id)
	fmt.Fprintf(&b, ") WITH CLUSTERING ORDER BY (%s, %s ASC, %s ASC)\n    AND %s\n    AND comment = %s", order, kind, id, l.Options(), comment(migration))
	return b.String()
}

// CreatePending is the statement that makes the table of the rows whose value is not known.
func (l *LookUp) CreatePending(migration string) string {
	var b strings.Builder
	bucket, id := quote(l.Bucket), quote(l.EntryID)
	fmt.Fprintf(&b, "CREATE TABLE IF NOT EXISTS %s (\n    %s tinyint,\n", l.PendingName(), bucket)
	key, order := l.defineKey(&b)
	fmt.Fprintf(&b, "    %s bigint,\n    PRIMARY KEY ((%s), %s, %s)\n", id, bucket, key, id)
	fmt.Fprintf(&b, ") WITH CLUSTERING ORDER BY (%s, %s ASC)\n    AND %s\n    AND comment = %s", order, id, l.Options(), comment(migration))
	return b.String()
}

// defineKey writes the base's key columns, and returns them as a list, without and with the order in which they are clustered.
func (l *LookUp) defineKey(b *strings.Builder) (columns, order string) {
	var key, ordered []string
	for i, k := range l.Key {
		name := quote(k.Name)
		fmt.Fprintf(b, "    %s %s,\n", name, k.Type)
		key = append(key, name)
		direction := " ASC"
		if i >= l.Partition && k.Descending {
			direction = " DESC"
		}
		ordered = append(ordered, name+direction)
	}
	return strings.Join(key, ", "), strings.Join(ordered, ", ")
}

func comment(migration string) string {
	return "'" + strings.ReplaceAll(kind.Comment(migration), "'", "''") + "'"
}
