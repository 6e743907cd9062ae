// Package advisor is the learning loop's last part: from time to time it takes the latest picture of the traffic and of the
// tables, works out advice (advisor/infer, advisor/recommend), and merges it with what people have decided before.
//
// Decisions are kept under the id of what they were made on, which is a hash of what is proposed. So advice
// that is worked out again finds its decision again, and a dismissed one stays dismissed until the facts change materially:
// the tables it rests on are altered, or what it would save more than doubles. A snoozed one comes back then, too, or when its time is over. What
// is proposed, and what became of it, is one record, which whoever carries it out has a part in (internal/change).
//
// The packages below it: model (entity graph), workload (conceptual statements), infer, enumerate (candidate tables), plan,
// cost, design (the integer program), solve (its solver), rules and lint (the query-driven method), recommend. It imports capture, capture/schema and advisor/...;
// it knows nothing of the proxy and of package rewrite, whose judgement comes in through recommend.Judge.
//
// Thin today: one advisor per process, no lease; the workload is one mix, without time steps.
package advisor
