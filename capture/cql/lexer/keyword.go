package lexer

import "strings"

// Keyword is the number of a keyword; 0 is none.
type Keyword uint8

// Class is what a word means where a name may stand.
type Class uint8

// The classes.
const (
	Reserved   Class = 1 << iota // never a name unless quoted
	Ambiguous                    // a name that is printed in quotes: ambiguous somewhere, or reserved in other versions
	NoFunction                   // cannot name a function unless quoted
	NoType                       // cannot name a user-defined type unless quoted
	NativeType
	Since50 // a keyword from Cassandra 5.0 on, an ordinary name before
	Later   // no keyword up to Cassandra 5.0
)

// classes lists the keywords. Those of no class but zero are plain unreserved words.
var classes = []struct {
	class Class
	words string
}{
	{Reserved, `add allow alter and apply asc authorize batch begin by columnfamily create delete desc describe drop
		entries execute false from full grant if in index infinity insert into is keyspace limit materialized modify nan
		norecursive not null of on or order primary rename revoke schema select set table to token true truncate unlogged
		update use using view where with`},
	{Ambiguous, "as cast default distinct json mbean mbeans replace unset"},
	{NoFunction, "cast distinct json key maxwritetime ttl writetime"},
	{NoType, "cast count distinct json maxwritetime ttl writetime"},
	{NativeType | NoType, `ascii bigint blob boolean counter date decimal double duration float inet int smallint text time
		timestamp timeuuid tinyint uuid varchar varint`},
	{Since50, "ann cidrs identity masked maxwritetime select_masked unmask vector"},
	{Later, "between"},
	{0, `access aggregate aggregates all called cluster clustering columnfamilies compact contains custom datacenters exists
		filtering finalfunc frozen function functions group hashed initcond input internals keys keyspaces language like list login map
		nologin nosuperuser only options partition password per permission permissions returns role roles sfunc static
		storage stype superuser tables trigger tuple type types user users values`},
}

var (
	names   []string // by keyword
	upper   []string // the same
	ofWord  []Class  // by keyword
	buckets [1 << hashBits]Keyword
)

const (
	hashBits   = 10
	hashFactor = 0x01000193
)

// The words that the lexer itself must know.
var keywordTrue, keywordFalse, keywordNaN, keywordInfinity Keyword

func bucket(hash uint32) uint32 { return hash * 0x9E3779B1 >> (32 - hashBits) }

func init() {
	names, upper, ofWord = []string{""}, []string{""}, []Class{0}
	for _, c := range classes {
		for _, w := range strings.Fields(c.words) {
			k := Lookup(w)
			if k == 0 {
				k = Keyword(len(names)) //nolint:gosec // there are fewer than 256
				names, upper, ofWord = append(names, w), append(upper, strings.ToUpper(w)), append(ofWord, 0)
				b := bucket(hashOf(w))
				for buckets[b] != 0 {
					b = (b + 1) % uint32(len(buckets))
				}
				buckets[b] = k
			}
			ofWord[k] |= c.class
		}
	}
	keywordTrue, keywordFalse, keywordNaN, keywordInfinity = Lookup("true"), Lookup("false"), Lookup("nan"), Lookup("infinity")
}

func hashOf(word string) (hash uint32) {
	for i := 0; i < len(word); i++ {
		hash = hash*hashFactor + uint32(folded[word[i]])
	}
	return hash
}

// find returns the keyword that word is in any case; hash is its hash.
func find(hash uint32, word string) Keyword {
	for b := bucket(hash); buckets[b] != 0; b = (b + 1) % uint32(len(buckets)) {
		if k := buckets[b]; EqualFold(names[k], word) {
			return k
		}
	}
	return 0
}

// Lookup returns the keyword that word, which must be ASCII letters, digits and underscores, is in any case; 0 if none.
func Lookup(word string) Keyword { return find(hashOf(word), word) }

// Keywords returns all keywords, in lower case.
func Keywords() []string { return append([]string(nil), names[1:]...) }

// String returns the keyword in lower case.
func (k Keyword) String() string { return names[k] }

// Upper returns the keyword in upper case.
func (k Keyword) Upper() string { return upper[k] }

// Class returns what the keyword may be used for.
func (k Keyword) Class() Class { return ofWord[k] }

// IsWord reports whether text is one word that is no keyword.
func IsWord(text string) bool {
	if text == "" || !isLetter(text[0]) {
		return false
	}
	for i := 0; i < len(text); i++ {
		if folded[text[i]] == 0 {
			return false
		}
	}
	l := Lexer{Source: text}
	t := l.Next()
	return t.Kind == Word && t.Keyword == 0 && l.Position == len(text)
}

// Plain reports whether a name may be written without quotes.
func Plain(name string) bool {
	if name == "" || name[0] < 'a' || name[0] > 'z' {
		return false
	}
	hash := uint32(0)
	for i := 0; i < len(name); i++ {
		c := name[i]
		if folded[c] != c || c == 0 {
			return false
		}
		hash = hash*hashFactor + uint32(c)
	}
	return find(hash, name).Class()&(Reserved|Ambiguous) == 0
}
