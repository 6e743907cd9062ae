// Package enumerate proposes candidate tables for a workload (seed 003, section 4.1 and algorithms 1, 2 and 4), so that
// no design over NoSE's own candidates is better than the best over these, and there are few.
//
// A query is cut into parts: connected pieces of its graph, each read first by what the statement brings, or later by the
// key of an entity (ask.go). A part is answered by tables of some forms: a key of fields that readers bind, what follows it
// by range or order, ids, and some of the values asked for (form.go). This is the paper's prefixes, remainders, relaxed
// queries and key/value splits, taken together. Then the same for the support queries that writes need for those tables,
// and for the support queries that those tables need, to a fix-point (pool.go). Then unions of tables with the same primary
// key (unite.go).
//
// NoSE tries all permutations instead. The rules by which most of them are left out are in one place (rules.go), each with
// its proof, and each by itself is tested against what it leaves out: without it no design is better, and a wrong one in
// its place is noticed (rule_test.go): over random workloads, under all cost models and with ever less space. The planner can do more than the
// proofs speak of, so that a table that is kept for something else may be of use in a way for which none would be proposed; the test counts those
// cases apart (none to a tenth, by rule). The tests have, too, an independent enumeration of all that NoSE enumerates, and
// compare with it every single table's worth (rules_test.go) and the optimum (nose_test.go): of random workloads, EasyAntiCheat (1,338 candidates of NoSE's) and
// both hotels, but for two queries over five entities of seed 003's hotel, for which NoSE's own enumeration does not end. Nothing claims that the pool
// has the best of all designs (N-20).
//
// A write whose support queries ask the same rows, one for more than the other, asks once (plan.Holds; the executor does so, too); over 275 random
// workloads under our own model no optimum over NoSE's candidates is better, to a millionth (TestNoWorseWhereSupportIsShared has those at which one
// was, and under limits of space more of them with HELENUS_TEST_ENUMERATE=150).
//
// Everything is bounded by polynomials: stars, long chains and many conditions lose combinations, never parts of one or
// two entities; and the pool has a greatest number of tables, up to which it is filled level by level, so that what goes
// first is what is least likely to be needed; before that tables over more than six entities are left out, if that is enough and everything can be answered without them. Pool.Truncated
// tells what was cut.
//
// Beyond NoSE (beyond.go, unite.go): partition keys of several entities; tables over larger graphs that serve smaller
// queries; unions also with clustering keys; orders in descending columns, for GROUP BY too; one constant partition for a
// query without an equality; buckets of time or of an id where a partition would be too large; storage-attached indexes,
// if asked for; collections, if asked for, where few small things are read with what they belong to (nest.go); static
// columns, if no write takes rows away. With existing tables also verified look-up tables.
//
// Thin: support queries of which each asks what the other does not are not asked as one, nor proposed tables for that. Collections hold what one relationship leads to, and what that determines, with a key of one field; of fields that the application knows besides (GIVEN) none enters a key; times are
// taken to spread over a year when they are put into buckets; of tables with one partition key only some are united over
// different graphs.
//
// Tables are the same if their whole content is (model.Table.ID). The order of the pool depends on the workload alone, and
// not on the order of its statements. It imports advisor/model, advisor/workload and advisor/plan.
package enumerate
