// Package drivers proves that real drivers work through Helenus: gocql 1.7, Apache's gocql v2, the Python, Java and Node.js
// drivers, and cqlsh, against real Cassandra clusters.
//
// What lives here: the harness, which starts the cluster and the real helenus binary, and one program for each
// driver (gocql/, apache/, python/, java/, node/), which is an ordinary application: it knows nothing of Helenus, and runs
// the same against Cassandra itself (HELENUS_DRIVERS_DIRECT=1, to tell a driver's quirk from our fault). It imports
// internal/cassandra and internal/child.
//
// # What a program does
//
// It takes --points, --username, --password, --ca, --keyspace, --protocol, --compression and --checks, runs the checks in
// order on one session, and prints a line of JSON for each: {"check": ..., "ok": ..., "detail": ...}. The keyspace
// exists, and a second one of its name and "_one", of replication factor 1. A check that is to be disturbed prints
// {"ready": check}, goes on with its load, and waits for a line on its standard input, which the harness writes when it is
// done disturbing.
//
//   - connect: the driver's hosts are the proxy's listeners and no others; the version of Cassandra arrives.
//   - prepared: 100 rows of every scalar type there and back, null and unset. batch: logged, unlogged, counter, prepared
//     and text mixed. paging: 1,000 rows in order, by itself and with a paging state kept by hand. collections, udt and
//     vector (5.0): there and back. lwt: applied or not, and a read at SERIAL. large: blobs of up to 3 MB.
//   - tracing: the trace of a statement can be read. warnings: an unlogged batch over 20 partitions warns. errors: syntax,
//     invalid, already exists arrive as what they are. use: a session in a keyspace of a quoted name, beside the first.
//     payload: a request with a custom payload. describe: DESCRIBE TABLE. metadata: the driver's description of a table.
//   - concurrent: thousands of statements at a time, each answered by its own answer. speculative: the same read to two
//     nodes, 200 times.
//   - token-aware: 1,000 reads by key at replication factor 1. The program says which node the driver asked, and for 20 of
//     them which node Cassandra's trace names as coordinator; the harness knows from the nodes themselves who owns the
//     token. At least 99 % must agree.
//   - events: a table that somebody else creates becomes known without the driver asking for it.
//   - schema-under-load, node-restart, first-node-restart, node-added, drained: four workers write rows and read them
//     back while the harness adds a column and tables, kills and restarts a node (or the one that the session began with),
//     adds one, ends Helenus by SIGTERM and starts it anew. Operations that fail are tried again. In the end each worker
//     must get 50 answers in a row without an error, and every row ever written must be there with its value.
//   - wrong-password: is refused, with Cassandra's own words.
//
// Programs of one pass run at the same time, so that a node is killed once for all of them: when every program that
// still runs waits, the harness disturbs.
//
// # Where the drivers come from
//
// The Go programs are built from go.mod. The others' drivers are fetched once, by pip, mvn and npm, into the cache that
// internal/cassandra uses, under a lock; versions are pinned in requirements.txt, pom.xml and package.json.
//
// # What runs where
//
// In CI four drivers (not Node.js) run the checks of the list inCI on three nodes, which takes three to five minutes of a busy machine
// with two processors, a minute and a half of it for the nodes to start. Everything else is `make test-drivers`, which takes more than
// half an hour there: what changes the schema costs seconds a statement on three nodes, and what is disturbed minutes.
//
// Where it is thin: the passes with a node that joins, with Cassandra 4.1, with compression, with named versions, in topology single,
// with cqlsh, and the check first-node-restart have not been seen to pass yet; nor has the Node.js driver been disturbed. TLS is a flag of the
// programs (--ca) that no pass uses yet. The programs check what drivers do by default, with the token-aware policy; other policies
// and the drivers' own test suites are not run. A driver's metadata is checked for one table only.
package drivers
