package recommend

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/design"
	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
)

// dialect is how code is sketched in a language.
type dialect struct {
	language string
	comment  string
	// query is one statement whose rows get a name; each begins a loop over rows, end ends it.
	query func(name, cql string, args []string) string
	each  func(row, rows string) string
	end   string
	field func(row, column string) string
}

var dialects = []dialect{
	{
		language: "go", comment: "//", end: "}",
		query: func(name, cql string, args []string) string {
			return fmt.Sprintf("%s := query(session, `%s`%s)", name, cql, argumentList(args))
		},
		each:  func(row, rows string) string { return fmt.Sprintf("for _, %s := range %s {", row, rows) },
		field: func(row, column string) string { return fmt.Sprintf("%s[%q]", row, column) },
	},
	{
		language: "python", comment: "#", end: "",
		query: func(name, cql string, args []string) string {
			return fmt.Sprintf("%s = session.execute(\"%s\", [%s])", name, cql, strings.Join(args, ", "))
		},
		each:  func(row, rows string) string { return fmt.Sprintf("for %s in %s:", row, rows) },
		field: func(row, column string) string { return row + "." + column },
	},
	{
		language: "java", comment: "//", end: "}",
		query: func(name, cql string, args []string) string {
			return fmt.Sprintf("ResultSet %s = session.execute(\"%s\"%s);", name, cql, argumentList(args))
		},
		each:  func(row, rows string) string { return fmt.Sprintf("for (Row %s : %s) {", row, rows) },
		field: func(row, column string) string { return fmt.Sprintf("%s.getObject(%q)", row, column) },
	},
}

func argumentList(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return ", " + strings.Join(args, ", ")
}

// dialectOf guesses the language by the name that the driver gives itself.
func dialectOf(driver string) dialect {
	switch d := strings.ToLower(driver); {
	case strings.Contains(d, "python"):
		return dialects[1]
	case strings.Contains(d, "java"):
		return dialects[2]
	}
	return dialects[0]
}

// code collects indented lines.
type code struct {
	strings.Builder
	depth int
}

func (c *code) line(text string) {
	if text != "" {
		c.WriteString(strings.Repeat("    ", c.depth) + text + "\n")
	}
}

// sketchOf shows the join as it is done now, and as it would be done with the new tables.
func sketchOf(driver string, j *joined, d *design.Design) *Sketch {
	lang := dialectOf(driver)
	return &Sketch{Language: lang.language, Driver: driver, Before: sketchBefore(lang, j), After: sketchAfter(lang, d)}
}

// sketchBefore nests the statements as they feed each other.
func sketchBefore(lang dialect, j *joined) string {
	c := &code{}
	var nest func(n int, given map[string]string)
	nest = func(n int, given map[string]string) {
		u := j.reads[n]
		rows, row := u.access.Table, strings.ToLower(j.entityName(u))
		if rows == row {
			row = "one_" + row
		}
		var args []string
		for _, column := range append(append(append([]string(nil), u.access.Equality...), u.access.In...), u.access.Range...) {
			if from, fed := given[column]; fed {
				args = append(args, from)
			} else {
				args = append(args, column)
			}
		}
		c.line(lang.query(rows, u.statement.Text, args))
		opened := false
		for m := n + 1; m < len(j.reads); m++ {
			fed := map[string]string{}
			for _, f := range j.feeds {
				if f.Feed.From.Fingerprint == u.statement.Fingerprint && f.Feed.To.Fingerprint == j.reads[m].statement.Fingerprint {
					fed[f.Feed.To.Column] = lang.field(row, f.Feed.From.Column)
				}
			}
			if len(fed) == 0 {
				continue
			}
			if !opened {
				c.line(lang.each(row, rows) + fmt.Sprintf(" %s %s", lang.comment, fanOut(j.parts[m], j.parts[n])))
				c.depth++
				opened = true
			}
			nest(m, fed)
		}
		if opened {
			c.depth--
			c.line(lang.end)
		}
	}
	nest(0, nil)
	return c.String()
}

// entityName is the name of the entity of the table that a read is on.
func (j *joined) entityName(u *read) string { return u.asked.Query.Tree.Entities[0].Name }

func fanOut(to, from infer.Use) string {
	return fmt.Sprintf("%.1f times for each", to.PerExecution/max(from.PerExecution, 1e-9))
}

