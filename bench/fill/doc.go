// Package fill reads what a new table must hold out of tables that are there: it carries out a change plan (seed 004, W-26 and
// W-27), whose sources have among them all rows of the target.
//
// Each source is scanned once, page by page, into a file of SQLite's; SQLite joins them by the keys of the entities that they
// have in common; and the rows of the target come out ordered by its partition key, so that whoever writes them can put
// those of one partition into one request. So nothing is held in memory but what is on its way, whatever the tables' size, and
// the sources are read as the cost model prices them: whole, once each (C^E).
//
// Cells stay as Cassandra has them (equal values have equal cells), and are decoded only when they leave. Rows that lack a value of
// the target's key are no rows of it.
//
// What is read is no snapshot: a row that changes while the scan goes on is read as it was or as it is. Whoever fills a table
// while the application writes to it writes both tables meanwhile (W-5), and what was read with an older timestamp, so
// that it never covers what was written since.
//
// It imports advisor/model, advisor/plan (how a table's entities are those of the target), rewrite/exec (sessions, cells) and
// SQLite. Thin: one scan at a time, through one coordinator at a time; elements of collections are not read.
package fill
