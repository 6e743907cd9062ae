// Package cost prices the steps of plans. A Model turns the estimates that a step carries (requests, rows, bytes, rows
// scanned) into Work, the time that the cluster and the client spend on it in all, and Latency, the time that passes.
// Advice is chosen by work, since that is what a busy cluster runs out of, and shows both.
//
// It imports advisor/plan and advisor/model. Thin today: the constants are those of one small machine, scaled to the
// latencies observed; caches, consistency levels, compaction and skew are not modelled.
package cost
