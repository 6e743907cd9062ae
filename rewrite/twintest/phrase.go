package twintest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// phrase is a statement on a Table in the making, with its values bound or written in.
type phrase struct {
	*Table
	strings.Builder
	values  []Value
	literal bool // values stand in the text
	child   bool // it is said in a BATCH, which has no names of values
}

func (t *Table) phrase() *phrase { return &phrase{Table: t, literal: t.random.Intn(3) == 0} }

// childPhrase is a phrase of a BATCH.
func (t *Table) childPhrase() *phrase {
	p := t.phrase()
	p.child = true
	return p
}

func (p *phrase) add(parts ...string) *phrase {
	for _, s := range parts {
		p.WriteString(s)
	}
	return p
}

// of adds a value of a column.
func (p *phrase) of(c field) *phrase {
	v := p.some(c)
	if slices.Contains(keyTypes, c.cqlType) && p.random.Intn(12) == 0 { // a hint of its own type
		p.add("(", c.cqlType, ")")
	}
	if p.literal {
		return p.add(v.literal)
	}
	return p.bound(Raw(v.raw))
}

// bound adds a marker, and its value.
func (p *phrase) bound(v Value) *phrase {
	p.values = append(p.values, v)
	return p.add("?")
}

// orNull adds a value of a column, or null, or one that is not set, or one that Cassandra computes.
func (p *phrase) orNull(c field) *phrase {
	switch json := p.some(c).json(c.cqlType); {
	case p.random.Intn(15) == 0 && json != "":
		return p.add("from_json(", quoted(json), ")")
	case !p.literal && p.random.Intn(15) == 0:
		return p.bound(Unset())
	case p.random.Intn(6) > 0:
		return p.of(c)
	case p.literal || p.random.Intn(2) == 0:
		return p.add("null")
	}
	return p.bound(Null())
}

func (p *phrase) where(columns []field) *phrase {
	for i, c := range columns {
		p.add([]string{" WHERE ", " AND "}[min(i, 1)], c.name, " = ").of(c)
	}
	return p
}

// using adds a time to live, or a timestamp that has nothing to do with the others, or both.
func (p *phrase) using(conditional, deletes bool) *phrase {
	word := " USING "
	if !deletes && p.random.Intn(8) == 0 {
		p.add(word, "TTL ")
		switch word = " AND "; p.random.Intn(4) {
		case 0:
			p.add([]string{"0", "100000"}[p.random.Intn(2)])
		default:
			p.bound([]Value{Int(100000), Int(0), Null(), Unset()}[p.random.Intn(4)])
		}
	}
	if !conditional && p.random.Intn(10) == 0 {
		at := []int64{-5, 0, 5, 6, 1 << 51}[p.random.Intn(5)]
		p.add(word, "TIMESTAMP ")
		if p.random.Intn(2) == 0 {
			p.add(strconv.FormatInt(at, 10))
		} else {
			p.bound([]Value{Bigint(at), Bigint(at), Unset()}[p.random.Intn(3)])
		}
	}
	return p
}

func (p *phrase) done() Statement {
	s := Statement{Way: Execute, Text: p.String(), Values: p.values}
	if p.literal || p.random.Intn(5) == 0 {
		s.Way = Query
	}
	if !p.child && len(p.values) > 0 && p.random.Intn(8) == 0 {
		s.Named = map[string]Value{}
		parts := strings.Split(s.Text, "?")
		for i, v := range s.Values {
			name := fmt.Sprint("v", i)
			s.Named[name] = v
			parts[i] += ":" + name
		}
		s.Text, s.Values = strings.Join(parts, ""), nil
	}
	return s
}

// write is an INSERT, an UPDATE or a DELETE; with a condition, one of the former.
func (p *phrase) write(conditional bool) Statement {
	switch n := p.random.Intn(16); {
	case n < 5:
		p.insert(conditional)
	case n < 7:
		p.insertJSON(conditional)
	case n < 12:
		p.update(conditional)
	case conditional:
		p.removeIf()
	default:
		p.remove()
	}
	return p.done()
}

