package twintest

import (
	"slices"
	"strings"
)

// phrase is a statement on a Table in the making, with its values bound or written in.
type phrase struct {
	*Table
	strings.Builder
	values  []Value
	literal bool // values stand in the text
}

func (t *Table) phrase() *phrase { return &phrase{Table: t, literal: t.random.Intn(3) == 0} }

func (p *phrase) add(parts ...string) *phrase {
	for _, s := range parts {
		p.WriteString(s)
	}
	return p
}

// of adds a value of a column.
func (p *phrase) of(c field) *phrase {
	v := p.some(c)
	if p.literal {
		return p.add(v.literal)
	}
	p.values = append(p.values, Raw(v.raw))
	return p.add("?")
}

// orNull adds a value of a column, or null.
func (p *phrase) orNull(c field) *phrase {
	switch {
	case p.random.Intn(6) > 0:
		return p.of(c)
	case p.literal || p.random.Intn(2) == 0:
		return p.add("null")
	}
	p.values = append(p.values, Null())
	return p.add("?")
}

func (p *phrase) where(columns []field) *phrase {
	for i, c := range columns {
		p.add([]string{" WHERE ", " AND "}[min(i, 1)], c.name, " = ").of(c)
	}
	return p
}

func (p *phrase) using() *phrase {
	if p.random.Intn(8) == 0 {
		p.add(" USING TTL 100000")
	}
	return p
}

func (p *phrase) done() Statement {
	s := Statement{Way: Execute, Text: p.String(), Values: p.values}
	if p.literal || p.random.Intn(5) == 0 {
		s.Way = Query
	}
	return s
}

// write is an INSERT, an UPDATE or a DELETE; with a condition, one of the former.
func (p *phrase) write(conditional bool) Statement {
	switch n := p.random.Intn(16); {
	case n < 7:
		p.insert(conditional)
	case n < 12 || conditional:
		p.update(conditional)
	default:
		p.remove()
	}
	return p.done()
}

func (p *phrase) insert(conditional bool) {
	columns := p.key()
	for _, c := range slices.Concat(p.regular, p.static) {
		if p.random.Intn(3) > 0 {
			columns = append(columns, c)
		}
	}
	p.add("INSERT INTO @.", p.Name, " (", names(columns), ") VALUES (")
	for i, c := range columns {
		if i > 0 {
			p.add(", ")
		}
		if i < len(p.key()) {
			p.of(c)
		} else {
			p.orNull(c)
		}
	}
	p.add(")")
	if conditional {
		p.add(" IF NOT EXISTS")
	}
	p.using()
}

func (p *phrase) update(conditional bool) {
	p.add("UPDATE @.", p.Name).using()
	first := p.random.Intn(len(p.regular))
	for i := range 1 + p.random.Intn(2) {
		c := p.regular[(first+i)%len(p.regular)]
		p.add([]string{" SET ", ", "}[min(i, 1)], c.name, " = ")
		many := slices.Contains([]string{"list<int>", "set<text>", "map<text, int>"}, c.cqlType)
		if many && p.random.Intn(2) == 0 {
			p.add(c.name, " + ").of(c)
		} else {
			p.orNull(c)
		}
	}
	p.where(p.key())
	switch {
	case conditional && p.random.Intn(2) == 0:
		p.add(" IF EXISTS")
	case conditional:
		p.add(" IF ", p.regular[0].name, " = ").orNull(p.regular[0])
	}
}

// remove deletes a cell, rows by a list of the last column of the key, a partition, a range, or a row.
func (p *phrase) remove() {
	key := p.key()
	last := key[len(key)-1]
	ranged := len(p.clustering) > 0
	switch n := p.random.Intn(6); {
	case n == 0:
		p.add("DELETE ", p.regular[p.random.Intn(len(p.regular))].name, " FROM @.", p.Name).where(key)
	case n == 1 && len(key) > 1:
		p.add("DELETE FROM @.", p.Name).where(key[:len(key)-1]).add(" AND ", last.name, " IN (").of(last).add(", ").of(last).add(")")
	case n == 2 && ranged:
		p.add("DELETE FROM @.", p.Name).where(p.partition)
	case n == 3 && ranged:
		k := p.random.Intn(len(p.clustering))
		p.add("DELETE FROM @.", p.Name).where(key[:len(p.partition)+k]).add(" AND ", p.clustering[k].name, []string{" > ", " <= "}[p.random.Intn(2)]).of(p.clustering[k])
	default:
		p.add("DELETE FROM @.", p.Name).where(key)
	}
}