// sketchAfter shows the plan of the design, then what each write has to do besides.
func sketchAfter(lang dialect, d *design.Design) string {
	c := &code{}
	names := map[*model.Table]string{}
	for _, t := range d.Tables {
		names[t.Table] = model.Quote(t.Name)
		if t.Table.Keyspace != "" {
			names[t.Table] = model.Quote(t.Table.Keyspace) + "." + model.Quote(t.Name)
		}
	}
	c.line(lang.comment + " read")
	for _, s := range d.Statements[0].Plan.Steps {
		switch s.Kind {
		case plan.Get, plan.IndexGet, plan.Scan:
			cql, args := selectText(&s, names[s.Table])
			c.line(lang.query(rowsName(names[s.Table]), cql, args))
		case plan.Limit:
			c.line(lang.comment + " keep as many rows as the LIMIT said")
		default:
			c.line(lang.comment + " " + s.String())
		}
	}
	for _, st := range d.Statements[1:] {
		for _, w := range st.Writes {
			if w.Table.Existing {
				continue
			}
			c.line("")
			c.line(fmt.Sprintf("%s besides: %s", lang.comment, st.Statement.String()))
			for _, support := range w.Support {
				for i := range support.Steps {
					s := &support.Steps[i]
					switch s.Kind {
					case plan.Get, plan.IndexGet, plan.Scan:
						text, args := selectText(s, names[s.Table])
						c.line(lang.query(rowsName(names[s.Table]), text, args))
					default:
						c.line(fmt.Sprintf("%s   then %s", lang.comment, s.String()))
					}
				}
			}
			for i := range w.Steps {
				text, args := writeText(&w.Steps[i], names[w.Table])
				c.line(fmt.Sprintf("%s   for each row %s", lang.comment, map[plan.Kind]string{plan.Remove: "as it was before the write, unless it is put again", plan.Put: "as it is after the write"}[w.Steps[i].Kind]))
				c.line(lang.query("done", text, args))
			}
		}
	}
	return c.String()
}

func rowsName(table string) string {
	if _, name, ok := strings.Cut(table, "."); ok {
		table = name
	}
	return strings.Trim(table, `"`)
}

// writeText is the DELETE or INSERT of one step of a write, with names for its values: of the row as it was, or as it is.
func writeText(s *plan.Step, name string) (text string, args []string) {
	var columns, marks, where []string
	if s.Kind == plan.Remove {
		for _, f := range slices.Concat(s.Table.Partition, s.Table.Clustering) {
			where = append(where, model.Quote(s.Table.ColumnName(f))+" = ?")
			args = append(args, "old_"+s.Table.ColumnName(f))
		}
		return "DELETE FROM " + name + " WHERE " + strings.Join(where, " AND "), args
	}
	for _, f := range columnsPut(s) {
		columns, marks = append(columns, model.Quote(s.Table.ColumnName(f))), append(marks, "?")
		args = append(args, "new_"+s.Table.ColumnName(f))
	}
	return fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", name, strings.Join(columns, ", "), strings.Join(marks, ", ")), args
}

// columnsPut are the columns that a put sets: the key, and what the write changes; where no step says what, all.
func columnsPut(s *plan.Step) []model.Field {
	if len(s.Fields) == 0 {
		return s.Table.Fields()
	}
	list := s.Table.Key()
	for _, f := range s.Fields {
		if c := s.As.Column(f); s.Table.Has(c) {
			list = model.AppendNew(list, c)
		}
	}
	return list
}

// selectText is the SELECT of one step, with names for its arguments.
func selectText(s *plan.Step, name string) (cql string, args []string) {
	var columns, where []string
	for _, f := range s.Fields {
		columns = append(columns, model.Quote(s.Table.ColumnName(f)))
	}
	for _, list := range [][]plan.Binding{s.Partition, s.Clustering, s.Where} {
		for _, b := range list {
			column := s.Table.ColumnName(b.Field)
			op := b.Op
			if op == "" {
				op = workload.Equal
			}
			where = append(where, fmt.Sprintf("%s %s ?", model.Quote(column), op))
			args = append(args, column)
		}
	}
	cql = fmt.Sprintf("SELECT %s FROM %s WHERE %s", strings.Join(columns, ", "), name, strings.Join(where, " AND "))
	if s.Reverse {
		var order []string
		for _, f := range s.Table.Clustering {
			if !slices.ContainsFunc(s.Clustering, func(b plan.Binding) bool { return b.Field == f && (b.Op == workload.Equal || b.Op == "") }) {
				order = append(order, model.Quote(s.Table.ColumnName(f))+map[bool]string{true: " ASC", false: " DESC"}[slices.Contains(s.Table.Desc, f)])
			}
		}
		cql += " ORDER BY " + strings.Join(order, ", ")
	}
	if s.PerPartition > 0 {
		cql, args = cql+" PER PARTITION LIMIT ?", append(args, "limit")
	}
	if s.Limit > 0 { // its number is not kept, as no value is
		cql, args = cql+" LIMIT ?", append(args, "limit")
	}
	return cql, args
}
