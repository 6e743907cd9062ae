// Package cost prices the steps of plans. A Model turns the estimates that a step carries (requests, rows, bytes, rows
// scanned) into Work, the time that the cluster and the client spend on it in all, and Latency, the time that passes.
// Advice is chosen by work, since that is what a busy cluster runs out of, and shows both.
//
// The models, by name (ByName, Open):
//
//	cassandra                                   ours, and the default: a cluster's replicas, consistency levels, partitions' sizes,
//	                                            indexes, batches (Cassandra), in milliseconds
//	nose:request_count, nose:entity_count,
//	nose:field_size, nose:cassandra             seed 003's, with its arithmetic (package nose); in units of their own
//
// What helenus run advises by is the first too, with the cluster's nodes and replicas, and its times fitted to the latencies
// that were seen (advisor/recommend). A model says how it counts (Arithmetic), what it costs at another consistency level
// (For) and which tables it refuses (Refusal).
//
// rewrite/calibrate fits the parameters of the first to a cluster, and predicts by it.
//
// It imports advisor/plan, advisor/workload, advisor/nose and advisor/model. Thin today: caches, compaction and skew of
// what is asked for are not modelled; a model knows one data centre; that several
// tables are written at once is in a write's latency (Writes), not in its work, and the parts of two tables in one logged batch are
// priced as two; the defaults were measured on one small machine (CassandraParameters), with a
// guess of how a request divides among coordinator and replica.
package cost
