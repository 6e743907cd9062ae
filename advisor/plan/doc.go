// Package plan holds plans: what the optimiser chooses and an executor runs.
//
// A Plan is a list of steps over tables. Reads are Get (partitions by their whole key, with conditions on a prefix of the
// clustering columns), IndexGet (by secondary or storage-attached indexes, from every node or in one partition) and Scan.
// What the client does are Filter, Group, Distinct, Sort, LimitEach and Limit. Writes are support queries, deletes and
// puts. Each step carries estimates of its requests, rows and bytes, which package cost prices.
//
// A read is run for each distinct combination of values that the rows at hand have for its bindings, and its rows are
// joined to them in the order of the rows at hand, so that order survives. Fields are those of the query; where a table
// numbers the occurrences of an entity otherwise, Step.As tells the columns. The client knows the value of a field that
// the query has an equality on, also if no step reads it.
//
// A table may have collections (model.Nest). Its rows are what they would be without: a table over users has a row for a user
// without a tag. A read whose step has Nests returns them with its rows: of each nest the column with the set of its keys
// (model.Table.NestColumn), and those with the maps of the values among the Fields of the Unnest step that follows. Unnest
// then puts in the place of each row, in order, one for each element of its nest, with the row's fields and the
// element's; of several nests one for each combination. The elements of a row are the keys in the set, whatever the maps
// have; a value without an entry in its map is null; an empty set comes back as null, and there is no row then. So the rows
// after it are those of the join, from which a user without a tag is missing. A read without Nests does not ask for
// collections, and finds such users. The order of a row's elements means nothing to plans.
//
// Of a write, a step without Nests puts or deletes rows: a delete takes the elements along, a put leaves them alone. One with a
// nest (there is never more than one) puts or deletes elements of rows: Fields are the row's key, and then the element's
// key, and of a put its values. A put adds the key to the set and sets or deletes the entries of all maps (UPDATE t SET tags
// = tags + {k}, tags_name[k] = v; never the whole collection, which would leave a tombstone and lose what others add), a
// delete takes them out of all; what belongs to one row can go in one request. Deletes come before puts, rows before
// elements. Where a row moves to another key its elements are put again and have been read before; the deletes of the
// old ones are those of the row. Only the put of a row makes one: elements are put where their row is, and what is put into a
// row that is not there makes one of collections alone, which is right as soon as the row is put too.
//
// The plan space of a query over a set of tables is a graph of states, see Space. What is answered is a bag (N-5): rows of
// the join, of which conditions keep some; then groups; then one of each if DISTINCT; in order; so many of each parent,
// so many of all. Every plan of a space gives such an answer: the tests run each plan of random spaces against the
// definition. A table has a row for each row of the join over its tree, unless a column of its key has no value; so a
// table over more than the query needs is used only if there is exactly one of all that lies beyond, whatever the query.
//
// What steps' estimates are, and what a write has to read and change, an Arithmetic says: Means, the default, or that of
// seed 003's code (package nose).
//
// Means takes values to be spread evenly and independently, and statements to ask for something that is there (Rows). The rows of a tree are the
// product of its entities' counts times, for each relationship, the share of pairs that are related, which holds for branches and for m:n; distinct
// keys among n rows over d values are d (1 - (1 - 1/d)^n), not n. NoSE takes the largest entity's count, and sends a request for each row. A
// read that several rows feed with the same values is sent once for each different one (model.Distinct). A write
// meets a table at each occurrence of its entity or relationship there (Changes); that it meets a row at several at once is
// counted as never. Its estimates know no skew, one share for all ranges
// and prefixes, no correlation of conditions but by keys; limits that are met before further reads are not counted in
// those reads.
//
// A write takes what it says for true: an entity that it names by its key is there, an inserted one is not; whom that is
// connected to has no partner yet, if it can have one only; what is disconnected was connected; equalities beside a whole key,
// and GIVEN, are so (Find checks all else). A CONNECT asks for the partner that it replaces (replace.go). And where the model says that there is a partner, there is one. Where it does not say so, and rows
// are put, a support query asks. Given those, the tables stay what their definition says: the tests run random writes over
// random tables and compare.
//
// Thin today: an attribute that is a copy (model.Attribute.Copied: Room.hotel_id, where Room is weak) is another field than what it is
// a copy of, so a plan that has the one asks for the other; they ought to be one, that of the entity which has the copy, as then
// its owner need not be joined. Columns are bound whenever they can be, so a plan that reads one partition once and joins in the client,
// where rows at hand could each ask for a part of it, is not in the space. Several buckets, or values of IN, are not
// merged in order but sorted, and not grouped by the server. Elements of collections are sorted in the client, though Cassandra
// returns them by key; no condition on one is checked by the server. Static columns are read like any other. An index is not asked
// by IN. PER PARTITION LIMIT is followed by the same limit in the client, which costs nothing.
//
// Files: space.go, build.go (the query), usable.go and embed.go (a table as the query sees it), access.go (reads),
// nest.go (collections), finish.go (what comes last), shrink.go (what is left out); estimate.go and arithmetic.go count;
// write.go, change.go and replace.go have writes.
//
// package plan imports advisor/model and advisor/workload.
package plan
