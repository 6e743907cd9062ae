package cql

import "strings"

// class is what a word means where a name may stand.
type class uint8

const (
	reserved   class = 1 << iota // never a name unless quoted
	quoteAlias                   // a name that is printed in quotes: ambiguous somewhere, or reserved in older versions
	noFunction                   // cannot name a function unless quoted
	noType                       // cannot name a user-defined type unless quoted
	nativeType
)

// longestKeyword bounds the buffer that a word is folded in before it is looked up.
const longestKeyword = 16

var keywords = func() map[string]class {
	m := map[string]class{}
	for c, words := range map[class]string{
		reserved: `add allow alter and apply asc authorize batch begin by columnfamily create delete desc describe drop
			entries execute false from full grant if in index infinity insert into is keyspace limit materialized modify nan
			norecursive not null of on or order primary rename revoke schema select set table to token true truncate unlogged
			update use using view where with`,
		quoteAlias: "as cast default distinct json mbean mbeans replace unset",
		noFunction: "cast distinct expr json key maxwritetime ttl writetime",
		noType:     "bitstring byte cast complex count distinct enum interval json macaddr maxwritetime ttl writetime",
		nativeType | noType: `ascii bigint blob boolean counter date decimal double duration float inet int smallint text time
			timestamp timeuuid tinyint uuid varchar varint`,
	} {
		for _, w := range strings.Fields(words) {
			m[w] |= c
		}
	}
	return m
}()

// classOf returns what a word, in any case, means; 0 for an ordinary name. It does not allocate.
func classOf(word string) class {
	if len(word) > longestKeyword {
		return 0
	}
	var buf [longestKeyword]byte
	for i := 0; i < len(word); i++ {
		c := word[i]
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		buf[i] = c
	}
	return keywords[string(buf[:len(word)])]
}

// plain reports whether a name may be printed without quotes.
func plain(name string) bool {
	if name == "" || name[0] < 'a' || name[0] > 'z' {
		return false
	}
	for i := 1; i < len(name); i++ {
		if c := name[i]; (c < 'a' || c > 'z') && !isDigit(c) && c != '_' {
			return false
		}
	}
	return classOf(name)&(reserved|quoteAlias) == 0
}
