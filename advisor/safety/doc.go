// Package safety reports whether several writers can meet in one entity group (seed 002: Scherzinger, De Almeida, Ickert and
// Del Fabro, "On the necessity of model checking NoSQL database schemas when building SaaS applications", 2013).
//
// A Grammar is what the seed has: productions for the children of each kind of entity, a root for what a group may have at
// its top, and templates of writes, each on behalf of a writer. A group is a partition of a table, a row, or a cell (Group).
// A schema is safe if no group that the grammar allows can have two writers, whatever the users and keys are; what is not
// proven safe counts as unsafe (S-3). The seed assumes that one user never writes to a group twice at the same time; so do we.
//
// Check decides it without naming users or keys. Nodes of groups are kinds whose keys are made of variables; there are finitely many of
// them up to the names of variables, also if productions are recursive, since a key holds only what its parent's holds and
// new values. For each pair of nodes that one group can have (those below two children that one word of a production can
// have, those above each other, and a node with itself) and each pair of writes to them, with variables of their own, the
// congruence closure of the keys' equations and the facts says whether the two writers must be the same. If they need not
// be, the equations' free model is a group with two writers: the Witness, grown from the productions with all that they
// demand. Two writers of one key are the case in which the seed's automaton of writes is not deterministic. Of writes that
// are equal but for names one is looked at, and where all writes of two kinds have their writer in the key, in places that hold
// the same value, no pair is.
//
// What no one writes does not matter (a neutral state in the automaton of writes): a read-only row makes nothing unsafe.
// Deletes are writes. Facts are functional dependencies that hold within a write; probable ones make no schema safe, only
// SAFE-IF.
//
// Explicitly is the seed's construction as it stands there: hedge automata A_s and A_w over named users and values, once
// for each reading of the functions, and L(A_s) ⊆ L(A_w) by the reachable pairs of states, A_w made deterministic on the way.
// It is what the tests hold Check against, and what --explain prints. It refuses a single user (S-18).
//
// Tables (table.go) are encoded as docs/design/mapping.md 4.3 says; who writes comes from the model (see Principal). Verdicts add how bad it is,
// from rates (verdict.go), and each unsafe table comes with edited ones that were checked again (suggest.go).
//
// The text of a grammar:
//
//	root          ::= |u' users(u')             -- |v: for any value of v, the same throughout what follows
//	users(u)      ::= (|a' articles(u, a'))*    -- * + ? | and side by side; ε is no child
//	articles(u,a) ::= (comments(u', a))*        -- a variable that is not bound may be anything: the same as |u'
//	comments(u,a) ::= ε
//	put_u(users(u), v)                          -- the value v plays no part
//	put[author(t)](tweets(t)) append            -- the writer as a term; the class of write (K1 to K6)
//	put[*](articles(u, a))                      -- anyone
//	del_u(comments(u, 'a constant'))
//	fd author: t -> u                           -- in every write with t and u, u = author(t)
//	fd? t -> u                                  -- probably
//
// It imports advisor/model, advisor/workload and advisor/plan (which says what rows a write changes).
//
// Thin: only the writers that the file names are known. TTLs, repairs and compaction are no writers. Coordinators and
// logged batches over several partitions are out of scope. Productions' keys are variables and constants, no functions:
// derived columns are said in the writes. A fact taken from a to-one relationship holds as long as the relationship does:
// that a write moves an entity to another partner is not seen. Lightweight transactions and views are classes of grammars only, since workloads do not tell them. What a write adds to a
// column that it sets by SET x = x + ? is taken for read, changed and written (K3), unless the column is a counter. The time of
// the check grows with the square of the forms of writes to one kind where their writers are not the same term over the key. Rates are those of the workload, spread evenly over partitions; what is
// measured of a live cluster comes with tables that advisor/writers makes (Table.Load).
package safety
