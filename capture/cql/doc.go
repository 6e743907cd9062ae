// Package cql reads and writes the Cassandra Query Language: a lexer, a parser, a syntax tree, a printer and the
// fingerprint by which the rest of Helenus knows a statement.
//
// It imports the standard library only, so that every other package may use it.
//
// # How it reads
//
// The lexer cuts the text into tokens on demand; a token is a kind and two offsets, never a copy. The parser is a plain
// recursive descent with one token of look-ahead. Its first error sticks: from then on it sees the end of the text, so
// every loop ends and no function needs an error result. Where the grammar itself is ambiguous - "(" may open a tuple or
// a type, "[a" a list or a slice - the parser notes its state, tries the first reading and goes back. A trial never
// holds another trial, so the work stays linear in the length of the text. Nesting is limited to [MaxDepth].
//
// SELECT, INSERT, UPDATE, DELETE, BATCH, USE and TRUNCATE have full trees. Every other statement is classified, its
// table is found and its text is kept ([Opaque]).
//
// # How it writes
//
// String prints a statement so that it parses to the same tree. Marker indexes are kept in the tree: after a rewrite,
// Markers(new)[i].Index says which value of the original request belongs at position i of the new text.
//
// # Fingerprints
//
// [Normalise] prints with the session's keyspace on every table and with every value replaced by "?"; whole lists of
// values by "(?)". [Fingerprint] hashes that text. Text that does not parse gets a fingerprint from its tokens instead,
// in which nothing that may be a value survives, so every statement has one.
//
// # Where it is thin
//
// The parser follows the grammar of Cassandra 5.0 and knows BETWEEN and the NOT operators of later versions. It is
// laxer than the server in that a comment may end the text without a line break, and stricter in that it refuses what
// a server would refuse a moment later anyway: an INSERT whose columns and values differ in number, tuples of the wrong
// length, the same USING option twice, "ttl" and "writetime" quoted as function names in a selection. What it refuses is
// never changed by Helenus, only counted. A few selections that the server tells apart by looking arbitrarily far ahead
// are refused too: a slice of a column called json or distinct, a column called "as" without quotes after a bracket.
// Digits that run into a word ("1AND") are two tokens here and an error there. testdata/grammar.txt records what
// Cassandra 5.0.8 answers, these differences included. DDL, roles and permissions have no tree yet: any text that begins
// like one is taken for one.
package cql
