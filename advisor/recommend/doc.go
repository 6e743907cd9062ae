// Package recommend turns a model and its workload (advisor/infer) into advice: look-up tables that Helenus can keep and serve
// by itself, changes that only the application's developers can make, and what is better left as it is, each with the
// statements it touches, what they cost now and would cost, what writes would pay, and why not.
//
// There are two tiers, two answers of one integer program (advisor/design; together.go) over the same workload:
//
//	transparent: tables = existing ones (free) + one look-up table per (table, column) that a read now asks for with ALLOW
//	             FILTERING or by a secondary index. The design decides by cost; a Judge says whether the
//	             rewrite would be correct. What the design takes becomes "look-up table", what it leaves although an index
//	             serves it becomes "keep".
//	application: beside these, for the path queries joined by hand in the application (feed trees) that take most work, what the
//	             enumerator makes of them and what writes need to keep that true. What the design takes becomes "application
//	             change": new tables and a sketch of the code, never a silent rewrite. Each is worth what would be lost without it.
//
// Each carries what the query-driven method says of it (method.go): access class before and after, patterns and mapping rules of
// its tables, findings of the linter that it cures and causes.
// The new tables of an application change carry what two other methods say of them (opinion.go): whether several writers can
// meet in them, and their place among all schemas that answer the query by one request.
//
// Every statement that leads to no advice is listed with the reason (Dismissal). The same input gives the same bytes: no
// clock, no randomness, no map order.
//
// It imports advisor/..., capture and capture/schema. Thin today: the writes of an application change are priced as one
// more write each plus its support queries, without what the developers may know better; sketches are written in Go
// (gocql), Python and Java only, others see Go; the transparent tier offers look-ups by one column (R1) and nothing else of the
// catalogue in docs/design/mapping.md 3.3.
package recommend
