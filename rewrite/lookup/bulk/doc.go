// Package bulk writes the program by which somebody else's machines fill a look-up: a Spark job, for tables that one process takes too long for.
// It may import rewrite/kind, capture/schema, and of this kind match and maintain.
//
// The job does what lookup.Fill does (docs/design/maintenance.md): an entry for each row that has a value, of kind Stamped and id 0, at the
// timestamp that its cell has, with a time to live longer than its cell's by the same margin. So it may be done again, in part, twice, late, and while the
// application writes. What Spark can not carry byte by byte is refused; single rows that it leaves out (keys that have no room) are entered
// by the verification that follows.
package bulk
