package main

import "strings"

// This file reads by keys of several columns, whatever a design makes of them: columns of their own, or one text.

// has is the condition that a column has what an instance has at a path.
func has(col column, f *frame, path string) cond {
	v, _ := f.e.held(f.i, column{path: path, form: col.form})
	if col.form == "" {
		return cond{col.path, []bound{{datum: v, from: f.row[path]}}}
	}
	return cond{col.path + "~" + col.form, []bound{{datum: v, from: f.row[path+"~"+col.form]}}}
}

// get reads a row by its primary key.
func (c *client) get(label string, f *frame, pick string) *frame {
	var where []cond
	for _, k := range c.s.table(label).key() {
		where = append(where, has(k, f, k.path))
	}
	return c.one(label, pick, f, where...)
}

// list reads the rows of a partition that have a partner in a role. What else is in the partition key is the first row's.
func (c *client) list(label string, f *frame, role, pick string) []*frame {
	t := c.s.table(label)
	rows := t.of.edge(role).inverse[f.i]
	rows = rows[:min(len(rows), most)]
	if len(rows) == 0 {
		return nil
	}
	var where []cond
	var parts []origin
	for _, part := range f.e.keys() {
		parts = append(parts, f.row[part])
	}
	for _, p := range t.partition {
		part, of := strings.CutPrefix(p.path, role+".")
		switch {
		case p.path == role && p.form == "":
			where = append(where, is(p.path, f, f.e.key[0]))
		case of:
			where = append(where, is(p.path, f, part))
		default:
			first := &frame{e: t.of, i: rows[0], row: map[string]origin{}}
			one := has(p, first, p.path)
			if one.to[0].from = f.row[role+"~"+whole]; p.path == role && one.to[0].from.st == nil {
				one.to[0].parts = parts
			}
			var same []int
			for _, i := range rows {
				if v, ok := t.of.held(i, p); ok && v == one.to[0].datum {
					same = append(same, i)
				}
			}
			rows, where = same, append(where, one)
		}
	}
	return c.find(label, pick, rows, 0, where...)
}

// page reads the rows of a partition that have what an instance has in an attribute: a day's.
func (c *client) page(label string, f *frame, pick string) []*frame {
	t := c.s.table(label)
	var where []cond
	for _, p := range t.partition {
		where = append(where, has(p, f, p.path))
	}
	var rows []int
	for i := 0; i < f.e.count && len(rows) < most; i++ {
		same := true
		for k, p := range t.partition {
			v, ok := f.e.held(i, p)
			same = same && ok && v == where[k].to[0].datum
		}
		if same {
			rows = append(rows, i)
		}
	}
	return c.find(label, pick, rows, 0, where...)
}
