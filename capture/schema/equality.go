package schema

import (
	"fmt"
	"maps"
	"slices"
)

// byteEqual are the types for which Cassandra's = is equality of bytes. For others, decimal 1.0 and 1.00, two NaNs, a varint with leading
// zeros, or the booleans 0x01 and 0x69 are equal to Cassandra where they are clustered or filtered, and not where they are a partition key.
var byteEqual = map[string]bool{"ascii": true, "text": true, "varchar": true, "blob": true, "int": true, "bigint": true,
	"smallint": true, "tinyint": true, "timestamp": true, "date": true, "time": true, "uuid": true, "timeuuid": true, "inet": true}

// ByteEqual reports whether two values of a type are equal to Cassandra if, and only if, their bytes are.
func ByteEqual(kind string) bool { return byteEqual[kind] }

// Findable reports whether whoever asks for a value finds it by its bytes: beside types of equal bytes those of which drivers send equal values
// in equal bytes (no second NaN, no true that is not 1).
func Findable(kind string) bool {
	return byteEqual[kind] || kind == "boolean" || kind == "float" || kind == "double"
}

// plainly are the values with which an index option leaves an index one that finds equal bytes; with any other value
// of these options it finds more.
var plainly = map[string]string{"case_sensitive": "true", "normalize": "false", "ascii": "false", "analyzed": "false", "mode": "PREFIX",
	"index_analyzer": "", "query_analyzer": "", "analyzer_class": ""}

// FindsMore says which index on a column finds more than equal values, and by which option; "" if none does.
func (t *Table) FindsMore(column string) string {
	for _, x := range t.Indexes {
		for _, option := range slices.Sorted(maps.Keys(plainly)) {
			if value, given := x.Options[option]; given && value != plainly[option] && x.Column == column {
				return fmt.Sprintf("index %s on %s finds more than equal values (%s = %s)", x.Name, column, option, value)
			}
		}
	}
	return ""
}
