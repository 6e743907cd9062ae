package infer

import (
	"strings"
	"unicode"
)

// words cuts a name at underscores and capitals, in lower case.
func words(name string) []string {
	var out []string
	var word strings.Builder
	end := func() {
		if word.Len() > 0 {
			out = append(out, word.String())
			word.Reset()
		}
	}
	runes := []rune(name)
	for i, r := range runes {
		switch {
		case r == '_' || unicode.IsSpace(r) || r == '.' || r == '-':
			end()
			continue
		case unicode.IsUpper(r) && i > 0 && unicode.IsLower(runes[i-1]):
			end()
		}
		word.WriteRune(unicode.ToLower(r))
	}
	end()
	return out
}

// marks are the words that say that a column identifies something, not what.
var marks = map[string]bool{"id": true, "uuid": true, "key": true, "code": true, "no": true, "num": true, "number": true, "nr": true, "nummer": true, "guid": true,
	"cd": true, "cod": true, "codigo": true, "numero": true, "nro": true, "nbr": true, "kz": true, "kennzeichen": true}

// periods are the words of pieces of time, by which partitions are cut, in English, French, Spanish and German (not Tag, which is a label elsewhere).
var periods = map[string]bool{
	"year": true, "quarter": true, "month": true, "week": true, "day": true, "date": true, "hour": true, "minute": true, "bucket": true, "period": true, "yyyymm": true, "yyyymmdd": true, "yearmonth": true,
	"mois": true, "semaine": true, "jour": true, "heure": true, "mes": true, "semana": true, "dia": true, "fecha": true, "hora": true, "jahr": true, "monat": true, "woche": true, "stunde": true, "datum": true,
}

// period tells whether a name is that of a piece of time.
func period(words []string) bool {
	return len(words) > 0 && periods[words[len(words)-1]]
}

// irregular are nouns that are not made singular by their ending.
var irregular = map[string]string{
	"people": "person", "children": "child", "men": "man", "women": "woman", "mice": "mouse", "shelves": "shelf", "halves": "half", "leaves": "leaf", "knives": "knife", "movies": "movie", "cookies": "cookie",
	"series": "series", "species": "species", "news": "news", "statuses": "status", "bonuses": "bonus", "viruses": "virus", "campuses": "campus", "buses": "bus", "aliases": "alias", "analyses": "analysis",
	"indices": "index", "matrices": "matrix", "vertices": "vertex", "criteria": "criterion", "quizzes": "quiz", "sizes": "size", "prizes": "prize",
}

// singular makes an English noun singular, well enough for names of tables.
func singular(noun string) string {
	if one, odd := irregular[noun]; odd {
		return one
	}
	for _, rule := range []struct{ ending, instead string }{
		{"ies", "y"}, {"sses", "ss"}, {"shes", "sh"}, {"ches", "ch"}, {"xes", "x"}, {"zes", "z"}, {"ss", "ss"}, {"us", "us"}, {"is", "is"}, {"s", ""},
	} {
		if stem, found := strings.CutSuffix(noun, rule.ending); found && len(stem) > 1 {
			return stem + rule.instead
		}
	}
	return noun
}

// plural is the other way round.
func plural(noun string) string {
	switch {
	case strings.HasSuffix(noun, "y") && len(noun) > 1 && !strings.ContainsRune("aeiou", rune(noun[len(noun)-2])):
		return noun[:len(noun)-1] + "ies"
	case strings.HasSuffix(noun, "s"), strings.HasSuffix(noun, "x"), strings.HasSuffix(noun, "ch"), strings.HasSuffix(noun, "sh"):
		return noun + "es"
	}
	return noun + "s"
}

// bys are the words after which a table's name says by what its rows are found.
var bys = map[string]bool{"by": true, "per": true, "par": true, "por": true, "nach": true, "je": true, "pro": true}

// beforeBy are the words of a table's name before that after which it says by what its rows are found ("videos_by_tag"), in English, French, Spanish or German; all, if it does not.
func beforeBy(tableName string) (before []string, found bool) {
	all := words(tableName)
	for i, w := range all {
		if i > 0 && i < len(all)-1 && bys[w] {
			return all[:i], true
		}
	}
	return all, false
}

// noun is what a row of a table is: the words before "by" ("videos_by_tag": video), the last of them singular.
func noun(tableName string) []string {
	all, _ := beforeBy(tableName)
	if len(all) == 0 {
		return []string{"row"}
	}
	all = append([]string(nil), all...)
	all[len(all)-1] = singular(all[len(all)-1])
	return all
}

// subject is what a column is about: its words without the marks of an identifier, the last one singular ("guest_id": guest).
// With "userid" the mark is part of the word.
func subject(columnName string) []string {
	var out []string
	for _, w := range words(columnName) {
		if marks[w] {
			continue
		}
		for _, mark := range []string{"uuid", "id"} {
			if stem, found := strings.CutSuffix(w, mark); found && len(stem) > 2 {
				w = stem
				break
			}
		}
		out = append(out, w)
	}
	if len(out) > 0 {
		out[len(out)-1] = singular(out[len(out)-1])
	}
	return out
}

// identifies tells whether a column's name says that it identifies something.
func identifies(columnName string) bool {
	for _, w := range words(columnName) {
		if marks[w] || len(w) > 4 && strings.HasSuffix(w, "id") {
			return true
		}
	}
	return false
}

// title joins words to an entity's name: RoomType.
func title(list []string) string {
	var b strings.Builder
	for _, w := range list {
		b.WriteString(strings.ToUpper(w[:1]) + w[1:])
	}
	return b.String()
}

// plain makes a name fit for the conceptual language, which has no quoting: letters, digits and _, no digit first.
func plain(name string) string {
	name = strings.Map(func(r rune) rune {
		if r == '_' || r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return '_'
	}, name)
	if name != "" && unicode.IsDigit(rune(name[0])) {
		return "_" + name
	}
	return name
}

func same(a, b []string) bool { return strings.Join(a, "_") == strings.Join(b, "_") }

// endsIn tells whether list is longer than end and ends in it.
func endsIn(list, end []string) bool {
	return len(list) > len(end) && len(end) > 0 && same(list[len(list)-len(end):], end)
}