// insertJSON inserts a document: of a column that it lacks the value goes, or stays.
func (p *phrase) insertJSON(conditional bool) {
	var fields []string
	for i, c := range slices.Concat(p.key(), p.regular, p.static) {
		name, value := c.name, p.some(c).json(c.cqlType)
		switch {
		case i < len(p.key()):
		case value == "" || p.random.Intn(3) == 0:
			continue
		case p.random.Intn(6) == 0:
			value = "null"
		}
		if name[0] == '"' {
			name = `\"` + strings.ReplaceAll(strings.ReplaceAll(name[1:len(name)-1], `""`, `"`), `"`, `\"`) + `\"`
		}
		fields = append(fields, `"`+name+`": `+value)
	}
	p.random.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
	p.add("INSERT INTO @.", p.Name, " JSON ")
	if document := "{" + strings.Join(fields, ", ") + "}"; p.literal {
		p.add(quoted(document))
	} else {
		p.bound(Text(document))
	}
	p.add([]string{"", " DEFAULT UNSET", " DEFAULT NULL"}[p.random.Intn(3)])
	if conditional {
		p.add(" IF NOT EXISTS")
	}
	p.using(conditional, false)
}

// removeIf deletes a row or a cell upon a condition.
func (p *phrase) removeIf() {
	p.add("DELETE ")
	if p.random.Intn(2) == 0 {
		p.add(p.regular[p.random.Intn(len(p.regular))].name, " ")
	}
	p.add("FROM @.", p.Name).where(p.key())
	if p.random.Intn(2) == 0 {
		p.add(" IF EXISTS")
	} else {
		p.add(" IF ", p.regular[0].name, " = ").of(p.regular[0])
	}
}

// rows names rows by their whole keys, in one of the ways there are.
func (p *phrase) rows() {
	key := p.key()
	last, before := key[len(key)-1], key[:len(key)-1]
	switch n := p.random.Intn(8); {
	case n == 0:
		p.where(before).add([]string{" WHERE ", " AND "}[min(len(before), 1)], last.name, " IN (").of(last).add(", ").of(last).add(")")
	case n == 1 && !p.literal:
		p.where(before).add([]string{" WHERE ", " AND "}[min(len(before), 1)], last.name, " IN ").bound(Raw(collected(2, p.some(last).raw, p.some(last).raw)))
	case n == 2 && len(p.clustering) > 0:
		p.where(p.partition).add(" AND (", names(p.clustering), ") = (").list(p.clustering).add(")")
	case n == 3 && len(p.clustering) > 0:
		p.where(p.partition).add(" AND (", names(p.clustering), ") IN ((").list(p.clustering).add("), (").list(p.clustering).add("))")
	default:
		p.where(key)
	}
}

// list adds a value for each column.
func (p *phrase) list(columns []field) *phrase {
	for i, c := range columns {
		p.add([]string{"", ", "}[min(i, 1)]).of(c)
	}
	return p
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
	p.using(conditional, false)
}

func (p *phrase) update(conditional bool) {
	p.add("UPDATE @.", p.Name).using(conditional, false)
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
	if conditional {
		p.where(p.key())
	} else {
		p.rows()
	}
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
		p.add("DELETE ", p.regular[p.random.Intn(len(p.regular))].name, " FROM @.", p.Name).using(false, true).rows()
	case n == 1 && len(key) > 1:
		p.add("DELETE FROM @.", p.Name).where(key[:len(key)-1]).add(" AND ", last.name, " IN (").of(last).add(", ").of(last).add(")")
	case n == 2 && ranged:
		p.add("DELETE FROM @.", p.Name).where(p.partition)
	case n == 3 && ranged:
		k := p.random.Intn(len(p.clustering))
		p.add("DELETE FROM @.", p.Name).where(key[:len(p.partition)+k]).add(" AND ", p.clustering[k].name, []string{" > ", " <= "}[p.random.Intn(2)]).of(p.clustering[k])
	default:
		p.add("DELETE FROM @.", p.Name).using(false, true).rows()
	}
}
