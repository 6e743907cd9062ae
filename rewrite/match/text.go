package match

import (
	"fmt"
	"strings"

	"github.com/helenus-db/helenus/capture/cql"
)

// texts are the statements of ours over one look-up. Values are bound in the order in which they are named here.
type texts struct {
	Put         string // column, key...; timestamp
	PutTTL      string // column, key...; timestamp, time to live
	Remove      string // timestamp; column, key...
	Entry       string // column, key... -> WRITETIME
	BaseRow     string // key... -> key..., column, WRITETIME(column)
	ScanBase    string // first token, last token -> key..., column, WRITETIME(column), TTL(column)
	ScanEntries string // first token, last token -> key..., column
	Sample      string // -> column
}

// Put writes an entry: column, key..., timestamp.
func (l *LookUp) Put() string { return l.text.Put }

// PutTTL writes an entry that expires: column, key..., timestamp, time to live in seconds.
func (l *LookUp) PutTTL() string { return l.text.PutTTL }

// Remove deletes an entry: timestamp, column, key...
func (l *LookUp) Remove() string { return l.text.Remove }

// Entry reads the writetime of an entry: column, key...
func (l *LookUp) Entry() string { return l.text.Entry }

// BaseRow reads key..., column and WRITETIME(column) of a row of the base: key...
func (l *LookUp) BaseRow() string { return l.text.BaseRow }

// ScanBase reads key..., column, WRITETIME(column) and TTL(column) of the base after one token and up to another.
func (l *LookUp) ScanBase() string { return l.text.ScanBase }

// ScanEntries reads key... and column of the look-up after one token and up to another.
func (l *LookUp) ScanEntries() string { return l.text.ScanEntries }

// Sample reads some distinct values of the column from the look-up, starting after a token.
func (l *LookUp) Sample() string { return l.text.Sample }

// quote writes an identifier as CQL.
func quote(name string) string { return (&cql.ColumnRef{Name: name}).String() }

// LookUpName is the look-up table as CQL.
func (l *LookUp) LookUpName() string {
	return cql.TableRef{Keyspace: l.Keyspace, Table: l.Table}.String()
}

// BaseName is the base table as CQL.
func (l *LookUp) BaseName() string {
	return cql.TableRef{Keyspace: l.Keyspace, Table: l.LookUp.Base}.String()
}

func (l *LookUp) names() (key []string, all []string) {
	for _, k := range l.Key {
		key = append(key, quote(k.Name))
	}
	return key, append([]string{quote(l.By.Name)}, key...)
}

func equal(columns []string) string { return strings.Join(columns, " = ? AND ") + " = ?" }

func (l *LookUp) write() texts {
	key, all := l.names()
	column := quote(l.By.Name)
	base, table := l.BaseName(), l.LookUpName()
	token := "token(" + strings.Join(key[:l.Partition], ", ") + ")"
	put := fmt.Sprintf("INSERT INTO %s (%s, %s) VALUES (%s, true) USING TIMESTAMP ?", table, strings.Join(all, ", "),
		quote(l.Written), strings.Repeat("?, ", len(all)-1)+"?")
	return texts{
		Put:     put,
		PutTTL:  put + " AND TTL ?",
		Remove:  fmt.Sprintf("DELETE FROM %s USING TIMESTAMP ? WHERE %s", table, equal(all)),
		Entry:   fmt.Sprintf("SELECT WRITETIME(%s) FROM %s WHERE %s", quote(l.Written), table, equal(all)),
		BaseRow: fmt.Sprintf("SELECT %s, %s, WRITETIME(%s) FROM %s WHERE %s", strings.Join(key, ", "), column, column, base, equal(key)),
		ScanBase: fmt.Sprintf("SELECT %s, %s, WRITETIME(%s), TTL(%s) FROM %s WHERE %s > ? AND %s <= ?",
			strings.Join(key, ", "), column, column, column, base, token, token),
		ScanEntries: fmt.Sprintf("SELECT %s, %s FROM %s WHERE token(%s) > ? AND token(%s) <= ?",
			strings.Join(key, ", "), column, table, column, column),
		Sample: fmt.Sprintf("SELECT DISTINCT %s FROM %s WHERE token(%s) > ? LIMIT ?", column, table, column),
	}
}

// PutLiteral writes an entry of cells some of which stood as literals in the application's own text. It returns the
// statement and the values to bind; no values at all if every cell is a literal.
func (l *LookUp) PutLiteral(column Cell, key []Cell, timestamp int64, ttl int32) (text string, values [][]byte) {
	_, all := l.names()
	var b strings.Builder
	fmt.Fprintf(&b, "INSERT INTO %s (%s, %s) VALUES (", l.LookUpName(), strings.Join(all, ", "), quote(l.Written))
	for _, c := range append([]Cell{column}, key...) {
		if c.Literal != "" {
			b.WriteString(c.Literal)
		} else {
			b.WriteByte('?')
			values = append(values, c.Bytes)
		}
		b.WriteString(", ")
	}
	fmt.Fprintf(&b, "true) USING TIMESTAMP %d", timestamp)
	if ttl > 0 {
		fmt.Fprintf(&b, " AND TTL %d", ttl)
	}
	return b.String(), values
}

// Find reads the keys of the entries of one value: column, limit.
func (l *LookUp) Find() string {
	key, _ := l.names()
	return fmt.Sprintf("SELECT %s FROM %s WHERE %s = ? LIMIT ?", strings.Join(key, ", "), l.LookUpName(), quote(l.By.Name))
}

// Comment is what the look-up table of a migration carries, so that it is known to be ours.
func Comment(migration string) string { return "helenus " + migration }

// Create is the statement that makes the look-up table for a migration.
func (l *LookUp) Create(migration string) string {
	var b strings.Builder
	column := quote(l.By.Name)
	fmt.Fprintf(&b, "CREATE TABLE IF NOT EXISTS %s (\n    %s %s,\n", l.LookUpName(), column, l.By.Type)
	var key, order []string
	for i, k := range l.Key {
		name := quote(k.Name)
		fmt.Fprintf(&b, "    %s %s,\n", name, k.Type)
		key = append(key, name)
		direction := " ASC"
		if i >= l.Partition && k.Descending {
			direction = " DESC"
		}
		order = append(order, name+direction)
	}
	fmt.Fprintf(&b, "    %s boolean,\n    PRIMARY KEY ((%s), %s)\n", quote(l.Written), column, strings.Join(key, ", "))
	fmt.Fprintf(&b, ") WITH CLUSTERING ORDER BY (%s)\n    AND comment = %s", strings.Join(order, ", "),
		"'"+strings.ReplaceAll(Comment(migration), "'", "''")+"'")
	return b.String()
}

// Drop is the statement that removes the look-up table.
func (l *LookUp) Drop() string { return "DROP TABLE IF EXISTS " + l.LookUpName() }

// Truncate is the statement that empties the look-up table.
func (l *LookUp) Truncate() string { return "TRUNCATE TABLE " + l.LookUpName() }

// Comments is the statement that changes the comment of the look-up table.
func (l *LookUp) Comments(comment string) string {
	return fmt.Sprintf("ALTER TABLE %s WITH comment = '%s'", l.LookUpName(), strings.ReplaceAll(comment, "'", "''"))
}
