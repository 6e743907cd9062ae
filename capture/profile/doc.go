// Package profile says what kind of values columns, bind variables and partitions have, and keeps a coordinated sample of
// rows (docs/design/mapping.md 2.1, 2.2 A3 and A5, 2.8). It is given hashed executions (Book.Add, by capture/window) and gives out a
// Document. It imports capture/sketch, capture/trace and capture/value.
//
//	Column     all values of a column, read or bound, wherever: how many, different ones, frequent ones, sizes, nulls, how
//	           large the numbers are
//	Parameter  the values bound to one variable of one statement; lengths of its lists; how many are fresh
//	Table      which partitions are hot, how many rows and bytes were seen of one, by which restrictions rows are asked for
//	Key        a value with the rows, of all tables, that it was seen in
//
// # Keys
//
// Functional dependencies can only be tested on rows that share a value, and a fair sample of rows hardly has any. So the
// sample is of values: the 1,024 smallest hashes of each class, of values that identify (integers, UUIDs, texts), and of each the
// at most 8 rows with the smallest hash for each table. A value that is kept is kept in every table, so all of its
// appearances are there.
//
// # Merging
//
// A document is a set of epochs: what one process learnt under one key. Merge unites them; Joined adds up those under one key,
// exactly and in any order. Those under different keys are never joined. What no key is needed for (Derived) stays when the
// key goes: counts and estimates, without a single hash.
//
// # What a document says of values
//
// No value is in it. Estimates and sizes are; of numbers the position of the highest bit. For columns whose literals are
// allowed there are the exact range, and frequent literals: those seen at least 5 times, from at least 2 client processes.
//
// Of texts that are joined ("user:123", "acme|bob") the pieces have sketches of their own, up to 9 KB each.
//
// Where it is thin: what is inside of maps, tuples and user-defined types is not looked at; derived columns (a date made
// of a timestamp) are not tested for; only the first 32 rows of an answer count.
package profile
