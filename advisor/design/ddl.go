package design

import (
	"fmt"
	"io"
	"strings"

	"github.com/helenus-db/helenus/advisor/model"
)

// DDL returns the statements that make the table and its indexes on Cassandra 5.0, without semicolons: columns in the
// order of the key, the clustering order where it is not ascending throughout, and a comment that says which statements
// the table serves. It returns nothing for a table that is there.
func (t *Table) DDL() []string {
	if !t.IsNew() {
		return nil
	}
	name := t.qualifiedName()
	var b strings.Builder
	fmt.Fprintf(&b, "CREATE TABLE %s (\n", name)
	bucket := ""
	if t.Table.Bucket != nil {
		bucket = model.Quote(t.Table.BucketColumn())
		fmt.Fprintf(&b, "  %s %s,\n", bucket, t.Table.Bucket.Type())
	}
	static := map[model.Field]bool{}
	for _, f := range t.Table.Static {
		static[f] = true
	}
	for _, f := range t.Table.Fields() {
		fmt.Fprintf(&b, "  %s %s", t.columnName(f), t.Table.ColumnType(f))
		if static[f] {
			b.WriteString(" STATIC")
		}
		b.WriteString(",\n")
	}
	for _, n := range t.Table.Nests {
		for _, f := range n.Fields() {
			fmt.Fprintf(&b, "  %s %s,\n", model.Quote(t.Table.NestColumn(f)), t.Table.NestType(f))
		}
	}
	partition := t.columnNames(t.Table.Partition)
	if bucket != "" {
		partition = append(partition, bucket)
	}
	key := append([]string{"(" + strings.Join(partition, ", ") + ")"}, t.columnNames(t.Table.Clustering)...)
	fmt.Fprintf(&b, "  PRIMARY KEY (%s)\n) WITH ", strings.Join(key, ", "))
	if order := t.clusteringOrder(); order != "" {
		fmt.Fprintf(&b, "CLUSTERING ORDER BY (%s)\n  AND ", order)
	}
	fmt.Fprintf(&b, "comment = %s", quoteText(t.commentText()))
	statements := []string{b.String()}
	for _, i := range t.Table.Indexes {
		using := ""
		if i.SAI {
			using = " USING 'sai'"
		}
		statements = append(statements, fmt.Sprintf("CREATE INDEX %s ON %s (%s)%s", model.Quote(i.Name), name, t.columnName(i.Field), using))
	}
	return statements
}

// IsNew reports whether the table is to be made.
func (t *Table) IsNew() bool { return !t.Table.Existing && !t.Table.Kept }

// qualifiedName is the table's name with its keyspace, as its CREATE TABLE has it.
func (t *Table) qualifiedName() string {
	name, _, _ := strings.Cut(strings.TrimPrefix(t.CQL, "CREATE TABLE "), " (")
	return name
}

func (t *Table) columnName(f model.Field) string { return model.Quote(t.Table.ColumnName(f)) }

func (t *Table) columnNames(fields []model.Field) []string {
	list := make([]string, len(fields))
	for i, f := range fields {
		list[i] = t.columnName(f)
	}
	return list
}

// clusteringOrder is the clustering order, "" if it is ascending throughout.
func (t *Table) clusteringOrder() string {
	if len(t.Table.Desc) == 0 {
		return ""
	}
	parts := make([]string, len(t.Table.Clustering))
	for i, f := range t.Table.Clustering {
		parts[i] = t.columnName(f) + " " + strings.ToUpper(clusteringDirection(t.Table, f))
	}
	return strings.Join(parts, ", ")
}

// clusteringDirection is the order of a clustering column, "asc" or "desc".
func clusteringDirection(t *model.Table, f model.Field) string {
	for _, d := range t.Desc {
		if d == f {
			return "desc"
		}
	}
	return "asc"
}

// commentText says what the table holds and whom it serves. It is cut at a length that DESCRIBE still shows well.
func (t *Table) commentText() string {
	const most = 400
	text := t.Table.Whole().Path()
	if len(t.Statements) > 0 {
		text += "; serves " + strings.Join(t.Statements, ", ")
	}
	if len(text) > most {
		text = text[:most-3] + "..."
	}
	return text
}

func quoteText(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// Schema writes the definitions of all new tables, ready for cqlsh.
func (d *Design) Schema(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "-- Tables for %s, for Cassandra 5.0. Where no keyspace is named, USE one first.\n", d.Name)
	for _, line := range d.trialLines() {
		if strings.HasPrefix(line, "WRONG") {
			fmt.Fprintf(&b, "-- %s\n", strings.ReplaceAll(line, "\n", " "))
		}
	}
	for _, t := range d.Tables {
		for i, statement := range t.DDL() {
			b.WriteString([]string{"\n", ""}[min(i, 1)] + statement + ";\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
