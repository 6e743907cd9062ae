package infer

import (
	"slices"
	"strings"

	"github.com/helenus-db/helenus/capture/schema"
)

// This file knows what the names of tables and columns say beside each other: what is common to many is said of none.

// leastScheme is how many tables' names have to begin with a word for it to be a scheme's: lkp_country, lkp_currency, lkp_unit.
const leastScheme = 3

// shorten finds the nouns of tables without the word that a scheme of names puts before all of them. A word that is a table's noun itself is none: order_lines are lines
// of orders. Nor are the words of areas that have things of one name each: billing_invoices and sales_invoices are not both invoices.
func (b *modeller) shorten() {
	type word struct{ keyspace, first string }
	begin, nouns := map[word]int{}, map[string]int{}
	rest, met := map[word]int{}, map[word]bool{} // by keyspace and what comes after the first word: first words; hr_employees and hr_employees_by_team are one thing of one area
	all, tbl := map[string]int{}, map[string]int{}
	for _, s := range b.sources {
		nouns[title(s.noun)]++
		all[s.name.keyspace]++
		if s.afterTbl() != nil {
			tbl[s.name.keyspace]++
		}
		if len(s.noun) < 2 {
			continue
		}
		begin[word{s.name.keyspace, s.noun[0]}]++
		if whole := (word{s.name.keyspace, title(s.noun)}); !met[whole] {
			met[whole] = true
			rest[word{s.name.keyspace, title(s.noun[1:])}]++
		}
	}
	for _, s := range b.sources {
		if n := all[s.name.keyspace]; n >= leastScheme && tbl[s.name.keyspace] == n {
			s.short = s.afterTbl()
			continue
		}
		if len(s.noun) < 2 || begin[word{s.name.keyspace, s.noun[0]}] < leastScheme || rest[word{s.name.keyspace, title(s.noun[1:])}] > 1 {
			continue
		}
		if nouns[title(s.noun[:1])] == 0 && nouns[title([]string{singular(s.noun[0])})] == 0 && nouns[title(s.noun[1:])] == 0 {
			s.short = s.noun[1:]
		}
	}
}

// afterTbl is a table's noun without the "tbl" that its name begins with, as CREATE TABLE tblOrder makes tblorder; nil if it does not.
func (s *source) afterTbl() []string {
	after, found := strings.CutPrefix(s.noun[0], "tbl")
	if !found || after == "" {
		return nil
	}
	return append([]string{after}, s.noun[1:]...)
}

// called tells whether words are what a row of a table is.
func (s *source) called(list []string) bool {
	return same(list, s.noun) || len(s.short) > 0 && same(list, s.short) || s.several(list)
}

// several tells whether a table's name is the plural of words, in a language whose plural is made by adding to the singular: adresses, direcciones and kunden are of an adresse, a
// direccion and a kunde, which English rules do not tell.
func (s *source) several(list []string) bool {
	last := len(list) - 1
	if last < 0 || len(s.plain) != len(list) || len(list[last]) < 4 || !slices.Equal(s.plain[:last], list[:last]) {
		return false
	}
	added, found := strings.CutPrefix(s.plain[last], list[last])
	return found && slices.Contains([]string{"s", "es", "n", "en", "e", "ien"}, added)
}

// anyones tells whether the name of a column, that another table's key has too, is one that anything may have: of numbers, which are alike everywhere, it is all there is, and
// says nothing if columns of other types have it, or if it is all of both tables' keys and neither is called after it (pk, row_id).
func (b *modeller) anyones(src *source, c schema.Column, to *source) bool {
	if !dense(c.Type) || src == to {
		return false
	}
	n, one, other := b.name(c.Name), src.schema.PrimaryKey(), to.schema.PrimaryKey()
	if !n.identifies && b.types[c.Name] > 1 {
		return true
	}
	return len(one) == 1 && len(other) == 1 && one[0].Name == c.Name && !to.called(n.subject) && !endsIn(to.noun, n.subject) && !begins(src.noun, to.noun) && !begins(to.noun, src.noun)
}

// apiece tells whether a column and another table's key, which are called alike, are so because each is called after its own table without the area: address_id of billing_addresses and of
// shipping_addresses. Neither table is the other's, or a part of it, by its name, so nothing is said of the two.
func (b *modeller) apiece(src *source, c schema.Column, to *source) bool {
	if len(src.key) != 1 || src.key[0] != c.Name || same(src.noun, to.noun) {
		return false
	}
	of := b.name(c.Name).subject
	return endsIn(src.noun, of) && endsIn(to.noun, of) && !endsIn(src.noun, to.noun) && !endsIn(to.noun, src.noun)
}

