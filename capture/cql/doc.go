// Package cql reads and writes the Cassandra Query Language: a parser, a syntax tree, a printer and the fingerprint by which
// the rest of Helenus knows a statement. The lexer lies beside it, in capture/cql/lexer.
//
// It imports the standard library and its lexer only, so that every other package may use it. It is one package although
// it is long, because tree, parser and printer of a grammar are three sides of one thing; each file holds one noun, from its
// tree by its parser to its printer.
//
// # How it reads
//
// A token is a kind, a code and two offsets, never a copy. The parser is a plain recursive descent with one token of
// look-ahead, seldom two or three. Its first error sticks: from then on it sees the end of the text, so every loop ends and
// no function needs an error result. Where the grammar itself is ambiguous - "(" may open a tuple or a type, "[a" a list or
// a slice - the parser notes its state, tries the first reading and goes back, or looks ahead for the dots; all such looks
// together read no more than the text has, so the work stays linear in its length. Nesting is limited to [MaxDepth].
//
// Every statement of Cassandra 4.0 to 5.0 has a full tree. [Parse] takes what any version takes, and BETWEEN and the NOT
// operators of later ones; [ParseAs] takes what servers of one version take: the words that 5.0 added are names for 4.1.
//
// # How it writes
//
// String prints a statement so that it parses to the same tree. Marker indexes are kept in the tree: after a rewrite,
// Markers(new)[i].Index says which value of the original request belongs at position i of the new text. A definition is
// printed in one form of the several that mean the same: its primary key after its columns, say.
//
// # Fingerprints
//
// [Fingerprint] hashes a text that is printed with the session's keyspace on every table and with every value replaced by "?"; whole lists of values
// by "(?)". The strings of definitions and roles - passwords, comments, class names, bodies of functions, identities - are
// values too. Text that does not parse gets a fingerprint from its tokens instead, in
// which nothing that may be a value survives, so every statement has one. A "?" does not say of which type the value
// was: its column says so, and a literal and a marker in the same place are to be the same statement.
//
// # Cassandra's word
//
// The grammar is held to what Cassandra's own parser (CQLFragmentParser) says, without a server: TestOracle draws random
// trees, prints them, takes recorded texts besides, mutates both by tokens (dropped, doubled, swapped, replaced, inserted,
// run together) and by characters, and asks both parsers. To repeat it, with Java 17 and the jars that
// internal/cassandra/with leaves under ~/.cache/helenus:
//
//	HELENUS_CQL_ORACLE=250000 HELENUS_CQL_ORACLE_SEED=71 go test -v -run TestOracle ./capture/cql
//
// That run: 4.1.10 judged 250,856 statements, of which it accepts 50,719, and 5.0.8 251,184, of which it accepts 63,534; no
// disagreement with either. It takes a minute or two. (Of some 3.8 million that other seeds drew before, the last
// disagreements were of rare kinds: names of beans, a keyspace called key, functions in GRANT. A new seed may find another.)
//
// With HELENUS_CQL_CORPUS=1 a sample of the answers becomes the corpus testdata/*.verdicts, which ordinary runs of the test
// check; testdata/grammar.txt holds answers to texts written by hand. Not judged are texts of which the server says
// that it could not load a class or a type by its name, which its parser tries: that depends on the server, not on the text.
//
// What the server's parser refuses beyond the grammar is refused here too: a property, a column or an option of a role given
// twice, frozen<int>, a column set twice, permissions that a resource does not know, names of beans that JMX does not take. What
// it takes and refuses only when it prepares is taken: an INSERT whose columns and values differ in number, rows of
// another length than their columns.
//
// # Speed
//
// One core of the development machine, processor time (BenchmarkParse, BenchmarkFingerprint; the machine was busy): a SELECT of
// 205 bytes parses in 3.3 us (62 MB/s), other statements at 63 to 76 MB/s; the fingerprint of a tree takes 0.4 us and
// no allocation. The fingerprint of a text not seen before is both together, 3.7 us and 13 allocations, most of which are
// the tree. Who sees texts again keeps them by their bytes, and by their shape ([AppendShape]), for which the lexer is enough.
//
// # Where it is thin
//
// A string in the place of a type is taken whatever it says: the server looks for a class of that name. Bodies of functions are
// not looked into. The numbers of tokens and the shape of a text that does not parse tell more of it than its fingerprint
// would if it did.
package cql
