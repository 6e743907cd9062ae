package safety

import (
	"fmt"
	"slices"
	"strings"
)

// reasonText says in words why two writers can meet in a group of a table.
func (t *Table) reasonText(w *Witness, group Group) string {
	a, b := w.Writes[0], w.Writes[1]
	where, key := t.groupText(a.Write.Kind)
	text := fmt.Sprintf("two writers can meet in %s: its key (%s) does not tell who writes", where, strings.Join(key, ", "))
	if a.Key != b.Key || a.Write.Kind != b.Write.Kind {
		other, _ := t.groupText(b.Write.Kind)
		key := t.Partition
		if group != Partition {
			key = slices.Concat(t.Partition, t.Clustering)
		}
		if other == where {
			other = "another"
		}
		text = fmt.Sprintf("two writers can meet in one %s, one in %s and one in %s: its key (%s) does not tell who writes", group, where, other, strings.Join(key, ", "))
	}
	text += "; " + senderText(a.Write)
	if b.Write.ID != a.Write.ID {
		text += "; " + senderText(b.Write)
	}
	return text
}

// groupText names what a kind of the table's grammar stands for, and the columns of its key.
func (t *Table) groupText(kind string) (where string, key []string) {
	rest := strings.TrimPrefix(kind, t.Name)
	row := slices.Concat(t.Partition, t.Clustering)
	column, isRow := strings.CutPrefix(rest, ".row.")
	i := slices.IndexFunc(t.Collections, func(c Collection) bool { return isRow && c.Name == column })
	switch {
	case i >= 0:
		return "an element of " + column, append(row, t.Collections[i].Column)
	case isRow && column != "·":
		return "column " + column + " of a row", row
	case strings.HasPrefix(rest, ".static"):
		if column := strings.TrimPrefix(rest, ".static."); column != rest {
			return "the static column " + column + " of a partition", t.Partition
		}
		return "the static columns of a partition", t.Partition
	case strings.HasPrefix(rest, ".row"):
		return "a row", row
	}
	return "a partition", t.Partition
}

// writerOf begins the name of a writer of whom a statement says nothing.
const writerOf = "the writer of "

// senderText says in words who sends a write.
func senderText(w *Write) string {
	switch {
	case w.Owner.kind == anyone:
		return "anyone may send " + w.ID
	case w.Owner.kind == variable && w.Owner.Name == writerOf+w.ID:
		return w.ID + " does not name its writer"
	}
	return writerOf + w.ID + " is " + readableTerm(w.Owner.String())
}