// elsewhere tells whether a column called like all of another table's key is called so because it holds it: a third table, of something else, has it in its primary key, too, so that it identifies
// there. Everything may have a name, a title, a state.
func (b *modeller) elsewhere(src *source, c schema.Column, to *source) bool {
	return !b.describes(c.Name) && b.wholeKey(to, c) && slices.ContainsFunc(b.sources, func(x *source) bool {
		return x != src && x != to && !same(x.noun, to.noun) && !same(x.noun, src.noun) && x.name.keyspace == to.name.keyspace && x.position(c.Name) >= 0 && x.schema.Column(c.Name).Type == c.Type
	})
}

// describes tells whether a column's name says how something is, whatever it is.
func (b *modeller) describes(column string) bool {
	about := b.name(column).subject
	return len(about) == 0 || describing[about[len(about)-1]]
}

// describing are the words of such columns.
var describing = map[string]bool{"name": true, "title": true, "label": true, "type": true, "kind": true, "state": true, "status": true, "value": true, "mail": true, "email": true, "phone": true}

// another tells whether a column of a table's key is called after another table, of whose key, of several columns, it is a part: what has a channel_id and a message_id, as pinned_messages do,
// is of messages, and not of those that are pinned.
func (b *modeller) another(c schema.Column, to *source) bool {
	of := b.name(c.Name).subject
	return len(of) > 0 && !to.called(of) && slices.ContainsFunc(b.owners(c.Name), func(x *source) bool {
		return x.name.keyspace == to.name.keyspace && len(x.key) > 1 && x.keyed(c.Name)
	})
}

// owners are the tables that a column of theirs is called after.
func (b *modeller) owners(column string) []*source {
	n := b.name(column)
	if !n.sought {
		n.sought = true
		for _, x := range b.sources {
			if x.schema.Column(column) != nil && x.called(n.subject) {
				n.owners = append(n.owners, x)
			}
		}
	}
	return n.owners
}

// nearest is the target that a person would take of those that are equally probable by their names: the one that is called after the column, as items are of those with a key item_id;
// else the one of the table's own area, as billing_addresses are for billing_invoices. nil if there is none, several, or if values say something of one.
func (b *modeller) nearest(src *source, c schema.Column, list []target) *target {
	var called, own []*target
	for i := range list {
		t := &list[i]
		if t.probability < list[0].probability-tie {
			break
		}
		if t.proof.odds("feed") != 0 || t.proof.odds("values") != 0 {
			return nil
		}
		if t.to.called(b.name(c.Name).subject) {
			called = append(called, t)
		}
		if len(src.noun) > 1 && len(t.to.noun) > 1 && t.to.noun[0] == src.noun[0] {
			own = append(own, t)
		}
	}
	for _, of := range [][]*target{called, own} {
		if len(of) == 1 {
			b.assert(of[0], true)
			return of[0]
		}
	}
	return nil
}

// begins tells whether a noun begins with another one, whatever their number: players_online are players.
func begins(noun, with []string) bool {
	if len(noun) < len(with) {
		return false
	}
	for i, w := range with {
		if singular(noun[i]) != singular(w) {
			return false
		}
	}
	return true
}

// likened finds what a column leads to by the company that it is in: where home_team and away_team lead to teams, winner_team does, as far as its values do not speak
// against that.
func (b *modeller) likened(src *source, c schema.Column) (*source, proof) {
	own := b.name(c.Name).words
	if len(own) < 2 || !b.tells(c.Name) || src.keyed(c.Name) || !slices.ContainsFunc(own[1:], func(w string) bool { return !marks[w] }) {
		return nil, nil
	}
	for _, t := range b.targets(src, c) {
		for _, column := range src.holding() {
			h, as := src.held[column], src.schema.Column(column)
			if as == nil || h.to != t.to || h.part != nil || as.Type != c.Type || t.denied() {
				continue
			}
			if words := b.name(column).words; len(words) != len(own) || !slices.Equal(words[1:], own[1:]) {
				continue
			}
			b.assert(&t, true)
			t.proof.add("name", 1, "%s is called like %s, which leads there", c.Name, column)
			if t.proof.probability() >= Probable {
				return t.to, t.proof
			}
		}
	}
	return nil, nil
}

// denied tells whether what was seen of values speaks against a column leading to a table.
func (t *target) denied() bool { return t.proof.odds("size") < 0 || t.proof.odds("values") < 0 }
